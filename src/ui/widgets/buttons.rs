//! The buttons beyond egui's own: the one thing to do here, quiet ones inside text, and "copy".

use eframe::egui::{
    Button, Id, Key, Pos2, Rect, Response, RichText, Stroke, StrokeKind, Ui, pos2, vec2,
};

use crate::ui::fonts;
use crate::ui::theme::{self, size};
use crate::words::Catalogue;

/// The one thing to do in this place. At most one on a screen.
pub fn primary_button_ui(ui: &mut Ui, text: &str) -> Response {
    let palette = theme::palette(ui);
    let text = RichText::new(text)
        .font(fonts::semibold(size::BODY))
        .color(palette.on_accent);
    // egui's frame would be a grey line, and its focus ring the accent on the accent
    let focused = ui.memory(|memory| memory.has_focus(ui.next_auto_id()));
    let ring = if focused {
        palette.text
    } else {
        palette.accent
    };
    let button = Button::new(text).fill(palette.accent);
    ui.add(button.stroke(Stroke::new(1.0, ring)))
}

/// Gives the keyboard to this answer of a dialog when the dialog opens, so that Enter presses it. Where one answer
/// destroys something, it is another one.
pub fn answers_enter(ui: &Ui, answer: &Response) {
    let id = answer.id.with("answers enter");
    let now = ui.ctx().cumulative_pass_nr();
    let last: Option<u64> = ui.data(|data| data.get_temp(id));
    ui.data_mut(|data| data.insert_temp(id, now));
    if last.is_none_or(|last| last + 1 < now) {
        answer.request_focus();
    }
}

/// Enter was pressed in a field of one line: as good as the button beside it.
pub fn entered(ui: &Ui, field: &Response) -> bool {
    field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}

/// A button without a frame until it is touched, in the accent: "show the SQL", "clear".
pub fn quiet_button_ui(ui: &mut Ui, text: &str) -> Response {
    let text = RichText::new(text).color(theme::palette(ui).accent);
    ui.add(Button::new(text).frame_when_inactive(false))
}

/// How long "Copied" stands in place of "Copy".
const COPIED_SHOWS_SECS: f64 = 1.5;

/// Copies what `text` makes when it is pressed, and says so. `what` is for the hover text and screen readers: "Copy
/// the SQL".
pub fn copy_button_ui(
    ui: &mut Ui,
    words: &Catalogue,
    what: &str,
    text: impl FnOnce() -> String,
) -> Response {
    let id = ui.make_persistent_id(("copied", what));
    let now = ui.input(|input| input.time);
    let copied = is_recent(ui, id, now);
    let word = words.text(if copied { "copy.done" } else { "copy.do" });
    // room for the icon, which is painted because no font of ours has it
    let label = RichText::new(format!("      {word}")).color(theme::palette(ui).dim);
    let response = ui.add(Button::new(label).frame_when_inactive(false));
    let left = response.rect.left_center() + vec2(ui.spacing().button_padding.x + 5.0, 0.0);
    paint_icon(ui, left, copied);
    if response.clicked() {
        ui.ctx().copy_text(text());
        ui.data_mut(|data| data.insert_temp(id, now));
        ui.ctx()
            .request_repaint_after_secs(COPIED_SHOWS_SECS as f32);
    }
    response.on_hover_text(what)
}

fn is_recent(ui: &Ui, id: Id, now: f64) -> bool {
    let pressed_at: Option<f64> = ui.data(|data| data.get_temp(id));
    pressed_at.is_some_and(|at| now - at < COPIED_SHOWS_SECS)
}

/// Two sheets, or a tick when done.
fn paint_icon(ui: &Ui, center: Pos2, done: bool) {
    let palette = theme::palette(ui);
    let painter = ui.painter();
    if done {
        let stroke = Stroke::new(1.5, palette.ok);
        let at = |x: f32, y: f32| pos2(center.x + x, center.y + y);
        painter.line(vec![at(-4.0, 0.0), at(-1.0, 3.0), at(4.5, -3.5)], stroke);
        return;
    }
    let stroke = Stroke::new(1.0, palette.dim);
    let sheet = Rect::from_center_size(center, vec2(7.0, 8.0));
    let back = sheet.translate(vec2(-1.5, -1.5));
    painter.rect_stroke(back, 1.5, stroke, StrokeKind::Middle);
    let front = sheet.translate(vec2(1.5, 1.5));
    painter.rect(front, 1.5, palette.card, stroke, StrokeKind::Middle);
}
