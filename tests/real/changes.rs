//! What changes under our eyes: writes on a replica, roles, restarts, another server under an old address.

use replicascope::link::clock;
use replicascope::model::finding::{Health, Role};
use replicascope::model::lag::Method;
use replicascope::model::phrase::Arg;
use replicascope::model::profile::HeartbeatTable;

use super::{LATER, SOON};
use crate::support::servers::{Plan, Topology};
use crate::support::watching::QUITS_WITHIN;
use crate::support::watching::{View, Watching};

/// The set that the finding about a node shows.
fn errant(view: &View<'_>, node: usize) -> Option<String> {
    let finding = view.finding(node, "errant_transactions")?;
    match finding.evidence.first()?.arg("gtids")? {
        Arg::Text(text) => Some(text.clone()),
        _ => None,
    }
}

#[test]
fn mysql_errant_transactions_are_found_and_go_when_the_source_has_them_too() {
    let topology = Topology::mysql().replicas(2).start();
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);
    let replica = topology.node(1);
    let uuid = replica.uuid();

    replica.sql(
        "SET GLOBAL super_read_only = OFF; CREATE DATABASE errant; SET GLOBAL super_read_only = ON",
    );
    watching.until("the errant transaction to be found", SOON, |view| {
        errant(view, 1).as_deref() == Some(&format!("{uuid}:1"))
    });
    // A FLUSH writes one too, even on a super_read_only replica.
    replica.sql("FLUSH TABLES");
    watching.until("that of the FLUSH to be found", SOON, |view| {
        errant(view, 1).as_deref() == Some(&format!("{uuid}:1-2"))
    });
    assert_eq!(
        errant(&watching.view(), 2),
        None,
        "the other replica has none"
    );

    for number in 1..=2 {
        topology.source().sql(&format!(
            "SET gtid_next = '{uuid}:{number}'; BEGIN; COMMIT; SET gtid_next = 'AUTOMATIC'"
        ));
    }
    watching.until("the finding to go", SOON, |view| errant(view, 1).is_none());
}

#[test]
fn mariadb_errant_transactions_show_by_a_foreign_server_id() {
    let topology = Topology::mariadb()
        .replicas(2)
        .extra_config("gtid-strict-mode = OFF")
        .start();
    // Only then is there something on the source to compare with.
    topology.source().sql("CREATE DATABASE shop");
    topology.replicating();
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);

    let replica = topology.node(1);
    replica.sql("CREATE DATABASE errant");
    watching.until("the errant transaction to be found", SOON, |view| {
        errant(view, 1).is_some_and(|text| text.starts_with("0-2-"))
    });
    let first = errant(&watching.view(), 1);
    replica.sql("FLUSH TABLES");
    watching.until("that of the FLUSH to be found", SOON, |view| {
        errant(view, 1).is_some_and(|text| text.starts_with("0-2-")) && errant(view, 1) != first
    });
    assert_eq!(errant(&watching.view(), 2), None);
    // With the strict mode off the replica goes on, and nothing else shows.
    topology
        .source()
        .sql("CREATE TABLE shop.orders (id INT PRIMARY KEY)");
    watching.until("the replica to go on", SOON, |view| {
        view.health(1) == Health::Ok && errant(view, 1).is_some()
    });
}

/// A heartbeat written once a second by an event, whose account cannot write where read_only is on.
fn beat(topology: &Topology) {
    topology.source().sql(
        "CREATE DATABASE meta; CREATE TABLE meta.repl_heartbeat (id INT PRIMARY KEY, ts DATETIME(3) NOT NULL); \
         INSERT INTO meta.repl_heartbeat VALUES (1, UTC_TIMESTAMP(3)); \
         CREATE USER beat@localhost; GRANT ALL ON meta.* TO beat@localhost; \
         GRANT SELECT, EVENT ON meta.* TO monitor; \
         CREATE DEFINER = beat@localhost EVENT meta.ev_heartbeat ON SCHEDULE EVERY 1 SECOND \
         DO UPDATE meta.repl_heartbeat SET ts = UTC_TIMESTAMP(3) WHERE id = 1",
    );
    topology.replicating();
}

fn wire(replica: usize, source: usize) -> (usize, String, usize) {
    (replica, String::new(), source)
}

