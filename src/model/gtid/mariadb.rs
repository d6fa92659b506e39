//! MariaDB's GTIDs: `domain-server-sequence`, and positions that say how far a server got in each domain.
//!
//! Within a domain only the sequence number says what is older; the server id tells who wrote it and takes no part in
//! comparing (R18). So `0-99-2` is reached where `0-1-2` is, as `MASTER_GTID_WAIT` sees it.

use std::fmt;
use std::str::FromStr;

use super::error::{GtidError, GtidProblem};

/// One transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gtid {
    pub domain: u32,
    pub server_id: u32,
    pub sequence: u64,
}

/// The last transaction in each domain: `gtid_slave_pos`, `gtid_binlog_pos`, `gtid_current_pos`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GtidPosition {
    /// Sorted by domain, each once.
    gtids: Vec<Gtid>,
}

/// The last transaction of each server in each domain: `gtid_binlog_state`. The only trace of a foreign write on a
/// replica without `gtid_strict_mode`: positions look the same as the source's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BinlogState {
    /// In the server's order, which lists the most recent of a domain last.
    gtids: Vec<Gtid>,
}

/// How many transactions are missing in each domain, at most: numbers that were never given out (after `gtid_seq_no`
/// was set, or where two servers write into one domain) are counted with the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Domains with something missing, sorted.
    pub per_domain: Vec<DomainBehind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainBehind {
    pub domain: u32,
    /// Never 0.
    pub transactions: u64,
}

impl Behind {
    pub fn total(&self) -> u64 {
        self.per_domain
            .iter()
            .fold(0, |sum, d| sum.saturating_add(d.transactions))
    }
}

impl GtidPosition {
    /// Reads `0-1-100,1-2-50`; white space around numbers and superfluous commas are ignored, a domain named twice is
    /// an error as on the server (1943). Empty text is the empty position.
    pub fn parse(text: &str) -> Result<GtidPosition, GtidError> {
        let mut listed = list(text)?;
        listed.sort_by_key(|(gtid, _)| gtid.domain);
        if let Some(twice) = listed.windows(2).find(|w| w[0].0.domain == w[1].0.domain) {
            return Err(GtidError {
                problem: GtidProblem::DomainTwice,
                at: twice[1].1,
                text: text.to_owned(),
            });
        }
        Ok(GtidPosition {
            gtids: listed.into_iter().map(|(gtid, _)| gtid).collect(),
        })
    }

    pub fn is_empty(&self) -> bool {
        self.gtids.is_empty()
    }

    /// The last transaction of each domain, sorted by domain.
    pub fn iter(&self) -> impl Iterator<Item = Gtid> {
        self.gtids.iter().copied()
    }

    pub fn get(&self, domain: u32) -> Option<Gtid> {
        let index = self.gtids.binary_search_by_key(&domain, |gtid| gtid.domain);
        index.ok().map(|index| self.gtids[index])
    }

    /// Whether a server that is here has `wanted`: in each of its domains the sequence number has been reached. A
    /// domain this server has never seen is not reached. The empty position is reached everywhere: do not wait for it.
    pub fn reached(&self, wanted: &GtidPosition) -> bool {
        wanted
            .iter()
            .all(|want| self.sequence(want.domain) >= Some(want.sequence))
    }

    /// How many transactions this position lacks of `ahead`.
    pub fn behind(&self, ahead: &GtidPosition) -> Behind {
        let missing = |want: Gtid| {
            let have = self.sequence(want.domain).unwrap_or(0);
            let transactions = want.sequence.saturating_sub(have);
            let domain = want.domain;
            (transactions > 0).then_some(DomainBehind {
                domain,
                transactions,
            })
        };
        Behind {
            per_domain: ahead.iter().filter_map(missing).collect(),
        }
    }

    /// The domains in which something was written since `previous`: the new part, to wait for.
    pub fn delta(&self, previous: &GtidPosition) -> GtidPosition {
        let moved = |gtid: &Gtid| previous.sequence(gtid.domain) != Some(gtid.sequence);
        GtidPosition {
            gtids: self.iter().filter(moved).collect(),
        }
    }

    fn sequence(&self, domain: u32) -> Option<u64> {
        self.get(domain).map(|gtid| gtid.sequence)
    }
}

impl BinlogState {
    /// Reads `gtid_binlog_state`: as a position, but with a domain for each server that wrote into it.
    pub fn parse(text: &str) -> Result<BinlogState, GtidError> {
        Ok(BinlogState {
            gtids: list(text)?.into_iter().map(|(gtid, _)| gtid).collect(),
        })
    }

