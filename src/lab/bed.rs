//! The ground a lab stands on: what the simulator and the real sandboxes have in common.
//!
//! Only what no SQL can do is here. Everything else (faults, traffic, roles) is SQL over ordinary connections, the same
//! on both grounds.

use crate::model::lab::{FaultKind, LabAccount, LabAccounts, LabNode, LabServer};
use crate::model::phrase::Phrase;
use crate::model::time::Span;
use crate::model::trouble::Trouble;

/// Running servers that replicate: accounts made, replication started, semi-sync and workers as planned, the schemas
/// `shop` and `replicascope` with the heartbeat's table and event there. Dropping it stops them and removes what they left.
pub trait Bed: Send {
    /// As they stand now, in the order of their numbers.
    fn nodes(&self) -> Vec<LabNode>;

    fn accounts(&self) -> LabAccounts;

    /// The account by which the servers copy from each other. The administrator's may do that too.
    fn replication(&self) -> LabAccount {
        self.accounts().admin
    }

    /// PEM of the authority that has signed the servers' certificates; `None`: they encrypt nothing, or their certificates
    /// are their own.
    fn ca_pem(&self) -> Option<String> {
        None
    }

    /// The port of loopback by which `replica` reaches `source`; what it must be pointed at, so that the link between
    /// the two can be slowed and cut. Makes the link if there is none yet.
    fn link_port(&mut self, replica: LabServer, source: LabServer) -> Result<u16, Trouble>;

    /// Replication was pointed anew (roles swapped): the bed must know for [`Bed::nodes`] and for restarts.
    fn pointed(&mut self, server: LabServer, copies_from: &[LabServer]);

    /// What the link is like from now on.
    fn set_link(
        &mut self,
        replica: LabServer,
        source: LabServer,
        quality: LinkQuality,
    ) -> Result<(), Trouble>;

    /// How much longer each flush to disk takes; zero is normal.
    fn set_disk(&mut self, server: LabServer, slower_by: Span) -> Result<(), Trouble>;

    /// How far this server's clock is ahead of the machine's.
    fn set_clock(&mut self, server: LabServer, ahead_by: Span) -> Result<(), Trouble>;

    /// As `kill -9`: connections break, what was not flushed is gone.
    fn kill(&mut self, server: LabServer) -> Result<(), Trouble>;

    /// Starts a killed server on the same port, and waits until it answers.
    fn restart(&mut self, server: LabServer) -> Result<(), Trouble>;

    /// Faults that cannot be made here, and why.
    fn impossible(&self) -> Vec<(FaultKind, Phrase)>;
}

/// How a link carries what it carries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkQuality {
    /// One way.
    pub latency: Span,
    /// `None`: as fast as it can.
    pub bytes_per_second: Option<f64>,
    /// Nothing passes and nobody is told, like a pulled cable.
    pub is_cut: bool,
}
