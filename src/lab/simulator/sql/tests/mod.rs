//! Claims about the tables of a simulated server.

mod applying;
mod patience;
mod product;
mod speaking;
mod transactions;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::model::lab::Generation;
use crate::model::time::ServerTime;

/// 2026-03-01 10:00:00.123456 UTC.
const NOW: ServerTime = ServerTime(1_772_359_200_123_456);

/// One server with one session.
struct Stage {
    database: Database,
    session: SessionContext,
    around: Around,
}

/// A server that knows these tables and variables and nothing else.
#[derive(Default)]
struct Around {
    tables: BTreeMap<String, TableData>,
    variables: BTreeMap<&'static str, Value>,
    /// What the function says that waits.
    waited: Option<Called>,
}

impl Surroundings for Around {
    fn table(&self, schema: &str, name: &str) -> Option<TableData> {
        self.tables.get(&format!("{schema}.{name}")).cloned()
    }

    fn variable(&self, _scope: Scope, name: &str) -> Result<Option<Value>, SqlProblem> {
        Ok(self.variables.get(name).cloned())
    }

    fn call(&self, _name: &str, _arguments: &[Value]) -> Called {
        self.waited.clone().unwrap_or(Called::Unknown)
    }
}

impl Stage {
    /// With the schema `shop` chosen.
    fn new(generation: Generation) -> Self {
        let mut stage = Stage::on(&Shared::new(generation).expect("memory"));
        stage.run("CREATE DATABASE shop");
        stage.session.schema = Some("shop".into());
        stage
    }

    fn on(shared: &Arc<Shared>) -> Self {
        let mut session = SessionContext::new(7, "app@localhost", "app@%");
        session.now = NOW;
        Stage {
            database: Database::new(shared).expect("memory"),
            session,
            around: Around::default(),
        }
    }

    /// A table with a few rows.
    fn with_orders(generation: Generation) -> Self {
        let mut stage = Stage::new(generation);
        stage.run(
            "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, \
             address VARCHAR(200) NOT NULL, amount DECIMAL(10,2) NOT NULL DEFAULT 1, \
             updated_at TIMESTAMP(6) NULL ON UPDATE CURRENT_TIMESTAMP(6), UNIQUE KEY place (address))",
        );
        stage.run("INSERT INTO orders (customer, address) VALUES (1, 'a'), (2, 'b'), (1, 'c')");
        stage
    }

    fn ask(&mut self, transaction: &mut Transaction, sql: &str) -> Result<Outcome, SqlProblem> {
        self.database
            .execute(transaction, &mut self.session, &self.around, sql, &[])
    }

    /// Under autocommit.
    fn tried(&mut self, sql: &str) -> Result<(Outcome, Vec<Change>), SqlProblem> {
        let mut transaction = Transaction::begin();
        let mut outcome = self.ask(&mut transaction, sql)?;
        let mut changes: Vec<Change> = outcome.ddl.take().into_iter().collect();
        changes.extend(self.database.commit(transaction)?);
        Ok((outcome, changes))
    }

    fn run(&mut self, sql: &str) -> Vec<Change> {
        match self.tried(sql) {
            Ok((_, changes)) => changes,
            Err(problem) => panic!("{sql}: {problem:?}"),
        }
    }

    fn done(&mut self, sql: &str) -> Done {
        match self.tried(sql) {
            Ok((outcome, _)) => match outcome.result {
                Brought::Done(done) => done,
                other => panic!("{sql}: {other:?}"),
            },
            Err(problem) => panic!("{sql}: {problem:?}"),
        }
    }

    fn error(&mut self, sql: &str) -> (u16, String) {
        match self.tried(sql) {
            Err(problem) => (problem.code, problem.message),
            Ok((outcome, _)) => panic!("{sql}: {:?}", outcome.result),
        }
    }

    /// Values by `|`, rows by a line.
    fn rows(&mut self, sql: &str) -> String {
        self.rows_in(&mut Transaction::begin(), sql)
    }

    fn rows_in(&mut self, transaction: &mut Transaction, sql: &str) -> String {
        match self.ask(transaction, sql).map(|outcome| outcome.result) {
            Ok(Brought::Rows(rows)) => shown(&rows),
            other => panic!("{sql}: {other:?}"),
        }
    }

    fn columns(&mut self, sql: &str) -> Vec<crate::lab::wire::Column> {
        match self.tried(sql).map(|(outcome, _)| outcome.result) {
            Ok(Brought::Rows(rows)) => rows.columns,
            other => panic!("{sql}: {other:?}"),
        }
    }
}

fn shown(rows: &crate::lab::wire::Rows) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".into(),
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join("|");
    rows.rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// A system table of texts.
fn table(columns: &str, rows: &[&[Option<&str>]]) -> TableData {
    let columns = columns
        .split_whitespace()
        .map(|name| SystemColumn {
            name: name.to_owned().into(),
            kind: ColumnType::Text,
        })
        .collect();
    let rows = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| cell.map(str::to_owned).into())
                .collect()
        })
        .collect();
    TableData { columns, rows }
}
