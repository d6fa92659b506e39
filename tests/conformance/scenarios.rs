//! What is done on both sides, in the same order. Each scenario leaves the topology as it found it.

use std::thread;
use std::time::{Duration, Instant};

use mysql::Row;
use mysql::prelude::Queryable;
use replicascope::model::replication::{Channel, Field, ThreadState};
use replicascope::model::sample::Sample;

use super::picture::Album;
use super::stand::Stand;

type Scenario = fn(&mut Stand, &mut Album);

pub const SCENARIOS: [(&str, Scenario); 17] = [
    ("quiet", quiet),
    ("applier stopped", applier_stopped),
    ("receiver stopped", receiver_stopped),
    ("planned delay", planned_delay),
    ("table locked", table_locked),
    ("row locked", row_locked),
    ("big transaction", big_transaction),
    ("semi-sync lost", semi_sync_lost),
    ("errant", errant),
    ("duplicate key", duplicate_key),
    ("replica killed", replica_killed),
    ("source killed", source_killed),
    ("worker receipts", worker_receipts),
    ("until", until),
    ("refused", refused),
    ("reset all", reset_all),
    ("filtered", filtered),
];

const ORDER: &str =
    "INSERT INTO shop.orders (customer, address, status, amount) VALUES (1, 'x', 'new', 1.00)";

fn channel(sample: &Sample) -> &Channel {
    &sample.channels()[0]
}

fn seconds_behind(sample: &Sample) -> Option<i64> {
    channel(sample).seconds_behind.value().copied()
}

fn write(stand: &Stand, times: usize) {
    let mut session = stand.session(0);
    for _ in 0..times {
        session.query_drop(ORDER).expect("the source takes writes");
    }
}

fn keep(stand: &mut Stand, album: &mut Album, moment: &str, server: usize) {
    let sample = stand.poll_until(server, moment, |_| true);
    album.keep(moment, &sample);
}

/// Between a transaction and the next checkpoint even a current replica says 1 for a moment.
fn keep_current(stand: &mut Stand, album: &mut Album, moment: &str, replica: usize) {
    let sample = stand.poll_until(replica, moment, |sample| seconds_behind(sample) == Some(0));
    album.keep(moment, &sample);
}

/// At rest, with nothing between the servers and nothing running but the heartbeat.
fn quiet(stand: &mut Stand, album: &mut Album) {
    write(stand, 20);
    stand.settle();
    keep(stand, album, "source", 0);
    for replica in 1..stand.servers() {
        let sample = stand.poll_until(replica, "nothing to do", |sample| {
            seconds_behind(sample) == Some(0)
                && channel(sample)
                    .applier_doing
                    .as_deref()
                    .is_some_and(|doing| doing.starts_with("Replica has read all relay log"))
        });
        album.keep(&format!("replica {replica}"), &sample);
    }
}

fn applier_stopped(stand: &mut Stand, album: &mut Album) {
    stand.sql(1, &["STOP REPLICA SQL_THREAD"]);
    write(stand, 5);
    let sample = stand.poll_until(1, "a stopped applier", |sample| {
        channel(sample).applier == ThreadState::Stopped && seconds_behind(sample).is_none()
    });
    album.keep("stopped", &sample);
    stand.sql(1, &["START REPLICA SQL_THREAD"]);
    stand.settle();
    keep_current(stand, album, "running again", 1);
}

/// With a backlog `Seconds_Behind_Source` stays a number, without it becomes NULL.
fn receiver_stopped(stand: &mut Stand, album: &mut Album) {
    stand.sql(1, &["STOP REPLICA IO_THREAD"]);
    write(stand, 3);
    let sample = stand.poll_until(1, "a stopped receiver", |sample| {
        channel(sample).receiver == ThreadState::Stopped && seconds_behind(sample).is_none()
    });
    album.keep("without backlog", &sample);
    stand.sql(1, &["START REPLICA IO_THREAD"]);
    stand.settle();

    stand.sql(1, &["STOP REPLICA SQL_THREAD"]);
    write(stand, 5);
    stand.poll_until(1, "a backlog", |sample| {
        channel(sample).applier == ThreadState::Stopped && has_backlog(sample)
    });
    let mut lock = stand.session(1);
    lock.query_drop("LOCK TABLES shop.orders READ")
        .expect("admin may lock");
    stand.sql(1, &["START REPLICA SQL_THREAD", "STOP REPLICA IO_THREAD"]);
    let sample = stand.poll_until(1, "a stopped receiver with a backlog", |sample| {
        channel(sample).receiver == ThreadState::Stopped
            && channel(sample).applier == ThreadState::Running
            && seconds_behind(sample).is_some()
    });
    album.note(
        "with backlog",
        "seconds_behind is a number",
        seconds_behind(&sample).is_some(),
    );
    drop(lock);
    stand.sql(1, &["START REPLICA IO_THREAD"]);
}

