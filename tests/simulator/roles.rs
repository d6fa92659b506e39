//! Roles are swapped as a person swaps them.

use replicascope::lab::bed::Bed;
use replicascope::model::finding::Role;
use replicascope::model::lab::{FaultKind, Generation, LabPlan};

use super::lab::{SOON, admin, dialer_to, plan, said_by, start, watch};
use super::support::eventually;
use super::support::lab_faults::Lab;

#[test]
fn after_a_swap_of_roles_the_new_source_is_known_and_its_event_is_missed() {
    let mut lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    let (mut old, mut new, mut other) = (admin(&lab, 0), admin(&lab, 1), admin(&lab, 2));
    // Accounts of replication are made by the bed; a person would know the password.
    new.run("STOP REPLICA");
    old.run("SET GLOBAL super_read_only = ON");
    let executed = old.value("SELECT @@GLOBAL.gtid_executed").replace('\n', "");
    new.run("START REPLICA");
    let caught_up = new.value(&format!(
        "SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 20)"
    ));
    assert_eq!(caught_up, "0");
    new.run("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF");
    new.run("CREATE USER 'copies'@'%' IDENTIFIED BY 'secret'; GRANT REPLICATION SLAVE ON *.* TO 'copies'@'%'");
    let port = lab.link_port(0, 1).unwrap();
    let pointed = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'copies', \
         SOURCE_PASSWORD = 'secret', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
    );
    other.run("STOP REPLICA");
    for server in [&mut old, &mut other] {
        server.run(&pointed);
        server.run("START REPLICA");
    }
    lab.pointed(0, &[1]);
    lab.pointed(1, &[]);
    lab.pointed(2, &[1]);
    watching.until("the new source to be known", SOON, |view| {
        view.role(1) == Role::Source && view.role(0).is_replica() && view.replicas_of(1) == [0, 2]
    });
    watching.until("the event to be missed", SOON, |view| {
        view.finding(1, "heartbeat_event_disabled").is_some()
    });
    new.run("ALTER EVENT replicascope.heartbeat ENABLE");
    watching.until("the event to run", SOON, |view| {
        view.finding(1, "heartbeat_event_disabled").is_none()
    });
    // It is due once a second.
    let own_beats = "SELECT COUNT(*) FROM replicascope.heartbeat WHERE server_id = 2";
    assert!(eventually(SOON, || new.value(own_beats) == "1"));
}

#[test]
fn after_the_labs_own_swap_servers_copy_with_the_account_made_for_that() {
    for generation in [
        Generation::MySql57,
        Generation::MySql97,
        Generation::MariaDb118,
    ] {
        let mut lab = Lab::start(LabPlan {
            replicas: 2,
            ..plan(generation)
        });
        lab.make(FaultKind::SwapRoles, 1, 0.0);
        let accounts = lab.status.accounts.clone().expect("it runs");
        for server in [0, 2] {
            let dialer = dialer_to(lab.status.nodes[server].port, &accounts.admin);
            let (status, user) = match generation {
                Generation::MySql97 => ("SHOW REPLICA STATUS", "Source_User"),
                _ => ("SHOW SLAVE STATUS", "Master_User"),
            };
            let told = said_by(&dialer).field(status, user);
            assert_eq!(told.as_deref(), Some("repl"), "{generation:?} {server}");
        }
    }
}
