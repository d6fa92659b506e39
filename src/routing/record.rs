//! One line per request, so that after a wrong read the question has an answer: replica behind, route wrong, or pool
//! reuse? (B-10)

use crate::model::gtid::Gtids;
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::Verdict;
use crate::model::time::{Moment, Span};

use super::decision::{Decision, Go};
use super::pool::Difference;
use super::request::{Need, QueryKind, Request, SessionKey};
use super::wait::Attempt;

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub session: SessionKey,
    pub kind: QueryKind,
    pub at: Moment,
    pub in_transaction: bool,
    /// How long ago the session wrote, if it lately did.
    pub wrote_ago: Option<Span>,
    /// It had to see a write.
    pub needs_write: bool,
    pub awaited: Option<Gtids>,
    pub attempts: Vec<Attempt>,
    pub decision: Decision,
    /// What the connection carried when it was borrowed.
    pub carried: Vec<Difference>,
    /// What it was left with, before cleaning; `None` while it is still out.
    pub left: Option<Vec<Difference>>,
}

impl Record {
    pub fn new(request: &Request, attempts: Vec<Attempt>, decision: Decision) -> Self {
        Record {
            session: request.session,
            kind: request.kind.clone(),
            at: request.at,
            in_transaction: request.in_transaction,
            wrote_ago: None,
            needs_write: request.need != Need::Nothing,
            awaited: request.awaited_gtids().cloned(),
            attempts,
            decision,
            carried: Vec::new(),
            left: None,
        }
    }

    /// All waits together.
    pub fn waited(&self) -> Span {
        self.attempts
            .iter()
            .fold(Span::ZERO, |sum, attempt| sum + attempt.took)
    }

    /// Meant for a replica, and sent back to the source.
    pub fn returned_to_source(&self) -> bool {
        self.decision.go == Go::Source && self.decision.reason.is_fallback()
    }

    /// Who is to blame.
    pub fn blame(&self, freshness: Freshness) -> Blame {
        let on_plain_replica = matches!(self.decision.go, Go::Replica(_));
        let on_replica = on_plain_replica || matches!(self.decision.go, Go::WaitedReplica(_));
        match freshness {
            _ if self.in_transaction && on_replica => Blame::Route,
            Freshness::Unknown => Blame::CannotTell,
            _ if !self.carried.is_empty() => Blame::PoolReuse,
            Freshness::Fresh => Blame::Nobody,
            Freshness::Stale if on_plain_replica && self.needs_write => Blame::Route,
            Freshness::Stale if on_plain_replica => Blame::ReplicaBehind,
            // The wait was reached, or the source was asked: the connection did not lead where it should.
            Freshness::Stale => Blame::PoolReuse,
        }
    }
}

/// A request of a run on real servers, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub record: Record,
    pub freshness: Freshness,
    /// Which server answered.
    pub server: String,
    /// Over pools without hygiene, or a router that knows no transactions: there to show what happens then.
    pub is_careless: bool,
}

impl Recorded {
    pub fn blame(&self) -> Blame {
        self.record.blame(self.freshness)
    }
}

/// How the value that was read compares to the write it had to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Freshness {
    Fresh,
    Stale,
    Unknown,
}

impl Freshness {
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Fresh => Freshness::Fresh,
            Verdict::Old | Verdict::Missing => Freshness::Stale,
            Verdict::Failed => Freshness::Unknown,
        }
    }

    /// A stable name, for files.
    pub fn code(self) -> &'static str {
        match self {
            Freshness::Fresh => "fresh",
            Freshness::Stale => "stale",
            Freshness::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    Nobody,
    /// The replica was behind, and nobody had asked for more.
    ReplicaBehind,
    /// The read should not have been sent there.
    Route,
    /// The connection carried something of its last user, or leads elsewhere.
    PoolReuse,
    CannotTell,
}

impl Blame {
    /// The gravest last.
    pub const ALL: [Blame; 5] = [
        Blame::Nobody,
        Blame::CannotTell,
        Blame::ReplicaBehind,
        Blame::Route,
        Blame::PoolReuse,
    ];

    /// A stable name, for files.
    pub fn code(self) -> &'static str {
        match self {
            Blame::Nobody => "nobody",
            Blame::ReplicaBehind => "replica_behind",
            Blame::Route => "route",
            Blame::PoolReuse => "pool_reuse",
            Blame::CannotTell => "cannot_tell",
        }
    }

    pub fn phrase(self) -> Phrase {
        match self {
            Blame::Nobody => phrase("routing.blame.nobody"),
            Blame::ReplicaBehind => phrase("routing.blame.replica_behind"),
            Blame::Route => phrase("routing.blame.route"),
            Blame::PoolReuse => phrase("routing.blame.pool_reuse"),
            Blame::CannotTell => phrase("routing.blame.cannot_tell"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::{list_after, list_at};
    use super::super::decision::Reason;
    use super::super::pool::Field;
    use super::super::wait::WaitResult;
    use super::*;
    use crate::model::server::WatchId;

    const REPLICA: Go = Go::Replica(WatchId(2));

    fn record(request: Request, go: Go) -> Record {
        let reason = Reason::FitReplica;
        Record::new(&request, Vec::new(), Decision { go, reason })
    }

    #[test]
    fn a_wrong_read_has_somebody_to_blame() {
        use Freshness::{Fresh, Stale, Unknown};
        let ordinary = || list_at(0);
        let after_write = || list_after(0, Some("7"));
        let bound = || Request {
            in_transaction: true,
            ..list_at(0)
        };
        let waited = || Go::WaitedReplica(WatchId(2));
        for (request, go, freshness, blame) in [
            (ordinary(), REPLICA, Fresh, Blame::Nobody),
            (ordinary(), REPLICA, Stale, Blame::ReplicaBehind),
            (ordinary(), REPLICA, Unknown, Blame::CannotTell),
            (after_write(), REPLICA, Stale, Blame::Route),
            (after_write(), waited(), Fresh, Blame::Nobody),
            (after_write(), waited(), Stale, Blame::PoolReuse),
            (after_write(), Go::Source, Stale, Blame::PoolReuse),
            (bound(), REPLICA, Fresh, Blame::Route),
            (bound(), Go::Source, Fresh, Blame::Nobody),
        ] {
            let record = record(request, go);
            assert_eq!(record.blame(freshness), blame, "{record:?}");
        }
    }

    #[test]
    fn a_connection_that_carried_something_is_to_blame_first() {
        let mut record = record(list_at(0), REPLICA);
        record.carried.push(Difference {
            field: Field::RouteLabel,
            expected: String::new(),
            found: Some("read_only".to_owned()),
        });
        assert_eq!(record.blame(Freshness::Stale), Blame::PoolReuse);
    }

    #[test]
    fn waits_add_up_and_a_fallback_is_a_return_to_the_source() {
        let attempt = |on, took_ms| Attempt {
            on: WatchId(on),
            result: WaitResult::TimedOut,
            took: Span::from_millis(took_ms),
        };
        let timed_out = Decision::source(Reason::WaitEnded(WaitResult::TimedOut));
        let attempts = vec![attempt(1, 500), attempt(2, 300)];
        let record = Record::new(&list_after(0, Some("7")), attempts, timed_out);
        assert_eq!(record.waited(), Span::from_millis(800));
        assert!(record.returned_to_source());
        let by_design = Decision::source(Reason::InTransaction);
        assert!(!Record::new(&list_at(0), Vec::new(), by_design).returned_to_source());
    }
}
