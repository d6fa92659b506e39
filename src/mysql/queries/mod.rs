//! Every statement we send, in each dialect. Single-quoted literals only, so that no `sql_mode` changes their meaning
//! (R42); each begins with a comment that names us in process lists and logs; all of them only read.

mod appliers;
mod locks;
mod names;

use crate::model::time::Span;

use super::dialect::Dialect;
use super::endpoint::{HeartbeatTable, Limits};

use appliers::appliers;
use locks::lock_waits;
use names::{SETTINGS, STATUS};

/// One thing asked of a server; decides the words and the privilege when it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    Hello,
    Facts,
    Channels,
    Status,
    Appliers,
    Transactions,
    Heartbeat,
    Settings,
    Replicas,
    DumpThreads,
    Events,
    BinaryLogs,
    BinlogPosition,
    LockWaits,
    Statements,
    PlatformLag,
    Mark,
    Applied,
    Wait,
    Grants,
    /// An earlier session of ours that never answered.
    Predecessor,
    /// What a probe must know before it writes.
    ProbeState,
    ProbeTable,
    ProbeWrite,
    ProbeRead,
    ProbeCleanUp,
    /// What a pooled session carries.
    PoolLook,
    /// What its user does on it, and its cleaning.
    PoolAct,
    /// Holding an applier back.
    Hold,
    /// Whatever a server of the lab is told.
    Lab,
}

impl Question {
    /// What is asked, as a key of the catalogue; goes into sentences like "asking for … was refused".
    pub fn key(self) -> &'static str {
        match self {
            Question::Hello => "trouble.question.hello",
            Question::Facts => "trouble.question.facts",
            Question::Channels => "trouble.question.channels",
            Question::Status => "trouble.question.status",
            Question::Appliers => "trouble.question.appliers",
            Question::Transactions => "trouble.question.transactions",
            Question::Heartbeat => "trouble.question.heartbeat",
            Question::Settings => "trouble.question.settings",
            Question::Replicas => "trouble.question.replicas",
            Question::DumpThreads => "trouble.question.dump_threads",
            Question::Events => "trouble.question.events",
            Question::BinaryLogs => "trouble.question.binary_logs",
            Question::BinlogPosition => "trouble.question.binlog_position",
            Question::LockWaits => "trouble.question.lock_waits",
            Question::Statements => "trouble.question.statements",
            Question::PlatformLag => "trouble.question.platform_lag",
            Question::Mark => "trouble.question.mark",
            Question::Applied => "trouble.question.applied",
            Question::Wait => "trouble.question.wait",
            Question::Grants => "trouble.question.grants",
            Question::Predecessor => "trouble.question.predecessor",
            Question::ProbeState => "trouble.question.probe_state",
            Question::ProbeTable => "trouble.question.probe_table",
            Question::ProbeWrite => "trouble.question.probe_write",
            Question::ProbeRead => "trouble.question.probe_read",
            Question::ProbeCleanUp => "trouble.question.probe_clean_up",
            Question::PoolLook => "trouble.question.pool_look",
            Question::PoolAct => "trouble.question.pool_act",
            Question::Hold => "trouble.question.hold",
            Question::Lab => "trouble.question.lab",
        }
    }
}

/// Leads every statement.
pub const NAME: &str = "/* replicascope */ ";

/// A text as an SQL literal under `sql_mode = ''`.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A name as a quoted identifier.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn names_in(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| literal(name)).collect();
    quoted.join(",")
}

/// The first statement of a session: works on every server and under every `sql_mode`.
pub fn hello() -> String {
    let names = names_in(super::dialect::HELLO_VARIABLES);
    format!("{NAME}SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
}

/// What a session does with its server, as far as its settings depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Reads,
    Waits,
    /// Only a probe's writing session: every other one could not write if it tried.
    Writes,
}

/// Makes the session ours: each reading its own statement and snapshot (R28), plain SQL (R42), no writes, and limits on
/// the server's side below ours, so that a late answer is an error instead of a connection out of step.
pub fn session_settings(dialect: &Dialect, limits: &Limits, manner: Manner) -> String {
    let waits = manner == Manner::Waits;
    let mut settings = vec!["autocommit=1".to_owned(), "sql_mode=''".to_owned()];
    let names = dialect.session;
    if manner == Manner::Writes {
        settings.push("innodb_lock_wait_timeout=2".to_owned());
    } else if let Some(name) = names.read_only {
        settings.push(format!("{name}=1"));
    }
    if names.lock_wait_timeout {
        settings.push("lock_wait_timeout=2".to_owned());
    }
    let millis = limits.read.as_millis().saturating_sub(500).max(100);
    if names.max_execution_time && !waits {
        settings.push(format!("max_execution_time={millis}"));
    }
    if names.max_statement_time && !waits {
        let (whole, rest) = (millis / 1000, millis % 1000);
        settings.push(format!("max_statement_time={whole}.{rest:03}"));
    }
    // A session whose workstation has gone does not stay for eight hours. A waiting one is idle while nothing is
    // written, so it may stay longer.
    let idle_seconds = if waits { 7200 } else { 600 };
    settings.push(format!("wait_timeout={idle_seconds}"));
    format!("{NAME}SET {}", settings.join(", "))
}

