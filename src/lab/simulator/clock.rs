//! What time it is in a simulation: the workstation's, or one that tests advance by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::link::clock;
use crate::model::time::{Moment, Span};

/// Cheap to clone; all clones show the same time.
#[derive(Clone, Debug)]
pub struct SimClock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Wall,
    /// Microseconds since the Unix epoch.
    ByHand(Arc<AtomicI64>),
}

impl SimClock {
    pub fn wall() -> Self {
        SimClock(Kind::Wall)
    }

    /// Stands still until [`SimClock::advance`].
    pub fn by_hand(start: Moment) -> Self {
        SimClock(Kind::ByHand(Arc::new(AtomicI64::new(start.unix_micros()))))
    }

    pub fn now(&self) -> Moment {
        match &self.0 {
            Kind::Wall => clock::now(),
            Kind::ByHand(micros) => Moment::from_unix_micros(micros.load(Ordering::SeqCst)),
        }
    }

    /// Does nothing to the workstation's clock.
    pub fn advance(&self, by: Span) {
        if let Kind::ByHand(micros) = &self.0 {
            micros.fetch_add(by.micros().max(0), Ordering::SeqCst);
        }
    }

    /// How long somebody who waits until `then` may sleep before looking again.
    pub fn sleep_until(&self, then: Option<Moment>, at_most: Duration) -> Duration {
        const AT_LEAST: Duration = Duration::from_micros(100);
        // Nobody knows how fast a hand moves.
        const BY_HAND: Duration = Duration::from_millis(1);
        match (&self.0, then) {
            (Kind::ByHand(_), _) => BY_HAND.min(at_most),
            (Kind::Wall, Some(then)) => then
                .since(self.now())
                .to_duration()
                .clamp(AT_LEAST, at_most),
            (Kind::Wall, None) => at_most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_by_hand_stands_still_until_it_is_moved() {
        let clock = SimClock::by_hand(Moment::from_unix_micros(5));
        let other = clock.clone();
        other.advance(Span::from_micros(7));
        assert_eq!(clock.now(), Moment::from_unix_micros(12));
    }
}
