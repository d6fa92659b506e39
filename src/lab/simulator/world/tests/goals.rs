//! START REPLICA UNTIL.

use super::*;
use crate::model::gtid::Gtids;

/// A replica that has received six transactions and applied none of them.
fn six_received(kind: Generation) -> (Lab, Vec<Gtid>) {
    let mut lab = Lab::fan(kind, 1);
    lab.run(100);
    lab.world.stop_applier(1, "").expect("there");
    let gtids = (0..6).map(|_| lab.write(0)).collect();
    lab.run(100);
    (lab, gtids)
}

fn set(lab: &Lab, gtid: &Gtid) -> Gtids {
    let flavour = lab.world.identity(0).generation.flavour();
    Gtids::parse(&gtid.to_string(), flavour).expect("a GTID")
}

/// How many of them are applied once it has stopped.
fn applied_until(lab: &mut Lab, goal: Goal, gtids: &[Gtid]) -> usize {
    let told = lab.world.start_applier_until(1, "", Some(goal.clone()));
    told.expect("there");
    lab.run(500);
    assert_eq!(lab.running(1), (Running::Yes, false), "{goal:?}");
    assert_eq!(lab.status(1).applier.goal, Some(goal));
    gtids.iter().filter(|gtid| lab.has(1, gtid)).count()
}

#[test]
fn it_stops_before_or_after_the_transaction_that_was_named() {
    for kind in KINDS {
        let (mut lab, gtids) = six_received(kind);
        // MariaDB has no such word.
        if !kind.flavour().is_mariadb() {
            let before = Goal::Before(set(&lab, &gtids[2]));
            assert_eq!(applied_until(&mut lab, before, &gtids), 2, "{kind:?}");
        }
        let after = Goal::After(set(&lab, &gtids[4]));
        assert_eq!(
            applied_until(&mut lab, after.clone(), &gtids),
            5,
            "{kind:?}"
        );
        // What is there already stops it at once.
        assert_eq!(applied_until(&mut lab, after, &gtids), 5, "{kind:?}");
        lab.world.start_applier(1, "").expect("there");
        lab.run(500);
        assert_eq!(lab.running(1), (Running::Yes, true), "{kind:?}");
        assert_eq!(lab.status(1).applier.goal, None);
        assert!(lab.has(1, &gtids[5]), "{kind:?}");
    }
}

#[test]
fn a_transaction_that_begins_before_the_position_is_applied_whole() {
    let (mut lab, gtids) = six_received(Generation::MySql97);
    let file = lab.world.binlog_position(0).file;
    let all = lab.world.binlog_transactions(0, &file, 0, 100);
    let third = all
        .iter()
        .find(|t| t.gtid == gtids[2])
        .expect("logged")
        .start;
    for (position, wanted) in [(third, 2), (third + 1, 3)] {
        let file = file.clone();
        let goal = Goal::Position(LogPosition { file, position });
        assert_eq!(applied_until(&mut lab, goal, &gtids), wanted, "{position}");
    }
}

#[test]
fn a_goal_that_is_still_to_come_is_waited_for() {
    let (mut lab, gtids) = six_received(Generation::MySql97);
    let end = lab.world.binlog_position(0);
    let goal = Goal::Position(LogPosition {
        position: end.position + 1,
        ..end
    });
    lab.world
        .start_applier_until(1, "", Some(goal))
        .expect("there");
    lab.run(500);
    assert_eq!(lab.running(1), (Running::Yes, true));
    assert!(lab.has(1, &gtids[5]));
    let (last, beyond) = (lab.write(0), lab.write(0));
    lab.run(500);
    assert_eq!(lab.running(1), (Running::Yes, false));
    assert_eq!((lab.has(1, &last), lab.has(1, &beyond)), (true, false));
}
