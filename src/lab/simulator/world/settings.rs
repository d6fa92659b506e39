//! What can be set on a server and makes a difference to replication.

use crate::model::gtid::Uuid;
use crate::model::lab::Generation;
use crate::model::time::Span;

/// What a server is, for good.
#[derive(Clone, Debug)]
pub struct Identity {
    pub generation: Generation,
    pub server_id: u32,
    /// MariaDB has none, but is given one all the same.
    pub uuid: Uuid,
    /// Base of its binary logs' names: `binlog` gives `binlog.000001`.
    pub binlog_name: String,
    pub relay_log_name: String,
}

/// System variables. Changed through [`super::World::change_settings`], which draws the consequences.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Only kept here; refusing is up to whoever takes statements. The event scheduler heeds it.
    pub read_only: bool,
    /// MySQL only.
    pub super_read_only: bool,
    pub event_scheduler: bool,
    pub semi_sync: SemiSyncSettings,
    /// 0: one thread reads and applies (5.7, 8.0, MariaDB). From 8.4 on the server makes 0 into 1 itself: do so before
    /// setting it. Takes effect when the applier starts.
    pub applier_workers: u32,
    /// Always so on MariaDB.
    pub preserve_commit_order: bool,
    /// `replica_transaction_retries`.
    pub transaction_retries: u32,
    /// `replica_net_timeout`.
    pub net_timeout: Span,
    /// `replica_checkpoint_period`: with workers, `Exec_Source_Log_Pos` moves only so often.
    pub checkpoint_period: Span,
    /// `innodb_lock_wait_timeout`.
    pub row_lock_wait: Span,
    /// `lock_wait_timeout`: of locks on tables.
    pub table_lock_wait: Span,
    pub max_binlog_size: u64,
    /// Which transactions may be applied side by side: told by the binary log of the source.
    pub dependency: Dependency,
    /// `log_replica_updates`: whether what it copies goes into its own binary log.
    pub log_replica_updates: bool,
    /// MariaDB.
    pub gtid_domain_id: u32,
    /// MariaDB: refuses to write a sequence number that is not higher than all before it (error 1950).
    pub gtid_strict_mode: bool,
    /// How many things it can do at full speed at the same time.
    pub cores: u32,
}

/// `binlog_transaction_dependency_tracking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// What was committed together (5.7, 8.0 by default, MariaDB's conservative mode).
    CommitOrder,
    /// What touches different rows (8.4 by default, the only way from 9.0 on).
    WriteSet,
    /// MariaDB's default: everything is tried side by side; what collides waits for the earlier one and is tried again.
    Optimistic,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SemiSyncSettings {
    pub source_enabled: bool,
    /// Takes effect when the receiver connects.
    pub replica_enabled: bool,
    pub timeout: Span,
    pub wait_for_replicas: u32,
    /// Whether to wait out the timeout while there is no replica at all.
    pub wait_no_replica: bool,
    pub wait_point: WaitPoint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPoint {
    /// Nobody sees the transaction before it is acknowledged.
    AfterSync,
    /// Others see it, its own session waits.
    AfterCommit,
}

impl Settings {
    /// As the server comes, apart from what every lab sets (see the fields).
    pub fn of(generation: Generation) -> Settings {
        let mariadb = generation.flavour().is_mariadb();
        Settings {
            read_only: false,
            super_read_only: false,
            event_scheduler: !mariadb && generation != Generation::MySql57,
            semi_sync: SemiSyncSettings {
                source_enabled: false,
                replica_enabled: false,
                timeout: Span::from_secs(10),
                wait_for_replicas: 1,
                wait_no_replica: true,
                wait_point: if mariadb {
                    WaitPoint::AfterCommit
                } else {
                    WaitPoint::AfterSync
                },
            },
            applier_workers: match generation {
                Generation::MySql84 | Generation::MySql97 | Generation::MySql80 => 4,
                _ => 0,
            },
            preserve_commit_order: generation != Generation::MySql57,
            transaction_retries: 10,
            net_timeout: Span::from_secs(60),
            checkpoint_period: Span::from_millis(300),
            row_lock_wait: Span::from_secs(50),
            table_lock_wait: Span::from_secs(if mariadb { 86_400 } else { 31_536_000 }),
            max_binlog_size: 1 << 30,
            dependency: match generation {
                Generation::MySql57 | Generation::MySql80 => Dependency::CommitOrder,
                Generation::MySql84 | Generation::MySql97 => Dependency::WriteSet,
                Generation::MariaDb1011 | Generation::MariaDb118 => Dependency::Optimistic,
            },
            log_replica_updates: true,
            gtid_domain_id: 0,
            gtid_strict_mode: false,
            cores: 4,
        }
    }
}

/// What things take. The same for all servers of a world; each is made unequal by [`Costs::jitter`].
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Carrying out a statement where it was written.
    pub statement: Span,
    pub statement_row: Span,
    /// Applying a transaction on a replica.
    pub apply: Span,
    pub apply_row: Span,
    /// One flush of the binary log and the engine's log, for all that commit together.
    pub flush: Span,
    /// How much longer it takes for each report that is going on and sorts on the same disk.
    pub flush_per_reader: Span,
    /// What a link carries at most, even without a limit of its own.
    pub link_bytes_per_second: f64,
    /// Handling one transaction when sending and receiving it.
    pub handling: Span,
    /// Up to this share more or less than said, by the world's seed.
    pub jitter: f64,
}

/// Measured on MySQL 9.7 with two cores and a quick disk: from a commit on the source until its row shows on a replica
/// with so many reports going on that sort on disk, on average 7 ms (none), 30 (4), 32 (8), 101 (16). Reports that only
/// calculate: 4, 16, 35 and 59 ms. In proportion to their number.
const MEASURED_PER_READER: Span = Span::from_millis(6);

/// How many times as sensitive simulated servers are: as many readers as a class starts (16) shall bring a replica past
/// the second from which it is called late, on any machine.
const SENSITIVITY: i64 = 12;

impl Default for Costs {
    /// Measured on MySQL 9.7: 1.5 million rows take 10.2 s where they are written and 20 s on the replica; a heartbeat
    /// is applied in 0.3 to 0.8 ms; 20 to 50 MB/s get into the relay log.
    fn default() -> Self {
        Costs {
            statement: Span::from_micros(150),
            statement_row: Span::from_micros(7),
            apply: Span::from_micros(300),
            apply_row: Span::from_micros(13),
            flush: Span::from_micros(400),
            flush_per_reader: MEASURED_PER_READER.times(SENSITIVITY),
            link_bytes_per_second: 60e6,
            handling: Span::from_micros(20),
            jitter: 0.2,
        }
    }
}
