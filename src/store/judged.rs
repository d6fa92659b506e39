//! Everything judged at one instant: readings, lamps, findings, the verdict. Screens and headless commands only read
//! this; nothing is judged while drawing.

use std::collections::BTreeMap;

use super::Store;
use super::journal::{Entry, EntryKind};
use super::watched::Watched;
use super::wiring::Wire;
use crate::health::book::Unknown;
use crate::health::facts::{ChannelFacts, Facts, Freshness, ServerFacts};
use crate::health::lamps::{self, ServerState, State};
use crate::health::rules::applier_not_advancing::something_waits;
use crate::health::{self, Book, Change};
use crate::lag::{self, Scene, Side};
use crate::model::event::LinkState;
use crate::model::finding::{Finding, Health, Lamps, Role, TopologyVerdict};
use crate::model::lag::{LagView, Reading};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{ExpectedRole, TopologyId};
use crate::model::replication::Channel;
use crate::model::sample::Sample;
use crate::model::server::{Platform, WatchId};
use crate::model::time::{Moment, Span};

/// How far back the catch-up estimate looks.
const RECENT: Span = Span::from_secs(15);

/// One topology, judged.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    pub at: Option<Moment>,
    pub servers: BTreeMap<WatchId, ServerJudged>,
    /// What holds now, the gravest first.
    pub findings: Vec<Finding>,
    pub verdict: Option<TopologyVerdict>,
    book: Book,
}

impl Judged {
    /// Since when a finding holds.
    pub fn since(&self, finding: &Finding) -> Option<Moment> {
        self.book.since(finding.code, &finding.subject)
    }

    /// What the rules cannot tell now, and why: drawn grey, never green.
    pub fn unknowns(&self) -> impl Iterator<Item = Unknown<'_>> {
        self.book.unknowns()
    }
}

/// One server, judged.
#[derive(Clone, Debug)]
pub struct ServerJudged {
    pub role: Role,
    pub freshness: Freshness,
    /// Age of the last good answer.
    pub answer_age: Option<Span>,
    /// By channel name; empty where there are no status rows.
    pub channels: BTreeMap<String, ChannelJudged>,
    /// The lag of a server without channels: not applicable, unknown, or told by the platform.
    pub own_lag: LagView,
    pub health: Health,
    /// A read may be sent here now without fear of a stale answer beyond the threshold.
    pub routable: bool,
    pub lamps: Lamps,
}

/// One replication channel, judged.
#[derive(Clone, Debug)]
pub struct ChannelJudged {
    pub lag: LagView,
    /// The watched source of this channel.
    pub source: Option<WatchId>,
    pub health: Health,
    pub routable: bool,
    pub lamps: Lamps,
    /// False for a channel that never ran and that nobody expects: shown grey, judged by nobody (R13).
    pub counts: bool,
}

impl ServerJudged {
    /// The channel that decides what is said of the server: the latest of those that count, unknown before known.
    pub fn worst_channel(&self) -> Option<(&String, &ChannelJudged)> {
        self.channels.iter().max_by_key(|(_, channel)| {
            let value = channel.lag.headline.value();
            (channel.counts, value.is_none(), value)
        })
    }

    /// The lag shown for the server as a whole.
    pub fn lag(&self) -> &LagView {
        self.worst_channel()
            .map_or(&self.own_lag, |(_, channel)| &channel.lag)
    }
}

/// The lag of every channel of one server, before anything is judged from it.
struct Measured {
    role: Role,
    freshness: Freshness,
    answer_age: Option<Span>,
    channels: Vec<(Channel, LagView, Option<WatchId>, Option<Span>)>,
    own_lag: LagView,
}

impl Store {
    /// Judges every topology as of `now`, and writes the readings into the series.
    pub fn judge(&mut self, now: Moment) {
        let topologies: Vec<TopologyId> = self.judged.keys().cloned().collect();
        for topology in topologies {
            self.judge_topology(&topology, now);
        }
    }

