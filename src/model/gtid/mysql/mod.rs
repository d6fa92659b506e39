//! MySQL's GTID sets: which transactions of which server have been executed, retrieved, purged.
//!
//! Numbers of one sequence ([`Sid`]) are kept as sorted intervals, all sequences one after the other in one vector, so
//! that reading a set costs two allocations and every operation walks both sides once, whatever the number of
//! transactions. Reading text is in `parse`.

mod parse;

use std::fmt;
use std::str::FromStr;

use super::error::GtidError;
use super::interval::{self, Interval};
use super::sid::{Sid, Uuid};

/// A set of transactions. Equal sets are equal values, however they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GtidSet {
    /// Sorted, each once.
    sequences: Vec<Sequence>,
    intervals: Vec<Interval>,
}

/// One sequence has the intervals from where the previous one ends to `end`; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sequence {
    sid: Sid,
    end: usize,
}

impl GtidSet {
    pub fn new() -> Self {
        GtidSet::default()
    }

    /// Transactions of one sequence.
    pub fn of(sid: Sid, interval: Interval) -> Self {
        GtidSet {
            sequences: vec![Sequence { sid, end: 1 }],
            intervals: vec![interval],
        }
    }

    /// Reads a set as servers print it and people paste it: `uuid:1-3:5:tag:1,uuid:7`.
    ///
    /// As the server does, it takes any white space around separators, any case, UUIDs with or without dashes or in
    /// braces, a UUID or tag repeated, intervals in any order and overlapping, superfluous commas; also the two
    /// characters `\n` that the mysql client prints for a newline. Stricter than the server, a UUID or a tag without an
    /// interval and an interval the wrong way round are refused, where the server silently reads nothing.
    /// Empty text is the empty set.
    pub fn parse(text: &str) -> Result<GtidSet, GtidError> {
        parse::parse(text)
    }

    pub fn is_empty(&self) -> bool {
        self.sequences.is_empty()
    }

    /// How many transactions; saturating (a single sequence can hold 2⁶³ − 2).
    pub fn count(&self) -> u64 {
        self.intervals
            .iter()
            .fold(0, |sum, x| sum.saturating_add(x.count()))
    }

    /// How many intervals; more than there are sequences means holes.
    pub fn interval_count(&self) -> usize {
        self.intervals.len()
    }

    /// Sequences in the server's order, each with its intervals, never none.
    pub fn iter(&self) -> impl Iterator<Item = (Sid, &[Interval])> {
        let mut start = 0;
        self.sequences.iter().map(move |sequence| {
            let intervals = &self.intervals[start..sequence.end];
            start = sequence.end;
            (sequence.sid, intervals)
        })
    }

    /// The intervals of one sequence; empty if it does not occur.
    pub fn intervals(&self, sid: &Sid) -> &[Interval] {
        match self.sequences.binary_search_by(|s| s.sid.cmp(sid)) {
            Ok(index) => {
                let start = index.checked_sub(1).map_or(0, |i| self.sequences[i].end);
                &self.intervals[start..self.sequences[index].end]
            }
            Err(_) => &[],
        }
    }

    /// The highest number of one sequence.
    pub fn last(&self, sid: &Sid) -> Option<u64> {
        self.intervals(sid).last().map(|x| x.last())
    }

    /// Whether everything in `other` is in this set.
    pub fn contains(&self, other: &GtidSet) -> bool {
        let mut ours = self.iter().peekable();
        other.iter().all(|(sid, theirs)| {
            while ours.next_if(|(s, _)| s.comes_before(&sid)).is_some() {}
            ours.peek()
                .is_some_and(|(s, whole)| *s == sid && interval::contains(whole, theirs))
        })
    }

    pub fn union(&self, other: &GtidSet) -> GtidSet {
        self.merge(other, Keep::BOTH, interval::union)
    }

    /// What is in this set and not in `other`.
    pub fn subtract(&self, other: &GtidSet) -> GtidSet {
        self.merge(other, Keep::OURS, interval::subtract)
    }

    pub fn intersect(&self, other: &GtidSet) -> GtidSet {
        self.merge(other, Keep::NEITHER, interval::intersect)
    }

    pub fn union_with(&mut self, other: &GtidSet) {
        if !self.contains(other) {
            *self = self.union(other);
        }
    }

    pub fn subtract_with(&mut self, other: &GtidSet) {
        if !other.is_empty() {
            *self = self.subtract(other);
        }
    }

    /// How many transactions of this set are not in `other`; the count of [`GtidSet::subtract`] without building it.
    pub fn missing_from(&self, other: &GtidSet) -> u64 {
        let mut theirs = other.iter().peekable();
        self.iter().fold(0, |sum: u64, (sid, ours)| {
            while theirs.next_if(|(s, _)| s.comes_before(&sid)).is_some() {}
            let theirs = theirs.peek().filter(|(s, _)| *s == sid);
            sum.saturating_add(interval::count_missing(ours, theirs.map_or(&[], |t| t.1)))
        })
    }

