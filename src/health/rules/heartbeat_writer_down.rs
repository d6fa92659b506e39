//! Nobody writes the heartbeat any more.
//!
//! Sees: "Heartbeat not written for 5 min".
//! Why: the rows on all replicas grow old although nothing is late (R29); whoever judges by them is blind.
//! What to do: start the writer: the event, pt-heartbeat, or our own.
//! Decided: the source's own row is old by the source's own clock. Said of the source, once.
//! Can't tell: the source's row cannot be read.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::sample::{Answer, Sample};
use crate::model::server::WatchId;
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "heartbeat_writer_down",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, sample| judge(facts, server, sample))
}

/// How long the writer on this source has been silent, if it is.
pub fn silent_for(facts: &Facts<'_>, source: WatchId) -> Option<Span> {
    facts
        .servers
        .iter()
        .flat_map(|server| &server.channels)
        .filter(|channel| channel.source == Some(source))
        .filter_map(|channel| channel.writer_silent_for)
        .max()
}

fn judge(facts: &Facts<'_>, server: &ServerFacts<'_>, sample: &Sample) -> Say {
    if server.replicas.is_empty() {
        return Say::Nothing;
    }
    if let Some(silent) = silent_for(facts, server.watch) {
        return Draft::new(
            Severity::Warning,
            phrase("finding.heartbeat_writer_down.text").with("for", silent),
        )
        .advice("finding.heartbeat_writer_down.advice")
        .say();
    }
    match &sample.heartbeat {
        Answer::Known { .. } => Say::Fine,
        Answer::Refused(trouble) => Say::CannotTell(trouble.what.clone()),
        // No heartbeat is configured.
        Answer::NotAsked { .. } => Say::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::finding::Subject;

    #[test]
    fn r29_a_dead_writer_is_the_sources_trouble_not_the_replicas() {
        let mut town = source_and_replica();
        town.about_channel().writer_silent_for = Some(Span::from_secs(300));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.subject, Subject::Server(WatchId(1)));
        assert_eq!(found.text.arg("for"), Some(&Span::from_secs(300).into()));
    }
}
