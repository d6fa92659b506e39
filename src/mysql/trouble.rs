//! The driver's errors sorted by what the person can do about them.

use std::io;
use std::time::Duration;

use mysql::{DriverError, Error, MySqlError};
use mysql_common::proto::codec::error::PacketCodecError;

use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};

use super::endpoint::Endpoint;
use super::queries::Question;
use super::tls::TlsProblem;

/// What we were doing when it happened.
#[derive(Clone, Copy, Debug)]
pub enum Doing<'a> {
    Connecting(&'a Endpoint),
    Asking { question: Question, limit: Duration },
}

impl Doing<'_> {
    fn sentence(&self, connecting: &'static str, asking: &'static str) -> Phrase {
        match self {
            Doing::Connecting(endpoint) => {
                phrase(connecting).with("server", endpoint.address.to_string())
            }
            Doing::Asking { question, .. } => {
                phrase(asking).with("question", phrase(question.key()))
            }
        }
    }
}

/// Sorts one failure. The GRANT that may be missing is added by who knows the product and the account.
pub fn trouble(error: &Error, doing: Doing<'_>) -> Trouble {
    match error {
        Error::MySqlError(answer) => from_answer(answer, doing),
        Error::CodecError(PacketCodecError::Io(e)) | Error::IoError(e) => from_io(e, doing),
        Error::CodecError(_) => plain(
            TroubleKind::Unreadable,
            doing.sentence("trouble.connect.not_mysql", "trouble.asking.unreadable"),
            error,
        ),
        Error::TlsError(_) => with_hint(
            plain(
                TroubleKind::Tls,
                doing.sentence("trouble.connect.tls", "trouble.asking.lost"),
                error,
            ),
            "trouble.hint.tls",
        ),
        Error::DriverError(e) => from_driver(e, doing),
        Error::UrlError(_) | Error::FromValueError(_) | Error::FromRowError(_) => plain(
            TroubleKind::Unreadable,
            doing.sentence("trouble.connect.not_mysql", "trouble.asking.unreadable"),
            error,
        ),
    }
}

fn plain(kind: TroubleKind, what: Phrase, detail: impl ToString) -> Trouble {
    Trouble {
        kind,
        what,
        hint: None,
        code: None,
        detail: printable(&detail.to_string()),
    }
}

fn with_hint(mut trouble: Trouble, hint: &'static str) -> Trouble {
    trouble.hint = Some(phrase(hint));
    trouble
}

/// Texts of servers and drivers, fit to show (R43); the driver has replaced what was not UTF-8.
fn printable(text: &str) -> String {
    crate::model::trouble::readable(text.as_bytes())
}

/// A limit of ours ran out, or the connection is gone.
fn from_io(error: &io::Error, doing: Doing<'_>) -> Trouble {
    use io::ErrorKind::{
        ConnectionRefused, HostUnreachable, InvalidData, NetworkUnreachable, NotFound,
        PermissionDenied, TimedOut, WouldBlock,
    };
    if let Some(reason) = tls_reason(error) {
        return tls(reason, error.to_string(), doing);
    }
    match error.kind() {
        // A silent peer reads "Resource temporarily unavailable".
        WouldBlock | TimedOut => timed_out(doing),
        ConnectionRefused | HostUnreachable | NetworkUnreachable | NotFound | PermissionDenied => {
            unreachable(error.to_string(), doing)
        }
        _ if error.kind() == InvalidData || is_parse_error(error) => plain(
            TroubleKind::Unreadable,
            doing.sentence("trouble.connect.not_mysql", "trouble.asking.unreadable"),
            error,
        ),
        _ => plain(
            TroubleKind::Lost,
            doing.sentence("trouble.connect.lost", "trouble.asking.lost"),
            error,
        ),
    }
}

/// rustls's own error, which travels inside an I/O error.
fn tls_reason(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// The driver's parsers report a packet they cannot read as an unexpected end of input.
fn is_parse_error(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.to_string().starts_with("can't parse"))
}

fn timed_out(doing: Doing<'_>) -> Trouble {
    let limit = match doing {
        Doing::Connecting(endpoint) => endpoint.limits.read,
        Doing::Asking { limit, .. } => limit,
    };
    let what = doing
        .sentence("trouble.connect.silent", "trouble.asking.timed_out")
        .with("limit", Span::from(limit));
    plain(TroubleKind::TimedOut, what, "")
}

