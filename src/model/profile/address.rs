//! How a server is addressed, as typed on a command line or in a field, and shown without ambiguity (R41).
//!
//! `[user@]host[:port]` or `[user@]/path/to.sock`. An IPv6 address may stand bare (then without a port) or in brackets.
//! Host, port, socket and user are separate from here on and never pasted into a URL.

use crate::model::phrase::{Arg, Phrase, phrase};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

pub const DEFAULT_PORT: u16 = 3306;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A name, an IPv4 or an IPv6 address, the last without brackets.
    Tcp {
        host: String,
        port: u16,
    },
    Socket {
        path: PathBuf,
    },
}

/// An address with the user to be there, as one argument of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub user: Option<String>,
    pub address: Address,
}

impl Target {
    /// Errors say what would be right.
    pub fn parse(text: &str) -> Result<Self, Phrase> {
        let text = text.trim();
        if text.contains("://") {
            return Err(about(phrase("profile.address.is_a_url"), text));
        }
        let (user, place) = split_user(text);
        match user {
            Some("") => return Err(about(phrase("profile.address.empty_user"), text)),
            // Not echoed: what follows the colon is most likely a password.
            Some(user) if user.contains(':') => {
                return Err(phrase("profile.address.has_a_password"));
            }
            _ => {}
        }
        Ok(Target {
            user: user.map(str::to_owned),
            address: parse_place(place)?,
        })
    }
}

impl Address {
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Address::Tcp {
            host: host.into(),
            port,
        }
    }

    /// Loopback and sockets: no network lies between us and the server (though a tunnel may begin there).
    pub fn stays_on_this_machine(&self) -> bool {
        match self {
            Address::Socket { .. } => true,
            Address::Tcp { host, .. } => match host.parse::<IpAddr>() {
                Ok(ip) => ip.to_canonical().is_loopback(),
                Err(_) => host.eq_ignore_ascii_case("localhost"),
            },
        }
    }
}

impl fmt::Display for Address {
    /// `db1:3306`, `[2abc::1]:3306`, `/run/mysqld/mysqld.sock`; reads back as the same address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Socket { path } => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user {
            Some(user) => write!(f, "{user}@{}", self.address),
            None => write!(f, "{}", self.address),
        }
    }
}

/// A user name may have an `@` in it, a socket's path too: the path begins at the first `@/`, a host after the last `@`.
fn split_user(text: &str) -> (Option<&str>, &str) {
    if text.starts_with('/') {
        return (None, text);
    }
    if let Some(at) = text.find("@/") {
        return (Some(&text[..at]), &text[at + 1..]);
    }
    match text.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, text),
    }
}

fn parse_place(place: &str) -> Result<Address, Phrase> {
    if place.starts_with('/') {
        return Ok(Address::Socket { path: place.into() });
    }
    if let Some(bracketed) = place.strip_prefix('[') {
        return parse_bracketed(place, bracketed);
    }
    let (host, port) = match place.matches(':').count() {
        0 => (place, DEFAULT_PORT),
        1 => match place.split_once(':') {
            Some((host, port)) => (host, parse_port(place, port)?),
            None => (place, DEFAULT_PORT),
        },
        _ => (place, DEFAULT_PORT),
    };
    match host_problem(host) {
        Some(problem) => Err(problem),
        None => Ok(Address::tcp(host, port)),
    }
}

fn parse_bracketed(place: &str, bracketed: &str) -> Result<Address, Phrase> {
    let Some((host, rest)) = bracketed.split_once(']') else {
        return Err(about(phrase("profile.address.bracket_open"), place));
    };
    if !is_ipv6(host) {
        return Err(about(phrase("profile.address.not_ipv6"), host));
    }
    let port = match (rest, rest.strip_prefix(':')) {
        ("", _) => DEFAULT_PORT,
        (_, Some(port)) => parse_port(place, port)?,
        (_, None) => return Err(about(phrase("profile.address.after_bracket"), place)),
    };
    Ok(Address::tcp(host, port))
}

/// Digits only: `u16` itself would also take a plus sign.
fn parse_port(place: &str, port: &str) -> Result<u16, Phrase> {
    let digits = port.bytes().all(|b| b.is_ascii_digit());
    match port.parse::<u16>() {
        Ok(number) if digits && number > 0 => Ok(number),
        _ => Err(about(phrase("profile.address.port"), place)),
    }
}

/// What is wrong with a host on its own, as it stands in a field; None if nothing.
pub(super) fn host_problem(host: &str) -> Option<Phrase> {
    let dotted_digits = host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let problem = match host {
        "" => return Some(phrase("profile.address.no_host")),
        _ if is_ipv6(host) => return None,
        _ if host.contains(':') => phrase("profile.address.not_ipv6"),
        _ if host.starts_with('.') && host.contains('/') => phrase("profile.address.relative_path"),
        _ if dotted_digits && host.parse::<Ipv4Addr>().is_err() => {
            phrase("profile.address.not_ipv4")
        }
        _ if host.len() > 253 || !host.chars().all(may_be_in_a_name) => {
            phrase("profile.address.not_a_name")
        }
        _ => return None,
    };
    Some(about(problem, host))
}

/// Wider than the standards: underscores and letters of any script are in use, and the resolver has the last word.
fn may_be_in_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// With or without a zone, as in `fe80::1%eth0`.
fn is_ipv6(host: &str) -> bool {
    match host.split_once('%') {
        Some((ip, zone)) => {
            ip.parse::<Ipv6Addr>().is_ok() && !zone.is_empty() && zone.chars().all(may_be_in_a_name)
        }
        None => host.parse::<Ipv6Addr>().is_ok(),
    }
}

