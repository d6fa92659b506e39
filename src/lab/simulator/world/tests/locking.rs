//! Locks of sessions and the applier that waits for them.

use super::*;

const SESSION: SessionId = 42;

fn table() -> TableName {
    Arc::from("shop.orders")
}

#[test]
fn a_locked_table_blocks_the_applier_and_says_who() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        let wants = [Want::Table(table(), TableLock::Exclusive)];
        let locked_at = lab.world.now();
        let locked = lab.world.lock(1, SESSION, &wants, Until::Unlocked);
        assert_eq!(locked, LockAnswer::Granted);
        let gtid = lab.write(0);
        lab.run(5000);
        assert!(!lab.has(1, &gtid));
        let waits = lab.world.lock_waits(1);
        let [wait] = waits.as_slice() else {
            panic!("{waits:?}");
        };
        let is_single = lab.status(1).applier.single.is_some();
        let number = if is_single { 0 } else { 1 };
        let channel = String::new();
        assert_eq!(wait.waiter, Owner::Worker { channel, number });
        assert_eq!(wait.on.owner, Owner::Session(SESSION));
        assert_eq!(wait.on.since, locked_at);
        assert_eq!(wait.on.what, Blocked::Table(table()));
        assert!(matches!(doing(&lab), WorkerState::WaitingForLock { .. }));
        assert!(lab.seconds_behind(1) >= Some(4), "{kind:?}");
        lab.world.unlock(1, SESSION, Until::Unlocked);
        assert!(lab.until_applied(1, &gtid) < Span::from_millis(10));
        assert!(lab.world.lock_waits(1).is_empty());
    }
}

#[test]
fn a_row_lock_is_waited_for_50_seconds_at_a_time_and_not_for_ever() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    lab.world.change_settings(1, |s| s.transaction_retries = 2);
    lab.insert_key(0, 5);
    lab.run(100);
    let rows = [Want::Rows(table(), Arc::from([5]))];
    lab.world.lock(1, SESSION, &rows, Until::TransactionEnds);
    let write = write_of(lab.world.now(), Change::Set(5, 1), 5);
    lab.world.commit(0, write);
    lab.run(51_000);
    let status = lab.status(1).applier;
    assert_eq!((status.retries, status.is_running), (1, true));
    let applying = status.workers[0].applying.as_ref().expect("tries again");
    assert_eq!(applying.retries, 1);
    assert_eq!(applying.last_transient_error.map(|e| e.0), Some(1205));
    lab.run(100_000);
    let status = lab.status(1).applier;
    assert_eq!(status.error.map(|e| e.problem.code()), Some(1205));
    assert!(!status.is_running);
    lab.world.unlock(1, SESSION, Until::TransactionEnds);
    lab.world.start_applier(1, "").expect("there");
    lab.run(100);
    assert_eq!(lab.world.engine(1).rows[&5], 1);
}

#[test]
fn other_rows_are_not_kept_waiting_by_a_locked_row() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    lab.world
        .change_settings(1, |s| s.preserve_commit_order = false);
    lab.world.stop_applier(1, "").expect("runs");
    lab.world.start_applier(1, "").expect("there");
    let rows = [Want::Rows(table(), Arc::from([5]))];
    lab.world.lock(1, SESSION, &rows, Until::TransactionEnds);
    let blocked = lab.insert_key(0, 5);
    let free = lab.insert_key(0, 6);
    lab.run(100);
    assert!(!lab.has(1, &blocked) && lab.has(1, &free));
    let text = lab.world.executed(1).to_string();
    assert!(text.ends_with(":2"), "a hole for a while: {text}");
}

#[test]
fn with_commit_order_preserved_they_wait_for_those_before_them() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    let rows = [Want::Rows(table(), Arc::from([5]))];
    lab.world.lock(1, SESSION, &rows, Until::TransactionEnds);
    lab.insert_key(0, 5);
    let later = lab.insert_key(0, 6);
    lab.run(100);
    assert!(!lab.has(1, &later));
    let workers = lab.status(1).applier.workers;
    assert_eq!(workers[1].doing, WorkerState::WaitingForOrder);
}

#[test]
fn a_transaction_keeps_its_locks_until_it_is_committed() {
    let mut lab = Lab::of(Generation::MySql97, 1);
    let rows = [Want::GlobalWrite, Want::Rows(table(), Arc::from([5]))];
    lab.world.lock(0, 1, &rows, Until::TransactionEnds);
    assert!(matches!(
        lab.world.lock(0, 2, &rows, Until::TransactionEnds),
        LockAnswer::Wait { .. }
    ));
    let write = Write {
        session: Some(1),
        ..write_of(lab.world.now(), Change::Insert(5), 5)
    };
    lab.world.commit(0, write);
    lab.run(10);
    let granted = lab.world.lock(0, 2, &rows, Until::TransactionEnds);
    assert_eq!(granted, LockAnswer::Granted);
    assert_eq!(lab.world.locks_of(0, &Owner::Session(2)).len(), 2);
    assert_eq!(lab.world.locks_of(0, &Owner::Session(1)), []);
}

#[test]
fn flush_tables_with_read_lock_on_the_source_stops_its_event() {
    let mut lab = Lab::of(Generation::MySql97, 1);
    let second = Span::from_secs(1);
    lab.world.schedule_event(0, "heartbeat", second, true);
    lab.run(3500);
    assert_eq!(lab.world.engine(0).applied, 3);
    lab.world
        .lock(0, SESSION, &[Want::GlobalRead], Until::Unlocked);
    lab.run(3000);
    assert_eq!(lab.world.engine(0).applied, 3);
    lab.world.unlock(0, SESSION, Until::Unlocked);
    lab.run(3000);
    assert_eq!(lab.world.engine(0).applied, 6);
}

#[test]
fn mariadb_tries_colliding_transactions_again() {
    let mut lab = Lab::of(Generation::MariaDb1011, 2);
    lab.world.change_settings(1, |s| s.applier_workers = 4);
    lab.point(1, 0);
    lab.insert_key(0, 5);
    lab.run(1000);
    lab.world.set_disk(1, Span::from_millis(5));
    for n in 0..20 {
        let write = write_of(lab.world.now(), Change::Set(5, n), 5);
        lab.world.commit(0, write);
        lab.run(1);
    }
    lab.run(1000);
    assert_eq!(lab.world.engine(1).rows[&5], 19);
    assert!(lab.status(1).applier.retries > 5);
}

fn doing(lab: &Lab) -> WorkerState {
    let status = lab.status(1).applier;
    let mut workers = status.workers.into_iter().chain(status.single);
    workers.next().expect("a worker").doing
}
