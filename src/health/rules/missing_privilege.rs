//! Our account may not see everything on a server.
//!
//! Sees: "Account may not see 2 things here", each by name, and the GRANT to copy.
//! Why: what is not seen is not judged: those panels and rules stay grey, the others go on (R34, R35).
//! What to do: run the GRANT, which is the one of this server's flavour; or live with the grey.
//! Decided: answers that were refused for want of a privilege; one finding per server.
//! Can't tell: nothing beyond the stale rules.

use std::collections::BTreeSet;

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::{Arg, phrase};
use crate::model::sample::Sample;
use crate::model::trouble::{Trouble, TroubleKind};

pub const RULE: Rule = Rule {
    code: "missing_privilege",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |_, sample| judge(sample))
}

fn judge(sample: &Sample) -> Say {
    let refused: Vec<&Trouble> = refusals(sample)
        .into_iter()
        .flatten()
        .filter(|trouble| trouble.kind == TroubleKind::MissingPrivilege)
        .collect();
    if refused.is_empty() {
        return Say::Fine;
    }
    let text = phrase("finding.missing_privilege.text").with("count", refused.len() as u64);
    let draft = Draft::new(Severity::Warning, text)
        .evidence(refused.iter().map(|trouble| trouble.what.clone()))
        .advice("finding.missing_privilege.advice");
    match grants(&refused) {
        sql if sql.is_empty() => draft.say(),
        sql => draft.sql(sql).say(),
    }
}

/// Every question's refusal, where it was refused.
fn refusals(sample: &Sample) -> [Option<&Trouble>; 14] {
    [
        sample.channels.refused(),
        sample.appliers.refused(),
        sample.binlog.refused(),
        sample.status.refused(),
        sample.settings.refused(),
        sample.semi_sync.refused(),
        sample.heartbeat.refused(),
        sample.transactions.refused(),
        sample.lock_waits.refused(),
        sample.statements.refused(),
        sample.found_replicas.refused(),
        sample.events.refused(),
        sample.binary_logs.refused(),
        sample.platform_lag.refused(),
    ]
}

/// The statements that would help, each once.
fn grants(refused: &[&Trouble]) -> String {
    let grants: BTreeSet<&str> = refused
        .iter()
        .filter_map(|trouble| match trouble.hint.as_ref()?.arg("sql")? {
            Arg::Text(grant) => Some(grant.as_str()),
            _ => None,
        })
        .collect();
    grants.into_iter().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::sample::Answer;

    fn refused<T>(grant: &str) -> Answer<T> {
        let mut trouble = trouble(TroubleKind::MissingPrivilege, 1227, "Access denied");
        trouble.hint = Some(phrase("trouble.hint.grant").with("sql", grant));
        Answer::Refused(trouble)
    }

    #[test]
    fn r34_r35_one_finding_lists_what_is_refused_with_each_grant_once() {
        let mut town = source_and_replica();
        let sample = town.replica().sample();
        sample.transactions = refused("GRANT PROCESS ON *.* TO 'm'@'%';");
        sample.lock_waits = refused("GRANT PROCESS ON *.* TO 'm'@'%';");
        sample.channels = refused("GRANT REPLICA MONITOR ON *.* TO 'm'@'%';");
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.evidence.len(), 3);
        assert_eq!(
            found.sql.as_deref(),
            Some("GRANT PROCESS ON *.* TO 'm'@'%';\nGRANT REPLICA MONITOR ON *.* TO 'm'@'%';")
        );
    }

    #[test]
    fn a_table_that_is_not_there_is_no_privilege() {
        let mut town = source_and_replica();
        town.replica().sample().heartbeat =
            Answer::Refused(trouble(TroubleKind::Unsupported, 1146, "no table"));
        assert_eq!(raised(&town, &RULE), []);
    }
}
