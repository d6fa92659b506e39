//! Over random workloads, lag curves and states of health: a rule that promises something keeps it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::build::{at_ms, gtids, lag_ms, replica, unknown_lag};
use super::compare::{HealthSeen, ReadSeen, Recording, Visible, WriteSeen, replay};
use super::replica::{Admission, Answering, ReplicaView, Threads};
use super::strategies::{
    AlwaysSource, GtidWait, GtidWaitRules, Headroom, PlainReplica, RateLimited, RouteTable,
    standard,
};
use super::strategy::{Promise, Strategy as Rule};
use super::wait::WaitUnit;
use super::workload::{Plan, What, Workload};
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};

const REPLICAS: usize = 3;

/// How long each replica takes for the writes one after the other; `None`: it never gets there.
type LagCurve = Vec<Option<i64>>;

fn lag_curve(longest_ms: i64) -> impl Strategy<Value = LagCurve> {
    let lag = prop_oneof![
        6 => (0..longest_ms).prop_map(Some),
        2 => (0..20.min(longest_ms)).prop_map(Some),
    ];
    prop::collection::vec(lag, 1..20)
}

fn broken_lag_curve() -> impl Strategy<Value = LagCurve> {
    let lag = prop_oneof![12 => (0..6_000_i64).prop_map(Some), 1 => Just(None)];
    prop::collection::vec(lag, 1..20)
}

fn view(watch: u32) -> impl Strategy<Value = ReplicaView> {
    let threads = prop_oneof![
        4 => Just(Threads::Running),
        1 => Just(Threads::NotRunning),
        1 => Just(Threads::Unknown),
        1 => Just(Threads::BelowSql),
    ];
    let lag = prop_oneof![(0..4_000_i64).prop_map(lag_ms), Just(unknown_lag())];
    let admission = prop_oneof![
        4 => Just(Admission::Everything),
        1 => Just(Admission::OrdinaryReads),
        1 => Just(Admission::Nothing),
    ];
    let unit = prop_oneof![
        4 => Just(Some(WaitUnit::Fractions)),
        1 => Just(Some(WaitUnit::WholeSeconds)),
        1 => Just(None),
    ];
    let answering = prop_oneof![
        6 => Just(Answering::Yes),
        1 => Just(Answering::No),
        1 => Just(Answering::Unknown),
    ];
    (threads, lag, admission, unit, answering).prop_map(
        move |(threads, lag, admission, wait_unit, answering)| ReplicaView {
            watch: WatchId(watch),
            threads,
            lag,
            admission,
            wait_unit,
            answering,
        },
    )
}

fn health() -> impl Strategy<Value = Vec<HealthSeen>> {
    let seen = (0..20_000_i64, view(0), view(1), view(2)).prop_map(|(ms, a, b, c)| HealthSeen {
        at: at_ms(ms),
        replicas: vec![a, b, c],
    });
    prop::collection::vec(seen, 0..8)
}

/// A workload on replicas with these lag curves. A replica applies in order: no write is there before an earlier one.
fn recording(
    seed: u64,
    curves: &[LagCurve],
    health: Vec<HealthSeen>,
    with_gtids: bool,
) -> Recording {
    let plan = Plan {
        sessions: 8,
        think_time: Span::from_millis(300),
        ..Plan::chat(seed, at_ms(0))
    };
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    let mut applied = [Some(at_ms(0)); REPLICAS];
    for event in Workload::new(plan).take(300) {
        match event.what {
            What::Write { seq } => writes.push(WriteSeen {
                session: event.session,
                seq,
                committed_at: event.at,
                gtids: with_gtids.then(|| gtids(&seq.0.to_string())),
                visible: visible(&mut applied, curves, seq.0, event.at),
            }),
            What::Read {
                kind,
                must_see,
                in_transaction,
            } => reads.push(ReadSeen {
                session: event.session,
                at: event.at,
                kind,
                in_transaction,
                must_see,
            }),
        }
    }
    Recording::new(writes, reads, health, Span::from_millis(1))
}

