//! Functions about the session and the server, and those of GTID sets that need nothing but their arguments.

use std::time::Duration;

use super::{Frame, Function, INT, TEXT, Value};
use super::{Given, int, number, of_the_moment, owned, pure, text};
use crate::lab::simulator::sql::problem::SqlProblem;
use crate::model::gtid::GtidSet;

pub const FUNCTIONS: &[Function] = &[
    of_the_moment(pure("DATABASE", (0, 0), TEXT, |f, _| schema(f))),
    of_the_moment(pure("SCHEMA", (0, 0), TEXT, |f, _| schema(f))),
    of_the_moment(pure("USER", (0, 0), TEXT, |f, _| told(&f.user))),
    of_the_moment(pure("SESSION_USER", (0, 0), TEXT, |f, _| told(&f.user))),
    of_the_moment(pure("SYSTEM_USER", (0, 0), TEXT, |f, _| told(&f.user))),
    of_the_moment(pure("CURRENT_USER", (0, 0), TEXT, |f, _| told(&f.account))),
    of_the_moment(pure("VERSION", (0, 0), TEXT, |f, _| told(f.version))),
    of_the_moment(pure("CONNECTION_ID", (0, 0), INT, |f, _| {
        Ok(Value::Int(f.connection_id as i64))
    })),
    of_the_moment(pure("LAST_INSERT_ID", (0, 1), INT, |f, a| {
        if let Some(id) = a.first() {
            f.last_insert_id = int(*id) as u64;
        }
        Ok(Value::Int(f.last_insert_id as i64))
    })),
    of_the_moment(pure("ROW_COUNT", (0, 0), INT, |f, _| {
        Ok(Value::Int(f.row_count))
    })),
    of_the_moment(pure("FOUND_ROWS", (0, 0), INT, |f, _| {
        Ok(Value::Int(f.found_rows as i64))
    })),
    of_the_moment(pure("SLEEP", (1, 1), INT, |f, a| {
        const LONGEST_SECS: f64 = 86_400.0;
        f.wait += Duration::from_secs_f64(number(a[0]).clamp(0.0, LONGEST_SECS));
        Ok(Value::Int(0))
    })),
    of_the_moment(pure("BENCHMARK", (2, 2), INT, |f, a| {
        // About what a million of the simplest expressions take.
        let millions = number(a[0]).clamp(0.0, 1e12) / 1e6;
        f.wait += Duration::from_secs_f64((millions * 0.005).min(3600.0));
        Ok(Value::Int(0))
    })),
    of_the_moment(pure("SET_VARIABLE", (2, 2), TEXT, |f, a| {
        let value = owned(a[1]);
        f.user_variables.insert(text(a[0]), value.clone());
        Ok(value)
    })),
    of_the_moment(pure("VARIABLE", (1, 1), TEXT, |f, a| {
        Ok(f.user_variables
            .get(&text(a[0]))
            .cloned()
            .unwrap_or_default())
    })),
    pure("GTID_SUBTRACT", (2, 2), TEXT, |_, a| {
        let rest = set(&text(a[0]))?.subtract(&set(&text(a[1]))?);
        told(&rest.to_string())
    }),
    pure("GTID_SUBSET", (2, 2), INT, |_, a| {
        let inside = set(&text(a[1]))?.contains(&set(&text(a[0]))?);
        Ok(Value::Int(inside.into()))
    }),
];

fn told(text: &str) -> Given {
    Ok(Value::text(text))
}

fn schema(frame: &mut Frame) -> Given {
    Ok(frame.schema.clone().into())
}

fn set(text: &str) -> Result<GtidSet, SqlProblem> {
    GtidSet::parse(text)
        .map_err(|_| SqlProblem::new(1772, format!("Malformed GTID set specification '{text}'.")))
}
