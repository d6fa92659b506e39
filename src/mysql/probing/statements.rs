//! Every statement of a probe, and the list of them that is shown before the first run.

use crate::model::probe::{
    Awaited, ListedStatement, On, ProbeFlavour, ProbeId, ProbePlan, ProbeRow, Reader, TABLE,
};
use crate::model::server::{Flavour, Product};
use crate::model::time::Span;
use crate::mysql::dialect::Dialect;
use crate::mysql::privileges::account_name;
use crate::mysql::queries::{NAME, Question, Statements, identifier, literal};

/// The statements of one session, written out once as far as possible.
#[derive(Clone, Debug)]
pub struct ProbeSql {
    schema: String,
    /// Quoted, with its schema.
    table: String,
    pub role: String,
    pub settings: String,
    pub channels: String,
    pub find_table: String,
    pub create: [String; 2],
    pub executed: String,
    pub last_gtid: String,
    pub remove_abandoned: String,
}

impl ProbeSql {
    pub fn new(dialect: &Dialect, schema: &str) -> Self {
        let table = format!("{}.{}", identifier(schema), identifier(TABLE));
        ProbeSql {
            role: role(dialect),
            settings: format!(
                "{NAME}SHOW GLOBAL VARIABLES WHERE Variable_name IN \
                 ('gtid_mode','enforce_gtid_consistency','log_bin')"
            ),
            channels: Statements::new(dialect, None, Span::ZERO).channels,
            find_table: format!(
                "{NAME}SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
                literal(schema),
                literal(TABLE)
            ),
            create: create(schema, &table),
            executed: executed(dialect),
            last_gtid: format!("{NAME}SELECT @@SESSION.last_gtid AS position"),
            remove_abandoned: format!(
                "{NAME}DELETE FROM {table} WHERE written_at < NOW() - INTERVAL 1 DAY \
                 ORDER BY probe, number LIMIT 1000"
            ),
            schema: schema.to_owned(),
            table,
        }
    }

    pub fn insert(&self, row: ProbeRow, value: &str) -> String {
        format!(
            "{NAME}INSERT INTO {} (probe, number, value) VALUES ({}, {}, {})",
            self.table,
            row.probe.0,
            row.number,
            literal(value)
        )
    }

    pub fn update(&self, row: ProbeRow, value: &str) -> String {
        format!(
            "{NAME}UPDATE {} SET value = {} WHERE {}",
            self.table,
            literal(value),
            this(row)
        )
    }

    pub fn read(&self, row: ProbeRow) -> String {
        format!("{NAME}SELECT value FROM {} WHERE {}", self.table, this(row))
    }

    pub fn present(&self, from: ProbeRow, to: u32) -> String {
        format!(
            "{NAME}SELECT number FROM {} WHERE probe = {} AND number BETWEEN {} AND {to}",
            self.table, from.probe.0, from.number
        )
    }

    pub fn remove(&self, from: ProbeRow, to: u32) -> String {
        format!(
            "{NAME}DELETE FROM {} WHERE probe = {} AND number BETWEEN {} AND {to}",
            self.table, from.probe.0, from.number
        )
    }

    /// The GRANT without which this was refused.
    pub fn grant(&self, question: Question, account: &str) -> Option<String> {
        let ours = matches!(
            question,
            Question::ProbeTable
                | Question::ProbeRead
                | Question::ProbeWrite
                | Question::ProbeCleanUp
        );
        ours.then(|| grant(&self.schema, account))
    }
}

/// All that a probe does, on a schema of its own: on the table alone it could not be granted before the table is there.
/// CREATE is needed once.
fn grant(schema: &str, account: &str) -> String {
    // In a GRANT on a schema these two stand for other characters.
    let schema = schema.replace('_', "\\_").replace('%', "\\%");
    format!(
        "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON {}.* TO {account};",
        identifier(&schema)
    )
}

fn this(row: ProbeRow) -> String {
    format!("probe = {} AND number = {}", row.probe.0, row.number)
}

