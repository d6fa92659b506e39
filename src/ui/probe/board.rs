//! What the Probe screen shows: the probes of this session as `app` keeps them up to date.
//!
//! Runs come faster than frames. They are added up as they come; the figures that take sorting are worked out a few times
//! a second, by who keeps the board.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::phrase::Phrase;
use crate::model::probe::summary::{CurvePoint, HistogramBar, Percentiles, Share, VerdictCounts};
use crate::model::probe::{
    ListedStatement, Precondition, ProbePlan, ProbeRun, ProbeSummary, ReplicaSummary, WaitKind,
};
use crate::model::profile::{ServerId, TopologyId, TopologyProfile, WritePermission};
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;

/// Runs kept whole, for the export; of more, the newest.
pub const RUNS_KEPT: usize = 10_000;

/// Stretches of the staleness curve.
const STRETCHES: usize = 40;

/// Every topology's probe, and what was kept to compare with.
#[derive(Clone, Debug, Default)]
pub struct ProbeBoard {
    /// Where the person allowed writes in this session.
    pub enabled: BTreeSet<TopologyId>,
    pub sql: BTreeMap<TopologyId, ProbeSql>,
    /// The latest of each topology.
    pub probes: BTreeMap<TopologyId, ProbeView>,
    pub kept: BTreeMap<TopologyId, Vec<KeptProbe>>,
    /// How the last export ended.
    pub exported: Option<Result<Phrase, Phrase>>,
    /// Why the last wish to enable or start was not carried out.
    pub refused: BTreeMap<TopologyId, Phrase>,
}

impl ProbeBoard {
    /// Production is confirmed in every session, whatever the profile allows.
    pub fn may_write(&self, profile: &TopologyProfile) -> bool {
        let saved = profile.writes == WritePermission::Allowed;
        self.enabled.contains(&profile.id) || saved && !profile.environment.guards_writes()
    }

    /// The topology of the probe under way; there is never more than one.
    pub fn running(&self) -> Option<&TopologyId> {
        let mut all = self.probes.iter();
        all.find(|(_, probe)| probe.phase.is_active())
            .map(|(id, _)| id)
    }
}

/// All that a plan would send, for each flavour of server there is.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSql {
    pub plan: ProbePlan,
    pub flavours: Vec<(&'static str, Vec<ListedStatement>)>,
    /// The least an account needs for it.
    pub grant: String,
}

/// Where a probe stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Asking each server how it stands.
    Preparing,
    Running,
    /// The last run is given up, rows are being removed.
    Stopping,
    Ended(Box<Ending>),
}

impl Phase {
    pub fn is_active(&self) -> bool {
        !matches!(self, Phase::Ended(_))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    pub at: Moment,
    pub why: EndedBy,
    /// Our rows could not be removed.
    pub rows_left: Option<Trouble>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EndedBy {
    AllRun,
    Person,
    /// No probe, or no further run.
    Trouble(Trouble),
    /// It never began.
    NotBegun(Phrase),
}

/// One server of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    pub id: ServerId,
    pub name: String,
}

/// How the servers stood before the first write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    pub source: Vec<Precondition>,
    pub replicas: Vec<Result<Vec<Precondition>, Trouble>>,
}

/// One probe as far as it has come.
#[derive(Clone, Debug)]
pub struct ProbeView {
    pub plan: ProbePlan,
    pub phase: Phase,
    pub source: Option<Probed>,
    pub replicas: Vec<Probed>,
    pub needs: Option<Needs>,
    pub summary: ProbeSummary,
    pub figures: Figures,
    /// The newest last.
    pub runs: VecDeque<Arc<ProbeRun>>,
    /// For each replica the last run whose plain read was stale.
    pub last_stale: Vec<Option<Arc<ProbeRun>>>,
    /// Why the last write that failed did.
    pub last_failed: Option<Trouble>,
    pub began_at: Moment,
    pub first_run_at: Option<Moment>,
    pub last_run_at: Option<Moment>,
}

impl ProbeView {
    pub fn new(plan: ProbePlan, now: Moment) -> Self {
        ProbeView {
            plan,
            phase: Phase::Preparing,
            source: None,
            replicas: Vec::new(),
            needs: None,
            summary: ProbeSummary::default(),
            figures: Figures::default(),
            runs: VecDeque::new(),
            last_stale: Vec::new(),
            last_failed: None,
            began_at: now,
            first_run_at: None,
            last_run_at: None,
        }
    }

    /// All servers answered, or gave a reason; runs begin.
    pub fn begin(&mut self, source: Probed, replicas: Vec<Probed>) {
        self.summary = ProbeSummary::of_replicas(replicas.len());
        self.last_stale = vec![None; replicas.len()];
        self.source = Some(source);
        self.replicas = replicas;
        self.phase = Phase::Running;
    }

