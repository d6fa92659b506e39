//! When the next statement is due, and which servers are left alone for a moment.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::model::lab::LabServer;
use crate::model::trouble::Trouble;

/// After a lost connection or a refused login; longer for one that goes on failing. A server that takes no writes is
/// asked again after the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Later than this, what was due is left out: traffic does not catch up after a stall.
const LATEST: Duration = Duration::from_millis(500);

/// When the next one is due, for all threads of a kind together.
pub(super) struct Pace {
    every: Duration,
    next: Instant,
    rng: Rng,
    /// How many were due so far.
    count: u64,
}

impl Pace {
    pub fn new(per_second: f64, seed: u64, now: Instant) -> Pace {
        let every = if per_second > 0.0 {
            Duration::from_secs_f64((1.0 / per_second).min(3600.0))
        } else {
            Duration::MAX
        };
        Pace {
            every,
            next: now,
            rng: Rng::with_seed(seed),
            count: 0,
        }
    }

    /// The number of the next one and when it is due: on its beat, give or take a quarter of the beat.
    pub fn take(&mut self, now: Instant) -> (u64, Instant) {
        if now.saturating_duration_since(self.next) > LATEST {
            self.next = now;
        }
        let jitter = self.every.mul_f64(0.5 * self.rng.f64());
        let due = self.next + jitter;
        self.next += self.every;
        self.count += 1;
        (self.count, due)
    }
}

/// Servers that are left alone for a moment, by all threads of a kind.
#[derive(Default)]
pub(super) struct Pauses(BTreeMap<LabServer, (Instant, Duration)>);

impl Pauses {
    pub fn may_try(&self, server: LabServer, now: Instant) -> bool {
        self.0.get(&server).is_none_or(|(until, _)| now >= *until)
    }

    pub fn failed(&mut self, server: LabServer, why: &Trouble, now: Instant) {
        let before = self.0.get(&server).map(|(_, before)| *before);
        if let Some(pause) = pause_after(why, before) {
            self.0.insert(server, (now + pause, pause));
        }
    }

    pub fn went_well(&mut self, server: LabServer) {
        self.0.remove(&server);
    }
}

/// `before`: the pause that came before, if nothing went well since. A statement that failed for its own reasons, as one
/// that lost against another, asks for none.
fn pause_after(why: &Trouble, before: Option<Duration>) -> Option<Duration> {
    let grown = || before.map_or(FIRST_PAUSE, |before| (before * 2).min(LONGEST_PAUSE));
    match why.code {
        // Read-only, in one way or another.
        Some(1290 | 1836) => Some(LONGEST_PAUSE),
        // Full, going down, or not letting anybody in.
        Some(1040 | 1045 | 1053 | 1129 | 1130) => Some(grown()),
        Some(_) => None,
        None => Some(grown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::faults::trouble;
    use crate::model::phrase::phrase;

    #[test]
    fn writes_are_spread_evenly_with_a_little_jitter() {
        let start = Instant::now();
        let mut pace = Pace::new(10.0, 7, start);
        let due: Vec<Duration> = (0..50).map(|_| pace.take(start).1 - start).collect();
        for (beat, due) in due.iter().enumerate() {
            let on_beat = Duration::from_millis(100) * u32::try_from(beat).unwrap();
            assert!((on_beat..=on_beat + Duration::from_millis(50)).contains(due));
        }
        assert!(
            due.windows(2)
                .any(|two| two[1] - two[0] != Duration::from_millis(100))
        );
    }

    #[test]
    fn what_was_due_during_a_stall_is_left_out() {
        let start = Instant::now();
        let mut pace = Pace::new(100.0, 7, start);
        let later = start + Duration::from_secs(60);
        let (_, due) = pace.take(later);
        assert!(due >= later);
    }

    #[test]
    fn a_read_only_source_is_asked_once_a_second_and_a_lost_race_at_once() {
        let of = |code| Trouble {
            code,
            ..trouble(phrase("lab.trouble.no_lab"))
        };
        assert_eq!(pause_after(&of(Some(1290)), None), Some(LONGEST_PAUSE));
        assert_eq!(pause_after(&of(Some(1213)), None), None);
        assert_eq!(pause_after(&of(None), None), Some(FIRST_PAUSE));
        let again = pause_after(&of(None), Some(FIRST_PAUSE));
        assert_eq!(again, Some(FIRST_PAUSE * 2));
        assert_eq!(
            pause_after(&of(None), Some(LONGEST_PAUSE)),
            Some(LONGEST_PAUSE)
        );
    }
}