fn has_backlog(sample: &Sample) -> bool {
    match (&channel(sample).read, &channel(sample).executed) {
        (Some(read), Some(executed)) => read.position > executed.position,
        _ => false,
    }
}

fn planned_delay(stand: &mut Stand, album: &mut Album) {
    stand.sql(
        1,
        &[
            "STOP REPLICA SQL_THREAD",
            "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 3",
            "START REPLICA SQL_THREAD",
        ],
    );
    let written_at = Instant::now();
    write(stand, 1);
    let sample = stand.poll_until(1, "a delay being waited for", |sample| {
        channel(sample).remaining_delay.is_some()
            && matches!(channel(sample).seconds_behind, Field::Value(1..))
    });
    album.keep("waiting", &sample);
    let set = stand.value(0, "SELECT @@GLOBAL.gtid_executed");
    stand.value(
        1,
        &format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{set}', 60)"),
    );
    let seconds = written_at.elapsed().as_secs_f64();
    album.note(
        "waiting",
        "takes its delay",
        (2.0..20.0).contains(&seconds), // in whole seconds: the first may be short
    );
    stand.sql(
        1,
        &[
            "STOP REPLICA SQL_THREAD",
            "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 0",
            "START REPLICA SQL_THREAD",
        ],
    );
}

fn applier_waits(sample: &Sample) -> bool {
    let waits = sample.lock_waits.value();
    waits.is_some_and(|waits| waits.iter().any(|wait| wait.waiter_is_applier))
}

fn table_locked(stand: &mut Stand, album: &mut Album) {
    let mut lock = stand.session(1);
    lock.query_drop("LOCK TABLES shop.orders READ")
        .expect("admin may lock");
    write(stand, 3);
    let sample = stand.poll_until(1, "an applier that waits for a table", |sample| {
        applier_waits(sample) && seconds_behind(sample).is_some_and(|seconds| seconds > 0)
    });
    album.keep("waiting", &sample);
    lock.query_drop("UNLOCK TABLES")
        .expect("a session unlocks its own tables");
    stand.settle();
}

fn row_locked(stand: &mut Stand, album: &mut Album) {
    stand.sql(
        1,
        &[
            "SET GLOBAL super_read_only = OFF",
            "SET GLOBAL read_only = OFF",
        ],
    );
    let mut holder = stand.session(1);
    holder.query_drop("BEGIN").expect("a transaction");
    holder
        .query_drop("UPDATE shop.orders SET status = 'held' WHERE id = 1")
        .expect("a writable replica");
    stand.sql(0, &["UPDATE shop.orders SET status = 'paid' WHERE id = 1"]);
    let sample = stand.poll_until(1, "an applier that waits for a row", |sample| {
        applier_waits(sample) && seconds_behind(sample).is_some_and(|seconds| seconds > 0)
    });
    album.keep("waiting", &sample);
    holder.query_drop("ROLLBACK").expect("a rollback");
    stand.settle();
    stand.sql(1, &["SET GLOBAL super_read_only = ON"]);
}

