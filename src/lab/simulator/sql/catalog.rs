//! What tables there are: schemas, columns, keys, as DDL made them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use super::foreign::ForeignKey;
use super::value::ColumnType;

/// The schemas of one server. Names are case-sensitive, as on Linux.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub schemas: BTreeMap<String, BTreeMap<String, Arc<Table>>>,
    next_number: u32,
}

#[derive(Debug)]
pub struct Table {
    pub schema: String,
    pub name: String,
    /// `schema.name`: also what it is called in SQLite.
    pub full_name: Arc<str>,
    /// By which triggers tell what they are about.
    pub number: u32,
    pub columns: Vec<Column>,
    /// Positions in `columns`.
    pub primary: Vec<usize>,
    pub keys: Vec<Key>,
    pub foreign: Vec<ForeignKey>,
    /// The next AUTO_INCREMENT value; not rolled back, as InnoDB does not.
    pub next_auto: AtomicI64,
    pub comment: String,
    /// Written out once, when first needed.
    pub statements: OnceLock<RowStatements>,
}

/// How SQLite is told to make one change of a row.
#[derive(Clone, Debug)]
pub struct RowStatements {
    /// All columns.
    pub insert: String,
    /// All columns new, then what tells the row.
    pub update: String,
    pub delete: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    /// As SHOW COLUMNS has it: `bigint unsigned`, `varchar(200)`.
    pub declared: String,
    pub kept: Kept,
    pub is_nullable: bool,
    pub default: Option<Default>,
    /// ON UPDATE CURRENT_TIMESTAMP with so many digits.
    pub on_update: Option<u8>,
    pub is_auto: bool,
    /// `…_bin`: compared byte by byte.
    pub is_binary_compared: bool,
    pub comment: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Default {
    /// For SQLite.
    pub sql: String,
    /// As the server shows it.
    pub shown: String,
    pub is_expression: bool,
}

/// How a column keeps its values, with its limits.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    Int {
        min: i64,
        max: i64,
        is_big: bool,
    },
    Decimal {
        digits: u8,
        scale: u8,
        is_unsigned: bool,
    },
    Double,
    Text {
        characters: u64,
    },
    Bytes {
        length: u64,
    },
    Enum(Arc<[String]>),
    Set(Arc<[String]>),
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub name: String,
    pub columns: Vec<usize>,
    pub is_unique: bool,
}

impl Column {
    pub fn kind(&self) -> ColumnType {
        match self.kept {
            Kept::Int { is_big: false, .. } => ColumnType::Int,
            Kept::Int { min: 0, .. } => ColumnType::BigUnsigned,
            Kept::Int { .. } => ColumnType::BigInt,
            Kept::Decimal { scale, .. } => ColumnType::Decimal {
                digits_after_point: scale,
            },
            Kept::Double => ColumnType::Double,
            Kept::Text { .. } | Kept::Enum(_) | Kept::Set(_) => ColumnType::Text,
            Kept::Bytes { .. } => ColumnType::Bytes,
            Kept::Date => ColumnType::Date,
            Kept::Time(digits) => ColumnType::Time(digits),
            Kept::DateTime(digits) => ColumnType::DateTime(digits),
            Kept::Timestamp(digits) => ColumnType::Timestamp(digits),
        }
    }

    /// The type that SQLite is told: its affinity must fit the values.
    fn sqlite_type(&self) -> &'static str {
        sqlite_type(self.kind(), self.is_binary_compared)
    }
}

/// Also for system tables.
pub fn sqlite_type(kind: ColumnType, is_binary_compared: bool) -> &'static str {
    match kind {
        ColumnType::Int | ColumnType::BigInt | ColumnType::BigUnsigned => "INTEGER",
        ColumnType::Double | ColumnType::Decimal { .. } => "REAL",
        ColumnType::Bytes => "BLOB",
        ColumnType::Text | ColumnType::Null if !is_binary_compared => "TEXT COLLATE NOCASE",
        _ => "TEXT",
    }
}

