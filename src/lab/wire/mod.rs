//! The MySQL protocol, server side: enough of it that real clients connect, log in, ask and are answered.
//!
//! Knows nothing of SQL. A [`Service`] decides who may come in and opens a [`Session`] for each client; the session
//! answers statements; [`Server`] carries both over loopback TCP, a thread for each connection.

mod answer;
mod connection;
mod login;
mod packet;
mod password;
mod prepared;
mod server;
mod statements;
mod tls;

pub use answer::{Answer, Column, ColumnKind, Done, Rows, SessionChange, SqlError, Value};
pub use packet::MAX_ALLOWED_PACKET;
pub use password::AuthPlugin;
pub use prepared::{Prepared, text_literal};
pub use server::{Closer, Server};
pub use statements::is_one_statement;
pub use tls::{Tls, Tunnel};

use std::collections::BTreeMap;
use std::time::Duration;

/// The server as clients see it before they have a session. Called under one lock: answer at once.
pub trait Service: Send {
    /// The number of the next connection, where connections share their numbers with other threads of the server.
    /// `None`: they are simply counted.
    fn next_connection_id(&mut self) -> Option<u32> {
        None
    }

    /// A client has connected and waits for the first word.
    fn welcome(&mut self, connection_id: u32) -> Welcome;

    /// The account that the client wants to log in to; `None` when there is none of that name.
    fn account(&mut self, user: &str) -> Option<Account>;

    /// The password was right. A service that keeps track of its password cache notes the user here.
    fn connect(&mut self, hello: &Hello) -> Result<Box<dyn Session>, SqlError>;
}

/// One client that has logged in. Dropped when the connection ends.
pub trait Session: Send {
    /// One statement, without `;` at its end when the client may send several at once. Choosing a database arrives as
    /// `USE`. Must return soon; waits are answers: [`Answer::After`], [`Answer::AskAgain`].
    fn query(&mut self, sql: &str) -> Answer;

    /// The client wants its session as new: variables, temporary tables, locks.
    fn reset(&mut self) {}

    /// Told with every answer.
    fn state(&self) -> SessionState {
        SessionState::default()
    }

    /// The longest command that is read, in bytes: `max_allowed_packet`. A longer one ends the connection. Asked before
    /// each command.
    fn longest_command(&self) -> usize {
        MAX_ALLOWED_PACKET
    }

    /// How long the client may stay silent before the connection is closed: `wait_timeout`. Asked before each command.
    fn idle_limit(&self) -> Option<Duration> {
        None
    }

    /// What `mysqladmin status` and `\s` of the command-line client show.
    fn statistics(&mut self) -> String {
        "Uptime: unknown".to_owned()
    }
}

/// What drivers and pools decide by whether a connection may be lent to somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionState {
    pub is_in_transaction: bool,
    pub is_autocommit: bool,
}

impl Default for SessionState {
    fn default() -> Self {
        SessionState {
            is_in_transaction: false,
            is_autocommit: true,
        }
    }
}

/// The first word to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Welcome {
    Greet(Greeting),
    /// An error in place of the greeting: 1040 too many connections, 1129 host blocked.
    Refuse(SqlError),
    /// Accepts and never speaks.
    Silence,
    /// Accepts and closes.
    Cut,
}

/// How the server introduces itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Greeting {
    /// Such as `8.4.3` or `11.8.3-MariaDB-log`.
    pub version: String,
    /// Offered first. A client whose account uses the other one is asked to switch.
    pub plugin: AuthPlugin,
}

/// What it takes to log in.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    pub plugin: AuthPlugin,
    pub password: String,
    /// Whether the server remembers the password from an earlier login. If not (restarted, FLUSH PRIVILEGES),
    /// `caching_sha2_password` needs the whole password once, sealed with the server's RSA key. Means nothing for
    /// `mysql_native_password`.
    pub cached: bool,
}

/// Who has come in.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    pub connection_id: u32,
    pub user: String,
    pub database: Option<String>,
    /// What the client tells about itself: program name, process id and so on.
    pub attributes: BTreeMap<String, String>,
    /// `None`: it speaks in the clear.
    pub tunnel: Option<Tunnel>,
}
