//! C. Thread state and role.

use super::support::captures::capture;
use super::support::stage::Generation::MySql57;
use super::support::stage::{
    Setting, beats, heartbeat, replica, replica_of, second_row, set_field_of_row, stage,
};
use replicascope::lab::wire::Rows;
use replicascope::model::finding::{Health, Role, Severity, Subject};
use replicascope::model::lag::{Method, Reading};
use replicascope::model::phrase::Arg;
use replicascope::model::profile::{ExpectedRole, HeartbeatTable, StampZone};
use replicascope::model::replication::ThreadState;
use replicascope::model::time::Span;

#[test]
fn r10_connecting_is_a_state_of_its_own_and_broken_after_the_grace() {
    let error = "error connecting to master 'repl@10.0.0.1:3306' - retry-time: 60 retries: 1";
    let mut stage = replica()
        .field("Replica_IO_Running", "Connecting")
        .field("Last_IO_Errno", "2003")
        .field("Last_IO_Error", error)
        .watch();
    stage.until("the row", |view| view.replica().is_some());
    let within = stage.view().server("replica").health;
    assert_eq!(
        within,
        Health::Unknown,
        "a receiver that starts is connecting for a moment"
    );
    let view = stage.until("broken", |view| {
        view.server("replica").health == Health::Broken
    });
    let channel = &view.sample("replica").expect("a sample").channels()[0];
    assert_eq!(channel.receiver, ThreadState::Connecting);
    let finding = view.finding("receiver_connecting").expect("a finding");
    let evidence = format!("{:?}", finding.evidence);
    assert!(
        evidence.contains("Number(2003)") && evidence.contains(error),
        "{evidence}"
    );
    assert_eq!(view.finding("receiver_stopped"), None);
}

#[test]
fn r10_a_word_nobody_knows_is_shown_and_counts_as_not_running() {
    for field in ["Replica_IO_Running", "Replica_SQL_Running"] {
        let mut stage = replica().field(field, "Rebooting").watch();
        let view = stage.until("the row", |view| view.replica().is_some());
        let server = view.server("replica");
        assert_eq!(
            (server.health, server.routable),
            (Health::Broken, false),
            "{}",
            view.tell()
        );
        assert!(
            format!("{:?}", server.lamps.threads).contains("Rebooting"),
            "{}",
            view.tell()
        );
        assert!(view.lag().is_some_and(|lag| lag.headline.value().is_none()));
    }
}

#[test]
fn r11_a_replica_with_a_binary_log_of_its_own_is_no_source() {
    let mut stage = replica()
        .role(ExpectedRole::Auto)
        .variable("read_only", "OFF")
        .variable("super_read_only", "OFF")
        .watch();
    let view = stage.until("a role", |view| {
        view.server("replica").role != Role::Unknown
    });
    assert_eq!(view.server("replica").role, Role::Replica);
    assert!(
        view.finding("replica_writable").is_some(),
        "{}",
        view.tell()
    );
}

#[test]
fn r11_a_server_in_the_middle_is_both() {
    let downstream = Rows::text(&["Server_Id", "Host", "Port", "Replica_UUID"]).row([
        Some("7"),
        Some("10.0.0.7"),
        Some("3306"),
        Some("00000007-aaaa-11f0-8000-000000000000"),
    ]);
    let mut stage = replica().on("SHOW REPLICAS", downstream).watch();
    stage.until("both roles", |view| {
        view.server("replica").role == Role::Intermediate
    });
}

#[test]
fn r12_stopped_on_purpose_is_stopped_and_by_an_error_is_broken() {
    let stopped = replica().channels(capture("mysql97/applier_stopped"));
    let text = "Error executing row event: 'Table 'db.t' doesn't exist'";
    let broken = replica()
        .field("Replica_SQL_Running", "No")
        .null("Seconds_Behind_Source")
        .field("Last_SQL_Errno", "1146")
        .field("Last_SQL_Error", text);
    for (player, health, code) in [
        (stopped, Health::Stopped, "applier_stopped"),
        (broken, Health::Broken, "applier_broken"),
    ] {
        let mut stage = player.watch();
        let view = stage.until(code, |view| view.finding(code).is_some());
        let server = view.server("replica");
        assert_eq!(
            (server.health, server.routable),
            (health, false),
            "{}",
            view.tell()
        );
        assert!(matches!(server.lag().headline, Reading::Unknown { .. }));
        if health == Health::Broken {
            let finding = view.finding(code).expect("found");
            assert_eq!(finding.text.arg("number"), Some(&Arg::Number(1146)));
            assert!(format!("{:?}", finding.evidence).contains("Table 'db.t' doesn't exist"));
            assert_eq!(view.finding("applier_stopped"), None);
        }
    }
}

/// The rows of netdata#6353 and proxysql#4423: a channel that never ran beside one that does.
fn never_started_and_orders(rows: &mut Rows) {
    second_row(rows);
    for (name, value) in [
        ("Slave_IO_Running", Some("No")),
        ("Slave_SQL_Running", Some("No")),
        ("Master_Log_File", Some("")),
        ("Relay_Master_Log_File", Some("")),
        ("Read_Master_Log_Pos", Some("4")),
        ("Retrieved_Gtid_Set", Some("")),
        ("Slave_IO_State", Some("")),
        ("Slave_SQL_Running_State", Some("")),
        ("Seconds_Behind_Master", None),
    ] {
        set_field_of_row(rows, 0, name, value);
    }
    set_field_of_row(rows, 1, "Channel_Name", Some("orders"));
    set_field_of_row(rows, 1, "Seconds_Behind_Master", Some("37"));
}

