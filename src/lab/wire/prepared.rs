//! Prepared statements: the parameters go back into the statement's text, and rows travel in the binary form.
//!
//! Sessions know text only. A statement's result columns are told with its execution, not with its preparation, as
//! servers do for SHOW; clients read them there.

use super::answer::{
    Column, ColumnKind, Manner, Rows, SqlError, Value, column_count_packet, column_packet,
    decimals, eof_packet,
};
use super::packet::{Fields, put_int, put_string};
use super::statements::{length_through, quoted_length};
use std::collections::HashMap;
use std::fmt::Write;

/// The statements that one client has prepared.
#[derive(Default)]
pub struct Statements {
    last_id: u32,
    prepared: HashMap<u32, Prepared>,
}

impl Statements {
    pub fn prepare(&mut self, text: &str) -> (u32, &Prepared) {
        self.last_id += 1;
        let prepared = self
            .prepared
            .entry(self.last_id)
            .insert_entry(Prepared::new(text));
        (self.last_id, prepared.into_mut())
    }

    pub fn get(&mut self, id: u32) -> Option<&mut Prepared> {
        self.prepared.get_mut(&id)
    }

    pub fn close(&mut self, id: u32) {
        self.prepared.remove(&id);
    }

    pub fn clear(&mut self) {
        self.prepared.clear();
    }
}

/// Text between parameters, and what is known of the parameters.
#[derive(Debug)]
pub struct Prepared {
    /// One more than there are parameters.
    pieces: Vec<String>,
    /// Type and sign of each parameter; clients may say them once for several executions.
    types: Vec<(u8, bool)>,
    /// Values sent ahead in pieces.
    long: HashMap<u16, Vec<u8>>,
}

impl Prepared {
    pub fn new(text: &str) -> Self {
        Prepared {
            pieces: pieces(text),
            types: Vec::new(),
            long: HashMap::new(),
        }
    }

    pub fn parameters(&self) -> u16 {
        u16::try_from(self.pieces.len() - 1).unwrap_or(u16::MAX)
    }

    /// A piece of a parameter's value, sent ahead of the execution.
    pub fn add_long(&mut self, parameter: u16, bytes: &[u8]) {
        self.long.entry(parameter).or_default().extend(bytes);
    }

    pub fn forget_long(&mut self) {
        self.long.clear();
    }

    /// The statement as text with the values of this execution. `None`: the packet cannot be read.
    pub fn text(&mut self, execution: &[u8]) -> Option<String> {
        let count = usize::from(self.parameters());
        let mut fields = Fields::of(execution);
        fields.bytes(1 + 4)?; // cursor wanted, number of iterations
        let mut values = Vec::with_capacity(count);
        if count > 0 {
            let nulls = fields.bytes(count.div_ceil(8))?;
            if fields.u8()? == 1 {
                let bytes = fields.bytes(2 * count)?;
                self.types = bytes.chunks(2).map(|t| (t[0], t[1] & 0x80 != 0)).collect();
            }
            for (at, (kind, unsigned)) in self.types.iter().copied().enumerate() {
                let is_null = nulls[at / 8] & (1 << (at % 8)) != 0;
                values.push(match self.long.remove(&(at as u16)) {
                    Some(bytes) => text_literal(&bytes),
                    None if is_null => "NULL".to_owned(),
                    None => literal(&mut fields, kind, unsigned)?,
                });
            }
        }
        self.filled(&values)
    }

    /// The statement with these literals in the places of its parameters. `None`: there are not as many.
    pub fn filled(&self, literals: &[String]) -> Option<String> {
        if literals.len() != self.pieces.len() - 1 {
            return None;
        }
        let mut text = self.pieces[0].clone();
        for (literal, piece) in literals.iter().zip(&self.pieces[1..]) {
            text += literal;
            text += piece;
        }
        Some(text)
    }
}

