//! Transactions and locks: `innodb_trx`, `data_locks`, `metadata_locks` and their older forms.

use super::super::super::sql::{TableData, Value};
use super::super::super::world::{Blocked, LockWait, Owner, TableLock, Want, WorkerState};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::table::{BIGINT, Columns, DATETIME, INT, TEXT, date_time, table};
use super::super::threads::{id_of, on_server_clock, split, table_of, thread_id};
use crate::model::time::{Moment, ServerTime};

pub fn performance_schema(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    if bench.generation.is_mariadb() && name != "metadata_locks" {
        return None;
    }
    let is_new = bench.generation.has_new_performance_schema();
    match name {
        "metadata_locks" => Some(metadata_locks(bench, me)),
        "data_locks" if is_new => Some(data_locks(bench, me)),
        "data_lock_waits" if is_new => Some(data_lock_waits(bench, me)),
        _ => None,
    }
}

pub fn information_schema(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    let has_old_ones = !bench.generation.has_new_performance_schema();
    match name {
        "innodb_trx" => Some(transactions(bench, me)),
        "innodb_locks" if has_old_ones => Some(old_locks(bench, me)),
        "innodb_lock_waits" if has_old_ones => Some(old_lock_waits(bench, me)),
        _ => None,
    }
}

/// The storage engine numbers transactions by itself.
fn transaction_id(thread: u64) -> u64 {
    421_000_000 + thread
}

/// A transaction that is open, a client's or a worker's.
struct Open {
    thread: u64,
    started: ServerTime,
    waits_since: Option<Moment>,
    statement: Option<String>,
    operation: Option<&'static str>,
    rows_modified: u64,
    rows_locked: u64,
    isolation: &'static str,
}

const TRANSACTIONS: &Columns = &[
    ("trx_id", BIGINT),
    ("trx_state", TEXT),
    ("trx_started", DATETIME),
    ("trx_requested_lock_id", TEXT),
    ("trx_wait_started", DATETIME),
    ("trx_weight", BIGINT),
    ("trx_mysql_thread_id", BIGINT),
    ("trx_query", TEXT),
    ("trx_operation_state", TEXT),
    ("trx_tables_in_use", BIGINT),
    ("trx_tables_locked", BIGINT),
    ("trx_lock_structs", BIGINT),
    ("trx_lock_memory_bytes", BIGINT),
    ("trx_rows_locked", BIGINT),
    ("trx_rows_modified", BIGINT),
    ("trx_concurrency_tickets", BIGINT),
    ("trx_isolation_level", TEXT),
    ("trx_unique_checks", INT),
    ("trx_foreign_key_checks", INT),
    ("trx_last_foreign_key_error", TEXT),
    ("trx_is_read_only", INT),
    ("trx_autocommit_non_locking", INT),
];

fn transactions(bench: &Bench, me: &Me) -> TableData {
    let waits = bench.world.lock_waits(me.node);
    let rows = open(bench, me, &waits).into_iter().map(|open| {
        let waits = open.waits_since.map(|at| {
            let at = on_server_clock(bench, me.node, at);
            Value::from(date_time(at, 0))
        });
        let lock = waits
            .is_some()
            .then(|| format!("{}:lock", transaction_id(open.thread)));
        vec![
            transaction_id(open.thread).into(),
            if waits.is_some() {
                "LOCK WAIT"
            } else {
                "RUNNING"
            }
            .into(),
            date_time(open.started, 0).into(),
            lock.into(),
            waits.unwrap_or_default(),
            (open.rows_modified + open.rows_locked + 1).into(),
            open.thread.into(),
            open.statement.into(),
            open.operation.into(),
            0_u32.into(),
            1_u32.into(),
            2_u32.into(),
            1128_u32.into(),
            open.rows_locked.into(),
            open.rows_modified.into(),
            0_u32.into(),
            open.isolation.into(),
            1_u32.into(),
            1_u32.into(),
            Value::Null,
            0_u32.into(),
            0_u32.into(),
        ]
    });
    table(TRANSACTIONS, rows.collect())
}

