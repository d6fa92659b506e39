//! The requests of an acceptance run as programs read them: the files of `accept --records`, and of the window.

use std::io::{self, Write};

use serde::Serialize;

use crate::app::files::csv_field;
use crate::model::acceptance::StepName;
use crate::model::time::Span;
use crate::routing::decision::Go;
use crate::routing::pool::fields::Difference;
use crate::routing::record::{Blame, Recorded};
use crate::routing::wait::Attempt;

/// One request. Unknown is null, never 0.
#[derive(Debug, Serialize)]
pub struct JsonRecord<'a> {
    step: u64,
    /// Over pools without hygiene, or a router that knows no transactions: there to show what happens then.
    careless: bool,
    session: u64,
    kind: &'a str,
    /// Since 1970, by this machine's clock.
    at_unix_ms: f64,
    in_transaction: bool,
    wrote_ago_ms: Option<f64>,
    needs_write: bool,
    awaited: Option<String>,
    attempts: Vec<JsonAttempt>,
    waited_ms: f64,
    /// source, replica, waited_replica, refused
    went_to: &'static str,
    server: &'a str,
    reason: &'static str,
    returned_to_source: bool,
    /// What the connection carried when it was borrowed.
    carried: Vec<JsonDifference<'a>>,
    /// What it was left with, before cleaning; null where that was not looked at.
    left: Option<Vec<JsonDifference<'a>>>,
    freshness: &'static str,
    blame: &'static str,
}

#[derive(Debug, Serialize)]
struct JsonAttempt {
    result: &'static str,
    took_ms: f64,
}

#[derive(Debug, Serialize)]
struct JsonDifference<'a> {
    field: &'static str,
    expected: &'a str,
    found: Option<&'a str>,
}

pub fn json(step: StepName, recorded: &Recorded) -> JsonRecord<'_> {
    let record = &recorded.record;
    let attempt = |attempt: &Attempt| JsonAttempt {
        result: attempt.result.code(),
        took_ms: attempt.took.millis_f64(),
    };
    JsonRecord {
        step: step.number(),
        careless: recorded.is_careless,
        session: record.session.0,
        kind: record.kind.code(),
        at_unix_ms: record.at.unix_micros() as f64 / 1e3,
        in_transaction: record.in_transaction,
        wrote_ago_ms: record.wrote_ago.map(Span::millis_f64),
        needs_write: record.needs_write,
        awaited: record.awaited.as_ref().map(ToString::to_string),
        attempts: record.attempts.iter().map(attempt).collect(),
        waited_ms: record.waited().millis_f64(),
        went_to: went_to(&record.decision.go),
        server: &recorded.server,
        reason: record.decision.reason.code(),
        returned_to_source: record.returned_to_source(),
        carried: differences(&record.carried),
        left: record.left.as_deref().map(differences),
        freshness: recorded.freshness.code(),
        blame: recorded.blame().code(),
    }
}

fn differences(all: &[Difference]) -> Vec<JsonDifference<'_>> {
    all.iter()
        .map(|difference| JsonDifference {
            field: difference.field.code(),
            expected: &difference.expected,
            found: difference.found.as_deref(),
        })
        .collect()
}

fn went_to(go: &Go) -> &'static str {
    match go {
        Go::Source => "source",
        Go::Replica(_) => "replica",
        Go::WaitedReplica(_) | Go::WaitOn(..) => "waited_replica",
        Go::Refuse => "refused",
    }
}

/// How many requests each is to blame for, the careless ones apart: those are meant to fail.
pub fn blames(records: &[(StepName, Recorded)]) -> Vec<(Blame, u64, u64)> {
    let count = |blame: Blame, careless: bool| {
        let of_it = records
            .iter()
            .filter(|(_, recorded)| recorded.is_careless == careless && recorded.blame() == blame);
        of_it.count() as u64
    };
    Blame::ALL
        .map(|blame| (blame, count(blame, false), count(blame, true)))
        .into_iter()
        .filter(|(_, careful, careless)| careful + careless > 0)
        .collect()
}

