//! When the next poll and the next mark are due, and how thorough the poll is.

use std::time::{Duration, Instant};

use crate::link::Depth;
use crate::model::replication::Field;
use crate::model::sample::{OpenTransaction, RunningStatement, Sample, TransactionOwner};
use crate::model::time::Span;

/// Settings, found replicas and the like are asked this often at most.
const FULL_EVERY: Duration = Duration::from_secs(15);

/// A steady beat that skips what it missed instead of catching up.
#[derive(Debug)]
pub struct Beat {
    next: Instant,
}

impl Beat {
    pub fn starting(now: Instant) -> Self {
        Beat { next: now }
    }

    pub fn due(&self, now: Instant) -> bool {
        now >= self.next
    }

    pub fn next(&self) -> Instant {
        self.next
    }

    pub fn bring_forward(&mut self, now: Instant) {
        self.next = now;
    }

    /// Done at `now`: the next one is a whole number of intervals after the planned time, in the future.
    pub fn done(&mut self, now: Instant, interval: Duration) {
        let interval = interval.max(Duration::from_millis(10));
        let late = now.saturating_duration_since(self.next);
        let steps = (late.as_nanos() / interval.as_nanos()) as u32 + 1;
        self.next += interval * steps;
    }
}

/// Decides the depth of each poll.
#[derive(Debug, Default)]
pub struct Thoroughness {
    last_full: Option<Instant>,
    suspicious: bool,
}

impl Thoroughness {
    pub fn next(&mut self, now: Instant) -> Depth {
        if self
            .last_full
            .is_none_or(|last| now.duration_since(last) >= FULL_EVERY)
        {
            self.last_full = Some(now);
            return Depth::Full;
        }
        if self.suspicious {
            Depth::Suspicious
        } else {
            Depth::Light
        }
    }

    /// The person asked: tell everything.
    pub fn ask_all(&mut self) {
        self.last_full = None;
    }

    pub fn learn(&mut self, sample: &Sample) {
        self.suspicious = looks_late(sample);
    }
}

/// Does this sample show that something is late or kept busy, so that the next one should also ask who holds locks and what runs?
fn looks_late(sample: &Sample) -> bool {
    let behind = |secs: &Field<i64>| secs.value().is_some_and(|secs| *secs >= 1);
    let waits_for_lock = |doing: &Option<String>| {
        doing
            .as_deref()
            .is_some_and(|text| text.starts_with("Waiting for") && text.contains("lock"))
    };
    let old_in_hand = sample
        .appliers()
        .iter()
        .filter_map(|thread| thread.applying.as_ref()?.started)
        .any(|started| {
            sample
                .clock
                .is_some_and(|clock| clock.server.since(started) >= Span::from_secs(1))
        });
    let old_applier_transaction = sample.transactions.value().is_some_and(|open| {
        open.iter().any(|trx| {
            trx.owner == TransactionOwner::Applier && trx.age >= Some(Span::from_secs(1))
        })
    });
    old_in_hand
        || old_applier_transaction
        || reads_for_long(sample)
        || sample
            .channels()
            .iter()
            .any(|c| behind(&c.seconds_behind) || waits_for_lock(&c.applier_doing))
}

/// A report runs: whether it goes on, and whom it keeps waiting, is asked until it is over.
fn reads_for_long(sample: &Sample) -> bool {
    let open = sample.transactions.value().into_iter().flatten();
    let running = sample.statements.value().into_iter().flatten();
    sample.is_replica()
        && (open.into_iter().any(OpenTransaction::is_long_read)
            || running.into_iter().any(RunningStatement::is_long_read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_skips_what_it_missed() {
        let start = Instant::now();
        let mut beat = Beat::starting(start);
        beat.done(start + Duration::from_millis(3), Duration::from_secs(1));
        assert_eq!(beat.next() - start, Duration::from_secs(1));
        beat.done(start + Duration::from_millis(4_500), Duration::from_secs(1));
        assert_eq!(
            beat.next() - start,
            Duration::from_secs(5),
            "no burst after a hang"
        );
    }

    #[test]
    fn the_first_poll_asks_everything_and_then_rarely() {
        let start = Instant::now();
        let mut thoroughness = Thoroughness::default();
        assert_eq!(thoroughness.next(start), Depth::Full);
        assert_eq!(
            thoroughness.next(start + Duration::from_secs(1)),
            Depth::Light
        );
        assert_eq!(
            thoroughness.next(start + Duration::from_secs(15)),
            Depth::Full
        );
        thoroughness.ask_all();
        assert_eq!(
            thoroughness.next(start + Duration::from_secs(16)),
            Depth::Full
        );
    }
}
