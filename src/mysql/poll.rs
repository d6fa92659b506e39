//! The questions of one poll, few and in a fixed order; each refused one spoils its own answer only (R34, R35).

use std::collections::HashMap;
use std::sync::Arc;

use crate::link::{Depth, clock};
use crate::model::phrase::phrase;
use crate::model::replication::{ApplierThread, Channel, Coordinates};
use crate::model::sample::{
    Answer, BinaryLog, ClockReading, FoundReplica, HeartbeatRows, LockWait, Named, OpenTransaction,
    PlatformLag, PollCost, RunningStatement, Sample, ScheduledEvent,
};
use crate::model::time::{Moment, ServerTime, Span};
use crate::model::trouble::{Trouble, TroubleKind};

use super::asker::Asker;
use super::dialect::has_gtids;
use super::link::MySqlLink;
use super::queries::Question;
use super::rows;
use super::trouble::unreadable;

/// Open transactions are told in whole seconds and matter from several on: asked no more often than this, and carried
/// along in between, they cost half. The same for a source's own position.
const STAYS_FOR: Span = Span::from_millis(1500);

/// An answer this young belongs to the poll that is running.
const JUST_NOW: Span = Span::from_millis(500);

/// What is asked rarely, and at every poll while something is late; carried along in between.
#[derive(Clone)]
struct Suspicion {
    lock_waits: Answer<Vec<LockWait>>,
    statements: Answer<Vec<RunningStatement>>,
}

/// Answers to questions asked more rarely, carried along with their own time.
pub struct Carried {
    settings: Answer<Arc<Named>>,
    replicas: Answer<Arc<Vec<FoundReplica>>>,
    events: Answer<Arc<Vec<ScheduledEvent>>>,
    binary_logs: Answer<Arc<Vec<BinaryLog>>>,
    binlog: Answer<Coordinates>,
    /// MariaDB's, from the process list.
    appliers: Answer<Vec<ApplierThread>>,
    transactions: Answer<Vec<OpenTransaction>>,
    suspicion: Suspicion,
}

impl Default for Carried {
    fn default() -> Self {
        Carried {
            settings: not_asked("trouble.not_asked.yet"),
            replicas: not_asked("trouble.not_asked.yet"),
            events: not_asked("trouble.not_asked.yet"),
            binary_logs: not_asked("trouble.not_asked.yet"),
            binlog: not_asked("trouble.not_asked.yet"),
            appliers: not_asked("trouble.not_asked.yet"),
            transactions: not_asked("trouble.not_asked.yet"),
            suspicion: Suspicion {
                lock_waits: not_asked("trouble.not_asked.not_suspicious"),
                statements: not_asked("trouble.not_asked.not_suspicious"),
            },
        }
    }
}

fn not_asked<T>(why: &'static str) -> Answer<T> {
    Answer::NotAsked { why: phrase(why) }
}

impl MySqlLink {
    pub(super) fn sample(&mut self, depth: Depth) -> Result<Sample, Trouble> {
        let asked_at = clock::now();
        let (statements, bytes) = self.asker.session.cost();
        let (facts, read) = self.ask_facts()?;
        let mut channels = self.ask_channels()?;
        let status = self.ask_status()?;
        if depth == Depth::Full {
            self.ask_rarely()?;
        }
        let transactions = self.ask_transactions()?;
        let binlog = self.own_position(&channels, &status)?;
        let appliers = self.ask_appliers(depth, &mut channels, &transactions)?;
        let heartbeat = self.ask_heartbeat(facts.now)?;
        let platform_lag = self.ask_platform_lag()?;
        if depth != Depth::Light {
            self.carried.suspicion = self.ask_suspicious(&transactions)?;
        }
        let suspicion = self.carried.suspicion.clone();
        let mut identity = facts.identity;
        identity.uptime = status
            .value()
            .and_then(|named| named.number(&["uptime"]))
            .and_then(|seconds| i64::try_from(seconds).ok())
            .map(Span::from_secs);
        identity.connection = Some(self.asker.session.id());
        let semi_sync = map(&status, |named| {
            rows::semi_sync(named, self.carried.settings.value().map(Arc::as_ref))
        });
        let (statements_now, bytes_now) = self.asker.session.cost();
        Ok(Sample {
            asked_at,
            answered_at: clock::now(),
            product: self.dialect.product.clone(),
            identity,
            clock: facts.now.map(|server| ClockReading { server, ..read }),
            gtid: facts.gtid,
            channels,
            appliers,
            binlog,
            status,
            settings: self.carried.settings.clone(),
            semi_sync,
            heartbeat,
            transactions,
            lock_waits: suspicion.lock_waits,
            statements: suspicion.statements,
            found_replicas: self.carried.replicas.clone(),
            events: self.carried.events.clone(),
            binary_logs: self.carried.binary_logs.clone(),
            platform_lag,
            cost: PollCost {
                statements: u32::try_from(statements_now - statements).unwrap_or(u32::MAX),
                bytes: bytes_now - bytes,
            },
        })
    }