/// The text cut at each `?` outside quotes and comments.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match rest.as_bytes() {
            [b'?', ..] => {
                pieces.push(String::new());
                rest = &rest[1..];
                continue;
            }
            [quote @ (b'\'' | b'"' | b'`'), ..] => quoted_length(rest, *quote),
            [b'/', b'*', ..] => length_through(rest, "*/"),
            [b'-', b'-', b' ' | b'\t' | b'\n', ..] | [b'#', ..] => length_through(rest, "\n"),
            _ => c.len_utf8(),
        };
        if let Some(last) = pieces.last_mut() {
            last.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    pieces
}

/// A value of the binary form as an SQL literal. The numbers are the protocol's column types.
fn literal(fields: &mut Fields, kind: u8, unsigned: bool) -> Option<String> {
    let integer = |bytes: &[u8]| {
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0) && !unsigned;
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        if unsigned {
            u64::from_le_bytes(wide).to_string()
        } else {
            i64::from_le_bytes(wide).to_string()
        }
    };
    Some(match kind {
        0x01 => integer(fields.bytes(1)?),
        0x02 | 0x0d => integer(fields.bytes(2)?),
        0x03 | 0x09 => integer(fields.bytes(4)?),
        0x08 => integer(fields.bytes(8)?),
        0x04 => float(f32::from_le_bytes(fields.bytes(4)?.try_into().ok()?).into()),
        0x05 => float(f64::from_le_bytes(fields.bytes(8)?.try_into().ok()?)),
        0x06 => "NULL".to_owned(),
        0x07 | 0x0a | 0x0c => format!("'{}'", date_time(fields.sized()?)?),
        0x0b => format!("'{}'", time(fields.sized()?)?),
        _ => text_literal(fields.string()?),
    })
}

fn float(number: f64) -> String {
    if number.is_finite() {
        format!("{number:e}")
    } else {
        "NULL".to_owned()
    }
}

/// Bytes as an SQL literal: a text if they are one.
pub fn text_literal(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
        Err(_) => {
            let mut hex = String::from("x'");
            for byte in bytes {
                let _ = write!(hex, "{byte:02x}");
            }
            hex + "'"
        }
    }
}

fn date_time(bytes: &[u8]) -> Option<String> {
    let mut fields = Fields::of(bytes);
    if fields.is_empty() {
        return Some("0000-00-00 00:00:00".to_owned());
    }
    let (year, month, day) = (fields.u16()?, fields.u8()?, fields.u8()?);
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if !fields.is_empty() {
        let (hour, minute, second) = (fields.u8()?, fields.u8()?, fields.u8()?);
        let _ = write!(text, " {hour:02}:{minute:02}:{second:02}");
    }
    if !fields.is_empty() {
        let _ = write!(text, ".{:06}", fields.u32()?);
    }
    Some(text)
}

fn time(bytes: &[u8]) -> Option<String> {
    let mut fields = Fields::of(bytes);
    if fields.is_empty() {
        return Some("00:00:00".to_owned());
    }
    let sign = if fields.u8()? == 1 { "-" } else { "" };
    let days = u64::from(fields.u32()?);
    let (hour, minute, second) = (fields.u8()?, fields.u8()?, fields.u8()?);
    let hours = days * 24 + u64::from(hour);
    let mut text = format!("{sign}{hours:02}:{minute:02}:{second:02}");
    if !fields.is_empty() {
        let _ = write!(text, ".{:06}", fields.u32()?);
    }
    Some(text)
}

/// The answer to a preparation.
pub fn prepared_packets(id: u32, prepared: &Prepared, manner: Manner) -> Vec<Vec<u8>> {
    let mut packet = vec![0];
    packet.extend(id.to_le_bytes());
    packet.extend(0_u16.to_le_bytes()); // columns: told with the execution
    packet.extend(prepared.parameters().to_le_bytes());
    packet.extend([0, 0, 0]); // filler, warnings
    let mut packets = vec![packet];
    for _ in 0..prepared.parameters() {
        packets.push(column_packet(&Column::text("?"), 0));
    }
    if prepared.parameters() > 0 {
        packets.push(eof_packet(0, manner));
    }
    packets
}

