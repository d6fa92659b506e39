//! Layer 2: the threads that watch servers. Handle outside, actor inside.
//!
//! Each server has a **poller** (polls, and marks while it has watched replicas) and, while it follows a watched
//! source, a **waiter** (waits for that source's marks). Each owns its one session, so a server carries at most two
//! of ours. Marks go straight from poller to waiter; everything else goes to the program as events.

mod backoff;
mod poller;
pub mod prober;
mod report;
mod schedule;
mod waiter;
pub mod workload;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::link::Dial;
use crate::model::event::{Event, Mark};
use crate::model::profile::Intervals;
use crate::model::server::WatchId;

/// Marks waiting for a busy waiter; more are dropped, since each later mark says all that the earlier ones said.
const MARKS_IN_FLIGHT: usize = 64;

/// What to watch, and how.
#[derive(Clone)]
pub struct Plan {
    pub watch: WatchId,
    /// For thread names.
    pub name: String,
    pub dial: Arc<dyn Dial>,
    pub intervals: Intervals,
}

/// A source that a replica follows, by one of its channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    pub source: WatchId,
    pub channel: String,
}

/// Where a poller sends its marks: the inbox of one replica's waiter.
#[derive(Clone)]
pub struct MarkSink {
    pub replica: WatchId,
    inbox: Sender<(WatchId, Mark)>,
}

enum PollerOrder {
    PollNow,
    Pace(Intervals),
    /// Mark for these waiters from now on; nobody means no marks.
    MarkFor(Vec<MarkSink>),
}

enum WaiterOrder {
    Follow(Vec<Followed>),
}

/// A watched server. Dropping it ends its threads; they may still be inside a time-limited call for a moment.
pub struct Watcher {
    watch: WatchId,
    poller: Option<Sender<PollerOrder>>,
    waiter: Option<Sender<WaiterOrder>>,
    marks: Sender<(WatchId, Mark)>,
    /// Disconnected when the threads have ended.
    ended: [Receiver<()>; 2],
}

impl Watcher {
    /// Starts the threads. `events` should be bounded; a full one delays the reports, never the end.
    pub fn start(plan: Plan, events: Sender<Event>) -> std::io::Result<Watcher> {
        let (poller, poller_orders) = unbounded();
        let (waiter, waiter_orders) = unbounded();
        let (marks, marks_inbox) = bounded(MARKS_IN_FLIGHT);
        let poller_ended = spawn(format!("poll {}", plan.name), {
            let (plan, events) = (plan.clone(), events.clone());
            move || poller::run(plan, poller_orders, events)
        })?;
        let watch = plan.watch;
        let waiter_ended = spawn(format!("wait {}", plan.name), move || {
            waiter::run(plan, waiter_orders, marks_inbox, events)
        })?;
        Ok(Watcher {
            watch,
            poller: Some(poller),
            waiter: Some(waiter),
            marks,
            ended: [poller_ended, waiter_ended],
        })
    }

    pub fn watch(&self) -> WatchId {
        self.watch
    }

    /// Polls at once, does not wait out a back-off, and asks again what was refused for want of a privilege.
    pub fn poll_now(&self) {
        self.order(PollerOrder::PollNow);
    }

    pub fn pace(&self, intervals: Intervals) {
        self.order(PollerOrder::Pace(intervals));
    }

    /// This server's marks go to these waiters.
    pub fn mark_for(&self, sinks: Vec<MarkSink>) {
        self.order(PollerOrder::MarkFor(sinks));
    }

    /// This server waits for the marks of these sources.
    pub fn follow(&self, sources: Vec<Followed>) {
        if let Some(waiter) = &self.waiter {
            // A thread that has ended takes no orders; there is nothing left to do for it.
            let _ = waiter.send(WaiterOrder::Follow(sources));
        }
    }

    pub fn mark_sink(&self) -> MarkSink {
        MarkSink {
            replica: self.watch,
            inbox: self.marks.clone(),
        }
    }

    fn order(&self, order: PollerOrder) {
        if let Some(poller) = &self.poller {
            let _ = poller.send(order);
        }
    }

    fn close(&mut self) {
        self.poller = None;
        self.waiter = None;
    }
}

/// Ends all of them together, politely where that is possible within the limit. A thread inside a call to a server
/// that does not answer is left to its time limit: nobody waits for a dead server.
pub fn close_all(mut watchers: Vec<Watcher>, limit: Duration) {
    watchers.iter_mut().for_each(Watcher::close);
    let deadline = Instant::now() + limit;
    for ended in watchers.iter().flat_map(|watcher| &watcher.ended) {
        // Only ever disconnected, never sent to: an error here is the end of the thread, or the end of our patience.
        let _ = ended.recv_deadline(deadline);
    }
}

/// Runs `work` on a named thread; the receiver is disconnected when it ends.
fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> std::io::Result<Receiver<()>> {
    let (alive, ended) = bounded(0);
    // Linux shows 15 bytes of a thread's name.
    std::thread::Builder::new().name(name).spawn(move || {
        let _alive: Sender<()> = alive;
        work();
    })?;
    Ok(ended)
}
