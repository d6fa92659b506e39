//! The wire as drivers use it that prepare, encrypt, or change their mind: statements with parameters, TLS, another user
//! on the same connection, a session that was silent too long.

mod support;

use mysql::prelude::Queryable;
use mysql::{ChangeUserOpts, Conn, OptsBuilder, Params, SslOpts, Value};
use replicascope::lab::wire::{
    Account, Answer, AuthPlugin, Column, ColumnKind, Greeting, Hello, Rows, Server, Service,
    Session, SqlError, Tls, Welcome,
};
use replicascope::link::{Dial, Purpose};
use replicascope::model::trouble::TroubleKind;
use replicascope::mysql::{Address, Dialer, Endpoint, Tls as ClientTls, TlsMode};
use std::path::PathBuf;
use std::time::Duration;
use support::client::{SOON, code_of, opts};
use support::eventually;

/// Says back what it was asked, and who asks.
struct Echo {
    cached: bool,
}

impl Service for Echo {
    fn welcome(&mut self, _: u32) -> Welcome {
        Welcome::Greet(Greeting {
            version: "8.4.3".into(),
            plugin: AuthPlugin::CachingSha2Password,
        })
    }

    fn account(&mut self, user: &str) -> Option<Account> {
        Some(Account {
            plugin: AuthPlugin::CachingSha2Password,
            password: if user == "monitor" { "s3cret" } else { "other" }.into(),
            cached: self.cached,
        })
    }

    fn connect(&mut self, hello: &Hello) -> Result<Box<dyn Session>, SqlError> {
        Ok(Box::new(EchoSession {
            user: hello.user.clone(),
        }))
    }
}

struct EchoSession {
    user: String,
}

impl Session for EchoSession {
    fn query(&mut self, sql: &str) -> Answer {
        if sql.contains("typed") {
            let kinds = [
                ("big", ColumnKind::LongLong),
                ("real", ColumnKind::Double),
                ("at", ColumnKind::DateTime),
                ("text", ColumnKind::VarString),
                ("nothing", ColumnKind::LongLong),
            ];
            let columns = kinds.map(|(name, kind)| Column {
                kind,
                ..Column::text(name)
            });
            let row = ["-7", "1.5", "2026-11-30 01:02:03.000004", "北京"];
            let values = row.into_iter().map(Some).chain([None]);
            return Rows::new(columns.to_vec()).row(values).into();
        }
        if sql.starts_with("SHOW GLOBAL VARIABLES") {
            return Rows::text(&["Variable_name", "Value"])
                .row([Some("version"), Some("8.4.3")])
                .into();
        }
        Rows::text(&["sql", "user"])
            .row([Some(sql), Some(self.user.as_str())])
            .into()
    }

    fn idle_limit(&self) -> Option<Duration> {
        (self.user == "hasty").then_some(Duration::from_millis(30))
    }

    fn statistics(&mut self) -> String {
        "Uptime: 7".into()
    }
}

fn echo() -> Server {
    Server::start(Echo { cached: true }).unwrap()
}

fn opts_without_questions(server: &Server) -> OptsBuilder {
    opts(server.port()).max_allowed_packet(Some(1 << 20))
}

#[test]
fn a_prepared_statement_reaches_the_session_as_text() {
    let server = echo();
    let mut conn = Conn::new(opts_without_questions(&server)).unwrap();
    for (parameters, wanted) in [
        (
            Params::from((1, -2.5, "it's")),
            "SELECT '?', 1, -2.5e0, 'it''s'",
        ),
        (
            Params::from((u64::MAX, Value::NULL, "a\\b")),
            "SELECT '?', 18446744073709551615, NULL, 'a\\\\b'",
        ),
    ] {
        let told: Option<(String, String)> =
            conn.exec_first("SELECT '?', ?, ?, ?", parameters).unwrap();
        assert_eq!(told.unwrap().0, wanted);
    }
}

#[test]
fn values_of_a_prepared_statement_arrive_as_their_types() {
    let server = echo();
    let mut conn = Conn::new(opts_without_questions(&server)).unwrap();
    let row: Option<mysql::Row> = conn.exec_first("typed", ()).unwrap();
    assert_eq!(
        row.unwrap().unwrap(),
        [
            Value::Int(-7),
            Value::Double(1.5),
            Value::Date(2026, 11, 30, 1, 2, 3, 4),
            Value::Bytes("北京".into()),
            Value::NULL
        ]
    );
}

