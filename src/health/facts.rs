//! What the rules judge: the newest facts of one topology, put side by side. Built by the store; no rule asks for more.

use crate::lag::clock::ClockEstimate;
use crate::model::event::LinkState;
use crate::model::finding::Role;
use crate::model::gtid::Gtids;
use crate::model::lag::LagView;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{ExpectedRole, Thresholds};
use crate::model::replication::Channel;
use crate::model::sample::Sample;
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};

/// One topology at one instant.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    pub now: Moment,
    pub servers: Vec<ServerFacts<'a>>,
}

/// How well the newest sample speaks for the present.
#[derive(Clone, Debug, PartialEq)]
pub enum Freshness {
    /// No complete poll yet in this session.
    Never,
    /// At most 1.5 poll intervals old.
    Fresh,
    /// Older, still usable.
    Late { age: Span },
    /// Too old to say anything of now; `why` is the sentence for people.
    Stale { age: Span, why: Phrase },
}

impl Freshness {
    /// Fresh or late: the sample may still be used.
    pub fn is_usable(&self) -> bool {
        matches!(self, Freshness::Fresh | Freshness::Late { .. })
    }
}

impl<'a> Facts<'a> {
    pub fn server(&self, watch: WatchId) -> Option<&ServerFacts<'a>> {
        self.servers.iter().find(|server| server.watch == watch)
    }

    /// Why the source of this channel says nothing of the present, when it is watched and does not. Then nobody knows
    /// what a replica misses, whatever its own figures say (R05).
    pub fn source_trouble(&self, channel: &ChannelFacts<'_>) -> Option<Phrase> {
        let source = self.server(channel.source?)?;
        let why = source.why_not_current()?;
        let name = source.name;
        Some(
            phrase("lamp.source_unknown")
                .with("source", name)
                .with("why", why),
        )
    }
}

#[derive(Clone, Debug)]
pub struct ServerFacts<'a> {
    pub watch: WatchId,
    /// As the profile names it.
    pub name: &'a str,
    pub expected_role: ExpectedRole,
    /// Of this server: its own, or the topology's.
    pub thresholds: &'a Thresholds,
    pub role: Role,
    pub link: &'a LinkState,
    pub freshness: Freshness,
    /// The newest sample, whatever its age; rules use [`ServerFacts::current`].
    pub sample: Option<&'a Sample>,
    /// The usable sample before that, for what grows between polls.
    pub previous: Option<&'a Sample>,
    pub clock: Option<ClockEstimate>,
    /// The channels of `sample`, also while it is too old to be judged by: what was said of them is then withdrawn.
    pub channels: Vec<ChannelFacts<'a>>,
    /// Servers watched in this topology that replicate from this one, as far as last seen: kept while they are down.
    pub replicas: Vec<WatchId>,
    pub memory: &'a Memory,
    /// The waiting session is broken although polls work.
    pub wait_trouble: Option<&'a Phrase>,
}

impl<'a> ServerFacts<'a> {
    /// The newest sample if it may be used for the present.
    pub fn current(&self) -> Option<&'a Sample> {
        self.sample.filter(|_| self.why_not_current().is_none())
    }

    /// Why the newest sample says nothing of the present.
    pub fn why_not_current(&self) -> Option<Phrase> {
        if let LinkState::Down { trouble, .. } = self.link {
            return Some(trouble.what.clone());
        }
        match &self.freshness {
            Freshness::Stale { why, .. } => Some(why.clone()),
            Freshness::Never => Some(phrase("lamp.not_polled")),
            Freshness::Fresh | Freshness::Late { .. } if self.sample.is_none() => {
                Some(phrase("lamp.not_polled"))
            }
            Freshness::Fresh | Freshness::Late { .. } => None,
        }
    }

    /// It has a status row with a source, or is a reader of its platform.
    pub fn is_replica(&self) -> bool {
        self.sample.is_some_and(Sample::is_replica) || self.role.is_replica()
    }

    /// Where the writes of this topology go: a server that replicates from nobody, the one the profile calls the
    /// source, or the writable one of two that replicate from each other (R45).
    pub fn takes_writes(&self) -> bool {
        if !self.is_replica() {
            return self.expected_role != ExpectedRole::Replica;
        }
        let writable = self.sample.and_then(Sample::is_writable) == Some(true);
        writable && (self.expected_role == ExpectedRole::Source || self.is_in_a_ring())
    }

    /// It replicates from a server that replicates from it.
    pub fn is_in_a_ring(&self) -> bool {
        let from_a_replica_of_its_own = |channel: &ChannelFacts<'_>| {
            channel
                .source
                .is_some_and(|source| self.replicas.contains(&source))
        };
        self.channels.iter().any(from_a_replica_of_its_own)
    }
}

#[derive(Clone, Debug)]
pub struct ChannelFacts<'a> {
    pub channel: &'a Channel,
    pub lag: LagView,
    /// The source, when it is watched in this topology.
    pub source: Option<WatchId>,
    /// When the applier was last seen to move while something waited for it; `None` while nothing waits.
    pub standing_since: Option<Moment>,
    /// Since when the receiver has been trying to reach its source without success; `None` while it does not.
    pub connecting_since: Option<Moment>,
    /// The age of the heartbeat row at the last polls, newest last, as read and uncorrected, with the time of the poll.
    pub heartbeat_ages: &'a [(Moment, Span)],
    /// How long the source's heartbeat writer has been silent, when it is.
    pub writer_silent_for: Option<Span>,
    /// The profile expects this channel, or it has run.
    pub counts: bool,
}

/// What the store remembers of a server beyond its last two samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// When a sample first showed a later start than the one before.
    pub restarted_at: Option<Moment>,
    /// When another server_uuid began to answer under this address, and the one before.
    pub replaced: Option<Replaced>,
    /// The role seen before the present one, and when it changed.
    pub role_changed: Option<(Role, Moment)>,
    /// Transactions here and not on the source, found twice in a row and not the source's own (R19).
    pub errant: Option<Gtids>,
    /// Semi-sync gave way: since when, and how many transactions were committed unacknowledged since.
    pub degraded: Option<Degraded>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Replaced {
    pub at: Moment,
    pub was: String,
    pub is: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Degraded {
    pub since: Moment,
    pub unacknowledged: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r11_a_status_row_makes_a_replica_writable_or_not() {
        let mut town = source_and_replica();
        town.replica().role = Role::Unknown;
        town.replica().sample().identity.read_only = Some(false);
        town.replica().sample().identity.super_read_only = Some(false);
        let facts = town.facts();
        let told: Vec<_> = facts
            .servers
            .iter()
            .map(|server| (server.is_replica(), server.takes_writes()))
            .collect();
        assert_eq!(told, [(false, true), (true, false)]);
    }

    #[test]
    fn r45_in_a_ring_the_writable_half_takes_the_writes() {
        let mut town = source_and_replica();
        town.replica().replicas = vec![WatchId(1)];
        assert!(!town.facts().servers[1].takes_writes());
        town.replica().sample().identity.read_only = Some(false);
        town.replica().sample().identity.super_read_only = Some(false);
        assert!(town.facts().servers[1].takes_writes());
    }

    #[test]
    fn a_server_whose_link_is_down_says_nothing_of_the_present() {
        let mut town = source_and_replica();
        town.source().link_down(1040, "Too many connections");
        let facts = town.facts();
        assert!(facts.servers[0].current().is_none());
        let why = facts.source_trouble(&facts.servers[1].channels[0]);
        assert_eq!(why.map(|why| why.key), Some("lamp.source_unknown"));
    }
}
