//! A lag series with gaps, kept in several resolutions.
//!
//! A frame can show no more than its pixels, so buckets of minimum and maximum are kept as points arrive: the last
//! ten minutes point by point, an hour by the second, a day by ten seconds, a week by the minute. An unknown reading
//! is a gap, not a value.

use std::collections::VecDeque;

use crate::model::time::{Moment, Span};

const POINTS: usize = 4096;
const LEVELS: [(Span, usize); 3] = [
    (Span::from_secs(1), 3_600),
    (Span::from_secs(10), 8_640),
    (Span::from_secs(60), 10_080),
];

/// One column of a plot: the extremes of what was measured in it; a gap where nothing was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    pub at: Moment,
    /// Seconds; absent in a gap.
    pub extremes: Option<(f32, f32)>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    columns: VecDeque<Column>,
}

/// A series of seconds.
#[derive(Clone, Debug, Default)]
pub struct Series {
    points: VecDeque<Column>,
    levels: [Level; 3],
    newest: Option<Moment>,
}

impl Series {
    /// Adds a reading; `None` is a gap. Times never go back; one that does is left out.
    pub fn push(&mut self, at: Moment, value: Option<Span>) {
        if self.newest.is_some_and(|newest| at < newest) {
            return;
        }
        self.newest = Some(at);
        let extremes = value.map(|v| v.secs_f64() as f32).map(|v| (v, v));
        self.push_point(Column { at, extremes });
        for (level, (width, keep)) in self.levels.iter_mut().zip(LEVELS) {
            level.push(at, extremes, width, keep);
        }
    }

    /// A run of gaps is one gap: a server down for a night costs nothing.
    fn push_point(&mut self, column: Column) {
        let still_a_gap = column.extremes.is_none()
            && self
                .points
                .back()
                .is_some_and(|last| last.extremes.is_none());
        if !still_a_gap {
            self.points.push_back(column);
        }
        if self.points.len() > POINTS {
            self.points.pop_front();
        }
    }

    pub fn newest(&self) -> Option<Moment> {
        self.newest
    }

    pub fn is_empty(&self) -> bool {
        self.newest.is_none()
    }

    /// What a plot of `columns` pixels between the two instants can show: the finest level that covers the window
    /// and is not much finer than a pixel.
    pub fn columns(&self, from: Moment, to: Moment, columns: usize) -> Vec<Column> {
        let pixel = to.since(from).micros() / columns.max(1) as i64;
        let covers = |level: &VecDeque<Column>| level.front().is_some_and(|first| first.at <= from);
        if covers(&self.points)
            || pixel < LEVELS[0].0.micros() / 2 && to.since(from) <= Span::from_secs(900)
        {
            return thin(between(&self.points, from, to), from, pixel);
        }
        for (level, (width, _)) in self.levels.iter().zip(LEVELS) {
            let last = width == LEVELS[2].0;
            if last || covers(&level.columns) && width.micros() * 4 > pixel {
                return thin(between(&level.columns, from, to), from, pixel);
            }
        }
        Vec::new()
    }

    /// The values measured since `from`, point by point as far as they are kept.
    pub fn since(&self, from: Moment) -> impl DoubleEndedIterator<Item = (Moment, Span)> + '_ {
        let start = self.points.partition_point(|column| column.at < from);
        self.points.range(start..).filter_map(|column| {
            column
                .extremes
                .map(|(_, max)| (column.at, Span::from_secs_f64(f64::from(max))))
        })
    }
}

impl Level {
    fn push(&mut self, at: Moment, extremes: Option<(f32, f32)>, width: Span, keep: usize) {
        let start =
            Moment::from_unix_micros(at.unix_micros().div_euclid(width.micros()) * width.micros());
        match self.columns.back_mut() {
            Some(last) if last.at == start => last.extremes = merged(last.extremes, extremes),
            Some(last) if extremes.is_none() && last.extremes.is_none() => {}
            _ => self.columns.push_back(Column {
                at: start,
                extremes,
            }),
        }
        if self.columns.len() > keep {
            self.columns.pop_front();
        }
    }
}

fn merged(a: Option<(f32, f32)>, b: Option<(f32, f32)>) -> Option<(f32, f32)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

fn between(
    columns: &VecDeque<Column>,
    from: Moment,
    to: Moment,
) -> impl Iterator<Item = Column> + '_ {
    // One column before the window, so that a line enters it from the edge.
    let start = columns
        .partition_point(|column| column.at < from)
        .saturating_sub(1);
    columns
        .range(start..)
        .take_while(move |column| column.at <= to)
        .copied()
}

/// Merges what falls into one pixel; gaps survive.
fn thin(columns: impl Iterator<Item = Column>, from: Moment, pixel: i64) -> Vec<Column> {
    let mut out: Vec<Column> = Vec::new();
    let slot = |at: Moment| {
        if pixel > 0 {
            at.since(from).micros().div_euclid(pixel)
        } else {
            at.unix_micros()
        }
    };
    for column in columns {
        match out.last_mut() {
            Some(last)
                if slot(last.at) == slot(column.at)
                    && last.extremes.is_some() == column.extremes.is_some() =>
            {
                last.extremes = merged(last.extremes, column.extremes);
            }
            _ => out.push(column),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Moment {
        Moment::from_unix_micros(1_000_000_000_000 + secs * 1_000_000)
    }

    #[test]
    fn an_unknown_reading_is_a_gap_and_not_zero() {
        let mut series = Series::default();
        series.push(at(0), Some(Span::from_secs(1)));
        series.push(at(1), None);
        series.push(at(2), None);
        series.push(at(3), Some(Span::from_secs(2)));
        let columns = series.columns(at(0), at(10), 1000);
        let values: Vec<_> = columns.iter().map(|c| c.extremes).collect();
        assert_eq!(values, vec![Some((1.0, 1.0)), None, Some((2.0, 2.0))]);
    }

    #[test]
    fn a_spike_survives_every_resolution() {
        let mut series = Series::default();
        for n in 0..40_000 {
            let lag = if n == 20_000 {
                Span::from_secs(77)
            } else {
                Span::from_millis(5)
            };
            series.push(at(n), Some(lag));
        }
        let columns = series.columns(at(0), at(40_000), 500);
        let highest = columns
            .iter()
            .filter_map(|c| c.extremes)
            .fold(0.0, |top, (_, max)| f32::max(top, max));
        assert_eq!(highest, 77.0);
        assert!(
            columns.len() <= 1_100,
            "{} columns for 500 pixels",
            columns.len()
        );
    }

    #[test]
    fn memory_stays_bounded() {
        let mut series = Series::default();
        for n in 0..1_000_000 {
            series.push(at(n), Some(Span::from_millis(5)));
        }
        assert!(series.points.len() <= POINTS);
        assert!(
            series
                .levels
                .iter()
                .zip(LEVELS)
                .all(|(level, (_, keep))| level.columns.len() <= keep)
        );
    }

    #[test]
    fn time_that_goes_back_is_left_out() {
        let mut series = Series::default();
        series.push(at(5), Some(Span::from_secs(1)));
        series.push(at(4), Some(Span::from_secs(9)));
        assert_eq!(series.since(at(0)).count(), 1);
    }
}