impl Table {
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name))
    }

    pub fn auto_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.is_auto)
    }

    /// The primary key is SQLite's rowid.
    pub fn has_rowid_key(&self) -> bool {
        matches!(self.primary[..], [one] if matches!(self.columns[one].kept, Kept::Int { .. }))
    }

    pub fn raise_auto(&self, used: i64) {
        self.next_auto
            .fetch_max(used.saturating_add(1), Ordering::Relaxed);
    }

    /// CREATE TABLE and CREATE INDEX, for SQLite.
    pub fn sqlite_ddl(&self) -> Vec<String> {
        let name = quoted(&self.full_name);
        let mut columns: Vec<String> = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            let mut text = format!("{} {}", quoted(&column.name), column.sqlite_type());
            if self.has_rowid_key() && self.primary[0] == place {
                text = format!("{} INTEGER PRIMARY KEY", quoted(&column.name));
            } else if !column.is_nullable {
                text.push_str(" NOT NULL");
            }
            columns.push(text);
        }
        let mut tail = "";
        if !self.primary.is_empty() && !self.has_rowid_key() {
            columns.push(format!("PRIMARY KEY ({})", self.names(&self.primary)));
            tail = " WITHOUT ROWID";
        }
        let mut ddl = vec![format!(
            "CREATE TABLE {name} ({}){tail}",
            columns.join(", ")
        )];
        for key in &self.keys {
            let unique = if key.is_unique { "UNIQUE " } else { "" };
            let index = quoted(&format!("{}/{}", self.full_name, key.name));
            ddl.push(format!(
                "CREATE {unique}INDEX {index} ON {name} ({})",
                self.names(&key.columns)
            ));
        }
        if self.primary.is_empty() {
            // Otherwise a replica would look through the whole table for each row.
            let all: Vec<usize> = self.told_by();
            let index = quoted(&format!("{}/", self.full_name));
            ddl.push(format!(
                "CREATE INDEX {index} ON {name} (rs_row({}))",
                self.names(&all)
            ));
        }
        ddl
    }

    /// They hand every changed row to the engine.
    pub fn triggers(&self) -> [String; 3] {
        let name = quoted(&self.full_name);
        let image = |row: &str| {
            let columns = self.columns.iter();
            let values: Vec<String> = columns
                .map(|column| format!("{row}.{}", quoted(&column.name)))
                .collect();
            format!("{}, {}", self.number, values.join(", "))
        };
        let (old, new) = (image("OLD"), image("NEW"));
        let trigger = |event: &str, body: String| {
            let trigger = quoted(&format!("{}/{event}", self.full_name));
            format!("CREATE TRIGGER {trigger} AFTER {event} ON {name} BEGIN {body} END")
        };
        [
            trigger("INSERT", format!("SELECT rs_new({new});")),
            trigger(
                "UPDATE",
                format!("SELECT rs_old({old}); SELECT rs_changed({new});"),
            ),
            trigger("DELETE", format!("SELECT rs_old({old});")),
        ]
    }

    pub fn names(&self, columns: &[usize]) -> String {
        let names: Vec<String> = columns
            .iter()
            .map(|place| quoted(&self.columns[*place].name))
            .collect();
        names.join(", ")
    }

    pub fn row_statements(&self) -> &RowStatements {
        self.statements.get_or_init(|| {
            let name = quoted(&self.full_name);
            let all: Vec<usize> = (0..self.columns.len()).collect();
            let marks = vec!["?"; all.len()].join(", ");
            let by = self.told_by();
            let which = |before: usize| {
                let column = |place: &usize| quoted(&self.columns[*place].name);
                let marks: Vec<String> = (1..=by.len()).map(|nth| format!("?{}", before + nth)).collect();
                let equal = by.iter().zip(&marks);
                let equal: Vec<String> = equal.map(|(place, mark)| format!("{} IS {mark}", column(place))).collect();
                let same = equal.join(" AND ");
                if !self.primary.is_empty() {
                    return same;
                }
                // Rows that are the same in all are as good as each other.
                format!(
                    "rowid = (SELECT rowid FROM {name} WHERE rs_row({}) = rs_row({}) AND {same} LIMIT 1)",
                    self.names(&by),
                    marks.join(", ")
                )
            };
            let sets: Vec<String> = all
                .iter()
                .map(|place| format!("{} = ?", quoted(&self.columns[*place].name)))
                .collect();
            RowStatements {
                insert: format!("INSERT INTO {name} ({}) VALUES ({marks})", self.names(&all)),
                update: format!("UPDATE {name} SET {} WHERE {}", sets.join(", "), which(all.len())),
                delete: format!("DELETE FROM {name} WHERE {}", which(0)),
            }
        })
    }

    /// The columns that tell a row from the others: the primary key, or all.
    pub fn told_by(&self) -> Vec<usize> {
        if self.primary.is_empty() {
            (0..self.columns.len()).collect()
        } else {
            self.primary.clone()
        }
    }

    /// What tells one row from the others, in SQLite.
    pub fn identity(&self) -> String {
        if self.primary.is_empty() {
            "rowid".into()
        } else {
            self.names(&self.primary)
        }
    }

    /// SHOW CREATE TABLE.
    /// As SHOW CREATE TABLE has it. `collation`: what the server adds to the character set.
    pub fn create_statement(&self, collation: Option<&str>) -> String {
        let mut lines: Vec<String> = self.columns.iter().map(column_line).collect();
        if !self.primary.is_empty() {
            lines.push(format!("  PRIMARY KEY ({})", self.shown(&self.primary)));
        }
        for key in &self.keys {
            let unique = if key.is_unique { "UNIQUE " } else { "" };
            lines.push(format!(
                "  {unique}KEY {} ({})",
                quoted(&key.name),
                self.shown(&key.columns)
            ));
        }
        lines.extend(
            self.foreign
                .iter()
                .map(|key| format!("  {}", key.shown(self))),
        );
        let mut text = format!(
            "CREATE TABLE {} (\n{}\n) ENGINE=InnoDB",
            quoted(&self.name),
            lines.join(",\n")
        );
        let next = self.next_auto.load(Ordering::Relaxed);
        if self.auto_column().is_some() && next > 1 {
            let _ = write!(text, " AUTO_INCREMENT={next}");
        }
        text.push_str(" DEFAULT CHARSET=utf8mb4");
        if let Some(collation) = collation {
            let _ = write!(text, " COLLATE={collation}");
        }
        if !self.comment.is_empty() {
            let _ = write!(text, " COMMENT='{}'", self.comment.replace('\'', "''"));
        }
        text
    }

    fn shown(&self, columns: &[usize]) -> String {
        self.names(columns).replace(", ", ",")
    }
}

