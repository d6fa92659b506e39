//! A simulated server's tables against a real MySQL and a real MariaDB: the same statements, the same answers.

mod support;

use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value as Cell};

use replicascope::lab::simulator::sql::{
    Brought, Called, Database, Kind, Scope, SessionContext, Shared, SqlProblem, Surroundings,
    TableData, Transaction, Value,
};
use replicascope::model::lab::Generation;
use replicascope::model::time::ServerTime;
use support::servers::Topology;

/// One statement a line, in one session from the first to the last.
const STATEMENTS: &str = include_str!("support/same_as_mysql.sql");

/// Those of the above that a simulated MariaDB answers otherwise than a real one, with the reason in comments. One that it
/// answers alike has no place there.
const NOT_AS_MARIADB: &str = include_str!("support/not_as_mariadb.sql");

/// What a client is told.
#[derive(Debug, PartialEq)]
enum Told {
    Rows(Vec<String>, Vec<Vec<Option<String>>>),
    /// Affected rows, the last number given out, and the text without its warnings: notes are not counted here.
    Done(u64, u64, String),
    Error(u16, String),
}

fn real(session: &mut Conn, sql: &str) -> Told {
    let answer = session.query_iter(sql).and_then(|mut answer| {
        let columns = answer.columns();
        let names: Vec<String> = columns
            .as_ref()
            .iter()
            .map(|column| column.name_str().into_owned())
            .collect();
        let done = Told::Done(
            answer.affected_rows(),
            answer.last_insert_id().unwrap_or(0),
            without_warnings(&answer.info_str()),
        );
        let rows: Vec<Row> = answer.by_ref().collect::<mysql::Result<_>>()?;
        Ok(if names.is_empty() {
            done
        } else {
            Told::Rows(names, rows.into_iter().map(cells).collect())
        })
    });
    match answer {
        Ok(told) => told,
        Err(mysql::Error::MySqlError(error)) => Told::Error(error.code, error.message),
        Err(error) => panic!("{sql}: {error}"),
    }
}

fn without_warnings(info: &str) -> String {
    let (counts, _) = info.split_once("  Warnings").unwrap_or((info, ""));
    counts.to_owned()
}

fn cells(row: Row) -> Vec<Option<String>> {
    row.unwrap()
        .into_iter()
        .map(|cell| match cell {
            Cell::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Cell::NULL => None,
            other => panic!("not a text: {other:?}"),
        })
        .collect()
}

/// A server around the tables that knows nothing.
struct Nothing;

impl Surroundings for Nothing {
    fn table(&self, _schema: &str, _name: &str) -> Option<TableData> {
        None
    }

    fn variable(&self, _scope: Scope, _name: &str) -> Result<Option<Value>, SqlProblem> {
        Ok(None)
    }

    fn call(&self, _name: &str, _arguments: &[Value]) -> Called {
        Called::Unknown
    }
}

struct Simulated {
    database: Database,
    session: SessionContext,
}

impl Simulated {
    fn new(generation: Generation) -> Self {
        let mut session = SessionContext::new(7, "root@localhost", "root@localhost");
        session.now = ServerTime(1_772_359_200_123_456);
        let shared = Shared::new(generation).expect("memory");
        Simulated {
            database: Database::new(&shared).expect("memory"),
            session,
        }
    }

    fn ask(&mut self, sql: &str) -> Told {
        if Kind::of(sql) == Kind::Use {
            self.session.schema = sql.split(' ').nth(1).map(str::to_owned);
            return Told::Done(0, 0, String::new());
        }
        let mut transaction = Transaction::begin();
        let outcome =
            self.database
                .execute(&mut transaction, &mut self.session, &Nothing, sql, &[]);
        match outcome.map(|outcome| outcome.result) {
            Ok(Brought::Rows(rows)) => {
                let names = rows.columns.into_iter().map(|column| column.name).collect();
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                let cells = rows.rows.into_iter();
                let cells = cells.map(|row| row.into_iter().map(|cell| cell.map(text)).collect());
                Told::Rows(names, cells.collect())
            }
            Ok(Brought::Done(done)) => {
                self.database.commit(transaction).expect("committed");
                Told::Done(
                    done.affected_rows,
                    done.last_insert_id,
                    without_warnings(&done.info),
                )
            }
            Ok(Brought::AskAgain(_)) => panic!("{sql}: waits"),
            Ok(Brought::TooLong { .. }) => panic!("{sql}: this session is patient"),
            Err(problem) => Told::Error(problem.code, problem.message),
        }
    }
}

fn statements(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("-- "))
}

/// What both are told, where that is not the same.
fn different(session: &mut Conn, generation: Generation) -> Vec<(&'static str, String)> {
    let mut simulated = Simulated::new(generation);
    let asked = statements(STATEMENTS).map(|sql| (sql, real(session, sql), simulated.ask(sql)));
    asked
        .filter(|(_, wanted, found)| wanted != found)
        .map(|(sql, wanted, found)| {
            (
                sql,
                format!("{sql}\n  real:      {wanted:?}\n  simulated: {found:?}"),
            )
        })
        .collect()
}

#[test]
fn a_simulated_mysql_answers_like_a_real_one() {
    let topology = Topology::mysql().replicas(0).start();
    let different = different(&mut topology.source().session(), Generation::MySql97);
    let told: Vec<String> = different.into_iter().map(|(_, told)| told).collect();
    assert!(told.is_empty(), "\n{}", told.join("\n"));
    let asked = statements(STATEMENTS).count();
    assert!(asked > 150, "only {asked} statements");
}

#[test]
fn a_simulated_mariadb_answers_like_a_real_one_but_for_what_is_known() {
    let topology = Topology::mariadb().replicas(0).start();
    let different = different(&mut topology.source().session(), Generation::MariaDb1011);
    let known: Vec<&str> = statements(NOT_AS_MARIADB).collect();
    let new = different.iter().filter(|(sql, _)| !known.contains(sql));
    let new: Vec<&str> = new.map(|(_, told)| told.as_str()).collect();
    assert!(new.is_empty(), "{}:\n{}", new.len(), new.join("\n"));
    let is_needless = |sql: &&&str| !different.iter().any(|(other, _)| other == *sql);
    let needless: Vec<_> = known.iter().filter(is_needless).collect();
    assert!(needless.is_empty(), "alike: {needless:#?}");
}
