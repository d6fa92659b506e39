//! One client's session: takes statements, carries each through its stages, answers.
//!
//! A statement that has to wait (for a lock, for work, for its commit, for a position) is left where it stands, and the
//! wire hands it in again; between two looks nothing is held but what the session really holds.

mod accounts;
mod aside;
mod commits;
mod control;
mod ddl;
mod events;
mod execution;
mod filters;
mod flush;
mod heavy;
mod locking;
mod pointing;
mod prepared;
mod replication;
mod rights;
mod session;
mod set;
mod starting;
mod statements;
mod waiting;

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::sql::{Kind, SessionContext, Transaction};
use super::super::world::{CommitId, NodeId, Until, WorkId, WorkState, Write};
use super::bench::{Bench, Kill, Seat, SharedBench};
use super::generation::Habits;
use super::me::{Me, Warning};
use super::problems;
use super::settings;
use super::waits::LOOK_AGAIN;
use super::words::Words;
use crate::lab::wire::{Answer, Done, Hello, Prepared, Rows, SessionChange, SqlError};
use crate::model::time::{Moment, Span};

pub struct Client {
    bench: SharedBench,
    me: Me,
    ctx: SessionContext,
    open: Option<Open>,
    /// PREPARE as a statement: by name. What drivers prepare is the wire's.
    prepared: BTreeMap<String, Prepared>,
    current: Option<Current>,
    stage: Stage,
}

/// An open transaction.
struct Open {
    transaction: Transaction,
    since: Moment,
    /// When its first statement that changed something began.
    first_change: Option<Moment>,
    is_read_only: bool,
}

/// The statement that is being carried out.
struct Current {
    kind: Kind,
    /// What is left of it to carry out: MariaDB's `SET STATEMENT … FOR` is taken off.
    sql: String,
    gives_up_at: Option<Moment>,
    has_waited_for_lock: bool,
}

/// How far a statement has come.
enum Stage {
    Start,
    Working { work: WorkId, then: After },
    Long(Box<aside::Long>),
    Sleeping { until: Moment, then: After },
    Committing { commit: CommitId, then: After },
}

/// What comes after a stage.
enum After {
    Say(Answer),
    /// A statement under autocommit has had its effect.
    Commit {
        write: Box<Write>,
        done: Done,
    },
    /// What was open is committed; the statement itself begins.
    Restart,
    /// An event was changed: the scheduler must know.
    Schedule {
        key: String,
    },
}

/// What a look at a statement has led to.
enum Next {
    Say(Answer),
    /// Look again when something may have changed, or then.
    Wait(Option<Moment>),
    /// The stage has been set: go on at once.
    Go,
}

type Outcome = Result<Next, SqlError>;

pub use aside::PATIENCE;
use commits::used_gtid;
use session::count;

impl Client {
    /// Somebody has logged in.
    pub fn seat(
        shared: &SharedBench,
        bench: &mut Bench,
        node: NodeId,
        hello: &Hello,
    ) -> Result<Client, SqlError> {
        let me = Me::new(bench, node, hello);
        if let Some(schema) = &hello.database {
            me.check_schema(bench, schema)?;
        }
        let (id, now, user) = (me.id, me.began, me.user.clone());
        let mut ctx = SessionContext::new(id, &format!("{user}@127.0.0.1"), &format!("{user}@%"));
        ctx.schema.clone_from(&hello.database);
        ctx.patience = Some(aside::PATIENCE);
        let client = Client {
            bench: SharedBench::clone(shared),
            me,
            ctx,
            open: None,
            prepared: BTreeMap::new(),
            current: None,
            stage: Stage::Start,
        };
        let machine = &mut bench.machines[node];
        machine.seats.insert(
            id,
            Seat {
                user,
                host: format!("127.0.0.1:{}", 50_000 + id % 10_000),
                schema: client.ctx.schema.clone(),
                attributes: hello.attributes.clone(),
                user_variables: BTreeMap::new(),
                command: "Sleep",
                state: "",
                since: now,
                statement: None,
                last_statement: None,
                transaction: None,
                kill: Kill::No,
            },
        );
        let counters = &mut machine.counters;
        counters.connections += 1;
        let connected = machine.seats.len() as u64;
        if connected > counters.most_connections {
            counters.most_connections = connected;
            counters.most_connections_at = Some(now);
        }
        Ok(client)
    }

    fn is_of_another_life(&self, bench: &Bench) -> bool {
        !bench.world.is_up(self.me.node) || bench.world.epoch(self.me.node) != self.me.epoch
    }

