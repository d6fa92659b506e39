//! Who numbered a transaction: a server's UUID, and since MySQL 8.3 a tag beside it.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::error::{GtidError, GtidProblem};

/// A server's UUID, 16 bytes; sorted as the server sorts it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

/// The tag of a GTID in lower case, as the server folds it; empty for an untagged GTID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tag([u8; Tag::MAX_LENGTH]);

/// One sequence of numbers. `uuid` and `uuid:tag` are two different sequences (R17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sid {
    pub uuid: Uuid,
    pub tag: Tag,
}

impl Uuid {
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Uuid(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Reads a UUID that is the whole text but for white space around it. The server's three ways of writing are
    /// taken: with all four dashes, with none, in braces; any case.
    pub fn parse(text: &str) -> Result<Uuid, GtidError> {
        let error = |at| GtidError {
            problem: GtidProblem::ExpectedUuid,
            at,
            text: text.to_owned(),
        };
        let start = text.len() - text.trim_ascii_start().len();
        match Uuid::read(text.trim_ascii().as_bytes()) {
            Ok((uuid, length)) if length == text.trim_ascii().len() => Ok(uuid),
            Ok((_, length)) => Err(error(start + length)),
            Err(at) => Err(error(start + at)),
        }
    }

    /// A UUID at the beginning of `bytes` and how many bytes it took, or the place where it is none.
    pub(super) fn read(bytes: &[u8]) -> Result<(Uuid, usize), usize> {
        let braced = bytes.first() == Some(&b'{');
        let mut at = usize::from(braced);
        let dashed = bytes.get(at + 8) == Some(&b'-');
        let mut uuid = [0; 16];
        for (index, byte) in uuid.iter_mut().enumerate() {
            if dashed && matches!(index, 4 | 6 | 8 | 10) {
                if bytes.get(at) != Some(&b'-') {
                    return Err(at);
                }
                at += 1;
            }
            let high = hex_digit(bytes.get(at)).ok_or(at)?;
            let low = hex_digit(bytes.get(at + 1)).ok_or(at + 1)?;
            *byte = high << 4 | low;
            at += 2;
        }
        if braced {
            if bytes.get(at) != Some(&b'}') {
                return Err(at);
            }
            at += 1;
        }
        Ok((Uuid(uuid), at))
    }
}

fn hex_digit(byte: Option<&u8>) -> Option<u8> {
    match byte? {
        b @ b'0'..=b'9' => Some(b - b'0'),
        b @ b'a'..=b'f' => Some(b - b'a' + 10),
        b @ b'A'..=b'F' => Some(b - b'A' + 10),
        _ => None,
    }
}

impl FromStr for Uuid {
    type Err = GtidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::parse(text)
    }
}

/// Lower case with dashes.
impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [b'-'; 36];
        let mut at = 0;
        for (index, byte) in self.0.iter().enumerate() {
            at += usize::from(matches!(index, 4 | 6 | 8 | 10));
            text[at] = DIGITS[usize::from(byte >> 4)];
            text[at + 1] = DIGITS[usize::from(byte & 15)];
            at += 2;
        }
        f.pad(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Tag {
    pub const MAX_LENGTH: usize = 32;
    /// No tag: the sequence every transaction belongs to unless someone asked for a tag.
    pub const NONE: Tag = Tag([0; Tag::MAX_LENGTH]);

    /// A tag from its name: `[a-zA-Z_][a-zA-Z0-9_]{0,31}`, or none.
    pub fn named(name: &str) -> Option<Tag> {
        match Tag::read(name.as_bytes()) {
            Ok(Some((tag, length))) if length == name.len() => Some(tag),
            _ => None,
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Tag::NONE
    }

    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|&b| b == 0);
        let bytes = &self.0[..length.unwrap_or(Tag::MAX_LENGTH)];
        // Only ASCII letters, digits and `_` are ever put in.
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// A tag at the beginning of `bytes` and its length, `None` if none begins there, `Err` if it is too long.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<(Tag, usize)>, TagTooLong> {
        if !matches!(bytes.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_')) {
            return Ok(None);
        }
        let of_a_tag = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let length = bytes.iter().take_while(of_a_tag).count();
        if length > Tag::MAX_LENGTH {
            return Err(TagTooLong);
        }
        let mut tag = Tag::NONE;
        tag.0[..length].copy_from_slice(&bytes[..length]);
        tag.0.make_ascii_lowercase();
        Ok(Some((tag, length)))
    }
}

pub(super) struct TagTooLong;

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Sid {
    pub const fn untagged(uuid: Uuid) -> Self {
        Sid {
            uuid,
            tag: Tag::NONE,
        }
    }

    pub const fn tagged(uuid: Uuid, tag: Tag) -> Self {
        Sid { uuid, tag }
    }

    /// Whether two neighbours of a sorted list stand in order and differ.
    pub(super) fn comes_before(&self, other: &Sid) -> bool {
        self.cmp(other) == Ordering::Less
    }
}

/// `uuid` or `uuid:tag`.
impl fmt::Display for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uuid.fmt(f)?;
        if self.tag.is_none() {
            return Ok(());
        }
        write!(f, ":{}", self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_read_the_three_ways_the_server_reads_it() {
        let uuid = Uuid::parse("44fe5a28-517e-11eb-abdc-1273b9da759b").expect("dashed");
        for text in [
            "44FE5A28-517E-11EB-ABDC-1273B9DA759B",
            "44fe5a28517e11ebabdc1273b9da759b",
            "{44fe5a28-517e-11eb-abdc-1273b9da759b}",
            " 44fe5a28-517e-11eb-abdc-1273b9da759b\r\n",
        ] {
            assert_eq!(Uuid::parse(text).as_ref(), Ok(&uuid), "{text}");
        }
        assert_eq!(uuid.to_string(), "44fe5a28-517e-11eb-abdc-1273b9da759b");
    }

    #[test]
    fn what_is_no_uuid_is_refused_where_it_stops_being_one() {
        for (text, at) in [
            ("", 0),
            ("44fe5a28", 8),
            ("44fe5a28-517e11eb-abdc-1273b9da759b", 13),
            ("44fe5a28-517e-11eb-abdc-1273b9da759", 35),
            ("44fe5a28-517e-11eb-abdc-1273b9da759b0", 36),
            ("{44fe5a28-517e-11eb-abdc-1273b9da759b", 37),
            (" x4fe5a28-517e-11eb-abdc-1273b9da759b", 1),
            ("44fe5a28-517e-11eb-abdc-1273b9da759é", 35),
        ] {
            assert_eq!(Uuid::parse(text).map_err(|e| e.at), Err(at), "{text}");
        }
    }

    #[test]
    fn r17_a_tag_is_folded_to_lower_case_and_has_at_most_32_characters() {
        assert_eq!(Tag::named("MySQLsh"), Tag::named("mysqlsh"));
        assert_eq!(
            Tag::named(&"a".repeat(32)).map(|t| t.as_str().len()),
            Some(32)
        );
        for refused in ["", "1a", "a-b", "é", &"a".repeat(33)] {
            assert_eq!(Tag::named(refused), None, "{refused}");
        }
    }
}
