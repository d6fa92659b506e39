//! CAST, CONVERT and what else has a syntax of its own.

use sqlparser::ast::{
    CharacterLength, DataType, DateTimeField, ExactNumberInfo, Expr, TrimWhereField,
};

use super::super::problem::SqlProblem;
use super::super::value::ColumnType;
use super::{Compiler, Piece, literal, scale};

type Found = Result<Piece, SqlProblem>;

impl Compiler<'_> {
    /// Expressions that are calls in all but their syntax.
    pub(super) fn call_like(&mut self, expr: &Expr) -> Found {
        match expr {
            Expr::Function(function) => self.function(function),
            Expr::Cast {
                expr, data_type, ..
            } => self.cast(expr, data_type),
            Expr::Convert {
                expr,
                data_type: Some(data_type),
                ..
            } => self.cast(expr, data_type),
            Expr::Convert { expr, charset, .. } => {
                let inner = self.expr(expr)?;
                let bytes = charset
                    .as_ref()
                    .is_some_and(|name| name.to_string().eq_ignore_ascii_case("binary"));
                Ok(if bytes {
                    to_bytes(&inner)
                } else {
                    to_text(&inner, None)
                })
            }
            Expr::TypedString(typed) => {
                let text = typed.value.value.clone().into_string().unwrap_or_default();
                let piece = Piece::new(literal(&text), ColumnType::Text);
                cast(&piece, &typed.data_type)
            }
            Expr::Extract { field, expr, .. } => self.extract(field, expr),
            Expr::Ceil { expr, .. } => self.named("CEIL", &[expr]),
            Expr::Floor { expr, .. } => self.named("FLOOR", &[expr]),
            Expr::Position { expr, r#in } => self.named("LOCATE", &[expr, r#in]),
            Expr::Substring {
                expr,
                substring_from,
                substring_for,
                ..
            } => {
                let mut arguments = vec![expr.as_ref()];
                arguments.extend(substring_from.as_deref());
                arguments.extend(substring_for.as_deref());
                self.named("SUBSTRING", &arguments)
            }
            Expr::Trim {
                trim_where,
                trim_what,
                expr,
                ..
            } => self.trim(trim_where.as_ref(), trim_what.as_deref(), expr),
            other => Err(SqlProblem::unsupported(&format!(
                "expressions such as {other}"
            ))),
        }
    }

    fn cast(&mut self, inner: &Expr, to: &DataType) -> Found {
        let inner = self.expr(inner)?;
        cast(&inner, to)
    }

    fn extract(&mut self, field: &DateTimeField, inner: &Expr) -> Found {
        let name = field.to_string().to_uppercase();
        let known = [
            "YEAR",
            "QUARTER",
            "MONTH",
            "DAY",
            "HOUR",
            "MINUTE",
            "SECOND",
            "MICROSECOND",
        ];
        if !known.contains(&name.as_str()) {
            return Err(SqlProblem::unsupported(&format!("EXTRACT({name} …)")));
        }
        self.named(&name, &[inner])
    }

    fn trim(&mut self, side: Option<&TrimWhereField>, what: Option<&Expr>, inner: &Expr) -> Found {
        let inner = self.expr(inner)?.sql;
        let what = match what {
            Some(what) => self.expr(what)?.sql,
            None => "' '".to_owned(),
        };
        let side = match side {
            Some(TrimWhereField::Leading) => "LEADING",
            Some(TrimWhereField::Trailing) => "TRAILING",
            _ => "BOTH",
        };
        Ok(Piece::new(
            format!("rs_trim({what}, {inner}, '{side}')"),
            ColumnType::Text,
        ))
    }
}

fn cast(inner: &Piece, to: &DataType) -> Found {
    let sql = &inner.sql;
    Ok(match to {
        DataType::Char(length)
        | DataType::Character(length)
        | DataType::Varchar(length)
        | DataType::Nvarchar(length)
        | DataType::CharVarying(length)
        | DataType::CharacterVarying(length) => to_text(inner, characters(length.as_ref())),
        DataType::Text | DataType::String(_) => to_text(inner, None),
        DataType::Binary(_) | DataType::Varbinary(_) | DataType::Blob(_) => to_bytes(inner),
        DataType::Signed
        | DataType::SignedInteger
        | DataType::Int(_)
        | DataType::Integer(_)
        | DataType::BigInt(_) => Piece::new(format!("rs_to_int({sql})"), ColumnType::BigInt),
        DataType::Unsigned | DataType::UnsignedInteger | DataType::BigIntUnsigned(_) => {
            Piece::new(format!("rs_to_int({sql})"), ColumnType::BigUnsigned)
        }
        DataType::Decimal(info) | DataType::Dec(info) | DataType::Numeric(info) => {
            let digits = match info {
                ExactNumberInfo::PrecisionAndScale(_, digits) => (*digits).clamp(0, 30) as u8,
                _ => 0,
            };
            Piece::new(
                format!("rs_to_decimal({sql}, {digits})"),
                ColumnType::Decimal {
                    digits_after_point: digits,
                },
            )
        }
        DataType::Double(_) | DataType::DoublePrecision | DataType::Float(_) | DataType::Real => {
            Piece::new(format!("rs_to_double({sql})"), ColumnType::Double)
        }
        DataType::Date => Piece::new(format!("rs_date({sql})"), ColumnType::Date),
        DataType::Datetime(digits) => to_stamp(sql, *digits),
        DataType::Timestamp(digits, _) => to_stamp(sql, *digits),
        DataType::Time(digits, _) => Piece::new(
            format!("rs_time({sql})"),
            ColumnType::Time(digits.unwrap_or(0).min(6) as u8),
        ),
        DataType::JSON => inner.clone(),
        other => {
            return Err(SqlProblem::unsupported(&format!("CAST(… AS {other})")));
        }
    })
}

fn characters(length: Option<&CharacterLength>) -> Option<u64> {
    match length {
        Some(CharacterLength::IntegerLength { length, .. }) => Some(*length),
        _ => None,
    }
}

fn to_stamp(sql: &str, digits: Option<u64>) -> Piece {
    let digits = digits.unwrap_or(0).min(6) as u8;
    Piece::new(
        format!("rs_to_datetime({sql}, {digits})"),
        ColumnType::DateTime(digits),
    )
}

fn to_bytes(inner: &Piece) -> Piece {
    Piece::new(format!("rs_to_bytes({})", inner.sql), ColumnType::Bytes)
}

fn to_text(inner: &Piece, length: Option<u64>) -> Piece {
    let sql = as_text(inner);
    let sql = match length {
        Some(length) => format!("rs_to_text({sql}, {length})"),
        None => format!("rs_to_text({sql})"),
    };
    Piece::new(sql, ColumnType::Text)
}

/// A decimal with the digits it would be shown with.
pub(super) fn as_text(piece: &Piece) -> String {
    match piece.kind {
        Some(ColumnType::Decimal { .. }) => format!(
            "rs_decimal_text({}, {})",
            piece.sql,
            scale(piece.kind).unwrap_or(0)
        ),
        _ => piece.sql.clone(),
    }
}
