//! The tests' own servers: what every other test on real servers relies on.

mod support;

use std::time::{Duration, Instant};

use support::servers::{Flavour, Plan, Topology, wait_until};

const SOON: Duration = Duration::from_secs(20);

/// A row written on the source arrives at every replica.
fn assert_rows_travel(topology: &Topology, id: u32) {
    topology.source().sql(&format!(
        "CREATE DATABASE IF NOT EXISTS shop; CREATE TABLE IF NOT EXISTS shop.orders (id INT PRIMARY KEY); \
         INSERT INTO shop.orders VALUES ({id})"
    ));
    topology.replicating();
    for node in topology.nodes() {
        let ids: Vec<u32> = node.rows(&format!("SELECT id FROM shop.orders WHERE id = {id}"));
        assert_eq!(ids, [id], "{node:?}");
    }
}

/// One commit that was acknowledged late switches it off for a moment.
#[track_caller]
fn semi_sync_comes_on(topology: &Topology) {
    wait_until("semi-sync to be on", SOON, || semi_sync_is_on(topology));
}

fn semi_sync_is_on(topology: &Topology) -> bool {
    let source = topology.source();
    let name = match source.flavour() {
        Flavour::MySql => "Rpl_semi_sync_source_status",
        Flavour::MariaDb => "Rpl_semi_sync_master_status",
    };
    let status: (String, String) = source.value(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
    status.1 == "ON"
}

fn a_crashed_replica_comes_back(plan: Plan) {
    let topology = plan.replicas(2).semi_sync(true).start();
    semi_sync_comes_on(&topology);
    assert_rows_travel(&topology, 1);

    let replica = topology.node(1);
    replica.kill();
    assert!(!replica.is_running());
    assert!(replica.try_session().is_err());
    assert_rows_travel_to_the_living(&topology);

    replica.restart();
    assert_rows_travel(&topology, 3);
    assert_eq!(
        replica.rows::<u32>("SELECT id FROM shop.orders ORDER BY id"),
        [1, 2, 3]
    );

    topology.source().kill();
    topology.source().restart();
    assert_rows_travel(&topology, 4);
}

fn assert_rows_travel_to_the_living(topology: &Topology) {
    topology.source().sql("INSERT INTO shop.orders VALUES (2)");
    let living = topology.node(2);
    wait_until("the living replica to have the row", SOON, || {
        living.value::<u32>("SELECT COUNT(*) FROM shop.orders") == 2
    });
}

fn roles_change_hands_and_stay_after_a_restart(plan: Plan) {
    let topology = plan.replicas(2).semi_sync(true).start();
    assert_rows_travel(&topology, 1);
    topology.swap_roles(1);

    assert_eq!(topology.source().index(), 1);
    assert_eq!(topology.node(0).copies_from(), Some(1));
    assert_eq!(topology.node(2).copies_from(), Some(1));
    semi_sync_comes_on(&topology);
    assert_rows_travel(&topology, 2);

    topology.node(0).restart();
    topology.node(1).restart();
    assert!(topology.node(0).value::<bool>("SELECT @@read_only"));
    assert!(!topology.node(1).value::<bool>("SELECT @@read_only"));
    assert_rows_travel(&topology, 3);
    semi_sync_comes_on(&topology);
}

#[test]
fn mysql_replicates_and_survives_crashes() {
    a_crashed_replica_comes_back(Topology::mysql());
}

#[test]
fn mariadb_replicates_and_survives_crashes() {
    a_crashed_replica_comes_back(Topology::mariadb());
}

#[test]
fn mysql_roles_can_be_swapped() {
    roles_change_hands_and_stay_after_a_restart(Topology::mysql());
}

#[test]
fn mariadb_roles_can_be_swapped() {
    roles_change_hands_and_stay_after_a_restart(Topology::mariadb());
}

#[test]
fn a_chain_passes_rows_on_and_one_replica_may_be_late_on_purpose() {
    let topology = Topology::mysql().replicas(2).chain().delay(2, 2).start();
    assert_eq!(topology.node(2).copies_from(), Some(1));
    let sources: Vec<Option<String>> = [1, 2]
        .map(|index| topology.node(index).replica_status()["Source_Port"].clone())
        .into();
    assert_eq!(
        sources,
        [0, 1].map(|index| Some(topology.node(index).port().to_string()))
    );

    let written = Instant::now();
    topology.source().sql("CREATE DATABASE shop");
    topology.replicating();
    assert!(
        written.elapsed() > Duration::from_secs(1),
        "the delayed replica was not late"
    );
    assert_eq!(
        topology
            .node(2)
            .rows::<String>("SHOW DATABASES LIKE 'shop'"),
        ["shop"]
    );
}

#[test]
fn a_frozen_server_says_nothing_until_it_is_woken() {
    let topology = Topology::mysql().replicas(1).start();
    let replica = topology.node(1);
    assert_rows_travel(&topology, 1);
    replica.stop_process();
    topology.source().sql("INSERT INTO shop.orders VALUES (2)");
    assert!(replica.is_running(), "frozen is not dead");

    let was_silent = std::thread::scope(|scope| {
        let asking = scope.spawn(|| replica.value::<u32>("SELECT COUNT(*) FROM shop.orders"));
        std::thread::sleep(Duration::from_millis(500));
        let was_silent = !asking.is_finished();
        replica.continue_process();
        let _ = asking.join().expect("the woken server answers");
        was_silent
    });
    assert!(was_silent);
    topology.replicating();
}

#[test]
fn a_replica_restored_from_a_copy_has_another_uuid() {
    let topology = Topology::mysql().replicas(1).start();
    let replica = topology.node(1);
    let before = replica.uuid();
    assert_ne!(before, topology.source().uuid());
    replica.restart_with_new_uuid();
    assert_ne!(replica.uuid(), before);
    assert_rows_travel(&topology, 1);
}

#[test]
fn accounts_may_what_they_are_for_and_replicas_refuse_writes() {
    for plan in [Topology::mysql(), Topology::mariadb()] {
        let topology = plan.replicas(1).start();
        let replica = topology.node(1);
        use mysql::prelude::Queryable;

        let mut monitor = replica.session_as("monitor", "monitor");
        let status: Vec<mysql::Row> = monitor
            .query("SHOW REPLICA STATUS")
            .expect("monitor may see the status");
        assert_eq!(status.len(), 1);
        assert!(
            monitor.query_drop("STOP REPLICA").is_err(),
            "monitor may only look"
        );

        topology
            .source()
            .session_as("admin", "admin")
            .query_drop("CREATE DATABASE shop")
            .expect("admin may all");
        topology.replicating();
        match replica.flavour() {
            Flavour::MySql => assert!(
                replica.try_sql("CREATE DATABASE errant").is_err(),
                "super_read_only"
            ),
            Flavour::MariaDb => assert!(replica.value::<bool>("SELECT @@read_only")),
        }
        assert_eq!(
            topology
                .source()
                .value::<String>("SELECT @@event_scheduler"),
            "ON"
        );
        assert!(
            topology
                .source()
                .try_sql("DO 1; SELECT no_such_column")
                .is_err(),
            "errors of later statements show"
        );
    }
}

#[test]
fn settings_and_certificates_reach_the_servers() {
    let files = tempfile::tempdir().expect("a temporary folder");
    let made = rcgen::generate_simple_self_signed(vec!["replica.test".to_owned()])
        .expect("a certificate can be made");
    let (cert, key) = (files.path().join("cert.pem"), files.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).expect("a writable folder");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a writable folder");

    let topology = Topology::mysql()
        .replicas(1)
        .tls(&cert, &cert, &key)
        .extra_config("max-connections = 77")
        .extra_config_of(1, "max-connections = 78")
        .start();
    let limits = [0, 1].map(|index| {
        topology
            .node(index)
            .value::<u32>("SELECT @@max_connections")
    });
    assert_eq!(limits, [77, 78]);
    assert_eq!(
        topology.source().value::<String>("SELECT @@ssl_cert"),
        cert.display().to_string()
    );
    let active: (String, String) = topology
        .source()
        .value("SHOW GLOBAL STATUS LIKE 'Ssl_server_not_after'");
    assert_ne!(active.1, "", "the certificate is in use");
}

#[test]
fn nothing_of_a_topology_is_left_when_it_ends() {
    let topology = Topology::mysql().replicas(2).start();
    let folder = topology
        .node(0)
        .dir()
        .parent()
        .expect("inside the topology's folder")
        .to_owned();
    let ports: Vec<u16> = topology.nodes().iter().map(|node| node.port()).collect();
    topology.node(1).stop_process();
    let ending = Instant::now();
    drop(topology);
    assert!(
        ending.elapsed() < Duration::from_secs(10),
        "the end took {:?}",
        ending.elapsed()
    );
    assert!(!folder.exists());
    for port in ports {
        assert!(
            std::net::TcpStream::connect(("127.0.0.1", port)).is_err(),
            "a server still listens on {port}"
        );
    }
}