/// The packets of a result set in the binary form, in order.
pub fn binary_rows_packets(answer: &Rows, manner: Manner) -> Vec<Vec<u8>> {
    let columns: Vec<Column> = answer
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| sendable(column, at, answer))
        .collect();
    let mut packets = vec![column_count_packet(columns.len())];
    packets.extend(columns.iter().enumerate().map(|(at, column)| {
        let values = answer.rows.iter().filter_map(|row| row.get(at)?.as_deref());
        column_packet(column, decimals(column.kind, values))
    }));
    packets.push(eof_packet(answer.warnings, manner));
    for row in &answer.rows {
        packets.push(row_packet(row, &columns));
    }
    packets.push(eof_packet(answer.warnings, manner));
    packets
}

/// A column whose values do not all read as its type travels as text: the bytes arrive as they are.
fn sendable(column: &Column, at: usize, answer: &Rows) -> Column {
    let values = answer.rows.iter().filter_map(|row| row.get(at)?.as_ref());
    let all_read = values
        .into_iter()
        .all(|value| encoded(value, column).is_some());
    let kind = if all_read {
        column.kind
    } else {
        ColumnKind::VarString
    };
    Column {
        kind,
        ..column.clone()
    }
}

fn row_packet(row: &[Value], columns: &[Column]) -> Vec<u8> {
    const FIRST_BIT: usize = 2;
    let mut packet = vec![0; 1 + (columns.len() + FIRST_BIT).div_ceil(8)];
    for (at, column) in columns.iter().enumerate() {
        let bytes = row.get(at).and_then(Option::as_ref);
        match bytes.and_then(|value| encoded(value, column)) {
            Some(bytes) => packet.extend(bytes),
            None => packet[1 + (at + FIRST_BIT) / 8] |= 1 << ((at + FIRST_BIT) % 8),
        }
    }
    packet
}

/// The binary form of a value's text, if it reads as the column's type.
fn encoded(value: &[u8], column: &Column) -> Option<Vec<u8>> {
    let text = || std::str::from_utf8(value).ok();
    let unsigned = column.flags & Column::UNSIGNED != 0;
    match column.kind {
        ColumnKind::LongLong if unsigned => {
            Some(text()?.parse::<u64>().ok()?.to_le_bytes().to_vec())
        }
        ColumnKind::LongLong => Some(text()?.parse::<i64>().ok()?.to_le_bytes().to_vec()),
        ColumnKind::Long if unsigned => Some(text()?.parse::<u32>().ok()?.to_le_bytes().to_vec()),
        ColumnKind::Long => Some(text()?.parse::<i32>().ok()?.to_le_bytes().to_vec()),
        ColumnKind::Double => Some(text()?.parse::<f64>().ok()?.to_le_bytes().to_vec()),
        ColumnKind::Timestamp | ColumnKind::DateTime => encoded_date_time(text()?),
        ColumnKind::Null => None,
        ColumnKind::NewDecimal | ColumnKind::Blob | ColumnKind::VarString => {
            let mut bytes = Vec::new();
            put_string(&mut bytes, value);
            Some(bytes)
        }
    }
}

/// `2026-01-02 03:04:05.000006`.
fn encoded_date_time(text: &str) -> Option<Vec<u8>> {
    let (date, time) = text.split_once(' ')?;
    let mut date = date.splitn(3, '-');
    let year: u16 = date.next()?.parse().ok()?;
    let (month, day): (u8, u8) = (date.next()?.parse().ok()?, date.next()?.parse().ok()?);
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut clock = clock.splitn(3, ':').map(str::parse::<u8>);
    let (hour, minute, second) = (
        clock.next()?.ok()?,
        clock.next()?.ok()?,
        clock.next()?.ok()?,
    );
    let micros: u32 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    let mut bytes = Vec::new();
    put_int(&mut bytes, 11);
    bytes.extend(year.to_le_bytes());
    bytes.extend([month, day, hour, minute, second]);
    bytes.extend(micros.to_le_bytes());
    Some(bytes)
}

