//! The faults of the lab, each with what the product must see of it: the same list for every bed.

mod lab;

use std::time::{Duration, Instant};

use replicascope::lab::faults::admin::Channel;
use replicascope::model::finding::{Health, Role};
use replicascope::model::lab::{
    Fault, FaultKind, FaultState, Ground, LabOrder, LabServer, Traffic,
};
use replicascope::model::time::Span;

use super::watching::{View, Watching};
pub use lab::Lab;
use lab::{note_of, say};

/// For what takes as long as it takes: starts, catching up, a busy machine.
pub const SOON: Duration = Duration::from_secs(60);

/// What is seen of a fault on a server.
type Sign = fn(&View<'_>) -> bool;

/// A fault of the list: on which server, how strong, and what the product sees of it.
struct Claim {
    kind: FaultKind,
    on: LabServer,
    intensity: f64,
    sign: Sign,
}

fn claim(kind: FaultKind, on: LabServer, intensity: f64, sign: Sign) -> Claim {
    Claim {
        kind,
        on,
        intensity,
        sign,
    }
}

fn claims() -> Vec<Claim> {
    use FaultKind::{
        BreakApplier, ClockSkew, DisableEvent, KillServer, LinkBandwidth, LinkCut, LinkLatency,
        LockTable, PlannedDelay, SlowDisk, SourceReadOnly, StopApplier, StopHeartbeat,
        StopReceiver,
    };
    let late: Sign = |view| view.seconds(1).is_some_and(|lag| lag > 1.0);
    vec![
        claim(LinkLatency, 1, 1500.0, late),
        claim(LinkBandwidth, 1, 0.2, late),
        claim(LinkCut, 1, 0.0, |view| {
            view.health(1) != Health::Ok && !view.routable(1)
        }),
        claim(PlannedDelay, 1, 4.0, |view| {
            view.finding(1, "delayed_replica").is_some()
        }),
        claim(StopApplier, 1, 0.0, |view| {
            view.finding(1, "applier_stopped").is_some()
        }),
        claim(StopReceiver, 1, 0.0, |view| {
            view.finding(1, "receiver_stopped").is_some()
        }),
        claim(BreakApplier, 1, 0.0, |view| {
            view.finding(1, "applier_broken").is_some()
        }),
        claim(LockTable, 1, 0.0, |view| {
            view.finding(1, "applier_blocked_by_lock").is_some()
        }),
        claim(SlowDisk, 1, 2000.0, late),
        claim(ClockSkew, 1, 90.0, |view| {
            view.finding(1, "clock_skew").is_some()
        }),
        claim(StopHeartbeat, 0, 0.0, |view| {
            view.finding(0, "heartbeat_event_disabled").is_some()
        }),
        claim(DisableEvent, 0, 0.0, |view| {
            view.finding(0, "heartbeat_event_disabled").is_some()
        }),
        claim(SourceReadOnly, 0, 0.0, |view| {
            view.finding(0, "source_read_only").is_some()
        }),
        claim(KillServer, 1, 0.0, |view| {
            view.finding(1, "server_unreachable").is_some()
        }),
        claim(KillServer, 0, 0.0, |view| {
            view.finding(0, "server_unreachable").is_some()
        }),
    ]
}

/// Every fault is made, seen by the product, undone, and gone.
pub fn every_fault_is_seen_and_can_be_undone(lab: &mut Lab) {
    let mut watching = lab.watch();
    watching.until_well(SOON);
    for claim in claims() {
        if !can_be_made(lab, claim.kind, claim.on) {
            continue;
        }
        let id = lab.make(claim.kind, claim.on, claim.intensity);
        eprintln!("{:?} on {}", claim.kind, claim.on);
        watching.until(&format!("{:?} to be seen", claim.kind), SOON, claim.sign);
        lab.undo(id);
        watching.until(&format!("{:?} to be gone", claim.kind), SOON, |view| {
            !(claim.sign)(view)
        });
        watching.until_well(SOON);
    }
    the_last_acknowledgement_gone_degrades_semi_sync(lab, &mut watching);
    a_write_on_a_replica_is_errant_until_adopted(lab, &mut watching);
    a_big_transaction_is_seen_and_passes(lab, &mut watching);
    slow_readers_work_until_they_are_sent_away(lab, &mut watching);
    roles_are_swapped_and_swapped_back(lab, &mut watching);
    watching.close();
}

/// What the bed says it cannot do fails with its reason.
fn can_be_made(lab: &mut Lab, kind: FaultKind, on: LabServer) -> bool {
    let Some(why) = lab.why_impossible(kind).cloned() else {
        return true;
    };
    eprintln!("*** NOT TRIED HERE: {kind:?}: {} ***", say(&why));
    let id = lab.begin(kind, on, 1.0);
    lab.until_settled(id);
    let refused = matches!(
        &lab.note(id).expect("it was noted").state,
        FaultState::Failed { why: said, .. } if said.what == why
    );
    assert!(refused, "{:?}", lab.note(id));
    false
}

fn the_last_acknowledgement_gone_degrades_semi_sync(lab: &mut Lab, watching: &mut Watching) {
    let made = [1, 2].map(|replica| lab.make(FaultKind::SemiSyncLoss, replica, 0.0));
    watching.until("semi-sync to have given way", SOON, |view| {
        view.finding(0, "semi_sync_degraded").is_some()
    });
    made.into_iter().for_each(|id| lab.undo(id));
    watching.until("semi-sync to be back", SOON, |view| {
        view.finding(0, "semi_sync_degraded").is_none()
    });
    watching.until_well(SOON);
}

fn a_write_on_a_replica_is_errant_until_adopted(lab: &mut Lab, watching: &mut Watching) {
    let id = lab.make(FaultKind::WriteOnReplica, 2, 0.0);
    watching.until("the errant transaction to be seen", SOON, |view| {
        view.finding(2, "errant_transactions").is_some()
    });
    lab.undo(id);
    watching.until("the errant transaction to be adopted", SOON, |view| {
        view.finding(2, "errant_transactions").is_none()
    });
    watching.until_well(SOON);
}

fn a_big_transaction_is_seen_and_passes(lab: &mut Lab, watching: &mut Watching) {
    // MariaDB 10.11 has applied 800,000 rows after two seconds, and may do so between the polls that would show it.
    const TWICE_AS_BIG_AFTER: Duration = Duration::from_secs(15);
    let mut rows = 800_000.0;
    let mut id = lab.begin(FaultKind::BigTransaction, 0, rows);
    let mut begun = Instant::now();
    watching.until("a big transaction to be seen", SOON, |view| {
        let is_seen = [1, 2]
            .iter()
            .any(|replica| view.finding(*replica, "big_transaction").is_some());
        if !is_seen && begun.elapsed() > TWICE_AS_BIG_AFTER {
            lab.until_made(id);
            rows *= 2.0;
            id = lab.begin(FaultKind::BigTransaction, 0, rows);
            begun = Instant::now();
        }
        is_seen
    });
    lab.until_made(id);
    let state = lab.note(id).map(|note| note.state.clone());
    assert!(
        matches!(state, Some(FaultState::Passed { .. })),
        "{state:?}"
    );
    watching.until_well(SOON);
}

/// Whether reports make a real replica late depends on the machine, which the lab's servers share; that they run, and
/// end, does not.
fn slow_readers_work_until_they_are_sent_away(lab: &mut Lab, watching: &mut Watching) {
    let id = if let Ground::Simulated(_) = lab.status.plan.ground {
        let id = lab.make(FaultKind::SlowReaders, 1, 16.0);
        watching.until("slow readers to be named", SOON, |view| {
            view.finding(1, "slow_readers").is_some()
        });
        id
    } else {
        let id = lab.make(FaultKind::SlowReaders, 1, 3.0);
        watching.until("three reports to run for seconds", SOON, |_| {
            lab.reports(1, 2) == 3
        });
        id
    };
    lab.undo(id);
    watching.until("no report to run any more", SOON, |_| {
        lab.reports(1, 0) == 0
    });
    watching.until_well(SOON);
}

fn roles_are_swapped_and_swapped_back(lab: &mut Lab, watching: &mut Watching) {
    let id = lab.make(FaultKind::SwapRoles, 1, 0.0);
    watching.until("node 1 to be the source", SOON, |view| {
        view.role(1) == Role::Source && view.role(0) == Role::Replica
    });
    watching.until_well(SOON);
    let written = lab.status.carried.written;
    lab.until("traffic goes on at the new source", |status| {
        status.carried.written > written + 5
    });
    lab.undo(id);
    watching.until("node 0 to be the source again", SOON, |view| {
        view.role(0) == Role::Source && view.role(1) == Role::Replica
    });
    watching.until_well(SOON);
}

/// The new source leads already when something fails: it is undone as far as it came, and if that fails as well, tried
/// again until it succeeds.
pub fn a_swap_that_fails_half_way_leaves_roles_as_they_were(lab: &mut Lab) {
    let as_before = [vec![], vec![0], vec![0]];
    let mut watching = lab.watch();
    watching.until_well(SOON);

    // The third server cannot follow the new source; the way back is free.
    lab.gap.open(2, 1);
    let id = lab.begin(FaultKind::SwapRoles, 1, 0.0);
    lab.until_settled(id);
    let state = lab.note(id).map(|note| note.state.clone());
    assert!(
        matches!(state, Some(FaultState::Failed { .. })),
        "{state:?}"
    );
    assert_eq!(lab.copies(), as_before);

    // The old source cannot follow the new one, and so cannot get from it what it must have.
    lab.gap.open(0, 1);
    let id = lab.begin(FaultKind::SwapRoles, 1, 0.0);
    lab.until_settled(id);
    let state = lab.note(id).map(|note| note.state.clone());
    assert!(
        matches!(
            state,
            Some(FaultState::Stuck {
                again_at: Some(_),
                ..
            })
        ),
        "{state:?}"
    );
    lab.gap.close();
    lab.until("it was undone by itself", |status| {
        note_of(status, id).is_some_and(|note| matches!(note.state, FaultState::Over { .. }))
    });
    assert_eq!(lab.copies(), as_before);
    watching.until_well(SOON);
    let written = lab.status.carried.written;
    lab.until("traffic goes on", |status| {
        status.carried.written > written + 5
    });
    watching.close();
}

/// A fault with a time limit ends by itself.
pub fn a_fault_ends_when_its_time_is_over(lab: &mut Lab) {
    lab.order(LabOrder::Make(Fault {
        kind: FaultKind::StopApplier,
        on: 1,
        intensity: 0.0,
        lasts: Some(Span::from_secs(4)),
    }));
    lab.until("the applier is stopped", |status| {
        status
            .faults
            .last()
            .is_some_and(|note| note.fault.lasts.is_some() && note.state == FaultState::Active)
    });
    lab.until("it was undone by itself", |status| {
        matches!(
            status.faults.last().map(|note| &note.state),
            Some(FaultState::Over { .. })
        )
    });
}

pub fn a_big_transaction_can_be_called_off(lab: &mut Lab) {
    let id = lab.begin(FaultKind::BigTransaction, 0, 5_000_000.0);
    let deadline = Instant::now() + SOON;
    let running = "SELECT COUNT(*) FROM information_schema.processlist \
                   WHERE info LIKE 'INSERT INTO shop.bulk%'";
    while lab.seen(0, running) != "1" {
        assert!(Instant::now() < deadline, "it never ran");
    }
    let called_off_at = Instant::now();
    lab.undo(id);
    let table = "SELECT COUNT(*) FROM information_schema.tables \
                 WHERE table_schema = 'shop' AND table_name = 'bulk'";
    assert_eq!(lab.seen(0, table), "0");
    eprintln!("called off in {:?}", called_off_at.elapsed());
}

/// As many transactions and rows as asked for, unless the machine is too busy for them; never more.
pub fn traffic_writes_as_often_as_asked(lab: &mut Lab) {
    let usual = lab.status.traffic;
    lab.order(LabOrder::Carry(Traffic {
        writes_per_second: 40.0,
        rows_per_transaction: 3,
        hot_rows: 5,
        ..usual
    }));
    lab.until("the traffic is changed", |status| {
        status.traffic.hot_rows == 5
    });
    let (started, before) = (Instant::now(), lab.status.carried.clone());
    lab.until("a hundred transactions are written", |status| {
        status.carried.written >= before.written + 100
    });
    let (took, after) = (started.elapsed().as_secs_f64(), &lab.status.carried);
    let written = (after.written - before.written) as f64;
    assert!(
        written <= 40.0 * (took + 1.0) + 1.0,
        "{written} in {took} s"
    );
    // What was under way when it changed had one row.
    let rows = (after.rows_written - before.rows_written) as f64;
    assert!(rows >= 2.8 * written, "{rows} rows by {written}");
    lab.order(LabOrder::Carry(usual));
}

/// The writer waits out a refusal and a killed server.
pub fn traffic_goes_on_after_a_refusal_and_a_crash(lab: &mut Lab) {
    for kind in [FaultKind::SourceReadOnly, FaultKind::KillServer] {
        let id = lab.make(kind, 0, 0.0);
        let failed = lab.status.carried.failed_writes;
        lab.until("writes fail", |status| {
            status.carried.failed_writes > failed + 2
        });
        lab.undo(id);
        let written = lab.status.carried.written;
        lab.until("writes succeed again", |status| {
            status.carried.written > written + 5
        });
    }
}

/// The delay that was planned comes back, whatever was done meanwhile.
pub fn a_delayed_replica_gets_its_own_delay_back(lab: &mut Lab) {
    let delay = |lab: &Lab| {
        lab.channels(2)
            .iter()
            .map(|c| c.delay_s)
            .collect::<Vec<_>>()
    };
    assert_eq!(delay(lab), [2]);
    let longer = lab.make(FaultKind::PlannedDelay, 2, 30.0);
    assert_eq!(delay(lab), [30]);
    lab.undo(longer);
    assert_eq!(delay(lab), [2]);
    let swapped = lab.make(FaultKind::SwapRoles, 2, 0.0);
    assert_eq!(delay(lab), [0; 0]);
    lab.undo(swapped);
    assert_eq!(delay(lab), [2]);
}

pub fn a_replica_of_two_sources_is_stopped_and_started_on_both_channels(lab: &mut Lab) {
    let going = |lab: &Lab| {
        let channels = lab.channels(2);
        let count = |runs: fn(&Channel) -> bool| channels.iter().filter(|c| runs(c)).count();
        (count(|c| c.receiver.runs()), count(|c| c.applier.runs()))
    };
    assert_eq!(going(lab), (2, 2));
    let applier = lab.make(FaultKind::StopApplier, 2, 0.0);
    let receiver = lab.make(FaultKind::StopReceiver, 2, 0.0);
    assert_eq!(going(lab), (0, 0));
    lab.order(LabOrder::UndoAll);
    for id in [applier, receiver] {
        lab.undo(id);
    }
    let delayed = lab.make(FaultKind::PlannedDelay, 2, 5.0);
    assert!(
        lab.channels(2)
            .iter()
            .all(|c| c.delay_s == 5 && c.applier.runs())
    );
    lab.undo(delayed);
    lab.refused(FaultKind::SwapRoles, 2, "lab.trouble.swap_many_sources");
}

pub fn in_a_chain_what_comes_from_the_top_breaks_the_end_and_the_top_two_swap(lab: &mut Lab) {
    let broken = lab.make(FaultKind::BreakApplier, 2, 0.0);
    assert!(lab.channels(1)[0].applier.runs());
    lab.undo(broken);
    lab.refused(FaultKind::SwapRoles, 2, "lab.trouble.swap_in_the_middle");
    let swapped = lab.make(FaultKind::SwapRoles, 1, 0.0);
    assert_eq!(lab.copies(), [vec![1], vec![], vec![1]]);
    lab.undo(swapped);
    assert_eq!(lab.copies(), [vec![], vec![0], vec![1]]);
}
