//! How a receiver comes to its source: trying, trying again, logging in, saying what it has.

use crate::model::time::Span;

use super::binlog::Place;
use super::channel::{Login, Target};
use super::dump::{DumpId, Handshake};
use super::gtids::Having;
use super::queue::{ChannelKey, Event};
use super::status::{Attempt, Problem, ReceiverState, Running, ThreadError};
use super::transaction::Engine;
use super::{NodeId, World};

/// Talks back and forth until a source starts to send: connection, login, some ten questions.
const ROUND_TRIPS_TO_CONNECT: i64 = 12;
/// Until a packet that was lost is sent again; grows up to many seconds in life.
const TIME_OF_RETRANSMISSION: Span = Span::from_millis(500);
const TIME_TO_CONNECT: Span = Span::from_micros(1500);

/// How the try to connect will end unless the server changes meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Connected,
    Refused,
    TimedOut,
    Lost,
    UnknownHost,
}

impl<E: Engine> World<E> {
    pub(super) fn on_connect(&mut self, key: ChannelKey, version: u64) {
        let now = self.now;
        let Some(channel) = self.channel(key) else {
            return;
        };
        if channel.receiver.version != version {
            return;
        }
        let has_lost = channel.receiver.has_lost;
        let (outcome, takes) = self.try_out(key.node, channel.config.target, has_lost);
        if let Some(channel) = self.channel_mut(key) {
            channel.receiver.outcome = outcome;
            channel.receiver.is_trying = true;
            channel.receiver.has_lost = false;
        }
        self.queue.put(
            now + takes,
            Event::ConnectEnds {
                channel: key,
                version,
            },
        );
    }

    pub(super) fn on_connect_ends(&mut self, key: ChannelKey, version: u64) {
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        if channel.receiver.version != version {
            return;
        }
        channel.receiver.is_trying = false;
        let Some(channel) = self.channel(key) else {
            return;
        };
        let outcome = match (channel.receiver.outcome, channel.config.target) {
            // Gone while we were talking.
            (Outcome::Connected, Target::Node(source)) if !self.nodes[source].is_up => {
                Outcome::Lost
            }
            (outcome, _) => outcome,
        };
        match (outcome, channel.config.target) {
            (Outcome::Connected, Target::Node(source)) => self.log_in(key, source),
            (outcome, _) => self.try_failed(key, |attempt| match outcome {
                Outcome::UnknownHost => Problem::UnknownHost { attempt },
                Outcome::Lost => Problem::LostConnection { attempt },
                Outcome::TimedOut => Problem::CannotConnect {
                    os_error: 110,
                    attempt,
                },
                Outcome::Connected | Outcome::Refused => Problem::CannotConnect {
                    os_error: 111,
                    attempt,
                },
            }),
        }
    }

    /// The line is whole again: whoever is trying over it gets through with the next packet.
    pub(super) fn try_again_over(&mut self, replica: NodeId, source: NodeId) {
        let now = self.now;
        for key in self.nodes[replica].keys(replica) {
            let Some(channel) = self.channel_mut(key) else {
                continue;
            };
            let receiver = &mut channel.receiver;
            let is_trying = receiver.outcome == Outcome::TimedOut && receiver.is_trying;
            if channel.config.target == Target::Node(source) && is_trying {
                receiver.version += 1;
                let version = receiver.version;
                self.queue.put(
                    now + TIME_OF_RETRANSMISSION,
                    Event::Connect {
                        channel: key,
                        version,
                    },
                );
            }
        }
    }

    fn try_out(&self, replica: NodeId, target: Target, has_lost: bool) -> (Outcome, Span) {
        let source = match target {
            Target::Node(source) => source,
            Target::Nobody => return (Outcome::Refused, TIME_TO_CONNECT),
            Target::UnknownHost => return (Outcome::UnknownHost, TIME_TO_CONNECT),
        };
        let link = self.link(replica, source);
        let latency = link.latency.or_zero();
        if link.is_cut {
            (Outcome::TimedOut, self.net_timeout(replica))
        } else if !self.nodes[source].is_up {
            let outcome = if has_lost {
                Outcome::Lost
            } else {
                Outcome::Refused
            };
            (outcome, latency.times(2) + Span::from_micros(200))
        } else {
            let talking = latency.times(2 * ROUND_TRIPS_TO_CONNECT);
            (Outcome::Connected, talking + TIME_TO_CONNECT)
        }
    }

    fn try_failed(&mut self, key: ChannelKey, problem: impl FnOnce(Attempt) -> Problem) {
        let now = self.now;
        let clock = self.clock(key.node);
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let (retry, of) = (channel.config.connect_retry, channel.config.retry_count);
        let receiver = &mut channel.receiver;
        receiver.attempts += 1;
        let attempt = Attempt {
            number: receiver.attempts,
            of,
            is_reconnect: receiver.is_reconnect,
        };
        let problem = problem(attempt);
        if attempt.number >= of {
            return self.end_receiving(key, Some(problem));
        }
        receiver.error = Some(ThreadError { at: clock, problem });
        let version = receiver.version;
        self.queue.put(
            now + retry,
            Event::Connect {
                channel: key,
                version,
            },
        );
    }

