//! START and STOP of a replica's threads, and UNTIL where they stop by themselves.

use super::super::super::world::{Goal, LogPosition, Refusal, Running};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Warning;
use super::super::problems::{self, problem};
use super::super::show::replica::no_such_channel;
use super::super::words::Words;
use super::replication::not_configured;
use super::{Client, Next, Outcome};
use crate::lab::wire::{Answer, SqlError};
use crate::model::gtid::Gtids;
use crate::model::lab::Generation;

/// Which threads a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Threads {
    receiver: bool,
    applier: bool,
}

impl Client {
    pub(super) fn start_or_stop(
        &mut self,
        bench: &mut Bench,
        words: &mut Words<'_>,
        starts: bool,
    ) -> Outcome {
        let generation = self.me.generation;
        let is_mariadb = generation.is_mariadb();
        let all = is_mariadb
            && words.accept("ALL")
            && (words.accept("SLAVES") || words.accept("REPLICAS"));
        if !all {
            self.accept_replica(words)?;
        }
        let mut channel = if is_mariadb { words.text() } else { None };
        let threads = threads(words);
        let goal = match starts && words.accept("UNTIL") {
            true => Some(goal(words, generation)?),
            false => None,
        };
        // USER=… PASSWORD=…: the account of the channel is used anyway.
        while words
            .accept_one_of(&["USER", "PASSWORD", "DEFAULT_AUTH", "PLUGIN_DIR"])
            .is_some()
        {
            words.accept("=");
            words.value();
        }
        if words.accept("FOR CHANNEL") {
            channel = Some(words.text().ok_or_else(|| words.error())?);
        }
        if !words.at_end() {
            return Err(words.error());
        }
        self.may_replicate(bench)?;
        let channels = self.channels_meant(bench, channel, all)?;
        for name in &channels {
            self.note_no_change(bench, name, threads, starts);
            let done = match starts {
                true => self.start_threads(bench, name, threads, goal.clone()),
                false => self.stop_threads(bench, name, threads),
            };
            done.map_err(|refusal| self.refusal(&refusal, name))?;
        }
        Ok(Next::Say(Answer::ok()))
    }

    /// Without a name MySQL means all channels, MariaDB the one without name.
    pub(super) fn channels_meant(
        &self,
        bench: &Bench,
        channel: Option<String>,
        all: bool,
    ) -> Result<Vec<String>, SqlError> {
        let known = bench.world.channels(self.me.node);
        let is_mariadb = self.me.generation.is_mariadb();
        match channel {
            Some(name) if known.contains(&name) => Ok(vec![name]),
            Some(name) => Err(no_such_channel(self.me.generation, &name)),
            None if all || !is_mariadb && !known.is_empty() => Ok(known),
            None if known.iter().any(String::is_empty) => Ok(vec![String::new()]),
            None => Err(not_configured(self.me.generation)),
        }
    }

    fn start_threads(
        &self,
        bench: &mut Bench,
        channel: &str,
        threads: Threads,
        goal: Option<Goal>,
    ) -> Result<(), Refusal> {
        let (world, node) = (&mut bench.world, self.me.node);
        if threads.receiver {
            world.start_receiver(node, channel)?;
        }
        if threads.applier {
            world.start_applier_until(node, channel, goal)?;
        }
        Ok(())
    }

    fn stop_threads(
        &self,
        bench: &mut Bench,
        channel: &str,
        threads: Threads,
    ) -> Result<(), Refusal> {
        let (world, node) = (&mut bench.world, self.me.node);
        if threads.receiver {
            world.stop_receiver(node, channel)?;
        }
        if threads.applier {
            world.stop_applier(node, channel)?;
        }
        Ok(())
    }

