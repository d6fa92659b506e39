//! What a lesson gives students to say in clients of their own is taken by the servers it is taught on, simulated and
//! real.

mod support;

use replicascope::lab::lessons;
use replicascope::model::lab::{Generation, Ground, LabPlan, LabServer};
use replicascope::model::lesson::{Servers, StepSql};
use replicascope::model::server::Flavour;
use replicascope::mysql::hand::Hand;
use replicascope::mysql::{Address, Dialer, Endpoint};
use support::eventually;
use support::lab_faults::{Lab, SOON};

/// The option --read-only prevents the statement.
const READ_ONLY: u32 = 1290;

#[test]
fn every_statement_of_a_lesson_is_taken_by_simulated_servers() {
    for generation in Generation::ALL {
        let ground = Ground::Simulated(generation);
        every_statement_is_taken(ground);
    }
}

#[test]
fn every_statement_of_a_lesson_is_taken_by_real_mysql() {
    every_statement_is_taken(Ground::Real(Flavour::MySql));
}

#[test]
fn every_statement_of_a_lesson_is_taken_by_real_mariadb() {
    every_statement_is_taken(Ground::Real(Flavour::MariaDb));
}

fn every_statement_is_taken(ground: Ground) {
    let lab = Lab::start(LabPlan {
        ground,
        ..LabPlan::default()
    });
    until_both_replicas_have_the_heartbeat(&lab);
    for lesson in lessons::all_in(Servers::of(ground, None)) {
        for sql in lesson.steps.iter().filter_map(|step| step.sql.as_ref()) {
            let mut client = client(&lab, sql.on, sql.account);
            for statement in statements(&sql.text) {
                let expected = is_refused(sql, &statement).then_some(READ_ONLY);
                let refusal = client.run(&statement).err();
                let told = refusal.as_ref().and_then(|why| why.code);
                let taken = refusal.is_none() || told.is_some();
                let place = format!("{ground:?}, {}: {statement}", lesson.id);
                assert!(taken && told == expected, "{place}: {refusal:?}");
            }
        }
    }
}

/// As the step says it will be.
fn is_refused(sql: &StepSql, statement: &str) -> bool {
    sql.on != 0 && sql.account == "app" && statement.starts_with("UPDATE")
}

/// Each alone, without what only the `mysql` client understands.
fn statements(text: &str) -> Vec<String> {
    let parts = text.replace("\\G", "");
    let parts = parts.split(';').map(str::trim);
    parts
        .filter(|part| !part.is_empty() && !part.starts_with("--"))
        .map(str::to_owned)
        .collect()
}

fn until_both_replicas_have_the_heartbeat(lab: &Lab) {
    for replica in [1, 2] {
        let mut admin = client(lab, replica, "admin");
        let seen = eventually(SOON, || {
            let count = admin.value("SELECT COUNT(*) FROM replicascope.heartbeat");
            matches!(count, Ok(Some(count)) if count != "0")
        });
        assert!(seen, "the heartbeat came to replica {replica}");
    }
}

fn client(lab: &Lab, server: LabServer, account: &str) -> Hand {
    let accounts = lab.status.accounts.as_ref().expect("it runs");
    let account = match account {
        "app" => &accounts.app,
        "monitor" => &accounts.watcher,
        _ => &accounts.admin,
    };
    let address = Address::Tcp {
        host: "127.0.0.1".to_owned(),
        port: lab.status.nodes[server].port,
    };
    let endpoint = Endpoint::new(address, account.user, Some(account.password.expose()));
    Hand::open(&Dialer::new(endpoint), SOON).expect("it takes a session")
}
