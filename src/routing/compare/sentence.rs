//! The comparison in one sentence: the cheapest rule that returned nothing old, and what going without costs.

use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;

use super::super::strategy::Promise;
use super::Row;

pub fn of(rows: &[Row]) -> Phrase {
    let Some(worst) = rows.iter().max_by_key(|row| row.stale) else {
        return phrase("routing.sentence.nothing_to_judge");
    };
    if worst.must_see == 0 {
        return phrase("routing.sentence.nothing_to_judge");
    }
    match cheapest_fresh(rows) {
        None => with_worst(Phrase::new("routing.sentence.none_fresh"), worst),
        Some(_) if worst.stale == 0 => {
            Phrase::new("routing.sentence.all_fresh").with("reads", worst.must_see)
        }
        Some(best) if best.on_source == best.reads => {
            with_worst(Phrase::new("routing.sentence.only_source"), worst)
        }
        Some(best) => with_worst(price_of(best), worst),
    }
}

/// The rule with the fewest reads on the source, then the shortest waits, among those that answered every read,
/// returned nothing old, and did not do so by luck.
fn cheapest_fresh(rows: &[Row]) -> Option<&Row> {
    rows.iter()
        .filter(|row| row.promise != Promise::Nothing)
        .filter(|row| (row.stale, row.undecided, row.refused) == (0, 0, 0))
        .min_by_key(|row| (row.on_source, slow_wait(row)))
}

fn slow_wait(row: &Row) -> Span {
    row.added.map_or(Span::ZERO, |added| added.p95)
}

fn price_of(best: &Row) -> Phrase {
    let sentence = match best.promise {
        Promise::WhileLagIsBelow(window) => {
            Phrase::new("routing.sentence.best_while").with("window", window)
        }
        Promise::Strong | Promise::Nothing => Phrase::new("routing.sentence.best"),
    };
    sentence
        .with("rule", best.name.clone())
        .with("on_source", best.on_source)
        .with("reads", best.reads)
        .with("wait", slow_wait(best))
}

fn with_worst(sentence: Phrase, worst: &Row) -> Phrase {
    sentence
        .with("worst", worst.name.clone())
        .with("stale", worst.stale)
        .with("judged", worst.judged)
}
