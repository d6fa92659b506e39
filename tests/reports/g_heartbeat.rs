//! G. Heartbeat.

use super::support::scripted::Reply;
use super::support::stage::Generation::MySql57;
use super::support::stage::{
    B, Stage, View, beats, dead_beats, heartbeat, replica, replica_of, source, source_of, stage,
    stamp,
};
use replicascope::lab::wire::{Column, ColumnKind, Rows, SqlError};
use replicascope::model::finding::Health;
use replicascope::model::lag::{Measurement, Method, Reading};
use replicascope::model::phrase::Arg;
use replicascope::model::profile::{
    ExpectedRole, HeartbeatLayout, HeartbeatTable, StampZone, TopologyProfile,
};
use replicascope::model::time::Span;

const NOW: Span = Span::ZERO;
const C: &str = "00000003-aaaa-11f0-8000-000000000000";

fn utc(profile: &mut TopologyProfile) {
    profile.heartbeat = Some(HeartbeatTable::pt_heartbeat("monitor", StampZone::Utc));
}

fn local(profile: &mut TopologyProfile) {
    profile.heartbeat = Some(HeartbeatTable::pt_heartbeat("monitor", StampZone::Local));
}

fn beat<'a>(view: &View<'a>) -> Option<&'a Measurement> {
    view.method(Method::Heartbeat)?.measured()
}

fn not_applicable(stage: &mut Stage, key: &str) {
    let view = stage.until(key, |view| {
        matches!(view.method(Method::Heartbeat), Some(Reading::NotApplicable { why }) if why.key == key)
    });
    assert_eq!(view.finding("lag_over_threshold"), None, "{}", view.tell());
}

#[test]
fn r25_hours_that_are_a_time_zone_are_a_hint_and_no_lag() {
    let two_hours = Span::from_secs(7200);
    // Written in UTC, taken for the writer's local time, which is two hours ahead.
    let mut wrong = stage([
        source_of(MySql57).on(heartbeat(), beats(&[(1, NOW)])),
        replica_of(MySql57).on(heartbeat(), beats(&[(1, NOW)])),
    ])
    .profile(utc)
    .watch();
    wrong.until("a heartbeat", |view| beat(view).is_some());

    let mut alone = stage([replica_of(MySql57).on(heartbeat(), beats(&[(1, two_hours)]))])
        .profile(utc)
        .watch();
    let view = alone.until("the hint", |view| view.finding("time_zone").is_some());
    let Some(Arg::Span(by)) = view.finding("time_zone").and_then(|f| f.text.arg("by")) else {
        panic!("{}", view.tell())
    };
    assert!((*by - two_hours).abs() < Span::from_secs(2), "{by}");
    alone.until("no alarm", |view| {
        view.finding("lag_over_threshold").is_none()
    });
    let view = alone.view();
    let server = view.server("replica");
    assert_eq!(
        (server.health, server.routable),
        (Health::Unknown, false),
        "{}",
        view.tell()
    );
}

#[test]
fn r25_the_profile_says_utc_or_local() {
    let two_hours = Span::from_secs(7200);
    let players = || {
        // The writer's clock on the wall shows two hours more than UTC.
        let local_stamp = beats(&[(1, -two_hours)]);
        [source_of(MySql57), replica_of(MySql57)]
            .map(|player| player.on(heartbeat(), local_stamp.clone()))
    };
    let mut right = stage(players()).profile(local).watch_when(|actors| {
        actors
            .iter()
            .for_each(|actor| actor.server.set_zone(two_hours))
    });
    let view = right.until("a heartbeat", |view| beat(view).is_some());
    assert!(
        beat(&view).is_some_and(|beat| beat.value < Span::from_secs(1)),
        "{}",
        view.tell()
    );
}

#[test]
fn r26_the_row_of_the_current_source_is_used_and_no_other() {
    let rows = [(7, Span::from_secs(9_000_000)), (1, Span::from_secs(42))];
    let mut stage = stage([replica_of(MySql57).on(heartbeat(), beats(&rows))])
        .profile(utc)
        .watch();
    let view = stage.until("a heartbeat", |view| beat(view).is_some());
    let late = beat(&view).expect("measured").value;
    assert!(
        (late - Span::from_secs(41)).abs() < Span::from_secs(1),
        "{late}"
    );
    let told = view
        .sample("replica")
        .and_then(|s| s.heartbeat.value())
        .expect("rows");
    let ids: Vec<_> = told.rows.iter().map(|row| row.server_id).collect();
    assert_eq!(ids, [Some(7), Some(1)], "the others are listed");
}

#[test]
fn r26_the_profile_may_pin_the_writer() {
    let rows = [(7, Span::from_secs(60)), (1, Span::from_secs(9_000))];
    let pinned = |profile: &mut TopologyProfile| {
        let mut table = HeartbeatTable::pt_heartbeat("monitor", StampZone::Utc);
        if let HeartbeatLayout::PerWriter { pinned_writer, .. } = &mut table.layout {
            *pinned_writer = Some("7".into());
        }
        profile.heartbeat = Some(table);
    };
    let mut stage = stage([replica_of(MySql57).on(heartbeat(), beats(&rows))])
        .profile(pinned)
        .watch();
    let view = stage.until("a heartbeat", |view| beat(view).is_some());
    let late = beat(&view).expect("measured").value;
    assert!(
        (late - Span::from_secs(59)).abs() < Span::from_secs(1),
        "{late}"
    );
}

