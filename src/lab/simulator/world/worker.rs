//! A worker: waits for locks, works, waits for those before it, commits; or fails.

use std::sync::Arc;

use crate::model::time::ServerTime;

use super::World;
use super::commit::{Change, Origin};
use super::processor;
use super::queue::{ChannelKey, Event};
use super::status::{AppliedTransaction, ApplyingTransaction, Problem, ThreadError};
use super::transaction::{Engine, Transaction};
use super::wants::{Blocked, Until, Who, wants_of};

#[derive(Debug, Default)]
pub(super) struct Worker {
    pub thread_id: Option<u64>,
    pub error: Option<ThreadError>,
    pub last_applied: Option<AppliedTransaction>,
    pub run: Option<Run>,
    /// What it was at when it failed.
    pub failed: Option<ApplyingTransaction>,
}

/// One attempt of a worker at a transaction.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub number: u64,
    pub group: u64,
    pub stage: Stage,
    pub started: ServerTime,
    pub retries: u64,
    pub transient: Option<(u16, ServerTime)>,
    /// The piece of work on the processor.
    pub work: Option<u64>,
    pub has_collided: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    WaitsForLock,
    Works,
    /// For the rest of the transaction to arrive.
    WaitsForRest,
    /// For those before it to commit.
    WaitsForOrder,
    Commits,
    /// For the receipt of a replica of its own.
    WaitsForReceipt,
}

impl<E: Engine> World<E> {
    pub(super) fn worker_done(&mut self, key: ChannelKey, worker: usize, work: u64) {
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        let Some(run) = applier.workers.get_mut(worker).and_then(|w| w.run.as_mut()) else {
            return;
        };
        if run.work != Some(work) {
            return;
        }
        run.work = None;
        run.stage = Stage::WaitsForOrder;
        let group = run.group;
        let is_whole = applier.group_mut(group).is_some_and(|g| g.relayed.is_whole);
        if !is_whole && let Some(run) = applier.workers[worker].run.as_mut() {
            run.stage = Stage::WaitsForRest;
            return;
        }
        self.keep_order(key);
    }

    pub(super) fn is_running(&self, key: ChannelKey, worker: usize, run: u64) -> bool {
        self.channel(key)
            .and_then(|channel| channel.applier.workers.get(worker)?.run.as_ref())
            .is_some_and(|going| going.number == run)
    }

    pub(super) fn worker_waits_for_receipt(&mut self, key: ChannelKey, index: usize) {
        if let Some(run) = self.run_mut(key, index) {
            run.stage = Stage::WaitsForReceipt;
        }
    }

    pub(super) fn worker_committed(&mut self, key: ChannelKey, index: usize) {
        self.catch_checkpoint_up(key);
        let clock = self.clock(key.node);
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        let Some(applying) = applier.applying(&applier.workers[index], 0) else {
            return;
        };
        let worker = &mut applier.workers[index];
        worker.last_applied = Some(AppliedTransaction {
            gtid: applying.gtid,
            original_commit: applying.original_commit,
            immediate_commit: applying.immediate_commit,
            started: applying.started,
            ended: clock,
            retries: applying.retries,
        });
        let group = worker.run.take().map_or(0, |run| run.group);
        if let Some(group) = applier.group_mut(group) {
            group.is_done = true;
        }
        while applier.active.pop_front_if(|group| group.is_done).is_some() {
            applier.first_group += 1;
        }
        let left = (applier.queue.len() + applier.active.len()) as u64;
        channel.relay.applied(applying.bytes, left);
        self.release(key.node, who(key, index), Until::TransactionEnds);
        self.coordinate(key);
    }

    /// A transaction cannot be carried out: everything stops.
    pub(super) fn applier_failed(
        &mut self,
        key: ChannelKey,
        index: usize,
        code: u16,
        message: String,
    ) {
        let at = self.clock(key.node);
        let Some(channel) = self.channel(key) else {
            return;
        };
        let applier = &channel.applier;
        let applying = applier.applying(&applier.workers[index], 0);
        let run = applier.workers[index].run.as_ref();
        let Some(group) = run.and_then(|run| applier.group_of(run)) else {
            return;
        };
        let entry = &group.relayed.entry;
        let number = (!applier.is_single).then_some(index as u32 + 1);
        let problem = Problem::Apply {
            worker: number,
            gtid: entry.transaction.gtid,
            at: self.place_text(&channel.receiver.source_binlog_name, entry.end),
            code,
            message,
        };
        let error = ThreadError { at, problem };
        self.end_applying(key);
        if let Some(channel) = self.channel_mut(key) {
            channel.applier.error = Some(error.clone());
            channel.applier.workers[index].error = Some(error);
            channel.applier.workers[index].failed = applying;
        }
    }

