//! The three reads of one write, side by side.

use eframe::egui::{Align, FontId, Label, Layout, RichText, Ui};

use super::run_data::ReadCard;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Edge, sign_ui};
use crate::words::Catalogue;

/// A value stands out, and still fits three times into a small window.
const VALUE: f32 = 19.0;

pub fn cards_ui(ui: &mut Ui, words: &Catalogue, cards: &[ReadCard; 3]) {
    let id = ui.scope_id().with("reads");
    let last: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    let mut highest: f32 = 0.0;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0 * UNIT;
        ui.columns(3, |columns| {
            for (column, card) in columns.iter_mut().zip(cards) {
                column.spacing_mut().item_spacing = eframe::egui::vec2(2.0 * UNIT, 0.75 * UNIT);
                let layout = Layout::top_down(Align::LEFT);
                let shown = column.with_layout(layout, |ui| card_ui(ui, words, card, last));
                highest = highest.max(shown.inner);
            }
        });
    });
    if (highest - last).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, highest));
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_millis(1));
    }
}

/// Answers with the height its words need.
fn card_ui(ui: &mut Ui, words: &Catalogue, card: &ReadCard, least: f32) -> f32 {
    let color = card.sign.color(theme::palette(ui));
    let shown = Card::new()
        .edge(Edge::Top(color))
        .min_height(least)
        .show(ui, |ui| {
            let top = ui.cursor().min.y;
            ui.add(Label::new(theme::dim(ui, &card.title)).truncate());
            ui.add(Label::new(theme::note(ui, &card.place)).truncate());
            ui.add_space(0.5 * UNIT);
            let value = RichText::new(&card.value).font(FontId::proportional(VALUE));
            ui.add(Label::new(value).truncate());
            ui.add_space(0.5 * UNIT);
            let word = theme::strong(&card.word).color(color);
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 1.25 * UNIT;
                sign_ui(ui, words, card.sign);
                ui.add(Label::new(word).wrap());
            });
            for line in &card.lines {
                ui.add(Label::new(theme::note(ui, line)).wrap());
            }
            ui.cursor().min.y - top
        });
    // the card's margins, above and below
    shown.inner + 7.0 * UNIT
}
