//! CHANGE and RESET of replication, and PURGE of binary logs, in the words of each generation; START and STOP are in
//! `starting`.

use super::super::super::world::{Refusal, Running};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Warning;
use super::super::problems::{self, problem};
use super::super::show::replica::no_such_channel;
use super::super::words::Words;
use super::pointing::{Options, first_config, login, options, target};
use super::{Client, Next, Outcome};
use crate::lab::wire::{Answer, SqlError};
use crate::model::lab::Generation;
use crate::model::time::ServerTime;

impl Client {
    pub(super) fn replication(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let verb = words.keyword();
        match verb.as_str() {
            "START" | "STOP" => self.start_or_stop(bench, words, verb == "START"),
            "CHANGE" => self.change(bench, words),
            "RESET" => self.reset_something(bench, words),
            "PURGE" => self.purge(bench, words),
            _ => Err(words.error()),
        }
    }

    pub(super) fn may_replicate(&self, bench: &Bench) -> Result<(), SqlError> {
        let may = self.me.may(
            bench,
            &[
                "SUPER",
                "REPLICATION_SLAVE_ADMIN",
                "REPLICATION SLAVE ADMIN",
                "REPLICATION REPLICA ADMIN",
            ],
        );
        if may {
            return Ok(());
        }
        Err(match self.me.generation {
            Generation::MySql57 => problems::needs("SUPER"),
            generation if generation.is_mariadb() => {
                problems::needs("SUPER, REPLICATION SLAVE ADMIN")
            }
            _ => problems::needs("SUPER, REPLICATION_SLAVE_ADMIN"),
        })
    }

    /// SLAVE or REPLICA, as this generation knows them.
    pub(super) fn accept_replica(&self, words: &mut Words<'_>) -> Result<(), SqlError> {
        let generation = self.me.generation;
        let found = !generation.forgot_slave() && words.accept("SLAVE")
            || generation.knows_replica() && words.accept("REPLICA");
        if found { Ok(()) } else { Err(words.error()) }
    }

    // CHANGE.

    fn change(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let generation = self.me.generation;
        if !generation.is_mariadb() && words.accept("REPLICATION FILTER") {
            return self.change_filter(bench, words);
        }
        if generation.knows_replication_source() && words.accept("REPLICATION") {
            if !words.accept("SOURCE") {
                return Err(words.error());
            }
        } else if generation.forgot_slave() || !words.accept("MASTER") {
            return Err(words.error());
        }
        let mut channel = if generation.is_mariadb() {
            words.text()
        } else {
            None
        };
        if !words.accept("TO") {
            return Err(words.error());
        }
        let options = options(words)?;
        if words.accept("FOR CHANNEL") {
            channel = Some(words.text().ok_or_else(|| words.error())?);
        }
        if !words.at_end() {
            return Err(words.error());
        }
        self.may_replicate(bench)?;
        self.point(bench, &channel.unwrap_or_default(), &options)
    }

    fn point(&mut self, bench: &mut Bench, channel: &str, options: &Options) -> Outcome {
        let node = self.me.node;
        options.check(self.me.generation)?;
        self.check_standing(bench, channel, options)?;
        if let Some(password) = &options.password {
            let passwords = &mut bench.machines[node].channel_passwords;
            passwords.insert(channel.to_owned(), password.clone());
        }
        let password = bench.machines[node]
            .channel_passwords
            .get(channel)
            .cloned()
            .unwrap_or_default();
        let before = bench.world.config(node, channel).cloned();
        let mut config = before.unwrap_or_else(|| first_config(self.me.generation));
        options.apply(&mut config);
        if options.names_position && config.auto_position && !self.me.generation.is_mariadb() {
            return Err(position_and_auto_position(self.me.generation));
        }
        config.target = target(bench, &config);
        config.login = login(bench, &config, &password);
        let told = config.clone();
        bench
            .world
            .change_source(node, channel, config, move |now| *now = told)
            .map_err(|refusal| self.refusal(&refusal, channel))?;
        if options.password.is_some() && self.me.generation.has_new_performance_schema() {
            self.me.warnings.push(Warning::note(
                1759,
                "Sending passwords in plain text without SSL/TLS is extremely insecure.",
            ));
        }
        Ok(Next::Say(Answer::ok()))
    }

