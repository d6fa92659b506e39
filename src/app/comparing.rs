//! A comparison of the routing rules under way: the planned workload, what was seen of it, and what each rule would have
//! made of it. All rules see the same writes and reads.

pub mod desk;
mod export;

use std::collections::BTreeMap;
use std::time::Duration;

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{DEFAULT_SCHEMA, Precondition, ProbeId, ProbePlan};
use crate::model::profile::TopologyId;
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;
use crate::monitor::prober::ProbedServer;
use crate::monitor::workload::{
    Step, StepKind, Workload, WorkloadEnd, WorkloadEvent, WorkloadTask,
};
use crate::routing::compare::{
    HealthSeen, Outcome, Percentiles, ReadSeen, Recording, ReplicaSeen, Visible, WriteSeen, compare,
};
use crate::routing::request::{Seq, SessionKey};
use crate::routing::strategies::{Headroom, RouteTable, standard};
use crate::routing::workload::{Plan, Planned, What, Workload as Planner};
use crate::store::Store;

/// How long quitting may wait for the clean-up.
pub const GOODBYE: Duration = Duration::from_secs(1);

const EVENTS_IN_FLIGHT: usize = 8_192;

pub const DEFAULT_LENGTH: Span = Span::from_secs(20);
pub const LONGEST: Span = Span::from_secs(600);
pub const DEFAULT_RATE: u32 = 50;
pub const HIGHEST_RATE: u32 = 200;
/// Rows of ours lie in the table until the end: three in ten statements write one.
const MOST_STATEMENTS: u64 = 20_000;

/// Fifty sessions; how long they think follows from the rate.
const SESSIONS: u32 = 50;

/// How to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparePlan {
    pub length: Span,
    /// Statements a second, reads and writes of all sessions together.
    pub rate: u32,
    /// Reads a second that the source could take over when replicas are taken out. Without it that rule is left out.
    pub spare_per_second: Option<f64>,
    /// Where the rules by query kind send each kind.
    pub kinds: RouteTable,
    pub schema: String,
    pub seed: u64,
}

impl Default for ComparePlan {
    fn default() -> Self {
        ComparePlan {
            length: DEFAULT_LENGTH,
            rate: DEFAULT_RATE,
            spare_per_second: None,
            kinds: RouteTable::default(),
            schema: DEFAULT_SCHEMA.to_owned(),
            seed: 1,
        }
    }
}

impl ComparePlan {
    /// Why this plan cannot be carried out.
    pub fn problem(&self) -> Option<Phrase> {
        if self.rate == 0 || self.rate > HIGHEST_RATE {
            let most = u64::from(HIGHEST_RATE);
            return Some(phrase("rules.plan.rate").with("most", most));
        }
        if self.length < Span::from_secs(1) || self.length > LONGEST {
            return Some(phrase("rules.plan.length").with("most", LONGEST));
        }
        let statements = self.length.secs_f64() * f64::from(self.rate);
        if statements > MOST_STATEMENTS as f64 {
            return Some(phrase("rules.plan.statements").with("most", MOST_STATEMENTS));
        }
        let spare_is_good = self
            .spare_per_second
            .is_none_or(|spare| spare.is_finite() && spare >= 0.0);
        if !spare_is_good {
            return Some(phrase("rules.plan.spare"));
        }
        self.probe_plan().problem()
    }

    /// What is written and waited for, as a probe would.
    pub fn probe_plan(&self) -> ProbePlan {
        ProbePlan {
            schema: self.schema.clone(),
            ..ProbePlan::default()
        }
    }

    fn headroom(&self) -> Option<Headroom> {
        self.spare_per_second.map(|spare| Headroom {
            capacity_per_second: spare,
            used_per_second: 0.0,
        })
    }

    /// The same plan and seed give the same statements.
    fn statements(&self) -> Vec<Planned> {
        let start = Moment::from_unix_micros(0);
        let plan = Plan {
            sessions: SESSIONS,
            think_time: Span::from_secs_f64(f64::from(SESSIONS) / f64::from(self.rate.max(1))),
            most_per_second: self.rate,
            ..Plan::chat(self.seed, start)
        };
        let end = start + self.length;
        Planner::new(plan)
            .take_while(|planned| planned.at < end)
            .collect()
    }
}

/// Which server is which.
pub struct Servers {
    pub source: ProbedServer,
    pub replicas: Vec<(WatchId, ProbedServer)>,
}

/// A comparison under way, and after its end.
pub struct Comparing {
    pub topology: TopologyId,
    plan: ComparePlan,
    workload: Option<Workload>,
    events: Receiver<WorkloadEvent>,
    planned: Vec<Planned>,
    replicas: Vec<(WatchId, String)>,
    seen: Sightings,
    pub needs: Vec<Precondition>,
    pub end: Option<WorkloadEnd>,
}

