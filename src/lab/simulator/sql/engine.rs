//! One SQLite connection with MySQL's functions in it.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::types::Value as SqliteValue;
use rusqlite::{Connection, ErrorCode, params_from_iter};

use super::catalog::{Column, Table, quoted, sqlite_type};
use super::explaining::Step;
use super::frame::{Frame, SharedFrame, Target, lock};
use super::functions::{self, owned, sqlite, text};
use super::outcome::RowChange;
use super::problem::SqlProblem;
use super::storing;
use super::surroundings::{SystemColumn, TableData};
use super::value::Value;
use super::watch::Watch;
use crate::model::lab::Generation;

pub struct Engine {
    pub connection: Connection,
    pub frame: SharedFrame,
    pub generation: Generation,
    /// Tables of the server's own that have been made here, by `schema.name`.
    system: HashMap<String, Arc<[SystemColumn]>>,
    /// Key names stand behind their table's: `orders.PRIMARY`. Since 8.0.19; never on MariaDB.
    names_keys_with_table: bool,
    /// Over every statement.
    pub watch: Watch,
}

/// Bytes that the tables of this program may take all together, with what statements need to sort and join them.
const MOST_MEMORY: u64 = 2 << 30;

pub fn is_from_80(generation: Generation) -> bool {
    matches!(
        generation,
        Generation::MySql80 | Generation::MySql84 | Generation::MySql97
    )
}

/// SQLite is ours alone and in memory: what can fail is a mistake of ours, or the memory.
pub fn odd(error: &rusqlite::Error) -> SqlProblem {
    match error.sqlite_error_code() {
        Some(ErrorCode::OutOfMemory) => SqlProblem::out_of_memory(),
        _ => SqlProblem::new(1105, format!("Unknown error: {error}")),
    }
}

impl Engine {
    /// `statements`: how many prepared ones are kept. Fails when the memory for all tables is used up (1041).
    pub fn new(
        generation: Generation,
        statements: usize,
        watch: Watch,
    ) -> Result<Self, SqlProblem> {
        let frame = Arc::new(Mutex::new(Frame {
            version: generation.version(),
            ..Frame::default()
        }));
        let mut connection = Connection::open_in_memory().map_err(|e| odd(&e))?;
        connection.set_prepared_statement_cache_capacity(statements);
        let settings = format!(
            "PRAGMA recursive_triggers = ON; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF; \
             PRAGMA hard_heap_limit = {MOST_MEMORY};"
        );
        connection
            .execute_batch(&settings)
            .and_then(|()| functions::register(&connection, &frame))
            .and_then(|()| watch.over(&mut connection))
            .map_err(|e| odd(&e))?;
        Ok(Engine {
            connection,
            frame,
            generation,
            system: HashMap::new(),
            names_keys_with_table: is_from_80(generation),
            watch,
        })
    }

    /// All tables of another one, whose transactions are over.
    pub fn copy_from(&mut self, other: &Engine) -> rusqlite::Result<()> {
        const ALL_PAGES: i32 = -1;
        Backup::new(&other.connection, &mut self.connection)?.step(ALL_PAGES)?;
        self.system = other.system.clone();
        Ok(())
    }

    pub fn begin(&self) -> Result<(), SqlProblem> {
        self.say("BEGIN")
    }

    pub fn commit(&self) -> Result<(), SqlProblem> {
        self.say("COMMIT")
    }

    pub fn rollback(&self) {
        // Without an open transaction there is nothing to take back.
        let _ = self.say("ROLLBACK");
    }

