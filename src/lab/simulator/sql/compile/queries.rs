//! SELECT: what is asked for, in which order, how much of it.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, LimitClause, LockType, OrderByExpr, OrderByKind, OrderBySort,
    Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator,
    SetQuantifier, Values,
};

use super::super::catalog::quoted;
use super::super::problem::SqlProblem;
use super::super::value::ColumnType;
use super::operators::nocase;
use super::{Clause, Compiler, Output, Piece, RowLock, Scope, Source, part, widest};

type Selected = Result<(String, Vec<Output>), SqlProblem>;

impl Compiler<'_> {
    /// The statement itself.
    pub(super) fn top_query(&mut self, query: &Query) -> Result<(), SqlProblem> {
        let items = std::mem::take(&mut self.items);
        let (sql, columns) = self.query_named(query, &items)?;
        self.plan.sql = sql;
        let columns = columns.into_iter();
        self.plan.columns = columns.map(|column| (column.name, column.kind)).collect();
        if counts_found_rows(query) {
            let mut unlimited = query.clone();
            unlimited.limit_clause = None;
            let (all, _) = self.query_named(&unlimited, &[])?;
            self.plan.counts_all_rows = Some(format!("SELECT COUNT(*) FROM ({all})"));
        }
        self.row_locks(query)
    }

    /// One inside another.
    pub(super) fn query(&mut self, query: &Query) -> Selected {
        let clause = self.clause;
        let found = self.query_named(query, &[]);
        self.clause = clause;
        found
    }

    fn query_named(&mut self, query: &Query, items: &[String]) -> Selected {
        let known_ctes = self.ctes.len();
        let with = self.with(query.with.as_ref())?;
        let order: &[OrderByExpr] = match query.order_by.as_ref().map(|order| &order.kind) {
            Some(OrderByKind::Expressions(exprs)) => exprs,
            _ => &[],
        };
        let (mut sql, columns) = match query.body.as_ref() {
            SetExpr::Select(select) => self.select(select, order, items)?,
            body => {
                let (mut sql, columns) = self.body(body, items)?;
                self.scopes.push(Scope {
                    aliases: columns.clone(),
                    sees_aliases: true,
                    ..Scope::default()
                });
                let order = self.order_by(order);
                self.scopes.pop();
                sql.push_str(&order?);
                (sql, columns)
            }
        };
        sql.push_str(&self.limit(query.limit_clause.as_ref())?);
        self.ctes.truncate(known_ctes);
        Ok((with + &sql, columns))
    }

    fn body(&mut self, body: &SetExpr, items: &[String]) -> Selected {
        match body {
            SetExpr::Select(select) => self.select(select, &[], items),
            SetExpr::Query(query) => {
                let (sql, columns) = self.query_named(query, items)?;
                // SQLite takes no parentheses around a part of a UNION.
                Ok((format!("SELECT * FROM ({sql})"), columns))
            }
            SetExpr::SetOperation {
                left,
                op,
                set_quantifier,
                right,
            } => {
                let (left, mut columns) = self.body(left, items)?;
                let (right, others) = self.body(right, &[])?;
                if columns.len() != others.len() {
                    return Err(SqlProblem::new(
                        1222,
                        "The used SELECT statements have a different number of columns",
                    ));
                }
                for (column, other) in columns.iter_mut().zip(others) {
                    column.kind = widest(column.kind, other.kind);
                }
                let all = matches!(set_quantifier, SetQuantifier::All);
                let word = match op {
                    SetOperator::Union if all => "UNION ALL",
                    SetOperator::Union => "UNION",
                    SetOperator::Intersect => "INTERSECT",
                    _ => "EXCEPT",
                };
                Ok((format!("{left} {word} {right}"), columns))
            }
            SetExpr::Values(values) => self.values(values),
            _ => Err(SqlProblem::unsupported("this form of query")),
        }
    }

    /// The columns of the part that a recursive one begins with.
    pub(super) fn first_part(&mut self, query: &Query) -> Result<Vec<Output>, SqlProblem> {
        let mut body = query.body.as_ref();
        while let SetExpr::SetOperation { left, .. } = body {
            body = left;
        }
        let (tables, users) = (
            self.plan.system_tables.clone(),
            self.plan.user_tables.clone(),
        );
        let (_, columns) = self.body(body, &[])?;
        self.plan.system_tables = tables;
        self.plan.user_tables = users;
        Ok(columns)
    }

    fn values(&mut self, values: &Values) -> Selected {
        let mut rows = Vec::new();
        for row in &values.rows {
            rows.push(format!("({})", self.list(&row.content)?));
        }
        let width = values.rows.first().map_or(0, |row| row.content.len());
        let columns: Vec<Output> = (0..width)
            .map(|place| Output {
                name: format!("column_{place}"),
                kind: None,
            })
            .collect();
        let names: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| format!("column{} AS {}", place + 1, quoted(&column.name)))
            .collect();
        Ok((
            format!(
                "SELECT {} FROM (VALUES {})",
                names.join(", "),
                rows.join(", ")
            ),
            columns,
        ))
    }

    fn select(&mut self, select: &Select, order: &[OrderByExpr], items: &[String]) -> Selected {
        let around = std::mem::take(&mut self.has_aggregate);
        self.scopes.push(Scope::default());
        let found = self.select_in_scope(select, order, items);
        self.scopes.pop();
        self.has_aggregate = around;
        found
    }

    fn select_in_scope(
        &mut self,
        select: &Select,
        order: &[OrderByExpr],
        items: &[String],
    ) -> Selected {
        let from = self.from(&select.from)?;
        let (list, columns) = self.projection(&select.projection, items)?;
        let distinct = match select.distinct {
            Some(Distinct::Distinct) => "DISTINCT ",
            _ => "",
        };
        let mut sql = format!("SELECT {distinct}{list}");
        if !from.is_empty() {
            sql.push_str(&format!(" FROM {from}"));
        }
        let mut conditions = Vec::new();
        if let Some(condition) = &select.selection {
            self.clause = Clause::Where;
            conditions.push(self.expr(condition)?.sql);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.aliases.clone_from(&columns);
            scope.sees_aliases = true;
        }
        let group = self.group_by(&select.group_by)?;
        let mut having = String::new();
        if let Some(condition) = &select.having {
            self.clause = Clause::Having;
            let condition = self.expr(condition)?.sql;
            // Without groups it is a condition for rows that may name the list's aliases, as SQLite's WHERE may.
            if group.is_empty() && !self.has_aggregate {
                conditions.push(condition);
            } else {
                having = format!(" HAVING {condition}");
            }
        }
        if !conditions.is_empty() {
            sql.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
        }
        sql.push_str(&group);
        sql.push_str(&having);
        if !select.named_window.is_empty() {
            sql.push_str(&self.named_windows(&select.named_window)?);
        }
        sql.push_str(&self.order_by(order)?);
        self.clause = Clause::Fields;
        Ok((sql, columns))
    }

    fn projection(
        &mut self,
        projection: &[SelectItem],
        items: &[String],
    ) -> Result<(String, Vec<Output>), SqlProblem> {
        self.clause = Clause::Fields;
        let mut parts = Vec::new();
        let mut columns = Vec::new();
        for (place, item) in projection.iter().enumerate() {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let piece = self.expr(expr)?;
                    let name = self.item_name(expr, items.get(place));
                    self.give(&mut parts, &mut columns, &piece, name);
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let piece = self.expr(expr)?;
                    self.give(&mut parts, &mut columns, &piece, alias.value.clone());
                }
                SelectItem::Wildcard(_) => self.all_columns(None, &mut parts, &mut columns)?,
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let table = name.0.last().map(part).unwrap_or_default().to_owned();
                    self.all_columns(Some(&table), &mut parts, &mut columns)?;
                }
                _ => return Err(SqlProblem::unsupported("this form of a SELECT's list")),
            }
        }
        Ok((parts.join(", "), columns))
    }

    fn give(
        &self,
        parts: &mut Vec<String>,
        columns: &mut Vec<Output>,
        piece: &Piece,
        name: String,
    ) {
        parts.push(format!("{} AS {}", piece.sql, quoted(&name)));
        columns.push(Output {
            name,
            kind: piece.kind,
        });
    }

    /// As MySQL names a column that was given no name.
    fn item_name(&self, expr: &Expr, written: Option<&String>) -> String {
        match expr {
            Expr::Identifier(ident) if !ident.value.starts_with('@') => {
                self.column_name(None, &ident.value)
            }
            Expr::CompoundIdentifier(parts) if !parts[0].value.starts_with('@') => {
                let name = parts.last().map_or("", |part| part.value.as_str());
                let table = parts
                    .len()
                    .checked_sub(2)
                    .map(|place| parts[place].value.as_str());
                self.column_name(table, name)
            }
            Expr::Value(value) => match &value.value {
                sqlparser::ast::Value::SingleQuotedString(text)
                | sqlparser::ast::Value::DoubleQuotedString(text)
                | sqlparser::ast::Value::NationalStringLiteral(text) => text.clone(),
                _ => written.cloned().unwrap_or_else(|| expr.to_string()),
            },
            Expr::Prefixed { value, .. } => self.item_name(value, written),
            _ => written.cloned().unwrap_or_else(|| expr.to_string()),
        }
    }

    fn column_name(&self, table: Option<&str>, written: &str) -> String {
        let sources = self.scopes.last().map_or(&[][..], |scope| &scope.sources);
        let found = sources.iter().find_map(|source| {
            let here = table.is_none_or(|table| source.alias.eq_ignore_ascii_case(table));
            let mut columns = source.columns.iter();
            let column = columns.find(|column| column.name.eq_ignore_ascii_case(written))?;
            (here
                && source.is_system
                && self.setting.names_system_columns
                && source.schema.as_deref() == Some("information_schema"))
            .then(|| column.name.clone())
        });
        found.unwrap_or_else(|| written.to_owned())
    }

    fn all_columns(
        &self,
        table: Option<&str>,
        parts: &mut Vec<String>,
        columns: &mut Vec<Output>,
    ) -> Result<(), SqlProblem> {
        let Some(scope) = self.scopes.last() else {
            return Ok(());
        };
        let wanted =
            |source: &&Source| table.is_none_or(|table| source.alias.eq_ignore_ascii_case(table));
        let sources: Vec<&Source> = scope.sources.iter().filter(wanted).collect();
        if sources.is_empty() {
            return Err(match table {
                Some(table) => SqlProblem::new(1051, format!("Unknown table '{table}'")),
                None => SqlProblem::new(1096, "No tables used"),
            });
        }
        let mut seen: Vec<&str> = Vec::new();
        for source in sources {
            for column in &source.columns {
                let joined = table.is_none()
                    && (scope.is_natural
                        || scope
                            .joined
                            .iter()
                            .any(|name| name.eq_ignore_ascii_case(&column.name)));
                if joined
                    && seen
                        .iter()
                        .any(|name| name.eq_ignore_ascii_case(&column.name))
                {
                    continue;
                }
                seen.push(&column.name);
                let sql = format!("{}.{}", quoted(&source.alias), quoted(&column.name));
                let piece = self.in_session_zone(sql, column.kind, source.table.is_some());
                self.give(parts, columns, &piece, column.name.clone());
            }
        }
        Ok(())
    }

    fn group_by(&mut self, group: &GroupByExpr) -> Result<String, SqlProblem> {
        let GroupByExpr::Expressions(exprs, modifiers) = group else {
            return Err(SqlProblem::unsupported("GROUP BY ALL"));
        };
        if !modifiers.is_empty() {
            return Err(SqlProblem::unsupported("GROUP BY … WITH ROLLUP"));
        }
        if exprs.is_empty() {
            return Ok(String::new());
        }
        self.clause = Clause::Group;
        let mut parts = Vec::new();
        for expr in exprs {
            let piece = self.expr(expr)?;
            parts.push(sorted(&piece));
        }
        Ok(format!(" GROUP BY {}", parts.join(", ")))
    }

    pub(super) fn order_by(&mut self, order: &[OrderByExpr]) -> Result<String, SqlProblem> {
        let before = std::mem::replace(&mut self.clause, Clause::Order);
        let mut parts = Vec::new();
        for one in order {
            let piece = self.expr(&one.expr)?;
            // ORDER BY NULL asks for no order.
            if piece.kind == Some(ColumnType::Null) {
                continue;
            }
            let direction = match one.options.sort {
                Some(OrderBySort::Desc) => " DESC",
                _ => "",
            };
            parts.push(format!("{}{direction}", sorted(&piece)));
        }
        self.clause = before;
        Ok(if parts.is_empty() {
            String::new()
        } else {
            format!(" ORDER BY {}", parts.join(", "))
        })
    }

    fn limit(&mut self, limit: Option<&LimitClause>) -> Result<String, SqlProblem> {
        let (limit, offset) = match limit {
            None => return Ok(String::new()),
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
        };
        let mut sql = String::new();
        if let Some(limit) = limit {
            sql.push_str(&format!(" LIMIT {}", self.expr(limit)?.sql));
        }
        if let Some(offset) = offset {
            sql.push_str(&format!(" OFFSET {}", self.expr(offset)?.sql));
        }
        Ok(sql)
    }

    /// FOR UPDATE, FOR SHARE: for each table of a user's a statement that finds what it locks.
    fn row_locks(&mut self, query: &Query) -> Result<(), SqlProblem> {
        let (Some(lock), SetExpr::Select(select)) = (query.locks.first(), query.body.as_ref())
        else {
            return Ok(());
        };
        let is_exclusive = lock.lock_type == LockType::Update;
        let known_ctes = self.ctes.len();
        let with = self.with(query.with.as_ref())?;
        self.scopes.push(Scope::default());
        let from = self.from(&select.from)?;
        let mut tail = String::new();
        if let Some(condition) = &select.selection {
            self.clause = Clause::Where;
            tail.push_str(&format!(" WHERE {}", self.expr(condition)?.sql));
        }
        if let Some(OrderByKind::Expressions(order)) = query.order_by.as_ref().map(|o| &o.kind)
            && query.limit_clause.is_some()
        {
            // By an alias it cannot be ordered here; then the first rows there are have to do.
            tail.push_str(&self.order_by(order).unwrap_or_default());
        }
        tail.push_str(&self.limit(query.limit_clause.as_ref())?);
        let scope = self.scopes.pop().unwrap_or_default();
        self.ctes.truncate(known_ctes);
        for source in scope.sources {
            if let Some(table) = source.table {
                let sql = format!(
                    "{with}SELECT {} FROM {from}{tail}",
                    identity_of(&table, &source.alias)
                );
                self.plan.locks.push(RowLock {
                    table,
                    sql,
                    is_exclusive,
                });
            }
        }
        Ok(())
    }
}

/// What tells a table's rows apart, with the table's name in front.
pub(super) fn identity_of(table: &super::Table, alias: &str) -> String {
    if table.primary.is_empty() {
        return format!("{}.rowid", quoted(alias));
    }
    let names: Vec<String> = table
        .primary
        .iter()
        .map(|place| format!("{}.{}", quoted(alias), quoted(&table.columns[*place].name)))
        .collect();
    names.join(", ")
}

fn counts_found_rows(query: &Query) -> bool {
    match query.body.as_ref() {
        SetExpr::Select(select) => select
            .select_modifiers
            .as_ref()
            .is_some_and(|modifiers| modifiers.sql_calc_found_rows),
        _ => false,
    }
}

/// By number and by column as it is, by a worked-out text without regard to case.
fn sorted(piece: &Piece) -> String {
    if piece.kind == Some(ColumnType::Text) {
        nocase(piece, None)
    } else {
        piece.sql.clone()
    }
}
