//! `Seconds_Behind_Source`: whole seconds, as the server computes them.
//!
//! Measured on 5.7, 9.7 and MariaDB 10.11: NULL with the applier stopped; a *number*, even 0, with the receiver down;
//! 0 for the whole network timeout when the source hangs; more than the truth after a big transaction, by its run time
//! on the source. So the threads are judged first, and the number only where both run.

use super::{Scene, applier};
use crate::model::dialect::{Dialect, SECONDS_BEHIND};
use crate::model::lag::{Measurement, Method, Reading};
use crate::model::phrase::phrase;
use crate::model::replication::Field;
use crate::model::time::Span;

pub fn read(scene: &Scene<'_>) -> Reading {
    if let Some(why) = applier::thread_down(scene) {
        return Reading::unknown(why);
    }
    let column = Dialect::of_product(&scene.replica.sample.product).name(SECONDS_BEHIND);
    let about = |key| phrase(key).with("column", column);
    match &scene.channel.seconds_behind {
        Field::Value(secs) if *secs < 0 => {
            Reading::unknown(about("lag.why.negative_seconds").with("text", secs.to_string()))
        }
        Field::Value(secs) => Reading::Measured(Measurement {
            value: (Span::from_secs(*secs) - scene.channel.planned_delay).or_zero(),
            bound: None,
            method: Method::SecondsBehind,
            taken_at: scene.replica.sample.answered_at,
        }),
        Field::Null => Reading::unknown(about("lag.why.seconds_null")),
        Field::Absent => Reading::unknown(about("lag.why.seconds_absent")),
        Field::Unreadable(text) => {
            Reading::unknown(about("lag.why.seconds_unreadable").with("text", text.as_str()))
        }
    }
}
