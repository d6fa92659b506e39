//! Locks: what a statement must hold before it may have an effect, and waiting until it does.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::super::sql::{Lock, LockMode, Outcome as Effect, RowChange, Transaction};
use super::super::super::world::{Blocked, LockAnswer, TableLock, Until, Want};
use super::super::bench::Bench;
use super::super::engine::row_key;
use super::super::problems::{self, problem};
use super::super::words_of_replication::lock_state;
use super::{Client, Next};
use crate::lab::wire::SqlError;
use crate::model::time::{Moment, Span};

impl Client {
    /// `Some`: somebody else holds one; the statement has had no effect and is tried again.
    pub(super) fn take_locks(
        &mut self,
        bench: &mut Bench,
        effect: &Effect,
        changes: &[RowChange],
        alone: &mut Transaction,
    ) -> Result<Option<Next>, SqlError> {
        let wants = wants(effect, changes);
        if wants.is_empty() {
            return Ok(None);
        }
        let answer = self.ask_for(bench, &wants, Until::TransactionEnds);
        match answer {
            Ok(None) => Ok(None),
            Ok(Some(wait)) => {
                if !changes.is_empty() {
                    self.undo(bench, alone);
                }
                Ok(Some(wait))
            }
            Err(error) => {
                if !changes.is_empty() {
                    self.undo(bench, alone);
                }
                Err(error)
            }
        }
    }

    /// `None`: granted.
    pub(super) fn ask_for(
        &mut self,
        bench: &mut Bench,
        wants: &[Want],
        until: Until,
    ) -> Result<Option<Next>, SqlError> {
        let (node, id) = (self.me.node, self.me.id);
        match bench.world.lock(node, id, wants, until) {
            LockAnswer::Granted => {
                self.set_waiting(bench, None);
                Ok(None)
            }
            LockAnswer::Deadlock => {
                self.end_transaction(bench);
                Err(problem(
                    1213,
                    "Deadlock found when trying to get lock; try restarting transaction",
                ))
            }
            LockAnswer::Wait { on, since, .. } => {
                let is_row = matches!(on.what, Blocked::Row(_));
                let name = if is_row {
                    "innodb_lock_wait_timeout"
                } else {
                    "lock_wait_timeout"
                };
                let limit = self.me.values.number(name).unwrap_or(50.0);
                let gives_up_at = since + Span::from_secs_f64(limit);
                let now = bench.world.now();
                self.note_wait(bench, is_row, now >= gives_up_at, now.since(since));
                if now >= gives_up_at {
                    bench.world.stop_waiting(node, id);
                    self.set_waiting(bench, None);
                    return Err(problems::lock_wait_timeout());
                }
                self.set_state(bench, lock_state(&on.what));
                self.set_waiting(bench, is_row.then_some(since));
                let next = bench
                    .world
                    .next_event()
                    .map_or(gives_up_at, |next| next.min(gives_up_at));
                Ok(Some(Next::Wait(Some(next))))
            }
        }
    }

    pub(super) fn note_wait(
        &mut self,
        bench: &mut Bench,
        is_row: bool,
        is_over: bool,
        waited: Span,
    ) {
        let counters = &mut bench.machines[self.me.node].counters;
        if let Some(current) = &mut self.current
            && !current.has_waited_for_lock
        {
            current.has_waited_for_lock = true;
            counters.row_lock_waits += u64::from(is_row);
        }
        if is_row && is_over {
            counters.row_lock_time_ms += (waited.micros() / 1000).max(0) as u64;
        }
    }

    pub(super) fn set_waiting(&self, bench: &mut Bench, since: Option<Moment>) {
        if let Some(seat) = self.seat_of(bench)
            && let Some(transaction) = &mut seat.transaction
        {
            transaction.waits_since = since;
        }
    }

    pub(super) fn release(&self, bench: &mut Bench) {
        bench
            .world
            .unlock(self.me.node, self.me.id, Until::TransactionEnds);
    }
}

/// What a statement must hold before it may have an effect.
fn wants(effect: &Effect, changes: &[RowChange]) -> Vec<Want> {
    let mut wants = Vec::new();
    if !changes.is_empty() {
        wants.push(Want::GlobalWrite);
    }
    for table in &effect.tables {
        let writes = changes.iter().any(|change| change.table == *table);
        let lock = if writes {
            TableLock::Write
        } else {
            TableLock::Read
        };
        wants.push(Want::Table(Arc::clone(table), lock));
    }
    let mut rows: BTreeMap<&Arc<str>, Vec<u64>> = BTreeMap::new();
    let exclusive = |lock: &&Lock| lock.mode == LockMode::Exclusive;
    for lock in effect.locks.iter().filter(exclusive) {
        if let Some(key) = &lock.key {
            rows.entry(&lock.table).or_default().push(row_key(key));
        }
    }
    for (table, keys) in rows {
        wants.push(if keys.len() > MOST_ROW_LOCKS {
            Want::AllRows(Arc::clone(table))
        } else {
            Want::Rows(Arc::clone(table), keys.into())
        });
    }
    wants
}

/// More rows of a table than this are locked all together.
const MOST_ROW_LOCKS: usize = 10_000;