    fn say(&self, sql: &str) -> Result<(), SqlProblem> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|e| odd(&e))?;
        statement.execute([]).map_err(|e| odd(&e))?;
        Ok(())
    }

    /// Whether `fill` would have to make the table first.
    pub fn lacks(&self, name: &str, columns: &Arc<[SystemColumn]>) -> bool {
        self.system
            .get(name)
            .is_none_or(|known| !Arc::ptr_eq(known, columns) && known != columns)
    }

    pub fn make_system_table(
        &mut self,
        name: &str,
        columns: &Arc<[SystemColumn]>,
    ) -> Result<(), SqlProblem> {
        let list: Vec<String> = columns
            .iter()
            .map(|column| {
                format!(
                    "{} {}",
                    quoted(&column.name),
                    sqlite_type(column.kind, false)
                )
            })
            .collect();
        let sql = format!(
            "DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({});",
            list.join(", "),
            name = quoted(name)
        );
        self.connection.execute_batch(&sql).map_err(|e| odd(&e))?;
        self.system.insert(name.to_owned(), Arc::clone(columns));
        Ok(())
    }

    /// The rows of now in place of those before.
    pub fn fill(&self, name: &str, data: &TableData) -> Result<(), SqlProblem> {
        let name = quoted(name);
        let empty = format!("DELETE FROM {name}");
        let mut statement = self
            .connection
            .prepare_cached(&empty)
            .map_err(|e| odd(&e))?;
        statement.execute([]).map_err(|e| odd(&e))?;
        if data.rows.is_empty() {
            return Ok(());
        }
        let marks = vec!["?"; data.columns.len()].join(",");
        let insert = format!("INSERT INTO {name} VALUES ({marks})");
        let mut statement = self
            .connection
            .prepare_cached(&insert)
            .map_err(|e| odd(&e))?;
        for row in &data.rows {
            for (place, value) in row.iter().enumerate() {
                bind(&mut statement, place, value).map_err(|e| odd(&e))?;
            }
            statement.raw_execute().map_err(|e| odd(&e))?;
        }
        Ok(())
    }

    pub fn create_table(&self, table: &Table) -> Result<(), SqlProblem> {
        self.execute_all(table, &table.sqlite_ddl())?;
        self.execute_all(table, &table.triggers())
    }

    pub fn execute_batch(&self, statements: &[String]) -> Result<(), SqlProblem> {
        let all = statements.join(";");
        self.connection
            .execute_batch(&all)
            .map_err(|error| odd(&error))
    }

    /// Names of the triggers that begin so.
    pub fn triggers_named(&self, prefix: &str) -> Result<Vec<String>, SqlProblem> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND substr(name, 1, length(?1)) = ?1";
        let mut statement = self.connection.prepare(sql).map_err(|e| odd(&e))?;
        let names = statement.query_map([prefix], |row| row.get(0));
        names.and_then(Iterator::collect).map_err(|e| odd(&e))
    }

    fn execute_all(&self, table: &Table, ddl: &[String]) -> Result<(), SqlProblem> {
        ddl.iter().try_for_each(|sql| {
            let executed = self.connection.execute_batch(sql);
            executed.map_err(|error| self.problem(&error, Some(table)))
        })
    }

    /// Whether triggers hand on what changes: nobody listens while a replica carries out what others have changed.
    pub fn listen(&self, listens: bool) {
        // It fails only on a connection that is none.
        let _ = self
            .connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, listens);
    }

    pub fn drop_table(&self, table: &Table) -> Result<(), SqlProblem> {
        let sql = format!("DROP TABLE {}", quoted(&table.full_name));
        self.connection.execute_batch(&sql).map_err(|e| odd(&e))
    }

    /// Row by row it would take its time: every row goes through the triggers.
    pub fn clear_table(&self, table: &Table) -> Result<(), SqlProblem> {
        self.drop_table(table)?;
        self.create_table(table)
    }

    /// The rows of `old` in the form of `new`: each column takes its values from the column of `old` that `origins` has
    /// for it, or its default.
    pub fn rebuild(
        &self,
        old: &Table,
        new: &Arc<Table>,
        origins: &[Option<usize>],
    ) -> Result<u64, SqlProblem> {
        let refused = |error: rusqlite::Error| self.problem(&error, Some(new));
        let keep = format!(
            "CREATE TEMP TABLE moving AS SELECT * FROM {}",
            quoted(&old.full_name)
        );
        self.connection.execute_batch(&keep).map_err(|e| odd(&e))?;
        self.drop_table(old)?;
        self.execute_all(new, &new.sqlite_ddl())?;
        let fills: Vec<String> = filled(old, new, origins);
        let sql = format!(
            "INSERT INTO {} SELECT {} FROM temp.moving",
            quoted(&new.full_name),
            fills.join(", ")
        );
        self.aim(Target::at(new, true, false, 0));
        let nothing = new
            .columns
            .iter()
            .map(|column| sqlite(storing::nothing(column)));
        let mut statement = self.connection.prepare(&sql).map_err(refused)?;
        let given = nothing.take(statement.parameter_count());
        let rows = statement
            .execute(params_from_iter(given))
            .map_err(refused)?;
        drop(statement);
        self.settle_auto(new);
        self.execute_all(new, &new.triggers())?;
        self.connection
            .execute_batch("DROP TABLE temp.moving")
            .map_err(|e| odd(&e))?;
        Ok(rows as u64)
    }

    /// What `rs_store` is about from now on.
    pub fn aim(&self, target: Target) {
        lock(&self.frame).target = Some(target);
    }

    /// Numbers that were given out stay given out.
    pub fn settle_auto(&self, table: &Table) -> Option<i64> {
        let target = lock(&self.frame).target.take()?;
        table
            .next_auto
            .fetch_max(target.next_auto, Ordering::Relaxed);
        target.first_generated
    }

    /// One change as a replica makes it. `Ok(false)`: there is no such row.
    pub fn change_row(&self, table: &Table, change: &RowChange) -> rusqlite::Result<bool> {
        let statements = table.row_statements();
        let sql = match (&change.before, &change.after) {
            (None, _) => &statements.insert,
            (Some(_), Some(_)) => &statements.update,
            (Some(_), None) => &statements.delete,
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut place = 0;
        for value in change.after.iter().flat_map(|image| image.iter()) {
            bind(&mut statement, place, value)?;
            place += 1;
        }
        if let Some(before) = &change.before {
            for column in table.told_by() {
                bind(
                    &mut statement,
                    place,
                    before.get(column).unwrap_or(&Value::Null),
                )?;
                place += 1;
            }
        }
        let changed = statement.raw_execute()? > 0;
        if let (Some(auto), Some(after)) = (table.auto_column(), &change.after)
            && let Some(Value::Int(used)) = after.get(auto)
        {
            table.raise_auto(*used);
        }
        Ok(changed)
    }

    /// How SQLite would carry out a statement.
    pub fn steps(&self, sql: &str) -> Result<Vec<Step>, SqlProblem> {
        let refused = |error: rusqlite::Error| self.problem(&error, None);
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = self.connection.prepare(&sql).map_err(refused)?;
        let rows = statement.query_map([], |row| {
            Ok(Step {
                id: row.get("id")?,
                parent: row.get("parent")?,
                detail: row.get("detail")?,
            })
        });
        rows.and_then(Iterator::collect).map_err(refused)
    }

    /// SQLite's refusal in MySQL's words. `table`: the one written to.
    pub fn problem(&self, error: &rusqlite::Error, table: Option<&Table>) -> SqlProblem {
        let mut frame = lock(&self.frame);
        if let Some(problem) = frame.problem.take() {
            return problem;
        }
        if error.sqlite_error_code() == Some(ErrorCode::OutOfMemory) {
            return SqlProblem::out_of_memory();
        }
        let message = match error {
            rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            other => other.to_string(),
        };
        let values = frame.target.as_ref().map(|target| target.values.as_slice());
        if let (Some(columns), Some(table)) =
            (message.strip_prefix("UNIQUE constraint failed: "), table)
        {
            return self.duplicate(table, columns, values.unwrap_or_default());
        }
        if let Some(column) = message.strip_prefix("NOT NULL constraint failed: ") {
            let column = column.rsplit('.').next().unwrap_or_default();
            return SqlProblem::new(1048, format!("Column '{column}' cannot be null"));
        }
        if let Some(column) = message.strip_prefix("no such column: ") {
            return SqlProblem::new(1054, format!("Unknown column '{column}' in 'field list'"));
        }
        if message.contains("misuse of aggregate") || message.contains("misuse of window") {
            return SqlProblem::new(1111, "Invalid use of group function");
        }
        if message.contains("sub-select returns") {
            return SqlProblem::new(1241, "Operand should contain 1 column(s)");
        }
        SqlProblem::unsupported(&format!("this statement ({message})"))
    }

    /// `columns`: as SQLite lists them, `table.column, table.column`.
    fn duplicate(&self, table: &Table, columns: &str, values: &[Value]) -> SqlProblem {
        let prefix = format!("{}.", table.full_name);
        let index = format!("index '{}/", table.full_name);
        let places: Vec<usize> = columns
            .split(", ")
            .filter_map(|name| table.column(name.strip_prefix(&prefix)?))
            .collect();
        let key = if places == table.primary {
            "PRIMARY"
        } else {
            table
                .keys
                .iter()
                .find(|key| key.is_unique && key.columns == places)
                .map_or_else(
                    || columns.trim_start_matches(&index).trim_end_matches('\''),
                    |key| key.name.as_str(),
                )
        };
        duplicate_entry(table, key, &places, values, self.names_keys_with_table)
    }
}

