//! What a server can say to a statement, and the bytes it says it with.

use super::SessionState;
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

/// As MySQL's own table of errors has them.
fn state_of(code: u16) -> &'static str {
    match code {
        1329 => "02000",
        1040 | 1251 => "08004",
        1043 | 1047 | 1053 | 1080 | 1081 | 1152..=1161 | 1184 | 1189 | 1190 | 1218 => "08S01",
        1235 | 1314 | 1336 | 1415 => "0A000",
        1136 => "21S01",
        1222 | 1241 | 1242 => "21000",
        1406 => "22001",
        1264 | 1416 | 1690 => "22003",
        1138 | 1263 => "22004",
        1292 | 1367 => "22007",
        1441 => "22008",
        1365 => "22012",
        1022 | 1048 | 1052 | 1062 | 1169 | 1216 | 1217 | 1451 | 1452 | 1557 | 1586 | 1859 => {
            "23000"
        }
        1179 | 1207 => "25000",
        1568 => "25001",
        1792 => "25006",
        1045 | 1698 => "28000",
        1046 => "3D000",
        1213 | 1613 => "40001",
        1044
        | 1049
        | 1055..=1059
        | 1061
        | 1063..=1075
        | 1090
        | 1091
        | 1101..=1107
        | 1110
        | 1112
        | 1113
        | 1115
        | 1118
        | 1120
        | 1121
        | 1131..=1133
        | 1139..=1145
        | 1147..=1149
        | 1162..=1164
        | 1166
        | 1167
        | 1170..=1173
        | 1176..=1178
        | 1203
        | 1211
        | 1226
        | 1227
        | 1230..=1232
        | 1234
        | 1239
        | 1248
        | 1250
        | 1252
        | 1253
        | 1286
        | 1304
        | 1305
        | 1318
        | 1370
        | 1403
        | 1407
        | 1410
        | 1425..=1427
        | 1463
        | 1582..=1584
        | 1630
        | 1701 => "42000",
        1050 => "42S01",
        1051 | 1109 | 1146 => "42S02",
        1060 => "42S21",
        1054 | 1247 => "42S22",
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
    pub state: SessionState,
    /// Further results of the same command follow.
    pub more: bool,
}

impl Manner {
    fn status(self) -> u16 {
        const IN_TRANSACTION: u16 = 0x1;
        const AUTOCOMMIT: u16 = 0x2;
        const MORE_RESULTS_EXISTS: u16 = 0x8;
        let flags = [
            (self.state.is_in_transaction, IN_TRANSACTION),
            (self.state.is_autocommit, AUTOCOMMIT),
            (self.more, MORE_RESULTS_EXISTS),
        ];
        let set = flags.iter().filter(|(is, _)| *is);
        set.fold(0, |status, (_, flag)| status | flag)
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
    let end = eof_packet(answer.warnings, manner);
    std::iter::once(column_count_packet(answer.columns.len()))
        .chain((0..answer.columns.len()).map(|at| {
            let values = answer
                .rows
                .iter()
                .filter_map(move |row| row.get(at)?.as_deref());
            column_packet(
                &answer.columns[at],
                decimals(answer.columns[at].kind, values),
            )
        }))
        .chain(std::iter::once(end.clone()))
        .chain(answer.rows.iter().map(|row| row_packet(row)))
        .chain(std::iter::once(end))
}

pub(super) fn column_count_packet(count: usize) -> Vec<u8> {
    let mut packet = Vec::new();
    put_int(&mut packet, count as u64);
    packet
}

pub(super) fn eof_packet(warnings: u16, manner: Manner) -> Vec<u8> {
    let mut packet = vec![0xfe];
    packet.extend(warnings.to_le_bytes());
    packet.extend(manner.status().to_le_bytes());
    packet
}

/// The columns of a table as COM_FIELD_LIST answers: each with a default value, which is not told here.
pub(super) fn field_packets(columns: &[Column], manner: Manner) -> Vec<Vec<u8>> {
    let told = |column| column_packet(column, decimals(column.kind, std::iter::empty()));
    let mut packets: Vec<Vec<u8>> = columns.iter().map(told).collect();
    for packet in &mut packets {
        packet.push(0xfb);
    }
    packets.push(eof_packet(0, manner));
    packets
}

/// Digits after the point, as the first value has them. The C library cuts dates and times off there.
pub(super) fn decimals<'a>(kind: ColumnKind, mut values: impl Iterator<Item = &'a [u8]>) -> u8 {
    const NOT_FIXED: u8 = 31;
    match kind {
        ColumnKind::Double => NOT_FIXED,
        ColumnKind::Timestamp | ColumnKind::DateTime | ColumnKind::NewDecimal => {
            let value = values.next().unwrap_or_default();
            let after_point = value.iter().rev().position(|byte| *byte == b'.');
            after_point.map_or(0, |digits| digits.min(30) as u8)
        }
        _ => 0,
    }
}

pub(super) fn column_packet(column: &Column, decimals: u8) -> Vec<u8> {
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
    packet.extend([decimals, 0, 0]); // and filler
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

    fn manner(session_track: bool) -> Manner {
        Manner {
            session_track,
            state: SessionState::default(),
            more: false,
        }
    }

    #[test]
    fn digits_after_the_point_are_told_as_the_first_value_has_them() {
        for (kind, values, wanted) in [
            (
                ColumnKind::DateTime,
                vec![&b"2026-11-30 01:02:03.000004"[..]],
                6,
            ),
            (ColumnKind::DateTime, vec![b"2026-11-30 01:02:03"], 0),
            (ColumnKind::NewDecimal, vec![b"-12.50", b"7"], 2),
            (ColumnKind::NewDecimal, vec![], 0),
            (ColumnKind::Double, vec![b"1.5"], 31),
            (ColumnKind::VarString, vec![b"1.5"], 0),
        ] {
            assert_eq!(
                decimals(kind, values.iter().copied()),
                wanted,
                "{kind:?} {values:?}"
            );
        }
    }

    #[test]
    fn a_transaction_shows_in_the_state_of_every_answer() {
        let state = SessionState {
            is_in_transaction: true,
            is_autocommit: false,
        };
        let manner = Manner {
            state,
            more: true,
            ..manner(false)
        };
        assert_eq!(ok_packet(&Done::default(), manner)[3..5], [0x9, 0]);
    }

    #[test]
    fn an_own_gtid_travels_as_a_real_server_sends_it() {
        // Captured from MySQL 9.7: OK after COMMIT with session_track_gtids=OWN_GTID.
        let gtid = "00000001-aaaa-11f0-8000-000000000000:708";
        let done = Done::with_changes([SessionChange::Gtids(gtid.into())]);
        let mut wanted = vec![0, 0, 0, 0x02, 0x40, 0, 0, 0, 0x2c, 3, 0x2a, 0, 0x28];
        wanted.extend(gtid.as_bytes());
        assert_eq!(ok_packet(&done, manner(true)), wanted);
    }

    #[test]
    fn a_client_that_did_not_ask_hears_nothing_of_session_changes() {
        let done = Done::with_changes([SessionChange::Schema("shop".into())]);
        assert_eq!(ok_packet(&done, manner(false)), [0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn an_error_in_place_of_the_greeting_has_no_sqlstate() {
        let error = SqlError::new(1040, "full");
        assert_eq!(early_error_packet(&error), b"\xff\x10\x04full");
        assert_eq!(error_packet(&error), b"\xff\x10\x04#08004full");
    }
}
