//! What a lesson gives students to say is taken by the servers it is taught on, simulated and real, when the program
//! says it for them.

mod support;

use replicascope::lab::lessons::saying::Errand;
use replicascope::lab::{lessons, session};
use replicascope::model::lab::{Generation, Ground, LabPlan};
use replicascope::model::lesson::{Servers, StepSql};
use replicascope::model::server::Flavour;
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
            let errand = Errand::new(sql, &lab.status).expect("the lab has such a server");
            let said = errand.run();
            let place = format!("{ground:?}, {}: {}", lesson.id, sql.text);
            assert_eq!(said.len(), sql.statements().len(), "{place}: {said:?}");
            for one in said {
                let expected = is_refused(sql, &one.statement.text).then_some(READ_ONLY);
                let refusal = one.answer.err();
                let told = refusal.as_ref().and_then(|why| why.code);
                let is_taken = refusal.is_none() || told.is_some();
                assert!(is_taken && told == expected, "{place}: {refusal:?}");
            }
        }
    }
}

/// As the step says it will be.
fn is_refused(sql: &StepSql, statement: &str) -> bool {
    sql.on != 0 && sql.account == "app" && statement.starts_with("UPDATE")
}

fn until_both_replicas_have_the_heartbeat(lab: &Lab) {
    for replica in [1, 2] {
        let admin = &lab.status.accounts.as_ref().expect("it runs").admin;
        let port = lab.status.nodes[replica].port;
        let mut admin = session::open(port, admin, SOON).expect("it takes a session");
        let seen = eventually(SOON, || {
            let count = admin.value("SELECT COUNT(*) FROM replicascope.heartbeat");
            matches!(count, Ok(Some(count)) if count != "0")
        });
        assert!(seen, "the heartbeat came to replica {replica}");
    }
}