/// The statements of one session, written out once.
#[derive(Clone, Debug)]
pub struct Statements {
    pub facts: String,
    pub channels: String,
    pub status: String,
    /// `None` where nothing like it exists.
    pub appliers: Option<String>,
    pub transactions: String,
    pub heartbeat: Option<String>,
    pub settings: String,
    pub replicas: String,
    pub dump_threads: String,
    pub events: String,
    pub binary_logs: String,
    pub binlog_position: String,
    pub lock_waits: String,
    pub statements: String,
    pub platform_lag: Option<[String; 2]>,
    pub mark: String,
    pub applied: String,
}

impl Statements {
    pub fn new(dialect: &Dialect, heartbeat: Option<&HeartbeatTable>, threshold: Span) -> Self {
        Statements {
            facts: facts(dialect),
            channels: format!("{NAME}{}", channels(dialect)),
            status: format!(
                "{NAME}SHOW GLOBAL STATUS WHERE Variable_name IN ({})",
                names_in(STATUS)
            ),
            appliers: appliers(dialect),
            transactions: transactions(dialect, threshold),
            heartbeat: heartbeat.map(heartbeat_rows),
            settings: format!(
                "{NAME}SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
                names_in(SETTINGS)
            ),
            replicas: format!("{NAME}{}", replicas(dialect)),
            dump_threads: dump_threads(dialect),
            events: events(heartbeat),
            binary_logs: format!("{NAME}SHOW BINARY LOGS"),
            binlog_position: format!("{NAME}{}", binlog_position(dialect)),
            lock_waits: lock_waits(dialect),
            statements: statements(dialect),
            platform_lag: dialect.is_aurora().then(platform_lag),
            mark: mark(dialect),
            applied: format!("{NAME}SELECT @@GLOBAL.{} AS applied", applied(dialect)),
        }
    }
}

fn facts(dialect: &Dialect) -> String {
    let mut columns = vec!["server_id", "hostname", "port", "read_only"];
    let optional = [
        (dialect.has_server_uuid, "server_uuid"),
        (dialect.has_super_read_only, "super_read_only"),
        (dialect.has_innodb_read_only, "innodb_read_only"),
        (dialect.has_gtid_mode, "gtid_mode"),
    ];
    columns.extend(
        optional
            .iter()
            .filter(|(has, _)| *has)
            .map(|(_, name)| name),
    );
    if dialect.product.is_mariadb() {
        columns.extend(["gtid_slave_pos", "gtid_binlog_pos", "gtid_binlog_state"]);
    } else if dialect.has_gtid_mode {
        columns.extend(["gtid_executed", "gtid_purged"]);
    }
    let columns: Vec<String> = columns
        .iter()
        .map(|name| format!("@@GLOBAL.{name} AS {name}"))
        .collect();
    format!(
        "{NAME}SELECT {}, UTC_TIMESTAMP(6) AS utc_now, NOW(6) AS local_now",
        columns.join(", ")
    )
}

fn channels(dialect: &Dialect) -> &'static str {
    if dialect.is_mariadb_from(10, 5, 2) {
        "SHOW ALL REPLICAS STATUS"
    } else if dialect.product.is_mariadb() {
        "SHOW ALL SLAVES STATUS"
    } else if dialect.says_replica() {
        "SHOW REPLICA STATUS"
    } else {
        "SHOW SLAVE STATUS"
    }
}

fn replicas(dialect: &Dialect) -> &'static str {
    if dialect.is_mariadb_from(10, 5, 2) {
        "SHOW REPLICA HOSTS"
    } else if dialect.says_replica() {
        "SHOW REPLICAS"
    } else {
        "SHOW SLAVE HOSTS"
    }
}

pub fn binlog_position(dialect: &Dialect) -> &'static str {
    if dialect.product.is_mysql_from(8, 2, 0) {
        "SHOW BINARY LOG STATUS"
    } else {
        "SHOW MASTER STATUS"
    }
}

fn processlist(dialect: &Dialect) -> &'static str {
    if dialect.has_fast_processlist() {
        "performance_schema.processlist"
    } else {
        "information_schema.PROCESSLIST"
    }
}

/// An earlier session of ours that still runs a statement: recognised by its id, our account and our comment.
pub fn hanging_session(dialect: &Dialect, session_id: u64) -> String {
    format!(
        "{NAME}SELECT id FROM {} WHERE id = {session_id} AND user = SUBSTRING_INDEX(USER(), '@', 1) \
         AND info LIKE '{}%'",
        processlist(dialect),
        NAME.trim_end()
    )
}

