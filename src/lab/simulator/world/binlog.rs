//! The binary log of one server: files, positions, and which transactions may be applied side by side.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::model::time::ServerTime;

use super::gtids::Having;
use super::settings::Dependency;
use super::transaction::{Part, Touch, Transaction};

/// What every file begins with: its description and the GTIDs before it.
const FILE_HEADER_BYTES: u64 = 158;

/// As the server keeps at most of the rows' last writers.
const MOST_ROWS_REMEMBERED: usize = 25_000;

/// A place in the binary logs of one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// `binlog.000007`; 0 is no file.
    pub file: u32,
    pub at: u64,
}

/// A transaction in a binary log.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub transaction: Arc<Transaction>,
    /// Never starts anew, unlike what is shown ([`Binlog::shown_clock`]).
    pub sequence: u64,
    /// Everything up to this sequence number must be done before this one may start.
    pub last_committed: u64,
    /// On the clock of the server whose log this is.
    pub immediate_commit: ServerTime,
    pub start: Place,
    pub end: Place,
}

#[derive(Clone, Debug)]
pub(super) struct File {
    pub number: u32,
    pub size: u64,
    /// Sequence number of its first transaction, there or to come.
    pub first: u64,
    /// What was executed before it.
    pub before: Having,
    /// When something was last written to it, on the server's own clock.
    pub written: ServerTime,
}

#[derive(Debug)]
pub(super) struct Binlog {
    pub files: VecDeque<File>,
    /// Sequence numbers follow each other.
    entries: VecDeque<Entry>,
    next_sequence: u64,
    rows: HashMap<u64, u64>,
    /// Rows not remembered were written at this sequence number at the latest.
    rows_since: u64,
    /// Goes up with every RESET: sequence numbers of different logs are not to be compared.
    pub generation: u64,
}

impl Binlog {
    pub fn new(before: Having, now: ServerTime) -> Binlog {
        let mut binlog = Binlog {
            files: VecDeque::new(),
            entries: VecDeque::new(),
            next_sequence: 1,
            rows: HashMap::new(),
            rows_since: 0,
            generation: 0,
        };
        binlog.begin_file(1, before, now);
        binlog
    }

    pub fn place(&self) -> Place {
        let last = self.files.back();
        last.map_or(Place::default(), |file| Place {
            file: file.number,
            at: file.size,
        })
    }

    /// Of the last transaction written; 0 if there never was one.
    pub fn last_sequence(&self) -> u64 {
        self.next_sequence - 1
    }

    pub fn first_sequence(&self) -> u64 {
        self.next_sequence - self.entries.len() as u64
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn entry(&self, sequence: u64) -> Option<&Entry> {
        let index = sequence.checked_sub(self.first_sequence())?;
        self.entries.get(usize::try_from(index).ok()?)
    }

    /// Writes a transaction. `committed` is the sequence number up to which all was committed when this one was ready.
    pub fn append(
        &mut self,
        transaction: Arc<Transaction>,
        committed: u64,
        dependency: Dependency,
        immediate_commit: ServerTime,
    ) -> u64 {
        let sequence = self.next_sequence;
        let by_rows = self.last_writer(&transaction.touches, sequence);
        let last_committed = match dependency {
            Dependency::CommitOrder => committed,
            Dependency::WriteSet => committed.min(by_rows),
            Dependency::Optimistic => 0,
        };
        let file = self.files.back_mut().expect("there is always a file");
        let start = Place {
            file: file.number,
            at: file.size,
        };
        file.size += transaction.bytes;
        file.written = immediate_commit;
        let end = Place {
            file: file.number,
            at: file.size,
        };
        // In each file the clock starts anew: nothing of it starts before everything of the one before is done.
        let last_committed = last_committed.max(file.first - 1).min(sequence - 1);
        self.next_sequence += 1;
        self.entries.push_back(Entry {
            transaction,
            sequence,
            last_committed,
            immediate_commit,
            start,
            end,
        });
        sequence
    }

    pub fn rotate(&mut self, before: Having, now: ServerTime) {
        let number = self.files.back().map_or(1, |file| file.number + 1);
        // The old file ends with an event that names the new one.
        if let Some(file) = self.files.back_mut() {
            file.size += 44;
            file.written = now;
        }
        self.begin_file(number, before, now);
    }

    /// Forgets all files before this one. Returns what was in them.
    pub fn purge_to(&mut self, number: u32) -> Vec<Entry> {
        let mut gone = Vec::new();
        while self.files.len() > 1 && self.files[0].number < number {
            self.files.pop_front();
        }
        let first = self.files[0].first;
        while self.entries.front().is_some_and(|e| e.sequence < first) {
            gone.extend(self.entries.pop_front());
        }
        gone
    }

    /// `RESET BINARY LOGS AND GTIDS`.
    pub fn reset(&mut self, before: Having, now: ServerTime) {
        self.files.clear();
        self.entries.clear();
        self.rows.clear();
        self.rows_since = self.last_sequence();
        self.generation += 1;
        self.begin_file(1, before, now);
    }

    /// Where somebody must start to read who has this.
    pub fn start_for(&self, having: &Having) -> u64 {
        let enough = |file: &&File| having.contains(&file.before);
        let file = self.files.iter().rev().find(enough);
        file.map_or(self.first_sequence(), |file| {
            file.first.max(self.first_sequence())
        })
    }

    /// `last_committed` and `sequence_number` as shown: counted from the start of the file.
    pub fn shown_clock(&self, entry: &Entry) -> (u64, u64) {
        let file = self.files.iter().find(|f| f.number == entry.start.file);
        let before = file.map_or(0, |f| f.first - 1);
        (
            entry.last_committed.saturating_sub(before),
            entry.sequence - before,
        )
    }

    pub fn entries_of(&self, number: u32) -> impl Iterator<Item = &Entry> {
        let file = self.files.iter().find(|f| f.number == number);
        let first = file.map_or(u64::MAX, |f| f.first);
        let skip = first.saturating_sub(self.first_sequence());
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let entries = self.entries.iter().skip(skip);
        entries.take_while(move |e| e.start.file == number)
    }

    fn begin_file(&mut self, number: u32, before: Having, now: ServerTime) {
        self.files.push_back(File {
            number,
            size: FILE_HEADER_BYTES,
            first: self.next_sequence,
            before,
            written: now,
        });
    }

    /// Who wrote one of these rows last; and from now on it is `sequence`.
    fn last_writer(&mut self, touches: &[Touch], sequence: u64) -> u64 {
        let mut last = self.rows_since;
        let everything = touches
            .iter()
            .any(|touch| !matches!(touch.part, Part::Rows(_)));
        if touches.is_empty() || everything {
            self.rows.clear();
            self.rows_since = sequence;
            return sequence - 1;
        }
        for touch in touches {
            if let Part::Rows(keys) = &touch.part {
                let mut table = DefaultHasher::new();
                touch.table.hash(&mut table);
                let table = table.finish();
                for key in keys.iter() {
                    let before = self.rows.insert(table ^ key.rotate_left(17), sequence);
                    last = last.max(before.unwrap_or(0));
                }
            }
        }
        if self.rows.len() > MOST_ROWS_REMEMBERED {
            self.rows.clear();
            self.rows_since = sequence;
        }
        last
    }
}
