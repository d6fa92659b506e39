//! What stands where there is nothing yet: what this place is, why it is empty, and the next step.

use eframe::egui::{Label, RichText, Ui};

use super::primary_button_ui;
use crate::ui::theme::{self, UNIT, palette};

/// In the middle of the place; true when the next step was pressed.
pub fn empty_ui(ui: &mut Ui, title: &str, text: &str, action: Option<&str>) -> bool {
    let above = (ui.available_height() * 0.3).min(20.0 * UNIT);
    let mut pressed = false;
    ui.vertical_centered(|ui| {
        ui.add_space(above);
        ui.set_max_width(ui.available_width().min(110.0 * UNIT));
        ui.label(theme::title(title));
        ui.add_space(UNIT);
        ui.add(Label::new(RichText::new(text).color(palette(ui).dim)).wrap());
        if let Some(action) = action {
            ui.add_space(3.0 * UNIT);
            pressed = primary_button_ui(ui, action).clicked();
        }
    });
    pressed
}
