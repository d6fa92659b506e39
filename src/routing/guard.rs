//! May this replica be read? Judges live checks and moves no traffic: what it would have done is shown on the lag plot.
//!
//! ```text
//! Unknown ──good──▶ Recovering ──still good──▶ Healthy
//!    │                 │    ▲                     │
//!    └──────bad────────┴──▶ Unhealthy ◀──bad──────┘
//! ```
//!
//! Starts unknown and lets nothing in; a guard that starts "healthy" sends reads to a replica nobody has looked at
//! (R01). A replica that came back takes ordinary reads first, and reads that must see a write only when it has
//! stayed good.

use std::collections::VecDeque;

use crate::model::lag::Reading;
use crate::model::time::{Moment, Span};

use super::replica::{Admission, LagLimit, Threads, Unfit, lag_within, threads_run};

/// What a guard demands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardRules {
    pub check_every: Span,
    pub limit: LagLimit,
    /// To be good again after having been bad; lower than `limit` where it should not flap.
    pub good_again: LagLimit,
    /// So many bad checks in a row take a healthy replica out.
    pub bad_in_a_row: u32,
    /// So many good checks in a row bring it back for ordinary reads.
    pub good_in_a_row: u32,
    /// So many more, and it takes reads that must see a write.
    pub good_for_strong: u32,
}

impl GuardRules {
    /// 3000 ms, checked every few seconds, one check decides.
    pub const THREE_SECONDS: GuardRules = GuardRules {
        check_every: Span::from_secs(3),
        limit: LagLimit::THREE_SECONDS,
        good_again: LagLimit::THREE_SECONDS,
        bad_in_a_row: 1,
        good_in_a_row: 1,
        good_for_strong: 1,
    };

    /// Less than one second, checked every five, one check decides.
    pub const ONE_SECOND: GuardRules = GuardRules {
        check_every: Span::from_secs(5),
        limit: LagLimit::ONE_SECOND,
        good_again: LagLimit::ONE_SECOND,
        bad_in_a_row: 1,
        good_in_a_row: 1,
        good_for_strong: 1,
    };

    /// Does not flap around the limit: three good checks at half the limit bring a replica back, two bad take it out.
    pub const STEADY: GuardRules = GuardRules {
        check_every: Span::from_secs(2),
        limit: LagLimit::THREE_SECONDS,
        good_again: LagLimit::UpTo(Span::from_millis(1_500)),
        bad_in_a_row: 2,
        good_in_a_row: 3,
        good_for_strong: 2,
    };

    /// After so long without a check, nothing is known any more.
    pub fn forgets_after(&self) -> Span {
        self.check_every.times(3)
    }
}

/// What a check saw.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    Answered {
        threads: Threads,
        lag: Reading,
    },
    /// No answer, or one that could not be read.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardState {
    /// Never checked, or not for too long.
    Unknown,
    Unhealthy {
        why: Unfit,
    },
    /// Good, but not yet for long.
    Recovering,
    Healthy,
}

impl GuardState {
    pub fn admission(self) -> Admission {
        match self {
            GuardState::Unknown | GuardState::Unhealthy { .. } => Admission::Nothing,
            GuardState::Recovering => Admission::OrdinaryReads,
            GuardState::Healthy => Admission::Everything,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    pub at: Moment,
    pub from: GuardState,
    pub to: GuardState,
}

/// A stretch of time in which reads would have gone to the source, for the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Degraded {
    pub from: Moment,
    /// `None` while it lasts.
    pub until: Option<Moment>,
    /// What began it, or the newest reason of the same kind.
    pub why: Unfit,
}

/// So many stretches are kept, the newest.
const STRETCHES: usize = 512;

#[derive(Clone, Debug)]
pub struct ReplicaHealthGuard {
    rules: GuardRules,
    state: GuardState,
    bad: u32,
    good: u32,
    checked_at: Option<Moment>,
    degraded: VecDeque<Degraded>,
}

impl ReplicaHealthGuard {
    pub fn new(rules: GuardRules, now: Moment) -> Self {
        let mut guard = ReplicaHealthGuard {
            rules,
            state: GuardState::Unknown,
            bad: 0,
            good: 0,
            checked_at: None,
            degraded: VecDeque::new(),
        };
        guard.draw(now);
        guard
    }

