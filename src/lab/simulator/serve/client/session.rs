//! A client as the wire hands it statements, and as it goes away; and what is counted of them.

use std::time::Duration;

use super::super::super::sql::Kind;
use super::super::super::world::NodeId;
use super::super::bench::{Bench, SharedBench, lock};
use super::super::me::NextName;
use super::super::words::Words;
use super::{Client, Stage};
use crate::lab::wire::{self, Answer, MAX_ALLOWED_PACKET, SessionState};

/// `Questions` and `Com_…`.
pub(super) fn count(bench: &mut Bench, node: NodeId, kind: Kind, sql: &str) {
    let first = Words::of(sql).keyword();
    let counters = &mut bench.machines[node].counters;
    counters.questions += 1;
    let name = match (kind, first.as_str()) {
        (Kind::Select, _) => "Com_select",
        (Kind::Write, "INSERT") => "Com_insert",
        (Kind::Write, "UPDATE") => "Com_update",
        (Kind::Write, "DELETE") => "Com_delete",
        (Kind::Write, "REPLACE") => "Com_replace",
        (Kind::Begin, _) => "Com_begin",
        (Kind::Commit, _) => "Com_commit",
        (Kind::Rollback, _) => "Com_rollback",
        (Kind::Set, _) => "Com_set_option",
        (Kind::Use, _) => "Com_change_db",
        (Kind::LockTables, _) => "Com_lock_tables",
        (Kind::UnlockTables, _) => "Com_unlock_tables",
        (Kind::Kill, _) => "Com_kill",
        (Kind::Flush, _) => "Com_flush",
        _ => return,
    };
    counters.command(name);
}

impl wire::Session for Client {
    fn query(&mut self, sql: &str) -> Answer {
        let shared = SharedBench::clone(&self.bench);
        let bench = &mut *lock(&shared);
        bench.catch_up();
        if self.is_of_another_life(bench) {
            return Answer::Cut;
        }
        if self.current.is_none() {
            self.begin(bench, sql);
        }
        match self.look(bench) {
            Answer::AskAgain(wait) => Answer::AskAgain(wait),
            answer => self.finish(bench, answer),
        }
    }

    fn reset(&mut self) {
        let shared = SharedBench::clone(&self.bench);
        let bench = &mut *lock(&shared);
        bench.catch_up();
        if self.is_of_another_life(bench) {
            return;
        }
        self.clear(bench);
        self.me.values = bench.machines[self.me.node].globals.clone();
        self.me.next_gtid = NextName::Automatic;
        self.me.last_gtid.clear();
        self.me.next_read_only = None;
        self.me.warnings.clear();
        self.ctx.user_variables.clear();
        self.ctx.last_insert_id = 0;
        self.prepared.clear();
        self.current = None;
    }

    fn state(&self) -> SessionState {
        SessionState {
            is_in_transaction: self.me.is_in_transaction,
            is_autocommit: self.me.is_autocommit(),
        }
    }

    fn longest_command(&self) -> usize {
        let bytes = self.me.values.number("max_allowed_packet");
        bytes.map_or(MAX_ALLOWED_PACKET, |bytes| bytes as usize)
    }

    fn idle_limit(&self) -> Option<Duration> {
        let seconds = self.me.values.number("wait_timeout")?;
        Some(Duration::from_secs_f64(seconds.max(1.0)))
    }

    fn statistics(&mut self) -> String {
        let bench = lock(&self.bench);
        let machine = &bench.machines[self.me.node];
        let up = bench.world.now().since(bench.world.up_since(self.me.node));
        let seconds = up.micros() / 1_000_000;
        let questions = machine.counters.questions;
        format!(
            "Uptime: {seconds}  Threads: {}  Questions: {questions}  Slow queries: 0  Opens: 0  Flush tables: 0  Open \
             tables: 0  Queries per second avg: {:.3}",
            machine.seats.len(),
            questions as f64 / seconds.max(1) as f64
        )
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let shared = SharedBench::clone(&self.bench);
        let bench = &mut *lock(&shared);
        bench.catch_up();
        if self.is_of_another_life(bench) {
            return;
        }
        if let Stage::Working { work, .. } = std::mem::replace(&mut self.stage, Stage::Start) {
            bench.world.abandon_work(self.me.node, work);
        }
        self.clear(bench);
        bench.machines[self.me.node].seats.remove(&self.me.id);
    }
}