    /// The one question without which there is no sample.
    fn ask_facts(&mut self) -> Result<(rows::Facts, ClockReading), Trouble> {
        let asked_at = clock::now();
        let answer = self
            .asker
            .session
            .ask(Question::Facts, &self.statements.facts)?;
        let read = ClockReading {
            server: ServerTime(0),
            asked_at,
            answered_at: clock::now(),
        };
        let flavour = self.dialect.product.flavour;
        let facts = rows::facts(&answer, flavour, &mut self.sets)
            .ok_or_else(|| unreadable(Question::Facts))?;
        if let Some(mode) = &facts.gtid_mode {
            self.dialect.gtids = has_gtids(mode);
        }
        Ok((facts, read))
    }

    fn ask_channels(&mut self) -> Result<Answer<Vec<Channel>>, Trouble> {
        let flavour = self.dialect.product.flavour;
        self.asker
            .ask(Question::Channels, &self.statements.channels, |answer| {
                rows::channels(&answer, flavour)
            })
    }

    fn ask_status(&mut self) -> Result<Answer<Named>, Trouble> {
        self.asker
            .ask(Question::Status, &self.statements.status, |answer| {
                rows::named(&answer)
            })
    }

    fn ask_transactions(&mut self) -> Result<Answer<Vec<OpenTransaction>>, Trouble> {
        if !is_recent(&self.carried.transactions) {
            let sql = &self.statements.transactions;
            self.carried.transactions = self.asker.ask(Question::Transactions, sql, |answer| {
                rows::transactions(&answer)
            })?;
        }
        Ok(self.carried.transactions.clone())
    }

    /// The server's own write position. MariaDB tells it among its counters. A MySQL source is asked for it in those
    /// polls that do not ask for transactions, so that no poll of a source has more than four statements; a replica
    /// at full polls only.
    fn own_position(
        &mut self,
        channels: &Answer<Vec<Channel>>,
        status: &Answer<Named>,
    ) -> Result<Answer<Coordinates>, Trouble> {
        if let Answer::Known { value, at } = status
            && let Some(value) = rows::binlog_snapshot(value)
        {
            return Ok(Answer::Known { value, at: *at });
        }
        let is_source = channels.value().is_some_and(Vec::is_empty);
        let just_asked = |at: Moment| clock::now().since(at) < JUST_NOW;
        let asked_transactions = match &self.carried.transactions {
            Answer::Known { at, .. } => just_asked(*at),
            _ => false,
        };
        if is_source
            && self.dialect.log_bin
            && !asked_transactions
            && !is_recent(&self.carried.binlog)
        {
            self.ask_position()?;
        }
        Ok(self.carried.binlog.clone())
    }

    fn ask_position(&mut self) -> Result<(), Trouble> {
        let sql = &self.statements.binlog_position;
        let position = self.asker.ask(Question::BinlogPosition, sql, |answer| {
            rows::coordinates(&answer)
        })?;
        self.carried.binlog = match position {
            Answer::Known {
                value: Some(value),
                at,
            } => Answer::Known { value, at },
            Answer::Known { value: None, .. } => not_asked("trouble.not_asked.no_binlog"),
            Answer::Refused(trouble) => Answer::Refused(trouble),
            Answer::NotAsked { why } => Answer::NotAsked { why },
        };
        Ok(())
    }

