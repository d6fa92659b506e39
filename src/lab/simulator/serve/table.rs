//! Tables about the server: built row by row, shown by SHOW or read by SELECT.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::super::sql::{ColumnType, SystemColumn, TableData, Value};
use crate::lab::wire::{Column, ColumnKind, Rows};
use crate::model::time::ServerTime;

pub const TEXT: ColumnType = ColumnType::Text;
pub const INT: ColumnType = ColumnType::Int;
pub const BIGINT: ColumnType = ColumnType::BigUnsigned;
pub const STAMP: ColumnType = ColumnType::Timestamp(6);
pub const DATETIME: ColumnType = ColumnType::DateTime(0);

/// Names and types of the columns of a table about the server.
pub type Columns = [(&'static str, ColumnType)];

pub fn table(columns: &Columns, rows: Vec<Vec<Value>>) -> TableData {
    debug_assert!(
        rows.iter().all(|row| row.len() == columns.len()),
        "a row of another width under {columns:?}"
    );
    TableData {
        columns: columns
            .iter()
            .map(|(name, kind)| SystemColumn::new(name, *kind))
            .collect(),
        rows,
    }
}

/// For a client.
pub fn shown(table: TableData) -> Rows {
    Rows {
        columns: table
            .columns
            .iter()
            .map(|column| wire_column(&column.name, column.kind))
            .collect(),
        rows: table
            .rows
            .into_iter()
            .map(|row| row.into_iter().map(cell).collect())
            .collect(),
        warnings: 0,
    }
}

fn wire_column(name: &str, kind: ColumnType) -> Column {
    match kind {
        ColumnType::Int | ColumnType::BigInt => Column::number(name),
        ColumnType::BigUnsigned => Column::number(name).flagged(Column::UNSIGNED),
        ColumnType::DateTime(_) => Column {
            kind: ColumnKind::DateTime,
            ..Column::text(name)
        },
        ColumnType::Timestamp(_) => Column {
            kind: ColumnKind::Timestamp,
            ..Column::text(name)
        },
        ColumnType::Double => Column {
            kind: ColumnKind::Double,
            ..Column::number(name)
        },
        _ => Column::text(name),
    }
}

fn cell(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => None,
        Value::Int(number) => Some(number.to_string().into()),
        Value::Double(number) => Some(number.to_string().into()),
        Value::Text(text) => Some(text.into()),
        Value::Bytes(bytes) => Some(bytes),
    }
}

/// `2026-11-29 19:18:29.934913`, in a zone so many seconds east of UTC.
pub fn stamp(at: ServerTime, zone_secs: i32) -> String {
    civil(at, zone_secs)
        .strftime("%Y-%m-%d %H:%M:%S.%6f")
        .to_string()
}

/// The stamp that performance_schema has for "never".
pub fn stamp_or_zero(at: Option<ServerTime>, zone_secs: i32) -> Value {
    Value::Text(at.map_or_else(
        || "0000-00-00 00:00:00.000000".to_owned(),
        |at| stamp(at, zone_secs),
    ))
}

/// `2026-11-29 19:18:29`.
pub fn date_time(at: ServerTime, zone_secs: i32) -> String {
    civil(at, zone_secs)
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

/// `261129 19:19:17`, as the status of replication has it.
pub fn short_date_time(at: ServerTime, zone_secs: i32) -> String {
    civil(at, zone_secs).strftime("%y%m%d %H:%M:%S").to_string()
}

/// What no calendar holds is the epoch.
fn civil(at: ServerTime, zone_secs: i32) -> DateTime {
    let at = Timestamp::from_microsecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH);
    let zone = Offset::from_seconds(zone_secs).unwrap_or(Offset::UTC);
    zone.to_datetime(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_read_as_servers_write_them() {
        let at = ServerTime(1_764_444_709_934_913);
        assert_eq!(stamp(at, 0), "2025-11-29 19:31:49.934913");
        assert_eq!(date_time(at, 8 * 3600), "2025-11-30 03:31:49");
        assert_eq!(short_date_time(at, 0), "251129 19:31:49");
        assert_eq!(short_date_time(at, 8 * 3600), "251130 03:31:49");
        assert_eq!(
            stamp(ServerTime(951_827_696_000_001), 0),
            "2000-02-29 12:34:56.000001"
        );
    }
}
