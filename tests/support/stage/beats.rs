//! Rows of heartbeat tables.

use replicascope::lab::wire::Rows;
use replicascope::model::time::Span;

use super::super::scripted::Reply;
use super::super::scripted::text::{Pattern, contains};

/// A heartbeat stamp as text: UTC now, less the age.
pub fn stamp(age: Span) -> String {
    let micros = jiff::Timestamp::now().as_microsecond() - age.micros();
    let at = jiff::Timestamp::from_microsecond(micros).expect("a time");
    at.strftime("%Y-%m-%dT%H:%M:%S.%6f").to_string()
}

/// Rows of a heartbeat table: each writer's server id with the age its stamp has whenever it is read.
pub fn beats(rows: &[(u32, Span)]) -> Reply {
    let rows = rows.to_vec();
    Reply::live(move || {
        let empty = Rows::text(&["stamp", "server_id"]);
        rows.iter().fold(empty, |table, (id, age)| {
            table.row([Some(stamp(*age)), Some(id.to_string())])
        })
    })
}

/// Rows whose stamps stay as they are, so that they grow old.
pub fn dead_beats(rows: &[(u32, Span)]) -> Rows {
    let empty = Rows::text(&["stamp", "server_id"]);
    rows.iter().fold(empty, |table, (id, age)| {
        table.row([Some(stamp(*age)), Some(id.to_string())])
    })
}

/// What asks for the rows of `monitor.heartbeat`.
pub fn heartbeat() -> Pattern {
    contains("from `monitor`.`heartbeat`")
}
