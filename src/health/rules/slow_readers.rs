//! Slow queries in disguise: reports eat the replica's CPU, and the curve looks like lag.
//!
//! Sees: "3 long-running reads keep this replica busy".
//! Why: replication is fine, the machine is not; a bigger source would not help (C-17).
//! What to do: move the reports to a replica of their own; look at CPU and IO queue.
//! Decided: the lag's cause: several reads of 5 s or more while the replica is late.
//! Can't tell: the process list is refused.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::lag::CauseKind;
use crate::model::phrase::Phrase;

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
        return Say::Fine;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::lag::Cause;
    use crate::model::phrase::phrase;
    use crate::model::sample::Answer;
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
