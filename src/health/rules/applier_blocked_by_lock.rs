//! The applier waits for somebody's lock.
//!
//! Sees: "Applier is blocked by session 42 of report".
//! Why: a session on the replica stops replication: `FLUSH TABLES WITH READ LOCK` of a backup, an open transaction
//! before a DDL.
//! What to do: let the session finish or end it.
//! Decided: the lag's cause names a lock; it rests on the threads' states and the lock waits. What one worker has and
//! another waits for does not count.
//! Can't tell: without PROCESS and performance_schema only the applier's own state is seen, and nobody is named.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::lag::CauseKind;
use crate::model::phrase::{Arg, Phrase};
use crate::model::sample::Sample;

pub const RULE: Rule = Rule {
    code: "applier_blocked_by_lock",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let cause = place.channel.lag.cause.as_ref();
    let Some(cause) = cause.filter(|cause| cause.kind == CauseKind::BlockedByLock) else {
        return Say::Fine;
    };
    let session = match cause.text.arg("thread") {
        Some(Arg::Number(thread)) => Some(*thread),
        _ => None,
    };
    let text = Phrase {
        key: match session {
            Some(_) => "finding.applier_blocked_by_lock.by_session",
            None => "finding.applier_blocked_by_lock.text",
        },
        args: cause.text.args.clone(),
    };
    let draft = Draft::new(Severity::Warning, text)
        .evidence(cause.evidence.clone())
        .advice("finding.applier_blocked_by_lock.advice");
    match session {
        Some(thread) => draft.sql(sql(place.sample, thread)).say(),
        None => draft.say(),
    }
}

/// Shows the session. MySQL warns of the old table from 8.0.35 on.
fn sql(sample: &Sample, thread: u64) -> String {
    let schema = match sample.product.is_mysql_from(8, 0, 22) {
        true => "performance_schema",
        false => "information_schema",
    };
    format!("SELECT * FROM {schema}.processlist WHERE id = {thread};")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::lag::Cause;
    use crate::model::phrase::phrase;

    #[test]
    fn the_session_that_blocks_is_named_and_can_be_looked_at() {
        let mut town = source_and_replica();
        town.about_channel().lag.cause = Some(Cause {
            kind: CauseKind::BlockedByLock,
            text: phrase("cause.blocked_by_session")
                .with("thread", Arg::Number(42))
                .with("user", "report"),
            evidence: vec![],
        });
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.key, "finding.applier_blocked_by_lock.by_session");
        assert_eq!(
            found.sql.as_deref(),
            Some("SELECT * FROM performance_schema.processlist WHERE id = 42;")
        );
    }
}
