//! The shadow guards of every replica: what they would have done, fed at every judging. No traffic is moved. On the
//! other end, whether connections to a source would be lent.
//!
//! And a replica as a routing rule sees it, from the same readings.

use super::Store;
use super::judged::ServerJudged;
use super::watched::Watched;
use crate::health::facts::Freshness;
use crate::model::event::LinkState;
use crate::model::finding::Role;
use crate::model::lag::Reading;
use crate::model::profile::{ExpectedRole, TopologyId};
use crate::model::replication::ThreadState;
use crate::model::sample::Sample;
use crate::model::server::{Platform, Product, WatchId};
use crate::model::time::Moment;
use crate::routing::demotion::RoleSeen;
use crate::routing::guard::Seen;
use crate::routing::replica::Answering;
use crate::routing::{
    Admission, GuardRules, GuardState, ReplicaHealthGuard, ReplicaView, Threads, WaitUnit,
};

/// Which of the guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GuardPreset {
    /// At most 3000 ms, every 3 s.
    ThreeSeconds,
    /// Less than 1 s, every 5 s.
    OneSecond,
}

impl GuardPreset {
    pub const ALL: [GuardPreset; 2] = [GuardPreset::ThreeSeconds, GuardPreset::OneSecond];

    /// The one the compared rules listen to: the wider one, so that each rule's own limit still shows.
    pub const FOR_RULES: GuardPreset = GuardPreset::ThreeSeconds;

    pub fn rules(self) -> GuardRules {
        match self {
            GuardPreset::ThreeSeconds => GuardRules::THREE_SECONDS,
            GuardPreset::OneSecond => GuardRules::ONE_SECOND,
        }
    }
}

/// The guards of one replica.
#[derive(Clone, Debug)]
pub struct Guards {
    three_seconds: ReplicaHealthGuard,
    one_second: ReplicaHealthGuard,
}

impl Guards {
    fn new(now: Moment) -> Self {
        let guard = |preset: GuardPreset| ReplicaHealthGuard::new(preset.rules(), now);
        Guards {
            three_seconds: guard(GuardPreset::ThreeSeconds),
            one_second: guard(GuardPreset::OneSecond),
        }
    }

    pub fn of(&self, preset: GuardPreset) -> &ReplicaHealthGuard {
        match preset {
            GuardPreset::ThreeSeconds => &self.three_seconds,
            GuardPreset::OneSecond => &self.one_second,
        }
    }

    fn feed(&mut self, now: Moment, seen: Option<&Seen>) {
        for guard in [&mut self.three_seconds, &mut self.one_second] {
            match seen {
                Some(seen) if guard.is_due(now) => guard.check(now, seen),
                _ => guard.tick(now),
            };
        }
    }
}

impl Store {
    /// A server that follows nobody needs no guard; one that is a replica again starts unknown.
    pub(super) fn feed_guards(&mut self, watch: WatchId, judged: &ServerJudged, now: Moment) {
        let Some(server) = self.watched.get_mut(&watch) else {
            return;
        };
        match judged.role {
            Role::Replica | Role::Intermediate => {
                let seen = seen(server, judged);
                let guards = server.guards.get_or_insert_with(|| Guards::new(now));
                guards.feed(now, seen.as_ref());
            }
            Role::Source | Role::Standalone => server.guards = None,
            // Not known for now: what was known is forgotten in time.
            Role::Unknown => {
                if let Some(guards) = &mut server.guards {
                    guards.feed(now, None);
                }
            }
        }
    }

    /// Begins with a source that somebody follows or is meant to; once it is one it stays looked at, whatever it becomes.
    pub(super) fn feed_lending(&mut self, watch: WatchId, judged: &ServerJudged, now: Moment) {
        let Some(server) = self.watched.get_mut(&watch) else {
            return;
        };
        let is_source = judged.role == Role::Source
            || server.registration.expected_role == ExpectedRole::Source;
        if !is_source && server.lending.is_none() {
            return;
        }
        let role = role_seen(server);
        let answering = answering(server, judged);
        let lending = server.lending.get_or_insert_default();
        let changed = match (answering, role) {
            (Answering::Unknown, _) | (Answering::Yes, None) => None,
            (Answering::Yes, Some(role)) => lending.role_read(&role, now),
            (Answering::No, _) => lending.unreachable(now),
        };
        if let Some(changed) = changed {
            self.note(changed.at, watch, changed.phrase());
        }
    }

