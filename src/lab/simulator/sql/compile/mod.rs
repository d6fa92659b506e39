//! From the parser's tree to SQLite's SQL: names are looked up, types are worked out, MySQL's ways are put in SQLite's.

mod aggregates;
mod calls;
mod casts;
mod expressions;
mod from;
mod inserts;
mod names;
mod operators;
mod queries;
mod writes;

pub use aggregates::is_aggregate;

use std::sync::Arc;

use sqlparser::ast::{
    Delete, Ident, Insert, ObjectName, ObjectNamePart, SetExpr, Statement, Update,
};

use super::catalog::{Catalog, Table};
use super::parse::Parsed;
use super::problem::SqlProblem;
use super::surroundings::{Scope as VariableScope, SystemColumn};
use super::value::ColumnType;

/// A statement ready to run, as often as the tables stay as they are.
#[derive(Debug, Default)]
pub struct Plan {
    pub sql: String,
    pub act: Act,
    pub binds: Vec<Bind>,
    pub calls: Vec<ServerCall>,
    /// Names and types of the answer's columns; SQLite knows more of those that are columns of tables.
    pub columns: Vec<(String, Option<ColumnType>)>,
    /// Schema and name in small letters.
    pub system_tables: Vec<(String, String)>,
    pub user_tables: Vec<Arc<Table>>,
    pub locks: Vec<RowLock>,
    /// SELECT … INTO @a.
    pub into: Vec<String>,
    pub counts_all_rows: Option<String>,
}

impl Plan {
    /// `schema.table` of every table of a user's that it names.
    pub fn table_names(&self) -> Vec<Arc<str>> {
        let tables = self.user_tables.iter();
        tables.map(|table| Arc::clone(&table.full_name)).collect()
    }

    /// `schema.table` of those that it writes to or locks rows of.
    pub fn writes(&self) -> Vec<Arc<str>> {
        let written = match &self.act {
            Act::Insert(writing) | Act::Update(writing) | Act::Delete(writing) => {
                Some(&writing.table)
            }
            Act::Select | Act::Do => None,
        };
        let locked = self.locks.iter().filter(|lock| lock.is_exclusive);
        let tables = written.into_iter().chain(locked.map(|lock| &lock.table));
        tables.map(|table| Arc::clone(&table.full_name)).collect()
    }
}

#[derive(Debug, Default)]
pub enum Act {
    #[default]
    Select,
    /// DO: nothing comes back.
    Do,
    Insert(Writing),
    Update(Writing),
    Delete(Writing),
}

#[derive(Debug)]
pub struct Writing {
    pub table: Arc<Table>,
    pub is_ignoring: bool,
    /// Rows given in the statement; `None`: they come from a SELECT.
    pub given_rows: Option<usize>,
    /// MySQL tells "Records: …" for inserts of several rows.
    pub is_replace: bool,
    /// Columns without a value and a default, as warnings (1364).
    pub without_default: Vec<String>,
}

/// What a `?` of the SQLite statement stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Bind {
    /// A parameter of the client's.
    Given(usize),
    Variable(VariableScope, String),
    UserVariable(String),
    Call(usize),
}

/// A function that the surroundings answer, with the statement that gives its arguments.
#[derive(Debug)]
pub struct ServerCall {
    pub name: String,
    /// Empty without arguments.
    pub sql: String,
    /// The binds before this one may be used in `sql`.
    pub binds: Vec<Bind>,
}

#[derive(Debug)]
pub struct RowLock {
    pub table: Arc<Table>,
    /// Selects what tells the rows apart.
    pub sql: String,
    pub is_exclusive: bool,
}

pub type SystemColumns<'a> = dyn Fn(&str, &str) -> Option<Arc<[SystemColumn]>> + 'a;

/// What compiling needs to know.
pub struct Setting<'a> {
    pub catalog: &'a Catalog,
    /// Columns of a table of the server's own; names in small letters.
    pub system: &'a SystemColumns<'a>,
    pub schema: Option<&'a str>,
    pub is_strict: bool,
    /// TIMESTAMP columns are shown in another zone than they are kept in.
    pub shifts_zones: bool,
    /// Of MySQL 8 on: columns of `information_schema` come back as they are defined, not as they were asked for.
    pub names_system_columns: bool,
    pub is_mariadb: bool,
}

pub struct Compiler<'a> {
    setting: &'a Setting<'a>,
    plan: Plan,
    /// Innermost last.
    scopes: Vec<Scope>,
    ctes: Vec<(String, Vec<Output>)>,
    clause: Clause,
    /// What MariaDB calls the fields of the statement in its errors.
    fields: &'static str,
    /// `@x := …` is somewhere: variables are read as they are at that moment.
    assigns_variables: bool,
    items: Vec<String>,
    /// INSERT … AS new: what stands for the row that did not go in.
    row_alias: Option<String>,
    target: Option<Arc<Table>>,
    /// An aggregate stood in the SELECT that is being compiled.
    has_aggregate: bool,
}

