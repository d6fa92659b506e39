//! Around another rule: reads that fall back to the source pass a limiter sized from what the source can spare.
//!
//! Without it, taking the replicas out is a new overload: everything they served hits the source at once. Reads the
//! rule inside sends to the source by design are not counted; they were always part of its load.

use crate::model::phrase::Phrase;
use crate::model::time::{Moment, Span};

use super::super::decision::{Decision, Go, Reason};
use super::super::replica::ReplicaView;
use super::super::request::{Request, Write};
use super::super::strategy::{Promise, Strategy};
use super::super::wait::{Attempt, WaitTally};

/// What the source can serve, from a load test, and what it normally does, in statements per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Headroom {
    pub capacity_per_second: f64,
    pub used_per_second: f64,
}

impl Headroom {
    /// What is left; nothing when it is overloaded or the figures are not numbers.
    pub fn spare_per_second(self) -> f64 {
        let spare = self.capacity_per_second - self.used_per_second;
        if spare.is_finite() {
            spare.max(0.0)
        } else {
            0.0
        }
    }
}

/// Lets so many pass per second, and saves up as many as one second brings.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    tokens: f64,
    most: f64,
    per_second: f64,
    filled_at: Option<Moment>,
}

/// So that a fraction lost in adding up does not refuse the read that is due.
const DUST: f64 = 1e-9;

impl TokenBucket {
    /// Starts full.
    pub fn new(per_second: f64) -> Self {
        TokenBucket {
            tokens: per_second,
            most: per_second,
            per_second,
            filled_at: None,
        }
    }

    /// Whether one may pass now. A clock that goes back fills nothing.
    pub fn take(&mut self, now: Moment) -> bool {
        let filled_at = self.filled_at.unwrap_or(now);
        let since: Span = now.since(filled_at).or_zero();
        self.tokens = (self.tokens + since.secs_f64() * self.per_second).min(self.most);
        self.filled_at = Some(filled_at.max(now));
        let passes = self.tokens + DUST >= 1.0;
        if passes {
            self.tokens = (self.tokens - 1.0).max(0.0);
        }
        passes
    }
}

pub struct RateLimited {
    inner: Box<dyn Strategy>,
    bucket: TokenBucket,
    admitted: u64,
    rejected: u64,
}

impl RateLimited {
    pub fn new(inner: Box<dyn Strategy>, headroom: Headroom) -> Self {
        RateLimited {
            inner,
            bucket: TokenBucket::new(headroom.spare_per_second()),
            admitted: 0,
            rejected: 0,
        }
    }

    /// Fallbacks that reached the source.
    pub fn admitted(&self) -> u64 {
        self.admitted
    }

    /// Fallbacks refused.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    fn limit(&mut self, decision: Decision, now: Moment) -> Decision {
        if decision.go != Go::Source || !decision.reason.is_fallback() {
            return decision;
        }
        if self.bucket.take(now) {
            self.admitted += 1;
            return decision;
        }
        self.rejected += 1;
        Decision {
            go: Go::Refuse,
            reason: Reason::SourceHasNoRoom,
        }
    }
}

impl Strategy for RateLimited {
    fn code(&self) -> String {
        format!("{}_rate_limited", self.inner.code())
    }

    fn name(&self) -> Phrase {
        Phrase::new("routing.rule.rate_limited").with("rule", self.inner.name())
    }

    fn promise(&self) -> Promise {
        self.inner.promise()
    }

    fn write(&mut self, write: &Write) {
        self.inner.write(write);
    }

    fn choose(&mut self, request: &Request, replicas: &[ReplicaView]) -> Decision {
        let decision = self.inner.choose(request, replicas);
        self.limit(decision, request.at)
    }

    fn waited(
        &mut self,
        request: &Request,
        attempts: &[Attempt],
        now: Moment,
        replicas: &[ReplicaView],
    ) -> Decision {
        let decision = self.inner.waited(request, attempts, now, replicas);
        self.limit(decision, now)
    }

    fn unreadable(&mut self, request: &Request) -> Decision {
        let decision = self.inner.unreadable(request);
        self.limit(decision, request.at)
    }

    fn waits(&self) -> WaitTally {
        self.inner.waits()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::build::{at_ms, lag_ms, list_at, replica};
    use super::super::super::request::QueryKind;
    use super::super::{QueryKindRouter, RouteTable};
    use super::*;

    fn limited(spare: f64) -> RateLimited {
        let router = QueryKindRouter::new(RouteTable::default());
        let headroom = Headroom {
            capacity_per_second: 100.0 + spare,
            used_per_second: 100.0,
        };
        RateLimited::new(Box::new(router), headroom)
    }

    fn taken_out() -> ReplicaView {
        ReplicaView {
            lag: lag_ms(60_000),
            ..replica(1)
        }
    }

    #[test]
    fn c06_only_what_the_source_can_spare_is_admitted() {
        let mut rule = limited(10.0);
        // Ten saved up, then one every 100 ms: 10 + 20 in the first two seconds.
        for ms in 0..2_000 {
            rule.read(&list_at(ms), &[taken_out()]);
        }
        assert_eq!((rule.admitted(), rule.rejected()), (29, 1_971));
        let decision = rule.read(&list_at(2_000), &[taken_out()]);
        assert_eq!(decision.go, Go::Source);
        let decision = rule.read(&list_at(2_001), &[taken_out()]);
        assert_eq!(
            (decision.go, decision.reason),
            (Go::Refuse, Reason::SourceHasNoRoom)
        );
    }

    #[test]
    fn what_belongs_on_the_source_or_on_a_replica_is_not_limited() {
        let mut rule = limited(0.0);
        for kind in [QueryKind::Write, QueryKind::Export] {
            let request = Request { kind, ..list_at(0) };
            assert_eq!(rule.read(&request, &[taken_out()]).go, Go::Source);
        }
        assert!(matches!(
            rule.read(&list_at(0), &[replica(1)]).go,
            Go::Replica(_)
        ));
        assert_eq!((rule.admitted(), rule.rejected()), (0, 0));
    }

    #[test]
    fn a_source_without_headroom_admits_nothing() {
        for (capacity, used) in [(100.0, 100.0), (100.0, 140.0), (f64::NAN, 1.0)] {
            let headroom = Headroom {
                capacity_per_second: capacity,
                used_per_second: used,
            };
            let mut bucket = TokenBucket::new(headroom.spare_per_second());
            assert!(!bucket.take(at_ms(0)) && !bucket.take(at_ms(3_600_000)));
        }
    }

    #[test]
    fn a_clock_that_goes_back_fills_nothing() {
        let mut bucket = TokenBucket::new(1.0);
        assert!(bucket.take(at_ms(10_000)));
        assert!(!bucket.take(at_ms(5_000)));
        assert!(!bucket.take(at_ms(10_500)));
        assert!(bucket.take(at_ms(11_000)));
    }
}
