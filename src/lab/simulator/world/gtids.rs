//! The GTIDs of one server: which it has, which it gives out next.

use std::collections::BTreeMap;

use crate::model::gtid::{GtidPosition, GtidSet, Gtids, Interval, Sid, mariadb};

use super::settings::{Identity, Settings};
use super::transaction::{Gtid, NextGtid};

/// Adds one number to a set.
pub(super) fn add_to(set: &mut GtidSet, sid: Sid, number: u64) {
    if let Some(interval) = Interval::new(number, number) {
        set.union_with(&GtidSet::of(sid, interval));
    }
}

pub(super) fn is_in(set: &GtidSet, sid: &Sid, number: u64) -> bool {
    let intervals = set.intervals(sid);
    let after = intervals.partition_point(|x| x.first() <= number);
    after > 0 && intervals[after - 1].contains(number)
}

/// What a server has, or what a replica says it has: a set, or a position in each domain.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Having {
    MySql(GtidSet),
    MariaDb(BTreeMap<u32, mariadb::Gtid>),
}

impl Having {
    pub fn empty_like(&self) -> Having {
        match self {
            Having::MySql(_) => Having::MySql(GtidSet::new()),
            Having::MariaDb(_) => Having::MariaDb(BTreeMap::new()),
        }
    }

    pub fn has(&self, gtid: &Gtid) -> bool {
        match (self, gtid) {
            (Having::MySql(set), Gtid::MySql { sid, number }) => is_in(set, sid, *number),
            (Having::MariaDb(last), Gtid::MariaDb(gtid)) => last
                .get(&gtid.domain)
                .is_some_and(|have| have.sequence >= gtid.sequence),
            _ => false,
        }
    }

    pub fn add(&mut self, gtid: &Gtid) {
        match (self, gtid) {
            (Having::MySql(set), Gtid::MySql { sid, number }) => add_to(set, *sid, *number),
            (Having::MariaDb(last), Gtid::MariaDb(gtid)) => {
                last.insert(gtid.domain, *gtid);
            }
            _ => {}
        }
    }

    /// Whether anything in `other` is here.
    pub fn meets(&self, other: &Having) -> bool {
        match (self, other) {
            (Having::MySql(ours), Having::MySql(theirs)) => !ours.intersect(theirs).is_empty(),
            (Having::MariaDb(_), Having::MariaDb(theirs)) => {
                theirs.values().any(|gtid| self.has(&Gtid::MariaDb(*gtid)))
            }
            _ => false,
        }
    }

    /// Whether everything in `other` is here.
    pub fn contains(&self, other: &Having) -> bool {
        match (self, other) {
            (Having::MySql(ours), Having::MySql(theirs)) => ours.contains(theirs),
            (Having::MariaDb(ours), Having::MariaDb(theirs)) => theirs.values().all(|want| {
                ours.get(&want.domain)
                    .is_some_and(|have| have.sequence >= want.sequence)
            }),
            _ => false,
        }
    }

    pub fn union_with(&mut self, other: &Having) {
        match (self, other) {
            (Having::MySql(ours), Having::MySql(theirs)) => ours.union_with(theirs),
            (Having::MariaDb(ours), Having::MariaDb(theirs)) => {
                for gtid in theirs.values() {
                    let ahead = ours
                        .get(&gtid.domain)
                        .is_none_or(|have| have.sequence < gtid.sequence);
                    if ahead {
                        ours.insert(gtid.domain, *gtid);
                    }
                }
            }
            _ => {}
        }
    }

    pub fn gtids(&self) -> Gtids {
        match self {
            Having::MySql(set) => Gtids::MySql(set.clone()),
            Having::MariaDb(last) => {
                let position = GtidPosition::parse(&listed(last.values()));
                Gtids::MariaDb(position.expect("each domain once"))
            }
        }
    }
}

