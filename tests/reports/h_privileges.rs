//! H. Cloud, privileges.

use super::support::captures::capture_without_rows;
use super::support::scripted::text::contains;
use super::support::stage::Generation::{MariaDb1011, MySql57, MySql97};
use super::support::stage::{replica, replica_of, source_of, stage};
use replicascope::lab::wire::{Rows, SqlError};
use replicascope::model::finding::Health;
use replicascope::model::lag::{Method, Reading};
use replicascope::model::profile::ExpectedRole;
use replicascope::model::time::Span;

#[test]
fn r33_no_status_row_is_no_lag_of_zero() {
    let mut stage = replica()
        .channels(capture_without_rows("mysql97/quiet"))
        .watch();
    let view = stage.until("not replicating", |view| {
        view.finding("not_replicating").is_some()
    });
    let server = view.server("replica");
    assert!(
        matches!(&server.lag().headline, Reading::Unknown { why } if why.key == "lag.why.no_replication_status")
    );
    assert_eq!(
        (server.health, server.routable),
        (Health::Unknown, false),
        "{}",
        view.tell()
    );
}

#[test]
fn r33_auroras_milliseconds_are_milliseconds() {
    let lag = Rows::text(&["SERVER_ID", "REPLICA_LAG_IN_MILLISECONDS"])
        .row([Some("reader-1"), Some("19.299")]);
    let mut stage = replica()
        .channels(capture_without_rows("mysql97/quiet"))
        .variable("version", "8.0.39")
        .variable("aurora_version", "3.08.0")
        .variable("innodb_read_only", "ON")
        .on("SHOW MASTER STATUS", Rows::text(&["File", "Position"]))
        .on(contains("replica_host_status"), lag)
        .watch();
    let view = stage.until("a lag", |view| {
        view.server("replica").lag().headline.value().is_some()
    });
    let measured = view
        .server("replica")
        .lag()
        .headline
        .measured()
        .expect("measured");
    assert_eq!(
        (measured.value, measured.method),
        (Span::from_micros(19_299), Method::Platform)
    );
    assert_eq!(view.server("replica").health, Health::Ok, "{}", view.tell());
    assert_eq!(
        stage.server("replica").unknown_statements(),
        Vec::<String>::new()
    );
}

#[test]
fn r34_a_refused_status_is_unknown_with_the_grant_of_that_flavour() {
    let cases = [
        (
            MariaDb1011,
            "SUPER, SLAVE MONITOR",
            "GRANT SLAVE MONITOR ON *.* TO 'watch'@'%';",
        ),
        (
            MySql97,
            "SUPER, REPLICATION CLIENT",
            "GRANT REPLICATION CLIENT ON *.* TO 'watch'@'%';",
        ),
    ];
    for (generation, needed, grant) in cases {
        let refusal = format!(
            "Access denied; you need (at least one of) the {needed} privilege(s) for this operation"
        );
        let (actors, profile) = stage([replica_of(generation)]).start();
        actors[0]
            .server
            .set(generation.channels(), SqlError::new(1227, refusal));
        let mut stage = super::support::stage::Setting::of(actors, profile);
        let view = stage.until("the grant", |view| {
            view.finding("missing_privilege").is_some()
        });
        let finding = view.finding("missing_privilege").expect("found");
        assert_eq!(finding.sql.as_deref(), Some(grant), "{}", view.tell());
        let server = view.server("replica");
        assert_eq!(
            (server.health, server.routable),
            (Health::Unknown, false),
            "{}",
            view.tell()
        );
        assert!(matches!(server.lag().headline, Reading::Unknown { .. }));
        let sample = view.sample("replica").expect("the rest");
        assert!(sample.gtid.executed.is_some() && sample.status.value().is_some());
        assert!(sample.transactions.value().is_some() && sample.settings.value().is_some());
        stage.for_polls(6, |_| {});
        let statement = generation.channels();
        assert_eq!(stage.actor("replica").asked(statement), 1, "{statement}");
    }
}

#[test]
fn r35_without_process_panels_say_so_and_the_rest_goes_on() {
    let refusal = || {
        SqlError::new(
            1227,
            "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation",
        )
    };
    let player = source_of(MySql97)
        .on(
            contains("information_schema.innodb_trx x left join"),
            refusal(),
        )
        .on(contains("performance_schema.data_lock_waits"), refusal());
    let mut stage = stage([player, replica()]).watch();
    let view = stage.until("the grant", |view| {
        view.finding("missing_privilege").is_some()
    });
    let finding = view.finding("missing_privilege").expect("found");
    assert_eq!(
        finding.sql.as_deref(),
        Some("GRANT PROCESS ON *.* TO 'watch'@'%';")
    );
    let sample = view.sample("source").expect("a sample");
    assert!(sample.transactions.refused().is_some(), "not an empty list");
    assert_eq!(view.finding("long_transaction"), None);
    let watch = view.watched("source").watch();
    let greys: Vec<_> = view
        .judged
        .unknowns()
        .filter(|unknown| unknown.subject.watch() == Some(watch))
        .map(|unknown| unknown.code)
        .collect();
    assert!(greys.contains(&"long_transaction"), "{greys:?}");
    stage.until("the rest", |view| {
        view.server("source").health == Health::Ok && view.server("replica").routable
    });
}

#[test]
fn r33_the_older_table_of_aurora_is_milliseconds_too() {
    let lag =
        Rows::text(&["Server_id", "Replica_lag_in_msec"]).row([Some("reader-1"), Some("19.299")]);
    let missing = SqlError::new(
        1109,
        "Unknown table 'REPLICA_HOST_STATUS' in information_schema",
    );
    let mut stage = replica_of(MySql57)
        .role(ExpectedRole::Replica)
        .channels(capture_without_rows("mysql57/quiet"))
        .variable("aurora_version", "2.11.1")
        .variable("innodb_read_only", "ON")
        .on(contains("replica_host_status"), missing)
        .on(contains("mysql.ro_replica_status"), lag)
        .watch();
    let view = stage.until("a lag", |view| {
        view.server("replica").lag().headline.value().is_some()
    });
    let value = view.server("replica").lag().headline.value();
    assert_eq!(value, Some(Span::from_micros(19_299)));
}
