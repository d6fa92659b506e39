//! Series as points: what the pixels can show, cut at the gaps, and kept until something changes.

use std::collections::HashMap;
use std::sync::Arc;

use egui_plot::PlotPoint;

use super::axes::height;
use super::view::PlotState;
use crate::model::time::{Moment, Span};
use crate::store::series::{Column, Series};

/// Points without a gap between them: seconds since the epoch, height on the axis.
pub type Run = Vec<PlotPoint>;

/// Lines drawn before; a frame in which nothing changed costs a look-up each.
#[derive(Debug, Default)]
pub struct LineCache {
    lines: HashMap<String, Cached>,
}

#[derive(Debug)]
struct Cached {
    newest: Option<Moment>,
    from: Moment,
    pixel: i64,
    columns: usize,
    runs: Arc<Vec<Run>>,
    highest_secs: f64,
    used: bool,
}

impl LineCache {
    /// The runs of a series and its highest value, within what `state` looks at.
    pub fn line(
        &mut self,
        key: &str,
        series: &Series,
        state: &PlotState,
        now: Moment,
    ) -> (Arc<Vec<Run>>, f64) {
        let (from, to) = state.range(now);
        let columns = state.pixels.max(50.0) as usize;
        let pixel = (to.since(from).micros() / columns as i64).max(1);
        // On whole pixels, or columns would change their extremes as the window glides
        let from = Moment::from_unix_micros(from.unix_micros().div_euclid(pixel) * pixel);
        if let Some(kept) = self.lines.get_mut(key)
            && (kept.newest, kept.from, kept.pixel, kept.columns)
                == (series.newest(), from, pixel, columns)
        {
            kept.used = true;
            return (Arc::clone(&kept.runs), kept.highest_secs);
        }
        let shown = series.columns(from, to, columns);
        let highest_secs = highest(&shown);
        let runs = Arc::new(runs(&shown, Span::from_micros(pixel)));
        let cached = Cached {
            newest: series.newest(),
            from,
            pixel,
            columns,
            runs: Arc::clone(&runs),
            highest_secs,
            used: true,
        };
        self.lines.insert(key.to_owned(), cached);
        (runs, highest_secs)
    }

    /// Forgets lines that the last frame did not ask for.
    pub fn sweep(&mut self) {
        self.lines.retain(|_, line| std::mem::take(&mut line.used));
    }
}

fn highest(columns: &[Column]) -> f64 {
    columns
        .iter()
        .filter_map(|column| column.extremes)
        .map(|(_, max)| f64::from(max))
        .fold(0.0, f64::max)
}

/// Cuts at gaps, and where the time between two columns is so long that nothing was judged in between.
fn runs(columns: &[Column], pixel: Span) -> Vec<Run> {
    let longest = longest_step(columns).max(pixel.times(4));
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    let mut before: Option<Moment> = None;
    for column in columns {
        let silent = before.is_some_and(|at| column.at.since(at) > longest);
        before = Some(column.at);
        let Some((min, max)) = column
            .extremes
            .filter(|(a, b)| a.is_finite() && b.is_finite())
        else {
            open = false;
            continue;
        };
        if !open || silent {
            runs.push(Run::new());
            open = true;
        }
        if let Some(run) = runs.last_mut() {
            add(run, column.at, min, max);
        }
    }
    runs
}

fn add(run: &mut Run, at: Moment, min: f32, max: f32) {
    let x = at.unix_secs_f64();
    run.push(PlotPoint::new(x, height(f64::from(min))));
    if max > min {
        run.push(PlotPoint::new(x, height(f64::from(max))));
    }
}

/// Five times the usual step, at least five seconds.
fn longest_step(columns: &[Column]) -> Span {
    let mut steps: Vec<Span> = columns
        .windows(2)
        .map(|pair| pair[1].at.since(pair[0].at))
        .collect();
    let middle = steps.len() / 2;
    let usual = if steps.is_empty() {
        Span::ZERO
    } else {
        *steps.select_nth_unstable(middle).1
    };
    usual.max(Span::from_secs(1)).times(5)
}

/// The height of a line at a time; absent in a gap. Between two points the earlier one holds: a reading is true until
/// the next one.
pub fn value_at(runs: &[Run], secs: f64, tolerance_secs: f64) -> Option<f64> {
    let run = runs.iter().find(|run| {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return false;
        };
        first.x - tolerance_secs <= secs && secs <= last.x + tolerance_secs
    })?;
    let next = run.partition_point(|point| point.x <= secs);
    run.get(next.saturating_sub(1)).map(|point| point.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Moment {
        Moment::from_unix_micros(1_700_000_000_000_000 + secs * 1_000_000)
    }

    fn series(values: &[(i64, Option<i64>)]) -> Series {
        let mut series = Series::default();
        for (secs, millis) in values {
            series.push(at(*secs), millis.map(Span::from_millis));
        }
        series
    }

    fn lengths(series: &Series) -> Vec<usize> {
        let mut cache = LineCache::default();
        let state = PlotState {
            pixels: 1000.0,
            ..PlotState::default()
        };
        let (runs, _) = cache.line("a", series, &state, at(60));
        runs.iter().map(Vec::len).collect()
    }

    #[test]
    fn an_unknown_reading_cuts_the_line() {
        let broken = series(&[(0, Some(5)), (1, Some(6)), (2, None), (3, Some(7))]);
        assert_eq!(lengths(&broken), [2, 1]);
    }

    #[test]
    fn time_in_which_nothing_was_judged_cuts_the_line() {
        let slept = series(&[
            (0, Some(5)),
            (1, Some(5)),
            (2, Some(5)),
            (40, Some(5)),
            (41, Some(5)),
        ]);
        assert_eq!(lengths(&slept), [3, 2]);
    }

    #[test]
    fn a_real_zero_is_a_point_on_the_floor_and_not_a_gap() {
        let idle = series(&[(0, Some(0)), (1, Some(0))]);
        let mut cache = LineCache::default();
        let (runs, _) = cache.line("a", &idle, &PlotState::default(), at(2));
        assert_eq!(runs.len(), 1);
        assert!(
            runs[0]
                .iter()
                .all(|p| p.y == height(0.0) && p.y.is_finite())
        );
    }

    #[test]
    fn the_cross_hair_reads_nothing_in_a_gap() {
        let broken = series(&[
            (0, Some(10)),
            (1, Some(10)),
            (2, None),
            (30, Some(1000)),
            (31, Some(1000)),
        ]);
        let mut cache = LineCache::default();
        let (runs, _) = cache.line("a", &broken, &PlotState::default(), at(60));
        let read = |secs| value_at(&runs, at(secs).unix_secs_f64(), 1.0);
        assert_eq!(read(1), Some(height(0.01_f32 as f64)));
        assert_eq!(read(15), None);
        assert_eq!(read(31), Some(height(1.0)));
    }

    #[test]
    fn a_line_is_kept_until_its_series_grows() {
        let mut cache = LineCache::default();
        let mut one = series(&[(0, Some(5))]);
        let state = PlotState::default();
        let (first, _) = cache.line("a", &one, &state, at(10));
        let (again, _) = cache.line("a", &one, &state, at(10));
        assert!(Arc::ptr_eq(&first, &again));
        one.push(at(1), Some(Span::from_millis(5)));
        let (grown, _) = cache.line("a", &one, &state, at(10));
        assert!(!Arc::ptr_eq(&first, &grown));
    }
}
