//! EXPLAIN: the plan that SQLite makes, in MySQL's columns. Which table comes first and which key is used is SQLite's
//! choice; a real server may choose otherwise.

mod tree;

use std::sync::Arc;

use crate::lab::wire::Rows;

use super::answers;
use super::catalog::{Table, quoted};
use super::compile::{Act, Plan};
use super::value::{ColumnType, Value};

/// One line of SQLite's plan.
pub struct Step {
    pub id: i64,
    pub parent: i64,
    pub detail: String,
}

pub struct Explained<'a> {
    pub plan: &'a Plan,
    pub steps: &'a [Step],
    pub rows_in: &'a dyn Fn(&Table) -> i64,
    pub is_mariadb: bool,
}

/// A SELECT of its own within the statement.
struct Select {
    number: i64,
    kind: &'static str,
    lines: Vec<Line>,
    extra: Vec<&'static str>,
}

/// How one table is read.
struct Line {
    table: String,
    access: &'static str,
    key: Option<(String, String)>,
    reference: Option<String>,
    rows: Option<i64>,
    extra: Vec<&'static str>,
}

impl Explained<'_> {
    /// As FORMAT=TRADITIONAL has it.
    pub fn rows(&self) -> Rows {
        let selects = self.selects();
        let mut rows: Vec<Vec<Value>> = Vec::new();
        if let Act::Insert(writing) = &self.plan.act {
            rows.push(self.row(1, "INSERT", &Line::of(&writing.table.name, "ALL")));
        }
        for select in selects {
            rows.extend(self.select_rows(select));
        }
        answers::of_values(self.columns(), rows)
    }

    fn selects(&self) -> Vec<Select> {
        let mut selects = vec![Select::new(1, "SIMPLE")];
        self.walk(0, 0, &mut selects);
        if selects.len() > 1 && selects[0].kind == "SIMPLE" {
            selects[0].kind = "PRIMARY";
        }
        selects
    }

    fn select_rows(&self, mut select: Select) -> Vec<Vec<Value>> {
        let changed = match &self.plan.act {
            Act::Update(writing) => Some(("UPDATE", &writing.table)),
            Act::Delete(writing) => Some(("DELETE", &writing.table)),
            _ => None,
        };
        if select.lines.is_empty() {
            return match self.plan.act {
                Act::Insert(_) => Vec::new(),
                _ => vec![self.nothing(&select)],
            };
        }
        select.lines[0].extra.append(&mut select.extra);
        let rows = select.lines.iter().map(|line| {
            let kind = match changed {
                Some((word, table))
                    if select.number == 1
                        && self
                            .table(&line.table)
                            .is_some_and(|t| Arc::ptr_eq(t, table)) =>
                {
                    word
                }
                _ => select.kind,
            };
            self.row(select.number, kind, line)
        });
        rows.collect()
    }

    /// Steps below `parent` belong to the SELECT at `place`, or begin one of their own.
    fn walk(&self, parent: i64, place: usize, selects: &mut Vec<Select>) {
        for step in self.steps.iter().filter(|step| step.parent == parent) {
            let detail = step.detail.as_str();
            if let Some(line) = self.line(detail, selects[place].lines.is_empty()) {
                selects[place].lines.push(line);
                self.walk(step.id, place, selects);
                continue;
            }
            let begun = begins(detail, place, selects.len());
            match begun {
                Some(kind) => {
                    selects.push(Select::new(selects.len() as i64 + 1, kind));
                    self.walk(step.id, selects.len() - 1, selects);
                }
                None => {
                    selects[place].extra.extend(sorting(detail));
                    self.walk(step.id, place, selects);
                }
            }
        }
    }

    /// `SCAN o`, `SEARCH o USING INDEX shop.orders/place (address=?)`.
    fn line(&self, detail: &str, is_first: bool) -> Option<Line> {
        let (is_search, rest) = match detail.strip_prefix("SEARCH ") {
            Some(rest) => (true, rest),
            None => (false, detail.strip_prefix("SCAN ")?),
        };
        let name = rest.split(' ').next()?;
        if name == "CONSTANT" {
            return None;
        }
        let has_where = self.plan.sql.contains(" WHERE ");
        let mut line = Line::of(name, "ALL");
        let Some(table) = self.table(name) else {
            line.rows = Some(2);
            return Some(line);
        };
        let all = (self.rows_in)(table).max(1);
        line.rows = Some(all);
        let Some((_, using)) = rest.split_once(" USING ") else {
            line.extra.extend(has_where.then_some("Using where"));
            return Some(line);
        };
        if using.contains("AUTOMATIC") {
            line.extra
                .push("Using where; Using join buffer (hash join)");
            return Some(line);
        }
        let (key, columns, is_unique) = used_key(table, using);
        let conditions = using
            .rsplit_once('(')
            .map_or("", |(_, conditions)| conditions);
        let equal = conditions.matches("=?").count()
            - conditions.matches(">=?").count()
            - conditions.matches("<=?").count();
        let is_range = conditions.contains(['<', '>']);
        let is_one = is_unique && equal >= columns.len();
        let used = if is_search {
            &columns[..columns.len().min(equal + usize::from(is_range))]
        } else {
            &columns[..]
        };
        let length: u64 = used.iter().map(|place| key_length(table, *place)).sum();
        line.key = Some((key, length.to_string()));
        line.access = match (is_search, is_range, is_one) {
            (false, ..) => "index",
            (true, true, _) => "range",
            (true, false, true) if is_first => "const",
            (true, false, true) => "eq_ref",
            (true, false, false) => "ref",
        };
        line.reference = match line.access {
            "const" | "ref" if is_first => Some(vec!["const"; used.len()].join(",")),
            "eq_ref" | "ref" => Some(vec!["func"; used.len()].join(",")),
            _ => None,
        };
        line.rows = Some(match line.access {
            "const" | "eq_ref" => 1,
            "ref" => (all / 10).max(1),
            "range" => (all / 3).max(1),
            _ => all,
        });
        if is_range {
            let is_primary = line.key.as_ref().is_some_and(|(key, _)| key == "PRIMARY");
            line.extra.push(if is_primary {
                "Using where"
            } else {
                "Using index condition"
            });
        }
        if using.contains("COVERING INDEX") {
            line.extra.push("Using index");
        }
        Some(line)
    }

    /// By the name that the statement gives it.
    fn table(&self, alias: &str) -> Option<&Arc<Table>> {
        self.plan.user_tables.iter().find(|table| {
            let named = format!("{} AS {}", quoted(&table.full_name), quoted(alias));
            self.plan.sql.contains(&named) || *table.full_name == *alias
        })
    }

    fn columns(&self) -> &'static [(&'static str, ColumnType)] {
        const COLUMNS: &[(&str, ColumnType)] = &[
            ("id", ColumnType::BigInt),
            ("select_type", ColumnType::Text),
            ("table", ColumnType::Text),
            ("partitions", ColumnType::Text),
            ("type", ColumnType::Text),
            ("possible_keys", ColumnType::Text),
            ("key", ColumnType::Text),
            ("key_len", ColumnType::Text),
            ("ref", ColumnType::Text),
            ("rows", ColumnType::BigInt),
            (
                "filtered",
                ColumnType::Decimal {
                    digits_after_point: 2,
                },
            ),
            ("Extra", ColumnType::Text),
        ];
        const OF_MARIADB: &[(&str, ColumnType)] = &[
            COLUMNS[0],
            COLUMNS[1],
            COLUMNS[2],
            COLUMNS[4],
            COLUMNS[5],
            COLUMNS[6],
            COLUMNS[7],
            COLUMNS[8],
            COLUMNS[9],
            COLUMNS[11],
        ];
        if self.is_mariadb { OF_MARIADB } else { COLUMNS }
    }

    fn row(&self, number: i64, kind: &str, line: &Line) -> Vec<Value> {
        let (key, length) = line.key.clone().unzip();
        let extra = (!line.extra.is_empty()).then(|| line.extra.join("; "));
        let filtered = line.rows.map(|_| 100.0);
        self.cut(vec![
            number.into(),
            kind.into(),
            line.table.as_str().into(),
            Value::Null,
            line.access.into(),
            key.clone().into(),
            key.into(),
            length.into(),
            line.reference.clone().into(),
            line.rows.into(),
            filtered.into(),
            extra.into(),
        ])
    }

    fn nothing(&self, select: &Select) -> Vec<Value> {
        let mut row = vec![Value::Null; 12];
        row[0] = select.number.into();
        row[1] = select.kind.into();
        row[11] = "No tables used".into();
        self.cut(row)
    }

    /// MariaDB shows neither `partitions` nor `filtered`; `Extra` is empty instead of NULL.
    fn cut(&self, mut row: Vec<Value>) -> Vec<Value> {
        if self.is_mariadb {
            row.remove(10);
            row.remove(3);
            let is_read = row[1] != Value::from("INSERT");
            if let Some(extra) = row.last_mut().filter(|extra| is_read && extra.is_null()) {
                *extra = "".into();
            }
        }
        row
    }
}

