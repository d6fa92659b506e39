//! Servers killed and started again, and what cannot be done to them.

use super::*;

fn a_killed_server_comes_back_in_the_role_it_has_now(flavour: Flavour) {
    let mut lab = start(flavour, Shape::Fan, 2);
    assert_orders_travel(&lab, 0, &[1, 2]);
    let ports: Vec<u16> = lab.nodes().iter().map(|node| node.port).collect();

    lab.kill(0).expect("a server of the lab");
    wait_for(
        "a replica to say that nobody listens at its source",
        SOON,
        || {
            let error = channels(&lab, 1)[0]["Last_IO_Errno"].clone();
            if error == "2003" { Ok(()) } else { Err(error) }
        },
    );
    lab.restart(0).expect("it comes back");

    lab.kill(1).expect("a server of the lab");
    assert!(!lab.nodes()[1].is_up);
    assert!(try_hand(&lab, 1, &lab.accounts().admin).is_err());
    lab.restart(1).expect("it comes back");
    assert!(lab.nodes()[1].is_up);
    assert_orders_travel(&lab, 0, &[1, 2]);
    assert_eq!(value(&lab, 1, "SELECT @@read_only"), "1");

    swap_roles(&mut lab, flavour);
    for server in [0, 1] {
        lab.kill(server).expect("a server of the lab");
        lab.restart(server).expect("it comes back");
    }
    assert_eq!(value(&lab, 0, "SELECT @@read_only"), "1");
    assert_eq!(value(&lab, 1, "SELECT @@read_only"), "0");
    assert_orders_travel(&lab, 1, &[0, 2]);
    let now: Vec<u16> = lab.nodes().iter().map(|node| node.port).collect();
    assert_eq!(now, ports);
}

/// Server 1 becomes the source of 0 and 2, as a person would do it.
fn swap_roles(lab: &mut Sandbox, flavour: Flavour) {
    let account = lab.replication();
    let committed = if flavour.is_mariadb() {
        "@@gtid_binlog_pos"
    } else {
        "@@gtid_executed"
    };
    let read_only = if flavour.is_mariadb() {
        "read_only"
    } else {
        "super_read_only"
    };
    run(lab, 0, &format!("SET GLOBAL {read_only} = ON"));
    let set = value(lab, 0, &format!("SELECT REPLACE({committed}, '\\n', '')"));
    let wait = if flavour.is_mariadb() {
        "MASTER_GTID_WAIT"
    } else {
        "WAIT_FOR_EXECUTED_GTID_SET"
    };
    assert_eq!(value(lab, 1, &format!("SELECT {wait}('{set}', 20)")), "0");
    run(lab, 1, "STOP REPLICA");
    run(lab, 1, "RESET REPLICA ALL");
    run(lab, 1, "SET GLOBAL read_only = OFF");
    if flavour.is_mariadb() {
        run(
            lab,
            0,
            "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos",
        );
    }
    for server in [0, 2] {
        let port = lab.link_port(server, 1).expect("a link");
        let (change, word, gtid) = if flavour.is_mariadb() {
            ("MASTER", "MASTER", "MASTER_USE_GTID=slave_pos")
        } else {
            (
                "REPLICATION SOURCE",
                "SOURCE",
                "SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1",
            )
        };
        let _ = hand(lab, server).run("STOP REPLICA");
        run(
            lab,
            server,
            &format!(
                "CHANGE {change} TO {word}_HOST='127.0.0.1', {word}_PORT={port}, {word}_USER='{}', \
                 {word}_PASSWORD='{}', {word}_CONNECT_RETRY=1, {gtid}",
                account.user,
                account.password.expose()
            ),
        );
        run(lab, server, "START REPLICA");
        lab.pointed(server, &[1]);
    }
    lab.pointed(1, &[]);
}

#[test]
fn mysql_crashes() {
    a_killed_server_comes_back_in_the_role_it_has_now(MYSQL);
}

#[test]
fn mariadb_crashes() {
    a_killed_server_comes_back_in_the_role_it_has_now(MARIADB);
}

#[test]
fn what_real_servers_cannot_do_is_said_with_its_reason() {
    let mut lab = start(MARIADB, Shape::Fan, 0);
    let kinds: Vec<FaultKind> = lab.impossible().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [FaultKind::ClockSkew, FaultKind::SlowDisk]);
    assert!(lab.set_clock(0, Span::from_secs(9)).is_err());
    assert!(lab.set_disk(0, Span::from_secs(9)).is_err());
    assert!(lab.kill(7).is_err() && lab.link_port(7, 0).is_err());
}