fn unreachable(detail: String, doing: Doing<'_>) -> Trouble {
    let trouble = plain(
        TroubleKind::Unreachable,
        doing.sentence("trouble.connect.unreachable", "trouble.asking.lost"),
        detail,
    );
    with_hint(trouble, "trouble.hint.address")
}

fn tls(reason: &rustls::Error, detail: String, doing: Doing<'_>) -> Trouble {
    use rustls::CertificateError::{
        BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext,
        NotValidYet, NotValidYetContext, UnknownIssuer,
    };
    let what = doing.sentence("trouble.connect.tls", "trouble.asking.lost");
    let hint = match reason {
        rustls::Error::InvalidCertificate(problem) => match problem {
            NotValidForName | NotValidForNameContext { .. } => "trouble.hint.tls_name",
            UnknownIssuer | BadSignature => "trouble.hint.tls_issuer",
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
                "trouble.hint.tls_expired"
            }
            _ => "trouble.hint.tls",
        },
        _ => "trouble.hint.tls",
    };
    with_hint(plain(TroubleKind::Tls, what, detail), hint)
}

fn from_driver(error: &DriverError, doing: Doing<'_>) -> Trouble {
    let connect_limit = |endpoint: &Endpoint| Span::from(endpoint.limits.connect);
    match (error, doing) {
        (DriverError::ConnectTimeout | DriverError::Timeout, Doing::Connecting(endpoint)) => plain(
            TroubleKind::TimedOut,
            doing
                .sentence("trouble.connect.timed_out", "trouble.asking.timed_out")
                .with("limit", connect_limit(endpoint)),
            error,
        ),
        (DriverError::ConnectTimeout | DriverError::Timeout, _) => timed_out(doing),
        (DriverError::CouldNotConnect(_), _) => unreachable(error.to_string(), doing),
        (DriverError::TlsNotSupported, _) => with_hint(
            plain(
                TroubleKind::Tls,
                doing.sentence("trouble.connect.tls_not_offered", "trouble.asking.lost"),
                error,
            ),
            "trouble.hint.tls_not_offered",
        ),
        (
            DriverError::UnknownAuthPlugin(_)
            | DriverError::OldMysqlPasswordDisabled
            | DriverError::CleartextPluginDisabled
            | DriverError::InvalidParsecSalt,
            _,
        ) => plain(
            TroubleKind::AccessDenied,
            doing.sentence("trouble.login.method", "trouble.asking.failed"),
            error,
        ),
        _ => plain(
            TroubleKind::Unreadable,
            doing.sentence("trouble.connect.not_mysql", "trouble.asking.unreadable"),
            error,
        ),
    }
}

/// The server's own answer.
fn from_answer(answer: &MySqlError, doing: Doing<'_>) -> Trouble {
    let (kind, what, hint) = sort(answer.code, doing);
    let what = match doing {
        Doing::Connecting(endpoint) => what
            .with("server", endpoint.address.to_string())
            .with("user", endpoint.user.as_str()),
        Doing::Asking { question, .. } => what.with("question", phrase(question.key())),
    };
    Trouble {
        kind,
        what: what.with("code", Arg::Number(u64::from(answer.code))),
        hint: hint.map(phrase),
        code: Some(u32::from(answer.code)),
        detail: printable(&answer.message),
    }
}