impl Select {
    fn new(number: i64, kind: &'static str) -> Self {
        Select {
            number,
            kind,
            lines: Vec::new(),
            extra: Vec::new(),
        }
    }
}

impl Line {
    fn of(table: &str, access: &'static str) -> Self {
        Line {
            table: table.to_owned(),
            access,
            key: None,
            reference: None,
            rows: None,
            extra: Vec::new(),
        }
    }
}

/// What kind of SELECT begins with this step. `known`: how many there are.
fn begins(detail: &str, place: usize, known: usize) -> Option<&'static str> {
    let word = |text: &str| detail.starts_with(text);
    if word("SCALAR SUBQUERY") || word("LIST SUBQUERY") {
        Some("SUBQUERY")
    } else if word("CORRELATED") {
        Some("DEPENDENT SUBQUERY")
    } else if word("CO-ROUTINE") || word("MATERIALIZE") {
        Some("DERIVED")
    } else if (word("UNION") || word("EXCEPT") || word("INTERSECT")) && (place > 0 || known > 0) {
        Some("UNION")
    } else {
        None
    }
}

fn sorting(detail: &str) -> Option<&'static str> {
    let what = detail.strip_prefix("USE TEMP B-TREE FOR ")?;
    Some(if what.contains("ORDER BY") {
        "Using filesort"
    } else {
        "Using temporary"
    })
}

