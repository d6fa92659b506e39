//! Threads that are stopped or broken, and a replica that is late on purpose.

use std::time::Duration;

use mysql::prelude::Queryable;
use replicascope::model::finding::Health;
use replicascope::model::lag::{CauseKind, Method};
use replicascope::model::phrase::Phrase;
use replicascope::model::time::Span;

use super::{LATER, SOON};
use crate::support::servers::{Node, Plan, Topology};
use crate::support::watching::{View, Watching};
use crate::support::writer::Writer;

/// Stopped on purpose, and said so: no read is sent there and nobody is told a lag of zero.
fn is_seen_stopped(view: &View<'_>, node: usize, finding: &str) -> bool {
    view.health(node) == Health::Stopped
        && !view.routable(node)
        && view.finding(node, finding).is_some()
}

fn a_stopped_thread_is_neither_ok_nor_a_lag_of_zero(plan: Plan) {
    let topology = plan.replicas(2).start();
    Writer::prepare(&topology);
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);
    let replica = topology.node(1);

    for (thread, finding, cause) in [
        ("SQL_THREAD", "applier_stopped", CauseKind::ApplierStopped),
        ("IO_THREAD", "receiver_stopped", CauseKind::ReceiverStopped),
    ] {
        replica.sql(&format!("STOP REPLICA {thread}"));
        watching.until(&format!("{thread} to be seen stopped"), SOON, |view| {
            is_seen_stopped(view, 1, finding) && view.cause(1).map(|c| c.kind) == Some(cause)
        });
        topology
            .source()
            .sql("INSERT INTO written.lines () VALUES ()");
        watching.until("marks to tell the age of what is missing", SOON, |view| {
            view.seconds_by(1, Method::GtidMarks)
                .is_some_and(|lag| lag > 1.0)
        });
        watching.always(
            "the stopped replica is late, and the other one well",
            Duration::from_secs(1),
            |view| {
                // With its receiver stopped a server may go on to say 0 (servers differ); nobody may believe it.
                let told = view.seconds_by(1, Method::SecondsBehind);
                is_seen_stopped(view, 1, finding)
                    && view.believed(1) == Some(Method::GtidMarks)
                    && view.seconds(1).is_some_and(|lag| lag > 1.0)
                    && (thread == "IO_THREAD" || told.is_none())
                    && view.health(2) == Health::Ok
                    && view.routable(2)
            },
        );
        replica.sql(&format!("START REPLICA {thread}"));
        watching.until_well(SOON);
        assert!(watching.view().routable(1));
        assert!(watching.view().finding(1, finding).is_none());
    }
}

/// Changes a replica behind replication's back.
fn behind_its_back(replica: &Node, statement: &str) {
    replica.sql(&format!(
        "SET SESSION sql_log_bin = OFF; {}; {statement}; {}",
        replica.flavour().accept_writes(),
        replica.flavour().refuse_writes(),
    ));
}

fn is_the_real_text(view: &View<'_>, evidence: &Phrase) -> bool {
    view.say(evidence).contains("Duplicate entry '4711'")
}

fn a_duplicate_key_breaks_a_replica_in_the_servers_own_words(plan: Plan) {
    let topology = plan.replicas(2).start();
    topology
        .source()
        .sql("CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY)");
    topology.replicating();
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);

    let replica = topology.node(1);
    behind_its_back(replica, "INSERT INTO shop.orders VALUES (4711)");
    topology
        .source()
        .sql("INSERT INTO shop.orders VALUES (4711)");
    watching.until("the break to be seen", SOON, |view| {
        let error = view
            .sample(1)
            .and_then(|sample| sample.channels().first()?.applier_error.clone());
        let cause = view.cause(1).filter(|c| c.kind == CauseKind::ApplierBroken);
        view.health(1) == Health::Broken
            && !view.routable(1)
            && error.is_some_and(|error| error.number == 1062)
            && cause.is_some_and(|cause| cause.evidence.iter().any(|e| is_the_real_text(view, e)))
            && view.finding(1, "applier_broken").is_some()
    });
    let view = watching.view();
    let finding = view.finding(1, "applier_broken").expect("a finding");
    assert!(
        finding.evidence.iter().any(|e| is_the_real_text(&view, e)),
        "{}",
        view.describe()
    );
    assert!(
        format!("{:?}", finding.text.args).contains("1062"),
        "{:?}",
        finding.text
    );
    assert!(view.seconds_by(1, Method::SecondsBehind).is_none());
    assert_eq!(view.health(2), Health::Ok);

    behind_its_back(replica, "DELETE FROM shop.orders WHERE id = 4711");
    replica.sql(replica.flavour().start_replica());
    watching.until_well(SOON);
    assert!(watching.view().finding(1, "applier_broken").is_none());
}

fn a_planned_delay_is_no_lateness(plan: Plan) {
    const DELAY_S: u32 = 5;
    let topology = plan.replicas(2).delay(2, DELAY_S).start();
    Writer::prepare(&topology);
    let mut watching = Watching::of(&topology).start();
    let _writer = Writer::start(topology.source());
    let on_time = |view: &View<'_>| {
        view.health(2) == Health::Ok
            && view.lag(2).is_some_and(|lag| lag.planned_delay == Span::from_secs(DELAY_S.into()))
            && view.believed(2) == Some(Method::GtidMarks)
            // Servers count the delay in whole seconds, so they may be late by one, on a busy machine by two.
            && view.seconds(2).is_some_and(|lag| lag < 3.0)
            && view.cause(2).map(|c| c.kind) == Some(CauseKind::PlannedDelay)
    };
    watching.until("the delayed replica to be on time", SOON, on_time);
    watching.always(
        "the delayed replica is on time, and takes no reads",
        Duration::from_secs(6),
        |view| on_time(view) && !view.routable(2) && view.routable(1),
    );

    // Late beyond the plan is late.
    let mut locker = topology.node(2).session();
    locker
        .query_drop("FLUSH TABLES WITH READ LOCK")
        .expect("root may lock");
    watching.until("lateness beyond the delay", SOON, |view| {
        view.seconds(2).is_some_and(|lag| lag > 3.0)
    });
    drop(locker);
    watching.until("the delayed replica to be on time again", LATER, on_time);
}

#[test]
fn mysql_threads_stopped_and_restarted() {
    a_stopped_thread_is_neither_ok_nor_a_lag_of_zero(Topology::mysql());
}

#[test]
fn mariadb_threads_stopped_and_restarted() {
    a_stopped_thread_is_neither_ok_nor_a_lag_of_zero(Topology::mariadb());
}

#[test]
fn r12_mysql_duplicate_key() {
    a_duplicate_key_breaks_a_replica_in_the_servers_own_words(Topology::mysql());
}

#[test]
fn r12_mariadb_duplicate_key() {
    a_duplicate_key_breaks_a_replica_in_the_servers_own_words(Topology::mariadb());
}

#[test]
fn r14_mysql_planned_delay() {
    a_planned_delay_is_no_lateness(Topology::mysql());
}

#[test]
fn r14_mariadb_planned_delay() {
    a_planned_delay_is_no_lateness(Topology::mariadb());
}
