//! Errors with MySQL's numbers and words.

use std::sync::Arc;

use super::database::MOST_ROWS;
use super::parse::MOST_DEEP;
use crate::lab::wire::{Answer, SqlError};

/// A statement that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlProblem {
    pub code: u16,
    pub message: String,
}

impl SqlProblem {
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        SqlProblem {
            code,
            message: message.into(),
        }
    }

    /// What a real server does and these do not.
    pub fn unsupported(what: &str) -> Self {
        SqlProblem::new(
            1064,
            format!(
                "You have an error in your SQL syntax, or rather: the lab's simulated servers do not do {what}; real ones may"
            ),
        )
    }
}

impl SqlProblem {
    pub fn out_of_memory() -> Self {
        let text = "Out of memory: the statement needs more than the lab's servers have";
        SqlProblem::new(1041, text)
    }

    /// Operators or SELECTs chained or nested deeper than the stack of a session's thread is good for.
    pub fn too_deep() -> Self {
        SqlProblem::new(
            1436,
            format!(
                "Thread stack overrun, or rather: the lab's simulated servers take at most {MOST_DEEP} operators in a \
                 row; use IN (…) or several statements"
            ),
        )
    }

    pub fn too_many_rows() -> Self {
        SqlProblem::new(
            1206,
            format!(
                "The total number of locks exceeds the lock table size, or rather: the lab's simulated servers change at \
                 most {MOST_ROWS} rows in one transaction; do it in portions"
            ),
        )
    }
}

impl From<SqlProblem> for SqlError {
    fn from(problem: SqlProblem) -> Self {
        SqlError::new(problem.code, problem.message)
    }
}

impl From<SqlProblem> for Answer {
    fn from(problem: SqlProblem) -> Self {
        Answer::Err(problem.into())
    }
}

/// A change that a replica could not make: 1062, 1032, 1146 and whatever a statement says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyError {
    pub code: u16,
    /// The storage engine's words: `Duplicate entry '5' for key 'orders.PRIMARY'`, `Can't find record in 'orders'`.
    pub message: String,
    pub table: Arc<str>,
    /// `Write_rows`; empty for a statement.
    pub event: &'static str,
    /// `HA_ERR_FOUND_DUPP_KEY`; empty where there is none.
    pub handler: &'static str,
}

impl ApplyError {
    /// As an applier says it, without the log's name and position behind it.
    ///
    /// `Could not execute Write_rows event on table shop.orders; Duplicate entry '5' for key 'orders.PRIMARY', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY`
    pub fn sentence(&self) -> String {
        if self.event.is_empty() {
            return self.message.clone();
        }
        if self.handler.is_empty() {
            return format!("Error executing row event: '{}'", self.message);
        }
        format!(
            "Could not execute {} event on table {}; {}, Error_code: {}; handler error {}",
            self.event, self.table, self.message, self.code, self.handler
        )
    }
}
