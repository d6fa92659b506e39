//! Statements that take long, as somebody types them who does not think of the others: everybody else goes on.

use std::thread;
use std::time::{Duration, Instant};

use replicascope::lab::bed::Bed;
use replicascope::lab::simulator::Simulator;
use replicascope::model::lab::{Generation, LabPlan};

use replicascope::mysql::hand::Hand;

use super::lab::{Said, admin, dialer, plan, start};
use super::support::eventually;

/// A thousand million rows to look at.
const CROSS_JOIN: &str = "SELECT COUNT(*) FROM shop.orders a, shop.orders b, shop.orders c \
                          WHERE a.amount + b.amount + c.amount < 0";

const SOON: Duration = Duration::from_secs(20);

/// Far less than any of these statements takes, and more than a busy machine adds to a read.
const PROMPT: Duration = Duration::from_millis(250);

fn lab() -> Simulator {
    start(&LabPlan {
        replicas: 1,
        ..plan(Generation::MySql97)
    })
}

fn is_running(watcher: &mut Said, id: u64) -> bool {
    let command = format!(
        "SELECT COUNT(*) FROM performance_schema.processlist WHERE ID = {id} AND COMMAND = 'Query'"
    );
    watcher.value(&command) == "1"
}

/// What an ordinary read takes, in the middle of many.
fn usual_wait(session: &mut Said, sql: &str) -> Duration {
    const READS: usize = 40;
    let mut waits: Vec<Duration> = (0..READS)
        .map(|_| {
            let began = Instant::now();
            session.rows(sql);
            began.elapsed()
        })
        .collect();
    waits.sort();
    waits[READS / 2]
}

#[test]
fn while_somebody_joins_everything_with_everything_others_are_answered() {
    let lab = lab();
    let (mut victim, mut other, mut replica) = (admin(&lab, 0), admin(&lab, 0), admin(&lab, 1));
    let id = victim.0.id();
    let joining = thread::spawn(move || (victim.refused(CROSS_JOIN), victim));
    assert!(eventually(SOON, || is_running(&mut other, id)));
    for session in [&mut other, &mut replica] {
        for sql in [
            "SELECT COUNT(*) FROM shop.orders WHERE customer < 50",
            "SHOW REPLICA STATUS",
            "SELECT @@GLOBAL.gtid_executed",
        ] {
            let wait = usual_wait(session, sql);
            assert!(wait < PROMPT, "{sql}: {wait:?}");
        }
    }
    other.run("UPDATE shop.orders SET status = 'meanwhile' WHERE id = 5");
    let arrived = "SELECT status FROM shop.orders WHERE id = 5";
    assert!(eventually(SOON, || replica.value(arrived) == "meanwhile"));
    assert!(is_running(&mut other, id));
    other.run(&format!("KILL QUERY {id}"));
    let (code, mut victim) = joining.join().unwrap();
    assert_eq!(code, 1317);
    assert_eq!(victim.value("SELECT 1"), "1");
    victim.run("SET SESSION max_execution_time = 300");
    assert_eq!(victim.refused(CROSS_JOIN), 3024);
}

#[test]
fn a_join_of_system_tables_does_not_hold_them_either() {
    let lab = lab();
    let (mut victim, mut other) = (admin(&lab, 0), admin(&lab, 0));
    let id = victim.0.id();
    let endless =
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT SUM(i) FROM n";
    let counting = thread::spawn(move || victim.refused(endless));
    assert!(eventually(SOON, || is_running(&mut other, id)));
    let wait = usual_wait(
        &mut other,
        "SELECT COUNT(*) FROM performance_schema.threads",
    );
    assert!(wait < PROMPT, "{wait:?}");
    assert!(is_running(&mut other, id));
    other.run(&format!("KILL {id}"));
    // The connection is gone: no number of an error.
    assert!(counting.join().is_err());
}

#[test]
fn a_client_that_goes_away_takes_its_statement_with_it() {
    let lab = lab();
    let mut other = admin(&lab, 0);
    let dialer = dialer(&lab, 0, &lab.accounts().admin);
    // Of each answer; also of those to its login.
    let mut impatient = Hand::open(&dialer, Duration::from_secs(3)).unwrap();
    let id = impatient.id();
    assert!(impatient.rows(CROSS_JOIN).is_err());
    assert!(impatient.is_spoiled());
    drop(impatient);
    let is_gone = format!("SELECT COUNT(*) FROM performance_schema.processlist WHERE ID = {id}");
    assert!(eventually(SOON, || other.value(&is_gone) == "0"));
}

/// Looks at a million pairs before it changes ten thousand rows.
const SLOW_UPDATE: &str = "UPDATE shop.big SET n = n + 1 \
     WHERE (SELECT COUNT(*) FROM shop.orders o WHERE o.amount + n < 0) = 0";

#[test]
fn a_change_of_very_many_rows_keeps_them_from_others_but_not_the_server() {
    let lab = lab();
    let (mut victim, mut other, mut replica) = (admin(&lab, 0), admin(&lab, 0), admin(&lab, 1));
    victim.run("CREATE TABLE shop.big (id INT PRIMARY KEY AUTO_INCREMENT, n INT NOT NULL)");
    victim.run("INSERT INTO shop.big (n) SELECT 7 FROM shop.orders a, shop.orders b LIMIT 10000");
    let id = victim.0.id();
    let changing = thread::spawn(move || victim.run(SLOW_UPDATE));
    assert!(eventually(SOON, || is_running(&mut other, id)));
    let wait = usual_wait(&mut other, "SELECT n FROM shop.big WHERE id = 10000");
    assert!(wait < PROMPT, "{wait:?}");
    assert!(is_running(&mut other, id));
    assert_eq!(other.value("SELECT n FROM shop.big WHERE id = 10000"), "7");
    other.run("SET SESSION innodb_lock_wait_timeout = 1");
    assert_eq!(
        other.refused("UPDATE shop.big SET n = 0 WHERE id = 1"),
        1205
    );
    other.run(&format!("KILL QUERY {id}"));
    assert!(changing.join().is_err(), "ended");
    other.run("UPDATE shop.big SET n = 0 WHERE id = 1");
    let mut victim = admin(&lab, 0);
    victim.run("UPDATE shop.big SET n = n + 1 WHERE (SELECT COUNT(*) FROM shop.orders o WHERE o.id < 40 AND o.amount + n < 0) = 0");
    let sum = "SELECT CONCAT(COUNT(*), ' ', SUM(n)) FROM shop.big";
    assert_eq!(other.value(sum), "10000 79993");
    assert!(eventually(SOON, || replica.value(sum) == "10000 79993"));
}

#[test]
fn more_rows_than_a_transaction_may_change_are_refused() {
    let lab = lab();
    let mut one = admin(&lab, 0);
    one.run("CREATE TABLE shop.big (n INT NOT NULL)");
    assert_eq!(
        one.refused("INSERT INTO shop.big SELECT a.id FROM shop.orders a, shop.orders b"),
        1206
    );
    assert_eq!(one.value("SELECT COUNT(*) FROM shop.big"), "0");
    one.run("INSERT INTO shop.big SELECT id FROM shop.orders");
    assert_eq!(one.value("SELECT COUNT(*) FROM shop.big"), "1000");
}
