//! Committing: flushed in groups, written to the binary log, made visible, told to the session.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::model::time::{Moment, Span};

use super::binlog::Entry;
use super::queue::{ChannelKey, Event};
use super::semi_sync::{Unreceipted, confirmed_by};
use super::settings::WaitPoint;
use super::transaction::{Engine, Gtid, Transaction, Write};
use super::wants::{SessionId, Until, Who};
use super::{CommitId, CommitState, NodeId, World};

/// What the disk takes in besides the flush itself; measured: 316 MB of binary log in 1.6 s.
const DISK_BYTES_PER_SECOND: f64 = 200e6;

/// Transactions kept in the binary log of a server that somebody copies from, and of one nobody does. Only what all who
/// copy have is purged.
const KEPT: usize = 50_000;
const KEPT_BY_LEAF: usize = 20_000;

/// Commits on their way to the disk.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    flushing: Vec<Job>,
    waiting: VecDeque<Job>,
    /// Up to which sequence number everything is committed in the engine.
    pub committed: u64,
}

#[derive(Debug)]
pub(super) struct Job {
    pub origin: Origin,
    change: Change,
    /// What [`Pipeline::committed`] was when it was ready to commit.
    committed_before: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    Session {
        commit: CommitId,
        session: Option<SessionId>,
    },
    /// A scheduled event, with the session it holds its locks as.
    Event { session: SessionId },
    Applier {
        channel: ChannelKey,
        worker: usize,
        run: u64,
    },
}

#[derive(Debug)]
pub(super) enum Change {
    Write(Write),
    Copy(Arc<Transaction>),
}

/// What became of a commit that a session asked for.
#[derive(Debug)]
pub(super) struct Slot {
    state: CommitState,
    is_forgotten: bool,
}

impl Job {
    fn bytes(&self) -> u64 {
        match &self.change {
            Change::Write(write) => write.bytes,
            Change::Copy(transaction) => transaction.bytes,
        }
    }
}

impl<E: Engine> World<E> {
    /// Starts a commit. See the module for what comes before it.
    pub fn commit(&mut self, node: NodeId, write: Write) -> CommitId {
        let commit = CommitId(self.next_number());
        let state = if self.nodes[node].is_up {
            CommitState::Flushing
        } else {
            CommitState::Lost
        };
        let slot = Slot {
            state,
            is_forgotten: false,
        };
        self.commits.insert(commit, slot);
        if self.nodes[node].is_up {
            let session = write.session;
            let origin = Origin::Session { commit, session };
            self.submit(node, origin, Change::Write(write));
        }
        commit
    }

    /// An answer that is final is given once; then the commit is forgotten.
    pub fn commit_state(&mut self, id: CommitId) -> CommitState {
        let Some(slot) = self.commits.get(&id) else {
            return CommitState::Lost;
        };
        let state = slot.state.clone();
        if is_final(&state) {
            self.commits.remove(&id);
        }
        state
    }

    /// The session is gone: the commit goes on, nobody will ask.
    pub fn forget_commit(&mut self, id: CommitId) {
        if let Some(slot) = self.commits.get_mut(&id) {
            slot.is_forgotten = true;
            if is_final(&slot.state) {
                self.commits.remove(&id);
            }
        }
    }

    pub(super) fn submit(&mut self, node: NodeId, origin: Origin, change: Change) {
        let pipeline = &mut self.nodes[node].pipeline;
        pipeline.waiting.push_back(Job {
            origin,
            change,
            committed_before: pipeline.committed,
        });
        self.begin_flush(node);
    }

    pub(super) fn on_flushed(&mut self, node: NodeId, epoch: u64) {
        if self.nodes[node].epoch != epoch {
            return;
        }
        for job in std::mem::take(&mut self.nodes[node].pipeline.flushing) {
            match job.change {
                Change::Copy(ref transaction) => {
                    let transaction = transaction.clone();
                    self.write_copy(node, job, transaction);
                }
                Change::Write(_) => self.write_own(node, job),
            }
        }
        self.trim_binlog(node);
        self.begin_flush(node);
        self.pump_all(node);
    }

    pub(super) fn on_receipt_overdue(&mut self, node: NodeId, epoch: u64) {
        let now = self.now;
        let it = &self.nodes[node];
        let timeout = it.settings.semi_sync.timeout;
        let oldest = it.semi_sync.waiting.front().map(|w| w.since + timeout);
        if it.epoch == epoch && oldest.is_some_and(|due| due <= now) {
            self.switch_semi_sync_off(node);
        }
    }

