//! Statements on tables: run, wait for locks and work, have their effect.

use super::super::super::sql::{
    Brought as Told, Kind, Outcome as Effect, PlanFormat, RowChange, SqlProblem, Transaction,
};
use super::super::super::world::Work;
use super::super::bench::Bench;
use super::super::engine;
use super::super::generation::Habits;
use super::super::me::Warning;
use super::super::problems;
use super::super::view::{NamedLock, Seen, View};
use super::heavy::{Bulk, heavy};
use super::{After, Client, Next, Open, Outcome, Stage};
use crate::lab::wire::{Answer, Done, SqlError};
use crate::model::time::{Moment, ServerTime, Span};

/// A statement that has run.
pub(super) struct Ran {
    pub effect: Effect,
    pub changes: Vec<RowChange>,
    /// The statement's own transaction, where no other is open.
    pub alone: Transaction,
    /// So many rows count for each that was really written.
    pub factor: f64,
}

impl Client {
    pub(super) fn on_tables(&mut self, bench: &mut Bench, kind: Kind, sql: &str) -> Outcome {
        if kind == Kind::Write {
            self.check_writable(bench)?;
        }
        if kind == Kind::Select
            && let Some(work) = heavy(bench, self, sql)
        {
            return self.read_for_long(bench, work);
        }
        let many = (kind == Kind::Write).then(|| Bulk::of(sql)).flatten();
        let sql = many.as_ref().map_or(sql, |bulk| bulk.sql.as_str());
        self.open_if_needed(bench, kind);
        let mut alone = Transaction::begin();
        let (effect, changes) = self.execute(bench, sql, &mut alone)?;
        let factor = many.as_ref().map_or(1.0, |bulk| bulk.factor);
        match effect.result {
            Told::AskAgain(wait) => {
                self.set_state(bench, waiting_for(sql));
                return Ok(Next::Wait(Some(bench.world.now() + Span::from(wait))));
            }
            Told::TooLong { .. } => return self.begin_long(bench, kind, sql, factor, &effect),
            Told::Rows(_) | Told::Done(_) => {}
        }
        let ran = Ran {
            effect,
            changes,
            alone,
            factor,
        };
        self.take_effect(bench, kind, sql, ran)
    }

    /// A statement has run; now it needs rights and locks, or all is taken back.
    pub(super) fn take_effect(
        &mut self,
        bench: &mut Bench,
        kind: Kind,
        sql: &str,
        ran: Ran,
    ) -> Outcome {
        let Ran {
            effect,
            changes,
            mut alone,
            factor,
        } = ran;
        if let Err(error) = self.check_tables(bench, sql, &effect, &changes) {
            self.undo(bench, &mut alone);
            return Err(error);
        }
        if let Some(wait) = self.take_locks(bench, &effect, &changes, &mut alone)? {
            return Ok(wait);
        }
        self.count_rows(bench, &effect, &changes);
        let (mut answer, wait) = self.answer(effect, factor);
        if kind == Kind::ShowTables {
            self.leave_out_unseen(bench, sql, &mut answer)?;
        }
        let answer = (answer, wait);
        if kind == Kind::Write {
            return self.written(bench, &changes, factor, answer, &alone);
        }
        if self.open.is_none() {
            self.release(bench);
        }
        let (answer, wait) = answer;
        self.then_say(bench, answer, wait)
    }

    pub(super) fn then_say(&mut self, bench: &Bench, answer: Answer, wait: Span) -> Outcome {
        if wait <= Span::ZERO {
            return Ok(Next::Say(answer));
        }
        self.stage = Stage::Sleeping {
            until: bench.world.now() + wait,
            then: After::Say(answer),
        };
        Ok(Next::Go)
    }

    /// With autocommit off any statement on tables opens a transaction.
    pub(super) fn open_if_needed(&mut self, bench: &Bench, kind: Kind) {
        let opens = matches!(kind, Kind::Write | Kind::Select);
        if self.open.is_none() && opens && !self.me.is_autocommit() {
            self.open_transaction(bench.world.now(), false);
        }
    }

