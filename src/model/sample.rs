//! All that one poll of a server learned.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::gtid::Gtids;
use super::phrase::Phrase;
use super::replication::{
    ApplierPart, ApplierThread, Channel, Coordinates, ReplicationError, SemiSync,
};
use super::server::Product;
use super::time::{Moment, ServerTime, Span};
use super::trouble::Trouble;

/// The answer to one question of a poll. A panel whose question was refused fails alone (R35).
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<T> {
    /// What the server said, and when we had it. Questions asked more rarely keep their own, older time.
    Known { value: T, at: Moment },
    /// The server would not say; carries the GRANT where one is missing.
    Refused(Trouble),
    /// The question makes no sense here, or was not asked yet.
    NotAsked { why: Phrase },
}

impl<T> Answer<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Answer::Known { value, .. } => Some(value),
            _ => None,
        }
    }

    pub fn refused(&self) -> Option<&Trouble> {
        match self {
            Answer::Refused(trouble) => Some(trouble),
            _ => None,
        }
    }
}

/// One reading of a server's clock between two instants of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    pub server: ServerTime,
    pub asked_at: Moment,
    pub answered_at: Moment,
}

impl ClockReading {
    /// How far the server's clock is ahead of ours, taking it that it answered half-way.
    pub fn server_ahead_by(&self) -> Span {
        let middle = self.asked_at + self.round_trip().half();
        Span::from_micros(self.server.0.saturating_sub(middle.unix_micros()))
    }

    pub fn round_trip(&self) -> Span {
        self.answered_at.since(self.asked_at)
    }
}

/// Role facts, read anew at every poll: they change under our eyes (R44).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// `server_uuid`; MariaDB has none.
    pub server_uuid: Option<String>,
    pub server_id: Option<u64>,
    pub hostname: Option<String>,
    pub port: Option<u16>,
    pub read_only: Option<bool>,
    /// Absent on MariaDB and before MySQL 5.7.
    pub super_read_only: Option<bool>,
    /// True on an Aurora reader, whatever read_only says.
    pub innodb_read_only: Option<bool>,
    /// Seconds since the server started: goes back when it was restarted.
    pub uptime: Option<Span>,
    /// The id of the connection that asked, as the server's greeting told it: counted up from its start.
    pub connection: Option<u64>,
    /// Local time minus UTC of the server's session time zone.
    pub utc_offset: Option<Span>,
}

/// GTID facts of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GtidFacts {
    /// `gtid_executed`, or MariaDB's `gtid_binlog_pos`.
    pub executed: Option<Gtids>,
    /// What the applier has done: MariaDB's `gtid_slave_pos`; on MySQL the same as `executed`.
    pub applied: Option<Gtids>,
    /// `gtid_purged`: no longer in the binary logs.
    pub purged: Option<Gtids>,
    /// MariaDB's `gtid_binlog_state`, text: the last transaction of every server id seen.
    pub binlog_state: Option<String>,
    /// A set that could not be read, with its text: never treated as empty (R17).
    pub unreadable: Option<String>,
}

/// Named values a server tells as text: `SHOW GLOBAL VARIABLES` or `STATUS`. Names are lower case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named(pub BTreeMap<String, String>);

impl Named {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The first of several spellings that is there: `["replica_parallel_workers", "slave_parallel_workers"]`.
    pub fn either(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.text(name))
    }

    pub fn number(&self, names: &[&str]) -> Option<u64> {
        self.either(names)?.trim().parse().ok()
    }

    /// ON/OFF, YES/NO, 1/0; anything else is not told.
    pub fn switch(&self, names: &[&str]) -> Option<bool> {
        switch(self.either(names)?)
    }
}