fn sort(code: u16, doing: Doing<'_>) -> (TroubleKind, Phrase, Option<&'static str>) {
    use TroubleKind::{
        AccessDenied, Lost, MissingPrivilege, QueryFailed, Refusing, TimedOut, Unsupported,
    };
    let connecting = matches!(doing, Doing::Connecting(_));
    let (kind, key, hint) = match code {
        1040 => (
            Refusing,
            "trouble.login.too_many",
            Some("trouble.hint.too_many"),
        ),
        1203 | 1226 => (
            Refusing,
            "trouble.login.user_limit",
            Some("trouble.hint.user_limit"),
        ),
        1129 => (
            Refusing,
            "trouble.login.host_blocked",
            Some("trouble.hint.host_blocked"),
        ),
        1130 => (
            AccessDenied,
            "trouble.login.host_unknown",
            Some("trouble.hint.host_unknown"),
        ),
        1053 | 3032 => (Refusing, "trouble.login.shutting_down", None),
        1045 | 1698 => (
            AccessDenied,
            "trouble.login.denied",
            Some("trouble.hint.denied"),
        ),
        3118 | 4151 => (
            AccessDenied,
            "trouble.login.locked",
            Some("trouble.hint.locked"),
        ),
        3955 => (
            AccessDenied,
            "trouble.login.locked",
            Some("trouble.hint.locked_for_a_while"),
        ),
        1820 | 1862 => (
            AccessDenied,
            "trouble.login.expired",
            Some("trouble.hint.expired"),
        ),
        3159 | 8514 => (
            Refusing,
            "trouble.login.tls_wanted",
            Some("trouble.hint.tls_wanted"),
        ),
        1251 | 1524 | 2059 => (AccessDenied, "trouble.login.method", None),
        // Killed by somebody, thrown out for idling, or out of the server's reach.
        1927 | 3169 | 4031 | 1152..=1161 => (Lost, "trouble.asking.thrown_out", None),
        1142 | 1143 | 1044 | 1227 | 1370 | 3530 if !connecting => {
            (MissingPrivilege, "trouble.asking.privilege", None)
        }
        1064 | 1193 | 1109 | 1146 | 1054 | 1305 | 1046 | 1049 | 1381 | 1235 | 3167
            if !connecting =>
        {
            (Unsupported, "trouble.asking.unsupported", None)
        }
        3024 | 1969 | 1205 if !connecting => (TimedOut, "trouble.asking.cut_short", None),
        _ if connecting => (QueryFailed, "trouble.login.failed", None),
        _ => (QueryFailed, "trouble.asking.failed", None),
    };
    (kind, phrase(key), hint)
}

/// True when the connection is out of step or gone after this error, and must not be used again.
pub fn spoils(error: &Error) -> bool {
    match error {
        Error::MySqlError(answer) => {
            matches!(answer.code, 1053 | 1927 | 3169 | 4031 | 1152..=1161)
        }
        other => other.is_connectivity_error(),
    }
}

/// TLS could not even be tried.
pub fn tls_problem(problem: &TlsProblem, endpoint: &Endpoint) -> Trouble {
    let server = endpoint.address.to_string();
    let (what, detail) = match problem {
        TlsProblem::NoCa => (phrase("trouble.tls.no_ca"), String::new()),
        TlsProblem::HalfIdentity => (phrase("trouble.tls.half_identity"), String::new()),
        TlsProblem::BadFile { path, detail } => (
            phrase("trouble.tls.bad_file").with("file", path.as_str()),
            detail.clone(),
        ),
    };
    plain(TroubleKind::Tls, what.with("server", server), detail)
}

/// The name could not be looked up.
pub fn name_unknown(host: &str, error: &io::Error) -> Trouble {
    let what = phrase("trouble.connect.name_unknown").with("host", host);
    with_hint(
        plain(TroubleKind::Unreachable, what, error),
        "trouble.hint.address",
    )
}

/// Looking up the name, or connecting by it, takes longer than allowed.
pub fn name_slow(host: &str, limit: Duration) -> Trouble {
    let what = phrase("trouble.connect.name_slow")
        .with("host", host)
        .with("limit", Span::from(limit));
    plain(TroubleKind::TimedOut, what, "")
}

/// The driver panicked over what the peer sent.
pub fn not_mysql(endpoint: &Endpoint) -> Trouble {
    let what = phrase("trouble.connect.not_mysql").with("server", endpoint.address.to_string());
    plain(TroubleKind::Unreadable, what, "")
}

/// An answer without the row or column it must have.
pub fn unreadable(question: Question) -> Trouble {
    let what = phrase("trouble.asking.unreadable").with("question", phrase(question.key()));
    plain(TroubleKind::Unreadable, what, "")
}