    pub(super) fn open_transaction(&mut self, now: Moment, is_read_only: bool) {
        let is_read_only = is_read_only
            || self
                .me
                .next_read_only
                .take()
                .unwrap_or_else(|| self.me.values.is_on(self.read_only_name()));
        self.open = Some(Open {
            transaction: Transaction::begin(),
            since: now,
            first_change: None,
            is_read_only,
        });
        self.me.is_in_transaction = true;
    }

    /// Runs a statement inside the open transaction or, under autocommit, in one of its own. What it changed is told.
    pub(super) fn execute(
        &mut self,
        bench: &mut Bench,
        sql: &str,
        alone: &mut Transaction,
    ) -> Result<(Effect, Vec<RowChange>), SqlError> {
        self.set_the_scene(bench);
        let database = bench.world.engine(self.me.node).database();
        let mut database = engine::lock(&database);
        let view = View::new(bench, &self.me);
        let transaction = match &mut self.open {
            Some(open) => &mut open.transaction,
            None => alone,
        };
        let before = transaction.changes().len();
        let told = database.execute(transaction, &mut self.ctx, &view, sql, &[]);
        let changes = transaction
            .changes()
            .get(before..)
            .unwrap_or_default()
            .to_vec();
        let mut seen = view.seen();
        drop(database);
        if let Some(denied) = seen.denied.take() {
            return Err(denied);
        }
        let effect = told.map_err(|problem| self.named_without_schema(problem))?;
        match effect.result {
            // It will be seen again.
            Told::TooLong { .. } => return Ok((effect, changes)),
            Told::AskAgain(_) => seen.named_locks.clear(),
            Told::Rows(_) | Told::Done(_) => {}
        }
        self.keep_seen(bench, seen)?;
        Ok((effect, changes))
    }

    /// What a statement has done to its surroundings.
    pub(super) fn keep_seen(&mut self, bench: &mut Bench, seen: Seen) -> Result<(), SqlError> {
        if let Some(denied) = seen.denied {
            return Err(denied);
        }
        self.keep_named_locks(bench, seen.named_locks);
        for (code, text) in seen.warnings {
            self.me.warn(code, text);
        }
        Ok(())
    }

    /// MySQL looks for an unknown function in the default schema, and misses the schema first.
    pub(super) fn named_without_schema(&self, problem: SqlProblem) -> SqlError {
        let is_unknown_function = problem.code == 1305 && problem.message.starts_with("FUNCTION");
        if is_unknown_function && self.ctx.schema.is_none() && !self.me.generation.is_mariadb() {
            return problems::problem(1046, "No database selected");
        }
        problem.into()
    }

    /// What a statement depends on, as of now.
    pub(super) fn set_the_scene(&mut self, bench: &mut Bench) {
        bench.tell_time(self.me.node);
        self.ctx.now = match self.me.values.number("timestamp") {
            Some(seconds) if seconds > 0.0 => ServerTime((seconds * 1e6) as i64),
            // NOW() stands still while a statement waits.
            _ => bench.world.clock_at(self.me.node, self.me.began),
        };
        self.ctx.zone_offset_secs = zone(self.me.values.get("time_zone"));
        self.ctx.checks_foreign_keys = self.me.values.get("foreign_key_checks").is_none()
            || self.me.values.is_on("foreign_key_checks");
        let format = self.me.values.get("explain_format");
        self.ctx.plan_format = format
            .and_then(PlanFormat::named)
            .unwrap_or(PlanFormat::Traditional);
        self.ctx.is_strict = self
            .me
            .values
            .get("sql_mode")
            .is_some_and(|mode| mode.contains("STRICT"));
    }

    pub(super) fn keep_named_locks(&self, bench: &mut Bench, locks: Vec<NamedLock>) {
        let id = self.me.id;
        let held = &mut bench.machines[self.me.node].named_locks;
        for lock in locks {
            match lock {
                NamedLock::Taken(name) => {
                    held.insert(name, id);
                }
                NamedLock::Released(name) => {
                    held.remove(&name);
                }
                NamedLock::ReleasedAll => held.retain(|_, owner| *owner != id),
            }
        }
    }

    pub(super) fn undo(&mut self, bench: &Bench, alone: &mut Transaction) {
        let database = bench.world.engine(self.me.node).database();
        let transaction = match &mut self.open {
            Some(open) => &mut open.transaction,
            None => alone,
        };
        engine::lock(&database).undo_statement(transaction);
    }

