//! Keys that work on every screen. What is being typed into a field, and what has the keyboard, comes first.

use eframe::egui::{Key, KeyboardShortcut, Modifiers, Ui};

use super::{PaletteState, ShellData, ShellState};
use crate::model::preferences::{ZOOM_MAX, ZOOM_MIN};
use crate::ui::Frame;
use crate::ui::action::Action;

pub const FIND: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::K);
const QUIT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Q);

pub fn keys_ui(
    ui: &Ui,
    data: &ShellData,
    state: &mut ShellState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    if ui.input_mut(|i| i.consume_shortcut(&FIND)) {
        state.palette = match state.palette.take() {
            Some(_) => None,
            None => Some(PaletteState::default()),
        };
    }
    if ui.input_mut(|i| i.consume_shortcut(&QUIT)) {
        actions.push(Action::Quit);
    }
    zoom_keys(ui, frame, actions);
    let Some(topology) = frame.topology.filter(|_| data.watched) else {
        return;
    };
    if ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::F5)) {
        actions.push(Action::PollNow(topology.clone()));
    }
    // on a button, the space bar presses it
    let nothing_has_the_keyboard = ui.memory(|memory| memory.focused().is_none());
    if nothing_has_the_keyboard
        && state.palette.is_none()
        && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Space))
    {
        actions.push(Action::Pause(state.paused_since.is_none()));
    }
}

fn zoom_keys(ui: &Ui, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::COMMAND, key));
    let now = frame.preferences.zoom;
    let zoom = if pressed(Key::Plus) || pressed(Key::Equals) {
        step(now, 1.0)
    } else if pressed(Key::Minus) {
        step(now, -1.0)
    } else if pressed(Key::Num0) {
        1.0
    } else {
        return;
    };
    actions.push(Action::Zoom(zoom));
}

/// Quarters below two, halves above: few presses from the smallest to the largest.
pub fn step(zoom: f32, direction: f32) -> f32 {
    let stride = if zoom + direction * 0.01 > 2.0 {
        0.5
    } else {
        0.25
    };
    let steps = (zoom / stride).round() + direction;
    (steps * stride).clamp(ZOOM_MIN, ZOOM_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_goes_from_end_to_end_and_back() {
        let mut up = vec![ZOOM_MIN];
        while up.last().is_some_and(|z| *z < ZOOM_MAX) {
            up.push(step(up[up.len() - 1], 1.0));
        }
        assert_eq!(up, [0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5]);
        let mut down = vec![ZOOM_MAX];
        while down.last().is_some_and(|z| *z > ZOOM_MIN) {
            down.push(step(down[down.len() - 1], -1.0));
        }
        down.reverse();
        assert_eq!(down, up);
    }
}
