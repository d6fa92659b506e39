//! The binary log: position, files, events.

use super::super::super::sql::{TableData, Value};
use super::super::super::world::{BinlogTransaction, Gtid};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::problems::problem;
use super::super::settings::gtids;
use super::super::table::{BIGINT, Columns, INT, TEXT, table};
use super::super::words::Words;
use super::may_see_binlog;
use crate::lab::wire::SqlError;
use crate::model::gtid::Gtids;
use crate::model::lab::Generation;

/// `None`: it is another SHOW.
pub fn show(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<Option<TableData>, SqlError> {
    let generation = bench.generation;
    let is_status = match generation {
        Generation::MySql57 | Generation::MySql80 => words.accept("MASTER STATUS"),
        _ if generation.is_mariadb() => {
            words.accept("MASTER STATUS") || words.accept("BINLOG STATUS")
        }
        _ => words.accept("BINARY LOG STATUS"),
    };
    let is_list = !is_status
        && (words.accept("BINARY LOGS")
            || !generation.forgot_slave() && words.accept("MASTER LOGS"));
    let is_events = !is_status && !is_list && words.accept("BINLOG EVENTS");
    if !(is_status || is_list || is_events) {
        return Ok(None);
    }
    if is_events {
        return events(bench, me, words).map(Some);
    }
    may_see_binlog(bench, me)?;
    Ok(Some(if is_status {
        status(bench, me)
    } else {
        files(bench, me)
    }))
}

fn status(bench: &Bench, me: &Me) -> TableData {
    let position = bench.world.binlog_position(me.node);
    let mut columns = vec![
        ("File", TEXT),
        ("Position", BIGINT),
        ("Binlog_Do_DB", TEXT),
        ("Binlog_Ignore_DB", TEXT),
    ];
    let mut row = vec![
        position.file.into(),
        position.position.into(),
        "".into(),
        "".into(),
    ];
    if !bench.generation.is_mariadb() {
        columns.push(("Executed_Gtid_Set", TEXT));
        row.push(gtids(&bench.world.executed(me.node)).into());
    }
    table(&columns, vec![row])
}

fn files(bench: &Bench, me: &Me) -> TableData {
    let has_encryption = bench.generation.has_new_performance_schema();
    let mut columns = vec![("Log_name", TEXT), ("File_size", BIGINT)];
    if has_encryption {
        columns.push(("Encrypted", TEXT));
    }
    let rows = bench.world.binlog_files(me.node).into_iter().map(|file| {
        let mut row = vec![file.name.into(), file.size.into()];
        if has_encryption {
            row.push("No".into());
        }
        row
    });
    table(&columns, rows.collect())
}

const EVENTS: &Columns = &[
    ("Log_name", TEXT),
    ("Pos", BIGINT),
    ("Event_type", TEXT),
    ("Server_id", INT),
    ("End_log_pos", BIGINT),
    ("Info", TEXT),
];

/// Where the first transaction of a file begins.
const HEADER: [u64; 3] = [4, 127, 158];

fn events(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<TableData, SqlError> {
    if !me.may(bench, &["REPLICATION SLAVE", "BINLOG MONITOR", "SUPER"]) {
        return Err(super::problems::needs("REPLICATION SLAVE"));
    }
    let files = bench.world.binlog_files(me.node);
    let file = if words.accept("IN") {
        words.text().ok_or_else(|| words.error())?
    } else {
        files
            .first()
            .map(|file| file.name.clone())
            .unwrap_or_default()
    };
    if !files.iter().any(|known| known.name == file) {
        return Err(problem(
            1220,
            "Error when executing command SHOW BINLOG EVENTS: Could not find target log",
        ));
    }
    let from = if words.accept("FROM") {
        words.number().ok_or_else(|| words.error())?
    } else {
        0
    };
    let (skipped, limit) = limit(words)?;
    let mut rows = Vec::new();
    if from <= HEADER[0] {
        rows.extend(header(bench, me, &file));
    }
    let transactions = bench.world.binlog_transactions(
        me.node,
        &file,
        from,
        MOST_TRANSACTIONS.min(skipped.saturating_add(limit)),
    );
    for transaction in &transactions {
        rows.extend(events_of(bench.generation, transaction));
    }
    let rows = rows.into_iter().skip(skipped).take(limit).collect();
    Ok(table(EVENTS, rows))
}

/// Nobody reads more by eye.
const MOST_TRANSACTIONS: usize = 10_000;

fn limit(words: &mut Words<'_>) -> Result<(usize, usize), SqlError> {
    if !words.accept("LIMIT") {
        return Ok((0, usize::MAX));
    }
    let first = words.number().ok_or_else(|| words.error())? as usize;
    if words.accept(",") {
        let count = words.number().ok_or_else(|| words.error())? as usize;
        return Ok((first, count));
    }
    Ok((0, first))
}

fn event(file: &str, start: u64, kind: &str, server: u32, end: u64, info: String) -> Vec<Value> {
    vec![
        file.into(),
        start.into(),
        kind.into(),
        server.into(),
        end.into(),
        info.into(),
    ]
}

fn header(bench: &Bench, me: &Me, file: &str) -> [Vec<Value>; 2] {
    let server = bench.world.identity(me.node).server_id;
    let [start, previous, end] = HEADER;
    let version = bench.generation.version();
    let before: &Gtids = &bench.world.purged(me.node);
    let (kind, info) = if bench.generation.is_mariadb() {
        ("Gtid_list", format!("[{before}]"))
    } else {
        ("Previous_gtids", before.to_string())
    };
    [
        event(
            file,
            start,
            "Format_desc",
            server,
            previous,
            format!("Server ver: {version}, Binlog ver: 4"),
        ),
        event(file, previous, kind, server, end, info),
    ]
}

/// A transaction of rows: GTID, BEGIN, table map, rows, commit; one of DDL or an empty one: GTID and a query.
fn events_of(generation: Generation, transaction: &BinlogTransaction) -> Vec<Vec<Value>> {
    let (file, server) = (transaction.file.as_str(), transaction.server_id);
    let (start, end) = (transaction.start, transaction.end);
    let name = match transaction.gtid {
        Gtid::MySql { .. } => format!("SET @@SESSION.GTID_NEXT= '{}'", transaction.gtid),
        Gtid::MariaDb(_) => format!("BEGIN GTID {}", transaction.gtid),
    };
    let size = end.saturating_sub(start);
    let gtid_end = start + 77.min(size);
    let mut events = vec![event(file, start, "Gtid", server, gtid_end, name)];
    if transaction.rows == 0 {
        let info = if transaction.is_empty {
            "BEGIN"
        } else {
            "/* statement */"
        };
        events.push(event(file, gtid_end, "Query", server, end, info.to_owned()));
        return events;
    }
    let commit_start = end.saturating_sub(31).max(gtid_end);
    let mut at = gtid_end;
    if !generation.is_mariadb() {
        let query_end = (gtid_end + 75).min(commit_start);
        events.push(event(
            file,
            at,
            "Query",
            server,
            query_end,
            "BEGIN".to_owned(),
        ));
        at = query_end;
    }
    let map_end = (at + 60).min(commit_start);
    events.push(event(
        file,
        at,
        "Table_map",
        server,
        map_end,
        "table_id: 100".to_owned(),
    ));
    let rows = "table_id: 100 flags: STMT_END_F".to_owned();
    events.push(event(
        file,
        map_end,
        "Update_rows",
        server,
        commit_start,
        rows,
    ));
    let commit = format!("COMMIT /* xid={} */", transaction.sequence_number);
    events.push(event(file, commit_start, "Xid", server, end, commit));
    events
}
