//! The source has purged binary logs that this replica still needs.
//!
//! Sees: "Source has purged 120 transactions this replica still needs".
//! Why: the next time its receiver connects it stops with error 1236 (13114 on 9.7), and only a new copy helps. It is
//! known before it happens.
//! What to do: do not restart the receiver; set the replica up anew, or let it fetch from a server that still has them.
//! Decided: the source's `gtid_purged`, less what the replica has executed or fetched (MySQL; MariaDB tells no purged set).
//! Can't tell: the source is not watched or does not answer.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::gtid::{GtidSet, Gtids};
use crate::model::phrase::phrase;

pub const RULE: Rule = Rule {
    code: "purge_horizon",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    if place.sample.product.is_mariadb() {
        return Say::Nothing;
    }
    let Some((_, source)) = place.source() else {
        return Say::CannotTell(
            place
                .facts
                .source_trouble(place.channel)
                .unwrap_or_else(|| phrase("lag.why.source_not_watched")),
        );
    };
    let purged = source.gtid.purged.as_ref();
    let executed = place.sample.gtid.executed.as_ref();
    let (Some(Gtids::MySql(purged)), Some(Gtids::MySql(executed))) = (purged, executed) else {
        return Say::CannotTell(phrase("lamp.gtids_unknown"));
    };
    let gone = needed_and_gone(
        purged,
        executed,
        place.channel.channel.retrieved_gtids.as_ref(),
    );
    if gone.is_empty() {
        return Say::Fine;
    }
    Draft::new(
        Severity::Critical,
        phrase("finding.purge_horizon.text").with("count", gone.count()),
    )
    .evidence([phrase("evidence.gtids").with("gtids", gone.to_string())])
    .advice("finding.purge_horizon.advice")
    .say()
}

fn needed_and_gone(purged: &GtidSet, executed: &GtidSet, fetched: Option<&Gtids>) -> GtidSet {
    let missing = purged.subtract(executed);
    match fetched {
        Some(Gtids::MySql(fetched)) => missing.subtract(fetched),
        _ => missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    const UUID: &str = "00000001-aaaa-11f0-8000-000000000000";

    fn town(executed: &str, purged: &str) -> Town {
        let mut town = source_and_replica();
        town.replica().sample().gtid.executed = Some(gtids(&format!("{UUID}:{executed}")));
        town.source().sample().gtid.purged = Some(gtids(&format!("{UUID}:{purged}")));
        town
    }

    #[test]
    fn what_is_purged_must_be_here_or_fetched() {
        let mut town = town("1-880", "1-1000");
        assert_eq!(raised(&town, &RULE)[0].text.arg("count"), Some(&120.into()));
        town.channel().retrieved_gtids = Some(gtids(&format!("{UUID}:800-1200")));
        assert_eq!(raised(&town, &RULE), [], "it waits in the relay log");
    }

    #[test]
    fn a_purged_set_that_was_executed_is_fine() {
        assert_eq!(raised(&town("1-2000", "1-1000"), &RULE), []);
    }
}
