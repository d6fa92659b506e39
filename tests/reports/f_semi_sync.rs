//! F. Semi-sync.

use super::support::stage::Generation::{MariaDb1011, MySql8037};
use super::support::stage::{Player, View, replica, replica_of, source, source_of, stage};
use replicascope::model::finding::{Lamp, Severity};
use replicascope::model::phrase::Arg;
use replicascope::model::replication::SemiSync;
use replicascope::model::sample::Answer;
use replicascope::model::time::Span;

fn ends<'a>(view: &View<'a>, name: &str) -> &'a SemiSync {
    match &view.sample(name).expect("a sample").semi_sync {
        Answer::Known { value, .. } => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn r23_names_follow_the_plugin_and_not_the_version() {
    let new = source_of(MySql8037)
        .variable("rpl_semi_sync_source_enabled", "ON")
        .variable("rpl_semi_sync_source_wait_for_replica_count", "1")
        .status("Rpl_semi_sync_source_status", "ON")
        .status("Rpl_semi_sync_source_clients", "1")
        .status("Rpl_semi_sync_replica_status", "OFF");
    let old = source_of(MySql8037)
        .variable("rpl_semi_sync_master_enabled", "ON")
        .variable("rpl_semi_sync_master_wait_for_slave_count", "1")
        .status("Rpl_semi_sync_master_status", "ON")
        .status("Rpl_semi_sync_master_clients", "1")
        .status("Rpl_semi_sync_slave_status", "OFF");
    let mariadb = source_of(MariaDb1011)
        .variable("rpl_semi_sync_master_enabled", "ON")
        .status("Rpl_semi_sync_master_status", "ON")
        .status("Rpl_semi_sync_master_clients", "1")
        .status("Rpl_semi_sync_slave_status", "OFF");
    for player in [new, old, mariadb] {
        let mut stage = player.watch();
        stage.until("a sample", |view| view.sample("source").is_some());
        let view = stage.view();
        let source = ends(&view, "source").source.clone().expect("installed");
        assert_eq!(
            (
                source.enabled,
                source.active,
                source.clients,
                source.required
            ),
            (Some(true), Some(true), Some(1), Some(1))
        );
        assert_eq!(
            ends(&view, "source").replica.clone().and_then(|r| r.active),
            Some(false)
        );
        assert_eq!(
            view.server("source").lamps.semi_sync.lamp,
            Lamp::Ok,
            "{}",
            view.tell()
        );
        let asked = stage.actor("source").server.statements();
        let status = asked
            .iter()
            .filter(|s| s.sql.contains("Rpl_semi_sync"))
            .map(|s| &s.sql);
        // Both families in one question.
        assert!(status.clone().count() > 0);
        for sql in status {
            assert!(sql.contains("Rpl_semi_sync_source_status"), "{sql}");
            assert!(sql.contains("Rpl_semi_sync_master_status"), "{sql}");
        }
    }
}

#[test]
fn r23_not_installed_is_not_switched_off() {
    let lamp = |player: Player| {
        let mut stage = player.watch();
        stage.until("a sample", |view| view.sample("replica").is_some());
        let view = stage.view();
        let lit = view.server("replica").lamps.semi_sync.clone();
        (ends(&view, "replica").clone(), lit.text.key)
    };
    let (without, said_without) = lamp(replica());
    let (off, said_off) = lamp(replica().status("Rpl_semi_sync_replica_status", "OFF"));
    assert_eq!(without, SemiSync::default());
    assert!(off.replica.is_some());
    assert_eq!(
        (said_without, said_off),
        ("lamp.semi_sync.not_installed", "lamp.semi_sync.off")
    );
}

fn semi_sync_source(status: &str, clients: &str) -> Player {
    source()
        .variable("rpl_semi_sync_source_enabled", "ON")
        .variable("rpl_semi_sync_source_timeout", "10000")
        .variable("rpl_semi_sync_source_wait_for_replica_count", "1")
        .variable("rpl_semi_sync_source_wait_no_replica", "ON")
        .status("Rpl_semi_sync_source_status", status)
        .status("Rpl_semi_sync_source_clients", clients)
        .status("Rpl_semi_sync_source_no_tx", "5")
        .status("Rpl_semi_sync_source_wait_sessions", "0")
}

#[test]
fn r24_on_with_nobody_listening_is_a_warning_with_three_facts() {
    let mut stage = stage([
        semi_sync_source("ON", "0"),
        replica_of(super::support::stage::Generation::MySql97),
    ])
    .watch();
    let view = stage.until("nobody", |view| {
        view.finding("semi_sync_nobody_acknowledging").is_some()
    });
    let finding = view
        .finding("semi_sync_nobody_acknowledging")
        .expect("found");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.text.arg("clients"), Some(&Arg::Count(0)));
    assert_eq!(finding.text.arg("required"), Some(&Arg::Count(1)));
    assert_eq!(
        finding.text.arg("timeout"),
        Some(&Arg::Span(Span::from_secs(10)))
    );
    let end = ends(&view, "source").source.clone().expect("installed");
    assert_eq!(
        (end.enabled, end.active, end.clients),
        (Some(true), Some(true), Some(0))
    );
    assert_ne!(view.server("source").lamps.semi_sync.lamp, Lamp::Ok);
}

#[test]
fn r24_configured_and_not_in_force_is_degraded_and_what_is_lost_is_counted() {
    let mut stage = stage([semi_sync_source("OFF", "0"), replica()]).watch();
    stage.until("degraded", |view| {
        view.finding("semi_sync_degraded").is_some()
    });
    stage
        .server("source")
        .set_status("Rpl_semi_sync_source_no_tx", "12");
    stage.until("what grew", |view| {
        let finding = view.finding("semi_sync_degraded");
        finding.is_some_and(|finding| {
            let unacknowledged = |phrase: &&replicascope::model::phrase::Phrase| {
                phrase.key == "evidence.unacknowledged"
            };
            let grown = finding
                .evidence
                .iter()
                .find(unacknowledged)
                .and_then(|p| p.arg("count"));
            grown == Some(&Arg::Count(7))
        })
    });
    stage
        .server("source")
        .set_status("Rpl_semi_sync_source_status", "ON");
    stage
        .server("source")
        .set_status("Rpl_semi_sync_source_clients", "1");
    stage.until("in force again", |view| {
        view.finding("semi_sync_degraded").is_none()
    });
}
