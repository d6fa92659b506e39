//! Values and the types of columns.

use super::functions::double_text;

/// One value. Dates and times are texts as MySQL writes them; decimals are doubles that are written with the digits of
/// their column.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    Int(i64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The type of a column of a table or of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// TINYINT to INT.
    Int,
    BigInt,
    BigUnsigned,
    Double,
    Decimal {
        digits_after_point: u8,
    },
    Text,
    Bytes,
    Date,
    /// Digits after the second, 0 to 6.
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
    /// Nothing but NULL.
    Null,
}

impl Value {
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into())
    }

    /// As it is shown.
    pub fn written(&self) -> String {
        match self {
            Value::Null => "NULL".into(),
            Value::Int(number) => number.to_string(),
            Value::Double(number) => double_text(*number),
            Value::Text(text) => text.clone(),
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    pub fn is_null(&self) -> bool {
        *self == Value::Null
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Int(number as i64)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Int(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Double(number)
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Value::Int(yes.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}
