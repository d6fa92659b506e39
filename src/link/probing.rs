//! What the prober needs of a server: sessions that write into our own table, read it, and wait.

use std::time::Duration;

use crate::model::gtid::Gtids;
use crate::model::probe::{ProbePlan, ProbeRow, ServerState, Token, WaitKind, WaitSeen};
use crate::model::replication::Channel;
use crate::model::sample::Identity;
use crate::model::server::Product;
use crate::model::time::Moment;
use crate::model::trouble::Trouble;

/// What a session of a probe is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbePurpose {
    /// The only one that may change anything.
    Write,
    Read,
    /// Waits, then reads on the same connection: a wait says nothing about another one (B-06).
    WaitThenRead,
}

/// Opens sessions of a probe to one server. Never tries twice.
pub trait ProbeDial: Send + Sync {
    fn dial_probe(
        &self,
        purpose: ProbePurpose,
        plan: &ProbePlan,
    ) -> Result<Box<dyn ProbeLink>, Trouble>;
}

/// One session of a probe. Every call ends within its time limits; after a trouble look at [`ProbeLink::is_spoiled`].
pub trait ProbeLink: Send {
    fn product(&self) -> &Product;

    /// The server's connection id of this session.
    fn session_id(&self) -> u64;

    /// All that the preconditions are judged by.
    fn state(&mut self) -> Result<ServerState, Trouble>;

    /// Who the server is and whether it may be written to: cheap, asked before every write (R44).
    fn role(&mut self) -> Result<Identity, Trouble>;

    /// Whose changes this server applies, and whether its threads run. `None`: this account may not see it.
    fn channels(&mut self) -> Result<Option<Vec<Channel>>, Trouble>;

    /// Makes schema and table where they are missing.
    fn create_table(&mut self) -> Result<(), Trouble>;

    /// Writes a value into a row that is not there yet.
    fn insert(&mut self, row: ProbeRow, value: &str) -> Result<Written, Trouble>;

    /// Writes a value into a row that is there.
    fn update(&mut self, row: ProbeRow, value: &str) -> Result<Written, Trouble>;

    /// All that this server has executed: what a session waits for that does not know the GTID it wants. `Err` inside:
    /// why there is nothing to wait for.
    fn executed(&mut self) -> Result<Result<Token, WaitKind>, Trouble>;

    /// `None`: the row is not there.
    fn read(&mut self, row: ProbeRow) -> Result<Option<String>, Trouble>;

    /// Which rows of this probe are there, `from` up to and with `to`.
    fn present(&mut self, from: ProbeRow, to: u32) -> Result<Vec<u32>, Trouble>;

    /// Waits at most `limit` (more than zero, R21). How it went is in the answer, whatever it is.
    fn wait(&mut self, target: &Gtids, limit: Duration) -> WaitSeen;

    /// Removes rows of this probe, `from` up to and with `to`.
    fn remove(&mut self, from: ProbeRow, to: u32) -> Result<(), Trouble>;

    /// Removes what probes left behind that never ended properly, some of it.
    fn remove_abandoned(&mut self) -> Result<(), Trouble>;

    /// The connection is out of step or gone: drop it, do not use it again.
    fn is_spoiled(&self) -> bool;
}

/// A write that the source has committed.
#[derive(Clone, Debug)]
pub struct Written {
    pub asked_at: Moment,
    pub committed_at: Moment,
    /// `Err`: why there is nothing to wait for.
    pub token: Result<Token, WaitKind>,
}
