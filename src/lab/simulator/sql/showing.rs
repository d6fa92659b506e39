//! SHOW TABLES and its like.

use std::sync::atomic::Ordering;

use crate::lab::wire::Rows;
use crate::model::lab::Generation;

use super::answers;
use super::catalog::{Catalog, Table};
use super::compile::{is_system, no_database, no_table, unknown_database};
use super::describing::{extra, key_kind, keys, shown_default, yes_no};
use super::engine::is_from_80;
use super::problem::SqlProblem;
use super::statement::without_comments;
use super::value::{ColumnType, Value};
use crate::lab::simulator::like::is_like;

const TEXT: ColumnType = ColumnType::Text;
const NUMBER: ColumnType = ColumnType::BigInt;

/// SHOW TABLES, SHOW DATABASES, SHOW COLUMNS, SHOW INDEX, SHOW CREATE TABLE, DESCRIBE.
pub struct Show<'a> {
    pub catalog: &'a Catalog,
    pub schema: Option<&'a str>,
    pub rows_in: &'a dyn Fn(&Table) -> i64,
    pub generation: Generation,
}

type Shown = Result<Rows, SqlProblem>;

impl Show<'_> {
    pub fn answer(&self, sql: &str) -> Shown {
        let text = without_comments(sql);
        let words = words(&text);
        let capitals: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let mut asked: Vec<&str> = capitals.iter().map(String::as_str).collect();
        let is_full = asked.get(1) == Some(&"FULL");
        asked.retain(|word| !["FULL", "EXTENDED"].contains(word));
        let like = pattern(&words, &capitals);
        match asked[..] {
            ["SHOW", "DATABASES" | "SCHEMAS", ..] => Ok(self.databases(like)),
            ["SHOW", "TABLES", ..] => {
                self.tables(self.schema_named(&words, &capitals, 2)?, is_full, like)
            }
            ["SHOW", "TABLE", "STATUS", ..] => {
                self.status(self.schema_named(&words, &capitals, 3)?, like)
            }
            ["SHOW", "CREATE", "TABLE", ..] => self.create_table(self.named(&words[3..])?),
            ["SHOW", "CREATE", "DATABASE" | "SCHEMA", ..] => self.create_database(&words),
            ["SHOW", "COLUMNS" | "FIELDS", "FROM" | "IN", ..] => {
                let from = capitals
                    .iter()
                    .position(|word| ["FROM", "IN"].contains(&word.as_str()));
                let table = self.named(&words[from.unwrap_or(2) + 1..])?;
                Ok(describe(table, is_full, like))
            }
            ["SHOW", "INDEX" | "INDEXES" | "KEYS", "FROM" | "IN", ..] => {
                let table = self.named(&words[3..])?;
                Ok(indexes(table, self.generation, (self.rows_in)(table)))
            }
            ["DESC" | "DESCRIBE" | "EXPLAIN", _, ..] => {
                let table = self.named(&words[1..])?;
                // `DESC t`, `DESC s.t`, each perhaps with the name or pattern of a column.
                let behind = if asked.get(2) == Some(&".") { 4 } else { 2 };
                let column = words.get(behind).map(String::as_str);
                Ok(describe(table, false, column))
            }
            _ => Err(super::parse::syntax_error(&text, 1, "MySQL")),
        }
    }

    /// `t`, `s.t`, `t FROM s`.
    fn named(&self, words: &[String]) -> Result<&Table, SqlProblem> {
        let (mut schema, mut table) = (self.schema, words.first().map_or("", String::as_str));
        match words {
            [first, dot, second, ..] if dot == "." => {
                (schema, table) = (Some(first.as_str()), second.as_str());
            }
            [_, from, second, ..]
                if ["FROM", "IN"].contains(&from.to_ascii_uppercase().as_str()) =>
            {
                schema = Some(second.as_str());
            }
            _ => {}
        }
        let schema = schema.ok_or_else(no_database)?;
        self.catalog
            .table(schema, table)
            .map(AsRef::as_ref)
            .ok_or_else(|| no_table(schema, table))
    }

    fn schema_named<'w>(
        &'w self,
        words: &'w [String],
        capitals: &[String],
        after: usize,
    ) -> Result<&'w str, SqlProblem> {
        let from = capitals
            .iter()
            .skip(after - 1)
            .position(|word| ["FROM", "IN"].contains(&word.as_str()))
            .and_then(|place| words.get(place + after));
        let schema = from.map(String::as_str).or(self.schema);
        let schema = schema.ok_or_else(no_database)?;
        if !self.catalog.schemas.contains_key(schema) && !is_system(schema) {
            return Err(unknown_database(schema));
        }
        Ok(schema)
    }

    fn databases(&self, like: Option<&str>) -> Rows {
        let mut names: Vec<&str> = vec!["information_schema", "mysql", "performance_schema", "sys"];
        names.extend(self.catalog.schemas.keys().map(String::as_str));
        names.sort_unstable();
        let rows = names
            .into_iter()
            .filter(|name| like.is_none_or(|like| is_like(name, like)))
            .map(|name| vec![name.into()]);
        answers::of_values(&[("Database", TEXT)], rows.collect())
    }

    fn listed(&self, schema: &str, like: Option<&str>) -> Vec<&Table> {
        let tables = self.catalog.schemas.get(schema);
        tables
            .into_iter()
            .flat_map(|tables| tables.values())
            .map(AsRef::as_ref)
            .filter(|table: &&Table| like.is_none_or(|like| is_like(&table.name, like)))
            .collect()
    }

    fn tables(&self, schema: &str, is_full: bool, like: Option<&str>) -> Shown {
        let title = match like {
            Some(like) => format!("Tables_in_{schema} ({like})"),
            None => format!("Tables_in_{schema}"),
        };
        let mut columns = vec![(title.as_str(), TEXT)];
        if is_full {
            columns.push(("Table_type", TEXT));
        }
        let rows = self.listed(schema, like).into_iter().map(|table| {
            let mut row = vec![table.name.as_str().into()];
            if is_full {
                row.push("BASE TABLE".into());
            }
            row
        });
        Ok(answers::of_values(&columns, rows.collect()))
    }

    fn status(&self, schema: &str, like: Option<&str>) -> Shown {
        let columns = [
            ("Name", TEXT),
            ("Engine", TEXT),
            ("Row_format", TEXT),
            ("Rows", NUMBER),
            ("Auto_increment", NUMBER),
            ("Collation", TEXT),
            ("Comment", TEXT),
        ];
        let rows = self.listed(schema, like).into_iter().map(|table| {
            let next = table.next_auto.load(Ordering::Relaxed);
            vec![
                table.name.as_str().into(),
                "InnoDB".into(),
                "Dynamic".into(),
                (self.rows_in)(table).into(),
                table.auto_column().map(|_| next).into(),
                "utf8mb4_0900_ai_ci".into(),
                table.comment.as_str().into(),
            ]
        });
        Ok(answers::of_values(&columns, rows.collect()))
    }

    fn create_table(&self, table: &Table) -> Shown {
        Ok(answers::of_values(
            &[("Table", TEXT), ("Create Table", TEXT)],
            vec![vec![
                table.name.as_str().into(),
                table.create_statement(self.collation()).into(),
            ]],
        ))
    }

    /// What follows the character set in SHOW CREATE TABLE: 8.0 and later name the collation.
    fn collation(&self) -> Option<&'static str> {
        is_from_80(self.generation).then_some("utf8mb4_0900_ai_ci")
    }

    fn create_database(&self, words: &[String]) -> Shown {
        let name = words.last().map_or("", String::as_str);
        if !self.catalog.schemas.contains_key(name) {
            return Err(unknown_database(name));
        }
        let sql = format!("CREATE DATABASE `{name}` /*!40100 DEFAULT CHARACTER SET utf8mb4 */");
        Ok(answers::of_values(
            &[("Database", TEXT), ("Create Database", TEXT)],
            vec![vec![name.into(), sql.into()]],
        ))
    }
}

