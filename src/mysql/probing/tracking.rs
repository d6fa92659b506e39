//! The GTID of a commit out of its OK packet, among whatever else stands there (R22).

use mysql::consts::SessionStateType;

/// What the packet told of the commit's GTID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tracked {
    /// MySQL's `session_track_gtids`.
    Gtids(String),
    /// MariaDB's `last_gtid`, one of its tracked variables.
    LastGtid(String),
}

/// Entries of other kinds are skipped. `None`: nothing told, or nothing that can be read.
pub fn tracked(changes: &[(SessionStateType, Vec<u8>)]) -> Option<Tracked> {
    changes.iter().find_map(|(kind, data)| match kind {
        SessionStateType::SESSION_TRACK_GTIDS => gtids(data),
        SessionStateType::SESSION_TRACK_SYSTEM_VARIABLES => last_gtid(data),
        _ => None,
    })
}

/// One byte for the encoding, always 0 so far, then the text.
fn gtids(data: &[u8]) -> Option<Tracked> {
    let (encoding, rest) = data.split_first()?;
    let (text, _) = text(rest).filter(|_| *encoding == 0)?;
    (!text.is_empty()).then_some(Tracked::Gtids(text))
}

/// Names and values in turn: MariaDB puts several into one entry.
fn last_gtid(mut data: &[u8]) -> Option<Tracked> {
    while !data.is_empty() {
        let (name, rest) = text(data)?;
        let (value, rest) = text(rest)?;
        if name.eq_ignore_ascii_case("last_gtid") && !value.is_empty() {
            return Some(Tracked::LastGtid(value));
        }
        data = rest;
    }
    None
}

/// A length-encoded text, and what stands behind it.
fn text(data: &[u8]) -> Option<(String, &[u8])> {
    let (first, rest) = data.split_first()?;
    let (length, rest) = match first {
        0..=0xfa => (usize::from(*first), rest),
        0xfc => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        0xfd => {
            let ([a, b, c], rest) = rest.split_first_chunk::<3>()?;
            (u32::from_le_bytes([*a, *b, *c, 0]) as usize, rest)
        }
        _ => return None,
    };
    let bytes = rest.get(..length)?;
    let text = std::str::from_utf8(bytes).ok()?;
    Some((text.to_owned(), &rest[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use SessionStateType::{
        SESSION_TRACK_GTIDS, SESSION_TRACK_SCHEMA, SESSION_TRACK_SYSTEM_VARIABLES,
    };

    const GTID: &str = "00000001-aaaa-11f0-8000-000000000000:12";

    fn gtids_entry() -> Vec<u8> {
        let mut data = vec![0, GTID.len() as u8];
        data.extend(GTID.as_bytes());
        data
    }

    #[test]
    fn r22_the_gtid_is_found_behind_other_entries() {
        let schema = (SESSION_TRACK_SCHEMA, b"\x04shop".to_vec());
        let variable = (
            SESSION_TRACK_SYSTEM_VARIABLES,
            b"\x0aautocommit\x02ON".to_vec(),
        );
        let gtids = (SESSION_TRACK_GTIDS, gtids_entry());
        assert_eq!(
            tracked(&[schema.clone(), variable, gtids]),
            Some(Tracked::Gtids(GTID.into()))
        );
        assert_eq!(tracked(&[schema]), None);
        assert_eq!(tracked(&[]), None);
    }

    #[test]
    fn mariadb_tells_it_as_a_variable_among_others() {
        let data = b"\x0aautocommit\x02ON\x09last_gtid\x060-1-15".to_vec();
        assert_eq!(
            tracked(&[(SESSION_TRACK_SYSTEM_VARIABLES, data)]),
            Some(Tracked::LastGtid("0-1-15".into()))
        );
    }

    #[test]
    fn a_cut_or_empty_entry_is_no_gtid() {
        for data in [
            vec![],
            vec![0],
            vec![0, 0],
            vec![0, 40, b'x'],
            vec![7, 1, b'x'],
        ] {
            assert_eq!(tracked(&[(SESSION_TRACK_GTIDS, data)]), None);
        }
        let long = [&[0, 0xfc, 0x2c, 0x01][..], &[b'a'; 300]].concat();
        assert_eq!(
            tracked(&[(SESSION_TRACK_GTIDS, long)]),
            Some(Tracked::Gtids("a".repeat(300)))
        );
    }
}
