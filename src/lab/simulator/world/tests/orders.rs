//! Pointing, resetting, swapping roles, reading only, scheduled events.

use super::*;
use crate::model::gtid::GtidSet;

#[test]
fn roles_can_be_swapped_back_and_forth_without_losing_anything() {
    let mut lab = Lab::fan(Generation::MySql97, 2);
    let mut source = 0;
    for next in [1, 2, 0] {
        let gtid = lab.write(source);
        let others: Vec<NodeId> = (0..3).filter(|node| *node != source).collect();
        for node in others {
            lab.until_applied(node, &gtid);
        }
        for node in (0..3).filter(|node| *node != source) {
            lab.world.stop_receiver(node, "").expect("a replica");
            lab.world.stop_applier(node, "").expect("a replica");
            lab.world.reset_replica(node, "", true).expect("stopped");
        }
        source = next;
        for node in (0..3).filter(|node| *node != source) {
            lab.point(node, source);
        }
        lab.run(1000);
        for node in (0..3).filter(|node| *node != source) {
            assert_eq!(lab.running(node), (Running::Yes, true));
            assert_eq!(lab.seconds_behind(node), Some(0));
        }
        assert!(lab.world.channel_status(source, "").is_none());
    }
    let gtid = lab.write(source);
    lab.run(100);
    for node in 0..3 {
        assert!(lab.has(node, &gtid));
        assert_eq!(lab.world.engine(node).applied, 4);
    }
}

#[test]
fn mariadb_swaps_roles_from_its_current_position() {
    let mut lab = Lab::fan(Generation::MariaDb1011, 1);
    lab.write(0);
    lab.run(100);
    lab.world.stop_receiver(1, "").expect("runs");
    lab.world.stop_applier(1, "").expect("runs");
    lab.world.reset_replica(1, "", true).expect("stopped");
    let mut config = SourceConfig::to(1, "127.0.0.1", 3306);
    config.from_current_pos = true;
    lab.world.change_source(0, "", config, |_| {}).expect("new");
    lab.start(0, "");
    lab.run(100);
    let gtid = lab.write(1);
    assert_eq!(gtid.to_string(), "0-2-2");
    lab.run(100);
    assert!(lab.has(0, &gtid));
    let positions = lab.world.mariadb_positions(0);
    assert_eq!(positions.slave_pos, "0-2-2");
    assert_eq!(positions.binlog_state, "0-1-1,0-2-2");
    assert_eq!(lab.world.engine(0).applied, 2);
}

#[test]
fn what_needs_a_stopped_thread_is_refused_while_it_runs() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    let config = lab.world.config(1, "").expect("there").clone();
    let delay = |c: &mut SourceConfig| c.delay_secs = 5;
    let port = |c: &mut SourceConfig| c.port = 1;
    let world = &mut lab.world;
    assert_eq!(
        world.change_source(1, "", config.clone(), delay),
        Err(Refusal::ApplierRuns)
    );
    assert_eq!(
        world.change_source(1, "", config.clone(), port),
        Err(Refusal::ReceiverRuns)
    );
    assert_eq!(
        world.reset_replica(1, "", false),
        Err(Refusal::ReceiverRuns)
    );
    assert_eq!(world.stop_receiver(0, ""), Err(Refusal::NoSuchChannel));
    world.stop_receiver(1, "").expect("runs");
    assert_eq!(world.reset_replica(1, "", false), Err(Refusal::ApplierRuns));
    world.kill(1);
    assert_eq!(world.start_receiver(1, ""), Err(Refusal::Down));
}

#[test]
fn read_only_and_super_read_only_go_together_as_on_the_server() {
    let mut lab = Lab::of(Generation::MySql97, 1);
    let mut set = |change: fn(&mut Settings)| {
        lab.world.change_settings(0, change);
        let s = lab.world.settings(0);
        (s.read_only, s.super_read_only)
    };
    assert_eq!(set(|s| s.super_read_only = true), (true, true));
    assert_eq!(set(|s| s.super_read_only = false), (true, false));
    assert_eq!(set(|s| s.super_read_only = true), (true, true));
    assert_eq!(set(|s| s.read_only = false), (false, false));
}

#[test]
fn the_heartbeat_event_runs_only_where_it_may() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        let second = Span::from_secs(1);
        lab.world.schedule_event(0, "heartbeat", second, true);
        lab.world.schedule_event(1, "heartbeat", second, false);
        lab.run(5500);
        assert_eq!(lab.world.engine(0).beats, 5, "{kind:?}");
        assert_eq!(lab.world.engine(1).beats, 0);
        assert_eq!(lab.world.engine(1).applied, 5);
        // The row holds the source's clock.
        let beat = ServerTime(lab.world.engine(1).rows[&0]);
        assert_eq!(lab.world.clock(0).since(beat), Span::from_millis(500));

        lab.world.change_settings(0, |s| {
            s.read_only = true;
            s.super_read_only = true;
        });
        lab.run(3000);
        assert_eq!(lab.world.engine(0).beats, 5, "not on a read-only server");
        lab.world.change_settings(0, |s| s.read_only = false);
        lab.world.change_settings(0, |s| s.event_scheduler = false);
        lab.run(3000);
        assert_eq!(lab.world.engine(0).beats, 5, "not without the scheduler");
        lab.world.change_settings(0, |s| s.event_scheduler = true);
        lab.world.enable_event(0, "heartbeat", false);
        lab.run(3000);
        assert_eq!(lab.world.engine(0).beats, 5, "not when disabled");
        lab.world.enable_event(0, "heartbeat", true);
        lab.run(3000);
        assert_eq!(lab.world.engine(0).beats, 8);
    }
}