/// Such columns have no DEFAULT NULL in SHOW CREATE TABLE.
fn is_blob(column: &Column) -> bool {
    column.declared.ends_with("text") || column.declared.ends_with("blob")
}

fn column_line(column: &Column) -> String {
    let mut line = format!("  {} {}", quoted(&column.name), column.declared);
    if !column.is_nullable {
        line.push_str(" NOT NULL");
    }
    match &column.default {
        Some(default) if default.is_expression => {
            let _ = write!(line, " DEFAULT {}", default.shown);
        }
        Some(default) if default.shown == "NULL" => line.push_str(" DEFAULT NULL"),
        Some(default) => {
            let _ = write!(line, " DEFAULT '{}'", default.shown.replace('\'', "''"));
        }
        None if column.is_nullable && !is_blob(column) => line.push_str(" DEFAULT NULL"),
        None => {}
    }
    if let Some(digits) = column.on_update {
        let _ = write!(line, " ON UPDATE {}", current_timestamp(digits));
    }
    if column.is_auto {
        line.push_str(" AUTO_INCREMENT");
    }
    if !column.comment.is_empty() {
        let _ = write!(line, " COMMENT '{}'", column.comment.replace('\'', "''"));
    }
    line
}

pub fn current_timestamp(digits: u8) -> String {
    match digits {
        0 => "CURRENT_TIMESTAMP".into(),
        digits => format!("CURRENT_TIMESTAMP({digits})"),
    }
}

impl Catalog {
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        self.schemas.get(schema)?.get(name)
    }

    pub fn numbered(&self, number: u32) -> Option<&Arc<Table>> {
        let tables = self.schemas.values().flat_map(BTreeMap::values);
        tables.into_iter().find(|table| table.number == number)
    }

    pub fn named(&self, full_name: &str) -> Option<&Arc<Table>> {
        // A schema's name may hold a point.
        full_name
            .match_indices('.')
            .find_map(|(at, _)| self.table(&full_name[..at], &full_name[at + 1..]))
    }

    pub fn next_number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number
    }

    pub fn put(&mut self, table: Arc<Table>) {
        self.schemas
            .entry(table.schema.clone())
            .or_default()
            .insert(table.name.clone(), table);
    }
}

/// As both MySQL and SQLite take it. Never falls back to a text, as double quotes do in SQLite.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
