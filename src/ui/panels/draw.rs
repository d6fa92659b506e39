//! Draws panels: folded or open, side by side where there is room.

use std::collections::BTreeSet;

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, Button, Color32, CornerRadius, Frame as Box, Label, Layout, Margin, Response, RichText,
    ScrollArea, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::{Block, FactRow, Offer, Panel, Refusal, Tone, rows_ui};
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::lesson::pointer;
use crate::ui::theme::{self, SMALL_CORNER, UNIT, size};
use crate::ui::widgets::{Card, copy_button_ui, quiet_button_ui, sign_ui, sign_word_ui};
use crate::words::Catalogue;

/// Which panels the person folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanelsState {
    folded: BTreeSet<String>,
}

impl PanelsState {
    pub fn is_folded(&self, id: &str) -> bool {
        self.folded.contains(id)
    }

    pub fn toggle(&mut self, id: &str) {
        if !self.folded.remove(id) {
            self.folded.insert(id.to_owned());
        }
    }
}

/// From this width on, two columns.
const TWO_COLUMNS_FROM: f32 = 215.0 * UNIT;

/// Two columns of panels; one below the other where the window is narrow.
pub fn columns_ui(
    ui: &mut Ui,
    columns: [&[Panel]; 2],
    state: &mut PanelsState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    halves_ui(ui, |ui, half| {
        for panel in columns[half] {
            panel_ui(ui, panel, state, frame, actions);
        }
    });
}

/// Draws half 0 and half 1 side by side where there is room, else one below the other.
pub fn halves_ui(ui: &mut Ui, mut half_ui: impl FnMut(&mut Ui, usize)) {
    let mut stack = |ui: &mut Ui, half: usize| {
        // egui's columns justify, which tears the words of a paragraph apart
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            half_ui(ui, half);
        });
    };
    if ui.available_width() < TWO_COLUMNS_FROM {
        stack(ui, 0);
        stack(ui, 1);
    } else {
        ui.columns(2, |halves| {
            for (half, ui) in halves.iter_mut().enumerate() {
                stack(ui, half);
            }
        });
    }
}

pub fn panel_ui(
    ui: &mut Ui,
    panel: &Panel,
    state: &mut PanelsState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ui.push_id(("panel", &panel.id), |ui| {
        let shown = Card::new().show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = UNIT;
            head_ui(ui, panel, state, frame.words);
            if state.is_folded(&panel.id) {
                return;
            }
            ui.add_space(UNIT);
            for (n, block) in panel.blocks.iter().enumerate() {
                ui.push_id(n, |ui| block_ui(ui, block, frame.words, actions));
            }
        });
        // one for each channel, and one for none
        let is_channel = panel.id.starts_with("channel");
        let what = if is_channel { "channels" } else { &panel.id };
        pointer::mark(ui, what, shown.response.rect);
    });
}

/// The title folds the panel; right of it the SQL to copy.
fn head_ui(ui: &mut Ui, panel: &Panel, state: &mut PanelsState, words: &Catalogue) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = UNIT;
        if fold_ui(ui, &panel.title, state.is_folded(&panel.id)).clicked() {
            state.toggle(&panel.id);
        }
        if let Some(sign) = panel.sign {
            sign_ui(ui, words, sign);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(sql) = &panel.sql {
                sql_ui(ui, words, &panel.title, sql);
            }
            if !panel.note.is_empty() {
                ui.add(Label::new(theme::note(ui, &panel.note)).truncate());
            }
        });
    });
}

