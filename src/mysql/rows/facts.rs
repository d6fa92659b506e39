//! The first question of a poll: role, clock and GTIDs in one row.

use std::sync::Arc;

use crate::model::gtid::Gtids;
use crate::model::sample::{GtidFacts, Identity, switch};
use crate::model::server::Flavour;
use crate::model::time::{ServerTime, Span};
use crate::model::trouble::readable;

use super::{Row, Rows, micros};

/// What the row told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub identity: Identity,
    pub gtid: GtidFacts,
    /// The server's clock, UTC.
    pub now: Option<ServerTime>,
    /// `gtid_mode` where there is one.
    pub gtid_mode: Option<String>,
}

/// Sets already read: a set of 20,000 intervals is read again only when its text has changed.
#[derive(Clone, Debug, Default)]
pub struct GtidCache {
    known: Vec<(Arc<[u8]>, Gtids)>,
}

impl GtidCache {
    /// The set a text stands for, or the text itself when it cannot be read.
    pub fn read(&mut self, bytes: &[u8], flavour: Flavour) -> Result<Gtids, String> {
        if let Some((_, set)) = self.known.iter().find(|(text, _)| **text == *bytes) {
            return Ok(set.clone());
        }
        let set = std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| Gtids::parse(text, flavour).ok())
            .ok_or_else(|| readable(bytes))?;
        // Executed, purged and a previous one of each: more is never asked for.
        if self.known.len() >= 4 {
            self.known.remove(0);
        }
        self.known.push((bytes.into(), set.clone()));
        Ok(set)
    }
}

pub fn facts(rows: &Rows, flavour: Flavour, cache: &mut GtidCache) -> Option<Facts> {
    let row = rows.first()?;
    Some(Facts {
        identity: identity(row),
        gtid: gtids(row, flavour, cache),
        now: stamp(row, "utc_now"),
        gtid_mode: row.text(&["gtid_mode"]),
    })
}

fn identity(row: Row<'_>) -> Identity {
    Identity {
        server_uuid: row.filled(&["server_uuid"]),
        server_id: row.told(&["server_id"]),
        hostname: row.filled(&["hostname"]),
        port: row.told(&["port"]),
        read_only: row.word(&["read_only"]).map(|word| is_on(&word)),
        super_read_only: row.word(&["super_read_only"]).and_then(|w| switch(&w)),
        innodb_read_only: row.word(&["innodb_read_only"]).and_then(|w| switch(&w)),
        uptime: None,
        connection: None,
        utc_offset: utc_offset(row),
    }
}

/// MariaDB 12 knows more words than ON (`NO_LOCK`, `NO_LOCK_NO_ADMIN`): all of them are on.
fn is_on(word: &str) -> bool {
    switch(word) != Some(false)
}

/// Both clocks are read in the same instant, so the difference is whole seconds; rounded against a tick in between.
fn utc_offset(row: Row<'_>) -> Option<Span> {
    let local = stamp(row, "local_now")?;
    let offset = local.since(stamp(row, "utc_now")?);
    Some(Span::from_secs((offset.secs_f64()).round() as i64))
}

/// Microseconds as a number, or `2026-11-29 19:18:29.934913` taken as UTC.
fn stamp(row: Row<'_>, name: &str) -> Option<ServerTime> {
    let bytes = row.bytes(&[name]);
    let bytes = *bytes.value()?;
    super::heartbeat::wall(bytes)
        .map(|wall| wall.micros)
        .or_else(|| micros(bytes))
        .map(ServerTime)
}

