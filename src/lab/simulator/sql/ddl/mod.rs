//! CREATE, ALTER, DROP, RENAME, TRUNCATE: the catalog and SQLite's tables change together.

mod altered;
mod columns;
mod draft;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use sqlparser::ast::{
    ColumnOption, CreateTable, CreateTableLikeKind, CreateTableOptions, DataType, ObjectName,
    ObjectType, RenameTable, SqlOption, Statement,
};

use super::catalog::{Catalog, Table};
use super::compile::{is_system, no_database, no_table, part, unknown_database};
use super::engine::{self, Engine, is_from_80};
use super::foreign::{self, ForeignKey};
use super::problem::SqlProblem;
use draft::{Draft, key_columns};

/// What a statement did.
#[derive(Debug, Default)]
pub struct Done {
    /// `schema.table`, or `schema`.
    pub touches: String,
    /// Notes such as "table exists" under IF NOT EXISTS.
    pub notes: Vec<(u16, String)>,
    pub affected_rows: u64,
    pub info: String,
}

pub struct Ddl<'a> {
    pub catalog: &'a mut Catalog,
    pub engine: &'a Engine,
    pub schema: Option<&'a str>,
    /// `foreign_key_checks`.
    pub checks_foreign_keys: bool,
}

type Outcome = Result<Done, SqlProblem>;

