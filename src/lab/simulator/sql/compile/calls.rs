//! Calls of functions: aggregates and window functions are SQLite's own, control flow is written out, the rest are ours.

use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
};

use super::super::catalog::quoted;
use super::super::functions::{self, Gives};
use super::super::problem::SqlProblem;
use super::super::surroundings::SERVER_FUNCTIONS;
use super::super::value::ColumnType;
use super::aggregates::is_aggregate;
use super::casts::as_text;
use super::operators::{compared, moved};
use super::{Bind, Compiler, Piece, ServerCall, literal, part, scale, stamp_digits, widest};

type Found = Result<Piece, SqlProblem>;

impl Compiler<'_> {
    pub(super) fn function(&mut self, function: &Function) -> Found {
        let written = function.name.0.last().map(part).unwrap_or_default();
        let name = written.to_ascii_uppercase();
        let arguments = arguments(function);
        if let Some(piece) = self.special(&name, function, &arguments)? {
            return Ok(piece);
        }
        if name.starts_with("JSON_") && functions::find(&name).is_some() {
            return self.json(&name, &arguments);
        }
        if SERVER_FUNCTIONS.contains(&name.as_str()) {
            return self.server_call(name, &arguments);
        }
        if functions::find(&name).is_none() {
            return Err(self.no_function(written));
        }
        self.named(&name, &arguments)
    }

    /// One of ours by its name.
    pub(super) fn named(&mut self, name: &str, arguments: &[&Expr]) -> Found {
        let Some(function) = functions::find(name).filter(|_| is_callable(name)) else {
            return Err(self.no_function(name));
        };
        if arguments.len() < function.least || arguments.len() > function.most {
            return Err(wrong_parameter_count(name));
        }
        let mut pieces = Vec::new();
        for argument in arguments {
            pieces.push(self.expr(argument)?);
        }
        let takes_texts = function.gives == Gives::Kind(ColumnType::Text);
        let list: Vec<String> = pieces
            .iter()
            .map(|piece| {
                if takes_texts {
                    as_text(piece)
                } else {
                    piece.sql.clone()
                }
            })
            .collect();
        Ok(Piece {
            sql: format!("{}({})", functions::sqlite_name(function), list.join(", ")),
            kind: given_kind(function.gives, &pieces),
            is_column: false,
        })
    }

    /// Documents that come out of other functions are told from texts by being bytes.
    pub(super) fn json(&mut self, name: &str, arguments: &[&Expr]) -> Found {
        let Some(function) = functions::find(name).filter(|_| is_callable(name)) else {
            return Err(self.no_function(name));
        };
        if arguments.len() < function.least || arguments.len() > function.most {
            return Err(wrong_parameter_count(name));
        }
        let mut list = Vec::new();
        for argument in arguments {
            let sql = self.expr(argument)?.sql;
            list.push(match gives_document(argument) {
                true => format!("CAST({sql} AS BLOB)"),
                false => sql,
            });
        }
        Ok(Piece {
            sql: format!("{}({})", functions::sqlite_name(function), list.join(", ")),
            kind: given_kind(function.gives, &[]),
            is_column: false,
        })
    }

    pub(super) fn no_function(&self, name: &str) -> SqlProblem {
        let of_mysql = REAL_SERVERS_HAVE.iter();
        if of_mysql
            .into_iter()
            .any(|known| known.eq_ignore_ascii_case(name))
        {
            return SqlProblem::unsupported(&format!("the function {name}"));
        }
        let schema = self
            .setting
            .schema
            .map_or(String::new(), |schema| format!("{schema}."));
        SqlProblem::new(1305, format!("FUNCTION {schema}{name} does not exist"))
    }

    /// What is no plain call.
    fn special(
        &mut self,
        name: &str,
        function: &Function,
        arguments: &[&Expr],
    ) -> Result<Option<Piece>, SqlProblem> {
        const TAKE_NO_OTHERS: &[&str] = &[
            "IF",
            "IFNULL",
            "NVL",
            "NULLIF",
            "COALESCE",
            "DATE_ADD",
            "DATE_SUB",
            "ADDDATE",
            "SUBDATE",
            "TIMESTAMPADD",
            "TIMESTAMPDIFF",
        ];
        if is_aggregate(name) || function.over.is_some() {
            return self.aggregate(name, function, arguments).map(Some);
        }
        if let Some(piece) = self.chosen(name, arguments)? {
            return Ok(Some(piece));
        }
        if let Some(piece) = self.of_target(name, arguments)? {
            return Ok(Some(piece));
        }
        if let Some(piece) = self.of_moments(name, arguments)? {
            return Ok(Some(piece));
        }
        match (name, arguments) {
            ("ROUND" | "TRUNCATE", [_, ..]) => self.rounded(name, arguments).map(Some),
            _ if TAKE_NO_OTHERS.contains(&name) => Err(wrong_parameter_count(name)),
            _ => Ok(None),
        }
    }

    /// One of several values, or several as one.
    fn chosen(&mut self, name: &str, arguments: &[&Expr]) -> Result<Option<Piece>, SqlProblem> {
        Ok(Some(match (name, arguments) {
            ("IF", [condition, yes, no]) => self.choice(condition, yes, no)?,
            ("IFNULL" | "NVL", [_, _]) | ("COALESCE", [_, _, ..]) => self.coalesce(arguments)?,
            ("COALESCE", [only]) => self.expr(only)?,
            ("NULLIF", [one, other]) => {
                let (one, other) = (self.expr(one)?, self.expr(other)?);
                let same = compared(&one, "=", &other).sql;
                Piece {
                    sql: format!("CASE WHEN {same} THEN NULL ELSE {} END", one.sql),
                    kind: one.kind,
                    is_column: false,
                }
            }
            ("ANY_VALUE", [inner]) => {
                let inner = self.expr(inner)?;
                Piece {
                    sql: format!("max({})", inner.sql),
                    ..inner
                }
            }
            ("ROW", [_, _, ..]) => Piece {
                is_column: true,
                ..Piece::unknown(format!("({})", self.plain_list(arguments)?))
            },
            _ => return Ok(None),
        }))
    }

    /// Values of the row that is being written.
    fn of_target(&mut self, name: &str, arguments: &[&Expr]) -> Result<Option<Piece>, SqlProblem> {
        Ok(Some(match (name, arguments) {
            ("VALUES" | "VALUE", [Expr::Identifier(column)]) => Piece {
                sql: format!("excluded.{}", quoted(&column.value)),
                kind: self.target_kind(&column.value),
                is_column: true,
            },
            ("DEFAULT", [Expr::Identifier(column)]) => {
                let table = self.target.clone().or_else(|| self.only_table());
                let place = table
                    .as_ref()
                    .and_then(|table| table.column(&column.value))
                    .ok_or_else(|| self.unknown_column(&column.value))?;
                let default = table.and_then(|table| table.columns[place].default.clone());
                Piece::unknown(default.map_or("NULL".to_owned(), |default| default.sql))
            }
            _ => return Ok(None),
        }))
    }

    /// Dates and times with units that are words.
    fn of_moments(&mut self, name: &str, arguments: &[&Expr]) -> Result<Option<Piece>, SqlProblem> {
        Ok(Some(match (name, arguments) {
            (
                "DATE_ADD" | "ADDDATE" | "DATE_SUB" | "SUBDATE",
                [stamp, Expr::Interval(interval)],
            ) => {
                let stamp = self.expr(stamp)?;
                self.moved(stamp, interval, name.contains("SUB"))?
            }
            ("ADDDATE" | "SUBDATE", [stamp, days]) => {
                let (stamp, days) = (self.expr(stamp)?, self.expr(days)?);
                moved(&stamp, &days, "DAY", name == "SUBDATE")
            }
            ("TIMESTAMPADD", [Expr::Identifier(unit), amount, stamp]) => {
                let (amount, stamp) = (self.expr(amount)?, self.expr(stamp)?);
                moved(&stamp, &amount, &unit_name(&unit.value), false)
            }
            ("TIMESTAMPDIFF", [Expr::Identifier(unit), from, to]) => {
                let (from, to) = (self.expr(from)?, self.expr(to)?);
                let unit = literal(&unit_name(&unit.value));
                Piece::new(
                    format!("rs_timestampdiff({unit}, {}, {})", from.sql, to.sql),
                    ColumnType::BigInt,
                )
            }
            ("UNIX_TIMESTAMP", [stamp]) => self.unix_timestamp(stamp)?,
            ("FROM_UNIXTIME", [seconds]) => {
                let seconds = self.expr(seconds)?;
                let digits = scale(seconds.kind).unwrap_or(6).min(6);
                Piece::new(
                    format!("rs_from_unixtime({}, '', {digits})", seconds.sql),
                    ColumnType::DateTime(digits),
                )
            }
            ("WEEK", [_]) | ("WEEK", [_, _]) => self.named("WEEKOFYEAR", &arguments[..1])?,
            _ => return Ok(None),
        }))
    }

    fn only_table(&self) -> Option<std::sync::Arc<super::Table>> {
        self.plan.user_tables.first().cloned()
    }

    fn target_kind(&self, column: &str) -> Option<ColumnType> {
        let table = self.target.as_ref()?;
        Some(table.columns[table.column(column)?].kind())
    }

    fn plain_list(&mut self, arguments: &[&Expr]) -> Result<String, SqlProblem> {
        let mut parts = Vec::new();
        for argument in arguments {
            parts.push(self.expr(argument)?.sql);
        }
        Ok(parts.join(", "))
    }

    fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr) -> Found {
        let condition = self.expr(condition)?;
        let (yes, no) = (self.expr(yes)?, self.expr(no)?);
        Ok(Piece {
            sql: format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                condition.sql, yes.sql, no.sql
            ),
            kind: widest(yes.kind, no.kind),
            is_column: false,
        })
    }

    fn coalesce(&mut self, arguments: &[&Expr]) -> Found {
        let mut parts = Vec::new();
        let mut kind = Some(ColumnType::Null);
        for argument in arguments {
            let piece = self.expr(argument)?;
            kind = widest(kind, piece.kind);
            parts.push(piece.sql);
        }
        Ok(Piece {
            sql: format!("coalesce({})", parts.join(", ")),
            kind,
            is_column: false,
        })
    }

    /// Whole seconds for a stamp without a fraction, else a decimal.
    fn unix_timestamp(&mut self, stamp: &Expr) -> Found {
        let stamp = self.expr(stamp)?;
        let digits = match stamp.kind {
            Some(ColumnType::Date) => 0,
            kind => stamp_digits(kind).unwrap_or_else(|| {
                let fraction = stamp.sql.rsplit_once('.').map_or("", |(_, rest)| rest);
                fraction
                    .chars()
                    .take_while(char::is_ascii_digit)
                    .count()
                    .min(6) as u8
            }),
        };
        let kind = match digits {
            0 => ColumnType::BigInt,
            digits => ColumnType::Decimal {
                digits_after_point: digits,
            },
        };
        Ok(Piece::new(
            format!("rs_unix_timestamp({}, {digits})", stamp.sql),
            kind,
        ))
    }

    fn rounded(&mut self, name: &str, arguments: &[&Expr]) -> Found {
        let mut piece = self.named(name, arguments)?;
        let digits = match arguments.get(1) {
            None => Some(0),
            Some(Expr::Value(value)) => value.to_string().parse::<u8>().ok(),
            Some(Expr::UnaryOp { .. }) => Some(0),
            Some(_) => None,
        };
        // Never more digits than there were.
        if let (Some(had), Some(digits)) = (scale(piece.kind), digits) {
            piece.kind = Some(match had.min(digits) {
                0 if had == 0 => ColumnType::BigInt,
                digits => ColumnType::Decimal {
                    digits_after_point: digits,
                },
            });
        }
        Ok(piece)
    }

    /// Its arguments are asked for first, then the surroundings; what they say goes in.
    fn server_call(&mut self, name: String, arguments: &[&Expr]) -> Found {
        let list = self.plain_list(arguments)?;
        let call = ServerCall {
            name,
            sql: if list.is_empty() {
                String::new()
            } else {
                format!("SELECT {list}")
            },
            binds: self.plan.binds.clone(),
        };
        self.plan.calls.push(call);
        let place = self.plan.calls.len() - 1;
        Ok(Piece::unknown(self.bind(Bind::Call(place))))
    }
}