fn open(bench: &Bench, me: &Me, waits: &[LockWait]) -> Vec<Open> {
    let node = me.node;
    let waits_since = |owner: &Owner| {
        let is_row = |wait: &&LockWait| matches!(wait.on.what, Blocked::Row(_));
        waits
            .iter()
            .filter(is_row)
            .find(|wait| wait.waiter == *owner)
            .map(|wait| wait.since)
    };
    let clients = bench.machines[node].seats.iter().filter_map(|(id, seat)| {
        let transaction = seat.transaction?;
        Some(Open {
            thread: *id,
            started: on_server_clock(bench, node, transaction.since),
            waits_since: waits_since(&Owner::Session(*id)),
            statement: seat.statement.clone(),
            operation: None,
            rows_modified: transaction.rows_modified,
            rows_locked: transaction.rows_locked,
            isolation: transaction.isolation,
        })
    });
    clients.chain(workers(bench, me, &waits_since)).collect()
}

fn workers(bench: &Bench, me: &Me, waits_since: &dyn Fn(&Owner) -> Option<Moment>) -> Vec<Open> {
    let world = &bench.world;
    let mut found = Vec::new();
    for channel in world.channels(me.node) {
        let Some(status) = world.channel_status(me.node, &channel) else {
            continue;
        };
        let single_thread = status.applier.thread_id;
        let with_numbers = status
            .applier
            .workers
            .iter()
            .map(|worker| (worker.number, worker.thread_id, worker));
        let single = status.applier.single.iter().map(|w| (0, single_thread, w));
        for (number, thread, worker) in with_numbers.chain(single) {
            // Waiting for a table's definition it has touched no row yet.
            let waits_for_table = matches!(&worker.doing, WorkerState::WaitingForLock { on, .. }
                if !matches!(on.what, Blocked::Row(_)));
            let (Some(thread), Some(applying)) = (thread, &worker.applying) else {
                continue;
            };
            if waits_for_table {
                continue;
            }
            let owner = Owner::Worker {
                channel: channel.clone(),
                number,
            };
            found.push(Open {
                thread,
                started: applying.started,
                waits_since: waits_since(&owner),
                statement: None,
                operation: Some("updating or deleting"),
                rows_modified: applying.rows_done,
                rows_locked: applying.rows_done,
                isolation: "REPEATABLE READ",
            });
        }
    }
    found
}

/// Waits for rows: who waits for whom, over which table.
fn row_waits<'a>(bench: &Bench, me: &Me, waits: &'a [LockWait]) -> Vec<(u64, u64, &'a str)> {
    waits
        .iter()
        .filter_map(|wait| match &wait.on.what {
            Blocked::Row(table) => Some((
                id_of(bench, me.node, &wait.waiter)?,
                id_of(bench, me.node, &wait.on.owner)?,
                &**table,
            )),
            _ => None,
        })
        .collect()
}

fn lock_id(thread: u64, table: &str) -> String {
    format!("{}:{table}", transaction_id(thread))
}

fn data_locks(bench: &Bench, me: &Me) -> TableData {
    const COLUMNS: &Columns = &[
        ("ENGINE", TEXT),
        ("ENGINE_LOCK_ID", TEXT),
        ("ENGINE_TRANSACTION_ID", BIGINT),
        ("THREAD_ID", BIGINT),
        ("EVENT_ID", BIGINT),
        ("OBJECT_SCHEMA", TEXT),
        ("OBJECT_NAME", TEXT),
        ("PARTITION_NAME", TEXT),
        ("SUBPARTITION_NAME", TEXT),
        ("INDEX_NAME", TEXT),
        ("OBJECT_INSTANCE_BEGIN", BIGINT),
        ("LOCK_TYPE", TEXT),
        ("LOCK_MODE", TEXT),
        ("LOCK_STATUS", TEXT),
        ("LOCK_DATA", TEXT),
    ];
    let waits = bench.world.lock_waits(me.node);
    let row = |thread: u64, table: &str, status: &str| {
        let (schema, name) = split(table);
        vec![
            "INNODB".into(),
            lock_id(thread, table).into(),
            transaction_id(thread).into(),
            thread_id(thread).into(),
            1_u32.into(),
            schema.into(),
            name.into(),
            Value::Null,
            Value::Null,
            "PRIMARY".into(),
            140_000_000_u32.into(),
            "RECORD".into(),
            "X,REC_NOT_GAP".into(),
            status.into(),
            Value::Null,
        ]
    };
    let mut rows = Vec::new();
    for (thread, table) in held_rows(bench, me) {
        rows.push(row(thread, &table, "GRANTED"));
    }
    for (waiter, holder, table) in row_waits(bench, me, &waits) {
        rows.push(row(waiter, table, "WAITING"));
        let held = lock_id(holder, table);
        let is_listed = |row: &Vec<Value>| row[1] == Value::from(held.clone());
        if !rows.iter().any(is_listed) {
            rows.push(row(holder, table, "GRANTED"));
        }
    }
    super::super::table::table(COLUMNS, rows)
}

