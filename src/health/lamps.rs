//! The three lamps (threads, real lag, semi-sync), the health word, and whether reads may be sent here.
//!
//! A lamp shows what is the case now and what still holds by the findings, so that it does not flutter. What cannot be
//! told is grey, its health is unknown, and no read is sent there: fail closed (R01, R02).

use super::facts::{ChannelFacts, Facts, ServerFacts};
use super::rules::{
    applier_not_advancing, lag_over_threshold, receiver_connecting, semi_sync_degraded,
    semi_sync_locked_source, semi_sync_nobody_acknowledging,
};
use crate::lag::platform;
use crate::model::finding::{Finding, Health, Lamp, Lamps, Lit, Severity, Subject};
use crate::model::lag::Reading;
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::profile::ExpectedRole;
use crate::model::replication::{SemiSyncSource, ThreadState};
use crate::model::sample::{Answer, Sample};
use crate::model::time::Span;

/// A server or channel in short.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub lamps: Lamps,
    pub health: Health,
    /// A read may be sent here now without fear of an answer older than the warning threshold.
    pub routable: bool,
}

/// A server and its channels, in the order of the facts.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerState {
    pub server: State,
    /// By channel name.
    pub channels: Vec<(String, State)>,
}

/// Condenses one server.
pub fn of_server(facts: &Facts<'_>, server: &ServerFacts<'_>, findings: &[Finding]) -> ServerState {
    let semi_sync = semi_sync(server);
    let judged: Vec<(&ChannelFacts<'_>, State)> = server
        .channels
        .iter()
        .map(|channel| {
            let place = Where {
                facts,
                server,
                channel,
                findings,
            };
            (channel, place.state(semi_sync.clone()))
        })
        .collect();
    let counting: Vec<&State> = judged
        .iter()
        .filter(|(channel, _)| channel.counts)
        .map(|(_, state)| state)
        .collect();
    let state = whole(server, &counting, findings, semi_sync);
    let channels = judged
        .into_iter()
        .map(|(channel, state)| (channel.channel.name.clone(), state))
        .collect();
    ServerState {
        server: state,
        channels,
    }
}

fn lit(lamp: Lamp, text: Phrase) -> Lit {
    Lit { lamp, text }
}

fn of_severity(severity: Severity) -> Lamp {
    match severity {
        Severity::Info => Lamp::Ok,
        Severity::Warning => Lamp::Warning,
        Severity::Critical => Lamp::Critical,
    }
}

/// One channel in its surroundings.
struct Where<'f, 'a> {
    facts: &'f Facts<'a>,
    server: &'f ServerFacts<'a>,
    channel: &'f ChannelFacts<'a>,
    findings: &'f [Finding],
}

impl Where<'_, '_> {
    fn state(&self, semi_sync: Lit) -> State {
        let (threads, health) = self.threads();
        let (lag, lag_health) = self.lag();
        // The threads are judged first: with one of them down no lag means anything.
        let health = match health {
            Health::Ok => lag_health,
            down => down,
        };
        State {
            routable: self.is_routable(health),
            lamps: Lamps {
                threads,
                lag,
                semi_sync,
            },
            health,
        }
    }

    fn threads(&self) -> (Lit, Health) {
        if let Some(why) = self.server.why_not_current() {
            return (lit(Lamp::Unknown, why), Health::Unknown);
        }
        if !self.channel.counts {
            let text = phrase("lamp.threads.never_started");
            return (lit(Lamp::Unknown, text), Health::Unknown);
        }
        let (text, health) = self.word_of_threads();
        let lamp = match health {
            Health::Ok => Lamp::Ok,
            Health::Unknown => Lamp::Unknown,
            Health::Delayed | Health::Broken | Health::Stopped => Lamp::Critical,
        };
        (lit(lamp, text), health)
    }

    /// Broken before stopped, and the applier before the receiver: what is worse is said.
    fn word_of_threads(&self) -> (Phrase, Health) {
        use ThreadState::{Connecting, Other, Running, Stopped, Untold};
        let channel = self.channel.channel;
        let number = |number: u32| Arg::Number(number.into());
        match (&channel.applier, &channel.applier_error) {
            (Running, _) => {}
            (Untold, _) => return (phrase("lamp.threads.untold"), Health::Unknown),
            (Stopped | Connecting | Other(_), Some(error)) => {
                let text =
                    phrase("lamp.threads.applier_broken").with("number", number(error.number));
                return (text, Health::Broken);
            }
            (Other(word), None) => {
                let text = phrase("lamp.threads.applier_state").with("state", word.as_str());
                return (text, Health::Broken);
            }
            (Stopped | Connecting, None) => {
                if let (Stopped, Some(error)) = (&channel.receiver, &channel.receiver_error) {
                    return (receiver_broken(error.number), Health::Broken);
                }
                return (phrase("lamp.threads.applier_stopped"), Health::Stopped);
            }
        }
        match (&channel.receiver, &channel.receiver_error) {
            (Running, _) => (phrase("lamp.threads.running"), Health::Ok),
            (Untold, _) => (phrase("lamp.threads.untold"), Health::Unknown),
            (Stopped, Some(error)) => (receiver_broken(error.number), Health::Broken),
            (Stopped, None) => (phrase("lamp.threads.receiver_stopped"), Health::Stopped),
            (Other(word), _) => {
                let text = phrase("lamp.threads.receiver_state").with("state", word.as_str());
                (text, Health::Broken)
            }
            (Connecting, _) => {
                let beyond = receiver_connecting::is_beyond_grace(self.channel, self.facts.now);
                let health = if beyond {
                    Health::Broken
                } else {
                    Health::Unknown
                };
                (phrase("lamp.threads.receiver_connecting"), health)
            }
        }
    }

    fn lag(&self) -> (Lit, Health) {
        if let Some(why) = self.server.why_not_current() {
            return (lit(Lamp::Unknown, why), Health::Unknown);
        }
        let thresholds = self.server.thresholds;
        let standing =
            applier_not_advancing::standing_for(self.channel, self.server, self.facts.now);
        let trouble = self.facts.source_trouble(self.channel);
        let believable =
            lag_over_threshold::believable(self.channel, trouble, thresholds.lag_warning);
        let (lag, standing) = match (believable, standing) {
            (Ok(measured), standing) => (measured.value, standing),
            (Err(_), Some(standing)) => {
                let text = phrase("lamp.lag.standing").with("for", standing);
                return (lit(Lamp::Critical, text), Health::Delayed);
            }
            (Err(why), None) => return (lit(Lamp::Unknown, why), Health::Unknown),
        };
        let held = self.held(lag_over_threshold::RULE.code);
        let severity = lag_over_threshold::severity(lag, thresholds)
            .max(held)
            .max(standing.map(|_| Severity::Warning));
        let text = match standing {
            Some(standing) => phrase("lamp.lag.standing").with("for", standing),
            None => self.word_of_lag(lag),
        };
        match severity {
            Some(severity) => (lit(of_severity(severity), text), Health::Delayed),
            None => (lit(Lamp::Ok, text), Health::Ok),
        }
    }

    fn word_of_lag(&self, lag: Span) -> Phrase {
        let delay = self.channel.channel.planned_delay;
        match delay > Span::ZERO {
            true => phrase("lamp.lag.delayed")
                .with("delay", delay)
                .with("lag", lag),
            false => phrase("lamp.lag.measured").with("lag", lag),
        }
    }

    /// The severity at which a finding about this channel holds.
    fn held(&self, code: &str) -> Option<Severity> {
        let subject = Subject::Channel(self.server.watch, self.channel.channel.name.clone());
        self.findings
            .iter()
            .find(|finding| finding.code == code && finding.subject == subject)
            .map(|finding| finding.severity)
    }

    /// Only what is known to be fresh: threads running, a lag measured below the warning limit, no delay on purpose.
    fn is_routable(&self, health: Health) -> bool {
        let measured = self.channel.lag.headline.value();
        health == Health::Ok
            && self.channel.counts
            && self.channel.channel.planned_delay <= Span::ZERO
            && measured.is_some_and(|lag| lag < self.server.thresholds.lag_warning)
    }
}

fn receiver_broken(number: u32) -> Phrase {
    phrase("lamp.threads.receiver_broken").with("number", Arg::Number(number.into()))
}

/// The whole server: its worst channel that counts, or what a server without channels is.
fn whole(
    server: &ServerFacts<'_>,
    counting: &[&State],
    findings: &[Finding],
    semi_sync: Lit,
) -> State {
    if let Some(why) = server.why_not_current() {
        return without_channels(lit(Lamp::Unknown, why), semi_sync, Health::Unknown, false);
    }
    let worst = counting
        .iter()
        .max_by_key(|state| (badness(state.health), lamp_badness(state.lamps.lag.lamp)));
    match worst {
        // Half of a ring that takes the writes: its own receiver does not take it out of writing (R45).
        Some(worst) if server.takes_writes() => State {
            health: health_of_source(server, findings),
            routable: true,
            lamps: worst.lamps.clone(),
        },
        Some(worst) => State {
            routable: counting.iter().all(|state| state.routable),
            ..State::clone(worst)
        },
        None => lonely(server, findings, semi_sync),
    }
}

/// A server without a channel that counts: a source, a platform's reader, or a replica that says nothing.
fn lonely(server: &ServerFacts<'_>, findings: &[Finding], semi_sync: Lit) -> State {
    let Some(sample) = server.current() else {
        let text = lit(Lamp::Unknown, phrase("lamp.not_polled"));
        return without_channels(text, semi_sync, Health::Unknown, false);
    };
    if let Some(trouble) = sample.channels.refused() {
        let text = lit(Lamp::Unknown, trouble.what.clone());
        return without_channels(text, semi_sync, Health::Unknown, false);
    }
    if sample.identity.innodb_read_only == Some(true) {
        return reader(server, sample, semi_sync);
    }
    if sample.is_replica() {
        let text = lit(Lamp::Unknown, phrase("lamp.threads.never_started"));
        return without_channels(text, semi_sync, Health::Unknown, false);
    }
    if server.expected_role == ExpectedRole::Replica {
        let text = lit(Lamp::Unknown, phrase("lamp.no_status"));
        return without_channels(text, semi_sync, Health::Unknown, false);
    }
    let nothing = |key| lit(Lamp::NotApplicable, phrase(key));
    State {
        lamps: Lamps {
            threads: nothing("lamp.threads.source"),
            lag: nothing("lamp.lag.source"),
            semi_sync,
        },
        health: health_of_source(server, findings),
        routable: true,
    }
}

fn without_channels(said: Lit, semi_sync: Lit, health: Health, routable: bool) -> State {
    State {
        lamps: Lamps {
            threads: said.clone(),
            lag: said,
            semi_sync,
        },
        health,
        routable,
    }
}

/// A platform's reader has no threads of ours to see, only the platform's own figure (R33).
fn reader(server: &ServerFacts<'_>, sample: &Sample, semi_sync: Lit) -> State {
    let (lag, health) = match platform::of_sample(sample) {
        Reading::Measured(measured) => {
            let severity = lag_over_threshold::severity(measured.value, server.thresholds);
            let text = phrase("lamp.lag.measured").with("lag", measured.value);
            let health = severity.map_or(Health::Ok, |_| Health::Delayed);
            (lit(severity.map_or(Lamp::Ok, of_severity), text), health)
        }
        Reading::Unknown { why } | Reading::NotApplicable { why } => {
            (lit(Lamp::Unknown, why), Health::Unknown)
        }
    };
    State {
        lamps: Lamps {
            threads: lit(Lamp::NotApplicable, phrase("lamp.threads.platform")),
            lag,
            semi_sync,
        },
        health,
        routable: health == Health::Ok,
    }
}

/// A source is never late (R29); broken when it refuses what it is for.
fn health_of_source(server: &ServerFacts<'_>, findings: &[Finding]) -> Health {
    let refuses_writes = findings.iter().any(|finding| {
        finding.subject == Subject::Server(server.watch) && finding.code == "source_read_only"
    });
    match refuses_writes {
        true => Health::Broken,
        false => Health::Ok,
    }
}

fn badness(health: Health) -> u8 {
    match health {
        Health::Ok => 0,
        Health::Delayed => 1,
        Health::Unknown => 2,
        Health::Stopped => 3,
        Health::Broken => 4,
    }
}

fn lamp_badness(lamp: Lamp) -> u8 {
    match lamp {
        Lamp::NotApplicable => 0,
        Lamp::Ok => 1,
        Lamp::Warning => 2,
        Lamp::Unknown => 3,
        Lamp::Critical => 4,
    }
}

/// The semi-sync lamp: of the source's end where it is switched on, else of the replica's.
fn semi_sync(server: &ServerFacts<'_>) -> Lit {
    let Some(sample) = server.current() else {
        let why = server.why_not_current();
        let why = why.unwrap_or_else(|| phrase("lamp.not_polled"));
        return lit(Lamp::Unknown, why);
    };
    let ends = match &sample.semi_sync {
        Answer::Known { value, .. } => value,
        Answer::Refused(trouble) => return lit(Lamp::Unknown, trouble.what.clone()),
        Answer::NotAsked { why } => return lit(Lamp::NotApplicable, why.clone()),
    };
    if let Some(end) = semi_sync_degraded::source_end(server, sample) {
        return source_end(server, end);
    }
    match &ends.replica {
        Some(end) if end.enabled == Some(true) && server.is_replica() => match end.active {
            Some(true) => lit(Lamp::Ok, phrase("lamp.semi_sync.acknowledges")),
            Some(false) => lit(Lamp::Warning, phrase("lamp.semi_sync.does_not_acknowledge")),
            None => lit(Lamp::Unknown, phrase("lamp.semi_sync.untold")),
        },
        Some(_) => lit(Lamp::NotApplicable, phrase("lamp.semi_sync.off")),
        None if ends.source.is_some() => lit(Lamp::NotApplicable, phrase("lamp.semi_sync.off")),
        None => lit(Lamp::NotApplicable, phrase("lamp.semi_sync.not_installed")),
    }
}

/// Three facts: configured, in force, acknowledging (R24).
fn source_end(server: &ServerFacts<'_>, end: &SemiSyncSource) -> Lit {
    let too_few = semi_sync_nobody_acknowledging::too_few(end);
    if semi_sync_locked_source::is_locked(end) {
        return lit(Lamp::Critical, phrase("lamp.semi_sync.locked"));
    }
    if semi_sync_degraded::has_given_way(server, end) {
        return lit(Lamp::Warning, phrase("lamp.semi_sync.degraded"));
    }
    match (end.active, too_few, end.clients) {
        (Some(true), Some((clients, required)), _) => lit(
            Lamp::Warning,
            phrase("lamp.semi_sync.too_few")
                .with("clients", clients)
                .with("required", required),
        ),
        (Some(true), None, Some(clients)) => lit(
            Lamp::Ok,
            phrase("lamp.semi_sync.in_force").with("count", clients),
        ),
        _ => lit(Lamp::Unknown, phrase("lamp.semi_sync.untold")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::finding::Role;
    use crate::model::lag::Method;
    use crate::model::replication::Field;
    use crate::model::server::WatchId;

    fn of(town: &Town, index: usize) -> ServerState {
        let facts = town.facts();
        of_server(&facts, &facts.servers[index], &[])
    }

    fn replica(town: &Town) -> State {
        of(town, 1).server
    }

    fn in_short(state: &State) -> (Health, bool, Lamp, Lamp) {
        let lamps = &state.lamps;
        (
            state.health,
            state.routable,
            lamps.threads.lamp,
            lamps.lag.lamp,
        )
    }

    #[test]
    fn a_current_replica_is_ok_and_takes_reads() {
        let town = source_and_replica();
        assert_eq!(
            in_short(&replica(&town)),
            (Health::Ok, true, Lamp::Ok, Lamp::Ok)
        );
        assert_eq!(
            in_short(&of(&town, 0).server),
            (Health::Ok, true, Lamp::NotApplicable, Lamp::NotApplicable)
        );
    }

    #[test]
    fn r01_a_receiver_that_cannot_connect_is_broken_and_takes_no_reads() {
        let mut town = source_and_replica();
        town.channel().receiver = ThreadState::Connecting;
        town.channel().seconds_behind = Field::Null;
        town.about_channel().lag = unknown_lag(phrase("lag.why.receiver_connecting"));
        assert_eq!(
            in_short(&replica(&town)),
            (Health::Broken, false, Lamp::Critical, Lamp::Unknown)
        );
    }

    #[test]
    fn r01_before_the_first_poll_nothing_is_known_and_nothing_routed() {
        let mut town = source_and_replica();
        town.replica().freshness = crate::health::facts::Freshness::Never;
        assert_eq!(
            in_short(&replica(&town)),
            (Health::Unknown, false, Lamp::Unknown, Lamp::Unknown)
        );
    }

    #[test]
    fn r02_an_unknown_lag_is_not_routable_for_any_limit() {
        for limit in [0, 1, 70, 864_000] {
            let mut town = source_and_replica();
            town.replica().thresholds.lag_warning = Span::from_secs(limit);
            town.replica().thresholds.lag_critical = Span::from_secs(limit);
            town.about_channel().lag = unknown_lag(phrase("lag.why.seconds_null"));
            assert!(!replica(&town).routable, "limit {limit} s");
        }
    }

    #[test]
    fn r05_with_the_source_refusing_us_its_replicas_are_not_green() {
        let mut town = source_and_replica();
        town.about_channel().lag = lag_by(Method::SecondsBehind, Span::ZERO);
        town.source().link_down(1040, "Too many connections");
        assert_eq!(
            in_short(&replica(&town)),
            (Health::Unknown, false, Lamp::Ok, Lamp::Unknown)
        );
    }

    #[test]
    fn r06_a_negative_lag_is_unknown_and_not_routable() {
        let mut town = source_and_replica();
        let why = phrase("lag.why.stamp_in_future").with("by", Span::from_secs(744));
        town.about_channel().lag = unknown_lag(why.clone());
        let state = replica(&town);
        assert_eq!((state.health, state.routable), (Health::Unknown, false));
        assert_eq!(state.lamps.lag.text, why);
    }

    #[test]
    fn r04_a_standing_applier_is_not_ok_whatever_seconds_behind_says() {
        let mut town = source_and_replica();
        town.about_channel().lag = lag_by(Method::SecondsBehind, Span::ZERO);
        town.about_channel().lag.backlog.bytes = Some(7);
        town.about_channel().standing_since = Some(secs_ago(14 * 3600));
        let state = replica(&town);
        assert_eq!((state.health, state.routable), (Health::Delayed, false));
    }

    #[test]
    fn r12_stopped_on_purpose_and_broken_are_two_words() {
        let mut town = source_and_replica();
        town.about_channel().lag = unknown_lag(phrase("lag.why.applier_stopped"));
        town.channel().applier = ThreadState::Stopped;
        assert_eq!(replica(&town).health, Health::Stopped);
        town.channel().applier_error = Some(error(1146, "no such table"));
        let state = replica(&town);
        assert_eq!((state.health, state.routable), (Health::Broken, false));
    }

    #[test]
    fn r13_the_worst_channel_that_counts_speaks_for_the_server() {
        let mut town = source_and_replica();
        let mut never = channel("");
        never.receiver = ThreadState::Stopped;
        never.applier = ThreadState::Stopped;
        town.replica().sample().channels = known(vec![never, channel("orders")]);
        let mut idle = built_channel(1);
        idle.counts = false;
        let mut late = built_channel(1);
        late.lag = lag_by(Method::SecondsBehind, Span::from_secs(37));
        town.replica().channels = vec![idle, late];
        let state = of(&town, 1);
        assert_eq!(
            in_short(&state.server),
            (Health::Delayed, false, Lamp::Ok, Lamp::Critical)
        );
        let (name, never) = &state.channels[0];
        assert_eq!(
            (name.as_str(), never.lamps.threads.lamp),
            ("", Lamp::Unknown)
        );
    }

    #[test]
    fn r14_a_delayed_replica_is_ok_and_takes_no_fresh_reads() {
        let mut town = source_and_replica();
        town.channel().planned_delay = Span::from_secs(3600);
        let state = replica(&town);
        assert_eq!((state.health, state.routable), (Health::Ok, false));
    }

    #[test]
    fn r33_r34_a_replica_without_status_is_unknown_and_not_ok() {
        let mut town = source_and_replica();
        town.replica().expected_role = ExpectedRole::Replica;
        town.replica().sample().channels = known(vec![]);
        let state = replica(&town);
        assert_eq!((state.health, state.routable), (Health::Unknown, false));
        let refusal = trouble(
            crate::model::trouble::TroubleKind::MissingPrivilege,
            1227,
            "SLAVE MONITOR",
        );
        town.replica().sample().channels = Answer::Refused(refusal.clone());
        let state = replica(&town);
        assert_eq!(state.health, Health::Unknown);
        assert_eq!(state.lamps.threads.text, refusal.what);
    }

    #[test]
    fn r37_a_frozen_server_is_unknown() {
        let mut town = source_and_replica();
        town.replica().stale();
        assert_eq!(
            in_short(&replica(&town)),
            (Health::Unknown, false, Lamp::Unknown, Lamp::Unknown)
        );
    }

    #[test]
    fn r45_the_writable_half_of_a_ring_stays_in_use() {
        let mut town = source_and_replica();
        town.servers[0] = replica_of(2, 1, "db-1");
        town.source().role = Role::Intermediate;
        town.source().replicas = vec![WatchId(2)];
        town.source().sample().identity.read_only = Some(false);
        town.source().sample().identity.super_read_only = Some(false);
        town.source().channel(0).receiver = ThreadState::Connecting;
        town.source().channels[0].lag = unknown_lag(phrase("lag.why.receiver_connecting"));
        town.replica().stale();
        let state = of(&town, 0);
        assert_eq!(
            (state.server.health, state.server.routable),
            (Health::Ok, true)
        );
        assert_eq!(
            state.channels[0].1.health,
            Health::Broken,
            "its own channel alone"
        );
    }

    #[test]
    fn a_lag_that_is_held_by_its_finding_keeps_the_lamp_on() {
        let mut town = source_and_replica();
        town.late_by(Span::from_secs(4));
        let finding = raised(&town, &lag_over_threshold::RULE);
        town.late_by(Span::from_millis(2_500));
        let facts = town.facts();
        let state = of_server(&facts, &facts.servers[1], &finding).server;
        assert_eq!((state.health, state.routable), (Health::Delayed, false));
    }

    fn semi_sync_lamp(active: bool, clients: u64) -> Lit {
        let mut town = source_and_replica();
        town.source().semi_sync(SemiSyncSource {
            enabled: Some(true),
            active: Some(active),
            clients: Some(clients),
            required: Some(1),
            ..SemiSyncSource::default()
        });
        of(&town, 0).server.lamps.semi_sync
    }

    #[test]
    fn r24_the_semi_sync_lamp_tells_in_force_from_alone() {
        assert_eq!(semi_sync_lamp(true, 2).lamp, Lamp::Ok);
        assert_eq!(semi_sync_lamp(true, 0).text.key, "lamp.semi_sync.too_few");
        assert_eq!(semi_sync_lamp(false, 0).text.key, "lamp.semi_sync.degraded");
        let none = of(&source_and_replica(), 0).server.lamps.semi_sync;
        assert_eq!(none.text.key, "lamp.semi_sync.not_installed");
    }
}
