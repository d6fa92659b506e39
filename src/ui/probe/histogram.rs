//! How long waits took, in stretches that double.

use eframe::egui::accesskit::Role;
use eframe::egui::{Align2, Label, Rect, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::figures::FiguresData;
use crate::model::phrase::phrase;
use crate::ui::theme::{self, UNIT};
use crate::words::Catalogue;

const HEIGHT: f32 = 30.0 * UNIT;
const BELOW: f32 = 5.0 * UNIT;
const ABOVE: f32 = 4.0 * UNIT;

pub fn histogram_ui(ui: &mut Ui, words: &Catalogue, figures: &FiguresData) {
    let title = phrase("probe_screen.waits.title").with("server", figures.waits_of.as_str());
    ui.label(theme::strong(words.say(&title)));
    match &figures.percentiles {
        Some(percentiles) => {
            bars_ui(ui, words, figures, percentiles);
            ui.add(Label::new(theme::dim(ui, percentiles)).wrap());
        }
        None => {
            let none = theme::dim(ui, words.text("probe_screen.waits.none"));
            ui.add(Label::new(none).wrap());
        }
    }
    for outcome in &figures.outcomes {
        ui.add(Label::new(theme::note(ui, outcome)).wrap());
    }
}

fn bars_ui(ui: &mut Ui, words: &Catalogue, figures: &FiguresData, told: &str) {
    let (outer, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, told));
    let inner = Rect::from_min_max(outer.min + vec2(0.0, ABOVE), outer.max - vec2(0.0, BELOW));
    let palette = theme::palette(ui);
    // what comes before the first wait is left away
    let empty = figures.bars.iter().take_while(|bar| bar.count == 0).count();
    let bars = &figures.bars[empty..];
    let highest = bars.iter().map(|bar| bar.count).max().unwrap_or(1).max(1);
    let each = (inner.width() / bars.len().max(1) as f32).min(18.0 * UNIT);
    let painter = ui.painter();
    painter.hline(inner.x_range(), inner.max.y, Stroke::new(1.0, palette.line));
    let hovered = response.hover_pos();
    let mut text = None;
    for (n, bar) in bars.iter().enumerate() {
        let left = inner.min.x + each * n as f32;
        let height = inner.height() * (bar.count as f32 / highest as f32);
        let top = if bar.count > 0 { height.max(1.0) } else { 0.0 };
        let rect = Rect::from_min_max(
            pos2(left + 2.0, inner.max.y - top),
            pos2(left + each - 2.0, inner.max.y),
        );
        painter.rect_filled(rect, 2.0, palette.warning);
        let label = format!("≤ {}", words.span(bar.to));
        let at = pos2(rect.center().x, inner.max.y + UNIT);
        let galley = painter.layout_no_wrap(label, theme::tiny(), palette.dim);
        if galley.size().x < each * 2.0 && (each > 13.0 * UNIT || n % 2 == 0) {
            let place = Align2::CENTER_TOP.anchor_size(at, galley.size());
            painter.galley(place.min, galley, palette.dim);
        }
        if bar.count > 0 {
            let at = pos2(rect.center().x, rect.min.y - 1.0);
            let count = words.count(bar.count);
            painter.text(
                at,
                Align2::CENTER_BOTTOM,
                count,
                theme::tiny(),
                palette.text,
            );
        }
        if hovered.is_some_and(|at| (left..left + each).contains(&at.x)) {
            let said = phrase("probe_screen.waits.bar")
                .with("from", bar.from)
                .with("to", bar.to)
                .with("n", bar.count);
            text = Some(words.say(&said));
        }
    }
    if let Some(text) = text {
        response.on_hover_text_at_pointer(text);
    }
}
