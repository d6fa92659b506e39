//! SET: variables of all kinds, names, transaction characteristics.

use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::NextName;
use super::super::problems::{self, problem};
use super::super::settings;
use super::super::variables::{self, Assignment, Lives, Scope, Variable, assignments};
use super::super::words::{Words, unquoted};
use super::{Client, Next, Outcome};
use crate::lab::wire::{Answer, Done, SessionChange, SqlError};
use crate::model::gtid::mariadb::BinlogState;
use crate::model::gtid::{GtidPosition, GtidSet};
use crate::model::lab::Generation;

impl Client {
    pub(super) fn set(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        words.keyword();
        let list = assignments(words)?;
        let mut changes = Vec::new();
        for assignment in &list {
            self.check(bench, assignment)?;
        }
        let turns_on_autocommit = !self.me.is_autocommit();
        for assignment in list {
            self.assign(bench, assignment, &mut changes)?;
        }
        if turns_on_autocommit && self.me.is_autocommit() && self.open.is_some() {
            // Ending autocommit=0 commits.
            return self.commit_open(
                bench,
                super::After::Say(Answer::Ok(Done::with_changes(changes))),
            );
        }
        Ok(Next::Say(Answer::Ok(Done::with_changes(changes))))
    }

    /// One that cannot be made keeps all of them from being made.
    fn check(&self, bench: &Bench, assignment: &Assignment) -> Result<(), SqlError> {
        match assignment {
            Assignment::System { scope, name, .. } => {
                let variable = variables::find(self.me.generation, name)?;
                variable.check_scope(*scope)?;
                if variable.kind == variables::Kind::ReadOnly && *scope != Scope::PersistOnly {
                    return Err(variable.read_only());
                }
                self.check_rights(bench, *scope, variable)
            }
            Assignment::Transaction {
                scope: Some(Scope::Global),
                ..
            } => self.check_global(bench),
            Assignment::Transaction { scope: None, .. } if self.open.is_some() => Err(problem(
                1568,
                "Transaction characteristics can't be changed while a transaction is in progress",
            )),
            _ => Ok(()),
        }
    }

    fn check_global(&self, bench: &Bench) -> Result<(), SqlError> {
        let may = self.me.may(
            bench,
            &[
                "SUPER",
                "SYSTEM_VARIABLES_ADMIN",
                "REPLICATION SLAVE ADMIN",
                "READ_ONLY ADMIN",
            ],
        );
        if may {
            return Ok(());
        }
        Err(match self.me.generation {
            Generation::MySql57 => problems::needs("SUPER"),
            generation if generation.is_mariadb() => problems::needs("SUPER"),
            _ => problems::needs("SUPER or SYSTEM_VARIABLES_ADMIN"),
        })
    }

    fn check_rights(
        &self,
        bench: &Bench,
        scope: Scope,
        variable: &Variable,
    ) -> Result<(), SqlError> {
        let is_global = matches!(scope, Scope::Global | Scope::Persist | Scope::PersistOnly);
        let is_guarded = matches!(
            variable.name,
            "sql_log_bin" | "gtid_next" | "pseudo_thread_id"
        );
        if is_global {
            return self.check_global(bench);
        }
        let may = self.me.may(
            bench,
            &[
                "SUPER",
                "SYSTEM_VARIABLES_ADMIN",
                "SESSION_VARIABLES_ADMIN",
                "BINLOG ADMIN",
            ],
        );
        if is_guarded && !may {
            return Err(problems::needs(
                "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
            ));
        }
        Ok(())
    }

    fn assign(
        &mut self,
        bench: &mut Bench,
        assignment: Assignment,
        changes: &mut Vec<SessionChange>,
    ) -> Result<(), SqlError> {
        match assignment {
            Assignment::Ignored => Ok(()),
            Assignment::User { name, expression } => {
                self.set_user_variable(bench, name, &expression)
            }
            Assignment::Names { charset, collation } => self.set_names(charset, collation, changes),
            Assignment::Transaction {
                scope,
                isolation,
                read_only,
            } => {
                self.set_transaction(bench, scope, isolation, read_only);
                Ok(())
            }
            Assignment::System {
                scope,
                name,
                expression,
            } => {
                let variable = variables::find(self.me.generation, &name)?;
                let value = self.value(bench, scope, variable, expression.as_deref())?;
                self.set_variable(bench, scope, variable, value, changes)
            }
        }
    }