impl Ddl<'_> {
    /// All of it or nothing.
    pub fn run(&mut self, statement: &Statement) -> Outcome {
        let before = self.catalog.clone();
        self.engine.begin()?;
        let done = self.statement(statement).and_then(|done| {
            foreign::tie(self.engine, self.catalog)?;
            Ok(done)
        });
        match &done {
            Ok(_) => self.engine.commit()?,
            Err(_) => {
                self.engine.rollback();
                *self.catalog = before;
            }
        }
        done
    }

    fn statement(&mut self, statement: &Statement) -> Outcome {
        match statement {
            Statement::CreateDatabase {
                db_name,
                if_not_exists,
                ..
            } => self.create_schema(last(db_name), *if_not_exists),
            Statement::CreateSchema {
                schema_name,
                if_not_exists,
                ..
            } => {
                let name = schema_name.to_string();
                self.create_schema(name.trim_matches('`'), *if_not_exists)
            }
            Statement::CreateTable(create) => self.create_table(create),
            Statement::CreateIndex(create) => {
                let name = create.name.as_ref().map(last);
                self.add_index(&create.table_name, name, &create.columns, create.unique)
            }
            Statement::AlterTable(alter) => self.alter(alter),
            Statement::RenameTable(renames) => self.rename_all(renames),
            Statement::Truncate(truncate) => {
                let mut done = Done::default();
                for target in &truncate.table_names {
                    done = self.truncate(&target.name)?;
                }
                Ok(done)
            }
            Statement::Drop {
                object_type,
                if_exists,
                names,
                table,
                ..
            } => match (object_type, table) {
                (ObjectType::Table, _) => self.drop_tables(names, *if_exists),
                (ObjectType::Schema | ObjectType::Database, _) => {
                    self.drop_schema(names.first().map(last).unwrap_or_default(), *if_exists)
                }
                (ObjectType::Index, Some(table)) => {
                    self.drop_index(table, names.first().map(last).unwrap_or_default())
                }
                (other, _) => Err(SqlProblem::unsupported(&format!("DROP {other}"))),
            },
            other => {
                let text = other.to_string();
                let words: Vec<&str> = text.split(' ').take(2).collect();
                Err(SqlProblem::unsupported(&words.join(" ")))
            }
        }
    }

    fn create_schema(&mut self, name: &str, if_not_exists: bool) -> Outcome {
        let mut done = Done {
            touches: name.to_owned(),
            affected_rows: 1,
            ..Done::default()
        };
        if self.catalog.schemas.contains_key(name) || is_system(name) {
            let text = format!("Can't create database '{name}'; database exists");
            if !if_not_exists {
                return Err(SqlProblem::new(1007, text));
            }
            done.notes.push((1007, text));
        }
        self.catalog.schemas.entry(name.to_owned()).or_default();
        Ok(done)
    }

    fn drop_schema(&mut self, name: &str, if_exists: bool) -> Outcome {
        let mut done = Done {
            touches: name.to_owned(),
            ..Done::default()
        };
        match self.catalog.schemas.remove(name) {
            Some(tables) => {
                for table in tables.values() {
                    self.engine.drop_table(table)?;
                }
                done.affected_rows = tables.len() as u64;
            }
            None => {
                let text = format!("Can't drop database '{name}'; database doesn't exist");
                if !if_exists {
                    return Err(SqlProblem::new(1008, text));
                }
                done.notes.push((1008, text));
            }
        }
        Ok(done)
    }

    fn full(&self, name: &ObjectName) -> Result<(String, String), SqlProblem> {
        let schema = match name.0.len() {
            0 | 1 => self.schema.ok_or_else(no_database)?,
            more => part(&name.0[more - 2]),
        };
        Ok((schema.to_owned(), last(name).to_owned()))
    }

    fn existing(&self, name: &ObjectName) -> Result<Arc<Table>, SqlProblem> {
        let (schema, table) = self.full(name)?;
        self.catalog
            .table(&schema, &table)
            .cloned()
            .ok_or_else(|| no_table(&schema, &table))
    }

    fn create_table(&mut self, create: &CreateTable) -> Outcome {
        let (schema, name) = self.full(&create.name)?;
        let mut done = Done {
            touches: format!("{schema}.{name}"),
            ..Done::default()
        };
        if !self.catalog.schemas.contains_key(&schema) {
            return Err(match is_system(&schema) {
                true => SqlProblem::new(1044, format!("Access denied to database '{schema}'")),
                false => unknown_database(&schema),
            });
        }
        if self.catalog.table(&schema, &name).is_some() {
            let text = format!("Table '{name}' already exists");
            if !create.if_not_exists {
                return Err(SqlProblem::new(1050, text));
            }
            done.notes.push((1050, text));
            return Ok(done);
        }
        if create.query.is_some() {
            return Err(SqlProblem::unsupported("CREATE TABLE … SELECT"));
        }
        if create.temporary {
            return Err(SqlProblem::unsupported("temporary tables"));
        }
        let table = match &create.like {
            Some(CreateTableLikeKind::Plain(like) | CreateTableLikeKind::Parenthesized(like)) => {
                let like = self.existing(&like.name)?;
                let mut copy = Draft::of(&like);
                (copy.schema, copy.name, copy.next_auto) = (schema, name, 1);
                copy.foreign.clear();
                copy
            }
            None => self.drafted(create, schema, name)?,
        };
        let table = table.finished(self.catalog.next_number())?;
        self.check_parents(&table, &[])?;
        self.engine.create_table(&table)?;
        self.catalog.put(Arc::new(table));
        Ok(done)
    }

    fn drafted(
        &self,
        create: &CreateTable,
        schema: String,
        name: String,
    ) -> Result<Draft, SqlProblem> {
        let mut draft = Draft {
            schema,
            name,
            columns: Vec::new(),
            primary: Vec::new(),
            keys: Vec::new(),
            foreign: Vec::new(),
            next_auto: 1,
            comment: String::new(),
        };
        for column in &create.columns {
            let options: Vec<_> = column.options.iter().map(|option| &option.option).collect();
            let defined = self.defined(&column.name.value, &column.data_type, &options)?;
            let place = draft.columns.len();
            draft.add_column(defined, place)?;
        }
        for constraint in &create.constraints {
            draft.add_constraint(constraint)?;
        }
        if let CreateTableOptions::Plain(options) = &create.table_options {
            for option in options {
                if let SqlOption::KeyValue { key, value } = option {
                    let value = value.to_string();
                    match last(key).to_ascii_uppercase().as_str() {
                        "AUTO_INCREMENT" => draft.next_auto = value.parse().unwrap_or(1),
                        "COMMENT" => draft.comment = value.trim_matches('\'').to_owned(),
                        _ => {}
                    }
                }
                if let SqlOption::Comment(comment) = option {
                    draft.comment = match comment {
                        sqlparser::ast::CommentDef::WithEq(text)
                        | sqlparser::ast::CommentDef::WithoutEq(text) => text.clone(),
                    };
                }
            }
        }
        Ok(draft)
    }

    /// MySQL 8 shows no widths of whole numbers any more.
    fn defined(
        &self,
        name: &str,
        data_type: &DataType,
        options: &[&ColumnOption],
    ) -> Result<columns::Defined, SqlProblem> {
        let mut defined = columns::define(name, data_type, options)?;
        if !is_from_80(self.engine.generation) {
            defined.column.declared = columns::with_width(&defined.column.declared, data_type);
        }
        Ok(defined)
    }

    fn drop_tables(&mut self, names: &[ObjectName], if_exists: bool) -> Outcome {
        let mut done = Done::default();
        let mut unknown = Vec::new();
        let going: Vec<_> = names
            .iter()
            .map(|name| self.full(name))
            .collect::<Result<_, _>>()?;
        for (schema, table) in going.clone() {
            self.check_children(&schema, &table, &going)?;
            done.touches = format!("{schema}.{table}");
            match self
                .catalog
                .schemas
                .get_mut(&schema)
                .and_then(|tables| tables.remove(&table))
            {
                Some(table) => self.engine.drop_table(&table)?,
                None => unknown.push(format!("{schema}.{table}")),
            }
        }
        if unknown.is_empty() {
            return Ok(done);
        }
        let text = format!("Unknown table '{}'", unknown.join(","));
        if !if_exists {
            return Err(SqlProblem::new(1051, text));
        }
        done.notes.push((1051, text));
        Ok(done)
    }

    /// The tables that new foreign keys name must be there, with an index on the columns. `known`: keys that were checked
    /// before.
    fn check_parents(&self, table: &Table, known: &[ForeignKey]) -> Result<(), SqlProblem> {
        for key in table.foreign.iter().filter(|key| !known.contains(key)) {
            let (schema, name) = &key.parent;
            let itself = (*schema == table.schema && *name == table.name).then_some(table);
            let parent =
                itself.or_else(|| self.catalog.table(schema, name).map(|parent| &**parent));
            let Some(parent) = parent else {
                let text = format!("Failed to open the referenced table '{name}'");
                return Err(SqlProblem::new(1824, text));
            };
            let places: Option<Vec<usize>> = key
                .parent_columns
                .iter()
                .map(|name| parent.column(name))
                .collect();
            let is_key = |columns: &[usize]| {
                places
                    .as_ref()
                    .is_some_and(|places| columns.starts_with(places))
            };
            if !is_key(&parent.primary) && !parent.keys.iter().any(|known| is_key(&known.columns)) {
                let text = format!(
                    "Failed to add the foreign key constraint. Missing index for constraint '{}' in the referenced table \
                     '{name}'",
                    key.name
                );
                return Err(SqlProblem::new(1822, text));
            }
        }
        Ok(())
    }

    /// A table that others name goes only together with them.
    fn check_children(
        &self,
        schema: &str,
        name: &str,
        going: &[(String, String)],
    ) -> Result<(), SqlProblem> {
        let stays = |table: &Table| {
            !going
                .iter()
                .any(|(schema, name)| *schema == table.schema && *name == table.name)
        };
        match self
            .catalog
            .children(schema, name)
            .find(|(table, _)| stays(table))
        {
            None => Ok(()),
            Some(_) if self.engine.generation.flavour().is_mariadb() => Err(SqlProblem::new(
                1451,
                "Cannot delete or update a parent row: a foreign key constraint fails",
            )),
            Some((table, key)) => Err(SqlProblem::new(
                3730,
                format!(
                    "Cannot drop table '{name}' referenced by a foreign key constraint '{}' on table '{}'.",
                    key.name, table.name
                ),
            )),
        }
    }

    fn truncate(&mut self, name: &ObjectName) -> Outcome {
        let table = self.existing(name)?;
        self.engine.clear_table(&table)?;
        table.next_auto.store(1, Ordering::Relaxed);
        Ok(Done {
            touches: table.full_name.to_string(),
            ..Done::default()
        })
    }

    fn rename_all(&mut self, renames: &[RenameTable]) -> Outcome {
        let mut done = Done::default();
        for rename in renames {
            let old = self.existing(&rename.old_name)?;
            let (schema, name) = self.full(&rename.new_name)?;
            done.touches = old.full_name.to_string();
            self.rename(&old, schema, name)?;
        }
        Ok(done)
    }

    fn rename(&mut self, old: &Arc<Table>, schema: String, name: String) -> Result<(), SqlProblem> {
        if !self.catalog.schemas.contains_key(&schema) {
            return Err(unknown_database(&schema));
        }
        if self.catalog.table(&schema, &name).is_some() {
            return Err(SqlProblem::new(
                1050,
                format!("Table '{name}' already exists"),
            ));
        }
        let mut draft = Draft::of(old);
        (draft.schema, draft.name) = (schema, name);
        self.replace(old, draft).map(drop)
    }

    /// A new foreign key must hold for the rows that are there (1452).
    fn check_rows(&self, table: &Table, key: &ForeignKey) -> Result<(), SqlProblem> {
        match engine::first_row(self.engine, &key.orphan(table), &[])?.first() {
            Some(_) => Err(key.refused_child(table)),
            None => Ok(()),
        }
    }

    /// The same rows in a table of another form; how many there are.
    fn replace(&mut self, old: &Arc<Table>, draft: Draft) -> Result<u64, SqlProblem> {
        let origins = draft.origins();
        let new = Arc::new(draft.finished(self.catalog.next_number())?);
        self.check_parents(&new, &old.foreign)?;
        let rows = self.engine.rebuild(old, &new, &origins)?;
        if self.checks_foreign_keys {
            for key in new.foreign.iter().filter(|key| !old.foreign.contains(key)) {
                self.check_rows(&new, key)?;
            }
        }
        if let Some(tables) = self.catalog.schemas.get_mut(&old.schema) {
            tables.remove(&old.name);
        }
        self.catalog.put(new);
        Ok(rows)
    }
}

pub(super) fn last(name: &ObjectName) -> &str {
    name.0.last().map(part).unwrap_or_default()
}