/// Tables in which clients hold rows.
fn held_rows(bench: &Bench, me: &Me) -> Vec<(u64, String)> {
    let mut held = Vec::new();
    for id in bench.machines[me.node].seats.keys() {
        for (want, _) in bench.world.locks_of(me.node, &Owner::Session(*id)) {
            if let Want::Rows(table, _) | Want::AllRows(table) = want {
                held.push((*id, table.to_string()));
            }
        }
    }
    held.dedup();
    held
}

fn data_lock_waits(bench: &Bench, me: &Me) -> TableData {
    const COLUMNS: &Columns = &[
        ("ENGINE", TEXT),
        ("REQUESTING_ENGINE_LOCK_ID", TEXT),
        ("REQUESTING_ENGINE_TRANSACTION_ID", BIGINT),
        ("REQUESTING_THREAD_ID", BIGINT),
        ("REQUESTING_EVENT_ID", BIGINT),
        ("REQUESTING_OBJECT_INSTANCE_BEGIN", BIGINT),
        ("BLOCKING_ENGINE_LOCK_ID", TEXT),
        ("BLOCKING_ENGINE_TRANSACTION_ID", BIGINT),
        ("BLOCKING_THREAD_ID", BIGINT),
        ("BLOCKING_EVENT_ID", BIGINT),
        ("BLOCKING_OBJECT_INSTANCE_BEGIN", BIGINT),
    ];
    let waits = bench.world.lock_waits(me.node);
    let side = |thread: u64, table: &str| -> [Value; 5] {
        [
            lock_id(thread, table).into(),
            transaction_id(thread).into(),
            thread_id(thread).into(),
            1_u32.into(),
            140_000_000_u32.into(),
        ]
    };
    let rows = row_waits(bench, me, &waits)
        .into_iter()
        .map(|(waiter, holder, table)| {
            let mut row = vec!["INNODB".into()];
            row.extend(side(waiter, table));
            row.extend(side(holder, table));
            row
        });
    table(COLUMNS, rows.collect())
}

const METADATA_LOCKS: &Columns = &[
    ("OBJECT_TYPE", TEXT),
    ("OBJECT_SCHEMA", TEXT),
    ("OBJECT_NAME", TEXT),
    ("COLUMN_NAME", TEXT),
    ("OBJECT_INSTANCE_BEGIN", BIGINT),
    ("LOCK_TYPE", TEXT),
    ("LOCK_DURATION", TEXT),
    ("LOCK_STATUS", TEXT),
    ("SOURCE", TEXT),
    ("OWNER_THREAD_ID", BIGINT),
    ("OWNER_EVENT_ID", BIGINT),
];

fn metadata_locks(bench: &Bench, me: &Me) -> TableData {
    let mut rows = Vec::new();
    for id in bench.machines[me.node].seats.keys() {
        for (want, _) in bench.world.locks_of(me.node, &Owner::Session(*id)) {
            rows.extend(granted(&want, *id));
        }
    }
    for wait in bench.world.lock_waits(me.node) {
        rows.extend(pending(bench, me, &wait));
    }
    table(METADATA_LOCKS, rows)
}

