//! The value one reads before all others: large digits, small units. Or, where there is no number, a word as large.

use std::sync::Arc;

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Color32, FontId, Galley, Label, Response, RichText, Sense, Ui, WidgetInfo, vec2,
};

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
    let mut pieces = Vec::new();
    let mut width = 0.0;
    for (n, (digits, unit)) in figure.0.iter().enumerate() {
        let gap = if n == 0 { 0.0 } else { 1.5 * UNIT };
        for (text, size, gap, color) in [
            (digits, size::FIGURE, gap, color),
            (unit, size::TITLE, UNIT, unit_color),
        ] {
            let font = FontId::proportional(size);
            let galley = ui.painter().layout_no_wrap(text.clone(), font, color);
            width += gap;
            pieces.push((width, Arc::clone(&galley), color));
            width += galley.size().x;
        }
    }
    let height = pieces.first().map_or(0.0, |(_, digits, _)| digits.size().y);
    let line = pieces
        .first()
        .map_or(0.0, |(_, digits, _)| baseline(digits));
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    for (left, galley, color) in pieces {
        let at = rect.min + vec2(left, line - baseline(&galley));
        ui.painter().galley(at, galley, color);
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, figure));
    response
}

/// egui aligns pieces of different size by the bottom of their lines, which sets a small unit below its number; what
/// the eye wants is a common baseline.
fn baseline(galley: &Galley) -> f32 {
    let first_row = galley.rows.first();
    let first_glyph = first_row.and_then(|row| Some((row.pos.y, row.glyphs.first()?.pos.y)));
    first_glyph.map_or(0.0, |(row, glyph)| row + glyph)
}

/// "unknown", "not replicating": never a number where none is known.
pub fn figure_word_ui(ui: &mut Ui, word: &str, color: Color32) -> Response {
    let word = RichText::new(word).size(size::FIGURE).color(color);
    ui.add(Label::new(word).truncate())
}
