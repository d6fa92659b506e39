//! Replication as a server tells it: channels, their threads, errors, positions, appliers and semi-sync.

use std::sync::Arc;

use super::gtid::Gtids;
use super::time::{ServerTime, Span};

/// A status field, where "absent", "NULL" and "not readable" are different things (R03, R09).
#[derive(Clone, Debug, PartialEq)]
pub enum Field<T> {
    Value(T),
    Null,
    /// The row has no such column, under either spelling.
    Absent,
    /// A text we do not understand, kept as it came.
    Unreadable(String),
}

impl<T> Field<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Field::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// The state of a receiver (IO) or applier (SQL) thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadState {
    Running,
    /// The receiver tries to reach its source: a third state, not a kind of running (R10).
    Connecting,
    Stopped,
    /// A word we do not know, shown verbatim and counted as not running (R10).
    Other(String),
    /// The row does not tell.
    Untold,
}

impl ThreadState {
    pub fn from_text(text: Option<&str>) -> Self {
        match text {
            None => ThreadState::Untold,
            Some(t) if t.eq_ignore_ascii_case("yes") || t.eq_ignore_ascii_case("on") => {
                ThreadState::Running
            }
            Some(t) if t.eq_ignore_ascii_case("no") || t.eq_ignore_ascii_case("off") => {
                ThreadState::Stopped
            }
            Some(t)
                if t.eq_ignore_ascii_case("connecting") || t.eq_ignore_ascii_case("preparing") =>
            {
                ThreadState::Connecting
            }
            Some(t) => ThreadState::Other(t.to_owned()),
        }
    }

    pub fn is_running(&self) -> bool {
        *self == ThreadState::Running
    }
}

/// An error a replication thread reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicationError {
    pub number: u32,
    pub text: String,
    /// The server's own time stamp of the error, as it says it.
    pub at: Option<String>,
}

/// Where a replica gets its changes from, as its status says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceAddress {
    pub host: String,
    pub port: Option<u16>,
    pub uuid: Option<String>,
    pub server_id: Option<u64>,
}

/// A binary log file and a position in it, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinates {
    pub file: String,
    pub position: u64,
}

impl Coordinates {
    /// Orders by the file's running number, then the position; `None` when the files belong to different series.
    pub fn compare(&self, other: &Coordinates) -> Option<std::cmp::Ordering> {
        let number = |file: &str| {
            file.rsplit_once('.')
                .and_then(|(base, n)| Some((base.to_owned(), n.parse::<u64>().ok()?)))
        };
        let (a, b) = (number(&self.file)?, number(&other.file)?);
        (a.0 == b.0).then(|| (a.1, self.position).cmp(&(b.1, other.position)))
    }
}

/// The replication filters of one channel, each as the server lists it; empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub do_db: String,
    pub ignore_db: String,
    pub do_table: String,
    pub ignore_table: String,
    pub wild_do_table: String,
    pub wild_ignore_table: String,
    pub rewrite_db: String,
}

impl Filters {
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }

    /// Name and text of each filter that is set, in the server's words.
    pub fn quoted(&self) -> Vec<(&'static str, &str)> {
        [
            ("Replicate_Do_DB", &self.do_db),
            ("Replicate_Ignore_DB", &self.ignore_db),
            ("Replicate_Do_Table", &self.do_table),
            ("Replicate_Ignore_Table", &self.ignore_table),
            ("Replicate_Wild_Do_Table", &self.wild_do_table),
            ("Replicate_Wild_Ignore_Table", &self.wild_ignore_table),
            ("Replicate_Rewrite_DB", &self.rewrite_db),
        ]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name, text.as_str()))
        .collect()
    }
}

/// One replication channel (MySQL) or connection (MariaDB) of a replica; the default one has an empty name.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    pub name: String,
    pub source: SourceAddress,
    pub receiver: ThreadState,
    pub applier: ThreadState,
    /// `Replica_IO_State`, what the receiver is doing.
    pub receiver_doing: Option<String>,
    /// `Replica_SQL_Running_State`, what the applier or its coordinator is doing.
    pub applier_doing: Option<String>,
    pub receiver_error: Option<ReplicationError>,
    pub applier_error: Option<ReplicationError>,
    /// `Seconds_Behind_Source` in whole seconds, as told.
    pub seconds_behind: Field<i64>,
    /// `SQL_Delay`: how late this replica is meant to be.
    pub planned_delay: Span,
    /// `SQL_Remaining_Delay`; absent when there is nothing to wait for.
    pub remaining_delay: Option<Span>,
    /// How far the receiver has read the source's binary log.
    pub read: Option<Coordinates>,
    /// How far the applier has executed it (advances at checkpoints only with parallel workers).
    pub executed: Option<Coordinates>,
    /// Bytes of relay logs on disk.
    pub relay_log_space: Option<u64>,
    /// What the receiver has fetched since the relay logs began; starts anew after a reset.
    pub retrieved_gtids: Option<Gtids>,
    pub auto_position: Option<bool>,
    /// The receiver's times; MySQL 8.0 and later with SELECT on performance_schema.
    pub receiver_times: Option<ReceiverTimes>,
    pub filters: Filters,
    /// Every column of the row with its value, in the server's order, for the raw view.
    pub raw: Arc<Vec<(String, Option<String>)>>,
}

