//! Functions of numbers.

use rusqlite::types::ValueRef;

use super::{DOUBLE, Function, Gives, INT, MANY, TEXT, Value};
use super::{Given, int, number, of_the_moment, owned, pure, seeing_nulls, text};
use crate::lab::simulator::sql::value::ColumnType;

pub const FUNCTIONS: &[Function] = &[
    pure("ABS", (1, 1), Gives::Like(0), |_, a| {
        Ok(match a[0] {
            ValueRef::Integer(n) => Value::Int(n.wrapping_abs()),
            other => Value::Double(number(other).abs()),
        })
    }),
    pure("CEIL", (1, 1), INT, |_, a| whole(a[0], f64::ceil)),
    pure("CEILING", (1, 1), INT, |_, a| whole(a[0], f64::ceil)),
    pure("FLOOR", (1, 1), INT, |_, a| whole(a[0], f64::floor)),
    pure("ROUND", (1, 2), Gives::Like(0), |_, a| {
        rounded(a, f64::round)
    }),
    pure("TRUNCATE", (2, 2), Gives::Like(0), |_, a| {
        rounded(a, f64::trunc)
    }),
    pure("DIVIDE", (2, 2), DOUBLE, |_, a| {
        let (a, b) = (number(a[0]), number(a[1]));
        Ok(if b == 0.0 {
            Value::Null
        } else {
            Value::Double(a / b)
        })
    }),
    pure("INTDIV", (2, 2), INT, |_, a| {
        let (a, b) = (number(a[0]), number(a[1]));
        Ok(if b == 0.0 {
            Value::Null
        } else {
            Value::Int((a / b).trunc() as i64)
        })
    }),
    pure("MOD", (2, 2), Gives::Widest, |_, a| modulo(a[0], a[1])),
    pure("POW", (2, 2), DOUBLE, |_, a| {
        double(number(a[0]).powf(number(a[1])))
    }),
    pure("POWER", (2, 2), DOUBLE, |_, a| {
        double(number(a[0]).powf(number(a[1])))
    }),
    pure("SQRT", (1, 1), DOUBLE, |_, a| double(number(a[0]).sqrt())),
    pure("EXP", (1, 1), DOUBLE, |_, a| double(number(a[0]).exp())),
    pure("LN", (1, 1), DOUBLE, |_, a| double(number(a[0]).ln())),
    pure("LOG", (1, 2), DOUBLE, |_, a| match a {
        [base, x] => double(number(*x).ln() / number(*base).ln()),
        _ => double(number(a[0]).ln()),
    }),
    pure("LOG2", (1, 1), DOUBLE, |_, a| double(number(a[0]).log2())),
    pure("LOG10", (1, 1), DOUBLE, |_, a| double(number(a[0]).log10())),
    pure("SIN", (1, 1), DOUBLE, |_, a| double(number(a[0]).sin())),
    pure("COS", (1, 1), DOUBLE, |_, a| double(number(a[0]).cos())),
    pure("SIGN", (1, 1), INT, |_, a| {
        let n = number(a[0]);
        Ok(Value::Int(i64::from(n > 0.0) - i64::from(n < 0.0)))
    }),
    pure(
        "PI",
        (0, 0),
        Gives::Kind(ColumnType::Decimal {
            digits_after_point: 6,
        }),
        |_, _| double(std::f64::consts::PI),
    ),
    of_the_moment(pure("RAND", (0, 1), DOUBLE, |_, _| double(fastrand::f64()))),
    pure("GREATEST", (2, MANY), Gives::Widest, |_, a| most(a, true)),
    pure("LEAST", (2, MANY), Gives::Widest, |_, a| most(a, false)),
    pure("XOR", (2, 2), INT, |_, a| {
        Ok(Value::Int(i64::from(
            (number(a[0]) != 0.0) != (number(a[1]) != 0.0),
        )))
    }),
    pure("BITXOR", (2, 2), INT, |_, a| {
        Ok(Value::Int(int(a[0]) ^ int(a[1])))
    }),
    seeing_nulls(pure("ISNULL", (1, 1), INT, |_, a| {
        Ok(Value::Int((a[0] == ValueRef::Null).into()))
    })),
    pure("FORMAT", (2, 3), TEXT, |_, a| {
        let digits = int(a[1]).clamp(0, 30) as usize;
        Ok(Value::Text(grouped(number(a[0]), digits)))
    }),
    pure("BIN", (1, 1), TEXT, |_, a| {
        Ok(Value::Text(format!("{:b}", int(a[0]))))
    }),
    pure("OCT", (1, 1), TEXT, |_, a| {
        Ok(Value::Text(format!("{:o}", int(a[0]))))
    }),
    pure("CONV", (3, 3), TEXT, |_, a| {
        let base = |place: usize| int(a[place]).unsigned_abs().clamp(2, 36) as u32;
        let found = i64::from_str_radix(text(a[0]).trim(), base(1)).unwrap_or(0);
        Ok(Value::Text(in_base(found.unsigned_abs(), base(2).into())))
    }),
    pure("CRC32", (1, 1), INT, |_, a| {
        Ok(Value::Int(crc32(text(a[0]).as_bytes()).into()))
    }),
    // CAST … AS SIGNED / UNSIGNED / DECIMAL / DOUBLE.
    pure("TO_INT", (1, 1), INT, |_, a| {
        Ok(Value::Int(match a[0] {
            // A text is cut, a number is rounded.
            ValueRef::Text(_) | ValueRef::Blob(_) => number(a[0]).trunc() as i64,
            other => int(other),
        }))
    }),
    pure("TO_DECIMAL", (2, 2), Gives::Like(0), |_, a| {
        rounded(a, f64::round)
    }),
    pure("TO_DOUBLE", (1, 1), DOUBLE, |_, a| double(number(a[0]))),
];