fn wrong_parameter_count(name: &str) -> SqlProblem {
    SqlProblem::new(
        1582,
        format!("Incorrect parameter count in the call to native function '{name}'"),
    )
}

fn gives_document(expr: &Expr) -> bool {
    const NO_DOCUMENTS: &[&str] = &[
        "JSON_UNQUOTE",
        "JSON_LENGTH",
        "JSON_TYPE",
        "JSON_VALID",
        "JSON_CONTAINS",
    ];
    match expr {
        Expr::Nested(inner) => gives_document(inner),
        Expr::BinaryOp { op, .. } => *op == BinaryOperator::Arrow,
        Expr::Cast { data_type, .. } => matches!(data_type, DataType::JSON),
        Expr::Function(function) => {
            let name = function.name.0.last().map(part).unwrap_or_default();
            let name = name.to_ascii_uppercase();
            name.starts_with("JSON_") && !NO_DOCUMENTS.contains(&name.as_str())
        }
        _ => false,
    }
}

/// Without `*`.
fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else {
        return Vec::new();
    };
    list.args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

/// Not done here; the error must not say that there is no such thing.
const REAL_SERVERS_HAVE: &[&str] = &[
    "MD5",
    "AES_ENCRYPT",
    "AES_DECRYPT",
    "COMPRESS",
    "UNCOMPRESS",
    "STR_TO_DATE",
    "MAKEDATE",
    "MAKETIME",
    "PERIOD_ADD",
    "PERIOD_DIFF",
    "YEARWEEK",
    "FROM_DAYS",
    "INET_ATON",
    "INET_NTOA",
    "INET6_ATON",
    "SOUNDEX",
    "EXPORT_SET",
    "MAKE_SET",
    "LOAD_FILE",
    "JSON_MERGE_PATCH",
    "JSON_PRETTY",
    "JSON_SEARCH",
    "JSON_TABLE",
    "JSON_VALUE",
    "RANDOM_BYTES",
    "NAME_CONST",
    "ROLES_GRAPHML",
    "TAN",
    "COT",
    "ASIN",
    "ACOS",
    "ATAN",
    "ATAN2",
    "RADIANS",
    "DEGREES",
    "CHARSET",
    "COLLATION",
    "COERCIBILITY",
    "GROUPING",
    "ICU_VERSION",
    "PS_THREAD_ID",
    "PS_CURRENT_THREAD_ID",
    "FORMAT_BYTES",
    "ST_GEOMFROMTEXT",
    "MBRCONTAINS",
    "UPDATEXML",
    "EXTRACTVALUE",
    "WEIGHT_STRING",
    "TO_BASE64",
    "FROM_BASE64",
];

