//! The receiver (IO) thread is stopped.
//!
//! Sees: "Receiver stopped by error 13114", or "Receiver stopped" when somebody stopped it.
//! Why: nothing new arrives; the replica serves ever older data while `Seconds_Behind_Source` may still say 0.
//! What to do: correct what the error names, then start the receiver.
//! Decided: the thread's own column, first of all (A-09, R12); a word we do not know counts as not running (R10).
//! Can't tell: the row has no such column.

use super::{Rule, quoted};
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::phrase::{Arg, phrase};
use crate::model::replication::ThreadState;

pub const RULE: Rule = Rule {
    code: "receiver_stopped",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let channel = place.channel.channel;
    match (&channel.receiver, &channel.receiver_error) {
        (ThreadState::Stopped, Some(error)) => Draft::new(
            Severity::Critical,
            phrase("finding.receiver_stopped.by_error")
                .with("number", Arg::Number(error.number.into())),
        )
        .evidence([quoted(&error.text)])
        .advice("finding.receiver_stopped.error_advice")
        .say(),
        (ThreadState::Stopped, None) => {
            Draft::new(Severity::Critical, phrase("finding.receiver_stopped.text"))
                .advice("finding.receiver_stopped.advice")
                .say()
        }
        (ThreadState::Other(word), _) => Draft::new(
            Severity::Critical,
            phrase("finding.receiver_stopped.state").with("state", word.as_str()),
        )
        .say(),
        (ThreadState::Untold, _) => Say::CannotTell(phrase("lag.why.receiver_untold")),
        (ThreadState::Running | ThreadState::Connecting, _) => Say::Fine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn a_receiver_stopped_by_error_names_it() {
        let mut town = source_and_replica();
        town.channel().receiver = ThreadState::Stopped;
        assert_eq!(raised_key(&town, &RULE), "finding.receiver_stopped.text");
        town.channel().receiver_error = Some(error(13114, "Got fatal error 1236"));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("number"), Some(&Arg::Number(13114)));
        assert_eq!(found.evidence, [quoted("Got fatal error 1236")]);
    }

    #[test]
    fn r10_an_unknown_word_is_not_running() {
        let mut town = source_and_replica();
        town.channel().receiver = ThreadState::Other("Migrating".into());
        assert_eq!(raised_key(&town, &RULE), "finding.receiver_stopped.state");
        town.channel().receiver = ThreadState::Untold;
        assert_eq!(cannot_tell(&town, &RULE), ["lag.why.receiver_untold"]);
    }

    #[test]
    fn r13_a_channel_that_was_never_started_is_nobodys_trouble() {
        let mut town = source_and_replica();
        town.channel().receiver = ThreadState::Stopped;
        town.about_channel().counts = false;
        assert_eq!(RULE.judge(&town.facts()), []);
    }
}
