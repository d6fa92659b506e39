//! An account that may not see everything: the panel alone is refused, with the GRANT that cures it.

use replicascope::model::finding::{Health, Role};
use replicascope::model::sample::{Answer, Sample};
use replicascope::model::trouble::{Trouble, TroubleKind};

use super::SOON;
use crate::support::servers::{Plan, Topology};
use crate::support::watching::{View, Watching};

/// The panels that a privilege opens, with what they refuse.
fn refused(sample: &Sample) -> Vec<(&'static str, &Trouble)> {
    fn trouble<T>(answer: &Answer<T>) -> Option<&Trouble> {
        answer.refused()
    }
    [
        ("channels", trouble(&sample.channels)),
        ("status", trouble(&sample.status)),
        ("settings", trouble(&sample.settings)),
        ("semi_sync", trouble(&sample.semi_sync)),
        ("appliers", trouble(&sample.appliers)),
        ("binlog", trouble(&sample.binlog)),
        ("binary_logs", trouble(&sample.binary_logs)),
        ("transactions", trouble(&sample.transactions)),
        ("found_replicas", trouble(&sample.found_replicas)),
        ("events", trouble(&sample.events)),
    ]
    .into_iter()
    .filter_map(|(panel, trouble)| Some((panel, trouble?)))
    .collect()
}

fn names(view: &View<'_>, node: usize) -> Option<Vec<&'static str>> {
    let sample = view.sample(node)?;
    Some(
        refused(sample)
            .into_iter()
            .map(|(panel, _)| panel)
            .collect(),
    )
}

struct Case {
    /// What the account may, of what watching needs.
    grants: &'static str,
    /// The panels refused on a replica.
    refused: &'static [&'static str],
    /// Part of the GRANT named.
    cure: &'static str,
    /// Without its status nothing is known of a replica.
    health_of_replica: Health,
}

fn a_missing_privilege_closes_its_panel_and_the_grant_opens_it(plan: Plan, case: &Case) {
    let topology = plan.replicas(2).start();
    topology.source().sql(&format!(
        "CREATE USER looker IDENTIFIED BY 'looks'; {}",
        case.grants
    ));
    topology.replicating();
    let mut watching = Watching::of(&topology).account("looker", "looks").start();
    watching.until("the refusals", SOON, |view| {
        names(view, 1).as_deref() == Some(case.refused)
            && view.finding(1, "missing_privilege").is_some()
            && view.health(1) == case.health_of_replica
            && view.routable(1) == (case.health_of_replica == Health::Ok)
    });

    let view = watching.view();
    let sample = view.sample(1).expect("just seen");
    for (panel, trouble) in refused(sample) {
        assert_eq!(trouble.kind, TroubleKind::MissingPrivilege, "{panel}");
        let hint = trouble.hint.as_ref().map(|hint| view.say(hint));
        assert!(
            hint.as_ref().is_some_and(|hint| hint.contains(case.cure)),
            "{panel}: {hint:?}"
        );
    }
    let grant = view
        .finding(1, "missing_privilege")
        .and_then(|finding| finding.sql.clone())
        .expect("the finding carries the GRANT");
    assert!(
        grant.contains(case.cure) && grant.contains("'looker'@'%'"),
        "{grant}"
    );
    watching.always(
        "the other panels go on",
        std::time::Duration::from_secs(1),
        |view| names(view, 1).as_deref() == Some(case.refused) && view.is_up(1),
    );

    // The very text, on the source; replication carries it on.
    for statement in grant.lines() {
        topology.source().sql(statement.trim_end_matches(';'));
    }
    topology.nodes().iter().skip(1).for_each(|replica| {
        crate::support::servers::wait_until("the GRANT to arrive", SOON, || {
            replica
                .rows::<String>("SHOW GRANTS FOR looker")
                .iter()
                .any(|line| granted(line, case.cure))
        });
    });
    watching.poll_now();
    watching.until("everything to be seen", SOON, |view| {
        names(view, 1).is_some_and(|names| names.is_empty())
            && view.finding(1, "missing_privilege").is_none()
            && view.role(1) == Role::Replica
            && view.is_well()
    });
}

/// MariaDB lists some privileges by another of their names.
fn granted(line: &str, cure: &str) -> bool {
    let privilege = cure.trim_start_matches("GRANT ");
    line.contains(privilege) || privilege == "SLAVE MONITOR" && line.contains("REPLICA MONITOR")
}

#[test]
fn r35_mysql_without_process() {
    a_missing_privilege_closes_its_panel_and_the_grant_opens_it(
        Topology::mysql(),
        &Case {
            grants: "GRANT REPLICATION CLIENT, REPLICATION SLAVE ON *.* TO looker; \
                     GRANT SELECT ON performance_schema.* TO looker",
            refused: &["transactions"],
            cure: "GRANT PROCESS",
            health_of_replica: Health::Ok,
        },
    );
}

#[test]
fn r34_mysql_without_replication_client() {
    a_missing_privilege_closes_its_panel_and_the_grant_opens_it(
        Topology::mysql(),
        &Case {
            grants: "GRANT PROCESS, REPLICATION SLAVE ON *.* TO looker; \
                     GRANT SELECT ON performance_schema.* TO looker",
            refused: &["channels", "binlog", "binary_logs"],
            cure: "GRANT REPLICATION CLIENT",
            health_of_replica: Health::Unknown,
        },
    );
}

#[test]
fn r35_mariadb_without_process() {
    a_missing_privilege_closes_its_panel_and_the_grant_opens_it(
        Topology::mariadb(),
        &Case {
            grants: "GRANT SLAVE MONITOR, BINLOG MONITOR, REPLICATION MASTER ADMIN ON *.* TO looker",
            refused: &["appliers", "transactions"],
            cure: "GRANT PROCESS",
            health_of_replica: Health::Ok,
        },
    );
}

#[test]
fn r34_mariadb_without_slave_monitor() {
    a_missing_privilege_closes_its_panel_and_the_grant_opens_it(
        Topology::mariadb(),
        &Case {
            grants: "GRANT PROCESS, BINLOG MONITOR, REPLICATION MASTER ADMIN ON *.* TO looker",
            refused: &["channels"],
            cure: "GRANT SLAVE MONITOR",
            health_of_replica: Health::Unknown,
        },
    );
}
