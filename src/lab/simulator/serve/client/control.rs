//! USE, transactions, savepoints, KILL.

use super::super::super::sql::Kind;
use super::super::bench::{Bench, Kill};
use super::super::problems::{self, problem};
use super::super::words::Words;
use super::{Client, Next, Outcome};
use crate::lab::wire::{Answer, Done, SessionChange};

impl Client {
    pub(super) fn use_statement(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        words.keyword();
        let schema = words.name().ok_or_else(|| words.error())?;
        self.me.check_schema(bench, &schema)?;
        self.ctx.schema = Some(schema.clone());
        let done = if self.me.values.is_on("session_track_schema") {
            Done::with_changes([SessionChange::Schema(schema)])
        } else {
            Done::default()
        };
        Ok(Next::Say(Answer::Ok(done)))
    }

    pub(super) fn begin_transaction(
        &mut self,
        bench: &mut Bench,
        words: &mut Words<'_>,
    ) -> Outcome {
        let is_start = words.is("START");
        words.keyword();
        words.accept(if is_start { "TRANSACTION" } else { "WORK" });
        let (mut is_read_only, mut wants_snapshot) = (false, false);
        while !words.at_end() {
            if words.accept("READ ONLY") {
                is_read_only = true;
            } else if words.accept("WITH CONSISTENT SNAPSHOT") {
                wants_snapshot = true;
            } else if !(words.accept("READ WRITE") || words.accept(",")) {
                return Err(words.error());
            }
        }
        if wants_snapshot {
            let text = "This simulated server keeps no snapshot: each statement sees what is committed when it begins";
            self.me.warn(138, text);
        }
        self.unlock_all_tables(bench);
        self.open_transaction(bench.world.now(), is_read_only);
        self.show_transaction(bench);
        Ok(Next::Say(Answer::ok()))
    }

    pub(super) fn rollback(&mut self, bench: &mut Bench) -> Outcome {
        self.end_transaction(bench);
        Ok(Next::Say(Answer::ok()))
    }

    pub(super) fn savepoint(
        &mut self,
        bench: &mut Bench,
        kind: Kind,
        words: &mut Words<'_>,
    ) -> Outcome {
        words.keyword();
        for word in ["WORK", "TO", "SAVEPOINT"] {
            words.accept(word);
        }
        let name = words.name().ok_or_else(|| words.error())?;
        let missing = || problem(1305, format!("SAVEPOINT {name} does not exist"));
        let Some(open) = &mut self.open else {
            // Under autocommit a savepoint is gone with its own statement.
            return match kind {
                Kind::Savepoint => Ok(Next::Say(Answer::ok())),
                _ => Err(missing()),
            };
        };
        let found = match kind {
            Kind::Savepoint => {
                open.transaction.savepoint(&name);
                true
            }
            Kind::RollbackTo => open.transaction.rollback_to(&name),
            _ => open.transaction.release(&name),
        };
        self.show_transaction(bench);
        if found {
            Ok(Next::Say(Answer::ok()))
        } else {
            Err(missing())
        }
    }

    /// KILL [CONNECTION | QUERY] n.
    pub(super) fn kill(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        words.keyword();
        let is_query = words.accept("QUERY");
        if !is_query {
            words.accept("CONNECTION");
        }
        let id = match words.number() {
            Some(id) => id,
            None => {
                let value = self.evaluate(bench, words.rest())?;
                let text = value.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned());
                text.and_then(|text| text.parse().ok()).unwrap_or(0)
            }
        };
        if is_query && id == self.me.id {
            return Err(problems::interrupted());
        }
        let may_kill_any = self
            .me
            .may(bench, &["SUPER", "CONNECTION_ADMIN", "CONNECTION ADMIN"]);
        let machine = &mut bench.machines[self.me.node];
        let Some(seat) = machine.seats.get_mut(&id) else {
            return Err(problem(1094, format!("Unknown thread id: {id}")));
        };
        if seat.user != self.me.user && !may_kill_any {
            return Err(problem(1095, format!("You are not owner of thread {id}")));
        }
        if is_query {
            // Nothing is running: there is nothing to end.
            if seat.command != "Sleep" {
                seat.kill = Kill::Statement;
            }
            return Ok(Next::Say(Answer::ok()));
        }
        seat.kill = Kill::Connection;
        if let (Some(closer), Ok(id)) = (&machine.closer, u32::try_from(id)) {
            closer.close(id);
        }
        Ok(Next::Say(Answer::ok()))
    }
}
