//! The value one reads before all others: large digits, small units. Or, where there is no number, a word as large.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{Align, Color32, FontId, Label, Response, Ui};

use crate::ui::theme::{UNIT, palette, size};
use crate::words::Figure;

/// `color` is for the digits; units stay dim unless the digits mean something.
pub fn figure_ui(ui: &mut Ui, figure: &Figure, color: Color32) -> Response {
    let colors = palette(ui);
    let unit_color = if color == colors.text {
        colors.dim
    } else {
        color
    };
    let mut job = LayoutJob::default();
    for (n, (digits, unit)) in figure.0.iter().enumerate() {
        let gap = if n == 0 { 0.0 } else { 1.5 * UNIT };
        job.append(digits, gap, large(color));
        job.append(unit, UNIT, format(size::TITLE, unit_color));
    }
    ui.add(Label::new(job).truncate())
}

/// "unknown", "not replicating": never a number where none is known.
pub fn figure_word_ui(ui: &mut Ui, word: &str, color: Color32) -> Response {
    let job = LayoutJob::single_section(word.to_owned(), large(color));
    ui.add(Label::new(job).truncate())
}

fn large(color: Color32) -> TextFormat {
    format(size::FIGURE, color)
}

fn format(size: f32, color: Color32) -> TextFormat {
    TextFormat {
        font_id: FontId::proportional(size),
        color,
        valign: Align::BOTTOM,
        ..TextFormat::default()
    }
}
