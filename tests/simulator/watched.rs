//! What goes wrong in a simulation is found by the product, and is no longer found when it is over.

use std::thread;
use std::time::{Duration, Instant};

use replicascope::lab::bed::{Bed, LinkQuality};
use replicascope::model::finding::{Health, Role};
use replicascope::model::lab::{Generation, LabPlan, Shape};
use replicascope::model::lag::Method;
use replicascope::model::time::Span;

use super::lab::{SOON, Said, admin, plan, start, watch};

const UPDATE: &str = "UPDATE shop.orders SET amount = amount + 1 WHERE id = 7";

/// Writes all the while.
fn writer(mut source: Said, every: Duration) -> impl Drop {
    struct Writer(Option<(std::sync::mpsc::Sender<()>, thread::JoinHandle<()>)>);
    impl Drop for Writer {
        fn drop(&mut self) {
            if let Some((stop, thread)) = self.0.take() {
                drop(stop);
                let _ = thread.join();
            }
        }
    }
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        while stopped.recv_timeout(every) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = source.0.run(UPDATE);
        }
    });
    Writer(Some((stop, thread)))
}

#[test]
fn a_quiet_topology_is_well_and_its_lag_is_small() {
    let lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let view = watching.view();
    assert_eq!(view.role(0), Role::Source);
    assert_eq!(view.replicas_of(0), [1, 2]);
    watching.until("the heartbeat to be read", SOON, |view| {
        view.seconds_by(1, Method::Heartbeat)
            .is_some_and(|lag| lag < 1.0)
    });
    assert_eq!(
        watching.view().findings(),
        [],
        "{}",
        watching.view().describe()
    );
    // The link takes less than a millisecond and applying as little; a mark is looked for every few. The rest is what a
    // busy machine adds.
    watching.until("lag to be what it is", SOON, |view| {
        view.seconds(1).is_some_and(|lag| lag < 0.15)
    });
    watching.always("lag stays small", Duration::from_secs(2), |view| {
        view.seconds(1).is_some_and(|lag| lag < 1.0)
    });
}

#[test]
fn latency_of_a_link_is_measured_as_lag() {
    let mut lab = start(&plan(Generation::MySql97));
    let _writing = writer(admin(&lab, 0), Duration::from_millis(50));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let slow = LinkQuality {
        latency: Span::from_millis(800),
        ..LinkQuality::default()
    };
    lab.set_link(1, 0, slow).unwrap();
    watching.until("800 ms to show on the one replica", SOON, |view| {
        let one = view.seconds_by(1, Method::GtidMarks);
        one.is_some_and(|lag| (0.75..1.2).contains(&lag))
            && view.seconds(2).is_some_and(|lag| lag < 0.2)
    });
    lab.set_link(1, 0, LinkQuality::default()).unwrap();
    watching.until_well(SOON);
}

#[test]
fn a_stopped_applier_is_found_and_its_lag_grows() {
    let lab = start(&plan(Generation::MySql97));
    let _writing = writer(admin(&lab, 0), Duration::from_millis(50));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let mut replica = admin(&lab, 1);
    replica.run("STOP REPLICA SQL_THREAD");
    watching.until("the applier to be seen stopped", SOON, |view| {
        view.health(1) == Health::Stopped && view.finding(1, "applier_stopped").is_some()
    });
    assert_eq!(
        replica.field("SHOW REPLICA STATUS", "Seconds_Behind_Source"),
        None
    );
    replica.run("START REPLICA SQL_THREAD");
    watching.until_well(SOON);
}

#[test]
fn a_duplicate_key_breaks_the_applier_until_it_is_skipped() {
    let lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let mut replica = admin(&lab, 1);
    let row = "INSERT INTO shop.orders (id, customer, address, status, amount) VALUES (7000, 1, 'x', 'new', 1)";
    replica.run("SET GLOBAL super_read_only = OFF; SET SESSION sql_log_bin = 0");
    replica.run(row);
    replica.run("SET SESSION sql_log_bin = 1; SET GLOBAL super_read_only = ON");
    admin(&lab, 0).run(row);
    watching.until("the applier to be seen broken", SOON, |view| {
        view.finding(1, "applier_broken").is_some() && view.health(2) == Health::Ok
    });
    let failed = replica.value(
        "SELECT APPLYING_TRANSACTION FROM performance_schema.replication_applier_status_by_worker \
         WHERE LAST_ERROR_NUMBER = 1062",
    );
    replica.run(&format!(
        "SET gtid_next = '{failed}'; BEGIN; COMMIT; SET gtid_next = 'AUTOMATIC'; START REPLICA"
    ));
    watching.until_well(SOON);
}

#[test]
fn a_lock_on_the_replica_is_found_with_its_holder() {
    let lab = start(&plan(Generation::MySql97));
    let _writing = writer(admin(&lab, 0), Duration::from_millis(50));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let mut holder = admin(&lab, 1);
    holder.run("LOCK TABLES shop.orders READ");
    let id = holder.0.id();
    watching.until("the applier to be seen waiting", SOON, |view| {
        view.finding(1, "applier_blocked_by_lock")
            .is_some_and(|finding| format!("{finding:?}").contains(&id.to_string()))
    });
    holder.run("UNLOCK TABLES");
    watching.until_well(SOON);
}

