//! What a step waits for.

use super::Spot;
use super::facts::{LagNow, LessonFacts, ProbeFacts, SemiSyncNow, ServerFacts};
use crate::model::acceptance::AcceptVerdict;
use crate::model::finding::Role;
use crate::model::lab::{FaultKind, LabServer};
use crate::model::lag::{CauseKind, Method};
use crate::model::replication::Field;
use crate::model::time::{Moment, Span};

/// Something that can be seen. A server nobody hears of meets none of them, except those that ask for the unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Finding {
        /// As `health` names it.
        code: String,
        /// None: about anybody.
        on: Option<LabServer>,
        is: Presence,
    },
    Lag {
        on: LabServer,
        /// None: the one the product believes.
        method: Option<Method>,
        range: LagRange,
    },
    LagUnknown {
        on: LabServer,
    },
    Cause {
        on: LabServer,
        kind: CauseKind,
    },
    /// One part of the way of a late transaction takes so long.
    Stage {
        on: LabServer,
        stage: StageKind,
        above: Span,
    },
    SecondsBehind {
        on: LabServer,
        is: SecondsBehind,
    },
    SemiSync {
        on: LabServer,
        is: SemiSyncNow,
    },
    Errant {
        on: LabServer,
    },
    Role {
        on: LabServer,
        is: Role,
    },
    EventDisabled {
        on: LabServer,
    },
    Fault {
        kind: FaultKind,
        is: Presence,
    },
    /// So many queries that run for seconds.
    LongReads {
        on: LabServer,
        at_least: u64,
    },
    /// So many transactions a second, or more.
    Traffic {
        on: LabServer,
        at_least: f64,
    },

    // Of a probe, run or comparison that was started in this step.
    ProbeOver,
    PlainStale {
        kind: Staleness,
        at_least: u64,
    },
    /// Plain reads, so many of them, and not one stale.
    PlainFresh {
        at_least: u64,
    },
    /// Reads after a wait, so many of them, and not one stale.
    WaitedFresh {
        at_least: u64,
    },
    /// The wait timed out, and the read went to the source.
    TimedOutToSource {
        at_least: u64,
    },
    /// The read went to the source, whatever the reason.
    ReadFromSource {
        at_least: u64,
    },
    Accepted {
        verdict: Option<AcceptVerdict>,
    },
    Compared,

    /// The screen this spot is on is open.
    Shown(Spot),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    There,
    /// It was there, or may have been, and is not now.
    Gone,
}

