//! SQLite's rows as the wire carries them.

use rusqlite::params_from_iter;
use rusqlite::types::{Value as SqliteValue, ValueRef};

use crate::lab::wire::{Column, ColumnKind, Rows};

use super::engine::Engine;
use super::functions::{double_text, number};
use super::problem::SqlProblem;
use super::value::{ColumnType, Value};

/// An answer is put together whole before the client gets it.
const MOST_BYTES: usize = 64 << 20;

/// What a value takes besides its text.
const CELL: usize = 24;

fn too_much() -> SqlProblem {
    SqlProblem::new(
        1104,
        "The SELECT would examine more than MAX_JOIN_SIZE rows, or rather: the lab's simulated servers give no answer of \
         more than 64 MB; use LIMIT",
    )
}

/// Runs a SELECT. `columns`: names and types as far as they are known before.
pub fn rows(
    engine: &Engine,
    sql: &str,
    binds: &[SqliteValue],
    columns: &[(String, Option<ColumnType>)],
) -> Result<Rows, SqlProblem> {
    let refused = |error: rusqlite::Error| engine.problem(&error, None);
    let mut statement = engine.connection.prepare_cached(sql).map_err(refused)?;
    let width = statement.column_count();
    let mut kinds: Vec<Option<ColumnType>> = columns.iter().map(|(_, kind)| *kind).collect();
    kinds.resize(width, None);
    let given = params_from_iter(binds.iter().take(statement.parameter_count()));
    let mut found = statement.query(given).map_err(refused)?;
    let mut rows = Vec::new();
    let mut bytes = 0;
    while let Some(row) = found.next().map_err(refused)? {
        let mut cells = Vec::with_capacity(width);
        for (place, kind) in kinds.iter_mut().enumerate() {
            let value = row.get_ref(place).map_err(refused)?;
            if kind.is_none() {
                *kind = kind_of(value);
            }
            let cell = cell(value, *kind);
            bytes += CELL + cell.as_ref().map_or(0, Vec::len);
            cells.push(cell);
        }
        if bytes > MOST_BYTES {
            return Err(too_much());
        }
        rows.push(cells);
    }
    let columns = columns
        .iter()
        .zip(kinds)
        .map(|((name, _), kind)| column(name, kind.unwrap_or(ColumnType::Text)));
    Ok(Rows {
        columns: columns.collect(),
        rows,
        warnings: 0,
    })
}

/// An answer that was put together here.
pub fn of_values(columns: &[(&str, ColumnType)], rows: Vec<Vec<Value>>) -> Rows {
    Rows {
        columns: columns
            .iter()
            .map(|(name, kind)| column(name, *kind))
            .collect(),
        rows: rows
            .into_iter()
            .map(|row| {
                row.iter()
                    .zip(columns)
                    .map(|(value, (_, kind))| cell(value_ref(value), Some(*kind)))
                    .collect()
            })
            .collect(),
        warnings: 0,
    }
}

fn value_ref(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Int(number) => ValueRef::Integer(*number),
        Value::Double(number) => ValueRef::Real(*number),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Bytes(bytes) => ValueRef::Blob(bytes),
    }
}

fn kind_of(value: ValueRef<'_>) -> Option<ColumnType> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(_) => Some(ColumnType::BigInt),
        ValueRef::Real(_) => Some(ColumnType::Double),
        ValueRef::Text(_) => Some(ColumnType::Text),
        ValueRef::Blob(_) => Some(ColumnType::Bytes),
    }
}

/// How the wire names a column's type.
pub fn column(name: &str, kind: ColumnType) -> Column {
    let number = |kind| Column {
        kind,
        ..Column::number(name)
    };
    match kind {
        ColumnType::Int => number(ColumnKind::Long),
        ColumnType::BigInt => number(ColumnKind::LongLong),
        ColumnType::BigUnsigned => number(ColumnKind::LongLong).flagged(Column::UNSIGNED),
        ColumnType::Double => number(ColumnKind::Double),
        ColumnType::Decimal { .. } => number(ColumnKind::NewDecimal),
        ColumnType::DateTime(_) => number(ColumnKind::DateTime),
        ColumnType::Timestamp(_) => number(ColumnKind::Timestamp),
        ColumnType::Null => number(ColumnKind::Null),
        ColumnType::Bytes => Column {
            charset: 63,
            ..Column::text(name)
        }
        .flagged(Column::BINARY),
        ColumnType::Text | ColumnType::Date | ColumnType::Time(_) => Column::text(name),
    }
}

fn cell(value: ValueRef<'_>, kind: Option<ColumnType>) -> Option<Vec<u8>> {
    if let (
        Some(ColumnType::Decimal { digits_after_point }),
        ValueRef::Integer(_) | ValueRef::Real(_),
    ) = (kind, value)
    {
        return Some(decimal(number(value), digits_after_point).into_bytes());
    }
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string().into_bytes()),
        ValueRef::Real(number) => Some(double_text(number).into_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
    }
}

/// Half is rounded up, as decimals do; a double that stands for half may be a hair below it.
fn decimal(number: f64, digits: u8) -> String {
    let digits = usize::from(digits);
    let hair = 10_f64.powi(-(digits as i32)) * 1e-6;
    let text = format!("{:.digits$}", number + hair.copysign(number));
    let is_zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    match text.strip_prefix('-') {
        Some(positive) if is_zero => positive.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_written_with_its_own_digits() {
        for (number, digits, wanted) in [
            (12.5, 2, "12.50"),
            (0.03125, 4, "0.0313"),
            (-0.001, 2, "0.00"),
            (0.1 + 0.2, 1, "0.3"),
            (1_772_359_200.123_456, 6, "1772359200.123456"),
            (1e15, 0, "1000000000000000"),
        ] {
            assert_eq!(decimal(number, digits), wanted);
        }
    }
}
