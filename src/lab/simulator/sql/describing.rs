//! What users' tables are like, as `information_schema` tells it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use super::catalog::{Catalog, Column, Kept, Table};
use super::surroundings::{SystemColumn, TableData};
use super::value::{ColumnType, Value};

const TEXT: ColumnType = ColumnType::Text;
const NUMBER: ColumnType = ColumnType::BigInt;

type Columns = LazyLock<Arc<[SystemColumn]>>;

static SCHEMATA: Columns = LazyLock::new(|| {
    columns(&[
        ("CATALOG_NAME", TEXT),
        ("SCHEMA_NAME", TEXT),
        ("DEFAULT_CHARACTER_SET_NAME", TEXT),
        ("DEFAULT_COLLATION_NAME", TEXT),
        ("SQL_PATH", TEXT),
    ])
});

static TABLES: Columns = LazyLock::new(|| {
    columns(&[
        ("TABLE_CATALOG", TEXT),
        ("TABLE_SCHEMA", TEXT),
        ("TABLE_NAME", TEXT),
        ("TABLE_TYPE", TEXT),
        ("ENGINE", TEXT),
        ("VERSION", NUMBER),
        ("ROW_FORMAT", TEXT),
        ("TABLE_ROWS", NUMBER),
        ("AVG_ROW_LENGTH", NUMBER),
        ("DATA_LENGTH", NUMBER),
        ("INDEX_LENGTH", NUMBER),
        ("AUTO_INCREMENT", NUMBER),
        ("TABLE_COLLATION", TEXT),
        ("TABLE_COMMENT", TEXT),
    ])
});

static COLUMNS: Columns = LazyLock::new(|| {
    columns(&[
        ("TABLE_CATALOG", TEXT),
        ("TABLE_SCHEMA", TEXT),
        ("TABLE_NAME", TEXT),
        ("COLUMN_NAME", TEXT),
        ("ORDINAL_POSITION", NUMBER),
        ("COLUMN_DEFAULT", TEXT),
        ("IS_NULLABLE", TEXT),
        ("DATA_TYPE", TEXT),
        ("CHARACTER_MAXIMUM_LENGTH", NUMBER),
        ("NUMERIC_PRECISION", NUMBER),
        ("NUMERIC_SCALE", NUMBER),
        ("DATETIME_PRECISION", NUMBER),
        ("COLUMN_TYPE", TEXT),
        ("COLUMN_KEY", TEXT),
        ("EXTRA", TEXT),
        ("COLUMN_COMMENT", TEXT),
    ])
});

static STATISTICS: Columns = LazyLock::new(|| {
    columns(&[
        ("TABLE_CATALOG", TEXT),
        ("TABLE_SCHEMA", TEXT),
        ("TABLE_NAME", TEXT),
        ("NON_UNIQUE", NUMBER),
        ("INDEX_SCHEMA", TEXT),
        ("INDEX_NAME", TEXT),
        ("SEQ_IN_INDEX", NUMBER),
        ("COLUMN_NAME", TEXT),
        ("NULLABLE", TEXT),
        ("INDEX_TYPE", TEXT),
    ])
});

fn columns(list: &[(&'static str, ColumnType)]) -> Arc<[SystemColumn]> {
    list.iter()
        .map(|(name, kind)| SystemColumn::new(name, *kind))
        .collect()
}

/// Columns of the tables that are answered here; names in small letters.
pub fn own_columns(schema: &str, name: &str) -> Option<Arc<[SystemColumn]>> {
    if schema != "information_schema" {
        return None;
    }
    let columns = match name {
        "schemata" => &SCHEMATA,
        "tables" => &TABLES,
        "columns" => &COLUMNS,
        "statistics" => &STATISTICS,
        _ => return None,
    };
    Some(Arc::clone(columns))
}

/// `rows_in`: how many rows a table has.
pub fn own_table(
    catalog: &Catalog,
    schema: &str,
    name: &str,
    rows_in: &dyn Fn(&Table) -> i64,
) -> Option<TableData> {
    let columns = own_columns(schema, name)?;
    let tables = || catalog.schemas.values().flat_map(|tables| tables.values());
    let rows = match name {
        "schemata" => schemata(catalog),
        "tables" => tables()
            .map(|table| table_row(table, rows_in(table)))
            .collect(),
        "columns" => tables().flat_map(|table| column_rows(table)).collect(),
        _ => tables().flat_map(|table| index_rows(table)).collect(),
    };
    Some(TableData { columns, rows })
}

fn schemata(catalog: &Catalog) -> Vec<Vec<Value>> {
    const OF_THE_SERVER: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];
    OF_THE_SERVER
        .into_iter()
        .chain(catalog.schemas.keys().map(String::as_str))
        .map(|name| {
            vec![
                "def".into(),
                name.into(),
                "utf8mb4".into(),
                "utf8mb4_0900_ai_ci".into(),
                Value::Null,
            ]
        })
        .collect()
}

fn table_row(table: &Table, rows: i64) -> Vec<Value> {
    const PAGE: i64 = 16_384;
    let next = table.next_auto.load(Ordering::Relaxed);
    let auto = table.auto_column().map(|_| next);
    vec![
        "def".into(),
        table.schema.as_str().into(),
        table.name.as_str().into(),
        "BASE TABLE".into(),
        "InnoDB".into(),
        10_i64.into(),
        "Dynamic".into(),
        rows.into(),
        (if rows > 0 {
            (PAGE * (1 + rows / 100)) / rows
        } else {
            0
        })
        .into(),
        (PAGE * (1 + rows / 100)).into(),
        (PAGE * table.keys.len() as i64).into(),
        auto.into(),
        "utf8mb4_0900_ai_ci".into(),
        table.comment.as_str().into(),
    ]
}

fn column_rows(table: &Table) -> Vec<Vec<Value>> {
    table
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let (length, precision, scale, moments) = sizes(column);
            vec![
                "def".into(),
                table.schema.as_str().into(),
                table.name.as_str().into(),
                column.name.as_str().into(),
                (place as i64 + 1).into(),
                shown_default(column),
                yes_no(column.is_nullable).into(),
                data_type(column).into(),
                length.into(),
                precision.into(),
                scale.into(),
                moments.into(),
                column.declared.as_str().into(),
                key_kind(table, place).into(),
                extra(column).into(),
                column.comment.as_str().into(),
            ]
        })
        .collect()
}

