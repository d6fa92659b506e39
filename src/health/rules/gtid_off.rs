//! GTID is not on.
//!
//! Sees: "GTID is off (gtid_mode = OFF)".
//! Why: a read cannot wait for its own write, errant transactions cannot be found, failover needs file and position
//! . Lag falls back to file and position here.
//! What to do: turn it on step by step (OFF_PERMISSIVE, ON_PERMISSIVE, ON) on all servers.
//! Decided: `gtid_mode` and `enforce_gtid_consistency`, both must be ON. MariaDB has GTIDs always.
//! Can't tell: the settings were refused.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::sample::{Answer, Sample};

pub const RULE: Rule = Rule {
    code: "gtid_off",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, judge)
}

fn judge(server: &ServerFacts<'_>, sample: &Sample) -> Say {
    let replicates = server.is_replica() || !server.replicas.is_empty();
    if sample.product.is_mariadb() || !replicates {
        return Say::Nothing;
    }
    if let Answer::Refused(trouble) = &sample.settings {
        return Say::CannotTell(trouble.what.clone());
    }
    for setting in ["gtid_mode", "enforce_gtid_consistency"] {
        let Some(value) = sample.setting(&[setting]) else {
            return Say::CannotTell(phrase("lamp.settings_unknown"));
        };
        if !value.eq_ignore_ascii_case("ON") {
            return Draft::new(
                Severity::Info,
                phrase("finding.gtid_off.text")
                    .with("setting", setting)
                    .with("value", value),
            )
            .advice("finding.gtid_off.advice")
            .say();
        }
    }
    Say::Fine
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;

    #[test]
    fn both_settings_must_be_on() {
        for (setting, value, found) in [
            ("gtid_mode", "ON", 0),
            ("gtid_mode", "ON_PERMISSIVE", 1),
            ("enforce_gtid_consistency", "WARN", 1),
        ] {
            let mut town = source_and_replica();
            town.replica().setting(setting, value);
            assert_eq!(raised(&town, &RULE).len(), found, "{setting} {value}");
        }
    }

    #[test]
    fn r18_mariadb_is_not_asked_for_mysqls_settings() {
        let mut town = source_and_replica();
        for server in &mut town.servers {
            server.sample().product = mariadb();
            server.setting("gtid_mode", "OFF");
        }
        assert_eq!(RULE.judge(&town.facts()), []);
    }
}
