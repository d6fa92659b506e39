//! Values on their way into a column: bent or refused as MySQL does.

use rusqlite::types::ValueRef;

use super::catalog::{Column, Kept};
use super::dates;
use super::frame::{Frame, Target};
use super::functions::{as_decimal, number, owned, text};
use super::problem::SqlProblem;
use super::value::Value;

/// The value that column `place` of the frame's target keeps for `given`.
pub fn store(frame: &mut Frame, place: usize, given: ValueRef<'_>) -> Result<Value, SqlProblem> {
    let Some(target) = frame.target.as_mut() else {
        return Ok(owned(given));
    };
    if std::mem::replace(&mut target.seen[place], true) {
        target.row += 1;
        target.seen.fill(false);
        target.seen[place] = true;
    }
    let table = std::sync::Arc::clone(&target.table);
    let column = &table.columns[place];
    let strict = target.is_strict && !target.is_ignoring;
    let row = target.row;
    let is_mariadb = frame.version.contains("MariaDB");
    let named = match is_mariadb {
        true => format!("`{}`.`{}`.`{}`", table.schema, table.name, column.name),
        false => format!("'{}'", column.name),
    };
    let value = if column.is_auto && is_unset(given) {
        next_auto(target)
    } else if matches!(given, ValueRef::Null) {
        null(column, target)?
    } else {
        match bent(column, given, target.zone_shift_secs, is_mariadb) {
            Ok(value) => value,
            Err(misfit) if strict => return Err(misfit.problem(column, given, row, &named)),
            Err(misfit) => {
                let problem = misfit.problem(column, given, row, &named);
                frame.warnings.push((problem.code, problem.message));
                misfit.instead
            }
        }
    };
    if let Some(target) = frame.target.as_mut() {
        if let (true, Value::Int(used)) = (column.is_auto, &value) {
            target.next_auto = target.next_auto.max(used.saturating_add(1));
        }
        target.values[place] = value.clone();
    }
    Ok(value)
}

fn is_unset(given: ValueRef<'_>) -> bool {
    matches!(given, ValueRef::Null | ValueRef::Integer(0))
}

fn next_auto(target: &mut Target) -> Value {
    let id = target.next_auto;
    target.next_auto += 1;
    target.first_generated.get_or_insert(id);
    Value::Int(id)
}

fn null(column: &Column, target: &Target) -> Result<Value, SqlProblem> {
    if column.is_nullable {
        return Ok(Value::Null);
    }
    // Under IGNORE a row of several takes what is nearest.
    if target.is_ignoring {
        return Ok(nothing(column));
    }
    Err(SqlProblem::new(
        1048,
        format!("Column '{}' cannot be null", column.name),
    ))
}

/// What a NOT NULL column takes when it is given nothing and nobody minds.
pub fn nothing(column: &Column) -> Value {
    match &column.kept {
        Kept::Int { .. } => Value::Int(0),
        Kept::Decimal { .. } | Kept::Double => Value::Double(0.0),
        Kept::Text { .. } | Kept::Set(_) => Value::text(""),
        Kept::Bytes { .. } => Value::Bytes(Vec::new()),
        Kept::Enum(words) => Value::text(words.first().cloned().unwrap_or_default()),
        Kept::Date => Value::text("0000-00-00"),
        Kept::Time(digits) => Value::Text(dates::time_text(0, false, *digits)),
        Kept::DateTime(digits) | Kept::Timestamp(digits) => Value::Text(zero_stamp(*digits)),
    }
}

fn zero_stamp(digits: u8) -> String {
    let mut text = "0000-00-00 00:00:00".to_owned();
    if digits > 0 {
        text.push('.');
        text.push_str(&"0".repeat(digits.into()));
    }
    text
}

/// A value that does not fit, and what a server that is not strict keeps instead.
struct Misfit {
    how: How,
    instead: Value,
}

