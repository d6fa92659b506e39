//! Applying: what a channel's applier has before it and in hand; starting and stopping it. How transactions are handed
//! out is in `coordinator`, what becomes of them in `worker`.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::model::time::{Moment, Span};

use super::binlog::{Entry, Place};
use super::checkpoint::{Checkpoint, Really};
use super::goal::Goal;
use super::queue::ChannelKey;
use super::status::{ApplierState, ApplyingTransaction, ProcessedTransaction, ThreadError};
use super::transaction::{Engine, Transaction};
use super::wants::Until;
use super::worker::{Run, Stage, Worker, who};
use super::{NodeId, World};

/// A transaction in the relay log.
#[derive(Clone, Debug)]
pub(super) struct Relayed {
    pub entry: Entry,
    /// Its end has arrived as well.
    pub is_whole: bool,
    /// Whose binary log its sequence number belongs to, and since which RESET.
    pub log: Option<(NodeId, u64)>,
}

#[derive(Debug)]
pub(super) struct Applier {
    pub is_running: bool,
    pub state: ApplierState,
    pub thread_id: Option<u64>,
    pub error: Option<ThreadError>,
    pub retries: u64,
    pub last_processed: Option<ProcessedTransaction>,
    /// START … UNTIL, as it was last started.
    pub goal: Option<Goal>,
    /// Not handed out yet.
    pub queue: VecDeque<Relayed>,
    /// Handed out, in the order of the source's log; those before the first that is not done are gone.
    pub active: VecDeque<Group>,
    pub workers: Vec<Worker>,
    /// There are no workers but one thread that reads and applies.
    pub is_single: bool,
    pub keeps_order: bool,
    pub first_group: u64,
    pub next_run: u64,
    pub last_log: Option<(NodeId, u64)>,
    pub checkpoint: Checkpoint,
    /// The coordinator has read the first of the queue and waits for something before handing it out.
    pub has_read_first: bool,
    /// What the first of the queue waits for on purpose.
    pub delay: Option<Delay>,
    pub delay_version: u64,
}

/// `SOURCE_DELAY` at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    /// By the replica's clock.
    pub until_secs: i64,
    pub ends: Moment,
}

/// A transaction handed out.
#[derive(Debug)]
pub(super) struct Group {
    /// Without what is filtered out.
    pub relayed: Relayed,
    /// As it came.
    pub whole: Arc<Transaction>,
    pub worker: usize,
    pub is_submitted: bool,
    pub is_done: bool,
}

impl Relayed {
    pub fn new(entry: Entry, is_whole: bool) -> Relayed {
        Relayed {
            entry,
            is_whole,
            log: None,
        }
    }
}

impl Applier {
    pub fn new(now: Moment) -> Applier {
        Applier {
            is_running: false,
            state: ApplierState::Stopped,
            thread_id: None,
            error: None,
            retries: 0,
            last_processed: None,
            goal: None,
            queue: VecDeque::new(),
            active: VecDeque::new(),
            workers: Vec::new(),
            is_single: true,
            keeps_order: true,
            first_group: 0,
            next_run: 0,
            last_log: None,
            checkpoint: Checkpoint::new(now, Span::ZERO, true),
            has_read_first: false,
            delay: None,
            delay_version: 0,
        }
    }

    /// Where the first transaction begins that is not committed; `read` if there is none.
    pub fn really(&self, read: Option<Place>) -> Really {
        let oldest = self.active.front().map(|group| &group.relayed);
        let first = oldest.or(self.queue.front());
        let place = first.map(|relayed| relayed.entry.start).or(read);
        Really {
            place: place.unwrap_or_default(),
            oldest_secs: oldest.map(|relayed| relayed.entry.transaction.stamp_secs),
        }
    }

    pub fn backlog(&self) -> (u64, u64) {
        let undone = self.active.iter().filter(|group| !group.is_done);
        let all = undone.map(|group| &group.relayed).chain(&self.queue);
        all.fold((0, 0), |(count, bytes), relayed| {
            (count + 1, bytes + relayed.entry.transaction.bytes)
        })
    }

    /// The first of the queue is no longer what the coordinator has read.
    pub fn put_down_first(&mut self) {
        self.has_read_first = false;
        self.delay = None;
    }

    pub fn group_of(&self, run: &Run) -> Option<&Group> {
        let index = run.group.checked_sub(self.first_group)?;
        self.active.get(usize::try_from(index).ok()?)
    }

    pub fn group_mut(&mut self, group: u64) -> Option<&mut Group> {
        let index = group.checked_sub(self.first_group)?;
        self.active.get_mut(usize::try_from(index).ok()?)
    }

    pub fn applying(&self, worker: &Worker, rows_done: u64) -> Option<ApplyingTransaction> {
        let run = worker.run.as_ref()?;
        let entry = &self.group_of(run)?.relayed.entry;
        Some(ApplyingTransaction {
            gtid: entry.transaction.gtid,
            original_commit: entry.transaction.original_commit,
            immediate_commit: entry.immediate_commit,
            started: run.started,
            retries: run.retries,
            last_transient_error: run.transient,
            rows: entry.transaction.rows,
            rows_done,
            bytes: entry.transaction.bytes,
        })
    }
}