fn about(problem: Phrase, text: &str) -> Phrase {
    problem.with("text", Arg::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tcp(host: &str, port: u16) -> Address {
        Address::tcp(host, port)
    }

    fn socket(path: &str) -> Address {
        Address::Socket { path: path.into() }
    }

    #[test]
    fn r41_addresses_are_understood_and_shown_unambiguously() {
        let cases = [
            ("2abc::1", None, tcp("2abc::1", 3306), "[2abc::1]:3306"),
            ("[2abc::1]", None, tcp("2abc::1", 3306), "[2abc::1]:3306"),
            (
                "[2abc::1]:3307",
                None,
                tcp("2abc::1", 3307),
                "[2abc::1]:3307",
            ),
            // A whole address in itself, so that is what it is; the display shows how it was understood.
            (
                "2abc::1:3307",
                None,
                tcp("2abc::1:3307", 3306),
                "[2abc::1:3307]:3306",
            ),
            (
                "user@[::1]:3306",
                Some("user"),
                tcp("::1", 3306),
                "[::1]:3306",
            ),
            ("root@::1", Some("root"), tcp("::1", 3306), "[::1]:3306"),
            (
                "fe80::1%eth0",
                None,
                tcp("fe80::1%eth0", 3306),
                "[fe80::1%eth0]:3306",
            ),
            ("db1", None, tcp("db1", 3306), "db1:3306"),
            (
                " db1.example.org:3310 ",
                None,
                tcp("db1.example.org", 3310),
                "db1.example.org:3310",
            ),
            (
                "mysql_replica-2",
                None,
                tcp("mysql_replica-2", 3306),
                "mysql_replica-2:3306",
            ),
            (
                "10.0.0.7:3307",
                None,
                tcp("10.0.0.7", 3307),
                "10.0.0.7:3307",
            ),
            ("a@b.org@db1", Some("a@b.org"), tcp("db1", 3306), "db1:3306"),
            (
                "/run/mysqld/mysqld.sock",
                None,
                socket("/run/mysqld/mysqld.sock"),
                "/run/mysqld/mysqld.sock",
            ),
            (
                "me@/tmp/a@b.sock",
                Some("me"),
                socket("/tmp/a@b.sock"),
                "/tmp/a@b.sock",
            ),
            (
                "/tmp/with space:1.sock",
                None,
                socket("/tmp/with space:1.sock"),
                "/tmp/with space:1.sock",
            ),
        ];
        for (text, user, address, shown) in cases {
            let target = Target::parse(text).unwrap_or_else(|p| panic!("{text}: {p:?}"));
            assert_eq!(target.address, address, "{text}");
            assert_eq!(target.user.as_deref(), user, "{text}");
            assert_eq!(target.address.to_string(), shown, "{text}");
        }
    }

    #[test]
    fn r41_a_wrong_address_is_told_what_would_be_right() {
        let cases = [
            ("", "profile.address.no_host"),
            (":3306", "profile.address.no_host"),
            ("user@", "profile.address.no_host"),
            ("@db1", "profile.address.empty_user"),
            ("db1:", "profile.address.port"),
            ("db1:0", "profile.address.port"),
            ("db1:65536", "profile.address.port"),
            ("db1:+33", "profile.address.port"),
            ("db1:mysql", "profile.address.port"),
            ("[2abc::1", "profile.address.bracket_open"),
            ("[2abc::1]3306", "profile.address.after_bracket"),
            ("[db1]:3306", "profile.address.not_ipv6"),
            ("2abc:::1", "profile.address.not_ipv6"),
            ("db1:33:06", "profile.address.not_ipv6"),
            ("10.0.0.256", "profile.address.not_ipv4"),
            ("10.0.7", "profile.address.not_ipv4"),
            ("db 1", "profile.address.not_a_name"),
            ("db1/shop", "profile.address.not_a_name"),
            ("./mysql.sock", "profile.address.relative_path"),
            ("mysql://root@db1", "profile.address.is_a_url"),
        ];
        for (text, key) in cases {
            let problem = Target::parse(text).expect_err(text);
            assert_eq!(problem.key, key, "{text}");
        }
    }

    #[test]
    fn r41_a_password_typed_into_an_address_is_not_repeated() {
        let problem = Target::parse("root:s3cret@db1").expect_err("a password in it");
        assert_eq!(problem.key, "profile.address.has_a_password");
        assert!(!format!("{problem:?}").contains("s3cret"));
    }

    #[test]
    fn only_loopback_and_sockets_stay_on_this_machine() {
        for (host, stays) in [
            ("127.0.0.1", true),
            ("127.8.8.8", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("LOCALHOST", true),
            ("localhost.example.org", false),
            ("0.0.0.0", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(tcp(host, 3306).stays_on_this_machine(), stays, "{host}");
        }
        assert!(socket("/tmp/x.sock").stays_on_this_machine());
    }

    proptest! {
        #[test]
        fn r41_what_is_shown_reads_back_as_the_same(text in "([a-z@:]{0,4}@)?[\\[\\]a-z0-9:./%_ -]{0,24}") {
            if let Ok(target) = Target::parse(&text) {
                prop_assert_eq!(Target::parse(&target.to_string()), Ok(target));
            }
        }

        #[test]
        fn r41_any_ipv6_address_and_port_survive(ip: u128, port in 1u16..) {
            let address = tcp(&Ipv6Addr::from_bits(ip).to_string(), port);
            prop_assert_eq!(Target::parse(&address.to_string()).map(|t| t.address), Ok(address));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in any::<String>()) {
            let _ = Target::parse(&text);
        }
    }
}
