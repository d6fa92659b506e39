//! Everything runs, nothing is applied.
//!
//! Sees: "Applier not advancing for 14 h, although transactions wait".
//! Why: threads Yes, `Seconds_Behind_Source` 0, no error, and the data is from yesterday (R04).
//! What to do: see what it works on and what blocks it; a huge transaction or a lock is the usual reason.
//! Decided: something waits for the applier and its position has not moved for 5 s, or the lag limit if that is longer.
//! A position that stands because nothing was written is no trouble, so something must be seen to wait.
//! A delayed replica that waits on purpose, and a stopped thread, are not meant.
//! Can't tell: covered by the stale rules.

use super::Rule;
use crate::health::facts::{ChannelFacts, Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::dialect::{Dialect, SECONDS_BEHIND};
use crate::model::finding::Severity;
use crate::model::lag::{LagView, Method};
use crate::model::phrase::phrase;
use crate::model::time::{Moment, Span};

pub const RULE: Rule = Rule {
    code: "applier_not_advancing",
    ask,
};

const STANDING_AT_LEAST: Span = Span::from_secs(5);

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

/// How long it has been standing with work before it, when that is too long.
pub fn standing_for(
    channel: &ChannelFacts<'_>,
    server: &ServerFacts<'_>,
    now: Moment,
) -> Option<Span> {
    let waits_on_purpose =
        channel.channel.planned_delay > Span::ZERO && channel.channel.remaining_delay.is_some();
    let both_run = channel.channel.applier.is_running() && channel.channel.receiver.is_running();
    if !both_run || waits_on_purpose {
        return None;
    }
    if !something_waits(&channel.lag, server.thresholds.lag_warning) {
        return None;
    }
    let standing = now.since(channel.standing_since?);
    (standing >= STANDING_AT_LEAST.max(server.thresholds.lag_warning)).then_some(standing)
}

/// Is there work for the applier? What was received and not applied is exact: what has not arrived yet is the receiver's
/// trouble. Where that is not known, transactions missing, bytes, or a lag by any method tell.
pub fn something_waits(view: &LagView, lag_warning: Span) -> bool {
    let backlog = &view.backlog;
    if let Some(received) = backlog.received {
        return received > 0;
    }
    let late = view.headline.value().is_some_and(|lag| lag >= lag_warning);
    late || backlog.transactions.or(backlog.bytes) > Some(0)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let Some(standing) = standing_for(place.channel, place.server, place.facts.now) else {
        return Say::Fine;
    };
    let severity = match standing >= place.server.thresholds.lag_critical {
        true => Severity::Critical,
        false => Severity::Warning,
    };
    let view = &place.channel.lag;
    let seconds = view
        .method(Method::SecondsBehind)
        .and_then(|reading| reading.value())
        .map(|value| {
            phrase("evidence.seconds_behind")
                .with(
                    "column",
                    Dialect::of_product(&place.sample.product).name(SECONDS_BEHIND),
                )
                .with("value", value)
        });
    let cause = view
        .cause
        .as_ref()
        .map(|cause| phrase("evidence.cause").with("cause", cause.text.clone()));
    Draft::new(
        severity,
        phrase("finding.applier_not_advancing.text").with("for", standing),
    )
    .evidence(cause)
    .evidence(seconds)
    .advice("finding.applier_not_advancing.advice")
    .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::phrase::Arg;
    use crate::model::replication::ThreadState;

    #[test]
    fn r04_zero_for_fourteen_hours_is_not_fine() {
        let mut town = source_and_replica();
        town.about_channel().standing_since = Some(secs_ago(14 * 3600));
        town.about_channel().lag = lag_by(Method::Heartbeat, Span::from_secs(14 * 3600));
        set_method(
            &mut town.about_channel().lag,
            Method::SecondsBehind,
            measured(Method::SecondsBehind, Span::ZERO),
        );
        let found = &raised(&town, &RULE)[0];
        assert_eq!(
            found.text.arg("for"),
            Some(&Arg::Span(Span::from_secs(14 * 3600)))
        );
        assert_eq!(
            found.evidence,
            [phrase("evidence.seconds_behind")
                .with("column", "Seconds_Behind_Source")
                .with("value", Span::ZERO)]
        );
    }

    #[test]
    fn r04_the_sources_position_grows_and_the_applier_stands() {
        let mut town = source_and_replica();
        town.about_channel().standing_since = Some(secs_ago(5));
        town.about_channel().lag = lag_by(Method::SecondsBehind, Span::ZERO);
        assert_eq!(raised(&town, &RULE), [], "an idle source looks like this");
        town.about_channel().lag.backlog.bytes = Some(70_000_000);
        assert_eq!(raised(&town, &RULE).len(), 1);
    }

    #[test]
    fn r14_a_delayed_replica_may_wait() {
        let mut town = source_and_replica();
        town.about_channel().standing_since = Some(secs_ago(600));
        town.late_by(Span::from_secs(13));
        town.channel().planned_delay = Span::from_secs(3600);
        town.channel().remaining_delay = Some(Span::from_secs(10));
        assert_eq!(raised(&town, &RULE), []);
    }

    #[test]
    fn an_applier_without_work_does_not_stand_however_late_the_replica_is() {
        let mut town = source_and_replica();
        town.about_channel().standing_since = Some(secs_ago(600));
        town.late_by(Span::from_secs(600));
        town.about_channel().lag.backlog.transactions = Some(7);
        assert_eq!(raised(&town, &RULE).len(), 1);
        town.about_channel().lag.backlog.received = Some(0);
        assert_eq!(raised(&town, &RULE), [], "it is on the way");
        town.about_channel().lag.backlog.received = None;
        town.channel().receiver = ThreadState::Stopped;
        assert_eq!(raised(&town, &RULE), [], "the receiver is to blame");
    }

    #[test]
    fn a_stopped_applier_stands_for_another_reason() {
        let mut town = source_and_replica();
        town.about_channel().standing_since = Some(secs_ago(600));
        town.late_by(Span::from_secs(13));
        town.channel().applier = ThreadState::Stopped;
        assert_eq!(raised(&town, &RULE), []);
    }
}