    /// Goes on judging those topologies that were not judged since `began`: the one looked at first, then others until
    /// about so many servers are judged. True when none is left: a frame that judges hundreds of servers is late.
    pub fn judge_some(
        &mut self,
        began: Moment,
        looked_at: Option<&TopologyId>,
        servers: usize,
        now: Moment,
    ) -> bool {
        let mut due: Vec<TopologyId> = self
            .judged
            .iter()
            .filter(|(_, judged)| judged.at.is_none_or(|at| at < began))
            .map(|(topology, _)| topology.clone())
            .collect();
        due.sort_by_key(|topology| Some(topology) != looked_at);
        let mut judged = 0;
        let mut left = due.iter();
        for topology in left.by_ref() {
            self.judge_topology(topology, now);
            judged += self.servers_of(topology).count();
            if judged >= servers {
                break;
            }
        }
        left.next().is_none()
    }

    fn judge_topology(&mut self, topology: &TopologyId, now: Moment) {
        let Some(mut judged) = self.judged.remove(topology) else {
            return;
        };
        let measured: BTreeMap<WatchId, Measured> = self
            .servers_of(topology)
            .map(|server| (server.watch(), self.measure(server, now)))
            .collect();
        let facts = self.facts(&measured, now);
        let changes = judged.book.update(&health::judge(&facts), now);
        let findings = judged.book.findings();
        let states: BTreeMap<WatchId, ServerState> = facts
            .servers
            .iter()
            .map(|server| (server.watch, lamps::of_server(&facts, server, &findings)))
            .collect();
        judged.verdict = Some(health::verdict_of_topology(&facts, &findings));
        drop(facts);
        self.write_changes(&changes, now);
        self.record(&measured, &states, now);
        judged.at = Some(now);
        judged.findings = findings;
        judged.servers = measured
            .into_iter()
            .filter_map(|(watch, m)| {
                Some((
                    watch,
                    finished(self.watched.get(&watch)?, m, states.get(&watch)?),
                ))
            })
            .collect();
        self.note_roles(&judged, now);
        for (watch, of_server) in &judged.servers {
            self.feed_guards(*watch, of_server, now);
            self.feed_lending(*watch, of_server, now);
        }
        self.judged.insert(topology.clone(), judged);
    }

    /// Findings raised and cleared become entries of the journal.
    fn write_changes(&mut self, changes: &[Change], now: Moment) {
        for change in changes {
            let (subject, kind, text) = match change {
                Change::Raised(f) | Change::Graver(f) | Change::Milder(f) => {
                    (&f.subject, EntryKind::Raised(f.severity), f.text.clone())
                }
                Change::Cleared { code, subject } => {
                    let text = phrase("journal.cleared").with("what", health::name_of(code));
                    (subject, EntryKind::Cleared, text)
                }
                Change::Obscured { .. } => continue,
            };
            let server = subject.watch().and_then(|watch| self.watched.get(&watch));
            let server = server.map(|server| server.registration.name.clone());
            self.journal.write(Entry {
                at: now,
                subject: subject.clone(),
                server,
                kind,
                text,
            });
        }
    }

    /// A role that changed under our eyes is remembered for the rules, with the role before it.
    fn note_roles(&mut self, judged: &Judged, now: Moment) {
        for (watch, of_server) in &judged.servers {
            let Some(server) = self.watched.get_mut(watch) else {
                continue;
            };
            let settled = |role| !matches!(role, Role::Unknown | Role::Standalone);
            let role = of_server.role;
            if let Some(before) = server.role
                && before != role
                && settled(before)
                && settled(role)
            {
                server.memory.role_changed = Some((before, now));
            }
            if settled(role) {
                server.role = Some(role);
            }
        }
    }

    fn measure(&self, server: &Watched, now: Moment) -> Measured {
        let freshness = server.freshness(now);
        let role = self.role(server);
        let own_lag = lag::without_facts(without_channel(server, role, &freshness));
        let channels = server
            .last_known
            .iter()
            .flat_map(|sample| sample.channels())
            .map(|channel| {
                let wire = self
                    .wires
                    .iter()
                    .find(|w| w.replica == server.watch() && w.channel == channel.name);
                let (view, silent_for) =
                    self.measure_channel(server, channel, wire, &freshness, now);
                (channel.clone(), view, wire.map(|w| w.source), silent_for)
            })
            .collect();
        Measured {
            role,
            freshness,
            answer_age: server.answer_age(now),
            channels,
            own_lag,
        }
    }

