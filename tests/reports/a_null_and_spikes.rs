//! A. NULL, 0, spikes, negative.

use std::cell::Cell;
use std::rc::Rc;

use super::support::captures::capture;
use super::support::scripted::Reply;
use super::support::stage::Generation::{MySql57, MySql97};
use super::support::stage::{
    A, beats, dead_beats, heartbeat, replica, replica_of, source, stage, waited,
};
use replicascope::lab::wire::{self, Rows};
use replicascope::link::clock;
use replicascope::model::finding::{Health, Lamp};
use replicascope::model::lag::{Method, Reading};
use replicascope::model::phrase::Arg;
use replicascope::model::profile::{HeartbeatTable, StampZone};
use replicascope::model::replication::Field;
use replicascope::model::time::Span;
use replicascope::store::series::Column;

const TEN_DAYS: Span = Span::from_secs(10 * 86_400);

fn with_heartbeat(profile: &mut replicascope::model::profile::TopologyProfile) {
    profile.heartbeat = Some(HeartbeatTable::pt_heartbeat("monitor", StampZone::Utc));
}

#[test]
fn r01_null_of_a_connecting_receiver_is_unknown_and_not_routable() {
    let mut stage = replica()
        .field("Replica_IO_Running", "Connecting")
        .null("Seconds_Behind_Source")
        .watch();
    // Before the first complete poll of the session, too.
    let first = stage.look();
    assert!(!first.server("replica").routable);
    assert_eq!(first.server("replica").health, Health::Unknown);
    let zeros = Rc::new(Cell::new(0));
    let seen = zeros.clone();
    let view = stage.until("broken after the grace period", |view| {
        let values = view.lag().map_or(0, |lag| {
            lag.methods
                .iter()
                .filter(|(_, r)| r.value().is_some())
                .count()
        });
        seen.set(seen.get() + values);
        assert!(!view.server("replica").routable, "{}", view.tell());
        view.server("replica").health == Health::Broken
    });
    assert_eq!(zeros.get(), 0, "a value was made of NULL");
    assert_eq!(view.why(), Some("lag.why.receiver_connecting"));
    assert!(
        view.finding("receiver_connecting").is_some(),
        "{}",
        view.tell()
    );
}

/// Three answers without a number, and one without an answer at all.
#[test]
fn r01_no_value_comes_from_an_empty_text_a_missing_column_or_a_failed_question() {
    let status_fails = replicascope::lab::wire::SqlError::new(1105, "Unknown error");
    let cases = [
        (
            replica_of(MySql57).null("Seconds_Behind_Master"),
            "lag.why.seconds_null",
        ),
        (
            replica_of(MySql57).field("Seconds_Behind_Master", ""),
            "lag.why.seconds_unreadable",
        ),
        (
            replica_of(MySql57).without("Seconds_Behind_Master"),
            "lag.why.seconds_absent",
        ),
    ];
    for (player, why) in cases {
        let mut stage = player.watch();
        let view = stage.until(why, |view| view.why() == Some(why));
        assert!(!view.server("replica").routable, "{}", view.tell());
        assert_eq!(
            view.server("replica").health,
            Health::Unknown,
            "{}",
            view.tell()
        );
    }
    let mut stage = replica().watch();
    stage.settle();
    stage
        .server("replica")
        .set("SHOW REPLICA STATUS", status_fails);
    let view = stage.until("the refusal", |view| {
        view.sample("replica")
            .is_some_and(|sample| sample.channels.refused().is_some())
    });
    let server = view.server("replica");
    assert!(
        matches!(server.lag().headline, Reading::Unknown { .. }),
        "{}",
        view.tell()
    );
    assert_eq!((server.health, server.routable), (Health::Unknown, false));
}

#[test]
fn r02_without_a_number_no_limit_makes_a_server_routable() {
    for limit in [Span::ZERO, Span::from_secs(70), TEN_DAYS] {
        let player = replica()
            .field("Replica_SQL_Running", "No")
            .null("Seconds_Behind_Source");
        let mut stage = stage([source(), player])
            .profile(|profile| {
                profile.thresholds.lag_warning = limit;
                profile.thresholds.lag_critical = limit;
            })
            .watch();
        stage.for_polls(4, |view| {
            assert!(!view.server("replica").routable, "{limit}: {}", view.tell());
            let headline = view.lag().and_then(|lag| lag.headline.value());
            let seconds = view.method(Method::SecondsBehind).and_then(Reading::value);
            assert_eq!(
                (headline.filter(|lag| lag.micros() == 60_000_000), seconds),
                (None, None)
            );
        });
    }
}

