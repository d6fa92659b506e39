//! Conditions against facts.

use super::*;
use crate::model::acceptance::AcceptVerdict;
use crate::model::lab::{Fault, FaultId, FaultNote, FaultState};
use crate::model::lag::{CauseKind, Method, Stages};
use crate::model::lesson::condition::{StageKind, Staleness};
use crate::model::replication::Field;

fn gone(code: &str) -> Condition {
    Condition::Finding {
        code: code.to_owned(),
        on: Some(1),
        is: Presence::Gone,
    }
}

fn there(code: &str) -> Condition {
    Condition::Finding {
        code: code.to_owned(),
        on: Some(1),
        is: Presence::There,
    }
}

fn met(condition: &Condition, facts: &LessonFacts) -> bool {
    condition.met(facts, at(0))
}

// --- conditions ------------------------------------------------------------------------------------------------------

#[test]
fn an_unknown_lag_is_neither_small_nor_large() {
    let unknown = replica(|_| {});
    assert!(!met(&lag_at_most(1000), &unknown));
    assert!(met(&Condition::LagUnknown { on: 1 }, &unknown));
    let source = replica(|s| s.lag = LagNow::NotApplicable);
    assert!(!met(&lag_at_most(1000), &source));
    let small = replica(|s| s.lag = LagNow::Measured(Span::from_millis(20)));
    assert!(met(&lag_at_most(1000), &small));
    assert!(!met(&lag_at_most(10), &small));
}

#[test]
fn one_method_is_not_taken_for_another() {
    let facts = replica(|s| {
        s.lag = LagNow::Measured(Span::from_millis(20));
        s.methods.insert(Method::Heartbeat, secs(3));
    });
    let by = |method| Condition::Lag {
        on: 1,
        method: Some(method),
        range: LagRange {
            at_least: Some(secs(2)),
            at_most: None,
        },
    };
    assert!(met(&by(Method::Heartbeat), &facts));
    assert!(!met(&by(Method::Applier), &facts));
}

#[test]
fn a_finding_is_gone_only_where_somebody_fresh_says_so() {
    let raised = replica(|s| {
        s.findings.insert("applier_stopped");
    });
    assert!(met(&there("applier_stopped"), &raised));
    assert!(!met(&gone("applier_stopped"), &raised));
    assert!(met(&gone("applier_stopped"), &replica(|_| {})));
    let silent = replica(|s| s.is_fresh = false);
    assert!(!met(&gone("applier_stopped"), &silent));
    assert!(!met(&gone("applier_stopped"), &LessonFacts::default()));
}

#[test]
fn a_finding_about_anybody_counts_the_topologys_own() {
    let anybody = |is| Condition::Finding {
        code: "two_sources".to_owned(),
        on: None,
        is,
    };
    let mut facts = replica(|_| {});
    assert!(met(&anybody(Presence::Gone), &facts));
    facts.findings.insert("two_sources");
    assert!(met(&anybody(Presence::There), &facts));
    assert!(!met(&anybody(Presence::Gone), &facts));
    assert!(!met(&anybody(Presence::Gone), &LessonFacts::default()));
}

#[test]
fn null_is_no_number_of_seconds() {
    let is = |is| Condition::SecondsBehind { on: 1, is };
    let null = replica(|s| s.seconds_behind = Field::Null);
    let zero = replica(|s| s.seconds_behind = Field::Value(0));
    let absent = replica(|_| {});
    assert!(met(&is(SecondsBehind::Null), &null));
    assert!(!met(&is(SecondsBehind::AtMost(0)), &null));
    assert!(met(&is(SecondsBehind::AtMost(0)), &zero));
    assert!(!met(&is(SecondsBehind::Null), &zero));
    assert!(!met(&is(SecondsBehind::Null), &absent));
    assert!(!met(&is(SecondsBehind::AtLeast(0)), &absent));
}

#[test]
fn each_fact_about_a_server_meets_its_condition() {
    let facts = replica(|s| {
        s.cause = Some(CauseKind::SlowReaders);
        s.stages = Stages {
            apply: Some(secs(2)),
            ..Stages::default()
        };
        s.semi_sync = SemiSyncNow::Degraded;
        s.errant = Some(3);
        s.event_enabled = Some(false);
        s.long_reads = 8;
        s.writes_per_second = Some(5.0);
    });
    for (condition, holds) in [
        (
            Condition::Cause {
                on: 1,
                kind: CauseKind::SlowReaders,
            },
            true,
        ),
        (
            Condition::Cause {
                on: 1,
                kind: CauseKind::BlockedByLock,
            },
            false,
        ),
        (
            Condition::Stage {
                on: 1,
                stage: StageKind::Apply,
                above: secs(1),
            },
            true,
        ),
        (
            Condition::Stage {
                on: 1,
                stage: StageKind::Queue,
                above: Span::ZERO,
            },
            false,
        ),
        (
            Condition::SemiSync {
                on: 1,
                is: SemiSyncNow::Degraded,
            },
            true,
        ),
        (
            Condition::SemiSync {
                on: 1,
                is: SemiSyncNow::Active,
            },
            false,
        ),
        (Condition::Errant { on: 1 }, true),
        (Condition::Errant { on: 2 }, false),
        (Condition::EventDisabled { on: 1 }, true),
        (
            Condition::Role {
                on: 1,
                is: Role::Replica,
            },
            true,
        ),
        (
            Condition::Role {
                on: 1,
                is: Role::Source,
            },
            false,
        ),
        (Condition::LongReads { on: 1, at_least: 8 }, true),
        (Condition::LongReads { on: 1, at_least: 9 }, false),
        (
            Condition::Traffic {
                on: 1,
                at_least: 5.0,
            },
            true,
        ),
        (
            Condition::Traffic {
                on: 1,
                at_least: 6.0,
            },
            false,
        ),
    ] {
        assert_eq!(met(&condition, &facts), holds, "{condition:?}");
        assert!(!met(&condition, &LessonFacts::default()), "{condition:?}");
    }
}

