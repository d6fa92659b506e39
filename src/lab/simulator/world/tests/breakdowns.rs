//! Cut links, dead servers, transactions that cannot be carried out.

use super::*;

#[test]
fn a_cut_link_looks_healthy_until_the_net_timeout() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        lab.write(0);
        lab.run(2000);
        lab.cut(1, true);
        lab.write(0);
        lab.run(8000);
        let status = lab.status(1);
        assert_eq!(lab.running(1), (Running::Yes, true), "{kind:?}");
        assert_eq!(status.seconds_behind, Some(0));
        assert!(status.receiver.error.is_none());
        let beats = status.receiver.heartbeats_received;
        lab.run(3000);
        let status = lab.status(1);
        assert_eq!(lab.running(1), (Running::Connecting, true), "{kind:?}");
        assert_eq!(status.receiver.state, ReceiverState::Reconnecting);
        assert_eq!(status.seconds_behind, None);
        assert!(status.receiver.error.is_none(), "no error number at first");
        assert_eq!(status.receiver.heartbeats_received, beats);
        lab.run(10_000);
        assert!(matches!(
            lab.io_problem(1),
            Some(Problem::CannotConnect { os_error: 110, attempt })
                if attempt.number == 1 && attempt.is_reconnect
        ));
    }
}

#[test]
fn after_a_cut_everything_arrives_that_was_missed() {
    for seconds in [5, 30] {
        let mut lab = Lab::fan(Generation::MySql97, 1);
        lab.cut(1, true);
        let gtid = lab.write(0);
        lab.run(seconds * 1000);
        assert!(!lab.has(1, &gtid));
        lab.cut(1, false);
        assert!(lab.until_applied(1, &gtid) < Span::from_secs(2));
        lab.run(2000);
        assert_eq!(lab.running(1), (Running::Yes, true));
        assert_eq!(lab.world.engine(1).applied, 1);
        assert!(lab.io_problem(1).is_none());
        assert_eq!(lab.world.dump_threads(0).len(), 1, "the old one is gone");
    }
}

#[test]
fn a_killed_source_is_2013_then_2003_and_found_again() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        lab.write(0);
        lab.run(1000);
        lab.world.kill(0);
        lab.run(10);
        let first = lab.io_problem(1).map(|p| p.code());
        let expected = match kind.flavour().is_mariadb() {
            true => 2003,
            false => 2013,
        };
        assert_eq!(first, Some(expected));
        lab.run(3000);
        assert_eq!(lab.seconds_behind(1), None);
        assert!(matches!(
            lab.io_problem(1),
            Some(Problem::CannotConnect { os_error: 111, attempt }) if attempt.number == 4
        ));
        let up_since = lab.world.up_since(0);
        lab.world.restart(0);
        assert!(lab.world.up_since(0) > up_since);
        let gtid = lab.write(0);
        lab.run(1100);
        assert!(lab.has(1, &gtid), "{kind:?}");
        assert_eq!(lab.running(1), (Running::Yes, true));
        assert_eq!(lab.status(1).read.file, "binlog.000002");
    }
}

#[test]
fn after_its_last_try_the_receiver_gives_up_for_good() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    let config = lab.world.config(1, "").expect("there").clone();
    lab.world.stop_receiver(1, "").expect("runs");
    let few = |c: &mut SourceConfig| c.retry_count = 3;
    lab.world
        .change_source(1, "", config, few)
        .expect("stopped");
    lab.world.start_receiver(1, "").expect("there");
    lab.run(100);
    lab.world.kill(0);
    lab.run(60_000);
    lab.world.restart(0);
    lab.run(60_000);
    assert_eq!(lab.running(1), (Running::No, true));
    assert!(matches!(
        lab.io_problem(1),
        Some(Problem::CannotConnect { attempt, .. }) if (attempt.number, attempt.of) == (3, 3)
    ));
}

#[test]
fn a_row_that_is_there_already_stops_the_applier_with_1062() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        let local = Write {
            is_logged: false,
            ..write_of(lab.world.now(), Change::Insert(5), 5)
        };
        lab.world.commit(1, local);
        lab.run(100);
        let executed = lab.world.executed(1);
        let bad = lab.insert_key(0, 5);
        let behind = lab.insert_key(0, 6);
        lab.run(1000);
        let status = lab.status(1);
        assert_eq!(lab.running(1), (Running::Yes, false), "{kind:?}");
        assert_eq!(status.seconds_behind, None);
        assert!(!lab.has(1, &behind));
        assert_eq!(lab.world.executed(1), executed);
        let error = status.applier.error.expect("an error");
        let Problem::Apply {
            worker,
            gtid,
            code,
            at,
            ..
        } = error.problem
        else {
            panic!("{error:?}");
        };
        let has_workers = !status.applier.workers.is_empty();
        assert_eq!((code, gtid, worker.is_some()), (1062, bad, has_workers));
        assert!(at.position > status.executed.position);
        let first = status
            .applier
            .workers
            .first()
            .or(status.applier.single.as_ref());
        let first = first.expect("a worker");
        assert!(first.error.is_some());
        assert_eq!(first.applying.as_ref().map(|a| a.gtid), Some(bad));
        // Starting anew fails anew; an empty transaction of that name skips it.
        lab.world.start_applier(1, "").expect("there");
        lab.run(100);
        assert_eq!(lab.running(1), (Running::Yes, false));
        skip(&mut lab, 1, bad);
        lab.world.start_applier(1, "").expect("there");
        lab.run(100);
        assert!(lab.has(1, &behind), "{kind:?}");
        assert!(lab.status(1).applier.error.is_none());
    }
}

