//! Statements that take long: on a copy of the tables as they are at the beginning, on a thread of their own. Nobody
//! waits for them, and they see nothing of what others do meanwhile.

use std::cell::RefCell;
use std::thread;

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use super::super::engine::{Engine, odd};
use super::super::frame::lock;
use super::super::outcome::Outcome;
use super::super::parse::STACK_BYTES;
use super::super::plans::Plans;
use super::super::problem::SqlProblem;
use super::super::session::SessionContext;
use super::super::surroundings::{Called, Scope, Surroundings, TableData};
use super::super::transaction::Transaction;
use super::super::value::Value;
use super::super::watch::Watch;
use super::binding::{Bound, binds};
use super::running::Running;
use super::{Database, STATEMENTS, Shared};

/// A statement on its way; dropping it ends it. Rows that it changes must be kept from others until then.
pub struct Aside {
    watch: Watch,
    told: Receiver<Result<Told, SqlProblem>>,
}

/// What a statement has come to. The caller puts transaction and session in place of those that it began with.
pub struct Told {
    pub outcome: Outcome,
    pub transaction: Transaction,
    pub session: SessionContext,
}

impl Aside {
    /// `None`: not yet.
    pub fn told(&self) -> Option<Result<Told, SqlProblem>> {
        match self.told.try_recv() {
            Ok(told) => Some(told),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(SqlProblem::new(1105, "Unknown error: a thread ended")))
            }
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.watch.stop();
    }
}

impl Database {
    /// Begins a statement that was [`Brought::TooLong`].
    pub fn aside(
        &mut self,
        transaction: &Transaction,
        session: &SessionContext,
        surroundings: &dyn Surroundings,
        sql: &str,
        is_do: bool,
    ) -> Result<Aside, SqlProblem> {
        let mut session = SessionContext {
            patience: None,
            ..session.clone()
        };
        let mut transaction = transaction.clone();
        let known = self.known(&mut transaction, &mut session, surroundings, sql, is_do)?;
        let watch = Watch::default();
        let mut copy = self.copy(&watch)?;
        let sql = sql.to_owned();
        let (tell, told) = bounded(1);
        let work = move || {
            let mut running = Running {
                transaction: &mut transaction,
                session: &mut session,
                surroundings: &known,
                parameters: &[],
            };
            let outcome = copy.run(&mut running, &sql, is_do);
            let told = outcome.map(|outcome| Told {
                outcome,
                transaction,
                session,
            });
            // Without a listener nobody wants to know any more.
            let _ = tell.send(told);
        };
        let thread = thread::Builder::new().name("statement-aside".to_owned());
        let thread = thread.stack_size(STACK_BYTES);
        let spawned = thread.spawn(work);
        spawned.map_err(|error| {
            SqlProblem::new(1135, format!("Can't create a new thread ({error})"))
        })?;
        Ok(Aside { watch, told })
    }

    /// All that the statement will ask its surroundings, as of now.
    fn known(
        &mut self,
        transaction: &mut Transaction,
        session: &mut SessionContext,
        surroundings: &dyn Surroundings,
        sql: &str,
        is_do: bool,
    ) -> Result<Known, SqlProblem> {
        let recorder = Recorder {
            surroundings,
            known: RefCell::default(),
        };
        let running = Running {
            transaction,
            session,
            surroundings: &recorder,
            parameters: &[],
        };
        let plan = self.plan(&running, sql, is_do)?;
        self.system_data(&plan, &recorder)?;
        // The plan may be an old one, which did not ask.
        for (schema, name) in &plan.system_tables {
            recorder.table(schema, name);
        }
        lock(&self.engine.frame).enter(running.session);
        let bound = binds(&self.engine, &plan, &running);
        lock(&self.engine.frame).leave(running.session);
        match bound? {
            Bound::Ready(_) => Ok(recorder.known.into_inner()),
            Bound::NotYet(_) => Err(SqlProblem::unsupported(
                "waits inside of statements that take long",
            )),
        }
    }

    fn copy(&mut self, watch: &Watch) -> Result<Database, SqlProblem> {
        self.close();
        let generation = self.shared.generation;
        let mut engine = Engine::new(generation, STATEMENTS, watch.clone())?;
        engine
            .copy_from(&self.engine)
            .map_err(|error| odd(&error))?;
        Ok(Database {
            shared: Shared::watched(generation, watch.clone())?,
            engine,
            catalog: self.catalog.clone(),
            plans: Plans::default(),
            open: None,
            replayed_rows: 0,
        })
    }
}

/// What surroundings have said.
#[derive(Default)]
struct Known {
    tables: Vec<(String, String, Option<TableData>)>,
    variables: Vec<(Scope, String, Result<Option<Value>, SqlProblem>)>,
    calls: Vec<(String, Vec<Value>, Called)>,
}

impl Surroundings for Known {
    fn table(&self, schema: &str, name: &str) -> Option<TableData> {
        let mut tables = self.tables.iter();
        let known = tables.find(|(of, known, _)| of == schema && known == name);
        known.and_then(|(_, _, data)| data.clone())
    }

    fn variable(&self, scope: Scope, name: &str) -> Result<Option<Value>, SqlProblem> {
        let mut variables = self.variables.iter();
        let known = variables.find(|(of, known, _)| *of == scope && known == name);
        known.map_or(Ok(None), |(_, _, value)| value.clone())
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Called {
        let mut calls = self.calls.iter();
        let known = calls.find(|(known, given, _)| known == name && given == arguments);
        known.map_or(Called::Unknown, |(_, _, told)| told.clone())
    }
}

/// Remembers what surroundings say.
struct Recorder<'a> {
    surroundings: &'a dyn Surroundings,
    known: RefCell<Known>,
}

impl Surroundings for Recorder<'_> {
    fn table(&self, schema: &str, name: &str) -> Option<TableData> {
        let data = self.surroundings.table(schema, name);
        let told = (schema.to_owned(), name.to_owned(), data.clone());
        self.known.borrow_mut().tables.push(told);
        data
    }

    fn variable(&self, scope: Scope, name: &str) -> Result<Option<Value>, SqlProblem> {
        let value = self.surroundings.variable(scope, name);
        let told = (scope, name.to_owned(), value.clone());
        self.known.borrow_mut().variables.push(told);
        value
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Called {
        let called = self.surroundings.call(name, arguments);
        let told = (name.to_owned(), arguments.to_vec(), called.clone());
        self.known.borrow_mut().calls.push(told);
        called
    }
}
