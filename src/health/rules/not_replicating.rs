//! A server that should be a replica has no replication at all.
//!
//! Sees: "Does not replicate, although the profile calls it a replica".
//! Why: no status row is the answer of a source; after `RESET REPLICA ALL` or a restore without `CHANGE REPLICATION
//! SOURCE` the data stands still and nothing looks wrong. It is never a lag of 0 (R33).
//! What to do: point it at its source, or correct the profile.
//! Decided: the profile says replica, the status was readable, no row came, and the platform keeps none elsewhere.
//! Can't tell: the status was refused (R34).

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::profile::ExpectedRole;
use crate::model::sample::{Answer, Sample};

pub const RULE: Rule = Rule {
    code: "not_replicating",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>, sample: &Sample) -> Say {
    if server.expected_role != ExpectedRole::Replica {
        return Say::Nothing;
    }
    match &sample.channels {
        Answer::Refused(trouble) => Say::CannotTell(trouble.what.clone()),
        Answer::NotAsked { why } => Say::CannotTell(why.clone()),
        Answer::Known { .. } if sample.is_replica() => Say::Fine,
        Answer::Known { .. } => {
            Draft::new(Severity::Critical, phrase("finding.not_replicating.text"))
                .advice("finding.not_replicating.advice")
                .say()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::trouble::TroubleKind;

    #[test]
    fn r33_no_status_row_on_a_replica_is_no_zero() {
        let mut town = source_and_replica();
        town.replica().expected_role = ExpectedRole::Replica;
        assert_eq!(raised(&town, &RULE), []);
        town.replica().sample().channels = known(vec![]);
        assert_eq!(raised_key(&town, &RULE), "finding.not_replicating.text");
        town.replica().sample().channels = Answer::Refused(trouble(
            TroubleKind::MissingPrivilege,
            1227,
            "SLAVE MONITOR",
        ));
        assert_eq!(cannot_tell(&town, &RULE), ["trouble.still_hanging"]);
    }

    #[test]
    fn r33_a_reader_of_a_platform_without_rows_is_a_replica() {
        let mut town = source_and_replica();
        town.replica().expected_role = ExpectedRole::Replica;
        town.replica().sample().channels = known(vec![]);
        town.replica().sample().identity.innodb_read_only = Some(true);
        assert_eq!(raised(&town, &RULE), []);
    }
}