/// Who it is and whether it may be written to, without the GTID sets that a poll brings along.
fn role(dialect: &Dialect) -> String {
    let columns = [
        (true, "server_id"),
        (true, "read_only"),
        (dialect.has_server_uuid, "server_uuid"),
        (dialect.has_super_read_only, "super_read_only"),
        (dialect.has_innodb_read_only, "innodb_read_only"),
    ];
    let columns: Vec<String> = columns
        .iter()
        .filter(|(has, _)| *has)
        .map(|(_, name)| format!("@@GLOBAL.{name} AS {name}"))
        .collect();
    format!("{NAME}SELECT {}", columns.join(", "))
}

fn create(schema: &str, table: &str) -> [String; 2] {
    [
        format!("{NAME}CREATE DATABASE IF NOT EXISTS {}", identifier(schema)),
        format!(
            "{NAME}CREATE TABLE IF NOT EXISTS {table} (probe INT UNSIGNED NOT NULL, number INT UNSIGNED NOT NULL, \
             value VARCHAR(64) NOT NULL, written_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP \
             ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (probe, number)) ENGINE=InnoDB"
        ),
    ]
}

fn executed(dialect: &Dialect) -> String {
    if dialect.product.is_mariadb() {
        format!("{NAME}SELECT @@GLOBAL.gtid_binlog_pos AS position")
    } else if dialect.has_gtid_mode {
        format!("{NAME}SELECT @@GLOBAL.gtid_executed AS position, @@GLOBAL.gtid_mode AS gtid_mode")
    } else {
        format!("{NAME}SELECT '' AS position")
    }
}

/// Has the server tell the GTID of each commit with its OK.
pub fn tracking(dialect: &Dialect) -> String {
    if dialect.product.is_mariadb() {
        format!("{NAME}SET SESSION session_track_system_variables = 'last_gtid'")
    } else {
        format!("{NAME}SET SESSION session_track_gtids = 'OWN_GTID'")
    }
}

/// The SQL that lets an account probe.
pub fn account_sql(schema: &str, user: &str) -> String {
    grant(schema, &account_name(None, user))
}

/// Every statement that a probe by this plan would send to servers of this flavour, in order, in the places of numbers
/// and values what stands there in the first run. What changes something comes first in each part.
pub fn listed(plan: &ProbePlan, product: &Product) -> Vec<ListedStatement> {
    let dialect = Dialect::from_hello(&hello(product));
    let sql = ProbeSql::new(&dialect, &plan.schema);
    let probe = ProbeId(EXAMPLE);
    let (row, value) = (plan.row(probe, 1), plan.value(probe, 1));
    let source = |sql: String| listed_statement(On::Source, &sql);
    let replica = |sql: String| listed_statement(On::Replica, &sql);
    let mut list: Vec<ListedStatement> = sql.create.iter().cloned().map(source).collect();
    list.push(source(sql.remove_abandoned.clone()));
    if plan.flavour == ProbeFlavour::Update {
        list.push(source(sql.insert(row, &plan.value(probe, 0))));
    }
    list.push(source(tracking(&dialect)));
    list.push(source(sql.role.clone()));
    list.push(source(match plan.flavour {
        ProbeFlavour::Insert => sql.insert(row, &value),
        ProbeFlavour::Update => sql.update(row, &value),
    }));
    let whole = plan.awaited == Awaited::WholeSet || plan.reader == Reader::SomebodyElse;
    if whole {
        list.push(source(sql.executed.clone()));
    }
    list.push(replica(wait_example(&dialect, plan)));
    list.push(replica(sql.read(row)));
    list.push(source(sql.read(row)));
    let first = ProbeRow { number: 0, ..row };
    list.push(source(sql.remove(first, row.number)));
    list
}

/// The same for a workload: it writes like a probe, looks at the replicas for what has come, and waits now and then.
pub fn listed_for_workload(plan: &ProbePlan, product: &Product) -> Vec<ListedStatement> {
    let dialect = Dialect::from_hello(&hello(product));
    let sql = ProbeSql::new(&dialect, &plan.schema);
    let row = plan.row(ProbeId(EXAMPLE), 1);
    let [reads_one, waits] = [sql.read(row), wait_example(&dialect, plan)]
        .map(|sql| listed_statement(On::Replica, &sql).sql);
    let mut list = listed(plan, product);
    // Rows are looked for all at once, and the source's own are not read at all.
    list.retain(|listed| listed.sql != reads_one);
    let looks = listed_statement(On::Replica, &sql.present(row, row.number));
    let place = list.iter().position(|listed| listed.sql == waits);
    list.insert(place.unwrap_or(list.len()), looks);
    list
}

