//! A table in the making, from nothing or from another table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use sqlparser::ast::{
    Expr, ForeignKeyConstraint, Ident, IndexColumn, ReferentialAction, TableConstraint,
};

use super::super::catalog::{Column, Key, Table};
use super::super::compile::part;
use super::super::foreign::{ForeignKey, Rule};
use super::super::problem::SqlProblem;
use super::columns;
use super::last;

/// A table in the making.
pub struct Draft {
    pub schema: String,
    pub name: String,
    /// Each with the column of the old table that it takes its values from.
    pub columns: Vec<(Column, Option<usize>)>,
    /// By name, since places move.
    pub primary: Vec<String>,
    pub keys: Vec<DraftKey>,
    pub foreign: Vec<ForeignKey>,
    pub next_auto: i64,
    pub comment: String,
}

#[derive(Clone)]
pub struct DraftKey {
    pub name: String,
    pub columns: Vec<String>,
    pub is_unique: bool,
}

impl Draft {
    pub fn of(table: &Table) -> Self {
        let name = |place: &usize| table.columns[*place].name.clone();
        Draft {
            schema: table.schema.clone(),
            name: table.name.clone(),
            columns: table
                .columns
                .iter()
                .enumerate()
                .map(|(place, column)| (column.clone(), Some(place)))
                .collect(),
            primary: table.primary.iter().map(name).collect(),
            keys: table
                .keys
                .iter()
                .map(|key| DraftKey {
                    name: key.name.clone(),
                    columns: key.columns.iter().map(name).collect(),
                    is_unique: key.is_unique,
                })
                .collect(),
            foreign: table.foreign.clone(),
            next_auto: table.next_auto.load(Ordering::Relaxed),
            comment: table.comment.clone(),
        }
    }

