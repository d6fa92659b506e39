//! The lamps held against field reports.

use super::*;
use crate::health::build::*;
use crate::model::finding::Role;
use crate::model::lag::Method;
use crate::model::profile::ExpectedRole;
use crate::model::replication::Field;
use crate::model::replication::SemiSyncSource;
use crate::model::sample::Answer;
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

#[test]
fn r29_a_dead_heartbeat_writer_makes_nobody_late() {
    let mut town = source_and_replica();
    town.about_channel().writer_silent_for = Some(Span::from_secs(300));
    assert_eq!(replica(&town).health, Health::Ok);
    let source = of(&town, 0).server;
    assert_eq!(
        (source.health, source.lamps.lag.lamp),
        (Health::Ok, Lamp::NotApplicable),
        "a source has no lag"
    );
}

#[test]
fn r46_a_zero_while_transactions_wait_is_not_ok() {
    let mut town = source_and_replica();
    let why = phrase("lag.why.zero_while_waiting").with("count", 7);
    town.about_channel().lag = unknown_lag(why);
    let state = replica(&town);
    assert_eq!((state.health, state.routable), (Health::Unknown, false));
}
