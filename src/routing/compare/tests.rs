use super::super::build::{at_ms, gtids, lag_ms, replica};
use super::super::replica::{Threads, Unfit};
use super::super::strategies::{
    AlwaysSource, GtidWait, GtidWaitRules, Headroom, LagGated, PlainReplica, RouteTable,
    SequenceWindow, WriteWindow, standard,
};
use super::super::{LagLimit, Reason};
use super::*;
use crate::model::phrase::Arg;

const REPLICA: WatchId = WatchId(1);

/// Session 1 writes row `seq` at `ms`; replica 1 has it `lag` later.
fn write(seq: u64, ms: i64, lag: i64) -> WriteSeen {
    WriteSeen {
        session: SessionKey(1),
        seq: Seq(seq),
        committed_at: at_ms(ms),
        gtids: Some(gtids(&seq.to_string())),
        visible: BTreeMap::from([(REPLICA, Visible::At(at_ms(ms + lag)))]),
    }
}

fn read(ms: i64, must_see: Option<u64>) -> ReadSeen {
    ReadSeen {
        session: SessionKey(1),
        at: at_ms(ms),
        kind: QueryKind::List,
        in_transaction: false,
        must_see: must_see.map(Seq),
    }
}

fn healthy() -> Vec<HealthSeen> {
    vec![HealthSeen {
        at: at_ms(-1),
        replicas: vec![replica(1)],
    }]
}

/// A row is written and is on the replica 300 ms later; it is read after 10, 299, 300 and 1500 ms.
fn recording() -> Recording {
    let reads = [10, 299, 300, 1_500].map(|ms| read(ms, Some(1)));
    let round_trip = Span::from_millis(1);
    Recording::new(
        vec![write(1, 0, 300)],
        reads.to_vec(),
        healthy(),
        round_trip,
    )
}

fn row(recording: &Recording, mut rule: impl Strategy) -> Row {
    replay(recording, &mut rule)
}

fn costs(row: &Row) -> (u64, u64, Option<i64>) {
    let p95 = row.added.map(|added| added.p95.micros() / 1_000);
    (row.stale, row.on_source, p95)
}

#[test]
fn every_rule_pays_its_own_price_for_the_same_reads() {
    let recording = recording();
    let wait = || GtidWait::new(GtidWaitRules::SOURCE_ON_TIMEOUT);
    let window = |span| WriteWindow::new(span);
    let sequence = SequenceWindow::new(SequenceWindow::TWO_SECONDS);
    for (row, expected) in [
        (row(&recording, AlwaysSource), (0, 4, Some(0))),
        (row(&recording, PlainReplica::default()), (2, 0, Some(0))),
        // The first read waits 290 ms and a round trip.
        (row(&recording, wait()), (0, 0, Some(291))),
        (
            row(&recording, window(WriteWindow::ONE_SECOND)),
            (0, 3, Some(0)),
        ),
        (
            row(&recording, window(WriteWindow::TWO_SECONDS)),
            (0, 4, Some(0)),
        ),
        (
            row(&recording, window(Span::from_millis(200))),
            (1, 1, Some(0)),
        ),
        (row(&recording, sequence), (0, 4, Some(0))),
        // 10 ms of lag as far as the last check tells: healthy, and stale all the same.
        (
            row(&recording, LagGated::new(LagLimit::ONE_SECOND)),
            (2, 0, Some(0)),
        ),
    ] {
        assert_eq!(costs(&row), expected, "{}", row.code);
        assert_eq!((row.reads, row.judged, row.undecided), (4, 4, 0));
    }
}

#[test]
fn waits_that_time_out_go_to_the_source_and_are_counted() {
    let writes = vec![write(1, 0, 5_000)];
    let recording = Recording::new(writes, vec![read(10, Some(1))], healthy(), Span::ZERO);
    let row = row(&recording, GtidWait::new(GtidWaitRules::SOURCE_ON_TIMEOUT));
    assert_eq!(costs(&row), (0, 1, Some(1_000)));
    assert_eq!(row.fallbacks, BTreeMap::from([("wait_timed_out", 1)]));
    assert_eq!(row.waits.of(WaitResult::TimedOut), 1);
}

#[test]
fn what_the_recording_does_not_tell_is_undecided_and_never_fresh() {
    let not_seen = |ms| WriteSeen {
        visible: BTreeMap::from([(REPLICA, Visible::NotUntil(at_ms(ms)))]),
        ..write(1, 0, 0)
    };
    let unwatched = WriteSeen {
        visible: BTreeMap::new(),
        ..write(1, 0, 0)
    };
    for (write, stale, undecided) in [
        (not_seen(100), 1, 0),
        (not_seen(99), 0, 1),
        (unwatched, 0, 1),
    ] {
        let reads = vec![read(100, Some(1))];
        let recording = Recording::new(vec![write.clone()], reads, healthy(), Span::ZERO);
        let plain = row(&recording, PlainReplica::default());
        assert_eq!(
            (plain.stale, plain.undecided),
            (stale, undecided),
            "{write:?}"
        );
        assert_eq!(plain.stale_share(), (stale > 0).then_some(1.0));
        let waited = row(&recording, GtidWait::new(GtidWaitRules::SOURCE_ON_TIMEOUT));
        assert_eq!((waited.stale, waited.undecided), (0, 1));
    }
}