    pub fn is_empty(&self) -> bool {
        self.gtids.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = Gtid> {
        self.gtids.iter().copied()
    }

    /// `gtid_binlog_pos`: the most recent of each domain, which is not always the one with the highest number.
    pub fn position(&self) -> GtidPosition {
        let mut gtids: Vec<Gtid> = Vec::new();
        for gtid in self.iter() {
            match gtids.binary_search_by_key(&gtid.domain, |g| g.domain) {
                Ok(index) => gtids[index] = gtid,
                Err(index) => gtids.insert(index, gtid),
            }
        }
        GtidPosition { gtids }
    }

    /// How far a server's own writes got in a domain.
    pub fn last_of(&self, domain: u32, server_id: u32) -> Option<u64> {
        self.iter()
            .filter(|gtid| gtid.domain == domain && gtid.server_id == server_id)
            .map(|gtid| gtid.sequence)
            .max()
    }

    /// What servers wrote here that `other` has not from them: the last transaction of each, in this order.
    pub fn foreign_to(&self, other: &BinlogState) -> Vec<Gtid> {
        let foreign =
            |gtid: &Gtid| other.last_of(gtid.domain, gtid.server_id) < Some(gtid.sequence);
        self.iter().filter(foreign).collect()
    }
}

impl FromStr for GtidPosition {
    type Err = GtidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        GtidPosition::parse(text)
    }
}

impl FromStr for BinlogState {
    type Err = GtidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        BinlogState::parse(text)
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain, self.server_id, self.sequence)
    }
}

/// Without white space: MariaDB refuses `0-1-1 , 1-2-1`.
impl fmt::Display for GtidPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(&self.gtids, f)
    }
}

impl fmt::Display for BinlogState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(&self.gtids, f)
    }
}

fn write_list(gtids: &[Gtid], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, gtid) in gtids.iter().enumerate() {
        let separator = if index == 0 { "" } else { "," };
        write!(f, "{separator}{gtid}")?;
    }
    Ok(())
}

/// The GTIDs of a text in its order, each with where it stands.
fn list(text: &str) -> Result<Vec<(Gtid, usize)>, GtidError> {
    let mut listed = Vec::new();
    let mut start = 0;
    for item in text.split(',') {
        let end = start + item.len();
        if !item.trim_ascii().is_empty() {
            let at = end - item.trim_ascii_start().len();
            let gtid = one(item, start).map_err(|(problem, at)| GtidError {
                problem,
                at,
                text: text.to_owned(),
            })?;
            listed.push((gtid, at));
        }
        start = end + 1;
    }
    Ok(listed)
}

/// One GTID, or the problem and its place; `start` is where `item` stands in the whole text.
fn one(item: &str, start: usize) -> Result<Gtid, (GtidProblem, usize)> {
    let mut at = start;
    let mut numbers = [0; 3];
    let mut parts = item.split('-');
    for (number, largest) in numbers
        .iter_mut()
        .zip([u32::MAX.into(), u32::MAX.into(), u64::MAX])
    {
        let part = parts
            .next()
            .ok_or((GtidProblem::ExpectedDash, start + item.len()))?;
        let place = at + part.len() - part.trim_ascii_start().len();
        *number = decimal(part.trim_ascii(), largest).map_err(|problem| (problem, place))?;
        at += part.len() + 1;
    }
    let [domain, server_id, sequence] = numbers;
    match (
        parts.next(),
        u32::try_from(domain),
        u32::try_from(server_id),
    ) {
        (None, Ok(domain), Ok(server_id)) => Ok(Gtid {
            domain,
            server_id,
            sequence,
        }),
        _ => Err((GtidProblem::ExpectedComma, at - 1)),
    }
}