    pub fn rules(&self) -> &GuardRules {
        &self.rules
    }

    pub fn state(&self) -> GuardState {
        self.state
    }

    pub fn admission(&self) -> Admission {
        self.state.admission()
    }

    pub fn is_due(&self, now: Moment) -> bool {
        self.checked_at
            .is_none_or(|at| now.since(at) >= self.rules.check_every)
    }

    /// When reads would have gone to the source, oldest first.
    pub fn degraded(&self) -> impl Iterator<Item = &Degraded> {
        self.degraded.iter()
    }

    /// A check came in. One that is older than the last is ignored.
    pub fn check(&mut self, at: Moment, seen: &Seen) -> Option<Transition> {
        if self.checked_at.is_some_and(|last| at < last) {
            return None;
        }
        // What was good before a long silence counts no more.
        let silence = self.tick(at);
        self.checked_at = Some(at);
        let next = match self.judge(seen) {
            Ok(Quality::Good) => self.after_good(),
            Ok(Quality::Between) => self.state,
            Err(why) => self.after_bad(why),
        };
        self.enter(next, at).or(silence)
    }

    /// Time passed: without checks for too long, nothing is known.
    pub fn tick(&mut self, now: Moment) -> Option<Transition> {
        let silent_since = self.checked_at?;
        if now.since(silent_since) <= self.rules.forgets_after() {
            return None;
        }
        (self.bad, self.good) = (0, 0);
        self.enter(
            GuardState::Unknown,
            silent_since + self.rules.forgets_after(),
        )
    }

    fn judge(&self, seen: &Seen) -> Result<Quality, Unfit> {
        let Seen::Answered { threads, lag } = seen else {
            return Err(Unfit::CheckFailed);
        };
        threads_run(*threads)?;
        lag_within(lag, self.rules.limit)?;
        let must_come_back = self.state != GuardState::Healthy;
        let good = !must_come_back || lag_within(lag, self.rules.good_again).is_ok();
        Ok(if good {
            Quality::Good
        } else {
            Quality::Between
        })
    }

    fn after_good(&mut self) -> GuardState {
        self.bad = 0;
        self.good = self.good.saturating_add(1);
        let for_ordinary = self.rules.good_in_a_row.max(1);
        let for_strong = for_ordinary.saturating_add(self.rules.good_for_strong);
        match self.state {
            GuardState::Healthy => GuardState::Healthy,
            _ if self.good >= for_strong => GuardState::Healthy,
            _ if self.good >= for_ordinary => GuardState::Recovering,
            before => before,
        }
    }

    /// A healthy replica has some patience; one that just came back has none.
    fn after_bad(&mut self, why: Unfit) -> GuardState {
        self.good = 0;
        self.bad = self.bad.saturating_add(1);
        let patience = self.state == GuardState::Healthy && self.bad < self.rules.bad_in_a_row;
        if patience {
            GuardState::Healthy
        } else {
            GuardState::Unhealthy { why }
        }
    }

    fn enter(&mut self, next: GuardState, at: Moment) -> Option<Transition> {
        let from = std::mem::replace(&mut self.state, next);
        self.draw(at);
        let same = std::mem::discriminant(&from) == std::mem::discriminant(&next);
        (!same).then_some(Transition { at, from, to: next })
    }

