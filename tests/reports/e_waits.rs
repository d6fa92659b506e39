//! E. GTID waits.

use super::support::eventually;
use super::support::scripted::Reply;
use super::support::stage::Generation::{MySql57, MySql97};
use super::support::stage::{A, replica, replica_of, source, source_of, stage, waited};
use replicascope::lab::wire::SqlError;
use replicascope::model::lag::{Method, Reading};

/// The source is ahead, so that there is something to wait for.
fn ahead() -> super::support::stage::Player {
    source().variable("gtid_executed", &format!("{A}:1-9"))
}

#[test]
fn r20_only_zero_is_success() {
    let error = Reply::from(SqlError::new(1105, "Unknown error"));
    let answers: [(&str, Reply, &str); 5] = [
        ("1", waited(Some("1")).into(), "lag.why.late_before_watched"),
        ("-1", waited(Some("-1")).into(), "lag.why.wait_failed"),
        ("2", waited(Some("2")).into(), "lag.why.wait_failed"),
        ("NULL", waited(None).into(), "lag.why.wait_failed"),
        ("error", error, "lag.why.wait_failed"),
    ];
    for (answer, reply, why) in answers {
        let player = replica().on(MySql97.wait(), reply);
        let mut stage = stage([ahead(), player]).watch();
        let mut reached = false;
        stage.until(&format!("{answer}: {why}"), |view| {
            let marks = view.method(Method::GtidMarks);
            reached |= marks.and_then(Reading::value).is_some();
            marks.and_then(Reading::why).is_some_and(|w| w.key == why)
        });
        stage.for_polls(3, |view| {
            reached |= view
                .method(Method::GtidMarks)
                .and_then(Reading::value)
                .is_some();
            assert!(
                !view.server("replica").routable,
                "{answer}: {}",
                view.tell()
            );
        });
        assert!(!reached, "{answer} was taken for success");
    }
    let mut stage = stage([ahead(), replica()]).watch();
    stage.until("0 is success", |view| {
        view.method(Method::GtidMarks)
            .and_then(Reading::value)
            .is_some()
    });
}

#[test]
fn r21_no_wait_is_endless_or_empty_and_5_7_waits_whole_seconds() {
    let five = {
        let uuid = "bd96b92b-ec2b-11f1-b483-02fc00000001";
        source_of(MySql57).variable("gtid_executed", &format!("{uuid}:1-9"))
    };
    let waits_of = |players: [super::support::stage::Player; 2]| {
        let mut stage = stage(players).watch();
        let mut waits: Vec<String> = Vec::new();
        let waited_often = eventually(std::time::Duration::from_secs(30), || {
            stage.look();
            let statements = stage.actor("replica").server.statements();
            let all = statements.into_iter().map(|s| s.sql);
            waits = all
                .filter(|sql| sql.contains("WAIT_FOR_EXECUTED"))
                .collect();
            waits.len() >= 5
        });
        assert!(waited_often, "only {waits:?}");
        waits
    };
    let timed_out = || waited(Some("1"));
    let modern = waits_of([ahead(), replica().on(MySql97.wait(), timed_out())]);
    let old = waits_of([five, replica_of(MySql57).on(MySql57.wait(), timed_out())]);
    assert!(!modern.is_empty() && !old.is_empty());
    let parts = |sql: &str| {
        let inside = sql
            .split_once('(')
            .expect("a call")
            .1
            .trim_end_matches(')')
            .to_owned();
        let (set, limit) = inside.rsplit_once(", ").expect("two arguments");
        (set.to_owned(), limit.to_owned())
    };
    for sql in modern.iter().chain(&old) {
        let (set, limit) = parts(sql);
        assert!(
            set.len() > 2 && limit.parse::<f64>().expect("a number") > 0.0,
            "{sql}"
        );
    }
    assert!(
        old.iter().all(|sql| parts(sql).1.parse::<u32>().is_ok()),
        "{old:?}"
    );
}