/// Both ends belong to it; at least one is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagRange {
    pub at_least: Option<Span>,
    pub at_most: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondsBehind {
    Null,
    AtLeast(i64),
    AtMost(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageKind {
    Transport,
    Queue,
    Apply,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staleness {
    Any,
    Missing,
    Old,
}

impl LagRange {
    pub fn contains(self, lag: Span) -> bool {
        self.at_least.is_none_or(|least| lag >= least)
            && self.at_most.is_none_or(|most| lag <= most)
    }
}

impl Condition {
    /// Whether it holds. What was started before `since`, when the step began, does not count.
    pub fn met(&self, facts: &LessonFacts, since: Moment) -> bool {
        let server = |on: &LabServer| facts.servers.get(on);
        let probe = || facts.probe.as_ref().filter(|p| p.started_at >= since);
        match self {
            Condition::Finding { code, on, is } => finding(facts, code, *on, *is),
            Condition::Lag { on, method, range } => server(on)
                .and_then(|server| lag(server, *method))
                .is_some_and(|lag| range.contains(lag)),
            Condition::LagUnknown { on } => server(on).is_some_and(|s| s.lag == LagNow::Unknown),
            Condition::Cause { on, kind } => server(on).is_some_and(|s| s.cause == Some(*kind)),
            Condition::Stage { on, stage, above } => server(on)
                .and_then(|server| stage_of(server, *stage))
                .is_some_and(|span| span >= *above),
            Condition::SecondsBehind { on, is } => {
                server(on).is_some_and(|s| is.holds(&s.seconds_behind))
            }
            Condition::SemiSync { on, is } => server(on).is_some_and(|s| s.semi_sync == *is),
            Condition::Errant { on } => server(on).is_some_and(|s| s.errant.unwrap_or(0) > 0),
            Condition::Role { on, is } => server(on).is_some_and(|s| s.role == *is),
            Condition::EventDisabled { on } => {
                server(on).is_some_and(|s| s.event_enabled == Some(false))
            }
            Condition::Fault { kind, is } => match is {
                Presence::There => facts.has_fault(*kind),
                Presence::Gone => facts.is_over(*kind),
            },
            Condition::LongReads { on, at_least } => {
                server(on).is_some_and(|s| s.long_reads >= *at_least)
            }
            Condition::Traffic { on, at_least } => server(on)
                .and_then(|s| s.writes_per_second)
                .is_some_and(|rate| rate >= *at_least),
            Condition::ProbeOver => probe().is_some_and(|p| p.is_over && p.runs > 0),
            Condition::PlainStale { kind, at_least } => {
                probe().is_some_and(|p| kind.count(p) >= *at_least)
            }
            Condition::PlainFresh { at_least } => {
                probe().is_some_and(|p| p.plain.fresh >= *at_least && Staleness::Any.count(p) == 0)
            }
            Condition::WaitedFresh { at_least } => {
                probe().is_some_and(|p| p.waited_fresh >= *at_least && p.waited_stale == 0)
            }
            Condition::TimedOutToSource { at_least } => {
                probe().is_some_and(|p| p.timed_out >= *at_least && p.read_from_source >= *at_least)
            }
            Condition::ReadFromSource { at_least } => {
                probe().is_some_and(|p| p.read_from_source >= *at_least)
            }
            Condition::Accepted { verdict } => facts.acceptance.is_some_and(|run| {
                run.started_at >= since && verdict.is_none_or(|wanted| run.verdict == wanted)
            }),
            Condition::Compared => facts.compared.is_some_and(|at| at >= since),
            Condition::Shown(spot) => is_shown(facts, *spot),
            Condition::All(parts) => parts.iter().all(|part| part.met(facts, since)),
            Condition::Any(parts) => parts.iter().any(|part| part.met(facts, since)),
        }
    }

    /// This condition and all within it.
    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Condition)) {
        see(self);
        if let Condition::All(parts) | Condition::Any(parts) = self {
            for part in parts {
                part.visit(see);
            }
        }
    }
}

/// A finding is gone only where somebody fresh says so: silence is not health.
fn finding(facts: &LessonFacts, code: &str, on: Option<LabServer>, is: Presence) -> bool {
    let holds = |server: &ServerFacts| server.findings.contains(code);
    match (on, is) {
        (Some(on), Presence::There) => facts.servers.get(&on).is_some_and(holds),
        (Some(on), Presence::Gone) => facts
            .servers
            .get(&on)
            .is_some_and(|server| server.is_fresh && !holds(server)),
        (None, Presence::There) => {
            facts.findings.contains(code) || facts.servers.values().any(holds)
        }
        (None, Presence::Gone) => {
            !facts.servers.is_empty()
                && !facts.findings.contains(code)
                && facts.servers.values().all(|s| s.is_fresh && !holds(s))
        }
    }
}

fn is_shown(facts: &LessonFacts, spot: Spot) -> bool {
    let Some(place) = spot.place() else {
        return true;
    };
    facts.shown.is_some_and(|(shown, server)| {
        shown == place && (spot.server().is_none() || spot.server() == server)
    })
}

fn lag(server: &ServerFacts, method: Option<Method>) -> Option<Span> {
    match (method, server.lag) {
        (Some(method), _) => server.methods.get(&method).copied(),
        (None, LagNow::Measured(lag)) => Some(lag),
        (None, LagNow::Unknown | LagNow::NotApplicable) => None,
    }
}

fn stage_of(server: &ServerFacts, stage: StageKind) -> Option<Span> {
    match stage {
        StageKind::Transport => server.stages.transport,
        StageKind::Queue => server.stages.queue,
        StageKind::Apply => server.stages.apply,
    }
}

impl SecondsBehind {
    fn holds(self, told: &Field<i64>) -> bool {
        match (self, told) {
            (SecondsBehind::Null, Field::Null) => true,
            (SecondsBehind::AtLeast(least), Field::Value(seconds)) => *seconds >= least,
            (SecondsBehind::AtMost(most), Field::Value(seconds)) => *seconds <= most,
            _ => false,
        }
    }
}

impl Staleness {
    fn count(self, probe: &ProbeFacts) -> u64 {
        match self {
            Staleness::Any => probe.plain.old + probe.plain.missing,
            Staleness::Missing => probe.plain.missing,
            Staleness::Old => probe.plain.old,
        }
    }
}