impl<E: Engine> World<E> {
    pub(super) fn begin_applying(&mut self, key: ChannelKey, goal: Option<Goal>) {
        let now = self.now;
        let it = &mut self.nodes[key.node];
        let mariadb = it.identity.generation.flavour().is_mariadb();
        let settings = &it.settings;
        let (count, keeps_order) = (
            settings.applier_workers,
            settings.preserve_commit_order || mariadb,
        );
        let period = if count > 0 && !mariadb {
            settings.checkpoint_period
        } else {
            Span::ZERO
        };
        let threads: Vec<u64> = (0..=count).map(|_| it.next_thread_id()).collect();
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        if applier.is_running {
            return;
        }
        applier.is_running = true;
        applier.goal = goal;
        applier.error = None;
        applier.is_single = count == 0;
        applier.keeps_order = keeps_order;
        applier.thread_id = threads.first().copied();
        // New workers have applied nothing yet, as in performance_schema of a real server.
        applier.workers.clear();
        for index in 0..count.max(1) as usize {
            applier.workers.push(Worker {
                thread_id: threads.get(index + 1).or(threads.first()).copied(),
                ..Worker::default()
            });
        }
        let place = applier.checkpoint.place;
        applier.checkpoint = Checkpoint::new(now, period, count == 0);
        applier.checkpoint.place = place;
        self.coordinate(key);
    }

    /// Whatever workers are at is rolled back and waits to be done anew.
    pub(super) fn end_applying(&mut self, key: ChannelKey) {
        let now = self.now;
        self.catch_checkpoint_up(key);
        self.keep_unreceipted_copies(key);
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        applier.is_running = false;
        applier.state = ApplierState::Stopped;
        applier.thread_id = None;
        applier.put_down_first();
        applier.delay_version += 1;
        let mut works = Vec::new();
        for worker in &mut applier.workers {
            worker.thread_id = None;
            works.extend(worker.run.take().and_then(|run| run.work));
        }
        let count = applier.workers.len();
        let active = std::mem::take(&mut applier.active);
        applier.first_group += active.len() as u64;
        for group in active.into_iter().rev().filter(|group| !group.is_done) {
            let mut relayed = group.relayed;
            relayed.entry.transaction = group.whole;
            applier.queue.push_front(relayed);
        }
        applier.checkpoint.stamp_secs = None;
        for work in works {
            self.nodes[key.node].processor.abandon(now, work);
        }
        self.announce_work(key.node);
        for worker in 0..count {
            let who = who(key, worker);
            self.nodes[key.node].locks.stop_waiting(who);
            self.release(key.node, who, Until::TransactionEnds);
        }
    }

    /// The receiver has put something into the relay log.
    pub(super) fn relay(&mut self, key: ChannelKey, mut relayed: Relayed) {
        let Some(channel) = self.channel(key) else {
            return;
        };
        let super::Target::Node(source) = channel.config.target else {
            return;
        };
        relayed.log = Some((source, self.nodes[source].binlog.generation));
        if let Some(channel) = self.channel_mut(key) {
            channel.relay.queued(relayed.entry.transaction.bytes);
            channel.applier.queue.push_back(relayed);
        }
        self.coordinate(key);
    }

    pub(super) fn partial_is_whole(&mut self, key: ChannelKey) {
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        if let Some(last) = applier.queue.back_mut() {
            last.is_whole = true;
            return;
        }
        let Some(group) = applier.active.back_mut() else {
            return;
        };
        group.relayed.is_whole = true;
        let worker = group.worker;
        let run = applier.workers.get_mut(worker).and_then(|w| w.run.as_mut());
        if let Some(run) = run.filter(|run| run.stage == Stage::WaitsForRest) {
            run.stage = Stage::WaitsForOrder;
            self.keep_order(key);
        }
    }

    /// The connection broke within a transaction: what is there of it is thrown away; it comes again as a whole.
    pub(super) fn drop_partial(&mut self, key: ChannelKey) {
        self.catch_checkpoint_up(key);
        let now = self.now;
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        if applier.queue.pop_back_if(|last| !last.is_whole).is_some() {
            if applier.queue.is_empty() {
                applier.put_down_first();
            }
            return self.coordinate(key);
        }
        let Some(group) = applier.active.pop_back_if(|last| !last.relayed.is_whole) else {
            return;
        };
        let index = group.worker;
        let run = applier.workers.get_mut(index).and_then(|w| w.run.take());
        if let Some(work) = run.and_then(|run| run.work) {
            self.nodes[key.node].processor.abandon(now, work);
            self.announce_work(key.node);
        }
        self.nodes[key.node].locks.stop_waiting(who(key, index));
        self.release(key.node, who(key, index), Until::TransactionEnds);
        self.coordinate(key);
    }

    /// The receiver is connected anew: with nothing left to apply, everything up to there counts as executed.
    pub(super) fn applier_sees_new_place(&mut self, key: ChannelKey) {
        if let Some(channel) = self.channel_mut(key) {
            let applier = &mut channel.applier;
            if applier.active.is_empty() && applier.queue.is_empty() {
                applier.checkpoint.place = channel.receiver.read;
            }
        }
    }

    /// Brings what the applier admits up to date, before something changes.
    pub(super) fn catch_checkpoint_up(&mut self, key: ChannelKey) {
        let now = self.now;
        if let Some(channel) = self.channel_mut(key) {
            let read = channel
                .receiver
                .has_connected()
                .then_some(channel.receiver.read);
            let really = channel.applier.really(read);
            if channel.applier.is_running {
                channel.applier.checkpoint.catch_up(now, really);
            }
        }
    }
}
