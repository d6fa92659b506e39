//! Names: columns, variables, and what they are in SQLite.

use sqlparser::ast::Ident;

use super::super::catalog::quoted;
use super::super::problem::SqlProblem;
use super::super::surroundings::Scope as VariableScope;
use super::super::value::ColumnType;
use super::{Bind, Clause, Compiler, Piece, joined_name, literal};

type Found = Result<Piece, SqlProblem>;

impl Compiler<'_> {
    pub(super) fn identifier(&mut self, ident: &Ident) -> Found {
        let name = ident.value.as_str();
        if ident.quote_style.is_none() {
            if let Some(name) = name.strip_prefix("@@") {
                return Ok(self.variable(VariableScope::Unsaid, name));
            }
            if let Some(name) = name.strip_prefix('@') {
                return Ok(self.user_variable(name));
            }
        }
        self.column(None, name, name)
    }

    pub(super) fn compound(&mut self, parts: &[Ident]) -> Found {
        let first = parts[0].value.as_str();
        if let Some(scope) = first.strip_prefix("@@") {
            let rest = joined_name(&parts[1..]);
            return Ok(match scope.to_ascii_lowercase().as_str() {
                "global" => self.variable(VariableScope::Global, &rest),
                "session" | "local" => self.variable(VariableScope::Session, &rest),
                _ => self.variable(VariableScope::Unsaid, &format!("{scope}.{rest}")),
            });
        }
        let all = joined_name(parts);
        match parts {
            [table, column] => self.column(Some((None, &table.value)), &column.value, &all),
            [schema, table, column] => self.column(
                Some((Some(&schema.value), &table.value)),
                &column.value,
                &all,
            ),
            _ => Err(self.unknown_column(&all)),
        }
    }

    fn variable(&mut self, scope: VariableScope, name: &str) -> Piece {
        let bind = Bind::Variable(scope, name.to_ascii_lowercase());
        Piece::unknown(self.bind(bind))
    }

    fn user_variable(&mut self, name: &str) -> Piece {
        let name = name.trim_matches(['`', '\'', '"']).to_ascii_lowercase();
        if self.assigns_variables {
            return Piece::unknown(format!("rs_variable({})", literal(&name)));
        }
        Piece::unknown(self.bind(Bind::UserVariable(name)))
    }

    /// Looked for in this SELECT, then in those around it.
    fn column(&mut self, table: Option<(Option<&str>, &str)>, name: &str, written: &str) -> Found {
        if let (Some((None, alias)), Some(row)) = (table, &self.row_alias)
            && alias.eq_ignore_ascii_case(row)
        {
            return Ok(Piece::unknown(format!("excluded.{}", quoted(name))));
        }
        for scope in self.scopes.iter().rev() {
            let alias = scope
                .alias(name)
                .filter(|_| table.is_none() && scope.sees_aliases);
            if let (Some(piece), Clause::Order) = (&alias, self.clause) {
                return Ok(piece.clone());
            }
            let mut found = scope.sources.iter().filter_map(|source| {
                let column = source.column(table, name)?;
                Some((source, column))
            });
            if let Some((source, column)) = found.next() {
                let joined = table.is_none()
                    && (scope.is_natural
                        || scope.joined.iter().any(|j| j.eq_ignore_ascii_case(name)));
                if found.next().is_some() && !joined {
                    return Err(SqlProblem::new(
                        1052,
                        format!("Column '{written}' in {} is ambiguous", self.clause_words()),
                    ));
                }
                let sql = if joined {
                    quoted(&column.name)
                } else {
                    format!("{}.{}", quoted(&source.alias), quoted(&column.name))
                };
                return Ok(self.in_session_zone(sql, column.kind, source.table.is_some()));
            }
            if let Some(piece) = alias {
                return Ok(piece);
            }
        }
        Err(self.unknown_column(written))
    }

    pub(super) fn unknown_column(&self, written: &str) -> SqlProblem {
        SqlProblem::new(
            1054,
            format!("Unknown column '{written}' in '{}'", self.clause_words()),
        )
    }

    pub(super) fn in_session_zone(
        &self,
        sql: String,
        kind: Option<ColumnType>,
        is_kept: bool,
    ) -> Piece {
        if let (Some(ColumnType::Timestamp(digits)), true, true) =
            (kind, is_kept, self.setting.shifts_zones)
        {
            return Piece {
                sql: format!("rs_to_session_zone({sql}, {digits})"),
                kind,
                is_column: false,
            };
        }
        Piece {
            sql,
            kind,
            is_column: true,
        }
    }
}

impl super::Scope {
    fn alias(&self, name: &str) -> Option<Piece> {
        let found = self
            .aliases
            .iter()
            .find(|alias| alias.name.eq_ignore_ascii_case(name))?;
        Some(Piece {
            sql: quoted(&found.name),
            kind: found.kind,
            is_column: false,
        })
    }
}

impl super::Source {
    fn column(&self, table: Option<(Option<&str>, &str)>, name: &str) -> Option<&super::Output> {
        if let Some((schema, alias)) = table {
            let same_schema = schema.is_none_or(|schema| {
                self.schema
                    .as_deref()
                    .is_some_and(|own| own.eq_ignore_ascii_case(schema))
            });
            if !same_schema || !self.alias.eq_ignore_ascii_case(alias) {
                return None;
            }
        }
        self.columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(name))
    }
}
