//! What a statement brings: rows or counts, what it changed, what it locked.

use std::sync::Arc;
use std::time::Duration;

use crate::lab::wire::Rows;
use crate::model::time::ServerTime;

use super::value::Value;

/// A statement went well, or has to wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub result: Brought,
    /// Rows and tables that this statement locked: changed ones, and those of `SELECT … FOR UPDATE / FOR SHARE`.
    /// Whether somebody else holds one is the caller's knowledge.
    pub locks: Vec<Lock>,
    /// DDL took effect at once; this is what replicas have to do. What rows became comes from [`super::Database::commit`].
    pub ddl: Option<Change>,
    /// `schema.table` of every table of a user that was read or written (metadata locks).
    pub tables: Vec<Arc<str>>,
    /// SLEEP() in the statement: answer after this long.
    pub wait: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Brought {
    Rows(Rows),
    Done(Done),
    /// A function of [`super::Surroundings::call`] is not ready: nothing has happened; execute the same statement again.
    AskAgain(Duration),
    /// The session's patience has run out: nothing has happened. To be carried out aside ([`super::Database::aside`]).
    TooLong {
        /// `schema.table` of those that it writes to or locks rows of.
        writes: Vec<Arc<str>>,
    },
}

/// What the OK packet says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Changed rows. `matched_rows` for clients with CLIENT_FOUND_ROWS.
    pub affected_rows: u64,
    pub matched_rows: u64,
    pub last_insert_id: u64,
    pub info: String,
    /// Code and text, as SHOW WARNINGS has them.
    pub warnings: Vec<(u16, String)>,
}

/// What a replica has to do: one event of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Row(RowChange),
    /// DDL goes as the statement it was, with its default schema.
    Statement {
        schema: Option<String>,
        sql: String,
        /// `schema.table`, or `schema` alone.
        touches: Arc<str>,
        /// The source's clock: what NOW() says in it on every server.
        at: ServerTime,
    },
}

/// One row, as row-based replication carries it. Values in the order of the columns.
#[derive(Clone, Debug, PartialEq)]
pub struct RowChange {
    /// `shop.orders`.
    pub table: Arc<str>,
    /// `None`: the row is new.
    pub before: Option<Arc<[Value]>>,
    /// `None`: the row went.
    pub after: Option<Arc<[Value]>>,
    /// The values of the primary key as one text, before and after the change when it differs: for dependencies between
    /// transactions (writesets) and locks. Without a primary key, all values.
    pub keys: Arc<[String]>,
}

impl Change {
    /// About how long its event is in the binary log.
    pub fn bytes(&self) -> u64 {
        const EVENT: u64 = 19;
        match self {
            Change::Row(row) => row.bytes(),
            Change::Statement { sql, .. } => EVENT + 60 + sql.len() as u64,
        }
    }

    /// `schema.table` that it is about.
    pub fn table(&self) -> &Arc<str> {
        match self {
            Change::Row(row) => &row.table,
            Change::Statement { touches, .. } => touches,
        }
    }
}

impl RowChange {
    /// `Write_rows`, `Update_rows`, `Delete_rows`.
    pub fn event(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "Write_rows",
            (Some(_), Some(_)) => "Update_rows",
            (Some(_), None) => "Delete_rows",
        }
    }

    /// About how long its event is in the binary log.
    pub fn bytes(&self) -> u64 {
        // A row event with a table map before it, for one row.
        const EVENTS: u64 = 90;
        let images = self.before.iter().chain(&self.after);
        let values = images.flat_map(|image| image.iter());
        EVENTS + values.map(value_bytes).sum::<u64>()
    }
}

fn value_bytes(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Double(_) => 8,
        Value::Text(text) => 1 + text.len() as u64,
        Value::Bytes(bytes) => 2 + bytes.len() as u64,
    }
}

/// One lock that a statement took.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lock {
    pub table: Arc<str>,
    /// A key as in [`RowChange::keys`]; `None`: the table's definition (DDL).
    pub key: Option<String>,
    pub mode: LockMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockMode {
    Shared,
    Exclusive,
}
