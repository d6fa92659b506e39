//! Where a server is and how to talk to it: all that a [`super::Dialer`] needs, and nothing it has to look up.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::model::time::Span;

/// A server's address: one of two ways in, never pasted together into a URL (R41).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A name, IPv4 or IPv6 address (without brackets), and a port.
    Tcp { host: String, port: u16 },
    /// The path of a Unix domain socket.
    Socket(PathBuf),
}

/// `host:port`, `[2abc::1]:3306` or the path: unambiguous, for people.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Everything about one server that a session needs.
#[derive(Clone)]
pub struct Endpoint {
    pub address: Address,
    pub user: String,
    pub password: Option<Zeroizing<String>>,
    pub tls: Tls,
    pub limits: Limits,
    /// The heartbeat table to read, when there is one.
    pub heartbeat: Option<HeartbeatTable>,
    /// Open transactions at least this old are listed.
    pub long_transaction: Span,
    /// Told to the server in the connection's attributes.
    pub program_version: String,
}

impl Endpoint {
    /// Plain TCP with every default; for tests and as a start.
    pub fn new(address: Address, user: &str, password: Option<&str>) -> Self {
        Endpoint {
            address,
            user: user.to_owned(),
            password: password.map(|text| Zeroizing::new(text.to_owned())),
            tls: Tls::default(),
            limits: Limits::default(),
            heartbeat: None,
            long_transaction: Span::from_secs(5),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Without the password, so that it cannot reach a log by accident.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("address", &self.address)
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "…"))
            .field("tls", &self.tls)
            .field("limits", &self.limits)
            .field("heartbeat", &self.heartbeat)
            .field("long_transaction", &self.long_transaction)
            .finish_non_exhaustive()
    }
}

/// What the connection must prove about the server. There is no silent step down from any of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// Plain text.
    #[default]
    Off,
    /// Encrypted, whoever answers: any certificate is accepted.
    Required,
    /// The certificate comes from the given CA, whatever name it carries.
    VerifyCa,
    /// The certificate comes from the given CA (or, with none given, a public one) and carries the host's name.
    VerifyIdentity,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub mode: TlsMode,
    /// PEM file of the CA to trust, alone.
    pub ca: Option<PathBuf>,
    pub client_cert: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
    /// PEM file of the server's RSA public key: pins it for `caching_sha2_password` over plain TCP.
    pub server_public_key: Option<PathBuf>,
}

/// How long anything may take. Nothing is without a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Looking up the name, and then reaching each of its addresses.
    pub connect: Duration,
    /// The handshake, and each answer of a polling session.
    pub read: Duration,
    pub write: Duration,
    /// The longest a waiting session waits for a mark in one call.
    pub wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(3),
            read: Duration::from_secs(5),
            write: Duration::from_secs(5),
            wait: Duration::from_secs(2),
        }
    }
}

/// A table somebody writes the time into: ours, the single-row one, pt-heartbeat's, Blip's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatTable {
    pub schema: String,
    pub table: String,
    pub time_column: String,
    /// The column that names the writing server, where there is one (R26).
    pub server_id_column: Option<String>,
    /// One new row for each beat, kept for days (C-09), instead of one row updated.
    pub keeps_history: bool,
}

impl HeartbeatTable {
    /// `schema.table`, for people.
    pub fn name(&self) -> String {
        format!("{}.{}", self.schema, self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r41_addresses_are_shown_unambiguously() {
        let tcp = |host: &str| Address::Tcp {
            host: host.into(),
            port: 3307,
        };
        assert_eq!(tcp("2abc::1").to_string(), "[2abc::1]:3307");
        assert_eq!(tcp("db1").to_string(), "db1:3307");
        assert_eq!(
            Address::Socket("/run/x.sock".into()).to_string(),
            "/run/x.sock"
        );
    }

    #[test]
    fn r41_no_debug_output_shows_the_password() {
        let endpoint = Endpoint::new(
            Address::Socket("/run/x.sock".into()),
            "monitor",
            Some("s#cret@:/?"),
        );
        let shown = format!("{endpoint:?} {endpoint:#?}");
        assert!(!shown.contains("s#cret"), "{shown}");
        assert!(shown.contains("monitor"));
    }
}
