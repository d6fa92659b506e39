//! What is replicated: a transaction, how it is named, what it touches, and who carries it out.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::model::gtid::{Sid, mariadb};
use crate::model::time::{Moment, ServerTime};

use super::NodeId;
use super::wants::SessionId;

/// What a transaction does to the tables; only the [`Engine`] knows what is in it.
pub type Payload = Arc<dyn Any + Send + Sync>;

/// The tables of one server.
pub trait Engine: Send {
    /// Carries out a transaction at the instant it commits: on the server where it was written as well as on those that
    /// copy it. After an error nothing of it may have happened.
    fn apply(&mut self, payload: &Payload) -> Result<(), ApplyError>;

    /// What is left of a transaction when only the tables that are wanted are changed; asked once for each change, with
    /// `schema.table` or, where it is about a schema, that. `None`: all of it.
    fn part(&self, payload: &Payload, is_wanted: &mut dyn FnMut(&str) -> bool) -> Option<PartOf>;

    /// A scheduled event is due on a server that can be written to. `at` is the server's own time. `None`: it
    /// changes nothing this time.
    fn run_event(&mut self, name: &str, at: ServerTime) -> Option<Write>;
}

/// A part of a transaction.
#[derive(Clone, Debug)]
pub struct PartOf {
    /// `None`: nothing is left.
    pub payload: Option<Payload>,
    pub touches: Arc<[Touch]>,
    /// Of all its changes, 0 … 1.
    pub share: f64,
}

/// Why a transaction could not be carried out: 1062 duplicate key, 1032 no such row, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyError {
    pub code: u16,
    /// As the storage engine's part of the server's text:
    /// `Could not execute Write_rows event on table shop.orders; Duplicate entry '2000' for key 'orders.PRIMARY'`.
    pub message: String,
}

/// The name of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gtid {
    MySql { sid: Sid, number: u64 },
    MariaDb(mariadb::Gtid),
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gtid::MySql { sid, number } => write!(f, "{sid}:{number}"),
            Gtid::MariaDb(gtid) => {
                write!(f, "{}-{}-{}", gtid.domain, gtid.server_id, gtid.sequence)
            }
        }
    }
}

/// A table by schema and name.
pub type TableName = Arc<str>;

/// The hash of a row's primary key.
pub type RowKey = u64;

/// What a transaction touches of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// `schema.table`.
    pub table: TableName,
    pub part: Part,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Rows(Arc<[RowKey]>),
    /// So many rows that they are not told apart.
    AllRows,
    /// The table itself is created, altered or dropped.
    Definition,
}

/// A transaction about to be committed by a session (or by a scheduled event) on a server.
#[derive(Clone, Debug)]
pub struct Write {
    /// `None`: an empty transaction, as is injected to skip one.
    pub payload: Option<Payload>,
    /// When its (first) statement began. On MySQL that is the time stamp of its events, which `Seconds_Behind_Source`
    /// looks at; on MariaDB it is the commit.
    pub began_at: Moment,
    pub rows: u64,
    /// In the binary log. See [`Write::usual_bytes`].
    pub bytes: u64,
    pub touches: Arc<[Touch]>,
    pub name: NextGtid,
    /// `sql_log_bin`. When off it has no GTID and nobody copies it.
    pub is_logged: bool,
    /// Whose transaction locks are released at the commit.
    pub session: Option<SessionId>,
}

/// `gtid_next`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextGtid {
    #[default]
    Automatic,
    /// MySQL: a sequence of another tag; MariaDB never.
    AutomaticOf(Sid),
    Given(Gtid),
    /// MariaDB: `gtid_domain_id` of the session.
    InDomain(u32),
}

impl Write {
    /// One that touches nothing yet: logged, named by the server.
    pub fn new(payload: Option<Payload>, began_at: Moment) -> Write {
        Write {
            payload,
            began_at,
            rows: 0,
            bytes: Write::usual_bytes(0, 0),
            touches: Arc::from([]),
            name: NextGtid::Automatic,
            is_logged: true,
            session: None,
        }
    }

    /// What a transaction of so many rows, with so many bytes of row images, takes in the binary log: GTID, BEGIN,
    /// table map, rows, commit. Measured on MySQL 9.7: 318 bytes for one heartbeat.
    pub fn usual_bytes(rows: u64, bytes_of_rows: u64) -> u64 {
        if rows == 0 {
            return 230;
        }
        250 + rows * 4 + bytes_of_rows
    }
}

/// A committed transaction, the same wherever it is copied to whole.
#[derive(Clone, Debug)]
pub struct Transaction {
    pub gtid: Gtid,
    /// Where it was written first.
    pub origin: NodeId,
    pub origin_server_id: u32,
    /// True time of its commit there.
    pub committed_at: Moment,
    /// The same on the clock of the server of origin: `original_commit_timestamp`.
    pub original_commit: ServerTime,
    /// The events' time stamp: when its statement began (MariaDB: when it was committed), on the clock of the server of
    /// origin, in whole seconds.
    pub stamp_secs: i64,
    pub rows: u64,
    pub bytes: u64,
    pub touches: Arc<[Touch]>,
    pub payload: Option<Payload>,
}