#[test]
fn a_statement_is_unknown_once_it_is_closed() {
    let server = echo();
    let mut conn = Conn::new(opts_without_questions(&server)).unwrap();
    let statement = conn.prep("SELECT ?").unwrap();
    conn.close(statement.clone()).unwrap();
    assert_eq!(code_of(conn.exec_drop(&statement, (1,))), 1243);
}

#[test]
fn a_connection_may_be_handed_to_another_user() {
    let server = echo();
    let mut conn = Conn::new(opts_without_questions(&server)).unwrap();
    let other = ChangeUserOpts::default()
        .with_user(Some("student".into()))
        .with_pass(Some("other".into()));
    conn.change_user(other).unwrap();
    let (_, user): (String, String) = conn.query_first("who").unwrap().unwrap();
    assert_eq!(user, "student");
    let wrong = ChangeUserOpts::default()
        .with_user(Some("student".into()))
        .with_pass(Some("wrong".into()));
    assert_eq!(code_of(conn.change_user(wrong)), 1045);
}

#[test]
fn a_session_that_is_silent_too_long_is_closed() {
    let server = echo();
    let hasty = opts_without_questions(&server)
        .user(Some("hasty"))
        .pass(Some("other"));
    let mut conn = Conn::new(hasty).unwrap();
    assert!(eventually(SOON, || server.connections() == 0));
    assert!(conn.query_drop("too late").is_err());
    assert_eq!(server.goodbyes(), 0);
}

#[test]
fn one_connection_can_be_closed_and_the_others_live_on() {
    let server = echo();
    let mut victim = Conn::new(opts_without_questions(&server)).unwrap();
    let mut other = Conn::new(opts_without_questions(&server)).unwrap();
    let closer = server.closer();
    assert!(closer.close(victim.connection_id()));
    assert!(victim.ping().is_err());
    assert!(other.ping().is_ok());
    assert!(eventually(SOON, || !closer.close(victim.connection_id())));
}

/// A server with TLS, and the file of its authority.
fn secure(cached: bool) -> (Server, tempfile::TempDir, PathBuf) {
    let tls = Tls::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, tls.ca_pem()).unwrap();
    let server = Server::start_at(0, Some(tls), Echo { cached }).unwrap();
    (server, folder, ca)
}

fn dial(
    server: &Server,
    host: &str,
    mode: TlsMode,
    ca: Option<PathBuf>,
) -> Result<(), TroubleKind> {
    let address = Address::Tcp {
        host: host.to_owned(),
        port: server.port(),
    };
    let mut endpoint = Endpoint::new(address, "monitor", Some("s3cret"));
    endpoint.tls = ClientTls {
        mode,
        ca,
        ..ClientTls::default()
    };
    let dialed = Dialer::new(endpoint).dial(Purpose::Poll);
    dialed.map(drop).map_err(|trouble| trouble.kind)
}

#[test]
fn the_certificate_of_a_server_proves_who_it_is() {
    let (server, _folder, ca) = secure(true);
    for host in ["127.0.0.1", "localhost"] {
        for mode in [TlsMode::VerifyIdentity, TlsMode::VerifyCa] {
            assert_eq!(
                dial(&server, host, mode, Some(ca.clone())),
                Ok(()),
                "{host} {mode:?}"
            );
        }
    }
    assert_eq!(dial(&server, "127.0.0.1", TlsMode::Required, None), Ok(()));
    assert_eq!(dial(&server, "127.0.0.1", TlsMode::Off, None), Ok(()));
    let (_other, _folder, wrong_ca) = secure(true);
    assert_eq!(
        dial(&server, "127.0.0.1", TlsMode::VerifyCa, Some(wrong_ca)),
        Err(TroubleKind::Tls)
    );
}

#[test]
fn a_cold_cache_is_told_the_password_inside_the_tunnel() {
    let (server, _folder, ca) = secure(false);
    let ssl = SslOpts::default().with_root_cert_path(Some(ca));
    let builder = opts_without_questions(&server).ssl_opts(Some(ssl));
    let mut conn = Conn::new(builder.clone()).unwrap();
    let (sql, _): (String, String) = conn.query_first("hello").unwrap().unwrap();
    assert_eq!(sql, "hello");
    assert_eq!(code_of(Conn::new(builder.pass(Some("wrong")))), 1045);
}

#[test]
fn a_server_without_tls_is_not_spoken_to_in_the_clear_by_one_who_wants_it() {
    assert_eq!(
        dial(&echo(), "127.0.0.1", TlsMode::Required, None),
        Err(TroubleKind::Tls)
    );
}
