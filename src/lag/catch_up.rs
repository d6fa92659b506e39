//! How fast a late replica catches up: the slope of its lag over the last seconds.

use crate::model::lag::{CatchUp, Reading};
use crate::model::time::{Moment, Span};

/// Long enough to outlast one transaction, short enough to follow a change.
const WINDOW: Span = Span::from_secs(15);

/// Under this nobody calls it late.
const NOT_LATE: Span = Span::from_millis(500);

pub fn of(headline: &Reading, recent: &[(Moment, Span)]) -> Option<CatchUp> {
    let now = headline.measured()?;
    if now.value < NOT_LATE {
        return Some(CatchUp::CaughtUp);
    }
    let from = recent
        .iter()
        .find(|(at, _)| now.taken_at.since(*at) <= WINDOW)?;
    let passed = now.taken_at.since(from.0).secs_f64();
    if passed < 2.0 {
        return None;
    }
    let speed = (from.1 - now.value).secs_f64() / passed;
    if speed <= 0.01 {
        return Some(CatchUp::FallingBehind);
    }
    Some(CatchUp::Closing {
        speed,
        done_in: Span::from_secs_f64(now.value.secs_f64() / speed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lag::{Measurement, Method};

    fn late(at: i64, secs: i64) -> Reading {
        Reading::Measured(Measurement {
            value: Span::from_secs(secs),
            bound: None,
            method: Method::GtidMarks,
            taken_at: Moment::from_unix_micros(at * 1_000_000),
        })
    }

    fn history(values: &[(i64, i64)]) -> Vec<(Moment, Span)> {
        values
            .iter()
            .map(|(at, lag)| {
                (
                    Moment::from_unix_micros(at * 1_000_000),
                    Span::from_secs(*lag),
                )
            })
            .collect()
    }

    #[test]
    fn a_lag_that_shrinks_by_two_seconds_a_second_from_twenty_is_gone_in_five() {
        let CatchUp::Closing { speed, done_in } =
            of(&late(5, 10), &history(&[(0, 20), (2, 16)])).unwrap()
        else {
            panic!("not closing")
        };
        assert!((speed - 2.0).abs() < 1e-9);
        assert_eq!(done_in, Span::from_secs(5));
    }

    #[test]
    fn a_growing_lag_has_no_estimate() {
        assert_eq!(
            of(&late(5, 10), &history(&[(0, 5)])),
            Some(CatchUp::FallingBehind)
        );
    }

    #[test]
    fn nothing_is_promised_from_too_little() {
        assert_eq!(of(&late(1, 10), &history(&[(0, 11)])), None);
        assert_eq!(
            of(
                &Reading::unknown(crate::model::phrase::phrase("lag.why.no_method")),
                &[]
            ),
            None
        );
    }
}
