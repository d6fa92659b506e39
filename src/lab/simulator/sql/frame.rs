//! What SQLite's functions know of the statement that runs: filled before, looked at after.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::catalog::Table;
use super::problem::SqlProblem;
use super::session::SessionContext;
use super::value::Value;

/// Shared by an engine and the functions registered in it.
pub type SharedFrame = Arc<Mutex<Frame>>;

#[derive(Debug, Default)]
pub struct Frame {
    pub now_micros: i64,
    pub zone_secs: i32,
    pub system_zone_secs: i32,
    pub connection_id: u64,
    pub user: String,
    pub account: String,
    pub schema: Option<String>,
    pub version: &'static str,
    pub last_insert_id: u64,
    pub row_count: i64,
    pub found_rows: u64,
    pub user_variables: BTreeMap<String, Value>,
    /// What SLEEP adds up to.
    pub wait: Duration,
    pub warnings: Vec<(u16, String)>,
    /// Why a function refused; SQLite carries texts only.
    pub problem: Option<SqlProblem>,
    pub target: Option<Target>,
    /// What triggers have seen since `is_capturing`.
    pub captured: Vec<Captured>,
    pub is_capturing: bool,
    pub checks_foreign_keys: bool,
    /// So many rows the transaction may still change.
    pub room: usize,
    pub uuid_counter: u64,
}

/// The table that values are being written to.
#[derive(Debug)]
pub struct Target {
    pub table: Arc<Table>,
    pub is_strict: bool,
    /// INSERT IGNORE, UPDATE IGNORE: what does not fit is bent with a warning.
    pub is_ignoring: bool,
    /// TIMESTAMP values arrive in another zone than they are kept in.
    pub zone_shift_secs: i32,
    /// 1 for the first.
    pub row: u64,
    /// Columns that have had their turn in this row; one that comes again begins the next.
    pub seen: Vec<bool>,
    /// As stored, of the current row.
    pub values: Vec<Value>,
    pub next_auto: i64,
    pub first_generated: Option<i64>,
}

/// One row before and after.
#[derive(Debug)]
pub struct Captured {
    pub table: u32,
    pub before: Option<Arc<[Value]>>,
    pub after: Option<Arc<[Value]>>,
}

pub fn lock(frame: &SharedFrame) -> MutexGuard<'_, Frame> {
    frame.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Frame {
    pub fn is_mariadb(&self) -> bool {
        self.version.contains("MariaDB")
    }

    pub fn enter(&mut self, session: &mut SessionContext) {
        self.now_micros = session.now.0;
        self.zone_secs = session.zone_offset_secs;
        self.system_zone_secs = session.system_zone_offset_secs;
        self.connection_id = session.connection_id;
        self.user.clone_from(&session.user);
        self.account.clone_from(&session.account);
        self.schema.clone_from(&session.schema);
        self.last_insert_id = session.last_insert_id;
        self.row_count = session.row_count;
        self.found_rows = session.found_rows;
        self.user_variables = std::mem::take(&mut session.user_variables);
        self.checks_foreign_keys = session.checks_foreign_keys;
        self.wait = Duration::ZERO;
        self.problem = None;
        self.target = None;
        self.warnings.clear();
        self.captured.clear();
        self.is_capturing = false;
    }

    pub fn leave(&mut self, session: &mut SessionContext) {
        session.user_variables = std::mem::take(&mut self.user_variables);
        session.last_insert_id = self.last_insert_id;
        self.is_capturing = false;
    }
}
