//! Buttons with a painted sign instead of a word, for the bar at the top; the word is in the hover text and for screen
//! readers.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Color32, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2,
    vec2,
};

use crate::ui::theme::{self, SMALL_CORNER, UNIT};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Pause,
    Play,
    Refresh,
    Theme,
    Tree,
    Plus,
}

/// A square button; `name` says what it does.
pub fn icon_button_ui(ui: &mut Ui, icon: Icon, name: &str, hint: &str) -> Response {
    let side = 6.5 * UNIT;
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    let palette = theme::palette(ui);
    if response.hovered() {
        ui.painter()
            .rect_filled(rect, SMALL_CORNER, palette.hovered);
    }
    if response.has_focus() {
        let ring = Stroke::new(1.5, palette.accent);
        ui.painter()
            .rect_stroke(rect, SMALL_CORNER, ring, StrokeKind::Inside);
    }
    let color = match (ui.is_enabled(), response.hovered()) {
        (false, _) => palette.line,
        (true, true) => palette.text,
        (true, false) => palette.dim,
    };
    paint(ui.painter(), rect.center(), icon, color);
    response.on_hover_text(hint)
}

fn paint(painter: &Painter, center: Pos2, icon: Icon, color: Color32) {
    let at = |x: f32, y: f32| pos2(center.x + x, center.y + y);
    let stroke = Stroke::new(1.5, color);
    match icon {
        Icon::Pause => {
            for x in [-3.0, 3.0] {
                painter.rect_filled(
                    Rect::from_center_size(at(x, 0.0), vec2(3.0, 11.0)),
                    1.0,
                    color,
                );
            }
        }
        Icon::Play => {
            let corners = vec![at(-4.0, -6.0), at(6.0, 0.0), at(-4.0, 6.0)];
            painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
        }
        Icon::Refresh => {
            let points = (0..=20).map(|n| {
                let angle = -0.6 + n as f32 / 20.0 * 5.0;
                at(5.5 * angle.cos(), 5.5 * angle.sin())
            });
            painter.line(points.collect(), stroke);
            let tip = vec![at(7.5, -4.5), at(6.5, -0.5), at(2.5, -3.0)];
            painter.add(Shape::convex_polygon(tip, color, Stroke::NONE));
        }
        Icon::Theme => {
            painter.circle_stroke(center, 5.5, stroke);
            let half: Vec<Pos2> = (0..=16)
                .map(|n| {
                    let angle =
                        std::f32::consts::FRAC_PI_2 + n as f32 / 16.0 * std::f32::consts::PI;
                    at(5.5 * angle.cos(), 5.5 * angle.sin())
                })
                .collect();
            painter.add(Shape::convex_polygon(half, color, Stroke::NONE));
        }
        Icon::Tree => {
            for y in [-4.0, 0.0, 4.0] {
                painter.hline(center.x - 6.0..=center.x + 6.0, center.y + y, stroke);
            }
        }
        Icon::Plus => {
            painter.hline(center.x - 5.0..=center.x + 5.0, center.y, stroke);
            painter.vline(center.x, center.y - 5.0..=center.y + 5.0, stroke);
        }
    }
}
