//! The probe against servers that say what real ones say rarely: every outcome of a wait leads to the source and is
//! counted by its kind (R20, R21), and the GTID of a commit is found among other entries or in another way (R22).

mod support;

use std::time::{Duration, Instant};

use replicascope::lab::wire::{Answer, Done, Rows, SessionChange, SqlError};
use replicascope::model::probe::{
    Awaited, Outcome, ProbePlan, ReadFrom, Reader, TokenFrom, Verdict, WaitKind,
};
use replicascope::model::time::Span;
use replicascope::monitor::prober::EndReason;
use support::captures::{capture, capture_without_rows};
use support::client::server as anybody;
use support::probing::{Probed, Probing, server};
use support::scripted::text::{contains, prefix};
use support::scripted::{Builder, Reply, ScriptedServer};

const GTID: &str = "00000001-aaaa-11f0-8000-000000000000:12";
/// The only probe of these tests writes one row; both servers say the same of it.
const VALUE: &str = "fresh as written";

fn any(version: &str, id: &str) -> Builder {
    anybody()
        .version(version)
        .variable("version_comment", "scripted")
        .variable("server_id", id)
        .variable(
            "server_uuid",
            &format!("0000000{id}-aaaa-11f0-8000-000000000000"),
        )
        .variable("super_read_only", "OFF")
        .variable("innodb_read_only", "OFF")
        .variable("gtid_mode", "ON")
        .variable("enforce_gtid_consistency", "ON")
        .variable("gtid_executed", "00000001-aaaa-11f0-8000-000000000000:1-12")
        .variable("log_bin", "ON")
        .on(
            contains("information_schema.tables"),
            Rows::text(&["1"]).row([Some("1")]),
        )
        .on(prefix("DELETE FROM"), Answer::ok())
}

fn source(commit: impl Into<Reply>) -> Builder {
    any("8.0.37", "1")
        .variable("read_only", "OFF")
        .on("SHOW REPLICA STATUS", capture_without_rows("mysql97/quiet"))
        .on(prefix("INSERT INTO"), commit)
        .on(prefix("SELECT value FROM"), row(VALUE))
}

fn replica(wait: impl Into<Reply>) -> Builder {
    any("8.0.37", "2")
        .variable("read_only", "ON")
        .on("SHOW REPLICA STATUS", capture("mysql97/quiet"))
        .on(contains("WAIT_FOR_EXECUTED_GTID_SET"), wait)
        .on(prefix("SELECT value FROM"), row("from the replica"))
}

fn row(value: &str) -> Rows {
    Rows::text(&["value"]).row([Some(value)])
}

fn commit(changes: Vec<SessionChange>) -> Answer {
    Answer::Ok(Done {
        affected_rows: 1,
        ..Done::with_changes(changes)
    })
}

fn own_gtid() -> Answer {
    commit(vec![SessionChange::Gtids(GTID.into())])
}

fn plan() -> ProbePlan {
    ProbePlan {
        wait_limit: Span::from_millis(100),
        ..ProbePlan::default()
    }
}

fn probe(plan: ProbePlan, source: &ScriptedServer, replica: &ScriptedServer) -> Probed {
    let of = |port| server(port, "monitor", "s3cret");
    Probing::start(plan, of(source.port()), vec![of(replica.port())]).until_end()
}

fn number(text: &str) -> Answer {
    Rows::text(&["w"]).row([Some(text)]).into()
}

