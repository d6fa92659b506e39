//! What MariaDB's status of a replica has for itself, and SHOW ALL SLAVES STATUS.

use super::super::super::sql::{ColumnType, TableData, Value};
use super::super::super::world::ChannelStatus;
use super::super::bench::Bench;
use super::super::me::Me;
use super::super::settings::gtids;
use super::super::table::{BIGINT, Columns, INT, TEXT, stamp_or_zero, table};
use super::super::words_of_replication as words_of;
use super::replica::{OwnedColumns, columns, status_row};
use crate::model::lab::Generation;

/// MariaDB goes its own way after the server id.
pub(super) const SHARED_WITH_MARIADB: usize = 40;
pub(super) const MARIADB_ONLY: &Columns = &[
    ("Master_SSL_Crl", TEXT),
    ("Master_SSL_Crlpath", TEXT),
    ("Using_Gtid", TEXT),
    ("Gtid_IO_Pos", TEXT),
    ("Replicate_Do_Domain_Ids", TEXT),
    ("Replicate_Ignore_Domain_Ids", TEXT),
    ("Parallel_Mode", TEXT),
    ("SQL_Delay", INT),
    ("SQL_Remaining_Delay", INT),
    ("Slave_SQL_Running_State", TEXT),
    ("Slave_DDL_Groups", BIGINT),
    ("Slave_Non_Transactional_Groups", BIGINT),
    ("Slave_Transactional_Groups", BIGINT),
    ("Replicate_Rewrite_DB", TEXT),
];

/// What SHOW ALL SLAVES STATUS has besides.
const ALL_BEFORE: &Columns = &[("Connection_name", TEXT), ("Slave_SQL_State", TEXT)];
const ALL_AFTER: &Columns = &[
    ("Retried_transactions", INT),
    ("Max_relay_log_size", BIGINT),
    ("Executed_log_entries", INT),
    ("Slave_received_heartbeats", INT),
    ("Slave_heartbeat_period", ColumnType::Double),
    ("Gtid_Slave_Pos", TEXT),
];
const ALL_AFTER_118: &Columns = &[
    ("Master_last_event_time", TEXT),
    ("Slave_last_event_time", TEXT),
    ("Master_Slave_time_diff", INT),
];

pub(super) fn mariadb_rest(bench: &Bench, me: &Me, status: &ChannelStatus) -> Vec<Value> {
    let applier = &status.applier;
    let mode = bench.machines[me.node]
        .globals
        .get("slave_parallel_mode")
        .unwrap_or("optimistic");
    let groups: u64 = applier
        .workers
        .iter()
        .chain(&applier.single)
        .filter(|worker| worker.last_applied.is_some())
        .count() as u64;
    vec![
        "".into(),
        "".into(),
        if status.config.auto_position {
            "Slave_Pos"
        } else {
            "No"
        }
        .into(),
        gtids(&status.retrieved).into(),
        "".into(),
        "".into(),
        mode.into(),
        status.config.delay_secs.into(),
        applier.remaining_delay_secs.into(),
        words_of::applier_state(bench.generation, applier.state).into(),
        0_u32.into(),
        0_u32.into(),
        groups.into(),
        "".into(),
    ]
}

/// SHOW ALL SLAVES STATUS; `information_schema.slave_status` from 11.6 on.
pub fn all_statuses(bench: &Bench, me: &Me) -> TableData {
    let generation = bench.generation;
    let world = &bench.world;
    let has_times = generation == Generation::MariaDb118;
    let mut names: OwnedColumns = ALL_BEFORE.to_vec();
    names.extend(columns(generation, true));
    names.extend(ALL_AFTER);
    if has_times {
        names.extend(ALL_AFTER_118);
    }
    let slave_pos = world.mariadb_positions(me.node).slave_pos;
    let rows = world
        .channels(me.node)
        .iter()
        .filter_map(|channel| world.channel_status(me.node, channel))
        .map(|status| {
            let mut row = vec![
                status.name.clone().into(),
                words_of::applier_state(generation, status.applier.state).into(),
            ];
            row.extend(status_row(bench, me, &status));
            row.extend([
                status.applier.retries.into(),
                1_073_741_824_u32.into(),
                0_u32.into(),
                status.receiver.heartbeats_received.into(),
                status.config.heartbeat_period.secs_f64().into(),
                slave_pos.clone().into(),
            ]);
            if has_times {
                row.extend(event_times(&status));
            }
            row
        })
        .collect();
    table(&names, rows)
}

/// Of the last event received, of the last applied, and what lies between, in seconds.
fn event_times(status: &ChannelStatus) -> [Value; 3] {
    let received = status
        .receiver
        .last_queued
        .as_ref()
        .map(|t| t.original_commit);
    let workers = status.applier.workers.iter().chain(&status.applier.single);
    let applied = workers
        .filter_map(|worker| worker.last_applied.as_ref())
        .map(|t| t.original_commit)
        .max();
    let difference = match (received, applied) {
        (Some(received), Some(applied)) => {
            Some(received.since(applied).or_zero().micros() / 1_000_000)
        }
        _ => None,
    };
    let shown = |at: Option<_>| match at {
        Some(_) => stamp_or_zero(at, 0),
        None => Value::Null,
    };
    [shown(received), shown(applied), difference.into()]
}