#[test]
fn before_anything_is_known_of_the_replicas_the_source_is_read() {
    let recording = Recording::new(vec![], vec![read(10, None)], vec![], Span::ZERO);
    for mut rule in standard(None, &RouteTable::default()) {
        let row = replay(&recording, rule.as_mut());
        assert_eq!(
            (row.on_source, row.stale_share()),
            (1, None),
            "{}",
            row.code
        );
    }
}

#[test]
fn a_replica_that_is_taken_out_in_between_is_no_longer_read() {
    let stopped = ReplicaView {
        threads: Threads::NotRunning,
        ..replica(1)
    };
    let mut health = healthy();
    health.push(HealthSeen {
        at: at_ms(500),
        replicas: vec![stopped],
    });
    let reads = vec![read(400, None), read(600, None)];
    let recording = Recording::new(vec![], reads, health, Span::ZERO);
    let row = row(&recording, LagGated::new(LagLimit::THREE_SECONDS));
    let code = Reason::NoFitReplica(Unfit::NotRunning).code();
    assert_eq!(
        (row.on_source, row.fallbacks),
        (1, BTreeMap::from([(code, 1)]))
    );
}

#[test]
fn refused_reads_are_neither_fresh_nor_stale() {
    let late = ReplicaView {
        lag: lag_ms(9_000),
        ..replica(1)
    };
    let health = vec![HealthSeen {
        at: at_ms(-1),
        replicas: vec![late],
    }];
    let reads = vec![read(10, Some(1)), read(11, Some(1))];
    let recording = Recording::new(vec![write(1, 0, 9_000)], reads, health, Span::ZERO);
    let headroom = Headroom {
        capacity_per_second: 11.0,
        used_per_second: 10.0,
    };
    let mut rules = standard(Some(headroom), &RouteTable::default());
    let limited = rules.last_mut().expect("the limited rule");
    let row = replay(&recording, limited.as_mut());
    assert_eq!(
        (row.on_source, row.refused, row.judged, row.stale),
        (1, 1, 1, 0)
    );
}

#[test]
fn the_sentence_names_the_cheapest_rule_that_kept_its_promise() {
    let comparison = compare(&recording(), &mut standard(None, &RouteTable::default()));
    let sentence = &comparison.sentence;
    assert_eq!(sentence.key, "routing.sentence.best");
    let name = |rule: &dyn Strategy| Arg::from(rule.name());
    let wait = GtidWait::new(GtidWaitRules::SOURCE_ON_TIMEOUT);
    assert_eq!(sentence.arg("rule"), Some(&name(&wait)));
    assert_eq!(sentence.arg("on_source"), Some(&Arg::Count(0)));
    assert_eq!(
        sentence.arg("wait"),
        Some(&Arg::Span(Span::from_millis(291)))
    );
    assert_eq!(sentence.arg("stale"), Some(&Arg::Count(2)));
}

#[test]
fn the_sentence_says_so_when_nothing_was_old_or_nothing_was_asked() {
    let quick = Recording::new(
        vec![write(1, 0, 5)],
        vec![read(10, Some(1))],
        healthy(),
        Span::ZERO,
    );
    let key = |recording: &Recording| {
        compare(recording, &mut standard(None, &RouteTable::default()))
            .sentence
            .key
    };
    assert_eq!(key(&quick), "routing.sentence.all_fresh");
    let idle = Recording::new(vec![], vec![read(10, None)], healthy(), Span::ZERO);
    assert_eq!(key(&idle), "routing.sentence.nothing_to_judge");
    assert_eq!(sentence::of(&[]).key, "routing.sentence.nothing_to_judge");
    let hopeless = Recording::new(
        vec![write(1, 0, 9_000)],
        vec![read(10, Some(1))],
        healthy(),
        Span::ZERO,
    );
    assert_eq!(key(&hopeless), "routing.sentence.only_source");
}

#[test]
fn percentiles_are_by_nearest_rank() {
    let ms = |spans: std::ops::RangeInclusive<i64>| {
        Percentiles::of(spans.map(Span::from_millis).collect())
    };
    let expected = |p50, p95, p99| {
        Some(Percentiles {
            p50: Span::from_millis(p50),
            p95: Span::from_millis(p95),
            p99: Span::from_millis(p99),
        })
    };
    assert_eq!(ms(1..=100), expected(50, 95, 99));
    assert_eq!(ms(1..=1), expected(1, 1, 1));
    assert_eq!(ms(1..=3), expected(2, 3, 3));
    assert_eq!(Percentiles::of(Vec::new()), None);
}
