//! What a statement on tables sees of the server around it: variables, tables about the server, functions that wait.

use std::cell::RefCell;

use super::super::sql::{Called, Scope, SqlProblem, Surroundings, TableData, Value};
use super::bench::Bench;
use super::me::Me;
use super::variables::{self, Lives};
use super::{settings, tables, waits};
use crate::lab::wire::SqlError;

pub struct View<'a> {
    pub bench: &'a Bench,
    pub me: &'a Me,
    /// What a SHOW has found, for its WHERE.
    pub shown: Option<&'a TableData>,
    /// The account may not read something that the statement names.
    pub denied: RefCell<Option<SqlError>>,
    /// GET_LOCK and its like, carried out when the statement is.
    pub named_locks: RefCell<Vec<NamedLock>>,
    pub warnings: RefCell<Vec<(u16, String)>>,
}

/// What a statement has done to its surroundings, or tried.
pub struct Seen {
    pub denied: Option<SqlError>,
    pub named_locks: Vec<NamedLock>,
    pub warnings: Vec<(u16, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedLock {
    Taken(String),
    Released(String),
    ReleasedAll,
}

/// Where [`View::shown`] can be read.
pub const SHOWN: &str = "information_schema.replicascope_shown";

impl<'a> View<'a> {
    pub fn new(bench: &'a Bench, me: &'a Me) -> Self {
        View {
            bench,
            me,
            shown: None,
            denied: RefCell::default(),
            named_locks: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    pub fn seen(self) -> Seen {
        Seen {
            denied: self.denied.into_inner(),
            named_locks: self.named_locks.into_inner(),
            warnings: self.warnings.into_inner(),
        }
    }

    fn value(&self, scope: Scope, name: &str) -> Result<Option<Value>, SqlError> {
        let me = self.me;
        if matches!(name, "warning_count" | "error_count") {
            return Ok(settings::session(self.bench, me, name).map(typed));
        }
        let Ok(variable) = variables::find(me.generation, name) else {
            return Ok(None);
        };
        let wrong_scope = |word: &str| {
            let text = format!("Variable '{}' is a {word} variable", variable.name);
            Err(SqlError::new(1238, text))
        };
        let text = match (scope, variable.lives) {
            (Scope::Session, Lives::Globally) => return wrong_scope("GLOBAL"),
            (Scope::Global, Lives::InSessionsOnly) => return wrong_scope("SESSION"),
            (Scope::Global, _) | (Scope::Unsaid, Lives::Globally) => {
                settings::global(self.bench, me.node, variable.name)
            }
            _ => settings::session(self.bench, me, variable.name),
        };
        if let Some(warning) = deprecated(self.bench, variable.name) {
            self.warnings.borrow_mut().push((1287, warning));
        }
        Ok(text.map(|text| {
            let selected = variable.selected(&text);
            if variable.is_number() {
                typed(selected)
            } else {
                Value::Text(selected)
            }
        }))
    }
}

fn typed(text: String) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return Value::Int(number);
    }
    match text.parse::<f64>() {
        Ok(number) => Value::Double(number),
        Err(_) => Value::Text(text),
    }
}

/// Old names still answer, with a word about the new one.
fn deprecated(bench: &Bench, name: &str) -> Option<String> {
    use super::generation::Habits;
    let is_old =
        name.starts_with("slave_") || matches!(name, "log_slave_updates" | "sync_master_info");
    if !is_old || !bench.generation.has_new_performance_schema() {
        return None;
    }
    let new = name.replace("slave", "replica").replace("master", "source");
    Some(format!(
        "'@@{name}' is deprecated and will be removed in a future release. Please use {new} instead."
    ))
}

impl Surroundings for View<'_> {
    fn table(&self, schema: &str, name: &str) -> Option<TableData> {
        if name == "replicascope_shown" {
            return self.shown.cloned();
        }
        match tables::find(self.bench, self.me, schema, name) {
            Ok(table) => table,
            Err(error) => {
                self.denied.borrow_mut().get_or_insert(error);
                // Without it the statement is looked at no further.
                None
            }
        }
    }

    fn variable(&self, scope: Scope, name: &str) -> Result<Option<Value>, SqlProblem> {
        self.value(scope, name)
            .map_err(|error| SqlProblem::new(error.code, String::from_utf8_lossy(&error.message)))
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Called {
        waits::call(self, name, arguments)
    }
}
