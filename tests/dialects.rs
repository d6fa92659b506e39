//! Old and rare servers, played by the scripted one: each is asked only what it has (R08), and a refused question
//! spoils its own answer only (R34, R35).

mod support;

use std::time::Duration;

use replicascope::lab::wire::{Column, Rows, SqlError};
use replicascope::link::{Depth, Dial, Link, Purpose};
use replicascope::model::event::{Position, WaitOutcome};
use replicascope::model::gtid::Gtids;
use replicascope::model::phrase::Arg;
use replicascope::model::replication::{Field, ThreadState};
use replicascope::model::sample::Answer;
use replicascope::model::server::{Flavour, Platform};
use replicascope::model::time::Span;
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::mysql::{Address, Dialer, Endpoint};
use support::captures::{capture, capture_without_rows};
use support::client::server;
use support::scripted::text::{contains, prefix};
use support::scripted::{Builder, ScriptedServer};

const A: &str = "00000001-aaaa-11f0-8000-000000000000";

fn dial(server: &ScriptedServer, purpose: Purpose) -> Result<Box<dyn Link>, Trouble> {
    let address = Address::Tcp {
        host: "127.0.0.1".into(),
        port: server.port(),
    };
    Dialer::new(Endpoint::new(address, "monitor", Some("s3cret"))).dial(purpose)
}

/// What every server has, and the answers that do not differ.
fn any(version: &str) -> Builder {
    let empty = || Rows::text(&["x"]);
    server()
        .version(version)
        .variable("version_comment", "scripted")
        .variable("log_bin", "ON")
        .variable("server_id", "2")
        .variable("hostname", "db2")
        .variable("port", "3306")
        .variable("read_only", "ON")
        .variable("lock_wait_timeout", "86400")
        .status("Uptime", "900")
        .status("Threads_running", "2")
        .on(
            contains("information_schema.innodb_trx x left join"),
            empty(),
        )
        .on(contains("information_schema.events"), empty())
        .on(
            "SHOW BINARY LOGS",
            Rows::text(&["Log_name", "File_size"]).row([Some("binlog.000001"), Some("767")]),
        )
}

fn mysql(version: &str) -> Builder {
    let applier = Rows::text(&["part", "channel_name"]);
    let empty = || Rows::text(&["x"]);
    any(version)
        .variable("performance_schema", "ON")
        .variable("server_uuid", "00000002-aaaa-11f0-8000-000000000000")
        .variable("super_read_only", "ON")
        .variable("innodb_read_only", "OFF")
        .variable("gtid_mode", "ON")
        .variable("gtid_executed", &format!("{A}:1-5"))
        .variable("gtid_purged", "")
        .variable("tx_read_only", "OFF")
        .on(contains("replication_applier_status_by_worker"), applier)
        .on(
            contains("from performance_schema.threads t left join"),
            empty(),
        )
        .on(contains("processlist where (command"), empty())
}

fn mariadb(version: &str) -> Builder {
    let empty = || Rows::text(&["x"]);
    any(version)
        .variable("performance_schema", "OFF")
        .variable("gtid_domain_id", "0")
        .variable("gtid_slave_pos", "0-1-15")
        .variable("gtid_binlog_pos", "0-1-15")
        .variable("gtid_binlog_state", "0-1-15")
        .variable("tx_read_only", "OFF")
        .variable("max_statement_time", "0.000000")
        .on("SHOW MASTER STATUS", position())
        .on(contains("from information_schema.processlist"), empty())
        .on(contains("information_schema.innodb_lock_waits"), empty())
}

fn position() -> Rows {
    Rows::text(&["File", "Position"]).row([Some("binlog.000001"), Some("767")])
}

fn replicas() -> Rows {
    Rows::text(&["Server_id", "Host", "Port"])
}

