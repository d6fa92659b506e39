//! FLUSH, plugins, and ANALYZE and its like.

use super::super::super::world::Write;
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::problems::{self, problem};
use super::super::table::{TEXT, shown, table};
use super::super::words::Words;
use super::{After, Client, Next, Outcome};
use crate::lab::wire::Answer;

impl Client {
    pub(super) fn flush(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        words.keyword();
        let is_local = words.accept("LOCAL") || words.accept("NO_WRITE_TO_BINLOG");
        if words.accept("TABLES WITH READ LOCK") {
            return self.lock_everything(bench);
        }
        if !self.me.may(bench, &["RELOAD"]) {
            return Err(problems::needs("RELOAD"));
        }
        let what = words
            .accept_one_of(&[
                "TABLES",
                "TABLE",
                "LOGS",
                "BINARY",
                "RELAY",
                "ERROR",
                "ENGINE",
                "SLOW",
                "GENERAL",
                "STATUS",
                "PRIVILEGES",
                "HOSTS",
                "OPTIMIZER_COSTS",
                "USER_RESOURCES",
            ])
            .ok_or_else(|| words.error())?;
        match what {
            "LOGS" | "BINARY" => {
                bench.world.rotate_binlog(self.me.node);
                return Ok(Next::Say(Answer::ok()));
            }
            "STATUS" => {
                let counters = &mut bench.machines[self.me.node].counters;
                counters.most_connections = 0;
                counters.commands.clear();
            }
            "PRIVILEGES" => {
                let tables = bench.world.engine_mut(self.me.node);
                tables.accounts.empty_cache();
            }
            "TABLES" | "TABLE" => {}
            _ => return Ok(Next::Say(Answer::ok())),
        }
        if is_local {
            return Ok(Next::Say(Answer::ok()));
        }
        // Logged, and so an errant transaction when it is said on a replica; super_read_only does not refuse it.
        let mut write = Write::new(None, self.me.began);
        write.bytes = 180;
        self.commit(bench, write, After::Say(Answer::ok()))?;
        Ok(Next::Go)
    }

    /// INSTALL and UNINSTALL: what a lab needs is there from the start.
    pub(super) fn plugin(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        self.check_writable(bench)?;
        let verb = words.keyword();
        words.keyword();
        let name = words.value().ok_or_else(|| words.error())?;
        if verb == "UNINSTALL" {
            return Err(problems::not_simulated("UNINSTALL PLUGIN"));
        }
        if name.contains("semi_sync") {
            return Err(problem(1125, format!("Function '{name}' already exists")));
        }
        Err(problem(
            1126,
            format!("Can't open shared library '{name}' (errno: 2)"),
        ))
    }

    /// ANALYZE, CHECK, OPTIMIZE, REPAIR TABLE: all is well.
    pub(super) fn maintain(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let verb = words.keyword().to_ascii_lowercase();
        if verb != "check" && !bench.generation.is_mariadb() {
            self.check_writable(bench)?;
        }
        for word in ["LOCAL", "NO_WRITE_TO_BINLOG", "TABLE", "TABLES"] {
            words.accept(word);
        }
        let mut rows = Vec::new();
        while let Some((schema, name)) = words.qualified_name() {
            let schema = schema
                .or_else(|| self.ctx.schema.clone())
                .ok_or_else(|| problem(1046, "No database selected"))?;
            let database = bench.world.engine(self.me.node).database();
            let exists = super::super::engine::lock(&database).has_table(&schema, &name);
            let full = format!("{schema}.{name}");
            let (kind, text) = match exists {
                true => ("status", "OK".to_owned()),
                false => ("Error", format!("Table '{full}' doesn't exist")),
            };
            rows.push(vec![
                full.into(),
                verb.clone().into(),
                kind.into(),
                text.into(),
            ]);
            if !words.accept(",") {
                break;
            }
        }
        Ok(Next::Say(Answer::Rows(shown(table(
            &[
                ("Table", TEXT),
                ("Op", TEXT),
                ("Msg_type", TEXT),
                ("Msg_text", TEXT),
            ],
            rows,
        )))))
    }
}
