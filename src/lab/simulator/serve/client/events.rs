//! CREATE, ALTER and DROP EVENT.

use super::super::bench::Bench;
use super::super::engine::{self, Other};
use super::super::events::{EventOrder, EventState, order};
use super::super::problems::{self, problem};
use super::super::words::Words;
use super::{After, Client, Next, Outcome};

impl Client {
    pub(super) fn event(&mut self, bench: &mut Bench, words: &mut Words<'_>) -> Outcome {
        let definer = format!("{}@%", self.me.user);
        let order = order(words, self.ctx.schema.as_deref(), &definer)?;
        let key = order.key();
        let schema = key
            .split_once('.')
            .map_or("", |(schema, _)| schema)
            .to_owned();
        let may = self
            .me
            .account(bench)
            .is_some_and(|account| account.may_in_schema("EVENT", &schema));
        if !may {
            return Err(problems::denied_on_schema(&self.me.user, &schema));
        }
        self.check_writable(bench)?;
        if matches!(order, EventOrder::Create { .. }) {
            let database = bench.world.engine(self.me.node).database();
            if !engine::lock(&database).has_schema(&schema) {
                return Err(problem(1049, format!("Unknown database '{schema}'")));
            }
        }
        bench.world.engine(self.me.node).events.check(&order)?;
        for node in 0..bench.machines.len() {
            bench.tell_time(node);
        }
        let write = self.write_of(bench, Other::Event(order));
        self.commit(bench, write, After::Schedule { key })?;
        Ok(Next::Go)
    }

    /// Tells the scheduler what has become of an event.
    pub(super) fn schedule(&self, bench: &mut Bench, key: &str) {
        let node = self.me.node;
        match bench.world.engine(node).events.get(key).cloned() {
            None => bench.world.drop_event(node, key),
            Some(event) => {
                let is_enabled = event.state == EventState::Enabled;
                bench
                    .world
                    .schedule_event(node, key, event.every, is_enabled);
            }
        }
    }
}