enum How {
    Range,
    TooLong,
    Wrong(&'static str),
    WrongStamp(&'static str),
    Truncated,
}

impl Misfit {
    fn problem(&self, column: &Column, given: ValueRef<'_>, row: u64, named: &str) -> SqlProblem {
        let name = &column.name;
        match self.how {
            How::Range => SqlProblem::new(
                1264,
                format!("Out of range value for column '{name}' at row {row}"),
            ),
            How::TooLong => SqlProblem::new(
                1406,
                format!("Data too long for column '{name}' at row {row}"),
            ),
            How::Wrong(kind) => SqlProblem::new(
                1366,
                format!(
                    "Incorrect {kind} value: '{}' for column {named} at row {row}",
                    text(given)
                ),
            ),
            How::WrongStamp(kind) => SqlProblem::new(
                1292,
                format!(
                    "Incorrect {kind} value: '{}' for column {named} at row {row}",
                    text(given)
                ),
            ),
            How::Truncated => SqlProblem::new(
                1265,
                format!("Data truncated for column '{name}' at row {row}"),
            ),
        }
    }
}

/// MariaDB cuts fractions of a second off that do not fit.
fn bent(
    column: &Column,
    given: ValueRef<'_>,
    zone_shift_secs: i32,
    is_mariadb: bool,
) -> Result<Value, Misfit> {
    let fitted = |at, digits| match is_mariadb {
        true => at,
        false => dates::rounded(at, digits),
    };
    match &column.kept {
        Kept::Int { min, max, .. } => int(given, *min, *max),
        Kept::Decimal {
            digits,
            scale,
            is_unsigned,
        } => decimal(given, *digits, *scale, *is_unsigned),
        Kept::Double => plain_number(given, "double").map(Value::Double),
        Kept::Text { characters } => {
            characters_of(given, *characters).map(|kept| as_char(column, kept))
        }
        Kept::Bytes { length } => bytes_of(given, *length),
        Kept::Enum(words) => one_of(given, words),
        Kept::Set(words) => some_of(given, words),
        Kept::Date => stamp(given, "date", dates::date_text),
        Kept::Time(digits) => time(given, *digits),
        Kept::DateTime(digits) => stamp(given, "datetime", |at| {
            dates::text(fitted(at, *digits), *digits)
        }),
        Kept::Timestamp(digits) => stamp(given, "datetime", |at| {
            let micros = i64::from(zone_shift_secs) * 1_000_000;
            let at = dates::add_micros(at, micros).unwrap_or(at);
            dates::text(fitted(at, *digits), *digits)
        }),
    }
    .map_err(|mut misfit| {
        if misfit.instead.is_null() {
            misfit.instead = nothing(column);
        }
        misfit
    })
}

fn misfit<T>(how: How, instead: Value) -> Result<T, Misfit> {
    Err(Misfit { how, instead })
}

/// A text that is no number at all is 1366, one that only begins with a number is truncated.
fn plain_number(given: ValueRef<'_>, kind: &'static str) -> Result<f64, Misfit> {
    let found = number(given);
    let ValueRef::Text(bytes) = given else {
        return Ok(found);
    };
    let text = String::from_utf8_lossy(bytes);
    match text.trim().parse::<f64>() {
        Ok(number) => Ok(number),
        Err(_) if text.trim_start().starts_with(|c: char| c.is_ascii_digit()) => {
            misfit(How::Truncated, Value::Double(found))
        }
        Err(_) => misfit(How::Wrong(kind), Value::Double(found)),
    }
}

fn int(given: ValueRef<'_>, min: i64, max: i64) -> Result<Value, Misfit> {
    let whole = match given {
        ValueRef::Integer(number) => number,
        given => {
            let found = plain_number(given, "integer").map_err(|misfit| Misfit {
                instead: Value::Int(number(given).round() as i64),
                ..misfit
            })?;
            if !(-9.3e18..=1.85e19).contains(&found) {
                return misfit(How::Range, Value::Int(if found < 0.0 { min } else { max }));
            }
            found.round() as i64
        }
    };
    if whole < min || whole > max {
        return misfit(How::Range, Value::Int(whole.clamp(min, max)));
    }
    Ok(Value::Int(whole))
}

fn decimal(given: ValueRef<'_>, digits: u8, scale: u8, is_unsigned: bool) -> Result<Value, Misfit> {
    let found = plain_number(given, "decimal")?;
    let unit = 10_f64.powi(scale.into());
    let limit = 10_f64.powi(i32::from(digits) - i32::from(scale));
    let kept = as_decimal(found * unit).round() / unit;
    if kept.abs() >= limit || (is_unsigned && kept < 0.0) {
        let most = limit - 1.0 / unit;
        let least = if is_unsigned { 0.0 } else { -most };
        return misfit(How::Range, Value::Double(kept.clamp(least, most)));
    }
    Ok(Value::Double(kept))
}

/// CHAR comes back without the blanks at its end.
fn as_char(column: &Column, kept: Value) -> Value {
    match kept {
        Value::Text(text) if column.declared.starts_with("char(") => {
            Value::text(text.trim_end_matches(' '))
        }
        other => other,
    }
}

fn characters_of(given: ValueRef<'_>, most: u64) -> Result<Value, Misfit> {
    let text = text(given);
    if text.len() as u64 <= most || text.chars().count() as u64 <= most {
        return Ok(Value::Text(text));
    }
    // Blanks behind the end may go.
    let kept: String = text.chars().take(most as usize).collect();
    if text[kept.len()..].chars().all(|c| c == ' ') {
        return Ok(Value::Text(kept));
    }
    misfit(How::TooLong, Value::Text(kept))
}

fn bytes_of(given: ValueRef<'_>, most: u64) -> Result<Value, Misfit> {
    let mut bytes = match given {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes.to_vec(),
        other => text(other).into_bytes(),
    };
    if bytes.len() as u64 <= most {
        return Ok(Value::Bytes(bytes));
    }
    bytes.truncate(most as usize);
    misfit(How::TooLong, Value::Bytes(bytes))
}

fn one_of(given: ValueRef<'_>, words: &[String]) -> Result<Value, Misfit> {
    let by_number = |place: i64| words.get(usize::try_from(place).ok()?.checked_sub(1)?);
    let found = match given {
        ValueRef::Integer(place) => by_number(place),
        other => {
            let text = text(other);
            words.iter().find(|word| word.eq_ignore_ascii_case(&text))
        }
    };
    match found {
        Some(word) => Ok(Value::Text(word.clone())),
        None => misfit(How::Truncated, Value::text("")),
    }
}

fn some_of(given: ValueRef<'_>, words: &[String]) -> Result<Value, Misfit> {
    let text = text(given);
    let chosen: Vec<&str> = text.split(',').filter(|word| !word.is_empty()).collect();
    let has = |word: &str| chosen.iter().any(|one| one.eq_ignore_ascii_case(word));
    let kept: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| has(word))
        .collect();
    let all_known = kept.len() == chosen.len();
    let kept = Value::Text(kept.join(","));
    if all_known {
        Ok(kept)
    } else {
        misfit(How::Truncated, kept)
    }
}

fn stamp(
    given: ValueRef<'_>,
    kind: &'static str,
    written: impl Fn(jiff::civil::DateTime) -> String,
) -> Result<Value, Misfit> {
    match dates::parse(&text(given)) {
        Some(at) => Ok(Value::Text(written(at))),
        None => misfit(How::WrongStamp(kind), Value::Null),
    }
}

fn time(given: ValueRef<'_>, digits: u8) -> Result<Value, Misfit> {
    let text = text(given);
    // Of a stamp its time of day.
    let text = match dates::parse(&text) {
        Some(at) if text.contains('-') && text.len() > 8 => dates::text(at, 6)[11..].to_owned(),
        _ => text,
    };
    match dates::parse_time(&text) {
        Some((micros, negative)) => Ok(Value::Text(dates::time_text(micros, negative, digits))),
        None => misfit(How::WrongStamp("time"), Value::Null),
    }
}
