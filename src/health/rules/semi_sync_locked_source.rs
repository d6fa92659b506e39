//! Commits hang: the source waits for acknowledgements that cannot come.
//!
//! Sees: "Commits wait for 1 acknowledgement, 0 replicas can give it (time-out 11 days)".
//! Why: with a huge time-out semi-sync never gives way; every writer stands still. Seen after a failover when
//! replicas do not acknowledge the new source.
//! What to do: bring a replica back, or lower the time-out so that the source may go on alone.
//! Decided: active, fewer clients than required, and at three polls in a row either sessions wait while it must wait
//! without replicas, or the time-out is an hour or more. A short time-out ends the wait before that (seen on 9.7: 1 s).
//! Can't tell: the counters are not told.

use super::{Rule, semi_sync_degraded, semi_sync_nobody_acknowledging::too_few};
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::replication::SemiSyncSource;
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "semi_sync_locked_source",
    ask,
};

/// A time-out like this is meant as "never go on alone".
const ENDLESS: Span = Span::from_secs(3600);

const POLLS: u32 = 3;

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, sample| {
        semi_sync_degraded::judged(server, sample, judge).after_polls(POLLS)
    })
}

/// The next commit waits practically for ever.
pub fn would_wait_for_ever(end: &SemiSyncSource) -> bool {
    must_wait(end) && end.timeout.is_some_and(|timeout| timeout >= ENDLESS)
}

fn must_wait(end: &SemiSyncSource) -> bool {
    end.active == Some(true) && too_few(end).is_some() && end.wait_no_replica != Some(false)
}

fn is_locked(end: &SemiSyncSource) -> bool {
    would_wait_for_ever(end) || (must_wait(end) && end.wait_sessions > Some(0))
}

fn judge(end: &SemiSyncSource) -> Say {
    let Some((clients, required)) = too_few(end).filter(|_| is_locked(end)) else {
        return match end.clients {
            Some(_) => Say::Fine,
            None => Say::CannotTell(phrase("lamp.semi_sync.untold")),
        };
    };
    let text = phrase("finding.semi_sync_locked_source.text")
        .with("clients", clients)
        .with("required", required)
        .with("timeout", end.timeout.unwrap_or(Span::ZERO));
    let waiting = end
        .wait_sessions
        .map(|count| phrase("evidence.wait_sessions").with("count", count));
    Draft::new(Severity::Critical, text)
        .evidence(waiting)
        .advice("finding.semi_sync_locked_source.advice")
        .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    fn asked(timeout: Span, wait_sessions: u64, clients: u64) -> bool {
        let mut town = source_and_replica();
        town.source().semi_sync(SemiSyncSource {
            enabled: Some(true),
            active: Some(true),
            clients: Some(clients),
            required: Some(1),
            timeout: Some(timeout),
            wait_no_replica: Some(true),
            wait_sessions: Some(wait_sessions),
            ..SemiSyncSource::default()
        });
        !raised(&town, &RULE).is_empty()
    }

    #[test]
    fn a_source_is_locked_when_sessions_wait_for_nobody_or_would_for_ever() {
        assert!(asked(Span::from_secs(10), 3, 0));
        assert!(asked(Span::from_secs(86_400), 0, 0));
        assert!(!asked(Span::from_secs(10), 0, 0), "not yet");
        assert!(
            !asked(Span::from_secs(10), 3, 1),
            "a short wait is ordinary"
        );
    }
}
