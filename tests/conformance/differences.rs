//! The table of differences between simulated and real servers, as the documentation has it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::picture::Difference;

const FILE: &str = include_str!("../../src/lab/simulator/DIFFERENCES.md");

/// Its rows, and which of them were needed.
pub struct Table {
    rows: Vec<Row>,
    needed: RefCell<BTreeSet<usize>>,
}

/// `| field | scenario | why |`; `*` at the end of a name stands for any ending, alone for anything.
struct Row {
    field: String,
    scenario: String,
}

impl Table {
    pub fn read() -> Table {
        let rows = FILE
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(|line| {
                let mut cells = line
                    .trim_matches('|')
                    .split('|')
                    .map(|cell| cell.trim().trim_matches('`').to_owned());
                let mut next = || cells.next().unwrap_or_default();
                let row = Row {
                    field: next(),
                    scenario: next(),
                };
                assert!(next().len() > 10, "a row without a reason: {line}");
                row
            })
            .collect();
        Table {
            rows,
            needed: RefCell::default(),
        }
    }

    pub fn explains(&self, difference: &Difference) -> bool {
        let found = self.rows.iter().position(|row| {
            fits(&row.field, &difference.field) && fits(&row.scenario, &difference.scenario)
        });
        if let Some(row) = found {
            self.needed.borrow_mut().insert(row);
        }
        found.is_some()
    }

    pub fn idle_rows(&self) -> Vec<String> {
        let needed = self.needed.borrow();
        self.rows
            .iter()
            .enumerate()
            .filter(|(at, _)| !needed.contains(at))
            .map(|(_, row)| format!("{} in {}", row.field, row.scenario))
            .collect()
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}