fn metadata_lock(
    object: Option<(&str, &str)>,
    kind: &str,
    duration: &str,
    status: &str,
    thread: u64,
) -> Vec<Value> {
    vec![
        if object.is_some() { "TABLE" } else { "GLOBAL" }.into(),
        object.map(|(schema, _)| schema).into(),
        object.map(|(_, name)| name).into(),
        Value::Null,
        140_000_000_u32.into(),
        kind.into(),
        duration.into(),
        status.into(),
        "".into(),
        thread_id(thread).into(),
        1_u32.into(),
    ]
}

fn granted(want: &Want, thread: u64) -> Option<Vec<Value>> {
    match want {
        Want::GlobalRead => Some(metadata_lock(None, "SHARED", "EXPLICIT", "GRANTED", thread)),
        Want::GlobalWrite => Some(metadata_lock(
            None,
            "INTENTION_EXCLUSIVE",
            "STATEMENT",
            "GRANTED",
            thread,
        )),
        Want::Table(name, lock) => {
            let kind = match lock {
                TableLock::Read => "SHARED_READ",
                TableLock::Write => "SHARED_WRITE",
                TableLock::ReadOnly => "SHARED_READ_ONLY",
                TableLock::Exclusive => "SHARED_NO_READ_WRITE",
            };
            Some(metadata_lock(
                Some(split(name)),
                kind,
                "TRANSACTION",
                "GRANTED",
                thread,
            ))
        }
        Want::Rows(..) | Want::AllRows(_) => None,
    }
}

fn pending(bench: &Bench, me: &Me, wait: &LockWait) -> Option<Vec<Value>> {
    let thread = id_of(bench, me.node, &wait.waiter)?;
    match &wait.on.what {
        Blocked::Global => Some(metadata_lock(
            None,
            "INTENTION_EXCLUSIVE",
            "STATEMENT",
            "PENDING",
            thread,
        )),
        Blocked::Table(_) => Some(metadata_lock(
            table_of(&wait.on.what),
            "SHARED_WRITE",
            "TRANSACTION",
            "PENDING",
            thread,
        )),
        Blocked::Row(_) => None,
    }
}

fn old_locks(bench: &Bench, me: &Me) -> TableData {
    let waits = bench.world.lock_waits(me.node);
    let row = |thread: u64, table: &str| {
        let (schema, name) = split(table);
        vec![
            lock_id(thread, table).into(),
            transaction_id(thread).into(),
            "X".into(),
            "RECORD".into(),
            format!("`{schema}`.`{name}`").into(),
            "PRIMARY".into(),
            0_u32.into(),
            3_u32.into(),
            2_u32.into(),
            Value::Null,
        ]
    };
    let rows = row_waits(bench, me, &waits)
        .into_iter()
        .flat_map(|(waiter, holder, table)| [row(waiter, table), row(holder, table)]);
    table(
        &[
            ("lock_id", TEXT),
            ("lock_trx_id", TEXT),
            ("lock_mode", TEXT),
            ("lock_type", TEXT),
            ("lock_table", TEXT),
            ("lock_index", TEXT),
            ("lock_space", BIGINT),
            ("lock_page", BIGINT),
            ("lock_rec", BIGINT),
            ("lock_data", TEXT),
        ],
        rows.collect(),
    )
}

fn old_lock_waits(bench: &Bench, me: &Me) -> TableData {
    let waits = bench.world.lock_waits(me.node);
    let rows = row_waits(bench, me, &waits)
        .into_iter()
        .map(|(waiter, holder, table)| {
            vec![
                transaction_id(waiter).into(),
                lock_id(waiter, table).into(),
                transaction_id(holder).into(),
                lock_id(holder, table).into(),
            ]
        });
    table(
        &[
            ("requesting_trx_id", TEXT),
            ("requested_lock_id", TEXT),
            ("blocking_trx_id", TEXT),
            ("blocking_lock_id", TEXT),
        ],
        rows.collect(),
    )
}
