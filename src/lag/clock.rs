//! How far a server's clock is from ours: a number of its own, never called lag.
//!
//! Each poll reads the server's clock between two local instants; the true offset lies within half the round trip of
//! the middle. The reading with the smallest round trip of the last minute wins, as NTP does it (RFC 5905, clock
//! filter): a slow answer says little, and clocks drift by microseconds a second.

use std::collections::VecDeque;

use crate::model::sample::ClockReading;
use crate::model::time::{Moment, Span};

const WINDOW: Span = Span::from_secs(60);

/// Drift allowed for between reading and use: 50 µs per second, generous for quartz.
const DRIFT_PPM: i64 = 50;

/// The clock offset of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockEstimate {
    /// Positive when the server's clock is ahead of ours.
    pub ahead_by: Span,
    /// The true offset lies within ± this.
    pub bound: Span,
    pub taken_at: Moment,
}

/// The readings of the last minute.
#[derive(Clone, Debug, Default)]
pub struct ClockFilter {
    readings: VecDeque<ClockReading>,
}

impl ClockFilter {
    /// Takes a reading in. A reading that disagrees with the older ones beyond both bounds means that the clock was
    /// set: the older ones are forgotten.
    pub fn add(&mut self, reading: ClockReading) {
        let stepped = self.best(reading.answered_at).is_some_and(|old| {
            let gap = (reading.server_ahead_by() - old.ahead_by).abs();
            gap > old.bound + reading.round_trip().half() + Span::from_millis(5)
        });
        if stepped {
            self.readings.clear();
        }
        self.readings.push_back(reading);
        while self
            .readings
            .front()
            .is_some_and(|old| reading.answered_at.since(old.answered_at) > WINDOW)
        {
            self.readings.pop_front();
        }
        // Marks read the clock many times a second; a slower reading never wins against a later, quicker one.
        while self.readings.len() > 2 {
            let n = self.readings.len();
            if self.readings[n - 2].round_trip() < reading.round_trip() {
                break;
            }
            self.readings.remove(n - 2);
        }
        if self.readings.len() > 256 {
            self.readings.pop_front();
        }
    }

    /// The best reading, its bound widened by what may have drifted since.
    pub fn best(&self, now: Moment) -> Option<ClockEstimate> {
        self.readings
            .iter()
            .map(|reading| {
                let drift = Span::from_micros(
                    now.since(reading.answered_at).or_zero().micros() * DRIFT_PPM / 1_000_000,
                );
                ClockEstimate {
                    ahead_by: reading.server_ahead_by(),
                    bound: reading.round_trip().half() + drift,
                    taken_at: reading.answered_at,
                }
            })
            .min_by_key(|estimate| estimate.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::ServerTime;

    fn at(micros: i64) -> Moment {
        Moment::from_unix_micros(micros)
    }

    fn reading(asked: i64, answered: i64, server: i64) -> ClockReading {
        ClockReading {
            server: ServerTime(server),
            asked_at: at(asked),
            answered_at: at(answered),
        }
    }

    #[test]
    fn the_quickest_answer_wins() {
        let mut filter = ClockFilter::default();
        filter.add(reading(0, 1_000, 5_000_500));
        filter.add(reading(10_000, 90_000, 5_050_000 + 30_000));
        let best = filter.best(at(100_000)).unwrap();
        assert_eq!(best.ahead_by, Span::from_secs(5));
        assert!(best.bound <= Span::from_micros(510), "{}", best.bound);
    }

    #[test]
    fn a_clock_that_was_set_is_believed_at_once() {
        let mut filter = ClockFilter::default();
        filter.add(reading(0, 1_000, 500));
        filter.add(reading(1_000_000, 1_002_000, 1_001_000 + 3_600_000_000));
        assert_eq!(
            filter.best(at(1_100_000)).unwrap().ahead_by,
            Span::from_secs(3600)
        );
    }

    #[test]
    fn old_readings_leave() {
        let mut filter = ClockFilter::default();
        filter.add(reading(0, 100, 50));
        filter.add(reading(70_000_000, 70_001_000, 70_000_500));
        assert_eq!(
            filter.best(at(70_001_000)).unwrap().taken_at,
            at(70_001_000)
        );
    }
}
