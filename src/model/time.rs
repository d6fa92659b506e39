//! Time as the pure layers know it: numbers handed in, never a clock of their own.

use std::fmt;
use std::ops::{Add, Neg, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A signed length of time in microseconds.
///
/// Signed on purpose: a stamp from the future must stay negative and be seen as such (field report R06).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(i64);

impl Span {
    pub const ZERO: Span = Span(0);
    pub const MAX: Span = Span(i64::MAX);

    pub const fn from_micros(micros: i64) -> Self {
        Span(micros)
    }

    pub const fn from_millis(millis: i64) -> Self {
        Span(millis.saturating_mul(1_000))
    }

    pub const fn from_secs(secs: i64) -> Self {
        Span(secs.saturating_mul(1_000_000))
    }

    /// Rounds to the microsecond; NaN gives zero, what does not fit saturates.
    pub fn from_secs_f64(secs: f64) -> Self {
        Span((secs * 1e6).round() as i64)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    pub fn millis_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub const fn abs(self) -> Self {
        Span(self.0.saturating_abs())
    }

    /// Half of it, as in "half the round trip".
    pub const fn half(self) -> Self {
        Span(self.0 / 2)
    }

    pub const fn times(self, factor: i64) -> Self {
        Span(self.0.saturating_mul(factor))
    }

    /// Never below zero: for lengths that are lateness, where early is simply not late.
    pub fn or_zero(self) -> Self {
        self.max(Span::ZERO)
    }

    /// As a `Duration` for waiting; negative becomes zero.
    pub fn to_duration(self) -> Duration {
        Duration::from_micros(self.0.max(0) as u64)
    }
}

impl From<Duration> for Span {
    fn from(d: Duration) -> Self {
        Span(i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(self.0.saturating_neg())
    }
}

/// An instant on the workstation's clock: microseconds since the Unix epoch, but advanced by the monotonic clock
/// only, so that it never jumps while the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment(i64);

impl Moment {
    pub const fn from_unix_micros(micros: i64) -> Self {
        Moment(micros)
    }

    pub const fn unix_micros(self) -> i64 {
        self.0
    }

    pub fn unix_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// How long ago `earlier` was, seen from here; negative when it is later.
    pub const fn since(self, earlier: Moment) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Moment {
    type Output = Moment;
    fn add(self, span: Span) -> Moment {
        Moment(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Moment {
    type Output = Moment;
    fn sub(self, span: Span) -> Moment {
        Moment(self.0.saturating_sub(span.0))
    }
}

/// An instant on a server's clock, in microseconds since the Unix epoch (UTC). A type of its own, so that it is never
/// subtracted from the workstation's time without the clock offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerTime(pub i64);

impl ServerTime {
    /// Signed difference of two stamps of one clock.
    pub const fn since(self, earlier: ServerTime) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The same instant on the workstation's clock, given how far the server's clock is ahead of it.
    pub const fn on_our_clock(self, server_ahead_by: Span) -> Moment {
        Moment(self.0.saturating_sub(server_ahead_by.0))
    }
}

impl fmt::Display for Span {
    /// For logs and panics; the wording people see is in `words`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_from_the_future_stays_negative() {
        assert_eq!(
            ServerTime(1_000_000).since(ServerTime(745_000_000)),
            Span::from_secs(-744)
        );
    }

    #[test]
    fn server_time_needs_the_offset_to_become_ours() {
        assert_eq!(
            ServerTime(5_000_000).on_our_clock(Span::from_secs(2)),
            Moment::from_unix_micros(3_000_000)
        );
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(Span::MAX + Span::from_secs(1), Span::MAX);
        assert_eq!(
            Moment::from_unix_micros(i64::MIN).since(Moment::from_unix_micros(i64::MAX)),
            Span::from_micros(i64::MIN)
        );
    }
}
