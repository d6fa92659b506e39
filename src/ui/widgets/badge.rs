//! A framed word: the environment of a topology, a version, a role. Production is the loud one and cannot be missed.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Color32, FontId, Response, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, vec2,
};

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
    badge_ui(ui, words.environment(environment), tone_of(environment))
}

/// Of the environment's badge, for what has to leave room for it.
pub fn badge_width(ui: &Ui, words: &Catalogue, environment: Environment) -> f32 {
    let (color, font, _) = look(ui, tone_of(environment));
    let text = words.environment(environment).to_owned();
    ui.painter().layout_no_wrap(text, font, color).size().x + 2.0 * PADDING.x
}

const PADDING: Vec2 = vec2(1.5 * UNIT, 0.25 * UNIT);

fn tone_of(environment: Environment) -> BadgeTone {
    match environment {
        Environment::Production => BadgeTone::Loud,
        Environment::Staging | Environment::Development => BadgeTone::Quiet,
        Environment::Lab => BadgeTone::Accent,
    }
}

/// Colour, font and the width of the line.
fn look(ui: &Ui, tone: BadgeTone) -> (Color32, FontId, f32) {
    let palette = theme::palette(ui);
    match tone {
        BadgeTone::Loud => (palette.critical, fonts::semibold(size::TINY), 1.5),
        BadgeTone::Accent => (palette.accent, fonts::semibold(size::TINY), 1.0),
        BadgeTone::Quiet => (palette.dim, FontId::proportional(size::TINY), 1.0),
    }
}

pub fn badge_ui(ui: &mut Ui, text: &str, tone: BadgeTone) -> Response {
    let (color, font, width) = look(ui, tone);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
    let (rect, response) = ui.allocate_exact_size(galley.size() + 2.0 * PADDING, Sense::hover());
    let line = Stroke::new(width, color);
    ui.painter()
        .rect_stroke(rect, SMALL_CORNER - 1, line, StrokeKind::Inside);
    ui.painter().galley(rect.min + PADDING, galley, color);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    response
}
