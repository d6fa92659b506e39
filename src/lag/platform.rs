//! The platform's own table (Aurora): milliseconds behind the writer, for servers that have no status rows (R33).

use super::Scene;
use crate::model::lag::{Measurement, Method, Reading};
use crate::model::phrase::phrase;
use crate::model::sample::Sample;
use crate::model::server::Platform;

pub fn read(scene: &Scene<'_>) -> Reading {
    of_sample(scene.replica.sample)
}

/// The same without a channel: an Aurora reader has none.
pub fn of_sample(sample: &Sample) -> Reading {
    if sample.product.platform != Platform::Aurora {
        return Reading::not_applicable(phrase("lag.why.no_platform_table"));
    }
    if let Some(trouble) = sample.platform_lag.refused() {
        return Reading::unknown(trouble.what.clone());
    }
    let rows = sample.platform_lag.value().map_or(&[][..], Vec::as_slice);
    let own = sample.identity.hostname.as_deref();
    let row = match rows {
        [only] => Some(only),
        rows => rows
            .iter()
            .find(|row| own.is_some_and(|host| row.server.eq_ignore_ascii_case(host))),
    };
    match row {
        Some(row) => Reading::Measured(Measurement {
            value: row.lag.or_zero(),
            bound: None,
            method: Method::Platform,
            taken_at: sample.answered_at,
        }),
        None => Reading::unknown(phrase("lag.why.no_platform_row")),
    }
}
