//! Why a replica is late: one big transaction, or somebody's lock.

use mysql::prelude::Queryable;
use replicascope::model::lag::{CauseKind, Method};
use replicascope::model::phrase::Arg;
use replicascope::model::time::Moment;

use super::{LATER, SOON};
use crate::support::servers::{Flavour, Plan, Topology};
use crate::support::watching::Watching;

/// How many rows change, and the keys of their table: so that a replica is busy with them for seconds. MariaDB is too
/// quick with a primary key; without one it looks through a hundred rows of a shelf for each that changes. MySQL would
/// then be busy for minutes.
fn rows_and_keys(flavour: Flavour) -> (u32, &'static str) {
    match flavour {
        Flavour::MySql => (300_000, "PRIMARY KEY (id)"),
        Flavour::MariaDb => (100_000, "KEY (shelf)"),
    }
}

fn fill(topology: &Topology) {
    let (rows, keys) = rows_and_keys(topology.source().flavour());
    topology.source().sql(&format!(
        "CREATE DATABASE shop; CREATE TABLE shop.stock \
         (shelf INT NOT NULL, id INT NOT NULL, amount INT NOT NULL, note CHAR(80) NOT NULL, {keys}); \
         INSERT INTO shop.stock WITH RECURSIVE n AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM n WHERE id < 1000) \
         SELECT (a.id + 1000 * (b.id - 1)) DIV 100, a.id + 1000 * (b.id - 1), 0, 'stock' \
         FROM n AS a, n AS b WHERE b.id <= {}",
        rows / 1000
    ));
    topology.replicating();
}

fn a_big_transaction_makes_marks_grow_live(plan: Plan) {
    let topology = plan.replicas(2).start();
    fill(&topology);
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);

    // Twice over all rows: a quick machine applies one pass in two seconds.
    topology.source().sql(
        "START TRANSACTION; UPDATE shop.stock SET amount = amount + 1, note = 'counted'; \
         UPDATE shop.stock SET amount = amount + 1; COMMIT",
    );
    let mut seen: Vec<(Moment, f64)> = Vec::new();
    watching.until(
        "the big transaction to be named as the cause",
        LATER,
        |view| {
            let named = view.cause(1).map(|c| c.kind) == Some(CauseKind::BigTransaction);
            if view.believed(1) == Some(Method::GtidMarks) {
                seen.extend(view.seconds(1).map(|lag| (view.at(), lag)));
            }
            named
                && view.finding(1, "big_transaction").is_some()
                && view.seconds(1).is_some_and(|lag| lag > 2.0)
                && !view.routable(1)
        },
    );
    // From where it began to be late on, the lag has grown as the clock ran: live, and not at the end.
    let late: Vec<(Moment, f64)> = seen.into_iter().skip_while(|(_, lag)| *lag < 0.3).collect();
    let (began, at_first) = late[0];
    for (at, lag) in &late {
        let expected = at_first + at.since(began).secs_f64();
        assert!(
            (lag - expected).abs() < 0.5,
            "{lag} s instead of {expected:.3} s: {late:?}"
        );
    }
    assert!(late.len() > 10, "{late:?}");
    watching.until_well(LATER);
}

fn locks_on_the_replica_are_named_with_their_sessions(plan: Plan) {
    let topology = plan.replicas(2).start();
    topology.source().sql(
        "CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY, amount INT); \
         INSERT INTO shop.orders VALUES (1, 0)",
    );
    topology.replicating();
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);
    let replica = topology.node(1);
    let mut locker = replica.session_as("admin", "admin");
    let session = u64::from(locker.connection_id());
    let mut blocks = |locks: &[&str], names_its_session: bool, unlocks: &str| {
        for statement in locks {
            locker.query_drop(statement).expect("admin may lock");
        }
        topology
            .source()
            .sql("UPDATE shop.orders SET amount = amount + 1");
        watching.until(&format!("{locks:?}: the cause"), SOON, |view| {
            let cause = view.cause(1).filter(|c| c.kind == CauseKind::BlockedByLock);
            cause.is_some_and(|cause| {
                !names_its_session
                    || cause.text.arg("thread") == Some(&Arg::Number(session))
                        && view.say(&cause.text).contains("admin")
            }) && view.finding(1, "applier_blocked_by_lock").is_some()
                && view.believed(1) == Some(Method::GtidMarks)
                && view.seconds(1).is_some_and(|lag| lag > 1.0)
                && !view.routable(1)
        });
        locker.query_drop(unlocks).expect("it may unlock");
        watching.until_well(SOON);
        assert!(
            watching
                .view()
                .finding(1, "applier_blocked_by_lock")
                .is_none()
        );
    };

    // MariaDB tells that somebody holds the global lock, and not who.
    let tells_who = replica.flavour() == Flavour::MySql;
    blocks(&["FLUSH TABLES WITH READ LOCK"], tells_who, "UNLOCK TABLES");
    // Not FOR UPDATE: a super_read_only server refuses that.
    blocks(
        &[
            "START TRANSACTION",
            "SELECT * FROM shop.orders LOCK IN SHARE MODE",
        ],
        true,
        "ROLLBACK",
    );
}

#[test]
fn mysql_big_transaction() {
    a_big_transaction_makes_marks_grow_live(Topology::mysql());
}

#[test]
fn mariadb_big_transaction() {
    a_big_transaction_makes_marks_grow_live(Topology::mariadb());
}

#[test]
fn mysql_lock_on_the_replica() {
    locks_on_the_replica_are_named_with_their_sessions(Topology::mysql());
}

#[test]
fn mariadb_lock_on_the_replica() {
    locks_on_the_replica_are_named_with_their_sessions(Topology::mariadb());
}