fn data_type(column: &Column) -> &str {
    let end = column.declared.find(['(', ' ']);
    &column.declared[..end.unwrap_or(column.declared.len())]
}

type Sizes = (Option<i64>, Option<i64>, Option<i64>, Option<i64>);

fn sizes(column: &Column) -> Sizes {
    match &column.kept {
        Kept::Text { characters } => (Some(*characters as i64), None, None, None),
        Kept::Bytes { length } => (Some(*length as i64), None, None, None),
        Kept::Enum(words) | Kept::Set(words) => {
            let longest = words.iter().map(String::len).max().unwrap_or(0);
            (Some(longest as i64), None, None, None)
        }
        Kept::Int { max, .. } => (None, Some(max.ilog10().into()), Some(0), None),
        Kept::Decimal { digits, scale, .. } => {
            (None, Some((*digits).into()), Some((*scale).into()), None)
        }
        Kept::Double => (None, Some(22), None, None),
        Kept::Date => (None, None, None, None),
        Kept::Time(digits) | Kept::DateTime(digits) | Kept::Timestamp(digits) => {
            (None, None, None, Some((*digits).into()))
        }
    }
}

pub fn shown_default(column: &Column) -> Value {
    match &column.default {
        Some(default) if default.shown != "NULL" => default.shown.as_str().into(),
        _ => Value::Null,
    }
}

pub fn yes_no(yes: bool) -> &'static str {
    if yes { "YES" } else { "NO" }
}

pub fn key_kind(table: &Table, place: usize) -> &'static str {
    if table.primary.contains(&place) {
        return "PRI";
    }
    let first_of = |unique: bool| {
        table
            .keys
            .iter()
            .any(|key| key.is_unique == unique && key.columns.first() == Some(&place))
    };
    if table
        .keys
        .iter()
        .any(|key| key.is_unique && key.columns == [place])
    {
        "UNI"
    } else if first_of(true) || first_of(false) {
        "MUL"
    } else {
        ""
    }
}

pub fn extra(column: &Column) -> String {
    let mut parts = Vec::new();
    if column.is_auto {
        parts.push("auto_increment".to_owned());
    }
    if column
        .default
        .as_ref()
        .is_some_and(|default| default.is_expression)
    {
        parts.push("DEFAULT_GENERATED".to_owned());
    }
    if let Some(digits) = column.on_update {
        parts.push(format!(
            "on update {}",
            super::catalog::current_timestamp(digits)
        ));
    }
    parts.join(" ")
}

fn index_rows(table: &Table) -> Vec<Vec<Value>> {
    keys(table)
        .into_iter()
        .flat_map(|(name, columns, is_unique)| {
            columns.into_iter().enumerate().map(move |(number, place)| {
                let column = &table.columns[place];
                vec![
                    "def".into(),
                    table.schema.as_str().into(),
                    table.name.as_str().into(),
                    (!is_unique).into(),
                    table.schema.as_str().into(),
                    name.as_str().into(),
                    (number as i64 + 1).into(),
                    column.name.as_str().into(),
                    (if column.is_nullable { "YES" } else { "" }).into(),
                    "BTREE".into(),
                ]
            })
        })
        .collect()
}

pub fn keys(table: &Table) -> Vec<(String, Vec<usize>, bool)> {
    let primary =
        (!table.primary.is_empty()).then(|| ("PRIMARY".to_owned(), table.primary.clone(), true));
    let others = table
        .keys
        .iter()
        .map(|key| (key.name.clone(), key.columns.clone(), key.is_unique));
    primary.into_iter().chain(others).collect()
}