fn describe(table: &Table, is_full: bool, like: Option<&str>) -> Rows {
    const MAY: &str = "select,insert,update,references";
    let mut columns = vec![
        ("Field", TEXT),
        ("Type", TEXT),
        ("Null", TEXT),
        ("Key", TEXT),
        ("Default", TEXT),
        ("Extra", TEXT),
    ];
    if is_full {
        columns.insert(2, ("Collation", TEXT));
        columns.extend([("Privileges", TEXT), ("Comment", TEXT)]);
    }
    let rows = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| like.is_none_or(|like| is_like(&column.name, like)))
        .map(|(place, column)| {
            let mut row: Vec<Value> = vec![
                column.name.as_str().into(),
                column.declared.as_str().into(),
                yes_no(column.is_nullable).into(),
                key_kind(table, place).into(),
                shown_default(column),
                extra(column).into(),
            ];
            if is_full {
                let collation = (column.kind() == TEXT).then_some("utf8mb4_0900_ai_ci");
                row.insert(2, collation.map(str::to_owned).into());
                row.extend([MAY.into(), column.comment.as_str().into()]);
            }
            row
        });
    answers::of_values(&columns, rows.collect())
}

/// `count`: of its rows, which servers estimate.
fn indexes(table: &Table, generation: Generation, count: i64) -> Rows {
    let columns = [
        ("Table", TEXT),
        ("Non_unique", NUMBER),
        ("Key_name", TEXT),
        ("Seq_in_index", NUMBER),
        ("Column_name", TEXT),
        ("Collation", TEXT),
        ("Cardinality", NUMBER),
        ("Sub_part", NUMBER),
        ("Packed", TEXT),
        ("Null", TEXT),
        ("Index_type", TEXT),
        ("Comment", TEXT),
        ("Index_comment", TEXT),
    ];
    // MySQL 8.0 and later, and MariaDB, each show more.
    let more: &[(&str, ColumnType)] =
        match (is_from_80(generation), generation.flavour().is_mariadb()) {
            (true, _) => &[("Visible", TEXT), ("Expression", TEXT)],
            (_, true) => &[("Ignored", TEXT)],
            _ => &[],
        };
    let columns: Vec<_> = columns.iter().chain(more).copied().collect();
    let rows = keys(table)
        .into_iter()
        .flat_map(|(name, places, is_unique)| {
            places.into_iter().enumerate().map(move |(number, place)| {
                let column = &table.columns[place];
                let mut row: Vec<Value> = vec![
                    table.name.as_str().into(),
                    (!is_unique).into(),
                    name.as_str().into(),
                    (number as i64 + 1).into(),
                    column.name.as_str().into(),
                    "A".into(),
                    count.into(),
                    Value::Null,
                    Value::Null,
                    (if column.is_nullable { "YES" } else { "" }).into(),
                    "BTREE".into(),
                    "".into(),
                    "".into(),
                ];
                row.extend(more.iter().map(|(name, _)| match *name {
                    "Visible" => "YES".into(),
                    "Ignored" => "NO".into(),
                    _ => Value::Null,
                }));
                row
            })
        });
    answers::of_values(&columns, rows.collect())
}

/// Words and points; quotes are taken off.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '`' | '\'' | '"' => match rest[1..].find(first) {
                Some(end) => (&rest[1..=end], &rest[end + 2..]),
                None => (&rest[1..], ""),
            },
            '.' | '(' | ')' | ',' | '=' => rest.split_at(1),
            _ => rest.split_at(
                rest.find(|c: char| c.is_whitespace() || ".()`'\",=".contains(c))
                    .unwrap_or(rest.len()),
            ),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

fn pattern<'w>(words: &'w [String], capitals: &[String]) -> Option<&'w str> {
    let like = capitals.iter().position(|word| word == "LIKE")?;
    words.get(like + 1).map(String::as_str)
}
