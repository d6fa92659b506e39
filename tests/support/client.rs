//! Clients as tests use them: the real client library against a scripted server.

use super::scripted::{Builder, ScriptedServer};
use mysql::consts::CapabilityFlags;
use mysql::prelude::Queryable;
use mysql::{Conn, Error, OptsBuilder, Row, Value};
use std::time::Duration;

/// Far longer than anything takes that goes well.
pub const SOON: Duration = Duration::from_secs(20);

/// A server that knows the account that [`connect`] uses.
pub fn server() -> Builder {
    ScriptedServer::builder().user("monitor", "s3cret")
}

pub fn opts(port: u16) -> OptsBuilder {
    OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(port)
        .user(Some("monitor"))
        .pass(Some("s3cret"))
        .prefer_socket(false)
        .tcp_connect_timeout(Some(SOON))
        .read_timeout(Some(SOON))
        .additional_capabilities(CapabilityFlags::CLIENT_SESSION_TRACK)
}

pub fn connect(server: &ScriptedServer) -> Conn {
    Conn::new(opts(server.port())).unwrap()
}

pub fn code_of<T: std::fmt::Debug>(result: Result<T, Error>) -> u16 {
    match result {
        Err(Error::MySqlError(error)) => error.code,
        other => panic!("not an error of the server: {other:?}"),
    }
}

pub fn one_row(conn: &mut Conn, sql: &str) -> Vec<Value> {
    conn.query_first::<Row, _>(sql).unwrap().unwrap().unwrap()
}

pub fn bytes(text: &str) -> Value {
    Value::Bytes(text.into())
}
