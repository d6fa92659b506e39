//! The values for a statement's parameters.

use std::time::Duration;

use rusqlite::types::Value as SqliteValue;

use super::super::compile::{Bind, Plan};
use super::super::engine::{self, Engine};
use super::super::frame::lock;
use super::super::functions::sqlite;
use super::super::problem::SqlProblem;
use super::super::surroundings::Called;
use super::super::value::Value;
use super::running::Running;

/// The values for a statement's parameters, or the wish to be asked again.
pub(super) enum Bound {
    Ready(Vec<SqliteValue>),
    NotYet(Duration),
}

pub(super) fn binds(
    engine: &Engine,
    plan: &Plan,
    running: &Running<'_>,
) -> Result<Bound, SqlProblem> {
    let mut called: Vec<Value> = Vec::new();
    for call in &plan.calls {
        let given = values(&call.binds, &called, engine, running)?;
        let arguments = if call.sql.is_empty() {
            Vec::new()
        } else {
            engine::first_row(engine, &call.sql, &given)?
        };
        match running.surroundings.call(&call.name, &arguments) {
            Called::Value(value) => called.push(value),
            Called::NotYet(wait) => return Ok(Bound::NotYet(wait)),
            Called::Refused(problem) => return Err(problem),
            Called::Unknown => {
                let schema = running.session.schema.as_ref();
                let schema = schema.map_or(String::new(), |schema| format!("{schema}."));
                return Err(SqlProblem::new(
                    1305,
                    format!("FUNCTION {schema}{} does not exist", call.name),
                ));
            }
        }
    }
    values(&plan.binds, &called, engine, running).map(Bound::Ready)
}

fn values(
    binds: &[Bind],
    called: &[Value],
    engine: &Engine,
    running: &Running<'_>,
) -> Result<Vec<SqliteValue>, SqlProblem> {
    binds
        .iter()
        .map(|bind| {
            let value = match bind {
                Bind::Given(place) => running
                    .parameters
                    .get(*place)
                    .cloned()
                    .ok_or_else(|| SqlProblem::new(1210, "Incorrect arguments to EXECUTE"))?,
                Bind::Variable(scope, name) => running
                    .surroundings
                    .variable(*scope, name)?
                    .ok_or_else(|| {
                        SqlProblem::new(1193, format!("Unknown system variable '{name}'"))
                    })?,
                Bind::UserVariable(name) => lock(&engine.frame)
                    .user_variables
                    .get(name)
                    .cloned()
                    .unwrap_or_default(),
                Bind::Call(place) => called.get(*place).cloned().unwrap_or_default(),
            };
            Ok(sqlite(value))
        })
        .collect()
}
