//! One statement from its plan to its answer; those that read.

use std::sync::Arc;
use std::time::Duration;

use super::super::answers;
use super::super::catalog::Table;
use super::super::compile::{self, Act, Plan, Setting};
use super::super::describing;
use super::super::engine::{self, Engine, is_from_80};
use super::super::explaining::Explained;
use super::super::frame::lock;
use super::super::outcome::{Brought, Done, Lock, LockMode, Outcome};
use super::super::parse::parse;
use super::super::plans::Key;
use super::super::problem::SqlProblem;
use super::super::session::SessionContext;
use super::super::statement::{PlanFormat, explained};
use super::super::surroundings::{Surroundings, SystemColumn, TableData};
use super::super::transaction::Transaction;
use super::super::value::{ColumnType, Value};
use super::super::watch::Watch;
use super::Database;
use super::binding::{Bound, binds};
use crate::lab::wire::Rows;
use crate::model::lab::Generation;

/// One statement on its way.
pub(super) struct Running<'a> {
    pub transaction: &'a mut Transaction,
    pub session: &'a mut SessionContext,
    pub surroundings: &'a dyn Surroundings,
    pub parameters: &'a [Value],
}

impl Database {
    pub(super) fn run(
        &mut self,
        running: &mut Running<'_>,
        sql: &str,
        is_do: bool,
    ) -> Result<Outcome, SqlProblem> {
        let plan = self.plan(running, sql, is_do)?;
        let began = running.transaction.changes.len();
        let data = self.system_data(&plan, running.surroundings)?;
        let variables = running.session.user_variables.clone();
        let outcome = if plan.user_tables.is_empty() {
            let mut inner = self.shared.lock();
            let watch = inner.engine.watch.clone();
            within(&watch, running, |running| {
                read(&mut inner.engine, &plan, &data, running)
            })
        } else {
            let watch = self.engine.watch.clone();
            within(&watch, running, |running| {
                self.on_tables(&plan, &data, running)
            })
        };
        let mut outcome = outcome?;
        match outcome.result {
            Brought::TooLong { .. } => {
                // SQLite may have given up the whole transaction.
                self.close();
                running.session.user_variables = variables;
                let mut writes = plan.writes();
                let along: Vec<_> = writes
                    .iter()
                    .flat_map(|name| self.catalog.changed_along(name))
                    .collect();
                writes.extend(along);
                outcome.result = Brought::TooLong { writes };
            }
            Brought::AskAgain(_) => {}
            _ => running.transaction.statements.push(began),
        }
        outcome.tables = plan.table_names();
        Ok(outcome)
    }

    /// Nothing of it is carried out.
    pub(super) fn explain(
        &mut self,
        running: &mut Running<'_>,
        sql: &str,
    ) -> Result<Outcome, SqlProblem> {
        let (format, sql) = explained(sql)?;
        let format = format.unwrap_or(running.session.plan_format);
        let generation = self.shared.generation;
        let is_mariadb = generation.flavour().is_mariadb();
        if format == PlanFormat::Tree && !is_from_80(generation) {
            let text = "Unknown EXPLAIN format name: 'TREE'";
            return Err(SqlProblem::new(1791, text));
        }
        let plan = self.plan(running, sql, false)?;
        let data = self.system_data(&plan, running.surroundings)?;
        self.close();
        fill(&mut self.engine, &data)?;
        let steps = self.engine.steps(&plan.sql)?;
        let explained = Explained {
            plan: &plan,
            steps: &steps,
            rows_in: &|table| self.rows_in(table),
            is_mariadb,
        };
        let statement = parse(sql, self.shared.product())?.statement;
        let rows = match format {
            PlanFormat::Traditional => explained.rows(),
            PlanFormat::Tree => told_plan(explained.tree(&statement)),
            PlanFormat::Json if generation == Generation::MySql97 => {
                told_plan(explained.json_of_tree(&statement, sql))
            }
            PlanFormat::Json => told_plan(explained.json_of_blocks(&statement)),
        };
        let mut outcome = Outcome::of(Brought::Rows(rows));
        outcome.tables = plan.table_names();
        Ok(outcome)
    }

