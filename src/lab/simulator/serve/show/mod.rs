//! SHOW, as far as it is about the server and not about users' tables.

mod binlog;
mod engine;
mod lists;
pub mod replica;
pub mod replica_mariadb;

use super::super::sql::{TableData, Value};
use super::bench::Bench;
use super::generation::Habits;
use super::me::Me;
use super::problems;
use super::table::{TEXT, table};
use super::tables::{status_rows, variable_rows};
use super::variables::Scope;
use super::words::Words;
use crate::lab::simulator::like::is_like;
use crate::lab::wire::SqlError;

/// What was found, and which rows of it were asked for.
pub struct Shown {
    pub table: TableData,
    /// Still to be applied: the text after WHERE.
    pub condition: Option<String>,
}

impl From<TableData> for Shown {
    fn from(table: TableData) -> Self {
        Shown {
            table,
            condition: None,
        }
    }
}

/// `words` stand after SHOW.
pub fn show(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<Shown, SqlError> {
    let start = words.clone();
    let is_full = words.accept("FULL");
    let scope = match words.accept_one_of(&["GLOBAL", "SESSION", "LOCAL"]) {
        Some("GLOBAL") => Scope::Global,
        _ => Scope::Session,
    };
    if words.accept("VARIABLES") {
        return variables(bench, me, scope, words);
    }
    if words.accept("STATUS") {
        return status(bench, me, words);
    }
    if words.accept("PROCESSLIST") {
        ends(words)?;
        return Ok(lists::processlist(bench, me, is_full).into());
    }
    *words = start.clone();
    if let Some(found) = replica::show(bench, me, words)? {
        ends(words)?;
        return Ok(found.into());
    }
    *words = start.clone();
    if let Some(found) = binlog::show(bench, me, words)? {
        ends(words)?;
        return Ok(found.into());
    }
    *words = start;
    if let Some(found) = lists::show(bench, me, words)? {
        return narrowed(found, words);
    }
    if let Some(found) = engine::show(bench, me, words)? {
        ends(words)?;
        return Ok(found.into());
    }
    Err(words.error())
}

fn ends(words: &Words<'_>) -> Result<(), SqlError> {
    if words.at_end() {
        Ok(())
    } else {
        Err(words.error())
    }
}

/// LIKE on the first column, or WHERE.
fn narrowed(mut table: TableData, words: &mut Words<'_>) -> Result<Shown, SqlError> {
    if words.accept("LIKE") {
        let pattern = words.text().ok_or_else(|| words.error())?;
        table.rows.retain(|row| match &row[0] {
            Value::Text(text) => is_like(text, &pattern),
            _ => false,
        });
    } else if words.accept("WHERE") {
        let condition = Some(words.rest().to_owned());
        return Ok(Shown { table, condition });
    }
    ends(words)?;
    Ok(table.into())
}

/// Which names a SHOW VARIABLES or STATUS is about.
enum Wanted {
    All,
    Like(String),
    /// `WHERE Variable_name IN (…)`, in small letters: what monitoring asks, without the detour over SQL.
    Named(Vec<String>),
    Where(String),
}

impl Wanted {
    fn has(&self, name: &str) -> bool {
        match self {
            Wanted::All | Wanted::Where(_) => true,
            Wanted::Like(pattern) => is_like(name, pattern),
            Wanted::Named(names) => names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name)),
        }
    }
}

fn wanted(words: &mut Words<'_>) -> Result<Wanted, SqlError> {
    if words.accept("LIKE") {
        let pattern = words.text().ok_or_else(|| words.error())?;
        ends(words)?;
        return Ok(Wanted::Like(pattern));
    }
    if words.accept("WHERE") {
        return Ok(named(words.clone()).unwrap_or_else(|| Wanted::Where(words.rest().to_owned())));
    }
    ends(words)?;
    Ok(Wanted::All)
}

fn named(mut words: Words<'_>) -> Option<Wanted> {
    if !words.name()?.eq_ignore_ascii_case("variable_name") {
        return None;
    }
    let mut names = Vec::new();
    if words.accept("=") {
        names.push(words.text()?);
    } else if words.accept("IN (") {
        loop {
            names.push(words.text()?);
            if !words.accept(",") {
                break;
            }
        }
        if !words.accept(")") {
            return None;
        }
    }
    (words.at_end() && !names.is_empty()).then_some(Wanted::Named(names))
}

fn pairs(rows: Vec<(&'static str, String)>, wanted: Wanted) -> Shown {
    let rows = rows
        .into_iter()
        .filter(|(name, _)| wanted.has(name))
        .map(|(name, value)| vec![name.into(), value.into()])
        .collect();
    Shown {
        table: table(&[("Variable_name", TEXT), ("Value", TEXT)], rows),
        condition: match wanted {
            Wanted::Where(condition) => Some(condition),
            _ => None,
        },
    }
}

fn variables(
    bench: &Bench,
    me: &Me,
    scope: Scope,
    words: &mut Words<'_>,
) -> Result<Shown, SqlError> {
    let wanted = wanted(words)?;
    if let Wanted::Named(names) = &wanted {
        return Ok(pairs(few_variables(bench, me, scope, names), wanted));
    }
    Ok(pairs(variable_rows(bench, me, scope), wanted))
}

/// Only those that were named are looked up: the sets of GTIDs may be long.
fn few_variables(
    bench: &Bench,
    me: &Me,
    scope: Scope,
    names: &[String],
) -> Vec<(&'static str, String)> {
    use super::settings;
    use super::variables::{Lives, all};
    let mut found: Vec<(&'static str, String)> = names
        .iter()
        .filter_map(|name| all().get(name.to_ascii_lowercase().as_str()))
        .filter(|variable| variable.initial(me.generation).is_some())
        .filter_map(|variable| {
            let value = match (scope, variable.lives) {
                (Scope::Global, Lives::InSessionsOnly) => None,
                (Scope::Global, _) | (_, Lives::Globally) => {
                    settings::global(bench, me.node, variable.name)
                }
                _ => settings::session(bench, me, variable.name),
            };
            Some((variable.name, value?))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn status(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<Shown, SqlError> {
    let wanted = wanted(words)?;
    let rows = status_rows(bench, me, &|name| wanted.has(name));
    Ok(pairs(rows, wanted))
}

/// SHOW … STATUS of replication and the list of logs need these.
fn may_see_status(bench: &Bench, me: &Me) -> Result<(), SqlError> {
    let (privileges, words): (&[&str], &str) = if bench.generation.is_mariadb() {
        (
            &["SLAVE MONITOR", "REPLICA MONITOR", "SUPER"],
            "SUPER, REPLICA MONITOR",
        )
    } else {
        (
            &["REPLICATION CLIENT", "SUPER"],
            "SUPER, REPLICATION CLIENT",
        )
    };
    if me.may(bench, privileges) {
        return Ok(());
    }
    Err(problems::needs(words))
}

fn may_see_binlog(bench: &Bench, me: &Me) -> Result<(), SqlError> {
    let (privileges, words): (&[&str], &str) = if bench.generation.is_mariadb() {
        (
            &["BINLOG MONITOR", "REPLICATION CLIENT", "SUPER"],
            "SUPER, BINLOG MONITOR",
        )
    } else {
        (
            &["REPLICATION CLIENT", "SUPER"],
            "SUPER, REPLICATION CLIENT",
        )
    };
    if me.may(bench, privileges) {
        return Ok(());
    }
    Err(problems::needs(words))
}