    /// Only where there are channels, or where we may not know. Adds the receivers' times to the channels.
    fn ask_appliers(
        &mut self,
        depth: Depth,
        channels: &mut Answer<Vec<Channel>>,
        transactions: &Answer<Vec<OpenTransaction>>,
    ) -> Result<Answer<Vec<ApplierThread>>, Trouble> {
        if channels.value().is_some_and(Vec::is_empty) {
            return Ok(not_asked("trouble.not_asked.no_channels"));
        }
        let Some(sql) = &self.statements.appliers else {
            return Ok(not_asked("trouble.not_asked.no_tables"));
        };
        if self.dialect.product.is_mariadb() {
            if depth != Depth::Light {
                let only = match channels.value().map(Vec::as_slice) {
                    Some([one]) => Some(one.name.clone()),
                    _ => None,
                };
                self.carried.appliers = match without_process(transactions) {
                    Some(refused) => refused,
                    None => self.asker.ask(Question::Appliers, sql, |answer| {
                        rows::mariadb_appliers(&answer, only.as_deref())
                    })?,
                };
            }
            return Ok(self.carried.appliers.clone());
        }
        let answer = self
            .asker
            .ask(Question::Appliers, sql, |answer| rows::appliers(&answer))?;
        Ok(match answer {
            Answer::Known { value, at } => {
                add_receiver_times(channels, value.receivers);
                Answer::Known {
                    value: value.threads,
                    at,
                }
            }
            Answer::Refused(trouble) => Answer::Refused(trouble),
            Answer::NotAsked { why } => Answer::NotAsked { why },
        })
    }

    fn ask_heartbeat(&mut self, now: Option<ServerTime>) -> Result<Answer<HeartbeatRows>, Trouble> {
        let (Some(sql), Some(table)) = (&self.statements.heartbeat, &self.endpoint.heartbeat)
        else {
            return Ok(not_asked("trouble.not_asked.no_heartbeat"));
        };
        let answer = self.asker.ask(Question::Heartbeat, sql, |answer| {
            rows::heartbeat(&answer, &table.name(), now)
        })?;
        Ok(match answer {
            Answer::Known {
                value: Some(value),
                at,
            } => Answer::Known { value, at },
            Answer::Known { value: None, .. } => Answer::Refused(unreadable(Question::Heartbeat)),
            Answer::Refused(trouble) => Answer::Refused(trouble),
            Answer::NotAsked { why } => Answer::NotAsked { why },
        })
    }

    /// Aurora only. The older table is asked for the rest of the session once the newer one is missing.
    fn ask_platform_lag(&mut self) -> Result<Answer<Vec<PlatformLag>>, Trouble> {
        let Some(sql) = &self.statements.platform_lag else {
            return Ok(not_asked("trouble.not_asked.not_aurora"));
        };
        let answer = self.asker.ask(Question::PlatformLag, &sql[0], |answer| {
            rows::platform_lag(&answer)
        })?;
        let is_missing = answer
            .refused()
            .is_some_and(|trouble| trouble.kind == TroubleKind::Unsupported);
        if is_missing && sql[0] != sql[1] {
            let older = sql[1].clone();
            self.statements.platform_lag = Some([older.clone(), older]);
            self.asker.ask_anew(Question::PlatformLag);
            return self.ask_platform_lag();
        }
        Ok(answer)
    }

    /// What changes rarely: settings, surroundings, binary logs.
    fn ask_rarely(&mut self) -> Result<(), Trouble> {
        let (asker, sql, carried) = (&mut self.asker, &self.statements, &mut self.carried);
        carried.settings = asker.ask(Question::Settings, &sql.settings, |answer| {
            Arc::new(rows::named(&answer))
        })?;
        carried.events = asker.ask(Question::Events, &sql.events, |answer| {
            Arc::new(rows::events(&answer))
        })?;
        carried.replicas = ask_replicas(asker, &sql.replicas, &sql.dump_threads)?;
        if !self.dialect.log_bin {
            carried.binlog = not_asked("trouble.not_asked.no_binlog");
            carried.binary_logs = not_asked("trouble.not_asked.no_binlog");
            return Ok(());
        }
        carried.binary_logs = asker.ask(Question::BinaryLogs, &sql.binary_logs, |answer| {
            Arc::new(rows::binary_logs(&answer))
        })?;
        self.ask_position()
    }

