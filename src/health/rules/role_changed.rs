//! A server changed its role under our eyes.
//!
//! Sees: "Was a replica, is the source since 30 s".
//! Why: a failover or switch-over; connections of pools still point to yesterday's source (R44).
//! What to do: nothing if it was planned; else find out who promoted it.
//! Decided: the role seen now differs from the one before; told for ten minutes.
//! Can't tell: the role is not known.

use super::{Rule, server_restarted::news};
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::{Role, Severity};
use crate::model::phrase::{Phrase, phrase};

pub const RULE: Rule = Rule {
    code: "role_changed",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, _| {
        let changed = server.memory.role_changed;
        let Some((was, ago)) = changed.and_then(|(was, at)| Some((was, news(at, facts.now)?)))
        else {
            return Say::Fine;
        };
        let text = phrase("finding.role_changed.text")
            .with("was", name(was))
            .with("is", name(server.role))
            .with("ago", ago);
        Draft::new(Severity::Info, text)
            .advice("finding.role_changed.advice")
            .say()
    })
}

/// The role's name as a sentence part.
pub fn name(role: Role) -> Phrase {
    match role {
        Role::Source => phrase("finding.role.source"),
        Role::Replica => phrase("finding.role.replica"),
        Role::Intermediate => phrase("finding.role.intermediate"),
        Role::Standalone => phrase("finding.role.standalone"),
        Role::Unknown => phrase("finding.role.unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r44_a_promotion_is_said_with_both_roles() {
        let mut town = source_and_replica();
        town.source().memory.role_changed = Some((Role::Replica, secs_ago(30)));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(
            found.text.arg("was"),
            Some(&phrase("finding.role.replica").into())
        );
        assert_eq!(
            found.text.arg("is"),
            Some(&phrase("finding.role.source").into())
        );
    }
}
