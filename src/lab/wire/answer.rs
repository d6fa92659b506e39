//! What a server can say to a statement, and the bytes it says it with.

use super::packet::{put_int, put_string};
use std::time::Duration;

/// The answer to one statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Ok(Done),
    Rows(Rows),
    Err(SqlError),
    /// Never answers, like a frozen server: the client's own time limit has to end it.
    Silence,
    /// Closes the connection in the middle.
    Cut,
    /// Waits, then answers.
    After(Duration, Box<Answer>),
    /// Waits, then hands the same statement to the session again: for waits that end on a condition.
    AskAgain(Duration),
}

impl Answer {
    pub fn ok() -> Self {
        Answer::Ok(Done::default())
    }

    pub fn error(code: u16, message: impl Into<Vec<u8>>) -> Self {
        Answer::Err(SqlError::new(code, message))
    }

    pub fn after(self, wait: Duration) -> Self {
        Answer::After(wait, Box::new(self))
    }
}

impl From<Rows> for Answer {
    fn from(rows: Rows) -> Self {
        Answer::Rows(rows)
    }
}

impl From<SqlError> for Answer {
    fn from(error: SqlError) -> Self {
        Answer::Err(error)
    }
}

/// A statement without rows went well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    pub affected_rows: u64,
    pub last_insert_id: u64,
    pub warnings: u16,
    pub info: String,
    /// What changed in the session. Told only to clients that asked for session tracking.
    pub changes: Vec<SessionChange>,
}

impl Done {
    pub fn with_changes(changes: impl Into<Vec<SessionChange>>) -> Self {
        Done {
            changes: changes.into(),
            ..Done::default()
        }
    }
}

/// One entry of the session state that travels with an OK packet.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionChange {
    SystemVariable {
        name: String,
        value: String,
    },
    Schema(String),
    /// The GTIDs of the statement, as `session_track_gtids` asked for them.
    Gtids(String),
    /// A kind this program has no word for; clients must skip it.
    Other {
        kind: u8,
        data: Vec<u8>,
    },
}

/// An error as a server words it. The message is bytes: servers do send text that is not UTF-8.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlError {
    pub code: u16,
    /// SQLSTATE: five characters.
    pub state: &'static str,
    pub message: Vec<u8>,
}

impl SqlError {
    /// With the SQLSTATE that servers give this code.
    pub fn new(code: u16, message: impl Into<Vec<u8>>) -> Self {
        SqlError {
            code,
            state: state_of(code),
            message: message.into(),
        }
    }
}

fn state_of(code: u16) -> &'static str {
    match code {
        1040 => "08004",
        1043 | 1047 | 1053 | 1153 | 1156 => "08S01",
        1045 => "28000",
        1046 => "3D000",
        1044 | 1049 | 1064 | 1065 | 1142 | 1227 | 1305 => "42000",
        1054 => "42S22",
        1109 | 1146 => "42S02",
        1213 => "40001",
        1317 => "70100",
        _ => "HY000",
    }
}

/// One value as the text protocol carries it; `None` is NULL.
pub type Value = Option<Vec<u8>>;

#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
    pub warnings: u16,
}

impl Rows {
    pub fn new(columns: Vec<Column>) -> Self {
        Rows {
            columns,
            rows: Vec::new(),
            warnings: 0,
        }
    }

    /// No rows yet; every column is text.
    pub fn text(names: &[&str]) -> Self {
        Rows::new(names.iter().map(|name| Column::text(*name)).collect())
    }

    pub fn row<T: Into<Vec<u8>>>(mut self, values: impl IntoIterator<Item = Option<T>>) -> Self {
        self.rows.push(
            values
                .into_iter()
                .map(|value| value.map(Into::into))
                .collect(),
        );
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
    /// See the constants of this type.
    pub flags: u16,
    /// Collation number of the character set: 45 utf8mb4, 8 latin1, 63 binary.
    pub charset: u16,
}

impl Column {
    pub const NOT_NULL: u16 = 0x1;
    pub const UNSIGNED: u16 = 0x20;
    pub const BINARY: u16 = 0x80;

    pub fn text(name: impl Into<String>) -> Self {
        Column {
            name: name.into(),
            kind: ColumnKind::VarString,
            flags: 0,
            charset: 45,
        }
    }

    pub fn number(name: impl Into<String>) -> Self {
        Column {
            kind: ColumnKind::LongLong,
            flags: Column::BINARY,
            charset: 63,
            ..Column::text(name)
        }
    }

    pub fn flagged(mut self, flags: u16) -> Self {
        self.flags |= flags;
        self
    }
}

/// The column types that monitoring statements answer with, by their number in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ColumnKind {
    Long = 3,
    Double = 5,
    Null = 6,
    Timestamp = 7,
    LongLong = 8,
    DateTime = 12,
    NewDecimal = 246,
    Blob = 252,
    VarString = 253,
}

/// What the bytes depend on besides the answer itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub session_track: bool,
    /// Further results of the same command follow.
    pub more: bool,
}

impl Manner {
    fn status(self) -> u16 {
        const AUTOCOMMIT: u16 = 0x2;
        const MORE_RESULTS_EXISTS: u16 = 0x8;
        AUTOCOMMIT | if self.more { MORE_RESULTS_EXISTS } else { 0 }
    }
}

