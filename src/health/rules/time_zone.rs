//! The heartbeat's stamps are read in the wrong time zone.
//!
//! Sees: "Heartbeat is off by 2 h: time-zone setting?"
//! Why: hours of lag that are none, or a real lag hidden behind them (T-2).
//! What to do: say in the profile whether the stamps are UTC or the writer's local time.
//! Decided: the age is within 2 s of a whole multiple of 15 min and was so, unmoving, at five polls (R25). A real lag of
//! that size moves: it grows or is caught up.
//! Can't tell: fewer than five ages known.

use super::Rule;
use crate::health::facts::{ChannelFacts, Facts};
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::lag::heartbeat::smells_of_time_zone;
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "time_zone",
    ask,
};

const POLLS: usize = 5;
const STABLE_WITHIN: Span = Span::from_secs(2);

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

pub fn is_suspected(channel: &ChannelFacts<'_>) -> bool {
    let ages = channel.heartbeat_ages;
    let (Some(least), Some(most)) = (ages.iter().min(), ages.iter().max()) else {
        return false;
    };
    ages.len() >= POLLS
        && *most - *least <= STABLE_WITHIN
        && ages.iter().copied().all(smells_of_time_zone)
}

fn judge(place: &Place<'_, '_>) -> Say {
    if !is_suspected(place.channel) {
        return Say::Fine;
    }
    let off_by = place.channel.heartbeat_ages.last().copied();
    Draft::new(
        Severity::Warning,
        phrase("finding.time_zone.text").with("by", off_by.unwrap_or(Span::ZERO).abs()),
    )
    .advice("finding.time_zone.advice")
    .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    fn asked(ages_ms: &[i64]) -> &'static str {
        let mut town = source_and_replica();
        town.about_channel().heartbeat_ages =
            ages_ms.iter().map(|ms| Span::from_millis(*ms)).collect();
        raised_key(&town, &RULE)
    }

    #[test]
    fn r25_two_steady_hours_are_a_time_zone() {
        let steady = [7_200_051, 7_200_430, 7_200_020, 7_200_900, 7_200_310];
        assert_eq!(asked(&steady), "finding.time_zone.text");
        assert_eq!(asked(&steady[..4]), "", "not yet");
    }

    #[test]
    fn r25_a_real_lag_that_passes_two_hours_is_not() {
        assert_eq!(
            asked(&[7_198_000, 7_199_000, 7_200_000, 7_201_000, 7_202_000]),
            ""
        );
        assert_eq!(
            asked(&[300, 700, 100, 900, 500]),
            "",
            "nor is a healthy one"
        );
    }
}