/// What each column of a table in a new form is filled with, from `temp.moving`. Values go through `rs_store` only where
/// that changes something: it takes its time. `?1` … are what columns take that may not be NULL.
fn filled(old: &Table, new: &Table, origins: &[Option<usize>]) -> Vec<String> {
    // The refusal of a duplicate names all values.
    let is_checked = old.primary != new.primary
        || new
            .keys
            .iter()
            .any(|key| key.is_unique && !old.keys.contains(key));
    let is_as_before = |origin: usize, column: &Column| {
        let old = &old.columns[origin];
        old.kept == column.kept
            && (old.is_nullable, old.is_auto, old.is_binary_compared)
                == (
                    column.is_nullable,
                    column.is_auto,
                    column.is_binary_compared,
                )
    };
    let columns = new.columns.iter().zip(origins).enumerate();
    columns
        .map(
            |(place, (column, origin))| match (origin, &column.default) {
                (Some(origin), _) => {
                    let name = quoted(&old.columns[*origin].name);
                    match is_as_before(*origin, column) && !is_checked {
                        true => name,
                        false => format!("rs_store({place}, {name})"),
                    }
                }
                (None, Some(default)) => format!("rs_store({place}, {})", default.sql),
                (None, None) if column.is_auto => format!("rs_store({place}, NULL)"),
                (None, None) if column.is_nullable => "NULL".to_owned(),
                (None, None) => format!("rs_store({place}, ?{})", place + 1),
            },
        )
        .collect()
}