pub fn unknown_statement(id: u32, asked: &str) -> SqlError {
    SqlError::new(
        1243,
        format!("Unknown prepared statement handler ({id}) given to {asked}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_question_marks_outside_quotes_and_comments_are_parameters() {
        for (text, wanted) in [
            ("SELECT 1", vec!["SELECT 1"]),
            ("SELECT ?", vec!["SELECT ", ""]),
            ("a ? '?' ? `?` \"?\"", vec!["a ", " '?' ", " `?` \"?\""]),
            ("/* ? */ ? -- ?\n ?", vec!["/* ? */ ", " -- ?\n ", ""]),
            (r"'it\'s ?' ?", vec![r"'it\'s ?' ", ""]),
            ("'北京?', ?", vec!["'北京?', ", ""]),
        ] {
            assert_eq!(pieces(text), wanted, "{text}");
        }
    }

    fn executed(text: &str, execution: &[u8]) -> Option<String> {
        let mut rest = vec![0, 1, 0, 0, 0];
        rest.extend(execution);
        Prepared::new(text).text(&rest)
    }

    #[test]
    fn values_go_back_into_the_text_as_literals() {
        for (bytes, wanted) in [
            (
                vec![
                    0, 1, 0x08, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                ],
                "-1",
            ),
            (
                vec![
                    0, 1, 0x08, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                ],
                "18446744073709551615",
            ),
            (vec![0, 1, 0x01, 0, 0xfe], "-2"),
            (
                vec![0, 1, 0xfd, 0, 4, b'a', b'\'', b'\\', b'b'],
                r"'a''\\b'",
            ),
            (vec![0, 1, 0xfc, 0, 2, 0xff, 0x01], "x'ff01'"),
            (vec![1, 1, 0xfd, 0], "NULL"),
            (vec![0, 1, 0x0c, 0, 4, 0xea, 0x07, 11, 30], "'2026-11-30'"),
            (
                vec![0, 1, 0x0c, 0, 7, 0xea, 0x07, 11, 30, 1, 2, 3],
                "'2026-11-30 01:02:03'",
            ),
            (
                vec![0, 1, 0x0b, 0, 8, 1, 1, 0, 0, 0, 2, 3, 4],
                "'-26:03:04'",
            ),
            (vec![0, 1, 0x05, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f], "1.5e0"),
        ] {
            assert_eq!(executed("?", &bytes).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn an_execution_cut_short_is_not_run() {
        let whole = [0, 1, 0x08, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        for length in 0..whole.len() {
            assert_eq!(executed("?", &whole[..length]), None, "{length}");
        }
        // types that were never said
        assert_eq!(executed("?", &[0, 0, 1]), None);
    }

    #[test]
    fn a_value_that_does_not_read_as_its_type_travels_as_text() {
        let answer = Rows::new(vec![Column::number("Behind"), Column::number("Fine")])
            .row([Some("ON"), Some("7")]);
        let kinds: Vec<ColumnKind> = (0..2)
            .map(|at| sendable(&answer.columns[at], at, &answer).kind)
            .collect();
        assert_eq!(kinds, [ColumnKind::VarString, ColumnKind::LongLong]);
    }

    #[test]
    fn nulls_are_marked_from_the_third_bit_on() {
        let columns = [Column::text("a"), Column::text("b")];
        let packet = row_packet(&[None, Some(b"x".to_vec())], &columns);
        assert_eq!(packet, [0, 0b100, 1, b'x']);
    }
}
