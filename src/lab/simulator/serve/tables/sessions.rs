//! Who is connected and what they do: process lists, threads, statements, attributes, user variables.

use super::super::super::sql::{TableData, Value};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::table::{BIGINT, Columns, INT, TEXT, table};
use super::super::threads::{self, Kind, Thread, thread_id};

pub fn performance_schema(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    let is_new = bench.generation.has_new_performance_schema();
    match name {
        "processlist" if is_new => Some(new_processlist(bench, me)),
        "threads" => Some(all_threads(bench, me)),
        "events_statements_current" => Some(current_statements(bench, me)),
        "user_variables_by_thread" if !bench.generation.is_mariadb() => {
            Some(user_variables(bench, me))
        }
        "session_connect_attrs" | "session_account_connect_attrs" => {
            Some(attributes(bench, me, name))
        }
        "events_statements_summary_by_digest" => Some(table(
            &[
                ("SCHEMA_NAME", TEXT),
                ("DIGEST", TEXT),
                ("DIGEST_TEXT", TEXT),
                ("COUNT_STAR", BIGINT),
                ("SUM_TIMER_WAIT", BIGINT),
            ],
            Vec::new(),
        )),
        _ => None,
    }
}

pub fn information_schema(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    (name == "processlist").then(|| old_processlist(bench, me))
}

/// Without PROCESS one sees oneself.
fn visible(bench: &Bench, me: &Me) -> Vec<Thread> {
    let sees_all = me.may(bench, &["PROCESS"]);
    let mut threads = threads::all(bench, me.node);
    threads.retain(|thread| sees_all || thread.kind == Kind::Client && thread.user == me.user);
    threads
}

fn processlist_row(thread: Thread) -> Vec<Value> {
    vec![
        thread.id.into(),
        thread.user.into(),
        thread.host.into(),
        thread.schema.into(),
        thread.command.into(),
        thread.seconds.into(),
        thread.state.into(),
        thread.info.into(),
    ]
}

const PROCESSLIST: &Columns = &[
    ("ID", BIGINT),
    ("USER", TEXT),
    ("HOST", TEXT),
    ("DB", TEXT),
    ("COMMAND", TEXT),
    ("TIME", INT),
    ("STATE", TEXT),
    ("INFO", TEXT),
];

fn new_processlist(bench: &Bench, me: &Me) -> TableData {
    let rows = visible(bench, me).into_iter().map(|thread| {
        let mut row = processlist_row(thread);
        row.push("PRIMARY".into());
        row
    });
    let columns: Vec<_> = PROCESSLIST
        .iter()
        .copied()
        .chain([("EXECUTION_ENGINE", TEXT)])
        .collect();
    table(&columns, rows.collect())
}

fn old_processlist(bench: &Bench, me: &Me) -> TableData {
    let rows = visible(bench, me).into_iter().map(processlist_row);
    if !bench.generation.is_mariadb() {
        return table(PROCESSLIST, rows.collect());
    }
    let rows = rows.map(|mut row| {
        let millis = match row[5] {
            Value::Int(seconds) => seconds as f64 * 1000.0,
            _ => 0.0,
        };
        let id = row[0].clone();
        row.push(Value::Double(millis));
        row.extend([0_u32; 2].map(Value::from));
        row.extend([0_u32; 1].map(Value::from));
        row.push(Value::Double(0.0));
        row.extend([0_u32; 3].map(Value::from));
        row.extend([id.clone(), Value::Null, id]);
        row
    });
    let columns: Vec<_> = PROCESSLIST
        .iter()
        .copied()
        .chain([
            ("TIME_MS", super::super::super::sql::ColumnType::Double),
            ("STAGE", INT),
            ("MAX_STAGE", INT),
            ("SENT_ROWS_SO_FAR", INT),
            ("PROGRESS", super::super::super::sql::ColumnType::Double),
            ("MEMORY_USED", BIGINT),
            ("MAX_MEMORY_USED", BIGINT),
            ("EXAMINED_ROWS", INT),
            ("QUERY_ID", BIGINT),
            ("INFO_BINARY", TEXT),
            ("TID", BIGINT),
        ])
        .collect();
    table(&columns, rows.collect())
}

const THREADS: &Columns = &[
    ("THREAD_ID", BIGINT),
    ("NAME", TEXT),
    ("TYPE", TEXT),
    ("PROCESSLIST_ID", BIGINT),
    ("PROCESSLIST_USER", TEXT),
    ("PROCESSLIST_HOST", TEXT),
    ("PROCESSLIST_DB", TEXT),
    ("PROCESSLIST_COMMAND", TEXT),
    ("PROCESSLIST_TIME", BIGINT),
    ("PROCESSLIST_STATE", TEXT),
    ("PROCESSLIST_INFO", TEXT),
    ("PARENT_THREAD_ID", BIGINT),
    ("ROLE", TEXT),
    ("INSTRUMENTED", TEXT),
    ("HISTORY", TEXT),
    ("CONNECTION_TYPE", TEXT),
    ("THREAD_OS_ID", BIGINT),
    ("RESOURCE_GROUP", TEXT),
];