#[test]
fn r20_every_outcome_but_zero_leads_to_the_source_and_is_counted_by_its_kind() {
    let null: Answer = Rows::text(&["w"]).row([None::<&str>]).into();
    let error = |code| Answer::Err(SqlError::new(code, format!("error {code}")));
    let gtid_off = Answer::Err(SqlError::new(3111, "… when @@GLOBAL.GTID_MODE = OFF."));
    for (answer, kind, code) in [
        (number("0"), WaitKind::Reached, None),
        (number("1"), WaitKind::TimedOut, Some(1)),
        (number("-1"), WaitKind::OddNumber, Some(-1)),
        (number("2"), WaitKind::OddNumber, Some(2)),
        (number("soon"), WaitKind::OddNumber, None),
        (null, WaitKind::Null, None),
        (error(3024), WaitKind::CutShort, Some(3024)),
        (error(1317), WaitKind::Killed, Some(1317)),
        (error(1210), WaitKind::BadArguments, Some(1210)),
        (error(1772), WaitKind::BadArguments, Some(1772)),
        (error(1105), WaitKind::Refused, Some(1105)),
        (gtid_off, WaitKind::GtidOff, Some(3111)),
        (Answer::Cut, WaitKind::Lost, None),
    ] {
        let (source, replica) = (source(own_gtid()).start(), replica(answer).start());
        let probed = probe(plan(), &source, &replica);
        probed.all_ran();
        let waited = &probed.runs[0].replicas[0].waited;
        assert_eq!(
            (waited.wait.kind, waited.wait.code),
            (kind, code),
            "{waited:#?}"
        );
        assert_eq!(probed.summary.replicas[0].outcomes.get(&kind), Some(&1));
        if kind == WaitKind::Reached {
            assert_eq!(
                (waited.read_from, waited.read.text()),
                (ReadFrom::Replica, Some("from the replica"))
            );
            assert_eq!(
                waited.read.session, waited.wait.session,
                "on the connection that waited (B-06)"
            );
            continue;
        }
        assert_eq!(
            (waited.read_from, waited.read.text()),
            (ReadFrom::Source, Some(VALUE))
        );
        assert_eq!(waited.reason, kind.reason());
        let reads = replica.statements();
        let waiting = reads
            .iter()
            .find(|s| s.sql.contains("WAIT_FOR"))
            .expect("the wait")
            .connection_id;
        let after: Vec<_> = reads
            .iter()
            .filter(|s| s.connection_id == waiting && s.sql.contains("SELECT value"))
            .collect();
        assert!(
            after.is_empty(),
            "the replica's rows are not even looked at: {after:?}"
        );
    }
}

#[test]
fn r21_our_own_limit_ends_a_wait_that_never_answers_and_the_connection_is_thrown_away() {
    let (source, replica) = (source(own_gtid()).start(), replica(Answer::Silence).start());
    let began = Instant::now();
    let probed = probe(ProbePlan { runs: 2, ..plan() }, &source, &replica);
    probed.all_ran();
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
    let outcomes = &probed.summary.replicas[0].outcomes;
    assert_eq!(outcomes.get(&WaitKind::NoAnswer), Some(&2), "{outcomes:?}");
    let sessions: Vec<_> = probed
        .runs
        .iter()
        .map(|run| run.replicas[0].waited.wait.session)
        .collect();
    assert!(
        sessions[0] != sessions[1] && sessions[0].is_some(),
        "{sessions:?}"
    );
    let waits = replica.statements();
    let limits: Vec<_> = waits
        .iter()
        .filter(|s| s.sql.contains("WAIT_FOR"))
        .map(|s| s.sql.clone())
        .collect();
    assert!(
        limits.iter().all(|sql| sql.ends_with(", 0.100)")),
        "{limits:?}"
    );
}

#[test]
fn r22_the_gtid_is_found_behind_other_entries_of_the_session_state() {
    let variable = SessionChange::SystemVariable {
        name: "autocommit".into(),
        value: "ON".into(),
    };
    let entries = vec![
        SessionChange::Schema("replicascope".into()),
        variable,
        SessionChange::Gtids(GTID.into()),
    ];
    let (source, replica) = (
        source(commit(entries)).start(),
        replica(number("0")).start(),
    );
    let token = token_of(&probe(plan(), &source, &replica));
    assert_eq!(token, Ok((TokenFrom::Session, GTID.to_owned())));
}

#[test]
fn r22_without_a_gtid_in_the_ok_the_executed_set_is_asked_on_the_same_session_and_labelled_so() {
    let unknown = SessionChange::Other {
        kind: 77,
        data: vec![1, 2],
    };
    for entries in [
        vec![],
        vec![SessionChange::Schema("replicascope".into())],
        vec![unknown, SessionChange::Gtids(GTID.into())],
    ] {
        let (source, replica) = (
            source(commit(entries)).start(),
            replica(number("0")).start(),
        );
        let token = token_of(&probe(plan(), &source, &replica));
        let whole = "00000001-aaaa-11f0-8000-000000000000:1-12".to_owned();
        assert_eq!(token, Ok((TokenFrom::ExecutedSet, whole)));
        let statements = source.statements();
        let session = |text: &str| {
            statements
                .iter()
                .find(|s| s.sql.contains(text))
                .map(|s| s.connection_id)
        };
        assert_eq!(session("INSERT INTO"), session("gtid_executed"));
    }
}

type Told = Result<(TokenFrom, String), WaitKind>;

fn token_of(probed: &Probed) -> Told {
    probed.all_ran();
    let write = probed.runs[0].write.as_ref().expect("written");
    let token = write.token.as_ref().map_err(|kind| *kind)?;
    Ok((token.from, token.gtids.to_string()))
}

