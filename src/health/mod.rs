//! Layer 1: facts become findings. Pure; one rule per file.
//!
//! A rule looks at [`facts::Facts`] and says for each subject it concerns itself with: fine, a finding, or "cannot
//! tell". [`book`] makes that steady (several polls in a row, hysteresis); [`lamps`] condenses it into the three lamps
//! (threads, real lag, semi-sync) and a health word per server and channel, [`verdict`] into one sentence per topology.

pub mod facts;
pub mod judgement;

pub mod rules;

pub mod book;
pub mod lamps;
pub mod names;
pub mod verdict;

#[cfg(test)]
pub mod build;

pub use book::{Book, Change};
pub use judgement::{Judgement, Patience};
pub use names::name_of;
pub use rules::{RULES, Rule};
pub use verdict::verdict_of_topology;

use facts::Facts;

/// What all rules say, in the order of [`RULES`].
pub fn judge(facts: &Facts<'_>) -> Vec<Judgement> {
    RULES.iter().flat_map(|rule| rule.judge(facts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::{Subject, Verdict};
    use std::collections::BTreeSet;

    #[test]
    fn a_healthy_pair_has_no_finding() {
        let town = build::source_and_replica();
        let raised: Vec<_> = judge(&town.facts())
            .into_iter()
            .filter(|j| matches!(j.verdict, Verdict::Raise(_)))
            .collect();
        assert_eq!(raised, []);
    }

    #[test]
    fn no_rule_speaks_twice_of_one_subject_and_codes_are_unique() {
        let mut town = build::source_and_replica();
        town.replica().link_down(1040, "Too many connections");
        let mut seen: BTreeSet<(&str, Subject)> = BTreeSet::new();
        for judgement in judge(&town.facts()) {
            assert!(
                seen.insert((judgement.code, judgement.subject.clone())),
                "{judgement:?}"
            );
        }
        let codes: BTreeSet<_> = RULES.iter().map(|rule| rule.code).collect();
        assert_eq!(codes.len(), RULES.len());
    }
}
