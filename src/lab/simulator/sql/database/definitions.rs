//! DDL and SHOW.

use std::sync::Arc;
use std::time::Duration;

use crate::model::time::ServerTime;

use super::super::catalog::{Table, quoted};
use super::super::ddl::Ddl;
use super::super::engine;
use super::super::frame::lock;
use super::super::outcome::{Brought, Change, Done, Lock, LockMode, Outcome};
use super::super::parse::parse;
use super::super::problem::SqlProblem;
use super::super::showing::Show;
use super::super::value::Value;
use super::Database;

impl Database {
    pub(super) fn ddl(
        &mut self,
        schema: Option<&str>,
        sql: &str,
        at: ServerTime,
        checks_foreign_keys: bool,
    ) -> Result<Outcome, SqlProblem> {
        let mut frame = lock(&self.engine.frame);
        frame.now_micros = at.0;
        // TIMESTAMP columns are filled as they are kept.
        frame.zone_secs = frame.system_zone_secs;
        drop(frame);
        let parsed = parse(sql, self.shared.product())?;
        self.close();
        self.plans.forget();
        // SQLite's statements hold tables that are about to go.
        self.engine.connection.flush_prepared_statement_cache();
        let mut ddl = Ddl {
            catalog: &mut self.catalog,
            engine: &self.engine,
            schema,
            checks_foreign_keys,
        };
        let done = ddl.run(&parsed.statement)?;
        let touches: Arc<str> = done.touches.into();
        Ok(Outcome {
            result: Brought::Done(Done {
                affected_rows: done.affected_rows,
                info: done.info,
                warnings: done.notes,
                ..Done::default()
            }),
            locks: vec![Lock {
                table: Arc::clone(&touches),
                key: None,
                mode: LockMode::Exclusive,
            }],
            tables: vec![Arc::clone(&touches)],
            wait: Duration::ZERO,
            ddl: Some(Change::Statement {
                schema: schema.map(str::to_owned),
                sql: sql.to_owned(),
                touches,
                at,
            }),
        })
    }

    pub(super) fn show(&mut self, schema: Option<&str>, sql: &str) -> Result<Outcome, SqlProblem> {
        self.close();
        let show = Show {
            catalog: &self.catalog,
            schema,
            rows_in: &|table| self.rows_in(table),
            generation: self.shared.generation,
        };
        Ok(Outcome::of(Brought::Rows(show.answer(sql)?)))
    }

    pub(super) fn rows_in(&self, table: &Table) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {}", quoted(&table.full_name));
        let row = engine::first_row(&self.engine, &sql, &[]).unwrap_or_default();
        match row.first() {
            Some(Value::Int(count)) => *count,
            _ => 0,
        }
    }
}