    /// What is named needs its threads to stand, even where nothing would change. (MariaDB wants both to stand.)
    fn check_standing(
        &self,
        bench: &Bench,
        channel: &str,
        options: &Options,
    ) -> Result<(), SqlError> {
        let Some(status) = bench.world.channel_status(self.me.node, channel) else {
            return Ok(());
        };
        let receives = status.receiver.running != Running::No;
        let applies = status.applier.is_running;
        if self.me.generation.is_mariadb() {
            let refusal = self.refusal(&Refusal::ReceiverRuns, channel);
            return if receives || applies {
                Err(refusal)
            } else {
                Ok(())
            };
        }
        if options.is_about_position() && (receives || applies) {
            return Err(self.refusal_of_reset(&Refusal::ReceiverRuns, channel));
        }
        if options.is_about_receiver && receives {
            return Err(self.refusal(&Refusal::ReceiverRuns, channel));
        }
        Ok(())
    }

    // RESET, PURGE.

    fn reset_something(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let generation = self.me.generation;
        if words.accept("PERSIST") {
            words.accept("IF EXISTS");
            return match words.name() {
                Some(name) => {
                    let kept = &mut bench.machines[self.me.node].persisted;
                    kept.remove(name.as_str());
                    Ok(Next::Say(Answer::ok()))
                }
                None => {
                    bench.machines[self.me.node].persisted.clear();
                    Ok(Next::Say(Answer::ok()))
                }
            };
        }
        let old_master = !generation.forgot_slave() && words.accept("MASTER");
        if old_master || generation.forgot_slave() && words.accept("BINARY LOGS AND GTIDS") {
            if !self.me.may(bench, &["RELOAD", "SUPER"]) {
                return Err(problems::needs("RELOAD"));
            }
            if words.accept("TO") {
                return Err(self.numbered(words));
            }
            if !words.at_end() {
                return Err(words.error());
            }
            bench
                .world
                .reset_binlogs_and_gtids(self.me.node)
                .map_err(|refusal| self.refusal(&refusal, ""))?;
            return Ok(Next::Say(Answer::ok()));
        }
        self.accept_replica(words)?;
        let mut channel = if generation.is_mariadb() {
            words.text()
        } else {
            None
        };
        let all = words.accept("ALL");
        if words.accept("FOR CHANNEL") {
            channel = Some(words.text().ok_or_else(|| words.error())?);
        }
        if !words.at_end() {
            return Err(words.error());
        }
        self.may_replicate(bench)?;
        let channels = match &channel {
            None if bench.world.channels(self.me.node).is_empty() => Vec::new(),
            _ => self.channels_meant(bench, channel, false)?,
        };
        for name in channels {
            bench
                .world
                .reset_replica(self.me.node, &name, all)
                .map_err(|refusal| self.refusal_of_reset(&refusal, &name))?;
        }
        Ok(Next::Say(Answer::ok()))
    }

    /// RESET … TO n: logs begin with the first number here.
    fn numbered(&self, words: &mut Words<'_>) -> SqlError {
        let Some(number) = words.number() else {
            return words.error();
        };
        if (1..=2_000_000_000).contains(&number) {
            return problems::not_simulated("RESET … TO");
        }
        problem(
            3567,
            format!(
                "The requested value '{number}' for the next binary log index is out of range. Please use a value \
                 between '1' and '2000000000'."
            ),
        )
    }

