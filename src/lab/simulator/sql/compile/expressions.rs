//! Expressions.

use sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, InTarget, Interval, UnaryOperator, Value as Literal,
};

use super::super::problem::SqlProblem;
use super::super::value::ColumnType;
use super::operators::{
    arithmetic, beside, bits, compared, divided, logical, moved, nocase, number,
};
use super::{Bind, Compiler, Piece, literal, widest};

type Found = Result<Piece, SqlProblem>;

impl Compiler<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Found {
        match expr {
            Expr::Identifier(ident) => self.identifier(ident),
            Expr::CompoundIdentifier(parts) => self.compound(parts),
            Expr::Value(value) => self.literal(&value.value),
            Expr::Nested(inner) => {
                let inner = self.expr(inner)?;
                Ok(Piece {
                    sql: format!("({})", inner.sql),
                    ..inner
                })
            }
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => self.case(operand.as_deref(), conditions, else_result.as_deref()),
            Expr::Exists { subquery, negated } => {
                let (sql, _) = self.query(subquery)?;
                let not = if *negated { "NOT " } else { "" };
                Ok(Piece::new(format!("{not}EXISTS ({sql})"), ColumnType::Int))
            }
            Expr::Subquery(query) => {
                let (sql, columns) = self.query(query)?;
                Ok(Piece {
                    sql: format!("({sql})"),
                    kind: columns.first().and_then(|column| column.kind),
                    is_column: false,
                })
            }
            Expr::Tuple(parts) => {
                let parts = self.list(parts)?;
                // Rows take no collation of their own.
                Ok(Piece {
                    is_column: true,
                    ..Piece::unknown(format!("({parts})"))
                })
            }
            Expr::AnyOp {
                left,
                compare_op: BinaryOperator::Eq,
                right,
                ..
            } => self.is_any(left, right),
            Expr::Collate { expr, collation } => self.collated(expr, &collation.to_string()),
            Expr::Interval(interval) => self.bare_interval(interval),
            Expr::Prefixed { value, .. } => self.expr(value),
            other => match self.predicate(other)? {
                Some(piece) => Ok(piece),
                None => self.call_like(other),
            },
        }
    }

    /// What is true or false of a value.
    fn predicate(&mut self, expr: &Expr) -> Result<Option<Piece>, SqlProblem> {
        let piece = match expr {
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => self.suffixed(inner, "IS NULL"),
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => {
                self.suffixed(inner, "IS NOT NULL")
            }
            Expr::IsTrue(inner) => self.suffixed(inner, "IS TRUE"),
            Expr::IsNotTrue(inner) => self.suffixed(inner, "IS NOT TRUE"),
            Expr::IsFalse(inner) => self.suffixed(inner, "IS FALSE"),
            Expr::IsNotFalse(inner) => self.suffixed(inner, "IS NOT FALSE"),
            Expr::In {
                expr,
                target,
                negated,
                ..
            } => self.is_in(expr, target, *negated),
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => self.between(expr, *negated, low, high),
            Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
                ..
            } => self.like(*negated, expr, pattern, escape_char.as_deref()),
            Expr::RLike {
                negated,
                expr,
                pattern,
                ..
            } => self.rlike(*negated, expr, pattern),
            _ => return Ok(None),
        };
        piece.map(Some)
    }

    pub(super) fn list(&mut self, exprs: &[Expr]) -> Result<String, SqlProblem> {
        let mut parts = Vec::new();
        for expr in exprs {
            parts.push(self.expr(expr)?.sql);
        }
        Ok(parts.join(", "))
    }

    fn suffixed(&mut self, inner: &Expr, suffix: &str) -> Found {
        let inner = self.expr(inner)?;
        Ok(Piece::new(
            format!("(({}) {suffix})", inner.sql),
            ColumnType::Int,
        ))
    }

    fn literal(&mut self, value: &Literal) -> Found {
        Ok(match value {
            Literal::Number(digits, _) => number(digits),
            Literal::Boolean(yes) => Piece::new(i64::from(*yes).to_string(), ColumnType::BigInt),
            Literal::Null => Piece::new("NULL", ColumnType::Null),
            Literal::HexStringLiteral(hex) => {
                let even = if hex.len().is_multiple_of(2) { "" } else { "0" };
                Piece::new(format!("x'{even}{hex}'"), ColumnType::Bytes)
            }
            Literal::SingleQuotedByteStringLiteral(bits) => {
                let number = i64::from_str_radix(bits, 2).unwrap_or(0);
                Piece::new(number.to_string(), ColumnType::BigInt)
            }
            Literal::Placeholder(_) => {
                let given = self.plan.binds.iter();
                let before = given.filter(|bind| matches!(bind, Bind::Given(_))).count();
                Piece::unknown(self.bind(Bind::Given(before)))
            }
            Literal::SingleQuotedString(text)
            | Literal::DoubleQuotedString(text)
            | Literal::NationalStringLiteral(text)
            | Literal::EscapedStringLiteral(text) => Piece::new(literal(text), ColumnType::Text),
            other => {
                return Err(SqlProblem::unsupported(&format!(
                    "literals such as {other}"
                )));
            }
        })
    }

    fn unary(&mut self, op: UnaryOperator, inner: &Expr) -> Found {
        let inner = self.expr(inner)?;
        Ok(match op {
            UnaryOperator::Minus => Piece {
                sql: format!("-({})", inner.sql),
                kind: inner.kind,
                is_column: false,
            },
            UnaryOperator::Plus => inner,
            UnaryOperator::Not | UnaryOperator::BangNot => {
                Piece::new(format!("(NOT ({}))", inner.sql), ColumnType::Int)
            }
            UnaryOperator::BitwiseNot => {
                Piece::new(format!("(~({}))", inner.sql), ColumnType::BigInt)
            }
            other => return Err(SqlProblem::unsupported(&format!("the operator {other}"))),
        })
    }

    fn binary(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Found {
        if let Some(piece) = self.interval_sum(left, op, right)? {
            return Ok(piece);
        }
        if *op == BinaryOperator::Assignment {
            let Expr::Identifier(name) = left else {
                return Err(SqlProblem::unsupported("this assignment"));
            };
            let name = literal(&name.value.trim_start_matches('@').to_ascii_lowercase());
            let value = self.expr(right)?;
            return Ok(Piece {
                sql: format!("rs_set_variable({name}, {})", value.sql),
                kind: None,
                is_column: false,
            });
        }
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        Ok(match op {
            BinaryOperator::And => logical(&left, "AND", &right),
            BinaryOperator::Or | BinaryOperator::StringConcat => logical(&left, "OR", &right),
            BinaryOperator::Xor => Piece::new(
                format!("rs_xor({}, {})", left.sql, right.sql),
                ColumnType::Int,
            ),
            BinaryOperator::Plus => arithmetic(&left, "+", &right),
            BinaryOperator::Minus => arithmetic(&left, "-", &right),
            BinaryOperator::Multiply => arithmetic(&left, "*", &right),
            BinaryOperator::Divide => divided(&left, &right),
            BinaryOperator::MyIntegerDivide | BinaryOperator::DuckIntegerDivide => Piece::new(
                format!("rs_intdiv({}, {})", left.sql, right.sql),
                ColumnType::BigInt,
            ),
            BinaryOperator::Modulo => Piece {
                sql: format!("rs_mod({}, {})", left.sql, right.sql),
                kind: widest(left.kind, right.kind),
                is_column: false,
            },
            BinaryOperator::BitwiseAnd => bits(&left, "&", &right),
            BinaryOperator::BitwiseOr => bits(&left, "|", &right),
            BinaryOperator::PGBitwiseShiftLeft => bits(&left, "<<", &right),
            BinaryOperator::PGBitwiseShiftRight => bits(&left, ">>", &right),
            BinaryOperator::BitwiseXor | BinaryOperator::PGBitwiseXor => Piece::new(
                format!("rs_bitxor({}, {})", left.sql, right.sql),
                ColumnType::BigInt,
            ),
            BinaryOperator::Eq => compared(&left, "=", &right),
            BinaryOperator::NotEq => compared(&left, "<>", &right),
            BinaryOperator::Lt => compared(&left, "<", &right),
            BinaryOperator::LtEq => compared(&left, "<=", &right),
            BinaryOperator::Gt => compared(&left, ">", &right),
            BinaryOperator::GtEq => compared(&left, ">=", &right),
            BinaryOperator::Spaceship => compared(&left, "IS", &right),
            BinaryOperator::Arrow => Piece::new(
                format!("rs_json_extract({}, {})", left.sql, right.sql),
                ColumnType::Text,
            ),
            BinaryOperator::LongArrow => Piece::new(
                format!(
                    "rs_json_unquote(rs_json_extract({}, {}))",
                    left.sql, right.sql
                ),
                ColumnType::Text,
            ),
            other => return Err(SqlProblem::unsupported(&format!("the operator {other}"))),
        })
    }

    /// `x + INTERVAL 1 DAY` and its like.
    fn interval_sum(
        &mut self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Option<Piece>, SqlProblem> {
        let back = *op == BinaryOperator::Minus;
        if !back && *op != BinaryOperator::Plus {
            return Ok(None);
        }
        let (stamp, interval) = match (left, right) {
            (stamp, Expr::Interval(interval)) => (stamp, interval),
            (Expr::Interval(interval), stamp) if !back => (stamp, interval),
            _ => return Ok(None),
        };
        let stamp = self.expr(stamp)?;
        self.moved(stamp, interval, back).map(Some)
    }

    pub(super) fn moved(&mut self, stamp: Piece, interval: &Interval, back: bool) -> Found {
        let amount = self.expr(&interval.value)?;
        let unit = interval.leading_field.as_ref().map_or_else(
            || "SECOND".to_owned(),
            |unit| unit.to_string().to_uppercase(),
        );
        Ok(moved(&stamp, &amount, &unit, back))
    }

    /// Only ever a part of a sum; on its own the parser's tree has it for `INTERVAL '1' DAY + x` alone.
    fn bare_interval(&mut self, interval: &Interval) -> Found {
        Err(SqlProblem::new(
            1064,
            format!("You have an error in your SQL syntax near '{interval}'"),
        ))
    }

    fn is_in(&mut self, expr: &Expr, target: &InTarget, negated: bool) -> Found {
        let not = if negated { "NOT " } else { "" };
        let left = self.expr(expr)?;
        let within = match target {
            InTarget::List(list) => {
                let mut parts = Vec::new();
                for one in list {
                    let one = self.expr(one)?;
                    parts.push(beside(&left, one).sql);
                }
                parts.join(", ")
            }
            InTarget::Subquery(query) => self.query(query)?.0,
            _ => return Err(SqlProblem::unsupported("this form of IN")),
        };
        let left = nocase(&left, None);
        Ok(Piece::new(
            format!("({left} {not}IN ({within}))"),
            ColumnType::Int,
        ))
    }

    fn is_any(&mut self, left: &Expr, right: &Expr) -> Found {
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        Ok(Piece::new(
            format!("({} IN {})", left.sql, right.sql),
            ColumnType::Int,
        ))
    }

    fn between(&mut self, expr: &Expr, negated: bool, low: &Expr, high: &Expr) -> Found {
        let not = if negated { "NOT " } else { "" };
        let inner = self.expr(expr)?;
        let (low, high) = (self.expr(low)?, self.expr(high)?);
        let (low, high) = (beside(&inner, low), beside(&inner, high));
        let left = nocase(&inner, Some(&low));
        Ok(Piece::new(
            format!("({left} {not}BETWEEN {} AND {})", low.sql, high.sql),
            ColumnType::Int,
        ))
    }

    fn like(&mut self, negated: bool, expr: &Expr, pattern: &Expr, escape: Option<&Expr>) -> Found {
        let not = if negated { "NOT " } else { "" };
        let (left, pattern) = (self.expr(expr)?, self.expr(pattern)?);
        let escape = match escape {
            Some(escape) => self.expr(escape)?.sql,
            None => "'\\'".to_owned(),
        };
        Ok(Piece::new(
            format!(
                "(({}) {not}LIKE ({}) ESCAPE {escape})",
                left.sql, pattern.sql
            ),
            ColumnType::Int,
        ))
    }

    fn rlike(&mut self, negated: bool, expr: &Expr, pattern: &Expr) -> Found {
        let not = if negated { "NOT " } else { "" };
        let (left, pattern) = (self.expr(expr)?, self.expr(pattern)?);
        Ok(Piece::new(
            format!("({not}rs_regexp({}, {}))", left.sql, pattern.sql),
            ColumnType::Int,
        ))
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        conditions: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Found {
        let operand = operand.map(|operand| self.expr(operand)).transpose()?;
        let mut sql = "CASE".to_owned();
        let mut kind = Some(ColumnType::Null);
        for when in conditions {
            let condition = self.expr(&when.condition)?;
            let condition = match &operand {
                Some(operand) => compared(operand, "=", &condition).sql,
                None => condition.sql,
            };
            let result = self.expr(&when.result)?;
            sql.push_str(&format!(" WHEN {condition} THEN {}", result.sql));
            kind = widest(kind, result.kind);
        }
        if let Some(otherwise) = otherwise {
            let otherwise = self.expr(otherwise)?;
            sql.push_str(&format!(" ELSE {}", otherwise.sql));
            kind = widest(kind, otherwise.kind);
        }
        sql.push_str(" END");
        Ok(Piece {
            sql,
            kind,
            is_column: false,
        })
    }

    fn collated(&mut self, inner: &Expr, collation: &str) -> Found {
        let inner = self.expr(inner)?;
        let bytewise = collation.to_ascii_lowercase().ends_with("_bin");
        let collation = if bytewise { "BINARY" } else { "NOCASE" };
        Ok(Piece {
            sql: format!("({} COLLATE {collation})", inner.sql),
            // A comparison must not put its own collation in front.
            is_column: true,
            ..inner
        })
    }
}
