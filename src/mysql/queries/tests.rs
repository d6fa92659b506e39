//! Each version is asked in words it knows, and what is put into statements is quoted.

use super::*;
use crate::mysql::dialect::tests::dialect;

fn all(pairs: &[(&str, &str)]) -> Statements {
    Statements::new(&dialect(pairs), None, Span::from_secs(5))
}

#[test]
fn r08_each_version_is_asked_in_its_own_words() {
    for (version, channels, replicas, position) in [
        (
            "5.7.29",
            "SHOW SLAVE STATUS",
            "SHOW SLAVE HOSTS",
            "SHOW MASTER STATUS",
        ),
        (
            "8.0.21",
            "SHOW SLAVE STATUS",
            "SHOW SLAVE HOSTS",
            "SHOW MASTER STATUS",
        ),
        (
            "8.0.37",
            "SHOW REPLICA STATUS",
            "SHOW REPLICAS",
            "SHOW MASTER STATUS",
        ),
        (
            "8.4.0",
            "SHOW REPLICA STATUS",
            "SHOW REPLICAS",
            "SHOW BINARY LOG STATUS",
        ),
        (
            "9.7.4",
            "SHOW REPLICA STATUS",
            "SHOW REPLICAS",
            "SHOW BINARY LOG STATUS",
        ),
        (
            "10.4.34-MariaDB",
            "SHOW ALL SLAVES STATUS",
            "SHOW SLAVE HOSTS",
            "SHOW MASTER STATUS",
        ),
        (
            "10.11.19-MariaDB",
            "SHOW ALL REPLICAS STATUS",
            "SHOW REPLICA HOSTS",
            "SHOW MASTER STATUS",
        ),
        (
            "11.8.9-MariaDB",
            "SHOW ALL REPLICAS STATUS",
            "SHOW REPLICA HOSTS",
            "SHOW MASTER STATUS",
        ),
    ] {
        let told = all(&[("version", version), ("performance_schema", "ON")]);
        assert_eq!(told.channels, format!("{NAME}{channels}"), "{version}");
        assert_eq!(told.replicas, format!("{NAME}{replicas}"), "{version}");
        assert_eq!(
            told.binlog_position,
            format!("{NAME}{position}"),
            "{version}"
        );
    }
}

#[test]
fn r42_no_statement_has_a_double_quote_and_every_one_names_us() {
    let table = HeartbeatTable {
        schema: "mon`itor".into(),
        table: "heart'beat".into(),
        time_column: "ts".into(),
        server_id_column: Some("server_id".into()),
        keeps_history: false,
    };
    for version in ["5.7.29", "8.0.11", "9.7.4", "10.11.19-MariaDB"] {
        let d = dialect(&[
            ("version", version),
            ("performance_schema", "ON"),
            ("aurora_version", "3"),
        ]);
        let s = Statements::new(&d, Some(&table), Span::from_millis(5500));
        let [newer, older] = s.platform_lag.expect("Aurora");
        for sql in [
            Some(s.facts),
            Some(s.channels),
            Some(s.status),
            s.appliers,
            Some(s.transactions),
            s.heartbeat,
            Some(s.settings),
            Some(s.replicas),
            Some(s.dump_threads),
            Some(s.events),
            Some(s.binary_logs),
            Some(s.binlog_position),
            Some(s.lock_waits),
            Some(s.statements),
            Some(s.mark),
            Some(s.applied),
            Some(newer),
            Some(older),
            Some(hello()),
            Some(session_settings(&d, &Limits::default(), Manner::Reads)),
        ]
        .into_iter()
        .flatten()
        {
            assert!(!sql.contains('"'), "{sql}");
            assert!(sql.starts_with(NAME), "{sql}");
        }
    }
}

#[test]
fn names_and_texts_cannot_break_out() {
    assert_eq!(identifier("a`b"), "`a``b`");
    assert_eq!(literal("o'clock\\"), "'o''clock\\\\'");
}

#[test]
fn of_a_history_of_beats_only_the_newest_is_asked() {
    let table = HeartbeatTable {
        schema: "im".into(),
        table: "beats".into(),
        time_column: "at".into(),
        server_id_column: None,
        keeps_history: true,
    };
    let sql = heartbeat_rows(&table);
    assert!(
        sql.ends_with("FROM `im`.`beats` ORDER BY `at` DESC LIMIT 1"),
        "{sql}"
    );
}

#[test]
fn a_threshold_below_a_second_is_not_rounded_to_everything() {
    let sql = transactions(&dialect(&[("version", "9.7.4")]), Span::from_millis(200));
    assert!(sql.contains(">= 1 OR p.USER"), "{sql}");
}
