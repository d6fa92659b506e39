//! MySQL's functions, registered in SQLite under `rs_` and their name in small letters. One table says for each how many
//! arguments it takes and what it gives; the compiler reads the same table.

mod json;
mod moments;
mod numbers;
mod patterns;
mod server;
mod texts;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value as SqliteValue, ValueRef};

use super::dates;
use super::frame::{Captured, Frame, SharedFrame, lock};
use super::problem::SqlProblem;
use super::storing;
use super::value::{ColumnType, Value};

pub use numbers::as_decimal;

pub type Given = Result<Value, SqlProblem>;
type Body = fn(&mut Frame, &[ValueRef<'_>]) -> Given;

/// One function.
pub struct Function {
    /// In capitals.
    pub name: &'static str,
    pub least: usize,
    pub most: usize,
    pub gives: Gives,
    pub nulls: Nulls,
    pub is_pure: bool,
    pub body: Body,
}

/// The type of what comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gives {
    Kind(ColumnType),
    /// As the argument at this place.
    Like(usize),
    /// What all arguments fit in.
    Widest,
    /// A date and time with as many digits as the first argument says.
    Now,
    /// A date and time with the digits of the first argument's type.
    Stamp,
}

/// What a NULL argument means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nulls {
    /// NULL comes back.
    Spread,
    /// The function looks itself.
    Seen,
}

/// Any number of arguments.
const MANY: usize = 100;

const fn pure(
    name: &'static str,
    (least, most): (usize, usize),
    gives: Gives,
    body: Body,
) -> Function {
    Function {
        name,
        least,
        most,
        gives,
        nulls: Nulls::Spread,
        is_pure: true,
        body,
    }
}

const fn seeing_nulls(mut function: Function) -> Function {
    function.nulls = Nulls::Seen;
    function
}

const fn of_the_moment(mut function: Function) -> Function {
    function.is_pure = false;
    function.nulls = Nulls::Seen;
    function
}

const INT: Gives = Gives::Kind(ColumnType::BigInt);
const DOUBLE: Gives = Gives::Kind(ColumnType::Double);
const TEXT: Gives = Gives::Kind(ColumnType::Text);
const BYTES: Gives = Gives::Kind(ColumnType::Bytes);
const DATE: Gives = Gives::Kind(ColumnType::Date);

pub fn all() -> impl Iterator<Item = &'static Function> {
    [
        numbers::FUNCTIONS,
        texts::FUNCTIONS,
        json::FUNCTIONS,
        moments::FUNCTIONS,
        patterns::FUNCTIONS,
        server::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

pub fn find(name: &str) -> Option<&'static Function> {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static BY_NAME: LazyLock<HashMap<&str, &Function>> =
        LazyLock::new(|| all().map(|function| (function.name, function)).collect());
    BY_NAME.get(name).copied()
}

pub fn sqlite_name(function: &Function) -> String {
    format!("rs_{}", function.name.to_ascii_lowercase())
}

pub fn register(connection: &Connection, frame: &SharedFrame) -> rusqlite::Result<()> {
    for function in all() {
        let flags = if function.is_pure {
            FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC
        } else {
            FunctionFlags::SQLITE_UTF8
        };
        let shared = frame.clone();
        let (nulls, body) = (function.nulls, function.body);
        connection.create_scalar_function(
            sqlite_name(function).as_str(),
            -1,
            flags,
            move |context| call(&shared, context, nulls, body),
        )?;
    }
    register_writing(connection, frame)
}

fn call(
    frame: &SharedFrame,
    context: &Context<'_>,
    nulls: Nulls,
    body: Body,
) -> rusqlite::Result<SqliteValue> {
    const USUAL: usize = 8;
    let mut few = [ValueRef::Null; USUAL];
    let many: Vec<ValueRef<'_>>;
    let arguments: &[ValueRef<'_>] = if context.len() <= USUAL {
        for (place, slot) in few.iter_mut().take(context.len()).enumerate() {
            *slot = context.get_raw(place);
        }
        &few[..context.len()]
    } else {
        many = (0..context.len()).map(|i| context.get_raw(i)).collect();
        &many
    };
    if nulls == Nulls::Spread && arguments.contains(&ValueRef::Null) {
        return Ok(SqliteValue::Null);
    }
    let given = told(frame, |frame| body(frame, arguments))?;
    // As servers do, with a warning there.
    Ok(match &given {
        SqliteValue::Text(text) if text.len() > LONGEST => SqliteValue::Null,
        SqliteValue::Blob(bytes) if bytes.len() > LONGEST => SqliteValue::Null,
        _ => given,
    })
}

/// Bytes of a function's result: `max_allowed_packet`.
const LONGEST: usize = 64 << 20;

/// A refusal is kept in the frame, since SQLite carries only a text.
fn told(
    frame: &SharedFrame,
    act: impl FnOnce(&mut Frame) -> Given,
) -> rusqlite::Result<SqliteValue> {
    let mut frame = lock(frame);
    act(&mut frame).map(sqlite).map_err(|problem| {
        let message = problem.message.clone();
        frame.problem = Some(problem);
        rusqlite::Error::UserFunctionError(message.into())
    })
}