/// How servers write a switch. MariaDB 12 also says `NO_LOCK` and `NO_LOCK_NO_ADMIN` for read_only: on.
pub fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_uppercase().as_str() {
        "ON" | "YES" | "1" | "TRUE" => Some(true),
        word if word.starts_with("NO_LOCK") => Some(true),
        "OFF" | "NO" | "0" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Who owns an open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionOwner {
    User,
    /// A replication applier: shown as replication, not as somebody's session (R46).
    Applier,
    /// Thread id 0: a prepared XA transaction, which no KILL can reach (R46).
    PreparedXa,
}

/// An open transaction from `information_schema.innodb_trx`. Ages are computed on the server.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTransaction {
    pub id: String,
    pub owner: TransactionOwner,
    /// The connection id; 0 for prepared XA.
    pub thread: u64,
    pub started: Option<String>,
    pub age: Option<Span>,
    pub rows_modified: Option<u64>,
    pub rows_locked: Option<u64>,
    /// The statement running now; absent when the session is idle inside its transaction.
    pub statement: Option<String>,
    pub user: Option<String>,
    pub host: Option<String>,
    pub state: Option<String>,
}

impl OpenTransaction {
    /// A person's query that runs for 5 s or longer.
    pub fn is_long_read(&self) -> bool {
        self.owner == TransactionOwner::User && is_long_read(self.age, self.statement.as_deref())
    }
}

/// Who waits for whose lock.
#[derive(Clone, Debug, PartialEq)]
pub struct LockWait {
    pub waiting_thread: u64,
    /// The waiter is a replication applier thread.
    pub waiter_is_applier: bool,
    pub object: Option<String>,
    pub waited: Option<Span>,
    pub blocking_thread: Option<u64>,
    pub blocking_user: Option<String>,
    pub blocking_statement: Option<String>,
}

/// A statement that runs now, from the process list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningStatement {
    pub thread: u64,
    pub user: String,
    pub host: String,
    pub command: String,
    pub age: Option<Span>,
    pub state: Option<String>,
    pub statement: Option<String>,
}

impl RunningStatement {
    /// A person's query that runs for 5 s or longer.
    pub fn is_long_read(&self) -> bool {
        self.user != "system user" && is_long_read(self.age, self.statement.as_deref())
    }
}

/// From here on a report, not a query of the application.
const LONG_READ: Span = Span::from_secs(5);

fn is_long_read(age: Option<Span>, statement: Option<&str>) -> bool {
    age.is_some_and(|age| age >= LONG_READ) && statement.is_some_and(reads)
}

fn reads(statement: &str) -> bool {
    let word = statement
        .trim_start_matches(['(', ' ', '\n', '\t'])
        .get(..6)
        .unwrap_or_default();
    word.eq_ignore_ascii_case("select") || word.to_ascii_lowercase().starts_with("with ")
}

/// How a heartbeat stamp is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampKind {
    /// `DATETIME` or text: the writer's words, UTC or local as the profile says.
    Wall,
    /// `TIMESTAMP`: converted by the server into our session's time zone.
    Timestamp,
    /// An integer: absolute UTC microseconds.
    Absolute,
}

/// One row of a heartbeat table.
#[derive(Clone, Debug, PartialEq)]
pub struct HeartbeatRow {
    pub server_id: Option<u64>,
    /// As read, for display.
    pub text: String,
    pub kind: StampKind,
    /// The stamp taken as if it were UTC, in microseconds; absent when it cannot be read.
    pub wall: Option<i64>,
    /// The smallest step the column can show: 1 s for `DATETIME`, 1 ms for `DATETIME(3)` (R27).
    pub resolution: Span,
}

/// The heartbeat table as one server holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeartbeatRows {
    pub table: String,
    pub rows: Vec<HeartbeatRow>,
    /// This server's clock (UTC) when the rows were read.
    pub read_at: ServerTime,
}

/// A scheduled event that may write a heartbeat (R32).
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduledEvent {
    pub schema: String,
    pub name: String,
    /// `ENABLED`, `DISABLED`, `SLAVESIDE_DISABLED`, `REPLICA_SIDE_DISABLED`.
    pub status: String,
    pub originator: Option<u64>,
    pub body: String,
}