    fn seat_of<'b>(&self, bench: &'b mut Bench) -> Option<&'b mut Seat> {
        bench.machines[self.me.node].seats.get_mut(&self.me.id)
    }

    /// A statement that was not there before.
    fn begin(&mut self, bench: &mut Bench, sql: &str) {
        let (limit, rest) = self.own_limit(sql);
        let kind = Kind::of(&rest);
        let now = bench.world.now();
        self.me.began = now;
        let keeps_warnings = kind == Kind::Show && rest.to_ascii_uppercase().contains("WARNINGS")
            || rest.to_ascii_uppercase().contains("SHOW ERRORS")
            || rest.contains("warning_count");
        if !keeps_warnings {
            self.me.warnings.clear();
        }
        self.current = Some(Current {
            kind,
            sql: rest,
            gives_up_at: limit.map(|limit| now + limit),
            has_waited_for_lock: false,
        });
        self.stage = Stage::Start;
        count(bench, self.me.node, kind, sql);
        if let Some(seat) = self.seat_of(bench) {
            seat.command = "Query";
            seat.state = "executing";
            seat.since = now;
            seat.statement = Some(sql.to_owned());
            if seat.kill == Kill::Statement {
                seat.kill = Kill::No;
            }
        }
    }

    /// The time limit of a statement, and the statement without what MariaDB sets for it alone.
    fn own_limit(&self, sql: &str) -> (Option<Span>, String) {
        if self.me.generation.is_mariadb() {
            let seconds = |text: Option<&str>| {
                let seconds: f64 = text?.trim().parse().ok()?;
                (seconds > 0.0).then(|| Span::from_secs_f64(seconds))
            };
            let mut words = Words::of(sql);
            if words.accept("SET STATEMENT") {
                let mut limit = seconds(self.me.values.get("max_statement_time"));
                while !words.at_end() && !words.accept("FOR") {
                    if words.accept("MAX_STATEMENT_TIME =") {
                        limit = seconds(words.value().as_deref());
                    } else {
                        words.skip();
                    }
                }
                return (limit, words.rest().to_owned());
            }
            return (
                seconds(self.me.values.get("max_statement_time")),
                sql.to_owned(),
            );
        }
        // For SELECT only.
        if Kind::of(sql) != Kind::Select {
            return (None, sql.to_owned());
        }
        let hinted = sql.find("MAX_EXECUTION_TIME(").and_then(|at| {
            sql[at..]
                .split(['(', ')'])
                .nth(1)?
                .trim()
                .parse::<i64>()
                .ok()
        });
        let set = self
            .me
            .values
            .number("max_execution_time")
            .map(|n| n as i64);
        let millis = hinted.or(set).filter(|millis| *millis > 0);
        (millis.map(Span::from_millis), sql.to_owned())
    }

    /// One look at the statement.
    fn look(&mut self, bench: &mut Bench) -> Answer {
        let killed = self
            .seat_of(bench)
            .map_or(Kill::Connection, |seat| seat.kill);
        let is_committing = matches!(self.stage, Stage::Committing { .. });
        if killed == Kill::Connection {
            return Answer::Cut;
        }
        if killed == Kill::Statement && !is_committing {
            self.abandon(bench);
            return Answer::Err(problems::interrupted());
        }
        let limit = self
            .current
            .as_ref()
            .and_then(|current| current.gives_up_at);
        if limit.is_some_and(|at| bench.world.now() >= at) && !is_committing {
            self.abandon(bench);
            return Answer::Err(problems::out_of_time(self.me.generation));
        }
        loop {
            match self.step(bench) {
                Ok(Next::Go) => {}
                Ok(Next::Say(answer)) => return answer,
                Ok(Next::Wait(then)) => return self.ask_again(bench, then, limit),
                Err(error) => {
                    self.after_error(bench);
                    return Answer::Err(error);
                }
            }
        }
    }

    fn ask_again(&self, bench: &Bench, then: Option<Moment>, limit: Option<Moment>) -> Answer {
        let then = [then.or_else(|| bench.world.next_event()), limit];
        let then = then.into_iter().flatten().min();
        // While many wait, each looks less often.
        let at_most = match bench.machines.len() {
            0..=8 => Duration::from_millis(2),
            _ => LOOK_AGAIN,
        };
        Answer::AskAgain(bench.clock.sleep_until(then, at_most))
    }

    fn step(&mut self, bench: &mut Bench) -> Outcome {
        match std::mem::replace(&mut self.stage, Stage::Start) {
            Stage::Start => self.start(bench),
            Stage::Working { work, then } => match bench.world.work(self.me.node, work) {
                WorkState::Going { until, .. } => {
                    self.stage = Stage::Working { work, then };
                    Ok(Next::Wait(Some(until)))
                }
                WorkState::Finished => self.after(bench, then),
                WorkState::Lost => Ok(Next::Say(Answer::Cut)),
            },
            Stage::Long(long) => self.go_on_long(bench, long),
            Stage::Sleeping { until, then } => {
                if bench.world.now() >= until {
                    return self.after(bench, then);
                }
                self.set_state(bench, "User sleep");
                self.stage = Stage::Sleeping { until, then };
                Ok(Next::Wait(Some(until)))
            }
            Stage::Committing { commit, then } => self.committing(bench, commit, then),
        }
    }

    fn after(&mut self, bench: &mut Bench, then: After) -> Outcome {
        match then {
            After::Say(answer) => Ok(Next::Say(answer)),
            After::Commit { write, done } => {
                self.commit(bench, *write, After::Say(Answer::Ok(done)))?;
                Ok(Next::Go)
            }
            After::Restart => {
                self.stage = Stage::Start;
                Ok(Next::Go)
            }
            After::Schedule { key } => {
                self.schedule(bench, &key);
                Ok(Next::Say(Answer::ok()))
            }
        }
    }

    fn set_state(&self, bench: &mut Bench, state: &'static str) {
        if let Some(seat) = self.seat_of(bench) {
            seat.state = state;
        }
    }

    /// The statement ends without having its effect.
    fn abandon(&mut self, bench: &mut Bench) {
        if let Stage::Working { work, .. } = std::mem::replace(&mut self.stage, Stage::Start) {
            bench.world.abandon_work(self.me.node, work);
        }
        self.after_error(bench);
    }

    fn after_error(&mut self, bench: &mut Bench) {
        bench.world.stop_waiting(self.me.node, self.me.id);
        self.stage = Stage::Start;
        if self.open.is_none() {
            bench
                .world
                .unlock(self.me.node, self.me.id, Until::TransactionEnds);
        }
    }

    /// The statement has been answered.
    fn finish(&mut self, bench: &mut Bench, answer: Answer) -> Answer {
        self.current = None;
        self.me.last_insert_id = self.ctx.last_insert_id;
        let now = bench.world.now();
        let (schema, variables) = (self.ctx.schema.clone(), &self.ctx.user_variables);
        if let Some(seat) = bench.machines[self.me.node].seats.get_mut(&self.me.id) {
            seat.command = "Sleep";
            seat.state = "";
            seat.since = now;
            seat.last_statement = seat.statement.take();
            seat.schema = schema;
            if seat.user_variables != *variables {
                seat.user_variables.clone_from(variables);
            }
            if seat.kill == Kill::Statement {
                seat.kill = Kill::No;
            }
        }
        self.show_transaction(bench);
        let warnings = u16::try_from(self.me.warnings.len()).unwrap_or(u16::MAX);
        match answer {
            Answer::Ok(mut done) => {
                done.warnings = warnings;
                self.track_all(bench, &mut done);
                Answer::Ok(done)
            }
            Answer::Rows(rows) => Answer::Rows(Rows { warnings, ..rows }),
            Answer::Err(mut error) => {
                if error.code == 1064 && self.me.generation.is_mariadb() {
                    let text = String::from_utf8_lossy(&error.message);
                    error.message = text
                        .replacen("MySQL server", "MariaDB server", 1)
                        .into_bytes();
                }
                self.me.warnings.push(Warning {
                    is_error: true,
                    ..Warning::new(error.code, String::from_utf8_lossy(&error.message))
                });
                Answer::Err(error)
            }
            other => other,
        }
    }

    /// ALL_GTIDS: the whole set with every OK.
    fn track_all(&self, bench: &Bench, done: &mut Done) {
        if self.me.values.get("session_track_gtids") == Some("ALL_GTIDS") {
            let executed = settings::gtids(&bench.world.executed(self.me.node));
            done.changes.push(SessionChange::Gtids(executed));
        }
    }

    /// The session as new; what it has open is rolled back.
    fn clear(&mut self, bench: &mut Bench) {
        if let Stage::Committing { commit, .. } = std::mem::replace(&mut self.stage, Stage::Start) {
            bench.world.forget_commit(commit);
        }
        let (node, id) = (self.me.node, self.me.id);
        bench.world.stop_waiting(node, id);
        self.end_transaction(bench);
        bench.world.unlock(node, id, Until::Unlocked);
        self.me.locked_tables.clear();
        self.me.has_global_lock = false;
        bench.machines[node]
            .named_locks
            .retain(|_, owner| *owner != id);
    }
}
