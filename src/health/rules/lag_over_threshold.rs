//! The replica is later than it may be.
//!
//! Sees: "6.2 s behind (limit 3 s)".
//! Why: every read here misses what was written in that time.
//! What to do: see the cause beside the lag; send fresh reads to the source meanwhile.
//! Decided: the headline lag, lateness beyond the planned delay (R14), against the limits of this server; so many polls
//! in a row as the profile says, and cleared only below a share of the limit. `Seconds_Behind_Source` alone never
//! outvotes a better method (R07).
//! Can't tell: the lag is unknown; the source does not answer us, so that a row that grows old may be the writer's
//! trouble (R05); the only figure smells of a time zone (R25).

use super::{Rule, time_zone};
use crate::health::facts::{ChannelFacts, Facts};
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::lag::{Measurement, Method, Reading};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::Thresholds;
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "lag_over_threshold",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

/// The lag that may be judged: the headline, unless what we know besides takes its ground away.
pub fn believable<'c>(
    channel: &'c ChannelFacts<'_>,
    source_trouble: Option<Phrase>,
    limit: Span,
) -> Result<&'c Measurement, Phrase> {
    let measured = match &channel.lag.headline {
        Reading::Measured(measured) => measured,
        Reading::Unknown { why } | Reading::NotApplicable { why } => return Err(why.clone()),
    };
    if measured.method == Method::Heartbeat && time_zone::is_suspected(channel) {
        return Err(phrase("lamp.time_zone_suspected"));
    }
    match source_trouble {
        // What the applier has in hand is late whatever the source does now; the true lag can only be more.
        Some(why) if measured.method != Method::Applier || measured.value < limit => Err(why),
        _ => Ok(measured),
    }
}

/// How bad a lag is, if it is.
pub fn severity(lag: Span, thresholds: &Thresholds) -> Option<Severity> {
    if lag >= thresholds.lag_critical {
        Some(Severity::Critical)
    } else if lag >= thresholds.lag_warning {
        Some(Severity::Warning)
    } else {
        None
    }
}

fn judge(place: &Place<'_, '_>) -> Say {
    let thresholds = place.server.thresholds;
    let trouble = place.facts.source_trouble(place.channel);
    let lag = match believable(place.channel, trouble, thresholds.lag_warning) {
        Ok(measured) => measured.value,
        Err(why) => return Say::CannotTell(why),
    };
    let now = match severity(lag, thresholds) {
        Some(severity) => draft(place, lag, severity).say(),
        None => Say::Fine,
    };
    Say::Steady {
        now: Box::new(now),
        polls: thresholds.consecutive,
        still: severity_to_hold(lag, thresholds)
            .map(|severity| Box::new(draft(place, lag, severity))),
        figures: Some(Box::new(draft(place, lag, Severity::Warning))),
    }
}

/// The severity that a finding already raised keeps.
fn severity_to_hold(lag: Span, thresholds: &Thresholds) -> Option<Severity> {
    let share = i64::from(thresholds.clear_at_percent.min(100));
    let lowered = |limit: Span| Span::from_micros(limit.micros() / 100 * share);
    let held = Thresholds {
        lag_warning: lowered(thresholds.lag_warning),
        lag_critical: lowered(thresholds.lag_critical),
        ..thresholds.clone()
    };
    severity(lag, &held)
}

fn draft(place: &Place<'_, '_>, lag: Span, severity: Severity) -> Draft {
    let thresholds = place.server.thresholds;
    let limit = match severity {
        Severity::Critical => thresholds.lag_critical,
        _ => thresholds.lag_warning,
    };
    let view = &place.channel.lag;
    let text = phrase("finding.lag_over_threshold.text")
        .with("lag", lag)
        .with("limit", limit);
    let cause = view
        .cause
        .as_ref()
        .map(|cause| phrase("evidence.cause").with("cause", cause.text.clone()));
    Draft::new(severity, text)
        .evidence(cause)
        .evidence([view.verdict.clone()])
        .advice("finding.lag_over_threshold.advice")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    fn severity_at(lag: Span) -> Option<Severity> {
        let mut town = source_and_replica();
        town.late_by(lag);
        raised(&town, &RULE).first().map(|found| found.severity)
    }

    #[test]
    fn a_lag_is_judged_by_two_limits() {
        assert_eq!(severity_at(Span::from_millis(2_999)), None);
        assert_eq!(severity_at(Span::from_secs(3)), Some(Severity::Warning));
        assert_eq!(severity_at(Span::from_secs(10)), Some(Severity::Critical));
    }

    #[test]
    fn a_server_may_have_limits_of_its_own() {
        let mut town = source_and_replica();
        town.late_by(Span::from_secs(20));
        town.replica().thresholds.lag_warning = Span::from_secs(60);
        town.replica().thresholds.lag_critical = Span::from_secs(90);
        assert_eq!(raised(&town, &RULE), []);
    }

    #[test]
    fn r05_with_the_source_refusing_us_an_old_heartbeat_is_not_called_lag() {
        let mut town = source_and_replica();
        town.about_channel().lag = lag_by(Method::Heartbeat, Span::from_secs(300));
        town.source().link_down(1040, "Too many connections");
        assert_eq!(cannot_tell(&town, &RULE), ["lamp.source_unknown"]);
        town.about_channel().lag = lag_by(Method::Applier, Span::from_secs(300));
        assert_eq!(raised(&town, &RULE).len(), 1, "what is in hand is late");
    }

    #[test]
    fn r07_an_absurd_seconds_behind_does_not_alarm_while_a_better_method_says_caught_up() {
        let mut town = source_and_replica();
        let view = &mut town.about_channel().lag;
        set_method(
            view,
            Method::SecondsBehind,
            measured(Method::SecondsBehind, Span::from_secs(10_368_000)),
        );
        assert_eq!(raised(&town, &RULE), []);
    }

    #[test]
    fn r01_an_unknown_lag_is_neither_fine_nor_late() {
        let mut town = source_and_replica();
        town.about_channel().lag = unknown_lag(phrase("lag.why.receiver_connecting"));
        assert_eq!(cannot_tell(&town, &RULE), ["lag.why.receiver_connecting"]);
    }

    #[test]
    fn r25_a_lag_that_smells_of_a_time_zone_is_not_called_late() {
        let mut town = source_and_replica();
        town.about_channel().lag = lag_by(Method::Heartbeat, Span::from_secs(7_200));
        town.about_channel().heartbeat_ages = (0..5)
            .map(|n| (secs_ago(5 - n), Span::from_millis(7_200_051)))
            .collect();
        assert_eq!(cannot_tell(&town, &RULE), ["lamp.time_zone_suspected"]);
    }
}