#[test]
fn r08_no_server_is_asked_a_statement_it_does_not_have() {
    let old_locks = || contains("information_schema.innodb_lock_waits");
    let new_locks = || contains("performance_schema.data_lock_waits");
    let no_rows = || Rows::text(&["x"]);
    let cases: [(&str, Builder); 7] = [
        (
            "5.7.29-log",
            mysql("5.7.29-log")
                .on("SHOW SLAVE STATUS", capture("mysql57/quiet"))
                .on("SHOW SLAVE HOSTS", replicas())
                .on("SHOW MASTER STATUS", position())
                .on(old_locks(), no_rows()),
        ),
        (
            "8.0.21",
            mysql("8.0.21")
                .on("SHOW SLAVE STATUS", capture("mysql57/quiet"))
                .on("SHOW SLAVE HOSTS", replicas())
                .on("SHOW MASTER STATUS", position())
                .on(new_locks(), no_rows()),
        ),
        (
            "8.0.37",
            mysql("8.0.37")
                .on("SHOW REPLICA STATUS", capture("mysql97/quiet"))
                .on("SHOW REPLICAS", replicas())
                .on("SHOW MASTER STATUS", position())
                .on(new_locks(), no_rows()),
        ),
        (
            "8.4.3",
            mysql("8.4.3")
                .on("SHOW REPLICA STATUS", capture("mysql97/quiet"))
                .on("SHOW REPLICAS", replicas())
                .on("SHOW BINARY LOG STATUS", position())
                .on(new_locks(), no_rows()),
        ),
        (
            "9.1.0",
            mysql("9.1.0")
                .on("SHOW REPLICA STATUS", capture("mysql97/quiet"))
                .on("SHOW REPLICAS", replicas())
                .on("SHOW BINARY LOG STATUS", position())
                .on(new_locks(), no_rows()),
        ),
        (
            "10.3.39-MariaDB",
            mariadb("10.3.39-MariaDB")
                .on("SHOW ALL SLAVES STATUS", capture("mariadb1011/quiet_all"))
                .on("SHOW SLAVE HOSTS", replicas()),
        ),
        (
            "11.4.2-MariaDB",
            mariadb("11.4.2-MariaDB")
                .on("SHOW ALL REPLICAS STATUS", capture("mariadb118/quiet_all"))
                .on("SHOW REPLICA HOSTS", replicas()),
        ),
    ];
    for (version, builder) in cases {
        let server = builder.start();
        let mut link = dial(&server, Purpose::Poll).expect(version);
        for depth in [Depth::Light, Depth::Full, Depth::Suspicious, Depth::Light] {
            let sample = link.poll(depth).expect(version);
            let channel = &sample.channels()[0];
            assert!(channel.receiver.is_running(), "{version}");
            assert_eq!(channel.seconds_behind, Field::Value(0), "{version}");
            assert!(sample.gtid.executed.is_some(), "{version}");
            assert_eq!(
                sample.identity.uptime,
                Some(Span::from_secs(900)),
                "{version}"
            );
            if depth == Depth::Light {
                assert!(sample.cost.statements <= 5, "{version}: {:?}", sample.cost);
            }
        }
        link.mark().expect(version);
        link.applied().expect(version);
        assert_eq!(
            server.unknown_statements(),
            Vec::<String>::new(),
            "{version}"
        );
    }
}

#[test]
fn r03_null_in_a_column_that_claims_never_to_be_null_loses_nothing() {
    let mut status = capture("mysql97/quiet");
    let at = |name: &str| status.columns.iter().position(|column| column.name == name);
    let (seconds, text) = (at("Seconds_Behind_Source"), at("Last_SQL_Error"));
    let (seconds, text) = (seconds.expect("a column"), text.expect("a column"));
    let lying = Column::NOT_NULL | Column::UNSIGNED;
    status.columns[seconds] = Column::number("Seconds_Behind_Source").flagged(lying);
    status.rows[0][seconds] = None;
    // R43 in the same row: not UTF-8.
    status.rows[0][text] = Some(vec![0x62, 0xAE, 0xE1, 0xBD]);
    let server = mysql("8.0.37").on("SHOW REPLICA STATUS", status).start();
    let mut link = dial(&server, Purpose::Poll).expect("a link");
    let sample = link.poll(Depth::Light).expect("a sample");
    let channel = &sample.channels()[0];
    assert_eq!(channel.seconds_behind, Field::Null);
    assert_eq!(channel.source.host, "127.0.0.1");
    let shown = channel
        .raw
        .iter()
        .find(|(name, _)| name == "Last_SQL_Error");
    let shown = shown.and_then(|(_, value)| value.as_deref());
    assert_eq!(shown, Some("b\\xAE\\xE1\\xBD"));
}

#[test]
fn r34_a_refused_status_names_its_grant_and_is_not_asked_again_at_once() {
    let refusal = "Access denied; you need (at least one of) the SUPER, SLAVE MONITOR privilege(s) for this operation";
    let server = mariadb("10.11.19-MariaDB")
        .on("SHOW ALL REPLICAS STATUS", SqlError::new(1227, refusal))
        .on("SHOW REPLICA HOSTS", replicas())
        .expression("CURRENT_USER()", Some("watch@10.0.%"))
        .start();
    let mut link = dial(&server, Purpose::Poll).expect("a link");
    for _ in 0..3 {
        let sample = link.poll(Depth::Full).expect("the rest is answered");
        let trouble = sample.channels.refused().expect("refused");
        assert_eq!(
            (trouble.kind, trouble.code),
            (TroubleKind::MissingPrivilege, Some(1227))
        );
        let hint = trouble.hint.as_ref().and_then(|hint| hint.arg("sql"));
        let grant = "GRANT SLAVE MONITOR ON *.* TO 'watch'@'10.0.%';";
        assert_eq!(hint, Some(&Arg::Text(grant.into())));
        assert!(sample.gtid.executed.is_some() && sample.settings.value().is_some());
    }
    let asked = server
        .statements()
        .iter()
        .filter(|statement| statement.sql.contains("REPLICAS STATUS"))
        .count();
    assert_eq!(asked, 1);
    assert!(!link.is_spoiled());
}

