//! The strip of screens: a name and the digit that brings it up from anywhere.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Color32, FontId, Key, Modifiers, Rect, Response, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, scroll_area::ScrollBarVisibility, vec2,
};

use crate::ui::theme::{self, SMALL_CORNER, UNIT, size};

/// One screen in the strip.
#[derive(Clone, Copy, Debug)]
pub struct Tab<'a, T> {
    pub screen: T,
    pub name: &'a str,
}

const DIGITS: [Key; 10] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
    Key::Num0,
];

/// Draws the strip and listens for its digits, unless something is being typed. True when another screen was chosen.
/// A strip wider than its place leaves the digits out; one that still is scrolls.
pub fn tabs_ui<T: Copy + PartialEq>(ui: &mut Ui, chosen: &mut T, tabs: &[Tab<'_, T>]) -> bool {
    let before = *chosen;
    if let Some(tab) = pressed_digit(ui).and_then(|n| tabs.get(n)) {
        *chosen = tab.screen;
    }
    let whole: f32 = (tabs.iter().enumerate())
        .map(|(n, tab)| width_of(ui, tab.name, digit(n).len()))
        .sum();
    let has_digits = whole <= ui.available_width();
    ScrollArea::horizontal()
        .id_salt("tabs")
        .scroll_bar_visibility(ScrollBarVisibility::AlwaysHidden)
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                for (n, tab) in tabs.iter().enumerate() {
                    let digit = if has_digits { digit(n) } else { "" };
                    if tab_ui(ui, digit, tab.name, tab.screen == *chosen).clicked() {
                        *chosen = tab.screen;
                    }
                }
            });
        });
    before != *chosen
}

fn pressed_digit(ui: &mut Ui) -> Option<usize> {
    if ui.ctx().text_edit_focused() {
        return None;
    }
    ui.input_mut(|input| {
        DIGITS
            .iter()
            .position(|key| input.consume_key(Modifiers::NONE, *key))
    })
}

/// The tenth is 0, as on the keyboard.
fn digit(n: usize) -> &'static str {
    const SHOWN: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];
    SHOWN.get(n).copied().unwrap_or_default()
}

/// Between two names, and before a digit.
const PADDING: f32 = 3.0 * UNIT;
const BEFORE_DIGIT: f32 = 1.5 * UNIT;

fn width_of(ui: &Ui, name: &str, digits: usize) -> f32 {
    let text = |text: &str, font| {
        ui.painter()
            .layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER)
    };
    let digit = match digits {
        0 => 0.0,
        _ => BEFORE_DIGIT + text("0", theme::tiny()).size().x,
    };
    text(name, FontId::proportional(size::BODY)).size().x + digit + 2.0 * PADDING
}

fn tab_ui(ui: &mut Ui, digit: &str, name: &str, chosen: bool) -> Response {
    let palette = theme::palette(ui);
    let painter = ui.painter().clone();
    let body = FontId::proportional(size::BODY);
    let dim = palette.dim;
    let text = if chosen { palette.text } else { dim };
    let name_galley = painter.layout_no_wrap(name.to_owned(), body, text);
    let digit_color = dim.gamma_multiply(0.8);
    let digit_galley = painter.layout_no_wrap(digit.to_owned(), theme::tiny(), digit_color);
    let width = width_of(ui, name, digit.len());
    let (rect, response) = ui.allocate_exact_size(vec2(width, 10.0 * UNIT), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, chosen, name));

    if response.hovered() && !chosen {
        painter.rect_filled(
            rect.shrink2(vec2(UNIT, 1.5 * UNIT)),
            SMALL_CORNER,
            palette.hovered,
        );
    }
    if chosen {
        let line = Rect::from_min_max(pos2(rect.min.x, rect.max.y - 2.0), rect.max);
        painter.rect_filled(line, 0.0, palette.accent);
    }
    if response.has_focus() {
        let ring = Stroke::new(1.5, palette.accent);
        painter.rect_stroke(rect.shrink(1.0), SMALL_CORNER, ring, StrokeKind::Inside);
    }
    let left = rect.min.x + PADDING;
    let name_at = pos2(left, rect.center().y - name_galley.size().y / 2.0);
    let digit_left = left + name_galley.size().x + BEFORE_DIGIT;
    // on the same baseline, being smaller
    let digit_at = pos2(
        digit_left,
        name_at.y + name_galley.size().y - digit_galley.size().y - 0.5,
    );
    painter.galley(name_at, name_galley, text);
    painter.galley(digit_at, digit_galley, dim);
    response
}
