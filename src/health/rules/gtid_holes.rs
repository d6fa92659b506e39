//! Transactions are missing in the middle of what this replica has.
//!
//! Sees: "1 transaction missing between others", with the set.
//! Why: after `RESET BINARY LOGS AND GTIDS` and a wrong `gtid_purged` a transaction never came and never will, while the
//! threads run and no error shows (measured on 9.7).
//! What to do: compare the data; fetch the rows or set the replica up anew.
//! Decided: a hole that the source does not have, that was there at the previous poll, that no worker has in hand, at five
//! polls in a row: parallel appliers make short-lived holes (MySQL only).
//! Can't tell: the source is not watched or does not answer.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::gtid::{GtidSet, Gtids};
use crate::model::phrase::phrase;
use crate::model::sample::Sample;

pub const RULE: Rule = Rule {
    code: "gtid_holes",
    ask,
};

const POLLS: u32 = 5;

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, |place| judge(place).after_polls(POLLS))
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
    let (Some(here), Some(there)) = (executed(place.sample), executed(source)) else {
        return Say::CannotTell(phrase("lamp.gtids_unknown"));
    };
    let Some(before) = place.server.previous.and_then(executed) else {
        return Say::Fine;
    };
    let missing = here
        .holes()
        .intersect(there)
        .intersect(&before.holes())
        .subtract(&in_hand(place.sample));
    if missing.is_empty() {
        return Say::Fine;
    }
    Draft::new(
        Severity::Warning,
        phrase("finding.gtid_holes.text").with("count", missing.count()),
    )
    .evidence([phrase("evidence.gtids").with("gtids", missing.to_string())])
    .advice("finding.gtid_holes.advice")
    .say()
}

fn executed(sample: &Sample) -> Option<&GtidSet> {
    match sample.gtid.executed.as_ref()? {
        Gtids::MySql(set) => Some(set),
        Gtids::MariaDb(_) => None,
    }
}

/// What the workers are applying right now.
fn in_hand(sample: &Sample) -> GtidSet {
    let mut set = GtidSet::new();
    let applying = sample.appliers().iter().filter_map(|t| t.applying.as_ref());
    for one in applying.filter_map(|t| GtidSet::parse(&t.gtid).ok()) {
        set.union_with(&one);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::health::judgement::Patience;

    const UUID: &str = "00000001-aaaa-11f0-8000-000000000000";

    fn town(here: &str, there: &str) -> Town {
        let mut town = source_and_replica();
        town.replica().sample().gtid.executed = Some(gtids(&format!("{UUID}:{here}")));
        town.replica().previous = town.replica().sample.clone();
        town.source().sample().gtid.executed = Some(gtids(&format!("{UUID}:{there}")));
        town
    }

    #[test]
    fn a_hole_that_stays_is_reported_after_some_polls() {
        let town = town("1-794:796-797", "1-820");
        assert_eq!(raised(&town, &RULE)[0].text.arg("count"), Some(&1.into()));
        let patience = &RULE.judge(&town.facts())[0].patience;
        assert!(matches!(patience, Patience::Polls { needed: 5, .. }));
    }

    #[test]
    fn a_hole_of_the_source_is_no_loss() {
        assert_eq!(raised(&town("1-794:796-797", "1-794:796-820"), &RULE), []);
    }
}
