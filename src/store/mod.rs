//! Layer 2: remembers what the threads reported, and has it judged.
//!
//! [`Store::apply`] takes one event in; [`Store::judge`] looks at everything at one instant and leaves readings,
//! findings and lamps to be drawn or printed. Replay and the headless commands use the same two.

mod errant;
pub mod guards;
pub mod journal;
pub mod judged;
pub mod lanes;
pub mod offers;
pub mod series;
pub mod watched;
pub mod wiring;

use std::collections::BTreeMap;

use crate::model::event::{Event, LinkState, Mark, Waited, What};
use crate::model::finding::Subject;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{Intervals, TopologyId};
use crate::model::sample::{Identity, Sample};
use crate::model::server::WatchId;
use crate::model::time::Moment;

use crate::lag::marks::Ledger;
use journal::{Entry, EntryKind, Journal};
use judged::Judged;
use watched::{Registration, Watched};
use wiring::{Candidate, Wire};

/// Everything the program remembers of the servers it watches.
#[derive(Clone, Debug, Default)]
pub struct Store {
    watched: BTreeMap<WatchId, Watched>,
    /// Who replicates from whom, as last told.
    wires: Vec<Wire>,
    journal: Journal,
    judged: BTreeMap<TopologyId, Judged>,
}

impl Store {
    /// From now on events of this watch are taken in.
    pub fn register(&mut self, registration: Registration, now: Moment) {
        self.judged
            .entry(registration.topology.clone())
            .or_default();
        self.watched
            .insert(registration.watch, Watched::new(registration, now));
    }

    /// The servers of this topology are polled and marked at another pace from now on: what is fresh changes with it.
    pub fn pace(&mut self, topology: &TopologyId, intervals: Intervals) {
        for server in self.watched.values_mut() {
            if server.registration.topology == *topology {
                server.registration.intervals = intervals;
            }
        }
    }

    /// Late events of this watch are ignored from now on.
    pub fn forget(&mut self, watch: WatchId) {
        if let Some(gone) = self.watched.remove(&watch) {
            self.wires
                .retain(|wire| wire.replica != watch && wire.source != watch);
            let topology = &gone.registration.topology;
            if !self
                .watched
                .values()
                .any(|other| other.registration.topology == *topology)
            {
                self.judged.remove(topology);
            }
        }
    }

    pub fn watched(&self, watch: WatchId) -> Option<&Watched> {
        self.watched.get(&watch)
    }

    pub fn servers(&self) -> impl Iterator<Item = &Watched> {
        self.watched.values()
    }

    pub fn servers_of<'a>(&'a self, topology: &'a TopologyId) -> impl Iterator<Item = &'a Watched> {
        self.watched
            .values()
            .filter(move |server| server.registration.topology == *topology)
    }