impl From<&Gtids> for Having {
    fn from(gtids: &Gtids) -> Having {
        match gtids {
            Gtids::MySql(set) => Having::MySql(set.clone()),
            Gtids::MariaDb(position) => {
                Having::MariaDb(position.iter().map(|gtid| (gtid.domain, gtid)).collect())
            }
        }
    }
}

/// What one server knows of GTIDs.
#[derive(Clone, Debug)]
pub(super) struct Book {
    /// `gtid_executed`; MariaDB: `gtid_slave_pos`.
    pub executed: Having,
    /// MySQL: not in the binary log any more.
    pub purged: Having,
    /// MySQL: the last number given out in each sequence, committed or not.
    given: BTreeMap<Sid, u64>,
    /// MariaDB: the last of each server in each domain, the most recent of a domain last.
    binlog_state: Vec<mariadb::Gtid>,
}

impl Book {
    pub fn new(identity: &Identity) -> Book {
        let empty = if identity.generation.flavour().is_mariadb() {
            Having::MariaDb(BTreeMap::new())
        } else {
            Having::MySql(GtidSet::new())
        };
        Book {
            executed: empty.clone(),
            purged: empty,
            given: BTreeMap::new(),
            binlog_state: Vec::new(),
        }
    }

    /// Gives out a name.
    pub fn next(&mut self, wish: NextGtid, identity: &Identity, settings: &Settings) -> Gtid {
        if let NextGtid::Given(gtid) = wish {
            return gtid;
        }
        match &self.executed {
            Having::MySql(executed) => {
                let sid = match wish {
                    NextGtid::AutomaticOf(sid) => sid,
                    _ => Sid::untagged(identity.uuid),
                };
                let given = self.given.entry(sid).or_default();
                *given = (*given).max(executed.last(&sid).unwrap_or(0)) + 1;
                let number = *given;
                Gtid::MySql { sid, number }
            }
            Having::MariaDb(_) => {
                let domain = match wish {
                    NextGtid::InDomain(domain) => domain,
                    _ => settings.gtid_domain_id,
                };
                Gtid::MariaDb(mariadb::Gtid {
                    domain,
                    server_id: identity.server_id,
                    sequence: self.highest(domain) + 1,
                })
            }
        }
    }

    /// MariaDB: whether strict mode refuses to write this one, and after which.
    pub fn out_of_order(&self, gtid: &Gtid) -> Option<mariadb::Gtid> {
        let Gtid::MariaDb(gtid) = gtid else {
            return None;
        };
        let last = self.last_logged(gtid.domain)?;
        (gtid.sequence <= last.sequence).then_some(last)
    }

    /// It is in the binary log.
    pub fn logged(&mut self, gtid: &Gtid) {
        if let Gtid::MariaDb(gtid) = gtid {
            let same = |g: &mariadb::Gtid| (g.domain, g.server_id) == (gtid.domain, gtid.server_id);
            self.binlog_state.retain(|g| !same(g));
            self.binlog_state.push(*gtid);
        }
    }

    /// It is committed. MariaDB: only what is copied moves `gtid_slave_pos`.
    pub fn committed(&mut self, gtid: &Gtid, is_copied: bool) {
        if is_copied || matches!(self.executed, Having::MySql(_)) {
            self.executed.add(gtid);
        }
    }

    /// Whether it has been applied here already, and is to be skipped.
    pub fn has(&self, gtid: &Gtid) -> bool {
        self.executed.has(gtid)
    }

    /// `gtid_current_pos`: also what was written here.
    pub fn current(&self, own_server_id: u32) -> Having {
        let mut current = self.executed.clone();
        if let Having::MariaDb(last) = &mut current {
            for gtid in &self.binlog_state {
                let ahead = last
                    .get(&gtid.domain)
                    .is_none_or(|have| have.sequence < gtid.sequence);
                if gtid.server_id == own_server_id && ahead {
                    last.insert(gtid.domain, *gtid);
                }
            }
        }
        current
    }