/// `Seconds_Behind_Source` counts from the start of the statement: it jumps at the commit by the source's run time.
fn big_transaction(stand: &mut Stand, album: &mut Album) {
    let mut session = stand.session(0);
    session
        .query_drop(
            "CREATE TABLE shop.big (id INT AUTO_INCREMENT PRIMARY KEY, pad VARCHAR(100) NOT NULL)",
        )
        .expect("the source takes writes");
    let mut rows = 100_000;
    let mut took = Duration::ZERO;
    while took < Duration::from_millis(2500) {
        rows *= 2;
        assert!(rows < 50_000_000, "nothing is big here");
        let began = Instant::now();
        session
            .query_drop(format!(
                "INSERT INTO shop.big (pad) SELECT 'x' FROM shop.orders a CROSS JOIN shop.orders b LIMIT {rows}"
            ))
            .expect("the source takes writes");
        took = began.elapsed();
    }
    let committed_at = Instant::now();
    let set = stand.value(0, "SELECT @@GLOBAL.gtid_executed");
    let mut largest = 0;
    let applied = format!("SELECT GTID_SUBSET('{set}', @@GLOBAL.gtid_executed)");
    while stand.value(1, &applied) != "1" {
        if let Some(sample) = stand.poll(1) {
            largest = largest.max(seconds_behind(&sample).unwrap_or(0));
        }
        thread::sleep(Duration::from_millis(50));
    }
    let lag = committed_at.elapsed().as_secs_f64();
    eprintln!(
        "{}: ran {took:?}, applied {lag:.1} s later, at most {largest} s behind",
        stand.name
    );
    let overstates = largest as f64 >= lag + took.as_secs_f64() * 0.5 - 1.5;
    album.note(
        "while applying",
        "seconds_behind counts from the statement's start",
        overstates,
    );
    album.note(
        "while applying",
        "lags for about as long as it ran",
        lag > took.as_secs_f64() * 0.2,
    );
    stand.settle();
    let sample = stand.poll_until(1, "no lag", |sample| seconds_behind(sample) == Some(0));
    album.note(
        "after",
        "seconds_behind",
        seconds_behind(&sample).unwrap_or(-1),
    );
    session
        .query_drop("DROP TABLE shop.big")
        .expect("a table can be dropped");
}

fn semi_sync_lost(stand: &mut Stand, album: &mut Album) {
    for replica in [1, 2] {
        stand.sql(
            replica,
            &[
                "SET GLOBAL rpl_semi_sync_replica_enabled = OFF",
                "STOP REPLICA IO_THREAD",
                "START REPLICA IO_THREAD",
            ],
        );
    }
    let began = Instant::now();
    write(stand, 1);
    let waited = began.elapsed();
    // Of 1 s, or what is left of it where the heartbeat's commit was waiting already.
    album.note(
        "degrading",
        "the commit waits for the time-out",
        waited > Duration::from_millis(100),
    );
    let sample = stand.poll_until(0, "semi-sync given up", |sample| {
        let source = sample.semi_sync.value().and_then(|s| s.source.as_ref());
        source.is_some_and(|source| source.active == Some(false))
    });
    album.keep("degraded, source", &sample);
    keep(stand, album, "degraded, replica", 1);
    for replica in [1, 2] {
        stand.sql(
            replica,
            &[
                "SET GLOBAL rpl_semi_sync_replica_enabled = ON",
                "STOP REPLICA IO_THREAD",
                "START REPLICA IO_THREAD",
            ],
        );
    }
    write(stand, 1);
    stand.settle();
    keep(stand, album, "in force again", 0);
}

fn errant(stand: &mut Stand, album: &mut Album) {
    stand.sql(
        1,
        &[
            "SET GLOBAL super_read_only = OFF",
            "SET GLOBAL read_only = OFF",
        ],
    );
    stand.sql(1, &["CREATE DATABASE errant"]);
    stand.sql(1, &["SET GLOBAL super_read_only = ON"]);
    keep_current(stand, album, "replica", 1);
    let foreign = format!(
        "SELECT GTID_SUBTRACT(@@GLOBAL.gtid_executed, '{}') <> ''",
        stand.value(0, "SELECT @@GLOBAL.gtid_executed")
    );
    album.note(
        "replica",
        "has what the source has not",
        stand.value(1, &foreign),
    );
    let mut refused = stand.session(1);
    let error = refused
        .query_drop("CREATE DATABASE refused")
        .expect_err("super_read_only");
    album.note("replica", "then refuses", error.to_string());
    stand.sql(0, &["CREATE DATABASE IF NOT EXISTS errant"]);
}

