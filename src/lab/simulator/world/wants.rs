//! What can be locked on a server, how, for how long, and what keeps what out.

use std::sync::Arc;

use crate::model::time::Moment;

use super::transaction::{Part, RowKey, TableName, Touch};

/// A connection's number on its server.
pub type SessionId = u64;

/// Whoever holds a lock or waits for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    Session(SessionId),
    /// Worker 1 … n of a channel; 0 is the applier without workers.
    Worker {
        channel: String,
        number: u32,
    },
}

/// What is locked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// `FLUSH TABLES WITH READ LOCK`.
    GlobalRead,
    /// Anything that writes; collides with [`Want::GlobalRead`] only.
    GlobalWrite,
    Table(TableName, TableLock),
    /// Exclusive, for rows written or selected FOR UPDATE.
    Rows(TableName, Arc<[RowKey]>),
    /// All rows of a table, exclusive.
    AllRows(TableName),
}

/// Table (metadata) locks, from weak to strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLock {
    /// SELECT.
    Read,
    /// INSERT, UPDATE, DELETE, and the applier.
    Write,
    /// `LOCK TABLES … READ`: others may read.
    ReadOnly,
    /// `LOCK TABLES … WRITE`, ALTER and DROP.
    Exclusive,
}

/// Until when a lock is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// COMMIT or ROLLBACK.
    TransactionEnds,
    /// UNLOCK TABLES.
    Unlocked,
}

/// What a session gets when it asks for locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockAnswer {
    Granted,
    /// Ask again; the same wish keeps its place. Give up with [`super::World::stop_waiting`].
    Wait {
        on: Blocker,
        since: Moment,
        /// When to fail with 1205.
        gives_up_at: Moment,
    },
    /// 1213. The wish is forgotten; the session must roll back.
    Deadlock,
}

/// Who is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    pub owner: Owner,
    /// Since when that one holds the lock.
    pub since: Moment,
    pub what: Blocked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Waiting for global read lock
    Global,
    /// Waiting for table metadata lock
    Table(TableName),
    /// A row lock of the storage engine: shows in `innodb_trx` as LOCK WAIT.
    Row(TableName),
}

/// For `performance_schema.data_locks`, `metadata_locks` and `sys.innodb_lock_waits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWait {
    pub waiter: Owner,
    pub since: Moment,
    pub on: Blocker,
}

/// Whoever holds or wants, as the world knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Who {
    Session(SessionId),
    Worker { channel: u64, worker: usize },
}

/// What a transaction needs before it may change what it touches.
pub(super) fn wants_of(touches: &[Touch]) -> Vec<Want> {
    let mut wants = Vec::with_capacity(1 + 2 * touches.len());
    wants.push(Want::GlobalWrite);
    for touch in touches {
        let table = touch.table.clone();
        match &touch.part {
            Part::Rows(keys) => {
                wants.push(Want::Table(table.clone(), TableLock::Write));
                wants.push(Want::Rows(table, keys.clone()));
            }
            Part::AllRows => {
                wants.push(Want::Table(table.clone(), TableLock::Write));
                wants.push(Want::AllRows(table));
            }
            Part::Definition => wants.push(Want::Table(table, TableLock::Exclusive)),
        }
    }
    wants
}

/// Whether two wishes keep each other out. Rows that are only wanted keep nobody out: they are few and soon over.
pub(super) fn collide(a: &Want, b: &Want) -> Option<Blocked> {
    match (a, b) {
        (Want::GlobalRead, Want::GlobalWrite) | (Want::GlobalWrite, Want::GlobalRead) => {
            Some(Blocked::Global)
        }
        (Want::Table(a, x), Want::Table(b, y)) if a == b && !go_together(*x, *y) => {
            Some(Blocked::Table(a.clone()))
        }
        _ => None,
    }
}

pub(super) fn go_together(a: TableLock, b: TableLock) -> bool {
    use TableLock::{Exclusive, Read, ReadOnly, Write};
    match (a, b) {
        (Exclusive, _) | (_, Exclusive) => false,
        (Write, ReadOnly) | (ReadOnly, Write) => false,
        (Read | Write | ReadOnly, _) => true,
    }
}
