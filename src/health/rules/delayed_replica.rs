//! A replica is late on purpose.
//!
//! Sees: "1 h configured delay + 13 s lag".
//! Why: it is a safety net against mistakes, and never a server for reads that need fresh data (R14).
//! What to do: nothing; send no fresh reads here.
//! Decided: the delay of the status row; the lag shown is lateness beyond it.
//! Can't tell: covered by the stale rules.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "delayed_replica",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let delay = place.channel.channel.planned_delay;
    if delay <= Span::ZERO {
        return Say::Fine;
    }
    let text = match place.channel.lag.headline.value() {
        Some(lag) => phrase("finding.delayed_replica.text").with("lag", lag),
        None => phrase("finding.delayed_replica.lag_unknown"),
    };
    Draft::new(Severity::Info, text.with("delay", delay))
        .advice("finding.delayed_replica.advice")
        .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r14_the_delay_and_the_lag_beyond_it_are_two_numbers() {
        let mut town = source_and_replica();
        town.channel().planned_delay = Span::from_secs(3600);
        town.late_by(Span::from_secs(13));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("delay"), Some(&Span::from_secs(3600).into()));
        assert_eq!(found.text.arg("lag"), Some(&Span::from_secs(13).into()));
    }
}
