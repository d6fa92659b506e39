//! A replica has transactions that its source does not have.
//!
//! Sees: "5 transactions here that the source does not have", with the set.
//! Why: somebody wrote on the replica. After a failover to it they spread, or break the others once they are purged.
//! What to do: see what they are. On MySQL `FLUSH TABLES`, `FLUSH STATUS` and `FLUSH PRIVILEGES` on a super_read_only
//! replica each leave one (measured on 5.6, 5.7, 9.7): such a set is harmless data, but still in the way.
//! Decided: found twice in a row with the replica read first, the source's own left out (R19); the store watches.
//! Can't tell: not yet twice, or one side not known.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::gtid::Gtids;
use crate::model::phrase::{Phrase, phrase};
use crate::model::sample::Sample;

pub const RULE: Rule = Rule {
    code: "errant_transactions",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>, sample: &Sample) -> Say {
    if !server.is_replica() || server.takes_writes() {
        return Say::Nothing;
    }
    match &server.memory.errant {
        None => Say::CannotTell(why_not(sample)),
        Some(errant) if errant.is_empty() => Say::Fine,
        Some(errant) => Draft::new(Severity::Critical, text(errant))
            .evidence([phrase("evidence.gtids").with("gtids", errant.to_string())])
            .advice(advice(errant))
            .sql(sql(sample))
            .say(),
    }
}

fn why_not(sample: &Sample) -> Phrase {
    match &sample.gtid.unreadable {
        Some(text) => phrase("lamp.gtids_unreadable").with("text", text.as_str()),
        None => phrase("lamp.errant_not_compared"),
    }
}

fn text(errant: &Gtids) -> Phrase {
    match errant {
        Gtids::MySql(set) => phrase("finding.errant_transactions.text").with("count", set.count()),
        // A position says how far, not how many.
        Gtids::MariaDb(_) => phrase("finding.errant_transactions.position"),
    }
}

fn advice(errant: &Gtids) -> &'static str {
    match errant {
        Gtids::MySql(_) => "finding.errant_transactions.advice",
        Gtids::MariaDb(_) => "finding.errant_transactions.advice_mariadb",
    }
}

/// What shows the transactions: the events of the replica's own binary log.
fn sql(sample: &Sample) -> String {
    match sample.binlog.value() {
        Some(at) => format!("SHOW BINLOG EVENTS IN '{}' LIMIT 200;", at.file),
        None => "SHOW BINARY LOGS;\nSHOW BINLOG EVENTS IN '<file>' LIMIT 200;".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    const SET: &str = "00000002-aaaa-11f0-8000-000000000000:1-5";

    #[test]
    fn errant_transactions_are_counted_and_quoted() {
        let mut town = source_and_replica();
        town.replica().memory.errant = Some(gtids(SET));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("count"), Some(&5.into()));
        assert_eq!(
            found.evidence,
            [phrase("evidence.gtids").with("gtids", SET)]
        );
        assert!(
            found
                .sql
                .as_deref()
                .unwrap_or_default()
                .contains("SHOW BINLOG EVENTS")
        );
    }

    #[test]
    fn r19_before_it_was_found_twice_nothing_is_claimed() {
        let mut town = source_and_replica();
        assert_eq!(cannot_tell(&town, &RULE), ["lamp.errant_not_compared"]);
        town.replica().memory.errant = Some(gtids(""));
        assert_eq!(
            (raised(&town, &RULE), cannot_tell(&town, &RULE)),
            (vec![], vec![])
        );
    }

    #[test]
    fn r17_a_set_that_cannot_be_read_is_not_empty() {
        let mut town = source_and_replica();
        town.replica().sample().gtid.unreadable = Some("uuid:x".into());
        assert_eq!(cannot_tell(&town, &RULE), ["lamp.gtids_unreadable"]);
    }
}