fn decimal(digits: &str, largest: u64) -> Result<u64, GtidProblem> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(GtidProblem::ExpectedNumber);
    }
    match digits.parse() {
        Ok(number) if number <= largest => Ok(number),
        _ => Err(GtidProblem::NumberOutOfRange),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> GtidPosition {
        GtidPosition::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn state(text: &str) -> BinlogState {
        BinlogState::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn r18_a_position_is_read_and_written_by_domain() {
        for (text, written) in [
            ("", ""),
            (" \n", ""),
            ("0-1-100,1-2-50", "0-1-100,1-2-50"),
            ("1-2-50,0-1-100", "0-1-100,1-2-50"),
            (" 0-1-100 ,\n\t1 - 2 - 50,\r\n", "0-1-100,1-2-50"),
            ("00-01-01", "0-1-1"),
            (
                "4294967295-4294967295-18446744073709551615",
                "4294967295-4294967295-18446744073709551615",
            ),
        ] {
            assert_eq!(at(text).to_string(), written, "{text:?}");
        }
    }

    #[test]
    fn r18_what_is_no_position_is_an_error_at_its_place() {
        use GtidProblem::*;
        for (text, place, problem) in [
            ("0-1", 3, ExpectedDash),
            ("7", 1, ExpectedDash),
            ("0-1-1-1", 5, ExpectedComma),
            ("0-1-", 4, ExpectedNumber),
            ("0--1", 2, ExpectedNumber),
            ("0-1-1, x-1-1", 7, ExpectedNumber),
            ("0-1-1;1-1-1", 4, ExpectedNumber),
            ("+0-1-1", 0, ExpectedNumber),
            ("0-1-é", 4, ExpectedNumber),
            ("4294967296-1-1", 0, NumberOutOfRange),
            ("0-4294967296-1", 2, NumberOutOfRange),
            ("0-1-18446744073709551616", 4, NumberOutOfRange),
            ("0-1-1, 0-2-2", 7, DomainTwice),
        ] {
            let error = GtidError {
                problem,
                at: place,
                text: text.to_owned(),
            };
            assert_eq!(GtidPosition::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn r18_reached_compares_the_sequence_number_within_a_domain() {
        for (here, wanted, reached) in [
            ("1-2-3", "1-3-1", true),
            ("1-2-3", "1-3-3", true),
            ("1-2-3", "1-2-4", false),
            ("0-1-100,1-2-50", "1-2-50", true),
            ("0-1-100,1-2-50", "0-1-100,1-2-51", false),
            ("0-1-100", "1-1-1", false),
            ("0-1-100", "1-1-0", false),
            ("", "0-1-1", false),
            ("0-1-1", "", true),
        ] {
            assert_eq!(
                at(here).reached(&at(wanted)),
                reached,
                "{here} reached {wanted}"
            );
        }
    }

    #[test]
    fn a_backlog_is_counted_per_domain() {
        let source = at("0-1-100,1-2-50,7-1-9");
        let behind = at("0-2-90,1-2-60,3-1-1").behind(&source);
        assert_eq!(
            behind.per_domain,
            [
                DomainBehind {
                    domain: 0,
                    transactions: 10
                },
                DomainBehind {
                    domain: 7,
                    transactions: 9
                },
            ]
        );
        assert_eq!(behind.total(), 19);
        assert_eq!(source.behind(&source), Behind::default());
        let end = u64::MAX;
        let far = at(&format!("0-1-{end},1-1-{end}"));
        assert_eq!(at("").behind(&far).total(), u64::MAX);
    }

    #[test]
    fn the_new_part_is_the_domains_that_moved() {
        let before = at("0-1-100,1-2-50");
        assert_eq!(
            at("0-1-101,1-2-50,2-1-1").delta(&before),
            at("0-1-101,2-1-1")
        );
        assert!(before.delta(&before).is_empty());
        // After RESET MASTER numbers begin again: that is a change, too.
        assert_eq!(at("0-1-1,1-2-50").delta(&before), at("0-1-1"));
    }

    /// As MariaDB 10.11.19 answered: after a write with `gtid_seq_no` 9000 on the replica, then another one.
    #[test]
    fn the_binlog_position_is_what_the_state_lists_last_in_a_domain() {
        for (listed, position) in [
            ("0-2-9000,0-1-6,3-1-1,7-1-1", "0-1-6,3-1-1,7-1-1"),
            ("0-1-6,0-2-9001,3-1-1,7-1-1", "0-2-9001,3-1-1,7-1-1"),
            ("0-2-77,0-1-79", "0-1-79"),
            ("", ""),
        ] {
            assert_eq!(state(listed).position(), at(position), "{listed}");
            assert_eq!(state(listed).to_string(), listed);
        }
    }

    #[test]
    fn a_foreign_write_shows_only_in_the_binlog_state() {
        let (replica, source) = (state("0-2-77,0-1-79"), state("0-1-79"));
        assert_eq!(replica.position(), source.position());
        let foreign: Vec<String> = replica
            .foreign_to(&source)
            .iter()
            .map(Gtid::to_string)
            .collect();
        assert_eq!(foreign, ["0-2-77"]);
        assert!(source.foreign_to(&replica).is_empty());
        assert!(replica.foreign_to(&state("0-2-80,0-1-79")).is_empty());
        assert_eq!(state("1-2-77").foreign_to(&state("0-2-99")).len(), 1);
    }
}
