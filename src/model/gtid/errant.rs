//! Errant transactions: those a replica has and its source has not. A failover to such a replica would spread them, or
//! break the others once they are purged.
//!
//! The two servers cannot be read at the same instant, so a difference alone proves nothing. Three guards keep false
//! alarms away (R19):
//! 1. The replica is read *before* its source; the other way round, what was written in between looks errant.
//! 2. What the source itself wrote is left out: with semi-sync it is on the replica while the source still waits for the
//!    acknowledgement and does not show it.
//! 3. Only what two polls in a row found counts.

use std::collections::BTreeSet;

use super::mariadb::{BinlogState, Gtid, GtidPosition};
use super::mysql::GtidSet;
use super::sid::Uuid;

/// What one poll saw of a MySQL replica and of all that it replicates from.
#[derive(Clone, Copy, Debug)]
pub struct ErrantPoll<'a> {
    /// `gtid_executed` of the replica, read first.
    pub replica: &'a GtidSet,
    /// `gtid_executed` of its source, read after it; with several channels the union over the sources.
    pub source: &'a GtidSet,
    /// `server_uuid` of the source, of every source with several channels, and of their sources where known: whoever
    /// may be writing now.
    pub writers: &'a [Uuid],
}

/// Watches one MySQL replica for errant transactions, poll by poll.
#[derive(Clone, Debug, Default)]
pub struct ErrantWatch {
    /// Found by the previous poll; `None` if that one told nothing.
    found: Option<GtidSet>,
    writers: Vec<Uuid>,
}

impl ErrantWatch {
    pub fn new() -> Self {
        ErrantWatch::default()
    }

    /// The errant transactions known with this poll: found by it and by the one before. `None` until two polls in a row
    /// have seen the same sources: it cannot be told yet.
    pub fn poll(&mut self, seen: ErrantPoll<'_>) -> Option<GtidSet> {
        if self.writers != seen.writers {
            // After a role change the previous poll was held against another source.
            self.missed();
            self.writers = seen.writers.to_vec();
        }
        let found = seen
            .replica
            .subtract(seen.source)
            .filter(|sid| !seen.writers.contains(&sid.uuid));
        let errant = self.found.as_ref().map(|before| found.intersect(before));
        self.found = Some(found);
        errant
    }

    /// A poll that did not see both sides.
    pub fn missed(&mut self) {
        self.found = None;
    }
}

/// What one poll saw of a MariaDB replica and its source. MariaDB has no sets: of each server only the last transaction
/// is known, and of the transactions before it nothing.
#[derive(Clone, Copy, Debug)]
pub struct MariaDbErrantPoll<'a> {
    /// `gtid_binlog_state` of the replica, read first.
    pub replica: &'a BinlogState,
    /// `gtid_binlog_state` of its source, read after it.
    pub source: &'a BinlogState,
    /// `gtid_slave_pos` of the source: what it had taken over when it was a replica itself, or was set up from a copy.
    /// Its binary log need not know those servers, so nothing up to there is held against a replica.
    pub source_took_over: &'a GtidPosition,
    /// `server_id` of the source, and of its own source where known.
    pub writers: &'a [u32],
}

/// Watches one MariaDB replica for errant transactions, poll by poll.
#[derive(Clone, Debug, Default)]
pub struct MariaDbErrantWatch {
    found: Option<BTreeSet<(u32, u32)>>,
    writers: Vec<u32>,
}

impl MariaDbErrantWatch {
    pub fn new() -> Self {
        MariaDbErrantWatch::default()
    }

    /// The last errant transaction of each domain and server known with this poll; `None` while it cannot be told: before
    /// two polls in a row, or if the source has no binary log to compare with.
    pub fn poll(&mut self, seen: MariaDbErrantPoll<'_>) -> Option<Vec<Gtid>> {
        if self.writers != seen.writers {
            self.missed();
            self.writers = seen.writers.to_vec();
        }
        if seen.source.is_empty() {
            self.missed();
            return None;
        }
        let mut found = seen.replica.foreign_to(seen.source);
        found.retain(|gtid| {
            let took_over = seen.source_took_over.get(gtid.domain);
            !seen.writers.contains(&gtid.server_id)
                && took_over.is_none_or(|last| last.sequence < gtid.sequence)
        });
        let writer = |gtid: &Gtid| (gtid.domain, gtid.server_id);
        let before = self.found.replace(found.iter().map(writer).collect())?;
        found.retain(|gtid| before.contains(&writer(gtid)));
        Some(found)
    }

