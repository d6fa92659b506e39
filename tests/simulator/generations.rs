//! Every generation is polled without a refused question, speaks its own words, and measures lag.

use std::time::Duration;

use replicascope::lab::bed::Bed;
use replicascope::link::{Depth, Dial, Purpose};
use replicascope::model::lab::{Generation, LabPlan, Shape};
use replicascope::model::sample::Sample;
use replicascope::model::trouble::Trouble;

use super::lab::{SOON, admin, dialer, plan, start, watch};

/// Every question of a poll that was answered with a refusal.
fn refused(sample: &Sample) -> Vec<(&'static str, Trouble)> {
    let mut refused = Vec::new();
    macro_rules! look {
        ($($name:ident),*) => {
            $(if let Some(trouble) = sample.$name.refused() {
                refused.push((stringify!($name), trouble.clone()));
            })*
        };
    }
    look!(
        channels,
        appliers,
        binlog,
        status,
        settings,
        semi_sync,
        heartbeat,
        transactions,
        lock_waits,
        statements,
        found_replicas,
        events,
        binary_logs,
        platform_lag
    );
    refused
}

#[test]
fn no_question_of_a_poll_is_refused() {
    for generation in Generation::ALL {
        let lab = start(&plan(generation));
        let watcher = lab.accounts().watcher;
        for server in 0..3 {
            let mut link = dialer(&lab, server, &watcher)
                .dial(Purpose::Poll)
                .expect("the server lets us in");
            for depth in [Depth::Full, Depth::Suspicious] {
                let sample = link.poll(depth).expect("a sample");
                assert_eq!(refused(&sample), [], "{generation:?} {server} {depth:?}");
            }
        }
    }
}

#[test]
fn every_generation_is_well_and_its_lag_is_measured() {
    for generation in Generation::ALL {
        let lab = start(&plan(generation));
        let mut watching = watch(&lab);
        let taken = watching.until_well(SOON);
        eprintln!("{}: well after {taken:?}", generation.code());
        assert_eq!(watching.view().replicas_of(0), [1, 2], "{generation:?}");
    }
}

#[test]
fn a_stopped_applier_is_found_in_every_generation() {
    use replicascope::model::finding::Health;
    for generation in Generation::ALL {
        let lab = start(&plan(generation));
        let mut watching = watch(&lab);
        watching.until_well(SOON);
        let word = match generation {
            Generation::MySql57 => "SLAVE",
            _ => "REPLICA",
        };
        let mut replica = admin(&lab, 1);
        replica.run(&format!("STOP {word} SQL_THREAD"));
        watching.until("the applier to be seen stopped", SOON, |view| {
            view.health(1) == Health::Stopped
        });
        replica.run(&format!("START {word} SQL_THREAD"));
        watching.until_well(SOON);
    }
}

#[test]
fn what_a_generation_does_not_have_is_refused_as_it_refuses_it() {
    use Generation::{MariaDb1011, MySql57, MySql80, MySql97};
    for (generation, sql, code) in [
        (MySql97, "SHOW SLAVE STATUS", 1064),
        (MySql97, "SHOW MASTER STATUS", 1064),
        (MySql97, "STOP SLAVE", 1064),
        (MySql97, "CHANGE MASTER TO MASTER_DELAY = 1", 1064),
        (MySql97, "RESET MASTER", 1064),
        (MySql97, "SHOW ALL SLAVES STATUS", 1064),
        (MySql97, "SELECT @@slave_parallel_type", 1193),
        (MySql97, "SELECT @@gtid_slave_pos", 1193),
        (MySql97, "SELECT MASTER_GTID_WAIT('0-1-1', 1)", 1046),
        (MySql80, "SHOW BINARY LOG STATUS", 1064),
        (MySql57, "SHOW REPLICA STATUS", 1064),
        (MySql57, "START REPLICA", 1064),
        (MySql57, "SHOW REPLICAS", 1064),
        (
            MySql57,
            "SELECT * FROM performance_schema.processlist",
            1146,
        ),
        (MySql57, "SELECT @@replica_parallel_workers", 1193),
        (MariaDb1011, "SHOW REPLICAS", 1064),
        (MariaDb1011, "SHOW BINARY LOG STATUS", 1064),
        (
            MariaDb1011,
            "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 1",
            1064,
        ),
        (MariaDb1011, "SELECT @@server_uuid", 1193),
        (MariaDb1011, "SELECT @@super_read_only", 1193),
        (
            MariaDb1011,
            "SELECT * FROM performance_schema.replication_connection_status",
            1146,
        ),
    ] {
        let lab = start(&LabPlan {
            replicas: 1,
            ..plan(generation)
        });
        assert_eq!(admin(&lab, 1).refused(sql), code, "{generation:?}: {sql}");
    }
}

#[test]
fn several_sources_and_chains_replicate_in_every_generation() {
    for generation in [
        Generation::MySql57,
        Generation::MySql97,
        Generation::MariaDb118,
    ] {
        for shape in [Shape::MultiSource, Shape::Chain] {
            let lab = start(&LabPlan {
                shape,
                ..plan(generation)
            });
            let last = lab.nodes().len() - 1;
            let before = admin(&lab, last).value("SELECT MAX(ts) FROM replicascope.heartbeat");
            let mut seen = admin(&lab, last);
            let has_beaten = super::support::eventually(Duration::from_secs(10), || {
                seen.value("SELECT MAX(ts) FROM replicascope.heartbeat") > before
            });
            assert!(has_beaten, "{generation:?} {shape:?}");
        }
    }
}
