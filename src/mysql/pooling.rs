//! Pooled sessions (`link::pooling`): what they carry, as the server itself says it, and how it is cleaned.

use crate::link::pooling::{Carried, PoolDial, PoolUse, PooledLink, Whereabouts};
use crate::model::probe::{ListedStatement, On, ProbeRow};
use crate::model::sample::switch;
use crate::model::trouble::Trouble;

use super::connect::Dialer;
use super::dialect::Dialect;
use super::probing::statements::ProbeSql;
use super::queries::{self, Manner, NAME, Question, identifier, literal};
use super::rows::{Row, Rows, named};
use super::session::Session;
use super::trouble::unreadable;

/// The application's mark, as applications keep one on a session: it stays there until somebody takes it off.
const LABEL: &str = "@replicascope_route";

impl PoolDial for Dialer {
    fn dial_pooled(&self, pool_use: PoolUse, schema: &str) -> Result<Box<dyn PooledLink>, Trouble> {
        let limits = &self.endpoint().limits;
        let manner = match pool_use {
            PoolUse::Writes => Manner::Writes,
            PoolUse::Reads => Manner::Reads,
        };
        let (mut session, dialect) = self.open_in(manner, limits.read)?;
        let isolation = isolation_name(&mut session)?;
        let mut pooled = MySqlPooled {
            session,
            settings: queries::session_settings(&dialect, limits, manner),
            sql: ProbeSql::new(&dialect, schema),
            looks: Looks::new(&dialect, isolation),
        };
        pooled.use_schema(schema)?;
        Ok(Box::new(pooled))
    }
}

/// MySQL has renamed it in 5.7.20, MariaDB in 11.1; both kept the old name for a while.
fn isolation_name(session: &mut Session) -> Result<&'static str, Trouble> {
    let sql = format!(
        "{NAME}SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation','tx_isolation')"
    );
    let rows = session.ask(Question::PoolLook, &sql)?;
    let has_new_name = named(&rows).text("transaction_isolation").is_some();
    Ok(if has_new_name {
        "transaction_isolation"
    } else {
        "tx_isolation"
    })
}

/// The questions, in the dialect of the server.
struct Looks {
    /// `None`: the server tells it in a variable.
    try_transaction: Option<String>,
    carried: String,
    /// Columns that say who answers.
    who: &'static str,
}

impl Looks {
    fn new(dialect: &Dialect, isolation: &str) -> Self {
        let in_variable = dialect.product.is_mariadb();
        let in_transaction = if in_variable {
            "@@SESSION.in_transaction AS in_transaction, "
        } else {
            ""
        };
        Looks {
            try_transaction: (!in_variable).then(|| format!("{NAME}SET TRANSACTION READ WRITE")),
            carried: format!(
                "{NAME}SELECT {in_transaction}@@GLOBAL.read_only AS read_only, DATABASE() AS db, \
                 @@SESSION.{isolation} AS isolation, {LABEL} AS label"
            ),
            who: if dialect.has_server_uuid {
                "@@GLOBAL.server_uuid AS server, CONNECTION_ID() AS session"
            } else {
                "@@GLOBAL.server_id AS server, CONNECTION_ID() AS session"
            },
        }
    }
}

struct MySqlPooled {
    session: Session,
    settings: String,
    sql: ProbeSql,
    looks: Looks,
}

impl MySqlPooled {
    fn look(&mut self, sql: &str) -> Result<Rows, Trouble> {
        self.session.ask(Question::PoolLook, sql)
    }

    fn act(&mut self, sql: &str) -> Result<(), Trouble> {
        let sql = format!("{NAME}{sql}");
        self.session.ask(Question::PoolAct, &sql).map(drop)
    }

    /// MySQL has no variable for it, and its transaction tables want privileges and know only what has touched a row.
    /// But it refuses characteristics for the next transaction while one is open (1568), whatever opened it. When none
    /// is, they last until the very next statement, which is ours.
    fn asks_for_transaction(&mut self) -> Result<Option<bool>, Trouble> {
        let Some(sql) = self.looks.try_transaction.clone() else {
            return Ok(None);
        };
        match self.look(&sql) {
            Ok(_) => Ok(Some(false)),
            Err(trouble) if trouble.code == Some(1568) => Ok(Some(true)),
            Err(trouble) if self.session.is_spoiled() => Err(trouble),
            Err(_) => Ok(None),
        }
    }
}

impl PooledLink for MySqlPooled {
    fn observe(&mut self) -> Result<Carried, Trouble> {
        let tried = self.asks_for_transaction()?;
        let rows = self.look(&self.looks.carried.clone())?;
        let row = rows.first().ok_or_else(|| unreadable(Question::PoolLook))?;
        let flag = |name| row.text(&[name]).and_then(|text| switch(&text));
        // NULL: no schema chosen, no label set.
        let text = |name| Some(row.text(&[name]).unwrap_or_default());
        Ok(Carried {
            in_transaction: tried.or_else(|| flag("in_transaction")),
            read_only: flag("read_only"),
            schema: text("db"),
            isolation: row.filled(&["isolation"]),
            route_label: text("label"),
        })
    }