    /// Whether every replica's guard has made up its mind: before that it lets in less than it will.
    pub fn guards_are_settled(&self, topology: &TopologyId) -> bool {
        let mut guards = self.servers_of(topology).filter_map(|s| s.guards.as_ref());
        guards.all(|guards| {
            let state = guards.of(GuardPreset::FOR_RULES).state();
            !matches!(state, GuardState::Unknown | GuardState::Recovering)
        })
    }

    /// The replicas of a topology as a rule sees them, with what the guard of [`GuardPreset::FOR_RULES`] lets in.
    pub fn replica_views(&self, topology: &TopologyId) -> Vec<ReplicaView> {
        let Some(judged) = self.judged(topology) else {
            return Vec::new();
        };
        let views = judged.servers.iter().filter_map(|(watch, of_server)| {
            let is_replica = matches!(of_server.role, Role::Replica | Role::Intermediate);
            let server = self.watched(*watch).filter(|_| is_replica)?;
            Some(view(server, of_server))
        });
        views.collect()
    }
}

fn role_seen(server: &Watched) -> Option<RoleSeen> {
    let sample = server.latest.as_deref()?;
    let follows = sample.channels.value().map(|_| sample.is_replica());
    Some(RoleSeen::of(&sample.identity, follows))
}

/// What a check of this replica says; `None` before there was anything to be checked.
fn seen(server: &Watched, judged: &ServerJudged) -> Option<Seen> {
    match answering(server, judged) {
        Answering::Unknown => None,
        Answering::No => Some(Seen::Failed),
        Answering::Yes => Some(Seen::Answered {
            threads: threads(server, judged),
            lag: lag(judged),
        }),
    }
}

fn view(server: &Watched, judged: &ServerJudged) -> ReplicaView {
    let answering = answering(server, judged);
    let guard = |guards: &Guards| guards.of(GuardPreset::FOR_RULES).admission();
    let answers = answering == Answering::Yes;
    ReplicaView {
        watch: server.watch(),
        answering,
        threads: if answers {
            threads(server, judged)
        } else {
            Threads::Unknown
        },
        lag: lag(judged),
        admission: server.guards.as_ref().map_or(Admission::Nothing, guard),
        wait_unit: server.last_known.as_deref().and_then(wait_unit),
    }
}

/// How old what it holds is: a reader does not care that the delay was planned.
fn lag(judged: &ServerJudged) -> Reading {
    let view = judged.lag();
    match view.headline.clone() {
        Reading::Measured(mut measured) => {
            measured.value = measured.value + view.planned_delay;
            Reading::Measured(measured)
        }
        other => other,
    }
}

fn answering(server: &Watched, judged: &ServerJudged) -> Answering {
    let is_down = matches!(server.link, LinkState::Down { .. });
    match &judged.freshness {
        freshness if freshness.is_usable() => Answering::Yes,
        Freshness::Never if !is_down => Answering::Unknown,
        _ => Answering::No,
    }
}

/// Of the channels that count; a replica without any replicates below SQL, or not at all.
fn threads(server: &Watched, judged: &ServerJudged) -> Threads {
    let Some(sample) = server.latest.as_deref() else {
        return Threads::Unknown;
    };
    if sample.channels().is_empty() {
        return match sample.product.platform {
            Platform::Aurora => Threads::BelowSql,
            _ if sample.channels.value().is_some() => Threads::NotRunning,
            _ => Threads::Unknown,
        };
    }
    let counts = |name: &str| {
        judged
            .channels
            .get(name)
            .is_some_and(|channel| channel.counts)
    };
    let running: Vec<&ThreadState> = sample
        .channels()
        .iter()
        .filter(|channel| counts(&channel.name))
        .flat_map(|channel| [&channel.receiver, &channel.applier])
        .collect();
    Threads::of(running)
}

/// How it takes the limit of a wait; `None`: GTIDs are off.
fn wait_unit(sample: &Sample) -> Option<WaitUnit> {
    if sample.product.is_mariadb() {
        return Some(WaitUnit::Fractions);
    }
    let mode = sample.settings.value()?.text("gtid_mode")?;
    let on = mode.eq_ignore_ascii_case("ON") || mode.eq_ignore_ascii_case("ON_PERMISSIVE");
    on.then(|| unit_of(&sample.product))
}

fn unit_of(product: &Product) -> WaitUnit {
    if product.is_mysql_from(8, 0, 0) {
        WaitUnit::Fractions
    } else {
        WaitUnit::WholeSeconds
    }
}
