//! A simulated server as the wire meets it: greeting, accounts, sessions.

use super::super::world::NodeId;
use super::bench::{SharedBench, lock};
use super::client::Client;
use super::generation::Habits;
use super::problems::problem;
use crate::lab::wire::{self, AuthPlugin, Greeting, Hello, Session, SqlError, Welcome};
use crate::model::lab::Generation;

pub struct Service {
    bench: SharedBench,
    node: NodeId,
}

impl Service {
    pub fn new(bench: &SharedBench, node: NodeId) -> Self {
        Service {
            bench: SharedBench::clone(bench),
            node,
        }
    }
}

fn plugin(generation: Generation) -> AuthPlugin {
    if generation.has_new_performance_schema() {
        AuthPlugin::CachingSha2Password
    } else {
        AuthPlugin::MysqlNativePassword
    }
}

impl wire::Service for Service {
    fn next_connection_id(&mut self) -> Option<u32> {
        let bench = &mut *lock(&self.bench);
        bench.catch_up();
        u32::try_from(bench.world.next_thread_id(self.node)).ok()
    }

    fn welcome(&mut self, _connection_id: u32) -> Welcome {
        let bench = &mut *lock(&self.bench);
        bench.catch_up();
        if !bench.world.is_up(self.node) {
            return Welcome::Cut;
        }
        let machine = &bench.machines[self.node];
        let most = machine.globals.number("max_connections").unwrap_or(151.0) as usize;
        // One more is kept for the administrator.
        if machine.seats.len() > most {
            return Welcome::Refuse(problem(1040, "Too many connections"));
        }
        Welcome::Greet(Greeting {
            version: bench.generation.version().to_owned(),
            plugin: plugin(bench.generation),
        })
    }

    fn account(&mut self, user: &str) -> Option<wire::Account> {
        let bench = lock(&self.bench);
        let accounts = &bench.world.engine(self.node).accounts;
        let account = accounts.get(user)?;
        Some(wire::Account {
            plugin: plugin(bench.generation),
            password: account.password.clone(),
            cached: accounts.is_cached(user),
        })
    }

    fn connect(&mut self, hello: &Hello) -> Result<Box<dyn Session>, SqlError> {
        let shared = SharedBench::clone(&self.bench);
        let bench = &mut *lock(&self.bench);
        bench.catch_up();
        let accounts = &mut bench.world.engine_mut(self.node).accounts;
        accounts.cache(&hello.user);
        let client = Client::seat(&shared, bench, self.node, hello)?;
        Ok(Box::new(client))
    }
}
