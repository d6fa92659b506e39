//! What a server tells of itself, as plain values in its own clock: enough for `SHOW REPLICA STATUS`, `SHOW BINARY
//! LOGS`, the status variables and the tables of `performance_schema`. The words and columns are up to who shows them.
//!
//! Every [`ServerTime`] here is on the clock of the server asked, except original and immediate commit times, which are
//! on the clocks of the servers that committed, as in life.

use crate::model::gtid::Gtids;
use crate::model::time::{ServerTime, Span};

use super::NodeId;
use super::channel::SourceConfig;
use super::filters::Filters;
use super::goal::Goal;
use super::transaction::Gtid;
use super::wants::Blocker;

/// One channel of a replica.
#[derive(Clone, Debug)]
pub struct ChannelStatus {
    /// Empty for the default channel.
    pub name: String,
    pub config: SourceConfig,
    pub filters: Filters,
    /// Of the source, learned when last connected.
    pub source_server_id: Option<u32>,
    pub source_uuid: Option<crate::model::gtid::Uuid>,
    pub receiver: ReceiverStatus,
    pub applier: ApplierStatus,
    /// As the server computes it, with all its quirks; `None` is NULL.
    pub seconds_behind: Option<i64>,
    /// Names and sizes of the relay log.
    pub relay_log: RelayLogStatus,
    /// `Source_Log_File`, `Read_Source_Log_Pos`. The file is empty before the first connect.
    pub read: LogPosition,
    /// `Relay_Source_Log_File`, `Exec_Source_Log_Pos`.
    pub executed: LogPosition,
    /// What this channel has received since its relay log was begun: `Retrieved_Gtid_Set`, and on MariaDB
    /// `Gtid_IO_Pos`.
    pub retrieved: Gtids,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    pub file: String,
    pub position: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayLogStatus {
    pub file: String,
    pub position: u64,
    pub space: u64,
}

/// `Yes`, `No`, `Connecting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    No,
    Connecting,
    Yes,
}

/// What the receiver says it is doing; words differ by generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverState {
    /// Empty text.
    Stopped,
    /// Connecting to source
    Connecting,
    /// Waiting to reconnect after a failed source event read / Reconnecting after a failed source event read
    Reconnecting,
    /// Waiting for source to send event
    Waiting,
    /// Queueing source event to the relay log
    Queueing,
}

#[derive(Clone, Debug)]
pub struct ReceiverStatus {
    pub running: Running,
    pub state: ReceiverState,
    /// `None` while it is not connected (as P_S shows it).
    pub thread_id: Option<u64>,
    pub error: Option<ThreadError>,
    pub heartbeats_received: u64,
    pub last_heartbeat: Option<ServerTime>,
    /// Last transaction received whole.
    pub last_queued: Option<QueuedTransaction>,
    /// Being received.
    pub queueing: Option<QueuedTransaction>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueuedTransaction {
    pub gtid: Gtid,
    pub original_commit: ServerTime,
    pub immediate_commit: ServerTime,
    pub started: ServerTime,
    /// `None` while it is going on.
    pub ended: Option<ServerTime>,
}

/// An error that stopped a thread, or that it is trying to get over.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadError {
    pub at: ServerTime,
    pub problem: Problem,
}

/// Numbers and texts differ by generation where noted; the numbers here are those of MySQL 9.7.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// 2003, with the operating system's number: 111 refused, 110 timed out.
    CannotConnect { os_error: i32, attempt: Attempt },
    /// 2013: lost connection at 'reading initial communication packet'.
    LostConnection { attempt: Attempt },
    /// 2005
    UnknownHost { attempt: Attempt },
    /// 1045 and others, as the source's accounts have it.
    LoginRefused {
        code: u16,
        message: String,
        attempt: Attempt,
    },
    /// 13114 (5.7, MariaDB: 1236).
    PurgedLogs { missing: String, sent: String },
    /// 13114 (1236): the replica has more of the source's own transactions than the source.
    ReplicaAhead { ahead: String },
    /// 13117 (1593).
    EqualServerIds,
    /// A worker failed: the text of storage engine and code are in the error.
    Apply {
        /// 1 … n; `None` when there are no workers.
        worker: Option<u32>,
        gtid: Gtid,
        at: LogPosition,
        code: u16,
        message: String,
    },
}

impl Problem {
    /// The number MySQL 9.7 shows.
    pub fn code(&self) -> u16 {
        match self {
            Problem::CannotConnect { .. } => 2003,
            Problem::LostConnection { .. } => 2013,
            Problem::UnknownHost { .. } => 2005,
            Problem::LoginRefused { code, .. } | Problem::Apply { code, .. } => *code,
            Problem::PurgedLogs { .. } | Problem::ReplicaAhead { .. } => 13114,
            Problem::EqualServerIds => 13117,
        }
    }
}

