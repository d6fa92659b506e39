//! A column's definition: its type with MySQL's limits, its default, its options.

use std::sync::Arc;

use sqlparser::ast::{
    BinaryLength, CharacterLength, ColumnOption, DataType, EnumMember, ExactNumberInfo, Expr,
    FunctionArguments, UnaryOperator, Value as Literal,
};
use sqlparser::tokenizer::Token;

use super::super::catalog::{self, Column, Kept};
use super::super::compile::literal;
use super::super::problem::SqlProblem;

/// A column and the keys that its definition asks for.
pub struct Defined {
    pub column: Column,
    pub is_primary: bool,
    pub is_unique: bool,
}

pub fn define(
    name: &str,
    data_type: &DataType,
    options: &[&ColumnOption],
) -> Result<Defined, SqlProblem> {
    let serial = matches!(data_type, DataType::Custom(name, _) if name.to_string().eq_ignore_ascii_case("serial"));
    let (kept, declared) = if serial {
        (int("bigint", true, None), "bigint unsigned".to_owned())
    } else {
        kind(data_type)?
    };
    let mut defined = Defined {
        column: Column {
            name: name.to_owned(),
            declared,
            kept,
            is_nullable: !serial,
            default: None,
            on_update: None,
            is_auto: serial,
            is_binary_compared: matches!(data_type, DataType::JSON),
            comment: String::new(),
        },
        is_primary: false,
        is_unique: serial,
    };
    for option in options {
        apply(&mut defined, option)?;
    }
    if defined.is_primary || defined.column.is_auto {
        defined.column.is_nullable = false;
    }
    Ok(defined)
}

fn apply(defined: &mut Defined, option: &ColumnOption) -> Result<(), SqlProblem> {
    let column = &mut defined.column;
    match option {
        ColumnOption::Null => column.is_nullable = true,
        ColumnOption::NotNull => column.is_nullable = false,
        ColumnOption::Default(expr) => column.default = default(column, expr)?,
        ColumnOption::OnUpdate(expr) => column.on_update = moment_digits(expr),
        ColumnOption::PrimaryKey(_) => defined.is_primary = true,
        ColumnOption::Unique(_) => defined.is_unique = true,
        ColumnOption::Comment(text) => column.comment.clone_from(text),
        ColumnOption::Collation(name) => {
            column.is_binary_compared = name.to_string().to_ascii_lowercase().ends_with("_bin");
        }
        ColumnOption::DialectSpecific(tokens) => {
            for token in tokens {
                if let Token::Word(word) = token {
                    match word.value.to_ascii_uppercase().as_str() {
                        "AUTO_INCREMENT" => column.is_auto = true,
                        "KEY" => defined.is_primary = true,
                        _ => {}
                    }
                }
            }
        }
        ColumnOption::Generated { .. } => {
            return Err(SqlProblem::unsupported("generated columns"));
        }
        // Foreign keys and checks are taken and not kept, as some engines do.
        _ => {}
    }
    Ok(())
}

/// `CURRENT_TIMESTAMP(6)`: 6.
fn moment_digits(expr: &Expr) -> Option<u8> {
    let Expr::Function(function) = expr else {
        return None;
    };
    let name = function.name.to_string().to_ascii_uppercase();
    if !["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"].contains(&name.as_str()) {
        return None;
    }
    let FunctionArguments::List(list) = &function.args else {
        return Some(0);
    };
    let digits = list.args.first().map(ToString::to_string);
    Some(digits.and_then(|digits| digits.parse().ok()).unwrap_or(0))
}

