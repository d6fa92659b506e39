//! Layer 2: remembers what the threads reported, and has it judged.
//!
//! [`Store::apply`] takes one event in; [`Store::judge`] looks at everything at one instant and leaves readings,
//! findings and lamps to be drawn or printed. Replay and the headless commands use the same two.

pub mod episodes;
mod errant;
pub mod guards;
pub mod journal;
pub mod judged;
pub mod lanes;
pub mod offers;
pub mod series;
pub mod watched;
pub mod wiring;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::event::{Event, LinkState, Mark, Waited, What};
use crate::model::finding::Subject;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{Intervals, ServerId, TopologyId};
use crate::model::sample::{Identity, Sample};
use crate::model::server::WatchId;
use crate::model::time::Moment;

use crate::lag::marks::Ledger;
use episodes::{Episode, Episodes};
use journal::{Entry, EntryKind, Journal};
use judged::Judged;
use watched::{Registration, Watched};
use wiring::{Candidate, Wire};

/// Everything the program remembers of the servers it watches.
#[derive(Clone, Debug, Default)]
pub struct Store {
    watched: BTreeMap<WatchId, Watched>,
    /// The servers of each topology.
    members: BTreeMap<TopologyId, BTreeSet<WatchId>>,
    /// Who replicates from whom, as last told; sorted, so that the same wires are equal whoever told them last.
    wires: Vec<Wire>,
    journal: Journal,
    judged: BTreeMap<TopologyId, Judged>,
    episodes: BTreeMap<TopologyId, Episodes>,
}

