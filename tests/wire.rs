//! The wire against a real client library: what a client sees of logging in, of answers, and of a server in trouble.

mod support;

use mysql::consts::{CapabilityFlags, ColumnFlags, SessionStateType};
use mysql::prelude::Queryable;
use mysql::{Conn, Row, SessionStateInfo, Value};
use replicascope::lab::wire::{
    Account, Answer, AuthPlugin, Column, Done, Greeting, Hello, Rows, Server, Service, Session,
    SessionChange, SqlError, Welcome,
};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::client::{SOON, bytes, code_of, connect, one_row, opts, server};
use support::eventually;
use support::scripted::{Door, ScriptedServer};

const PLUGINS: [AuthPlugin; 2] = [
    AuthPlugin::CachingSha2Password,
    AuthPlugin::MysqlNativePassword,
];

#[test]
fn both_plugins_let_the_right_password_in_and_no_other() {
    for plugin in PLUGINS {
        let server = server().plugin(plugin).user("open", "").start();
        connect(&server).ping().unwrap();
        Conn::new(opts(server.port()).user(Some("open")).pass(None::<&str>)).unwrap();
        for (user, password) in [
            ("monitor", "wrong"),
            ("monitor", ""),
            ("nobody", "s3cret"),
            ("open", "s3cret"),
        ] {
            let refused = Conn::new(opts(server.port()).user(Some(user)).pass(Some(password)));
            assert_eq!(code_of(refused), 1045, "{plugin:?} {user} {password}");
        }
    }
}

#[test]
fn an_account_with_the_other_plugin_makes_the_client_switch() {
    for (greeted, own) in [(PLUGINS[0], PLUGINS[1]), (PLUGINS[1], PLUGINS[0])] {
        let server = ScriptedServer::builder()
            .plugin(greeted)
            .user_with("monitor", "s3cret", own)
            .start();
        connect(&server).ping().unwrap();
        assert_eq!(
            code_of(Conn::new(opts(server.port()).pass(Some("wrong")))),
            1045
        );
    }
}

/// Bytes of the login exchange after the client's first packet, until the server's OK.
fn first_reply_to_login(server: &ScriptedServer) -> u8 {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let greeting = read_packet(&mut stream);
    let version_end = 1 + greeting[1..].iter().position(|b| *b == 0).unwrap();
    let salt: Vec<u8> = [
        &greeting[version_end + 5..][..8],
        &greeting[version_end + 32..][..12],
    ]
    .concat();
    let proof = AuthPlugin::CachingSha2Password.scramble(b"s3cret", &salt.try_into().unwrap());
    let mut login = 0x0008_8200_u32.to_le_bytes().to_vec(); // PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH
    login.extend([0; 28]);
    login.extend(b"monitor\0");
    login.push(proof.len() as u8);
    login.extend(proof);
    login.extend(b"caching_sha2_password\0");
    stream.write_all(&[login.len() as u8, 0, 0, 1]).unwrap();
    stream.write_all(&login).unwrap();
    read_packet(&mut stream)[1]
}

fn read_packet(stream: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut payload = vec![0; usize::from(header[0])];
    stream.read_exact(&mut payload).unwrap();
    payload
}

#[test]
fn a_cold_cache_asks_for_the_whole_password_once() {
    const FAST_AUTH_SUCCESS: u8 = 3;
    const PERFORM_FULL_AUTHENTICATION: u8 = 4;
    let server = server().cold().start();
    assert_eq!(first_reply_to_login(&server), PERFORM_FULL_AUTHENTICATION);
    assert_eq!(
        code_of(Conn::new(opts(server.port()).pass(Some("wrong")))),
        1045
    );
    assert_eq!(first_reply_to_login(&server), PERFORM_FULL_AUTHENTICATION);
    connect(&server).ping().unwrap();
    assert_eq!(first_reply_to_login(&server), FAST_AUTH_SUCCESS);
    connect(&server).ping().unwrap();
    server.flush_passwords();
    assert_eq!(first_reply_to_login(&server), PERFORM_FULL_AUTHENTICATION);
    connect(&server).ping().unwrap();
}