    fn whereabouts(&mut self) -> Result<Whereabouts, Trouble> {
        let sql = format!("{NAME}SELECT {}", self.looks.who);
        let rows = self.look(&sql)?;
        rows.first()
            .and_then(who)
            .ok_or_else(|| unreadable(Question::PoolLook))
    }

    fn begin(&mut self) -> Result<(), Trouble> {
        self.act("START TRANSACTION")
    }

    fn commit(&mut self) -> Result<(), Trouble> {
        self.act("COMMIT")
    }

    fn rollback(&mut self) -> Result<(), Trouble> {
        self.act("ROLLBACK")
    }

    fn write(&mut self, row: ProbeRow, value: &str) -> Result<(), Trouble> {
        let sql = self.sql.update(row, value);
        self.session.ask(Question::ProbeWrite, &sql).map(drop)
    }

    fn read(&mut self, row: ProbeRow) -> Result<(Option<String>, Whereabouts), Trouble> {
        let value = self.sql.read(row);
        let value = value.trim_start_matches(NAME);
        let sql = format!("{NAME}SELECT {}, ({value}) AS value", self.looks.who);
        let rows = self.session.ask(Question::ProbeRead, &sql)?;
        let row = rows.first();
        let at = row.and_then(who);
        let value = row.and_then(|row| row.text(&["value"]));
        at.map(|at| (value, at))
            .ok_or_else(|| unreadable(Question::ProbeRead))
    }

    fn use_schema(&mut self, schema: &str) -> Result<(), Trouble> {
        self.act(&format!("USE {}", identifier(schema)))
    }

    fn set_isolation(&mut self, isolation: &str) -> Result<(), Trouble> {
        let level = isolation.replace('-', " ");
        self.act(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"))
    }

    fn set_route_label(&mut self, label: &str) -> Result<(), Trouble> {
        let value = match label {
            "" => "NULL".to_owned(),
            label => literal(label),
        };
        self.act(&format!("SET {LABEL} = {value}"))
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.session.reset(Question::PoolAct)?;
        let settings = self.settings.clone();
        self.session.ask(Question::PoolAct, &settings).map(drop)
    }
}

fn who(row: Row<'_>) -> Option<Whereabouts> {
    Some(Whereabouts {
        server: row.filled(&["server"])?,
        session: row.told(&["session"])?,
    })
}

/// How it looks, for [`super::every_statement`].
#[cfg(test)]
pub(super) fn spoken(dialect: &Dialect) -> Vec<String> {
    let looks = Looks::new(dialect, "transaction_isolation");
    let who = format!("{NAME}SELECT {}", looks.who);
    let value = "SELECT value FROM `probes`.`probe` WHERE probe = 1 AND number = 1";
    let both = format!("{NAME}SELECT {}, ({value}) AS value", looks.who);
    let mut all = vec![looks.carried, who, both];
    all.extend(looks.try_transaction);
    all
}

/// What the drift test sends besides looking, as a person reads it before.
pub fn listed() -> Vec<ListedStatement> {
    let of = |on: On, sql: &str| ListedStatement {
        on,
        sql: format!("{sql};"),
        changes_something: false,
    };
    vec![
        of(On::Source, "START TRANSACTION"),
        of(On::Source, "ROLLBACK"),
        of(On::Source, "COMMIT"),
        of(On::Source, "USE `information_schema`"),
        of(
            On::Source,
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        ),
        of(On::Source, &format!("SET {LABEL} = 'read_write'")),
        of(On::Replica, &format!("SET {LABEL} = 'read_only'")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::rows::captured::row;
    use super::*;
    use crate::model::sample::Named;

    fn looks(version: &str) -> Looks {
        let pairs = [("version", version), ("server_uuid", "-")];
        let pairs = pairs.map(|(n, v)| (n.to_owned(), v.to_owned()));
        let dialect = Dialect::from_hello(&Named(pairs.into()));
        Looks::new(&dialect, "tx_isolation")
    }

    #[test]
    fn each_product_is_asked_for_an_open_transaction_in_its_own_way() {
        let mariadb = looks("10.11.19-MariaDB");
        assert_eq!(mariadb.try_transaction, None);
        assert!(mariadb.carried.contains("@@SESSION.in_transaction"));
        assert!(mariadb.who.contains("server_id"));
        let mysql = looks("9.7.4");
        assert!(mysql.try_transaction.is_some());
        assert!(!mysql.carried.contains("in_transaction"));
        assert!(mysql.who.contains("server_uuid"));
    }

    #[test]
    fn an_answer_without_a_connection_id_says_nothing_of_who_answered() {
        let told = row(&[("server", Some("1")), ("session", None)]);
        assert_eq!(told.first().and_then(who), None);
    }
}