fn duplicate_key(stand: &mut Stand, album: &mut Album) {
    let next = "SELECT MAX(id) + 100 FROM shop.orders";
    let id = stand.value(0, next);
    let row = format!(
        "INSERT INTO shop.orders (id, customer, address, status, amount) VALUES ({id}, 1, 'x', 'new', 1.00)"
    );
    stand.sql(
        1,
        &[
            "SET GLOBAL super_read_only = OFF",
            "SET sql_log_bin = 0",
            &row,
        ],
    );
    stand.sql(1, &["SET GLOBAL super_read_only = ON"]);
    stand.sql(0, &[&row]);
    let sample = stand.poll_until(1, "a broken applier", |sample| {
        channel(sample).applier == ThreadState::Stopped && channel(sample).applier_error.is_some()
    });
    album.keep("broken", &sample);
    let gone = format!("DELETE FROM shop.orders WHERE id = {id}");
    stand.sql(
        1,
        &[
            "SET GLOBAL super_read_only = OFF",
            "SET sql_log_bin = 0",
            &gone,
        ],
    );
    stand.sql(
        1,
        &[
            "SET GLOBAL super_read_only = ON",
            "START REPLICA SQL_THREAD",
        ],
    );
    stand.settle();
    keep_current(stand, album, "repaired", 1);
}

fn replica_killed(stand: &mut Stand, album: &mut Album) {
    stand.kill(1);
    write(stand, 3);
    stand.poll_until(0, "one replica gone", |sample| {
        let source = sample.semi_sync.value().and_then(|s| s.source.as_ref());
        source.is_some_and(|source| source.clients == Some(1))
    });
    stand.restart(1);
    stand.settle();
    keep_current(stand, album, "restarted", 1);
}

fn source_killed(stand: &mut Stand, album: &mut Album) {
    stand.kill(0);
    let sample = stand.poll_until(1, "a receiver that tries to connect", |sample| {
        let channel = channel(sample);
        let error = channel.receiver_error.as_ref();
        channel.receiver == ThreadState::Connecting
            && error.is_some_and(|error| error.number == 2003)
            && seconds_behind(sample).is_none()
    });
    album.keep("source gone", &sample);
    stand.restart(0);
    stand.settle();
    keep(stand, album, "source back", 0);
}

/// What the workers tell of the transactions that they applied and are applying.
fn worker_receipts(stand: &mut Stand, album: &mut Album) {
    const WORKERS: &str = "performance_schema.replication_applier_status_by_worker";
    write(stand, 5);
    stand.settle();
    let last = format!(
        "SELECT * FROM {WORKERS} WHERE LAST_APPLIED_TRANSACTION <> '' AND APPLYING_TRANSACTION = ''
         ORDER BY LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP DESC LIMIT 1"
    );
    album.row("applied", "worker", &stand.row(1, &last));
    let order = format!(
        "SELECT MIN(LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP = LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP)
                AS original_is_immediate,
                MIN(LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP < LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP)
                AS committed_before_applied,
                MIN(LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP < LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP)
                AS started_before_ended
         FROM {WORKERS} WHERE LAST_APPLIED_TRANSACTION <> ''"
    );
    album.row("applied", "order", &stand.row(1, &order));
    for (name, table) in [
        ("coordinator", "replication_applier_status_by_coordinator"),
        ("applier", "replication_applier_status"),
        ("applier_configuration", "replication_applier_configuration"),
    ] {
        let row = stand.row(1, &format!("SELECT * FROM performance_schema.{table}"));
        album.row("applied", name, &row);
    }

    let mut lock = stand.session(1);
    lock.query_drop("LOCK TABLES shop.orders READ")
        .expect("admin may lock");
    write(stand, 1);
    stand.poll_until(1, "an applier that waits for a table", applier_waits);
    let applying = format!(
        "SELECT SERVICE_STATE, APPLYING_TRANSACTION, APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP,
                APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP, APPLYING_TRANSACTION_START_APPLY_TIMESTAMP,
                APPLYING_TRANSACTION_RETRIES_COUNT, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER,
                APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP
         FROM {WORKERS} WHERE APPLYING_TRANSACTION <> '' ORDER BY APPLYING_TRANSACTION LIMIT 1"
    );
    album.row("applying", "worker", &stand.row(1, &applying));
    drop(lock);
    stand.settle();
}