    fn measure_channel(
        &self,
        server: &Watched,
        channel: &Channel,
        wire: Option<&Wire>,
        freshness: &Freshness,
        now: Moment,
    ) -> (LagView, Option<Span>) {
        let Some(sample) = server.current(now) else {
            return (
                lag::without_facts(Reading::unknown(why_silent(server, freshness))),
                None,
            );
        };
        let source = wire.and_then(|wire| self.watched.get(&wire.source));
        let side = |server: &Watched, sample| Side {
            watch: server.watch(),
            sample,
            clock: server.clock_now(now),
        };
        let source_side = source.and_then(|source| Some((source, source.current(now)?)));
        let source_missing = match source {
            None => Some(phrase("lag.why.source_not_watched")),
            Some(source) if source_side.is_none() => Some(
                phrase("lag.why.source_no_answer").with("name", source.registration.name.as_str()),
            ),
            Some(_) => None,
        };
        let past = server.channels.get(&channel.name);
        let recent: Vec<(Moment, Span)> = past
            .map(|past| past.headline.since(now - RECENT).collect())
            .unwrap_or_default();
        let scene = Scene {
            now,
            channel,
            replica: side(server, sample),
            source: source_side.map(|(server, sample)| side(server, sample)),
            source_missing,
            ledger: wire.and_then(|wire| server.ledgers.get(&wire.source)),
            heartbeat: &server.registration.heartbeat,
            recent: &recent,
        };
        (
            lag::judge(&scene),
            lag::heartbeat::writer_silent_for(&scene),
        )
    }

    /// Status rows make a replica, replicas make a source; both make an intermediate (R11).
    pub fn role(&self, server: &Watched) -> Role {
        let watch = server.watch();
        let expected = server.registration.expected_role;
        let Some(sample) = &server.last_known else {
            return match expected {
                ExpectedRole::Source => Role::Source,
                ExpectedRole::Replica => Role::Replica,
                ExpectedRole::Auto => Role::Unknown,
            };
        };
        let is_followed = self.wires.iter().any(|wire| wire.source == watch);
        let has_replicas = is_followed
            || sample
                .found_replicas
                .value()
                .is_some_and(|found| !found.is_empty());
        match (sample.is_replica(), has_replicas) {
            (true, true) => Role::Intermediate,
            (true, false) => Role::Replica,
            // A promoted replica is a source, whatever the profile says of it.
            (false, _) if is_followed => Role::Source,
            (false, _) if expected == ExpectedRole::Replica => Role::Replica,
            (false, true) => Role::Source,
            (false, false) if expected == ExpectedRole::Source => Role::Source,
            (false, false) => Role::Standalone,
        }
    }

    fn facts<'a>(&'a self, measured: &'a BTreeMap<WatchId, Measured>, now: Moment) -> Facts<'a> {
        let servers = measured
            .iter()
            .filter_map(|(watch, m)| Some(self.server_facts(self.watched.get(watch)?, m, now)));
        Facts {
            now,
            servers: servers.collect(),
        }
    }

    fn server_facts<'a>(
        &'a self,
        server: &'a Watched,
        measured: &'a Measured,
        now: Moment,
    ) -> ServerFacts<'a> {
        let watch = server.watch();
        ServerFacts {
            watch,
            name: &server.registration.name,
            expected_role: server.registration.expected_role,
            thresholds: &server.registration.thresholds,
            role: measured.role,
            link: &server.link,
            freshness: measured.freshness.clone(),
            sample: server.last_known.as_deref(),
            previous: server.previous.as_deref(),
            clock: server.clock_now(now),
            channels: measured
                .channels
                .iter()
                .map(|entry| channel_facts(server, entry))
                .collect(),
            replicas: self
                .wires
                .iter()
                .filter(|w| w.source == watch)
                .map(|w| w.replica)
                .collect(),
            memory: &server.memory,
            wait_trouble: server.wait_trouble.as_ref(),
        }
    }

    fn record(
        &mut self,
        measured: &BTreeMap<WatchId, Measured>,
        states: &BTreeMap<WatchId, ServerState>,
        now: Moment,
    ) {
        for (watch, m) in measured {
            let Some(server) = self.watched.get_mut(watch) else {
                continue;
            };
            let limit = server.registration.thresholds.lag_warning;
            for (channel, view, ..) in &m.channels {
                let past = server.channels.entry(channel.name.clone()).or_default();
                // An idle applier does not stand; the time counts from when work came.
                if !something_waits(view, limit) {
                    past.standing_since = None;
                }
                past.headline.push(now, view.headline.value());
                let state = states
                    .get(watch)
                    .and_then(|state| state_of(state, &channel.name));
                past.lane
                    .push(now, state.map_or(Health::Unknown, |state| state.health));
                for (method, reading) in &view.methods {
                    past.methods
                        .entry(*method)
                        .or_default()
                        .push(now, reading.value());
                }
            }
        }
    }
}