/// Names that only the compiler writes.
fn is_callable(name: &str) -> bool {
    const OURS: &[&str] = &[
        "DIVIDE",
        "INTDIV",
        "XOR",
        "BITXOR",
        "STAMP",
        "TO_INT",
        "TO_DECIMAL",
        "TO_DOUBLE",
        "TO_TEXT",
        "TO_BYTES",
        "TO_DATETIME",
        "DECIMAL_TEXT",
        "SET_VARIABLE",
        "VARIABLE",
        "TO_SESSION_ZONE",
        "REGEXP",
        "JSON_SCALAR",
    ];
    !OURS.contains(&name)
}

fn unit_name(written: &str) -> String {
    let unit = written.to_ascii_uppercase();
    unit.strip_prefix("SQL_TSI_")
        .map_or(unit.clone(), str::to_owned)
}

fn given_kind(gives: Gives, pieces: &[Piece]) -> Option<ColumnType> {
    let digits = || {
        let written = pieces.first().map_or("", |piece| piece.sql.as_str());
        written.parse::<u8>().unwrap_or(0).min(6)
    };
    match gives {
        Gives::Kind(ColumnType::Time(_)) => Some(ColumnType::Time(digits())),
        Gives::Kind(kind) => Some(kind),
        Gives::Like(place) => pieces.get(place).and_then(|piece| piece.kind),
        Gives::Widest => pieces
            .iter()
            .map(|piece| piece.kind)
            .reduce(widest)
            .unwrap_or(None),
        Gives::Now => Some(ColumnType::DateTime(digits())),
        Gives::Stamp => {
            let digits = pieces.first().and_then(|piece| stamp_digits(piece.kind));
            Some(ColumnType::DateTime(digits.unwrap_or(0)))
        }
    }
}