pub fn write_json(out: &mut impl Write, records: &[(StepName, Recorded)]) -> io::Result<()> {
    for (step, recorded) in records {
        serde_json::to_writer(&mut *out, &json(*step, recorded))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

const COLUMNS: &str = "step,careless,session,kind,at_unix_ms,in_transaction,wrote_ago_ms,needs_write,awaited,attempts,\
waited_ms,went_to,server,reason,returned_to_source,carried,left,freshness,blame";

pub fn write_csv(out: &mut impl Write, records: &[(StepName, Recorded)]) -> io::Result<()> {
    writeln!(out, "{COLUMNS}")?;
    for (step, recorded) in records {
        writeln!(out, "{}", csv_line(&json(*step, recorded)))?;
    }
    Ok(())
}

fn csv_line(line: &JsonRecord<'_>) -> String {
    let millis = |value: Option<f64>| value.map_or_else(String::new, |ms| format!("{ms:.3}"));
    let attempts: Vec<String> = line
        .attempts
        .iter()
        .map(|attempt| format!("{} {:.3} ms", attempt.result, attempt.took_ms))
        .collect();
    let listed = |all: &[JsonDifference<'_>]| {
        let one = |d: &JsonDifference<'_>| {
            let found = d.found.unwrap_or("?");
            format!("{} {found} (not {})", d.field, d.expected)
        };
        all.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    [
        line.step.to_string(),
        line.careless.to_string(),
        line.session.to_string(),
        csv_field(line.kind),
        format!("{:.3}", line.at_unix_ms),
        line.in_transaction.to_string(),
        millis(line.wrote_ago_ms),
        line.needs_write.to_string(),
        csv_field(line.awaited.as_deref().unwrap_or_default()),
        csv_field(&attempts.join("; ")),
        millis(Some(line.waited_ms)),
        line.went_to.to_owned(),
        csv_field(line.server),
        line.reason.to_owned(),
        line.returned_to_source.to_string(),
        csv_field(&listed(&line.carried)),
        csv_field(&line.left.as_deref().map_or_else(String::new, listed)),
        line.freshness.to_owned(),
        line.blame.to_owned(),
    ]
    .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::server::WatchId;
    use crate::model::time::Moment;
    use crate::routing::decision::{Decision, Reason};
    use crate::routing::pool::fields::Field;
    use crate::routing::record::{Freshness, Record};
    use crate::routing::request::{Awaited, Need, QueryKind, Request, SessionKey};
    use crate::routing::wait::WaitResult;

    fn timed_out() -> Recorded {
        let request = Request {
            session: SessionKey(12),
            kind: QueryKind::List,
            at: Moment::from_unix_micros(1_000_000_000_000_000),
            in_transaction: false,
            need: Need::Write(Awaited::default()),
            reads_to: None,
        };
        let attempt = Attempt {
            on: WatchId(1),
            result: WaitResult::TimedOut,
            took: Span::from_millis(1_000),
        };
        let reason = Reason::WaitEnded(WaitResult::TimedOut);
        let mut record = Record::new(&request, vec![attempt], Decision::source(reason));
        record.carried.push(Difference {
            field: Field::RouteLabel,
            expected: String::new(),
            found: Some("a,b".into()),
        });
        Recorded {
            record,
            freshness: Freshness::Fresh,
            server: "db1".into(),
            is_careless: false,
        }
    }

    #[test]
    fn every_field_has_its_place_and_unknown_is_null() {
        let recorded = timed_out();
        let json = serde_json::to_value(json(StepName::TimeoutToSource, &recorded)).expect("JSON");
        assert_eq!(json["attempts"][0]["result"], "wait_timed_out");
        assert_eq!(json["returned_to_source"], true);
        assert_eq!(json["awaited"], serde_json::Value::Null);
        assert_eq!(json["left"], serde_json::Value::Null);
        assert_eq!(json["blame"], "pool_reuse");
        let columns = COLUMNS.split(',').count();
        assert_eq!(json.as_object().map(serde_json::Map::len), Some(columns));
    }

    #[test]
    fn a_line_has_as_many_fields_as_the_heading() {
        let recorded = timed_out();
        let line = csv_line(&json(StepName::TimeoutToSource, &recorded));
        assert!(line.contains("\"route_label a,b (not )\""), "{line}");
        let fields = line.split(',').count() - 1;
        assert_eq!(fields, COLUMNS.split(',').count(), "{line}");
    }

    #[test]
    fn what_is_meant_to_fail_is_counted_apart() {
        let careful = (StepName::TimeoutToSource, timed_out());
        let mut careless = careful.clone();
        careless.1.is_careless = true;
        let all = [careful.clone(), careful, careless];
        assert_eq!(blames(&all), [(Blame::PoolReuse, 2, 1)]);
    }
}