/// A wait that was never sent or cannot be judged; `why` is a `trouble.wait.…` key.
pub fn wait_failed(why: &'static str, detail: &str) -> Trouble {
    plain(TroubleKind::QueryFailed, phrase(why), detail)
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::Address;
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint::new(
            Address::Tcp {
                host: "db1".into(),
                port: 3306,
            },
            "monitor",
            Some("secret"),
        )
    }

    fn answer(code: u16) -> Error {
        Error::MySqlError(MySqlError {
            state: "HY000".into(),
            message: format!("message of {code}"),
            code,
        })
    }

    fn asking() -> Doing<'static> {
        Doing::Asking {
            question: Question::Channels,
            limit: Duration::from_secs(5),
        }
    }

    #[test]
    fn login_answers_are_sorted_by_what_the_person_can_do() {
        let endpoint = endpoint();
        for (code, kind, key) in [
            (1040, TroubleKind::Refusing, "trouble.login.too_many"),
            (1129, TroubleKind::Refusing, "trouble.login.host_blocked"),
            (1226, TroubleKind::Refusing, "trouble.login.user_limit"),
            (1053, TroubleKind::Refusing, "trouble.login.shutting_down"),
            (1045, TroubleKind::AccessDenied, "trouble.login.denied"),
            (
                1130,
                TroubleKind::AccessDenied,
                "trouble.login.host_unknown",
            ),
            (3118, TroubleKind::AccessDenied, "trouble.login.locked"),
            (3159, TroubleKind::Refusing, "trouble.login.tls_wanted"),
            (1227, TroubleKind::QueryFailed, "trouble.login.failed"),
        ] {
            let told = trouble(&answer(code), Doing::Connecting(&endpoint));
            assert_eq!((told.kind, told.what.key), (kind, key), "{code}");
            assert_eq!(told.code, Some(u32::from(code)));
            assert!(!format!("{told:?}").contains("secret"));
        }
    }

    #[test]
    fn r35_a_refused_question_is_not_a_lost_connection() {
        for (code, kind) in [
            (1142, TroubleKind::MissingPrivilege),
            (1227, TroubleKind::MissingPrivilege),
            (1044, TroubleKind::MissingPrivilege),
            (1146, TroubleKind::Unsupported),
            (1064, TroubleKind::Unsupported),
            (3024, TroubleKind::TimedOut),
            (1317, TroubleKind::QueryFailed),
        ] {
            let told = trouble(&answer(code), asking());
            assert_eq!(told.kind, kind, "{code}");
            assert!(!spoils(&answer(code)), "{code}");
        }
        for code in [1053, 1927, 4031] {
            assert!(spoils(&answer(code)), "{code}");
        }
    }

    #[test]
    fn r37_a_silent_peer_is_told_from_a_lost_one() {
        let silent = |kind| Error::CodecError(PacketCodecError::Io(io::Error::from(kind)));
        let told = trouble(&silent(io::ErrorKind::WouldBlock), asking());
        assert_eq!(told.kind, TroubleKind::TimedOut);
        assert_eq!(told.what.arg("limit"), Some(&Arg::Span(Span::from_secs(5))));
        let told = trouble(&silent(io::ErrorKind::ConnectionReset), asking());
        assert_eq!(told.kind, TroubleKind::Lost);
        assert!(spoils(&silent(io::ErrorKind::WouldBlock)));
    }

    #[test]
    fn r39_a_certificate_for_another_name_is_named() {
        let endpoint = endpoint();
        let certificate =
            rustls::Error::InvalidCertificate(rustls::CertificateError::NotValidForNameContext {
                expected: "db1".try_into().expect("a name"),
                presented: vec!["DnsName(\"db2\")".into()],
            });
        let error = io::Error::new(io::ErrorKind::InvalidData, certificate);
        let told = trouble(
            &Error::CodecError(PacketCodecError::Io(error)),
            Doing::Connecting(&endpoint),
        );
        assert_eq!(told.kind, TroubleKind::Tls);
        assert_eq!(
            told.hint.map(|hint| hint.key),
            Some("trouble.hint.tls_name")
        );
        assert!(told.detail.contains("db2"), "{}", told.detail);
    }

    #[test]
    fn a_peer_that_is_no_mysql_server_is_said_to_be_none() {
        let endpoint = endpoint();
        for error in [
            io::Error::new(io::ErrorKind::InvalidData, "no null terminator"),
            io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "can't parse: buf doesn't have enough data",
            ),
        ] {
            let told = trouble(&Error::IoError(error), Doing::Connecting(&endpoint));
            assert_eq!(told.kind, TroubleKind::Unreadable);
            assert_eq!(told.what.key, "trouble.connect.not_mysql");
        }
    }
}
