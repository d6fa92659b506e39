//! One connection: sends a statement, brings the whole answer, counts, and knows when it is out of step.

use std::time::Duration;

use mysql::consts::{ColumnType, SessionStateType};
use mysql::prelude::Queryable;
use mysql::{Conn, Error, Value};

use crate::model::trouble::Trouble;

use super::queries::Question;
use super::rows::{Cell, Column, ColumnKind, Rows};
use super::trouble::{Doing, spoils, trouble};

/// A logged-in connection.
pub struct Session {
    conn: Conn,
    /// How long an answer may take, for the words of a time-out.
    limit: Duration,
    spoiled: bool,
    statements: u64,
    bytes: u64,
}

impl Session {
    pub fn new(conn: Conn, limit: Duration) -> Self {
        Session {
            conn,
            limit,
            spoiled: false,
            statements: 0,
            bytes: 0,
        }
    }

    /// The server's connection id.
    pub fn id(&self) -> u64 {
        u64::from(self.conn.connection_id())
    }

    pub fn is_spoiled(&self) -> bool {
        self.spoiled
    }

    /// Statements sent, and bytes of the answers' rows, roughly.
    pub fn cost(&self) -> (u64, u64) {
        (self.statements, self.bytes)
    }

    /// Rows that the last statement changed.
    pub fn affected_rows(&self) -> u64 {
        self.conn.affected_rows()
    }

    /// What the last statement's OK packet told of the session's state: kind and bytes. The driver gives up on all of
    /// them when it does not know the kind of one; then nothing was told.
    pub fn changes(&self) -> Vec<(SessionStateType, Vec<u8>)> {
        let told = self.conn.session_state_changes().unwrap_or_default();
        told.iter()
            .map(|change| (change.data_type(), change.data_ref().to_vec()))
            .collect()
    }

    /// Asks and brings the first result set whole.
    pub fn ask(&mut self, question: Question, sql: &str) -> Result<Rows, Trouble> {
        self.statements += 1;
        self.fetch(sql)
            .map_err(|error| self.failed(question, &error))
    }

    /// Has the server forget what was set on this session, our own settings too.
    pub fn reset(&mut self, question: Question) -> Result<(), Trouble> {
        self.statements += 1;
        self.conn
            .reset()
            .map_err(|error| self.failed(question, &error))
    }

    fn failed(&mut self, question: Question, error: &Error) -> Trouble {
        self.spoiled |= spoils(error);
        let doing = Doing::Asking {
            question,
            limit: self.limit,
        };
        trouble(error, doing)
    }

    fn fetch(&mut self, sql: &str) -> Result<Rows, Error> {
        let mut result = self.conn.query_iter(sql)?;
        let columns: Vec<Column> = result.columns().as_ref().iter().map(column).collect();
        let mut bytes = columns.len() * COLUMN_BYTES;
        let mut cells = Vec::new();
        if let Some(set) = result.iter() {
            for row in set {
                let row: Vec<Cell> = row?.unwrap().into_iter().map(cell).collect();
                bytes += ROW_BYTES
                    + row
                        .iter()
                        .map(|c| c.as_ref().map_or(1, |b| b.len() + 1))
                        .sum::<usize>();
                cells.push(row);
            }
        }
        drop(result);
        self.bytes += bytes as u64;
        Ok(Rows { columns, cells })
    }
}

/// What a column's description and a row's header take on the wire, about.
const COLUMN_BYTES: usize = 60;
const ROW_BYTES: usize = 4;

fn column(column: &mysql::Column) -> Column {
    let decimals = column.decimals();
    Column {
        name: column.name_str().into_owned(),
        kind: match column.column_type() {
            ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_DATETIME2 => {
                ColumnKind::DateTime { decimals }
            }
            ColumnType::MYSQL_TYPE_TIMESTAMP | ColumnType::MYSQL_TYPE_TIMESTAMP2 => {
                ColumnKind::Timestamp { decimals }
            }
            ColumnType::MYSQL_TYPE_LONGLONG | ColumnType::MYSQL_TYPE_LONG => ColumnKind::Integer,
            _ => ColumnKind::Other,
        },
    }
}

/// The text protocol knows only bytes and NULL.
fn cell(value: Value) -> Cell {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(bytes),
        other => Some(other.as_sql(true).trim_matches('\'').as_bytes().to_vec()),
    }
}
