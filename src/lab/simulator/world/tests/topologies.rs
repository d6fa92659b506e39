//! Chains, several sources, and many servers.

use super::*;

#[test]
fn in_a_chain_lag_adds_up_and_the_original_commit_time_stays() {
    let mut lab = Lab::of(Generation::MySql97, 3);
    lab.point(1, 0);
    lab.point(2, 1);
    lab.run(1000);
    for (replica, source) in [(1, 0), (2, 1)] {
        let far = LinkQuality {
            latency: Span::from_millis(300),
            ..LinkQuality::default()
        };
        lab.world.set_link(replica, source, far);
    }
    let gtid = lab.write(0);
    let committed = lab.world.clock(0);
    let first = lab.until_applied(1, &gtid);
    let second = first + lab.until_applied(2, &gtid);
    assert!((Span::from_millis(300)..Span::from_millis(310)).contains(&first));
    assert!((Span::from_millis(600)..Span::from_millis(620)).contains(&second));
    let worker = lab.status(2).applier.workers.remove(0);
    let applied = worker.last_applied.expect("applied");
    assert!(committed.since(applied.original_commit) < Span::from_millis(2));
    let between = applied.immediate_commit.since(applied.original_commit);
    assert!((Span::from_millis(299)..Span::from_millis(310)).contains(&between));
    assert_eq!(lab.world.executed(2), lab.world.executed(0));
}

#[test]
fn a_replica_copies_from_two_sources_on_a_channel_each() {
    for kind in [Generation::MySql97, Generation::MariaDb1011] {
        let mut lab = Lab::of(kind, 3);
        lab.world.change_settings(1, |s| s.gtid_domain_id = 1);
        lab.point_channel(2, 0, "east");
        lab.point_channel(2, 1, "west");
        lab.run(1000);
        let (east, west) = (lab.write(0), lab.write(1));
        lab.run(100);
        assert!(lab.has(2, &east) && lab.has(2, &west), "{kind:?}");
        assert_eq!(lab.world.channels(2), ["east", "west"]);
        lab.world.stop_applier(2, "east").expect("runs");
        lab.write(0);
        let west = lab.write(1);
        lab.run(100);
        assert!(lab.has(2, &west));
        let behind = |channel| {
            let status = lab.world.channel_status(2, channel);
            status.expect("there").seconds_behind
        };
        assert_eq!((behind("east"), behind("west").is_some()), (None, true));
    }
}

#[test]
fn what_comes_two_ways_is_applied_once() {
    for kind in [Generation::MySql97, Generation::MySql57] {
        let mut lab = Lab::of(kind, 4);
        lab.point(1, 0);
        lab.point(2, 0);
        lab.point_channel(3, 1, "one");
        lab.point_channel(3, 2, "two");
        lab.run(1000);
        for _ in 0..50 {
            lab.write(0);
        }
        lab.run(1000);
        assert_eq!(lab.world.engine(3).applied, 50, "{kind:?}");
        assert_eq!(lab.world.executed(3), lab.world.executed(0));
    }
}

#[test]
fn two_that_copy_from_each_other_do_not_turn_in_circles() {
    for kind in [Generation::MySql97, Generation::MariaDb1011] {
        let mut lab = Lab::of(kind, 2);
        lab.world.change_settings(1, |s| s.gtid_domain_id = 1);
        lab.point(0, 1);
        lab.point(1, 0);
        lab.run(1000);
        lab.write(0);
        lab.write(1);
        lab.run(1000);
        for node in [0, 1] {
            assert_eq!(lab.world.engine(node).applied, 2, "{kind:?}");
            assert_eq!(lab.seconds_behind(node), Some(0));
        }
    }
}

#[test]
fn a_dead_server_in_the_middle_holds_up_those_below_it() {
    let mut lab = Lab::of(Generation::MySql97, 3);
    lab.point(1, 0);
    lab.point(2, 1);
    lab.run(1000);
    lab.world.kill(1);
    let gtid = lab.write(0);
    lab.run(5000);
    assert!(!lab.has(2, &gtid));
    assert_eq!(lab.running(2), (Running::Connecting, true));
    lab.world.restart(1);
    lab.run(3000);
    assert!(lab.has(2, &gtid));
}

/// Not a measurement, but it would not end in time if anything grew with the square of the servers.
#[test]
fn two_hundred_servers_are_carried() {
    let mut lab = Lab::fan(Generation::MySql97, 200);
    let second = Span::from_secs(1);
    lab.world.schedule_event(0, "heartbeat", second, true);
    for _ in 0..60 {
        lab.write(0);
        lab.run(200);
    }
    for replica in 1..=200 {
        assert!(lab.world.engine(replica).applied >= 60 + 10);
        assert_eq!(lab.seconds_behind(replica), Some(0));
    }
}