impl Channel {
    /// False for a channel that is defined but was never started (R13).
    pub fn has_ever_run(&self) -> bool {
        self.receiver != ThreadState::Stopped
            || self.applier != ThreadState::Stopped
            || self.receiver_error.is_some()
            || self.applier_error.is_some()
            || self.read.as_ref().is_some_and(|at| !at.file.is_empty())
            || self
                .retrieved_gtids
                .as_ref()
                .is_some_and(|set| !set.is_empty())
    }
}

/// From `performance_schema.replication_connection_status` (MySQL 8.0 and later), on the replica's clock except the
/// original commit, which is on the source's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverTimes {
    pub last_heartbeat: Option<ServerTime>,
    pub last_queued_gtid: Option<String>,
    pub last_queued_original_commit: Option<ServerTime>,
    pub last_queued_end: Option<ServerTime>,
}

/// What part of the applier a row of performance_schema tells about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApplierPart {
    Coordinator,
    Worker(u32),
}

/// A transaction in the hands of an applier thread, or the last one it finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedTransaction {
    pub gtid: String,
    /// When it was committed on the server it came from, on that server's clock.
    pub original_commit: Option<ServerTime>,
    /// When applying began, on the replica's clock.
    pub started: Option<ServerTime>,
    /// When applying ended, on the replica's clock; absent while it is being applied.
    pub ended: Option<ServerTime>,
    pub retries: u64,
}

/// One applier thread (MySQL 5.7 tells less, MariaDB next to nothing).
#[derive(Clone, Debug, PartialEq)]
pub struct ApplierThread {
    pub channel: String,
    pub part: ApplierPart,
    /// The server's thread id (`PROCESSLIST_ID`), when told.
    pub thread: Option<u64>,
    pub running: bool,
    pub applying: Option<AppliedTransaction>,
    pub last_applied: Option<AppliedTransaction>,
    pub error: Option<ReplicationError>,
}

/// Semi-synchronous replication of one server: both ends, each absent when its plugin is not installed (R23).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SemiSync {
    pub source: Option<SemiSyncSource>,
    pub replica: Option<SemiSyncReplica>,
}

/// The source's end. Configured, in force and acknowledging are three facts (R24).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SemiSyncSource {
    /// `rpl_semi_sync_source_enabled`: wanted.
    pub enabled: Option<bool>,
    /// `Rpl_semi_sync_source_status`: in force.
    pub active: Option<bool>,
    /// `Rpl_semi_sync_source_clients`: replicas that registered to acknowledge.
    pub clients: Option<u64>,
    /// `rpl_semi_sync_source_wait_for_replica_count`: acknowledgements each commit needs.
    pub required: Option<u64>,
    /// `rpl_semi_sync_source_timeout`: how long a commit waits before semi-sync is given up.
    pub timeout: Option<Span>,
    /// `rpl_semi_sync_source_wait_no_replica`: wait even with fewer clients than required.
    pub wait_no_replica: Option<bool>,
    /// `AFTER_SYNC` or `AFTER_COMMIT`.
    pub wait_point: Option<String>,
    /// Transactions acknowledged, since the server started.
    pub yes_tx: Option<u64>,
    /// Transactions committed without an acknowledgement.
    pub no_tx: Option<u64>,
    /// How often it fell back to asynchronous.
    pub no_times: Option<u64>,
    /// Sessions waiting for an acknowledgement now.
    pub wait_sessions: Option<u64>,
    /// Mean wait of a transaction for its acknowledgement.
    pub average_wait: Option<Span>,
}

/// The replica's end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SemiSyncReplica {
    pub enabled: Option<bool>,
    pub active: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_connecting_is_a_third_state_and_unknown_words_are_not_running() {
        assert_eq!(
            ThreadState::from_text(Some("Connecting")),
            ThreadState::Connecting
        );
        assert_eq!(ThreadState::from_text(Some("Yes")), ThreadState::Running);
        assert_eq!(ThreadState::from_text(Some("No")), ThreadState::Stopped);
        assert!(!ThreadState::from_text(Some("Migrating")).is_running());
        assert_eq!(
            ThreadState::from_text(Some("Migrating")),
            ThreadState::Other("Migrating".into())
        );
        assert_eq!(ThreadState::from_text(None), ThreadState::Untold);
    }

    #[test]
    fn binlog_coordinates_compare_by_number_not_by_text() {
        let at = |file: &str, position| Coordinates {
            file: file.into(),
            position,
        };
        assert_eq!(
            at("binlog.999999", 9).compare(&at("binlog.1000000", 4)),
            Some(std::cmp::Ordering::Less)
        );
        assert_eq!(at("binlog.000002", 9).compare(&at("other.000002", 9)), None);
    }
}
