//! A framed word: the environment of a topology, a version, a role. Production is the loud one and cannot be missed.

use eframe::egui::accesskit::Role;
use eframe::egui::{FontId, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2};

use crate::model::profile::Environment;
use crate::ui::fonts;
use crate::ui::theme::{self, SMALL_CORNER, UNIT, size};
use crate::words::Catalogue;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadgeTone {
    /// Red and framed twice as thick: production.
    Loud,
    /// Framed in the accent: the lab.
    Accent,
    Quiet,
}

/// The environment of a topology.
pub fn environment_badge_ui(ui: &mut Ui, words: &Catalogue, environment: Environment) -> Response {
    let tone = match environment {
        Environment::Production => BadgeTone::Loud,
        Environment::Staging | Environment::Development => BadgeTone::Quiet,
        Environment::Lab => BadgeTone::Accent,
    };
    badge_ui(ui, words.environment(environment), tone)
}

pub fn badge_ui(ui: &mut Ui, text: &str, tone: BadgeTone) -> Response {
    let palette = theme::palette(ui);
    let (color, font, width) = match tone {
        BadgeTone::Loud => (palette.critical, fonts::semibold(size::TINY), 1.5),
        BadgeTone::Accent => (palette.accent, fonts::semibold(size::TINY), 1.0),
        BadgeTone::Quiet => (palette.dim, FontId::proportional(size::TINY), 1.0),
    };
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
    let padding = vec2(1.5 * UNIT, 0.25 * UNIT);
    let (rect, response) = ui.allocate_exact_size(galley.size() + 2.0 * padding, Sense::hover());
    let line = Stroke::new(width, color);
    ui.painter()
        .rect_stroke(rect, SMALL_CORNER - 1, line, StrokeKind::Inside);
    ui.painter().galley(rect.min + padding, galley, color);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    response
}
