//! The JSON contract of `route`: one object for each rule, then one summary. Unknown is null, never 0.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::time::Span;
use crate::monitor::prober::EndReason;
use crate::monitor::workload::WorkloadEnd;
use crate::routing::Promise;
use crate::routing::compare::{Outcome, Percentiles, Row};
use crate::words::Catalogue;

#[derive(Serialize)]
pub struct Rule<'a> {
    rule: &'a str,
    name: String,
    promise: &'static str,
    promise_below_ms: Option<f64>,
    reads: u64,
    must_see: u64,
    judged: u64,
    stale: u64,
    stale_share: Option<f64>,
    undecided: u64,
    refused: u64,
    on_source: u64,
    source_share: Option<f64>,
    added: Option<Spread>,
    fallbacks: &'a BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct Spread {
    p50_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
}

impl From<Percentiles> for Spread {
    fn from(of: Percentiles) -> Self {
        Spread {
            p50_ms: of.p50.millis_f64(),
            p95_ms: of.p95.millis_f64(),
            p99_ms: of.p99.millis_f64(),
        }
    }
}

#[derive(Serialize)]
pub struct Last {
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    writes: u64,
    reads: u64,
    refused_writes: u32,
    wait_round_trip_ms: Option<f64>,
    replicas: Vec<Replica>,
    sentence: String,
    ended: Option<String>,
    cleaned_up: Option<bool>,
}

#[derive(Serialize)]
struct Replica {
    server: String,
    seen: u64,
    unseen: u64,
    delay: Option<Spread>,
    trouble: Option<String>,
}

pub fn rule<'a>(row: &'a Row, words: &Catalogue) -> Rule<'a> {
    let below = match row.promise {
        Promise::WhileLagIsBelow(window) => Some(window.millis_f64()),
        Promise::Strong | Promise::Nothing => None,
    };
    Rule {
        rule: &row.code,
        name: words.say(&row.name),
        promise: promise_code(row.promise),
        promise_below_ms: below,
        reads: row.reads,
        must_see: row.must_see,
        judged: row.judged,
        stale: row.stale,
        stale_share: row.stale_share(),
        undecided: row.undecided,
        refused: row.refused,
        on_source: row.on_source,
        source_share: row.source_share(),
        added: row.added.map(Spread::from),
        fallbacks: &row.fallbacks,
    }
}

/// A stable name.
pub fn promise_code(promise: Promise) -> &'static str {
    match promise {
        Promise::Strong => "strong",
        Promise::WhileLagIsBelow(_) => "while_lag_is_below",
        Promise::Nothing => "none",
    }
}

pub fn last(outcome: &Outcome, end: Option<&WorkloadEnd>, words: &Catalogue) -> Last {
    let replicas = outcome.replicas.iter().map(|replica| Replica {
        server: replica.name.clone(),
        seen: replica.seen,
        unseen: replica.unseen,
        delay: replica.delay.map(Spread::from),
        trouble: replica.trouble.as_ref().map(|why| words.say(&why.what)),
    });
    let summary = Summary {
        writes: outcome.writes,
        reads: outcome.reads,
        refused_writes: outcome.refused,
        wait_round_trip_ms: outcome.wait_round_trip.map(Span::millis_f64),
        replicas: replicas.collect(),
        sentence: words.say(&outcome.comparison.sentence),
        ended: end.and_then(|end| match &end.why {
            EndReason::AllRun => None,
            EndReason::Stopped => Some(words.text("rules.end.stopped").to_owned()),
            EndReason::Failed(trouble) => Some(words.say(&trouble.what)),
        }),
        cleaned_up: end.and_then(|end| end.clean_up.as_ref().map(Result::is_ok)),
    };
    Last { summary }
}
