//! Semi-sync is in force by name, with too few replicas to acknowledge.
//!
//! Sees: "0 of 1 replicas acknowledge: commits will wait up to 10 s, then go on without".
//! Why: status ON alone looks safe; the first commit pays the whole time-out (R24).
//! What to do: see why the replicas are gone; one that was set to acknowledge while its receiver ran needs its receiver
//! restarted.
//! Decided: enabled, active, fewer registered clients than each commit needs. That commits really hang is another rule's.
//! Can't tell: the counters are not told.

use super::{Rule, semi_sync_degraded};
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::replication::SemiSyncSource;
use crate::model::time::Span;

pub const RULE: Rule = Rule {
    code: "semi_sync_nobody_acknowledging",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, sample| {
        semi_sync_degraded::judged(server, sample, judge)
    })
}

/// Fewer clients than each commit needs: `(clients, required)`.
pub fn too_few(end: &SemiSyncSource) -> Option<(u64, u64)> {
    let required = end.required.unwrap_or(1).max(1);
    let clients = end.clients?;
    (clients < required).then_some((clients, required))
}

fn judge(end: &SemiSyncSource) -> Say {
    if end.active != Some(true) {
        return Say::Fine;
    }
    let Some((clients, required)) = too_few(end) else {
        return match end.clients {
            Some(_) => Say::Fine,
            None => Say::CannotTell(phrase("lamp.semi_sync.untold")),
        };
    };
    let text = match end.wait_no_replica {
        Some(false) => phrase("finding.semi_sync_nobody_acknowledging.no_wait"),
        _ => phrase("finding.semi_sync_nobody_acknowledging.text")
            .with("timeout", end.timeout.unwrap_or(Span::ZERO)),
    };
    Draft::new(
        Severity::Warning,
        text.with("clients", clients).with("required", required),
    )
    .advice("finding.semi_sync_nobody_acknowledging.advice")
    .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn r24_on_with_nobody_listening_is_a_warning() {
        let mut town = source_and_replica();
        let end = SemiSyncSource {
            enabled: Some(true),
            active: Some(true),
            clients: Some(0),
            required: Some(1),
            timeout: Some(Span::from_secs(10)),
            wait_no_replica: Some(true),
            ..SemiSyncSource::default()
        };
        town.source().semi_sync(end.clone());
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(found.text.arg("timeout"), Some(&Span::from_secs(10).into()));
        town.source().semi_sync(SemiSyncSource {
            clients: Some(1),
            ..end
        });
        assert_eq!(raised(&town, &RULE), []);
    }
}
