//! Answers about how things stand.

use crate::model::gtid::Gtids;

use super::applier::Delay;
use super::binlog::Place;
use super::channel::Channel;
use super::dump::DumpId;
use super::orders::file_name;
use super::queue::ChannelKey;
use super::seconds_behind::{Standing, seconds_behind};
use super::status::*;
use super::transaction::Engine;
use super::wants::{Blocker, LockWait, Owner, Who};
use super::worker::{Stage, Worker, who};
use super::{MariaDbPositions, NodeId, World};

impl<E: Engine> World<E> {
    /// `gtid_executed`; MariaDB: `gtid_current_pos`.
    pub fn executed(&self, node: NodeId) -> Gtids {
        let it = &self.nodes[node];
        it.book.current(it.identity.server_id).gtids()
    }

    /// `gtid_purged`; MariaDB: empty.
    pub fn purged(&self, node: NodeId) -> Gtids {
        self.nodes[node].book.purged.gtids()
    }

    /// MariaDB: `gtid_slave_pos`, `gtid_binlog_pos`, `gtid_binlog_state`. Empty on MySQL.
    pub fn mariadb_positions(&self, node: NodeId) -> MariaDbPositions {
        let book = &self.nodes[node].book;
        if matches!(book.executed, super::gtids::Having::MySql(_)) {
            return MariaDbPositions::default();
        }
        MariaDbPositions {
            slave_pos: book.slave_pos_text(),
            binlog_pos: book.binlog_pos().gtids().to_string(),
            binlog_state: book.binlog_state_text(),
        }
    }

    /// File and position being written.
    pub fn binlog_position(&self, node: NodeId) -> LogPosition {
        let it = &self.nodes[node];
        self.place_text(&it.identity.binlog_name, it.binlog.place())
    }

    pub fn binlog_files(&self, node: NodeId) -> Vec<BinlogFile> {
        let it = &self.nodes[node];
        let files = it.binlog.files.iter();
        files
            .map(|file| BinlogFile {
                name: file_name(&it.identity.binlog_name, file.number),
                size: file.size,
            })
            .collect()
    }

    /// Transactions of a file from a position on, at most `limit`.
    pub fn binlog_transactions(
        &self,
        node: NodeId,
        file: &str,
        from: u64,
        limit: usize,
    ) -> Vec<BinlogTransaction> {
        let it = &self.nodes[node];
        let named =
            |f: &&super::binlog::File| file_name(&it.identity.binlog_name, f.number) == file;
        let Some(number) = it.binlog.files.iter().find(named).map(|f| f.number) else {
            return Vec::new();
        };
        let entries = it.binlog.entries_of(number).filter(|e| e.start.at >= from);
        let shown = entries.take(limit).map(|entry| {
            let (last_committed, sequence_number) = it.binlog.shown_clock(entry);
            BinlogTransaction {
                file: file.to_owned(),
                start: entry.start.at,
                end: entry.end.at,
                gtid: entry.transaction.gtid,
                server_id: entry.transaction.origin_server_id,
                last_committed,
                sequence_number,
                rows: entry.transaction.rows,
                is_empty: entry.transaction.payload.is_none(),
            }
        });
        shown.collect()
    }

    /// Those who copy from it, as it knows.
    pub fn dump_threads(&self, node: NodeId) -> Vec<DumpThread> {
        let it = &self.nodes[node];
        let dumps = it.dumps.iter().filter_map(|id| self.dumps.get(id));
        dumps
            .map(|dump| {
                let replica = &self.nodes[dump.channel.node].identity;
                DumpThread {
                    thread_id: dump.thread_id,
                    replica: dump.channel.node,
                    replica_server_id: replica.server_id,
                    replica_uuid: replica.uuid,
                    user: dump.user.clone(),
                    since: it.clock(dump.since),
                    has_sent_all: dump.next > it.binlog.last_sequence(),
                    is_semi_sync: dump.is_semi_sync,
                }
            })
            .collect()
    }