    fn on_tables(
        &mut self,
        plan: &Plan,
        data: &[(String, TableData)],
        running: &mut Running<'_>,
    ) -> Result<Outcome, SqlProblem> {
        let lacking = |(name, data): &(String, TableData)| self.engine.lacks(name, &data.columns);
        if data.iter().any(lacking) {
            self.close();
        }
        match &plan.act {
            Act::Select | Act::Do => {
                if running.transaction.changes.is_empty() {
                    if !self.is_open_for(running.transaction.id) {
                        self.close();
                    }
                } else {
                    self.open_for(running.transaction)?;
                }
                read(&mut self.engine, plan, data, running)
            }
            Act::Insert(writing) | Act::Update(writing) | Act::Delete(writing) => {
                self.open_for(running.transaction)?;
                self.write(plan, writing, data, running)
            }
        }
    }

    pub(super) fn plan(
        &mut self,
        running: &Running<'_>,
        sql: &str,
        is_do: bool,
    ) -> Result<Arc<Plan>, SqlProblem> {
        let session = &running.session;
        let key = Key {
            sql,
            schema: session.schema.as_deref(),
            is_strict: session.is_strict,
            shifts_zones: session.zone_offset_secs != session.system_zone_offset_secs,
        };
        if let Some(plan) = self.plans.find(key) {
            return Ok(plan);
        }
        if let Some(plan) = self.shared.lock().plans.find(key) {
            return Ok(plan);
        }
        let parsed = parse(sql, self.shared.product())?;
        let system = |schema: &str, name: &str| -> Option<Arc<[SystemColumn]>> {
            describing::own_columns(schema, name).or_else(|| {
                let data = running.surroundings.table(schema, name)?;
                Some(data.columns)
            })
        };
        let setting = Setting {
            catalog: &self.catalog,
            system: &system,
            schema: key.schema,
            is_strict: key.is_strict,
            shifts_zones: key.shifts_zones,
            names_system_columns: is_from_80(self.shared.generation),
            is_mariadb: self.shared.generation.flavour().is_mariadb(),
        };
        let plan = Arc::new(compile::compile(&parsed, sql, is_do, &setting)?);
        if plan.user_tables.is_empty() {
            self.shared.lock().plans.keep(key, &plan);
        } else {
            self.plans.keep(key, &plan);
        }
        Ok(plan)
    }

    pub(super) fn system_data(
        &mut self,
        plan: &Plan,
        surroundings: &dyn Surroundings,
    ) -> Result<Vec<(String, TableData)>, SqlProblem> {
        let mut all = Vec::with_capacity(plan.system_tables.len());
        for (schema, name) in &plan.system_tables {
            let is_own = describing::own_columns(schema, name).is_some();
            let data = if is_own {
                self.close();
                let rows_in = |table: &Table| self.rows_in(table);
                describing::own_table(&self.catalog, schema, name, &rows_in)
            } else {
                surroundings.table(schema, name)
            };
            let data = data.ok_or_else(|| compile::no_table(schema, name))?;
            all.push((format!("{schema}.{name}"), data));
        }
        Ok(all)
    }
}

fn told_plan(text: String) -> Rows {
    answers::of_values(&[("EXPLAIN", ColumnType::Text)], vec![vec![text.into()]])
}

