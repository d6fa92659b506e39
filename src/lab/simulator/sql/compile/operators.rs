//! Operators: what two pieces give together, and how they are made comparable.

use super::super::value::ColumnType;
use super::{Piece, is_number, literal, scale, stamp_digits};

pub(super) fn number(digits: &str) -> Piece {
    if digits.contains(['e', 'E']) {
        return Piece::new(digits, ColumnType::Double);
    }
    match digits.split_once('.') {
        Some((whole, fraction)) => Piece::new(
            format!(
                "{}.{}",
                if whole.is_empty() { "0" } else { whole },
                if fraction.is_empty() { "0" } else { fraction }
            ),
            ColumnType::Decimal {
                digits_after_point: fraction.len().min(30) as u8,
            },
        ),
        None if digits.parse::<i64>().is_ok() => Piece::new(digits, ColumnType::BigInt),
        None => Piece::new(
            format!("{digits}.0"),
            ColumnType::Decimal {
                digits_after_point: 0,
            },
        ),
    }
}

pub(super) fn logical(left: &Piece, word: &str, right: &Piece) -> Piece {
    Piece::new(
        format!("({} {word} {})", left.sql, right.sql),
        ColumnType::Int,
    )
}

pub(super) fn bits(left: &Piece, sign: &str, right: &Piece) -> Piece {
    Piece::new(
        format!("({} {sign} {})", left.sql, right.sql),
        ColumnType::BigInt,
    )
}

pub(super) fn arithmetic(left: &Piece, sign: &str, right: &Piece) -> Piece {
    let kind = match (scale(left.kind), scale(right.kind)) {
        (Some(0), Some(0)) => Some(ColumnType::BigInt),
        (Some(a), Some(b)) => Some(ColumnType::Decimal {
            digits_after_point: if sign == "*" {
                (a + b).min(30)
            } else {
                a.max(b)
            },
        }),
        _ if left.kind.is_none() || right.kind.is_none() => None,
        _ => Some(ColumnType::Double),
    };
    Piece {
        sql: exact(format!("({} {sign} {})", left.sql, right.sql), kind),
        kind,
        is_column: false,
    }
}

/// Decimals are kept as doubles: the nearest one to the decimal that MySQL would have.
pub(super) fn exact(sql: String, kind: Option<ColumnType>) -> String {
    match kind {
        Some(ColumnType::Decimal { digits_after_point }) if digits_after_point > 0 => {
            format!("round({sql}, {digits_after_point})")
        }
        _ => sql,
    }
}

/// Exact numbers keep four digits more than the dividend has.
pub(super) fn divided(left: &Piece, right: &Piece) -> Piece {
    let kind = match (scale(left.kind), scale(right.kind)) {
        (Some(digits), Some(_)) => ColumnType::Decimal {
            digits_after_point: (digits + 4).min(30),
        },
        _ => ColumnType::Double,
    };
    Piece::new(format!("rs_divide({}, {})", left.sql, right.sql), kind)
}

pub(super) fn moved(stamp: &Piece, amount: &Piece, unit: &str, back: bool) -> Piece {
    let below_a_day = ["HOUR", "MINUTE", "SECOND"]
        .iter()
        .any(|part| unit.contains(part));
    let stays_date = stamp.kind == Some(ColumnType::Date) && !below_a_day;
    let kind = match stamp.kind {
        Some(ColumnType::Date) if stays_date => ColumnType::Date,
        Some(ColumnType::Date) => ColumnType::DateTime(0),
        kind => match stamp_digits(kind) {
            Some(_) if unit.contains("MICROSECOND") => ColumnType::DateTime(6),
            Some(digits) => ColumnType::DateTime(digits),
            None => ColumnType::Text,
        },
    };
    let function = if back { "rs_date_sub" } else { "rs_date_add" };
    Piece::new(
        format!(
            "{function}({}, {}, {}, {})",
            stamp.sql,
            amount.sql,
            literal(unit),
            i64::from(stays_date)
        ),
        kind,
    )
}

/// MySQL compares texts without regard to case, numbers with texts as numbers, stamps as stamps.
pub(super) fn compared(left: &Piece, sign: &str, right: &Piece) -> Piece {
    let (left, right) = (&of_document(left), &of_document(right));
    let (left, right) = (beside(right, left.clone()), beside(left, right.clone()));
    let sql = format!("({} {sign} {})", nocase(&left, Some(&right)), right.sql);
    Piece::new(sql, ColumnType::Int)
}

/// A document is compared as the number or text that it is.
fn of_document(piece: &Piece) -> Piece {
    match piece.sql.starts_with("rs_json_extract(") {
        true => Piece::unknown(format!("rs_json_scalar({})", piece.sql)),
        false => piece.clone(),
    }
}

/// `piece` made comparable to `other`.
pub(super) fn beside(other: &Piece, piece: Piece) -> Piece {
    let is_text = matches!(piece.kind, Some(ColumnType::Text));
    let is_stamp = stamp_digits(piece.kind).is_some() || piece.kind == Some(ColumnType::Date);
    if let Some(digits) = stamp_digits(other.kind)
        && stamp_digits(piece.kind) != Some(digits)
        && (is_text || piece.kind.is_none() || is_stamp)
        && !(piece.is_column && stamp_digits(piece.kind).is_some())
    {
        return Piece {
            sql: format!("rs_stamp({}, {digits})", piece.sql),
            kind: other.kind,
            is_column: false,
        };
    }
    // A column's affinity does this by itself.
    if is_number(other.kind) && is_text && !other.is_column && !piece.is_column {
        return Piece::new(format!("rs_to_double({})", piece.sql), ColumnType::Double);
    }
    piece
}

/// Texts that no column lends its collation.
pub(super) fn nocase(piece: &Piece, other: Option<&Piece>) -> String {
    let is_text = |piece: &Piece| matches!(piece.kind, Some(ColumnType::Text) | None);
    let is_lent = piece.is_column || other.is_some_and(|other| other.is_column);
    if is_text(piece) && other.is_none_or(is_text) && !is_lent {
        format!("({}) COLLATE NOCASE", piece.sql)
    } else {
        piece.sql.clone()
    }
}