fn all_threads(bench: &Bench, me: &Me) -> TableData {
    let generation = bench.generation;
    let rows = threads::all(bench, me.node).into_iter().map(|thread| {
        let is_client = matches!(thread.kind, Kind::Client | Kind::Dump);
        // Replication threads belong to whoever started them.
        let user = match thread.kind {
            Kind::Receiver | Kind::Coordinator | Kind::Worker => "admin".to_owned(),
            _ => thread.user,
        };
        let host = thread.host.split(':').next().unwrap_or_default().to_owned();
        let connection = if is_client {
            Value::from("TCP/IP")
        } else {
            Value::Null
        };
        vec![
            thread_id(thread.id).into(),
            thread.kind.instrument(generation).into(),
            "FOREGROUND".into(),
            thread.id.into(),
            user.into(),
            Value::from(Some(host).filter(|host| !host.is_empty())),
            thread.schema.into(),
            thread.command.into(),
            thread.seconds.into(),
            Value::from(Some(thread.state).filter(|state| !state.is_empty())),
            thread.info.into(),
            Value::Null,
            Value::Null,
            "YES".into(),
            "YES".into(),
            connection,
            (10_000 + thread.id).into(),
            "USR_default".into(),
        ]
    });
    table(THREADS, rows.collect())
}

fn current_statements(bench: &Bench, me: &Me) -> TableData {
    let seats = &bench.machines[me.node].seats;
    let rows = seats.iter().map(|(id, seat)| {
        let text = seat.statement.as_ref().or(seat.last_statement.as_ref());
        vec![
            thread_id(*id).into(),
            1_u32.into(),
            "statement/sql/statement".into(),
            seat.schema.clone().into(),
            text.cloned().into(),
            Value::Null,
            0_u32.into(),
            0_u32.into(),
        ]
    });
    table(
        &[
            ("THREAD_ID", BIGINT),
            ("EVENT_ID", BIGINT),
            ("EVENT_NAME", TEXT),
            ("CURRENT_SCHEMA", TEXT),
            ("SQL_TEXT", TEXT),
            ("NESTING_EVENT_ID", BIGINT),
            ("NESTING_EVENT_LEVEL", INT),
            ("ERRORS", BIGINT),
        ],
        rows.collect(),
    )
}

/// A replica says who it is in a user variable of its connection.
fn user_variables(bench: &Bench, me: &Me) -> TableData {
    let dumps = bench
        .world
        .dump_threads(me.node)
        .into_iter()
        .flat_map(|dump| {
            let thread = thread_id(dump.thread_id);
            let uuid = dump.replica_uuid.to_string();
            let old = bench.generation.says_slave();
            let names: &[&str] = if old {
                &["slave_uuid"]
            } else {
                &["replica_uuid", "slave_uuid"]
            };
            names
                .iter()
                .map(|name| vec![thread.into(), (*name).into(), uuid.clone().into()])
                .collect::<Vec<_>>()
        });
    let seats = &bench.machines[me.node].seats;
    let clients = seats.iter().flat_map(|(id, seat)| {
        seat.user_variables
            .iter()
            .map(|(name, value)| vec![thread_id(*id).into(), name.clone().into(), value.clone()])
    });
    table(
        &[
            ("THREAD_ID", BIGINT),
            ("VARIABLE_NAME", TEXT),
            ("VARIABLE_VALUE", TEXT),
        ],
        dumps.chain(clients).collect(),
    )
}

fn attributes(bench: &Bench, me: &Me, name: &str) -> TableData {
    let own = name.starts_with("session_account") || !me.may(bench, &["PROCESS"]);
    let seats = &bench.machines[me.node].seats;
    let rows = seats
        .iter()
        .filter(|(_, seat)| !own || seat.user == me.user)
        .flat_map(|(id, seat)| {
            let attributes = seat.attributes.iter().enumerate();
            attributes.map(|(nth, (name, value))| {
                vec![
                    (*id).into(),
                    name.clone().into(),
                    value.clone().into(),
                    (nth as u64).into(),
                ]
            })
        });
    table(
        &[
            ("PROCESSLIST_ID", BIGINT),
            ("ATTR_NAME", TEXT),
            ("ATTR_VALUE", TEXT),
            ("ORDINAL_POSITION", INT),
        ],
        rows.collect(),
    )
}
