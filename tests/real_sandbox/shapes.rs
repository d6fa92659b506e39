//! Who copies from whom, what stands on each server, and who may what.

use super::*;

fn a_fan_replicates_with_all_that_stands_on_it(flavour: Flavour) {
    let lab = start(flavour, Shape::Fan, 2);
    let nodes = lab.nodes();
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["source", "replica-1", "replica-2"]);
    assert!(nodes.iter().all(|node| node.is_up));
    assert_orders_travel(&lab, 0, &[1, 2]);

    for replica in [1, 2] {
        assert_eq!(threads(&lab, replica), [yes_yes()]);
        assert_eq!(value(&lab, replica, "SELECT @@read_only"), "1");
        assert_eq!(
            value(&lab, replica, "SELECT COUNT(*) FROM shop.orders"),
            "1001"
        );
    }
    assert_eq!(value(&lab, 0, "SELECT @@read_only"), "0");
    wait_for("semi-sync to be on", SOON, || {
        let status = semi_sync(&lab, 0, "status");
        if status == "ON" { Ok(()) } else { Err(status) }
    });
    assert_eq!(semi_sync(&lab, 0, "clients"), "2");
    // Commits are acknowledged; a busy machine may have let one through that was not.
    assert_ne!(semi_sync(&lab, 0, "yes_tx"), "0");
    the_heart_beats(&lab, 0, 2);
}

fn semi_sync(lab: &Sandbox, server: LabServer, what: &str) -> String {
    let sql = format!("SHOW GLOBAL STATUS LIKE 'Rpl\\_semi\\_sync\\_%\\_{what}'");
    let rows = hand(lab, server).rows(&sql).expect("a status");
    let value = rows.iter().find(|row| {
        let name = row[0].as_deref().unwrap_or_default();
        name.contains("source") || name.contains("master")
    });
    value.and_then(|row| row[1].clone()).unwrap_or_default()
}

/// The source's row on the replica is renewed.
#[track_caller]
fn the_heart_beats(lab: &Sandbox, source: LabServer, replica: LabServer) {
    let sql = format!(
        "SELECT ts FROM replicascope.heartbeat WHERE server_id = {}",
        source + 1
    );
    let first = wait_for("a first beat", SOON, || {
        let beat = value(lab, replica, &sql);
        if beat.is_empty() { Err(beat) } else { Ok(beat) }
    });
    wait_for("the next beat", SOON, || {
        let beat = value(lab, replica, &sql);
        if beat > first { Ok(()) } else { Err(beat) }
    });
}

#[test]
fn mysql_fan() {
    a_fan_replicates_with_all_that_stands_on_it(MYSQL);
}

#[test]
fn mariadb_fan() {
    a_fan_replicates_with_all_that_stands_on_it(MARIADB);
}

fn a_chain_passes_orders_on(flavour: Flavour) {
    let lab = start(flavour, Shape::Chain, 2);
    let from: Vec<Vec<usize>> = lab.nodes().into_iter().map(|n| n.copies_from).collect();
    assert_eq!(from, [vec![], vec![0], vec![1]]);
    assert_orders_travel(&lab, 0, &[2]);
    assert_eq!(semi_sync(&lab, 0, "clients"), "1");
    assert_eq!(semi_sync(&lab, 1, "clients"), "1");
}

#[test]
fn mysql_chain() {
    a_chain_passes_orders_on(MYSQL);
}

#[test]
fn mariadb_chain() {
    a_chain_passes_orders_on(MARIADB);
}

fn two_sources_meet_on_each_replica(flavour: Flavour) {
    let lab = start(flavour, Shape::MultiSource, 2);
    let names: Vec<String> = lab.nodes().into_iter().map(|node| node.name).collect();
    assert_eq!(names, ["source-1", "source-2", "replica-1", "replica-2"]);
    for _ in 0..3 {
        assert_orders_travel(&lab, 0, &[2, 3]);
        assert_orders_travel(&lab, 1, &[2, 3]);
    }
    for replica in [2, 3] {
        assert_eq!(threads(&lab, replica), [yes_yes(), yes_yes()]);
        assert_eq!(
            value(&lab, replica, "SELECT COUNT(*) FROM shop.orders"),
            "1006"
        );
        // Both change rows that both have.
        run(
            &lab,
            0,
            "UPDATE shop.orders SET status = 'one' WHERE id = 7",
        );
        run(
            &lab,
            1,
            "UPDATE shop.orders SET status = 'two' WHERE id = 8",
        );
        the_heart_beats(&lab, 0, replica);
        the_heart_beats(&lab, 1, replica);
        for (id, wanted) in [(7, "one"), (8, "two")] {
            let status = format!("SELECT status FROM shop.orders WHERE id = {id}");
            wait_for("the change to arrive", SOON, || {
                let found = value(&lab, replica, &status);
                if found == wanted { Ok(()) } else { Err(found) }
            });
        }
    }
}

#[test]
fn mysql_multi_source() {
    two_sources_meet_on_each_replica(MYSQL);
}