    /// `gtid_binlog_pos`; MySQL: everything executed.
    pub fn binlog_pos(&self) -> Having {
        match &self.executed {
            Having::MySql(_) => self.executed.clone(),
            Having::MariaDb(_) => Having::MariaDb(
                self.binlog_state
                    .iter()
                    .map(|gtid| (gtid.domain, *gtid))
                    .collect(),
            ),
        }
    }

    pub fn slave_pos_text(&self) -> String {
        self.executed.gtids().to_string()
    }

    pub fn binlog_state_text(&self) -> String {
        let mut sorted = self.binlog_state.clone();
        sorted.sort_by_key(|gtid| gtid.domain);
        listed(sorted.iter())
    }

    /// MariaDB: `SET GLOBAL gtid_binlog_state`.
    pub fn set_binlog_state(&mut self, state: &mariadb::BinlogState) {
        self.binlog_state = state.iter().collect();
    }

    /// `RESET BINARY LOGS AND GTIDS`; MariaDB keeps `gtid_slave_pos`.
    pub fn reset(&mut self) {
        self.given.clear();
        self.binlog_state.clear();
        self.purged = self.purged.empty_like();
        if matches!(self.executed, Having::MySql(_)) {
            self.executed = self.executed.empty_like();
        }
    }

    fn last_logged(&self, domain: u32) -> Option<mariadb::Gtid> {
        let of_domain = self.binlog_state.iter().filter(|g| g.domain == domain);
        of_domain.copied().max_by_key(|g| g.sequence)
    }

    fn highest(&self, domain: u32) -> u64 {
        let logged = self.last_logged(domain).map_or(0, |g| g.sequence);
        let copied = match &self.executed {
            Having::MariaDb(last) => last.get(&domain).map_or(0, |g| g.sequence),
            Having::MySql(_) => 0,
        };
        logged.max(copied)
    }
}

fn listed<'a>(gtids: impl Iterator<Item = &'a mariadb::Gtid>) -> String {
    let texts: Vec<String> = gtids
        .map(|g| format!("{}-{}-{}", g.domain, g.server_id, g.sequence))
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::gtid::Uuid;
    use crate::model::lab::Generation;

    fn identity(generation: Generation) -> Identity {
        Identity {
            generation,
            server_id: 1,
            uuid: Uuid::from_bytes([1; 16]),
            binlog_name: "binlog".into(),
            relay_log_name: "relay".into(),
        }
    }

    #[test]
    fn a_number_is_given_out_once_even_before_it_is_committed() {
        let identity = identity(Generation::MySql97);
        let settings = Settings::of(Generation::MySql97);
        let mut book = Book::new(&identity);
        let first = book.next(NextGtid::Automatic, &identity, &settings);
        let second = book.next(NextGtid::Automatic, &identity, &settings);
        assert_ne!(first, second);
        book.committed(&second, false);
        assert!(book.has(&second) && !book.has(&first));
    }

    #[test]
    fn mariadb_numbers_go_on_after_what_was_copied() {
        let identity = identity(Generation::MariaDb1011);
        let settings = Settings::of(Generation::MariaDb1011);
        let mut book = Book::new(&identity);
        let copied = Gtid::MariaDb(mariadb::Gtid {
            domain: 0,
            server_id: 9,
            sequence: 7,
        });
        book.logged(&copied);
        book.committed(&copied, true);
        let own = book.next(NextGtid::Automatic, &identity, &settings);
        assert_eq!(own.to_string(), "0-1-8");
        book.logged(&own);
        book.committed(&own, false);
        assert_eq!(book.slave_pos_text(), "0-9-7");
        assert_eq!(book.binlog_state_text(), "0-9-7,0-1-8");
        assert_eq!(book.current(1).gtids().to_string(), "0-1-8");
        assert_eq!(
            book.out_of_order(&copied).map(|g| g.sequence),
            Some(8),
            "strict mode refuses it"
        );
    }
}
