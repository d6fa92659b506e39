//! How servers replicate: a model with a time of its own, in which lag, breakdowns and degradations arise.
//!
//! Pure: no sockets, no SQL, no clock, no threads. Whoever uses it first says what time it is ([`World::advance`]),
//! then asks or orders. The same seed and the same calls at the same times give the same history.
//!
//! A write takes this way, and each station takes its time:
//!
//! ```text
//!   session ─ locks ─ work ─ flush (group) ─ binlog ─ semi-sync ─ commit          on the source
//!                                              └─ link ─ receiver ─ relay log ─┐
//!        commit ─ binlog ─ flush (group) ─ order ─ work ─ locks ─ worker ─ coordinator   on each replica
//! ```
//!
//! How a session writes (whoever takes its statements calls):
//! 1. [`World::lock`] until granted; 2. [`World::begin_work`] and ask [`World::work`] until it is finished;
//! 3. at COMMIT [`World::commit`], then [`World::commit_state`] until [`CommitState::Done`]. The engine's
//!    [`Engine::apply`] is called by the world in between, when the change becomes visible; transaction locks of
//!    [`Write::session`] are released there too. ROLLBACK is [`World::unlock`].
//!
//! Where what is: `commit` is the source's side (with `semi_sync`), `binlog` what it writes, `dump` the line to a
//! replica, `connecting`, `receiver`, `applier`, `coordinator`, `worker` and `checkpoint` the replica's side with its
//! `filters` and its `goal`, `seconds_behind` what it says of itself, `orders` what people tell it, `report` what it answers, `node` what happens to it, `scheduler`
//! what it does by itself. Everything due is in one `queue`; events find out themselves whether they are out of date.
//!
//! Not modelled: positions without GTIDs, partly applied DDL; a stopped applier rolls back at once (MySQL with workers
//! would finish what they are at).
//!
//! [`World::next_event`] says until when nothing can change, so that waiting costs nothing.

mod applier;
mod binlog;
mod channel;
mod checkpoint;
mod commit;
mod connecting;
mod coordinator;
mod dump;
mod filters;
mod goal;
mod gtids;
mod locks;
mod node;
mod orders;
mod processor;
mod queue;
mod receiver;
mod report;
mod scheduler;
mod seconds_behind;
mod semi_sync;
mod settings;
mod status;
mod transaction;
mod wants;
mod worker;

pub use channel::{Login, Refusal, SourceConfig, Target};
pub use filters::{Filter, FilterKind, Filters};
pub use goal::Goal;
pub use settings::{Costs, Dependency, Identity, SemiSyncSettings, Settings, WaitPoint};
pub use status::{
    AppliedTransaction, ApplierState, ApplierStatus, ApplyingTransaction, Attempt, BinlogFile,
    BinlogTransaction, ChannelStatus, DumpThread, LogPosition, Problem, ProcessedTransaction,
    QueuedTransaction, ReceiverState, ReceiverStatus, RelayLogStatus, Running, SemiSyncStatus,
    ThreadError, WorkerState, WorkerStatus,
};
pub use transaction::{
    ApplyError, Engine, Gtid, NextGtid, Part, PartOf, Payload, RowKey, TableName, Touch,
    Transaction, Write,
};
pub use wants::{Blocked, Blocker, LockAnswer, LockWait, Owner, SessionId, TableLock, Until, Want};

use std::collections::{BTreeMap, HashMap};

use crate::lab::bed::LinkQuality;
use crate::model::lab::LabServer;
use crate::model::time::{Moment, ServerTime, Span};

use commit::Slot;
use dump::{Dump, DumpId};
use node::Node;
use queue::Queue;
use wants::Who;

/// A server by its number, the same as in the lab.
pub type NodeId = LabServer;

/// A commit that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(u64);