    fn set_user_variable(
        &mut self,
        bench: &mut Bench,
        name: String,
        expression: &str,
    ) -> Result<(), SqlError> {
        use super::super::super::sql::Value;
        let value = match self.evaluate(bench, expression)? {
            None => Value::Null,
            Some((bytes, is_number)) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                match (is_number, text.parse::<i64>(), text.parse::<f64>()) {
                    (true, Ok(number), _) => Value::Int(number),
                    (true, _, Ok(number)) => Value::Double(number),
                    _ => Value::Text(text),
                }
            }
        };
        self.ctx.user_variables.insert(name, value);
        Ok(())
    }

    fn set_names(
        &mut self,
        charset: Option<String>,
        collation: Option<String>,
        changes: &mut Vec<SessionChange>,
    ) -> Result<(), SqlError> {
        let charset = charset
            .unwrap_or_else(|| "utf8mb4".to_owned())
            .to_ascii_lowercase();
        const KNOWN: [&str; 8] = [
            "utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "binary", "gbk", "gb18030",
        ];
        if !KNOWN.contains(&charset.as_str()) {
            return Err(problem(1115, format!("Unknown character set: '{charset}'")));
        }
        for name in [
            "character_set_client",
            "character_set_connection",
            "character_set_results",
        ] {
            self.me.values.set(name, charset.clone());
            if name != "character_set_results" || self.me.values.is_on("session_track_schema") {
                changes.push(SessionChange::SystemVariable {
                    name: name.to_owned(),
                    value: charset.clone(),
                });
            }
        }
        if let Some(collation) = collation {
            self.me.values.set("collation_connection", collation);
        }
        Ok(())
    }

    fn set_transaction(
        &mut self,
        bench: &mut Bench,
        scope: Option<Scope>,
        isolation: Option<&'static str>,
        read_only: Option<bool>,
    ) {
        let read_only_name = self.read_only_name();
        let values = match scope {
            None => {
                self.me.next_read_only = read_only;
                return;
            }
            Some(Scope::Global) => &mut bench.machines[self.me.node].globals,
            Some(_) => &mut self.me.values,
        };
        if let Some(isolation) = isolation {
            values.set("transaction_isolation", isolation);
            values.set("tx_isolation", isolation);
        }
        if let Some(read_only) = read_only {
            values.set(read_only_name, if read_only { "ON" } else { "OFF" });
        }
    }

    /// What stands on the right side; `None`: NULL. DEFAULT is the global value, for global variables the first.
    fn value(
        &mut self,
        bench: &mut Bench,
        scope: Scope,
        variable: &Variable,
        expression: Option<&str>,
    ) -> Result<Option<String>, SqlError> {
        let Some(expression) = expression else {
            let default = match (scope, variable.lives) {
                (Scope::Session, Lives::InSessionsToo) => {
                    settings::global(bench, self.me.node, variable.name)
                }
                _ => variable.initial(self.me.generation).map(str::to_owned),
            };
            return Ok(Some(default.unwrap_or_default()));
        };
        let trimmed = expression.trim();
        if trimmed.eq_ignore_ascii_case("NULL") {
            return Ok(None);
        }
        let mut words = Words::of(trimmed);
        // A word, a text or a number stands for itself.
        if let Some(value) = words.value()
            && words.at_end()
        {
            return Ok(Some(match trimmed.starts_with(['\'', '"']) {
                true => unquoted(trimmed),
                false => value,
            }));
        }
        let value = self.evaluate(bench, trimmed)?;
        Ok(value.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn set_variable(
        &mut self,
        bench: &mut Bench,
        scope: Scope,
        variable: &'static Variable,
        value: Option<String>,
        changes: &mut Vec<SessionChange>,
    ) -> Result<(), SqlError> {
        if self.set_special(bench, scope, variable, value.as_deref())? {
            return Ok(());
        }
        let accepted = match scope {
            Scope::PersistOnly if variable.kind == variables::Kind::ReadOnly => {
                variables::Accepted {
                    value: value.unwrap_or_default(),
                    was_cut: false,
                }
            }
            _ => variable.accept(value.as_deref())?,
        };
        let mut value = accepted.value;
        if accepted.was_cut {
            let text = format!("Truncated incorrect {} value", variable.name);
            self.me.warn(1292, text);
        }
        // From 8.4 on an applier has a worker at least.
        let is_workers = matches!(
            variable.name,
            "replica_parallel_workers" | "slave_parallel_workers"
        );
        if is_workers && self.me.generation.forgot_slave() && value == "0" {
            "1".clone_into(&mut value);
            self.me.warn(
                1292,
                format!("Truncated incorrect {} value: '0'", variable.name),
            );
        }
        match scope {
            Scope::Session => {
                self.me.values.set(variable.name, value.clone());
                if let Some(other) = settings::other_name(variable.name) {
                    self.me.values.set(&other, value.clone());
                }
                self.track(variable.name, value, changes);
            }
            Scope::Global | Scope::Persist => {
                if scope == Scope::Persist {
                    let kept = &mut bench.machines[self.me.node].persisted;
                    kept.insert(variable.name, value.clone());
                }
                let globals = &mut bench.machines[self.me.node].globals;
                globals.set(variable.name, value.clone());
                if let Some(other) = settings::other_name(variable.name) {
                    globals.set(&other, value.clone());
                }
                settings::tell_world(bench, self.me.node, variable.name, &value);
            }
            Scope::PersistOnly => {
                let kept = &mut bench.machines[self.me.node].persisted;
                kept.insert(variable.name, value);
            }
        }
        Ok(())
    }

    fn track(&self, name: &str, value: String, changes: &mut Vec<SessionChange>) {
        let asked = self
            .me
            .values
            .get("session_track_system_variables")
            .unwrap_or_default();
        let is_asked = asked
            .split(',')
            .any(|asked| asked.trim() == "*" || asked.trim().eq_ignore_ascii_case(name));
        if is_asked {
            let name = name.to_owned();
            changes.push(SessionChange::SystemVariable { name, value });
        }
    }

    /// Variables that are orders. True: carried out.
    fn set_special(
        &mut self,
        bench: &mut Bench,
        scope: Scope,
        variable: &Variable,
        value: Option<&str>,
    ) -> Result<bool, SqlError> {
        let text = value.unwrap_or_default();
        if self.set_filter(bench, variable.name, text)? {
            return Ok(true);
        }
        match variable.name {
            "gtid_next" => self.set_gtid_next(text)?,
            "gtid_purged" => self.set_gtid_purged(bench, text)?,
            "gtid_slave_pos" => self.set_slave_pos(bench, text)?,
            "gtid_binlog_state" => {
                let state = BinlogState::parse(text)
                    .map_err(|_| problem(1941, "Could not parse GTID list"))?;
                bench.world.set_binlog_state(self.me.node, &state);
            }
            "gtid_mode" | "server_id" => {
                let now = settings::global(bench, self.me.node, variable.name);
                let accepted = variable.accept(value)?;
                if now.as_deref() != Some(accepted.value.as_str()) {
                    return Err(problems::not_simulated(&format!(
                        "SET GLOBAL {}",
                        variable.name
                    )));
                }
            }
            "last_insert_id" | "identity" => {
                let accepted = variable.accept(value)?;
                self.ctx.last_insert_id = accepted.value.parse().unwrap_or(0);
            }
            "sql_log_bin" if self.open.is_some() => {
                return Err(problem(
                    1694,
                    "Cannot modify @@session.sql_log_bin inside a transaction",
                ));
            }
            "sql_replica_skip_counter" | "sql_slave_skip_counter"
                if !self.me.generation.is_mariadb() && scope == Scope::Global =>
            {
                self.me.warn(
                    4016,
                    "sql_replica_skip_counter has no effect with GTIDs; inject an empty transaction instead",
                );
            }
            "session_track_system_variables" => {
                self.me.values.set(variable.name, text);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_gtid_next(&mut self, text: &str) -> Result<(), SqlError> {
        if self.me.is_in_transaction && !matches!(self.me.next_gtid, NextName::Used(_)) {
            return Err(problem(
                1766,
                "The system variable gtid_next cannot be set when there is an ongoing transaction.",
            ));
        }
        if text.eq_ignore_ascii_case("AUTOMATIC") {
            self.me.next_gtid = NextName::Automatic;
            return Ok(());
        }
        if text.eq_ignore_ascii_case("ANONYMOUS") {
            return Err(problem(
                1782,
                "@@SESSION.GTID_NEXT cannot be set to ANONYMOUS when @@GLOBAL.GTID_MODE = ON.",
            ));
        }
        let malformed = || problem(1774, format!("Malformed GTID specification '{text}'."));
        let set = GtidSet::parse(text).map_err(|_| malformed())?;
        self.me.next_gtid = NextName::Given(single(&set).ok_or_else(malformed)?);
        Ok(())
    }

    fn set_gtid_purged(&mut self, bench: &mut Bench, text: &str) -> Result<(), SqlError> {
        let set = GtidSet::parse(text.trim_start_matches('+'))
            .map_err(|_| problems::malformed_gtids(text))?;
        bench
            .world
            .set_purged(self.me.node, &set)
            .map_err(|refusal| self.refusal(&refusal, ""))
    }

    fn set_slave_pos(&mut self, bench: &mut Bench, text: &str) -> Result<(), SqlError> {
        let position =
            GtidPosition::parse(text).map_err(|_| problem(1941, "Could not parse GTID list"))?;
        bench
            .world
            .set_slave_pos(self.me.node, &position)
            .map_err(|refusal| self.refusal(&refusal, ""))
    }
}

/// The one GTID of a set that has only one.
fn single(set: &GtidSet) -> Option<super::super::super::world::Gtid> {
    let mut found = None;
    for (sid, intervals) in set.iter() {
        for interval in intervals {
            if found.is_some() || interval.first() != interval.last() {
                return None;
            }
            found = Some(super::super::super::world::Gtid::MySql {
                sid,
                number: interval.first(),
            });
        }
    }
    found
}
