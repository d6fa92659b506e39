//! B. Names, versions, flavours.

use std::time::Duration;

use super::support::captures::capture;
use super::support::eventually;
use super::support::stage::Generation::{self, *};
use super::support::stage::{A, replica_of, source_of, stage};
use replicascope::lab::wire::Rows;
use replicascope::model::lag::{Method, Reading};
use replicascope::model::time::Span;

const SOON: Duration = Duration::from_secs(20);

/// Late, so that the questions about locks and statements are asked too.
#[test]
fn r08_steady_polling_of_any_generation_has_no_statement_that_fails() {
    for generation in Generation::ALL {
        let seconds = match generation {
            MySql8037 | MySql84 | MySql97 => "Seconds_Behind_Source",
            _ => "Seconds_Behind_Master",
        };
        let late = replica_of(generation).field(seconds, "7");
        let mut stage = stage([source_of(generation), late]).watch();
        stage.for_polls(5, |_| {});
        for name in ["source", "replica"] {
            let unknown = stage.server(name).unknown_statements();
            assert_eq!(unknown, Vec::<String>::new(), "{generation:?} {name}");
        }
        // The whole of it is asked: marks on the source, waits and lock waits on the replica.
        for (name, parts) in [
            ("source", &[" AS position"][..]),
            ("replica", &[" AS applied"]),
            ("replica", &["_WAITS", "_waits"]),
        ] {
            let is_asked = eventually(SOON, || {
                stage.look();
                let actor = stage.actor(name);
                parts.iter().any(|part| actor.asked(part) > 0)
            });
            assert!(is_asked, "{generation:?} {name} {parts:?}");
        }
        // Decided once per connection; one that has just logged in decides next.
        for name in ["source", "replica"] {
            let is_once = eventually(SOON, || {
                let logins = stage.server(name).logins().len();
                stage.actor(name).asked("aurora_version") == logins
            });
            assert!(is_once, "{generation:?} {name}");
        }
    }
}

#[test]
fn r08_the_statement_is_chosen_anew_after_a_reconnect() {
    let mut stage = replica_of(MySql8037)
        .script(|script| {
            script
                .version("8.0.21")
                .on("SHOW SLAVE STATUS", capture("mysql57/quiet"))
        })
        .on(
            "SHOW SLAVE HOSTS",
            Rows::text(&["Server_id", "Host", "Port"]),
        )
        .watch();
    stage.until("a channel", |view| view.replica().is_some());
    assert_eq!(stage.actor("replica").asked("SHOW REPLICA STATUS"), 0);
    let server = stage.server("replica");
    server.set_variable("version", "8.4.3");
    server.set("SHOW BINARY LOG STATUS", Rows::text(&["File", "Position"]));
    server.cut_all();
    stage.until("the new statement", |view| {
        let sample = view.sample("replica");
        sample.is_some_and(|s| s.product.version.minor == 4 && !s.channels().is_empty())
    });
    let server = stage.actor("replica");
    assert!(server.asked("SHOW REPLICA STATUS") > 0);
    assert_eq!(server.server.unknown_statements(), Vec::<String>::new());
}

#[test]
fn r08_no_lag_is_taken_from_a_setting() {
    let mut stage = replica_of(MySql57)
        .variable("innodb_replication_delay", "0")
        .variable("slave_net_timeout", "0")
        .without("Seconds_Behind_Master")
        .watch();
    stage.settle();
    let view = stage.view();
    let lag = view.lag().expect("a channel");
    assert!(
        lag.methods
            .iter()
            .all(|(_, reading)| reading.value().is_none()),
        "{}",
        view.tell()
    );
}

#[test]
fn r09_columns_are_found_by_either_name_in_any_case() {
    let rename = |rows: &mut Rows, name: fn(&str) -> String| {
        for column in &mut rows.columns {
            column.name = name(&column.name);
        }
    };
    let seconds = |value: &str| replica_of(MySql84).field("Seconds_Behind_Source", value);
    let players = [
        seconds("95"),
        seconds("95").alter(|rows| rename(rows, str::to_ascii_uppercase)),
        // A fork that took the new statement and kept the old words.
        seconds("95").alter(|rows| {
            rename(rows, |name| {
                name.replace("Source_", "Master_")
                    .replace("_Source", "_Master")
                    .replace("Replica_", "Slave_")
                    .to_ascii_lowercase()
            });
        }),
    ];
    for player in players {
        let mut stage = stage([player]).watch();
        stage.until("the row", |view| view.replica().is_some());
        let view = stage.view();
        let read = view.method(Method::SecondsBehind).and_then(Reading::value);
        assert_eq!(read, Some(Span::from_secs(95)), "{}", view.tell());
        let channel = &view.sample("replica").expect("a sample").channels()[0];
        assert!(channel.receiver.is_running() && channel.applier.is_running());
        let source = &channel.source;
        assert_eq!(
            (source.host.as_str(), source.port),
            ("127.0.0.1", Some(33060))
        );
        assert_eq!(
            (source.uuid.as_deref(), source.server_id),
            (Some(A), Some(1))
        );
        assert_eq!(channel.executed.as_ref().map(|at| at.position), Some(910));
        assert_eq!(
            channel.read.as_ref().map(|at| at.file.as_str()),
            Some("binlog.000001")
        );
        assert!(channel.applier_doing.is_some());
    }
}

#[test]
fn r09_a_column_that_is_missing_under_both_names_is_named() {
    let mut stage = replica_of(MySql84).without("Seconds_Behind_Source").watch();
    let view = stage.until("the row", |view| view.replica().is_some());
    let why = view.method(Method::SecondsBehind).and_then(Reading::why);
    assert_eq!(why.map(|why| why.key), Some("lag.why.seconds_absent"));
    let words = replicascope::words::Catalogue::of(replicascope::words::Language::English);
    let said = words.say(why.expect("a reason"));
    assert!(said.contains("Seconds_Behind_Source"), "{said}");
}
