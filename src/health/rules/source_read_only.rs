//! The source refuses writes.
//!
//! Sees: "Source is read-only".
//! Why: every write fails with 1290 or 1836; typical after a restart with read_only in the configuration (R45).
//! What to do: make sure that no other server has become the source, then switch it off.
//! Decided: a server without status row that has replicas, or that the profile calls the source, with read_only or
//! super_read_only on.
//! Can't tell: read_only is not told.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::profile::ExpectedRole;
use crate::model::sample::Sample;

pub const RULE: Rule = Rule {
    code: "source_read_only",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>, sample: &Sample) -> Say {
    let is_source = !server.is_replica()
        && (!server.replicas.is_empty() || server.expected_role == ExpectedRole::Source);
    if !is_source {
        return Say::Nothing;
    }
    match sample.is_writable() {
        Some(true) => Say::Fine,
        None => Say::CannotTell(phrase("lamp.read_only_untold")),
        Some(false) => {
            let setting = match sample.identity.super_read_only {
                Some(true) => "super_read_only",
                _ => "read_only",
            };
            Draft::new(Severity::Critical, phrase("finding.source_read_only.text"))
                .evidence([phrase("evidence.setting_on").with("setting", setting)])
                .advice("finding.source_read_only.advice")
                .sql("SET GLOBAL read_only = OFF;")
                .say()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r45_a_source_that_came_back_read_only_is_an_alarm() {
        let mut town = source_and_replica();
        assert_eq!(raised(&town, &RULE), []);
        town.source().sample().identity.read_only = Some(true);
        town.source().sample().identity.super_read_only = Some(true);
        assert_eq!(raised(&town, &RULE)[0].severity, Severity::Critical);
    }

    #[test]
    fn a_replica_is_meant_to_be_read_only() {
        let town = source_and_replica();
        assert_eq!(
            RULE.judge(&town.facts()).len(),
            1,
            "only the source is asked"
        );
    }
}
