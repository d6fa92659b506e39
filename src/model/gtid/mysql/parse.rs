//! The text of a MySQL GTID set, read as the server's `Gtid_set::add_gtid_text` reads it.

use super::super::error::{GtidError, GtidProblem};
use super::super::interval::{self, Interval, MAX_NUMBER};
use super::super::sid::{Sid, Tag, Uuid};
use super::{GtidSet, Sequence};

pub(super) fn parse(text: &str) -> Result<GtidSet, GtidError> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        at: 0,
    };
    reader.set().map_err(|problem| GtidError {
        problem,
        at: reader.at,
        text: text.to_owned(),
    })
}

/// Stands at the place where reading failed when a method returns a problem.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn set(&mut self) -> Result<GtidSet, GtidProblem> {
        let mut collected = Collected::default();
        loop {
            self.skip_space();
            while self.took(b',') {}
            if self.at == self.bytes.len() {
                return Ok(collected.into_set());
            }
            self.sequences_of_one_uuid(&mut collected)?;
            if self.at < self.bytes.len() && !self.took(b',') {
                return Err(GtidProblem::ExpectedComma);
            }
        }
    }

    /// `uuid:1-3:5:tag:1-2`; intervals after a tag belong to it until the next tag.
    fn sequences_of_one_uuid(&mut self, collected: &mut Collected) -> Result<(), GtidProblem> {
        let mut sid = Sid::untagged(self.uuid()?);
        if !self.took(b':') {
            return Err(GtidProblem::ExpectedColon);
        }
        let mut sequence_begins = true;
        loop {
            if let Some(tag) = self.tag()? {
                sid.tag = tag;
                sequence_begins = true;
                if !self.took(b':') {
                    return Err(GtidProblem::ExpectedColon);
                }
            }
            let interval = self.interval(sid.tag)?;
            if sequence_begins {
                collected.begin(sid);
                sequence_begins = false;
            }
            collected.push(interval);
            if !self.took(b':') {
                return Ok(());
            }
        }
    }

    fn uuid(&mut self) -> Result<Uuid, GtidProblem> {
        match Uuid::read(&self.bytes[self.at..]) {
            Ok((uuid, length)) => {
                self.at += length;
                self.skip_space();
                Ok(uuid)
            }
            Err(at) => {
                self.at += at;
                Err(GtidProblem::ExpectedUuid)
            }
        }
    }

    fn tag(&mut self) -> Result<Option<Tag>, GtidProblem> {
        let tag = Tag::read(&self.bytes[self.at..]).map_err(|_| GtidProblem::TagTooLong)?;
        Ok(tag.map(|(tag, length)| {
            self.at += length;
            self.skip_space();
            tag
        }))
    }

    fn interval(&mut self, tag: Tag) -> Result<Interval, GtidProblem> {
        let start = self.at;
        let expected = if tag.is_none() {
            GtidProblem::ExpectedNumberOrTag
        } else {
            GtidProblem::ExpectedNumber
        };
        let first = self.number(expected)?;
        let last = if self.took(b'-') {
            self.number(GtidProblem::ExpectedNumber)?
        } else {
            first
        };
        Interval::new(first, last).ok_or_else(|| {
            self.at = start;
            GtidProblem::ReversedInterval
        })
    }

    fn number(&mut self, expected: GtidProblem) -> Result<u64, GtidProblem> {
        let start = self.at;
        let mut number: u64 = 0;
        while let Some(digit) = self.digit() {
            // Grows no further once out of range, so that no length of text overflows it.
            if number <= MAX_NUMBER {
                number = number.saturating_mul(10).saturating_add(digit);
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(expected);
        }
        if number == 0 || number > MAX_NUMBER {
            self.at = start;
            return Err(GtidProblem::NumberOutOfRange);
        }
        self.skip_space();
        Ok(number)
    }

    fn digit(&self) -> Option<u64> {
        let byte = self.bytes.get(self.at)?;
        byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
    }

    /// Takes one separator and the white space behind it.
    fn took(&mut self, separator: u8) -> bool {
        let took = self.bytes.get(self.at) == Some(&separator);
        if took {
            self.at += 1;
            self.skip_space();
        }
        took
    }

    /// White space as the server knows it, and the escapes the mysql client prints for it in batch mode.
    fn skip_space(&mut self) {
        loop {
            match self.bytes[self.at..] {
                [b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C, ..] => self.at += 1,
                [b'\\', b'n' | b'r' | b't', ..] => self.at += 2,
                _ => return,
            }
        }
    }
}

/// Intervals in the order of the text. What a server prints is sorted already and becomes a set as it is.
#[derive(Default)]
struct Collected {
    /// Like the sequences of a set, but in any order and repeated.
    sequences: Vec<Sequence>,
    intervals: Vec<Interval>,
    /// Where the intervals of the last sequence begin.
    start: usize,
    out_of_order: bool,
}

impl Collected {
    fn begin(&mut self, sid: Sid) {
        if let Some(last) = self.sequences.last() {
            if last.sid == sid {
                return;
            }
            self.out_of_order |= !last.sid.comes_before(&sid);
        }
        self.start = self.intervals.len();
        self.sequences.push(Sequence {
            sid,
            end: self.start,
        });
    }

    fn push(&mut self, interval: Interval) {
        match self.intervals[self.start..].last() {
            Some(last) if interval.first() < last.first() => {
                self.out_of_order = true;
                self.intervals.push(interval);
            }
            _ => interval::push_joined(&mut self.intervals, self.start, interval),
        }
        if let Some(sequence) = self.sequences.last_mut() {
            sequence.end = self.intervals.len();
        }
    }

    fn into_set(self) -> GtidSet {
        let mut set = GtidSet {
            sequences: self.sequences,
            intervals: self.intervals,
        };
        if self.out_of_order {
            set = sorted(&set);
        }
        set
    }
}

/// A set out of sequences in any order, repeated, with intervals in any order.
fn sorted(unsorted: &GtidSet) -> GtidSet {
    let mut parts: Vec<(Sid, &[Interval])> = unsorted.iter().collect();
    parts.sort_by_key(|(sid, _)| *sid);
    let mut set = GtidSet::new();
    for same in parts.chunk_by(|a, b| a.0 == b.0) {
        let mut intervals: Vec<Interval> =
            same.iter().flat_map(|(_, part)| *part).copied().collect();
        intervals.sort_unstable();
        set.append(same[0].0, |out| {
            let start = out.len();
            for x in intervals {
                interval::push_joined(out, start, x);
            }
        });
    }
    set
}