/// "This was attempt 3/10, with a delay of 1 seconds between attempts"; reconnecting or connecting at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub number: u64,
    pub of: u64,
    pub is_reconnect: bool,
}

/// What the coordinator (or the only applier thread) says it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplierState {
    Stopped,
    /// Replica has read all relay log; waiting for more updates
    ReadAll,
    /// Waiting until SOURCE_DELAY seconds after source executed event
    Delaying,
    /// Reading event from the relay log
    Reading,
    /// Waiting for dependent transaction to commit
    WaitingForDependency,
    /// Waiting for replica workers to process their queues
    WaitingForWorkers,
    /// No workers: System lock, and the like.
    Applying,
}

#[derive(Clone, Debug)]
pub struct ApplierStatus {
    pub is_running: bool,
    pub state: ApplierState,
    pub thread_id: Option<u64>,
    /// `Until_Condition`: as it was last started.
    pub goal: Option<Goal>,
    /// `SQL_Remaining_Delay`.
    pub remaining_delay_secs: Option<i64>,
    pub error: Option<ThreadError>,
    /// `COUNT_TRANSACTIONS_RETRIES`.
    pub retries: u64,
    /// Last transaction the coordinator handed to a worker.
    pub last_processed: Option<ProcessedTransaction>,
    /// Empty when there are no workers (then [`ApplierStatus::single`] is there).
    pub workers: Vec<WorkerStatus>,
    /// The applier without workers.
    pub single: Option<WorkerStatus>,
    /// Received and not yet committed, the bytes of their source's binary log.
    pub backlog_transactions: u64,
    pub backlog_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProcessedTransaction {
    pub gtid: Gtid,
    pub original_commit: ServerTime,
    pub immediate_commit: ServerTime,
    pub buffer_started: ServerTime,
    pub buffer_ended: ServerTime,
}

#[derive(Clone, Debug)]
pub struct WorkerStatus {
    /// 1 … n.
    pub number: u32,
    pub is_running: bool,
    pub thread_id: Option<u64>,
    pub error: Option<ThreadError>,
    pub last_applied: Option<AppliedTransaction>,
    pub applying: Option<ApplyingTransaction>,
    pub doing: WorkerState,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AppliedTransaction {
    pub gtid: Gtid,
    pub original_commit: ServerTime,
    pub immediate_commit: ServerTime,
    pub started: ServerTime,
    pub ended: ServerTime,
    pub retries: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ApplyingTransaction {
    pub gtid: Gtid,
    pub original_commit: ServerTime,
    pub immediate_commit: ServerTime,
    pub started: ServerTime,
    pub retries: u64,
    /// 1205 and when, after a retry.
    pub last_transient_error: Option<(u16, ServerTime)>,
    pub rows: u64,
    /// For `innodb_trx.trx_rows_modified`.
    pub rows_done: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WorkerState {
    Stopped,
    /// Waiting for an event from Coordinator
    Idle,
    /// Applying batch of row changes
    Applying,
    /// Waiting for table metadata lock / a row lock / global read lock.
    WaitingForLock {
        on: Blocker,
        since: ServerTime,
    },
    /// Waiting for preceding transaction to commit
    WaitingForOrder,
    /// waiting for handler commit
    Committing,
    /// Waiting for semi-sync ACK from replica
    WaitingForReceipt,
}

/// A file of the binary log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinlogFile {
    pub name: String,
    pub size: u64,
}

/// A transaction in the binary log, for `SHOW BINLOG EVENTS`.
#[derive(Clone, Debug)]
pub struct BinlogTransaction {
    pub file: String,
    pub start: u64,
    pub end: u64,
    pub gtid: Gtid,
    pub server_id: u32,
    pub last_committed: u64,
    pub sequence_number: u64,
    pub rows: u64,
    pub is_empty: bool,
}

/// Somebody who copies from this server, as the server sees it: `SHOW REPLICAS`, the dump threads of the processlist.
#[derive(Clone, Debug)]
pub struct DumpThread {
    pub thread_id: u64,
    pub replica: NodeId,
    pub replica_server_id: u32,
    pub replica_uuid: crate::model::gtid::Uuid,
    pub user: String,
    pub since: ServerTime,
    /// Has sent all binlog to replica; waiting for more updates. Otherwise: Sending binlog event to replica.
    pub has_sent_all: bool,
    pub is_semi_sync: bool,
}

/// `Rpl_semi_sync_source_*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SemiSyncStatus {
    /// `status`: in force.
    pub is_on: bool,
    pub clients: u64,
    pub yes_tx: u64,
    pub no_tx: u64,
    /// How often it was switched off.
    pub no_times: u64,
    pub wait_sessions: u64,
    pub tx_waits: u64,
    pub tx_wait_time: Span,
    pub net_waits: u64,
    pub net_wait_time: Span,
    /// `Rpl_semi_sync_replica_status`: as a replica, since it last connected.
    pub replica_is_on: bool,
}
