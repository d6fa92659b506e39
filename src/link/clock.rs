//! The workstation's clock, the only place outside `app` that looks at it.
//!
//! Wall time is read once; from then on the monotonic clock advances it. Lags are differences, and a wall clock set
//! back by an hour in the middle of the night must not turn them into nonsense.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::model::time::{Moment, Span};

static ANCHOR: OnceLock<(Instant, Moment)> = OnceLock::new();

/// Now, on a clock that never jumps.
pub fn now() -> Moment {
    let (started, moment) = ANCHOR.get_or_init(|| (Instant::now(), wall_clock()));
    *moment + Span::from(started.elapsed())
}

/// Now, as the system's wall clock says: for stamps that leave the program.
pub fn wall_clock() -> Moment {
    let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
    };
    Moment::from_unix_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_starts_at_wall_time_and_never_goes_back() {
        let first = now();
        assert!(wall_clock().since(first).abs() < Span::from_secs(5));
        assert!(now() >= first);
    }
}
