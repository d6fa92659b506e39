//! A session that says what it is told: for the servers of the lab, which are ours to break. Never opened to a server
//! that a person entered.

use std::time::Duration;

use crate::model::trouble::Trouble;

use super::connect::Dialer;
use super::queries::Question;
use super::session::Session;

/// One logged-in connection, with the server's own defaults.
pub struct Hand {
    session: Session,
}

/// A row's values in the order of the columns; `None` is NULL. Bytes that are not UTF-8 are replaced.
pub type Cells = Vec<Option<String>>;

/// The same with the names of the columns.
pub type NamedCells = Vec<(String, Option<String>)>;

/// What a statement came back with.
pub struct Reply {
    /// Empty: it was no table.
    pub columns: Vec<String>,
    pub rows: Vec<Cells>,
    /// Rows that were changed.
    pub changed: u64,
}

impl Hand {
    /// `limit`: how long any answer may take.
    pub fn open(dialer: &Dialer, limit: Duration) -> Result<Hand, Trouble> {
        let session = dialer.open_bare(limit)?;
        Ok(Hand { session })
    }

    /// The server's connection id.
    pub fn id(&self) -> u64 {
        self.session.id()
    }

    /// Out of step or gone: open another.
    pub fn is_spoiled(&self) -> bool {
        self.session.is_spoiled()
    }

    pub fn run(&mut self, sql: &str) -> Result<(), Trouble> {
        self.session.ask(Question::Lab, sql).map(drop)
    }

    pub fn rows(&mut self, sql: &str) -> Result<Vec<Cells>, Trouble> {
        let rows = self.session.ask(Question::Lab, sql)?;
        Ok(rows
            .cells
            .into_iter()
            .map(|row| row.into_iter().map(|cell| cell.map(text)).collect())
            .collect())
    }

    /// Each row with the names of its columns.
    pub fn named_rows(&mut self, sql: &str) -> Result<Vec<NamedCells>, Trouble> {
        let rows = self.session.ask(Question::Lab, sql)?;
        let names: Vec<String> = rows.columns.iter().map(|c| c.name.clone()).collect();
        Ok(rows
            .cells
            .into_iter()
            .map(|row| {
                names
                    .iter()
                    .cloned()
                    .zip(row.into_iter().map(|cell| cell.map(text)))
                    .collect()
            })
            .collect())
    }

    /// Everything that came back, for showing it.
    pub fn answer(&mut self, sql: &str) -> Result<Reply, Trouble> {
        let rows = self.session.ask(Question::Lab, sql)?;
        let columns = rows.columns.iter().map(|c| c.name.clone()).collect();
        let texts =
            |row: Vec<Option<Vec<u8>>>| row.into_iter().map(|cell| cell.map(text)).collect();
        Ok(Reply {
            columns,
            rows: rows.cells.into_iter().map(texts).collect(),
            changed: self.session.affected_rows(),
        })
    }

    /// The first value of the first row.
    pub fn value(&mut self, sql: &str) -> Result<Option<String>, Trouble> {
        let rows = self.rows(sql)?;
        Ok(rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next())
            .flatten())
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}
