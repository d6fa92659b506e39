//! What servers tell that stays the same, or nearly.

use std::collections::BTreeMap;

use replicascope::model::phrase::phrase;
use replicascope::model::sample::*;
use replicascope::model::server::WatchId;
use replicascope::model::time::Span;
use replicascope::model::trouble::{Trouble, TroubleKind};

use super::super::captures;
use super::{R1, R2, SOURCE, Scene};

/// Of the source.
pub const UUID: &str = "8f0f0000-aaaa-11f0-8000-000000009562";

pub fn uuid(watch: WatchId) -> String {
    match watch {
        SOURCE => UUID.to_owned(),
        watch => format!("{:08}-bbbb-11f0-8000-000000000000", watch.0),
    }
}
pub fn named(pairs: &[(&str, String)]) -> Named {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    Named(pairs.collect::<BTreeMap<_, _>>())
}

pub fn settings(watch: WatchId, scene: Scene) -> Named {
    let text = |text: &str| text.to_owned();
    let flush = if scene == Scene::Trouble { "2" } else { "1" };
    named(&[
        (
            "replica_parallel_workers",
            text(if watch == R2 { "1" } else { "4" }),
        ),
        ("replica_preserve_commit_order", text("ON")),
        ("binlog_transaction_dependency_tracking", text("WRITESET")),
        ("sync_binlog", text("1")),
        ("innodb_flush_log_at_trx_commit", text(flush)),
        ("log_bin", text("ON")),
        ("log_replica_updates", text("ON")),
        ("binlog_format", text("ROW")),
        ("binlog_row_image", text("FULL")),
        ("gtid_mode", text("ON")),
        ("enforce_gtid_consistency", text("ON")),
        ("binlog_expire_logs_seconds", text("2592000")),
        ("event_scheduler", text("ON")),
        ("relay_log_recovery", text("ON")),
        ("replica_net_timeout", text("60")),
        ("replica_skip_errors", text("OFF")),
        ("max_connections", text("500")),
        ("long_query_time", text("1.000000")),
        ("performance_schema", text("ON")),
        ("time_zone", text("SYSTEM")),
        ("system_time_zone", text("CST")),
    ])
}

pub fn binary_logs() -> Vec<BinaryLog> {
    (30..=42)
        .map(|n| BinaryLog {
            file: format!("binlog.0000{n}"),
            bytes: 104_857_600 - 7_000_000 * (n % 5),
        })
        .collect()
}

pub fn found() -> Vec<FoundReplica> {
    [(R1, "10.0.0.2"), (R2, "10.0.0.3"), (WatchId(4), "10.0.0.4")]
        .into_iter()
        .map(|(watch, host)| FoundReplica {
            host: host.into(),
            port: Some(3306),
            server_id: Some(u64::from(watch.0)),
            uuid: Some(uuid(watch)),
        })
        .collect()
}

pub fn long_transactions(second: i64) -> Vec<OpenTransaction> {
    let user = |id: &str, thread, age, rows, statement: Option<&str>| OpenTransaction {
        id: id.into(),
        owner: TransactionOwner::User,
        thread,
        started: Some("2026-09-21 14:01:20".into()),
        age: Some(Span::from_secs(age)),
        rows_modified: Some(rows),
        rows_locked: Some(rows + 12),
        statement: statement.map(str::to_owned),
        user: Some("app".into()),
        host: Some("10.0.0.9:41822".into()),
        state: Some("updating".into()),
    };
    vec![
        OpenTransaction {
            owner: TransactionOwner::PreparedXa,
            user: None,
            host: None,
            thread: 0,
            ..user("421007", 0, 3_725, 18, None)
        },
        user(
            "421880",
            41,
            48 + second % 2,
            524_288,
            Some(
                "UPDATE shop.orders SET status = 'archived', updated_at = NOW()\n WHERE created_at < '2026-01-01' AND \
                 status IN ('done', 'cancelled') AND region_id BETWEEN 1 AND 400",
            ),
        ),
        user("421902", 44, 7, 0, None),
    ]
}

pub fn long_statements() -> Vec<RunningStatement> {
    vec![RunningStatement {
        thread: 51,
        user: "report".into(),
        host: "10.0.0.12:50110".into(),
        command: "Query".into(),
        age: Some(Span::from_secs(12)),
        state: Some("executing".into()),
        statement: Some(
            "SELECT * FROM shop.order_items ORDER BY id LIMIT 100 OFFSET 2500000".into(),
        ),
    }]
}

pub fn refused() -> Trouble {
    let grant = "GRANT PROCESS ON *.* TO 'monitor'@'%';";
    Trouble {
        kind: TroubleKind::MissingPrivilege,
        what: phrase("lag.why.seconds_unreadable").with("text", "open transactions"),
        hint: Some(phrase("evidence.server_says").with("text", grant)),
        code: Some(1227),
        detail:
            "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation"
                .into(),
    }
}

pub fn raw(capture: &'static str, second: i64) -> Vec<(String, Option<String>)> {
    let rows = read_once(capture);
    let names = rows.columns.iter().map(|column| column.name.clone());
    let values = rows.rows.first().cloned().unwrap_or_default();
    names
        .zip(values)
        .map(|(name, value)| {
            let value = value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            match name.as_str() {
                "Read_Source_Log_Pos" | "Exec_Source_Log_Pos" => {
                    (name, Some((910 + 5_000 * second).to_string()))
                }
                _ => (name, value),
            }
        })
        .collect()
}

/// A capture is read from disk once a test, not once a second.
fn read_once(name: &'static str) -> replicascope::lab::wire::Rows {
    thread_local! {
        static READ: std::cell::RefCell<BTreeMap<&'static str, replicascope::lab::wire::Rows>> =
            const { std::cell::RefCell::new(BTreeMap::new()) };
    }
    READ.with_borrow_mut(|read| {
        read.entry(name)
            .or_insert_with(|| captures::capture(name))
            .clone()
    })
}