    /// A poll that did not see both sides.
    pub fn missed(&mut self) {
        self.found = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "ff8ecd9a-8f92-11ef-b369-733dd679dde6";
    const OTHER: &str = "00000002-aaaa-11f0-8000-000000000000";

    /// Feeds (replica, source) and tells what each poll answered; `$S` is the source's UUID, `$O` another.
    fn told(polls: &[(&str, &str)]) -> Vec<Option<String>> {
        let set = |text: &str| {
            let text = text.replace("$S", SOURCE).replace("$O", OTHER);
            GtidSet::parse(&text).unwrap_or_else(|error| panic!("{error}"))
        };
        let writers = [Uuid::parse(SOURCE).expect("a UUID")];
        let mut watch = ErrantWatch::new();
        let mut answers = Vec::new();
        for (replica, source) in polls {
            let errant = watch.poll(ErrantPoll {
                replica: &set(replica),
                source: &set(source),
                writers: &writers,
            });
            answers
                .push(errant.map(|set| set.to_string().replace(SOURCE, "$S").replace(OTHER, "$O")));
        }
        answers
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn r19_what_the_source_still_waits_for_is_not_errant() {
        let poll = ("$S:1-33", "$S:1-29");
        assert_eq!(told(&[poll, poll, poll]), [None, some(""), some("")]);
        let tagged = ("$S:1-29:app:1-3", "$S:1-29");
        assert_eq!(told(&[tagged, tagged]), [None, some("")]);
    }

    #[test]
    fn r19_errant_is_what_two_polls_in_a_row_found() {
        assert_eq!(
            told(&[
                ("$S:1-9,$O:1-5", "$S:1-9"),
                ("$S:1-9,$O:1-6", "$S:1-9"),
                ("$S:1-9,$O:1-6", "$S:1-9"),
                ("$S:1-9,$O:1-6", "$S:1-9,$O:1-6"),
            ]),
            [None, some("$O:1-5"), some("$O:1-6"), some("")]
        );
    }

    #[test]
    fn r19_what_the_source_shows_a_poll_later_was_never_errant() {
        assert_eq!(
            told(&[
                ("$O:1-7", "$O:1-6"),
                ("$O:1-8", "$O:1-7"),
                ("$O:1-9", "$O:1-8"),
            ]),
            [None, some(""), some("")]
        );
    }

    #[test]
    fn r19_a_missed_poll_or_another_source_starts_over() {
        let replica: GtidSet = format!("{OTHER}:1").parse().expect("a set");
        let source: GtidSet = format!("{SOURCE}:1-9").parse().expect("a set");
        let writers = [Uuid::parse(SOURCE).expect("a UUID")];
        let seen = ErrantPoll {
            replica: &replica,
            source: &source,
            writers: &writers,
        };
        let mut watch = ErrantWatch::new();
        assert_eq!(watch.poll(seen), None);
        watch.missed();
        assert_eq!(watch.poll(seen), None);
        assert_eq!(watch.poll(seen), Some(replica.clone()));
        let elsewhere = [Uuid::from_bytes([7; 16])];
        let moved = ErrantPoll {
            writers: &elsewhere,
            ..seen
        };
        assert_eq!(watch.poll(moved), None);
        assert_eq!(watch.poll(moved), Some(replica.clone()));
    }

    /// Feeds (replica's state, source's state, source's slave position) with source 1.
    fn told_by_mariadb(polls: &[(&str, &str, &str)]) -> Vec<Option<String>> {
        let mut watch = MariaDbErrantWatch::new();
        let mut answers = Vec::new();
        for (replica, source, took_over) in polls {
            let errant = watch.poll(MariaDbErrantPoll {
                replica: &replica.parse().expect("a state"),
                source: &source.parse().expect("a state"),
                source_took_over: &took_over.parse().expect("a position"),
                writers: &[1],
            });
            let listed = |gtids: Vec<Gtid>| {
                let texts: Vec<String> = gtids.iter().map(Gtid::to_string).collect();
                texts.join(",")
            };
            answers.push(errant.map(listed));
        }
        answers
    }

    #[test]
    fn r19_on_mariadb_a_foreign_server_in_the_binlog_state_is_errant() {
        let poll = ("0-2-77,0-1-79", "0-1-79", "");
        assert_eq!(told_by_mariadb(&[poll, poll]), [None, some("0-2-77")]);
        // Still writing there: found twice, though the number moved on.
        let later = ("0-1-80,0-2-78", "0-1-80", "");
        assert_eq!(told_by_mariadb(&[poll, later]), [None, some("0-2-78")]);
    }

    #[test]
    fn r19_on_mariadb_the_source_own_writes_and_what_it_took_over_are_not_errant() {
        for quiet in [
            ("0-1-83", "0-1-79", ""),
            ("0-7-300,0-1-900", "0-1-900", "0-7-400"),
            ("0-2-77,0-1-79", "0-2-77,0-1-79", ""),
        ] {
            assert_eq!(
                told_by_mariadb(&[quiet, quiet]),
                [None, some("")],
                "{quiet:?}"
            );
        }
        let beyond = ("0-7-401,0-1-900", "0-1-900", "0-7-400");
        assert_eq!(told_by_mariadb(&[beyond, beyond]), [None, some("0-7-401")]);
    }

    #[test]
    fn r19_on_mariadb_a_source_without_binary_log_tells_nothing() {
        let poll = ("0-2-77,0-1-79", "", "");
        assert_eq!(told_by_mariadb(&[poll, poll, poll]), [None, None, None]);
    }
}
