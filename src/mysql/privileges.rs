//! Which privilege each question needs, by flavour and version; the least-privilege account; and the test that tells a
//! person what an account can see.

use crate::link::Purpose;
use crate::model::phrase::{Phrase, phrase};
use crate::model::server::{Product, Version};
use crate::model::trouble::{Trouble, TroubleKind};

use super::asker::Asker;
use super::connect::Dialer;
use super::dialect::Dialect;
use super::endpoint::{Endpoint, HeartbeatTable};
use super::queries::{NAME, Question, Statements, identifier, literal};
use super::rows::{Rows, named};

/// One privilege and what it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub privilege: &'static str,
    /// `*.*`, `performance_schema.*`, `` `monitor`.`heartbeat` ``.
    pub on: String,
}

impl Grant {
    fn new(privilege: &'static str, on: impl Into<String>) -> Self {
        Grant {
            privilege,
            on: on.into(),
        }
    }

    /// The statement, for an account written as SQL (`'monitor'@'%'`).
    pub fn sql(&self, account: &str) -> String {
        format!("GRANT {} ON {} TO {account};", self.privilege, self.on)
    }
}

/// What has the question answered; `None` where no privilege is needed (variables, status, GTIDs, waiting).
pub fn grant(
    question: Question,
    product: &Product,
    heartbeat: Option<&HeartbeatTable>,
) -> Option<Grant> {
    let names = Names::of(product);
    Some(match question {
        Question::Channels => Grant::new(names.status, "*.*"),
        Question::BinaryLogs | Question::BinlogPosition => Grant::new(names.binlog, "*.*"),
        Question::Replicas => Grant::new(names.replicas, "*.*"),
        Question::Transactions | Question::Statements => Grant::new("PROCESS", "*.*"),
        Question::Appliers | Question::DumpThreads | Question::LockWaits
            if product.is_mysql_from(5, 7, 0) =>
        {
            Grant::new("SELECT", "performance_schema.*")
        }
        Question::Appliers | Question::DumpThreads | Question::LockWaits => {
            Grant::new("PROCESS", "*.*")
        }
        Question::Events => Grant::new("EVENT", "*.*"),
        Question::Heartbeat => Grant::new("SELECT", heartbeat_table(heartbeat?)),
        Question::PlatformLag => Grant::new("SELECT", "mysql.ro_replica_status"),
        Question::Hello
        | Question::Facts
        | Question::Status
        | Question::Settings
        | Question::Mark
        | Question::Applied
        | Question::Wait
        | Question::Grants
        | Question::Predecessor
        // A probe's privileges depend on its schema: `probing` knows them.
        | Question::ProbeState
        | Question::ProbeTable
        | Question::ProbeWrite
        | Question::ProbeRead
        | Question::ProbeCleanUp
        | Question::PoolLook
        | Question::PoolAct
        | Question::Hold
        | Question::Lab => return None,
    })
}

/// MariaDB 10.5 split REPLICATION CLIENT up: it no longer shows the replica's status (R34).
struct Names {
    status: &'static str,
    binlog: &'static str,
    replicas: &'static str,
}

impl Names {
    fn of(product: &Product) -> Self {
        if product.is_mariadb() && product.version >= Version::new(10, 5, 2) {
            Names {
                status: "SLAVE MONITOR",
                binlog: "BINLOG MONITOR",
                replicas: "REPLICATION MASTER ADMIN",
            }
        } else {
            Names {
                status: "REPLICATION CLIENT",
                binlog: "REPLICATION CLIENT",
                replicas: "REPLICATION SLAVE",
            }
        }
    }
}

fn heartbeat_table(table: &HeartbeatTable) -> String {
    format!("{}.{}", identifier(&table.schema), identifier(&table.table))
}

/// `monitor@%` as the server says it, to `'monitor'@'%'`; a user name may hold an `@` itself.
pub fn account_name(current_user: Option<&str>, user: &str) -> String {
    let (name, host) = current_user
        .and_then(|text| text.rsplit_once('@'))
        .unwrap_or((user, "%"));
    format!("{}@{}", literal(name), literal(host))
}

/// The SQL that makes an account which can see everything here and change nothing. EVENT is offered as a comment: the
/// privilege to see events is also the one to make them.
pub fn monitor_account(
    product: &Product,
    user: &str,
    heartbeat: Option<&HeartbeatTable>,
) -> String {
    let account = account_name(None, user);
    let mut sql = format!("CREATE USER {account} IDENTIFIED BY '…';\n");
    for grant in least_privileges(product, heartbeat) {
        let note = if grant.privilege == "EVENT" {
            "-- "
        } else {
            ""
        };
        sql.push_str(&format!("{note}{}\n", grant.sql(&account)));
    }
    sql
}

