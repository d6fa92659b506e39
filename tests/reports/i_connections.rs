//! I. Connections.

use std::time::{Duration, Instant};

use super::support::eventually;
use super::support::scripted::Door;
use super::support::scripted::text::contains;
use super::support::stage::{Stage, replica, source, stage};
use replicascope::lab::wire::{Answer, AuthPlugin, Rows};
use replicascope::model::event::LinkState;
use replicascope::model::finding::Health;
use replicascope::model::lag::Reading;
use replicascope::model::profile::{ServerProfile, Target};
use replicascope::model::time::Span;
use replicascope::model::trouble::TroubleKind;

/// Long enough for the least time after which an answer counts as old.
const INTERVAL: Span = Span::from_millis(500);

/// Two intervals, the one that ran, and what a busy machine adds: well before our own time limit of 5 s for an answer.
const UNKNOWN_WITHIN: Duration = Duration::from_secs(4);

fn calm(profile: &mut replicascope::model::profile::TopologyProfile) {
    profile.intervals.poll = INTERVAL;
}

/// Polls of a server so far.
fn polls(stage: &mut Stage, name: &str) -> usize {
    stage.actor(name).asked("@@GLOBAL.server_id")
}

#[test]
fn r36_a_hanging_status_is_one_session_and_everybody_else_goes_on() {
    let other = replica()
        .named("other")
        .identity(3, "00000003-aaaa-11f0-8000-000000000000");
    let mut stage = stage([source(), replica(), other]).profile(calm).watch();
    stage.until("all well", |view| {
        view.server("replica").routable && view.server("other").routable
    });
    // The statement hangs inside the server, and so does its session, whatever the client does.
    let server = stage.server("replica");
    server.set("SHOW REPLICA STATUS", Answer::Silence);
    server.set(
        contains("from performance_schema.processlist where id ="),
        Rows::text(&["id"]).row([Some("9")]),
    );
    server.set(contains("kill"), Answer::ok());
    let began = Instant::now();
    let before = polls(&mut stage, "other");
    stage.until("unknown", |view| {
        view.server("replica").health == Health::Unknown
    });
    let took = began.elapsed();
    assert!(took < UNKNOWN_WITHIN, "{took:?}");
    let view = stage.view();
    assert!(!view.server("replica").routable);
    assert!(
        view.server("replica").answer_age >= Some(INTERVAL),
        "the age of the last answer is shown"
    );
    stage.until("the statement hangs", |_| began.elapsed() > UNKNOWN_WITHIN);
    let hanging = stage.actor("replica").asked("SHOW REPLICA STATUS");
    // Beyond our own time limit of 5 s: the session is given up, and still hangs on the server.
    stage.until("9 s of it", |view| {
        assert!(!view.server("replica").routable, "{}", view.tell());
        began.elapsed() > Duration::from_secs(9)
    });
    let asked = stage.actor("replica").asked("SHOW REPLICA STATUS");
    assert_eq!(
        asked, hanging,
        "another statement joined the one that hangs"
    );
    let killed = stage.actor("replica").asked("KILL");
    assert!(killed > 0, "nobody tried to end it");
    let most = stage.server("replica").max_connections_seen();
    assert!(most <= 2, "{most} connections");
    let polled = polls(&mut stage, "other") - before;
    let due = began.elapsed().as_millis() as usize / 500;
    // A busy machine leaves some out.
    assert!(
        polled * 2 >= due,
        "{polled} polls of the other server, {due} due"
    );
    let view = stage.view();
    assert_eq!(view.server("other").health, Health::Ok, "{}", view.tell());
    // It recovers by itself.
    let server = stage.server("replica");
    server.set(
        contains("from performance_schema.processlist where id ="),
        Rows::text(&["id"]),
    );
    stage.actor("replica").show(|_| {});
    stage.until("well again", |view| view.server("replica").routable);
}

#[test]
fn r37_a_server_that_stops_answering_is_unknown_and_quitting_does_not_wait() {
    let mut stage = stage([source(), replica()]).profile(calm).watch();
    stage.until("all well", |view| view.server("replica").routable);
    stage.server("replica").set(contains(""), Answer::Silence);
    stage.server("replica").set_door(Door::Silence);
    let began = Instant::now();
    stage.until("unknown", |view| {
        view.server("replica").health == Health::Unknown
    });
    assert!(began.elapsed() < UNKNOWN_WITHIN, "{:?}", began.elapsed());
    let view = stage.until("said so", |view| view.finding("reading_stale").is_some());
    assert!(
        matches!(&view.server("replica").lag().headline, Reading::Unknown { why } if why.key == "lag.why.no_answer")
    );
    assert!(view.server("replica").answer_age > Some(INTERVAL));
    assert!(view.server("source").routable, "{}", view.tell());
    let took = stage.close();
    assert!(
        took < Duration::from_secs(3),
        "quitting took {took:?}, as if for an answer"
    );
}