    /// Asks for a worker's locks, again if it waited.
    pub(super) fn lock_for_worker(&mut self, key: ChannelKey, index: usize) {
        let now = self.now;
        let Some((transaction, run)) = self.at_work(key, index) else {
            return;
        };
        let wants = wants_of(&transaction.touches);
        let it = &mut self.nodes[key.node];
        let asked = it
            .locks
            .ask(now, who(key, index), &wants, Until::TransactionEnds);
        let had_waited = run.stage == Stage::WaitsForLock;
        let Err(waiting) = asked else {
            return self.begin_to_apply(key, index, &transaction);
        };
        let patience = match waiting.on.2 {
            Blocked::Row(_) => it.settings.row_lock_wait,
            Blocked::Table(_) | Blocked::Global => it.settings.table_lock_wait,
        };
        let collides = matches!(waiting.on.0, Who::Worker { .. });
        if let Some(run) = self.run_mut(key, index) {
            run.stage = Stage::WaitsForLock;
            run.has_collided |= collides;
        }
        if !had_waited {
            let event = Event::LockOverdue {
                channel: key,
                worker: index,
                run: run.number,
            };
            self.queue.put(waiting.since + patience, event);
        }
    }

    /// As the server does: rolled back, tried again, and after so many times given up.
    pub(super) fn on_lock_overdue(&mut self, key: ChannelKey, index: usize, number: u64) {
        let it = &self.nodes[key.node];
        let (most, clock) = (it.settings.transaction_retries, self.clock(key.node));
        let waits = |run: &&mut Run| run.number == number && run.stage == Stage::WaitsForLock;
        let Some(run) = self.run_mut(key, index).filter(waits) else {
            return;
        };
        if run.retries >= u64::from(most) {
            let message = "Lock wait timeout exceeded; try restarting transaction".to_owned();
            return self.applier_failed(key, index, 1205, message);
        }
        run.retries += 1;
        run.transient = Some((1205, clock));
        run.stage = Stage::Works;
        self.nodes[key.node].locks.stop_waiting(who(key, index));
        if let Some(channel) = self.channel_mut(key) {
            channel.applier.retries += 1;
        }
        self.lock_for_worker(key, index);
    }

    fn begin_to_apply(&mut self, key: ChannelKey, index: usize, transaction: &Transaction) {
        let now = self.now;
        let rows = i64::try_from(transaction.rows).unwrap_or(i64::MAX);
        let costs = self.costs.apply + self.costs.apply_row.times(rows);
        let takes = self.jittered(costs);
        let it = &mut self.nodes[key.node];
        let whose = processor::Worker::Applier {
            channel: key,
            worker: index,
        };
        let work = it.processor.begin(now, whose, takes);
        let mariadb = it.identity.generation.flavour().is_mariadb();
        if let Some(run) = self.run_mut(key, index) {
            run.stage = Stage::Works;
            run.work = Some(work);
            // What collides in optimistic mode is rolled back and tried again.
            let was_retried = std::mem::take(&mut run.has_collided) && mariadb;
            if was_retried && let Some(channel) = self.channel_mut(key) {
                channel.applier.retries += 1;
            }
        }
        self.announce_work(key.node);
    }

    /// Lets those commit whose turn it is.
    pub(super) fn keep_order(&mut self, key: ChannelKey) {
        let mut turn = Vec::new();
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        for group in &mut applier.active {
            if group.is_submitted {
                continue;
            }
            let run = applier.workers[group.worker].run.as_mut();
            let ready = run.filter(|run| run.stage == Stage::WaitsForOrder);
            if let Some(run) = ready {
                run.stage = Stage::Commits;
                group.is_submitted = true;
                let origin = Origin::Applier {
                    channel: key,
                    worker: group.worker,
                    run: run.number,
                };
                turn.push((origin, group.relayed.entry.transaction.clone()));
            } else if applier.keeps_order {
                break;
            }
        }
        for (origin, transaction) in turn {
            self.submit(key.node, origin, Change::Copy(transaction));
        }
    }

    fn at_work(&self, key: ChannelKey, index: usize) -> Option<(Arc<Transaction>, Run)> {
        let applier = &self.channel(key)?.applier;
        let run = applier.workers.get(index)?.run.as_ref()?;
        let group = applier.group_of(run)?;
        Some((group.relayed.entry.transaction.clone(), run.clone()))
    }

    fn run_mut(&mut self, key: ChannelKey, index: usize) -> Option<&mut Run> {
        let applier = &mut self.channel_mut(key)?.applier;
        applier.workers.get_mut(index)?.run.as_mut()
    }
}

pub(super) fn who(key: ChannelKey, worker: usize) -> Who {
    Who::Worker {
        channel: key.number,
        worker,
    }
}
