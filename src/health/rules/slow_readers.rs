//! Slow queries in disguise: reports eat the replica's CPU, and the curve looks like lag.
//!
//! Sees: "3 long-running reads keep this replica busy".
//! Why: replication is fine, the machine is not; a bigger source would not help (C-17).
//! What to do: move the reports to a replica of their own; look at CPU and IO queue.
//! Decided: the lag's cause: several reads of 5 s or more while the replica is late. Where it keeps up they are
//! mentioned as news, for the process list is asked every 15 s at least.
//! Can't tell: the process list is refused.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::lag::cause::{long_reads, quoted};
use crate::model::finding::Severity;
use crate::model::lag::CauseKind;
use crate::model::phrase::{Phrase, phrase};

pub const RULE: Rule = Rule {
    code: "slow_readers",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    if let Some(trouble) = place.sample.statements.refused() {
        return Say::CannotTell(trouble.what.clone());
    }
    let cause = place.channel.lag.cause.as_ref();
    let Some(cause) = cause.filter(|cause| cause.kind == CauseKind::SlowReaders) else {
        return while_in_time(place);
    };
    let text = Phrase {
        key: "finding.slow_readers.text",
        args: cause.text.args.clone(),
    };
    Draft::new(Severity::Warning, text)
        .evidence(cause.evidence.clone())
        .advice("finding.slow_readers.advice")
        .say()
}

/// The replica keeps up: reports are only mentioned.
fn while_in_time(place: &Place<'_, '_>) -> Say {
    let Some(reads) = long_reads(place.sample).filter(|_| place.channel.lag.cause.is_none()) else {
        return Say::Fine;
    };
    let text = phrase("finding.slow_readers.in_time")
        .with("count", reads.count)
        .with("age", reads.longest);
    Draft::new(Severity::Info, text)
        .evidence(reads.statement.map(quoted))
        .advice("finding.slow_readers.in_time.advice")
        .say()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_on_a_replica_that_keeps_up_are_mentioned_and_no_alarm() {
        let mut town = source_and_replica();
        let report = |thread| RunningStatement {
            thread,
            user: "report".into(),
            host: String::new(),
            command: "Query".into(),
            age: Some(Span::from_secs(8)),
            state: None,
            statement: Some("SELECT COUNT(*) FROM shop.orders".into()),
        };
        town.replica().sample().statements = known(vec![report(8)]);
        assert_eq!(raised(&town, &RULE), [], "one alone is no news");
        town.replica().sample().statements = known(vec![report(8), report(9)]);
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.key, "finding.slow_readers.in_time");
        assert_eq!(found.severity, Severity::Info);
    }
    use crate::health::build::*;
    use crate::model::lag::Cause;
    use crate::model::sample::{Answer, RunningStatement};
    use crate::model::time::Span;
    use crate::model::trouble::TroubleKind;

    #[test]
    fn readers_are_counted_and_a_refused_process_list_is_no_silence() {
        let mut town = source_and_replica();
        town.about_channel().lag.cause = Some(Cause {
            kind: CauseKind::SlowReaders,
            text: phrase("cause.slow_readers")
                .with("count", 3)
                .with("age", Span::from_secs(40)),
            evidence: vec![],
        });
        assert_eq!(raised(&town, &RULE)[0].text.arg("count"), Some(&3.into()));
        town.replica().sample().statements =
            Answer::Refused(trouble(TroubleKind::MissingPrivilege, 1227, "PROCESS"));
        assert_eq!(cannot_tell(&town, &RULE), ["trouble.still_hanging"]);
    }
}
