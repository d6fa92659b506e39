//! Which statement goes where; and SHOW, which needs nothing but the server as it is.

use super::super::super::sql::{Brought as Told, Kind, TableData, Transaction};
use super::super::super::world::Write;
use super::super::bench::Bench;
use super::super::engine;
use super::super::me::NextName;
use super::super::problems::{self, problem};
use super::super::show;
use super::super::table::shown;
use super::super::view::{SHOWN, View};
use super::super::words::Words;
use super::{After, Client, Next, Outcome};
use crate::lab::wire::{Answer, Rows, SqlError};

impl Client {
    pub(super) fn start(&mut self, bench: &mut Bench) -> Outcome {
        let Some(current) = &self.current else {
            return Ok(Next::Say(Answer::ok()));
        };
        let (kind, sql) = (current.kind, current.sql.clone());
        if kind.commits_before() && self.has_changes() {
            return self.commit_open(bench, After::Restart);
        }
        if kind.commits_before() && self.open.is_some() {
            self.end_transaction(bench);
        }
        let mut words = Words::of(&sql);
        match kind {
            Kind::Select | Kind::Write | Kind::Do | Kind::ShowTables | Kind::Explain => {
                self.on_tables(bench, kind, &sql)
            }
            Kind::Ddl => self.ddl(bench, &sql),
            Kind::Show => self.show(bench, &mut words),
            Kind::Set => self.set(bench, &mut words),
            Kind::Use => self.use_statement(bench, &mut words),
            Kind::Begin => self.begin_transaction(bench, &mut words),
            Kind::Commit => self.commit_open(bench, After::Say(Answer::ok())),
            Kind::Rollback => self.rollback(bench),
            Kind::Savepoint | Kind::RollbackTo | Kind::ReleaseSavepoint => {
                self.savepoint(bench, kind, &mut words)
            }
            Kind::LockTables => self.lock_tables(bench, &mut words),
            Kind::UnlockTables => self.unlock_tables(bench),
            Kind::Kill => self.kill(bench, &mut words),
            Kind::Replication => self.replication(bench, &mut words),
            Kind::Event => self.event(bench, &mut words),
            Kind::Account => self.account_statement(bench, &mut words),
            Kind::Flush => self.flush(bench, &mut words),
            Kind::Plugin => self.plugin(bench, &mut words),
            Kind::Maintain => self.maintain(bench, &mut words),
            Kind::Prepared => self.prepared_statement(bench, &mut words),
            Kind::Shutdown => Err(problems::not_simulated("SHUTDOWN")),
            Kind::Empty => Err(problem(1065, "Query was empty")),
            Kind::Other => Err(problems::not_understood(&sql)),
        }
    }

    pub(super) fn has_changes(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| !open.transaction.is_empty())
    }

    /// COMMIT. With a GTID given, an empty transaction is one too.
    pub(super) fn commit_open(&mut self, bench: &mut Bench, then: After) -> Outcome {
        let is_named = matches!(self.me.next_gtid, NextName::Given(_)) && self.open.is_some();
        if !self.has_changes() && !is_named {
            self.end_transaction(bench);
            return self.after(bench, then);
        }
        let Some(open) = &self.open else {
            return self.after(bench, then);
        };
        let began = open.first_change.unwrap_or(open.since);
        let server_id = bench.world.identity(self.me.node).server_id;
        let write = match open.transaction.is_empty() {
            true => Write::new(None, began),
            false => engine::write(open.transaction.changes(), began, self.me.node, server_id),
        };
        self.commit(bench, write, then)?;
        Ok(Next::Go)
    }

    pub(super) fn show(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        words.keyword();
        let found = show::show(bench, &self.me, words)?;
        let Some(condition) = found.condition else {
            return Ok(Next::Say(Answer::Rows(shown(found.table))));
        };
        let rows = self.filtered(bench, &found.table, &condition)?;
        Ok(Next::Say(Answer::Rows(rows)))
    }

    /// `SHOW … WHERE`.
    pub(super) fn filtered(
        &mut self,
        bench: &mut Bench,
        table: &TableData,
        condition: &str,
    ) -> Result<Rows, SqlError> {
        self.set_the_scene(bench);
        let database = bench.world.engine(self.me.node).database();
        let view = View {
            shown: Some(table),
            ..View::new(bench, &self.me)
        };
        let sql = format!("SELECT * FROM {SHOWN} WHERE {condition}");
        let mut alone = Transaction::begin();
        let effect =
            engine::lock(&database).execute(&mut alone, &mut self.ctx, &view, &sql, &[])?;
        match effect.result {
            Told::Rows(rows) => Ok(rows),
            Told::TooLong { .. } => Err(problems::too_long()),
            _ => Ok(shown(table.clone())),
        }
    }

    /// The first value of an expression.
    pub(super) fn evaluate(
        &mut self,
        bench: &mut Bench,
        expression: &str,
    ) -> Result<Option<(Vec<u8>, bool)>, SqlError> {
        let mut alone = Transaction::begin();
        let (effect, _) = self.execute(bench, &format!("SELECT {expression}"), &mut alone)?;
        let rows = match effect.result {
            Told::Rows(rows) => rows,
            Told::TooLong { .. } => return Err(problems::too_long()),
            _ => return Ok(None),
        };
        use crate::lab::wire::ColumnKind;
        let is_number = rows.columns.first().is_some_and(|column| {
            matches!(
                column.kind,
                ColumnKind::Long
                    | ColumnKind::LongLong
                    | ColumnKind::Double
                    | ColumnKind::NewDecimal
            )
        });
        let value = rows
            .rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next());
        Ok(value.flatten().map(|bytes| (bytes, is_number)))
    }
}
