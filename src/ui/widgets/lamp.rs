//! A lamp: one of the things watched separately about a replica (threads, lag, semi-sync), its sign and its word.

use eframe::egui::{Label, Response, Ui};

use super::sign::{Sign, line_ui, place_sign};
use crate::ui::theme::{self, UNIT, size};

/// The name small and dim beside the sign, the word under it. `why` is the hover text.
pub fn lamp_ui(ui: &mut Ui, sign: Sign, name: &str, word: &str, why: &str) -> Response {
    let lamp = ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        line_ui(ui, |ui| {
            ui.spacing_mut().item_spacing.x = UNIT;
            place_sign(ui, sign);
            ui.add(Label::new(theme::dim(ui, name).size(size::SMALL)).truncate());
        });
        ui.add(Label::new(word).truncate());
    });
    if why.is_empty() {
        lamp.response
    } else {
        lamp.response.on_hover_text(why)
    }
}