/// What was seen so far.
#[derive(Default)]
struct Sightings {
    writes: BTreeMap<u32, WriteSeen>,
    /// By row; a replica may have told of a row before the source's thread did.
    visible: BTreeMap<u32, BTreeMap<WatchId, Visible>>,
    reads: Vec<ReadSeen>,
    health: Vec<HealthSeen>,
    round_trips: Vec<Span>,
    last_write: BTreeMap<SessionKey, Seq>,
    refused: u32,
    last_refusal: Option<Trouble>,
    cannot_look: BTreeMap<usize, Trouble>,
    steps_done: u32,
}

impl Comparing {
    pub fn start(
        topology: TopologyId,
        plan: ComparePlan,
        servers: Servers,
        store: &Store,
        now: Moment,
    ) -> std::io::Result<Comparing> {
        let planned = plan.statements();
        let (sender, events) = bounded(EVENTS_IN_FLIGHT);
        let task = WorkloadTask {
            plan: plan.probe_plan(),
            probe: ProbeId(fastrand::u32(1..)),
            source: servers.source,
            replicas: servers.replicas.iter().map(|(_, s)| s.clone()).collect(),
            steps: steps(&planned),
        };
        let workload = Workload::start(task, sender)?;
        let names = servers.replicas.into_iter();
        let mut comparing = Comparing {
            topology,
            plan,
            workload: Some(workload),
            events,
            planned,
            replicas: names.map(|(watch, server)| (watch, server.name)).collect(),
            seen: Sightings::default(),
            needs: Vec::new(),
            end: None,
        };
        // Before the first read, so that none is routed by nothing.
        comparing.look_at(store, now);
        Ok(comparing)
    }

    /// Takes in what was reported, and what is known of the replicas now.
    pub fn take_in(&mut self, store: &Store, now: Moment) {
        if self.end.is_some() {
            return;
        }
        loop {
            match self.events.try_recv() {
                Ok(event) => self.take(event),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    // It ended without a word: its thread could not go on.
                    self.end.get_or_insert_with(gone);
                    break;
                }
            }
        }
        self.look_at(store, now);
    }

    fn look_at(&mut self, store: &Store, now: Moment) {
        let mut views = store.replica_views(&self.topology);
        views.retain(|view| self.replicas.iter().any(|(watch, _)| *watch == view.watch));
        let known = self.seen.health.last();
        if known.is_none_or(|known| known.replicas != views) {
            self.seen.health.push(HealthSeen {
                at: now,
                replicas: views,
            });
        }
    }

    fn take(&mut self, event: WorkloadEvent) {
        match event {
            WorkloadEvent::Ready(needs) => self.needs = needs,
            WorkloadEvent::Wrote {
                step,
                row,
                committed_at,
                gtids,
            } => {
                self.seen.steps_done += 1;
                let Some(planned) = self.planned(step) else {
                    return;
                };
                let (session, seq) = (planned.session, Seq(u64::from(row)));
                self.seen.last_write.insert(session, seq);
                let write = WriteSeen {
                    session,
                    seq,
                    committed_at,
                    gtids,
                    visible: BTreeMap::new(),
                };
                self.seen.writes.insert(row, write);
            }
            WorkloadEvent::Refused { why, .. } => {
                self.seen.steps_done += 1;
                self.seen.refused += 1;
                self.seen.last_refusal = Some(why);
            }
            WorkloadEvent::Read { step, at } => {
                self.seen.steps_done += 1;
                self.read(step, at);
            }
            WorkloadEvent::Visible { replica, row, at } => {
                self.saw(replica, row, Visible::At(at));
            }
            WorkloadEvent::NotUntil { replica, row, at } => {
                self.saw(replica, row, Visible::NotUntil(at));
            }
            WorkloadEvent::WaitRoundTrip { took, .. } => self.seen.round_trips.push(took),
            WorkloadEvent::CannotLook { replica, why } => {
                self.seen.cannot_look.insert(replica, why);
            }
            WorkloadEvent::Ended(end) => self.end = Some(end),
        }
    }

    fn planned(&self, step: u32) -> Option<&Planned> {
        self.planned.get(usize::try_from(step).ok()?)
    }

    /// A read must see what its session wrote last, of what really was written.
    fn read(&mut self, step: u32, at: Moment) {
        let Some(planned) = self.planned(step).cloned() else {
            return;
        };
        let What::Read {
            kind,
            in_transaction,
            ..
        } = planned.what
        else {
            return;
        };
        self.seen.reads.push(ReadSeen {
            session: planned.session,
            at,
            kind,
            in_transaction,
            must_see: self.seen.last_write.get(&planned.session).copied(),
        });
    }

    fn saw(&mut self, replica: usize, row: u32, visible: Visible) {
        if let Some((watch, _)) = self.replicas.get(replica) {
            self.seen
                .visible
                .entry(row)
                .or_default()
                .insert(*watch, visible);
        }
    }

    pub fn stop(&self) {
        if let Some(workload) = &self.workload {
            workload.stop();
        }
    }

    pub fn close(mut self) {
        if let Some(workload) = self.workload.take() {
            workload.close(GOODBYE);
        }
    }

    /// Of the statements planned, so many were sent.
    pub fn progress(&self) -> (u64, u64) {
        (u64::from(self.seen.steps_done), self.planned.len() as u64)
    }

    /// Judges every rule over what was seen.
    pub fn outcome(&self) -> Outcome {
        let mut writes = self.seen.writes.clone();
        for (row, visible) in &self.seen.visible {
            if let Some(write) = writes.get_mut(row) {
                write.visible = visible.clone();
            }
        }
        let writes: Vec<WriteSeen> = writes.into_values().collect();
        let wait_round_trip = Percentiles::of(self.seen.round_trips.clone()).map(|p| p.p50);
        let replicas = self.replicas_seen(&writes);
        let (wrote, read) = (writes.len() as u64, self.seen.reads.len() as u64);
        let recording = Recording::new(
            writes,
            self.seen.reads.clone(),
            self.seen.health.clone(),
            wait_round_trip.unwrap_or(Span::ZERO),
        );
        Outcome {
            writes: wrote,
            reads: read,
            refused: self.seen.refused,
            last_refusal: self.seen.last_refusal.clone(),
            replicas,
            wait_round_trip,
            comparison: compare(
                &recording,
                &mut standard(self.plan.headroom(), &self.plan.kinds),
            ),
        }
    }

    fn replicas_seen(&self, writes: &[WriteSeen]) -> Vec<ReplicaSeen> {
        let one = |(place, (watch, name)): (usize, &(WatchId, String))| {
            let mut delays = Vec::new();
            let mut unseen = 0;
            for write in writes {
                match write.visible.get(watch) {
                    Some(Visible::At(at)) => delays.push(at.since(write.committed_at).or_zero()),
                    Some(Visible::NotUntil(_)) => unseen += 1,
                    None => {}
                }
            }
            ReplicaSeen {
                watch: *watch,
                name: name.clone(),
                seen: delays.len() as u64,
                unseen,
                delay: Percentiles::of(delays),
                trouble: self.seen.cannot_look.get(&place).cloned(),
            }
        };
        self.replicas.iter().enumerate().map(one).collect()
    }
}