    fn purge(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        if !(words.accept("BINARY LOGS")
            || !self.me.generation.forgot_slave() && words.accept("MASTER LOGS"))
        {
            return Err(words.error());
        }
        if !self
            .me
            .may(bench, &["SUPER", "BINLOG_ADMIN", "BINLOG ADMIN"])
        {
            return Err(problems::needs("SUPER, BINLOG_ADMIN"));
        }
        if words.accept("BEFORE") {
            let micros = format!("UNIX_TIMESTAMP({}) * 1000000", words.rest());
            let micros = self.evaluate(bench, &micros)?;
            let micros = micros.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned());
            let micros = micros.and_then(|text| text.parse::<f64>().ok());
            let time = ServerTime(micros.unwrap_or(0.0) as i64);
            bench.world.purge_binlogs_before(self.me.node, time);
            return Ok(Next::Say(Answer::ok()));
        }
        if !words.accept("TO") {
            return Err(words.error());
        }
        let first_kept = words.text().ok_or_else(|| words.error())?;
        bench
            .world
            .purge_binlogs(self.me.node, &first_kept)
            .map_err(|refusal| self.refusal(&refusal, ""))?;
        Ok(Next::Say(Answer::ok()))
    }

    /// RESET needs both threads stopped.
    fn refusal_of_reset(&self, refusal: &Refusal, channel: &str) -> SqlError {
        let generation = self.me.generation;
        let runs = matches!(refusal, Refusal::ReceiverRuns | Refusal::ApplierRuns);
        if !runs || generation.is_mariadb() {
            return self.refusal(refusal, channel);
        }
        let (replica, stop) = match generation {
            Generation::MySql57 => ("slave", "STOP SLAVE"),
            _ => ("replication", "STOP REPLICA"),
        };
        problem(
            3081,
            format!(
                "This operation cannot be performed with running {replica} threads; run {stop} FOR CHANNEL \
                 '{channel}' first"
            ),
        )
    }

    /// The server's number and text for what the world refuses.
    pub(super) fn refusal(&self, refusal: &Refusal, channel: &str) -> SqlError {
        let generation = self.me.generation;
        let replica = if generation.says_slave() {
            "slave"
        } else {
            "replica"
        };
        let stop = if generation == Generation::MySql57 {
            "STOP SLAVE"
        } else {
            "STOP REPLICA"
        };
        match refusal {
            Refusal::NoSuchChannel => no_such_channel(generation, channel),
            Refusal::NotConfigured => not_configured(generation),
            Refusal::ReceiverRuns | Refusal::ApplierRuns if generation.is_mariadb() => problem(
                1198,
                format!(
                    "This operation cannot be performed as you have a running slave '{channel}'; run STOP SLAVE \
                     '{channel}' first"
                ),
            ),
            Refusal::ReceiverRuns => problem(
                3021,
                format!(
                    "This operation cannot be performed with a running {replica} io thread; run {stop} IO_THREAD FOR \
                     CHANNEL '{channel}' first."
                ),
            ),
            Refusal::ApplierRuns => problem(
                3085,
                format!(
                    "This operation cannot be performed with a running {replica} sql thread; run {stop} SQL_THREAD FOR \
                     CHANNEL '{channel}' first."
                ),
            ),
            Refusal::GtidsPresent(text) => problem(1840, text.clone()),
            Refusal::NoSuchLog => problem(1373, "Target log not found in binlog index"),
            Refusal::Down => problem(1053, "Server shutdown in progress"),
        }
    }
}

fn position_and_auto_position(generation: Generation) -> SqlError {
    let source = if generation.says_slave() {
        "MASTER"
    } else {
        "SOURCE"
    };
    problem(
        1776,
        format!(
            "Parameters {source}_LOG_FILE, {source}_LOG_POS, RELAY_LOG_FILE and RELAY_LOG_POS cannot be set when \
             {source}_AUTO_POSITION is active."
        ),
    )
}

pub(super) fn not_configured(generation: Generation) -> SqlError {
    if generation.is_mariadb() {
        return problem(
            1200,
            "Misconfigured slave: MASTER_HOST was not set; Fix in config file or with CHANGE MASTER TO",
        );
    }
    let (replica, statement) = if generation.says_slave() {
        ("slave", "CHANGE MASTER TO")
    } else {
        ("replica", "CHANGE REPLICATION SOURCE TO")
    };
    problem(
        1200,
        format!(
            "The server is not configured as {replica}; fix in config file or with {statement}"
        ),
    )
}
