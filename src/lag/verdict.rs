//! One sentence: which method to believe, and why the others say something else.

use crate::model::dialect::{Dialect, SECONDS_BEHIND};
use crate::model::lag::{Cause, CauseKind, Measurement, Method, Reading};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;

pub fn of(
    headline: &Reading,
    methods: &[(Method, Reading)],
    cause: Option<&Cause>,
    dialect: Dialect,
) -> Phrase {
    let Reading::Measured(best) = headline else {
        return headline
            .why()
            .cloned()
            .unwrap_or_else(|| phrase("lag.why.no_method"));
    };
    let disagreeing = methods
        .iter()
        .filter_map(|(_, reading)| reading.measured())
        .filter(|other| other.method != best.method && contradicts(best, other))
        .max_by_key(|other| (other.value - best.value).abs());
    match disagreeing {
        None => agreement(best, methods, dialect),
        Some(other) => phrase("lag.verdict.disagree")
            .with("other", method_name(other.method, dialect))
            .with("other_value", other.value)
            .with("method", method_name(best.method, dialect))
            .with("value", best.value)
            .with("reason", reason(best, other, cause)),
    }
}

fn agreement(best: &Measurement, methods: &[(Method, Reading)], dialect: Dialect) -> Phrase {
    let others = methods
        .iter()
        .filter(|(m, r)| *m != best.method && r.measured().is_some())
        .count();
    let key = if others == 0 {
        "lag.verdict.alone"
    } else {
        "lag.verdict.agree"
    };
    phrase(key).with("method", method_name(best.method, dialect))
}

/// Beyond both bounds. `Seconds_Behind_Source` is whole seconds of a server's arithmetic: 1.5 s are its noise.
pub fn contradicts(best: &Measurement, other: &Measurement) -> bool {
    let noise = match other.method {
        Method::SecondsBehind => Span::from_millis(1_500),
        // Its stamp is as old as the poll.
        Method::Applier => Span::from_millis(1_000),
        _ => Span::from_millis(200),
    };
    (best.value - other.value).abs()
        > noise + best.bound.unwrap_or(Span::ZERO) + other.bound.unwrap_or(Span::ZERO)
}

fn reason(best: &Measurement, other: &Measurement, cause: Option<&Cause>) -> Phrase {
    if let Some(cause) = cause {
        if cause.kind == CauseKind::BigTransaction
            && other.method == Method::SecondsBehind
            && other.value > best.value
        {
            return phrase("lag.reason.counts_from_statement_start")
                .with("cause", cause.text.clone());
        }
        return cause.text.clone();
    }
    match other.method {
        Method::SecondsBehind if other.value < best.value => phrase("lag.reason.seconds_too_small"),
        Method::SecondsBehind => phrase("lag.reason.seconds_too_large"),
        Method::Heartbeat => phrase("lag.reason.heartbeat"),
        Method::Applier => phrase("lag.reason.applier"),
        Method::GtidMarks | Method::Platform => phrase("lag.reason.other"),
    }
}

/// The method's name as a sentence part, on this server.
pub fn method_name(method: Method, dialect: Dialect) -> Phrase {
    match method {
        Method::GtidMarks => phrase("lag.method.gtid_marks"),
        Method::Applier => phrase("lag.method.applier"),
        Method::Heartbeat => phrase("lag.method.heartbeat"),
        Method::Platform => phrase("lag.method.platform"),
        Method::SecondsBehind => {
            phrase("lag.method.seconds_behind").with("column", dialect.name(SECONDS_BEHIND))
        }
    }
}
