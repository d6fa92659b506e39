//! The scripted server keeps to its script.

mod support;

use mysql::prelude::Queryable;
use mysql::{Row, Value};
use replicascope::lab::wire::Rows;
use replicascope::model::time::Span;
use support::captures::{capture, capture_without_rows};
use support::client::{bytes, code_of, connect, one_row, server};
use support::scripted::Reply;
use support::scripted::text::{contains, prefix};

#[test]
fn answers_follow_patterns_sequences_and_changes() {
    let row = |text: &str| Rows::text(&["v"]).row([Some(text)]);
    let server = server()
        .on(prefix("show replica"), row("prefix"))
        .on(contains("heartbeat"), Reply::sequence([row("1"), row("2")]))
        .on("SHOW REPLICA STATUS", row("exact"))
        .start();
    let mut conn = connect(&server);
    let mut ask = |sql: &str| one_row(&mut conn, sql);
    assert_eq!(ask("/* who */ show  replica\nstatus ;"), [bytes("exact")]);
    assert_eq!(ask("SHOW REPLICAS"), [bytes("prefix")]);
    let beats = [0; 3].map(|_| ask("SELECT ts FROM hb.heartbeat"));
    assert_eq!(beats, [[bytes("1")], [bytes("2")], [bytes("2")]]);
    server.set("SHOW REPLICA STATUS", row("changed"));
    assert_eq!(ask("SHOW REPLICA STATUS"), [bytes("changed")]);
    assert_eq!(server.unknown_statements(), Vec::<String>::new());
}

#[test]
fn variables_answer_select_and_show() {
    let server = server()
        .variable("server_id", "11")
        .null_variable("report_host")
        .status("Threads_running", "3")
        .status("Uptime", "900")
        .expression("CURRENT_USER()", Some("monitor@%"))
        .start();
    let mut conn = connect(&server);
    let sql = "SELECT @@server_id AS `id`, @@global.report_host, 'a, b' AS t, CURRENT_USER() AS who, CONNECTION_ID()";
    let row: Row = conn.query_first(sql).unwrap().unwrap();
    let names: Vec<String> = row
        .columns_ref()
        .iter()
        .map(|column| column.name_str().into_owned())
        .collect();
    assert_eq!(
        names,
        ["id", "@@global.report_host", "t", "who", "CONNECTION_ID()"]
    );
    let id = bytes(&conn.connection_id().to_string());
    assert_eq!(
        row.unwrap(),
        [
            bytes("11"),
            Value::NULL,
            bytes("a, b"),
            bytes("monitor@%"),
            id
        ]
    );

    let mut show = |sql: &str| conn.query::<(String, String), _>(sql).unwrap();
    let threads = || ("Threads_running".to_owned(), "3".to_owned());
    let uptime = || ("Uptime".to_owned(), "900".to_owned());
    assert_eq!(show("SHOW GLOBAL STATUS"), [threads(), uptime()]);
    assert_eq!(show("show status like 'threads%'"), [threads()]);
    let in_list = "SHOW GLOBAL STATUS WHERE Variable_name IN ('uptime', 'x', 'Threads_running')";
    assert_eq!(show(in_list), [threads(), uptime()]);
    let server_id = ("server_id".to_owned(), "11".to_owned());
    assert_eq!(
        show("SHOW GLOBAL VARIABLES WHERE Variable_name='server_id'"),
        [server_id]
    );

    assert_eq!(code_of(conn.query_drop("SELECT 1, @@nope")), 1193);
    assert_eq!(code_of(conn.query_drop("SELECT 1 FROM dual")), 1064);
    assert_eq!(
        server.unknown_statements(),
        ["SELECT 1, @@nope", "SELECT 1 FROM dual"]
    );
}

#[test]
fn clocks_run_and_may_be_ahead() {
    let server = server().clock_skew(Span::from_secs(3600)).start();
    let mut conn = connect(&server);
    let sql = "SELECT UTC_TIMESTAMP(6) AS utc, NOW(), UNIX_TIMESTAMP(SYSDATE(6)) AS u";
    let (utc, now, unix): (String, String, f64) = conn.query_first(sql).unwrap().unwrap();
    let ahead = unix - jiff::Timestamp::now().as_microsecond() as f64 / 1e6;
    assert!((3595.0..=3600.0).contains(&ahead), "{ahead}");
    let whole = jiff::Timestamp::from_second(unix as i64)
        .unwrap()
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string();
    assert_eq!((utc.len(), now.len()), (26, 19));
    assert_eq!(&utc[..17], &whole[..17], "the same minute");
    server.set_clock_skew(Span::from_secs(-60));
    let (unix,): (f64,) = conn
        .query_first("SELECT UNIX_TIMESTAMP(NOW(6))")
        .unwrap()
        .unwrap();
    assert!(unix < jiff::Timestamp::now().as_second() as f64 - 59.0);
}

#[test]
fn every_capture_is_served_with_its_columns() {
    let columns = [
        ("mysql97/quiet", 60),
        ("mysql57/quiet", 57),
        ("mysql56/quiet", 54),
        ("mariadb1011/quiet", 54),
    ];
    let server = server().start();
    let mut conn = connect(&server);
    for (name, count) in columns {
        server.set("SHOW REPLICA STATUS", capture(name));
        assert_eq!(
            one_row(&mut conn, "SHOW REPLICA STATUS").len(),
            count,
            "{name}"
        );
    }
    server.set("SHOW REPLICA STATUS", capture_without_rows("mysql97/quiet"));
    let result = conn.query_iter("SHOW REPLICA STATUS").unwrap();
    assert_eq!((result.columns().as_ref().len(), result.count()), (60, 0));

    let purged = capture("mysql97/purged");
    let value_of = |name: &str| {
        let at = purged
            .columns
            .iter()
            .position(|column| column.name == name)
            .unwrap();
        purged.rows[0][at].as_deref().map(String::from_utf8_lossy)
    };
    assert_eq!(value_of("Last_IO_Errno").as_deref(), Some("13114"));
    assert!(value_of("Last_IO_Error").unwrap().ends_with("1100-1109''"));
    assert_eq!(value_of("Last_SQL_Errno").as_deref(), Some("0"));
    assert_eq!(capture("mysql97/two_channels").rows.len(), 2);
}
