//! Draws the Lag screen.

use eframe::egui::{
    Align2, Button, CornerRadius, Label, Rect, RichText, ScrollArea, Sense, Ui, pos2, vec2,
};

use super::LagState;
use super::clock_plot::clock_plot_ui;
use super::data::{Choice, LagData, LagScreen, StagePart};
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::lesson::pointer;
use crate::ui::panels::{absence_ui, halves_ui, panel_ui, rows_ui, stale_ui};
use crate::ui::plot::{lag_plot_ui, time_choice_ui};
use crate::ui::theme::{self, UNIT, size};
use crate::ui::widgets::{Card, Edge, Sign, empty_ui, figure_ui, figure_word_ui, sign_word_ui};

pub fn lag_ui(
    ui: &mut Ui,
    data: &LagData,
    state: &mut LagState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    match data {
        LagData::Nothing(absence) => absence_ui(ui, absence, frame, actions),
        LagData::NoLag {
            title,
            why,
            choices,
        } => {
            chooser_ui(ui, choices, state, frame, actions);
            empty_ui(ui, title, why, None);
        }
        LagData::Channel(screen) => {
            ScrollArea::vertical().id_salt("lag").show(ui, |ui| {
                ui.set_width(ui.available_width());
                ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
                screen_ui(ui, screen, state, frame, actions);
            });
        }
    }
}

fn screen_ui(
    ui: &mut Ui,
    screen: &LagScreen,
    state: &mut LagState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    if screen.choices.len() > 1 {
        chooser_ui(ui, &screen.choices, state, frame, actions);
    }
    if let Some(stale) = &screen.stale {
        stale_ui(ui, stale, frame, actions);
    }
    halves_ui(ui, |ui, half| match half {
        0 => pointer::around(ui, "lag_verdict", |ui| head_ui(ui, screen)),
        _ => pointer::around(ui, "lag_stages", |ui| stages_ui(ui, screen, frame)),
    });
    pointer::around(ui, "lag_plot", |ui| plot_card_ui(ui, screen, state, frame));
    methods_ui(ui, screen, frame);
    halves_ui(ui, |ui, half| match half {
        0 => {
            panel_ui(ui, &screen.backlog, &mut state.panels, frame, actions);
            panel_ui(ui, &screen.window, &mut state.panels, frame, actions);
            clocks_ui(ui, screen, state, frame, actions);
        }
        _ => panel_ui(ui, &screen.lies, &mut state.panels, frame, actions),
    });
}

/// Which replica and channel: one button each.
fn chooser_ui(
    ui: &mut Ui,
    choices: &[Choice],
    state: &mut LagState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.5 * UNIT;
        for choice in choices {
            let button = Button::selectable(choice.chosen, choice.label.as_str());
            if !ui.add(button).clicked() {
                continue;
            }
            state.channel = Some((choice.server.clone(), choice.channel.clone()));
            if let Some(topology) = frame.topology {
                actions.push(Action::Select {
                    topology: topology.clone(),
                    server: choice.server.clone(),
                });
            }
        }
    });
}

/// The number to believe, and why.
fn head_ui(ui: &mut Ui, screen: &LagScreen) {
    let palette = theme::palette(ui);
    let color = screen.sign.color(palette);
    Card::new().edge(Edge::Left(color)).show(ui, |ui| {
        sign_word_ui(ui, screen.sign, theme::title(&screen.name));
        let digits = if screen.sign == Sign::Ok {
            palette.text
        } else {
            color
        };
        match &screen.figure {
            Ok(figure) => drop(figure_ui(ui, figure, digits)),
            Err(word) => drop(figure_word_ui(ui, word, digits)),
        }
        ui.add(Label::new(theme::note(ui, &screen.how)).wrap());
        ui.add_space(UNIT);
        // Without a number both are the reason
        if screen.verdict != screen.how {
            ui.add(Label::new(RichText::new(&screen.verdict)).wrap());
        }
        if let Some((cause, evidence)) = &screen.cause {
            // The verdict may have said it already
            if !screen.verdict.contains(cause.as_str()) {
                ui.add(Label::new(theme::strong(sentence(cause))).wrap());
            }
            for line in evidence {
                ui.add(Label::new(theme::dim(ui, line)).wrap().selectable(true));
            }
        }
    });
}

/// Causes are written as parts of sentences.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn plot_card_ui(ui: &mut Ui, screen: &LagScreen, state: &mut LagState, frame: &Frame<'_>) {
    let words = frame.words;
    Card::new().show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(theme::strong(words.text("methods.plot")));
            ui.add_space(2.0 * UNIT);
            time_choice_ui(ui, words, &mut state.plot, frame.now);
        });
        if screen.plot.lines.is_empty() {
            ui.label(theme::dim(ui, words.text("methods.plot_empty")));
            return;
        }
        lag_plot_ui(ui, &screen.plot, &mut state.plot, frame, 60.0 * UNIT);
        legend_ui(ui, screen);
    });
}

