//! The prober: one thread that writes and conducts, and for each replica one that reads at once and one that waits first
//! and reads then; all sessions stay open over repeated runs.
//!
//! It reports over a channel of its own and not as a `model::event::Event`: an event belongs to one watched server and
//! is remembered by the store, while a probe is a task of several servers with a beginning and an end, and its results
//! belong to whoever started it.

pub(super) mod conductor;
mod replica;
pub(super) mod session;
pub(super) mod source;
mod workers;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::spawn;
use crate::link::probing::ProbeDial;
use crate::model::probe::{Precondition, ProbeId, ProbePlan, ProbeRun};
use crate::model::trouble::Trouble;
pub use session::Keeper;
pub use workers::{read_kept, wait_then_read};

/// What to probe.
#[derive(Clone)]
pub struct ProbeTask {
    pub plan: ProbePlan,
    /// Random: rows of two probes must not meet.
    pub probe: ProbeId,
    pub source: ProbedServer,
    pub replicas: Vec<ProbedServer>,
}

#[derive(Clone)]
pub struct ProbedServer {
    /// For thread names.
    pub name: String,
    pub dial: Arc<dyn ProbeDial>,
}

/// What a prober tells.
#[derive(Clone, Debug)]
pub enum ProbeEvent {
    /// All sessions were tried; runs begin, unless `Ended` follows.
    Ready(Readiness),
    Ran(Arc<ProbeRun>),
    /// The last one.
    Ended(ProbeEnd),
}

/// How the servers stand before the first write.
#[derive(Clone, Debug)]
pub struct Readiness {
    pub source: Vec<Precondition>,
    /// In the order of the replicas; one that cannot be reached is probed all the same, its reads fail.
    pub replicas: Vec<Result<Vec<Precondition>, Trouble>>,
}

#[derive(Clone, Debug)]
pub struct ProbeEnd {
    pub why: EndReason,
    /// Whether our rows are gone again; `None` when none was written.
    pub clean_up: Option<Result<(), Trouble>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EndReason {
    AllRun,
    Stopped,
    /// No probe, or no further run: the source cannot be reached, refuses writes, is another server by now.
    Failed(Trouble),
}

pub(super) enum ProbeOrder {
    Stop,
}

/// A probe under way. Dropping it stops it, like [`Prober::stop`].
pub struct Prober {
    orders: Option<Sender<ProbeOrder>>,
    ended: Receiver<()>,
}

impl Prober {
    /// Starts the threads. `events` should be bounded: a full one makes the probe wait.
    pub fn start(task: ProbeTask, events: Sender<ProbeEvent>) -> std::io::Result<Prober> {
        let (orders, inbox) = unbounded();
        let ended = spawn(format!("probe {}", task.source.name), move || {
            conductor::run(task, inbox, events)
        })?;
        Ok(Prober {
            orders: Some(orders),
            ended,
        })
    }

    /// No further run; the one under way is given up. Rows are removed, then `Ended` is told.
    pub fn stop(&self) {
        if let Some(orders) = &self.orders {
            // A thread that has ended takes no orders.
            let _ = orders.send(ProbeOrder::Stop);
        }
    }

    /// Stops and waits for the clean-up, but not longer than `limit`. Events nobody takes are dropped.
    pub fn close(mut self, limit: Duration) {
        self.orders = None;
        let _ = self.ended.recv_deadline(Instant::now() + limit);
    }
}
