//! The sign of a state: a shape of its own for each, so that no state is told by colour alone.
//!
//! A filled circle is well, a triangle warns, a square is critical, an open circle is unknown, two bars are stopped on
//! purpose, a dash does not apply. The word stands beside it or, where there is no room, in the hover text.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, Color32, Layout, Painter, Pos2, Rect, Response, RichText, Sense, Shape, Stroke,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};

use crate::model::finding::{Health, Lamp, Severity};
use crate::ui::theme::{self, Palette, UNIT};
use crate::words::Catalogue;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    Ok,
    Warning,
    Critical,
    Unknown,
    Stopped,
    NotApplicable,
}

impl Sign {
    pub const ALL: [Sign; 6] = [
        Sign::Ok,
        Sign::Warning,
        Sign::Critical,
        Sign::Unknown,
        Sign::Stopped,
        Sign::NotApplicable,
    ];

    pub fn color(self, palette: &Palette) -> Color32 {
        match self {
            Sign::Ok => palette.ok,
            Sign::Warning | Sign::Stopped => palette.warning,
            Sign::Critical => palette.critical,
            Sign::Unknown => palette.unknown,
            Sign::NotApplicable => palette.dim,
        }
    }

    /// What the sign says, in one word.
    pub fn word(self, words: &Catalogue) -> &str {
        words.text(match self {
            Sign::Ok => "sign.ok",
            Sign::Warning => "sign.warning",
            Sign::Critical => "sign.critical",
            Sign::Unknown => "sign.unknown",
            Sign::Stopped => "sign.stopped",
            Sign::NotApplicable => "sign.not_applicable",
        })
    }
}

impl From<Lamp> for Sign {
    fn from(lamp: Lamp) -> Self {
        match lamp {
            Lamp::Ok => Sign::Ok,
            Lamp::Warning => Sign::Warning,
            Lamp::Critical => Sign::Critical,
            Lamp::Unknown => Sign::Unknown,
            Lamp::NotApplicable => Sign::NotApplicable,
        }
    }
}

impl From<Health> for Sign {
    fn from(health: Health) -> Self {
        match health {
            Health::Ok => Sign::Ok,
            Health::Delayed => Sign::Warning,
            Health::Broken => Sign::Critical,
            Health::Stopped => Sign::Stopped,
            Health::Unknown => Sign::Unknown,
        }
    }
}

impl From<Severity> for Sign {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Sign::Ok,
            Severity::Warning => Sign::Warning,
            Severity::Critical => Sign::Critical,
        }
    }
}

/// Paints the sign alone, for plots and trees that place it themselves.
pub fn paint_sign(painter: &Painter, center: Pos2, radius: f32, sign: Sign, palette: &Palette) {
    let color = sign.color(palette);
    let at = |x: f32, y: f32| pos2(center.x + x * radius, center.y + y * radius);
    match sign {
        Sign::Ok => {
            painter.circle_filled(center, radius, color);
        }
        Sign::Warning => {
            // a little larger than the circle, or it looks smaller
            let corners = vec![at(0.0, -1.05), at(1.15, 0.95), at(-1.15, 0.95)];
            painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
        }
        Sign::Critical => {
            let side = 1.75 * radius;
            let square = Rect::from_center_size(center, vec2(side, side));
            painter.rect_filled(square, 1.0, color);
        }
        Sign::Unknown => {
            painter.circle_stroke(center, radius - 0.75, Stroke::new(1.5, color));
        }
        Sign::Stopped => {
            for x in [-0.5, 0.5] {
                let bar = Rect::from_center_size(at(x, 0.0), vec2(0.6, 1.8) * radius);
                painter.rect_filled(bar, 1.0, color);
            }
        }
        Sign::NotApplicable => {
            let dash = Rect::from_center_size(center, vec2(1.5 * radius, 1.5));
            painter.rect_filled(dash, 0.5, color);
        }
    }
}

/// How far a sign beside body text reaches from its middle.
pub(super) const RADIUS: f32 = 5.0;

/// The sign alone; its word is in the hover text.
pub fn sign_ui(ui: &mut Ui, words: &Catalogue, sign: Sign) -> Response {
    let response = place_sign(ui, sign);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, sign.word(words)));
    response.on_hover_text(sign.word(words))
}

/// The sign and a word beside it: "▲ behind". The word may be any, since the shape tells the state.
pub fn sign_word_ui(ui: &mut Ui, sign: Sign, word: impl Into<RichText>) -> Response {
    line_ui(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 1.25 * UNIT;
        place_sign(ui, sign);
        ui.label(word.into())
    })
}

/// A row only as high as its text; `Ui::horizontal` makes one as high as a button.
pub(super) fn line_ui<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    let size = vec2(ui.available_width(), line_height(ui));
    let layout = Layout::left_to_right(Align::Center);
    ui.allocate_ui_with_layout(size, layout, content).inner
}

pub(super) fn line_height(ui: &Ui) -> f32 {
    ui.text_style_height(&TextStyle::Body)
}

/// Paints it in the middle of the line of text.
pub(super) fn place_sign(ui: &mut Ui, sign: Sign) -> Response {
    let size = vec2(2.2 * RADIUS, line_height(ui));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    // letters sit a little above the middle of their line
    let center = rect.center() + vec2(0.0, 0.5);
    paint_sign(ui.painter(), center, RADIUS, sign, theme::palette(ui));
    response
}