fn legend_ui(ui: &mut Ui, screen: &LagScreen) {
    let palette = theme::palette(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 1.5 * UNIT;
        for line in &screen.plot.lines {
            let color = palette.series(line.color);
            let (place, _) = ui.allocate_exact_size(vec2(4.0 * UNIT, 3.0 * UNIT), Sense::hover());
            ui.painter().hline(
                place.x_range(),
                place.center().y,
                eframe::egui::Stroke::new(2.0, color),
            );
            ui.label(RichText::new(&line.name).size(size::SMALL));
            ui.add_space(2.0 * UNIT);
        }
    });
}

fn methods_ui(ui: &mut Ui, screen: &LagScreen, frame: &Frame<'_>) {
    Card::new().show(ui, |ui| {
        ui.label(theme::strong(frame.words.text("methods.title")));
        ui.add_space(UNIT);
        rows_ui(ui, frame.words, &screen.rows(frame));
    });
}

fn stages_ui(ui: &mut Ui, screen: &LagScreen, frame: &Frame<'_>) {
    Card::new().show(ui, |ui| {
        ui.label(theme::strong(frame.words.text("methods.stages.title")));
        ui.add_space(UNIT);
        if let Some(missing) = &screen.stages_missing {
            ui.add(Label::new(theme::dim(ui, missing)).wrap());
            return;
        }
        stage_bar_ui(ui, &screen.stages);
        for (n, part) in screen.stages.iter().enumerate() {
            ui.horizontal(|ui| {
                let color = theme::palette(ui).series(n);
                let (place, _) =
                    ui.allocate_exact_size(vec2(2.5 * UNIT, 2.5 * UNIT), Sense::hover());
                ui.painter().rect_filled(place, 2.0, color);
                ui.label(theme::dim(ui, &part.name));
                ui.with_layout(
                    eframe::egui::Layout::right_to_left(eframe::egui::Align::Center),
                    |ui| ui.label(&part.text),
                );
            });
        }
        ui.add(Label::new(theme::note(ui, frame.words.text("methods.stages.note"))).wrap());
    });
}

/// Each part as wide as its share, but never too thin to be seen.
pub fn stage_bar_ui(ui: &mut Ui, stages: &[StagePart]) {
    let palette = theme::palette(ui);
    let height = 5.0 * UNIT;
    let (place, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    ui.painter()
        .rect_filled(place, CornerRadius::same(4), palette.field);
    let spans: Vec<Option<Span>> = stages.iter().map(|part| part.span).collect();
    let mut left = place.min.x;
    for (n, (part, width)) in stages.iter().zip(widths(&spans, place.width())).enumerate() {
        let Some(width) = width else { continue };
        let piece = Rect::from_min_size(pos2(left, place.min.y), vec2(width, height));
        ui.painter()
            .rect_filled(piece, 2.0, palette.area(palette.series(n)));
        let font = theme::tiny();
        let text = ui
            .painter()
            .layout_no_wrap(part.name.clone(), font, palette.text);
        if text.size().x + 2.0 * UNIT < width {
            let at = Align2::CENTER_CENTER
                .anchor_size(piece.center(), text.size())
                .min;
            ui.painter().galley(at, text, palette.text);
        }
        left += width;
    }
}

/// What every known part has at least.
const THINNEST: f32 = 2.0;

/// How wide each known part is; together as wide as the bar. None of them is wide while all are zero.
fn widths(spans: &[Option<Span>], whole: f32) -> Vec<Option<f32>> {
    let known = spans.iter().flatten();
    let total: f64 = known.clone().map(|span| span.or_zero().secs_f64()).sum();
    let room = (whole - THINNEST * known.count() as f32).max(0.0);
    let width = |span: Span| THINNEST + (span.or_zero().secs_f64() / total) as f32 * room;
    spans
        .iter()
        .map(|span| span.filter(|_| total > 0.0).map(width))
        .collect()
}

fn clocks_ui(
    ui: &mut Ui,
    screen: &LagScreen,
    state: &mut LagState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    panel_ui(ui, &screen.clocks, &mut state.panels, frame, actions);
    if screen.clock_plot.lines.is_empty() || state.panels.is_folded("clocks") {
        return;
    }
    Card::new().show(ui, |ui| {
        let name = frame.words.text("methods.clock_plot");
        ui.label(theme::dim(ui, name));
        clock_plot_ui(ui, frame.words, name, &screen.clock_plot, 28.0 * UNIT);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> Option<Span> {
        Some(Span::from_millis(ms))
    }

    #[test]
    fn a_part_of_nothing_beside_a_long_one_is_seen_and_all_fit_the_bar() {
        for spans in [
            [ms(700), ms(0), ms(0)],
            [ms(0), ms(0), ms(90_000)],
            [ms(1), ms(1), ms(1)],
            [None, ms(5), ms(-3)],
        ] {
            let widths = widths(&spans, 300.0);
            assert!(widths.iter().flatten().all(|width| *width >= THINNEST));
            let sum: f32 = widths.iter().flatten().sum();
            assert!((sum - 300.0).abs() < 0.1, "{spans:?}: {sum}");
        }
        assert_eq!(widths(&[ms(0), None, ms(0)], 300.0), [None, None, None]);
    }
}
