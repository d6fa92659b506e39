//! An open transaction: what it changed, kept apart until it commits.

use std::sync::atomic::{AtomicU64, Ordering};

use super::outcome::RowChange;

/// The changes of a transaction so far. Its own statements see them, nobody else does until [`super::Database::commit`].
/// Dropping it is a rollback.
#[derive(Clone, Debug)]
pub struct Transaction {
    pub(super) id: u64,
    pub(super) changes: Vec<RowChange>,
    /// Where in `changes` each statement began.
    pub(super) statements: Vec<usize>,
    savepoints: Vec<(String, usize)>,
}

impl Transaction {
    pub fn begin() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Transaction {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            changes: Vec::new(),
            statements: Vec::new(),
            savepoints: Vec::new(),
        }
    }

    /// For `trx_rows_modified` and for what others would have to wait for.
    pub fn changes(&self) -> &[RowChange] {
        &self.changes
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn savepoint(&mut self, name: &str) {
        self.savepoints.retain(|(known, _)| !same(known, name));
        self.savepoints.push((name.to_owned(), self.changes.len()));
    }

    /// Takes back everything since; `false`: there is none of that name (1305 `SAVEPOINT x does not exist`).
    pub fn rollback_to(&mut self, name: &str) -> bool {
        let Some(place) = self.place(name) else {
            return false;
        };
        let length = self.savepoints[place].1;
        self.savepoints.truncate(place + 1);
        self.shorten(length);
        true
    }

    pub fn release(&mut self, name: &str) -> bool {
        let place = self.place(name);
        if let Some(place) = place {
            self.savepoints.truncate(place);
        }
        place.is_some()
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.savepoints
            .iter()
            .position(|(known, _)| same(known, name))
    }

    pub(super) fn shorten(&mut self, length: usize) {
        if length < self.changes.len() {
            self.changes.truncate(length);
            self.statements.retain(|began| *began < length);
            // What SQLite holds of the old one must not be taken for this.
            self.id = Transaction::begin().id;
        }
    }
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}