/// The set is that of former times: waiting for it would succeed at once, with the write unseen.
#[test]
fn with_gtids_off_nothing_is_waited_for_whatever_set_is_left_from_before() {
    for awaited in [Awaited::OwnGtid, Awaited::WholeSet] {
        for reader in [Reader::Writer, Reader::SomebodyElse] {
            let source = source(commit(vec![]))
                .variable("gtid_mode", "OFF_PERMISSIVE")
                .start();
            let replica = replica(number("0")).start();
            let probed = probe(
                ProbePlan {
                    awaited,
                    reader,
                    ..plan()
                },
                &source,
                &replica,
            );
            assert_eq!(token_of(&probed), Err(WaitKind::GtidOff));
            assert_eq!(probed.runs[0].replicas[0].waited.read.text(), Some(VALUE));
            assert!(
                !replica
                    .statements()
                    .iter()
                    .any(|s| s.sql.contains("WAIT_FOR"))
            );
        }
    }
}

#[test]
fn an_empty_executed_set_is_never_waited_for() {
    let source = source(commit(vec![])).variable("gtid_executed", "").start();
    let replica = replica(number("0")).start();
    let probed = probe(plan(), &source, &replica);
    assert_eq!(token_of(&probed), Err(WaitKind::NoGtid));
    assert!(
        !replica
            .statements()
            .iter()
            .any(|s| s.sql.contains("WAIT_FOR"))
    );
}

/// Another session does not know the GTID; it asks the source, on a session of its own.
#[test]
fn a_reader_that_did_not_write_waits_for_all_that_is_executed() {
    let (source, replica) = (source(own_gtid()).start(), replica(number("0")).start());
    let plan = ProbePlan {
        reader: Reader::SomebodyElse,
        ..plan()
    };
    let (from, set) = token_of(&probe(plan, &source, &replica)).expect("a set");
    assert_eq!(
        (from, set.ends_with(":1-12")),
        (TokenFrom::ExecutedSet, true)
    );
    let statements = source.statements();
    let session = |text: &str| {
        statements
            .iter()
            .find(|s| s.sql.contains(text))
            .map(|s| s.connection_id)
    };
    assert_ne!(session("INSERT INTO"), session("gtid_executed"));
}

#[test]
fn mariadb_tells_last_gtid_or_is_asked_for_it_and_an_old_one_is_not_taken() {
    let mariadb = |commit: Reply| {
        any("10.11.19-MariaDB", "1")
            .variable("read_only", "OFF")
            .variable("last_gtid", "0-1-15")
            .variable("gtid_binlog_pos", "0-1-15")
            .on(
                "SHOW ALL REPLICAS STATUS",
                capture_without_rows("mariadb1011/quiet_all"),
            )
            .on(prefix("INSERT INTO"), commit)
            .on(prefix("SELECT value FROM"), row(VALUE))
            .start()
    };
    let replica = || {
        any("10.11.19-MariaDB", "2")
            .variable("read_only", "ON")
            .on("SHOW ALL REPLICAS STATUS", capture("mariadb1011/quiet_all"))
            .on(contains("MASTER_GTID_WAIT"), number("0"))
            .on(prefix("SELECT value FROM"), row(VALUE))
            .start()
    };
    let told = SessionChange::SystemVariable {
        name: "last_gtid".into(),
        value: "0-1-15".into(),
    };
    let probed = probe(plan(), &mariadb(commit(vec![told]).into()), &replica());
    assert_eq!(token_of(&probed), Ok((TokenFrom::Session, "0-1-15".into())));

    let probed = probe(
        ProbePlan { runs: 2, ..plan() },
        &mariadb(commit(vec![]).into()),
        &replica(),
    );
    assert_eq!(
        token_of(&probed),
        Ok((TokenFrom::LastGtid, "0-1-15".into()))
    );
    let second = probed.runs[1].write.as_ref().expect("written");
    assert_eq!(
        second.token.as_ref().map(|token| token.from),
        Err(&WaitKind::NoGtid)
    );
    assert_eq!(
        probed.runs[1].replicas[0].waited.wait.kind.outcome(),
        Outcome::Failed
    );
}

/// R45: said as what it is, tried once, and not again within five seconds.
#[test]
fn a_source_that_refuses_writes_is_tried_once_in_five_seconds() {
    let refused = SqlError::new(
        1290,
        "The MySQL server is running with the --read-only option",
    );
    let (source, replica) = (source(refused).start(), replica(number("0")).start());
    let of = |port| server(port, "monitor", "s3cret");
    let plan = ProbePlan { runs: 10, ..plan() };
    let mut probing = Probing::start(plan, of(source.port()), vec![of(replica.port())]);
    probing.until_runs(2).expect("two tries");
    probing.prober.stop();
    let probed = probing.until_end();
    assert_eq!(probed.end.why, EndReason::Stopped);
    let why = probed.runs[0].write.as_ref().expect_err("refused");
    assert_eq!(
        (why.what.key, why.code),
        ("probe.write.refused", Some(1290))
    );
    let statements = source.statements();
    let tries: Vec<Instant> = statements
        .iter()
        .filter(|s| s.sql.contains("INSERT INTO"))
        .map(|s| s.at)
        .collect();
    assert_eq!(tries.len(), 2);
    assert!(
        tries[1] - tries[0] >= Duration::from_millis(4_950),
        "{:?}",
        tries[1] - tries[0]
    );
    assert!(probed.end.clean_up.is_none(), "there is nothing to remove");
}