    pub(super) fn switch_semi_sync_off(&mut self, node: NodeId) {
        let now = self.now;
        for released in self.nodes[node].semi_sync.switch_off(now) {
            self.end_wait(node, released);
        }
        self.pump_all(node);
    }

    /// A replica has confirmed: those who waited for it go on, or semi-sync comes back.
    pub(super) fn on_confirmed(&mut self, node: NodeId) {
        let now = self.now;
        let replicas = self.nodes[node].settings.semi_sync.wait_for_replicas;
        let confirmed = confirmed_by(replicas, self.receipts(node));
        let it = &mut self.nodes[node];
        if it.semi_sync.counters.is_on {
            while let Some(done) = self.nodes[node].semi_sync.take_receipted(confirmed, now) {
                self.end_wait(node, done);
            }
        } else if it.settings.semi_sync.source_enabled && confirmed >= it.binlog.last_sequence() {
            it.semi_sync.counters.is_on = true;
        }
    }

    /// The server dies: what is in its binary log will be there, the rest never happened.
    pub(super) fn lose_commits(&mut self, node: NodeId) {
        let pipeline = &mut self.nodes[node].pipeline;
        let mut lost = std::mem::take(&mut pipeline.flushing);
        lost.extend(std::mem::take(&mut pipeline.waiting));
        for job in lost {
            self.settle(job.origin, CommitState::Lost);
        }
        for waiting in std::mem::take(&mut self.nodes[node].semi_sync.waiting) {
            let origin = waiting.job.origin;
            self.end_wait(node, waiting);
            self.settle(origin, CommitState::Lost);
        }
    }

    fn begin_flush(&mut self, node: NodeId) {
        let it = &mut self.nodes[node];
        if !it.pipeline.flushing.is_empty() || it.pipeline.waiting.is_empty() {
            return;
        }
        it.pipeline.flushing = it.pipeline.waiting.drain(..).collect();
        let bytes: u64 = it.pipeline.flushing.iter().map(Job::bytes).sum();
        let (epoch, slower_by) = (it.epoch, it.slower_by);
        let reports = i64::from(it.processor.readers());
        let slower_by = slower_by + self.costs.flush_per_reader.times(reports);
        let writing = Span::from_secs_f64(bytes as f64 / DISK_BYTES_PER_SECOND);
        let takes = self.jittered(self.costs.flush) + slower_by + writing;
        self.queue
            .put(self.now + takes, Event::Flushed { node, epoch });
    }

    /// A transaction that the applier carried out. Its worker waits for a receipt as a session does (seen on MySQL 9.7),
    /// only that everybody sees its rows meanwhile: the tables tell what is wrong with a copy when they carry it out, and
    /// what is wrong must not be in the binary log.
    fn write_copy(&mut self, node: NodeId, job: Job, transaction: Arc<Transaction>) {
        let Origin::Applier {
            channel,
            worker,
            run,
        } = job.origin
        else {
            return;
        };
        if !self.is_running(channel, worker, run) {
            return;
        }
        let gtid = transaction.gtid;
        let it = &self.nodes[node];
        if it.book.has(&gtid) {
            // Came by another channel in the meantime.
            return self.worker_committed(channel, worker);
        }
        let strict = it.settings.gtid_strict_mode;
        if let Some(last) = it.book.out_of_order(&gtid).filter(|_| strict) {
            let error = out_of_order(&gtid, &Gtid::MariaDb(last));
            return self.applier_failed(channel, worker, error.0, error.1);
        }
        let payload = transaction.payload.clone();
        if let Some(Err(e)) = payload.map(|p| self.engines[node].apply(&p)) {
            return self.applier_failed(channel, worker, e.code, e.message);
        }
        if !self.nodes[node].settings.log_replica_updates {
            return self.copy_is_committed(node, &job.origin, &gtid);
        }
        let sequence = self.write(node, transaction, job.committed_before);
        let it = &self.nodes[node];
        let clients = self.semi_sync_clients(node);
        if it.semi_sync.must_wait(&it.settings.semi_sync, clients) {
            self.worker_waits_for_receipt(channel, worker);
            let unreceipted = Unreceipted {
                sequence,
                since: self.now,
                gtid,
                job,
                is_visible: true,
            };
            return self.wait_for_receipt(node, unreceipted);
        }
        self.count_unreceipted(node);
        self.copy_is_committed(node, &job.origin, &gtid);
    }

    fn copy_is_committed(&mut self, node: NodeId, origin: &Origin, gtid: &Gtid) {
        let it = &mut self.nodes[node];
        it.pipeline.committed = it.binlog.last_sequence();
        it.book.committed(gtid, true);
        if let Origin::Applier {
            channel,
            worker,
            run,
        } = *origin
            && self.is_running(channel, worker, run)
        {
            self.worker_committed(channel, worker);
        }
    }

