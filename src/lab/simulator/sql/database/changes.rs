//! Open transactions that others do not see, and changes as a replica makes them.

use std::sync::Arc;

use crate::model::time::ServerTime;

use super::super::frame::Target;
use super::super::outcome::RowChange;
use super::super::problem::{ApplyError, SqlProblem};
use super::super::transaction::Transaction;
use super::Database;

impl Database {
    /// SQLite holds nothing that others may not see.
    pub(super) fn close(&mut self) {
        if self.open.take().is_some() {
            self.engine.rollback();
        }
    }

    pub(super) fn is_open_for(&self, id: u64) -> bool {
        self.open.is_some_and(|(open, _)| open == id)
    }

    /// SQLite holds the changes of this transaction and of no other.
    pub(super) fn open_for(&mut self, transaction: &Transaction) -> Result<(), SqlProblem> {
        let wanted = (transaction.id, transaction.changes.len());
        if self.open == Some(wanted) {
            return Ok(());
        }
        self.close();
        self.engine.begin()?;
        self.open = Some(wanted);
        self.replayed_rows += transaction.changes.len() as u64;
        for change in &transaction.changes {
            if self.apply_row(change).is_err() {
                self.close();
                // Somebody else changed the same rows in between: a real server would have had one of the two wait.
                return Err(SqlProblem::new(
                    1213,
                    "Deadlock found when trying to get lock; try restarting transaction",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn apply_row(&self, row: &RowChange) -> Result<(), ApplyError> {
        let refused = |code, message: String, handler| ApplyError {
            code,
            message,
            table: Arc::clone(&row.table),
            event: row.event(),
            handler,
        };
        let Some(table) = self.catalog.named(&row.table) else {
            let message = format!("Table '{}' doesn't exist", row.table);
            return Err(refused(1146, message, ""));
        };
        let images = row.before.iter().chain(&row.after);
        if images
            .into_iter()
            .any(|image| image.len() != table.columns.len())
        {
            let message = format!(
                "Table definition on source and replica does not match: Column count mismatch in table '{}'",
                row.table
            );
            return Err(refused(1677, message, ""));
        }
        match self.engine.change_row(table, row) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let handler = if table.primary.is_empty() {
                    "HA_ERR_END_OF_FILE"
                } else {
                    "HA_ERR_KEY_NOT_FOUND"
                };
                let message = format!("Can't find record in '{}'", table.name);
                Err(refused(1032, message, handler))
            }
            Err(error) => {
                // The refusal names the row's values.
                if let Some(after) = &row.after {
                    let mut target = Target::at(table, false, false, 0);
                    target.values = after.to_vec();
                    self.engine.aim(target);
                }
                let problem = self.engine.problem(&error, Some(table));
                Err(refused(
                    problem.code,
                    problem.message,
                    "HA_ERR_FOUND_DUPP_KEY",
                ))
            }
        }
    }

    pub(super) fn apply_statement(
        &mut self,
        schema: Option<&str>,
        sql: &str,
        touches: &Arc<str>,
        at: ServerTime,
    ) -> Result<(), ApplyError> {
        self.ddl(schema, sql, at, false)
            .map(drop)
            .map_err(|problem| ApplyError {
                code: problem.code,
                message: format!(
                    "Error '{}' on query. Default database: '{}'. Query: '{sql}'",
                    problem.message,
                    schema.unwrap_or_default()
                ),
                table: Arc::clone(touches),
                event: "",
                handler: "",
            })
    }
}