    /// Begins, goes on with, or ends the stretch on the plot.
    fn draw(&mut self, at: Moment) {
        let why = match self.state {
            GuardState::Unknown => Some(Unfit::NotChecked),
            GuardState::Unhealthy { why } => Some(why),
            GuardState::Recovering | GuardState::Healthy => None,
        };
        let open = self.degraded.back_mut().filter(|d| d.until.is_none());
        match (open, why) {
            (Some(open), Some(why)) if open.why.code() == why.code() => open.why = why,
            (open, why) => {
                if let Some(open) = open {
                    open.until = Some(at);
                }
                if let Some(why) = why {
                    self.begin(at, why);
                }
            }
        }
    }

    fn begin(&mut self, from: Moment, why: Unfit) {
        if self.degraded.len() >= STRETCHES {
            self.degraded.pop_front();
        }
        self.degraded.push_back(Degraded {
            from,
            until: None,
            why,
        });
    }
}

enum Quality {
    Good,
    /// Within the limit, but not good enough to come back.
    Between,
}

#[cfg(test)]
mod tests {
    use super::super::build::{at_ms, lag_ms, unknown_lag};
    use super::*;

    fn lag(ms: i64) -> Seen {
        Seen::Answered {
            threads: Threads::Running,
            lag: lag_ms(ms),
        }
    }

    fn stopped() -> Seen {
        Seen::Answered {
            threads: Threads::NotRunning,
            lag: lag_ms(0),
        }
    }

    /// The state after each check, one a second, as a letter: unknown, bad, recovering, healthy.
    fn letters(rules: GuardRules, checks: &[Seen]) -> String {
        let mut guard = ReplicaHealthGuard::new(rules, at_ms(0));
        (1..)
            .zip(checks)
            .map(|(second, seen)| {
                guard.check(at_ms(second * 1_000), seen);
                match guard.state() {
                    GuardState::Unknown => 'u',
                    GuardState::Unhealthy { .. } => 'b',
                    GuardState::Recovering => 'r',
                    GuardState::Healthy => 'h',
                }
            })
            .collect()
    }

    #[test]
    fn r01_before_the_first_check_nothing_is_let_in() {
        let guard = ReplicaHealthGuard::new(GuardRules::THREE_SECONDS, at_ms(0));
        assert_eq!(guard.admission(), Admission::Nothing);
        assert!(guard.is_due(at_ms(0)));
        let whole: Vec<_> = guard.degraded().copied().collect();
        let unchecked = Degraded {
            from: at_ms(0),
            until: None,
            why: Unfit::NotChecked,
        };
        assert_eq!(whole, [unchecked]);
    }

    #[test]
    fn each_reason_takes_a_replica_out() {
        let unknown = Seen::Answered {
            threads: Threads::Running,
            lag: unknown_lag(),
        };
        let untold = Seen::Answered {
            threads: Threads::Unknown,
            lag: lag_ms(0),
        };
        let over = Unfit::LagOver {
            lag: Span::from_millis(3_001),
            limit: Span::from_secs(3),
        };
        for (seen, why) in [
            (stopped(), Unfit::NotRunning),
            (lag(3_001), over),
            (unknown, Unfit::LagUnknown),
            (untold, Unfit::ThreadsUnknown),
            (Seen::Failed, Unfit::CheckFailed),
        ] {
            let mut guard = ReplicaHealthGuard::new(GuardRules::THREE_SECONDS, at_ms(0));
            guard.check(at_ms(1_000), &lag(10));
            guard.check(at_ms(2_000), &lag(10));
            assert_eq!(guard.state(), GuardState::Healthy);
            let transition = guard.check(at_ms(3_000), &seen);
            assert_eq!(
                transition,
                Some(Transition {
                    at: at_ms(3_000),
                    from: GuardState::Healthy,
                    to: GuardState::Unhealthy { why },
                })
            );
        }
    }

    #[test]
    fn the_limits_of_the_presets_are_met_exactly() {
        for (rules, ms, letters_expected) in [
            (GuardRules::THREE_SECONDS, 3_000, "rh"),
            (GuardRules::THREE_SECONDS, 3_001, "bb"),
            (GuardRules::ONE_SECOND, 999, "rh"),
            (GuardRules::ONE_SECOND, 1_000, "bb"),
        ] {
            assert_eq!(
                letters(rules, &[lag(ms), lag(ms)]),
                letters_expected,
                "{ms}"
            );
        }
    }