fn roles_are_swapped_under_our_eyes(plan: Plan) {
    let topology = plan.replicas(2).start();
    beat(&topology);
    let mut table = HeartbeatTable::repl_heartbeat("meta");
    table.zone = replicascope::model::profile::StampZone::Utc;
    let mut watching = Watching::of(&topology).heartbeat(table).start();
    watching.until("all well, heartbeat too", SOON, |view| {
        view.is_well()
            && view
                .seconds_by(1, Method::Heartbeat)
                .is_some_and(|lag| lag < 1.0)
    });

    topology.swap_roles(1);
    watching.until("the new roles", SOON, |view| {
        let mut wires = view.wires();
        wires.sort();
        [0, 1, 2].map(|node| view.role(node)) == [Role::Replica, Role::Source, Role::Replica]
            && wires == [wire(0, 1), wire(2, 1)]
            && view.finding(0, "role_changed").is_some()
            && view.finding(1, "role_changed").is_some()
            && view.finding(2, "role_changed").is_none()
    });
    watching.poll_now();
    watching.until(
        "the event to be seen disabled on the new source",
        SOON,
        |view| {
            view.finding(1, "heartbeat_event_disabled")
                .is_some_and(|finding| {
                    finding
                        .sql
                        .as_deref()
                        .is_some_and(|sql| sql.contains("ev_heartbeat"))
                })
                && view.finding(0, "heartbeat_event_disabled").is_none()
        },
    );
    assert_eq!(
        errant(&watching.view(), 0),
        None,
        "{}",
        watching.view().describe()
    );

    // What was said helps.
    let sql = watching
        .view()
        .finding(1, "heartbeat_event_disabled")
        .and_then(|f| f.sql.clone());
    topology
        .source()
        .sql(sql.unwrap_or_default().trim_end_matches(';'));
    watching.until("the heartbeat to beat again", SOON, |view| {
        view.finding(1, "heartbeat_event_disabled").is_none()
            && view
                .seconds_by(0, Method::Heartbeat)
                .is_some_and(|lag| lag < 1.0)
    });

    // Marks go the new way.
    watching.until_well(SOON);
    topology.node(0).sql("STOP REPLICA SQL_THREAD");
    watching.until("the old source to be late", SOON, |view| {
        view.health(0) == Health::Stopped
            && view
                .seconds_by(0, Method::GtidMarks)
                .is_some_and(|lag| lag > 1.0)
            && view
                .seconds_by(2, Method::GtidMarks)
                .is_some_and(|lag| lag < 1.0)
    });
    topology.node(0).sql("START REPLICA SQL_THREAD");
    watching.until_well(SOON);
}

#[test]
fn r44_mysql_role_swap() {
    roles_are_swapped_under_our_eyes(Topology::mysql());
}

#[test]
fn r44_mariadb_role_swap() {
    roles_are_swapped_under_our_eyes(Topology::mariadb());
}

#[test]
fn r44_another_server_under_an_old_address_breaks_its_history() {
    let topology = Topology::mysql().replicas(1).start();
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);
    let began = clock::now();
    let before = topology.node(1).uuid();

    topology.node(1).restart_with_new_uuid();
    let after = topology.node(1).uuid();
    watching.until("the replacement to be said with both uuids", SOON, |view| {
        view.finding(1, "server_replaced").is_some_and(|finding| {
            let evidence = finding.evidence.first();
            let said = |name| evidence.and_then(|e| e.arg(name)).cloned();
            said("was") == Some(Arg::Text(before.clone()))
                && said("is") == Some(Arg::Text(after.clone()))
        })
    });
    watching.until("the new server to be well", LATER, |view| {
        view.finding(1, "server_replaced").is_some() && view.seconds(1).is_some_and(|lag| lag < 1.0)
    });
    let history = &watching.view().watched(1).channels[""].headline;
    let columns = history.columns(began, clock::now(), 400);
    let gaps = columns.iter().filter(|column| column.extremes.is_none());
    assert!(gaps.count() >= 1, "a history with a break in it");
}

fn a_restart_is_noticed(plan: Plan) {
    let topology = plan.replicas(1).start();
    let mut watching = Watching::of(&topology).start();
    // As soon as it can be: by the next look it may be up for longer than it was at the last.
    watching.until("all to be well", SOON, |view| view.is_well());
    topology.node(1).restart();
    watching.until("the restart to be said", SOON, |view| {
        view.finding(1, "server_restarted").is_some()
            && view.finding(0, "server_restarted").is_none()
    });
    watching.until("the replica to be well", LATER, |view| view.is_well());
    assert!(watching.view().finding(1, "server_replaced").is_none());
    assert!(watching.close() < QUITS_WITHIN);
}

#[test]
fn mysql_restart() {
    a_restart_is_noticed(Topology::mysql());
}

#[test]
fn mariadb_restart() {
    a_restart_is_noticed(Topology::mariadb());
}
