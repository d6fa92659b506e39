//! The session stands, but no answer comes.
//!
//! Sees: "No answer for 7 s".
//! Why: the last good values say nothing of now: a frozen server looks healthy for ever (R37).
//! What to do: look at the machine: disk full, frozen process, a status statement that hangs (R36).
//! Decided: the newest sample is too old to be used although the session is up.
//! Can't tell: no poll was ever completed.

use super::Rule;
use crate::health::facts::{Facts, Freshness, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_all_servers};
use crate::model::event::LinkState;
use crate::model::finding::Severity;
use crate::model::phrase::phrase;

pub const RULE: Rule = Rule {
    code: "reading_stale",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_all_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>) -> Say {
    match (&server.freshness, server.link) {
        // Said by `server_unreachable`.
        (_, LinkState::Down { .. }) => Say::Fine,
        (Freshness::Fresh | Freshness::Late { .. }, _) => Say::Fine,
        (Freshness::Never, _) => Say::CannotTell(phrase("lamp.not_polled")),
        (Freshness::Stale { age, why }, _) => Draft::new(
            Severity::Critical,
            phrase("finding.reading_stale.text").with("age", *age),
        )
        .evidence([why.clone()])
        .advice("finding.reading_stale.advice")
        .say(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::time::Span;

    #[test]
    fn r37_a_frozen_server_is_said_to_be_silent() {
        let mut town = source_and_replica();
        town.replica().stale();
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("age"), Some(&Span::from_secs(7).into()));
    }

    #[test]
    fn before_the_first_poll_nothing_is_said() {
        let mut town = source_and_replica();
        town.replica().freshness = Freshness::Never;
        town.replica().sample = None;
        assert_eq!(cannot_tell(&town, &RULE), ["lamp.not_polled"]);
    }
}
