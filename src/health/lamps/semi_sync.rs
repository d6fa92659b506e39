//! The semi-sync lamp.

use super::lit;
use crate::health::facts::ServerFacts;
use crate::health::rules::{
    semi_sync_degraded, semi_sync_locked_source, semi_sync_nobody_acknowledging,
};
use crate::model::finding::{Lamp, Lit};
use crate::model::phrase::phrase;
use crate::model::replication::SemiSyncSource;
use crate::model::sample::Answer;

/// Of the source's end where it is switched on, else of the replica's.
pub fn lamp(server: &ServerFacts<'_>) -> Lit {
    let Some(sample) = server.current() else {
        let why = server.why_not_current();
        let why = why.unwrap_or_else(|| phrase("lamp.not_polled"));
        return lit(Lamp::Unknown, why);
    };
    let ends = match &sample.semi_sync {
        Answer::Known { value, .. } => value,
        Answer::Refused(trouble) => return lit(Lamp::Unknown, trouble.what.clone()),
        Answer::NotAsked { why } => return lit(Lamp::NotApplicable, why.clone()),
    };
    if let Some(end) = semi_sync_degraded::source_end(server, sample) {
        return source_end(server, end);
    }
    match &ends.replica {
        Some(end) if end.enabled == Some(true) && server.is_replica() => match end.active {
            Some(true) => lit(Lamp::Ok, phrase("lamp.semi_sync.acknowledges")),
            Some(false) => lit(Lamp::Warning, phrase("lamp.semi_sync.does_not_acknowledge")),
            None => lit(Lamp::Unknown, phrase("lamp.semi_sync.untold")),
        },
        Some(_) => lit(Lamp::NotApplicable, phrase("lamp.semi_sync.off")),
        None if ends.source.is_some() => lit(Lamp::NotApplicable, phrase("lamp.semi_sync.off")),
        None => lit(Lamp::NotApplicable, phrase("lamp.semi_sync.not_installed")),
    }
}

/// Three facts: configured, in force, acknowledging (R24).
fn source_end(server: &ServerFacts<'_>, end: &SemiSyncSource) -> Lit {
    let too_few = semi_sync_nobody_acknowledging::too_few(end);
    if semi_sync_locked_source::would_wait_for_ever(end) {
        return lit(Lamp::Critical, phrase("lamp.semi_sync.locked"));
    }
    if semi_sync_degraded::has_given_way(server, end) {
        return lit(Lamp::Warning, phrase("lamp.semi_sync.degraded"));
    }
    match (end.active, too_few, end.clients) {
        (Some(true), Some((clients, required)), _) => lit(
            Lamp::Warning,
            phrase("lamp.semi_sync.too_few")
                .with("clients", clients)
                .with("required", required),
        ),
        (Some(true), None, Some(clients)) => lit(
            Lamp::Ok,
            phrase("lamp.semi_sync.in_force").with("count", clients),
        ),
        _ => lit(Lamp::Unknown, phrase("lamp.semi_sync.untold")),
    }
}