#[test]
fn r26_stamps_of_every_kind_are_read() {
    type Write = fn(String) -> String;
    let kinds: [(ColumnKind, Write); 5] = [
        (ColumnKind::DateTime, |text| text.replace('T', " ")),
        (ColumnKind::Timestamp, |text| text.replace('T', " ")),
        (ColumnKind::VarString, |text| text),
        (ColumnKind::VarString, |text| text.replace('T', " ")),
        (ColumnKind::VarString, |text| text[..19].to_owned()),
    ];
    for (kind, write) in kinds {
        let reply = Reply::live(move || {
            let column = Column {
                kind,
                ..Column::text("stamp")
            };
            let text = write(stamp(Span::from_secs(30)));
            Rows::new(vec![column, Column::text("server_id")]).row([Some(text), Some("1".into())])
        });
        let mut stage = stage([replica_of(MySql57).on(heartbeat(), reply)])
            .profile(utc)
            .watch();
        let view = stage.until("a heartbeat", |view| beat(view).is_some());
        let late = beat(&view).expect("measured").value;
        assert!(
            (late - Span::from_secs(29)).abs() <= Span::from_secs(1),
            "{kind:?}: {late}"
        );
    }
}

#[test]
fn r27_whole_seconds_give_no_milliseconds() {
    let whole = Reply::live(|| {
        let column = Column {
            kind: ColumnKind::DateTime,
            ..Column::text("stamp")
        };
        let text = stamp(Span::from_millis(9_300))[..19].replace('T', " ");
        Rows::new(vec![column, Column::text("server_id")]).row([Some(text), Some("1".into())])
    });
    let mut stage = stage([replica_of(MySql57).on(heartbeat(), whole)])
        .profile(utc)
        .watch();
    stage.for_polls(5, |view| {
        if let Some(beat) = beat(view) {
            assert_eq!(beat.value.micros() % 1_000_000, 0, "{}", beat.value);
            assert!(beat.bound >= Some(Span::from_secs(1)), "{:?}", beat.bound);
        }
    });
    assert!(beat(&stage.view()).is_some(), "{}", stage.view().tell());
}

#[test]
fn r28_every_session_reads_its_own_statements_and_shows_the_clocks() {
    let mut stage = stage([
        source().variable("autocommit", "OFF"),
        replica().variable("autocommit", "OFF"),
    ])
    .watch_when(|actors| actors[1].server.set_clock_skew(Span::from_millis(300)));
    stage.settle();
    for name in ["source", "replica"] {
        let statements = stage.server(name).statements();
        for login in stage.server(name).logins() {
            let mut own = statements
                .iter()
                .filter(|s| s.connection_id == login.connection_id);
            let first: Vec<_> = own.by_ref().take(2).map(|s| s.sql.as_str()).collect();
            assert!(first[0].contains("SHOW GLOBAL VARIABLES"), "{first:?}");
            assert!(first[1].contains("SET autocommit=1"), "{first:?}");
            assert!(own.all(|s| !s.sql.contains("START TRANSACTION") && !s.sql.contains("BEGIN")));
        }
    }
    // The best of several readings: one alone is as far off as this machine lets us wait for it.
    stage.until("the clock to be 300 ms ahead", |view| {
        let now = view.judged.at.expect("judged");
        let clock = view.watched("replica").clock_now(now);
        clock.is_some_and(|clock| {
            (clock.ahead_by - Span::from_millis(300)).abs() < Span::from_millis(100)
        })
    });
}

#[test]
fn r29_a_dead_writer_makes_nobody_late() {
    let old = dead_beats(&[(1, Span::from_secs(300))]);
    let mut stage = stage([
        source().on(heartbeat(), old.clone()),
        replica().on(heartbeat(), old.clone()),
        replica()
            .named("second")
            .identity(3, C)
            .on(heartbeat(), old),
    ])
    .profile(utc)
    .watch();
    let view = stage.until("writer down", |view| {
        view.finding("heartbeat_writer_down").is_some()
    });
    let Some(Arg::Span(silent)) = view
        .finding("heartbeat_writer_down")
        .and_then(|f| f.text.arg("for"))
    else {
        panic!("{}", view.tell())
    };
    assert!(*silent >= Span::from_secs(300), "{silent}");
    stage.until("both measured by marks", |view| {
        ["replica", "second"].map(|name| view.server(name).routable) == [true, true]
    });
    stage.for_polls(4, |view| {
        for name in ["replica", "second"] {
            let server = view.server(name);
            assert_eq!(
                (server.health, server.routable),
                (Health::Ok, true),
                "{}",
                view.tell()
            );
        }
        let source = view.server("source");
        assert_eq!(
            (source.health, source.lag().headline.value()),
            (Health::Ok, None)
        );
        assert_eq!(view.finding("lag_over_threshold"), None, "{}", view.tell());
    });
}

