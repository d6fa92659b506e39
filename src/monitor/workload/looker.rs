//! The thread that looks at one replica without pause for what has become visible there.
//!
//! One question answers for all writes still awaited. Between two looks lies so little that "seen at" is late by that at
//! most; it is never early.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::WorkloadEvent;
use crate::link::clock;
use crate::model::gtid::Gtids;
use crate::model::probe::{ProbeId, ProbeRow, WaitKind};
use crate::model::time::Moment;
use crate::monitor::prober::session::Keeper;

/// Between two looks, while something is awaited.
const PAUSE: Duration = Duration::from_micros(300);

/// A wait for what is there already is tried this often.
const WAIT_EVERY: Duration = Duration::from_millis(500);
/// It should take no time at all; longer than this says nothing of the round trip.
const WAIT_LIMIT: Duration = Duration::from_millis(200);

/// A replica that cannot be reached is tried again after the session's own back-off; here we only do not spin.
const UNREACHABLE_PAUSE: Duration = Duration::from_millis(50);

/// One write to look for.
pub struct Look {
    pub row: u32,
    pub committed_at: Moment,
    pub gtids: Option<Gtids>,
}

pub enum LookOrder {
    For(Look),
    /// No more will come; tell what was not seen until then, and end.
    Finish {
        until: Instant,
    },
}

pub struct Thread {
    place: usize,
    probe: ProbeId,
    looks: Keeper,
    waits: Keeper,
    events: Sender<WorkloadEvent>,
    /// By row; with the instant up to which it was surely not there.
    awaited: BTreeMap<u32, Awaited>,
    /// A set this replica has.
    reached: Option<Gtids>,
    waited_at: Instant,
    trouble_told: bool,
}

struct Awaited {
    not_until: Moment,
    gtids: Option<Gtids>,
}

impl Thread {
    pub fn new(
        place: usize,
        probe: ProbeId,
        looks: Keeper,
        waits: Keeper,
        events: Sender<WorkloadEvent>,
    ) -> Self {
        Thread {
            place,
            probe,
            looks,
            waits,
            events,
            awaited: BTreeMap::new(),
            reached: None,
            waited_at: Instant::now(),
            trouble_told: false,
        }
    }

    pub fn run(mut self, orders: &Receiver<LookOrder>) {
        self.looks.mend();
        self.waits.mend();
        let mut until = None;
        loop {
            if let Err(Over) = self.take(orders, &mut until) {
                return;
            }
            if until.is_some_and(|until| self.awaited.is_empty() || Instant::now() >= until) {
                self.look();
                return self.tell_unseen();
            }
            if !self.awaited.is_empty() {
                self.look();
            }
            self.try_wait();
        }
    }

    /// Takes orders; without anything to look for it waits for one.
    fn take(
        &mut self,
        orders: &Receiver<LookOrder>,
        until: &mut Option<Instant>,
    ) -> Result<(), Over> {
        let mut patience = match self.awaited.is_empty() && until.is_none() {
            true => WAIT_EVERY,
            false => PAUSE,
        };
        loop {
            match orders.recv_timeout(patience) {
                Ok(LookOrder::For(look)) => {
                    let awaited = Awaited {
                        not_until: look.committed_at,
                        gtids: look.gtids,
                    };
                    self.awaited.insert(look.row, awaited);
                }
                Ok(LookOrder::Finish { until: end }) => *until = Some(end),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) if until.is_some() => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(Over),
            }
            patience = Duration::ZERO;
        }
    }

    fn look(&mut self) {
        let (Some((first, _)), Some((last, _))) = (
            self.awaited.first_key_value(),
            self.awaited.last_key_value(),
        ) else {
            return;
        };
        let (from, to) = (
            ProbeRow {
                probe: self.probe,
                number: *first,
            },
            *last,
        );
        let asked_at = clock::now();
        let seen = self.looks.link().and_then(|link| link.present(from, to));
        let answered_at = clock::now();
        match seen {
            Ok(rows) => self.note(&rows, asked_at, answered_at),
            Err(why) => {
                if !std::mem::replace(&mut self.trouble_told, true) {
                    let replica = self.place;
                    self.tell(WorkloadEvent::CannotLook { replica, why });
                }
                std::thread::sleep(UNREACHABLE_PAUSE);
                self.looks.mend();
            }
        }
    }

    fn note(&mut self, rows: &[u32], asked_at: Moment, answered_at: Moment) {
        for row in rows {
            let Some(awaited) = self.awaited.remove(row) else {
                continue;
            };
            self.reached = awaited.gtids.or_else(|| self.reached.take());
            self.tell(WorkloadEvent::Visible {
                replica: self.place,
                row: *row,
                at: answered_at,
            });
        }
        for awaited in self.awaited.values_mut() {
            awaited.not_until = awaited.not_until.max(asked_at);
        }
    }

    fn try_wait(&mut self) {
        let Some(gtids) = &self.reached else { return };
        if self.waited_at.elapsed() < WAIT_EVERY {
            return;
        }
        self.waited_at = Instant::now();
        self.waits.mend();
        let Ok(link) = self.waits.link() else { return };
        let seen = link.wait(gtids, WAIT_LIMIT);
        if let (WaitKind::Reached, Some(took)) = (seen.kind, seen.length()) {
            let replica = self.place;
            self.tell(WorkloadEvent::WaitRoundTrip { replica, took });
        }
    }

    fn tell_unseen(&mut self) {
        for (row, awaited) in std::mem::take(&mut self.awaited) {
            self.tell(WorkloadEvent::NotUntil {
                replica: self.place,
                row,
                at: awaited.not_until,
            });
        }
    }

    fn tell(&self, event: WorkloadEvent) {
        // Nobody listens any more: the workload has ended, and so will this thread.
        let _ = self.events.send(event);
    }
}

/// Nobody gives orders any more.
struct Over;
