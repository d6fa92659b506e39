//! INSERT and REPLACE: a value for every column, through `rs_store`.

use std::sync::Arc;

use sqlparser::ast::{Expr, Insert, ObjectName, OnInsert, SetExpr, TableObject};

use super::super::catalog::{Table, quoted};
use super::super::problem::SqlProblem;
use super::from::source_of;
use super::writes::is_default;
use super::{Act, Compiler, Scope, Writing, part};

impl Compiler<'_> {
    pub(super) fn insert(&mut self, insert: &Insert) -> Result<(), SqlProblem> {
        let TableObject::TableName(name) = &insert.table else {
            return Err(SqlProblem::unsupported("this form of INSERT"));
        };
        let table = self.user_table(name)?;
        self.target = Some(Arc::clone(&table));
        let is_ignoring = insert.ignore;
        let mut without_default = Vec::new();
        let (rows, given_rows) = self.rows_to_insert(insert, &table, &mut without_default)?;
        let word = match (insert.replace_into, is_ignoring) {
            (true, _) => "INSERT OR REPLACE",
            (false, true) => "INSERT OR IGNORE",
            _ => "INSERT",
        };
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let mut sql = format!(
            "{word} INTO {} AS {} ({}) {rows}",
            quoted(&table.full_name),
            quoted(&table.name),
            table.names(&all)
        );
        let alias = insert.insert_alias.as_ref();
        if alias.is_some() && self.setting.is_mariadb {
            return Err(SqlProblem::unsupported(
                "INSERT … AS, as MariaDB does not either",
            ));
        }
        if let Some(OnInsert::DuplicateKeyUpdate(assignments)) = &insert.on {
            self.row_alias = alias
                .and_then(|alias| alias.row_alias.0.last().map(part))
                .map(str::to_owned);
            self.scopes.push(Scope {
                sources: vec![source_of(&table, &table.name)],
                ..Scope::default()
            });
            let sets = self.assignments(assignments, &table, None)?;
            self.scopes.pop();
            sql.push_str(&format!(" ON CONFLICT DO UPDATE SET {sets}"));
        }
        self.plan.sql = sql;
        self.plan.act = Act::Insert(Writing {
            table,
            is_ignoring,
            given_rows,
            is_replace: insert.replace_into,
            without_default,
        });
        Ok(())
    }

    /// `VALUES …` or `SELECT …` with a value for every column, and how many rows are written out.
    fn rows_to_insert(
        &mut self,
        insert: &Insert,
        table: &Arc<Table>,
        without_default: &mut Vec<String>,
    ) -> Result<(String, Option<usize>), SqlProblem> {
        if !insert.assignments.is_empty() {
            let mut places = Vec::new();
            let mut values = Vec::new();
            for assignment in &insert.assignments {
                places.push(self.assigned_column(&assignment.target, table)?);
                values.push(assignment.value.clone());
            }
            let row = self.row(&values, &places, table, without_default)?;
            return Ok((format!("VALUES {row}"), Some(1)));
        }
        let places = self.listed_columns(&insert.columns, table)?;
        let Some(source) = &insert.source else {
            return Err(SqlProblem::unsupported("this form of INSERT"));
        };
        let SetExpr::Values(values) = source.body.as_ref() else {
            return Ok((
                self.selected_rows(source, &places, table, without_default)?,
                None,
            ));
        };
        let mut rows = Vec::new();
        for (number, row) in values.rows.iter().enumerate() {
            let row = &row.content;
            let places = if row.is_empty() { &[][..] } else { &places };
            if row.len() != places.len() {
                return Err(wrong_count(number + 1));
            }
            rows.push(self.row(row, places, table, without_default)?);
        }
        let count = rows.len();
        Ok((format!("VALUES {}", rows.join(", ")), Some(count)))
    }

    fn listed_columns(
        &self,
        columns: &[ObjectName],
        table: &Table,
    ) -> Result<Vec<usize>, SqlProblem> {
        if columns.is_empty() {
            return Ok((0..table.columns.len()).collect());
        }
        let mut places = Vec::new();
        for name in columns {
            let name = name.0.last().map(part).unwrap_or_default();
            let place = table
                .column(name)
                .ok_or_else(|| self.unknown_column(name))?;
            if places.contains(&place) {
                return Err(SqlProblem::new(
                    1110,
                    format!("Column '{name}' specified twice"),
                ));
            }
            places.push(place);
        }
        Ok(places)
    }

    fn row(
        &mut self,
        values: &[Expr],
        places: &[usize],
        table: &Table,
        without_default: &mut Vec<String>,
    ) -> Result<String, SqlProblem> {
        let mut stored = Vec::new();
        for (place, column) in table.columns.iter().enumerate() {
            let given = places.iter().position(|listed| *listed == place);
            let value = match given.map(|given| &values[given]) {
                Some(expr) if !is_default(expr) => self.expr(expr)?.sql,
                Some(_) => self.default_value(column, &mut Vec::new())?,
                None => self.default_value(column, without_default)?,
            };
            stored.push(format!("rs_store({place}, {value})"));
        }
        Ok(format!("({})", stored.join(", ")))
    }

    fn selected_rows(
        &mut self,
        source: &sqlparser::ast::Query,
        places: &[usize],
        table: &Table,
        without_default: &mut Vec<String>,
    ) -> Result<String, SqlProblem> {
        let (sql, columns) = self.query(source)?;
        if columns.len() != places.len() {
            return Err(wrong_count(1));
        }
        let names: Vec<String> = (0..places.len()).map(|n| format!("c{n}")).collect();
        let mut stored = Vec::new();
        for (place, column) in table.columns.iter().enumerate() {
            let value = match places.iter().position(|listed| *listed == place) {
                Some(given) => format!("given_rows.{}", names[given]),
                None => self.default_value(column, without_default)?,
            };
            stored.push(format!("rs_store({place}, {value})"));
        }
        // `WHERE 1` keeps an ON CONFLICT behind it from being read as a join's ON.
        Ok(format!(
            "WITH given_rows({}) AS ({sql}) SELECT {} FROM given_rows WHERE 1",
            names.join(", "),
            stored.join(", ")
        ))
    }
}

fn wrong_count(row: usize) -> SqlProblem {
    SqlProblem::new(
        1136,
        format!("Column count doesn't match value count at row {row}"),
    )
}
