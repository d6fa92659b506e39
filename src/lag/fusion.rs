//! The headline: the best method that has something to say now.
//!
//! Order of trust: GTID marks, applier timestamps, heartbeat lateness, the platform's table, `Seconds_Behind_Source`.

use crate::model::dialect::{Dialect, SECONDS_BEHIND};
use crate::model::lag::{Backlog, Method, Reading};
use crate::model::phrase::phrase;
use crate::model::time::Span;

pub fn headline(methods: &[(Method, Reading)], backlog: &Backlog, dialect: Dialect) -> Reading {
    let best = methods
        .iter()
        .find(|(_, reading)| reading.measured().is_some());
    match best {
        Some((Method::SecondsBehind, reading)) if zero_while_waiting(reading, backlog) => {
            let waiting = backlog.received.or(backlog.transactions).unwrap_or(0);
            let why = phrase("lag.why.zero_while_waiting")
                .with("column", dialect.name(SECONDS_BEHIND))
                .with("count", waiting);
            Reading::unknown(why)
        }
        Some((method, reading)) if compares_clocks(*method) => {
            stamp_in_future(methods).unwrap_or(reading).clone()
        }
        Some((_, reading)) => reading.clone(),
        None => why_nothing(methods),
    }
}

/// Rests on stamps of two servers; a stamp from the future shows that these do not agree (R06).
fn compares_clocks(method: Method) -> bool {
    !matches!(method, Method::GtidMarks | Method::Platform)
}

fn stamp_in_future(methods: &[(Method, Reading)]) -> Option<&Reading> {
    let heartbeat = methods.iter().find(|(m, _)| *m == Method::Heartbeat);
    heartbeat.map(|(_, reading)| reading).filter(
        |reading| matches!(reading, Reading::Unknown { why } if why.key == "lag.why.stamp_in_future"),
    )
}

/// With several workers `Seconds_Behind_Source` drops to 0 between groups: no proof of being caught up (R46).
fn zero_while_waiting(reading: &Reading, backlog: &Backlog) -> bool {
    reading.value() == Some(Span::ZERO)
        && (backlog.received > Some(0) || backlog.transactions > Some(0))
}

/// The reason of the method a person would ask first: the threads speak through `Seconds_Behind_Source`.
fn why_nothing(methods: &[(Method, Reading)]) -> Reading {
    let unknown = |method: Method| {
        methods
            .iter()
            .find(|(m, reading)| *m == method && matches!(reading, Reading::Unknown { .. }))
            .map(|(_, r)| r)
    };
    unknown(Method::SecondsBehind)
        .or_else(|| unknown(Method::Platform))
        .or_else(|| unknown(Method::GtidMarks))
        .cloned()
        .unwrap_or_else(|| Reading::unknown(phrase("lag.why.no_method")))
}
