//! Holding an applier back (`link::holding`), by a reader's lock that the server itself takes away again.

use std::time::Duration;

use crate::link::holding::{Hold, HoldDial};
use crate::model::phrase::phrase;
use crate::model::probe::{ListedStatement, On, TABLE};
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};

use super::connect::Dialer;
use super::privileges::account_name;
use super::queries::{Manner, NAME, Question, identifier};
use super::rows::named;
use super::session::Session;
use super::trouble::wait_failed;

impl HoldDial for Dialer {
    fn hold(&self, schema: &str, at_most: Duration) -> Result<Box<dyn Hold>, Trouble> {
        let limits = &self.endpoint().limits;
        let (mut session, _) = self.open_in(Manner::Reads, limits.read)?;
        let seconds = whole_seconds(at_most);
        if let Some(patience) = applier_patience(&mut session)?
            && patience <= seconds.saturating_mul(2)
        {
            return Err(impatient(patience));
        }
        session.ask(Question::Hold, &time_box(seconds))?;
        session
            .ask(Question::Hold, &lock(schema))
            .map_err(|trouble| with_grant(trouble, schema, &self.endpoint().user))?;
        Ok(Box::new(TableLock { session }))
    }
}

/// A box of no whole seconds would be none.
fn whole_seconds(at_most: Duration) -> u64 {
    at_most.as_millis().div_ceil(1000).max(1) as u64
}

/// How long the applier waits for a lock before it fails, in seconds: it must outlast the box by far, or holding would
/// end in a stopped applier.
fn applier_patience(session: &mut Session) -> Result<Option<u64>, Trouble> {
    let sql = format!("{NAME}SHOW GLOBAL VARIABLES WHERE Variable_name IN ('lock_wait_timeout')");
    let rows = session.ask(Question::Hold, &sql)?;
    let patience = named(&rows).text("lock_wait_timeout").map(str::to_owned);
    Ok(patience.and_then(|text| text.trim().parse::<f64>().ok().map(|n| n as u64)))
}

fn impatient(seconds: u64) -> Trouble {
    let limit = Span::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    let mut trouble = wait_failed("accept.hold.impatient", "");
    trouble.what = phrase("accept.hold.impatient").with("limit", limit);
    trouble
}

/// The server ends a session that says nothing for so long, and its locks with it; also when our workstation is frozen
/// or cut off and cannot close the connection.
fn time_box(seconds: u64) -> String {
    format!("{NAME}SET SESSION wait_timeout = {seconds}")
}

fn lock(schema: &str) -> String {
    format!(
        "{NAME}LOCK TABLES {}.{} READ",
        identifier(schema),
        identifier(TABLE)
    )
}

fn unlock() -> String {
    format!("{NAME}UNLOCK TABLES")
}

fn with_grant(mut trouble: Trouble, schema: &str, user: &str) -> Trouble {
    if trouble.kind == TroubleKind::MissingPrivilege {
        let sql = account_sql(schema, user);
        trouble.what = phrase("accept.hold.no_privilege");
        trouble.hint = Some(phrase("trouble.hint.grant").with("sql", sql));
    }
    trouble
}

/// The SQL that lets an account hold.
pub fn account_sql(schema: &str, user: &str) -> String {
    // In a GRANT on a schema these two stand for other characters.
    let schema = schema.replace('_', "\\_").replace('%', "\\%");
    let (schema, account) = (identifier(&schema), account_name(None, user));
    format!("GRANT SELECT, LOCK TABLES ON {schema}.* TO {account};")
}

/// What holding sends, as a person reads it before.
pub fn listed(schema: &str, at_most: Duration) -> Vec<ListedStatement> {
    [time_box(whole_seconds(at_most)), lock(schema), unlock()]
        .iter()
        .map(|sql| ListedStatement {
            on: On::Replica,
            sql: format!("{};", sql.trim_start_matches(NAME)),
            changes_something: sql.contains("LOCK TABLES"),
        })
        .collect()
}

struct TableLock {
    session: Session,
}

impl Hold for TableLock {
    fn session_id(&self) -> u64 {
        self.session.id()
    }

    fn release(mut self: Box<Self>) -> Result<(), Trouble> {
        self.session.ask(Question::Hold, &unlock()).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_always_ends_by_itself_and_touches_our_table_only() {
        let sql: Vec<String> = listed("my`db", Duration::from_millis(10_001))
            .into_iter()
            .map(|statement| statement.sql)
            .collect();
        assert_eq!(
            sql,
            [
                "SET SESSION wait_timeout = 11;",
                "LOCK TABLES `my``db`.`probe` READ;",
                "UNLOCK TABLES;"
            ]
        );
        assert_eq!(whole_seconds(Duration::ZERO), 1);
    }

    #[test]
    fn the_grant_for_holding_names_our_schema_only() {
        assert_eq!(
            account_sql("my_probes", "monitor"),
            "GRANT SELECT, LOCK TABLES ON `my\\_probes`.* TO 'monitor'@'%';"
        );
    }
}