fn fold_ui(ui: &mut Ui, title: &str, folded: bool) -> Response {
    let text = RichText::new(format!("     {title}"))
        .font(crate::ui::fonts::semibold(size::BODY))
        .color(theme::palette(ui).text);
    // Without padding, so that titles stand above what they head
    let response = ui
        .scope(|ui| {
            ui.spacing_mut().button_padding.x = 0.0;
            ui.add(Button::new(text).frame_when_inactive(false).truncate())
        })
        .inner;
    response.widget_info(|| WidgetInfo::selected(Role::DisclosureTriangle, true, !folded, title));
    let middle = response.rect.left_center() + vec2(4.0, 0.0);
    let corner = |x: f32, y: f32| pos2(middle.x + x, middle.y + y);
    let corners = if folded {
        vec![corner(-2.0, -4.0), corner(3.0, 0.0), corner(-2.0, 4.0)]
    } else {
        vec![corner(-4.0, -2.0), corner(4.0, -2.0), corner(0.0, 3.0)]
    };
    let color = theme::palette(ui).dim;
    ui.painter()
        .add(Shape::convex_polygon(corners, color, Stroke::NONE));
    response
}

/// How long "Copied" stands in place of "SQL".
const COPIED_SHOWS_SECS: f64 = 1.5;

/// "SQL": the statement on hover, copied by a click.
fn sql_ui(ui: &mut Ui, words: &Catalogue, title: &str, sql: &str) {
    let what = words.text("panel.copy_sql").replace("{panel}", title);
    let id = ui.make_persistent_id("sql copied");
    let now = ui.input(|input| input.time);
    let pressed_at: Option<f64> = ui.data(|data| data.get_temp(id));
    let copied = pressed_at.is_some_and(|at| now - at < COPIED_SHOWS_SECS);
    let word = if copied {
        words.text("copy.done")
    } else {
        "SQL"
    };
    let label = theme::dim(ui, word).size(size::SMALL);
    let response = ui.add(Button::new(label).frame_when_inactive(false));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &what));
    if response.clicked() {
        ui.ctx().copy_text(sql.to_owned());
        ui.data_mut(|data| data.insert_temp(id, now));
        ui.ctx()
            .request_repaint_after_secs(COPIED_SHOWS_SECS as f32);
    }
    response.on_hover_ui(|ui| {
        ui.set_max_width(140.0 * UNIT);
        ui.label(theme::note(ui, &what));
        ui.label(theme::mono(sql));
    });
}

/// A copy button with a name of its own.
pub fn copy_ui(
    ui: &mut Ui,
    words: &Catalogue,
    what: &str,
    text: impl FnOnce() -> String,
) -> Response {
    let response = copy_button_ui(ui, words, what, text);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, what));
    response
}

fn block_ui(ui: &mut Ui, block: &Block, words: &Catalogue, actions: &mut Vec<Action>) {
    match block {
        Block::Heading(text) => {
            ui.add_space(UNIT);
            ui.add(Label::new(theme::strong(text)).truncate());
        }
        Block::Fact(fact) => fact_row_ui(ui, fact, words),
        Block::Sentence { text, tone } => sentence_ui(ui, text, *tone),
        Block::Refused(refusal) => refusal_ui(ui, refusal, words),
        Block::Code {
            name,
            text,
            whole,
            copy,
        } => code_ui(ui, words, name, text, copy, || match whole {
            Some(set) => set.to_string(),
            None => text.clone(),
        }),
        Block::Rows(rows) => rows_ui(ui, words, rows),
        Block::Offer(offer) => offer_ui(ui, offer, words, actions),
    }
}

/// The name left, the value right; what is too long is cut and shown on hover.
fn fact_row_ui(ui: &mut Ui, fact: &FactRow, words: &Catalogue) {
    let palette = theme::palette(ui);
    let line = ui.text_style_height(&eframe::egui::TextStyle::Body);
    let width = ui.available_width();
    ui.allocate_ui_with_layout(
        vec2(width, line),
        Layout::left_to_right(Align::Center),
        |ui| {
            let name_width = name_width(ui, &fact.name, width);
            ui.allocate_ui_with_layout(
                vec2(name_width, line),
                Layout::left_to_right(Align::Center),
                |ui| {
                    ui.set_max_width(name_width);
                    ui.add(Label::new(theme::dim(ui, &fact.name)).truncate());
                },
            );
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 1.25 * UNIT;
                let value = RichText::new(&fact.value).color(fact.tone.color(palette));
                let shown = ui.add(Label::new(value).truncate());
                if !fact.source.is_empty() {
                    shown.on_hover_text(&fact.source);
                }
                if let Some(sign) = fact.tone.sign() {
                    sign_ui(ui, words, sign);
                }
            });
        },
    );
    if !fact.meaning.is_empty() {
        let text = RichText::new(&fact.meaning)
            .size(size::SMALL)
            .color(meaning_color(ui, fact));
        ui.add(Label::new(text).wrap());
        ui.add_space(0.5 * UNIT);
    }
}

