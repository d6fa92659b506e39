//! LOCK TABLES, UNLOCK TABLES, FLUSH TABLES WITH READ LOCK.

use std::sync::Arc;

use super::super::super::world::{TableLock, Until, Want};
use super::super::bench::Bench;
use super::super::engine;
use super::super::problems::{self, problem};
use super::super::words::Words;
use super::{Client, Next, Outcome};
use crate::lab::wire::{Answer, SqlError};

/// A table's name, and whether it is locked for writing.
type Wish = (Arc<str>, bool);

impl Client {
    pub(super) fn lock_tables(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let wishes = self.wishes(words)?;
        for (name, writes) in &wishes {
            self.check_wish(bench, name, *writes)?;
        }
        // Locking anew lets go of what was locked before.
        self.unlock_all_tables(bench);
        let wants: Vec<Want> = wishes
            .iter()
            .map(|(name, writes)| {
                let lock = if *writes {
                    TableLock::Exclusive
                } else {
                    TableLock::ReadOnly
                };
                Want::Table(Arc::clone(name), lock)
            })
            .collect();
        if let Some(wait) = self.ask_for(bench, &wants, Until::Unlocked)? {
            return Ok(wait);
        }
        self.me.locked_tables = wishes;
        Ok(Next::Say(Answer::ok()))
    }

    fn wishes(&self, words: &mut Words<'_>) -> Result<Vec<Wish>, SqlError> {
        words.keyword();
        if !(words.accept("TABLES") || words.accept("TABLE")) {
            return Err(words.error());
        }
        let mut wishes = Vec::new();
        loop {
            let (schema, name) = words.qualified_name().ok_or_else(|| words.error())?;
            let schema = schema
                .or_else(|| self.ctx.schema.clone())
                .ok_or_else(|| problem(1046, "No database selected"))?;
            if words.accept("AS")
                || !(words.is("READ") || words.is("WRITE") || words.is("LOW_PRIORITY"))
            {
                words.name();
            }
            words.accept("LOW_PRIORITY");
            let writes = match words.accept_one_of(&["READ", "WRITE"]) {
                Some("WRITE") => true,
                Some(_) => false,
                None => return Err(words.error()),
            };
            words.accept("LOCAL");
            wishes.push((Arc::from(format!("{schema}.{name}")), writes));
            if !words.accept(",") {
                break;
            }
        }
        if words.at_end() {
            Ok(wishes)
        } else {
            Err(words.error())
        }
    }

    fn check_wish(&self, bench: &Bench, name: &str, writes: bool) -> Result<(), SqlError> {
        let (schema, table) = super::super::threads::split(name);
        let may = self.me.account(bench).is_some_and(|account| {
            account.may_in_schema("LOCK TABLES", schema)
                && account.may_on_table("SELECT", schema, table)
        });
        if !may {
            return Err(problems::denied_on_schema(&self.me.user, schema));
        }
        let database = bench.world.engine(self.me.node).database();
        if !engine::lock(&database).has_table(schema, table) {
            return Err(problem(1146, format!("Table '{name}' doesn't exist")));
        }
        if writes {
            self.check_writable(bench)
        } else {
            Ok(())
        }
    }

    pub(super) fn unlock_tables(&mut self, bench: &mut Bench) -> Outcome {
        self.unlock_all_tables(bench);
        Ok(Next::Say(Answer::ok()))
    }

    pub(super) fn unlock_all_tables(&mut self, bench: &mut Bench) {
        if self.me.locked_tables.is_empty() && !self.me.has_global_lock {
            return;
        }
        bench
            .world
            .unlock(self.me.node, self.me.id, Until::Unlocked);
        self.me.locked_tables.clear();
        self.me.has_global_lock = false;
    }

    pub(super) fn lock_everything(&mut self, bench: &mut Bench) -> Outcome {
        if !self.me.may(bench, &["RELOAD"]) {
            return Err(problems::needs("RELOAD"));
        }
        if let Some(wait) = self.ask_for(bench, &[Want::GlobalRead], Until::Unlocked)? {
            return Ok(wait);
        }
        self.me.has_global_lock = true;
        Ok(Next::Say(Answer::ok()))
    }
}
