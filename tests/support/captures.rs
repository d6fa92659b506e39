//! Answers of real servers, as `tests/captures` keeps them: what the command line client prints for `\G`.

use replicascope::lab::wire::{Column, Rows};

/// The rows of `tests/captures/NAME.txt`, such as `capture("mysql97/quiet")`.
pub fn capture(name: &str) -> Rows {
    let path = format!("{}/tests/captures/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    vertical(&text)
}

/// The columns of a capture and no row: what a server says that replicates from nobody.
pub fn capture_without_rows(name: &str) -> Rows {
    Rows {
        rows: Vec::new(),
        ..capture(name)
    }
}

/// Reads `*** 1. row ***` blocks of `Name: value` lines. A line that begins with no name continues the value above it
/// (GTID sets and error messages have several lines); the word NULL is a NULL.
pub fn vertical(text: &str) -> Rows {
    let mut blocks: Vec<Vec<(&str, String)>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("***") && line.contains(". row *") {
            blocks.push(Vec::new());
            continue;
        }
        let Some(block) = blocks.last_mut() else {
            continue;
        };
        match (name_and_value(line), block.last_mut()) {
            (Some((name, value)), _) => block.push((name, value.to_owned())),
            (None, Some((_, value))) if !line.is_empty() => *value = format!("{value}\n{line}"),
            _ => {}
        }
    }
    let names = blocks
        .first()
        .map(|block| block.iter().map(|(name, _)| *name).collect())
        .unwrap_or_default();
    rows_of(names, blocks)
}

fn rows_of(names: Vec<&str>, blocks: Vec<Vec<(&str, String)>>) -> Rows {
    let mut rows = Rows::new(names.iter().map(|name| Column::text(*name)).collect());
    for block in blocks {
        let same_columns = block
            .iter()
            .map(|(name, _)| *name)
            .eq(names.iter().copied());
        assert!(same_columns, "the rows of a capture have different columns");
        rows = rows.row(
            block
                .into_iter()
                .map(|(_, value)| (value != "NULL").then_some(value)),
        );
    }
    rows
}

fn name_and_value(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim_start().split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let value = if value.is_empty() {
        value
    } else {
        value.strip_prefix(' ')?
    };
    is_name.then_some((name, value))
}

#[test]
fn a_value_of_several_lines_stays_one_value() {
    let rows = vertical(
        "*************************** 1. row ***************************\n\
         \x20   Lag: NULL\n\
         \x20  Sets: 00000001-aaaa-11f0-8000-000000000000:1-5,\n\
         bd96b92b-aaaa-11f0-8000-000000000000:1\n\
         \x20 Empty: \n\
         *************************** 2. row ***************************\n\
         \x20   Lag: 0\n\
         \x20  Sets: a:b\n\
         \x20 Empty:\n\n",
    );
    let sets = "00000001-aaaa-11f0-8000-000000000000:1-5,\nbd96b92b-aaaa-11f0-8000-000000000000:1";
    let wanted = Rows::text(&["Lag", "Sets", "Empty"])
        .row([None, Some(sets), Some("")])
        .row([Some("0"), Some("a:b"), Some("")]);
    assert_eq!(rows, wanted);
}