#[test]
fn a_write_on_a_replica_is_errant_under_its_own_name() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    lab.write(0);
    lab.run(100);
    let errant = lab.write(1);
    lab.run(1000);
    assert!(!lab.has(0, &errant));
    let (replica, source) = (lab.world.executed(1), lab.world.executed(0));
    let own = format!("{}:1", uuid_of(2));
    assert_eq!(replica.since(&source).map(|g| g.to_string()), Some(own));
    assert_eq!(lab.running(1), (Running::Yes, true));
    assert_eq!(lab.seconds_behind(1), Some(0));
}

#[test]
fn mariadb_strict_mode_stops_after_a_foreign_write_and_otherwise_says_nothing() {
    for strict in [true, false] {
        let mut lab = Lab::fan(Generation::MariaDb1011, 1);
        lab.world
            .change_settings(1, |s| s.gtid_strict_mode = strict);
        lab.write(0);
        lab.run(100);
        lab.write(1);
        lab.write(0);
        lab.run(100);
        let status = lab.status(1).applier;
        assert_eq!(status.is_running, !strict);
        assert_eq!(
            status.error.map(|e| e.problem.code()),
            strict.then_some(1950)
        );
        if !strict {
            let positions = lab.world.mariadb_positions(1);
            assert_eq!(positions.slave_pos, "0-1-2");
            assert_eq!(positions.binlog_state, "0-2-2,0-1-2");
        }
    }
}

#[test]
fn retrieved_starts_anew_with_the_relay_log() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    lab.write(0);
    lab.run(100);
    assert_eq!(lab.status(1).retrieved, lab.world.executed(1));
    lab.world.stop_receiver(1, "").expect("runs");
    lab.world.stop_applier(1, "").expect("runs");
    lab.world.reset_replica(1, "", false).expect("stopped");
    lab.start(1, "");
    lab.write(0);
    lab.run(100);
    let retrieved = lab.status(1).retrieved.to_string();
    assert_eq!(retrieved, format!("{}:2", uuid_of(1)));
}

#[test]
fn a_reset_and_a_wrong_purged_set_leave_a_hole_that_nobody_reports() {
    let mut lab = Lab::fan(Generation::MySql97, 1);
    for _ in 0..3 {
        lab.write(0);
    }
    lab.run(100);
    // The relay log still says that transaction 3 was received.
    lab.world.reset_binlogs_and_gtids(1).expect("up");
    let set = GtidSet::parse(&format!("{}:1-2", uuid_of(1))).expect("a set");
    lab.world.set_purged(1, &set).expect("empty");
    let gtid = lab.write(0);
    lab.run(2000);
    assert!(lab.has(1, &gtid));
    let text = lab.world.executed(1).to_string();
    assert_eq!(text, format!("{}:1-2:4", uuid_of(1)));
    assert_eq!(lab.running(1), (Running::Yes, true));
    let again = lab.world.set_purged(1, &set);
    assert_eq!(again, Ok(()), "adding what is there is no error");
    let present = GtidSet::parse(&format!("{}:4", uuid_of(1))).expect("a set");
    assert!(matches!(
        lab.world.set_purged(1, &present),
        Err(Refusal::GtidsPresent(_))
    ));
}

#[test]
fn the_binary_log_has_files_positions_and_a_clock_that_starts_anew_in_each() {
    let mut lab = Lab::fan(Generation::MySql80, 1);
    lab.write(0);
    lab.write(0);
    lab.world.rotate_binlog(0);
    let gtid = lab.write(0);
    let files = lab.world.binlog_files(0);
    let sizes: Vec<(&str, u64)> = files.iter().map(|f| (f.name.as_str(), f.size)).collect();
    assert_eq!(
        sizes,
        [
            ("binlog.000001", 158 + 2 * 318 + 44),
            ("binlog.000002", 158 + 318)
        ]
    );
    let shown = lab.world.binlog_transactions(0, "binlog.000002", 4, 10);
    let [shown] = shown.as_slice() else {
        panic!("{shown:?}");
    };
    assert_eq!(shown.gtid, gtid);
    assert_eq!((shown.start, shown.end), (158, 476));
    assert_eq!((shown.last_committed, shown.sequence_number), (0, 1));
    lab.run(1000);
    let status = lab.status(1);
    assert_eq!(status.read, status.executed);
    assert_eq!(status.read, lab.world.binlog_position(0));
}

#[test]
fn those_committed_together_may_be_applied_together() {
    let mut lab = Lab::fan(Generation::MySql80, 1);
    for _ in 0..3 {
        lab.insert(0);
    }
    lab.run(10);
    lab.write(0);
    let shown = lab.world.binlog_transactions(0, "binlog.000001", 4, 10);
    let clock: Vec<_> = shown
        .iter()
        .map(|t| (t.last_committed, t.sequence_number))
        .collect();
    // The first is alone in its flush; the two that came meanwhile share theirs.
    assert_eq!(clock, [(0, 1), (0, 2), (0, 3), (3, 4)]);
}

fn uuid_of(number: u8) -> String {
    Uuid::from_bytes([number; 16]).to_string()
}