pub fn duplicate_entry(
    table: &Table,
    key: &str,
    places: &[usize],
    values: &[Value],
    names_table: bool,
) -> SqlProblem {
    let entry: Vec<String> = places
        .iter()
        .map(|place| values.get(*place).map_or(String::new(), Value::written))
        .collect();
    let table_name = if names_table {
        format!("{}.", table.name)
    } else {
        String::new()
    };
    SqlProblem::new(
        1062,
        format!(
            "Duplicate entry '{}' for key '{table_name}{key}'",
            entry.join("-")
        ),
    )
}

/// The values that tell a row from the others, as one text; texts that differ by case alone are the same.
pub fn row_key(table: &Table, image: &[Value]) -> String {
    let parts: Vec<String> = table
        .told_by()
        .into_iter()
        .map(|place| image.get(place).map_or(String::new(), Value::written))
        .collect();
    parts.join("-").to_lowercase()
}

fn bind(
    statement: &mut rusqlite::CachedStatement<'_>,
    place: usize,
    value: &Value,
) -> rusqlite::Result<()> {
    let place = place + 1;
    match value {
        Value::Null => statement.raw_bind_parameter(place, rusqlite::types::Null),
        Value::Int(number) => statement.raw_bind_parameter(place, number),
        Value::Double(number) => statement.raw_bind_parameter(place, number),
        Value::Text(text) => statement.raw_bind_parameter(place, text),
        Value::Bytes(bytes) => statement.raw_bind_parameter(place, bytes),
    }
}

/// The first row's values of a statement without parameters of a client's.
pub fn first_row(
    engine: &Engine,
    sql: &str,
    binds: &[SqliteValue],
) -> Result<Vec<Value>, SqlProblem> {
    let refused = |error: rusqlite::Error| engine.problem(&error, None);
    let mut statement = engine.connection.prepare_cached(sql).map_err(refused)?;
    let width = statement.column_count();
    let given = params_from_iter(binds.iter().take(statement.parameter_count()));
    let mut rows = statement.query(given).map_err(refused)?;
    let Some(row) = rows.next().map_err(refused)? else {
        return Ok(Vec::new());
    };
    (0..width)
        .map(|place| Ok(owned(row.get_ref(place).map_err(refused)?)))
        .collect()
}

/// Keys of the rows that a statement selects the identity of.
pub fn keys(engine: &Engine, sql: &str, binds: &[SqliteValue]) -> Result<Vec<String>, SqlProblem> {
    let refused = |error: rusqlite::Error| engine.problem(&error, None);
    let mut statement = engine.connection.prepare_cached(sql).map_err(refused)?;
    let width = statement.column_count();
    let given = params_from_iter(binds.iter().take(statement.parameter_count()));
    let mut rows = statement.query(given).map_err(refused)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(refused)? {
        let parts: Vec<String> = (0..width)
            .map(|place| row.get_ref(place).map(text).unwrap_or_default())
            .collect();
        found.push(parts.join("-").to_lowercase());
    }
    Ok(found)
}

impl Target {
    pub fn at(
        table: &Arc<Table>,
        is_strict: bool,
        is_ignoring: bool,
        zone_shift_secs: i32,
    ) -> Self {
        Target {
            is_strict,
            is_ignoring,
            zone_shift_secs,
            row: 1,
            seen: vec![false; table.columns.len()],
            values: vec![Value::Null; table.columns.len()],
            next_auto: table.next_auto.load(Ordering::Relaxed),
            first_generated: None,
            table: Arc::clone(table),
        }
    }
}
