//! A choice among a few, side by side, of which always one holds: the time window of a plot, a mode.

use eframe::egui::{Button, Ui};

use crate::model::time::Span;
use crate::ui::theme::UNIT;
use crate::words::Catalogue;

/// Draws the choices; true when another one was chosen.
pub fn segments_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    chosen: &mut T,
    choices: &[(T, String)],
) -> bool {
    let before = *chosen;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.5 * UNIT;
        for (choice, label) in choices {
            let button = Button::selectable(*choice == *chosen, label.as_str());
            if ui.add(button).clicked() {
                *chosen = *choice;
            }
        }
    });
    before != *chosen
}

/// The lengths of time a plot can show.
pub fn time_windows() -> [Span; 6] {
    const MINUTE: i64 = 60;
    const DAY: i64 = 24 * 60 * MINUTE;
    [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, DAY, 7 * DAY].map(Span::from_secs)
}

/// The time window of a plot: 1 min … 7 d.
pub fn window_segments_ui(ui: &mut Ui, words: &Catalogue, window: &mut Span) -> bool {
    let choices = time_windows().map(|span| (span, words.span(span)));
    segments_ui(ui, window, &choices)
}