/// The key's name, its columns, and whether it tells rows apart.
fn used_key(table: &Table, using: &str) -> (String, Vec<usize>, bool) {
    let named = using
        .split_once("INDEX ")
        .map(|(_, rest)| rest.rsplit_once(" (").map_or(rest, |(name, _)| name));
    let name = named.and_then(|name| Some(name.rsplit_once('/')?.1));
    match table
        .keys
        .iter()
        .find(|key| Some(key.name.as_str()) == name)
    {
        Some(key) => (key.name.clone(), key.columns.clone(), key.is_unique),
        None => ("PRIMARY".to_owned(), table.primary.clone(), true),
    }
}

/// Bytes of a column in a key: one more where it may be NULL, two more where its length varies.
fn key_length(table: &Table, place: usize) -> u64 {
    let column = &table.columns[place];
    let word = column.declared.split(['(', ' ']).next().unwrap_or_default();
    let number = || -> u64 {
        let digits = column.declared.split(['(', ')', ',']).nth(1);
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    const BYTES_OF_A_CHARACTER: u64 = 4;
    let bytes = match word {
        "tinyint" | "year" | "enum" => 1,
        "smallint" => 2,
        "mediumint" | "date" => 3,
        "int" | "float" => 4,
        "bigint" | "double" => 8,
        "datetime" => 5 + number().div_ceil(2),
        "timestamp" => 4 + number().div_ceil(2),
        "time" => 3 + number().div_ceil(2),
        "decimal" => number().div_ceil(2) + 1,
        "char" => number() * BYTES_OF_A_CHARACTER,
        "varchar" => number() * BYTES_OF_A_CHARACTER + 2,
        _ => number() + 2,
    };
    bytes + u64::from(column.is_nullable)
}