fn gtids(row: Row<'_>, flavour: Flavour, cache: &mut GtidCache) -> GtidFacts {
    let mut told = GtidFacts::default();
    let mut unreadable = None;
    let mut read = |name: &str| {
        let bytes = row.bytes(&[name]);
        let bytes = *bytes.value()?;
        cache
            .read(bytes, flavour)
            .map_err(|text| unreadable = Some(text))
            .ok()
    };
    if flavour.is_mariadb() {
        told.executed = read("gtid_binlog_pos");
        told.applied = read("gtid_slave_pos");
    } else {
        told.executed = read("gtid_executed");
        told.purged = read("gtid_purged");
        told.applied = told.executed.clone();
    }
    told.binlog_state = row.text(&["gtid_binlog_state"]);
    told.unreadable = unreadable;
    told
}

#[cfg(test)]
mod tests {
    use super::super::captured::row;
    use super::*;

    const A: &str = "00000001-aaaa-11f0-8000-000000000000";

    #[test]
    fn a_replica_of_mysql_tells_who_it_is() {
        let executed = format!("{A}:1-770,\n00000002-aaaa-11f0-8000-000000000000:1");
        let rows = row(&[
            ("server_uuid", Some("00000002-aaaa-11f0-8000-000000000000")),
            ("server_id", Some("2")),
            ("hostname", Some("db2")),
            ("port", Some("3306")),
            ("read_only", Some("1")),
            ("super_read_only", Some("1")),
            ("innodb_read_only", Some("0")),
            ("gtid_mode", Some("ON")),
            ("gtid_executed", Some(&executed)),
            ("gtid_purged", Some("")),
            ("utc_now", Some("2026-11-29 19:18:29.252554")),
            ("local_now", Some("2026-11-30 03:18:29.252554")),
        ]);
        let told = facts(&rows, Flavour::MySql, &mut GtidCache::default()).expect("facts");
        assert_eq!(told.identity.server_id, Some(2));
        assert_eq!(told.identity.super_read_only, Some(true));
        assert_eq!(told.identity.innodb_read_only, Some(false));
        assert_eq!(told.identity.utc_offset, Some(Span::from_secs(8 * 3600)));
        assert_eq!(told.now, Some(ServerTime(1_795_979_909_252_554)));
        assert_eq!(told.gtid.executed, told.gtid.applied);
        assert!(told.gtid.purged.is_some_and(|set| set.is_empty()));
        assert_eq!(told.gtid.unreadable, None);
    }

    #[test]
    fn r17_a_set_that_cannot_be_read_is_kept_and_not_taken_for_empty() {
        let rows = row(&[("gtid_executed", Some("0-1-15"))]);
        let told = facts(&rows, Flavour::MySql, &mut GtidCache::default()).expect("facts");
        assert_eq!(told.gtid.executed, None);
        assert_eq!(told.gtid.unreadable.as_deref(), Some("0-1-15"));
    }

    #[test]
    fn r18_mariadb_has_positions_and_no_super_read_only() {
        let rows = row(&[
            ("read_only", Some("NO_LOCK_NO_ADMIN")),
            ("gtid_binlog_pos", Some("0-1-15")),
            ("gtid_slave_pos", Some("0-1-14")),
            ("gtid_binlog_state", Some("0-2-7,0-1-15")),
        ]);
        let told = facts(&rows, Flavour::MariaDb, &mut GtidCache::default()).expect("facts");
        assert_eq!(told.identity.read_only, Some(true));
        assert_eq!(told.identity.super_read_only, None);
        let text = |set: Option<Gtids>| set.map(|set| set.to_string());
        assert_eq!(text(told.gtid.executed).as_deref(), Some("0-1-15"));
        assert_eq!(text(told.gtid.applied).as_deref(), Some("0-1-14"));
        assert_eq!(told.gtid.binlog_state.as_deref(), Some("0-2-7,0-1-15"));
    }

    #[test]
    fn the_same_text_is_read_once() {
        let mut cache = GtidCache::default();
        for n in 1..10 {
            let text = format!("{A}:1-{n}");
            assert!(cache.read(text.as_bytes(), Flavour::MySql).is_ok());
            assert!(cache.read(text.as_bytes(), Flavour::MySql).is_ok());
        }
        assert_eq!(cache.known.len(), 4);
    }
}