/// Each privilege once, the global ones together.
fn least_privileges(product: &Product, heartbeat: Option<&HeartbeatTable>) -> Vec<Grant> {
    let mut grants: Vec<Grant> = Vec::new();
    for question in TESTED {
        if let Some(grant) = grant(*question, product, heartbeat)
            && !grants.contains(&grant)
        {
            grants.push(grant);
        }
    }
    grants
}

/// The questions a test tries, in the order they are told.
const TESTED: &[Question] = &[
    Question::Channels,
    Question::Appliers,
    Question::BinlogPosition,
    Question::BinaryLogs,
    Question::Replicas,
    Question::Transactions,
    Question::LockWaits,
    Question::Events,
    Question::Heartbeat,
];

/// What a test of a profile found out.
#[derive(Clone, Debug, PartialEq)]
pub struct TestReport {
    pub product: Product,
    /// Protocol version and cipher of this session; `None` for plain text.
    pub tls: Option<(String, String)>,
    pub questions: Vec<QuestionReport>,
}

/// One question and whether this account is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionReport {
    /// What is asked: a `trouble.question.…` phrase.
    pub what: Phrase,
    /// The trouble's hint carries the GRANT where a privilege is missing.
    pub result: Result<(), Trouble>,
}

/// Connects as a poll would, and tries each question once.
pub fn test_connection(endpoint: Endpoint) -> Result<TestReport, Trouble> {
    let threshold = endpoint.long_transaction;
    let heartbeat = endpoint.heartbeat.clone();
    let dialer = Dialer::new(endpoint.clone());
    let (session, dialect) = dialer.open(Purpose::Poll)?;
    let statements = Statements::new(&dialect, heartbeat.as_ref(), threshold);
    let mut asker = Asker::new(session, dialect.product.clone(), endpoint.into());
    let tls = session_tls(&mut asker)?;
    let grants = own_grants(&mut asker)?;
    let mut questions = Vec::new();
    for question in TESTED {
        if let Some(sql) = tested_statement(*question, &dialect, &statements) {
            let result = try_question(&mut asker, *question, sql, &grants)?;
            questions.push(QuestionReport {
                what: phrase(question.key()),
                result,
            });
        }
    }
    Ok(TestReport {
        product: dialect.product,
        tls,
        questions,
    })
}

fn tested_statement<'a>(
    question: Question,
    dialect: &Dialect,
    statements: &'a Statements,
) -> Option<&'a str> {
    match question {
        Question::Channels => Some(&statements.channels),
        // MariaDB's come from the process list, which leaves out what PROCESS would show: the transactions tell.
        Question::Appliers if !dialect.product.is_mariadb() => statements.appliers.as_deref(),
        Question::BinlogPosition if dialect.log_bin => Some(&statements.binlog_position),
        Question::BinaryLogs if dialect.log_bin => Some(&statements.binary_logs),
        Question::Replicas => Some(&statements.replicas),
        Question::Transactions => Some(&statements.transactions),
        Question::LockWaits => Some(&statements.lock_waits),
        Question::Events => Some(&statements.events),
        Question::Heartbeat => statements.heartbeat.as_deref(),
        _ => None,
    }
}

/// `Err` only when the connection went.
fn try_question(
    asker: &mut Asker,
    question: Question,
    sql: &str,
    grants: &str,
) -> Result<Result<(), Trouble>, Trouble> {
    let answer = asker.ask(question, sql, |rows: Rows| rows.cells.len())?;
    if let Some(trouble) = answer.refused() {
        return Ok(Err(trouble.clone()));
    }
    // Events one may not see are left out without an error.
    if question == Question::Events && answer.value() == Some(&0) && !has_privilege(grants, "EVENT")
    {
        return Ok(Err(Trouble {
            kind: TroubleKind::MissingPrivilege,
            what: phrase("trouble.asking.hidden").with("question", phrase(question.key())),
            hint: asker.grant(question)?,
            code: None,
            detail: String::new(),
        }));
    }
    Ok(Ok(()))
}

fn session_tls(asker: &mut Asker) -> Result<Option<(String, String)>, Trouble> {
    let sql =
        format!("{NAME}SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_version','Ssl_cipher')");
    let answer = asker.ask(Question::Status, &sql, |rows| named(&rows))?;
    Ok(answer.value().and_then(|status| {
        let version = status.text("ssl_version").filter(|v| !v.is_empty())?;
        let cipher = status.text("ssl_cipher").unwrap_or_default();
        Some((version.to_owned(), cipher.to_owned()))
    }))
}

