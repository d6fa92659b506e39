//! Receiving: starting and stopping, losing the connection, queueing what comes into the relay log. How a connection
//! comes about is in `connecting`.

use crate::model::gtid::Uuid;
use crate::model::time::{ServerTime, Span};

use super::applier::Relayed;
use super::binlog::{Entry, Place};
use super::connecting::Outcome;
use super::dump::{Content, DumpId};
use super::gtids::Having;
use super::queue::{ChannelKey, Event};
use super::status::{Problem, QueuedTransaction, ReceiverState, Running, ThreadError};
use super::transaction::Engine;
use super::{NodeId, World};

#[derive(Debug)]
pub(super) struct Receiver {
    pub running: Running,
    pub state: ReceiverState,
    pub thread_id: Option<u64>,
    pub error: Option<ThreadError>,
    pub connection: Option<DumpId>,
    /// Sends receipts, since it last connected; a receiver that has lost its source still says so.
    pub is_semi_sync: bool,
    /// Connect events of another version are out of date.
    pub version: u64,
    pub attempts: u64,
    pub is_reconnect: bool,
    /// The server hung up on us just now: the next try finds it dying.
    pub has_lost: bool,
    pub outcome: Outcome,
    /// Between the beginning and the end of a try.
    pub is_trying: bool,
    pub heartbeats: u64,
    pub last_heartbeat: Option<ServerTime>,
    pub last_queued: Option<QueuedTransaction>,
    pub queueing: Option<QueuedTransaction>,
    /// Being received: where it begins, and how long it is.
    pub partial: Option<(Place, u64)>,
    /// Up to where it has read.
    pub read: Place,
    /// Base of the source's file names, as it told.
    pub source_binlog_name: String,
    pub source_server_id: Option<u32>,
    pub source_uuid: Option<Uuid>,
    /// Goes up when the source resets its binary log: then its positions start anew.
    pub source_log: u64,
    /// Whole seconds by which our clock was ahead of the source's when it last connected.
    pub clock_difference_secs: i64,
    pub retrieved: Having,
}

impl Receiver {
    pub fn new(empty: Having) -> Receiver {
        Receiver {
            running: Running::No,
            state: ReceiverState::Stopped,
            thread_id: None,
            error: None,
            connection: None,
            is_semi_sync: false,
            version: 0,
            attempts: 0,
            is_reconnect: false,
            has_lost: false,
            outcome: Outcome::Connected,
            is_trying: false,
            heartbeats: 0,
            last_heartbeat: None,
            last_queued: None,
            queueing: None,
            partial: None,
            read: Place { file: 0, at: 4 },
            source_binlog_name: String::new(),
            source_server_id: None,
            source_uuid: None,
            source_log: 0,
            clock_difference_secs: 0,
            retrieved: empty,
        }
    }

    pub fn has_connected(&self) -> bool {
        self.source_server_id.is_some()
    }
}

impl<E: Engine> World<E> {
    pub(super) fn begin_receiving(&mut self, key: ChannelKey) {
        let now = self.now;
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let receiver = &mut channel.receiver;
        if receiver.running != Running::No {
            return;
        }
        receiver.error = None;
        receiver.attempts = 0;
        receiver.is_reconnect = false;
        receiver.has_lost = false;
        receiver.is_trying = false;
        receiver.running = Running::Connecting;
        receiver.state = ReceiverState::Connecting;
        receiver.version += 1;
        let version = receiver.version;
        channel.relay.begin_file();
        self.queue.put(
            now,
            Event::Connect {
                channel: key,
                version,
            },
        );
    }

    pub(super) fn end_receiving(&mut self, key: ChannelKey, error: Option<Problem>) {
        self.disconnect(key);
        let now = self.now;
        let clock = self.nodes[key.node].clock(now);
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let receiver = &mut channel.receiver;
        receiver.running = Running::No;
        receiver.is_semi_sync = false;
        receiver.is_trying = false;
        receiver.state = ReceiverState::Stopped;
        receiver.version += 1;
        if let Some(problem) = error {
            receiver.error = Some(ThreadError { at: clock, problem });
        }
    }

