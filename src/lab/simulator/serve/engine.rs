//! What the world's transactions are carried out on: one server's tables, accounts and events.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::sql::{
    Brought as Told, Called, Change, Database, Kind, RowChange, Scope, SessionContext, SqlProblem,
    Surroundings, TableData, Transaction, Value,
};
use super::super::world::{self, Engine, NodeId, Part, Payload, Touch, Write};
use super::accounts::{AccountOrder, Accounts};
use super::client::PATIENCE;
use super::events::{EventOrder, Events, Place};
use crate::model::time::{Moment, ServerTime, Span};

/// What one transaction does.
#[derive(Debug, Default)]
pub struct Deed {
    pub changes: Vec<Change>,
    pub others: Vec<Other>,
    /// Its tables were changed on this server when the statement was said (DDL).
    pub in_effect_at: Option<NodeId>,
    pub origin: NodeId,
    pub origin_server_id: u32,
}

/// What is no matter of tables.
#[derive(Clone, Debug)]
pub enum Other {
    Account(AccountOrder),
    Event(EventOrder),
}

/// One server's tables, accounts and events.
pub struct Tables {
    pub node: NodeId,
    pub server_id: u32,
    /// Apart from the world's lock, so that a statement can run while the world is looked at.
    database: Arc<Mutex<Database>>,
    pub accounts: Accounts,
    pub events: Events,
    /// How far its clock is ahead, for events.
    pub clock_ahead: Span,
    /// Its own time is not known to the world when a transaction is carried out.
    pub now: ServerTime,
}

impl Tables {
    pub fn new(node: NodeId, server_id: u32, database: Database, accounts: Accounts) -> Self {
        Tables {
            node,
            server_id,
            database: Arc::new(Mutex::new(database)),
            accounts,
            events: Events::default(),
            clock_ahead: Span::ZERO,
            now: ServerTime(0),
        }
    }

    pub fn database(&self) -> Arc<Mutex<Database>> {
        Arc::clone(&self.database)
    }
}

/// Statements leave the tables whole even when they panic: SQLite rolls back.
pub fn lock(database: &Mutex<Database>) -> MutexGuard<'_, Database> {
    database.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine for Tables {
    fn apply(&mut self, payload: &Payload) -> Result<(), world::ApplyError> {
        let Some(deed) = payload.downcast_ref::<Deed>() else {
            return Ok(());
        };
        if deed.in_effect_at != Some(self.node) && !deed.changes.is_empty() {
            lock(&self.database)
                .apply(&deed.changes)
                .map_err(|error| world::ApplyError {
                    code: error.code,
                    message: error.sentence(),
                })?;
        }
        let place = Place {
            is_origin: deed.origin == self.node,
            origin_server_id: deed.origin_server_id,
            now: self.now,
        };
        for other in &deed.others {
            match other {
                Other::Account(order) => self.accounts.apply(order),
                Other::Event(order) => self.events.apply(order, place),
            }
        }
        Ok(())
    }

    fn part(
        &self,
        payload: &Payload,
        is_wanted: &mut dyn FnMut(&str) -> bool,
    ) -> Option<world::PartOf> {
        let deed = payload.downcast_ref::<Deed>()?;
        let mut kept = deed.changes.clone();
        kept.retain(|change| match change {
            Change::Row(row) => is_wanted(&row.table),
            Change::Statement { touches, .. } => is_wanted(touches),
        });
        let (all, left) = (deed.changes.len(), kept.len());
        if left == all {
            return None;
        }
        let rows = kept.iter().filter_map(|change| match change {
            Change::Row(row) => Some(row),
            Change::Statement { .. } => None,
        });
        let touches = touches(rows);
        let is_empty = left == 0 && deed.others.is_empty();
        let deed = Deed {
            changes: kept,
            others: deed.others.clone(),
            ..*deed
        };
        Some(world::PartOf {
            payload: (!is_empty).then(|| Arc::new(deed) as Payload),
            touches,
            share: left as f64 / all as f64,
        })
    }

    fn run_event(&mut self, name: &str, at: ServerTime) -> Option<Write> {
        let event = self.events.get(name)?;
        if Kind::of(&event.body) != Kind::Write {
            return None;
        }
        let body = event.body.clone();
        let mut session = SessionContext::new(0, "event_scheduler@localhost", "admin@%");
        session.schema = Some(event.schema.clone());
        session.now = at;
        session.patience = Some(PATIENCE);
        let around = Alone {
            server_id: self.server_id,
        };
        let mut transaction = Transaction::begin();
        let outcome = lock(&self.database)
            .execute(&mut transaction, &mut session, &around, &body, &[])
            .ok()?;
        self.events.executed(name, at);
        if transaction.is_empty() || !matches!(outcome.result, Told::Done(_)) {
            return None;
        }
        let began_at = at.on_our_clock(self.clock_ahead);
        Some(write(
            transaction.changes(),
            began_at,
            self.node,
            self.server_id,
        ))
    }
}