/// The number of a probe in examples.
const EXAMPLE: u32 = 0x1234_abcd;

/// As a person reads it.
fn listed_statement(on: On, sql: &str) -> ListedStatement {
    let sql = sql.trim_start_matches(NAME);
    let changes = ["CREATE", "INSERT", "UPDATE", "DELETE"];
    ListedStatement {
        on,
        changes_something: changes.iter().any(|word| sql.starts_with(word)),
        sql: format!("{sql};"),
    }
}

/// As far as the statements need to know a server of this product.
fn hello(product: &Product) -> crate::model::sample::Named {
    let mut pairs = vec![
        ("version", product.version_text.as_str()),
        ("log_bin", "ON"),
        ("innodb_read_only", "OFF"),
    ];
    match product.flavour {
        Flavour::MariaDb => pairs.push(("gtid_domain_id", "0")),
        _ => pairs.extend([
            ("gtid_mode", "ON"),
            ("server_uuid", "-"),
            ("super_read_only", "OFF"),
        ]),
    }
    let pairs = pairs.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned()));
    crate::model::sample::Named(pairs.collect())
}

fn wait_example(dialect: &Dialect, plan: &ProbePlan) -> String {
    use crate::model::event::Position;
    use crate::model::gtid::Gtids;
    let text = if dialect.product.is_mariadb() {
        "0-1-1"
    } else {
        "00000000-0000-0000-0000-000000000001:1"
    };
    Gtids::parse(text, dialect.product.flavour)
        .ok()
        .and_then(|gtids| {
            let limit = plan.wait_limit.to_duration();
            let target = Position::Gtids(gtids);
            crate::mysql::wait::statement(dialect, &target, "", limit).ok()
        })
        .map_or_else(String::new, |(_, sql)| sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(version: &str, flavour: ProbeFlavour) -> Vec<ListedStatement> {
        let plan = ProbePlan {
            flavour,
            schema: "my`db".into(),
            ..ProbePlan::default()
        };
        listed(&plan, &Product::from_text(version, ""))
    }

    #[test]
    fn a_probe_changes_nothing_outside_its_own_schema() {
        for version in ["5.7.29", "8.0.37", "9.7.4", "10.11.19-MariaDB"] {
            for flavour in [ProbeFlavour::Insert, ProbeFlavour::Update] {
                for statement in all(version, flavour) {
                    assert!(!statement.sql.contains('"'), "{statement:?}");
                    if !statement.changes_something {
                        let word = statement.sql.split(' ').next().unwrap_or_default();
                        assert!(["SELECT", "SET"].contains(&word), "{statement:?}");
                        continue;
                    }
                    assert_eq!(statement.on, On::Source, "{statement:?}");
                    assert!(statement.sql.contains("`my``db`"), "{statement:?}");
                }
            }
        }
    }

    #[test]
    fn the_list_speaks_the_dialect_of_the_server() {
        let has = |version, text: &str| {
            all(version, ProbeFlavour::Update)
                .iter()
                .any(|statement| statement.sql.contains(text))
        };
        assert!(has("9.7.4", "WAIT_FOR_EXECUTED_GTID_SET"));
        assert!(has("5.7.29", ":1', 1)"));
        assert!(has("9.7.4", "session_track_gtids = 'OWN_GTID'"));
        assert!(has("10.11.19-MariaDB", "MASTER_GTID_WAIT"));
        assert!(has("10.11.19-MariaDB", "'last_gtid'"));
        assert!(!has("10.11.19-MariaDB", "super_read_only"));
    }

    #[test]
    fn the_account_for_probing_may_touch_its_own_schema_only() {
        assert_eq!(
            account_sql("my_probes", "monitor"),
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `my\\_probes`.* TO 'monitor'@'%';"
        );
    }
}
