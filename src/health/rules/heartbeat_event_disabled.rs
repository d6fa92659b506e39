//! The event that writes the heartbeat does not run on the source.
//!
//! Sees: "Heartbeat event ev_heartbeat is disabled on the new source", or "event scheduler is off".
//! Why: an event created on a source arrives on its replicas as disabled and stays so after a promotion; `SET GLOBAL
//! event_scheduler` is lost with a restart (R32, T-4).
//! What to do: enable the event on the server that is the source now.
//! Decided: on a server that takes writes, an event is disabled or the scheduler is off, unless beats are seen to arrive:
//! then something else writes them, and that is fine.
//! Can't tell: the events could not be listed.

use super::{Rule, heartbeat_writer_down::silent_for};
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::{Role, Severity};
use crate::model::phrase::phrase;
use crate::model::sample::{Answer, Sample, ScheduledEvent};

pub const RULE: Rule = Rule {
    code: "heartbeat_event_disabled",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, sample| judge(facts, server, sample))
}

fn judge(facts: &Facts<'_>, server: &ServerFacts<'_>, sample: &Sample) -> Say {
    if server.is_replica() || !server.takes_writes() {
        return Say::Nothing;
    }
    let events = match &sample.events {
        Answer::Known { value, .. } => value,
        Answer::Refused(trouble) => return Say::CannotTell(trouble.what.clone()),
        Answer::NotAsked { .. } => return Say::Nothing,
    };
    let Some(event) = events.first() else {
        return Say::Nothing;
    };
    if beats_arrive(facts, server) || events.iter().any(|event| runs(event, sample)) {
        return Say::Fine;
    }
    let promoted = matches!(
        server.memory.role_changed,
        Some((Role::Replica | Role::Intermediate, _))
    );
    let name = format!("{}.{}", event.schema, event.name);
    let text = match (is_enabled(event), promoted) {
        (true, _) => phrase("finding.heartbeat_event_disabled.scheduler_off"),
        (false, true) => phrase("finding.heartbeat_event_disabled.new_source"),
        (false, false) => phrase("finding.heartbeat_event_disabled.text"),
    };
    Draft::new(Severity::Warning, text.with("event", name.as_str()))
        .evidence([phrase("evidence.event_status").with("status", event.status.as_str())])
        .advice("finding.heartbeat_event_disabled.advice")
        .sql(sql(event))
        .say()
}

fn sql(event: &ScheduledEvent) -> String {
    match is_enabled(event) {
        true => "SET GLOBAL event_scheduler = ON;".to_owned(),
        false => format!(
            "ALTER EVENT `{}`.`{}` ENABLE;\nSET GLOBAL event_scheduler = ON;",
            event.schema.replace('`', "``"),
            event.name.replace('`', "``")
        ),
    }
}

fn is_enabled(event: &ScheduledEvent) -> bool {
    event.status.eq_ignore_ascii_case("ENABLED")
}

fn runs(event: &ScheduledEvent, sample: &Sample) -> bool {
    let scheduler = sample.setting(&["event_scheduler"]);
    is_enabled(event) && scheduler.is_none_or(|state| state.eq_ignore_ascii_case("ON"))
}

/// A watched replica's row of this source has an age, and the writer is not silent.
fn beats_arrive(facts: &Facts<'_>, server: &ServerFacts<'_>) -> bool {
    let seen = facts
        .servers
        .iter()
        .flat_map(|server| &server.channels)
        .filter(|channel| channel.source == Some(server.watch))
        .any(|channel| !channel.heartbeat_ages.is_empty());
    seen && silent_for(facts, server.watch).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::time::Span;
    use std::sync::Arc;

    fn town(status: &str) -> Town {
        let mut town = source_and_replica();
        let event = ScheduledEvent {
            schema: "monitor".into(),
            name: "ev_heartbeat".into(),
            status: status.into(),
            originator: Some(2),
            body: "UPDATE repl_heartbeat SET ts=NOW(3) WHERE id=1".into(),
        };
        town.source().sample().events = known(Arc::new(vec![event]));
        town
    }

    #[test]
    fn r32_the_event_stays_disabled_on_the_new_source() {
        let mut town = town("REPLICA_SIDE_DISABLED");
        town.source().memory.role_changed = Some((Role::Replica, secs_ago(30)));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(
            found.text.key,
            "finding.heartbeat_event_disabled.new_source"
        );
        assert!(
            found
                .sql
                .as_deref()
                .unwrap_or_default()
                .starts_with("ALTER EVENT `monitor`.`ev_heartbeat` ENABLE")
        );
    }

    #[test]
    fn r32_a_scheduler_that_is_off_runs_no_event() {
        let mut town = town("ENABLED");
        assert_eq!(raised(&town, &RULE), []);
        town.source().setting("event_scheduler", "OFF");
        assert_eq!(
            raised_key(&town, &RULE),
            "finding.heartbeat_event_disabled.scheduler_off"
        );
    }

    #[test]
    fn when_beats_arrive_somebody_else_writes_them() {
        let mut town = town("DISABLED");
        town.about_channel().heartbeat_ages = vec![(NOW, Span::from_millis(300))];
        assert_eq!(raised(&town, &RULE), []);
        town.about_channel().writer_silent_for = Some(Span::from_secs(9));
        assert_eq!(raised(&town, &RULE).len(), 1);
    }
}