    /// The sequences of one server's UUID, tagged or not.
    pub fn only(&self, uuid: &Uuid) -> GtidSet {
        self.filter(|sid| sid.uuid == *uuid)
    }

    /// Everything but the sequences of one server's UUID, tagged or not.
    pub fn without(&self, uuid: &Uuid) -> GtidSet {
        self.filter(|sid| sid.uuid != *uuid)
    }

    pub fn filter(&self, keep: impl Fn(&Sid) -> bool) -> GtidSet {
        let mut kept = GtidSet::new();
        for (sid, intervals) in self.iter().filter(|(sid, _)| keep(sid)) {
            kept.append(sid, |out| out.extend_from_slice(intervals));
        }
        kept
    }

    /// The part above the last number `executed` has in each sequence: what is still to come, without the permanent
    /// holes below it that will never be filled.
    pub fn beyond(&self, executed: &GtidSet) -> GtidSet {
        let mut beyond = GtidSet::new();
        for (sid, intervals) in self.iter() {
            let last = executed.last(&sid).unwrap_or(0);
            beyond.append(sid, |out| interval::above(intervals, last, out));
        }
        beyond
    }

    /// What is missing between the first and the last number of each sequence. A hole that stays is a transaction that
    /// never came; with parallel appliers short-lived holes are normal.
    pub fn holes(&self) -> GtidSet {
        let mut holes = GtidSet::new();
        for (sid, intervals) in self.iter() {
            holes.append(sid, |out| interval::gaps(intervals, out));
        }
        holes
    }

    /// One UUID per line, as the server prints it.
    pub fn pretty(&self) -> String {
        Joined(self, ",\n").to_string()
    }

    /// Adds a sequence behind all others; nothing is added if `fill` adds no interval.
    fn append(&mut self, sid: Sid, fill: impl FnOnce(&mut Vec<Interval>)) {
        let start = self.intervals.len();
        fill(&mut self.intervals);
        let end = self.intervals.len();
        if end > start {
            self.sequences.push(Sequence { sid, end });
        }
    }

    /// Walks both sets once: sequences of one side are kept or not, sequences of both go through `combine`.
    fn merge(
        &self,
        other: &GtidSet,
        keep: Keep,
        combine: fn(&[Interval], &[Interval], &mut Vec<Interval>),
    ) -> GtidSet {
        let mut merged = GtidSet {
            sequences: Vec::with_capacity(self.sequences.len()),
            intervals: Vec::with_capacity(self.intervals.len()),
        };
        let mut theirs = other.iter().peekable();
        for (sid, ours) in self.iter() {
            while let Some((s, alone)) = theirs.next_if(|(s, _)| s.comes_before(&sid)) {
                if keep.theirs {
                    merged.append(s, |out| out.extend_from_slice(alone));
                }
            }
            match theirs.next_if(|(s, _)| *s == sid) {
                Some((_, same)) => merged.append(sid, |out| combine(ours, same, out)),
                None if keep.ours => merged.append(sid, |out| out.extend_from_slice(ours)),
                None => {}
            }
        }
        for (s, alone) in theirs.filter(|_| keep.theirs) {
            merged.append(s, |out| out.extend_from_slice(alone));
        }
        merged
    }
}

/// Which sequences a merge keeps that only one side has.
#[derive(Clone, Copy)]
struct Keep {
    ours: bool,
    theirs: bool,
}

impl Keep {
    const BOTH: Keep = Keep {
        ours: true,
        theirs: true,
    };
    const OURS: Keep = Keep {
        ours: true,
        theirs: false,
    };
    const NEITHER: Keep = Keep {
        ours: false,
        theirs: false,
    };
}

impl FromStr for GtidSet {
    type Err = GtidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        GtidSet::parse(text)
    }
}

/// One line, fit to send to a server.
impl fmt::Display for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Joined(self, ",").fmt(f)
    }
}

/// A set with what stands between two UUIDs.
struct Joined<'a>(&'a GtidSet, &'static str);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut previous = None;
        for (sid, intervals) in self.0.iter() {
            if previous == Some(sid.uuid) {
                write!(f, ":{}", sid.tag)?;
            } else {
                let separator = if previous.is_some() { self.1 } else { "" };
                write!(f, "{separator}{sid}")?;
            }
            previous = Some(sid.uuid);
            for x in intervals {
                if x.first() == x.last() {
                    write!(f, ":{}", x.first())?;
                } else {
                    write!(f, ":{}-{}", x.first(), x.last())?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
