//! Transactions pile up and one worker applies them.
//!
//! Sees: "1 applier worker while 240 transactions wait".
//! Why: the source commits in parallel, the replica applies one after the other.
//! What to do: more workers; it takes effect only after the applier is restarted (measured on 9.7). 0 becomes 1 on 9.x,
//! and `replica_parallel_type` exists there no more.
//! Decided: at most one worker (on MySQL up to 8.x also type DATABASE), more than 10 transactions waiting at three polls
//! in a row, the applier running, no delay planned, and no single transaction or lock that explains it.
//! Can't tell: the settings or the backlog are not known.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::lag::CauseKind;
use crate::model::phrase::phrase;
use crate::model::sample::Named;
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "no_parallel_apply",
    ask,
};

const WAITING: u64 = 10;
const POLLS: u32 = 3;
const WORKERS: [&str; 3] = [
    "replica_parallel_workers",
    "slave_parallel_workers",
    "slave_parallel_threads",
];
const TYPES: [&str; 2] = ["replica_parallel_type", "slave_parallel_type"];

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, |place| judge(place).after_polls(POLLS))
}

fn judge(place: &Place<'_, '_>) -> Say {
    let channel = place.channel.channel;
    if !channel.applier.is_running() || channel.planned_delay > Span::ZERO || explained(place) {
        return Say::Fine;
    }
    let backlog = &place.channel.lag.backlog;
    let Some(waiting) = backlog.received.or(backlog.transactions) else {
        return Say::CannotTell(phrase("lamp.backlog_unknown"));
    };
    if waiting <= WAITING {
        return Say::Fine;
    }
    let Some(settings) = place.sample.settings.value() else {
        return Say::CannotTell(phrase("lamp.settings_unknown"));
    };
    let Some(workers) = settings.number(&WORKERS) else {
        return Say::CannotTell(phrase("lamp.settings_unknown"));
    };
    let by_database = settings
        .either(&TYPES)
        .is_some_and(|kind| kind.eq_ignore_ascii_case("DATABASE"));
    let text = match (workers, by_database) {
        (0 | 1, _) => phrase("finding.no_parallel_apply.text"),
        (_, true) => phrase("finding.no_parallel_apply.by_database"),
        (_, false) => return Say::Fine,
    };
    Draft::new(Severity::Warning, text.with("count", waiting))
        .evidence([phrase("evidence.workers").with("count", workers)])
        .advice("finding.no_parallel_apply.advice")
        .sql(sql(settings))
        .say()
}

fn explained(place: &Place<'_, '_>) -> bool {
    let kind = place.channel.lag.cause.as_ref().map(|cause| cause.kind);
    matches!(
        kind,
        Some(CauseKind::BigTransaction | CauseKind::BlockedByLock)
    )
}

/// In the names this server has: only what it told exists.
fn sql(settings: &Named) -> String {
    let named = |names: &[&'static str]| {
        names
            .iter()
            .copied()
            .find(|name| settings.text(name).is_some())
    };
    let workers = named(&WORKERS).unwrap_or(WORKERS[0]);
    let word = match workers.starts_with("slave") {
        true => "SLAVE",
        false => "REPLICA",
    };
    let kind = named(&TYPES)
        .map(|name| format!("SET GLOBAL {name} = 'LOGICAL_CLOCK';\n"))
        .unwrap_or_default();
    format!("STOP {word} SQL_THREAD;\n{kind}SET GLOBAL {workers} = 8;\nSTART {word} SQL_THREAD;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use std::sync::Arc;

    fn town(settings: &[(&str, &str)], waiting: u64) -> Town {
        let mut town = source_and_replica();
        town.replica().sample().settings = known(Arc::new(Named::default()));
        for (name, value) in settings {
            town.replica().setting(name, value);
        }
        town.about_channel().lag.backlog.received = Some(waiting);
        town
    }

    #[test]
    fn one_worker_matters_only_under_load() {
        let one = [("replica_parallel_workers", "1")];
        assert_eq!(raised(&town(&one, 3), &RULE), []);
        let found = raised(&town(&one, 240), &RULE);
        assert_eq!(
            found[0].sql.as_deref(),
            Some(
                "STOP REPLICA SQL_THREAD;\nSET GLOBAL replica_parallel_workers = 8;\nSTART REPLICA SQL_THREAD;"
            ),
            "9.7 has no replica_parallel_type"
        );
        assert_eq!(
            raised(&town(&[("replica_parallel_workers", "4")], 240), &RULE),
            []
        );
    }

    #[test]
    fn workers_by_database_are_not_parallel_and_old_names_stay_old() {
        let old = [
            ("slave_parallel_workers", "4"),
            ("slave_parallel_type", "DATABASE"),
        ];
        let found = raised(&town(&old, 240), &RULE);
        assert_eq!(found[0].text.key, "finding.no_parallel_apply.by_database");
        let sql = found[0].sql.as_deref().unwrap_or_default();
        assert!(
            sql.contains("SET GLOBAL slave_parallel_type = 'LOGICAL_CLOCK'"),
            "{sql}"
        );
        assert!(sql.starts_with("STOP SLAVE SQL_THREAD"), "{sql}");
    }

    #[test]
    fn a_stopped_applier_needs_no_more_workers() {
        let mut town = town(&[("replica_parallel_workers", "1")], 240);
        town.channel().applier = crate::model::replication::ThreadState::Stopped;
        assert_eq!(raised(&town, &RULE), []);
    }
}
