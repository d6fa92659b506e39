//! `Seconds_Behind_Source` says something else than a better method.
//!
//! Sees: "Seconds_Behind_Source says 0 s, GTID marks say 6.2 s".
//! Why: whoever alerts on it is misled: it is 0 while a source hangs, too large after a big transaction, and absurd for a
//! sample now and then (A-10, R04, R07).
//! What to do: believe the better method; change the alert.
//! Decided: beyond both methods' bounds and its own rounding, as many polls in a row as the profile says.
//! Can't tell: one of the two has no value.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::lag::verdict::{contradicts, method_name};
use crate::model::dialect::{Dialect, SECONDS_BEHIND};
use crate::model::finding::Severity;
use crate::model::lag::{Method, Reading};
use crate::model::phrase::phrase;

pub const RULE: Rule = Rule {
    code: "seconds_behind_contradicted",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, |place| {
        judge(place).after_polls(place.server.thresholds.consecutive)
    })
}

fn judge(place: &Place<'_, '_>) -> Say {
    let view = &place.channel.lag;
    let dialect = Dialect::of_product(&place.sample.product);
    let best = match &view.headline {
        Reading::Measured(best) if best.method != Method::SecondsBehind => best,
        Reading::Measured(_) => return Say::Fine,
        Reading::Unknown { why } | Reading::NotApplicable { why } => {
            return Say::CannotTell(why.clone());
        }
    };
    let seconds = view.method(Method::SecondsBehind);
    match seconds.and_then(Reading::measured) {
        Some(seconds) if contradicts(best, seconds) => {
            let text = phrase("finding.seconds_behind_contradicted.text")
                .with("column", dialect.name(SECONDS_BEHIND))
                .with("seconds", seconds.value)
                .with("method", method_name(best.method, dialect))
                .with("value", best.value);
            Draft::new(Severity::Info, text)
                .evidence([view.verdict.clone()])
                .advice("finding.seconds_behind_contradicted.advice")
                .say()
        }
        Some(_) => Say::Fine,
        None => Say::CannotTell(
            seconds
                .and_then(Reading::why)
                .cloned()
                .unwrap_or_else(|| phrase("lag.why.no_method")),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::server::Product;
    use crate::model::time::Span;

    fn asked(best: Span, seconds: i64) -> &'static str {
        let mut town = source_and_replica();
        let mut view = lag_by(Method::Heartbeat, best);
        let told = measured(Method::SecondsBehind, Span::from_secs(seconds));
        set_method(&mut view, Method::SecondsBehind, told);
        town.about_channel().lag = view;
        raised_key(&town, &RULE)
    }

    #[test]
    fn r04_r07_seconds_behind_is_marked_where_a_better_method_disagrees() {
        let key = "finding.seconds_behind_contradicted.text";
        assert_eq!(asked(Span::from_secs(14 * 3600), 0), key);
        assert_eq!(asked(Span::from_millis(400), 10_368_000), key);
        assert_eq!(asked(Span::from_millis(400), 1), "", "its own rounding");
    }

    #[test]
    fn the_column_has_the_name_the_server_gives_it() {
        let mut town = source_and_replica();
        town.replica().sample().product = Product::from_text("10.11.6-MariaDB", "Debian");
        let mut view = lag_by(Method::Heartbeat, Span::from_secs(60));
        set_method(
            &mut view,
            Method::SecondsBehind,
            measured(Method::SecondsBehind, Span::ZERO),
        );
        town.about_channel().lag = view;
        let column = raised(&town, &RULE)[0].text.arg("column").cloned();
        assert_eq!(column, Some("Seconds_Behind_Master".into()));
    }
}
