//! The applier stopped at an error.
//!
//! Sees: "Applier stopped by error 1062", with the worker's text: table and key.
//! Why: the replica stays where it is until a person decides what is right; often the data has diverged already.
//! What to do: compare the rows named on both servers; correct the cause, do not just skip.
//! Decided: an error is reported and the thread does not run. With several workers the status row only says
//! "Coordinator stopped …"; the real text is in the worker's row (MySQL 5.7 and later; MariaDB tells it itself).
//! Can't tell: covered by `applier_stopped`.

use super::{Rule, quoted};
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::phrase::{Arg, phrase};

pub const RULE: Rule = Rule {
    code: "applier_broken",
    ask,
};

const WORKERS_SQL: &str = "SELECT WORKER_ID, LAST_ERROR_NUMBER, LAST_ERROR_MESSAGE, LAST_ERROR_TIMESTAMP\n  \
    FROM performance_schema.replication_applier_status_by_worker\n WHERE LAST_ERROR_NUMBER <> 0;";

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let channel = place.channel.channel;
    let error = place.sample.applier_error(channel);
    let Some(error) = error.filter(|_| !channel.applier.is_running()) else {
        return Say::Fine;
    };
    let text =
        phrase("finding.applier_broken.text").with("number", Arg::Number(error.number.into()));
    let draft = Draft::new(Severity::Critical, text)
        .evidence([quoted(&error.text)])
        .advice("finding.applier_broken.advice");
    match place.sample.product.is_mysql_from(5, 7, 0) {
        true => draft.sql(WORKERS_SQL).say(),
        false => draft.say(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::replication::{ApplierPart, ApplierThread, ThreadState};

    #[test]
    fn r12_the_error_number_and_text_are_shown() {
        let mut town = source_and_replica();
        town.channel().applier = ThreadState::Stopped;
        town.channel().applier_error = Some(error(1146, "Table 'db.t' doesn't exist"));
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("number"), Some(&Arg::Number(1146)));
        assert_eq!(found.evidence, [quoted("Table 'db.t' doesn't exist")]);
    }

    #[test]
    fn the_workers_text_is_quoted_not_the_coordinators() {
        let mut town = source_and_replica();
        town.channel().applier = ThreadState::Stopped;
        town.channel().applier_error = Some(error(1062, "Coordinator stopped because …"));
        let worker = ApplierThread {
            channel: String::new(),
            part: ApplierPart::Worker(1),
            thread: None,
            running: false,
            applying: None,
            last_applied: None,
            error: Some(error(1062, "Duplicate entry '7' for key 'orders.PRIMARY'")),
        };
        town.replica().sample().appliers = known(vec![worker]);
        let found = &raised(&town, &RULE)[0];
        assert_eq!(
            found.evidence,
            [quoted("Duplicate entry '7' for key 'orders.PRIMARY'")]
        );
    }

    #[test]
    fn an_old_error_of_a_running_applier_is_history() {
        let mut town = source_and_replica();
        town.channel().applier_error = Some(error(1062, "Duplicate entry"));
        assert_eq!(raised(&town, &RULE), []);
    }
}
