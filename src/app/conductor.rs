//! Carries events from the threads to the store, and what follows from them back to the threads.
//!
//! The window and the headless commands both stand on this; there is no second path.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::lag::HeartbeatReading;
use crate::link::{Dial, clock};
use crate::model::event::Event;
use crate::model::profile::{
    HeartbeatLayout, HeartbeatTable, Intervals, ServerId, ServerProfile, StampZone, TopologyId,
    TopologyProfile,
};
use crate::model::server::WatchId;
use crate::monitor::{Followed, MarkSink, Plan, Watcher, close_all};
use crate::store::Store;
use crate::store::watched::Registration;
use crate::store::wiring::Wire;

/// Events waiting for the program. Beyond it threads wait with their next report.
const EVENTS_IN_FLIGHT: usize = 8_192;

/// How long quitting may wait for polite goodbyes.
const GOODBYE: Duration = Duration::from_millis(500);

/// The store and the threads that feed it.
pub struct Conductor {
    pub store: Store,
    watchers: BTreeMap<WatchId, Watcher>,
    names: BTreeMap<(TopologyId, ServerId), WatchId>,
    wired: Vec<Wire>,
    events: Receiver<Event>,
    reports: Sender<Event>,
    last_watch: u32,
}

impl Default for Conductor {
    fn default() -> Self {
        let (reports, events) = bounded(EVENTS_IN_FLIGHT);
        Conductor {
            store: Store::default(),
            watchers: BTreeMap::new(),
            names: BTreeMap::new(),
            wired: Vec::new(),
            events,
            reports,
            last_watch: 0,
        }
    }
}

impl Conductor {
    /// Starts to watch one server of a topology. Watching it again replaces the earlier watch.
    pub fn watch(
        &mut self,
        topology: &TopologyProfile,
        server: &ServerProfile,
        dial: Arc<dyn Dial>,
    ) -> std::io::Result<WatchId> {
        self.unwatch(&topology.id, &server.id);
        self.last_watch += 1;
        let watch = WatchId(self.last_watch);
        let plan = Plan {
            watch,
            name: server.label(),
            dial,
            intervals: topology.intervals,
        };
        self.store
            .register(registration(watch, topology, server), clock::now());
        self.watchers
            .insert(watch, Watcher::start(plan, self.reports.clone())?);
        self.names
            .insert((topology.id.clone(), server.id.clone()), watch);
        Ok(watch)
    }

    pub fn unwatch(&mut self, topology: &TopologyId, server: &ServerId) {
        let Some(watch) = self.names.remove(&(topology.clone(), server.clone())) else {
            return;
        };
        self.watchers.remove(&watch);
        self.store.forget(watch);
        self.rewire();
    }

    pub fn watch_of(&self, topology: &TopologyId, server: &ServerId) -> Option<WatchId> {
        self.names.get(&(topology.clone(), server.clone())).copied()
    }

    pub fn poll_now(&self, topology: &TopologyId) {
        for server in self.store.servers_of(topology) {
            if let Some(watcher) = self.watchers.get(&server.watch()) {
                watcher.poll_now();
            }
        }
    }

    pub fn pace(&mut self, topology: &TopologyId, intervals: Intervals) {
        self.store.pace(topology, intervals);
        for server in self.store.servers_of(topology) {
            if let Some(watcher) = self.watchers.get(&server.watch()) {
                watcher.pace(intervals);
            }
        }
    }

    /// Takes in all events that are there. True when there was one.
    pub fn take_in(&mut self) -> bool {
        let mut any = false;
        while let Ok(event) = self.events.try_recv() {
            self.store.apply(&event);
            any = true;
        }
        if any {
            self.rewire();
        }
        any
    }

    /// Takes events in as they come, until `deadline`.
    pub fn take_in_until(&mut self, deadline: Instant) {
        while let Ok(event) = self.events.recv_deadline(deadline) {
            self.store.apply(&event);
            self.take_in();
            self.rewire();
        }
    }

    /// Tells the threads who follows whom, when that has changed.
    fn rewire(&mut self) {
        if self.wired == self.store.wires() {
            return;
        }
        let wires = self.store.wires().to_vec();
        for (watch, watcher) in &self.watchers {
            let sinks: Vec<MarkSink> = wires
                .iter()
                .filter(|wire| wire.source == *watch)
                .filter_map(|wire| Some(self.watchers.get(&wire.replica)?.mark_sink()))
                .collect();
            let followed: Vec<Followed> = wires
                .iter()
                .filter(|wire| wire.replica == *watch)
                .map(|wire| Followed {
                    source: wire.source,
                    channel: wire.channel.clone(),
                })
                .collect();
            let before = |by: fn(&Wire) -> WatchId| {
                let of = |wires: &[Wire]| {
                    wires
                        .iter()
                        .filter(|w| by(w) == *watch)
                        .cloned()
                        .collect::<Vec<_>>()
                };
                of(&self.wired) != of(&wires)
            };
            if before(|wire| wire.source) {
                watcher.mark_for(sinks);
            }
            if before(|wire| wire.replica) {
                watcher.follow(followed);
            }
        }
        self.wired = wires;
    }

    /// Ends all threads; at most half a second, whatever the servers do.
    pub fn close(&mut self) {
        close_all(
            std::mem::take(&mut self.watchers).into_values().collect(),
            GOODBYE,
        );
    }
}

fn registration(
    watch: WatchId,
    topology: &TopologyProfile,
    server: &ServerProfile,
) -> Registration {
    Registration {
        watch,
        topology: topology.id.clone(),
        server: server.id.clone(),
        name: server.label(),
        address: server.address.clone(),
        expected_role: server.role,
        expected_channels: server.expected_channels.clone(),
        thresholds: topology.thresholds_for(server).clone(),
        intervals: topology.intervals,
        heartbeat: heartbeat_reading(topology.heartbeat.as_ref()),
    }
}

fn heartbeat_reading(table: Option<&HeartbeatTable>) -> HeartbeatReading {
    HeartbeatReading {
        table: table.map(|table| format!("{}.{}", table.schema, table.table)),
        pinned_writer: table.and_then(pinned_writer),
        interval: table.and_then(|table| table.interval),
        stamps_are_utc: table.is_none_or(|table| table.zone == StampZone::Utc),
    }
}

fn pinned_writer(table: &HeartbeatTable) -> Option<u64> {
    match &table.layout {
        HeartbeatLayout::PerWriter { pinned_writer, .. } => {
            pinned_writer.as_deref()?.trim().parse().ok()
        }
        HeartbeatLayout::Single | HeartbeatLayout::Appended => None,
    }
}