    /// What the receiver is told or asks for when it introduces itself.
    fn log_in(&mut self, key: ChannelKey, source: NodeId) {
        let Some(channel) = self.channel(key) else {
            return;
        };
        if let Login::Refused { code, message } = channel.config.login.clone() {
            return self.try_failed(key, |attempt| Problem::LoginRefused {
                code,
                message,
                attempt,
            });
        }
        let having = self.asks_for(key);
        if let Some(problem) = self.refuses(key.node, source, &having) {
            return self.end_receiving(key, Some(problem));
        }
        let Some(channel) = self.channel(key) else {
            return;
        };
        let handshake = Handshake {
            source,
            channel: key,
            user: channel.config.user.clone(),
            having,
            is_semi_sync: self.nodes[key.node].settings.semi_sync.replica_enabled,
            heartbeat_period: channel.config.heartbeat_period,
        };
        let id = self.open_dump(handshake);
        self.connected(key, source, id);
        self.pump(id);
    }

    fn connected(&mut self, key: ChannelKey, source: NodeId, id: DumpId) {
        let ours = self.clock(key.node).0.div_euclid(1_000_000);
        let theirs = self.clock(source).0.div_euclid(1_000_000);
        let thread_id = self.nodes[key.node].next_thread_id();
        let identity = self.nodes[source].identity.clone();
        let (read, source_log) = (self.reads_from(id), self.nodes[source].binlog.generation);
        let is_semi_sync = self.dumps.get(&id).is_some_and(|dump| dump.is_semi_sync);
        let Some(channel) = self.channel_mut(key) else {
            return;
        };
        let receiver = &mut channel.receiver;
        let is_other =
            (receiver.source_uuid, receiver.source_log) != (Some(identity.uuid), source_log);
        receiver.source_log = source_log;
        receiver.connection = Some(id);
        receiver.is_semi_sync = is_semi_sync;
        receiver.running = Running::Yes;
        receiver.state = ReceiverState::Waiting;
        receiver.thread_id = Some(thread_id);
        receiver.error = None;
        receiver.attempts = 0;
        receiver.source_server_id = Some(identity.server_id);
        receiver.source_uuid = Some(identity.uuid);
        receiver.source_binlog_name = identity.binlog_name;
        receiver.clock_difference_secs = ours - theirs;
        receiver.read = if is_other {
            read
        } else {
            receiver.read.max(read)
        };
        self.applier_sees_new_place(key);
    }

    /// Where a new connection starts to read: at what is sent first, or at the end if there is nothing to send.
    fn reads_from(&self, id: DumpId) -> Place {
        let Some(dump) = self.dumps.get(&id) else {
            return Place::default();
        };
        let binlog = &self.nodes[dump.source].binlog;
        let first = (dump.next..=binlog.last_sequence()).find_map(|sequence| {
            let entry = binlog.entry(sequence)?;
            (!dump.having.has(&entry.transaction.gtid)).then_some(entry.start)
        });
        first.unwrap_or_else(|| binlog.place())
    }

    /// What a replica says it has: executed and received; MariaDB: how far it has received, or applied.
    fn asks_for(&self, key: ChannelKey) -> Having {
        let it = &self.nodes[key.node];
        let Some(channel) = self.channel(key) else {
            return it.book.executed.clone();
        };
        let mut having = if channel.config.from_current_pos {
            it.book.current(it.identity.server_id)
        } else {
            it.book.executed.clone()
        };
        having.union_with(&channel.receiver.retrieved);
        having
    }

    /// Why a source will not serve this replica.
    fn refuses(&self, replica: NodeId, source: NodeId, having: &Having) -> Option<Problem> {
        let (ours, theirs) = (&self.nodes[replica], &self.nodes[source]);
        if ours.identity.server_id == theirs.identity.server_id {
            return Some(Problem::EqualServerIds);
        }
        match (having, &theirs.book.purged, &theirs.book.executed) {
            (Having::MySql(has), Having::MySql(purged), Having::MySql(executed)) => {
                if !has.contains(purged) {
                    return Some(Problem::PurgedLogs {
                        missing: purged.subtract(has).to_string(),
                        sent: has.to_string(),
                    });
                }
                let mut known = executed.clone();
                for waiting in &theirs.semi_sync.waiting {
                    if let super::Gtid::MySql { sid, number } = waiting.gtid {
                        super::gtids::add_to(&mut known, sid, number);
                    }
                }
                let ahead = has.only(&theirs.identity.uuid).subtract(&known);
                (!ahead.is_empty()).then(|| Problem::ReplicaAhead {
                    ahead: ahead.to_string(),
                })
            }
            _ => {
                let oldest = theirs.binlog.files.front()?;
                (!having.contains(&oldest.before)).then(|| Problem::PurgedLogs {
                    missing: oldest.before.gtids().to_string(),
                    sent: having.gtids().to_string(),
                })
            }
        }
    }
}
