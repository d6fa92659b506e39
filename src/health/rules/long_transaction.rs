//! A transaction stays open on the source.
//!
//! Sees: "Transaction of app open for 42 s, 500,000 rows changed", the oldest first; the others as evidence.
//! Why: when it commits, the replicas begin what took it so long, and everything behind waits; only *open* ones are found
//! here, a committed one is on the applier (A-06, T-11).
//! What to do: find out who forgot it; a prepared XA transaction has no session, it is ended with XA COMMIT or XA
//! ROLLBACK, and no KILL reaches it (R46).
//! Decided: age by the server's own clock over the profile's limit, on a server that has replicas or takes writes.
//! Can't tell: without PROCESS the list is refused; an empty list is only written when the query succeeded (R35).

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::sample::{Answer, OpenTransaction, Sample, TransactionOwner};
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "long_transaction",
    ask,
};

const LISTED: usize = 5;

const OPEN_SQL: &str = "SELECT trx_id, trx_started, TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS run_seconds,\n       \
    trx_rows_modified, trx_mysql_thread_id, trx_query\n  FROM information_schema.innodb_trx\n \
    ORDER BY run_seconds DESC;";

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>, sample: &Sample) -> Say {
    if server.is_replica() && server.replicas.is_empty() && !server.takes_writes() {
        return Say::Nothing;
    }
    let open = match &sample.transactions {
        Answer::Known { value, .. } => value,
        Answer::Refused(trouble) => return Say::CannotTell(trouble.what.clone()),
        Answer::NotAsked { why } => return Say::CannotTell(why.clone()),
    };
    let limit = server.thresholds.long_transaction;
    let mut long: Vec<_> = open
        .iter()
        .filter(|trx| trx.owner != TransactionOwner::Applier)
        .filter(|trx| trx.age.is_some_and(|age| age >= limit))
        .collect();
    long.sort_by_key(|trx| std::cmp::Reverse(trx.age));
    let Some(oldest) = long.first() else {
        return Say::Fine;
    };
    let sql = match oldest.owner {
        TransactionOwner::PreparedXa => "XA RECOVER;",
        _ => OPEN_SQL,
    };
    let advice = match oldest.owner {
        TransactionOwner::PreparedXa => "finding.long_transaction.advice_xa",
        _ => "finding.long_transaction.advice",
    };
    Draft::new(Severity::Warning, describe(oldest))
        .evidence(oldest.statement.as_deref().map(super::quoted))
        .evidence(long.iter().skip(1).take(LISTED).map(|trx| describe(trx)))
        .advice(advice)
        .sql(sql)
        .say()
}

fn describe(trx: &OpenTransaction) -> Phrase {
    let text = match trx.owner {
        TransactionOwner::PreparedXa => phrase("finding.long_transaction.xa"),
        _ => phrase("finding.long_transaction.text")
            .with("user", trx.user.clone().unwrap_or_default())
            .with("thread", Arg::Number(trx.thread)),
    };
    text.with("age", trx.age.unwrap_or(Span::ZERO))
        .with("rows", trx.rows_modified.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::trouble::TroubleKind;

    fn open(owner: TransactionOwner, thread: u64, secs: i64) -> OpenTransaction {
        OpenTransaction {
            id: "421".into(),
            owner,
            thread,
            started: None,
            age: Some(Span::from_secs(secs)),
            rows_modified: Some(7),
            rows_locked: None,
            statement: None,
            user: Some("app".into()),
            host: None,
            state: None,
        }
    }

    #[test]
    fn only_transactions_of_users_over_the_limit_count() {
        let mut town = source_and_replica();
        town.source().sample().transactions = known(vec![
            open(TransactionOwner::User, 9, 4),
            open(TransactionOwner::Applier, 5, 100),
        ]);
        assert_eq!(raised(&town, &RULE), []);
        town.source().sample().transactions = known(vec![open(TransactionOwner::User, 9, 42)]);
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("age"), Some(&Span::from_secs(42).into()));
    }

    #[test]
    fn r46_a_prepared_xa_transaction_is_called_so_and_no_kill_is_offered() {
        let mut town = source_and_replica();
        town.source().sample().transactions =
            known(vec![open(TransactionOwner::PreparedXa, 0, 9_000)]);
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.key, "finding.long_transaction.xa");
        assert_eq!(found.sql.as_deref(), Some("XA RECOVER;"));
    }

    #[test]
    fn r35_without_process_no_empty_list_is_claimed() {
        let mut town = source_and_replica();
        town.source().sample().transactions =
            Answer::Refused(trouble(TroubleKind::MissingPrivilege, 1227, "PROCESS"));
        assert_eq!(cannot_tell(&town, &RULE), ["trouble.still_hanging"]);
    }
}
