//! A server is running out of connections.
//!
//! Sees: "140 of 151 connections in use".
//! Why: at the limit error 1040 shuts out everybody, the monitor and the heartbeat's writer included (C-13, R05).
//! What to do: bound the pools (instances × pool size); raise max_connections only with memory to spare.
//! Decided: Threads_connected against max_connections, from 85 %.
//! Can't tell: status or settings were refused.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::sample::Sample;

pub const RULE: Rule = Rule {
    code: "connections_nearly_used",
    ask,
};

const PERCENT: u64 = 85;

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |_, sample| judge(sample))
}

fn judge(sample: &Sample) -> Say {
    let used = sample
        .status
        .value()
        .and_then(|status| status.number(&["threads_connected"]));
    let most = sample
        .settings
        .value()
        .and_then(|settings| settings.number(&["max_connections"]));
    let (Some(used), Some(most)) = (used, most) else {
        return Say::CannotTell(phrase("lamp.settings_unknown"));
    };
    if used.saturating_mul(100) < most.saturating_mul(PERCENT) {
        return Say::Fine;
    }
    Draft::new(
        Severity::Warning,
        phrase("finding.connections_nearly_used.text")
            .with("used", used)
            .with("most", most),
    )
    .advice("finding.connections_nearly_used.advice")
    .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn a_server_at_85_percent_of_its_connections_is_reported() {
        for (used, found) in [("128", 0), ("129", 1)] {
            let mut town = source_and_replica();
            let mut status = crate::model::sample::Named::default();
            status.0.insert("threads_connected".into(), used.into());
            town.source().sample().status = known(status);
            assert_eq!(raised(&town, &RULE).len(), found, "{used} of 151");
        }
    }
}