/// What was under way when the source changed has ended, and a run after it was refused.
fn until_refused(probing: &mut Probing) {
    while !probing.runs.iter().any(|run| run.write.is_err()) {
        let runs = probing.runs.len() + 1;
        probing.until_runs(runs).expect("runs");
    }
}

/// R44: the facts are read before every write.
#[test]
fn a_source_that_became_read_only_or_another_server_is_not_written_to() {
    for (variable, value, key) in [
        ("super_read_only", "ON", "probe.write.read_only"),
        ("innodb_read_only", "ON", "probe.write.read_only"),
        (
            "server_uuid",
            "00000009-aaaa-11f0-8000-000000000000",
            "probe.write.another_server",
        ),
    ] {
        let (source, replica) = (source(own_gtid()).start(), replica(number("0")).start());
        let of = |port| server(port, "monitor", "s3cret");
        let plan = ProbePlan {
            runs: 1_000,
            rate: 50.0,
            ..plan()
        };
        let mut probing = Probing::start(plan, of(source.port()), vec![of(replica.port())]);
        probing.until_runs(3).expect("runs");
        source.set_variable(variable, value);
        until_refused(&mut probing);
        let count = |what: &str| {
            source
                .statements()
                .iter()
                .filter(|s| s.sql.contains(what))
                .count()
        };
        let written = count("INSERT INTO");
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(count("INSERT INTO"), written, "{variable}");
        probing.prober.stop();
        let probed = probing.until_end();
        let why = probed
            .runs
            .iter()
            .find_map(|run| run.write.as_ref().err())
            .expect("a refusal");
        assert_eq!(why.what.key, key);
        assert_eq!(probed.plain(0)[0], Verdict::Old);
        assert!(
            matches!(probed.end.clean_up, Some(Err(_))),
            "no row is removed there either"
        );
    }
}

/// R44: whatever it becomes later, a session from before may lead to yesterday's source.
#[test]
fn a_session_from_before_a_source_was_read_only_is_not_written_on_again() {
    let (source, replica) = (source(own_gtid()).start(), replica(number("0")).start());
    let of = |port| server(port, "monitor", "s3cret");
    let plan = ProbePlan {
        runs: 1_000,
        rate: 50.0,
        ..plan()
    };
    let mut probing = Probing::start(plan, of(source.port()), vec![of(replica.port())]);
    probing.until_runs(3).expect("runs");
    source.set_variable("super_read_only", "ON");
    until_refused(&mut probing);
    source.set_variable("super_read_only", "OFF");
    // After its pause.
    let runs = probing.runs.len() + 3;
    probing.until_runs(runs).expect("runs");
    probing.prober.stop();
    let probed = probing.until_end();
    let sessions: Vec<Option<u64>> = probed
        .runs
        .iter()
        .map(|run| run.write.as_ref().ok().map(|write| write.session))
        .collect();
    let place = sessions.iter().position(Option::is_none);
    let (before, after) = sessions.split_at(place.expect("a refusal"));
    assert!(after[1..].iter().all(Option::is_some), "{sessions:?}");
    assert!(
        after[1..].iter().all(|s| !before.contains(s)),
        "{sessions:?}"
    );
    assert!(matches!(probed.end.clean_up, Some(Ok(()))));
}

/// T-8: the function would only use up its limit.
#[test]
fn no_wait_is_sent_to_a_stopped_applier_or_to_a_server_that_follows_nobody() {
    for (status, kind) in [
        (capture("mysql97/applier_stopped"), WaitKind::NotRunning),
        (capture_without_rows("mysql97/quiet"), WaitKind::NoReplica),
    ] {
        let replica = replica(number("0"))
            .on("SHOW REPLICA STATUS", status)
            .start();
        let source = source(own_gtid()).start();
        let probed = probe(plan(), &source, &replica);
        let waited = &probed.all_ran().runs[0].replicas[0].waited;
        assert_eq!((waited.wait.kind, waited.read.text()), (kind, Some(VALUE)));
        assert!(
            !replica
                .statements()
                .iter()
                .any(|s| s.sql.contains("WAIT_FOR"))
        );
    }
}
