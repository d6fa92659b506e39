//! The journal: every change of state, once, with its time.

use std::collections::VecDeque;

use crate::model::finding::{Severity, Subject};
use crate::model::phrase::Phrase;
use crate::model::time::Moment;

const ENTRIES: usize = 10_000;

/// One change of state.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub at: Moment,
    pub subject: Subject,
    /// The server's name, so that the entry can be read after the server is gone.
    pub server: Option<String>,
    pub kind: EntryKind,
    pub text: Phrase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Raised(Severity),
    Cleared,
    /// A link came up or went down, a role changed.
    Changed,
    /// A fault of the lab began or ended.
    Fault,
}

/// The newest entries, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    entries: VecDeque<Entry>,
}

impl Journal {
    pub fn write(&mut self, entry: Entry) {
        self.entries.push_back(entry);
        if self.entries.len() > ENTRIES {
            self.entries.pop_front();
        }
    }

    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    pub fn last(&self) -> Option<&Entry> {
        self.entries.back()
    }

    /// Entries between two instants, for the marks on a plot.
    pub fn between(&self, from: Moment, to: Moment) -> impl Iterator<Item = &Entry> {
        let start = self.entries.partition_point(|entry| entry.at < from);
        self.entries
            .range(start..)
            .take_while(move |entry| entry.at <= to)
    }
}