#[test]
fn r03_zero_is_a_value() {
    let mut stage = replica_of(MySql57).watch();
    let view = stage.until("a value", |view| {
        view.lag().is_some_and(|l| l.headline.value().is_some())
    });
    let lag = view.lag().expect("a channel");
    assert_eq!(lag.headline.value(), Some(Span::ZERO));
    assert_eq!(
        lag.headline.measured().map(|m| m.method),
        Some(Method::SecondsBehind)
    );
    assert!(view.server("replica").routable);
}

#[test]
fn r03_null_under_a_column_that_says_it_never_is_loses_no_row() {
    let lying = wire::Column::number("Seconds_Behind_Source")
        .flagged(wire::Column::NOT_NULL | wire::Column::UNSIGNED);
    let mut stage = replica()
        .field("Replica_SQL_Running", "No")
        .null("Seconds_Behind_Source")
        .alter(|rows| {
            let at = rows
                .columns
                .iter()
                .position(|c| c.name == lying.name)
                .expect("there");
            rows.columns[at] = lying;
        })
        .watch();
    let view = stage.until("the row", |view| view.replica().is_some());
    let channel = &view.sample("replica").expect("a sample").channels()[0];
    assert_eq!(channel.seconds_behind, Field::Null);
    let expected = capture("mysql97/quiet").columns.len();
    assert_eq!(
        (channel.raw.len(), channel.source.host.as_str()),
        (expected, "127.0.0.1")
    );
    assert_eq!(view.why(), Some("lag.why.applier_stopped"));
}

#[test]
fn r04_an_applier_that_stands_for_hours_is_not_ok_whatever_seconds_behind_says() {
    // Not a whole number of quarters of an hour, which would look like a time zone.
    let age = Span::from_secs(14 * 3600 + 400);
    let player = replica()
        .field("Exec_Source_Log_Pos", "776669711")
        .field("Retrieved_Gtid_Set", &format!("{A}:1-9"))
        .on(heartbeat(), beats(&[(1, age)]));
    let source = source()
        .variable("gtid_executed", &format!("{A}:1-9"))
        .on(heartbeat(), beats(&[(1, Span::ZERO)]));
    let player = player.on(MySql97.wait(), waited(Some("1")));
    let mut stage = stage([source, player]).profile(with_heartbeat).watch();
    for executed in 10..14 {
        let grown = format!("{A}:1-{executed}");
        stage.server("source").set_variable("gtid_executed", &grown);
        stage.for_polls(2, |view| {
            assert_ne!(view.server("replica").health, Health::Ok, "{}", view.tell());
        });
    }
    let view = stage.until("not advancing", |view| {
        view.finding("applier_not_advancing").is_some()
    });
    let Some(Arg::Span(standing)) = view
        .finding("applier_not_advancing")
        .and_then(|f| f.text.arg("for"))
    else {
        panic!("no age: {}", view.tell())
    };
    assert!(*standing >= Span::from_secs(5), "{standing}");
    let headline = view
        .lag()
        .and_then(|lag| lag.headline.measured())
        .expect("a headline");
    assert_eq!(headline.method, Method::Heartbeat, "{}", view.tell());
    assert!(
        (headline.value - age).abs() < Span::from_secs(3),
        "{}",
        headline.value
    );
    assert_eq!(
        view.method(Method::SecondsBehind).and_then(Reading::value),
        Some(Span::ZERO)
    );
    assert!(
        view.finding("seconds_behind_contradicted").is_some(),
        "{}",
        view.tell()
    );
    assert!(!view.server("replica").routable);
}