#[test]
fn r13_every_channel_is_told_and_one_that_never_ran_judges_nobody() {
    let mut stage = replica_of(MySql57).alter(never_started_and_orders).watch();
    let view = stage.until("both channels", |view| {
        view.channel("replica", "orders").is_some() && view.finding("lag_over_threshold").is_some()
    });
    let idle = view.channel("replica", "").expect("the default channel");
    assert!(!idle.counts && !idle.routable && idle.lag.headline.value().is_none());
    let orders = view.channel("replica", "orders").expect("orders");
    assert_eq!(
        orders.lag.headline.value(),
        Some(Span::from_secs(37)),
        "{}",
        view.tell()
    );
    let server = view.server("replica");
    assert_eq!(
        (server.health, orders.health),
        (Health::Delayed, Health::Delayed)
    );
    assert_eq!(server.lag().headline.value(), Some(Span::from_secs(37)));
    // Logged once, not with every poll.
    stage.settle();
    let before = stage.store().journal().entries().count();
    stage.for_polls(6, |_| {});
    assert_eq!(
        stage.store().journal().entries().count(),
        before,
        "{}",
        stage.view().tell()
    );
}

#[test]
fn r13_a_channel_that_the_profile_expects_is_missed_when_it_never_ran() {
    let player = replica_of(MySql57).alter(never_started_and_orders);
    let (actors, mut profile) = stage([player]).start();
    profile.servers[0].expected_channels = vec![String::new(), "orders".into()];
    let mut stage = Setting::of(actors, profile);
    let view = stage.until("both channels", |view| {
        view.channel("replica", "orders").is_some()
    });
    let idle = view.channel("replica", "").expect("the default channel");
    assert!(idle.counts, "{}", view.tell());
    let server = view.server("replica");
    assert_eq!(
        (server.health, server.routable),
        (Health::Stopped, false),
        "{}",
        view.tell()
    );
    assert_eq!(server.lag().headline.value(), None, "{}", view.tell());
}

#[test]
fn r13_a_stopped_channel_that_has_run_is_the_servers_verdict() {
    let mut stage = replica_of(MySql57)
        .alter(|rows| {
            second_row(rows);
            set_field_of_row(rows, 1, "Channel_Name", Some("orders"));
            set_field_of_row(rows, 1, "Slave_SQL_Running", Some("No"));
            set_field_of_row(rows, 1, "Seconds_Behind_Master", None);
        })
        .watch();
    let view = stage.until("stopped", |view| view.finding("applier_stopped").is_some());
    let server = view.server("replica");
    assert_eq!((server.health, server.routable), (Health::Stopped, false));
    let watch = view.watched("replica").watch();
    let subject = Subject::Channel(watch, "orders".into());
    assert_eq!(
        view.finding("applier_stopped").map(|f| &f.subject),
        Some(&subject)
    );
}

#[test]
fn r14_a_planned_delay_is_told_apart_from_lag() {
    let late = || {
        replica_of(MySql57)
            .field("SQL_Delay", "3600")
            .field("Seconds_Behind_Master", "3613")
    };
    let mut low = stage([late()]).watch();
    let view = low.until("late", |view| view.finding("lag_over_threshold").is_some());
    let lag = view.lag().expect("a channel");
    assert_eq!(
        lag.headline.value(),
        Some(Span::from_secs(13)),
        "{}",
        view.tell()
    );
    assert_eq!(lag.planned_delay, Span::from_secs(3600));
    let alarm = view.finding("lag_over_threshold").expect("found");
    assert_eq!(alarm.text.arg("lag"), Some(&Arg::Span(Span::from_secs(13))));
    let planned = view.finding("delayed_replica").expect("found");
    assert_eq!(planned.severity, Severity::Info);
    assert_eq!(
        planned.text.arg("delay"),
        Some(&Arg::Span(Span::from_secs(3600)))
    );
    assert_eq!(
        planned.text.arg("lag"),
        Some(&Arg::Span(Span::from_secs(13)))
    );

    let mut high = stage([late()])
        .profile(|profile| {
            profile.thresholds.lag_warning = Span::from_secs(20);
            profile.thresholds.lag_critical = Span::from_secs(60);
        })
        .watch();
    high.for_polls(5, |view| {
        assert_eq!(view.finding("lag_over_threshold"), None, "{}", view.tell());
        assert!(!view.server("replica").routable, "{}", view.tell());
    });
    assert_eq!(high.view().server("replica").health, Health::Ok);
}

#[test]
fn r14_the_heartbeat_is_judged_beyond_the_same_delay() {
    let age = Span::from_secs(3605);
    let player = replica_of(MySql57)
        .field("SQL_Delay", "3600")
        .field("Seconds_Behind_Master", "3604")
        .on(heartbeat(), beats(&[(1, age)]));
    let mut stage = stage([player])
        .profile(|profile| {
            profile.heartbeat = Some(HeartbeatTable::pt_heartbeat("monitor", StampZone::Utc));
        })
        .watch();
    let view = stage.until("a heartbeat", |view| {
        view.method(Method::Heartbeat)
            .is_some_and(|reading| reading.value().is_some())
    });
    let late = view
        .method(Method::Heartbeat)
        .and_then(Reading::value)
        .expect("a value");
    assert!(
        (late - Span::from_secs(4)).abs() < Span::from_secs(1),
        "{late}"
    );
}
