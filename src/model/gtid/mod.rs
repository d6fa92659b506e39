//! GTID sets of MySQL and GTID positions of MariaDB: reading, writing and set algebra.
//!
//! The two share nothing but the name. A MySQL set says exactly which transactions a server has
//! (`uuid:1-50:tag:1-3`); a MariaDB position says how far it got in each domain (`0-1-100,1-2-50`). Which one a text is
//! comes from the server that sent it and is never guessed from the text (R18).
//!
//! - [`mysql::GtidSet`]: the sets, as sorted intervals; every operation is one walk along both sides.
//! - [`mariadb::GtidPosition`], [`mariadb::BinlogState`]: positions, and who wrote how far.
//! - [`errant`]: transactions a replica has and its source has not, with the guards against false alarms (R19).

mod error;
mod interval;
mod sid;

pub mod errant;
pub mod mariadb;
pub mod mysql;

#[cfg(test)]
mod properties;

use std::fmt;

use super::server::Flavour;

pub use error::{GtidError, GtidProblem};
pub use interval::{Interval, MAX_NUMBER};
pub use mariadb::GtidPosition;
pub use mysql::GtidSet;
pub use sid::{Sid, Tag, Uuid};

/// What one server says it has, in its own flavour.
///
/// Between the flavours nothing can be compared: such a question is answered "no" or "unknown", never with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gtids {
    MySql(GtidSet),
    MariaDb(GtidPosition),
}

impl Gtids {
    /// Reads what a server of that flavour said.
    pub fn parse(text: &str, flavour: Flavour) -> Result<Gtids, GtidError> {
        if flavour.is_mariadb() {
            GtidPosition::parse(text).map(Gtids::MariaDb)
        } else {
            GtidSet::parse(text).map(Gtids::MySql)
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Gtids::MySql(set) => set.is_empty(),
            Gtids::MariaDb(position) => position.is_empty(),
        }
    }

    /// Whether a server with this has everything in `other`: a superset in MySQL, all domains reached in MariaDB.
    pub fn contains(&self, other: &Gtids) -> bool {
        match (self, other) {
            (Gtids::MySql(ours), Gtids::MySql(theirs)) => ours.contains(theirs),
            (Gtids::MariaDb(ours), Gtids::MariaDb(theirs)) => ours.reached(theirs),
            _ => false,
        }
    }

    /// How many transactions of this are missing from `other` (`source.missing_from(&replica)` is the backlog);
    /// unknown between flavours. Exact in MySQL, at most that many in MariaDB (see [`GtidPosition::behind`]).
    pub fn missing_from(&self, other: &Gtids) -> Option<u64> {
        match (self, other) {
            (Gtids::MySql(ours), Gtids::MySql(theirs)) => Some(ours.missing_from(theirs)),
            (Gtids::MariaDb(ours), Gtids::MariaDb(theirs)) => Some(theirs.behind(ours).total()),
            _ => None,
        }
    }

    /// What is new here since `previous`; unknown between flavours.
    pub fn since(&self, previous: &Gtids) -> Option<Gtids> {
        match (self, previous) {
            (Gtids::MySql(now), Gtids::MySql(before)) => Some(Gtids::MySql(now.subtract(before))),
            (Gtids::MariaDb(now), Gtids::MariaDb(before)) => {
                Some(Gtids::MariaDb(now.delta(before)))
            }
            _ => None,
        }
    }
}

/// One line, as the server of that flavour takes it back.
impl fmt::Display for Gtids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gtids::MySql(set) => set.fmt(f),
            Gtids::MariaDb(position) => position.fmt(f),
        }
    }
}

impl From<GtidSet> for Gtids {
    fn from(set: GtidSet) -> Self {
        Gtids::MySql(set)
    }
}

impl From<GtidPosition> for Gtids {
    fn from(position: GtidPosition) -> Self {
        Gtids::MariaDb(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mysql(text: &str) -> Gtids {
        GtidSet::parse(text).expect("a GTID set").into()
    }

    fn mariadb(text: &str) -> Gtids {
        GtidPosition::parse(text).expect("a position").into()
    }

    const A: &str = "00021324-1111-1111-1111-111111111111";

    #[test]
    fn each_flavour_counts_what_is_missing_its_own_way() {
        let (source, replica) = (mysql(&format!("{A}:1-10")), mysql(&format!("{A}:1-4:9")));
        assert_eq!(source.missing_from(&replica), Some(5));
        assert!(source.contains(&replica) && !replica.contains(&source));
        assert_eq!(source.since(&replica), Some(mysql(&format!("{A}:5-8:10"))));

        let (source, replica) = (mariadb("0-1-10,1-1-3"), mariadb("0-9-4,1-1-3"));
        assert_eq!(source.missing_from(&replica), Some(6));
        assert!(source.contains(&replica) && !replica.contains(&source));
        assert_eq!(source.since(&replica), Some(mariadb("0-1-10")));
    }

    #[test]
    fn r18_between_the_flavours_nothing_is_known() {
        let (set, position) = (mysql(&format!("{A}:1-10")), mariadb("0-1-10"));
        assert_eq!(set.missing_from(&position), None);
        assert_eq!(position.missing_from(&set), None);
        assert_eq!(set.since(&position), None);
        assert!(!set.contains(&position) && !position.contains(&set));
    }

    #[test]
    fn r18_neither_flavour_reads_the_text_of_the_other() {
        for flavour in [Flavour::MySql, Flavour::Percona] {
            assert!(Gtids::parse("0-1-100,1-2-50", flavour).is_err());
            assert_eq!(Gtids::parse("", flavour), Ok(mysql("")));
        }
        assert!(Gtids::parse(&format!("{A}:1-10"), Flavour::MariaDb).is_err());
        assert_eq!(Gtids::parse("", Flavour::MariaDb), Ok(mariadb("")));
    }
}