/// Seen to come, and found so at the start.
#[test]
fn r05_a_full_source_is_named_and_nobody_is_said_to_lag() {
    for from_the_start in [false, true] {
        let second = replica()
            .named("second")
            .identity(3, "00000003-aaaa-11f0-8000-000000000000");
        let players = [source(), replica(), second];
        let old = dead_beats(&[(1, Span::from_secs(20))]);
        let stage = stage(players.map(|player| player.on(heartbeat(), old.clone())))
            .profile(with_heartbeat)
            .profile(|profile| profile.thresholds.consecutive = 1);
        let mut stage = if from_the_start {
            stage.watch_when(|actors| actors[0].server.refuse_with(1040))
        } else {
            let mut stage = stage.watch();
            for name in ["source", "replica", "second"] {
                stage
                    .server(name)
                    .set(heartbeat(), beats(&[(1, Span::ZERO)]));
            }
            stage.until("all well", |view| view.server("replica").routable);
            for name in ["replica", "second"] {
                let old = dead_beats(&[(1, Span::from_secs(20))]);
                stage.server(name).set(heartbeat(), old);
            }
            stage.server("source").refuse_with(1040);
            stage.server("source").cut_all();
            stage
        };
        stage.until("1040", |view| {
            let refuses = view.finding("server_unreachable").is_some_and(|finding| {
                finding.text.key == "finding.server_unreachable.source_refuses"
                    && finding.text.arg("number") == Some(&Arg::Number(1040))
            });
            refuses && view.sample("second").is_some()
        });
        let verdict = stage.view().judged.verdict.clone().expect("a verdict");
        assert_eq!(verdict.lamp, Lamp::Critical);
        assert!(
            format!("{:?}", verdict.headline).contains("Number(1040)"),
            "{verdict:?}"
        );
        stage.for_polls_of(&["replica", "second"], 4, |view| {
            for name in ["replica", "second"] {
                let server = view.server(name);
                assert_ne!(server.health, Health::Ok, "{}", view.tell());
                assert_ne!(server.lamps.lag.lamp, Lamp::Ok, "{}", view.tell());
                assert!(!server.routable, "{}", view.tell());
            }
            assert!(
                !view.codes().contains(&"lag_over_threshold"),
                "{}",
                view.tell()
            );
        });
    }
}

#[test]
fn r06_a_stamp_from_the_future_is_clock_skew_and_never_a_lag() {
    let mut stage =
        stage([replica_of(MySql57).on(heartbeat(), beats(&[(1, Span::from_secs(-744))]))])
            .profile(with_heartbeat)
            .watch();
    let view = stage.until("the skew", |view| view.finding("clock_skew").is_some());
    let Some(Arg::Span(by)) = view.finding("clock_skew").and_then(|f| f.text.arg("by")) else {
        panic!("{}", view.tell())
    };
    assert!(
        (*by - Span::from_secs(744)).abs() < Span::from_secs(3),
        "{by}"
    );
    assert!(matches!(
        view.method(Method::Heartbeat),
        Some(Reading::Unknown { .. })
    ));
    let server = view.server("replica");
    assert_eq!(
        (server.health, server.routable),
        (Health::Unknown, false),
        "{}",
        view.tell()
    );
}

#[test]
fn r07_a_spike_of_seconds_behind_alone_raises_no_alarm() {
    let quiet = capture("mysql57/quiet");
    let row = |seconds: &str| {
        let mut rows = quiet.clone();
        super::support::stage::set_field(&mut rows, "Seconds_Behind_Master", Some(seconds));
        rows
    };
    let polls: [Rows; 8] = ["0", "0", "0", "0", "10368000", "10368000", "10368000", "0"].map(row);
    let player = replica_of(MySql57).on(heartbeat(), beats(&[(1, Span::from_millis(400))]));
    let mut stage = stage([player]).profile(with_heartbeat).watch();
    stage.settle();
    stage
        .server("replica")
        .set("SHOW SLAVE STATUS", Reply::sequence(polls));
    let began = clock::now();
    stage.for_polls(10, |view| {
        let server = view.server("replica");
        assert_eq!(
            (server.health, server.routable),
            (Health::Ok, true),
            "{}",
            view.tell()
        );
        assert_eq!(view.finding("lag_over_threshold"), None, "{}", view.tell());
        let headline = view.lag().and_then(|lag| lag.headline.value());
        assert!(
            headline.is_some_and(|lag| lag < Span::from_secs(1)),
            "{}",
            view.tell()
        );
    });
    let past = &stage.view().watched("replica").channels[""].methods[&Method::SecondsBehind];
    let columns = past.columns(began, clock::now(), 400);
    let is_spike = |column: &Column| {
        column
            .extremes
            .is_some_and(|(_, most)| most == 10_368_000.0)
    };
    assert!(
        columns.iter().any(is_spike),
        "the raw value must be visible: {columns:?}"
    );
}