    #[test]
    fn b11_a_replica_that_came_back_takes_ordinary_reads_first() {
        let mut guard = ReplicaHealthGuard::new(GuardRules::ONE_SECOND, at_ms(0));
        guard.check(at_ms(1_000), &stopped());
        guard.check(at_ms(2_000), &lag(10));
        assert_eq!(guard.admission(), Admission::OrdinaryReads);
        guard.check(at_ms(3_000), &lag(10));
        assert_eq!(guard.admission(), Admission::Everything);
    }

    #[test]
    fn steady_rules_do_not_flap() {
        for (lags_ms, expected) in [
            // Two bad in a row, not one.
            (&[0, 0, 0, 0, 0, 9_000, 0, 9_000, 9_000][..], "uurrhhhhb"),
            // 2000 ms is within the limit but not good enough to come back.
            (&[9_000, 2_000, 2_000, 1_500, 1_500, 1_500], "bbbbbr"),
            // Just back: one bad check is enough.
            (&[0, 0, 0, 9_000], "uurb"),
            // Healthy at 2000 ms stays healthy.
            (&[0, 0, 0, 0, 0, 2_000, 2_000], "uurrhhh"),
        ] {
            let checks: Vec<_> = lags_ms.iter().map(|ms| lag(*ms)).collect();
            assert_eq!(
                letters(GuardRules::STEADY, &checks),
                expected,
                "{lags_ms:?}"
            );
        }
    }

    #[test]
    fn a_guard_that_is_not_fed_forgets() {
        let mut guard = ReplicaHealthGuard::new(GuardRules::ONE_SECOND, at_ms(0));
        guard.check(at_ms(1_000), &lag(10));
        guard.check(at_ms(6_000), &lag(10));
        assert_eq!(guard.tick(at_ms(21_000)), None);
        let forgot = guard.tick(at_ms(60_000)).expect("a transition");
        assert_eq!((forgot.at, forgot.to), (at_ms(21_000), GuardState::Unknown));
        // The first good check after the silence does not make it healthy at once.
        guard.check(at_ms(61_000), &lag(10));
        assert_eq!(guard.state(), GuardState::Recovering);
    }

    #[test]
    fn a_check_after_a_silence_forgets_too_and_a_late_one_is_ignored() {
        let mut guard = ReplicaHealthGuard::new(GuardRules::ONE_SECOND, at_ms(0));
        guard.check(at_ms(1_000), &lag(10));
        guard.check(at_ms(6_000), &lag(10));
        guard.check(at_ms(60_000), &lag(10));
        assert_eq!(guard.state(), GuardState::Recovering);
        assert_eq!(guard.check(at_ms(59_000), &stopped()), None);
        assert_eq!(guard.state(), GuardState::Recovering);
    }

    #[test]
    fn stretches_carry_their_reason_and_end_when_reads_return() {
        let mut guard = ReplicaHealthGuard::new(GuardRules::THREE_SECONDS, at_ms(0));
        for (ms, seen) in [
            (1_000, lag(10)),
            (2_000, lag(4_000)),
            (3_000, lag(5_000)),
            (4_000, stopped()),
            (5_000, lag(0)),
        ] {
            guard.check(at_ms(ms), &seen);
        }
        let drawn: Vec<_> = guard
            .degraded()
            .map(|d| (d.from, d.until, d.why.code()))
            .collect();
        assert_eq!(
            drawn,
            [
                (at_ms(0), Some(at_ms(1_000)), "not_checked"),
                (at_ms(2_000), Some(at_ms(4_000)), "lag_over_limit"),
                (at_ms(4_000), Some(at_ms(5_000)), "not_running"),
            ]
        );
    }
}