    /// A channel's workers are stopped: what they wait for receipts of is in the binary log and stays there.
    pub(super) fn keep_unreceipted_copies(&mut self, key: ChannelKey) {
        let it = &mut self.nodes[key.node];
        let is_of_channel =
            |origin: &Origin| matches!(origin, Origin::Applier { channel, .. } if *channel == key);
        for waiting in &it.semi_sync.waiting {
            if is_of_channel(&waiting.job.origin) {
                it.book.committed(&waiting.gtid, true);
            }
        }
    }

    /// Committed without waiting for anybody.
    fn count_unreceipted(&mut self, node: NodeId) {
        let it = &mut self.nodes[node];
        if it.settings.semi_sync.source_enabled {
            it.semi_sync.counters.no_tx += 1;
        }
    }

    /// A transaction that was written on this server.
    fn write_own(&mut self, node: NodeId, job: Job) {
        let Change::Write(write) = &job.change else {
            return;
        };
        if !write.is_logged {
            let refused = self.make_visible(node, &job);
            return self.conclude(node, job, None, refused);
        }
        let it = &self.nodes[node];
        if let super::NextGtid::Given(gtid) = write.name {
            // As the server does: what it has already is not carried out again, and nobody is told.
            if it.book.has(&gtid) {
                return self.conclude(node, job, Some(gtid), None);
            }
            let strict = it.settings.gtid_strict_mode;
            if let Some(last) = it.book.out_of_order(&gtid).filter(|_| strict) {
                let error = out_of_order(&gtid, &Gtid::MariaDb(last));
                return self.conclude(node, job, None, Some(error));
            }
        }
        let semi_sync = &it.settings.semi_sync;
        let waits = it
            .semi_sync
            .must_wait(semi_sync, self.semi_sync_clients(node));
        let is_hidden = waits && semi_sync.wait_point == WaitPoint::AfterSync;
        if !is_hidden && let Some(error) = self.make_visible(node, &job) {
            return self.conclude(node, job, None, Some(error));
        }
        let transaction = self.transaction(node, write);
        let gtid = transaction.gtid;
        let sequence = self.write(node, transaction, job.committed_before);
        if !is_hidden {
            self.nodes[node].book.committed(&gtid, false);
            self.nodes[node].pipeline.committed = sequence;
            self.release_session(node, &job.origin);
        }
        if waits {
            let unreceipted = Unreceipted {
                sequence,
                since: self.now,
                gtid,
                job,
                is_visible: !is_hidden,
            };
            self.wait_for_receipt(node, unreceipted);
        } else {
            self.count_unreceipted(node);
            self.conclude(node, job, Some(gtid), None);
        }
    }

    fn wait_for_receipt(&mut self, node: NodeId, unreceipted: Unreceipted) {
        let since = unreceipted.since;
        let state = CommitState::WaitingForReceipt { since };
        self.settle(unreceipted.job.origin, state);
        let it = &mut self.nodes[node];
        let due = since + it.settings.semi_sync.timeout;
        let epoch = it.epoch;
        it.semi_sync.wait(unreceipted);
        self.queue.put(due, Event::ReceiptOverdue { node, epoch });
    }

    /// Receipted, or no longer waited for.
    fn end_wait(&mut self, node: NodeId, unreceipted: Unreceipted) {
        if let Change::Copy(_) = unreceipted.job.change {
            return self.copy_is_committed(node, &unreceipted.job.origin, &unreceipted.gtid);
        }
        let mut refused = None;
        if !unreceipted.is_visible {
            refused = self.make_visible(node, &unreceipted.job);
            let it = &mut self.nodes[node];
            it.book.committed(&unreceipted.gtid, false);
            it.pipeline.committed = it.pipeline.committed.max(unreceipted.sequence);
        }
        self.conclude(node, unreceipted.job, Some(unreceipted.gtid), refused);
    }

    fn make_visible(&mut self, node: NodeId, job: &Job) -> Option<(u16, String)> {
        let Change::Write(write) = &job.change else {
            return None;
        };
        let payload = write.payload.as_ref()?;
        let refused = self.engines[node].apply(payload).err()?;
        Some((refused.code, refused.message))
    }

