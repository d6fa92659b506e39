//! All that this program says to servers of one version, for tests of what has to answer it.

use std::time::Duration;

use crate::model::event::Position;
use crate::model::gtid::Gtids;
use crate::model::probe::{ProbeFlavour, ProbePlan};
use crate::model::sample::Named;
use crate::model::time::Span;

use super::dialect::Dialect;
use super::endpoint::HeartbeatTable;
use super::queries::{self, NAME, Statements};

/// With the heartbeat in `replicascope`.`heartbeat` and the probe's table in the schema `probes`.
pub fn every_statement(version: &str) -> Vec<String> {
    let pairs = [
        ("version", version),
        ("performance_schema", "ON"),
        ("server_uuid", "-"),
        ("super_read_only", "OFF"),
        ("gtid_mode", "ON"),
        ("log_bin", "ON"),
        ("transaction_read_only", "OFF"),
    ];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let dialect = Dialect::from_hello(&Named(pairs.into()));
    let mut all = polled(&dialect);
    all.push(queries::hanging_session(&dialect, 7));
    all.push(format!("{NAME}SELECT CURRENT_USER()"));
    all.extend(waits(&dialect));
    for flavour in [ProbeFlavour::Insert, ProbeFlavour::Update] {
        let plan = ProbePlan {
            flavour,
            schema: "probes".into(),
            ..ProbePlan::default()
        };
        let listed = super::probing::listed_for_workload(&plan, &dialect.product);
        all.extend(listed.into_iter().map(|listed| listed.sql));
    }
    let pools = super::pooling::spoken(&dialect);
    all.extend(pools);
    all
}

fn polled(dialect: &Dialect) -> Vec<String> {
    let table = |keeps_history| HeartbeatTable {
        schema: "replicascope".into(),
        table: "heartbeat".into(),
        time_column: "ts".into(),
        server_id_column: Some("server_id".into()),
        keeps_history,
    };
    let of = |heartbeat| Statements::new(dialect, Some(&heartbeat), Span::from_secs(5));
    let history = of(table(true)).heartbeat;
    let one = of(table(false));
    [
        Some(one.facts),
        Some(one.channels),
        Some(one.status),
        one.appliers,
        Some(one.transactions),
        one.heartbeat,
        history,
        Some(one.settings),
        Some(one.replicas),
        Some(one.dump_threads),
        Some(one.events),
        Some(one.binary_logs),
        Some(one.binlog_position),
        Some(one.lock_waits),
        Some(one.statements),
        Some(one.mark),
        Some(one.applied),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn waits(dialect: &Dialect) -> Vec<String> {
    let text = if dialect.product.is_mariadb() {
        "0-1-15"
    } else {
        "00000001-aaaa-11f0-8000-000000000000:1-15"
    };
    let gtids = Gtids::parse(text, dialect.product.flavour).map(Position::Gtids);
    let limit = Duration::from_millis(400);
    gtids
        .into_iter()
        .filter_map(|target| super::wait::statement(dialect, &target, "", limit).ok())
        .map(|(_, sql)| sql)
        .collect()
}
