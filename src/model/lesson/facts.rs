//! What a step can wait for: the state of the lab as the product sees it, at one instant.

use std::collections::{BTreeMap, BTreeSet};

use super::Place;
use crate::model::acceptance::AcceptVerdict;
use crate::model::finding::Role;
use crate::model::lab::{FaultKind, FaultNote, FaultState, LabServer, Traffic};
use crate::model::lag::{CauseKind, Method, Stages};
use crate::model::replication::Field;
use crate::model::time::{Moment, Span};

/// Everything conditions are checked against. What is not known is left empty, and no condition is met by it except
/// those that ask for the unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonFacts {
    pub servers: BTreeMap<LabServer, ServerFacts>,
    /// Findings about the topology as a whole.
    pub findings: BTreeSet<&'static str>,
    /// As the lab told them.
    pub faults: Vec<FaultNote>,
    pub traffic: Option<Traffic>,
    /// The latest probe.
    pub probe: Option<ProbeFacts>,
    /// The latest acceptance run that came to its end.
    pub acceptance: Option<Acceptance>,
    /// When the latest comparison of rules that has a result was started.
    pub compared: Option<Moment>,
    /// The screen on show, and the server on it.
    pub shown: Option<(Place, Option<LabServer>)>,
}

/// One server of the lab.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerFacts {
    pub role: Role,
    /// Its answers are no older than they should be: only then does the absence of something say anything.
    pub is_fresh: bool,
    /// Codes of the findings that hold about it and its channels.
    pub findings: BTreeSet<&'static str>,
    pub lag: LagNow,
    /// Each method's own figure, where it has one.
    pub methods: BTreeMap<Method, Span>,
    pub cause: Option<CauseKind>,
    pub stages: Stages,
    /// Of its channel that is furthest behind; absent on a source.
    pub seconds_behind: Field<i64>,
    pub semi_sync: SemiSyncNow,
    /// Transactions the source does not have; `None`: not known.
    pub errant: Option<u64>,
    /// Whether the heartbeat's event is enabled here; `None`: not known, or there is none.
    pub event_enabled: Option<bool>,
    /// Queries that run for seconds already.
    pub long_reads: u64,
    /// Transactions it commits a second, applied ones included; `None` before two polls.
    pub writes_per_second: Option<f64>,
}

impl Default for ServerFacts {
    fn default() -> Self {
        ServerFacts {
            role: Role::Unknown,
            is_fresh: false,
            findings: BTreeSet::new(),
            lag: LagNow::Unknown,
            methods: BTreeMap::new(),
            cause: None,
            stages: Stages::default(),
            seconds_behind: Field::Absent,
            semi_sync: SemiSyncNow::Unknown,
            errant: None,
            event_enabled: None,
            long_reads: 0,
            writes_per_second: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LagNow {
    Measured(Span),
    Unknown,
    /// A source.
    NotApplicable,
}

/// Semi-sync as the source has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemiSyncNow {
    Active,
    /// Configured, and not in force.
    Degraded,
    /// Not configured, or this is no source.
    Off,
    Unknown,
}

/// What a probe has come to so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeFacts {
    pub started_at: Moment,
    pub is_over: bool,
    pub runs: u64,
    /// Plain reads, of all replicas together.
    pub plain: StaleReads,
    /// Reads from a replica after a successful wait that were fresh.
    pub waited_fresh: u64,
    /// Such reads that were stale all the same.
    pub waited_stale: u64,
    pub timed_out: u64,
    /// Reads that went to the source because the wait did not succeed, whatever the reason.
    pub read_from_source: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaleReads {
    pub fresh: u64,
    /// The value from before the write.
    pub old: u64,
    /// The row is not there.
    pub missing: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub started_at: Moment,
    pub verdict: AcceptVerdict,
}

impl LessonFacts {
    /// Whether a fault of this kind is in force somewhere.
    pub fn has_fault(&self, kind: FaultKind) -> bool {
        self.notes_of(kind)
            .any(|note| matches!(note.state, FaultState::Active | FaultState::Stuck { .. }))
    }

    /// Whether the last fault of this kind is over.
    pub fn is_over(&self, kind: FaultKind) -> bool {
        self.last_of(kind).is_some_and(|note| {
            matches!(
                note.state,
                FaultState::Over { .. } | FaultState::Passed { .. }
            )
        })
    }

    /// The youngest of this kind.
    pub fn last_of(&self, kind: FaultKind) -> Option<&FaultNote> {
        self.notes_of(kind).last()
    }

    fn notes_of(&self, kind: FaultKind) -> impl Iterator<Item = &FaultNote> {
        self.faults
            .iter()
            .filter(move |note| note.fault.kind == kind)
    }
}