#[test]
fn the_server_hears_who_connects() {
    let server = server().version("11.8.3-MariaDB-log").start();
    let attributes = HashMap::from([("program_name".to_owned(), "replicascope".to_owned())]);
    let conn = Conn::new(
        opts(server.port())
            .db_name(Some("shop"))
            .connect_attrs(Some(attributes)),
    )
    .unwrap();
    let logins = server.logins();
    assert_eq!(logins.len(), 1);
    assert_eq!(logins[0].connection_id, conn.connection_id());
    assert_eq!(
        (logins[0].user.as_str(), logins[0].database.as_deref()),
        ("monitor", Some("shop"))
    );
    assert_eq!(logins[0].attributes["program_name"], "replicascope");
}

#[test]
fn values_arrive_as_they_were_even_where_they_should_not_exist() {
    let not_null = Column::number("Behind").flagged(Column::NOT_NULL | Column::UNSIGNED);
    let latin1 = Column {
        charset: 8,
        ..Column::text("Error")
    };
    let rows = Rows::new(vec![not_null, latin1, Column::text("Host")]);
    let server = server()
        .on(
            "show odd",
            rows.row([
                None,
                Some(&[0x62, 0xAE, 0xE1, 0xBD][..]),
                Some("北京".as_bytes()),
            ]),
        )
        .start();
    let mut conn = connect(&server);
    let row: Row = conn.query_first("SHOW  odd;").unwrap().unwrap();
    let behind = &row.columns_ref()[0];
    assert!(
        behind
            .flags()
            .contains(ColumnFlags::NOT_NULL_FLAG | ColumnFlags::UNSIGNED_FLAG)
    );
    assert_eq!(
        (
            behind.name_str().as_ref(),
            row.columns_ref()[1].character_set()
        ),
        ("Behind", 8)
    );
    assert_eq!(
        row.unwrap(),
        [
            Value::NULL,
            Value::Bytes(vec![0x62, 0xAE, 0xE1, 0xBD]),
            bytes("北京")
        ]
    );
}

#[test]
fn a_value_of_twenty_mebibytes_arrives_whole() {
    let large = vec![b'x'; 20 << 20];
    let server = server()
        .on(
            "show large",
            Rows::text(&["Large"]).row([Some(large.clone())]),
        )
        .start();
    let opts = opts(server.port()).max_allowed_packet(Some(64 << 20));
    let value: Vec<u8> = Conn::new(opts)
        .unwrap()
        .query_first("show large")
        .unwrap()
        .unwrap();
    assert!(value == large);
}

#[test]
fn an_error_leaves_the_connection_in_step() {
    let server = server()
        .on("bad", SqlError::new(1227, "Access denied; you need SUPER"))
        .start();
    let mut conn = connect(&server);
    assert_eq!(code_of(conn.query_drop("bad")), 1227);
    assert_eq!(one_row(&mut conn, "SELECT 7 AS x"), [bytes("7")]);
    assert_eq!(code_of(conn.query_drop("nonsense")), 1064);
    conn.reset().unwrap();
    conn.select_db("shop").unwrap();
    assert_eq!(code_of(conn.query_drop(" ; ")), 1065);
    assert_eq!(one_row(&mut conn, "SELECT 8"), [bytes("8")]);
    assert_eq!(server.unknown_statements(), ["nonsense"]);
    assert!(
        server
            .statements()
            .iter()
            .any(|statement| statement.sql == "USE `shop`")
    );
}

#[test]
fn several_statements_have_several_results_and_stop_at_an_error() {
    let server = server().start();
    let mut conn = connect(&server);
    let mut results = conn
        .query_iter("SET a=1; SELECT 1 AS ';'; SELECT 2;")
        .unwrap();
    let mut seen = Vec::new();
    while let Some(result) = results.iter() {
        seen.push(result.map(|row| row.unwrap().unwrap()).collect::<Vec<_>>());
    }
    drop(results);
    assert_eq!(
        seen,
        [vec![], vec![vec![bytes("1")]], vec![vec![bytes("2")]]]
    );
    let mut results = conn.query_iter("SELECT 1; nonsense; SELECT 3").unwrap();
    assert_eq!(results.iter().unwrap().count(), 1);
    let failed = std::iter::from_fn(|| results.iter().map(|mut set| set.next()))
        .flatten()
        .next()
        .unwrap();
    assert_eq!(code_of(failed), 1064);
    drop(results);
    let asked: Vec<String> = server
        .statements()
        .into_iter()
        .map(|statement| statement.sql)
        .collect();
    assert_eq!(asked[asked.len() - 2..], ["SELECT 1", "nonsense"]);
    assert_eq!(one_row(&mut conn, "SELECT 4"), [bytes("4")]);
}