/// The commit of a transaction that changed rows.
pub fn write(changes: &[RowChange], began_at: Moment, origin: NodeId, server_id: u32) -> Write {
    let bytes: u64 = changes.iter().map(RowChange::bytes).sum();
    let deed = Deed {
        changes: changes.iter().cloned().map(Change::Row).collect(),
        origin,
        origin_server_id: server_id,
        ..Deed::default()
    };
    let rows = changes.len() as u64;
    let mut write = Write::new(Some(Arc::new(deed)), began_at);
    write.rows = rows;
    write.bytes = Write::usual_bytes(rows, bytes);
    write.touches = touches(changes);
    write
}

/// More rows of a table than this are not told apart.
const MOST_KEYS: usize = 10_000;

fn touches<'a>(changes: impl IntoIterator<Item = &'a RowChange>) -> Arc<[Touch]> {
    let mut by_table: BTreeMap<&Arc<str>, Vec<u64>> = BTreeMap::new();
    for change in changes {
        let keys = by_table.entry(&change.table).or_default();
        if keys.len() <= MOST_KEYS {
            keys.extend(change.keys.iter().map(|key| row_key(key)));
        }
    }
    by_table
        .into_iter()
        .map(|(table, keys)| Touch {
            table: Arc::clone(table),
            part: if keys.len() > MOST_KEYS {
                Part::AllRows
            } else {
                Part::Rows(keys.into())
            },
        })
        .collect()
}

/// The same for the same key on every server and in every run.
pub fn row_key(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// How many rows a table has; `None`: there is no such table.
pub fn row_count(database: &mut Database, schema: &str, table: &str) -> Option<u64> {
    if !database.has_table(schema, table) {
        return None;
    }
    let sql = format!("SELECT COUNT(*) FROM `{schema}`.`{table}`");
    let mut session = SessionContext::new(0, "", "");
    let around = Alone { server_id: 0 };
    let effect = database
        .execute(&mut Transaction::begin(), &mut session, &around, &sql, &[])
        .ok()?;
    let Told::Rows(rows) = effect.result else {
        return None;
    };
    let count = rows.rows.first()?.first()?.as_ref()?;
    std::str::from_utf8(count).ok()?.parse().ok()
}

/// What a statement of the server's own finds around it: hardly anything.
pub struct Alone {
    server_id: u32,
}

impl Alone {
    pub fn new(server_id: u32) -> Self {
        Alone { server_id }
    }
}

impl Surroundings for Alone {
    fn table(&self, _schema: &str, _name: &str) -> Option<TableData> {
        None
    }

    fn variable(&self, _scope: Scope, name: &str) -> Result<Option<Value>, SqlProblem> {
        Ok((name == "server_id").then(|| Value::from(self.server_id)))
    }

    fn call(&self, _name: &str, _arguments: &[Value]) -> Called {
        Called::Unknown
    }
}
