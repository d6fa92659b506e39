//! The receiver tries to reach its source and does not get there.
//!
//! Sees: "Receiver cannot reach its source for 42 s" with the error it reports.
//! Why: as bad as stopped, but it looks alive: `Seconds_Behind_Source` is a number, even 0, on a replica that never
//! connected (measured on MySQL 9.7). After `SOURCE_RETRY_COUNT` tries (10 by default on 9.7) it gives up for good.
//! What to do: what the error says: network, address, account, TLS, purged logs.
//! Decided: state `Connecting`, a third state (R10), for longer than the grace that every start needs; without a known
//! beginning the grace is over.
//! Can't tell: covered by `receiver_stopped`.

use super::{Rule, quoted};
use crate::health::facts::{ChannelFacts, Facts};
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::phrase::{Arg, phrase};
use crate::model::replication::ThreadState;
use crate::model::time::{Moment, Span};

pub const RULE: Rule = Rule {
    code: "receiver_connecting",
    ask,
};

/// A receiver that starts is connecting for a moment.
pub const GRACE: Span = Span::from_secs(3);

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

/// It is connecting, and not just for a moment.
pub fn is_beyond_grace(channel: &ChannelFacts<'_>, now: Moment) -> bool {
    channel.channel.receiver == ThreadState::Connecting
        && channel
            .connecting_since
            .is_none_or(|since| now.since(since) > GRACE)
}

fn judge(place: &Place<'_, '_>) -> Say {
    if !is_beyond_grace(place.channel, place.facts.now) {
        return Say::Fine;
    }
    let text = match place.channel.connecting_since {
        Some(since) => {
            phrase("finding.receiver_connecting.for").with("for", place.facts.now.since(since))
        }
        None => phrase("finding.receiver_connecting.text"),
    };
    let error = place.channel.channel.receiver_error.as_ref();
    let number = error.map(|error| {
        phrase("evidence.error_number").with("number", Arg::Number(error.number.into()))
    });
    Draft::new(Severity::Critical, text)
        .evidence(number)
        .evidence(error.map(|error| quoted(&error.text)))
        .advice("finding.receiver_connecting.advice")
        .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r10_connecting_is_an_alarm_only_after_the_grace() {
        let mut town = source_and_replica();
        town.channel().receiver = ThreadState::Connecting;
        town.channel().receiver_error = Some(error(2003, "error connecting to source"));
        town.about_channel().connecting_since = Some(secs_ago(1));
        assert_eq!(raised(&town, &RULE), []);
        town.about_channel().connecting_since = Some(secs_ago(42));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("for"), Some(&Arg::Span(Span::from_secs(42))));
        assert_eq!(found.evidence.len(), 2);
    }

    #[test]
    fn r01_connecting_since_nobody_knows_when_is_no_excuse() {
        let mut town = source_and_replica();
        town.channel().receiver = ThreadState::Connecting;
        assert_eq!(raised_key(&town, &RULE), "finding.receiver_connecting.text");
    }
}
