//! The heartbeat's stamps are read in the wrong time zone.
//!
//! Sees: "Heartbeat is off by 2 h: time-zone setting?"
//! Why: hours of lag that are none, or a real lag hidden behind them (T-2).
//! What to do: say in the profile whether the stamps are UTC or the writer's local time.
//! Decided: the age is within 2 s of a whole multiple of 15 min and was so, unmoving, for 4 s and at five polls (R25),
//! however often is polled. A real lag of that size moves: it grows by a second a second, or is caught up.
//! Can't tell: fewer ages known, or for a shorter time.

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
/// In which a growing lag would leave [`STABLE_WITHIN`] twice over; five polls at the usual interval.
const STEADY_FOR: Span = Span::from_secs(4);
const STABLE_WITHIN: Span = Span::from_secs(2);

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

pub fn is_suspected(channel: &ChannelFacts<'_>) -> bool {
    steady_for(channel).is_some()
}

/// How long the age has been at a suspicious value without moving, when that is long enough.
fn steady_for(channel: &ChannelFacts<'_>) -> Option<Span> {
    let ages = channel.heartbeat_ages;
    let (first, last) = (ages.first()?, ages.last()?);
    let least = ages.iter().map(|(_, age)| *age).min()?;
    let most = ages.iter().map(|(_, age)| *age).max()?;
    let steady = last.0.since(first.0);
    let is_steady = ages.len() >= POLLS && steady >= STEADY_FOR && most - least <= STABLE_WITHIN;
    (is_steady && ages.iter().all(|(_, age)| smells_of_time_zone(*age))).then_some(steady)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let Some(steady) = steady_for(place.channel) else {
        return Say::Fine;
    };
    let off_by = place.channel.heartbeat_ages.last().map(|(_, age)| *age);
    Draft::new(
        Severity::Warning,
        phrase("finding.time_zone.text").with("by", off_by.unwrap_or(Span::ZERO).abs()),
    )
    .evidence([phrase("evidence.steady_for").with("for", steady)])
    .advice("finding.time_zone.advice")
    .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    fn asked(ages_ms: &[i64]) -> &'static str {
        asked_every(1_000, ages_ms)
    }

    fn asked_every(interval_ms: i64, ages_ms: &[i64]) -> &'static str {
        let mut town = source_and_replica();
        let polls = (0..).map(|n| NOW + Span::from_millis(interval_ms * n));
        let ages = ages_ms.iter().map(|ms| Span::from_millis(*ms));
        town.about_channel().heartbeat_ages = polls.zip(ages).collect();
        raised_key(&town, &RULE)
    }

    #[test]
    fn r25_two_steady_hours_are_a_time_zone() {
        let steady = [7_200_051, 7_200_430, 7_200_020, 7_200_900, 7_200_310];
        assert_eq!(asked(&steady), "finding.time_zone.text");
        assert_eq!(asked(&steady[..4]), "", "not yet");
    }

    #[test]
    fn r25_five_quick_polls_of_a_growing_lag_are_too_few() {
        let quick: Vec<i64> = (0..21).map(|n| 7_199_000 + 100 * n).collect();
        assert_eq!(asked_every(100, &quick), "", "2 s are soon over");
        let steady: Vec<i64> = (0..41).map(|n| 7_200_000 + n).collect();
        assert_eq!(asked_every(100, &steady), "finding.time_zone.text");
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
