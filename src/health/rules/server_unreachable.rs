//! We get no session on a server.
//!
//! Sees: "Source does not let the monitor in (error 1040)", or the failure in words.
//! Why: nothing is known of it, and with the source away nothing is known of its replicas' lag either: they keep saying
//! 0 while a heartbeat grows old, because the writer cannot write (R05).
//! What to do: what the failure says.
//! Decided: the link is down. Refused (1040, 1129, 1053) and unreachable are told apart: a server that refuses is alive.
//! Can't tell: the first attempt is still under way.

use super::{Rule, quoted};
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_all_servers};
use crate::model::event::LinkState;
use crate::model::finding::Severity;
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::trouble::{Trouble, TroubleKind};

pub const RULE: Rule = Rule {
    code: "server_unreachable",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_all_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>) -> Say {
    let trouble = match server.link {
        LinkState::Up { .. } => return Say::Fine,
        LinkState::Connecting if server.sample.is_some() => return Say::Fine,
        LinkState::Connecting => return Say::CannotTell(phrase("lamp.connecting")),
        LinkState::Down { trouble, .. } => trouble,
    };
    let detail = (!trouble.detail.is_empty()).then(|| quoted(&trouble.detail));
    let draft = Draft::new(Severity::Critical, text(server, trouble))
        .evidence(detail)
        .evidence(trouble.hint.clone());
    match server.takes_writes() && !server.replicas.is_empty() {
        true => draft
            .advice("finding.server_unreachable.source_advice")
            .say(),
        false => draft.advice("finding.server_unreachable.advice").say(),
    }
}

fn text(server: &ServerFacts<'_>, trouble: &Trouble) -> Phrase {
    let refusing = trouble
        .code
        .filter(|_| trouble.kind == TroubleKind::Refusing);
    let is_source = server.takes_writes() && !server.replicas.is_empty();
    match (refusing, is_source) {
        (Some(code), true) => phrase("finding.server_unreachable.source_refuses")
            .with("number", Arg::Number(code.into())),
        (Some(code), false) => {
            phrase("finding.server_unreachable.refuses").with("number", Arg::Number(code.into()))
        }
        (None, true) => {
            phrase("finding.server_unreachable.source").with("why", trouble.what.clone())
        }
        (None, false) => {
            phrase("finding.server_unreachable.text").with("why", trouble.what.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r05_a_source_that_is_full_is_said_to_refuse_the_monitor() {
        let mut town = source_and_replica();
        town.source().link_down(1040, "Too many connections");
        let found = &raised(&town, &RULE)[0];
        assert_eq!(
            found.text,
            phrase("finding.server_unreachable.source_refuses").with("number", Arg::Number(1040))
        );
    }

    #[test]
    fn a_replica_that_is_gone_says_why() {
        let mut town = source_and_replica();
        town.replica().link = LinkState::Down {
            trouble: trouble(TroubleKind::Unreachable, 2003, "Connection refused"),
            attempt: 3,
            retry_at: NOW,
        };
        assert_eq!(raised_key(&town, &RULE), "finding.server_unreachable.text");
    }
}
