//! ALTER TABLE and the statements about one index: a new form of the table, filled from the old one.

use std::sync::Arc;

use sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnOption, DataType, Ident,
    IndexColumn, MySQLColumnPosition, ObjectName, RenameTableNameKind,
};

use super::super::catalog::Table;
use super::super::problem::SqlProblem;
use super::{Ddl, Done, Draft, Outcome, columns, key_columns};

impl Ddl<'_> {
    pub(super) fn alter(&mut self, alter: &AlterTable) -> Outcome {
        let old = self.existing(&alter.name)?;
        let mut draft = Draft::of(&old);
        for operation in &alter.operations {
            self.operation(&mut draft, operation)
                .map_err(|problem| self.worded(problem, dropped(operation)))?;
        }
        let moves = (&draft.schema, &draft.name) != (&old.schema, &old.name);
        if moves && self.catalog.table(&draft.schema, &draft.name).is_some() {
            return Err(SqlProblem::new(
                1050,
                format!("Table '{}' already exists", draft.name),
            ));
        }
        self.altered(&old, draft)
    }

    /// Rows are counted where a column's type changes, since then they are copied.
    fn altered(&mut self, old: &Arc<Table>, draft: Draft) -> Outcome {
        let is_copied = draft.columns.iter().any(|(column, origin)| {
            origin.is_some_and(|origin| old.columns[origin].kept != column.kept)
        });
        let rows = self.replace(old, draft)?;
        let affected_rows = if is_copied { rows } else { 0 };
        Ok(Done {
            touches: old.full_name.to_string(),
            affected_rows,
            info: format!("Records: {affected_rows}  Duplicates: 0  Warnings: 0"),
            ..Done::default()
        })
    }

    fn worded(&self, problem: SqlProblem, what: &str) -> SqlProblem {
        match self.engine.generation.flavour().is_mariadb() {
            true => in_words_of_mariadb(problem, what),
            false => problem,
        }
    }

    fn operation(
        &self,
        draft: &mut Draft,
        operation: &AlterTableOperation,
    ) -> Result<(), SqlProblem> {
        match operation {
            AlterTableOperation::AddConstraint { constraint, .. } => {
                draft.add_constraint(constraint)
            }
            AlterTableOperation::DropPrimaryKey { .. } if draft.primary.is_empty() => {
                Err(cannot_drop("PRIMARY"))
            }
            AlterTableOperation::DropPrimaryKey { .. } => {
                draft.primary.clear();
                Ok(())
            }
            AlterTableOperation::DropIndex { name } => draft.drop_key(&name.value),
            AlterTableOperation::RenameTable {
                table_name: RenameTableNameKind::To(name) | RenameTableNameKind::As(name),
            } => {
                (draft.schema, draft.name) = self.full(name)?;
                Ok(())
            }
            AlterTableOperation::AutoIncrement { value, .. } => {
                let wanted = value.value.to_string().parse().unwrap_or(1);
                draft.next_auto = draft.next_auto.max(wanted);
                Ok(())
            }
            AlterTableOperation::DropForeignKey { name, .. } => draft.drop_foreign_key(&name.value),
            AlterTableOperation::Algorithm { .. } | AlterTableOperation::Lock { .. } => Ok(()),
            other => self.column_operation(draft, other),
        }
    }

    /// What is about one column.
    fn column_operation(
        &self,
        draft: &mut Draft,
        operation: &AlterTableOperation,
    ) -> Result<(), SqlProblem> {
        match operation {
            AlterTableOperation::AddColumn {
                column_def,
                column_position,
                if_not_exists,
                ..
            } => {
                if *if_not_exists && draft.place(&column_def.name.value).is_some() {
                    return Ok(());
                }
                let options: Vec<_> = column_def.options.iter().map(|o| &o.option).collect();
                let defined =
                    self.defined(&column_def.name.value, &column_def.data_type, &options)?;
                let place = draft.position(column_position.as_ref(), draft.columns.len())?;
                draft.add_column(defined, place)
            }
            AlterTableOperation::DropColumn {
                column_names,
                if_exists,
                ..
            } => column_names.iter().try_for_each(|name| {
                draft
                    .drop_column(name)
                    .or_else(|problem| if *if_exists { Ok(()) } else { Err(problem) })
            }),
            AlterTableOperation::ModifyColumn {
                col_name,
                data_type,
                options,
                column_position,
            } => self.change(
                draft,
                col_name,
                col_name,
                data_type,
                options,
                column_position.as_ref(),
            ),
            AlterTableOperation::ChangeColumn {
                old_name,
                new_name,
                data_type,
                options,
                column_position,
            } => self.change(
                draft,
                old_name,
                new_name,
                data_type,
                options,
                column_position.as_ref(),
            ),
            AlterTableOperation::RenameColumn {
                old_column_name,
                new_column_name,
            } => draft.rename_column(&old_column_name.value, &new_column_name.value),
            AlterTableOperation::AlterColumn { column_name, op } => {
                draft.set_default(&column_name.value, op)
            }
            other => Err(SqlProblem::unsupported(&format!("ALTER TABLE … {other}"))),
        }
    }

    fn change(
        &self,
        draft: &mut Draft,
        old: &Ident,
        new: &Ident,
        data_type: &DataType,
        options: &[ColumnOption],
        position: Option<&MySQLColumnPosition>,
    ) -> Result<(), SqlProblem> {
        draft.rename_column(&old.value, &new.value)?;
        let place = draft.known(&new.value)?;
        let (_, origin) = draft.columns[place].clone();
        let options: Vec<&ColumnOption> = options.iter().collect();
        let defined = self.defined(&new.value, data_type, &options)?;
        if defined.is_primary {
            draft.set_primary(vec![new.value.clone()])?;
        }
        if defined.is_unique {
            draft.add_key(None, vec![new.value.clone()], true)?;
        }
        if position.is_none() {
            draft.columns[place] = (defined.column, origin);
            return Ok(());
        }
        draft.columns.remove(place);
        let place = draft.position(position, place)?;
        draft.columns.insert(place, (defined.column, origin));
        Ok(())
    }

    pub(super) fn add_index(
        &mut self,
        table: &ObjectName,
        name: Option<&str>,
        columns: &[IndexColumn],
        is_unique: bool,
    ) -> Outcome {
        let old = self.existing(table)?;
        let mut draft = Draft::of(&old);
        draft.add_key(name, key_columns(columns), is_unique)?;
        self.altered(&old, draft)
    }

    pub(super) fn drop_index(&mut self, table: &ObjectName, name: &str) -> Outcome {
        let old = self.existing(table)?;
        let mut draft = Draft::of(&old);
        draft
            .drop_key(name)
            .map_err(|problem| self.worded(problem, "INDEX"))?;
        self.altered(&old, draft)
    }
}