fn meaning_color(ui: &Ui, fact: &FactRow) -> Color32 {
    match fact.meaning_tone {
        Tone::Plain => theme::palette(ui).dim,
        tone => tone.color(theme::palette(ui)),
    }
}

/// As wide as its text, but never so wide that the value has no room.
fn name_width(ui: &Ui, name: &str, width: f32) -> f32 {
    let font = eframe::egui::TextStyle::Body.resolve(ui.style());
    let galley = ui
        .painter()
        .layout_no_wrap(name.to_owned(), font, Color32::WHITE);
    (galley.size().x + 1.0).min(width * 0.62)
}

fn sentence_ui(ui: &mut Ui, text: &str, tone: Tone) {
    let color = tone.color(theme::palette(ui));
    match tone.sign() {
        None => {
            ui.add(Label::new(RichText::new(text).color(color)).wrap());
        }
        Some(sign) => {
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 1.25 * UNIT;
                ui.allocate_ui(vec2(3.0 * UNIT, 4.0 * UNIT), |ui| {
                    sign_word_ui(ui, sign, "");
                });
                ui.add(Label::new(RichText::new(text).color(color)).wrap());
            });
        }
    }
}

/// What is refused, what would help, and the GRANT to copy.
fn refusal_ui(ui: &mut Ui, refusal: &Refusal, words: &Catalogue) {
    sentence_ui(ui, &refusal.what, Tone::Unknown);
    if let Some(hint) = &refusal.hint {
        ui.add(Label::new(theme::dim(ui, hint)).wrap());
    }
    if let Some(statement) = &refusal.statement {
        let name = words.text("panel.grant");
        let copy = words.text("panel.copy_grant");
        code_ui(ui, words, name, statement, copy, || statement.clone());
    }
    if !refusal.detail.is_empty() {
        ui.add(Label::new(theme::note(ui, &refusal.detail)).wrap());
    }
}

/// How many lines of a long text are shown before it scrolls.
const CODE_LINES: f32 = 6.0;

fn code_ui(
    ui: &mut Ui,
    words: &Catalogue,
    name: &str,
    text: &str,
    copy: &str,
    whole: impl FnOnce() -> String,
) {
    ui.horizontal(|ui| {
        ui.label(theme::dim(ui, name));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            copy_ui(ui, words, copy, whole);
        });
    });
    let palette = theme::palette(ui);
    let frame = Box::new()
        .fill(palette.field)
        .stroke(Stroke::new(1.0, palette.line))
        .corner_radius(CornerRadius::same(SMALL_CORNER))
        .inner_margin(Margin::same((1.5 * UNIT) as i8));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        let line = ui.text_style_height(&eframe::egui::TextStyle::Monospace);
        ScrollArea::vertical()
            .max_height(CODE_LINES * line)
            .show(ui, |ui| {
                ui.set_width(ui.available_width());
                ui.add(Label::new(theme::mono(text)).wrap().selectable(true));
            });
    });
}

fn offer_ui(ui: &mut Ui, offer: &Offer, words: &Catalogue, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.add(
            Label::new(RichText::new(&offer.text))
                .truncate()
                .sense(Sense::hover()),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some((topology, server)) = &offer.add {
                let name = words.text("panel.add_found").replace("{name}", &offer.text);
                let button = quiet_button_ui(ui, words.text("panel.add"));
                button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
                if button.clicked() {
                    actions.push(Action::AddFound {
                        topology: topology.clone(),
                        server: server.clone(),
                    });
                }
            }
            ui.add(Label::new(theme::note(ui, &offer.note)).truncate());
        });
    });
}