/// Storing values and seeing what changed.
fn register_writing(connection: &Connection, frame: &SharedFrame) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8;
    let shared = frame.clone();
    connection.create_scalar_function("rs_store", 2, flags, move |context| {
        let place = context.get::<i64>(0)? as usize;
        let given = context.get_raw(1);
        told(&shared, |frame| storing::store(frame, place, given))
    })?;
    let shared = frame.clone();
    connection.create_scalar_function("rs_checks", 0, flags, move |_| {
        let frame = lock(&shared);
        Ok(frame.is_capturing && frame.checks_foreign_keys)
    })?;
    let shared = frame.clone();
    connection.create_scalar_function("rs_refuses", 2, flags, move |context| {
        let (code, failed) = (context.get(0)?, context.get::<String>(1)?);
        told(&shared, |frame| refused(frame, code, &failed))
    })?;
    let is_same = flags | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("rs_row", -1, is_same, |context| Ok(row_hash(context)))?;
    let shared = frame.clone();
    connection.create_scalar_function("rs_new", -1, flags, move |context| {
        captured(&shared, context, |frame, table, image| {
            frame.captured.push(Captured {
                table,
                before: None,
                after: Some(image),
            });
        })
    })?;
    let shared = frame.clone();
    connection.create_scalar_function("rs_old", -1, flags, move |context| {
        captured(&shared, context, |frame, table, image| {
            frame.captured.push(Captured {
                table,
                before: Some(image),
                after: None,
            });
        })
    })?;
    let shared = frame.clone();
    connection.create_scalar_function("rs_changed", -1, flags, move |context| {
        captured(&shared, context, |frame, _, image| {
            if let Some(last) = frame.captured.last_mut() {
                last.after = Some(image);
            }
        })
    })
}

/// A foreign key is in the way. True: the row is left out, as IGNORE wants it.
fn refused(frame: &mut Frame, code: u16, failed: &str) -> Given {
    let what = match code {
        1451 => "delete or update a parent row",
        _ => "add or update a child row",
    };
    let text = format!("Cannot {what}: a foreign key constraint fails {failed}");
    if frame
        .target
        .as_ref()
        .is_some_and(|target| target.is_ignoring)
    {
        frame.warnings.push((code, text));
        return Ok(true.into());
    }
    Err(SqlProblem::new(code, text))
}

/// The same for rows that SQLite takes for the same.
fn row_hash(context: &Context<'_>) -> i64 {
    let mut hasher = DefaultHasher::new();
    for place in 0..context.len() {
        match context.get_raw(place) {
            ValueRef::Null => 0_u8.hash(&mut hasher),
            ValueRef::Integer(number) => (number as f64).to_bits().hash(&mut hasher),
            ValueRef::Real(number) => number.to_bits().hash(&mut hasher),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                bytes.to_ascii_lowercase().hash(&mut hasher)
            }
        }
    }
    hasher.finish() as i64
}

fn captured(
    frame: &SharedFrame,
    context: &Context<'_>,
    keep: impl FnOnce(&mut Frame, u32, Arc<[Value]>),
) -> rusqlite::Result<SqliteValue> {
    let mut frame = lock(frame);
    if frame.is_capturing {
        if frame.captured.len() >= frame.room {
            frame.problem = Some(SqlProblem::too_many_rows());
            return Err(rusqlite::Error::UserFunctionError("too many rows".into()));
        }
        let table = context.get::<u32>(0)?;
        let image = (1..context.len())
            .map(|place| owned(context.get_raw(place)))
            .collect();
        keep(&mut frame, table, image);
    }
    Ok(SqliteValue::Null)
}

pub fn sqlite(value: Value) -> SqliteValue {
    match value {
        Value::Null => SqliteValue::Null,
        Value::Int(number) => SqliteValue::Integer(number),
        Value::Double(number) => SqliteValue::Real(number),
        Value::Text(text) => SqliteValue::Text(text),
        Value::Bytes(bytes) => SqliteValue::Blob(bytes),
    }
}

pub fn owned(given: ValueRef<'_>) -> Value {
    match given {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Double(number),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

pub fn number(given: ValueRef<'_>) -> f64 {
    match given {
        ValueRef::Null => 0.0,
        ValueRef::Integer(number) => number as f64,
        ValueRef::Real(number) => number,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            dates::leading_number(&String::from_utf8_lossy(bytes))
        }
    }
}

pub fn int(given: ValueRef<'_>) -> i64 {
    match given {
        ValueRef::Integer(number) => number,
        other => number(other).round() as i64,
    }
}

/// Bytes of the text, before it is made.
pub fn length(given: ValueRef<'_>) -> usize {
    match given {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        other => text(other).len(),
    }
}

pub fn text(given: ValueRef<'_>) -> String {
    match given {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => double_text(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
    }
}

/// As MySQL writes a DOUBLE: the shortest digits that say it, with an exponent only where it gets long.
pub fn double_text(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-15..1e15).contains(&size) {
        let text = format!("{number:e}");
        return text;
    }
    if number == 0.0 {
        return "0".into();
    }
    format!("{number}")
}