    /// Who replicates from whom among the watched servers.
    pub fn wires(&self) -> &[Wire] {
        &self.wires
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    pub fn judged(&self, topology: &TopologyId) -> Option<&Judged> {
        self.judged.get(topology)
    }

    /// Takes one event in. Events of watches that are gone are ignored.
    pub fn apply(&mut self, event: &Event) {
        if !self.watched.contains_key(&event.watch) {
            return;
        }
        match &event.what {
            What::Link(state) => self.link_changed(event.watch, event.at, state),
            What::Sampled(sample) => {
                let sample = sample.clone();
                self.with(event.watch, |server| server.take_sample(sample));
                self.rewire(event.watch);
                self.look_for_errant(event.watch);
            }
            What::Marked(mark) => self.marked(event.watch, mark),
            What::Waited(waited) => self.waited(event.watch, waited),
            What::WaitFailed(trouble) => self.wait_failed(event.watch, trouble.what.clone()),
        }
    }

    fn with(&mut self, watch: WatchId, change: impl FnOnce(&mut Watched)) {
        if let Some(server) = self.watched.get_mut(&watch) {
            change(server);
        }
    }

    fn link_changed(&mut self, watch: WatchId, at: Moment, state: &LinkState) {
        let Some(server) = self.watched.get_mut(&watch) else {
            return;
        };
        let changed = std::mem::discriminant(&server.link) != std::mem::discriminant(state);
        server.link = state.clone();
        if let LinkState::Up { .. } = state {
            server.begin_session();
        }
        if !changed {
            return;
        }
        server.link_since = at;
        let text = match state {
            LinkState::Connecting => return,
            LinkState::Up { product } => {
                phrase("journal.link_up").with("product", product.to_string())
            }
            LinkState::Down { trouble, .. } => trouble.what.clone(),
        };
        self.note(at, watch, text);
    }

    fn note(&mut self, at: Moment, watch: WatchId, text: Phrase) {
        let server = self
            .watched
            .get(&watch)
            .map(|server| server.registration.name.clone());
        self.journal.write(Entry {
            at,
            subject: Subject::Server(watch),
            server,
            kind: EntryKind::Changed,
            text,
        });
    }

    fn marked(&mut self, source: WatchId, mark: &Mark) {
        if let Some(clock) = mark.clock {
            self.with(source, |server| server.clock.add(clock));
        }
        let replicas: Vec<WatchId> = self
            .wires
            .iter()
            .filter(|wire| wire.source == source)
            .map(|wire| wire.replica)
            .collect();
        for replica in replicas {
            self.with(replica, |server| {
                let interval = server.registration.intervals.mark;
                server
                    .ledgers
                    .entry(source)
                    .or_insert_with(|| Ledger::new(interval))
                    .marked(mark);
            });
        }
    }

    fn waited(&mut self, replica: WatchId, waited: &Waited) {
        self.with(replica, |server| {
            server.wait_trouble = None;
            if let Some(ledger) = server.ledgers.get_mut(&waited.source) {
                ledger.waited(waited);
            }
        });
    }

    fn wait_failed(&mut self, replica: WatchId, why: Phrase) {
        self.with(replica, |server| {
            for ledger in server.ledgers.values_mut() {
                ledger.wait_failed(why.clone());
            }
            server.wait_trouble = Some(why);
        });
    }

    /// A sample may show another source than before, or let others recognise this server as theirs.
    fn rewire(&mut self, changed: WatchId) {
        let Some(topology) = self
            .watched
            .get(&changed)
            .map(|server| server.registration.topology.clone())
        else {
            return;
        };
        let known: Vec<(&Watched, &Sample)> = self
            .servers_of(&topology)
            .filter_map(|server| Some((server, server.last_known.as_deref()?)))
            .collect();
        // One that never answered can still be recognised by its address: then it is the source that nobody can see,
        // and its replicas are not simply without one (R05).
        let stranger = Identity::default();
        let candidates: Vec<Candidate<'_>> = self
            .servers_of(&topology)
            .map(|server| Candidate {
                watch: server.watch(),
                address: &server.registration.address,
                identity: server
                    .last_known
                    .as_ref()
                    .map_or(&stranger, |sample| &sample.identity),
            })
            .collect();
        let mine = known.iter().find(|(server, _)| server.watch() == changed);
        let is_new_face = mine.is_some_and(|(server, _)| server.previous.is_none());
        let mut wires: Vec<Wire> = Vec::new();
        for (server, sample) in &known {
            // Only the changed server's own channels move, unless it just showed its face to the others.
            if server.watch() == changed || is_new_face {
                wires.extend(wiring::wires_of(server.watch(), sample, &candidates));
            } else {
                wires.extend(
                    self.wires
                        .iter()
                        .filter(|wire| wire.replica == server.watch())
                        .cloned(),
                );
            }
        }
        let elsewhere = |wire: &&Wire| {
            !self
                .servers_of(&topology)
                .any(|server| server.watch() == wire.replica)
        };
        wires.extend(self.wires.iter().filter(elsewhere).cloned());
        if wires != self.wires {
            self.wires = wires;
            self.drop_ledgers_without_wire();
        }
    }

    fn drop_ledgers_without_wire(&mut self) {
        for server in self.watched.values_mut() {
            let watch = server.watch();
            let wires = &self.wires;
            server.ledgers.retain(|source, _| {
                wires
                    .iter()
                    .any(|w| w.replica == watch && w.source == *source)
            });
        }
    }

    /// The source was just read: its replicas' samples, read before it, can be held against it (R19).
    fn look_for_errant(&mut self, source: WatchId) {
        let replicas: Vec<WatchId> = self
            .wires
            .iter()
            .filter(|wire| wire.source == source)
            .map(|wire| wire.replica)
            .collect();
        for replica in replicas {
            let wired: Vec<WatchId> = self
                .wires
                .iter()
                .filter(|wire| wire.replica == replica)
                .map(|wire| wire.source)
                .collect();
            let samples: Vec<_> = wired
                .iter()
                .filter_map(|watch| self.watched.get(watch)?.latest.clone())
                .collect();
            let Some(server) = self.watched.get_mut(&replica) else {
                continue;
            };
            let Some(own) = server.latest.clone() else {
                continue;
            };
            if samples.len() != own.channels().len() {
                continue;
            }
            let sources: Vec<&Sample> = samples.iter().map(AsRef::as_ref).collect();
            if let Some(found) = server.errant.look(&own, &sources) {
                server.memory.errant = found;
            }
        }
    }
}