/// `SHOW GRANTS` in upper case, one a line; empty when even that is refused.
fn own_grants(asker: &mut Asker) -> Result<String, Trouble> {
    let sql = format!("{NAME}SHOW GRANTS FOR CURRENT_USER()");
    let answer = asker.ask(Question::Grants, &sql, |rows| {
        rows.cells
            .iter()
            .filter_map(|cells| cells.first()?.as_deref())
            .map(|bytes| String::from_utf8_lossy(bytes).to_uppercase())
            .collect::<Vec<_>>()
            .join("\n")
    })?;
    Ok(answer.value().cloned().unwrap_or_default())
}

/// Anywhere: on everything, or on one schema at least. Words are compared whole.
fn has_privilege(grants: &str, privilege: &str) -> bool {
    grants.lines().any(|line| {
        let list = line.split(" ON ").next().unwrap_or_default();
        list.trim_start_matches("GRANT ")
            .split(',')
            .map(str::trim)
            .any(|word| word == privilege || word.starts_with("ALL PRIVILEGES"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(version: &str) -> Product {
        Product::from_text(version, "")
    }

    fn table() -> HeartbeatTable {
        HeartbeatTable {
            schema: "monitor".into(),
            table: "heartbeat".into(),
            time_column: "ts".into(),
            server_id_column: None,
            keeps_history: false,
        }
    }

    #[test]
    fn r34_the_grant_follows_the_flavour() {
        let of = |version: &str, question| {
            grant(question, &product(version), Some(&table())).map(|g| g.sql("'m'@'%'"))
        };
        assert_eq!(
            of("9.7.4", Question::Channels).as_deref(),
            Some("GRANT REPLICATION CLIENT ON *.* TO 'm'@'%';")
        );
        assert_eq!(
            of("10.11.19-MariaDB", Question::Channels).as_deref(),
            Some("GRANT SLAVE MONITOR ON *.* TO 'm'@'%';")
        );
        assert_eq!(
            of("10.11.19-MariaDB", Question::BinaryLogs).as_deref(),
            Some("GRANT BINLOG MONITOR ON *.* TO 'm'@'%';")
        );
        assert_eq!(
            of("10.4.1-MariaDB", Question::Channels).as_deref(),
            Some("GRANT REPLICATION CLIENT ON *.* TO 'm'@'%';")
        );
        assert_eq!(
            of("8.4.0", Question::Heartbeat).as_deref(),
            Some("GRANT SELECT ON `monitor`.`heartbeat` TO 'm'@'%';")
        );
        assert_eq!(of("8.4.0", Question::Facts), None);
    }

    #[test]
    fn the_account_for_watching_can_change_nothing() {
        assert_eq!(
            monitor_account(&product("9.7.4"), "monitor", Some(&table())),
            "CREATE USER 'monitor'@'%' IDENTIFIED BY '…';\n\
             GRANT REPLICATION CLIENT ON *.* TO 'monitor'@'%';\n\
             GRANT SELECT ON performance_schema.* TO 'monitor'@'%';\n\
             GRANT REPLICATION SLAVE ON *.* TO 'monitor'@'%';\n\
             GRANT PROCESS ON *.* TO 'monitor'@'%';\n\
             -- GRANT EVENT ON *.* TO 'monitor'@'%';\n\
             GRANT SELECT ON `monitor`.`heartbeat` TO 'monitor'@'%';\n"
        );
        let mariadb = monitor_account(&product("10.11.19-MariaDB"), "monitor", None);
        assert!(mariadb.contains("SLAVE MONITOR") && mariadb.contains("REPLICATION MASTER ADMIN"));
        assert!(!mariadb.contains("performance_schema"));
    }

    #[test]
    fn accounts_are_written_as_sql() {
        assert_eq!(
            account_name(Some("o'neil@home@10.%"), "x"),
            "'o''neil@home'@'10.%'"
        );
        assert_eq!(account_name(None, "monitor"), "'monitor'@'%'");
    }

    #[test]
    fn a_privilege_is_found_as_a_whole_word() {
        let grants =
            "GRANT PROCESS, REPLICATION CLIENT ON *.* TO `M`@`%`\nGRANT EVENT ON `HB`.* TO `M`@`%`";
        assert!(has_privilege(grants, "EVENT"));
        assert!(has_privilege(
            "GRANT ALL PRIVILEGES ON *.* TO `ROOT`@`%`",
            "EVENT"
        ));
        assert!(!has_privilege(
            "GRANT SELECT ON `EVENT`.* TO `M`@`%`",
            "EVENT"
        ));
    }
}
