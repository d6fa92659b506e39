//! What the tables need of the server around them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::problem::SqlProblem;
use super::value::{ColumnType, Value};

/// The server around the tables. Asked before a statement runs, only for what the statement names.
pub trait Surroundings {
    /// A table of `performance_schema`, `information_schema`, `mysql` or `sys` as it is now; names as the statement
    /// writes them, in small letters. `None`: there is no such table (1146, 1109). The tables of `information_schema`
    /// about users' own tables (SCHEMATA, TABLES, COLUMNS, STATISTICS) are answered here without asking.
    fn table(&self, schema: &str, name: &str) -> Option<TableData>;

    /// `@@name`, in small letters. `None`: unknown (1193). A scope the variable does not have is a problem (1238).
    fn variable(&self, scope: Scope, name: &str) -> Result<Option<Value>, SqlProblem>;

    /// A function that waits or is about the server: see [`SERVER_FUNCTIONS`](super::surroundings::SERVER_FUNCTIONS).
    /// `name` in capitals.
    fn call(&self, name: &str, arguments: &[Value]) -> Called;
}

/// Functions that [`Surroundings::call`] is asked for. Their arguments must not depend on rows.
pub const SERVER_FUNCTIONS: &[&str] = &[
    "WAIT_FOR_EXECUTED_GTID_SET",
    "WAIT_UNTIL_SQL_THREAD_AFTER_GTIDS",
    "MASTER_GTID_WAIT",
    "MASTER_POS_WAIT",
    "SOURCE_POS_WAIT",
    "GET_LOCK",
    "RELEASE_LOCK",
    "RELEASE_ALL_LOCKS",
    "IS_FREE_LOCK",
    "IS_USED_LOCK",
    "BINLOG_GTID_POS",
    "ASYNCHRONOUS_CONNECTION_FAILOVER_ADD_SOURCE",
    "GROUP_REPLICATION_GET_WRITE_CONCURRENCY",
];

/// `@@GLOBAL.x`, `@@SESSION.x`, `@@x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    Global,
    Session,
    /// The session's if it has one, else the global one.
    Unsaid,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    Value(Value),
    /// The whole statement is to be asked again, in this long at the latest.
    NotYet(Duration),
    Refused(SqlProblem),
    /// 1305: this server has no such function.
    Unknown,
}

/// One table of the server's own.
#[derive(Clone, Debug, PartialEq)]
pub struct TableData {
    pub columns: Arc<[SystemColumn]>,
    pub rows: Vec<Vec<Value>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemColumn {
    pub name: Cow<'static, str>,
    pub kind: ColumnType,
}

impl SystemColumn {
    pub const fn new(name: &'static str, kind: ColumnType) -> Self {
        SystemColumn {
            name: Cow::Borrowed(name),
            kind,
        }
    }
}
