//! Which stretch of time a plot looks at: the last minutes, moving along, or a stretch held still.

use eframe::egui::{Button, Key, Modifiers, Response, RichText, Ui, vec2};

use super::lines::LineCache;
use crate::model::time::{Moment, Span};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Sign, paint_sign, segments_ui, time_windows};
use crate::words::Catalogue;

/// The shortest and longest stretch a plot can be zoomed to.
const SHORTEST: Span = Span::from_secs(5);
const LONGEST: Span = Span::from_secs(7 * 24 * 3600);

/// How the person looks at a plot.
#[derive(Debug)]
pub struct PlotState {
    pub window: Span,
    pub view: View,
    /// The width of the plot when it was last drawn: as many columns are worth computing.
    pub pixels: f32,
    pub cache: LineCache,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum View {
    /// Its right edge is now.
    #[default]
    Live,
    /// Its right edge stands still.
    Held { to: Moment },
}

impl Default for PlotState {
    fn default() -> Self {
        PlotState {
            window: Span::from_secs(300),
            view: View::Live,
            pixels: 900.0,
            cache: LineCache::default(),
        }
    }
}

impl PlotState {
    pub fn range(&self, now: Moment) -> (Moment, Moment) {
        let to = match self.view {
            View::Live => now,
            View::Held { to } => to,
        };
        (to - self.window, to)
    }

    /// Moves by a part of the window; to the right of now there is nothing.
    pub fn pan(&mut self, by: Span, now: Moment) {
        let (_, to) = self.range(now);
        let to = to + by;
        self.view = if to >= now {
            View::Live
        } else {
            View::Held { to }
        };
    }

    /// Makes the window `factor` times as long, keeping in place what lies at `share` of its width.
    pub fn zoom(&mut self, factor: f64, share: f64, now: Moment) {
        let (from, _) = self.range(now);
        let length = self.window.secs_f64();
        let new = (length * factor).clamp(SHORTEST.secs_f64(), LONGEST.secs_f64());
        let fixed = from + Span::from_secs_f64(length * share);
        self.window = Span::from_secs_f64(new);
        if let View::Held { .. } = self.view {
            let to = fixed + Span::from_secs_f64(new * (1.0 - share));
            self.view = if to >= now {
                View::Live
            } else {
                View::Held { to }
            };
        }
    }

    /// Dragging pans, pinching or Ctrl and the wheel zoom, a double click goes back to now; with the keyboard on the
    /// plot the arrows pan, plus and minus zoom, Home goes back to now.
    pub(super) fn take_input(&mut self, ui: &Ui, response: &Response, now: Moment) {
        let width = f64::from(response.rect.width().max(1.0));
        let per_point = self.window.secs_f64() / width;
        if response.dragged() {
            self.pan(
                Span::from_secs_f64(-f64::from(response.drag_delta().x) * per_point),
                now,
            );
        }
        if response.double_clicked() {
            self.view = View::Live;
        }
        if let Some(pointer) = response.hover_pos() {
            let (zoom, sideways) = ui.input(|i| (i.zoom_delta(), i.smooth_scroll_delta().x));
            if zoom != 1.0 {
                let share = f64::from(pointer.x - response.rect.min.x) / width;
                self.zoom(1.0 / f64::from(zoom), share, now);
            }
            if sideways != 0.0 {
                self.pan(Span::from_secs_f64(-f64::from(sideways) * per_point), now);
            }
        }
        if response.has_focus() {
            self.take_keys(ui, now);
        }
    }

    fn take_keys(&mut self, ui: &Ui, now: Moment) {
        let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
        let step = Span::from_micros(self.window.micros() / 10);
        if pressed(Key::ArrowLeft) {
            self.pan(-step, now);
        }
        if pressed(Key::ArrowRight) {
            self.pan(step, now);
        }
        if pressed(Key::Plus) || pressed(Key::Equals) {
            self.zoom(0.7, 1.0, now);
        }
        if pressed(Key::Minus) {
            self.zoom(1.4, 1.0, now);
        }
        if pressed(Key::Home) {
            self.view = View::Live;
        }
    }
}

/// The lengths of time to choose from, and whether the plot moves along. In a layout from right to left it ends at the
/// right edge and still reads from left to right.
pub fn time_choice_ui(ui: &mut Ui, words: &Catalogue, state: &mut PlotState, now: Moment) {
    let from_the_right = ui.layout().prefer_right_to_left();
    if from_the_right {
        live_ui(ui, words, state, now);
    }
    if !time_windows().contains(&state.window) {
        ui.label(theme::note(ui, words.span(state.window)));
    }
    let mut choices = time_windows().map(|span| (span, words.span(span)));
    if from_the_right {
        choices.reverse();
    }
    let (_, to) = state.range(now);
    let mut window = state.window;
    if segments_ui(ui, &mut window, &choices) {
        state.window = window;
        if to < now {
            state.view = View::Held { to };
        }
    }
    if !from_the_right {
        live_ui(ui, words, state, now);
    }
}

fn live_ui(ui: &mut Ui, words: &Catalogue, state: &mut PlotState, now: Moment) {
    let palette = theme::palette(ui);
    let live = state.view == View::Live;
    let (word, color) = match live {
        true => (words.text("plot.live"), palette.ok),
        false => (words.text("plot.go_live"), palette.accent),
    };
    // room for the sign, which is painted to be the same shape as everywhere
    let text = RichText::new(format!("     {word}")).color(color);
    let response = ui.add(Button::new(text).frame_when_inactive(false));
    let center = response.rect.left_center() + vec2(3.5 * UNIT, 0.0);
    let sign = if live { Sign::Ok } else { Sign::Stopped };
    paint_sign(ui.painter(), center, UNIT, sign, palette);
    if response
        .on_hover_text(words.text("plot.live_hint"))
        .clicked()
    {
        state.view = match live {
            true => View::Held { to: now },
            false => View::Live,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Moment {
        Moment::from_unix_micros(1_700_000_000_000_000)
    }

    #[test]
    fn panning_to_the_right_edge_is_live_again() {
        let mut state = PlotState::default();
        state.pan(-Span::from_secs(60), now());
        assert_eq!(
            state.view,
            View::Held {
                to: now() - Span::from_secs(60)
            }
        );
        state.pan(Span::from_secs(61), now());
        assert_eq!(state.view, View::Live);
    }

    #[test]
    fn a_held_plot_stays_where_it_is_while_time_goes_on() {
        let mut state = PlotState::default();
        state.pan(-Span::from_secs(60), now());
        let later = now() + Span::from_secs(500);
        assert_eq!(state.range(later), state.range(now()));
    }

    #[test]
    fn zooming_keeps_what_is_under_the_pointer() {
        let mut state = PlotState::default();
        state.pan(-Span::from_secs(600), now());
        let (from, _) = state.range(now());
        let under = from + Span::from_secs(75);
        state.zoom(0.5, 0.25, now());
        let (from, to) = state.range(now());
        assert_eq!(to.since(from), Span::from_secs(150));
        assert_eq!(
            (under.since(from).secs_f64() / 150.0 * 1000.0).round(),
            250.0
        );
    }

    #[test]
    fn zooming_has_ends() {
        let mut state = PlotState::default();
        state.zoom(0.0, 0.5, now());
        assert_eq!(state.window, SHORTEST);
        state.zoom(1e12, 0.5, now());
        assert_eq!(state.window, LONGEST);
    }
}