#[test]
fn a_row_lock_on_the_replica_is_found_too() {
    let lab = start(&plan(Generation::MySql97));
    let _writing = writer(admin(&lab, 0), Duration::from_millis(50));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let mut holder = admin(&lab, 1);
    holder.run("SET GLOBAL super_read_only = OFF; SET SESSION sql_log_bin = 0; BEGIN");
    holder.run(UPDATE);
    watching.until("the applier to be seen waiting", SOON, |view| {
        view.finding(1, "applier_blocked_by_lock").is_some()
    });
    holder.run("ROLLBACK; SET GLOBAL super_read_only = ON");
    watching.until_well(SOON);
}

#[test]
fn a_big_transaction_is_found_while_it_is_applied() {
    let lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let mut source = admin(&lab, 0);
    source.run("CREATE TABLE shop.bulk (id INT NOT NULL PRIMARY KEY, note VARCHAR(60) NOT NULL)");
    let digits = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 \
                  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    let fill = format!(
        "INSERT INTO shop.bulk (id, note) SELECT 1 * d0.d + 10 * d1.d + 100 * d2.d + 1000 * d3.d + 10000 * d4.d \
         + 100000 * d5.d, 'x' FROM {digits} d0 CROSS JOIN {digits} d1 CROSS JOIN {digits} d2 CROSS JOIN {digits} d3 \
         CROSS JOIN {digits} d4 CROSS JOIN {digits} d5 LIMIT 300000"
    );
    let filling = thread::spawn(move || source.run(&fill));
    watching.until("the replica to be seen at it", SOON, |view| {
        view.finding(1, "big_transaction").is_some()
    });
    filling.join().unwrap();
    watching.until_well(SOON);
}

#[test]
fn lost_semi_sync_is_found_and_comes_back() {
    let lab = start(&plan(Generation::MySql97));
    let _writing = writer(admin(&lab, 0), Duration::from_millis(50));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let mut replicas = [admin(&lab, 1), admin(&lab, 2)];
    for replica in &mut replicas {
        replica.run("STOP REPLICA IO_THREAD");
    }
    watching.until("semi-sync to be seen degraded", SOON, |view| {
        view.finding(0, "semi_sync_degraded").is_some()
    });
    for replica in &mut replicas {
        replica.run("START REPLICA IO_THREAD");
    }
    watching.until_well(SOON);
}

#[test]
fn an_errant_transaction_is_found() {
    let lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let mut replica = admin(&lab, 1);
    replica.run("SET GLOBAL super_read_only = OFF");
    replica.run(
        "INSERT INTO shop.orders (customer, address, status, amount) VALUES (1, 'x', 'new', 1)",
    );
    replica.run("SET GLOBAL super_read_only = ON");
    watching.until("the errant transaction to be found", SOON, |view| {
        view.finding(1, "errant_transactions").is_some()
    });
}

#[test]
fn a_delayed_replica_is_late_on_purpose() {
    let lab = start(&LabPlan {
        shape: Shape::Delayed {
            delay: Span::from_secs(3),
        },
        ..plan(Generation::MySql97)
    });
    let mut watching = watch(&lab);
    watching.until("the last replica to be known as delayed", SOON, |view| {
        view.finding(2, "delayed_replica").is_some() && view.health(1) == Health::Ok
    });
    let (mut source, mut replica) = (admin(&lab, 0), admin(&lab, 2));
    let sql_delay = replica.field("SHOW REPLICA STATUS", "SQL_Delay");
    assert_eq!(sql_delay.as_deref(), Some("3"));
    let began = Instant::now();
    source.run("UPDATE shop.orders SET status = 'late' WHERE id = 9");
    let gtids = source
        .value("SELECT @@GLOBAL.gtid_executed")
        .replace('\n', "");
    let wait = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', 20)");
    assert_eq!(replica.value(&wait), "0");
    // Of a delay in whole seconds the first may be short.
    let taken = began.elapsed().as_secs_f64();
    assert!(taken >= 2.0, "{taken} s");
}

#[test]
fn a_killed_server_is_missed_and_comes_back_on_its_port() {
    let mut lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let port = lab.nodes()[1].port;
    lab.kill(1).unwrap();
    assert!(!lab.nodes()[1].is_up);
    watching.until("the server to be missed", SOON, |view| {
        !view.is_up(1) && view.health(1) == Health::Unknown && view.health(2) == Health::Ok
    });
    lab.restart(1).unwrap();
    assert_eq!(lab.nodes()[1].port, port);
    watching.until_well(SOON);
}

#[test]
fn a_clock_that_is_ahead_is_found() {
    let mut lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    lab.set_clock(1, Span::from_secs(90)).unwrap();
    watching.until("the clock to be found wrong", SOON, |view| {
        view.finding(1, "clock_skew").is_some()
    });
    lab.set_clock(1, Span::ZERO).unwrap();
    watching.until_well(SOON);
}