/// The applier goes as far as it was told to, and says why it stands.
fn until(stand: &mut Stand, album: &mut Album) {
    stand.sql(1, &["STOP REPLICA"]);
    write(stand, 2);
    let goal = stand.value(0, "SELECT @@GLOBAL.gtid_executed");
    write(stand, 3);
    let start = format!("START REPLICA UNTIL SQL_AFTER_GTIDS = '{goal}'");
    stand.sql(1, &[&start]);
    let has_it = format!("SELECT GTID_SUBSET('{goal}', @@GLOBAL.gtid_executed)");
    let sample = stand.poll_until(1, "an applier at its goal", |sample| {
        channel(sample).applier == ThreadState::Stopped && seconds_behind(sample).is_none()
    });
    album.keep("after these", &sample);
    album.note("after these", "has its goal", stand.value(1, &has_it));
    let all = stand.value(0, "SELECT @@GLOBAL.gtid_executed");
    let has_all = format!("SELECT GTID_SUBSET('{all}', @@GLOBAL.gtid_executed)");
    album.note("after these", "has all", stand.value(1, &has_all));
    stand.sql(1, &["STOP REPLICA", "START REPLICA"]);
    stand.settle();
    keep_current(stand, album, "running again", 1);
}

/// Numbers and words of what servers refuse.
fn refused(stand: &mut Stand, album: &mut Album) {
    const ON_THE_SOURCE: &[&str] = &[
        "START REPLICA",
        "START REPLICA UNTIL SQL_AFTER_GTIDS = 'nonsense'",
        "CHANGE MASTER TO MASTER_DELAY = 5",
        "SHOW SLAVE STATUS",
        "SHOW MASTER STATUS",
        "PURGE BINARY LOGS TO 'nope.000001'",
        "SHOW BINLOG EVENTS IN 'nope.000001'",
        "RESET BINARY LOGS AND GTIDS TO 0",
        "SET GTID_NEXT = 'ANONYMOUS'",
        "SET GTID_NEXT = 'nonsense'",
        "SELECT WAIT_FOR_EXECUTED_GTID_SET('nonsense')",
        "KILL 999999",
    ];
    const WHILE_IT_RUNS: &[&str] = &[
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1'",
        "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 5",
        "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 99999999999",
        "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = -1",
        "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1",
        "CHANGE REPLICATION SOURCE TO SOURCE_NOPE = 1",
        "CHANGE REPLICATION FILTER REPLICATE_IGNORE_TABLE = (shop.x)",
        "RESET REPLICA",
        "RESET REPLICA ALL",
        "START REPLICA FOR CHANNEL 'nope'",
        "STOP REPLICA FOR CHANNEL 'nope'",
        "INSERT INTO shop.orders (customer, address, status, amount) VALUES (1, 'x', 'new', 1.00)",
        "SET GLOBAL sql_replica_skip_counter = 1",
    ];
    const WHILE_IT_STANDS: &[&str] = &[
        "CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE = 'binlog.000001', SOURCE_LOG_POS = 4",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = ''",
        "CHANGE REPLICATION SOURCE TO SOURCE_HEARTBEAT_PERIOD = 99999999",
        "START REPLICA UNTIL SOURCE_LOG_FILE = 'binlog.000001'",
        "START REPLICA UNTIL NOPE = 1",
    ];
    let mut all = |moment: &str, server: usize, statements: &[&str]| {
        let mut session = stand.session(server);
        for sql in statements {
            album.refusal(moment, sql, &session.query::<Row, _>(sql).map(drop));
        }
    };
    all("on the source", 0, ON_THE_SOURCE);
    all("while it runs", 1, WHILE_IT_RUNS);
    stand.sql(1, &["STOP REPLICA"]);
    let mut all = |moment: &str, server: usize, statements: &[&str]| {
        let mut session = stand.session(server);
        for sql in statements {
            album.refusal(moment, sql, &session.query::<Row, _>(sql).map(drop));
        }
    };
    all("while it stands", 1, WHILE_IT_STANDS);
    stand.sql(1, &["START REPLICA"]);
}

