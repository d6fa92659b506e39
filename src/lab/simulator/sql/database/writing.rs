//! Statements that write: what they changed, and the counts as MySQL counts.

use std::sync::Arc;

use rusqlite::types::Value as SqliteValue;

use super::super::catalog::Table;
use super::super::compile::{Act, Plan, Writing};
use super::super::engine::row_key;
use super::super::frame::{Captured, Target, lock};
use super::super::outcome::{Brought, Done, Lock, LockMode, Outcome, RowChange};
use super::super::problem::SqlProblem;
use super::super::surroundings::TableData;
use super::super::value::Value;
use super::Database;
use super::binding::{Bound, binds};
use super::running::{Running, fill};

/// Rows that one transaction may change: they travel to all servers, and each carries them out at once.
pub const MOST_ROWS: usize = 20_000;

impl Database {
    pub(super) fn write(
        &mut self,
        plan: &Plan,
        writing: &Writing,
        data: &[(String, TableData)],
        running: &mut Running<'_>,
    ) -> Result<Outcome, SqlProblem> {
        fill(&mut self.engine, data)?;
        lock(&self.engine.frame).enter(running.session);
        let written = self.write_entered(plan, writing, running);
        let engine = &self.engine;
        if !engine.watch.has_ended() {
            engine.settle_auto(&writing.table);
        }
        lock(&engine.frame).leave(running.session);
        written
    }

    fn write_entered(
        &mut self,
        plan: &Plan,
        writing: &Writing,
        running: &mut Running<'_>,
    ) -> Result<Outcome, SqlProblem> {
        let binds = match binds(&self.engine, plan, running)? {
            Bound::Ready(binds) => binds,
            Bound::NotYet(wait) => return Ok(Outcome::of(Brought::AskAgain(wait))),
        };
        let session = &running.session;
        self.engine.aim(Target::at(
            &writing.table,
            session.is_strict,
            writing.is_ignoring,
            session.system_zone_offset_secs - session.zone_offset_secs,
        ));
        let mut frame = lock(&self.engine.frame);
        frame.is_capturing = true;
        frame.room = MOST_ROWS.saturating_sub(running.transaction.changes.len());
        drop(frame);
        self.changed(plan, &writing.table, &binds)?;
        let first_generated = self.engine.settle_auto(&writing.table);
        let changes = self.captured();
        let mut frame = lock(&self.engine.frame);
        let is_own = |captured: &&Captured| captured.table == writing.table.number;
        let matched = frame.captured.iter().filter(is_own).count() as u64;
        frame.captured.clear();
        let mut warnings = std::mem::take(&mut frame.warnings);
        warnings.extend(writing.without_default.iter().map(|column| {
            let text = format!("Field '{column}' doesn't have a default value");
            (1364, text)
        }));
        // What a cascade changed is not counted.
        let own = changes
            .iter()
            .filter(|change| change.table == writing.table.full_name);
        let own: Vec<RowChange> = own.cloned().collect();
        let inserted = changes.iter().any(|change| change.before.is_none());
        let generated = first_generated.filter(|_| inserted).unwrap_or(0) as u64;
        if generated != 0 {
            frame.last_insert_id = generated;
        }
        let wait = frame.wait;
        drop(frame);
        let done = counted(&plan.act, writing, &own, matched, generated, warnings);
        running.session.row_count = done.affected_rows as i64;
        let locks = changes.iter().flat_map(locks_of).collect();
        running.transaction.changes.extend(changes);
        if let Some((_, held)) = &mut self.open {
            *held = running.transaction.changes.len();
        }
        Ok(Outcome {
            locks,
            wait,
            ..Outcome::of(Brought::Done(done))
        })
    }

    /// Runs the statement itself.
    fn changed(
        &mut self,
        plan: &Plan,
        table: &Table,
        binds: &[SqliteValue],
    ) -> Result<(), SqlProblem> {
        let connection = &self.engine.connection;
        let ran = connection
            .prepare_cached(&plan.sql)
            .and_then(|mut statement| {
                let wanted = statement.parameter_count();
                statement.execute(rusqlite::params_from_iter(binds.iter().take(wanted)))
            });
        ran.map(drop)
            .map_err(|error| self.engine.problem(&error, Some(table)))
    }

    /// What the triggers saw, without rows that stayed as they were.
    fn captured(&self) -> Vec<RowChange> {
        let mut frame = lock(&self.engine.frame);
        let mut changes = Vec::with_capacity(frame.captured.len());
        for captured in &mut frame.captured {
            if captured.before == captured.after {
                continue;
            }
            let Some(table) = self.catalog.numbered(captured.table) else {
                continue;
            };
            let (before, after) = (captured.before.take(), captured.after.take());
            let mut keys: Vec<String> = before
                .iter()
                .chain(&after)
                .map(|image| row_key(table, image))
                .collect();
            keys.dedup();
            changes.push(RowChange {
                table: Arc::clone(&table.full_name),
                before,
                after,
                keys: keys.into(),
            });
        }
        changes
    }
}

fn locks_of(change: &RowChange) -> impl Iterator<Item = Lock> + '_ {
    change.keys.iter().map(|key| Lock {
        table: Arc::clone(&change.table),
        key: Some(key.clone()),
        mode: LockMode::Exclusive,
    })
}

/// The AUTO_INCREMENT value of the last row, where the statement gave it itself: told to the client, not kept.
fn last_given(writing: &Writing, changes: &[RowChange]) -> u64 {
    let last = changes.last().and_then(|change| change.after.as_ref());
    let auto = writing.table.auto_column();
    match last.zip(auto).map(|(image, place)| &image[place]) {
        Some(Value::Int(id)) => *id as u64,
        _ => 0,
    }
}

/// The counts as MySQL counts: an upsert that changed a row counts twice.
fn counted(
    act: &Act,
    writing: &Writing,
    changes: &[RowChange],
    matched: u64,
    generated: u64,
    warnings: Vec<(u16, String)>,
) -> Done {
    let changed = changes.len() as u64;
    let mut done = Done {
        affected_rows: changed,
        matched_rows: matched,
        last_insert_id: generated,
        info: String::new(),
        warnings,
    };
    let warned = done.warnings.len();
    match act {
        Act::Insert(_) => {
            let updated = changes
                .iter()
                .filter(|change| change.event() == "Update_rows");
            let updated = updated.count() as u64;
            if generated == 0 {
                done.last_insert_id = last_given(writing, changes);
            }
            done.affected_rows = changed + updated;
            let rows = writing.given_rows.map_or(matched, |rows| rows as u64);
            let replaced = changes.iter().filter(|change| change.after.is_none());
            let duplicates = match (writing.is_ignoring, writing.is_replace) {
                (true, _) => rows.saturating_sub(matched),
                (_, true) => replaced.count() as u64,
                _ => updated,
            };
            if writing.given_rows != Some(1) {
                let rows = if writing.is_replace {
                    rows - if writing.given_rows.is_none() {
                        duplicates
                    } else {
                        0
                    }
                } else {
                    rows
                };
                done.info =
                    format!("Records: {rows}  Duplicates: {duplicates}  Warnings: {warned}");
            }
        }
        Act::Update(_) => {
            done.info = format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warned}");
        }
        _ => {}
    }
    done
}