impl Store {
    /// From now on events of this watch are taken in.
    pub fn register(&mut self, registration: Registration, now: Moment) {
        self.judged
            .entry(registration.topology.clone())
            .or_default();
        self.members
            .entry(registration.topology.clone())
            .or_default()
            .insert(registration.watch);
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
            let is_empty = self.members.get_mut(topology).is_none_or(|members| {
                members.remove(&watch);
                members.is_empty()
            });
            if is_empty {
                self.members.remove(topology);
                self.judged.remove(topology);
                self.episodes.remove(topology);
            }
        }
    }

    pub fn watched(&self, watch: WatchId) -> Option<&Watched> {
        self.watched.get(&watch)
    }

    pub fn servers(&self) -> impl Iterator<Item = &Watched> {
        self.watched.values()
    }

    pub fn servers_of<'a>(
        &'a self,
        topology: &TopologyId,
    ) -> impl Iterator<Item = &'a Watched> + use<'a> {
        self.members
            .get(topology)
            .into_iter()
            .flatten()
            .filter_map(|watch| self.watched.get(watch))
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

    /// What was done to this topology on purpose.
    pub fn episodes(&self, topology: &TopologyId) -> Option<&Episodes> {
        self.episodes.get(topology)
    }

    /// How all faults of a topology stand now; what has begun or ended is written into the journal.
    pub fn tell_episodes(&mut self, topology: &TopologyId, told: &[Episode]) {
        if !self.judged.contains_key(topology) {
            return;
        }
        let known = self.episodes.entry(topology.clone()).or_default();
        for turn in known.tell(told) {
            let server = self.of_server(topology, &turn.server);
            self.journal.write(Entry {
                // the journal is in order of time, and what is told was a moment ago
                at: self
                    .journal
                    .last()
                    .map_or(turn.at, |last| last.at.max(turn.at)),
                subject: server.map_or(Subject::Topology, |s| Subject::Server(s.watch())),
                server: server.map(|server| server.registration.name.clone()),
                kind: EntryKind::Fault,
                text: turn.text,
            });
        }
    }

    /// A watched server by its place in the profile.
    pub fn of_server(&self, topology: &TopologyId, id: &ServerId) -> Option<&Watched> {
        self.servers_of(topology)
            .find(|server| server.registration.server == *id)
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
                expected: server.registration.expected_role,
                is_replica: server.last_known.as_ref().map(|sample| sample.is_replica()),
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
        let members = self.members.get(&topology);
        let elsewhere =
            |wire: &&Wire| members.is_none_or(|members| !members.contains(&wire.replica));
        wires.extend(self.wires.iter().filter(elsewhere).cloned());
        wires.sort();
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::health::build::{channel, known, sample};
    use crate::lag::HeartbeatReading;
    use crate::model::profile::{Address, ExpectedRole, Thresholds};
    use crate::model::time::Span;

    /// Watches `2n` and `2n + 1` are the source and the replica of topology `n`.
    fn topologies(count: u32) -> Store {
        let mut store = Store::default();
        for watch in 0..2 * count {
            let topology = TopologyId(format!("topology {}", watch / 2));
            let registration = Registration {
                watch: WatchId(watch),
                topology,
                server: ServerId(format!("server {watch}")),
                name: format!("db-{watch}"),
                address: Address::tcp(format!("db-{watch}"), 3306),
                expected_role: ExpectedRole::Auto,
                expected_channels: vec![],
                thresholds: Thresholds::default(),
                intervals: Intervals::default(),
                heartbeat: HeartbeatReading::default(),
            };
            store.register(registration, Moment::from_unix_micros(0));
        }
        store
    }

    fn answer(store: &mut Store, watch: u32) {
        let mut answered = sample(watch);
        answered.identity.server_uuid = Some(format!("uuid-{watch}"));
        if watch % 2 == 1 {
            let mut copies = channel("");
            copies.source.uuid = Some(format!("uuid-{}", watch - 1));
            answered.channels = known(vec![copies]);
        }
        store.apply(&Event {
            watch: WatchId(watch),
            at: answered.answered_at,
            what: What::Sampled(Arc::new(answered)),
        });
    }

    #[test]
    fn wires_stay_as_they_are_whichever_topology_was_polled_last() {
        let mut store = topologies(3);
        (0..6).for_each(|watch| answer(&mut store, watch));
        let wires = store.wires().to_vec();
        assert_eq!(wires.len(), 3);
        for watch in [5, 0, 3, 1, 4, 2] {
            answer(&mut store, watch);
            assert_eq!(store.wires(), wires, "after server {watch} was polled");
        }
    }

    #[test]
    fn a_round_of_judging_takes_a_fleet_in_pieces_and_leaves_none_out() {
        let mut store = topologies(5);
        (0..10).for_each(|watch| answer(&mut store, watch));
        let id = |n: u32| TopologyId(format!("topology {n}"));
        let began = crate::health::build::NOW;
        let judged = |store: &Store| -> Vec<u32> {
            let since = |n: &u32| store.judged(&id(*n)).and_then(|j| j.at) >= Some(began);
            (0..5).filter(since).collect()
        };
        let looked_at = Some(id(3));
        let mut now = began;
        for (all, expected) in [
            (false, vec![0, 3]),
            (false, vec![0, 1, 2, 3]),
            (true, vec![0, 1, 2, 3, 4]),
        ] {
            assert_eq!(store.judge_some(began, looked_at.as_ref(), 3, now), all);
            assert_eq!(judged(&store), expected);
            now = now + Span::from_millis(50);
        }
        assert!(store.judge_some(began, None, 3, now), "nothing is left");
        assert!(!store.judge_some(now, None, 3, now), "the next round");
    }

    #[test]
    fn a_topology_is_forgotten_with_its_last_server() {
        let mut store = topologies(2);
        (0..4).for_each(|watch| answer(&mut store, watch));
        let gone = TopologyId("topology 0".into());
        store.forget(WatchId(1));
        assert_eq!(store.servers_of(&gone).count(), 1);
        assert!(store.judged(&gone).is_some());
        assert_eq!(store.wires().len(), 1, "its wire went with the replica");
        store.forget(WatchId(0));
        assert_eq!(store.servers_of(&gone).count(), 0);
        assert!(store.judged(&gone).is_none());
        assert_eq!(store.servers().count(), 2);
    }
}
