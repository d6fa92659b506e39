//! What steady watching costs a server: few sessions, few statements, none of which fails.

use std::time::{Duration, Instant};

use replicascope::model::finding::Health;

use super::SOON;
use crate::support::servers::{Node, Plan, Topology};
use crate::support::watching::Watching;

const STEADY: Duration = Duration::from_secs(20);

/// The aim of the poll cost, in statements per second and server.
const STATEMENTS_PER_SECOND: f64 = 9.0;

/// Statements of the account monitor so far, and those that ended in an error.
fn statements(node: &Node) -> (u64, u64) {
    node.value(
        "SELECT CAST(SUM(count_star) AS UNSIGNED), CAST(SUM(sum_errors) AS UNSIGNED) \
         FROM performance_schema.events_statements_summary_by_user_by_event_name \
         WHERE user = 'monitor' AND event_name LIKE 'statement/sql/%'",
    )
}

/// The sessions of the account monitor that carry our name as an attribute, and all of its sessions.
fn sessions(node: &Node) -> (u64, u64) {
    let named = node.value(
        "SELECT COUNT(DISTINCT processlist_id) FROM performance_schema.session_connect_attrs \
         WHERE attr_name = 'program_name' AND attr_value = 'replicascope'",
    );
    let all =
        node.value("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'monitor'");
    (named, all)
}

/// What the account monitor said, by the general log.
fn said(node: &Node) -> Vec<String> {
    node.rows(
        "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log \
         WHERE command_type = 'Query' AND user_host LIKE 'monitor[%'",
    )
}

fn steady_watching_fails_no_statement_and_holds_two_sessions(plan: Plan) {
    // Statements are to be counted by kind, with errors; only MySQL does so by itself.
    let topology = plan
        .replicas(2)
        .extra_config("log-output = TABLE\nperformance-schema-instrument = 'statement/%=ON'\nperformance-schema-consumer-events-statements-current = ON")
        .start();
    let mut watching = Watching::of(&topology)
        .poll_every(Duration::from_secs(1))
        .mark_every(Duration::from_millis(250))
        .start();
    watching.until_well(SOON);
    for node in topology.nodes() {
        node.sql("SET GLOBAL general_log = ON");
    }
    let before: Vec<(u64, u64)> = topology.nodes().iter().map(statements).collect();
    let started = Instant::now();
    watching.always("all are in touch and ok", STEADY, |view| {
        let is_ok = |node: &Node| {
            let node = node.index();
            view.is_up(node) && view.health(node) == Health::Ok
        };
        topology.nodes().iter().all(is_ok)
    });
    let seconds = started.elapsed().as_secs_f64();
    for (node, before) in topology.nodes().iter().zip(before) {
        let (count, errors) = statements(node);
        let per_second = (count - before.0) as f64 / seconds;
        eprintln!("{node:?}: {per_second:.1} statements per second");
        assert_eq!(errors, before.1, "{node:?}: statements failed");
        assert!(
            per_second > 1.0 && per_second <= STATEMENTS_PER_SECOND,
            "{node:?}: {per_second:.1} statements per second"
        );
        let (named, all) = sessions(node);
        let expected = if node.index() == 0 { 1 } else { 2 };
        assert!(
            named == all && named >= 1 && named <= expected,
            "{node:?}: {named} of {all} sessions carry our name"
        );
        let said = said(node);
        let strange: Vec<&String> = said
            .iter()
            .filter(|text| !text.starts_with("/* replicascope */"))
            .collect();
        assert!(!said.is_empty(), "{node:?} logged nothing");
        assert!(strange.is_empty(), "{node:?}: unnamed: {strange:?}");
    }
}

#[test]
fn r08_mysql_steady_watching() {
    steady_watching_fails_no_statement_and_holds_two_sessions(Topology::mysql());
}

#[test]
fn r08_mariadb_steady_watching() {
    steady_watching_fails_no_statement_and_holds_two_sessions(Topology::mariadb());
}
