//! FROM: tables, joins, derived tables, WITH.

use std::sync::Arc;

use sqlparser::ast::{Join, JoinConstraint, JoinOperator, TableFactor, TableWithJoins, With};

use super::super::catalog::{Table, quoted};
use super::super::problem::SqlProblem;
use super::{Clause, Compiler, Output, Source, is_system, part};

impl Compiler<'_> {
    /// `WITH … `, or nothing.
    pub(super) fn with(&mut self, with: Option<&With>) -> Result<String, SqlProblem> {
        let Some(with) = with else {
            return Ok(String::new());
        };
        let mut tables = Vec::new();
        for cte in &with.cte_tables {
            let name = cte.alias.name.value.clone();
            let named: Vec<String> = cte
                .alias
                .columns
                .iter()
                .map(|column| column.name.value.clone())
                .collect();
            if with.recursive {
                // Its own name may stand inside; the types are those of its first part.
                let first = self.first_part(&cte.query)?;
                self.ctes.push((name.clone(), renamed(first, &named)));
            }
            let (sql, columns) = self.query(&cte.query)?;
            if with.recursive {
                self.ctes.pop();
            }
            let columns = renamed(columns, &named);
            let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
            tables.push(format!(
                "{}({}) AS ({sql})",
                quoted(&name),
                names.join(", ")
            ));
            self.ctes.push((name, columns));
        }
        let recursive = if with.recursive { "RECURSIVE " } else { "" };
        Ok(format!("WITH {recursive}{} ", tables.join(", ")))
    }

    pub(super) fn from(&mut self, tables: &[TableWithJoins]) -> Result<String, SqlProblem> {
        let mut parts = Vec::new();
        for table in tables {
            let sql = self.table_with_joins(table)?;
            if !sql.is_empty() {
                parts.push(sql);
            }
        }
        Ok(parts.join(" CROSS JOIN "))
    }

    pub(super) fn table_with_joins(
        &mut self,
        table: &TableWithJoins,
    ) -> Result<String, SqlProblem> {
        let mut sql = self.factor(&table.relation)?;
        for join in &table.joins {
            sql.push_str(&self.join(join)?);
        }
        Ok(sql)
    }

    fn join(&mut self, join: &Join) -> Result<String, SqlProblem> {
        let (word, constraint) = match &join.join_operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::CrossJoin(constraint)
            | JoinOperator::StraightJoin(constraint) => ("JOIN", constraint),
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => {
                ("LEFT JOIN", constraint)
            }
            JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => {
                ("RIGHT JOIN", constraint)
            }
            _ => return Err(SqlProblem::unsupported("this kind of join")),
        };
        let factor = self.factor(&join.relation)?;
        let natural = if matches!(constraint, JoinConstraint::Natural) {
            "NATURAL "
        } else {
            ""
        };
        let mut sql = format!(" {natural}{word} {factor}");
        match constraint {
            JoinConstraint::On(on) => {
                let before = std::mem::replace(&mut self.clause, Clause::On);
                let on = self.expr(on)?;
                self.clause = before;
                sql.push_str(&format!(" ON {}", on.sql));
            }
            JoinConstraint::Using(names) => {
                let names: Vec<String> = names
                    .iter()
                    .filter_map(|name| name.0.last())
                    .map(|name| part(name).to_owned())
                    .collect();
                let list: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                sql.push_str(&format!(" USING ({})", list.join(", ")));
                if let Some(scope) = self.scopes.last_mut() {
                    scope.joined.extend(names);
                }
            }
            JoinConstraint::Natural => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.is_natural = true;
                }
            }
            _ => {}
        }
        Ok(sql)
    }

    fn factor(&mut self, factor: &TableFactor) -> Result<String, SqlProblem> {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let alias = alias.as_ref().map(|alias| alias.name.value.as_str());
                self.table(name, alias)
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let Some(alias) = alias else {
                    return Err(SqlProblem::new(
                        1248,
                        "Every derived table must have its own alias",
                    ));
                };
                // It does not see its neighbours.
                let neighbours = self.scopes.pop();
                let found = self.query(subquery);
                self.scopes.extend(neighbours);
                let (sql, columns) = found?;
                let named: Vec<String> = alias
                    .columns
                    .iter()
                    .map(|column| column.name.value.clone())
                    .collect();
                let name = alias.name.value.clone();
                let sql = if named.is_empty() {
                    format!("({sql}) AS {}", quoted(&name))
                } else {
                    let list: Vec<String> = named.iter().map(|name| quoted(name)).collect();
                    let inner = quoted(&format!("{name}/named"));
                    format!(
                        "(WITH {inner}({}) AS ({sql}) SELECT * FROM {inner}) AS {}",
                        list.join(", "),
                        quoted(&name)
                    )
                };
                self.add_source(Source {
                    alias: name,
                    schema: None,
                    columns: renamed(columns, &named),
                    is_system: false,
                    table: None,
                })?;
                Ok(sql)
            }
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => Ok(format!("({})", self.table_with_joins(table_with_joins)?)),
            _ => Err(SqlProblem::unsupported("this kind of table")),
        }
    }

    /// A table by its name; adds it to the scope.
    pub(super) fn table(
        &mut self,
        name: &sqlparser::ast::ObjectName,
        alias: Option<&str>,
    ) -> Result<String, SqlProblem> {
        let written = name.0.last().map(part).unwrap_or_default();
        let shown = alias.unwrap_or(written);
        if let [only] = &name.0[..] {
            if part(only).eq_ignore_ascii_case("DUAL") {
                return Ok(String::new());
            }
            let cte = self.ctes.iter().rev().find(|(known, _)| known == written);
            if let Some((known, columns)) = cte.cloned() {
                self.add_source(Source {
                    alias: shown.to_owned(),
                    schema: None,
                    columns,
                    is_system: false,
                    table: None,
                })?;
                return Ok(format!("{} AS {}", quoted(&known), quoted(shown)));
            }
        }
        let (schema, table) = self.full_name(name)?;
        if is_system(&schema) {
            return self.system_table(&schema, &table, shown);
        }
        let Some(found) = self.setting.catalog.table(&schema, &table).cloned() else {
            return Err(self.missing(&schema, &table));
        };
        self.note(&found);
        self.add_source(source_of(&found, shown))?;
        Ok(format!("{} AS {}", quoted(&found.full_name), quoted(shown)))
    }

    fn system_table(
        &mut self,
        schema: &str,
        table: &str,
        shown: &str,
    ) -> Result<String, SqlProblem> {
        let (schema, table) = (schema.to_ascii_lowercase(), table.to_ascii_lowercase());
        let Some(columns) = (self.setting.system)(&schema, &table) else {
            return Err(self.missing(&schema, &table));
        };
        let known = (schema.clone(), table.clone());
        if !self.plan.system_tables.contains(&known) {
            self.plan.system_tables.push(known);
        }
        let columns = columns.iter().map(|column| Output {
            name: column.name.to_string(),
            kind: Some(column.kind),
        });
        self.add_source(Source {
            alias: shown.to_owned(),
            schema: Some(schema.clone()),
            columns: columns.collect(),
            is_system: true,
            table: None,
        })?;
        let full = format!("{schema}.{table}");
        Ok(format!("{} AS {}", quoted(&full), quoted(shown)))
    }

    fn add_source(&mut self, source: Source) -> Result<(), SqlProblem> {
        let Some(scope) = self.scopes.last_mut() else {
            return Ok(());
        };
        let taken = scope.sources.iter().any(|known| {
            known.alias.eq_ignore_ascii_case(&source.alias)
                && (known.schema == source.schema || known.schema.is_none())
        });
        if taken {
            return Err(SqlProblem::new(
                1066,
                format!("Not unique table/alias: '{}'", source.alias),
            ));
        }
        scope.sources.push(source);
        Ok(())
    }
}

pub(super) fn source_of(table: &Arc<Table>, alias: &str) -> Source {
    let columns = table.columns.iter().map(|column| Output {
        name: column.name.clone(),
        kind: Some(column.kind()),
    });
    Source {
        alias: alias.to_owned(),
        schema: Some(table.schema.clone()),
        columns: columns.collect(),
        is_system: false,
        table: Some(Arc::clone(table)),
    }
}

fn renamed(mut columns: Vec<Output>, names: &[String]) -> Vec<Output> {
    for (column, name) in columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    columns
}