    pub(super) fn count_rows(&self, bench: &mut Bench, effect: &Effect, changes: &[RowChange]) {
        let counters = &mut bench.machines[self.me.node].counters;
        if let Told::Rows(rows) = &effect.result
            && !effect.tables.is_empty()
        {
            counters.rows_read += rows.rows.len() as u64;
        }
        for change in changes {
            match (&change.before, &change.after) {
                (None, _) => counters.rows_inserted += 1,
                (_, None) => counters.rows_deleted += 1,
                _ => counters.rows_updated += 1,
            }
        }
    }

    /// What the client will be told, and how long a SLEEP takes until then.
    pub(super) fn answer(&mut self, effect: Effect, factor: f64) -> (Answer, Span) {
        let wait = Span::from(effect.wait);
        let answer = match effect.result {
            Told::Rows(rows) => Answer::Rows(rows),
            Told::Done(done) => {
                // IF [NOT] EXISTS: 1007, 1008, 1050, 1051.
                let note = |code: u16| matches!(code, 1007 | 1008 | 1050 | 1051);
                for (code, text) in done.warnings {
                    self.me.warnings.push(match note(code) {
                        true => Warning::note(code, text),
                        false => Warning::new(code, text),
                    });
                }
                let many = |rows: u64| (rows as f64 * factor).round() as u64;
                Answer::Ok(Done {
                    affected_rows: many(done.affected_rows),
                    last_insert_id: done.last_insert_id,
                    info: done.info,
                    ..Done::default()
                })
            }
            Told::AskAgain(_) | Told::TooLong { .. } => Answer::ok(),
        };
        (answer, wait)
    }

    /// A change has been made: the work it takes, then its commit if nothing else is open.
    pub(super) fn written(
        &mut self,
        bench: &mut Bench,
        changes: &[RowChange],
        factor: f64,
        (answer, wait): (Answer, Span),
        alone: &Transaction,
    ) -> Outcome {
        let began = self.me.began;
        if let Some(open) = &mut self.open
            && !changes.is_empty()
        {
            open.first_change.get_or_insert(began);
        }
        self.show_transaction(bench);
        if changes.is_empty() {
            if self.open.is_none() {
                self.release(bench);
            }
            return self.then_say(bench, answer, wait);
        }
        let rows = (changes.len() as f64 * factor).round() as u64;
        let then = match &answer {
            Answer::Ok(done) if self.open.is_none() => {
                let server_id = bench.world.identity(self.me.node).server_id;
                let mut write = engine::write(alone.changes(), began, self.me.node, server_id);
                if factor > 1.0 {
                    write.rows = rows;
                    write.bytes = (write.bytes as f64 * factor) as u64;
                }
                let (write, done) = (Box::new(write), done.clone());
                After::Commit { write, done }
            }
            _ => After::Say(answer),
        };
        let work = bench.world.begin_work(self.me.node, Work::Rows(rows));
        self.stage = Stage::Working { work, then };
        Ok(Next::Go)
    }
}

fn waiting_for(sql: &str) -> &'static str {
    let upper = sql.to_ascii_uppercase();
    if upper.contains("GET_LOCK") {
        "User lock"
    } else if upper.contains("WAIT_FOR_EXECUTED_GTID_SET") {
        "Waiting for GTID to be committed"
    } else {
        "executing"
    }
}

/// Seconds east of UTC; the system's zone is UTC.
fn zone(value: Option<&str>) -> i32 {
    let Some(value) = value else { return 0 };
    let (sign, rest) = match value.split_at_checked(1) {
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        _ => return 0,
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    // What is no zone was refused by SET.
    let number = |text: &str| text.parse::<i32>().unwrap_or(0).clamp(0, 59);
    sign * (number(hours) * 3600 + number(minutes) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read_as_offsets() {
        assert_eq!(zone(Some("+08:00")), 8 * 3600);
        assert_eq!(zone(Some("-03:30")), -(3 * 3600 + 1800));
        assert_eq!(zone(Some("SYSTEM")), 0);
    }
}
