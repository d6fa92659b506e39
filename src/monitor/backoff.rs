//! How long to wait before the next attempt to connect: doubling, bounded, with jitter, so that a hundred sessions of
//! a restarted server do not come back in the same millisecond.

use std::time::Duration;

use crate::model::trouble::TroubleKind;

const FIRST: Duration = Duration::from_millis(250);

/// The waits of one session.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    pub fn attempts(&self) -> u32 {
        self.failures
    }

    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// The wait after one more failure of this kind; `random` lies in 0…1.
    pub fn failed(&mut self, kind: TroubleKind, random: f64) -> Duration {
        let doubled = FIRST * 2u32.saturating_pow(self.failures.min(10));
        self.failures = self.failures.saturating_add(1);
        let full = doubled.min(longest(kind));
        full.mul_f64(0.75 + 0.25 * random.clamp(0.0, 1.0))
    }
}

/// A refused connection costs the server nothing; a failed login may count against the account or the host (R38).
fn longest(kind: TroubleKind) -> Duration {
    match kind {
        TroubleKind::Unreachable | TroubleKind::Lost => Duration::from_secs(5),
        TroubleKind::Tls | TroubleKind::Refusing => Duration::from_secs(15),
        // An account may be locked after a few wrong passwords (FAILED_LOGIN_ATTEMPTS, MySQL 8.0.19).
        TroubleKind::AccessDenied => Duration::from_secs(60),
        _ => Duration::from_secs(10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_start_anew_after_a_success() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..7)
            .map(|_| backoff.failed(TroubleKind::Unreachable, 1.0).as_millis())
            .collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 5000, 5000]);
        backoff.succeeded();
        assert_eq!(
            backoff.failed(TroubleKind::Unreachable, 1.0).as_millis(),
            250
        );
    }

    #[test]
    fn jitter_only_shortens() {
        let wait = |random| Backoff::default().failed(TroubleKind::TimedOut, random);
        assert_eq!(wait(0.0).as_micros(), 187_500);
        assert!(wait(0.5) < wait(1.0));
    }
}