    pub fn origins(&self) -> Vec<Option<usize>> {
        self.columns.iter().map(|(_, origin)| *origin).collect()
    }

    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|(column, _)| column.name.eq_ignore_ascii_case(name))
    }

    pub fn add_column(
        &mut self,
        defined: columns::Defined,
        place: usize,
    ) -> Result<(), SqlProblem> {
        let name = defined.column.name.clone();
        if self.place(&name).is_some() {
            return Err(SqlProblem::new(
                1060,
                format!("Duplicate column name '{name}'"),
            ));
        }
        if defined.is_primary {
            self.set_primary(vec![name.clone()])?;
        }
        if defined.is_unique {
            self.add_key(None, vec![name], true)?;
        }
        self.columns.insert(place, (defined.column, None));
        Ok(())
    }

    pub fn set_primary(&mut self, columns: Vec<String>) -> Result<(), SqlProblem> {
        if !self.primary.is_empty() {
            return Err(SqlProblem::new(1068, "Multiple primary key defined"));
        }
        self.primary = columns;
        Ok(())
    }

    /// Without a name it is called after its first column.
    pub fn add_key(
        &mut self,
        name: Option<&str>,
        columns: Vec<String>,
        is_unique: bool,
    ) -> Result<(), SqlProblem> {
        let taken = |name: &str| {
            self.keys
                .iter()
                .any(|key| key.name.eq_ignore_ascii_case(name))
        };
        let name = match name {
            Some(name) if taken(name) => {
                return Err(SqlProblem::new(
                    1061,
                    format!("Duplicate key name '{name}'"),
                ));
            }
            Some(name) => name.to_owned(),
            None => {
                let base = columns.first().cloned().unwrap_or_default();
                let numbered = (2..).map(|number| format!("{base}_{number}"));
                std::iter::once(base.clone())
                    .chain(numbered)
                    .find(|name| !taken(name))
                    .unwrap_or(base)
            }
        };
        self.keys.push(DraftKey {
            name,
            columns,
            is_unique,
        });
        Ok(())
    }

    pub fn add_constraint(&mut self, constraint: &TableConstraint) -> Result<(), SqlProblem> {
        match constraint {
            TableConstraint::PrimaryKey(key) => self.set_primary(key_columns(&key.columns)),
            TableConstraint::Unique(key) => {
                let name = key.index_name.as_ref().or(key.name.as_ref());
                let name = name.map(|name| name.value.as_str());
                self.add_key(name, key_columns(&key.columns), true)
            }
            TableConstraint::Index(key) => {
                let name = key.name.as_ref().map(|name| name.value.as_str());
                self.add_key(name, key_columns(&key.columns), false)
            }
            TableConstraint::ForeignKey(key) => self.add_foreign_key(key),
            // Taken and not kept.
            _ => Ok(()),
        }
    }

    fn add_foreign_key(&mut self, key: &ForeignKeyConstraint) -> Result<(), SqlProblem> {
        let names = |idents: &[Ident]| {
            idents
                .iter()
                .map(|ident| ident.value.clone())
                .collect::<Vec<_>>()
        };
        let given = key.name.as_ref().or(key.index_name.as_ref());
        let given = given.map(|name| name.value.clone());
        let number = 1 + self.foreign.len();
        let name = given
            .clone()
            .unwrap_or_else(|| format!("{}_ibfk_{number}", self.name));
        if self
            .foreign
            .iter()
            .any(|known| known.name.eq_ignore_ascii_case(&name))
        {
            let text = format!("Duplicate foreign key constraint name '{name}'");
            return Err(SqlProblem::new(1826, text));
        }
        let columns = names(&key.columns);
        let has = |known: &[String]| {
            columns.len() <= known.len()
                && columns
                    .iter()
                    .zip(known)
                    .all(|(a, b)| a.eq_ignore_ascii_case(b))
        };
        // Without an index of its own each change of a parent would look through all children.
        if !has(&self.primary) && !self.keys.iter().any(|key| has(&key.columns)) {
            self.add_key(given.as_deref(), columns.clone(), false)?;
        }
        let parent = &key.foreign_table.0;
        let schema = parent
            .len()
            .checked_sub(2)
            .map(|place| part(&parent[place]).to_owned());
        self.foreign.push(ForeignKey {
            name,
            columns,
            parent: (
                schema.unwrap_or_else(|| self.schema.clone()),
                last(&key.foreign_table).to_owned(),
            ),
            parent_columns: names(&key.referred_columns),
            on_delete: rule(key.on_delete)?,
            on_update: rule(key.on_update)?,
        });
        Ok(())
    }

    pub fn finished(mut self, number: u32) -> Result<Table, SqlProblem> {
        if self.columns.is_empty() {
            return Err(SqlProblem::new(1113, "A table must have at least 1 column"));
        }
        let find = |names: &[String]| -> Result<Vec<usize>, SqlProblem> {
            names
                .iter()
                .map(|name| {
                    self.place(name).ok_or_else(|| {
                        SqlProblem::new(1072, format!("Key column '{name}' doesn't exist in table"))
                    })
                })
                .collect()
        };
        let primary = find(&self.primary)?;
        let mut keys = Vec::new();
        for key in &self.keys {
            keys.push(Key {
                name: key.name.clone(),
                columns: find(&key.columns)?,
                is_unique: key.is_unique,
            });
        }
        for place in &primary {
            self.columns[*place].0.is_nullable = false;
        }
        let columns: Vec<_> = self.columns.into_iter().map(|(column, _)| column).collect();
        let autos: Vec<usize> = (0..columns.len())
            .filter(|place| columns[*place].is_auto)
            .collect();
        let is_first_of_a_key = |place: usize| {
            primary.first() == Some(&place)
                || keys.iter().any(|key| key.columns.first() == Some(&place))
        };
        if autos.len() > 1 || autos.iter().any(|place| !is_first_of_a_key(*place)) {
            return Err(SqlProblem::new(
                1075,
                "Incorrect table definition; there can be only one auto column and it must be defined as a key",
            ));
        }
        Ok(Table {
            full_name: format!("{}.{}", self.schema, self.name).into(),
            schema: self.schema,
            name: self.name,
            number,
            columns,
            primary,
            keys,
            foreign: self.foreign,
            next_auto: AtomicI64::new(self.next_auto),
            comment: self.comment,
            statements: OnceLock::new(),
        })
    }
}

fn rule(action: Option<ReferentialAction>) -> Result<Rule, SqlProblem> {
    Ok(match action {
        None | Some(ReferentialAction::Restrict) => Rule::Restrict,
        Some(ReferentialAction::NoAction) => Rule::NoAction,
        Some(ReferentialAction::Cascade) => Rule::Cascade,
        Some(ReferentialAction::SetNull) => Rule::SetNull,
        Some(ReferentialAction::SetDefault) => {
            return Err(SqlProblem::unsupported("ON … SET DEFAULT"));
        }
    })
}

/// Prefixes (`name(10)`) and directions mean nothing here.
pub fn key_columns(columns: &[IndexColumn]) -> Vec<String> {
    columns
        .iter()
        .map(|column| match &column.column.expr {
            Expr::Identifier(ident) => ident.value.clone(),
            Expr::Function(function) => last(&function.name).to_owned(),
            other => other.to_string(),
        })
        .collect()
}
