//! Semi-sync is wanted and not in force.
//!
//! Sees: "Semi-sync has given way to asynchronous replication", since when, how many commits went unacknowledged.
//! Why: what is committed now exists on the source alone; if it dies, that is lost, with no word in any log.
//! What to do: bring an acknowledging replica's receiver back; semi-sync then resumes by itself.
//! Decided: enabled and status OFF; or enabled and commits without acknowledgement since the last poll: MariaDB keeps the
//! status ON with nobody connected (measured on 10.11).
//! Can't tell: the status is refused. A plugin that is not installed is not degraded (R23).

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::{Role, Severity};
use crate::model::phrase::phrase;
use crate::model::replication::SemiSyncSource;
use crate::model::sample::{Answer, Sample};

pub const RULE: Rule = Rule {
    code: "semi_sync_degraded",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, sample| {
        judged(server, sample, |end| judge(facts, server, end))
    })
}

/// The source's end of a server that has it switched on and may have replicas; shared by the three rules.
pub fn source_end<'a>(server: &ServerFacts<'_>, sample: &'a Sample) -> Option<&'a SemiSyncSource> {
    let end = sample.semi_sync.value()?.source.as_ref()?;
    let may_have_replicas = server.role != Role::Replica || !server.replicas.is_empty();
    (end.enabled == Some(true) && may_have_replicas).then_some(end)
}

/// Asks a question about the source's end where there is one.
pub fn judged(
    server: &ServerFacts<'_>,
    sample: &Sample,
    ask: impl Fn(&SemiSyncSource) -> Say,
) -> Say {
    match (&sample.semi_sync, source_end(server, sample)) {
        (Answer::Refused(trouble), _) => Say::CannotTell(trouble.what.clone()),
        (_, Some(end)) => ask(end),
        (_, None) => Say::Nothing,
    }
}

/// Not in force, or only by name.
pub fn has_given_way(server: &ServerFacts<'_>, end: &SemiSyncSource) -> bool {
    end.active == Some(false) || unacknowledged_since_last_poll(server, end) > 0
}

fn unacknowledged_since_last_poll(server: &ServerFacts<'_>, end: &SemiSyncSource) -> u64 {
    let before = server
        .previous
        .and_then(|sample| sample.semi_sync.value()?.source.as_ref()?.no_tx);
    match (end.no_tx, before) {
        // Smaller: the server was restarted or its status flushed.
        (Some(now), Some(before)) => now.saturating_sub(before),
        _ => 0,
    }
}

fn judge(facts: &Facts<'_>, server: &ServerFacts<'_>, end: &SemiSyncSource) -> Say {
    if !has_given_way(server, end) {
        return match end.active {
            Some(_) => Say::Fine,
            None => Say::CannotTell(phrase("lamp.semi_sync.untold")),
        };
    }
    let remembered = server.memory.degraded.as_ref();
    let since = remembered.map(|degraded| {
        phrase("evidence.degraded_for").with("for", facts.now.since(degraded.since))
    });
    let unacknowledged = remembered
        .map(|degraded| phrase("evidence.unacknowledged").with("count", degraded.unacknowledged));
    let clients = end
        .clients
        .map(|clients| phrase("evidence.semi_sync_clients").with("count", clients));
    Draft::new(Severity::Warning, phrase("finding.semi_sync_degraded.text"))
        .evidence(since)
        .evidence(unacknowledged)
        .evidence(clients)
        .advice("finding.semi_sync_degraded.advice")
        .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::health::facts::Degraded;

    fn end(active: bool, clients: u64, no_tx: u64) -> SemiSyncSource {
        SemiSyncSource {
            enabled: Some(true),
            active: Some(active),
            clients: Some(clients),
            no_tx: Some(no_tx),
            ..SemiSyncSource::default()
        }
    }

    #[test]
    fn r24_configured_and_off_is_degraded() {
        let mut town = source_and_replica();
        town.source().semi_sync(end(true, 2, 7));
        assert_eq!(raised(&town, &RULE), []);
        town.source().semi_sync(end(false, 0, 8));
        town.source().memory.degraded = Some(Degraded {
            since: secs_ago(9),
            unacknowledged: 31,
        });
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.evidence.len(), 3);
        assert!(
            found
                .evidence
                .contains(&phrase("evidence.unacknowledged").with("count", 31))
        );
    }

    #[test]
    fn on_mariadb_only_the_counter_tells() {
        let mut town = source_and_replica();
        town.source().semi_sync(end(true, 0, 7));
        town.source().previous = town.source().sample.clone();
        town.source().semi_sync(end(true, 0, 9));
        assert_eq!(raised_key(&town, &RULE), "finding.semi_sync_degraded.text");
    }

    #[test]
    fn r23_no_plugin_is_not_degraded() {
        assert_eq!(raised(&source_and_replica(), &RULE), []);
    }

    #[test]
    fn the_source_end_of_a_mere_replica_is_not_judged() {
        let mut town = source_and_replica();
        town.replica().semi_sync(end(false, 0, 0));
        assert_eq!(raised(&town, &RULE), []);
    }
}
