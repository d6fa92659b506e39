//! All servers of one simulation, and what a server keeps besides tables and replication: settings, counters, and who
//! is connected.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::clock::SimClock;
use super::super::sql::Value;
use super::super::world::{NodeId, Settings, World};
use super::engine::Tables;
use super::events::{Place, order};
use super::settings;
use super::variables::Values;
use super::words::Words;
use crate::lab::schema::HEARTBEAT_EVENT;
use crate::lab::wire::Closer;
use crate::model::lab::Generation;
use crate::model::time::{Moment, Span};

/// Shared by all sessions of a simulation.
pub type SharedBench = Arc<Mutex<Bench>>;

pub struct Bench {
    pub generation: Generation,
    pub clock: SimClock,
    pub world: World<Tables>,
    pub machines: Vec<Machine>,
}

impl Bench {
    /// Plays everything that is due; first thing whenever the bench is looked at.
    pub fn catch_up(&mut self) -> Moment {
        let now = self.clock.now();
        self.world.advance(now);
        self.world.now()
    }

    /// The server that listens there.
    pub fn by_port(&self, port: u16) -> Option<NodeId> {
        self.machines
            .iter()
            .position(|machine| machine.port == port)
    }

    /// The server has crashed: settings are again those of its configuration, and those that were SET PERSIST.
    pub fn forget(&mut self, node: NodeId) {
        let machine = &mut self.machines[node];
        machine.forget();
        let configured = machine.configured.1.clone();
        let persisted = machine.persisted.clone();
        self.world.engine_mut(node).accounts.empty_cache();
        self.world
            .change_settings(node, |settings| *settings = configured);
        for (name, value) in &persisted {
            settings::tell_world(self, node, name, value);
        }
    }

    /// The heartbeat's event: it runs on sources, and stands on replicas as it would have come to them.
    pub fn add_heartbeat_event(&mut self, node: NodeId, is_source: bool) {
        let now = self.world.clock(node);
        let place = Place {
            is_origin: is_source,
            origin_server_id: if is_source {
                self.world.identity(node).server_id
            } else {
                1
            },
            now,
        };
        if let Ok(order) = order(&mut Words::of(HEARTBEAT_EVENT), None, "admin@%") {
            self.world.engine_mut(node).events.apply(&order, place);
            let every = Span::from_secs(1);
            self.world
                .schedule_event(node, &order.key(), every, is_source);
        }
    }

    /// Before something of this server's tables is asked that depends on its time.
    pub fn tell_time(&mut self, node: NodeId) {
        let now = self.world.clock(node);
        self.world.engine_mut(node).now = now;
    }
}

/// A bench that a session has left in the middle goes on, as far as it can.
pub fn lock(bench: &SharedBench) -> MutexGuard<'_, Bench> {
    bench.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one server keeps.
pub struct Machine {
    pub name: String,
    pub port: u16,
    pub globals: Values,
    /// What it is started with, as a configuration file would have it.
    pub configured: (Values, Settings),
    /// SET PERSIST: outlives a restart.
    pub persisted: BTreeMap<&'static str, String>,
    /// Who is connected, by connection id.
    pub seats: BTreeMap<u64, Seat>,
    pub counters: Counters,
    pub closer: Option<Closer>,
    /// The password of each channel, to be told anew when the source's accounts change.
    pub channel_passwords: BTreeMap<String, String>,
    /// GET_LOCK: by name, who holds it.
    pub named_locks: BTreeMap<String, u64>,
}

impl Machine {
    pub fn new(name: &str, globals: Values, settings: Settings) -> Self {
        Machine {
            configured: (globals.clone(), settings),
            name: name.to_owned(),
            port: 0,
            globals,
            persisted: BTreeMap::new(),
            seats: BTreeMap::new(),
            counters: Counters::default(),
            closer: None,
            channel_passwords: BTreeMap::new(),
            named_locks: BTreeMap::new(),
        }
    }

    /// After a crash: nobody is connected, and what was only SET is forgotten.
    fn forget(&mut self) {
        self.seats.clear();
        self.named_locks.clear();
        self.counters = Counters::default();
        self.globals = self.configured.0.clone();
        for (name, value) in &self.persisted {
            self.globals.set(name, value.clone());
        }
    }
}

/// What others see of a session.
#[derive(Clone, Debug)]
pub struct Seat {
    pub user: String,
    /// `127.0.0.1:12345`.
    pub host: String,
    pub schema: Option<String>,
    pub attributes: BTreeMap<String, String>,
    pub user_variables: BTreeMap<String, Value>,
    pub command: &'static str,
    pub state: &'static str,
    /// Of the command, or of falling silent.
    pub since: Moment,
    pub statement: Option<String>,
    pub last_statement: Option<String>,
    pub transaction: Option<OpenSeat>,
    pub kill: Kill,
}

/// An open transaction, as others see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenSeat {
    pub since: Moment,
    pub rows_modified: u64,
    pub rows_locked: u64,
    pub isolation: &'static str,
    pub waits_since: Option<Moment>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kill {
    #[default]
    No,
    /// KILL QUERY.
    Statement,
    Connection,
}

#[derive(Clone, Debug, Default)]
pub struct Counters {
    pub connections: u64,
    pub most_connections: u64,
    pub most_connections_at: Option<Moment>,
    pub aborted_connects: u64,
    pub questions: u64,
    /// `Com_select` and the like, by their whole name.
    pub commands: BTreeMap<&'static str, u64>,
    pub rows_read: u64,
    pub rows_inserted: u64,
    pub rows_updated: u64,
    pub rows_deleted: u64,
    pub row_lock_waits: u64,
    pub row_lock_time_ms: u64,
    pub flushes: u64,
    pub slow_queries: u64,
    pub gtid_waits: u64,
    pub gtid_wait_timeouts: u64,
}

impl Counters {
    pub fn command(&mut self, name: &'static str) {
        *self.commands.entry(name).or_default() += 1;
    }
}
