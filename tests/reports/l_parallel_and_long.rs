//! L. Parallel applying, long transactions.

use super::support::captures::capture;
use super::support::scripted::Reply;
use super::support::scripted::text::contains;
use super::support::stage::Generation::MySql57;
use super::support::stage::{replica, replica_of, set_field, source, stage};
use replicascope::lab::wire::Rows;
use replicascope::model::lag::{Method, Reading};
use replicascope::model::sample::TransactionOwner;
use replicascope::model::time::Span;

#[test]
fn r46_a_zero_between_groups_is_not_caught_up() {
    let row = |seconds: &str| {
        let mut rows = capture("mysql57/quiet");
        set_field(&mut rows, "Seconds_Behind_Master", Some(seconds));
        set_field(
            &mut rows,
            "Retrieved_Gtid_Set",
            Some("bd96b92b-ec2b-11f1-b483-02fc00000001:1-50"),
        );
        rows
    };
    let polls = ["41", "0", "42", "0", "43", "0", "44", "0"].map(row);
    let (actors, profile) = stage([replica_of(MySql57)]).start();
    actors[0]
        .server
        .set("SHOW SLAVE STATUS", Reply::sequence(polls));
    let mut stage = super::support::stage::Setting::of(actors, profile);
    let mut zeros = 0;
    stage.for_polls(9, |view| {
        let seconds = view.method(Method::SecondsBehind).and_then(Reading::value);
        if seconds == Some(Span::ZERO) {
            zeros += 1;
            let headline = view.lag().and_then(|lag| lag.headline.value());
            assert_ne!(headline, Some(Span::ZERO), "{}", view.tell());
        }
        assert!(!view.server("replica").routable, "{}", view.tell());
    });
    assert!(zeros > 0);
}

#[test]
fn r46_transactions_without_a_thread_are_prepared_xa_and_appliers_are_replication() {
    let rows = Rows::text(&[
        "trx_id",
        "thread",
        "trx_started",
        "age",
        "trx_rows_modified",
        "trx_rows_locked",
        "trx_query",
        "user",
        "host",
        "state",
    ])
    .row([
        Some("421"),
        Some("0"),
        Some("2026-03-01 10:00:00"),
        Some("9000"),
        Some("7"),
        Some("9"),
        None,
        None,
        None,
        None,
    ])
    .row([
        Some("422"),
        Some("5"),
        Some("2026-03-01 12:00:00"),
        Some("60"),
        Some("7"),
        Some("9"),
        None,
        Some("system user"),
        None,
        None,
    ])
    .row([
        Some("423"),
        Some("9"),
        Some("2026-03-01 12:00:00"),
        Some("30"),
        Some("7"),
        Some("9"),
        None,
        Some("app"),
        Some("10.0.0.9"),
        None,
    ]);
    let asks = || contains("information_schema.innodb_trx x left join");
    let mut stage = stage([source().on(asks(), rows), replica()]).watch();
    let view = stage.until("found", |view| view.finding("long_transaction").is_some());
    let finding = view.finding("long_transaction").expect("found");
    assert_eq!(
        finding.text.key,
        "finding.long_transaction.xa",
        "{}",
        view.tell()
    );
    assert_eq!(finding.sql.as_deref(), Some("XA RECOVER;"));
    let said = format!("{finding:?}");
    assert!(
        said.contains("9000000000") && !said.contains("KILL"),
        "{said}"
    );
    assert!(
        !said.contains("system user"),
        "an applier is nobody's session: {said}"
    );
    let open = view
        .sample("source")
        .and_then(|s| s.transactions.value())
        .expect("a list");
    let owners: Vec<_> = open.iter().map(|trx| trx.owner).collect();
    let expected = [
        TransactionOwner::PreparedXa,
        TransactionOwner::Applier,
        TransactionOwner::User,
    ];
    assert_eq!(owners, expected);
    // Ages are the server's.
    let asked = stage.actor("source").server.statements();
    let sql = asked
        .iter()
        .find(|s| s.sql.contains("INNODB_TRX x LEFT JOIN"))
        .expect("asked");
    assert!(
        sql.sql.contains("TIMESTAMPDIFF(SECOND, x.trx_started"),
        "{}",
        sql.sql
    );
}