    pub fn semi_sync(&self, node: NodeId) -> SemiSyncStatus {
        let it = &self.nodes[node];
        let mut receivers = it.channels.iter().map(|channel| &channel.receiver);
        SemiSyncStatus {
            clients: self.semi_sync_clients(node),
            wait_sessions: it.semi_sync.waiting.len() as u64,
            replica_is_on: receivers.any(|receiver| receiver.is_semi_sync),
            ..it.semi_sync.counters.clone()
        }
    }

    pub fn channel_status(&self, node: NodeId, channel: &str) -> Option<ChannelStatus> {
        let it = &self.nodes[node];
        let channel = it.channels.iter().find(|c| c.name == channel)?;
        let key = ChannelKey {
            node,
            number: channel.number,
        };
        let receiver = &channel.receiver;
        let base = &receiver.source_binlog_name;
        let read = self.read_place(channel);
        let connected = receiver.has_connected().then_some(receiver.read);
        let mut admitted = channel.applier.checkpoint;
        let really = channel.applier.really(connected);
        if channel.applier.is_running {
            admitted.catch_up(self.now, really);
        } else {
            admitted.place = really.place;
        }
        let standing = Standing {
            applier_runs: channel.applier.is_running,
            receiver: receiver.running,
            is_all_executed: read == admitted.place,
            now_secs: it.clock(self.now).0.div_euclid(1_000_000),
            clock_difference_secs: receiver.clock_difference_secs,
            stamp_secs: admitted.stamp_secs,
        };
        Some(ChannelStatus {
            name: channel.name.clone(),
            config: channel.config.clone(),
            filters: channel.filters.clone(),
            source_server_id: receiver.source_server_id,
            source_uuid: receiver.source_uuid,
            receiver: self.receiver_status(channel),
            applier: self.applier_status(key, channel),
            seconds_behind: seconds_behind(it.identity.generation.flavour(), standing),
            relay_log: RelayLogStatus {
                file: file_name(&it.identity.relay_log_name, channel.relay.file),
                position: channel.relay.position,
                space: channel.relay.space,
            },
            read: self.place_text(base, read),
            executed: self.place_text(base, admitted.place),
            retrieved: receiver.retrieved.gtids(),
        })
    }

    pub fn lock_waits(&self, node: NodeId) -> Vec<LockWait> {
        let waiting = self.nodes[node].locks.waiting().iter();
        waiting
            .map(|waiting| LockWait {
                waiter: self.owner(node, waiting.who),
                since: waiting.since,
                on: self.blocker(node, &waiting.on),
            })
            .collect()
    }

    pub(super) fn blocker(
        &self,
        node: NodeId,
        (holder, since, what): &(Who, super::Moment, super::Blocked),
    ) -> Blocker {
        Blocker {
            owner: self.owner(node, *holder),
            since: *since,
            what: what.clone(),
        }
    }

    pub(super) fn place_text(&self, base: &str, place: Place) -> LogPosition {
        let file = match place.file {
            0 => String::new(),
            number => file_name(base, number),
        };
        LogPosition {
            file,
            position: place.at,
        }
    }

    /// Including the part of a transaction that is arriving.
    fn read_place(&self, channel: &Channel) -> Place {
        let receiver = &channel.receiver;
        let (Some((start, bytes)), Some(id)) = (receiver.partial, receiver.connection) else {
            return receiver.read;
        };
        Place {
            at: start.at + (bytes as f64 * self.arrived_share(id)) as u64,
            ..start
        }
    }

    fn arrived_share(&self, id: DumpId) -> f64 {
        self.dumps.get(&id).map_or(0.0, |dump| {
            let latency = self.link(dump.channel.node, dump.source).latency;
            dump.arrived_share(self.now, latency.or_zero())
        })
    }

    fn owner(&self, node: NodeId, who: Who) -> Owner {
        match who {
            Who::Session(session) => Owner::Session(session),
            Who::Worker { channel, worker } => {
                let mut channels = self.nodes[node].channels.iter();
                let channel = channels.find(|c| c.number == channel);
                let is_single = channel.is_some_and(|c| c.applier.is_single);
                Owner::Worker {
                    channel: channel.map_or(String::new(), |c| c.name.clone()),
                    number: if is_single { 0 } else { worker as u32 + 1 },
                }
            }
        }
    }