fn steps(planned: &[Planned]) -> Vec<Step> {
    let start = Moment::from_unix_micros(0);
    let mut row = 0;
    let mut one = |(number, planned): (u32, &Planned)| Step {
        number,
        after: planned.at.since(start),
        what: match planned.what {
            What::Write { .. } => {
                row += 1;
                StepKind::Write(row)
            }
            What::Read { .. } => StepKind::Read,
        },
    };
    (0..).zip(planned).map(&mut one).collect()
}

fn gone() -> WorkloadEnd {
    use crate::model::trouble::TroubleKind;
    use crate::monitor::prober::EndReason;
    WorkloadEnd {
        why: EndReason::Failed(Trouble {
            kind: TroubleKind::Lost,
            what: phrase("rules.end.gone"),
            hint: None,
            code: None,
            detail: String::new(),
        }),
        clean_up: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_beyond_its_bounds_is_refused_and_one_within_them_is_not() {
        let good = ComparePlan::default();
        assert_eq!(good.problem(), None);
        for bad in [
            ComparePlan {
                rate: 0,
                ..good.clone()
            },
            ComparePlan {
                rate: HIGHEST_RATE + 1,
                ..good.clone()
            },
            ComparePlan {
                length: Span::ZERO,
                ..good.clone()
            },
            ComparePlan {
                length: Span::from_secs(601),
                ..good.clone()
            },
            ComparePlan {
                length: Span::from_secs(600),
                rate: 200,
                ..good.clone()
            },
            ComparePlan {
                spare_per_second: Some(f64::NAN),
                ..good.clone()
            },
            ComparePlan {
                schema: String::new(),
                ..good.clone()
            },
        ] {
            assert!(bad.problem().is_some(), "{bad:?}");
        }
    }

    #[test]
    fn rows_are_numbered_in_order_and_statements_keep_to_the_rate() {
        let plan = ComparePlan::default();
        let steps = steps(&plan.statements());
        let rows: Vec<u32> = steps
            .iter()
            .filter_map(|step| match step.what {
                StepKind::Write(row) => Some(row),
                StepKind::Read => None,
            })
            .collect();
        assert_eq!(rows, (1..=rows.len() as u32).collect::<Vec<_>>());
        assert!((600..=1_000).contains(&steps.len()), "{}", steps.len());
        assert!(steps.last().is_some_and(|last| last.after < plan.length));
    }
}