/// Ages against the server's system zone: `trx_started` is in that, whatever the session's zone is.
/// Those of applier threads are listed at any age: everybody behind one waits for it, and its size tells how long.
fn transactions(dialect: &Dialect, threshold: Span) -> String {
    let age =
        "TIMESTAMPDIFF(SECOND, x.trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM'))";
    format!(
        "{NAME}SELECT x.trx_id AS trx_id, x.trx_mysql_thread_id AS thread, x.trx_started AS trx_started, {age} AS age, \
         x.trx_rows_modified AS trx_rows_modified, x.trx_rows_locked AS trx_rows_locked, x.trx_query AS trx_query, \
         p.USER AS user, p.HOST AS host, p.STATE AS state \
         FROM information_schema.INNODB_TRX x LEFT JOIN {list} p ON p.ID = x.trx_mysql_thread_id \
         WHERE {age} >= {seconds} OR p.USER = 'system user' ORDER BY x.trx_started LIMIT 200",
        list = processlist(dialect),
        seconds = whole_seconds(threshold),
    )
}

/// Rounded up: a threshold below a second must not list everything.
fn whole_seconds(threshold: Span) -> u64 {
    u64::try_from(threshold.micros())
        .unwrap_or(0)
        .div_ceil(1_000_000)
}

/// Of a table that keeps its history only the newest row is of interest, and all of them would be too many.
fn heartbeat_rows(table: &HeartbeatTable) -> String {
    let time = identifier(&table.time_column);
    let server_id = table
        .server_id_column
        .as_deref()
        .map_or_else(|| "NULL".to_owned(), identifier);
    let which = if table.keeps_history {
        format!("ORDER BY {time} DESC LIMIT 1")
    } else {
        "LIMIT 1000".to_owned()
    };
    format!(
        "{NAME}SELECT {time} AS stamp, {server_id} AS server_id, UTC_TIMESTAMP(6) AS utc_now FROM {}.{} {which}",
        identifier(&table.schema),
        identifier(&table.table),
    )
}

/// The dump threads tell hosts; their user variable tells which replica it is.
fn dump_threads(dialect: &Dialect) -> String {
    if dialect.has_applier_tables() {
        return format!(
            "{NAME}SELECT t.PROCESSLIST_HOST AS host, CAST(u.VARIABLE_VALUE AS CHAR) AS uuid \
             FROM performance_schema.threads t LEFT JOIN performance_schema.user_variables_by_thread u \
             ON u.THREAD_ID = t.THREAD_ID AND u.VARIABLE_NAME IN ('replica_uuid', 'slave_uuid') \
             WHERE t.PROCESSLIST_COMMAND IN ('Binlog Dump', 'Binlog Dump GTID') LIMIT 1000"
        );
    }
    format!(
        "{NAME}SELECT HOST AS host, NULL AS uuid FROM information_schema.PROCESSLIST \
         WHERE COMMAND IN ('Binlog Dump', 'Binlog Dump GTID') LIMIT 1000"
    )
}

/// Events that may write a heartbeat. Without the EVENT privilege the list is empty, not refused.
fn events(heartbeat: Option<&HeartbeatTable>) -> String {
    let ours = heartbeat.map_or_else(String::new, |table| {
        format!(
            " OR LOCATE({}, EVENT_DEFINITION) > 0",
            literal(&table.table)
        )
    });
    format!(
        "{NAME}SELECT EVENT_SCHEMA, EVENT_NAME, STATUS, ORIGINATOR, EVENT_DEFINITION FROM information_schema.EVENTS \
         WHERE EVENT_NAME LIKE '%heartbeat%' OR EVENT_DEFINITION LIKE '%heartbeat%'{ours} LIMIT 100"
    )
}

/// Running for a second or more, and whatever waits for a lock, replication threads included.
fn statements(dialect: &Dialect) -> String {
    format!(
        "{NAME}SELECT ID AS id, USER AS user, HOST AS host, COMMAND AS command, TIME AS time, STATE AS state, \
         LEFT(INFO, 65536) AS info FROM {} WHERE (COMMAND NOT IN ('Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID') \
         AND USER NOT IN ('system user', 'event_scheduler') AND TIME >= 1 AND ID <> CONNECTION_ID()) \
         OR STATE LIKE 'Waiting for %lock' ORDER BY TIME DESC LIMIT 100",
        processlist(dialect)
    )
}

/// The newer table first; the second is asked where the first does not exist (Aurora before version 2).
fn platform_lag() -> [String; 2] {
    [
        format!(
            "{NAME}SELECT SERVER_ID, REPLICA_LAG_IN_MILLISECONDS FROM information_schema.REPLICA_HOST_STATUS \
             WHERE SESSION_ID <> 'MASTER_SESSION_ID'"
        ),
        format!(
            "{NAME}SELECT Server_id, Replica_lag_in_msec FROM mysql.ro_replica_status \
             WHERE Session_id <> 'MASTER_SESSION_ID'"
        ),
    ]
}

fn mark(dialect: &Dialect) -> String {
    let position = if dialect.product.is_mariadb() {
        "gtid_binlog_pos"
    } else {
        "gtid_executed"
    };
    format!("{NAME}SELECT @@GLOBAL.{position} AS position, UTC_TIMESTAMP(6) AS utc_now")
}

fn applied(dialect: &Dialect) -> &'static str {
    if dialect.product.is_mariadb() {
        "gtid_slave_pos"
    } else {
        "gtid_executed"
    }
}

#[cfg(test)]
mod tests;