    pub(super) fn who(&self, node: NodeId, owner: &Owner) -> Option<Who> {
        match owner {
            Owner::Session(session) => Some(Who::Session(*session)),
            Owner::Worker { channel, number } => {
                let mut channels = self.nodes[node].channels.iter();
                let channel = channels.find(|c| c.name == *channel)?.number;
                let worker = number.saturating_sub(1) as usize;
                Some(Who::Worker { channel, worker })
            }
        }
    }

    fn receiver_status(&self, channel: &Channel) -> ReceiverStatus {
        let receiver = &channel.receiver;
        ReceiverStatus {
            running: receiver.running,
            state: receiver.state,
            thread_id: receiver.thread_id,
            error: receiver.error.clone(),
            heartbeats_received: receiver.heartbeats,
            last_heartbeat: receiver.last_heartbeat,
            last_queued: receiver.last_queued.clone(),
            queueing: receiver.queueing.clone(),
        }
    }

    fn applier_status(&self, key: ChannelKey, channel: &Channel) -> ApplierStatus {
        let applier = &channel.applier;
        let now_secs = self.clock(key.node).0.div_euclid(1_000_000);
        let delays = applier.state == ApplierState::Delaying;
        let left = |delay: Delay| (delay.until_secs - now_secs).max(0);
        let workers = applier.workers.iter().enumerate();
        let mut workers: Vec<WorkerStatus> = workers
            .map(|(index, worker)| self.worker_status(key, channel, index, worker))
            .collect();
        let single = if applier.is_single {
            workers.pop()
        } else {
            None
        };
        let (backlog_transactions, backlog_bytes) = applier.backlog();
        ApplierStatus {
            is_running: applier.is_running,
            state: applier.state,
            thread_id: applier.thread_id,
            goal: applier.goal.clone(),
            remaining_delay_secs: applier.delay.filter(|_| delays).map(left),
            error: applier.error.clone(),
            retries: applier.retries,
            last_processed: applier.last_processed.clone(),
            workers,
            single,
            backlog_transactions,
            backlog_bytes,
        }
    }

    fn worker_status(
        &self,
        key: ChannelKey,
        channel: &Channel,
        index: usize,
        worker: &Worker,
    ) -> WorkerStatus {
        let run = worker.run.as_ref();
        let stage = run.map(|run| run.stage);
        let it = &self.nodes[key.node];
        let work = run.and_then(|run| run.work);
        let progress = work.and_then(|work| it.processor.progress(self.now, work));
        let done = match stage {
            Some(Stage::WaitsForLock) => 0.0,
            _ => progress.map_or(1.0, |(done, _)| done),
        };
        let mut applying = channel.applier.applying(worker, 0);
        if let Some(applying) = &mut applying {
            applying.rows_done = (applying.rows as f64 * done) as u64;
        }
        let runs = channel.applier.is_running;
        let waiting = it.locks.waiting_of(who(key, index));
        let doing = match (stage, waiting) {
            _ if !runs => WorkerState::Stopped,
            (Some(Stage::WaitsForLock), Some(waiting)) => WorkerState::WaitingForLock {
                on: self.blocker(key.node, &waiting.on),
                since: it.clock(waiting.since),
            },
            (Some(Stage::WaitsForOrder), _) => WorkerState::WaitingForOrder,
            (Some(Stage::Commits), _) => WorkerState::Committing,
            (Some(Stage::WaitsForReceipt), _) => WorkerState::WaitingForReceipt,
            (Some(_), _) => WorkerState::Applying,
            (None, _) => WorkerState::Idle,
        };
        WorkerStatus {
            number: index as u32 + 1,
            is_running: runs,
            thread_id: worker.thread_id,
            error: worker.error.clone(),
            last_applied: worker.last_applied.clone(),
            applying: applying.or_else(|| worker.failed.clone()),
            doing,
        }
    }
}