#[test]
fn mariadb_multi_source() {
    two_sources_meet_on_each_replica(MARIADB);
}

fn only_the_last_replica_is_late(flavour: Flavour) {
    let delay = Span::from_secs(4);
    let lab = start(flavour, Shape::Delayed { delay }, 2);
    assert_eq!(channels(&lab, 1)[0]["SQL_Delay"], "0");
    assert_eq!(channels(&lab, 2)[0]["SQL_Delay"], "4");
    let written = Instant::now();
    assert_orders_travel(&lab, 0, &[1]);
    let in_time = written.elapsed();
    assert!(in_time < delay.to_duration(), "{in_time:?}");
    let newest = value(&lab, 0, "SELECT MAX(id) FROM shop.orders");
    let count = format!("SELECT COUNT(*) FROM shop.orders WHERE id = {newest}");
    wait_for("the late replica to have it", SOON, || {
        if value(&lab, 2, &count) == "1" {
            Ok(())
        } else {
            Err(String::new())
        }
    });
    let late = written.elapsed();
    assert!(late > Duration::from_secs(3), "{late:?}");
}

#[test]
fn mysql_delayed() {
    only_the_last_replica_is_late(MYSQL);
}

#[test]
fn mariadb_delayed() {
    only_the_last_replica_is_late(MARIADB);
}

fn accounts_may_what_they_are_for(flavour: Flavour) {
    let lab = start(flavour, Shape::Fan, 1);
    let accounts = lab.accounts();
    let code = |result: Result<(), replicascope::model::trouble::Trouble>| {
        result.expect_err("that is not allowed").code
    };
    let mut app = hand_of(&lab, 0, &accounts.app);
    app.run("UPDATE shop.orders SET amount = 2 WHERE id = 1")
        .expect("its own schema");
    assert_eq!(code(app.run("DROP TABLE shop.orders")), Some(1142));
    assert_eq!(code(app.run("STOP REPLICA")), Some(1227));

    let mut watcher = hand_of(&lab, 1, &accounts.watcher);
    let status = if flavour.is_mariadb() {
        "SHOW ALL REPLICAS STATUS"
    } else {
        "SHOW REPLICA STATUS"
    };
    assert_eq!(watcher.rows(status).expect("watching").len(), 1);
    assert_eq!(code(watcher.run("STOP REPLICA")), Some(1227));
    let mut watcher = hand_of(&lab, 0, &accounts.watcher);
    watcher
        .run("CREATE TABLE replicascope.probe (id INT PRIMARY KEY)")
        .expect("the probe's schema");
    assert_eq!(code(watcher.run("DELETE FROM shop.orders")), Some(1142));
    let events = "SELECT STATUS FROM information_schema.EVENTS WHERE EVENT_NAME = 'heartbeat'";
    assert_eq!(
        watcher.value(events).expect("events"),
        Some("ENABLED".to_owned())
    );

    for server in [0, 1] {
        let nobody = LabAccount {
            user: "root",
            password: replicascope::model::secret::Secret::new(String::new()),
        };
        assert!(
            try_hand(&lab, server, &nobody).is_err(),
            "root without a password"
        );
        let wrong = LabAccount {
            user: "admin",
            ..nobody
        };
        assert!(
            try_hand(&lab, server, &wrong).is_err(),
            "admin without a password"
        );
    }
}

#[test]
fn mysql_accounts() {
    accounts_may_what_they_are_for(MYSQL);
}

#[test]
fn mariadb_accounts() {
    accounts_may_what_they_are_for(MARIADB);
}

#[test]
fn a_program_that_was_chosen_stands_for_its_own_flavour() {
    for (flavour, chosen) in [MYSQL, MARIADB].map(|flavour| (flavour, installed(flavour))) {
        let found = sandbox::find::installed(Some(&chosen));
        let of_flavour = found.iter().find(|program| program.release.is_of(flavour));
        assert_eq!(
            of_flavour.map(|program| &program.path),
            Some(&chosen),
            "{found:?}"
        );
    }
}

/// What the product itself says about watching with the lab's account.
fn the_watcher_can_see_everything(flavour: Flavour) {
    let lab = start(flavour, Shape::Fan, 1);
    for node in lab.nodes() {
        let watcher = lab.accounts().watcher;
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port: node.port,
        };
        let mut endpoint = Endpoint::new(address, watcher.user, Some(watcher.password.expose()));
        endpoint.heartbeat = Some(replicascope::mysql::HeartbeatTable {
            schema: "replicascope".into(),
            table: "heartbeat".into(),
            time_column: "ts".into(),
            server_id_column: Some("server_id".into()),
            keeps_history: false,
        });
        let report = replicascope::mysql::test_connection(endpoint).expect("a connection");
        let failed: Vec<_> = report
            .questions
            .iter()
            .filter(|q| q.result.is_err())
            .collect();
        assert!(failed.is_empty(), "{failed:#?}");
    }
}

#[test]
fn mysql_watcher() {
    the_watcher_can_see_everything(MYSQL);
}

#[test]
fn mariadb_watcher() {
    the_watcher_can_see_everything(MARIADB);
}