/// Runs a statement as long as its session is patient.
fn within(
    watch: &Watch,
    running: &mut Running<'_>,
    run: impl FnOnce(&mut Running<'_>) -> Result<Outcome, SqlProblem>,
) -> Result<Outcome, SqlProblem> {
    watch.begin(running.session.patience);
    let outcome = run(running);
    watch.rest();
    match outcome {
        Err(_) if watch.has_ended() => Ok(Outcome::of(Brought::TooLong { writes: Vec::new() })),
        other => other,
    }
}

pub(super) fn fill(engine: &mut Engine, data: &[(String, TableData)]) -> Result<(), SqlProblem> {
    for (name, data) in data {
        if engine.lacks(name, &data.columns) {
            engine.make_system_table(name, &data.columns)?;
        }
    }
    // One transaction instead of one for each row.
    let is_own = !data.is_empty() && engine.connection.is_autocommit();
    if is_own {
        engine.begin()?;
    }
    let filled = data
        .iter()
        .try_for_each(|(name, data)| engine.fill(name, data));
    match (is_own, &filled) {
        (true, Ok(())) => engine.commit(),
        (true, Err(_)) => {
            engine.rollback();
            filled
        }
        (false, _) => filled,
    }
}

/// A SELECT or DO.
fn read(
    engine: &mut Engine,
    plan: &Plan,
    data: &[(String, TableData)],
    running: &mut Running<'_>,
) -> Result<Outcome, SqlProblem> {
    fill(engine, data)?;
    lock(&engine.frame).enter(running.session);
    let outcome = read_entered(engine, plan, running);
    lock(&engine.frame).leave(running.session);
    let mut outcome = outcome?;
    if plan.into.is_empty() {
        return Ok(outcome);
    }
    outcome.result = into_variables(plan, outcome.result, running.session)?;
    Ok(outcome)
}

fn read_entered(
    engine: &Engine,
    plan: &Plan,
    running: &mut Running<'_>,
) -> Result<Outcome, SqlProblem> {
    let binds = match binds(engine, plan, running)? {
        Bound::Ready(binds) => binds,
        Bound::NotYet(wait) => return Ok(Outcome::of(Brought::AskAgain(wait))),
    };
    let mut locks = Vec::new();
    for lock in &plan.locks {
        let mode = if lock.is_exclusive {
            LockMode::Exclusive
        } else {
            LockMode::Shared
        };
        let keys = engine::keys(engine, &lock.sql, &binds)?;
        locks.extend(keys.into_iter().map(|key| Lock {
            table: Arc::clone(&lock.table.full_name),
            key: Some(key),
            mode,
        }));
    }
    let rows = answers::rows(engine, &plan.sql, &binds, &plan.columns)?;
    let session = &mut running.session;
    session.found_rows = rows.rows.len() as u64;
    if let Some(all) = &plan.counts_all_rows
        && let Some(Value::Int(count)) = engine::first_row(engine, all, &binds)?.first()
    {
        session.found_rows = *count as u64;
    }
    let wait = lock(&engine.frame).wait;
    let result = if matches!(plan.act, Act::Do) {
        session.row_count = 0;
        Brought::Done(Done::default())
    } else {
        session.row_count = -1;
        Brought::Rows(rows)
    };
    Ok(Outcome {
        locks,
        wait,
        ..Outcome::of(result)
    })
}

fn into_variables(
    plan: &Plan,
    result: Brought,
    session: &mut SessionContext,
) -> Result<Brought, SqlProblem> {
    let Brought::Rows(rows) = result else {
        return Ok(result);
    };
    if rows.columns.len() != plan.into.len() {
        return Err(SqlProblem::new(
            1222,
            "The used SELECT statements have a different number of columns",
        ));
    }
    if rows.rows.len() > 1 {
        return Err(SqlProblem::new(
            1172,
            "Result consisted of more than one row",
        ));
    }
    let mut done = Done::default();
    for row in rows.rows {
        done.affected_rows = 1;
        for ((name, column), cell) in plan.into.iter().zip(&rows.columns).zip(row) {
            let value = cell.map_or(Value::Null, |cell| told(column, cell));
            session.user_variables.insert(name.clone(), value);
        }
    }
    Ok(Brought::Done(done))
}

/// A cell's text as the value it stands for.
fn told(column: &crate::lab::wire::Column, cell: Vec<u8>) -> Value {
    use crate::lab::wire::ColumnKind;
    let text = String::from_utf8_lossy(&cell);
    match column.kind {
        ColumnKind::Long | ColumnKind::LongLong => text.parse().map(Value::Int).unwrap_or_default(),
        ColumnKind::Double => text.parse().map(Value::Double).unwrap_or_default(),
        _ => Value::Text(text.into_owned()),
    }
}

impl Outcome {
    pub(super) fn of(result: Brought) -> Self {
        Outcome {
            result,
            locks: Vec::new(),
            tables: Vec::new(),
            wait: Duration::ZERO,
            ddl: None,
        }
    }
}
