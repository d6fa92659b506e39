//! Semi-sync: receipts, degrading, coming back, and what it does not promise.

use super::*;

fn semi_sync_lab(kind: Generation, replicas: usize) -> Lab {
    let mut lab = Lab::of(kind, replicas + 1);
    lab.world.change_settings(0, |s| {
        s.semi_sync.source_enabled = true;
        s.semi_sync.timeout = Span::from_secs(1);
    });
    for replica in 1..=replicas {
        lab.world
            .change_settings(replica, |s| s.semi_sync.replica_enabled = true);
        lab.point(replica, 0);
    }
    lab.run(1000);
    lab
}

fn commit_takes(lab: &mut Lab) -> Span {
    let start = lab.world.now();
    lab.write(0);
    lab.world.now().since(start)
}

fn millis(range: std::ops::Range<i64>, span: Span) -> bool {
    (Span::from_millis(range.start)..Span::from_millis(range.end)).contains(&span)
}

#[test]
fn a_commit_waits_for_the_receipt_of_one_replica() {
    for kind in KINDS {
        let mut lab = semi_sync_lab(kind, 2);
        for replica in [1, 2] {
            let far = LinkQuality {
                latency: Span::from_millis(100 * replica as i64),
                ..LinkQuality::default()
            };
            lab.world.set_link(replica, 0, far);
        }
        assert!(millis(200..210, commit_takes(&mut lab)), "{kind:?}");
        let it = lab.world.semi_sync(0);
        assert_eq!((it.is_on, it.clients, it.yes_tx, it.no_tx), (true, 2, 1, 0));
        assert_eq!((it.tx_waits, it.wait_sessions), (1, 0));
        lab.world
            .change_settings(0, |s| s.semi_sync.wait_for_replicas = 2);
        assert!(millis(400..410, commit_takes(&mut lab)), "{kind:?}");
    }
}

#[test]
fn after_sync_nobody_sees_it_before_the_receipt_after_commit_everybody_does() {
    for (kind, visible) in [
        (Generation::MySql97, false),
        (Generation::MariaDb1011, true),
    ] {
        let mut lab = semi_sync_lab(kind, 1);
        lab.cut(1, true);
        let (commit, key) = lab.insert(0);
        lab.run(500);
        assert!(matches!(
            lab.world.commit_state(commit),
            CommitState::WaitingForReceipt { .. }
        ));
        assert_eq!(lab.world.semi_sync(0).wait_sessions, 1);
        let sees = lab.world.engine(0).rows.contains_key(&key);
        assert_eq!(sees, visible, "{kind:?}");
        lab.run(600);
        assert!(lab.world.engine(0).rows.contains_key(&key));
    }
}

#[test]
fn it_degrades_after_the_timeout_and_comes_back_when_the_replica_has_caught_up() {
    for kind in KINDS {
        let mut lab = semi_sync_lab(kind, 2);
        for replica in [1, 2] {
            lab.world.stop_receiver(replica, "").expect("runs");
        }
        lab.run(1100);
        let mariadb = kind.flavour().is_mariadb();
        let it = lab.world.semi_sync(0);
        assert_eq!(
            (it.is_on, it.clients, it.no_times),
            (true, 0, 0),
            "{kind:?}"
        );
        assert!(millis(1000..1010, commit_takes(&mut lab)));
        let it = lab.world.semi_sync(0);
        assert_eq!((it.is_on, it.no_times, it.no_tx), (false, 1, 1));
        assert!(millis(0..10, commit_takes(&mut lab)), "no longer waits");
        assert_eq!(lab.world.semi_sync(0).no_tx, 2);
        for replica in [1, 2] {
            lab.world.start_receiver(replica, "").expect("there");
        }
        lab.run(100);
        let it = lab.world.semi_sync(0);
        assert_eq!((it.is_on, it.clients), (true, 2), "{kind:?} {mariadb}");
        commit_takes(&mut lab);
        let it = lab.world.semi_sync(0);
        assert_eq!((it.yes_tx, it.no_tx, it.no_times), (1, 2, 1));
    }
}

#[test]
fn the_source_notices_a_leaving_replica_with_the_next_heartbeat_or_at_once() {
    for (kind, at_once) in [(Generation::MySql97, 1), (Generation::MariaDb1011, 0)] {
        let mut lab = semi_sync_lab(kind, 1);
        lab.world.stop_receiver(1, "").expect("runs");
        assert_eq!(lab.world.semi_sync(0).clients, at_once);
        lab.run(1100);
        assert_eq!(lab.world.semi_sync(0).clients, 0);
    }
}

#[test]
fn cut_replicas_stay_clients_but_it_degrades() {
    let mut lab = semi_sync_lab(Generation::MySql97, 2);
    lab.cut(1, true);
    lab.cut(2, true);
    assert!(millis(1000..1010, commit_takes(&mut lab)));
    lab.write(0);
    let it = lab.world.semi_sync(0);
    assert_eq!((it.is_on, it.clients, it.no_tx), (false, 2, 2));
    lab.cut(1, false);
    lab.run(50);
    assert!(lab.world.semi_sync(0).is_on, "back with the first that is");
}

