use super::super::super::build::{at_ms, gtids, lag_ms, list_after, list_at, replica, unknown_lag};
use super::super::super::replica::{Admission, Threads};
use super::super::super::wait::WaitUnit;
use super::*;
use crate::model::server::WatchId;

fn rule() -> GtidWait {
    GtidWait::new(GtidWaitRules::SOURCE_ON_TIMEOUT)
}

fn attempt(on: u32, result: WaitResult, took_ms: i64) -> Attempt {
    Attempt {
        on: WatchId(on),
        result,
        took: Span::from_millis(took_ms),
    }
}

fn waits_on(decision: &Decision) -> Option<(u32, i64)> {
    match &decision.go {
        Go::WaitOn(watch, spec) => Some((watch.0, spec.limit().span().micros() / 1_000)),
        _ => None,
    }
}

#[test]
fn a_read_after_a_write_waits_for_exactly_that_write() {
    let decision = rule().read(&list_after(0, Some("7")), &[replica(1)]);
    let Go::WaitOn(watch, spec) = decision.go else {
        panic!("{decision:?}");
    };
    assert_eq!(watch, WatchId(1));
    assert_eq!(spec.gtids(), &gtids("7"));
    assert_eq!(spec.limit().span(), Span::from_secs(1));
}

#[test]
fn b11_an_ordinary_list_does_not_wait() {
    let decision = rule().read(&list_at(0), &[replica(1)]);
    assert_eq!(decision, Decision::replica(WatchId(1), Reason::FitReplica));
}

#[test]
fn r21_without_a_gtid_the_source_is_read_and_nothing_is_waited_for() {
    for awaited in [None, Some("")] {
        for replicas in [&[replica(1)][..], &[]] {
            let decision = rule().read(&list_after(0, awaited), replicas);
            assert_eq!(decision, Decision::source(Reason::NoGtid), "{awaited:?}");
        }
    }
}

#[test]
fn t8_a_replica_that_cannot_catch_up_is_not_waited_on() {
    let with = |change: fn(&mut ReplicaView)| {
        let mut view = replica(1);
        change(&mut view);
        view
    };
    for (view, why) in [
        (with(|v| v.threads = Threads::NotRunning), Unfit::NotRunning),
        (
            with(|v| v.threads = Threads::Unknown),
            Unfit::ThreadsUnknown,
        ),
        (
            with(|v| v.admission = Admission::OrdinaryReads),
            Unfit::Recovering,
        ),
        (with(|v| v.admission = Admission::Nothing), Unfit::TakenOut),
        (with(|v| v.wait_unit = None), Unfit::CannotWait),
    ] {
        let decision = rule().read(&list_after(0, Some("7")), &[view]);
        assert_eq!(decision, Decision::source(Reason::NoFitReplica(why)));
    }
    // Lag unknown or high is no hindrance: the wait itself will tell.
    for lag in [unknown_lag(), lag_ms(90_000)] {
        let view = ReplicaView { lag, ..replica(1) };
        let decision = rule().read(&list_after(0, Some("7")), &[view]);
        assert!(waits_on(&decision).is_some());
    }
}

#[test]
fn r20_only_reached_reads_the_replica_and_every_end_is_counted_apart() {
    let ends = [
        (WaitResult::Reached, Go::WaitedReplica(WatchId(1))),
        (WaitResult::TimedOut, Go::Source),
        (WaitResult::Null, Go::Source),
        (WaitResult::OddNumber(-1), Go::Source),
        (WaitResult::OddNumber(2), Go::Source),
        (WaitResult::Error(3024), Go::Source),
        (WaitResult::Error(1317), Go::Source),
        (WaitResult::Deadline, Go::Source),
        (WaitResult::ConnectionLost, Go::Source),
        (WaitResult::Failed, Go::Source),
    ];
    let mut rule = rule();
    for (result, went) in &ends {
        let attempts = [attempt(1, *result, 5)];
        let request = list_after(0, Some("7"));
        let decision = rule.waited(&request, &attempts, at_ms(5), &[replica(1), replica(2)]);
        assert_eq!(decision.go, *went, "{result:?}");
        assert_eq!(rule.waits().of(*result), 1);
    }
    assert_eq!(rule.waits().total(), 10);
}

#[test]
fn b13_after_a_timeout_another_replica_is_tried_within_the_total_budget() {
    for (now_ms, next) in [
        (500, Some((2, 500))),
        (700, Some((2, 300))),
        (999, Some((2, 1))),
        (1_000, None),
        (1_001, None),
    ] {
        let mut rule = GtidWait::new(GtidWaitRules::RESELECT_ON_TIMEOUT);
        let request = list_after(0, Some("7"));
        let replicas = [replica(1), replica(2)];
        assert_eq!(waits_on(&rule.read(&request, &replicas)), Some((1, 500)));
        let attempts = [attempt(1, WaitResult::TimedOut, now_ms)];
        let decision = rule.waited(&request, &attempts, at_ms(now_ms), &replicas);
        assert_eq!(waits_on(&decision), next, "at {now_ms} ms");
        if next.is_none() {
            assert_eq!(decision, Decision::source(Reason::BudgetSpent));
        }
    }
}

#[test]
fn nobody_else_to_try_is_told_as_the_timeout_it_is() {
    let mut rule = GtidWait::new(GtidWaitRules::RESELECT_ON_TIMEOUT);
    let request = list_after(0, Some("7"));
    let timed_out = Decision::source(Reason::WaitEnded(WaitResult::TimedOut));
    let one = [attempt(1, WaitResult::TimedOut, 500)];
    assert_eq!(
        rule.waited(&request, &one, at_ms(500), &[replica(1)]),
        timed_out
    );
    let two = [one[0], attempt(2, WaitResult::TimedOut, 100)];
    let three_replicas = [replica(1), replica(2), replica(3)];
    assert_eq!(
        rule.waited(&request, &two, at_ms(600), &three_replicas),
        timed_out
    );
}

#[test]
fn b05_a_lost_connection_is_no_reason_to_try_another_replica() {
    let mut rule = GtidWait::new(GtidWaitRules::RESELECT_ON_TIMEOUT);
    let attempts = [attempt(1, WaitResult::ConnectionLost, 5)];
    let request = list_after(0, Some("7"));
    let decision = rule.waited(&request, &attempts, at_ms(5), &[replica(1), replica(2)]);
    let lost = Reason::WaitEnded(WaitResult::ConnectionLost);
    assert_eq!(decision, Decision::source(lost));
}

#[test]
fn on_5_7_a_budget_below_a_second_waits_not_at_all() {
    let old = ReplicaView {
        wait_unit: Some(WaitUnit::WholeSeconds),
        ..replica(1)
    };
    let rules = GtidWaitRules {
        total_budget: Span::from_millis(999),
        ..GtidWaitRules::SOURCE_ON_TIMEOUT
    };
    let decision = GtidWait::new(rules).read(&list_after(0, Some("7")), &[old]);
    assert_eq!(decision, Decision::source(Reason::BudgetSpent));
}
