//! What every routing rule has in common.

use crate::model::phrase::Phrase;
use crate::model::time::{Moment, Span};

use super::decision::{Decision, Reason};
use super::replica::ReplicaView;
use super::request::{QueryKind, Request, Write};
use super::wait::{Attempt, WaitTally};

/// What a rule promises a reader of his own write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Promise {
    /// Never older than the write the read names.
    Strong,
    /// Not older, as long as every replica has the write within this time.
    WhileLagIsBelow(Span),
    /// Anything may happen.
    Nothing,
}

/// A routing rule. The caller tells it of every write, asks it for every read, and where it says "wait first" hands
/// the attempts back until it names a server.
pub trait Strategy: Send {
    /// A stable name, for files: `gtid_wait`.
    fn code(&self) -> String;

    /// The name a person sees.
    fn name(&self) -> Phrase;

    fn promise(&self) -> Promise;

    /// A write went to the source.
    fn write(&mut self, _write: &Write) {}

    /// Where an ordinary statement outside a transaction goes; writes and transactions never come here.
    fn choose(&mut self, request: &Request, replicas: &[ReplicaView]) -> Decision;

    /// Where a statement goes. No rule can forget that writes and open transactions belong to the source (B-07).
    fn read(&mut self, request: &Request, replicas: &[ReplicaView]) -> Decision {
        if request.kind == QueryKind::Write {
            Decision::source(Reason::IsWrite)
        } else if request.in_transaction {
            Decision::source(Reason::InTransaction)
        } else {
            self.choose(request, replicas)
        }
    }

    /// What now, after these waits of one request, the last one just over? A rule that never waits has nothing to
    /// expect here, and goes where nothing can go wrong.
    fn waited(
        &mut self,
        _request: &Request,
        attempts: &[Attempt],
        _now: Moment,
        _replicas: &[ReplicaView],
    ) -> Decision {
        Decision::source(
            attempts
                .last()
                .map_or(Reason::NoGtid, |last| Reason::WaitEnded(last.result)),
        )
    }

    /// The replica could not be read: straight to the source, no other replica is tried (B-05).
    fn unreadable(&mut self, _request: &Request) -> Decision {
        Decision::source(Reason::ReplicaUnreadable)
    }

    /// How its waits ended so far.
    fn waits(&self) -> WaitTally {
        WaitTally::default()
    }
}