/// A replica that its source knows of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundReplica {
    pub host: String,
    pub port: Option<u16>,
    pub server_id: Option<u64>,
    pub uuid: Option<String>,
}

/// A binary log on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryLog {
    pub file: String,
    pub bytes: u64,
}

/// Lag that a platform without status rows tells itself (Aurora), already in our unit (R33).
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformLag {
    pub server: String,
    pub lag: Span,
}

/// What a poll cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollCost {
    pub statements: u32,
    pub bytes: u64,
}

/// All that one poll learned. Questions asked more rarely (settings, found replicas, events, binary logs) are carried
/// along from the poll that asked them, with that poll's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub asked_at: Moment,
    pub answered_at: Moment,
    pub product: Product,
    pub identity: Identity,
    pub clock: Option<ClockReading>,
    pub gtid: GtidFacts,
    /// No row means "not a replica as far as it says" (R11, R33).
    pub channels: Answer<Vec<Channel>>,
    pub appliers: Answer<Vec<ApplierThread>>,
    /// The server's own write position.
    pub binlog: Answer<Coordinates>,
    pub status: Answer<Named>,
    pub settings: Answer<Arc<Named>>,
    pub semi_sync: Answer<SemiSync>,
    pub heartbeat: Answer<HeartbeatRows>,
    /// All over the profile's threshold, the oldest first.
    pub transactions: Answer<Vec<OpenTransaction>>,
    pub lock_waits: Answer<Vec<LockWait>>,
    pub statements: Answer<Vec<RunningStatement>>,
    pub found_replicas: Answer<Arc<Vec<FoundReplica>>>,
    pub events: Answer<Arc<Vec<ScheduledEvent>>>,
    pub binary_logs: Answer<Arc<Vec<BinaryLog>>>,
    pub platform_lag: Answer<Vec<PlatformLag>>,
    pub cost: PollCost,
}

impl Sample {
    /// An answer of this very poll: not one that was carried along from an earlier one.
    pub fn of_this_poll<'a, T>(&self, answer: &'a Answer<T>) -> Option<&'a T> {
        match answer {
            Answer::Known { value, at } if *at >= self.asked_at => Some(value),
            _ => None,
        }
    }

    pub fn channels(&self) -> &[Channel] {
        self.channels.value().map_or(&[], Vec::as_slice)
    }

    /// A status row with a source host makes a replica, whatever read_only and log_bin say (R11).
    pub fn is_replica(&self) -> bool {
        self.channels()
            .iter()
            .any(|channel| !channel.source.host.is_empty())
            || self.identity.innodb_read_only == Some(true)
    }

    pub fn appliers(&self) -> &[ApplierThread] {
        self.appliers.value().map_or(&[], Vec::as_slice)
    }

    /// The error that stopped a channel's applier, in the words of the worker that had it: MySQL's status row says only
    /// which worker failed, the worker names the row. Workers that stop because another did say nothing of interest, so
    /// the one with the channel's number comes first.
    pub fn applier_error<'a>(&'a self, channel: &'a Channel) -> Option<&'a ReplicationError> {
        let told = channel.applier_error.as_ref()?;
        self.appliers()
            .iter()
            .filter(|thread| thread.channel == channel.name)
            .filter(|thread| matches!(thread.part, ApplierPart::Worker(_)))
            .filter_map(|thread| thread.error.as_ref())
            .filter(|error| error.number != 0)
            .min_by_key(|error| error.number != told.number)
            .or(Some(told))
    }

    /// May somebody write here? `read_only` alone lets privileged accounts write. `None` when not told.
    pub fn is_writable(&self) -> Option<bool> {
        let id = &self.identity;
        if id.innodb_read_only == Some(true) || id.super_read_only == Some(true) {
            return Some(false);
        }
        id.read_only.map(|on| !on)
    }

    pub fn setting(&self, names: &[&str]) -> Option<&str> {
        self.settings.value().and_then(|s| s.either(names))
    }
}