    /// Starting what runs and stopping what stands is a note.
    fn note_no_change(&mut self, bench: &Bench, channel: &str, threads: Threads, starts: bool) {
        let Some(status) = bench.world.channel_status(self.me.node, channel) else {
            return;
        };
        let (io, sql) = (
            status.receiver.running != Running::No,
            status.applier.is_running,
        );
        let asked = [(threads.receiver, io), (threads.applier, sql)];
        let is_so_already = asked
            .iter()
            .filter(|(asked, _)| *asked)
            .all(|(_, runs)| *runs == starts);
        if !is_so_already {
            return;
        }
        let note = match (self.me.generation.is_mariadb(), starts) {
            (true, true) => Warning::note(1254, "Slave is already running"),
            (true, false) => Warning::note(1255, "Slave already has been stopped"),
            // The server spells it so.
            (false, true) => Warning::note(
                3083,
                format!("Replication thread(s) for channel '{channel}' are already runnning."),
            ),
            (false, false) => Warning::note(
                3084,
                format!("Replication thread(s) for channel '{channel}' are already stopped."),
            ),
        };
        self.me.warnings.push(note);
    }
}

/// What follows UNTIL.
fn goal(words: &mut Words<'_>, generation: Generation) -> Result<Goal, SqlError> {
    let (mut file, mut position) = (None, None);
    loop {
        let near = words.clone();
        let name = words.name().unwrap_or_default().to_ascii_uppercase();
        if name == "SQL_AFTER_MTS_GAPS" {
            return Err(problems::not_simulated(
                "START REPLICA UNTIL SQL_AFTER_MTS_GAPS",
            ));
        }
        let is_gtids = match generation.is_mariadb() {
            true => name == "MASTER_GTID_POS",
            false => matches!(name.as_str(), "SQL_BEFORE_GTIDS" | "SQL_AFTER_GTIDS"),
        };
        let old_words = !generation.forgot_slave();
        let in_log = name
            .strip_prefix("SOURCE_LOG_")
            .filter(|_| generation.knows_replication_source());
        let in_log = in_log.or(name.strip_prefix("MASTER_LOG_").filter(|_| old_words));
        if name.starts_with("RELAY_LOG_") {
            return Err(problems::not_simulated(
                "START REPLICA UNTIL RELAY_LOG_FILE",
            ));
        }
        if !(is_gtids || matches!(in_log, Some("FILE" | "POS"))) || !words.accept("=") {
            return Err(near.error());
        }
        if is_gtids {
            let text = words.text().ok_or_else(|| words.error())?;
            let gtids = Gtids::parse(&text, generation.flavour());
            let gtids = gtids.map_err(|_| problems::malformed_gtids(&text))?;
            return Ok(match name.as_str() {
                "SQL_BEFORE_GTIDS" => Goal::Before(gtids),
                _ => Goal::After(gtids),
            });
        }
        match in_log {
            Some("FILE") => file = Some(words.text().ok_or_else(|| words.error())?),
            _ => position = Some(words.number().ok_or_else(|| words.error())?),
        }
        if !words.accept(",") {
            break;
        }
    }
    match (file, position) {
        (Some(file), Some(position)) => Ok(Goal::Position(LogPosition { file, position })),
        _ => Err(problem(
            1277,
            match generation.says_slave() {
                true => "Incorrect parameter or combination of parameters for START SLAVE UNTIL",
                false => "Incorrect parameter or combination of parameters for START REPLICA UNTIL",
            },
        )),
    }
}

/// IO_THREAD, SQL_THREAD, both, or none named: both.
fn threads(words: &mut Words<'_>) -> Threads {
    let mut named = Threads {
        receiver: false,
        applier: false,
    };
    loop {
        match words.accept_one_of(&["IO_THREAD", "SQL_THREAD", "RELAY_THREAD"]) {
            Some("SQL_THREAD") => named.applier = true,
            Some(_) => named.receiver = true,
            None => break,
        }
        if !words.accept(",") {
            break;
        }
    }
    if named.receiver || named.applier {
        named
    } else {
        Threads {
            receiver: true,
            applier: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_both_unless_named() {
        let of = |text: &str| {
            let found = threads(&mut Words::of(text));
            (found.receiver, found.applier)
        };
        assert_eq!(of(""), (true, true));
        assert_eq!(of("IO_THREAD"), (true, false));
        assert_eq!(of("SQL_THREAD"), (false, true));
        assert_eq!(of("IO_THREAD, SQL_THREAD"), (true, true));
    }
}
