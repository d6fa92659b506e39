//! UPDATE and DELETE, and what INSERT has in common with them. Every value goes through `rs_store`, which bends or refuses
//! it as its column wants.

use std::sync::Arc;

use sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, JoinConstraint, JoinOperator,
    ObjectName, OrderByExpr, TableFactor, TableWithJoins, Update,
};

use super::super::catalog::{Column, Table, quoted};
use super::super::problem::SqlProblem;
use super::super::storing;
use super::super::value::Value;
use super::from::source_of;
use super::queries::identity_of;
use super::{Act, Clause, Compiler, Piece, Scope, Writing, literal, part};

impl Compiler<'_> {
    /// What a column takes that is given no value.
    pub(super) fn default_value(
        &self,
        column: &Column,
        without_default: &mut Vec<String>,
    ) -> Result<String, SqlProblem> {
        if let Some(default) = &column.default {
            return Ok(default.sql.clone());
        }
        if column.is_nullable || column.is_auto {
            return Ok("NULL".to_owned());
        }
        if self.setting.is_strict {
            return Err(SqlProblem::new(
                1364,
                format!("Field '{}' doesn't have a default value", column.name),
            ));
        }
        without_default.push(column.name.clone());
        Ok(match storing::nothing(column) {
            Value::Int(number) => number.to_string(),
            Value::Double(number) => number.to_string(),
            Value::Text(text) => literal(&text),
            _ => "x''".to_owned(),
        })
    }

    pub(super) fn assigned_column(
        &self,
        target: &AssignmentTarget,
        table: &Table,
    ) -> Result<usize, SqlProblem> {
        let AssignmentTarget::ColumnName(name) = target else {
            return Err(SqlProblem::unsupported("this form of SET"));
        };
        let column = name.0.last().map(part).unwrap_or_default();
        table
            .column(column)
            .ok_or_else(|| self.unknown_column(&name.to_string()))
    }

    /// `a = …, b = …` with what changes by itself.
    pub(super) fn assignments(
        &mut self,
        assignments: &[Assignment],
        table: &Table,
        alias: Option<&str>,
    ) -> Result<String, SqlProblem> {
        let mut sets = Vec::new();
        let mut changes = Vec::new();
        let mut assigned = Vec::new();
        for assignment in assignments {
            let place = self.assigned_column(&assignment.target, table)?;
            let column = &table.columns[place];
            let value = if is_default(&assignment.value) {
                self.default_value(column, &mut Vec::new())?
            } else {
                self.expr(&assignment.value)?.sql
            };
            let stored = format!("rs_store({place}, {value})");
            let name = quoted(&column.name);
            let now = format!("{}.{name}", quoted(alias.unwrap_or(&table.name)));
            changes.push(format!("{now} COLLATE BINARY IS {stored}"));
            sets.push(format!("{name} = {stored}"));
            assigned.push(place);
        }
        for (place, column) in table.columns.iter().enumerate() {
            let (Some(digits), false) = (column.on_update, assigned.contains(&place)) else {
                continue;
            };
            // Only where something changes.
            let name = quoted(&column.name);
            sets.push(format!(
                "{name} = CASE WHEN {} THEN {}.{name} ELSE rs_store({place}, rs_now({digits})) END",
                changes.join(" AND "),
                quoted(alias.unwrap_or(&table.name))
            ));
        }
        Ok(sets.join(", "))
    }

    pub(super) fn update(&mut self, update: &Update) -> Result<(), SqlProblem> {
        let (name, alias) = plain_table(&update.table.relation)?;
        if !update.table.joins.is_empty() {
            return self.update_joined(update);
        }
        let table = self.user_table(name)?;
        let alias = alias.unwrap_or(&table.name).to_owned();
        self.scopes.push(Scope {
            sources: vec![source_of(&table, &alias)],
            ..Scope::default()
        });
        let sets = self.assignments(&update.assignments, &table, Some(&alias))?;
        let condition = self.which(
            &table,
            &alias,
            update.selection.as_ref(),
            &update.order_by,
            update.limit.as_ref(),
        )?;
        self.scopes.pop();
        self.finish_update(update, table, |full, or| {
            format!(
                "UPDATE {or}{full} AS {} SET {sets} WHERE {condition}",
                quoted(&alias)
            )
        })
    }

    fn finish_update(
        &mut self,
        update: &Update,
        table: Arc<Table>,
        sql: impl FnOnce(&str, &str) -> String,
    ) -> Result<(), SqlProblem> {
        let is_ignoring = matches!(update.or, Some(sqlparser::ast::SqliteOnConflict::Ignore));
        let or = if is_ignoring { "OR IGNORE " } else { "" };
        self.plan.sql = sql(&quoted(&table.full_name), or);
        self.plan.act = Act::Update(Writing {
            table,
            is_ignoring,
            given_rows: None,
            is_replace: false,
            without_default: Vec::new(),
        });
        Ok(())
    }

    /// UPDATE a JOIN b ON … SET a.x = b.y: inner joins, one table changed.
    fn update_joined(&mut self, update: &Update) -> Result<(), SqlProblem> {
        self.scopes.push(Scope::default());
        let (target, conditions, others) = self.joined(&update.table, |compiler| {
            let first = update.assignments.first();
            let AssignmentTarget::ColumnName(name) = &first?.target else {
                return None;
            };
            compiler.owner(name)
        })?;
        let (alias, table) = target;
        let sets = self.assignments(&update.assignments, &table, Some(&alias))?;
        let mut conditions = conditions;
        if let Some(selection) = &update.selection {
            self.clause = Clause::Where;
            conditions.push(self.expr(selection)?.sql);
        }
        self.scopes.pop();
        let condition = all_of(&conditions);
        self.finish_update(update, table, |full, or| {
            format!(
                "UPDATE {or}{full} AS {} SET {sets} FROM {} WHERE {condition}",
                quoted(&alias),
                others.join(", ")
            )
        })
    }

    /// The alias of the table that a column to be set belongs to.
    fn owner(&self, name: &ObjectName) -> Option<String> {
        let scope = self.scopes.last()?;
        let column = name.0.last().map(part)?;
        let table = name
            .0
            .len()
            .checked_sub(2)
            .map(|place| part(&name.0[place]));
        let owner = scope.sources.iter().find(|source| {
            table.is_none_or(|table| source.alias.eq_ignore_ascii_case(table))
                && source
                    .columns
                    .iter()
                    .any(|known| known.name.eq_ignore_ascii_case(column))
        })?;
        Some(owner.alias.clone())
    }

    /// The table to be changed, the joins' conditions, and the other tables as FROM has them.
    #[allow(clippy::type_complexity)] // three things that belong together for one caller
    fn joined(
        &mut self,
        tables: &TableWithJoins,
        target: impl FnOnce(&Self) -> Option<String>,
    ) -> Result<((String, Arc<Table>), Vec<String>, Vec<String>), SqlProblem> {
        let mut factors = vec![&tables.relation];
        let mut conditions = Vec::new();
        let mut texts = Vec::new();
        for join in &tables.joins {
            factors.push(&join.relation);
        }
        for factor in factors {
            let one = TableWithJoins {
                relation: factor.clone(),
                joins: Vec::new(),
            };
            texts.push(self.table_with_joins(&one)?);
        }
        for join in &tables.joins {
            let (JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::CrossJoin(constraint)) = &join.join_operator
            else {
                return Err(SqlProblem::unsupported("outer joins in an UPDATE"));
            };
            match constraint {
                JoinConstraint::On(on) => {
                    self.clause = Clause::On;
                    conditions.push(self.expr(on)?.sql);
                    self.clause = Clause::Fields;
                }
                JoinConstraint::None => {}
                _ => return Err(SqlProblem::unsupported("USING in an UPDATE")),
            }
        }
        let target = target(self);
        let sources = self.scopes.last().map_or(&[][..], |scope| &scope.sources);
        let found = sources
            .iter()
            .enumerate()
            .find(|(_, source)| Some(&source.alias) == target.as_ref())
            .and_then(|(place, source)| Some((place, source.alias.clone(), source.table.clone()?)));
        let Some((place, alias, table)) = found else {
            return Err(self.unknown_column("?"));
        };
        texts.remove(place);
        Ok(((alias, table), conditions, texts))
    }

    /// The condition for the rows meant; with LIMIT those that come first.
    fn which(
        &mut self,
        table: &Table,
        alias: &str,
        selection: Option<&Expr>,
        order: &[OrderByExpr],
        limit: Option<&Expr>,
    ) -> Result<String, SqlProblem> {
        self.clause = Clause::Where;
        let condition = match selection {
            Some(selection) => self.expr(selection)?.sql,
            // Never none, so that SQLite does not empty the table behind the triggers' back.
            None => "1".to_owned(),
        };
        self.clause = Clause::Fields;
        let Some(limit) = limit else {
            return Ok(condition);
        };
        let order = self.order_by(order)?;
        let limit: Piece = self.expr(limit)?;
        Ok(format!(
            "({}) IN (SELECT {} FROM {} AS {} WHERE {condition}{order} LIMIT {})",
            identity_of(table, alias),
            identity_of(table, alias),
            quoted(&table.full_name),
            quoted(alias),
            limit.sql
        ))
    }

    pub(super) fn delete(&mut self, delete: &Delete) -> Result<(), SqlProblem> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        if !delete.tables.is_empty() {
            return self.delete_joined(&delete.tables, from, delete.selection.as_ref());
        }
        if let Some(using) = &delete.using {
            let names: Vec<ObjectName> = from
                .iter()
                .map(|table| plain_table(&table.relation).map(|(name, _)| name.clone()))
                .collect::<Result<_, _>>()?;
            return self.delete_joined(&names, using, delete.selection.as_ref());
        }
        let Some(first) = from.first() else {
            return Err(SqlProblem::unsupported("this form of DELETE"));
        };
        let (name, alias) = plain_table(&first.relation)?;
        let table = self.user_table(name)?;
        let alias = alias.unwrap_or(&table.name).to_owned();
        self.scopes.push(Scope {
            sources: vec![source_of(&table, &alias)],
            ..Scope::default()
        });
        let condition = self.which(
            &table,
            &alias,
            delete.selection.as_ref(),
            &delete.order_by,
            delete.limit.as_ref(),
        )?;
        self.scopes.pop();
        self.plan.sql = format!(
            "DELETE FROM {} AS {} WHERE {condition}",
            quoted(&table.full_name),
            quoted(&alias)
        );
        self.finish_delete(table);
        Ok(())
    }

    fn finish_delete(&mut self, table: Arc<Table>) {
        self.plan.act = Act::Delete(Writing {
            table,
            is_ignoring: false,
            given_rows: None,
            is_replace: false,
            without_default: Vec::new(),
        });
    }

    /// DELETE a FROM a JOIN b …: one table changed.
    fn delete_joined(
        &mut self,
        targets: &[ObjectName],
        from: &[TableWithJoins],
        selection: Option<&Expr>,
    ) -> Result<(), SqlProblem> {
        let [target] = targets else {
            return Err(SqlProblem::unsupported(
                "DELETE from several tables at once",
            ));
        };
        let name = target.0.last().map(part).unwrap_or_default();
        self.scopes.push(Scope::default());
        let from = self.from(from)?;
        let mut condition = String::new();
        if let Some(selection) = selection {
            self.clause = Clause::Where;
            condition = format!(" WHERE {}", self.expr(selection)?.sql);
            self.clause = Clause::Fields;
        }
        let scope = self.scopes.pop().unwrap_or_default();
        let source = scope
            .sources
            .iter()
            .find(|source| source.alias.eq_ignore_ascii_case(name));
        let Some((alias, table)) =
            source.and_then(|source| Some((source.alias.clone(), source.table.clone()?)))
        else {
            return Err(SqlProblem::new(
                1109,
                format!("Unknown table '{name}' in MULTI DELETE"),
            ));
        };
        self.plan.sql = format!(
            "DELETE FROM {} WHERE ({}) IN (SELECT {} FROM {from}{condition})",
            quoted(&table.full_name),
            table.identity(),
            identity_of(&table, &alias)
        );
        self.finish_delete(table);
        Ok(())
    }
}

fn all_of(conditions: &[String]) -> String {
    match conditions {
        [] => "1".to_owned(),
        conditions => conditions.join(" AND "),
    }
}

pub(super) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("DEFAULT"))
}

fn plain_table(factor: &TableFactor) -> Result<(&ObjectName, Option<&str>), SqlProblem> {
    match factor {
        TableFactor::Table { name, alias, .. } => {
            Ok((name, alias.as_ref().map(|alias| alias.name.value.as_str())))
        }
        _ => Err(SqlProblem::unsupported("changing what is no table")),
    }
}
