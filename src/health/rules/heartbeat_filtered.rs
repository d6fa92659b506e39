//! A replication filter keeps the heartbeat table from this replica.
//!
//! Sees: "Heartbeat does not arrive: Replicate_Do_DB = shop".
//! Why: the row stays as it was or the table is missing; its age looks like lag and is none (R31).
//! What to do: let the heartbeat's schema through, or judge by another method, as is done here.
//! Decided: the filters of the status row exclude the heartbeat's table.
//! Can't tell: nothing to tell without a heartbeat.

use super::Rule;
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Place, Say, of_channels};
use crate::model::finding::Severity;
use crate::model::lag::{Method, Reading};
use crate::model::phrase::Phrase;

pub const RULE: Rule = Rule {
    code: "heartbeat_filtered",
    ask,
};

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_channels(code, facts, judge)
}

fn judge(place: &Place<'_, '_>) -> Say {
    match place.channel.lag.method(Method::Heartbeat) {
        Some(Reading::NotApplicable { why }) if why.key == "lag.why.heartbeat_filtered" => {
            let text = Phrase {
                key: "finding.heartbeat_filtered.text",
                args: why.args.clone(),
            };
            Draft::new(Severity::Info, text)
                .advice("finding.heartbeat_filtered.advice")
                .say()
        }
        _ => Say::Fine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::phrase::phrase;

    #[test]
    fn r31_the_filter_is_quoted() {
        let mut town = source_and_replica();
        let why = phrase("lag.why.heartbeat_filtered")
            .with("filter", "Replicate_Do_DB")
            .with("text", "shop");
        set_method(
            &mut town.about_channel().lag,
            Method::Heartbeat,
            Reading::not_applicable(why),
        );
        let found = &raised(&town, &RULE)[0];
        assert_eq!(found.text.arg("filter"), Some(&"Replicate_Do_DB".into()));
        assert_eq!(found.text.arg("text"), Some(&"shop".into()));
    }
}