fn visible(
    applied: &mut [Option<Moment>; REPLICAS],
    curves: &[LagCurve],
    number: u64,
    committed_at: Moment,
) -> BTreeMap<WatchId, Visible> {
    let end = at_ms(10_000_000);
    let mut visible = BTreeMap::new();
    for (replica, curve) in (0..).zip(curves) {
        let place = usize::try_from(number).expect("small") % curve.len();
        let last = &mut applied[usize::try_from(replica).expect("small")];
        *last = match (*last, curve[place]) {
            (Some(before), Some(lag)) => Some(before.max(committed_at + Span::from_millis(lag))),
            _ => None,
        };
        let seen = last.map_or(Visible::NotUntil(end), Visible::At);
        visible.insert(WatchId(replica), seen);
    }
    visible
}

fn healthy() -> Vec<HealthSeen> {
    vec![HealthSeen {
        at: at_ms(0),
        replicas: (0..3).map(replica).collect(),
    }]
}

fn rules() -> Vec<Box<dyn Rule>> {
    let headroom = Headroom {
        capacity_per_second: 20.0,
        used_per_second: 15.0,
    };
    let inner = Box::new(GtidWait::new(GtidWaitRules::RESELECT_ON_TIMEOUT));
    let mut rules = standard(Some(headroom), &RouteTable::default());
    rules.push(Box::new(RateLimited::new(inner, headroom)));
    rules
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_strong_rule_returns_a_value_older_than_its_write(
        seed in any::<u64>(),
        curves in prop::collection::vec(broken_lag_curve(), REPLICAS),
        health in health(),
        with_gtids in prop::bool::weighted(0.9),
    ) {
        let recording = recording(seed, &curves, health, with_gtids);
        for mut rule in rules() {
            if rule.promise() == Promise::Strong {
                let row = replay(&recording, rule.as_mut());
                prop_assert_eq!((row.stale, row.undecided), (0, 0), "{}", row.code);
            }
        }
    }

    #[test]
    fn no_window_rule_does_while_lag_is_below_its_window(
        seed in any::<u64>(),
        curves in prop::collection::vec(lag_curve(1_000), REPLICAS),
        health in health(),
    ) {
        let recording = recording(seed, &curves, health, true);
        for mut rule in rules() {
            if matches!(rule.promise(), Promise::WhileLagIsBelow(_)) {
                let row = replay(&recording, rule.as_mut());
                prop_assert_eq!((row.stale, row.undecided), (0, 0), "{}", row.code);
            }
        }
    }

    #[test]
    fn every_read_ends_somewhere_and_waits_within_its_budget(
        seed in any::<u64>(),
        curves in prop::collection::vec(broken_lag_curve(), REPLICAS),
        health in health(),
    ) {
        let recording = recording(seed, &curves, health, true);
        for mut rule in rules() {
            let row = replay(&recording, rule.as_mut());
            prop_assert!(row.on_source + row.refused <= row.reads);
            // The budget, and at most a round trip for each of two waits.
            let longest = Span::from_millis(1_002);
            prop_assert!(row.added.is_none_or(|added| added.p99 <= longest), "{:?}", row);
        }
    }
}

#[test]
fn the_same_workloads_do_catch_a_rule_that_promises_nothing() {
    let curves = vec![vec![Some(800)]; REPLICAS];
    let recording = recording(1, &curves, healthy(), true);
    let plain = replay(&recording, &mut PlainReplica::default());
    assert!(plain.stale > 10, "{plain:?}");
    let wait = replay(
        &recording,
        &mut GtidWait::new(GtidWaitRules::SOURCE_ON_TIMEOUT),
    );
    assert!(wait.stale == 0 && wait.waits.total() > 10, "{wait:?}");
    let source = replay(&recording, &mut AlwaysSource);
    assert!(wait.on_source < source.on_source / 2, "{wait:?}");
}