#[test]
fn a_row_that_is_not_there_is_1032() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    let local = Write {
        is_logged: false,
        ..write_of(lab.world.now(), Change::Insert(5), 5)
    };
    lab.world.commit(0, local);
    lab.run(100);
    let write = write_of(lab.world.now(), Change::Set(5, 1), 5);
    let commit = lab.world.commit(0, write);
    lab.wait(commit);
    lab.run(100);
    let error = lab.status(1).applier.error.expect("an error");
    assert_eq!(error.problem.code(), 1032);
}

#[test]
fn a_big_transaction_stopped_halfway_is_rolled_back_and_done_anew() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        let gtid = lab.big(0, 400_000);
        lab.run(2000);
        let applying = applying(&lab).expect("in the middle");
        assert!(applying.rows_done > 50_000 && applying.rows_done < 350_000);
        lab.world.stop_applier(1, "").expect("runs");
        lab.run(20_000);
        assert!(!lab.has(1, &gtid) && lab.world.engine(1).applied == 0);
        lab.world.start_applier(1, "").expect("there");
        let again = lab.until_applied(1, &gtid);
        assert!(
            again > Span::from_secs(4),
            "{kind:?}: from the start, {again}"
        );
        assert_eq!(lab.world.engine(1).applied, 1);
    }
}

#[test]
fn a_receiver_stopped_within_a_transaction_forgets_its_half() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    let narrow = LinkQuality {
        bytes_per_second: Some(100_000.0),
        ..LinkQuality::default()
    };
    lab.world.set_link(1, 0, narrow);
    let gtid = lab.big(0, 10_000);
    lab.run(5000);
    assert!(applying(&lab).is_some(), "begun before the end is there");
    lab.world.stop_receiver(1, "").expect("runs");
    lab.run(10);
    assert!(applying(&lab).is_none());
    let status = lab.status(1);
    assert!(status.retrieved.is_empty());
    assert_eq!(status.applier.backlog_transactions, 0);
    lab.world.start_receiver(1, "").expect("there");
    lab.until_applied(1, &gtid);
    assert_eq!(lab.world.engine(1).applied, 1);
}

#[test]
fn a_killed_replica_fetches_again_what_it_had_not_applied() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        lab.world.stop_applier(1, "").expect("runs");
        let gtid = lab.write(0);
        lab.run(1000);
        let epoch = lab.world.epoch(1);
        let work = lab.world.begin_work(1, Work::Rows(1_000_000));
        lab.world.kill(1);
        assert_eq!(lab.world.epoch(1), epoch + 1);
        assert_eq!(lab.world.work(1, work), WorkState::Lost);
        lab.run(2000);
        lab.world.restart(1);
        lab.run(1000);
        assert!(lab.has(1, &gtid), "threads start with the server");
        assert_eq!(lab.world.engine(1).applied, 1, "{kind:?}");
    }
}

#[test]
fn a_source_that_died_behind_a_cut_link_is_noticed_when_the_link_is_back() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    lab.cut(1, true);
    lab.world.kill(0);
    lab.run(3000);
    assert_eq!(lab.running(1), (Running::Yes, true));
    lab.world.restart(0);
    let gtid = lab.write(0);
    lab.cut(1, false);
    lab.run(3000);
    assert!(lab.has(1, &gtid));
    assert_eq!(lab.running(1), (Running::Yes, true));
}

#[test]
fn purged_logs_stop_the_receiver() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        lab.world.stop_receiver(1, "").expect("runs");
        lab.write(0);
        lab.world.rotate_binlog(0);
        lab.world.purge_binlogs(0, "binlog.000002").expect("there");
        lab.world.start_receiver(1, "").expect("there");
        lab.run(1000);
        assert_eq!(lab.running(1).0, Running::No, "{kind:?}");
        assert!(matches!(
            lab.io_problem(1),
            Some(Problem::PurgedLogs { .. })
        ));
    }
}

#[test]
fn equal_server_ids_stop_the_receiver_and_a_wrong_password_does_not() {
    let mut lab = Lab::of(Generation::MySql97, 2);
    lab.world.nodes[1].identity.server_id = 1;
    lab.point(1, 0);
    lab.run(1000);
    assert_eq!(lab.running(1).0, Running::No);
    assert_eq!(lab.io_problem(1), Some(Problem::EqualServerIds));

    let mut lab = Lab::of(Generation::MySql97, 2);
    let mut config = SourceConfig::to(0, "127.0.0.1", 3306);
    config.login = Login::Refused {
        code: 1045,
        message: "Access denied".into(),
    };
    lab.world.change_source(1, "", config, |_| {}).expect("new");
    lab.start(1, "");
    lab.run(1500);
    assert_eq!(lab.running(1).0, Running::Connecting);
    assert_eq!(lab.io_problem(1).map(|p| p.code()), Some(1045));
}

pub fn skip(lab: &mut Lab, node: NodeId, gtid: Gtid) {
    if let Gtid::MariaDb(_) = gtid {
        let text = gtid.to_string();
        let position = crate::model::gtid::GtidPosition::parse(&text).expect("one");
        lab.world.stop_receiver(node, "").expect("there");
        lab.world.set_slave_pos(node, &position).expect("stopped");
        lab.world.start_receiver(node, "").expect("there");
        return;
    }
    let empty = Write {
        name: NextGtid::Given(gtid),
        ..Write::new(None, lab.world.now())
    };
    let commit = lab.world.commit(node, empty);
    lab.wait(commit);
}

fn applying(lab: &Lab) -> Option<ApplyingTransaction> {
    let status = lab.status(1).applier;
    let mut workers = status.workers.into_iter().chain(status.single);
    workers.find_map(|worker| worker.applying)
}