    fn ask_suspicious(
        &mut self,
        transactions: &Answer<Vec<OpenTransaction>>,
    ) -> Result<Suspicion, Trouble> {
        let sql = &self.statements.lock_waits;
        let mut waits = self
            .asker
            .ask(Question::LockWaits, sql, |answer| rows::lock_waits(&answer))?;
        // Without PROCESS the list has nobody but ourselves in it: that is no answer (R35).
        if let Some(refused) = without_process(transactions) {
            return Ok(Suspicion {
                lock_waits: waits,
                statements: refused,
            });
        }
        let mut seen = Vec::new();
        let sql = &self.statements.statements;
        let running = self.asker.ask(Question::Statements, sql, |answer| {
            seen = rows::waits_seen_in_states(&answer);
            rows::statements(&answer)
        })?;
        match &mut waits {
            Answer::Known { value, .. } => rows::add_waits_seen_in_states(value, seen),
            _ if !seen.is_empty() => {
                waits = Answer::Known {
                    value: seen,
                    at: clock::now(),
                };
            }
            _ => {}
        }
        Ok(Suspicion {
            lock_waits: waits,
            statements: running,
        })
    }
}

fn is_recent<T>(answer: &Answer<T>) -> bool {
    match answer {
        Answer::Known { at, .. } => clock::now().since(*at) < STAYS_FOR,
        _ => false,
    }
}

fn ask_replicas(
    asker: &mut Asker,
    list: &str,
    dump_threads: &str,
) -> Result<Answer<Arc<Vec<FoundReplica>>>, Trouble> {
    let listed = asker.ask(Question::Replicas, list, |answer| {
        rows::found_replicas(&answer)
    })?;
    let dumps = asker.ask(Question::DumpThreads, dump_threads, |answer| answer)?;
    Ok(match (listed, dumps) {
        (Answer::Refused(trouble), Answer::Known { value, .. }) if value.cells.is_empty() => {
            Answer::Refused(trouble)
        }
        (listed, Answer::Known { value: dumps, at }) => {
            let mut found = listed.value().cloned().unwrap_or_default();
            rows::dump_threads(&dumps, &mut found);
            Answer::Known {
                value: Arc::new(found),
                at,
            }
        }
        (listed, _) => match listed {
            Answer::Known { value, at } => Answer::Known {
                value: Arc::new(value),
                at,
            },
            Answer::Refused(trouble) => Answer::Refused(trouble),
            Answer::NotAsked { why } => Answer::NotAsked { why },
        },
    })
}

fn add_receiver_times(
    channels: &mut Answer<Vec<Channel>>,
    mut receivers: HashMap<String, crate::model::replication::ReceiverTimes>,
) {
    if let Answer::Known { value, .. } = channels {
        for channel in value {
            channel.receiver_times = receivers.remove(&channel.name);
        }
    }
}

/// The refusal to pass on when the account has no PROCESS, as the question about transactions found out.
fn without_process<T>(transactions: &Answer<Vec<OpenTransaction>>) -> Option<Answer<T>> {
    transactions
        .refused()
        .filter(|trouble| trouble.kind == TroubleKind::MissingPrivilege)
        .map(|trouble| Answer::Refused(trouble.clone()))
}

fn map<T, U>(answer: &Answer<T>, read: impl FnOnce(&T) -> U) -> Answer<U> {
    match answer {
        Answer::Known { value, at } => Answer::Known {
            value: read(value),
            at: *at,
        },
        Answer::Refused(trouble) => Answer::Refused(trouble.clone()),
        Answer::NotAsked { why } => Answer::NotAsked { why: why.clone() },
    }
}
