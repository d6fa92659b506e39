//! The coordinator: reads the relay log and hands each transaction to a worker as soon as that is allowed.

use crate::model::lab::Generation;
use crate::model::time::Span;

use super::World;
use super::applier::{Delay, Group};
use super::binlog::Entry;
use super::channel::Channel;
use super::queue::{ChannelKey, Event};
use super::status::{ApplierState, ProcessedTransaction};
use super::transaction::Engine;
use super::worker::{Run, Stage};

enum Step {
    Rest,
    /// It is where it was to stop.
    Stop,
    /// Applied already.
    Skip,
    HandOut(usize),
}

impl<E: Engine> World<E> {
    /// Hands out whatever can be handed out.
    pub(super) fn coordinate(&mut self, key: ChannelKey) {
        loop {
            match self.next_step(key) {
                Step::Rest => return,
                Step::Stop => return self.end_applying(key),
                Step::Skip => {
                    self.catch_checkpoint_up(key);
                    if let Some(channel) = self.channel_mut(key) {
                        channel.applier.queue.pop_front();
                        channel.applier.put_down_first();
                    }
                }
                Step::HandOut(worker) => self.hand_out(key, worker),
            }
        }
    }

    pub(super) fn on_delay_over(&mut self, key: ChannelKey, version: u64) {
        if self
            .channel(key)
            .is_some_and(|c| c.applier.delay_version == version)
        {
            self.coordinate(key);
        }
    }

    fn next_step(&mut self, key: ChannelKey) -> Step {
        let now = self.now;
        let it = &self.nodes[key.node];
        let (clock, generation, is_up) = (it.clock(now), it.identity.generation, it.is_up);
        let Some(channel) = self.channel(key) else {
            return Step::Rest;
        };
        let applier = &channel.applier;
        if !applier.is_running || !is_up {
            return Step::Rest;
        }
        if self.has_reached_goal(key, channel) {
            return match applier.active.is_empty() {
                true => Step::Stop,
                false => self.coordinator_rests(key, ApplierState::WaitingForWorkers),
            };
        }
        let Some(first) = applier.queue.front() else {
            return self.coordinator_rests(key, ApplierState::ReadAll);
        };
        if it.book.has(&first.entry.transaction.gtid) {
            return Step::Skip;
        }
        if applier.is_single && !applier.active.is_empty() {
            return self.coordinator_rests(key, ApplierState::Applying);
        }
        let due = delayed_until(&first.entry, channel, generation);
        let (has_read_first, delay) = (applier.has_read_first, applier.delay);
        if !has_read_first {
            self.read_first(key);
        }
        let left_secs = due.saturating_sub(clock.0.div_euclid(1_000_000));
        match delay {
            Some(delay) if delay.ends > now => return Step::Rest,
            None if left_secs > 0 => return self.delay(key, due, left_secs),
            _ => {}
        }
        let Some(channel) = self.channel(key) else {
            return Step::Rest;
        };
        let applier = &channel.applier;
        let free = applier.workers.iter().position(|w| w.run.is_none());
        let (Some(first), Some(oldest)) = (applier.queue.front(), applier.active.front()) else {
            return free.map_or(Step::Rest, Step::HandOut);
        };
        let is_other_log = applier.last_log != first.log;
        let depends = oldest.relayed.entry.sequence <= first.entry.last_committed;
        match free {
            _ if is_other_log => self.coordinator_rests(key, ApplierState::WaitingForWorkers),
            _ if depends => self.coordinator_rests(key, ApplierState::WaitingForDependency),
            None => self.coordinator_rests(key, ApplierState::WaitingForWorkers),
            Some(worker) => Step::HandOut(worker),
        }
    }

    fn coordinator_rests(&mut self, key: ChannelKey, state: ApplierState) -> Step {
        self.catch_checkpoint_up(key);
        if let Some(channel) = self.channel_mut(key) {
            let applier = &mut channel.applier;
            applier.state = match state {
                ApplierState::ReadAll if applier.is_single && !applier.active.is_empty() => {
                    ApplierState::Applying
                }
                ApplierState::ReadAll
                    if applier.active.back().is_some_and(|g| !g.relayed.is_whole) =>
                {
                    ApplierState::Reading
                }
                state => state,
            };
            if state == ApplierState::ReadAll {
                applier.checkpoint.reaches_end();
                if applier.active.is_empty() && applier.checkpoint.period <= Span::ZERO {
                    applier.checkpoint.stamp_secs = None;
                }
            }
        }
        Step::Rest
    }

    fn read_first(&mut self, key: ChannelKey) {
        let now = self.now;
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let read = channel
            .receiver
            .has_connected()
            .then_some(channel.receiver.read);
        let applier = &mut channel.applier;
        let really = applier.really(read);
        if let Some(first) = applier.queue.front() {
            let stamp = first.entry.transaction.stamp_secs;
            applier.checkpoint.reads(now, really, stamp);
            applier.has_read_first = true;
        }
    }

    /// Sleeps for whole seconds, as the server does: longer than needed by the part of a second that has passed.
    fn delay(&mut self, key: ChannelKey, until_secs: i64, left_secs: i64) -> Step {
        let ends = self.now + Span::from_secs(left_secs);
        let Some(channel) = self.channel_mut(key) else {
            return Step::Rest;
        };
        let applier = &mut channel.applier;
        applier.state = ApplierState::Delaying;
        applier.delay = Some(Delay { until_secs, ends });
        applier.delay_version += 1;
        let version = applier.delay_version;
        let event = Event::DelayOver {
            channel: key,
            version,
        };
        self.queue.put(ends, event);
        Step::Rest
    }

    fn hand_out(&mut self, key: ChannelKey, index: usize) {
        let clock = self.clock(key.node);
        self.catch_checkpoint_up(key);
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        let Some(mut relayed) = applier.queue.pop_front() else {
            return;
        };
        let whole = relayed.entry.transaction.clone();
        relayed.entry.transaction = self.filtered(key, whole.clone());
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let applier = &mut channel.applier;
        applier.put_down_first();
        applier.state = ApplierState::Reading;
        applier.last_log = relayed.log;
        applier.last_processed = Some(ProcessedTransaction {
            gtid: relayed.entry.transaction.gtid,
            original_commit: relayed.entry.transaction.original_commit,
            immediate_commit: relayed.entry.immediate_commit,
            buffer_started: clock,
            buffer_ended: clock,
        });
        applier.next_run += 1;
        applier.workers[index].run = Some(Run {
            number: applier.next_run,
            group: applier.first_group + applier.active.len() as u64,
            stage: Stage::Works,
            started: clock,
            retries: 0,
            transient: None,
            work: None,
            has_collided: false,
        });
        applier.workers[index].failed = None;
        applier.active.push_back(Group {
            relayed,
            whole,
            worker: index,
            is_submitted: false,
            is_done: false,
        });
        self.lock_for_worker(key, index);
    }
}

/// In whole seconds of the replica's clock. From 8.0 on it counts from the commit on the source (on the source's
/// clock), before that and on MariaDB from the start of the statement, corrected by the difference of the clocks.
fn delayed_until(entry: &Entry, channel: &Channel, generation: Generation) -> i64 {
    let delay = channel.config.delay_secs;
    if delay <= 0 {
        return i64::MIN;
    }
    let counts_commit = !generation.flavour().is_mariadb() && generation != Generation::MySql57;
    if counts_commit {
        let commit = entry.immediate_commit.0;
        return commit.div_euclid(1_000_000) + i64::from(commit.rem_euclid(1_000_000) > 0) + delay;
    }
    entry.transaction.stamp_secs + channel.receiver.clock_difference_secs + delay
}
