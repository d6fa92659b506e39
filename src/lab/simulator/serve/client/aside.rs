//! Statements that take long: carried out on a copy of the tables, while everybody else goes on.

use std::sync::Arc;
use std::time::Duration;

use super::super::super::sql::{Aside, Brought as Told, Kind, Outcome as Effect, Transaction};
use super::super::super::world::{TableLock, Until, Want};
use super::super::bench::Bench;
use super::super::engine;
use super::super::view::View;
use super::execution::Ran;
use super::{Client, Next, Outcome, Stage};
use crate::lab::wire::SqlError;
use crate::model::time::Span;

/// So long a statement keeps the whole simulation to itself at most; then it is begun anew aside.
pub const PATIENCE: Duration = Duration::from_millis(15);

/// A statement that takes long.
pub(super) struct Long {
    kind: Kind,
    sql: String,
    /// So many rows count for each that is really written.
    factor: f64,
    wants: Vec<Want>,
    /// `None`: waits for its locks.
    aside: Option<Aside>,
}

impl Client {
    /// `effect`: it was too long.
    pub(super) fn begin_long(
        &mut self,
        bench: &mut Bench,
        kind: Kind,
        sql: &str,
        factor: f64,
        effect: &Effect,
    ) -> Outcome {
        self.check_tables(bench, sql, effect, &[])?;
        self.stage = Stage::Long(Box::new(Long {
            kind,
            sql: sql.to_owned(),
            factor,
            wants: wants(effect),
            aside: None,
        }));
        Ok(Next::Go)
    }

    pub(super) fn go_on_long(&mut self, bench: &mut Bench, mut long: Box<Long>) -> Outcome {
        let told = match &long.aside {
            Some(aside) => aside.told(),
            None => {
                if let Some(wait) = self.ask_for(bench, &long.wants, Until::TransactionEnds)? {
                    self.stage = Stage::Long(long);
                    return Ok(wait);
                }
                long.aside = Some(self.aside(bench, &long)?);
                None
            }
        };
        let Some(told) = told else {
            self.set_state(bench, "executing");
            self.stage = Stage::Long(long);
            let soon = Span::from_millis(2);
            return Ok(Next::Wait(Some(bench.world.now() + soon)));
        };
        let told = match told {
            Ok(told) => told,
            Err(problem) => {
                self.ctx.row_count = -1;
                return Err(self.named_without_schema(problem));
            }
        };
        let patience = self.ctx.patience;
        self.ctx = told.session;
        self.ctx.patience = patience;
        let mut alone = told.transaction;
        let before = self
            .open
            .as_ref()
            .map_or(0, |open| open.transaction.changes().len());
        let changes = alone.changes().get(before..).unwrap_or_default().to_vec();
        if let Some(open) = &mut self.open {
            open.transaction = std::mem::replace(&mut alone, Transaction::begin());
        }
        let ran = Ran {
            effect: told.outcome,
            changes,
            alone,
            factor: long.factor,
        };
        self.take_effect(bench, long.kind, &long.sql, ran)
    }

    fn aside(&mut self, bench: &mut Bench, long: &Long) -> Result<Aside, SqlError> {
        self.set_the_scene(bench);
        let database = bench.world.engine(self.me.node).database();
        let view = View::new(bench, &self.me);
        let none = Transaction::begin();
        let transaction = self.open.as_ref().map_or(&none, |open| &open.transaction);
        let is_do = long.kind == Kind::Do;
        let begun = engine::lock(&database).aside(transaction, &self.ctx, &view, &long.sql, is_do);
        let seen = view.seen();
        let aside = begun.map_err(|problem| self.named_without_schema(problem));
        self.keep_seen(bench, seen)?;
        aside
    }
}

/// What others must leave alone meanwhile: the definitions of all its tables, all rows of those that it writes to.
fn wants(effect: &Effect) -> Vec<Want> {
    let Told::TooLong { writes } = &effect.result else {
        return Vec::new();
    };
    let table = |name: &Arc<str>| {
        let lock = match writes.contains(name) {
            true => TableLock::Write,
            false => TableLock::Read,
        };
        Want::Table(Arc::clone(name), lock)
    };
    let mut wants: Vec<Want> = effect.tables.iter().map(table).collect();
    if !writes.is_empty() {
        wants.push(Want::GlobalWrite);
    }
    wants.extend(writes.iter().map(|name| Want::AllRows(Arc::clone(name))));
    wants
}
