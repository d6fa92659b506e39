//! The axes: lag on a logarithmic scale, time in round steps of the wall clock.
//!
//! A logarithm has no zero, so everything below a millisecond is drawn on the floor: what is said of it in words keeps
//! its true value.

use egui_plot::GridMark;

use crate::model::time::{Moment, Span};
use crate::ui::local_time;

/// The lowest lag the plot tells apart, in seconds.
pub const FLOOR_SECS: f64 = 0.001;
/// The plot always reaches at least this high.
const CEILING_SECS: f64 = 10.0;

/// A lag as a height: the power of ten of its seconds.
pub fn height(secs: f64) -> f64 {
    secs.max(FLOOR_SECS).log10()
}

/// The lag of a height.
pub fn secs_at(height: f64) -> f64 {
    10f64.powf(height)
}

/// What the axis is marked with, in seconds: powers of ten as far as people say them, then their larger units.
const MARKS: [f64; 12] = [
    0.001,
    0.01,
    0.1,
    1.0,
    10.0,
    60.0,
    600.0,
    3_600.0,
    36_000.0,
    86_400.0,
    864_000.0,
    8_640_000.0,
];

/// From the floor to the mark well above the highest value.
pub fn height_range(highest_secs: f64) -> (f64, f64) {
    let above = highest_secs.max(CEILING_SECS) * 2.0;
    let top = MARKS
        .iter()
        .find(|mark| **mark >= above)
        .copied()
        .unwrap_or(above);
    // a little room under the floor, so that a line on it is seen whole
    (height(FLOOR_SECS) - 0.12, height(top) + 0.12)
}

/// The marks of the axis.
pub fn height_marks(low: f64, high: f64) -> Vec<GridMark> {
    MARKS
        .iter()
        .map(|secs| height(*secs))
        .filter(|value| (low..=high).contains(value))
        .map(|value| GridMark {
            value,
            step_size: 1.0,
        })
        .collect()
}

/// The steps a clock's face knows, in seconds.
const STEPS: [i64; 19] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    172_800,
];

/// The finest step that leaves each label `label_width` of the `width`.
pub fn time_step(window: Span, width: f32, label_width: f32) -> Span {
    let labels = (width / label_width).max(1.0);
    let finest = window.secs_f64() / f64::from(labels);
    let step = STEPS
        .iter()
        .find(|step| **step as f64 >= finest)
        .copied()
        .unwrap_or(604_800);
    Span::from_secs(step)
}

/// Marks on round local times.
pub fn time_marks(from: Moment, to: Moment, step: Span) -> Vec<GridMark> {
    let step_micros = step.micros().max(1);
    let offset = local_time::offset(from).micros();
    let first = (from.unix_micros() + offset).div_euclid(step_micros) + 1;
    (first..)
        .map(|n| n * step_micros - offset)
        .take_while(|at| *at <= to.unix_micros())
        .take(200)
        .map(|at| GridMark {
            value: at as f64 / 1e6,
            step_size: step.secs_f64(),
        })
        .collect()
}

/// What lies `points` left of the end of a time axis of this width.
pub fn before_the_end(from: Moment, to: Moment, width: f32, points: f32) -> Moment {
    let share = f64::from(points / width.max(1.0)).min(1.0);
    to - Span::from_secs_f64(to.since(from).secs_f64() * share)
}

/// A place on the time axis as a moment.
pub fn moment_at(secs: f64) -> Moment {
    Moment::from_unix_micros((secs * 1e6).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_millisecond_is_drawn_on_the_floor() {
        assert_eq!(height(0.0), height(FLOOR_SECS));
        assert_eq!(height(0.000_2), height(FLOOR_SECS));
        assert!(height(0.002) > height(FLOOR_SECS));
        assert!(height(0.0).is_finite());
    }

    #[test]
    fn the_axis_reaches_above_the_highest_value() {
        for secs in [0.0, 3.0, 10.0, 11.0, 100.0, 86_400.0 * 30.0] {
            let (low, high) = height_range(secs);
            assert!(low < height(FLOOR_SECS) && height(secs) < high, "{secs}");
        }
    }

    #[test]
    fn time_is_marked_in_the_steps_of_a_clock() {
        for (window, width, step) in [
            (60, 900.0, 10),
            (300, 900.0, 30),
            (900, 900.0, 120),
            (3600, 900.0, 600),
            (86_400, 900.0, 10_800),
            (604_800, 900.0, 86_400),
            (604_800, 100.0, 604_800),
        ] {
            let found = time_step(Span::from_secs(window), width, 90.0);
            assert_eq!(found, Span::from_secs(step), "{window} s on {width}");
        }
    }

    #[test]
    fn the_end_of_a_time_axis_is_kept_free_by_its_width() {
        let from = Moment::from_unix_micros(0);
        let to = from + Span::from_secs(100);
        let at = |points| before_the_end(from, to, 200.0, points).since(from);
        assert_eq!(at(20.0), Span::from_secs(90));
        assert_eq!(at(0.0), Span::from_secs(100));
        assert_eq!(at(900.0), Span::ZERO);
    }

    #[test]
    fn a_window_is_never_flooded_with_marks() {
        let from = Moment::from_unix_micros(0);
        let to = from + Span::from_secs(1_000_000);
        assert!(time_marks(from, to, Span::from_secs(1)).len() <= 200);
    }
}
