//! What the threads tell the program.

use std::sync::Arc;

use super::gtid::Gtids;
use super::replication::Coordinates;
use super::sample::{ClockReading, Sample};
use super::server::{Product, WatchId};
use super::time::{Moment, Span};
use super::trouble::Trouble;

/// Something a thread saw; carries the watch it belongs to.
#[derive(Clone, Debug)]
pub struct Event {
    pub watch: WatchId,
    pub at: Moment,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    Link(LinkState),
    Sampled(Arc<Sample>),
    Marked(Mark),
    Waited(Waited),
    /// The waiting session failed; polls may go on.
    WaitFailed(Trouble),
}

/// How the polling session stands.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkState {
    Connecting,
    Up {
        product: Product,
    },
    Down {
        trouble: Trouble,
        attempt: u32,
        retry_at: Moment,
    },
}

/// A point in the source's stream of changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Position {
    Gtids(Gtids),
    /// GTID is off: file and position.
    Coordinates(Coordinates),
}

/// A reading of the source's position at a known instant.
#[derive(Clone, Debug)]
pub struct Mark {
    pub number: u64,
    pub asked_at: Moment,
    pub answered_at: Moment,
    /// When it was handed to the waiters: a poll that reads the position answers other questions first.
    pub sent_at: Moment,
    pub position: Arc<Position>,
    pub clock: Option<ClockReading>,
}

impl Mark {
    /// The instant it stands for: half-way, as good as the round trip lets us know.
    pub fn taken_at(&self) -> Moment {
        self.asked_at + self.bound()
    }

    /// Half the round trip.
    pub fn bound(&self) -> Span {
        self.answered_at.since(self.asked_at).half()
    }
}

/// How a wait for a mark on a replica went.
#[derive(Clone, Debug, PartialEq)]
pub struct Waited {
    /// The source whose mark it was.
    pub source: WatchId,
    pub mark: u64,
    pub asked_at: Moment,
    pub answered_at: Moment,
    pub outcome: WaitOutcome,
}

/// More than 0 and 1 (R20, R21): only `Reached` is success.
#[derive(Clone, Debug, PartialEq)]
pub enum WaitOutcome {
    /// The wait returned because it was applied.
    Reached,
    /// Asked what is applied, and it was: nothing is known of when.
    Found,
    /// Equal to what was reached before: nothing was written, nothing asked.
    Equal,
    TimedOut,
    /// NULL, an unexpected number, or an error.
    Failed(Trouble),
}
