//! Reading answers. Every field of every row is optional whatever its metadata says (R03), found by name whatever its
//! case, under either of its spellings (R09); text that is not UTF-8 is kept readable (R43). Pure functions.

mod applier;
mod channel;
mod facts;
mod found;
mod heartbeat;
mod locks;
mod named;
mod number;
mod transactions;

#[cfg(test)]
pub mod captured;

pub use applier::{appliers, mariadb_appliers};
pub use channel::channels;
pub use facts::{Facts, GtidCache, facts};
pub use found::{
    binary_logs, binlog_snapshot, coordinates, dump_threads, events, found_replicas, platform_lag,
};
pub use heartbeat::{heartbeat, wall};
pub use locks::{add_waits_seen_in_states, lock_waits, statements, waits_seen_in_states};
pub use named::{named, semi_sync};
pub use number::micros;
pub use transactions::transactions;

use std::borrow::Cow;

use crate::model::replication::Field;
use crate::model::trouble::readable;

/// What of a column's metadata is ever looked at: for heartbeat stamps (R27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    DateTime { decimals: u8 },
    Timestamp { decimals: u8 },
    Integer,
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

/// A value as the text protocol brings it: bytes or NULL.
pub type Cell = Option<Vec<u8>>;

/// One result set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<Column>,
    pub cells: Vec<Vec<Cell>>,
}

impl Rows {
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.cells.iter().map(|cells| Row {
            columns: &self.columns,
            cells,
        })
    }

    pub fn first(&self) -> Option<Row<'_>> {
        self.iter().next()
    }

    /// The first cell of the first row, for statements that answer with one value.
    pub fn single(&self) -> Option<&[u8]> {
        self.cells.first()?.first()?.as_deref()
    }
}

/// One row of a result set.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    columns: &'a [Column],
    cells: &'a [Cell],
}

impl<'a> Row<'a> {
    /// The place of a column, under the first of its spellings that is there.
    pub fn place(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            self.columns
                .iter()
                .position(|column| column.name.eq_ignore_ascii_case(name))
        })
    }

    /// The bytes of a field, told apart from NULL and from "no such column".
    pub fn bytes(&self, names: &[&str]) -> Field<&'a [u8]> {
        match self.place(names).and_then(|at| self.cells.get(at)) {
            None => Field::Absent,
            Some(None) => Field::Null,
            Some(Some(bytes)) => Field::Value(bytes),
        }
    }

    /// Readable text; NULL and absent alike are `None`.
    pub fn text(&self, names: &[&str]) -> Option<String> {
        self.bytes(names).value().map(|bytes| readable(bytes))
    }

    /// Text that says something: empty counts as not told.
    pub fn filled(&self, names: &[&str]) -> Option<String> {
        self.text(names).filter(|text| !text.is_empty())
    }

    /// For comparing, without a copy where the text is UTF-8.
    pub fn word(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        match self.bytes(names) {
            Field::Value(bytes) => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        }
    }

    pub fn number<T: std::str::FromStr>(&self, names: &[&str]) -> Field<T> {
        match self.bytes(names) {
            Field::Absent => Field::Absent,
            Field::Null => Field::Null,
            Field::Unreadable(text) => Field::Unreadable(text),
            Field::Value(bytes) => std::str::from_utf8(bytes)
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .map_or_else(|| Field::Unreadable(readable(bytes)), Field::Value),
        }
    }

    /// A number where only "told" or "not told" matters.
    pub fn told<T: std::str::FromStr>(&self, names: &[&str]) -> Option<T> {
        match self.number(names) {
            Field::Value(number) => Some(number),
            _ => None,
        }
    }

    pub fn kind(&self, at: usize) -> ColumnKind {
        self.columns.get(at).map_or(ColumnKind::Other, |c| c.kind)
    }

    /// Every column with its value, in the server's order.
    pub fn raw(&self) -> Vec<(String, Option<String>)> {
        self.columns
            .iter()
            .zip(self.cells)
            .map(|(column, cell)| (column.name.clone(), cell.as_deref().map(readable)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::captured::row;
    use super::*;

    #[test]
    fn r09_columns_are_found_by_either_spelling_in_any_case() {
        let rows = row(&[("SECONDS_behind_Source", Some("95"))]);
        let row = rows.first().expect("a row");
        let names = ["Seconds_Behind_Source", "Seconds_Behind_Master"];
        assert_eq!(row.number::<i64>(&names), Field::Value(95));
        assert_eq!(row.number::<i64>(&["Seconds_Behind_Master"]), Field::Absent);
    }

    #[test]
    fn r03_null_absent_zero_and_nonsense_are_four_things() {
        let rows = row(&[("a", None), ("b", Some("0")), ("c", Some("soon"))]);
        let row = rows.first().expect("a row");
        assert_eq!(row.number::<i64>(&["a"]), Field::Null);
        assert_eq!(row.number::<i64>(&["b"]), Field::Value(0));
        assert_eq!(
            row.number::<i64>(&["c"]),
            Field::Unreadable("soon".to_owned())
        );
        assert_eq!(row.number::<i64>(&["d"]), Field::Absent);
    }

    #[test]
    fn r43_text_that_is_not_utf8_does_not_drop_the_row() {
        let mut rows = row(&[("Last_SQL_Error", Some("x"))]);
        rows.cells[0][0] = Some(vec![0x62, 0xAE, 0xE1, 0xBD]);
        let row = rows.first().expect("a row");
        assert_eq!(
            row.text(&["last_sql_error"]).as_deref(),
            Some("b\\xAE\\xE1\\xBD")
        );
    }
}