/// Work that a server does for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkId {
    epoch: u64,
    number: u64,
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// A statement that changes so many rows.
    Rows(u64),
    /// So much time of one processor: a report. While it goes on, flushes take longer as well
    /// ([`Costs::flush_per_reader`]).
    Processor(Span),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkState {
    /// 0 … 1 is done; `until` if nothing else comes up.
    Going {
        done: f64,
        until: Moment,
    },
    Finished,
    /// The server went down.
    Lost,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CommitState {
    /// Waiting for the disk and for those before it.
    Flushing,
    /// Semi-sync: waiting for a replica's receipt.
    WaitingForReceipt { since: Moment },
    /// Its session may be told. No GTID when it was not logged.
    Done { gtid: Option<Gtid>, at: Moment },
    /// The engine, or a rule of the binary log (1950), refused it: nothing happened.
    Failed { code: u16, message: String },
    /// The server went down before the session was told: nobody knows.
    Lost,
}

/// All servers of a lab and the links between them.
pub struct World<E> {
    now: Moment,
    queue: Queue,
    costs: Costs,
    random: fastrand::Rng,
    nodes: Vec<Node>,
    /// Beside the servers, by the same number.
    engines: Vec<E>,
    /// By replica and source.
    links: BTreeMap<(NodeId, NodeId), LinkQuality>,
    dumps: BTreeMap<DumpId, Dump>,
    /// Never walked through: its order differs from run to run.
    commits: HashMap<CommitId, Slot>,
    last_number: u64,
}

// Time.
impl<E: Engine> World<E> {
    pub fn new(seed: u64, start: Moment, costs: Costs) -> World<E> {
        World {
            now: start,
            queue: Queue::default(),
            costs,
            random: fastrand::Rng::with_seed(seed),
            nodes: Vec::new(),
            engines: Vec::new(),
            links: BTreeMap::new(),
            dumps: BTreeMap::new(),
            commits: HashMap::new(),
            last_number: 0,
        }
    }

    /// Plays everything due until `now`. Going back in time does nothing.
    pub fn advance(&mut self, now: Moment) {
        while let Some((at, event)) = self.queue.take(now) {
            self.now = self.now.max(at);
            self.play(event);
        }
        self.now = self.now.max(now);
    }

    /// Where the last [`World::advance`] led.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// The next instant at which something may change by itself. With many servers that is always very soon: wait at
    /// least a millisecond.
    pub fn next_event(&self) -> Option<Moment> {
        self.queue.next_at()
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn jittered(&mut self, span: Span) -> Span {
        let factor = 1.0 + self.costs.jitter * (self.random.f64() * 2.0 - 1.0);
        Span::from_secs_f64(span.secs_f64() * factor)
    }
}

// Servers. What happens to them from outside is in `node`.
impl<E: Engine> World<E> {
    /// Adds a server that is up and has nothing yet. Its number is the next one.
    pub fn add_node(&mut self, identity: Identity, settings: Settings, engine: E) -> NodeId {
        self.nodes.push(Node::new(identity, settings, self.now));
        self.engines.push(engine);
        self.nodes.len() - 1
    }

    pub fn identity(&self, node: NodeId) -> &Identity {
        &self.nodes[node].identity
    }

    pub fn settings(&self, node: NodeId) -> &Settings {
        &self.nodes[node].settings
    }

    pub fn engine(&self, node: NodeId) -> &E {
        &self.engines[node]
    }

    pub fn engine_mut(&mut self, node: NodeId) -> &mut E {
        &mut self.engines[node]
    }

    pub fn is_up(&self, node: NodeId) -> bool {
        self.nodes[node].is_up
    }

    /// True time of its last start, for `Uptime`.
    pub fn up_since(&self, node: NodeId) -> Moment {
        self.nodes[node].up_since
    }

    /// What its clock says now.
    pub fn clock(&self, node: NodeId) -> ServerTime {
        self.nodes[node].clock(self.now)
    }

    /// What its clock said or will say at another time, if it is not set anew.
    pub fn clock_at(&self, node: NodeId, at: Moment) -> ServerTime {
        self.nodes[node].clock(at)
    }

    /// Goes up with every kill: a session of another epoch is dead.
    pub fn epoch(&self, node: NodeId) -> u64 {
        self.nodes[node].epoch
    }

    /// The next number for a connection or thread.
    pub fn next_thread_id(&mut self, node: NodeId) -> u64 {
        self.nodes[node].next_thread_id()
    }
}

// Sessions: locks and work. Commits are in `commit`.
impl<E: Engine> World<E> {
    /// Asks for locks, all or none.
    pub fn lock(
        &mut self,
        node: NodeId,
        session: SessionId,
        wants: &[Want],
        until: Until,
    ) -> LockAnswer {
        let who = Who::Session(session);
        let now = self.now;
        let it = &mut self.nodes[node];
        let Err(waiting) = it.locks.ask(now, who, wants, until) else {
            return LockAnswer::Granted;
        };
        if it.locks.is_deadlock(who) {
            it.locks.stop_waiting(who);
            return LockAnswer::Deadlock;
        }
        let patience = match waiting.on.2 {
            Blocked::Row(_) => it.settings.row_lock_wait,
            Blocked::Table(_) | Blocked::Global => it.settings.table_lock_wait,
        };
        LockAnswer::Wait {
            on: self.blocker(node, &waiting.on),
            since: waiting.since,
            gives_up_at: waiting.since + patience,
        }
    }

    /// Takes back a wish that was answered with [`LockAnswer::Wait`].
    pub fn stop_waiting(&mut self, node: NodeId, session: SessionId) {
        self.nodes[node].locks.stop_waiting(Who::Session(session));
        self.serve_waiting_workers(node);
    }

    /// Releases what is kept until then; a session that ends releases both (and stops waiting).
    pub fn unlock(&mut self, node: NodeId, session: SessionId, until: Until) {
        self.release(node, Who::Session(session), until);
    }

    /// Everything a session or worker holds; for `metadata_locks` and `innodb_trx`.
    pub fn locks_of(&self, node: NodeId, owner: &Owner) -> Vec<(Want, Moment)> {
        let who = self.who(node, owner);
        who.map_or(Vec::new(), |who| self.nodes[node].locks.held_by(who))
    }

    pub fn begin_work(&mut self, node: NodeId, work: Work) -> WorkId {
        let (whose, takes) = match work {
            Work::Rows(rows) => {
                let rows = i64::try_from(rows).unwrap_or(i64::MAX);
                let costs = self.costs.statement + self.costs.statement_row.times(rows);
                (processor::Worker::Statement, self.jittered(costs))
            }
            Work::Processor(takes) => (processor::Worker::Reader, takes),
        };
        let now = self.now;
        let it = &mut self.nodes[node];
        let epoch = it.epoch;
        let number = it.processor.begin(now, whose, takes);
        self.announce_work(node);
        WorkId { epoch, number }
    }

    pub fn work(&self, node: NodeId, id: WorkId) -> WorkState {
        let it = &self.nodes[node];
        if it.epoch != id.epoch || !it.is_up {
            return WorkState::Lost;
        }
        match it.processor.progress(self.now, id.number) {
            Some((done, until)) => WorkState::Going { done, until },
            None => WorkState::Finished,
        }
    }

    /// KILL QUERY.
    pub fn abandon_work(&mut self, node: NodeId, id: WorkId) {
        let now = self.now;
        let it = &mut self.nodes[node];
        if it.epoch == id.epoch {
            it.processor.abandon(now, id.number);
            self.announce_work(node);
        }
    }

    fn release(&mut self, node: NodeId, who: Who, until: Until) {
        self.nodes[node].locks.release(who, until);
        self.serve_waiting_workers(node);
    }

    fn serve_waiting_workers(&mut self, node: NodeId) {
        for who in self.nodes[node].locks.waiting_workers() {
            if let Who::Worker { channel, worker } = who {
                let key = queue::ChannelKey {
                    node,
                    number: channel,
                };
                self.lock_for_worker(key, worker);
            }
        }
    }
}

/// MariaDB's three views of where a server is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariaDbPositions {
    pub slave_pos: String,
    pub binlog_pos: String,
    pub binlog_state: String,
}

#[cfg(test)]
mod tests;