    /// Nothing came for too long, perhaps: then the receiver gives the connection up and makes another.
    pub(super) fn on_silence(&mut self, id: DumpId) {
        let now = self.now;
        let Some(dump) = self.dumps.get(&id).filter(|dump| dump.is_open) else {
            return;
        };
        let key = dump.channel;
        let due = dump.last_heard(now, self.latency(id)) + self.net_timeout(key.node);
        if due > now {
            self.queue.put(due, Event::Silence { dump: id });
        } else {
            self.reconnect(key, false);
        }
    }

    /// The connection broke: the source died, or there was no sign of life from it.
    pub(super) fn reconnect(&mut self, key: ChannelKey, has_died: bool) {
        self.disconnect(key);
        let now = self.now;
        let generation = self.nodes[key.node].identity.generation;
        let mariadb = generation.flavour().is_mariadb();
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let receiver = &mut channel.receiver;
        receiver.running = Running::Connecting;
        receiver.state = ReceiverState::Reconnecting;
        receiver.attempts = 0;
        receiver.is_reconnect = true;
        receiver.has_lost = has_died && !mariadb;
        receiver.is_trying = false;
        receiver.version += 1;
        let version = receiver.version;
        self.queue.put(
            now,
            Event::Connect {
                channel: key,
                version,
            },
        );
    }

    pub(super) fn received(&mut self, id: DumpId, content: Content) {
        let Some(key) = self.dumps.get(&id).map(|dump| dump.channel) else {
            return;
        };
        match content {
            Content::Heartbeat(place) => {
                let clock = self.clock(key.node);
                if let Some(channel) = self.channel_mut(key) {
                    let receiver = &mut channel.receiver;
                    receiver.heartbeats += 1;
                    receiver.last_heartbeat = Some(clock);
                    receiver.read = receiver.read.max(place);
                }
            }
            Content::Begins(entry) => self.queue_up(key, entry, false),
            Content::Ends(entry) => self.queue_up(key, entry, true),
        }
    }

    fn disconnect(&mut self, key: ChannelKey) {
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let receiver = &mut channel.receiver;
        receiver.thread_id = None;
        receiver.queueing = None;
        let (id, partial) = (receiver.connection.take(), receiver.partial.take());
        if partial.is_some() {
            self.drop_partial(key);
        }
        if let Some(id) = id {
            self.hang_up(id);
        }
    }

    fn queue_up(&mut self, key: ChannelKey, entry: Entry, is_whole: bool) {
        let clock = self.clock(key.node);
        let own_server_id = self.nodes[key.node].identity.server_id;
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let receiver = &mut channel.receiver;
        // What started here comes back only in a circle, and is not queued.
        if entry.transaction.origin_server_id == own_server_id {
            receiver.read = entry.end;
            receiver.retrieved.add(&entry.transaction.gtid);
            return;
        }
        let had_begun = receiver.partial.is_some();
        let mut queued = receiver.queueing.take().unwrap_or(QueuedTransaction {
            gtid: entry.transaction.gtid,
            original_commit: entry.transaction.original_commit,
            immediate_commit: entry.immediate_commit,
            started: clock,
            ended: None,
        });
        if is_whole {
            receiver.partial = None;
            receiver.state = ReceiverState::Waiting;
            receiver.read = entry.end;
            receiver.retrieved.add(&entry.transaction.gtid);
            queued.ended = Some(clock);
            receiver.last_queued = Some(queued);
        } else {
            receiver.partial = Some((entry.start, entry.transaction.bytes));
            receiver.state = ReceiverState::Queueing;
            receiver.read = entry.start;
            receiver.queueing = Some(queued);
        }
        if had_begun {
            self.partial_is_whole(key);
        } else {
            let relayed = Relayed::new(entry, is_whole);
            self.relay(key, relayed);
        }
    }

    pub(super) fn net_timeout(&self, node: NodeId) -> Span {
        self.nodes[node]
            .settings
            .net_timeout
            .max(Span::from_secs(1))
    }
}
