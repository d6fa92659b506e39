//! The tables about a server, as it is now: `performance_schema`, `information_schema`, `mysql`.

mod catalogue;
mod locks;
mod named;
mod replication;
mod sessions;

pub use catalogue::{character_sets, collations, engines, event_status, plugins, visible_events};
pub use named::{status_rows, variable_rows};

use super::super::sql::TableData;
use super::bench::Bench;
use super::generation::Habits;
use super::me::Me;
use super::problems;
use crate::lab::wire::SqlError;

/// `Ok(None)`: this generation has no such table. `Err`: the account may not read it.
pub fn find(
    bench: &Bench,
    me: &Me,
    schema: &str,
    name: &str,
) -> Result<Option<TableData>, SqlError> {
    match schema {
        "performance_schema" => performance_schema(bench, me, name),
        "information_schema" => information_schema(bench, me, name),
        "mysql" => {
            let table = catalogue::mysql(bench, me, name);
            if table.is_some() && !me.may_on(bench, "SELECT", schema, name) {
                return Err(problems::denied_on_table("SELECT", &me.user, name));
            }
            Ok(table)
        }
        _ => Ok(None),
    }
}

fn performance_schema(bench: &Bench, me: &Me, name: &str) -> Result<Option<TableData>, SqlError> {
    let table = replication::find(bench, me, name)
        .or_else(|| sessions::performance_schema(bench, me, name))
        .or_else(|| locks::performance_schema(bench, me, name))
        .or_else(|| named::performance_schema(bench, me, name));
    // Everybody may read these.
    let is_open = name.ends_with("_variables") || name.ends_with("_status") && name.len() < 15;
    let is_own = matches!(
        name,
        "processlist" | "session_connect_attrs" | "session_account_connect_attrs"
    );
    if table.is_some()
        && !is_open
        && !is_own
        && !me.may_on(bench, "SELECT", "performance_schema", name)
    {
        return Err(problems::denied_on_table("SELECT", &me.user, name));
    }
    // performance_schema is OFF on MariaDB, as it comes: its tables are there, and empty.
    Ok(table.map(|mut table| {
        if bench.generation.is_mariadb() && !is_open {
            table.rows.clear();
        }
        table
    }))
}

fn information_schema(bench: &Bench, me: &Me, name: &str) -> Result<Option<TableData>, SqlError> {
    if let Some(table) = locks::information_schema(bench, me, name) {
        if !me.may(bench, &["PROCESS"]) {
            return Err(problems::needs("PROCESS"));
        }
        return Ok(Some(table));
    }
    Ok(sessions::information_schema(bench, me, name)
        .or_else(|| named::information_schema(bench, me, name))
        .or_else(|| catalogue::information_schema(bench, me, name)))
}