pub fn default(column: &Column, expr: &Expr) -> Result<Option<catalog::Default>, SqlProblem> {
    let wrong = || SqlProblem::new(1067, format!("Invalid default value for '{}'", column.name));
    if let Some(digits) = moment_digits(expr) {
        if !matches!(column.kept, Kept::DateTime(_) | Kept::Timestamp(_)) {
            return Err(wrong());
        }
        return Ok(Some(catalog::Default {
            sql: format!("rs_now({digits})"),
            shown: catalog::current_timestamp(digits),
            is_expression: true,
        }));
    }
    let plain = |sql: String, shown: String| {
        Ok(Some(catalog::Default {
            sql,
            shown,
            is_expression: false,
        }))
    };
    match expr {
        Expr::Value(value) => match &value.value {
            Literal::Null if column.is_nullable => plain("NULL".into(), "NULL".into()),
            Literal::Null => Err(wrong()),
            Literal::Number(digits, _) => plain(digits.clone(), digits.clone()),
            Literal::Boolean(yes) => {
                let digit = i64::from(*yes).to_string();
                plain(digit.clone(), digit)
            }
            Literal::SingleQuotedString(text) | Literal::DoubleQuotedString(text) => {
                plain(literal(text), text.clone())
            }
            _ => Err(wrong()),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => plain(format!("-{expr}"), format!("-{expr}")),
        // (expression): what needs no column.
        Expr::Nested(inner) => Ok(Some(catalog::Default {
            sql: expression(inner)?,
            shown: format!("({inner})").to_lowercase(),
            is_expression: true,
        })),
        _ => Err(wrong()),
    }
}

fn expression(expr: &Expr) -> Result<String, SqlProblem> {
    let statement = format!("SELECT {expr}");
    let parsed = super::super::parse::parse(&statement, "MySQL")?;
    let setting = super::super::compile::Setting {
        catalog: &super::Catalog::default(),
        system: &|_, _| None,
        schema: None,
        is_strict: true,
        shifts_zones: false,
        names_system_columns: false,
        is_mariadb: false,
    };
    let plan = super::super::compile::compile(&parsed, &statement, false, &setting)?;
    let selected = plan.sql.trim_start_matches("SELECT ");
    let end = selected.rfind(" AS `").unwrap_or(selected.len());
    Ok(format!("({})", &selected[..end]))
}

fn int(name: &str, is_unsigned: bool, width: Option<u64>) -> Kept {
    let bits: u32 = match name {
        "tinyint" => 8,
        "smallint" => 16,
        "mediumint" => 24,
        "int" => 32,
        _ => 64,
    };
    let _ = width;
    let (min, max) = match (bits, is_unsigned) {
        (64, true) => (0, i64::MAX),
        (64, false) => (i64::MIN, i64::MAX),
        (bits, true) => (0, (1_i64 << bits) - 1),
        (bits, false) => (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1),
    };
    Kept::Int {
        min,
        max,
        is_big: bits == 64,
    }
}

fn whole(name: &str, is_unsigned: bool, width: Option<u64>) -> (Kept, String) {
    let unsigned = if is_unsigned { " unsigned" } else { "" };
    // MySQL 8 shows no display widths, but for the one that means a boolean.
    let shown = match (name, width, is_unsigned) {
        ("tinyint", Some(1), false) => "tinyint(1)".to_owned(),
        _ => format!("{name}{unsigned}"),
    };
    (int(name, is_unsigned, width), shown)
}

/// `int(11)`, as servers before MySQL 8 show what is declared as `int`.
pub fn with_width(declared: &str, data_type: &DataType) -> String {
    let (word, rest) = declared
        .split_once(' ')
        .map_or((declared, ""), |(word, rest)| (word, rest));
    let usual = match (word, rest) {
        ("tinyint", "") => 4,
        ("tinyint", _) => 3,
        ("smallint", "") => 6,
        ("smallint", _) => 5,
        ("mediumint", "") => 9,
        ("mediumint", _) => 8,
        ("int", "") => 11,
        ("int", _) => 10,
        ("bigint", _) => 20,
        ("year", _) => 4,
        _ => return declared.to_owned(),
    };
    let written = data_type.to_string();
    let given = written
        .split(['(', ')'])
        .nth(1)
        .and_then(|width| width.parse::<u64>().ok());
    let width = given.unwrap_or(usual);
    format!("{word}({width}) {rest}").trim_end().to_owned()
}

fn text(declared: String, characters: u64) -> (Kept, String) {
    (Kept::Text { characters }, declared)
}

fn bytes(declared: String, length: u64) -> (Kept, String) {
    (Kept::Bytes { length }, declared)
}

fn characters(length: Option<&CharacterLength>) -> u64 {
    match length {
        Some(CharacterLength::IntegerLength { length, .. }) => *length,
        _ => 1,
    }
}

fn decimal(info: &ExactNumberInfo, is_unsigned: bool) -> (Kept, String) {
    let (digits, scale) = match info {
        ExactNumberInfo::None => (10, 0),
        ExactNumberInfo::Precision(digits) => (*digits, 0),
        ExactNumberInfo::PrecisionAndScale(digits, scale) => (*digits, *scale),
    };
    let unsigned = if is_unsigned { " unsigned" } else { "" };
    let kept = Kept::Decimal {
        digits: digits.min(65) as u8,
        scale: scale.clamp(0, 30) as u8,
        is_unsigned,
    };
    (kept, format!("decimal({digits},{scale}){unsigned}"))
}

fn stamp(name: &str, digits: Option<u64>, kept: fn(u8) -> Kept) -> (Kept, String) {
    let digits = digits.unwrap_or(0).min(6) as u8;
    let declared = match digits {
        0 => name.to_owned(),
        digits => format!("{name}({digits})"),
    };
    (kept(digits), declared)
}

fn words(kind: &str, words: &[String]) -> (Arc<[String]>, String) {
    let list: Vec<String> = words.iter().map(|word| literal(word)).collect();
    (words.into(), format!("{kind}({})", list.join(",")))
}

fn kind(data_type: &DataType) -> Result<(Kept, String), SqlProblem> {
    if let DataType::Zerofill(inner) | DataType::Collate(inner, _) = data_type {
        return kind(inner);
    }
    whole_number(data_type)
        .or_else(|| fraction(data_type))
        .or_else(|| text_or_bytes(data_type))
        .or_else(|| moment_or_choice(data_type))
        .or_else(|| by_name(data_type))
        .ok_or_else(|| SqlProblem::unsupported(&format!("columns of type {data_type}")))
}

type Typed = Option<(Kept, String)>;

fn whole_number(data_type: &DataType) -> Typed {
    Some(match data_type {
        DataType::TinyInt(width) => whole("tinyint", false, *width),
        DataType::TinyIntUnsigned(width) => whole("tinyint", true, *width),
        DataType::Bool | DataType::Boolean => whole("tinyint", false, Some(1)),
        DataType::SmallInt(width) | DataType::Int2(width) => whole("smallint", false, *width),
        DataType::SmallIntUnsigned(width) | DataType::Int2Unsigned(width) => {
            whole("smallint", true, *width)
        }
        DataType::MediumInt(width) => whole("mediumint", false, *width),
        DataType::MediumIntUnsigned(width) => whole("mediumint", true, *width),
        DataType::Int(width) | DataType::Integer(width) | DataType::Int4(width) => {
            whole("int", false, *width)
        }
        DataType::IntUnsigned(width)
        | DataType::IntegerUnsigned(width)
        | DataType::Int4Unsigned(width) => whole("int", true, *width),
        DataType::BigInt(width) | DataType::Int8(width) => whole("bigint", false, *width),
        DataType::BigIntUnsigned(width) | DataType::Int8Unsigned(width) => {
            whole("bigint", true, *width)
        }
        DataType::Signed | DataType::SignedInteger => whole("int", false, None),
        DataType::Bit(_) => whole("bigint", true, None),
        _ => return None,
    })
}

fn fraction(data_type: &DataType) -> Typed {
    Some(match data_type {
        DataType::Decimal(info) | DataType::Dec(info) | DataType::Numeric(info) => {
            decimal(info, false)
        }
        DataType::DecimalUnsigned(info) | DataType::DecUnsigned(info) => decimal(info, true),
        DataType::Float(_) | DataType::FloatUnsigned(_) | DataType::Float4 => {
            (Kept::Double, "float".into())
        }
        DataType::Double(_)
        | DataType::DoubleUnsigned(_)
        | DataType::DoublePrecision
        | DataType::Float8
        | DataType::Real => (Kept::Double, "double".into()),
        _ => return None,
    })
}

fn text_or_bytes(data_type: &DataType) -> Typed {
    const K: u64 = 1024;
    Some(match data_type {
        DataType::Char(length) | DataType::Character(length) => {
            let length = characters(length.as_ref());
            text(format!("char({length})"), length)
        }
        DataType::Varchar(length)
        | DataType::Nvarchar(length)
        | DataType::CharVarying(length)
        | DataType::CharacterVarying(length) => {
            let length = characters(length.as_ref());
            text(format!("varchar({length})"), length)
        }
        DataType::TinyText => text("tinytext".into(), 255),
        DataType::Text => text("text".into(), 64 * K - 1),
        DataType::MediumText => text("mediumtext".into(), 16 * K * K - 1),
        DataType::LongText | DataType::String(_) => text("longtext".into(), u64::from(u32::MAX)),
        DataType::JSON => text("json".into(), u64::from(u32::MAX)),
        DataType::Binary(length) => {
            let length = length.unwrap_or(1);
            bytes(format!("binary({length})"), length)
        }
        DataType::Varbinary(length) => {
            let length = match length {
                Some(BinaryLength::IntegerLength { length }) => *length,
                _ => 1,
            };
            bytes(format!("varbinary({length})"), length)
        }
        DataType::TinyBlob => bytes("tinyblob".into(), 255),
        DataType::Blob(_) => bytes("blob".into(), 64 * K - 1),
        DataType::MediumBlob => bytes("mediumblob".into(), 16 * K * K - 1),
        DataType::LongBlob => bytes("longblob".into(), u64::from(u32::MAX)),
        _ => return None,
    })
}

fn moment_or_choice(data_type: &DataType) -> Typed {
    Some(match data_type {
        DataType::Date => (Kept::Date, "date".into()),
        DataType::Time(digits, _) => stamp("time", *digits, Kept::Time),
        DataType::Datetime(digits) => stamp("datetime", *digits, Kept::DateTime),
        DataType::Timestamp(digits, _) => stamp("timestamp", *digits, Kept::Timestamp),
        DataType::Enum(members, _) => {
            let names: Vec<String> = members
                .iter()
                .map(|member| match member {
                    EnumMember::Name(name) | EnumMember::NamedValue(name, _) => name.clone(),
                })
                .collect();
            let (words, declared) = words("enum", &names);
            (Kept::Enum(words), declared)
        }
        DataType::Set(names) => {
            let (words, declared) = words("set", names);
            (Kept::Set(words), declared)
        }
        _ => return None,
    })
}

/// Types that the parser has no word for.
fn by_name(data_type: &DataType) -> Typed {
    Some(match data_type {
        DataType::Custom(name, modifiers) if name.to_string().eq_ignore_ascii_case("year") => {
            let _ = modifiers;
            (
                Kept::Int {
                    min: 0,
                    max: 2155,
                    is_big: false,
                },
                "year".into(),
            )
        }
        DataType::Custom(name, modifiers)
            if ["fixed", "dec"].contains(&name.to_string().to_ascii_lowercase().as_str()) =>
        {
            let number = |place: usize| {
                modifiers
                    .get(place)
                    .and_then(|m| m.to_string().parse().ok())
            };
            let info = ExactNumberInfo::PrecisionAndScale(
                number(0).unwrap_or(10),
                number(1).unwrap_or(0) as i64,
            );
            decimal(&info, false)
        }
        _ => return None,
    })
}