/// What is no number is NULL.
fn double(number: f64) -> Given {
    Ok(if number.is_finite() {
        Value::Double(number)
    } else {
        Value::Null
    })
}

fn whole(given: ValueRef<'_>, round: fn(f64) -> f64) -> Given {
    Ok(match given {
        ValueRef::Integer(n) => Value::Int(n),
        other => Value::Int(round(number(other)) as i64),
    })
}

/// 1.005 is a hair below itself as a double; where decimals are meant it must not be rounded down for that.
pub fn as_decimal(number: f64) -> f64 {
    number * (1.0 + 4.0 * f64::EPSILON)
}

fn rounded(a: &[ValueRef<'_>], round: fn(f64) -> f64) -> Given {
    let digits = a.get(1).map_or(0, |digits| int(*digits)).clamp(-30, 30) as i32;
    if let (ValueRef::Integer(n), 0..) = (a[0], digits) {
        return Ok(Value::Int(n));
    }
    let unit = 10_f64.powi(digits);
    let scaled = number(a[0]) * unit;
    let scaled = round(as_decimal(scaled));
    let found = scaled / unit;
    Ok(match a[0] {
        ValueRef::Integer(_) => Value::Int(found as i64),
        _ => Value::Double(found),
    })
}

fn modulo(a: ValueRef<'_>, b: ValueRef<'_>) -> Given {
    Ok(match (a, b) {
        (ValueRef::Integer(_), ValueRef::Integer(0)) => Value::Null,
        (ValueRef::Integer(a), ValueRef::Integer(b)) => Value::Int(a.wrapping_rem(b)),
        _ if number(b) == 0.0 => Value::Null,
        _ => Value::Double(number(a) % number(b)),
    })
}

fn most(a: &[ValueRef<'_>], greatest: bool) -> Given {
    let all_numbers = a
        .iter()
        .all(|x| matches!(x, ValueRef::Integer(_) | ValueRef::Real(_)));
    let any_number = a
        .iter()
        .any(|x| matches!(x, ValueRef::Integer(_) | ValueRef::Real(_)));
    let ahead = |one: ValueRef<'_>, other: ValueRef<'_>| {
        let order = if all_numbers || any_number {
            number(one).total_cmp(&number(other))
        } else {
            let fold = |x| text(x).to_lowercase();
            fold(one).cmp(&fold(other))
        };
        if greatest {
            order.is_gt()
        } else {
            order.is_lt()
        }
    };
    let mut best = a[0];
    for one in &a[1..] {
        if ahead(*one, best) {
            best = *one;
        }
    }
    Ok(owned(best))
}

/// `1,234.50`.
fn grouped(number: f64, digits: usize) -> String {
    let plain = format!("{:.digits$}", number.abs());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let mut out = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if digits > 0 {
        out.push('.');
        out.push_str(fraction);
    }
    if number < 0.0 { format!("-{out}") } else { out }
}

fn in_base(mut number: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = char::from_digit((number % base) as u32, 36).unwrap_or('0');
        digits.push(digit.to_ascii_uppercase());
        number /= base;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, digits, wanted) in [
            (1234.5, 2, "1,234.50"),
            (-1_234_567.0, 0, "-1,234,567"),
            (12.0, 1, "12.0"),
        ] {
            assert_eq!(grouped(number, digits), wanted);
        }
        assert_eq!(crc32(b"MySQL"), 3_259_397_556);
    }
}
