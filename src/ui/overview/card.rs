//! Draws a replica's card.

use eframe::egui::{Color32, FontId, Label, RichText, Sides, Ui, vec2};

use super::card_data::{Headline, MethodRow, ReplicaCard};
use crate::model::profile::{ServerId, TopologyId};
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::lesson::pointer;
use crate::ui::theme::{self, UNIT, palette, size};
use crate::ui::widgets::{
    Card, Edge, Fact, Sign, card_head_ui, fact_ui, figure_ui, figure_word_ui, lamp_ui,
    quiet_button_ui,
};

/// Answers with the height the card needs.
pub fn replica_card_ui(
    ui: &mut Ui,
    card: &ReplicaCard,
    min_height: f32,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) -> f32 {
    let colors = palette(ui);
    let edge = Edge::Left(card.sign.color(colors));
    let shown = Card::new()
        .edge(edge)
        .min_height(min_height)
        .show(ui, |ui| {
            let top = ui.cursor().min.y;
            ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
            card_head_ui(ui, card.sign, &card.name, &card.kind);
            headline_ui(ui, &card.headline);
            line_ui(ui, theme::note(ui, card.how.as_str()), &card.how);
            if let Some(delay) = &card.delay {
                line_ui(ui, theme::note(ui, delay.as_str()), delay);
            }
            if let Some(cause) = &card.cause {
                line_ui(ui, RichText::new(cause), cause);
            }
            separator_ui(ui);
            lamps_ui(ui, card, frame);
            separator_ui(ui);
            for row in &card.methods {
                method_ui(ui, row, frame);
            }
            foot_ui(ui, card, frame, actions);
            // what the content took, without what the card was stretched by
            ui.min_rect().max.y.min(ui.cursor().min.y) - top
        });
    pointer::mark_of(ui, "overview_card", &card.server, shown.response.rect);
    shown.inner + 7.0 * UNIT
}

fn headline_ui(ui: &mut Ui, headline: &Headline) {
    let colors = palette(ui);
    match headline {
        Headline::Lag { figure, sign } => {
            let color = match sign {
                Sign::Ok | Sign::Unknown | Sign::NotApplicable => colors.text,
                sign => sign.color(colors),
            };
            figure_ui(ui, figure, color);
        }
        Headline::Word { text, sign } => drop(figure_word_ui(ui, text, sign.color(colors))),
    }
}

/// Side by side, each as wide as its words need as far as there is room.
fn lamps_ui(ui: &mut Ui, card: &ReplicaCard, frame: &Frame<'_>) {
    let words = frame.words;
    let gap = 2.5 * UNIT;
    let needs = card.lamps.each_ref().map(|lamp| {
        let width = |text: &str, size: f32| {
            let font = FontId::proportional(size);
            let galley = ui
                .painter()
                .layout_no_wrap(text.to_owned(), font, Color32::WHITE);
            galley.size().x
        };
        let name = width(words.text(lamp.name), size::SMALL) + 4.0 * UNIT;
        name.max(width(&lamp.word, size::BODY)) + 1.0
    });
    let room = ui.available_width() - gap * (needs.len() - 1) as f32;
    let needed: f32 = needs.iter().sum();
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        for (lamp, need) in card.lamps.iter().zip(needs) {
            let spare = ((room - needed) / card.lamps.len() as f32).max(0.0);
            let width = (need * (room / needed).min(1.0) + spare).floor();
            ui.allocate_ui(vec2(width, 0.0), |ui| {
                ui.set_width(width);
                lamp_ui(ui, lamp.sign, words.text(lamp.name), &lamp.word, &lamp.word);
            });
        }
    });
}

fn method_ui(ui: &mut Ui, row: &MethodRow, frame: &Frame<'_>) {
    let colors = palette(ui);
    let remark = row
        .contradicted
        .then(|| (frame.words.text("overview.contradicted"), colors.warning));
    fact_ui(
        ui,
        Fact {
            name: &row.name,
            value: &row.value,
            remark,
            color: (!row.known).then_some(colors.dim),
            source: &row.source,
        },
    );
}

fn foot_ui(ui: &mut Ui, card: &ReplicaCard, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    if card.methods.iter().any(|row| row.contradicted) {
        line_ui(ui, theme::note(ui, card.verdict.as_str()), &card.verdict);
    }
    Sides::new().shrink_left().show(
        ui,
        |ui| line_ui(ui, RichText::new(&card.waiting), &card.waiting_hint),
        |ui| details_button_ui(ui, &card.topology, &card.server, frame, actions),
    );
}

/// Goes to the screen about this server.
pub fn details_button_ui(
    ui: &mut Ui,
    topology: &TopologyId,
    server: &ServerId,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let button = quiet_button_ui(ui, words.text("overview.more"));
    if button
        .on_hover_text(words.text("overview.more_hint"))
        .clicked()
    {
        actions.push(Action::Select {
            topology: topology.clone(),
            server: server.clone(),
        });
        actions.push(Action::Show(Screen::Server));
    }
}

/// One line; what does not fit is in the hover text.
pub fn line_ui(ui: &mut Ui, text: RichText, hover: &str) {
    ui.add(Label::new(text).truncate()).on_hover_text(hover);
}

pub fn separator_ui(ui: &mut Ui) {
    ui.add_space(0.5 * UNIT);
    let rect = ui.available_rect_before_wrap();
    let stroke = eframe::egui::Stroke::new(1.0, palette(ui).grid);
    ui.painter().hline(rect.x_range(), rect.min.y, stroke);
    ui.add_space(1.5 * UNIT);
}