fn cannot_drop(name: &str) -> SqlProblem {
    SqlProblem::new(
        1091,
        format!("Can't DROP '{name}'; check that column/key exists"),
    )
}

/// MariaDB tells what it is that is not there.
fn in_words_of_mariadb(problem: SqlProblem, what: &str) -> SqlProblem {
    let name = problem.message.split('\'').nth(2).unwrap_or_default();
    match problem.code {
        1091 => SqlProblem::new(
            1091,
            format!("Can't DROP {what} `{name}`; check that it exists"),
        ),
        _ => problem,
    }
}

/// What an operation drops.
fn dropped(operation: &AlterTableOperation) -> &'static str {
    match operation {
        AlterTableOperation::DropColumn { .. } => "COLUMN",
        AlterTableOperation::DropForeignKey { .. } => "FOREIGN KEY",
        _ => "INDEX",
    }
}

impl Draft {
    fn known(&self, name: &str) -> Result<usize, SqlProblem> {
        self.place(name).ok_or_else(|| {
            SqlProblem::new(1054, format!("Unknown column '{name}' in '{}'", self.name))
        })
    }

    fn position(
        &self,
        position: Option<&MySQLColumnPosition>,
        otherwise: usize,
    ) -> Result<usize, SqlProblem> {
        match position {
            None => Ok(otherwise),
            Some(MySQLColumnPosition::First) => Ok(0),
            Some(MySQLColumnPosition::After(name)) => Ok(self.known(&name.value)? + 1),
        }
    }

    fn drop_column(&mut self, name: &Ident) -> Result<(), SqlProblem> {
        let name = &name.value;
        let place = self.place(name).ok_or_else(|| cannot_drop(name))?;
        if self.columns.len() == 1 {
            return Err(SqlProblem::new(
                1090,
                "You can't delete all columns with ALTER TABLE; use DROP TABLE instead",
            ));
        }
        self.columns.remove(place);
        let other = |column: &String| !column.eq_ignore_ascii_case(name);
        self.primary.retain(other);
        for key in &mut self.keys {
            key.columns.retain(other);
        }
        self.keys.retain(|key| !key.columns.is_empty());
        Ok(())
    }

    fn drop_key(&mut self, name: &str) -> Result<(), SqlProblem> {
        if name.eq_ignore_ascii_case("PRIMARY") && !self.primary.is_empty() {
            self.primary.clear();
            return Ok(());
        }
        let place = self
            .keys
            .iter()
            .position(|key| key.name.eq_ignore_ascii_case(name));
        self.keys.remove(place.ok_or_else(|| cannot_drop(name))?);
        Ok(())
    }

    fn drop_foreign_key(&mut self, name: &str) -> Result<(), SqlProblem> {
        let place = self
            .foreign
            .iter()
            .position(|key| key.name.eq_ignore_ascii_case(name));
        self.foreign.remove(place.ok_or_else(|| cannot_drop(name))?);
        Ok(())
    }

    fn rename_column(&mut self, old: &str, new: &str) -> Result<(), SqlProblem> {
        let place = self.known(old)?;
        if !old.eq_ignore_ascii_case(new) && self.place(new).is_some() {
            return Err(SqlProblem::new(
                1060,
                format!("Duplicate column name '{new}'"),
            ));
        }
        self.columns[place].0.name = new.to_owned();
        let keys = self.keys.iter_mut().flat_map(|key| key.columns.iter_mut());
        let foreign = self
            .foreign
            .iter_mut()
            .flat_map(|key| key.columns.iter_mut());
        for column in self.primary.iter_mut().chain(keys).chain(foreign) {
            if column.eq_ignore_ascii_case(old) {
                *column = new.to_owned();
            }
        }
        Ok(())
    }

    fn set_default(&mut self, name: &str, op: &AlterColumnOperation) -> Result<(), SqlProblem> {
        let place = self.known(name)?;
        let column = &mut self.columns[place].0;
        match op {
            AlterColumnOperation::SetDefault { value } => {
                column.default = columns::default(column, value)?;
                Ok(())
            }
            AlterColumnOperation::DropDefault => {
                column.default = None;
                Ok(())
            }
            _ => Err(SqlProblem::unsupported("this form of ALTER COLUMN")),
        }
    }
}
