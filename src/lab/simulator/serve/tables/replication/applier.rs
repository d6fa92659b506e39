//! What appliers are told: delay, filters; and whether they run.

use std::rc::Rc;

use super::super::super::super::sql::{ColumnType, TableData, Value};
use super::super::super::super::world::{Filter, FilterKind, Filters};
use super::super::super::table::{BIGINT, INT, STAMP, TEXT, table};
use super::{Column, Of, at, channel_name, null, on, rows_about};

const STATUS: &[Column<Of>] = &[
    ("CHANNEL_NAME", TEXT, channel_name),
    ("SERVICE_STATE", TEXT, |of| on(of.status.applier.is_running)),
    ("REMAINING_DELAY", INT, |of| {
        of.status.applier.remaining_delay_secs.into()
    }),
    ("COUNT_TRANSACTIONS_RETRIES", BIGINT, |of| {
        of.status.applier.retries.into()
    }),
];

pub fn status(all: &[Rc<Of>]) -> TableData {
    rows_about(STATUS, all.iter().cloned())
}

const CONFIGURATION: &[Column<Of>] = &[
    ("CHANNEL_NAME", TEXT, channel_name),
    ("DESIRED_DELAY", INT, |of| {
        of.status.config.delay_secs.into()
    }),
    ("PRIVILEGE_CHECKS_USER", TEXT, null),
    ("REQUIRE_ROW_FORMAT", TEXT, |_| "NO".into()),
    ("REQUIRE_TABLE_PRIMARY_KEY_CHECK", TEXT, |_| "STREAM".into()),
    ("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE", TEXT, |_| {
        "OFF".into()
    }),
    ("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE", TEXT, null),
];

/// 5.7 and MariaDB stop after the delay.
const OLD_CONFIGURATION: usize = 2;

pub fn configuration(is_new: bool, all: &[Rc<Of>]) -> TableData {
    let columns = match is_new {
        true => CONFIGURATION,
        false => &CONFIGURATION[..OLD_CONFIGURATION],
    };
    rows_about(columns, all.iter().cloned())
}

const FILTER: [(&str, ColumnType); 4] = [
    ("FILTER_NAME", TEXT),
    ("FILTER_RULE", TEXT),
    ("CONFIGURED_BY", TEXT),
    ("ACTIVE_SINCE", STAMP),
];

fn filter_row(kind: FilterKind, filter: &Filter) -> [Value; 4] {
    [
        kind.name().to_ascii_uppercase().into(),
        filter.values.join(",").into(),
        "CHANGE_REPLICATION_FILTER".into(),
        at(Some(filter.since)),
    ]
}

pub fn filters(all: &[Rc<Of>]) -> TableData {
    let rows = all.iter().flat_map(|of| {
        of.status.filters.all().map(|(kind, filter)| {
            let mut row = vec![channel_name(of)];
            row.extend(filter_row(kind, filter));
            row.push(filter.used.into());
            row
        })
    });
    let columns = [("CHANNEL_NAME", TEXT)].into_iter().chain(FILTER);
    let columns: Vec<_> = columns.chain([("COUNTER", BIGINT)]).collect();
    table(&columns, rows.collect())
}

pub fn global_filters(filters: &Filters) -> TableData {
    let rows = filters
        .all()
        .map(|(kind, filter)| filter_row(kind, filter).to_vec());
    table(&FILTER, rows.collect())
}