#[test]
fn session_changes_arrive_in_order() {
    let changes = [
        SessionChange::Other {
            kind: 5,
            data: b"\x08T_______".to_vec(),
        },
        SessionChange::SystemVariable {
            name: "last_gtid".into(),
            value: "0-1-5".into(),
        },
        SessionChange::Gtids("3e11fa47-71ca-11e1-9e33-c80aa9429562:100".into()),
        SessionChange::Schema("shop".into()),
    ];
    let done = Done {
        affected_rows: 3,
        info: "Rows matched: 3".into(),
        ..Done::with_changes(changes)
    };
    let server = server().on("commit", Answer::Ok(done)).start();
    let mut conn = connect(&server);
    conn.query_drop("COMMIT").unwrap();
    assert_eq!(
        (conn.affected_rows(), conn.info_str().into_owned()),
        (3, "Rows matched: 3".into())
    );
    let told = |change: SessionStateInfo<'_>| (change.data_type(), change.data_ref().to_vec());
    let changes: Vec<_> = conn
        .session_state_changes()
        .unwrap()
        .into_iter()
        .map(told)
        .collect();
    let kinds = [
        SessionStateType::SESSION_TRACK_TRANSACTION_STATE,
        SessionStateType::SESSION_TRACK_SYSTEM_VARIABLES,
        SessionStateType::SESSION_TRACK_GTIDS,
        SessionStateType::SESSION_TRACK_SCHEMA,
    ];
    assert_eq!(
        changes.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
        kinds
    );
    assert_eq!(changes[1].1, b"\x09last_gtid\x050-1-5");
    assert_eq!(
        changes[2].1,
        b"\x00\x283e11fa47-71ca-11e1-9e33-c80aa9429562:100"
    );
    let mut deaf =
        Conn::new(opts(server.port()).additional_capabilities(CapabilityFlags::empty())).unwrap();
    deaf.query_drop("COMMIT").unwrap();
    assert_eq!(deaf.session_state_changes().unwrap(), []);
}

#[test]
fn a_session_change_of_an_unknown_kind_costs_this_client_all_of_them_but_not_the_connection() {
    let unknown = SessionChange::Other {
        kind: 77,
        data: b"new".to_vec(),
    };
    let known = SessionChange::Schema("shop".into());
    let server = server()
        .on("commit", Answer::Ok(Done::with_changes([known, unknown])))
        .start();
    let mut conn = connect(&server);
    conn.query_drop("COMMIT").unwrap();
    assert!(conn.session_state_changes().is_err());
    assert_eq!(one_row(&mut conn, "SELECT 1"), [bytes("1")]);
}

#[test]
fn silence_is_ended_by_the_clients_read_limit() {
    let server = server().on("hang", Answer::Silence).start();
    let limit = Duration::from_secs(1); // of the login's answers too
    let mut conn = Conn::new(opts(server.port()).read_timeout(Some(limit))).unwrap();
    let asked_at = Instant::now();
    assert!(conn.query_drop("hang").unwrap_err().is_connectivity_error());
    assert!(asked_at.elapsed() >= limit);
    drop(conn);
    assert!(eventually(SOON, || server.connections() == 0));
}

