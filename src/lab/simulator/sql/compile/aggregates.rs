//! Aggregates and window functions: SQLite's own.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArgumentClause, FunctionArguments,
    NamedWindowDefinition, NamedWindowExpr, WindowFrameBound, WindowSpec, WindowType,
};

use super::super::catalog::quoted;
use super::super::problem::SqlProblem;
use super::super::value::ColumnType;
use super::casts::as_text;
use super::operators::exact;
use super::{Compiler, Piece, literal, scale};

type Found = Result<Piece, SqlProblem>;

impl Compiler<'_> {
    pub(super) fn aggregate(
        &mut self,
        name: &str,
        function: &Function,
        arguments: &[&Expr],
    ) -> Found {
        let (list, distinct) = match &function.args {
            FunctionArguments::List(list) => (
                Some(list),
                matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct)),
            ),
            _ => (None, false),
        };
        let mut pieces = Vec::new();
        for argument in arguments {
            pieces.push(self.expr(argument)?);
        }
        let first = pieces.first();
        let kind = aggregate_kind(name, first).ok_or_else(|| {
            if is_aggregate(name) {
                SqlProblem::unsupported(&format!("the function {name}"))
            } else {
                self.no_function(name)
            }
        })?;
        self.has_aggregate |= function.over.is_none();
        let inner = match (name, &pieces[..]) {
            ("COUNT", []) => "*".to_owned(),
            ("COUNT", [_, _, ..]) => {
                let parts: Vec<&str> = pieces.iter().map(|piece| piece.sql.as_str()).collect();
                parts.join(" || char(0) || ")
            }
            ("GROUP_CONCAT", _) => {
                let parts: Vec<String> = pieces.iter().map(as_text).collect();
                parts.join(" || ")
            }
            _ => {
                let parts: Vec<&str> = pieces.iter().map(|piece| piece.sql.as_str()).collect();
                parts.join(", ")
            }
        };
        let distinct_word = if distinct { "DISTINCT " } else { "" };
        let mut sql = format!("{}({distinct_word}{inner}", name.to_ascii_lowercase());
        if name == "GROUP_CONCAT" {
            let clauses = list.map_or(&[][..], |list| &list.clauses);
            sql.push_str(&self.group_concat(clauses, distinct)?);
        }
        sql.push(')');
        if let Some(over) = &function.over {
            sql.push_str(&format!(" OVER {}", self.window(over)?));
        }
        if name == "SUM" {
            sql = exact(sql, kind);
        }
        Ok(Piece {
            sql,
            kind,
            is_column: false,
        })
    }

    fn group_concat(
        &mut self,
        clauses: &[FunctionArgumentClause],
        distinct: bool,
    ) -> Result<String, SqlProblem> {
        let mut separator = ",".to_owned();
        let mut order = String::new();
        for clause in clauses {
            match clause {
                FunctionArgumentClause::Separator(value) => {
                    separator = value.value.clone().into_string().unwrap_or_default();
                }
                FunctionArgumentClause::OrderBy(by) => order = self.order_by(by)?,
                _ => return Err(SqlProblem::unsupported("this form of GROUP_CONCAT")),
            }
        }
        // SQLite lets DISTINCT have no separator but the comma.
        if distinct && separator != "," {
            return Err(SqlProblem::unsupported(
                "GROUP_CONCAT with both DISTINCT and SEPARATOR",
            ));
        }
        Ok(if distinct {
            order
        } else {
            format!(", {}{order}", literal(&separator))
        })
    }

    fn window(&mut self, window: &WindowType) -> Result<String, SqlProblem> {
        match window {
            WindowType::NamedWindow(name) => Ok(quoted(&name.value)),
            WindowType::WindowSpec(spec) => Ok(format!("({})", self.window_spec(spec)?)),
        }
    }

    fn window_spec(&mut self, spec: &WindowSpec) -> Result<String, SqlProblem> {
        let mut parts = Vec::new();
        parts.extend(spec.window_name.as_ref().map(|name| quoted(&name.value)));
        if !spec.partition_by.is_empty() {
            parts.push(format!("PARTITION BY {}", self.list(&spec.partition_by)?));
        }
        let order = self.order_by(&spec.order_by)?;
        if !order.is_empty() {
            parts.push(order.trim().to_owned());
        }
        if let Some(frame) = &spec.window_frame {
            let start = self.bound(&frame.start_bound)?;
            parts.push(match &frame.end_bound {
                Some(end) => format!("{} BETWEEN {start} AND {}", frame.units, self.bound(end)?),
                None => format!("{} {start}", frame.units),
            });
        }
        Ok(parts.join(" "))
    }

    fn bound(&mut self, bound: &WindowFrameBound) -> Result<String, SqlProblem> {
        let mut amount = |expr: &Option<Box<Expr>>| match expr {
            Some(expr) => Ok(self.expr(expr)?.sql),
            None => Ok("UNBOUNDED".to_owned()),
        };
        Ok(match bound {
            WindowFrameBound::CurrentRow => "CURRENT ROW".to_owned(),
            WindowFrameBound::Preceding(expr) => format!("{} PRECEDING", amount(expr)?),
            WindowFrameBound::Following(expr) => format!("{} FOLLOWING", amount(expr)?),
        })
    }

    pub(super) fn named_windows(
        &mut self,
        windows: &[NamedWindowDefinition],
    ) -> Result<String, SqlProblem> {
        let mut parts = Vec::new();
        for NamedWindowDefinition(name, window) in windows {
            let spec = match window {
                NamedWindowExpr::NamedWindow(other) => quoted(&other.value),
                NamedWindowExpr::WindowSpec(spec) => self.window_spec(spec)?,
            };
            parts.push(format!("{} AS ({spec})", quoted(&name.value)));
        }
        Ok(format!(" WINDOW {}", parts.join(", ")))
    }
}

pub fn is_aggregate(name: &str) -> bool {
    [
        "COUNT",
        "SUM",
        "AVG",
        "MIN",
        "MAX",
        "GROUP_CONCAT",
        "STD",
        "STDDEV",
        "STDDEV_POP",
        "STDDEV_SAMP",
        "VARIANCE",
        "VAR_POP",
        "VAR_SAMP",
        "BIT_AND",
        "BIT_OR",
        "BIT_XOR",
        "JSON_ARRAYAGG",
        "JSON_OBJECTAGG",
    ]
    .contains(&name)
}

/// `None`: there is no such function here.
fn aggregate_kind(name: &str, first: Option<&Piece>) -> Option<Option<ColumnType>> {
    let inner = first.and_then(|piece| piece.kind);
    let more_digits = |more: u8| match scale(inner) {
        Some(digits) => ColumnType::Decimal {
            digits_after_point: digits + more,
        },
        None => ColumnType::Double,
    };
    Some(match name {
        "COUNT" | "ROW_NUMBER" | "RANK" | "DENSE_RANK" | "NTILE" => Some(ColumnType::BigInt),
        "SUM" => Some(more_digits(0)),
        "AVG" => Some(more_digits(4)),
        "MIN" | "MAX" | "LAG" | "LEAD" | "FIRST_VALUE" | "LAST_VALUE" | "NTH_VALUE" => inner,
        "GROUP_CONCAT" => Some(ColumnType::Text),
        "PERCENT_RANK" | "CUME_DIST" => Some(ColumnType::Double),
        _ => return None,
    })
}