/// A replica that has forgotten its source, and is pointed at it again.
fn reset_all(stand: &mut Stand, album: &mut Album) {
    stand.sql(2, &["STOP REPLICA", "RESET REPLICA ALL"]);
    let sample = stand.poll_until(2, "no channel", |sample| sample.channels().is_empty());
    album.keep("no channel", &sample);
    let started = stand.session(2).query_drop("START REPLICA");
    album.refusal("no channel", "START REPLICA", &started);
    write(stand, 2);
    stand.point(2);
    stand.settle();
    keep_current(stand, album, "pointed again", 2);
}

/// What is filtered out counts as executed and is not there. The last scenario: it leaves the replica without the rows.
fn filtered(stand: &mut Stand, album: &mut Album) {
    let filter = |tables: &str| {
        let change = format!("CHANGE REPLICATION FILTER REPLICATE_IGNORE_TABLE = ({tables})");
        [
            "STOP REPLICA SQL_THREAD".to_owned(),
            change,
            "START REPLICA SQL_THREAD".to_owned(),
        ]
    };
    let say = |stand: &Stand, tables: &str| {
        for sql in filter(tables) {
            stand.sql(1, &[&sql]);
        }
    };
    say(stand, "shop.orders");
    let count = "SELECT COUNT(*) FROM shop.orders";
    let before = stand.value(1, count);
    write(stand, 3);
    stand.settle();
    keep_current(stand, album, "filtered", 1);
    album.note(
        "filtered",
        "has no row more",
        stand.value(1, count) == before,
    );
    for name in [
        "replication_applier_filters",
        "replication_applier_global_filters",
    ] {
        let row = stand.row(1, &format!("SELECT * FROM performance_schema.{name}"));
        album.row("filtered", name, &row);
    }
    say(stand, "");
    stand.settle();
}

/// The same of MariaDB, which has words and numbers of its own; and how its threads look, since that is all that it tells
/// of its workers.
pub fn mariadb(stand: &mut Stand, album: &mut Album) {
    const ON_THE_SOURCE: &[&str] = &[
        "START SLAVE",
        "STOP SLAVE 'nope'",
        "PURGE BINARY LOGS TO 'nope.000001'",
        "SHOW BINLOG EVENTS IN 'nope.000001'",
        "SELECT MASTER_GTID_WAIT('nonsense', 0)",
        "KILL 999999",
    ];
    const WHILE_IT_RUNS: &[&str] = &[
        "CHANGE MASTER TO MASTER_HOST = '127.0.0.1'",
        "CHANGE MASTER TO MASTER_DELAY = 5",
        "RESET SLAVE",
        "RESET SLAVE ALL",
        "START SLAVE 'nope'",
        "START SLAVE UNTIL MASTER_LOG_FILE = 'binlog.000001'",
        "SET GLOBAL gtid_slave_pos = '0-1-1'",
    ];
    const THREADS: &str = "SELECT GROUP_CONCAT(CONCAT(COMMAND, ': ', STATE) ORDER BY COMMAND, STATE SEPARATOR '; ') AS threads
        FROM (SELECT DISTINCT COMMAND, STATE FROM information_schema.PROCESSLIST WHERE USER = 'system user') AS t";
    album.begin("mariadb");
    stand.poll_until(1, "a replica with nothing to do", |sample| {
        sample.channels().iter().any(|channel| {
            channel.receiver.is_running()
                && channel.applier.is_running()
                && channel
                    .applier_doing
                    .as_deref()
                    .is_some_and(|doing| doing.starts_with("Slave has read all"))
        })
    });
    album.row("idle", "processlist", &stand.row(1, THREADS));
    for (moment, server, statements) in [
        ("on the source", 0, ON_THE_SOURCE),
        ("while it runs", 1, WHILE_IT_RUNS),
    ] {
        let mut session = stand.session(server);
        for sql in statements {
            album.refusal(moment, sql, &session.query::<Row, _>(sql).map(drop));
        }
    }
}
