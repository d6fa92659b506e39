//! What a session may do: by its account, by the server's read-only settings, by the tables it has locked itself.

use super::super::super::sql::{Outcome as Effect, RowChange};
use super::super::bench::Bench;
use super::super::engine;
use super::super::generation::Habits;
use super::super::me::NextName;
use super::super::problems::{self, problem};
use super::super::threads::split;
use super::super::words::Words;
use super::{Client, used_gtid};
use crate::lab::wire::{Answer, SqlError};

impl Client {
    /// Refuses what changes something on a server or in a transaction that is read-only.
    pub(super) fn check_writable(&self, bench: &Bench) -> Result<(), SqlError> {
        if let NextName::Used(gtid) = &self.me.next_gtid {
            return Err(used_gtid(&gtid.to_string()));
        }
        let settings = bench.world.settings(self.me.node);
        let generation = self.me.generation;
        if settings.super_read_only && !generation.is_mariadb() {
            return Err(problems::read_only(generation, "super-read-only"));
        }
        let exempt: &[&str] = &["SUPER", "CONNECTION_ADMIN", "READ_ONLY ADMIN"];
        if settings.read_only && !self.me.may(bench, exempt) {
            return Err(problems::read_only(generation, "read-only"));
        }
        let name = self.read_only_name();
        let is_read_only = match &self.open {
            Some(open) => open.is_read_only,
            None => self
                .me
                .next_read_only
                .unwrap_or_else(|| self.me.values.is_on(name)),
        };
        if is_read_only {
            return Err(problem(
                1792,
                "Cannot execute statement in a READ ONLY transaction.",
            ));
        }
        Ok(())
    }

    pub(super) fn read_only_name(&self) -> &'static str {
        match self.me.values.get("transaction_read_only") {
            Some(_) => "transaction_read_only",
            None => "tx_read_only",
        }
    }

    /// By the tables that were read and written.
    pub(super) fn check_tables(
        &self,
        bench: &Bench,
        sql: &str,
        effect: &Effect,
        changes: &[RowChange],
    ) -> Result<(), SqlError> {
        let verb = match Words::of(sql).keyword().as_str() {
            "REPLACE" => "INSERT".to_owned(),
            verb @ ("INSERT" | "UPDATE" | "DELETE") => verb.to_owned(),
            _ => "SELECT".to_owned(),
        };
        let is_written = |table: &str| changes.iter().any(|change| &*change.table == table);
        for name in &effect.tables {
            let (schema, table) = split(name);
            let may = |verb: &str| self.me.may_on(bench, verb, schema, table);
            let may_it = match is_written(name) {
                true => may(&verb),
                false => may("SELECT") || may(&verb),
            };
            if !may_it {
                return Err(problems::denied_on_table(&verb, &self.me.user, table));
            }
            self.check_locked(name, is_written(name))?;
        }
        Ok(())
    }

    /// Under LOCK TABLES only those are there.
    pub(super) fn check_locked(&self, name: &str, writes: bool) -> Result<(), SqlError> {
        if self.me.locked_tables.is_empty() {
            return Ok(());
        }
        let table = split(name).1;
        match self
            .me
            .locked_tables
            .iter()
            .find(|(locked, _)| **locked == *name)
        {
            None => Err(problem(
                1100,
                format!("Table '{table}' was not locked with LOCK TABLES"),
            )),
            Some((_, false)) if writes => Err(problem(
                1099,
                format!("Table '{table}' was locked with a READ lock and can't be updated"),
            )),
            _ => Ok(()),
        }
    }

    /// SHOW DATABASES shows those in which the account may do something; SHOW TABLES refuses the others.
    pub(super) fn leave_out_unseen(
        &self,
        bench: &Bench,
        sql: &str,
        answer: &mut Answer,
    ) -> Result<(), SqlError> {
        let account = self.me.account(bench);
        let sees = |schema: &str| {
            matches!(schema, "information_schema" | "performance_schema")
                || account.is_some_and(|account| account.sees_schema(schema))
        };
        let mut words = Words::of(sql);
        words.keyword();
        if let Answer::Rows(rows) = answer
            && (words.is("DATABASES") || words.is("SCHEMAS"))
        {
            rows.rows.retain(|row| {
                let schema = row.first().and_then(Option::as_deref).unwrap_or_default();
                sees(&String::from_utf8_lossy(schema))
            });
            return Ok(());
        }
        while !words.at_end() {
            if words.accept("FROM") || words.accept("IN") {
                let named = words.qualified_name();
                if let Some((schema, name)) = named {
                    let schema = schema.unwrap_or(name);
                    let database = bench.world.engine(self.me.node).database();
                    let exists = engine::lock(&database).has_schema(&schema);
                    if exists && !sees(&schema) {
                        return Err(problems::denied_on_schema(&self.me.user, &schema));
                    }
                }
            } else {
                words.skip();
            }
        }
        Ok(())
    }
}
