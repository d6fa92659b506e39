//! For tests: rows as real servers gave them, in the client's vertical format, and rows built by hand.

use super::{Cell, Column, ColumnKind, Rows};

/// One row built by hand.
pub fn row(fields: &[(&str, Option<&str>)]) -> Rows {
    Rows {
        columns: fields.iter().map(|(name, _)| column(name)).collect(),
        cells: vec![
            fields
                .iter()
                .map(|(_, value)| value.map(|text| text.as_bytes().to_vec()))
                .collect(),
        ],
    }
}

/// Several rows of the same columns, built by hand.
pub fn table(names: &[&str], rows: &[&[Option<&str>]]) -> Rows {
    Rows {
        columns: names.iter().map(|name| column(name)).collect(),
        cells: rows
            .iter()
            .map(|cells| cells.iter().map(|cell| cell_of(*cell)).collect())
            .collect(),
    }
}

/// Reads the client's `\G` format: `*** n. row ***` lines, then `name: value`. A line without a column's name goes on
/// with the value before (GTID sets have newlines in them).
pub fn vertical(text: &str) -> Rows {
    let mut rows = Rows::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with("****") {
            rows.cells.push(Vec::new());
        } else if let Some((name, value)) = field(line) {
            if rows.cells.len() == 1 {
                rows.columns.push(column(name));
            }
            if let Some(cells) = rows.cells.last_mut() {
                cells.push(cell_of((value != "NULL").then_some(value)));
            }
        } else if let Some(Some(bytes)) = rows.cells.last_mut().and_then(|cells| cells.last_mut()) {
            bytes.push(b'\n');
            bytes.extend_from_slice(line.as_bytes());
        }
    }
    rows
}

fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim();
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.contains("0000");
    is_name.then(|| (name, value.strip_prefix(' ').unwrap_or(value)))
}

fn column(name: &str) -> Column {
    Column {
        name: name.to_owned(),
        kind: ColumnKind::Other,
    }
}

fn cell_of(text: Option<&str>) -> Cell {
    text.map(|text| text.as_bytes().to_vec())
}
