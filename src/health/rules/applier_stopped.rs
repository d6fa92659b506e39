//! Somebody stopped the applier (SQL) thread.
//!
//! Sees: "Applier stopped".
//! Why: the replica's data stands still while it goes on answering; `Seconds_Behind_Source` is NULL, which alerts that
//! compare numbers miss.
//! What to do: start it when the work it was stopped for is done.
//! Decided: the thread is not running and reports no error; with an error it is `applier_broken` (R12).
//! Can't tell: the row has no such column.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::replication::ThreadState;

pub const RULE: Rule = Rule {
    code: "applier_stopped",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let channel = place.channel.channel;
    if channel.applier_error.is_some() {
        return Say::Fine;
    }
    match &channel.applier {
        ThreadState::Running => Say::Fine,
        ThreadState::Untold => Say::CannotTell(phrase("lag.why.applier_untold")),
        ThreadState::Stopped => {
            Draft::new(Severity::Critical, phrase("finding.applier_stopped.text"))
                .advice("finding.applier_stopped.advice")
                .say()
        }
        ThreadState::Connecting => Say::Fine,
        ThreadState::Other(word) => Draft::new(
            Severity::Critical,
            phrase("finding.applier_stopped.state").with("state", word.as_str()),
        )
        .say(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r12_stopped_on_purpose_is_not_broken() {
        let mut town = source_and_replica();
        town.channel().applier = ThreadState::Stopped;
        assert_eq!(raised_key(&town, &RULE), "finding.applier_stopped.text");
        town.channel().applier_error = Some(error(1146, "Table 'db.t' doesn't exist"));
        assert_eq!(raised(&town, &RULE), []);
    }

    #[test]
    fn a_server_that_does_not_answer_is_not_judged_by_its_last_words() {
        let mut town = source_and_replica();
        town.channel().applier = ThreadState::Stopped;
        town.replica().stale();
        assert_eq!(cannot_tell(&town, &RULE), ["lag.why.no_answer"]);
    }
}