    pub fn take_in(&mut self, run: Arc<ProbeRun>, now: Moment) {
        self.first_run_at.get_or_insert(now);
        self.last_run_at = Some(now);
        self.summary.add(&run);
        if let Err(trouble) = &run.write {
            self.last_failed = Some(trouble.clone());
        }
        for (last, replica) in self.last_stale.iter_mut().zip(&run.replicas) {
            if replica.plain.verdict(&run.value).is_stale() {
                *last = Some(Arc::clone(&run));
            }
        }
        if self.runs.len() == RUNS_KEPT {
            self.runs.pop_front();
        }
        self.runs.push_back(run);
    }

    pub fn end(&mut self, why: EndedBy, rows_left: Option<Trouble>, now: Moment) {
        self.refresh();
        let ending = Ending {
            at: now,
            why,
            rows_left,
        };
        self.phase = Phase::Ended(Box::new(ending));
    }

    /// Works the figures out anew.
    pub fn refresh(&mut self) {
        self.figures = Figures::of(&self.summary);
    }

    pub fn is_repeated(&self) -> bool {
        self.plan.runs > 1
    }

    /// Runs done, with or without a write.
    pub fn done(&self) -> u64 {
        self.summary.runs + self.summary.writes_failed
    }
}

/// What the runs so far add up to, worked out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub runs: u64,
    pub writes_failed: u64,
    pub source: VerdictCounts,
    pub replicas: Vec<ReplicaFigures>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplicaFigures {
    pub plain: VerdictCounts,
    pub stale: Option<Share>,
    pub waited: VerdictCounts,
    pub outcomes: BTreeMap<WaitKind, u64>,
    pub read_from_source: u64,
    pub waits: Option<Percentiles>,
    pub commit_to_waited: Option<Percentiles>,
    pub curve: Vec<CurvePoint>,
    pub histogram: Vec<HistogramBar>,
}

impl Figures {
    pub fn of(summary: &ProbeSummary) -> Self {
        Figures {
            runs: summary.runs,
            writes_failed: summary.writes_failed,
            source: summary.source,
            replicas: summary.replicas.iter().map(ReplicaFigures::of).collect(),
        }
    }
}

impl ReplicaFigures {
    fn of(summary: &ReplicaSummary) -> Self {
        let reads = summary.plain.fresh + summary.plain.stale();
        // a stretch with two reads says nothing
        let stretches = (reads as usize / 10).clamp(4, STRETCHES);
        ReplicaFigures {
            plain: summary.plain,
            stale: summary.plain.stale_share(),
            waited: summary.waited,
            outcomes: summary.outcomes.clone(),
            read_from_source: summary.read_from_source,
            waits: summary.waits(),
            commit_to_waited: summary.commit_to_waited(),
            curve: joined(&summary.curve(stretches)),
            histogram: summary.wait_histogram(),
        }
    }

    /// The time after a commit from which on no stretch has a larger stale share than this. `None`: not reached.
    pub fn fresh_from(&self, stale_share: f64) -> Option<Span> {
        let last_above = self
            .curve
            .iter()
            .rposition(|point| point.share.value > stale_share);
        match last_above {
            None => self.curve.first().map(|_| Span::ZERO),
            Some(last) if last + 1 == self.curve.len() => None,
            Some(last) => Some(self.curve[last].to),
        }
    }
}

/// Fewer reads in a stretch say nothing.
const READS_IN_A_STRETCH: u64 = 8;

/// Neighbouring stretches with few reads as one.
fn joined(curve: &[CurvePoint]) -> Vec<CurvePoint> {
    let mut list: Vec<CurvePoint> = Vec::with_capacity(curve.len());
    let stale = |point: &CurvePoint| (point.share.value * point.share.count as f64).round() as u64;
    for point in curve {
        let open = list
            .last_mut()
            .filter(|last| last.share.count < READS_IN_A_STRETCH);
        let Some(last) = open else {
            list.push(*point);
            continue;
        };
        let count = last.share.count + point.share.count;
        if let Some(share) = Share::of(stale(last) + stale(point), count) {
            *last = CurvePoint {
                from: last.from,
                to: point.to,
                share,
            };
        }
    }
    list
}

/// A result kept to hold a later one against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptProbe {
    pub at: Moment,
    /// What the person calls it: "before parallel workers".
    pub name: String,
    pub plan: ProbePlan,
    pub replicas: Vec<Probed>,
    pub figures: Figures,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(from_ms: i64, stale: u64, count: u64) -> CurvePoint {
        CurvePoint {
            from: Span::from_millis(from_ms),
            to: Span::from_millis(from_ms + 1),
            share: Share::of(stale, count).expect("reads"),
        }
    }

    #[test]
    fn stretches_with_few_reads_are_one() {
        let curve = [
            point(0, 9, 10),
            point(1, 1, 3),
            point(2, 0, 6),
            point(5, 0, 2),
        ];
        let list = joined(&curve);
        let told: Vec<(i64, i64, f64, u64)> = list
            .iter()
            .map(|p| (p.from.micros(), p.to.micros(), p.share.value, p.share.count))
            .collect();
        assert_eq!(
            told,
            [
                (0, 1_000, 0.9, 10),
                (1_000, 3_000, 1.0 / 9.0, 9),
                (5_000, 6_000, 0.0, 2)
            ]
        );
    }
}
