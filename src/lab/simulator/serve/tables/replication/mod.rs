//! `performance_schema.replication_*`: columns by generation, as captured from real servers.

mod applier;
mod connection;
mod workers;

use std::rc::Rc;

use super::super::super::sql::{ColumnType, TableData, Value};
use super::super::super::world::{ChannelStatus, ThreadError};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::table::{BIGINT, INT, TEXT, stamp_or_zero, table};
use super::super::threads::thread_id;
use crate::model::lab::Generation;
use crate::model::time::ServerTime;

pub fn find(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    let about = name.strip_prefix("replication_")?;
    let generation = bench.generation;
    let is_new = generation.has_new_performance_schema();
    let world = &bench.world;
    let names = world.channels(me.node);
    let statuses = names
        .iter()
        .filter_map(|channel| world.channel_status(me.node, channel));
    let all: Vec<Rc<Of>> = statuses
        .map(|status| Rc::new(Of { generation, status }))
        .collect();
    match about {
        "connection_status" if !generation.is_mariadb() => {
            Some(connection::status(generation, &all))
        }
        "connection_configuration" => Some(connection::configuration(generation, &all)),
        "applier_status" => Some(applier::status(&all)),
        "applier_configuration" => Some(applier::configuration(is_new, &all)),
        "applier_filters" if is_new => Some(applier::filters(&all)),
        "applier_global_filters" if is_new => Some(applier::global_filters(world.filters(me.node))),
        "applier_status_by_coordinator" => Some(workers::coordinators(is_new, &all)),
        "applier_status_by_worker" => Some(workers::workers(is_new, &all)),
        "group_members" if !generation.is_mariadb() => Some(group_members()),
        "group_member_stats" if !generation.is_mariadb() => Some(group_member_stats()),
        _ => None,
    }
}

/// A channel on a server of that generation.
struct Of {
    generation: Generation,
    status: ChannelStatus,
}

/// Its name, its type, and what it holds in the row about something.
type Column<T> = (&'static str, ColumnType, fn(&T) -> Value);

/// A row for each.
fn rows_about<T>(columns: &[Column<T>], things: impl IntoIterator<Item = Rc<T>>) -> TableData {
    let heads: Vec<_> = columns
        .iter()
        .map(|(name, kind, _)| (*name, *kind))
        .collect();
    let row = |thing: Rc<T>| columns.iter().map(|(.., value)| value(&thing)).collect();
    table(&heads, things.into_iter().map(row).collect())
}

fn channel_name(of: &Of) -> Value {
    of.status.name.clone().into()
}

fn empty<T>(_: &T) -> Value {
    "".into()
}

fn null<T>(_: &T) -> Value {
    Value::Null
}

fn never<T>(_: &T) -> Value {
    at(None)
}

fn on(is: bool) -> Value {
    if is { "ON" } else { "OFF" }.into()
}

fn thread(id: Option<u64>) -> Value {
    id.map(thread_id).into()
}

fn gtid<T: ToString>(gtid: Option<T>) -> Value {
    gtid.map(|gtid| gtid.to_string()).unwrap_or_default().into()
}

fn at(at: Option<ServerTime>) -> Value {
    stamp_or_zero(at, 0)
}

fn error_number(told: Option<(u16, String)>) -> Value {
    u32::from(told.map_or(0, |(number, _)| number)).into()
}

fn error_text(told: Option<(u16, String)>) -> Value {
    told.map(|(_, text)| text).unwrap_or_default().into()
}

fn error_time(error: Option<&ThreadError>) -> Value {
    at(error.map(|error| error.at))
}

fn group_members() -> TableData {
    table(
        &[
            ("CHANNEL_NAME", TEXT),
            ("MEMBER_ID", TEXT),
            ("MEMBER_HOST", TEXT),
            ("MEMBER_PORT", INT),
            ("MEMBER_STATE", TEXT),
            ("MEMBER_ROLE", TEXT),
            ("MEMBER_VERSION", TEXT),
        ],
        Vec::new(),
    )
}

fn group_member_stats() -> TableData {
    table(
        &[
            ("CHANNEL_NAME", TEXT),
            ("VIEW_ID", TEXT),
            ("MEMBER_ID", TEXT),
            ("COUNT_TRANSACTIONS_IN_QUEUE", BIGINT),
            ("COUNT_TRANSACTIONS_CHECKED", BIGINT),
        ],
        Vec::new(),
    )
}
