//! The acceptance run: five steps on real sessions, one after the other, on a thread of its own (B-12).
//!
//! > [`steps`] does the five; [`drift`] is the fifth of them, pools with and without hygiene side by side. [`desk`] runs
//! > them for the window.
//!
//! It is here and not in `monitor` because it drives the state machines of `routing` with sessions of `link`.

pub mod desk;
pub mod drift;
mod evidence;
mod records;
mod sessions;
mod steps;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};

use crate::link::holding::HoldDial;
use crate::link::pooling::PoolDial;
use crate::link::probing::ProbeDial;
use crate::model::acceptance::{AcceptReport, DriftTable, Step, StepName};
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ProbeId, ProbePlan};
use crate::model::time::Span;
use crate::routing::record::Recorded;

/// Everything a run needs to open on one server.
pub trait AcceptDial: ProbeDial + HoldDial + PoolDial {}

impl<T: ProbeDial + HoldDial + PoolDial> AcceptDial for T {}

#[derive(Clone)]
pub struct AcceptServer {
    pub name: String,
    pub dial: Arc<dyn AcceptDial>,
}

/// Whether a replica's applier may be held back for a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    NotAsked,
    /// Asked for, where a person must confirm it, and none did.
    NotConfirmed,
    Allowed,
}

impl Faults {
    fn why_not(self) -> Option<Phrase> {
        match self {
            Faults::NotAsked => Some(phrase("accept.why.faults_not_asked")),
            Faults::NotConfirmed => Some(phrase("accept.why.faults_not_confirmed")),
            Faults::Allowed => None,
        }
    }
}

#[derive(Clone)]
pub struct AcceptTask {
    /// Its schema and the limit of its waits; the flavour is always an update.
    pub plan: ProbePlan,
    /// Random: rows of two runs must not meet.
    pub probe: ProbeId,
    pub source: AcceptServer,
    pub replicas: Vec<AcceptServer>,
    pub faults: Faults,
    /// Where the pools' sessions that write connect to in place of the source: a proxy before it.
    pub proxy: Option<AcceptServer>,
}

/// How much longer than its wait a replica may be held back, whatever happens to us.
const HOLD_MARGIN: Duration = Duration::from_secs(10);

/// The server itself lets go of a held applier after this.
pub fn longest_hold(wait_limit: Span) -> Duration {
    wait_limit.to_duration() + HOLD_MARGIN
}

#[derive(Clone, Debug)]
pub enum AcceptEvent {
    Begins(StepName),
    /// Something is about to be done to a server, and how it ends.
    Does(Phrase),
    /// The table of the fifth step, before the step is done.
    Drifted(DriftTable),
    /// A request of this step, as it was routed and what it returned.
    Recorded(StepName, Box<Recorded>),
    Done(Step),
    /// The last one.
    Ended(AcceptReport),
}

/// A run under way. Dropping it stops it, like [`Acceptance::stop`].
pub struct Acceptance {
    orders: Option<Sender<()>>,
    ended: Receiver<()>,
}

impl Acceptance {
    /// Starts the thread. `events` should be bounded: a full one makes the run wait.
    pub fn start(task: AcceptTask, events: Sender<AcceptEvent>) -> io::Result<Acceptance> {
        let (orders, inbox) = unbounded();
        let (done, ended) = bounded::<()>(0);
        std::thread::Builder::new()
            .name(format!("accept {}", task.source.name))
            .spawn(move || {
                let _done = done;
                let desk = Desk { inbox, events };
                let report = steps::run(&task, &desk);
                desk.tell(AcceptEvent::Ended(report));
            })?;
        Ok(Acceptance {
            orders: Some(orders),
            ended,
        })
    }

    /// No further step. Whatever is held back is let go, rows are removed, then `Ended` is told.
    pub fn stop(&mut self) {
        self.orders = None;
    }

    /// Stops and waits for the clean-up, but not longer than `limit`.
    pub fn close(mut self, limit: Duration) {
        self.stop();
        let _ = self.ended.recv_deadline(Instant::now() + limit);
    }
}

/// Where the thread reports, and hears that it is to stop.
struct Desk {
    inbox: Receiver<()>,
    events: Sender<AcceptEvent>,
}

impl Desk {
    fn is_stopped(&self) -> bool {
        self.inbox.try_recv() == Err(TryRecvError::Disconnected)
    }

    fn record(&self, step: StepName, recorded: Recorded) {
        self.tell(AcceptEvent::Recorded(step, Box::new(recorded)));
    }

    /// A full channel does not hold up the end.
    fn tell(&self, event: AcceptEvent) {
        let mut event = event;
        loop {
            match self.events.send_timeout(event, Duration::from_millis(100)) {
                Err(crossbeam_channel::SendTimeoutError::Timeout(back)) if !self.is_stopped() => {
                    event = back;
                }
                _ => return,
            }
        }
    }
}