#[test]
fn the_last_fault_of_a_kind_decides_whether_it_is_over() {
    let note = |id, state| FaultNote {
        id: FaultId(id),
        fault: Fault {
            kind: FaultKind::LinkCut,
            on: 1,
            intensity: 0.0,
            lasts: None,
        },
        since: at(0),
        state,
    };
    let fault = |is| Condition::Fault {
        kind: FaultKind::LinkCut,
        is,
    };
    let mut facts = LessonFacts::default();
    assert!(!met(&fault(Presence::Gone), &facts), "it was never there");
    facts.faults.push(note(1, FaultState::Over { at: at(1) }));
    assert!(met(&fault(Presence::Gone), &facts));
    facts.faults.push(note(2, FaultState::Starting));
    assert!(!met(&fault(Presence::There), &facts), "not yet in force");
    assert!(!met(&fault(Presence::Gone), &facts));
    facts.faults[1].state = FaultState::Active;
    assert!(met(&fault(Presence::There), &facts));
}

fn probed(change: impl FnOnce(&mut ProbeFacts)) -> LessonFacts {
    let mut probe = ProbeFacts {
        started_at: at(10),
        is_over: false,
        runs: 5,
        plain: StaleReads::default(),
        waited_fresh: 0,
        waited_stale: 0,
        timed_out: 0,
        read_from_source: 0,
    };
    change(&mut probe);
    LessonFacts {
        probe: Some(probe),
        ..LessonFacts::default()
    }
}

#[test]
fn missing_and_old_are_both_stale_but_not_the_same() {
    let stale = |kind| Condition::PlainStale { kind, at_least: 2 };
    let missing = probed(|p| p.plain.missing = 2);
    assert!(met(&stale(Staleness::Any), &missing));
    assert!(met(&stale(Staleness::Missing), &missing));
    assert!(!met(&stale(Staleness::Old), &missing));
    let fresh = Condition::PlainFresh { at_least: 1 };
    assert!(!met(&fresh, &missing));
    assert!(!met(
        &fresh,
        &probed(|p| p.plain = StaleReads {
            fresh: 9,
            old: 1,
            missing: 0
        })
    ));
    assert!(met(&fresh, &probed(|p| p.plain.fresh = 1)));
}

#[test]
fn a_waited_read_that_was_stale_once_spoils_the_promise() {
    let fresh = Condition::WaitedFresh { at_least: 3 };
    assert!(met(&fresh, &probed(|p| p.waited_fresh = 3)));
    assert!(!met(
        &fresh,
        &probed(|p| {
            p.waited_fresh = 30;
            p.waited_stale = 1
        })
    ));
    let timed_out = Condition::TimedOutToSource { at_least: 1 };
    assert!(!met(&timed_out, &probed(|p| p.read_from_source = 1)));
    assert!(met(
        &timed_out,
        &probed(|p| {
            p.read_from_source = 1;
            p.timed_out = 1
        })
    ));
    assert!(met(
        &Condition::ReadFromSource { at_least: 1 },
        &probed(|p| p.read_from_source = 1)
    ));
}

#[test]
fn what_was_run_before_the_step_began_does_not_count() {
    let facts = LessonFacts {
        acceptance: Some(Acceptance {
            started_at: at(10),
            verdict: AcceptVerdict::Passed,
        }),
        compared: Some(at(10)),
        ..probed(|p| p.is_over = true)
    };
    let passed = |verdict| Condition::Accepted { verdict };
    for condition in [
        Condition::ProbeOver,
        Condition::Compared,
        passed(None),
        passed(Some(AcceptVerdict::Passed)),
    ] {
        assert!(condition.met(&facts, at(10)), "{condition:?}");
        assert!(!condition.met(&facts, at(11)), "{condition:?}");
    }
    assert!(!met(&passed(Some(AcceptVerdict::Failed)), &facts));
}

#[test]
fn a_screen_is_shown_with_its_server() {
    let shown = |place, server| LessonFacts {
        shown: Some((place, server)),
        ..LessonFacts::default()
    };
    let plot = Condition::Shown(Spot::LagPlot(1));
    assert!(met(&plot, &shown(Place::Lag, Some(1))));
    assert!(!met(&plot, &shown(Place::Lag, Some(2))));
    assert!(!met(&plot, &shown(Place::Overview, Some(1))));
    assert!(met(
        &Condition::Shown(Spot::Events),
        &shown(Place::Events, Some(2))
    ));
    assert!(met(
        &Condition::Shown(Spot::Verdict),
        &LessonFacts::default()
    ));
}

#[test]
fn all_and_any_are_what_they_say() {
    let facts = replica(|s| s.lag = LagNow::Measured(Span::ZERO));
    let (yes, no) = (lag_at_most(1), there("two_sources"));
    assert!(met(&Condition::Any(vec![no.clone(), yes.clone()]), &facts));
    assert!(!met(&Condition::All(vec![no.clone(), yes.clone()]), &facts));
    assert!(met(&Condition::All(vec![yes.clone(), yes]), &facts));
    assert!(!met(&Condition::Any(vec![no.clone(), no]), &facts));
}
