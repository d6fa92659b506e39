//! Sessions that write, think and read, as an endless sequence of events in the order of time. The same plan and seed
//! give the same events on every machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::model::time::{Moment, Span};

use super::request::{QueryKind, Seq, SessionKey};

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub seed: u64,
    pub sessions: u32,
    /// Mean time between two statements of a session; exponentially spread.
    pub think_time: Span,
    /// Between 0 and 1: of all statements, so many are reads.
    pub read_share: f64,
    /// Of the writes, so many are followed by a read at once, before thinking.
    pub read_back_share: f64,
    /// Between write and the read that follows at once.
    pub read_back_after: Span,
    /// Of the reads, so many stand in an open transaction.
    pub in_transaction_share: f64,
    /// What reads are for, with their weights.
    pub kinds: Vec<(QueryKind, u32)>,
    pub starts_at: Moment,
    /// A bound on statements per second over all sessions.
    pub most_per_second: u32,
}

impl Plan {
    /// Seven reads in ten statements, mostly lists; a third of the writers look at once.
    pub fn chat(seed: u64, starts_at: Moment) -> Self {
        Plan {
            seed,
            sessions: 50,
            think_time: Span::from_secs(1),
            read_share: 0.7,
            read_back_share: 0.3,
            read_back_after: Span::from_millis(5),
            in_transaction_share: 0.05,
            kinds: vec![
                (QueryKind::List, 6),
                (QueryKind::History, 3),
                (QueryKind::Export, 1),
            ],
            starts_at,
            most_per_second: 200,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    pub at: Moment,
    pub session: SessionKey,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Numbers count up over all sessions.
    Write { seq: Seq },
    Read {
        kind: QueryKind,
        /// The session's last write, which it must see.
        must_see: Option<Seq>,
        in_transaction: bool,
    },
}

/// An endless iterator; take as many as are wanted.
#[derive(Clone, Debug)]
pub struct Workload {
    plan: Plan,
    dice: fastrand::Rng,
    /// Who is next, and whether it reads back what it just wrote.
    agenda: BinaryHeap<Reverse<(Moment, SessionKey, bool)>>,
    last_write: Vec<Option<Seq>>,
    next_seq: u64,
    not_before: Moment,
}

impl Workload {
    pub fn new(plan: Plan) -> Self {
        let mut workload = Workload {
            dice: fastrand::Rng::with_seed(plan.seed),
            agenda: BinaryHeap::new(),
            last_write: vec![None; plan.sessions as usize],
            next_seq: 1,
            not_before: plan.starts_at,
            plan,
        };
        for session in 0..u64::from(workload.plan.sessions) {
            let at = workload.plan.starts_at + workload.thinks();
            workload
                .agenda
                .push(Reverse((at, SessionKey(session), false)));
        }
        workload
    }

    fn thinks(&mut self) -> Span {
        let share = 1.0 - self.dice.f64();
        Span::from_secs_f64(-share.ln() * self.plan.think_time.secs_f64())
    }

    fn chance(&mut self, share: f64) -> bool {
        self.dice.f64() < share
    }

    fn kind(&mut self) -> QueryKind {
        let total: u32 = self.plan.kinds.iter().map(|(_, weight)| *weight).sum();
        let mut drawn = if total == 0 {
            0
        } else {
            self.dice.u32(0..total)
        };
        for (kind, weight) in &self.plan.kinds {
            if drawn < *weight {
                return kind.clone();
            }
            drawn -= weight;
        }
        QueryKind::List
    }

    /// No faster than the plan allows, whoever's turn it is.
    fn paced(&mut self, wanted: Moment) -> Moment {
        let at = wanted.max(self.not_before);
        let gap = 1_000_000 / i64::from(self.plan.most_per_second.max(1));
        self.not_before = at + Span::from_micros(gap);
        at
    }

    fn write(&mut self, last_write: usize) -> What {
        let seq = Seq(self.next_seq);
        self.next_seq += 1;
        self.last_write[last_write] = Some(seq);
        What::Write { seq }
    }

    fn read(&mut self, last_write: usize) -> What {
        let share = self.plan.in_transaction_share;
        What::Read {
            kind: self.kind(),
            must_see: self.last_write[last_write],
            in_transaction: self.chance(share),
        }
    }
}

impl Iterator for Workload {
    type Item = Planned;

    /// `None` only when there are no sessions.
    fn next(&mut self) -> Option<Planned> {
        let Reverse((wanted, session, reads_back)) = self.agenda.pop()?;
        let at = self.paced(wanted);
        let place = usize::try_from(session.0).ok()?;
        let reads = reads_back || self.chance(self.plan.read_share);
        let what = if reads {
            self.read(place)
        } else {
            self.write(place)
        };
        let looks_at_once = !reads && self.chance(self.plan.read_back_share);
        let pause = if looks_at_once {
            self.plan.read_back_after
        } else {
            self.thinks()
        };
        self.agenda
            .push(Reverse((at + pause, session, looks_at_once)));
        Some(Planned { at, session, what })
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::at_ms;
    use super::*;

    fn events(seed: u64, count: usize) -> Vec<Planned> {
        Workload::new(Plan::chat(seed, at_ms(0)))
            .take(count)
            .collect()
    }

    #[test]
    fn one_seed_is_one_workload() {
        assert_eq!(events(7, 500), events(7, 500));
        assert_ne!(events(7, 500), events(8, 500));
    }

    #[test]
    fn events_come_in_order_and_no_faster_than_allowed() {
        let plan = Plan {
            sessions: 2_000,
            most_per_second: 100,
            ..Plan::chat(1, at_ms(0))
        };
        let events: Vec<_> = Workload::new(plan).take(1_000).collect();
        for pair in events.windows(2) {
            assert!(
                pair[1].at.since(pair[0].at) >= Span::from_millis(10),
                "{pair:?}"
            );
        }
    }

    #[test]
    fn shares_are_as_planned() {
        let plan = Plan {
            read_back_share: 0.0,
            most_per_second: 1_000_000,
            ..Plan::chat(3, at_ms(0))
        };
        let events: Vec<_> = Workload::new(plan).take(10_000).collect();
        let reads = events
            .iter()
            .filter(|event| matches!(event.what, What::Read { .. }))
            .count();
        assert!((6_800..7_200).contains(&reads), "{reads}");
        let exports = events.iter().filter(
            |event| matches!(&event.what, What::Read { kind, .. } if *kind == QueryKind::Export),
        );
        let exports = exports.count();
        assert!((600..800).contains(&exports), "{exports}");
    }

    #[test]
    fn a_read_must_see_the_last_write_of_its_session() {
        let mut last = std::collections::BTreeMap::new();
        let mut checked = 0;
        for event in events(5, 2_000) {
            match event.what {
                What::Write { seq } => {
                    last.insert(event.session, seq);
                }
                What::Read { must_see, .. } => {
                    assert_eq!(must_see, last.get(&event.session).copied());
                    checked += usize::from(must_see.is_some());
                }
            }
        }
        assert!(checked > 500);
    }

    #[test]
    fn nobody_does_nothing() {
        let plan = Plan {
            sessions: 0,
            ..Plan::chat(1, at_ms(0))
        };
        assert_eq!(Workload::new(plan).next(), None);
    }
}
