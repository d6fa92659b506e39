//! D. GTID sets. Their algebra is tested beside it; here, what a person sees of it.

use super::support::stage::Generation::{MariaDb1011, MySql97};
use super::support::stage::{A, B, View, replica, replica_of, source, source_of, stage, waited};
use replicascope::model::finding::Health;
use replicascope::model::lag::{Method, Reading};
use replicascope::model::phrase::Arg;
use replicascope::model::time::Span;

#[test]
fn r17_a_tag_that_appears_by_itself_is_a_sequence_of_its_own() {
    let tagged = format!("{A}:1-50:mysqlsh:1-3");
    let mut stage = stage([
        source().variable("gtid_executed", &tagged),
        replica()
            .variable("gtid_executed", &format!("{A}:1-50"))
            .on(MySql97.wait(), waited(Some("1"))),
    ])
    .watch();
    let view = stage.until("what is missing", |view| {
        view.lag()
            .is_some_and(|lag| lag.backlog.transactions == Some(3))
    });
    assert!(!view.server("replica").routable, "{}", view.tell());
}

#[test]
fn r17_a_set_that_cannot_be_read_is_never_taken_for_empty() {
    let odd = format!("{A}:1-50:%%:1");
    let mut stage = stage([source(), replica().variable("gtid_executed", &odd)]).watch();
    stage.settle();
    let view = stage.view();
    let sample = view.sample("replica").expect("a sample");
    assert_eq!(sample.gtid.unreadable.as_deref(), Some(odd.as_str()));
    let lag = view.lag().expect("a channel");
    assert_eq!(lag.backlog.transactions, None);
    assert!(
        view.codes()
            .iter()
            .all(|code| *code != "errant_transactions")
    );
    let unknowns: Vec<_> = view.judged.unknowns().map(|u| format!("{u:?}")).collect();
    assert!(
        unknowns.iter().any(|unknown| unknown.contains("%%")),
        "{unknowns:?}"
    );
}

#[test]
fn r18_mariadb_positions_are_compared_by_domain_and_number() {
    let mut stage = stage([
        source_of(MariaDb1011).variable("gtid_binlog_pos", "1-3-1"),
        replica_of(MariaDb1011).variable("gtid_slave_pos", "1-2-3"),
    ])
    .watch();
    // The wanted number 1 is below the reached 3, whoever wrote them.
    let view = stage.until("marks", |view| {
        view.method(Method::GtidMarks)
            .and_then(Reading::value)
            .is_some()
    });
    assert_eq!(
        view.method(Method::GtidMarks).and_then(Reading::value),
        Some(Span::ZERO)
    );
    assert_eq!(view.server("replica").health, Health::Ok, "{}", view.tell());
    for name in ["source", "replica"] {
        let actor = stage.actor(name);
        for mysql_only in [
            "WAIT_FOR_EXECUTED",
            "GTID_SUBSET",
            "GTID_SUBTRACT",
            "gtid_executed",
        ] {
            assert_eq!(actor.asked(mysql_only), 0, "{name}: {mysql_only}");
        }
    }
}

#[test]
fn r18_a_domain_that_the_replica_does_not_have_is_not_reached() {
    let mut stage = stage([
        source_of(MariaDb1011).variable("gtid_binlog_pos", "0-1-100,1-2-50"),
        replica_of(MariaDb1011)
            .variable("gtid_slave_pos", "0-1-100")
            .on(MariaDb1011.wait(), waited(Some("-1"))),
    ])
    .watch();
    let is_late = |view: &View<'_>| {
        let marks = view.method(Method::GtidMarks);
        assert_eq!(marks.and_then(Reading::value), None);
        assert!(!view.server("replica").routable, "{}", view.tell());
        let why = marks.and_then(Reading::why);
        why.is_some_and(|why| why.key == "lag.why.late_before_watched")
    };
    stage.until("late, since before it was watched", is_late);
    stage.for_polls(3, |view| assert!(is_late(view), "{}", view.tell()));
    let asked = stage.actor("replica").server.statements();
    let wait = asked
        .iter()
        .find(|s| s.sql.contains("MASTER_GTID_WAIT"))
        .expect("a wait");
    assert!(wait.sql.contains("'0-1-100,1-2-50'"), "{}", wait.sql);
}

#[test]
fn r19_what_the_source_itself_wrote_is_never_errant() {
    // Visible on the replica while the source still waits for the acknowledgement.
    let mut stage = stage([
        source().variable("gtid_executed", &format!("{A}:1-29")),
        replica().variable("gtid_executed", &format!("{A}:1-33")),
    ])
    .watch();
    stage.settle();
    stage.for_polls(5, |view| {
        assert_eq!(view.finding("errant_transactions"), None, "{}", view.tell());
    });
}

#[test]
fn r19_what_stays_on_the_replica_alone_is_errant() {
    let mut stage = stage([
        source(),
        replica().variable("gtid_executed", &format!("{A}:1-3,{B}:1-2")),
    ])
    .watch();
    let view = stage.until("errant", |view| {
        view.finding("errant_transactions").is_some()
    });
    let finding = view.finding("errant_transactions").expect("found");
    assert_eq!(finding.text.arg("count"), Some(&Arg::Count(2)));
    assert!(format!("{:?}", finding.evidence).contains(&format!("{B}:1-2")));
}