#[test]
fn one_of_two_lost_does_not_degrade_and_a_stopped_applier_does_not_matter() {
    let mut lab = semi_sync_lab(Generation::MySql97, 2);
    lab.world.stop_receiver(1, "").expect("runs");
    lab.world.stop_applier(2, "").expect("runs");
    assert!(millis(0..10, commit_takes(&mut lab)));
    let it = lab.world.semi_sync(0);
    assert_eq!((it.is_on, it.clients, it.yes_tx, it.no_tx), (true, 1, 1, 0));
    // Received is not applied: this is what semi-sync does not promise.
    lab.run(5000);
    assert_eq!(lab.world.engine(2).applied, 0);
}

#[test]
fn without_waiting_for_nobody_mysql_goes_off_and_mariadb_stays_on_while_no_tx_grows() {
    for (kind, is_on) in [
        (Generation::MySql97, false),
        (Generation::MariaDb1011, true),
    ] {
        let mut lab = semi_sync_lab(kind, 1);
        lab.world
            .change_settings(0, |s| s.semi_sync.wait_no_replica = false);
        lab.world.stop_receiver(1, "").expect("runs");
        lab.run(1100);
        assert!(millis(0..10, commit_takes(&mut lab)));
        let it = lab.world.semi_sync(0);
        assert_eq!((it.is_on, it.clients), (is_on, 0), "{kind:?}");
        assert!(it.no_tx >= 1);
    }
}

#[test]
fn what_is_switched_on_while_the_receiver_runs_counts_from_its_next_start() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    let on = |s: &mut Settings| s.semi_sync.replica_enabled = true;
    lab.world.change_settings(1, on);
    assert!(!lab.world.semi_sync(1).replica_is_on);
    assert_eq!(lab.world.semi_sync(0).clients, 0);
    lab.world.stop_receiver(1, "").expect("runs");
    lab.start(1, "");
    lab.run(100);
    assert!(lab.world.semi_sync(1).replica_is_on);
    assert_eq!(lab.world.semi_sync(0).clients, 1);
}

#[test]
fn a_crash_resets_the_counters_and_keeps_what_was_logged() {
    let mut lab = semi_sync_lab(Generation::MySql97, 1);
    lab.write(0);
    lab.cut(1, true);
    let (commit, key) = lab.insert(0);
    lab.run(100);
    lab.world.kill(0);
    assert_eq!(lab.world.commit_state(commit), CommitState::Lost);
    lab.run(2000);
    lab.world.restart(0);
    assert!(lab.world.engine(0).rows.contains_key(&key));
    let it = lab.world.semi_sync(0);
    assert_eq!(
        (it.is_on, it.yes_tx, it.no_tx, it.no_times),
        (true, 0, 0, 0)
    );
}

/// 0 → 1 → 2, where 1 waits for the receipts of 2.
fn chain_that_waits() -> Lab {
    let mut lab = Lab::of(Generation::MySql97, 3);
    lab.world.change_settings(1, |s| {
        s.semi_sync.source_enabled = true;
        s.semi_sync.timeout = Span::from_secs(4);
        s.applier_workers = 4;
    });
    lab.world
        .change_settings(2, |s| s.semi_sync.replica_enabled = true);
    lab.point(1, 0);
    lab.point(2, 1);
    lab.run(1000);
    lab
}

#[test]
fn a_worker_waits_for_the_receipt_of_its_own_replica() {
    let mut lab = chain_that_waits();
    let before = lab.world.semi_sync(1).yes_tx;
    let gtid = lab.write(0);
    assert!(lab.until_applied(1, &gtid) < Span::from_millis(50));
    assert_eq!(lab.world.semi_sync(1).yes_tx, before + 1);
    lab.world.stop_receiver(2, "").expect("runs");
    let gtid = lab.write(0);
    lab.run(1000);
    assert!(!lab.has(1, &gtid), "its GTID is not there yet");
    let status = lab.status(1);
    let mut doing = status.applier.workers.iter().map(|worker| &worker.doing);
    assert!(doing.any(|doing| *doing == WorkerState::WaitingForReceipt));
    assert_eq!(lab.world.semi_sync(1).wait_sessions, 1);
    assert!(
        millis(2900..3100, lab.until_applied(1, &gtid)),
        "the timeout"
    );
    assert!(!lab.world.semi_sync(1).is_on);
}

#[test]
fn what_waits_for_a_receipt_is_not_applied_again_after_a_stop() {
    let mut lab = chain_that_waits();
    lab.world.stop_receiver(2, "").expect("runs");
    let gtid = lab.write(0);
    lab.run(100);
    let applied = lab.world.engine(1).applied;
    lab.world.stop_applier(1, "").expect("there");
    assert!(lab.has(1, &gtid));
    lab.world.start_applier(1, "").expect("there");
    lab.world.start_receiver(2, "").expect("there");
    let next = lab.write(0);
    lab.until_applied(2, &next);
    assert_eq!(lab.running(1), (Running::Yes, true));
    assert_eq!(lab.world.engine(1).applied, applied + 1);
}