pub(super) fn ok_packet(done: &Done, manner: Manner) -> Vec<u8> {
    const SESSION_STATE_CHANGED: u16 = 0x4000;
    let tells_changes = manner.session_track && !done.changes.is_empty();
    let mut packet = vec![0];
    put_int(&mut packet, done.affected_rows);
    put_int(&mut packet, done.last_insert_id);
    let status = manner.status()
        | if tells_changes {
            SESSION_STATE_CHANGED
        } else {
            0
        };
    packet.extend(status.to_le_bytes());
    packet.extend(done.warnings.to_le_bytes());
    // Servers leave an empty text away unless changes follow it.
    if tells_changes || !done.info.is_empty() {
        put_string(&mut packet, done.info.as_bytes());
    }
    if tells_changes {
        put_string(
            &mut packet,
            &done
                .changes
                .iter()
                .flat_map(change_entry)
                .collect::<Vec<_>>(),
        );
    }
    packet
}

fn change_entry(change: &SessionChange) -> Vec<u8> {
    let mut data = Vec::new();
    let kind = match change {
        SessionChange::SystemVariable { name, value } => {
            put_string(&mut data, name.as_bytes());
            put_string(&mut data, value.as_bytes());
            0
        }
        SessionChange::Schema(name) => {
            put_string(&mut data, name.as_bytes());
            1
        }
        SessionChange::Gtids(gtids) => {
            data.push(0); // encoding: text
            put_string(&mut data, gtids.as_bytes());
            3
        }
        SessionChange::Other { kind, data: raw } => {
            data.clone_from(raw);
            *kind
        }
    };
    let mut entry = vec![kind];
    put_string(&mut entry, &data);
    entry
}

pub(super) fn error_packet(error: &SqlError) -> Vec<u8> {
    let mut packet = vec![0xff];
    packet.extend(error.code.to_le_bytes());
    packet.push(b'#');
    packet.extend(error.state.as_bytes());
    packet.extend(&error.message);
    packet
}

/// An error in place of the greeting: the client has not said yet that it knows SQLSTATEs, so none is sent.
pub(super) fn early_error_packet(error: &SqlError) -> Vec<u8> {
    let mut packet = vec![0xff];
    packet.extend(error.code.to_le_bytes());
    packet.extend(&error.message);
    packet
}

/// The packets of a result set, in order.
pub(super) fn rows_packets(answer: &Rows, manner: Manner) -> impl Iterator<Item = Vec<u8>> + '_ {
    let mut count = Vec::new();
    put_int(&mut count, answer.columns.len() as u64);
    let mut end = vec![0xfe];
    end.extend(answer.warnings.to_le_bytes());
    end.extend(manner.status().to_le_bytes());
    std::iter::once(count)
        .chain(answer.columns.iter().map(column_packet))
        .chain(std::iter::once(end.clone()))
        .chain(answer.rows.iter().map(|row| row_packet(row)))
        .chain(std::iter::once(end))
}

fn column_packet(column: &Column) -> Vec<u8> {
    let mut packet = Vec::new();
    put_string(&mut packet, b"def");
    for _schema_table_org_table in 0..3 {
        put_string(&mut packet, b"");
    }
    put_string(&mut packet, column.name.as_bytes());
    put_string(&mut packet, b"");
    packet.push(0x0c); // length of what follows
    packet.extend(column.charset.to_le_bytes());
    packet.extend(1024_u32.to_le_bytes()); // display width
    packet.push(column.kind as u8);
    packet.extend(column.flags.to_le_bytes());
    packet.extend([0, 0, 0]); // decimals, filler
    packet
}

fn row_packet(row: &[Value]) -> Vec<u8> {
    let mut packet = Vec::new();
    for value in row {
        match value {
            Some(bytes) => put_string(&mut packet, bytes),
            None => packet.push(0xfb),
        }
    }
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_gtid_travels_as_a_real_server_sends_it() {
        // Captured from MySQL 9.7: OK after COMMIT with session_track_gtids=OWN_GTID.
        let gtid = "00000001-aaaa-11f0-8000-000000000000:708";
        let done = Done::with_changes([SessionChange::Gtids(gtid.into())]);
        let mut wanted = vec![0, 0, 0, 0x02, 0x40, 0, 0, 0, 0x2c, 3, 0x2a, 0, 0x28];
        wanted.extend(gtid.as_bytes());
        assert_eq!(
            ok_packet(
                &done,
                Manner {
                    session_track: true,
                    more: false
                }
            ),
            wanted
        );
    }

    #[test]
    fn a_client_that_did_not_ask_hears_nothing_of_session_changes() {
        let done = Done::with_changes([SessionChange::Schema("shop".into())]);
        assert_eq!(
            ok_packet(
                &done,
                Manner {
                    session_track: false,
                    more: false
                }
            ),
            [0, 0, 0, 2, 0, 0, 0]
        );
    }

    #[test]
    fn an_error_in_place_of_the_greeting_has_no_sqlstate() {
        let error = SqlError::new(1040, "full");
        assert_eq!(early_error_packet(&error), b"\xff\x10\x04full");
        assert_eq!(error_packet(&error), b"\xff\x10\x04#08004full");
    }
}
