//! When to judge and when to draw the next frame. Never a repaint loop: ages move once a second, readings come as
//! often as they are polled.

use crate::model::event::LinkState;
use crate::model::time::{Moment, Span};
use crate::store::Store;

/// At most four times a second, at least about once.
const JUDGE_AT_MOST_EVERY: Span = Span::from_millis(250);
const JUDGE_AT_LEAST_EVERY: Span = Span::from_millis(900);
/// Servers judged in one frame: a few milliseconds. What is left of a large fleet is judged in the next frames.
pub const JUDGED_AT_ONCE: usize = 100;
const NEXT_OF_ROUND: Span = Span::from_millis(50);

/// Until the first readings are in, and not for longer than this, frames come quickly.
const FIRST_READINGS_WITHIN: Span = Span::from_secs(10);
const AT_FIRST_EVERY: Span = Span::from_millis(100);
const LATER_EVERY: Span = Span::from_secs(1);

/// Results of a probe come faster than anybody reads; they are drawn so often.
pub const WHILE_PROBING: Span = Span::from_millis(100);

#[derive(Debug, Default)]
pub struct Pace {
    /// When the newest round of judging began.
    judged_at: Option<Moment>,
    /// Some topologies are still to be judged in it.
    goes_on: bool,
    /// When watching something new began.
    began_at: Option<Moment>,
}

impl Pace {
    pub fn began(&mut self, now: Moment) {
        self.began_at = Some(now);
    }

    /// When the round of judging began that is due or goes on; `None` when all are judged for now.
    pub fn round(&mut self, now: Moment, something_new: bool) -> Option<Moment> {
        let due = match self.judged_at {
            None => true,
            Some(last) => {
                let since = now.since(last);
                since >= JUDGE_AT_LEAST_EVERY || something_new && since >= JUDGE_AT_MOST_EVERY
            }
        };
        if due && !self.goes_on {
            self.judged_at = Some(now);
            return Some(now);
        }
        self.judged_at.filter(|_| self.goes_on)
    }

    /// How far the round came.
    pub fn judged(&mut self, all: bool) {
        self.goes_on = !all;
    }

    pub fn next_frame(&self, store: &Store, now: Moment) -> Span {
        match self.goes_on {
            true => NEXT_OF_ROUND,
            false => self.next_round(store, now),
        }
    }

    fn next_round(&self, store: &Store, now: Moment) -> Span {
        let young = self
            .began_at
            .is_some_and(|at| now.since(at) < FIRST_READINGS_WITHIN);
        let waiting = store.servers().any(|server| {
            server.last_known.is_none() && !matches!(server.link, LinkState::Down { .. })
        });
        // the second sample brings the first backlog, the first mark the first lag
        let just_begun = self
            .began_at
            .is_some_and(|at| now.since(at) < Span::from_secs(2));
        if young && (waiting || just_begun) {
            return AT_FIRST_EVERY;
        }
        let fastest = store
            .servers()
            .map(|server| server.registration.intervals.poll)
            .min();
        fastest
            .unwrap_or(LATER_EVERY)
            .clamp(JUDGE_AT_MOST_EVERY, LATER_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judging_comes_at_most_four_times_and_at_least_once_a_second() {
        let mut pace = Pace::default();
        let at = |millis: i64| Moment::from_unix_micros(1_000_000_000_000 + millis * 1_000);
        let busy = (0..100)
            .filter(|n| pace.round(at(n * 16), true).is_some())
            .count();
        assert!((6..=7).contains(&busy), "{busy} times in 1.6 s");
        assert_eq!(pace.round(at(1_610), false), None);
        assert_eq!(pace.round(at(3_000), false), Some(at(3_000)));
    }

    #[test]
    fn a_round_that_does_not_fit_into_one_frame_goes_on_in_the_next() {
        let mut pace = Pace::default();
        let at = |millis: i64| Moment::from_unix_micros(1_000_000_000_000 + millis * 1_000);
        let began = pace.round(at(0), true);
        pace.judged(false);
        assert_eq!(pace.next_frame(&Store::default(), at(0)), NEXT_OF_ROUND);
        assert_eq!(pace.round(at(50), false), began);
        // however long it takes, it is the same round
        assert_eq!(pace.round(at(5_000), true), began);
        pace.judged(true);
        assert_eq!(pace.next_frame(&Store::default(), at(5_000)), LATER_EVERY);
        assert_eq!(pace.round(at(5_010), true), Some(at(5_010)));
    }

    #[test]
    fn nothing_watched_is_drawn_once_a_second() {
        let now = Moment::from_unix_micros(0);
        assert_eq!(
            Pace::default().next_frame(&Store::default(), now),
            LATER_EVERY
        );
    }
}
