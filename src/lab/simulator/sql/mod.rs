//! The tables and the SQL of one simulated server: an in-memory SQLite that is spoken to in MySQL's dialect.
//!
//! A statement goes through [`Database::execute`] inside a [`Transaction`]; what it changed becomes visible to others
//! with [`Database::commit`], which also says what a replica has to do ([`Change`]); a replica does it with
//! [`Database::apply`]. A statement under autocommit is a transaction of its own.
//!
//! ```text
//! let mut transaction = Transaction::begin();
//! let outcome = database.execute(&mut transaction, &mut session, &surroundings, sql, &[])?;
//! // outcome.locks: somebody else holds one? database.undo_statement(&mut transaction), wait, ask again.
//! let changes = database.commit(transaction)?;      // → the binary log, then database.apply(&change) on replicas
//! ```
//!
//! A statement that takes longer than its session's patience has had no effect ([`Brought::TooLong`]): it is begun anew
//! with [`Database::aside`], on a copy of the tables, while others go on.
//!
//! What is no business of tables (SHOW, SET, START REPLICA, KILL …) is the caller's: [`Kind::of`] tells them apart
//! without parsing. Tables that describe the server, system variables and functions that wait come from the caller too,
//! through [`Surroundings`]; they are asked for only what a statement names.

mod answers;
mod catalog;
mod compile;
mod database;
mod dates;
mod ddl;
mod describing;
mod engine;
mod explaining;
mod foreign;
mod frame;
mod functions;
mod outcome;
mod parse;
mod plans;
mod problem;
mod session;
mod showing;
mod statement;
mod storing;
mod surroundings;
mod transaction;
mod value;
mod watch;

pub use database::{Aside, Database, Shared, Told};
pub use outcome::{Brought, Change, Done, Lock, LockMode, Outcome, RowChange};
pub use problem::{ApplyError, SqlProblem};
pub use session::SessionContext;
pub use statement::{Kind, PlanFormat, placeholders, split, without_comments};
pub use surroundings::{Called, SERVER_FUNCTIONS, Scope, Surroundings, SystemColumn, TableData};
pub use transaction::Transaction;
pub use value::{ColumnType, Value};

#[cfg(test)]
mod tests;