#[test]
fn r35_without_process_nothing_is_an_empty_list() {
    let refusal =
        "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation";
    let server = mysql("8.4.3")
        .on("SHOW REPLICA STATUS", capture("mysql97/quiet"))
        .on(
            contains("performance_schema.data_lock_waits"),
            SqlError::new(1227, refusal),
        )
        .on(
            contains("information_schema.innodb_trx x left join"),
            SqlError::new(1227, refusal),
        )
        .expression("CURRENT_USER()", Some("watch@%"))
        .start();
    let mut link = dial(&server, Purpose::Poll).expect("a link");
    let sample = link.poll(Depth::Suspicious).expect("the rest is answered");
    let refused = [
        sample.transactions.refused(),
        sample.statements.refused(),
        sample.lock_waits.refused(),
    ];
    for trouble in refused {
        let hint = trouble
            .and_then(|t| t.hint.as_ref())
            .and_then(|hint| hint.arg("sql"));
        assert_eq!(
            hint,
            Some(&Arg::Text("GRANT PROCESS ON *.* TO 'watch'@'%';".into()))
        );
    }
    assert_eq!(sample.channels()[0].applier, ThreadState::Running);
}

#[test]
fn r33_aurora_has_no_status_row_and_its_lag_is_in_milliseconds() {
    let lag = Rows::text(&["SERVER_ID", "REPLICA_LAG_IN_MILLISECONDS"])
        .row([Some("reader-1"), Some("19.299")]);
    let server = mysql("8.0.39")
        .variable("aurora_version", "3.08.0")
        .variable("innodb_read_only", "ON")
        .on("SHOW REPLICA STATUS", capture_without_rows("mysql97/quiet"))
        .on(contains("replica_host_status"), lag)
        .start();
    let mut link = dial(&server, Purpose::Poll).expect("a link");
    assert_eq!(link.product().platform, Platform::Aurora);
    assert_eq!(link.product().flavour, Flavour::MySql);
    let sample = link.poll(Depth::Light).expect("a sample");
    assert!(sample.channels().is_empty() && sample.is_replica());
    let told = sample.platform_lag.value().expect("told");
    assert_eq!(told[0].lag, Span::from_micros(19_299));
    assert_eq!(server.unknown_statements(), Vec::<String>::new());
}

#[test]
fn r33_an_older_aurora_is_asked_by_its_older_table_and_the_newer_one_only_once() {
    let lag =
        Rows::text(&["Server_id", "Replica_lag_in_msec"]).row([Some("reader-1"), Some("19.299")]);
    let unknown = SqlError::new(
        1109,
        "Unknown table 'REPLICA_HOST_STATUS' in information_schema",
    );
    let server = mysql("5.7.12")
        .variable("aurora_version", "2.11.1")
        .on("SHOW SLAVE STATUS", capture_without_rows("mysql57/quiet"))
        .on(contains("replica_host_status"), unknown)
        .on(contains("mysql.ro_replica_status"), lag)
        .start();
    let mut link = dial(&server, Purpose::Poll).expect("a link");
    for _ in 0..3 {
        let sample = link.poll(Depth::Light).expect("a sample");
        assert!(matches!(&sample.platform_lag, Answer::Known { value, .. } if value.len() == 1));
    }
    let newer = |sql: &str| sql.contains("REPLICA_HOST_STATUS");
    assert_eq!(
        server.statements().iter().filter(|s| newer(&s.sql)).count(),
        1
    );
}

#[test]
fn r20_only_zero_means_reached_and_5_7_waits_whole_seconds() {
    let answer = |text: Option<&'static str>| Rows::text(&["w"]).row([text]);
    let server = mysql("5.7.29").start();
    let mut link = dial(&server, Purpose::Wait).expect("a link");
    let gtids = Gtids::parse(&format!("{A}:6"), Flavour::MySql).expect("a set");
    let mut wait = |reply: Rows| {
        server.set(prefix("select wait_for_executed_gtid_set"), reply);
        let target = Position::Gtids(gtids.clone());
        link.wait(&target, "", Duration::from_millis(250))
            .expect("an answer")
            .outcome
    };
    assert_eq!(wait(answer(Some("0"))), WaitOutcome::Reached);
    assert_eq!(wait(answer(Some("1"))), WaitOutcome::TimedOut);
    for odd in [None, Some("-1"), Some("2")] {
        assert!(
            matches!(wait(answer(odd)), WaitOutcome::Failed(_)),
            "{odd:?}"
        );
    }
    let asked = server
        .statements()
        .into_iter()
        .filter(|s| s.sql.contains("WAIT_FOR"));
    for statement in asked {
        assert!(
            statement.sql.ends_with(&format!("('{A}:6', 1)")),
            "{}",
            statement.sql
        );
    }
}

#[test]
fn r05_refusals_at_the_door_are_told_apart() {
    let server = mysql("8.4.3").start();
    for (code, key) in [
        (1040, "trouble.login.too_many"),
        (1129, "trouble.login.host_blocked"),
    ] {
        server.refuse_with(code);
        let trouble = dial(&server, Purpose::Poll).err().expect("refused");
        assert_eq!(
            (trouble.kind, trouble.what.key),
            (TroubleKind::Refusing, key)
        );
        assert_eq!(trouble.code, Some(u32::from(code)));
    }
    server.stop_refusing();
    assert!(dial(&server, Purpose::Poll).is_ok());
}
