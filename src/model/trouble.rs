//! A failure in words, sorted by what the person can do about it.

use super::phrase::Phrase;

/// What went wrong between us and a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    pub kind: TroubleKind,
    /// What we were doing and what happened, one line.
    pub what: Phrase,
    /// What the person can try.
    pub hint: Option<Phrase>,
    /// The server's own error number, if it answered with one (1040, 1045, 1129, 1227 …).
    pub code: Option<u32>,
    /// The server's or the driver's own words, untranslated, made printable.
    pub detail: String,
}

/// The kinds of failure, by what the person can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TroubleKind {
    /// No connection: refused, name unknown, network down.
    Unreachable,
    /// A time limit of ours ran out: connect, handshake, query.
    TimedOut,
    /// The server answered but takes nobody in: 1040 too many connections, 1129 host blocked, 1053 shutting down.
    Refusing,
    /// 1045 and its relatives.
    AccessDenied,
    /// 1142, 1227: this account may not see this; `hint` carries the GRANT.
    MissingPrivilege,
    /// Certificate or TLS handshake.
    Tls,
    /// The server has no such statement, variable or table.
    Unsupported,
    /// The connection broke in the middle.
    Lost,
    /// Any other error answer to a statement.
    QueryFailed,
    /// The answer came and could not be understood.
    Unreadable,
}

/// Words from a server or driver made fit to keep and show: bytes that are not UTF-8 and control characters become
/// escapes (`\xAE`), newlines stay.
pub fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\t' => text.push(c),
                '\r' => {}
                c if c.is_control() => text.push_str(&format!("\\x{:02X}", c as u32)),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r43_bytes_that_are_not_utf8_stay_readable() {
        assert_eq!(readable(&[0x62, 0xAE, 0xE1, 0xBD]), "b\\xAE\\xE1\\xBD");
        assert_eq!(readable("北京".as_bytes()), "北京");
        assert_eq!(readable(b"a\0b"), "a\\x00b");
    }
}
