//! A server's clock is off.
//!
//! Sees: "Clock is 744 s ahead of this workstation", or "heartbeat stamp is 744 s in the future".
//! Why: every method that compares stamps of two servers is wrong by that much; a lag would come out negative (R06, T-2).
//! What to do: check NTP on the server; if all servers are off by the same, it is this workstation.
//! Decided: the measured offset, less its own error, is beyond the profile's limit; or a heartbeat stamp lies in the future.
//! Can't tell: the clock was not read yet.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels, of_servers};
use crate::model::finding::Severity;
use crate::model::lag::{Method, Reading};
use crate::model::phrase::{Arg, phrase};
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "clock_skew",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    let mut judgements = of_servers(code, facts, |server, _| offset(server));
    judgements.extend(of_channels(code, facts, stamp));
    judgements
}

fn offset(server: &ServerFacts<'_>) -> Say {
    let Some(clock) = server.clock else {
        return Say::CannotTell(phrase("lamp.clock_not_read"));
    };
    if clock.ahead_by.abs() - clock.bound <= server.thresholds.clock_offset {
        return Say::Fine;
    }
    let text = match clock.ahead_by.is_negative() {
        true => phrase("finding.clock_skew.behind"),
        false => phrase("finding.clock_skew.ahead"),
    };
    Draft::new(Severity::Warning, text.with("by", clock.ahead_by.abs()))
        .evidence([phrase("evidence.bound").with("bound", clock.bound)])
        .advice("finding.clock_skew.advice")
        .say()
}

fn stamp(place: &Place<'_, '_>) -> Say {
    let by = match place.channel.lag.method(Method::Heartbeat) {
        Some(Reading::Unknown { why }) if why.key == "lag.why.stamp_in_future" => why.arg("by"),
        _ => return Say::Fine,
    };
    let by = by.cloned().unwrap_or(Arg::Span(Span::ZERO));
    Draft::new(
        Severity::Warning,
        phrase("finding.clock_skew.stamp").with("by", by),
    )
    .advice("finding.clock_skew.advice")
    .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::lag::clock::ClockEstimate;

    fn clock(ahead_by: Span) -> Option<ClockEstimate> {
        Some(ClockEstimate {
            ahead_by,
            bound: Span::from_millis(100),
            taken_at: NOW,
        })
    }

    #[test]
    fn an_offset_counts_beyond_its_own_error() {
        let mut town = source_and_replica();
        town.source().clock = clock(Span::from_millis(1_050));
        assert_eq!(raised(&town, &RULE), []);
        town.source().clock = clock(Span::from_secs(-3));
        assert_eq!(raised_key(&town, &RULE), "finding.clock_skew.behind");
    }

    #[test]
    fn r06_a_stamp_from_the_future_is_a_clock_and_not_a_lag() {
        let mut town = source_and_replica();
        let why = phrase("lag.why.stamp_in_future").with("by", Span::from_secs(744));
        let view = &mut town.about_channel().lag;
        *view = unknown_lag(why);
        let found = &raised(&town, &RULE)[0];
        assert_eq!(
            found.text,
            phrase("finding.clock_skew.stamp").with("by", Span::from_secs(744))
        );
    }
}