#[test]
fn r30_a_servers_own_heartbeat_says_nothing_of_it() {
    let mut stage = stage([replica_of(MySql57).on(heartbeat(), beats(&[(2, NOW)]))])
        .profile(utc)
        .watch();
    not_applicable(&mut stage, "lag.why.own_heartbeat");
}

#[test]
fn r31_a_filtered_heartbeat_is_named_and_other_methods_are_used() {
    let missing = SqlError::new(1146, "Table 'monitor.heartbeat' doesn't exist");
    let filters = [
        ("Replicate_Do_DB", "shop"),
        ("Replicate_Ignore_DB", "monitor"),
        ("Replicate_Do_Table", "shop.orders"),
        ("Replicate_Ignore_Table", "monitor.heartbeat"),
        ("Replicate_Wild_Do_Table", "shop.%"),
        ("Replicate_Wild_Ignore_Table", "mon%.%"),
        ("Replicate_Rewrite_DB", "(monitor,elsewhere)"),
    ];
    for (filter, text) in filters {
        let answers: [Reply; 2] = [
            dead_beats(&[(1, Span::from_secs(5_000))]).into(),
            missing.clone().into(),
        ];
        for answer in answers {
            let mut stage = stage([
                source().on(heartbeat(), beats(&[(1, NOW)])),
                replica().field(filter, text).on(heartbeat(), answer),
            ])
            .profile(utc)
            .watch();
            not_applicable(&mut stage, "lag.why.heartbeat_filtered");
            let view = stage.until("current", |view| view.server("replica").routable);
            let said = view
                .finding("heartbeat_filtered")
                .map(|f| format!("{:?}", f.text));
            assert!(
                said.clone()
                    .is_some_and(|s| s.contains(filter) && s.contains(text)),
                "{said:?}"
            );
            let best = view
                .lag()
                .and_then(|lag| lag.headline.measured())
                .map(|m| m.method);
            assert_ne!(best, Some(Method::Heartbeat));
        }
    }
}

/// The same for a replica whose source is not watched.
#[test]
fn r31_a_missing_table_is_explained_by_the_filter_alone() {
    let missing = SqlError::new(1146, "Table 'monitor.heartbeat' doesn't exist");
    let player = replica()
        .field("Replicate_Do_DB", "shop")
        .on(heartbeat(), missing);
    let mut stage = stage([player]).profile(utc).watch();
    not_applicable(&mut stage, "lag.why.heartbeat_filtered");
}

#[test]
fn r32_an_event_that_stays_disabled_after_the_swap_is_told() {
    let event = |status: &str| {
        Rows::text(&[
            "EVENT_SCHEMA",
            "EVENT_NAME",
            "STATUS",
            "ORIGINATOR",
            "EVENT_DEFINITION",
        ])
        .row([
            Some("monitor"),
            Some("ev_heartbeat"),
            Some(status),
            Some("1"),
            Some("REPLACE INTO monitor.heartbeat VALUES (UTC_TIMESTAMP(6), @@server_id)"),
        ])
    };
    let events = || super::support::scripted::text::contains("information_schema.events");
    let mut stage = stage([
        source().on(events(), event("ENABLED")),
        replica()
            .role(ExpectedRole::Auto)
            .on(events(), event("REPLICA_SIDE_DISABLED")),
        replica()
            .named("second")
            .identity(3, C)
            .on(events(), event("REPLICA_SIDE_DISABLED")),
    ])
    .watch();
    stage.settle();
    let view = stage.view();
    assert_eq!(
        view.finding("heartbeat_event_disabled"),
        None,
        "{}",
        view.tell()
    );
    let listed = view
        .sample("replica")
        .and_then(|s| s.events.value())
        .expect("events");
    assert_eq!(
        (listed[0].status.as_str(), listed[0].originator),
        ("REPLICA_SIDE_DISABLED", Some(1))
    );

    // "replica" is promoted, "second" follows it, the old source is gone.
    let port = stage.server("replica").port().to_string();
    stage.actor("second").show(|rows| {
        for (name, value) in [
            ("Source_UUID", B),
            ("Source_Server_Id", "2"),
            ("Source_Port", &port),
        ] {
            super::support::stage::set_field(rows, name, Some(value));
        }
    });
    stage.actor("replica").show(|rows| rows.rows.clear());
    stage
        .server("replica")
        .set_variable("super_read_only", "OFF");
    stage.server("replica").set_variable("read_only", "OFF");
    let view = stage.until("the event, and that it is the swap", |view| {
        let key = view.finding("heartbeat_event_disabled").map(|f| f.text.key);
        key == Some("finding.heartbeat_event_disabled.new_source")
    });
    let finding = view.finding("heartbeat_event_disabled").expect("found");
    assert_eq!(
        finding.subject.watch(),
        Some(view.watched("replica").watch())
    );
    assert!(
        finding
            .sql
            .as_deref()
            .is_some_and(|sql| !sql.contains("SYSDATE"))
    );
}