#[test]
fn late_and_cut_answers() {
    let wait = Duration::from_millis(150);
    let server = server()
        .on(
            "late",
            Answer::from(Rows::text(&["a"]).row([Some("x")])).after(wait),
        )
        .start();
    server.set("cut", Answer::Cut);
    let mut conn = connect(&server);
    let asked_at = Instant::now();
    assert_eq!(one_row(&mut conn, "late"), [bytes("x")]);
    assert!(asked_at.elapsed() >= wait);
    assert!(conn.query_drop("cut").unwrap_err().is_connectivity_error());
    let mut conn = connect(&server);
    server.cut_all();
    assert!(conn.ping().is_err());
    connect(&server).ping().unwrap();
}

#[test]
fn a_server_that_refuses_says_why_and_keeps_the_open_connections() {
    let server = server().start();
    let mut early = connect(&server);
    for code in [1040, 1129] {
        server.refuse_with(code);
        assert_eq!(code_of(Conn::new(opts(server.port()))), code);
    }
    early.ping().unwrap();
    server.set_door(Door::Cut);
    assert!(Conn::new(opts(server.port())).is_err());
    server.set_door(Door::Silence);
    let asked_at = Instant::now();
    let limit = Duration::from_millis(200);
    assert!(Conn::new(opts(server.port()).read_timeout(Some(limit))).is_err());
    assert!(asked_at.elapsed() >= limit);
    server.stop_refusing();
    connect(&server).ping().unwrap();
}

#[test]
fn dropping_a_server_closes_everything_at_once() {
    let server = server()
        .on("hang", Answer::Silence)
        .on("late", Answer::ok().after(Duration::from_secs(600)))
        .start();
    let idle = connect(&server);
    let mute = TcpStream::connect(("127.0.0.1", server.port())).unwrap(); // never says hello
    let asking: Vec<_> = ["hang", "late"]
        .map(|sql| (connect(&server), sql))
        .into_iter()
        .map(|(mut conn, sql)| std::thread::spawn(move || conn.query_drop(sql).is_err()))
        .collect();
    assert!(eventually(SOON, || server.connections() == 4
        && has_asked(&server, &["hang", "late"])));
    assert_eq!(server.max_connections_seen(), 4);
    let port = server.port();
    let dropped_at = Instant::now();
    drop(server);
    assert!(dropped_at.elapsed() < Duration::from_secs(10));
    for client in asking {
        assert!(client.join().unwrap(), "the client was told");
    }
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    drop((idle, mute));
}

fn has_asked(server: &ScriptedServer, wanted: &[&str]) -> bool {
    let asked = server.statements();
    wanted
        .iter()
        .all(|sql| asked.iter().any(|statement| statement.sql == *sql))
}

/// A session that answers the third time it is asked, and that knows a wait is over only then.
struct Patient {
    asked: u32,
}

impl Service for Patient {
    fn welcome(&mut self, _: u32) -> Welcome {
        Welcome::Greet(Greeting {
            version: "8.4.3".into(),
            plugin: AuthPlugin::MysqlNativePassword,
        })
    }

    fn account(&mut self, _: &str) -> Option<Account> {
        Some(Account {
            plugin: AuthPlugin::MysqlNativePassword,
            password: "s3cret".into(),
            cached: false,
        })
    }

    fn connect(&mut self, hello: &Hello) -> Result<Box<dyn Session>, SqlError> {
        match hello.user.as_str() {
            "monitor" => Ok(Box::new(Patient { asked: 0 })),
            _ => Err(SqlError::new(1040, "Too many connections")),
        }
    }
}

impl Session for Patient {
    fn query(&mut self, _: &str) -> Answer {
        self.asked += 1;
        match self.asked {
            1 | 2 => Answer::AskAgain(Duration::from_millis(20)),
            asked => Rows::text(&["asked"]).row([Some(asked.to_string())]).into(),
        }
    }
}

#[test]
fn a_wait_may_end_on_a_condition() {
    let server = Server::start(Patient { asked: 0 }).unwrap();
    let opts = opts(server.port()).max_allowed_packet(Some(1 << 20));
    let mut conn = Conn::new(opts.clone()).unwrap();
    let asked_at = Instant::now();
    assert_eq!(one_row(&mut conn, "wait"), [bytes("3")]);
    assert!(asked_at.elapsed() >= Duration::from_millis(40));
    assert_eq!(code_of(Conn::new(opts.user(Some("second")))), 1040);
}