fn channel_facts<'a>(
    server: &'a Watched,
    (channel, view, source, silent_for): &'a (Channel, LagView, Option<WatchId>, Option<Span>),
) -> ChannelFacts<'a> {
    let past = server.channels.get(&channel.name);
    let waits = view.backlog.transactions.is_none_or(|n| n > 0)
        || view.backlog.received.is_none_or(|n| n > 0);
    ChannelFacts {
        channel,
        lag: view.clone(),
        source: *source,
        standing_since: past.and_then(|past| past.standing_since).filter(|_| waits),
        connecting_since: past.and_then(|past| past.connecting_since),
        heartbeat_ages: past.map_or(&[], |past| past.heartbeat_ages.as_slice()),
        writer_silent_for: *silent_for,
        counts: counts(server, channel),
    }
}

/// A channel that never ran judges nobody, unless the profile expects it (R13).
fn counts(server: &Watched, channel: &Channel) -> bool {
    let expected = &server.registration.expected_channels;
    channel.has_ever_run() || expected.contains(&channel.name)
}

fn state_of<'a>(server: &'a ServerState, channel: &str) -> Option<&'a State> {
    let found = server.channels.iter().find(|(name, _)| name == channel);
    found.map(|(_, state)| state)
}

fn finished(server: &Watched, measured: Measured, states: &ServerState) -> ServerJudged {
    let channel = |(channel, lag, source, _): (Channel, LagView, Option<WatchId>, Option<Span>)| {
        let state = state_of(states, &channel.name)
            .unwrap_or(&states.server)
            .clone();
        let judged = ChannelJudged {
            lag,
            source,
            health: state.health,
            routable: state.routable,
            lamps: state.lamps,
            counts: counts(server, &channel),
        };
        (channel.name, judged)
    };
    ServerJudged {
        role: measured.role,
        freshness: measured.freshness,
        answer_age: measured.answer_age,
        channels: measured.channels.into_iter().map(channel).collect(),
        own_lag: measured.own_lag,
        health: states.server.health,
        routable: states.server.routable,
        lamps: states.server.lamps.clone(),
    }
}

/// Why nothing can be said of the present.
fn why_silent(server: &Watched, freshness: &Freshness) -> Phrase {
    match (&server.link, freshness) {
        (LinkState::Down { trouble, .. }, _) => trouble.what.clone(),
        (_, Freshness::Stale { why, .. }) => why.clone(),
        _ => phrase("lag.why.not_polled_yet"),
    }
}

/// The lag of a server that shows no status row.
fn without_channel(server: &Watched, role: Role, freshness: &Freshness) -> Reading {
    let Some(sample) = server.latest.as_deref().filter(|_| freshness.is_usable()) else {
        return Reading::unknown(why_silent(server, freshness));
    };
    match role {
        _ if sample.product.platform == Platform::Aurora && sample.is_replica() => {
            lag::platform::of_sample(sample)
        }
        Role::Source | Role::Standalone => {
            Reading::not_applicable(phrase("lag.why.a_source_has_no_lag"))
        }
        _ => Reading::unknown(no_rows(sample)),
    }
}

/// Zero rows on a server that should be a replica is no lag of zero (R33).
fn no_rows(sample: &Sample) -> Phrase {
    match sample.channels.refused() {
        Some(trouble) => trouble.what.clone(),
        None => phrase("lag.why.no_replication_status"),
    }
}
