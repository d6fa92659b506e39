//! The applier is busy with one big transaction.
//!
//! Sees: "Applier has worked 6 s on one transaction of 524,288 rows".
//! Why: everything behind it waits; 10 s on the source are about as many here. On the source it is long over, so
//! that nothing is seen there any more (T-11).
//! What to do: wait; split such statements in future: LIMIT, batches.
//! Decided: the lag's cause, from the workers' rows and the applier's open transaction.
//! Can't tell: MariaDB and 5.7 tell less; without PROCESS the rows are not known.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::lag::CauseKind;
use crate::model::phrase::Phrase;

pub const RULE: Rule = Rule {
    code: "big_transaction",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    let cause = place.channel.lag.cause.as_ref();
    let Some(cause) = cause.filter(|cause| cause.kind == CauseKind::BigTransaction) else {
        return Say::Fine;
    };
    let text = Phrase {
        key: match cause.text.arg("rows") {
            Some(_) => "finding.big_transaction.rows",
            None => "finding.big_transaction.text",
        },
        args: cause.text.args.clone(),
    };
    Draft::new(Severity::Warning, text)
        .evidence(cause.evidence.clone())
        .advice("finding.big_transaction.advice")
        .say()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::lag::Cause;
    use crate::model::phrase::phrase;
    use crate::model::time::Span;

    #[test]
    fn the_age_and_the_rows_are_told() {
        let mut town = source_and_replica();
        let cause = phrase("cause.big_transaction_rows")
            .with("age", Span::from_secs(6))
            .with("rows", 524_288);
        town.about_channel().lag.cause = Some(Cause {
            kind: CauseKind::BigTransaction,
            text: cause,
            evidence: vec![],
        });
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.key, "finding.big_transaction.rows");
        assert_eq!(found.text.arg("rows"), Some(&524_288.into()));
    }
}
