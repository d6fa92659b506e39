//! Who is what, and who replicates from whom.

use replicascope::model::finding::{Health, Role};

use super::SOON;
use crate::support::servers::{Flavour, Plan, Topology};
use crate::support::watching::{View, Watching};

fn roles(view: &View<'_>) -> Vec<Role> {
    (0..3).map(|node| view.role(node)).collect()
}

fn wire(replica: usize, channel: &str, source: usize) -> (usize, String, usize) {
    (replica, channel.to_owned(), source)
}

fn found_ports(view: &View<'_>, node: usize) -> Vec<u16> {
    let found = view
        .sample(node)
        .and_then(|sample| sample.found_replicas.value());
    let mut ports: Vec<u16> = found
        .iter()
        .flat_map(|found| found.iter())
        .filter_map(|replica| replica.port)
        .collect();
    ports.sort_unstable();
    ports
}

fn a_source_and_its_replicas_know_each_other(plan: Plan) {
    let topology = plan.replicas(2).start();
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);

    let view = watching.view();
    assert_eq!(roles(&view), [Role::Source, Role::Replica, Role::Replica]);
    assert_eq!(view.wires(), [wire(1, "", 0), wire(2, "", 0)]);
    let mut ports = [topology.node(1).port(), topology.node(2).port()];
    ports.sort_unstable();
    assert_eq!(found_ports(&view, 0), ports, "{}", view.describe());
    assert_eq!(
        view.findings().iter().map(|f| f.code).collect::<Vec<_>>(),
        [""; 0]
    );
}

fn a_chain_has_a_replica_in_its_middle_that_is_a_source_too(plan: Plan) {
    let topology = plan.replicas(2).chain().start();
    let mut watching = Watching::of(&topology).start();
    watching.until_well(SOON);

    let view = watching.view();
    assert_eq!(
        roles(&view),
        [Role::Source, Role::Intermediate, Role::Replica]
    );
    assert_eq!(view.wires(), [wire(1, "", 0), wire(2, "", 1)]);
    assert_eq!(found_ports(&view, 0), [topology.node(1).port()]);
    assert_eq!(found_ports(&view, 1), [topology.node(2).port()]);
}

/// Points the first replica at a second source, by a channel of its own.
fn follow_too(replica: &crate::support::servers::Node, port: u16) {
    replica.sql(&match replica.flavour() {
        Flavour::MySql => format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='repl', \
             SOURCE_PASSWORD='repl', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1 FOR CHANNEL 'orders'; \
             START REPLICA FOR CHANNEL 'orders'"
        ),
        Flavour::MariaDb => format!(
            "CHANGE MASTER 'orders' TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='repl', \
             MASTER_PASSWORD='repl', MASTER_USE_GTID=slave_pos; START REPLICA 'orders'"
        ),
    });
}

fn a_replica_of_two_sources_has_two_channels_and_the_worst_speaks(plan: Plan) {
    let topology = plan.clone().replicas(1).start();
    let other = plan
        .replicas(0)
        .extra_config(match topology.source().flavour() {
            Flavour::MySql => "server-id = 70",
            Flavour::MariaDb => "server-id = 70\ngtid-domain-id = 7",
        })
        .start();
    other.source().sql("CREATE DATABASE orders");
    follow_too(topology.node(1), other.source().port());
    let mut watching = Watching::of(&topology).also(other.source()).start();
    watching.until_well(SOON);
    let wires = watching.view().wires();
    assert_eq!(wires, [wire(1, "", 0), wire(1, "orders", 2)]);

    let replica = topology.node(1);
    replica.sql(match replica.flavour() {
        Flavour::MySql => "STOP REPLICA SQL_THREAD FOR CHANNEL 'orders'",
        Flavour::MariaDb => "STOP REPLICA 'orders' SQL_THREAD",
    });
    other
        .source()
        .sql("CREATE TABLE orders.new (id INT PRIMARY KEY)");
    watching.until("the one channel to be seen stopped", SOON, |view| {
        let health = |name| view.channel(1, name).map(|channel| channel.health);
        health("orders") == Some(Health::Stopped)
            && health("") == Some(Health::Ok)
            && view.health(1) == Health::Stopped
            && !view.routable(1)
    });
    replica.sql(match replica.flavour() {
        Flavour::MySql => "START REPLICA SQL_THREAD FOR CHANNEL 'orders'",
        Flavour::MariaDb => "START REPLICA 'orders' SQL_THREAD",
    });
    watching.until_well(SOON);
}

#[test]
fn mysql_source_and_replicas_know_each_other() {
    a_source_and_its_replicas_know_each_other(Topology::mysql());
}

#[test]
fn mariadb_source_and_replicas_know_each_other() {
    a_source_and_its_replicas_know_each_other(Topology::mariadb());
}

#[test]
fn mysql_chain() {
    a_chain_has_a_replica_in_its_middle_that_is_a_source_too(Topology::mysql());
}

#[test]
fn mariadb_chain() {
    a_chain_has_a_replica_in_its_middle_that_is_a_source_too(Topology::mariadb());
}

#[test]
fn r13_mysql_replica_of_two_sources() {
    a_replica_of_two_sources_has_two_channels_and_the_worst_speaks(Topology::mysql());
}

#[test]
fn r13_mariadb_replica_of_two_sources() {
    a_replica_of_two_sources_has_two_channels_and_the_worst_speaks(Topology::mariadb());
}
