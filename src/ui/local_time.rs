//! Moments as the clock on the person's wall shows them: for axes, journals and hover texts.
//!
//! The zone is read from the system once; what time it *is* still comes from outside.

use std::sync::LazyLock;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

use crate::model::time::{Moment, Span};

static ZONE: LazyLock<TimeZone> = LazyLock::new(TimeZone::system);

/// Absent for a moment no calendar reaches.
pub fn zoned(at: Moment) -> Option<ZonedDateTime> {
    let stamp = Timestamp::from_microsecond(at.unix_micros()).ok()?;
    Some(stamp.to_zoned_datetime(ZONE.clone()))
}

/// `14:02:08`
pub fn time_of_day(at: Moment) -> String {
    written(at, "%H:%M:%S")
}

/// `11-29 14:02:08`: for lists that may reach back over midnight.
pub fn day_and_time(at: Moment) -> String {
    written(at, "%m-%d %H:%M:%S")
}

/// `2026-11-29 14:02:08 +01:00`: for copying into a report.
pub fn in_full(at: Moment) -> String {
    written(at, "%Y-%m-%d %H:%M:%S %:z")
}

/// As fine as the distance of two ticks of an axis asks for.
pub fn tick(at: Moment, step: Span) -> String {
    if step >= Span::from_secs(24 * 3600) {
        written(at, "%m-%d")
    } else if step >= Span::from_secs(6 * 3600) {
        written(at, "%m-%d %H:%M")
    } else if step >= Span::from_secs(60) {
        written(at, "%H:%M")
    } else {
        time_of_day(at)
    }
}

/// Local time minus UTC at that moment: ticks are laid on round local times.
pub fn offset(at: Moment) -> Span {
    zoned(at).map_or(Span::ZERO, |z| {
        Span::from_secs(i64::from(z.offset().seconds()))
    })
}

fn written(at: Moment, format: &str) -> String {
    zoned(at).map_or_else(|| "—".to_owned(), |z| z.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_no_finer_than_their_distance() {
        let noon = Moment::from_unix_micros(1_700_000_000_000_000);
        let length = |secs| tick(noon, Span::from_secs(secs)).len();
        assert_eq!(length(10), "14:02:08".len());
        assert_eq!(length(60), "14:02".len());
        assert_eq!(length(6 * 3600), "11-29 14:02".len());
        assert_eq!(length(24 * 3600), "11-29".len());
    }

    #[test]
    fn a_moment_beyond_every_calendar_has_no_wall_time() {
        assert_eq!(time_of_day(Moment::from_unix_micros(i64::MAX)), "—");
    }
}
