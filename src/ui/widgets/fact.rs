//! A row that names a value: the name left, the value right, and on hover where it comes from and how old it is.

use eframe::egui::{Color32, Label, Response, RichText, Sides, Ui};

use super::sign::line_height;
use crate::ui::theme::{self, size};

/// What such a row shows.
#[derive(Clone, Debug, Default)]
pub struct Fact<'a> {
    pub name: &'a str,
    pub value: &'a str,
    /// A remark left of the value, in its own colour: "contradicted".
    pub remark: Option<(&'a str, Color32)>,
    /// The value's colour, when it means something.
    pub color: Option<Color32>,
    /// Where the value comes from and how old it is. Every number has this.
    pub source: &'a str,
}

/// The name gives way when the row is narrow: its end is cut and shown on hover.
pub fn fact_ui(ui: &mut Ui, fact: Fact<'_>) -> Response {
    let name = Label::new(theme::dim(ui, fact.name)).truncate();
    let mut value = RichText::new(fact.value);
    if let Some(color) = fact.color {
        value = value.color(color);
    }
    let (_, shown) = Sides::new().height(line_height(ui)).shrink_left().show(
        ui,
        |ui| ui.add(name),
        |ui| {
            let shown = ui.label(value);
            if let Some((remark, color)) = fact.remark {
                ui.label(RichText::new(remark).color(color).size(size::SMALL));
            }
            shown
        },
    );
    if fact.source.is_empty() {
        shown
    } else {
        shown.on_hover_text(fact.source)
    }
}