/// The tables that a SELECT names, and the names it gives.
#[derive(Debug, Default)]
struct Scope {
    sources: Vec<Source>,
    aliases: Vec<Output>,
    sees_aliases: bool,
    /// Columns of USING and NATURAL: the same in both tables.
    joined: Vec<String>,
    is_natural: bool,
}

#[derive(Clone, Debug)]
struct Source {
    alias: String,
    schema: Option<String>,
    columns: Vec<Output>,
    is_system: bool,
    table: Option<Arc<Table>>,
}

/// A column as others see it.
#[derive(Clone, Debug, PartialEq)]
struct Output {
    name: String,
    kind: Option<ColumnType>,
}

/// A piece of SQL and what it gives.
#[derive(Clone, Debug)]
struct Piece {
    sql: String,
    /// `None`: what the value says when it comes.
    kind: Option<ColumnType>,
    is_column: bool,
}

impl Piece {
    fn new(sql: impl Into<String>, kind: ColumnType) -> Self {
        Piece {
            sql: sql.into(),
            kind: Some(kind),
            is_column: false,
        }
    }

    fn unknown(sql: impl Into<String>) -> Self {
        Piece {
            sql: sql.into(),
            kind: None,
            is_column: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Clause {
    Fields,
    Where,
    On,
    Group,
    Having,
    Order,
}

impl Clause {
    fn words(self) -> &'static str {
        match self {
            Clause::Fields => "field list",
            Clause::Where => "where clause",
            Clause::On => "on clause",
            Clause::Group => "group statement",
            Clause::Having => "having clause",
            Clause::Order => "order clause",
        }
    }

    fn words_of_mariadb(self, fields: &'static str) -> &'static str {
        match self {
            Clause::Fields => fields,
            Clause::Where => "WHERE",
            Clause::On => "ON",
            Clause::Group => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::Order => "ORDER BY",
        }
    }
}

/// Everything but DDL.
pub fn compile(
    parsed: &Parsed,
    sql: &str,
    is_do: bool,
    setting: &Setting<'_>,
) -> Result<Plan, SqlProblem> {
    let mut compiler = Compiler {
        setting,
        plan: Plan::default(),
        scopes: Vec::new(),
        ctes: Vec::new(),
        clause: Clause::Fields,
        fields: "SELECT",
        assigns_variables: sql.contains(":="),
        items: parsed.items.clone(),
        row_alias: None,
        target: None,
        has_aggregate: false,
    };
    compiler.plan.into.clone_from(&parsed.into);
    compiler.statement(&parsed.statement)?;
    if is_do {
        compiler.plan.act = Act::Do;
    }
    Ok(compiler.plan)
}

impl Compiler<'_> {
    fn statement(&mut self, statement: &Statement) -> Result<(), SqlProblem> {
        match statement {
            Statement::Query(query) => match query.body.as_ref() {
                SetExpr::Update(inner) | SetExpr::Delete(inner) | SetExpr::Insert(inner) => {
                    let with = self.with(query.with.as_ref())?;
                    self.statement(inner)?;
                    self.plan.sql.insert_str(0, &with);
                    Ok(())
                }
                _ => self.top_query(query),
            },
            Statement::Insert(Insert {
                returning: Some(_), ..
            })
            | Statement::Update(Update {
                returning: Some(_), ..
            })
            | Statement::Delete(Delete {
                returning: Some(_), ..
            }) => Err(SqlProblem::unsupported("RETURNING")),
            Statement::Insert(insert) => {
                self.fields = "INSERT INTO";
                self.insert(insert)
            }
            Statement::Update(update) => {
                self.fields = "SET";
                self.update(update)
            }
            Statement::Delete(delete) => self.delete(delete),
            other => {
                let text = other.to_string();
                let words: Vec<&str> = text.split(' ').take(2).collect();
                Err(SqlProblem::unsupported(&words.join(" ")))
            }
        }
    }

    fn clause_words(&self) -> &'static str {
        match self.setting.is_mariadb {
            true => self.clause.words_of_mariadb(self.fields),
            false => self.clause.words(),
        }
    }

    /// The `?` for this.
    fn bind(&mut self, bind: Bind) -> String {
        let binds = &mut self.plan.binds;
        let place = binds.iter().position(|known| *known == bind);
        let place = place.unwrap_or_else(|| {
            binds.push(bind);
            binds.len() - 1
        });
        format!("?{}", place + 1)
    }

    /// Schema and name, as the statement means them.
    fn full_name(&self, name: &ObjectName) -> Result<(String, String), SqlProblem> {
        let mut parts = name.0.iter().rev().map(part);
        let table = parts.next().unwrap_or_default();
        match parts.next().or(self.setting.schema) {
            Some(schema) => Ok((schema.to_owned(), table.to_owned())),
            None => Err(no_database()),
        }
    }

    /// A table of a user's, to be written to.
    fn user_table(&mut self, name: &ObjectName) -> Result<Arc<Table>, SqlProblem> {
        let (schema, table) = self.full_name(name)?;
        let found = self.setting.catalog.table(&schema, &table).cloned();
        let Some(found) = found else {
            if is_system(&schema) {
                return Err(SqlProblem::new(
                    1142,
                    format!("INSERT, UPDATE, DELETE command denied for table '{table}'"),
                ));
            }
            return Err(self.missing(&schema, &table));
        };
        self.note(&found);
        Ok(found)
    }

    fn note(&mut self, table: &Arc<Table>) {
        let known = self.plan.user_tables.iter();
        if !known.into_iter().any(|known| known.number == table.number) {
            self.plan.user_tables.push(Arc::clone(table));
        }
    }

    fn missing(&self, schema: &str, table: &str) -> SqlProblem {
        let knows_schemas = !self.setting.is_mariadb;
        if knows_schemas && !is_system(schema) && !self.setting.catalog.schemas.contains_key(schema)
        {
            return unknown_database(schema);
        }
        match schema.to_ascii_lowercase().as_str() {
            "information_schema" => SqlProblem::new(
                1109,
                format!(
                    "Unknown table '{}' in information_schema",
                    table.to_ascii_uppercase()
                ),
            ),
            _ => no_table(schema, table),
        }
    }
}

pub fn part(part: &ObjectNamePart) -> &str {
    match part {
        ObjectNamePart::Identifier(ident) => &ident.value,
        ObjectNamePart::Function(function) => &function.name.value,
    }
}

pub fn is_system(schema: &str) -> bool {
    const SYSTEM: [&str; 4] = ["information_schema", "performance_schema", "mysql", "sys"];
    SYSTEM.iter().any(|name| name.eq_ignore_ascii_case(schema))
}

pub fn no_database() -> SqlProblem {
    SqlProblem::new(1046, "No database selected")
}

pub fn unknown_database(schema: &str) -> SqlProblem {
    SqlProblem::new(1049, format!("Unknown database '{schema}'"))
}

pub fn no_table(schema: &str, table: &str) -> SqlProblem {
    SqlProblem::new(1146, format!("Table '{schema}.{table}' doesn't exist"))
}

/// A text for SQLite.
pub fn literal(text: &str) -> String {
    // SQLite reads a text only up to a zero byte.
    if text.contains('\0') {
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        return format!("CAST(x'{hex}' AS TEXT)");
    }
    format!("'{}'", text.replace('\'', "''"))
}

fn joined_name(idents: &[Ident]) -> String {
    let parts: Vec<&str> = idents.iter().map(|ident| ident.value.as_str()).collect();
    parts.join(".")
}

/// What values of both kinds fit in.
fn widest(one: Option<ColumnType>, other: Option<ColumnType>) -> Option<ColumnType> {
    use ColumnType::{BigInt, BigUnsigned, DateTime, Decimal, Double, Int, Null, Text, Timestamp};
    let (one, other) = (one?, other?);
    Some(match (one, other) {
        (a, b) if a == b => a,
        (Null, kind) | (kind, Null) => kind,
        (Int | BigInt | BigUnsigned, Int | BigInt | BigUnsigned) => BigInt,
        (
            Decimal {
                digits_after_point: a,
            },
            Decimal {
                digits_after_point: b,
            },
        ) => Decimal {
            digits_after_point: a.max(b),
        },
        (kind @ Decimal { .. }, Int | BigInt | BigUnsigned)
        | (Int | BigInt | BigUnsigned, kind @ Decimal { .. }) => kind,
        (Double, Int | BigInt | BigUnsigned | Decimal { .. })
        | (Int | BigInt | BigUnsigned | Decimal { .. }, Double) => Double,
        (DateTime(a) | Timestamp(a), DateTime(b) | Timestamp(b)) => DateTime(a.max(b)),
        _ => Text,
    })
}

fn is_number(kind: Option<ColumnType>) -> bool {
    use ColumnType::{BigInt, BigUnsigned, Decimal, Double, Int};
    matches!(
        kind,
        Some(Int | BigInt | BigUnsigned | Double | Decimal { .. })
    )
}

/// Digits after the point of an exact number.
fn scale(kind: Option<ColumnType>) -> Option<u8> {
    use ColumnType::{BigInt, BigUnsigned, Decimal, Int};
    match kind {
        Some(Int | BigInt | BigUnsigned) => Some(0),
        Some(Decimal { digits_after_point }) => Some(digits_after_point),
        _ => None,
    }
}

/// Digits after the second of a stamp.
fn stamp_digits(kind: Option<ColumnType>) -> Option<u8> {
    match kind {
        Some(ColumnType::DateTime(digits) | ColumnType::Timestamp(digits)) => Some(digits),
        _ => None,
    }
}
