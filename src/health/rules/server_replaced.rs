//! Another server answers under an address.
//!
//! Sees: "Another server answers here since 2 min", with both UUIDs.
//! Why: after a failover or a rebuilt machine everything known of the old one is void; a pool may still lend its
//! connections (R44).
//! What to do: make sure that this is the server meant.
//! Decided: server_uuid changed; told for ten minutes.
//! Can't tell: MariaDB has no server_uuid.

use super::{Rule, server_restarted::news};
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;

pub const RULE: Rule = Rule {
    code: "server_replaced",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, _| {
        let replaced = server.memory.replaced.as_ref();
        let Some((replaced, ago)) =
            replaced.and_then(|replaced| Some((replaced, news(replaced.at, facts.now)?)))
        else {
            return Say::Fine;
        };
        let uuids = phrase("evidence.uuids")
            .with("was", replaced.was.as_str())
            .with("is", replaced.is.as_str());
        Draft::new(
            Severity::Warning,
            phrase("finding.server_replaced.text").with("ago", ago),
        )
        .evidence([uuids])
        .advice("finding.server_replaced.advice")
        .say()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::health::facts::Replaced;

    #[test]
    fn r44_another_uuid_under_an_address_is_said() {
        let mut town = source_and_replica();
        town.source().memory.replaced = Some(Replaced {
            at: secs_ago(30),
            was: "a".into(),
            is: "b".into(),
        });
        let expected = phrase("evidence.uuids").with("was", "a").with("is", "b");
        assert_eq!(raised(&town, &RULE)[0].evidence, [expected]);
    }
}