    fn transaction(&mut self, node: NodeId, write: &Write) -> Arc<Transaction> {
        let now = self.now;
        let it = &mut self.nodes[node];
        let gtid = it.book.next(write.name, &it.identity, &it.settings);
        // Measured: MariaDB's `Seconds_Behind_Master` counts a big transaction from its commit, MySQL's from the start
        // of its statement.
        let stamped_at = match gtid {
            Gtid::MySql { .. } => write.began_at,
            Gtid::MariaDb(_) => now,
        };
        Arc::new(Transaction {
            gtid,
            origin: node,
            origin_server_id: it.identity.server_id,
            committed_at: now,
            original_commit: it.clock(now),
            stamp_secs: it.clock(stamped_at).0.div_euclid(1_000_000),
            rows: write.rows,
            bytes: write.bytes,
            touches: write.touches.clone(),
            payload: write.payload.clone(),
        })
    }

    fn write(&mut self, node: NodeId, transaction: Arc<Transaction>, committed: u64) -> u64 {
        let now = self.now;
        let it = &mut self.nodes[node];
        it.book.logged(&transaction.gtid);
        let (dependency, clock) = (it.settings.dependency, it.clock(now));
        let sequence = it.binlog.append(transaction, committed, dependency, clock);
        if it.binlog.place().at > it.settings.max_binlog_size {
            self.rotate(node);
        }
        sequence
    }

    fn conclude(
        &mut self,
        node: NodeId,
        job: Job,
        gtid: Option<Gtid>,
        refused: Option<(u16, String)>,
    ) {
        self.release_session(node, &job.origin);
        let state = match refused {
            None => CommitState::Done { gtid, at: self.now },
            Some((code, message)) => CommitState::Failed { code, message },
        };
        self.settle(job.origin, state);
    }

    fn release_session(&mut self, node: NodeId, origin: &Origin) {
        let session = match origin {
            Origin::Session { session, .. } => *session,
            Origin::Event { session } => Some(*session),
            Origin::Applier { .. } => None,
        };
        if let Some(session) = session {
            self.release(node, Who::Session(session), Until::TransactionEnds);
        }
    }

    fn settle(&mut self, origin: Origin, state: CommitState) {
        let Origin::Session { commit, .. } = origin else {
            return;
        };
        if let Some(slot) = self.commits.get_mut(&commit) {
            slot.state = state;
            if slot.is_forgotten && is_final(&slot.state) {
                self.commits.remove(&commit);
            }
        }
    }

    /// Keeps the binary log of a long-running lab from growing without end.
    fn trim_binlog(&mut self, node: NodeId) {
        let is_copied = self.is_copied(node);
        let kept = if is_copied { KEPT } else { KEPT_BY_LEAF };
        let binlog = &self.nodes[node].binlog;
        let file = binlog.files.back().expect("there is always a file");
        if binlog.last_sequence() + 1 < file.first + (kept / 5) as u64 {
            return;
        }
        if binlog.len() > kept && !self.is_awaited(node) {
            let oldest_kept = binlog.last_sequence().saturating_sub(kept as u64);
            let files = binlog.files.iter();
            let first = files.rev().find(|f| f.first <= oldest_kept);
            if let Some(number) = first.map(|f| f.number) {
                self.purge_to(node, number);
            }
        }
        self.rotate(node);
    }

    pub(super) fn rotate(&mut self, node: NodeId) {
        let now = self.clock(node);
        let it = &mut self.nodes[node];
        let mut before = it.book.binlog_pos();
        // What waits for a receipt is in the old file, though not yet committed.
        for waiting in &it.semi_sync.waiting {
            before.add(&waiting.gtid);
        }
        it.binlog.rotate(before, now);
    }

    pub(super) fn purge_to(&mut self, node: NodeId, number: u32) {
        let it = &mut self.nodes[node];
        let gone: Vec<Entry> = it.binlog.purge_to(number);
        if matches!(it.book.purged, super::gtids::Having::MySql(_)) {
            for entry in &gone {
                it.book.purged.add(&entry.transaction.gtid);
            }
        }
    }
}

fn is_final(state: &CommitState) -> bool {
    !matches!(
        state,
        CommitState::Flushing | CommitState::WaitingForReceipt { .. }
    )
}

fn out_of_order(gtid: &Gtid, last: &Gtid) -> (u16, String) {
    let message = format!(
        "An attempt was made to binlog GTID {gtid} which would create an out-of-order sequence number with existing \
         GTID {last}, and gtid strict mode is enabled"
    );
    (1950, message)
}

/// Where a moment lies between two others, 0 … 1.
pub(super) fn share_between(from: Moment, to: Moment, at: Moment) -> f64 {
    let whole = to.since(from).micros();
    if whole <= 0 {
        return 1.0;
    }
    (at.since(from).micros() as f64 / whole as f64).clamp(0.0, 1.0)
}
