//! Layer 1: what a worker thread needs of a server, without knowing the driver.
//!
//! A [`Dial`] opens sessions; a [`Link`] is one session: it polls, marks and waits. Every call ends within its time
//! limits. A session whose call failed with a [`Trouble`] that is not the server's own error answer is out of step with its socket and
//! must be dropped (`Link::is_spoiled`).

pub mod clock;
pub mod holding;
pub mod pooling;
pub mod probing;

use std::time::Duration;

use crate::model::event::{Position, WaitOutcome};
use crate::model::sample::{ClockReading, Sample};
use crate::model::server::Product;
use crate::model::time::Moment;
use crate::model::trouble::Trouble;

/// What a session is for; told to the server in its name, and deciding its time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Polls, and marks on a source.
    Poll,
    /// Waits for marks on a replica.
    Wait,
}

/// Opens sessions to one server. Cheap to clone across threads, knows address, account and TLS.
pub trait Dial: Send + Sync {
    /// Connects, logs in and learns the product. Never tries twice: backing off is the worker's business.
    fn dial(&self, purpose: Purpose) -> Result<Box<dyn Link>, Trouble>;
}

/// How thorough a poll is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What changes from second to second.
    Light,
    /// Also settings, found replicas, events, binary logs.
    Full,
    /// Also who holds locks and which statements run: asked while something is late.
    Suspicious,
}

/// One session.
pub trait Link {
    fn product(&self) -> &Product;

    /// The server's connection id of this session.
    fn session_id(&self) -> u64;

    /// One poll. A refused question spoils its own answer only.
    fn poll(&mut self, depth: Depth) -> Result<Sample, Trouble>;

    /// Reads the position up to which the server has written.
    fn mark(&mut self) -> Result<MarkReading, Trouble>;

    /// What this server has applied of its sources, to skip marks already reached.
    fn applied(&mut self) -> Result<Position, Trouble>;

    /// Waits until `target` is applied here, at most `limit` (always more than zero, R21).
    /// `channel` matters only where GTIDs are off.
    fn wait(
        &mut self,
        target: &Position,
        channel: &str,
        limit: Duration,
    ) -> Result<WaitAnswer, Trouble>;

    /// Makes sure that an earlier session of ours, whose statement never answered, is gone from the server: kills it
    /// if it is still there and recognisably ours. False when it hangs on all the same; then no further session may
    /// be opened for now, or they would pile up (R36).
    fn end_predecessor(&mut self, session_id: u64) -> Result<bool, Trouble>;

    /// Until when a refusal for want of a privilege is taken as the answer; `None` while nothing is refused so. A
    /// privilege granted meanwhile shows in a new session only.
    fn refused_until(&self) -> Option<Moment>;

    /// The connection is out of step or gone: drop it, do not use it again.
    fn is_spoiled(&self) -> bool;

    /// Statements sent and bytes received over this session since it began.
    fn cost(&self) -> (u64, u64);
}

/// A position read between two instants of ours.
#[derive(Clone, Debug)]
pub struct MarkReading {
    pub asked_at: Moment,
    pub answered_at: Moment,
    pub position: Position,
    pub clock: Option<ClockReading>,
}

/// How a wait ended, between two instants of ours.
#[derive(Clone, Debug)]
pub struct WaitAnswer {
    pub asked_at: Moment,
    pub answered_at: Moment,
    pub outcome: WaitOutcome,
}