#[test]
fn r37_a_peer_that_never_speaks_is_given_up() {
    let mut stage =
        stage([source(), replica()]).watch_when(|actors| actors[1].server.set_door(Door::Silence));
    let view = stage.until("given up", |view| {
        matches!(&view.watched("replica").link, LinkState::Down { trouble, .. } if trouble.kind == TroubleKind::TimedOut)
    });
    let server = view.server("replica");
    assert_eq!((server.health, server.routable), (Health::Unknown, false));
    assert!(view.finding("server_unreachable").is_some());
    assert_eq!(view.server("source").health, Health::Ok, "{}", view.tell());
}

#[test]
fn r38_a_blocked_host_is_told_and_not_hammered() {
    let mut stage = replica().watch();
    stage.settle();
    stage.server("replica").refuse_with(1129);
    stage.server("replica").cut_all();
    let view = stage.until("1129", |view| {
        matches!(&view.watched("replica").link, LinkState::Down { trouble, .. } if trouble.code == Some(1129))
    });
    assert!(
        view.finding("server_unreachable")
            .is_some_and(|f| format!("{:?}", f.text).contains("Number(1129)"))
    );
    let LinkState::Down {
        attempt, retry_at, ..
    } = view.watched("replica").link.clone()
    else {
        panic!("down")
    };
    assert!(retry_at > view.judged.at.expect("judged") - Span::from_secs(1) && attempt >= 1);
    stage.server("replica").stop_refusing();
    stage.until("let in again", |view| view.server("replica").routable);
}

#[test]
fn r38_many_polls_are_one_session_that_says_goodbye() {
    let mut stage = stage([source(), replica()])
        .profile(|profile| {
            profile.intervals.poll = Span::from_millis(20);
            profile.intervals.mark = Span::from_millis(20);
        })
        .watch();
    stage.for_polls(200, |_| {});
    stage.close();
    for name in ["source", "replica"] {
        let server = stage.server(name);
        let logins = server.logins().len();
        assert!(logins <= 2, "{name}: {logins} logins");
        assert!(server.max_connections_seen() <= 2, "{name}");
        let goodbyes = || server.goodbyes() == logins as u64;
        assert!(
            eventually(Duration::from_secs(20), goodbyes),
            "{name}: {} of {logins}",
            server.goodbyes()
        );
    }
}

#[test]
fn r40_a_cold_password_cache_does_not_keep_us_out_of_plain_tcp() {
    let mut stage = replica()
        .script(|script| script.plugin(AuthPlugin::CachingSha2Password).cold())
        .watch();
    stage.until("let in cold", |view| view.server("replica").routable);
    let server = stage.server("replica");
    server.flush_passwords();
    let since = stage.look().watched("replica").link_since;
    stage.server("replica").cut_all();
    stage.until("cut, and let in cold again", |view| {
        view.watched("replica").link_since != since && view.server("replica").routable
    });
}

#[test]
fn r40_a_wrong_password_says_so() {
    let mut stage = replica().watch_with_password("another");
    let view = stage.until("refused", |view| {
        matches!(&view.watched("replica").link, LinkState::Down { trouble, .. } if trouble.code == Some(1045))
    });
    let LinkState::Down { trouble, .. } = &view.watched("replica").link else {
        panic!("down")
    };
    assert_eq!(trouble.kind, TroubleKind::AccessDenied);
    assert!(!format!("{trouble:?}").contains("another"), "{trouble:?}");
}

#[test]
fn r41_passwords_of_any_character_log_in() {
    for password in ["p#a@s:s/w?o%r\"d' x", "#", " ", "%2F", "ü中"] {
        let mut stage = replica().password(password).watch();
        stage.until(password, |view| view.server("replica").routable);
    }
}

#[test]
fn r41_addresses_are_read_and_shown_without_doubt() {
    for (text, shown) in [
        ("2abc::1", "[2abc::1]:3306"),
        ("[2abc::1]", "[2abc::1]:3306"),
        ("[2abc::1]:3307", "[2abc::1]:3307"),
        ("db1", "db1:3306"),
        ("10.0.0.1:3307", "10.0.0.1:3307"),
        ("monitor@db1:3307", "db1:3307"),
        ("/run/mysqld/mysqld.sock", "/run/mysqld/mysqld.sock"),
    ] {
        let target = Target::parse(text).expect(text);
        let server = ServerProfile::new(
            replicascope::model::profile::ServerId("s".into()),
            target.address.clone(),
        );
        assert_eq!(server.label(), shown);
        let again = Target::parse(shown).expect(shown);
        assert_eq!(again.address, target.address, "{shown}");
    }
}
