//! What is kept of a topology's comparisons: the table of query kinds, and results to hold later ones against. The program
//! keeps it, this screen shows it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kinds::KindTable;
use crate::model::phrase::Phrase;
use crate::model::profile::TopologyId;
use crate::model::time::{Moment, Span};
use crate::routing::compare::{Outcome, Row};

/// Results kept of each topology, the newest.
const KEPT: usize = 10;

#[derive(Clone, Debug, Default)]
pub struct RoutingBoard {
    pub kept: BTreeMap<TopologyId, KeptRouting>,
    /// How the last export ended.
    pub exported: Option<Result<Phrase, Phrase>>,
}

/// What is kept of one topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRouting {
    /// The last table that broke no assertion: the one the rules take.
    pub kinds: KindTable,
    /// The oldest first.
    pub comparisons: Vec<KeptComparison>,
}

/// A result kept to hold a later one against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptComparison {
    pub at: Moment,
    /// What the person calls it: "before parallel workers". May be empty.
    pub name: String,
    pub writes: u64,
    pub reads: u64,
    pub rules: Vec<KeptRule>,
}

/// One rule's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptRule {
    pub code: String,
    pub reads: u64,
    pub judged: u64,
    pub stale: u64,
    pub undecided: u64,
    pub refused: u64,
    pub on_source: u64,
    /// p50, p95, p99; `None` when no read had to see a write.
    pub added: Option<[Span; 3]>,
    pub fallbacks: u64,
}

impl KeptRule {
    pub fn of(row: &Row) -> Self {
        KeptRule {
            code: row.code.clone(),
            reads: row.reads,
            judged: row.judged,
            stale: row.stale,
            undecided: row.undecided,
            refused: row.refused,
            on_source: row.on_source,
            added: row.added.map(|added| [added.p50, added.p95, added.p99]),
            fallbacks: row.fallbacks.values().sum(),
        }
    }

    pub fn stale_share(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.stale as f64 / self.judged as f64)
    }

    pub fn source_share(&self) -> Option<f64> {
        (self.reads > 0).then(|| self.on_source as f64 / self.reads as f64)
    }
}

impl KeptComparison {
    pub fn of(outcome: &Outcome, name: &str, at: Moment) -> Self {
        KeptComparison {
            at,
            name: name.trim().to_owned(),
            writes: outcome.writes,
            reads: outcome.reads,
            rules: outcome.comparison.rows.iter().map(KeptRule::of).collect(),
        }
    }

    /// Whether it is this very result, whatever it is called.
    pub fn is_of(&self, outcome: &Outcome) -> bool {
        let rows = &outcome.comparison.rows;
        (self.writes, self.reads) == (outcome.writes, outcome.reads)
            && self.rules.len() == rows.len()
            && rows
                .iter()
                .zip(&self.rules)
                .all(|(row, rule)| KeptRule::of(row) == *rule)
    }
}

impl KeptRouting {
    pub fn keep(&mut self, comparison: KeptComparison) {
        self.comparisons.push(comparison);
        self.keep_the_newest();
    }

    /// What was kept in earlier sessions comes before what this one kept; a table changed in this one stays.
    pub fn put_before(&mut self, mut earlier: KeptRouting) {
        if self.kinds == KindTable::default() {
            self.kinds = earlier.kinds;
        }
        earlier.comparisons.append(&mut self.comparisons);
        self.comparisons = earlier.comparisons;
        self.keep_the_newest();
    }

    fn keep_the_newest(&mut self) {
        let too_many = self.comparisons.len().saturating_sub(KEPT);
        self.comparisons.drain(..too_many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str) -> KeptComparison {
        KeptComparison {
            at: Moment::from_unix_micros(0),
            name: name.to_owned(),
            writes: 3,
            reads: 7,
            rules: Vec::new(),
        }
    }

    fn names(kept: &KeptRouting) -> Vec<&str> {
        kept.comparisons.iter().map(|c| c.name.as_str()).collect()
    }

    #[test]
    fn earlier_results_come_first_and_only_the_newest_stay() {
        let mut now = KeptRouting::default();
        now.keep(kept("today"));
        let mut earlier = KeptRouting::default();
        for n in 0..KEPT {
            earlier.keep(kept(&n.to_string()));
        }
        now.put_before(earlier);
        assert_eq!(names(&now).len(), KEPT);
        assert_eq!((names(&now)[0], names(&now)[KEPT - 1]), ("1", "today"));
    }

    #[test]
    fn a_table_changed_in_this_session_is_not_undone_by_the_file() {
        let limit = Span::from_millis;
        let mut earlier = KeptRouting::default();
        earlier.kinds.list.limit = limit(3_000);
        let mut untouched = KeptRouting::default();
        untouched.put_before(earlier.clone());
        assert_eq!(untouched.kinds.list.limit, limit(3_000));
        let mut changed = KeptRouting::default();
        changed.kinds.list.limit = limit(500);
        changed.put_before(earlier);
        assert_eq!(changed.kinds.list.limit, limit(500));
    }
}
