//! One server's tables.

mod aside;
mod binding;
mod changes;
mod definitions;
mod running;
mod writing;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::lab::Generation;

use super::catalog::Catalog;
use super::compile;
use super::engine::Engine;
use super::frame::lock;
use super::outcome::{Change, Outcome};
use super::parse::product;
use super::plans::Plans;
use super::problem::{ApplyError, SqlProblem};
use super::session::SessionContext;
use super::statement::Kind;
use super::surroundings::Surroundings;
use super::transaction::Transaction;
use super::value::Value;
use super::watch::Watch;
use running::Running;

pub use aside::{Aside, Told};
pub use writing::MOST_ROWS;

/// What all servers of one lab have in common: parsed statements, and the place where statements about system tables
/// run. Keeps 200 servers small.
pub struct Shared {
    generation: Generation,
    inner: Mutex<Inner>,
}

struct Inner {
    engine: Engine,
    plans: Plans,
}

impl Shared {
    /// Fails when there is no memory (1041).
    pub fn new(generation: Generation) -> Result<Arc<Self>, SqlProblem> {
        Shared::watched(generation, Watch::default())
    }

    fn watched(generation: Generation, watch: Watch) -> Result<Arc<Self>, SqlProblem> {
        const STATEMENTS: usize = 256;
        let engine = Engine::new(generation, STATEMENTS, watch)?;
        let plans = Plans::default();
        Ok(Arc::new(Shared {
            generation,
            inner: Mutex::new(Inner { engine, plans }),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn product(&self) -> &'static str {
        product(self.generation)
    }
}

/// Prepared statements that the tables of one server keep.
const STATEMENTS: usize = 24;

/// The tables of one server. `Send`; one statement at a time.
pub struct Database {
    shared: Arc<Shared>,
    engine: Engine,
    catalog: Catalog,
    plans: Plans,
    /// The transaction whose changes SQLite holds right now, and how many of them.
    open: Option<(u64, usize)>,
    /// How often a row of an open transaction was written anew because others had come in between.
    pub(super) replayed_rows: u64,
}

impl Database {
    /// No schemas yet but those of the server itself. Fails when there is no memory (1041).
    pub fn new(shared: &Arc<Shared>) -> Result<Self, SqlProblem> {
        Ok(Database {
            engine: Engine::new(shared.generation, STATEMENTS, Watch::default())?,
            shared: Arc::clone(shared),
            catalog: Catalog::default(),
            plans: Plans::default(),
            open: None,
            replayed_rows: 0,
        })
    }

    /// Runs one statement of the kinds that [`super::Kind::is_for_tables`] names. `parameters` stand for its `?`.
    ///
    /// DDL takes effect at once: commit `transaction` before, as the server does.
    pub fn execute(
        &mut self,
        transaction: &mut Transaction,
        session: &mut SessionContext,
        surroundings: &dyn Surroundings,
        sql: &str,
        parameters: &[Value],
    ) -> Result<Outcome, SqlProblem> {
        match Kind::of(sql) {
            Kind::Ddl => {
                let mut frame = lock(&self.engine.frame);
                frame.system_zone_secs = session.system_zone_offset_secs;
                drop(frame);
                let checks = session.checks_foreign_keys;
                let outcome = self.ddl(session.schema.as_deref(), sql, session.now, checks)?;
                // The default schema may have gone.
                session
                    .schema
                    .take_if(|name| !self.has_schema(name) && !compile::is_system(name));
                Ok(outcome)
            }
            Kind::ShowTables => self.show(session.schema.as_deref(), sql),
            kind => {
                let mut running = Running {
                    transaction,
                    session,
                    surroundings,
                    parameters,
                };
                if kind == Kind::Explain {
                    return self.explain(&mut running, sql);
                }
                let outcome = self.run(&mut running, sql, kind == Kind::Do);
                if outcome.is_err() {
                    session.row_count = -1;
                }
                outcome
            }
        }
    }

    /// Takes back what the last statement of this transaction changed.
    pub fn undo_statement(&mut self, transaction: &mut Transaction) {
        let began = transaction.statements.pop().unwrap_or(0);
        transaction.shorten(began);
    }

    /// Everybody sees it from now on. Returns what a replica has to do; empty when nothing changed.
    pub fn commit(&mut self, transaction: Transaction) -> Result<Vec<Change>, SqlProblem> {
        if transaction.changes.is_empty() {
            if self.is_open_for(transaction.id) {
                self.close();
            }
            return Ok(Vec::new());
        }
        self.open_for(&transaction)?;
        self.open = None;
        self.engine.commit()?;
        Ok(transaction.changes.into_iter().map(Change::Row).collect())
    }

    /// All changes of one transaction, or none of them.
    pub fn apply(&mut self, changes: &[Change]) -> Result<(), ApplyError> {
        // SQLite forgets its statements with it.
        const WORTH_IT: usize = 500;
        self.close();
        let is_quiet = changes.len() > WORTH_IT;
        if is_quiet {
            self.engine.listen(false);
        }
        let applied = self.apply_all(changes);
        if is_quiet {
            self.engine.listen(true);
        }
        applied
    }

    fn apply_all(&mut self, changes: &[Change]) -> Result<(), ApplyError> {
        let mut is_open = false;
        for change in changes {
            let made = match change {
                Change::Row(row) => {
                    if !is_open {
                        is_open = self.engine.begin().is_ok();
                    }
                    self.apply_row(row)
                }
                Change::Statement {
                    schema,
                    sql,
                    touches,
                    at,
                } => {
                    if std::mem::take(&mut is_open) {
                        let _ = self.engine.commit();
                    }
                    self.apply_statement(schema.as_deref(), sql, touches, *at)
                }
            };
            if let Err(error) = made {
                self.engine.rollback();
                return Err(error);
            }
        }
        if is_open && let Err(problem) = self.engine.commit() {
            self.engine.rollback();
            return Err(ApplyError {
                code: problem.code,
                message: problem.message,
                table: "".into(),
                event: "",
                handler: "",
            });
        }
        Ok(())
    }

    /// Users' schemas, sorted; not those of the server itself.
    pub fn schemas(&self) -> Vec<String> {
        self.catalog.schemas.keys().cloned().collect()
    }

    pub fn has_schema(&self, name: &str) -> bool {
        self.catalog.schemas.contains_key(name)
    }

    /// Names of the tables of a schema, sorted.
    pub fn tables(&self, schema: &str) -> Vec<String> {
        let tables = self.catalog.schemas.get(schema);
        tables.map_or(Vec::new(), |tables| tables.keys().cloned().collect())
    }

    pub fn has_table(&self, schema: &str, name: &str) -> bool {
        self.catalog.table(schema, name).is_some()
    }
}
