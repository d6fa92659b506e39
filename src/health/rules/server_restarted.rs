//! A server was started anew.
//!
//! Sees: "Server restarted 2 min ago".
//! Why: `SET GLOBAL` is forgotten, read_only may be back to its file, the event scheduler off, caches cold.
//! What to do: look at what depends on settings made by hand.
//! Decided: uptime went backwards; told for ten minutes.
//! Can't tell: uptime is not told.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::sample::Sample;
use crate::model::time::{Moment, Span};

pub const RULE: Rule = Rule {
    code: "server_restarted",
    ask,
};

/// How long a thing that happened is news.
const NEWS: Span = Span::from_secs(600);

/// How long ago it was, while it is news.
pub fn news(at: Moment, now: Moment) -> Option<Span> {
    let ago = now.since(at);
    (ago <= NEWS).then_some(ago.or_zero())
}

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, sample| {
        judge(server, sample, facts.now)
    })
}

fn judge(server: &ServerFacts<'_>, sample: &Sample, now: Moment) -> Say {
    let restarted = server.memory.restarted_at.and_then(|at| news(at, now));
    match restarted {
        Some(ago) => Draft::new(
            Severity::Info,
            phrase("finding.server_restarted.text").with("ago", ago),
        )
        .advice("finding.server_restarted.advice")
        .say(),
        None if sample.identity.uptime.is_none() => Say::CannotTell(phrase("lamp.uptime_untold")),
        None => Say::Fine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn a_restart_is_news_for_ten_minutes() {
        let mut town = source_and_replica();
        town.replica().memory.restarted_at = Some(secs_ago(120));
        assert_eq!(
            raised(&town, &RULE)[0].text.arg("ago"),
            Some(&Span::from_secs(120).into())
        );
        town.replica().memory.restarted_at = Some(secs_ago(601));
        assert_eq!(raised(&town, &RULE), []);
    }
}
