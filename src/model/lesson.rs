//! A lesson as data: what to press, what to watch and where, and the facts by which a step ticks itself off.
//!
//! [`facts`] is what can be seen, [`condition`] what a step waits for, [`run`] a lesson being taught, [`servers`]
//! on which servers. Reading lessons from files is the business of `lab::lessons`, filling in the facts that of `app`.

use std::collections::BTreeSet;

pub mod condition;
pub mod facts;
pub mod run;
pub mod said;
pub mod servers;

pub use condition::{Condition, LagRange, Presence, SecondsBehind};
pub use facts::{
    Acceptance, LagNow, LessonFacts, ProbeFacts, SemiSyncNow, ServerFacts, StaleReads,
};
pub use run::{LessonRun, Page};
pub use said::{Answer, Said, Statement, Table};
pub use servers::{Made, Servers};

pub use super::dialect::Dialect;
use super::lab::{FaultKind, LabPlan, LabServer, Traffic};
use super::probe::ProbePlan;
use super::time::Span;

/// What the lab calls its servers, as lessons name them.
pub fn server_name(server: LabServer) -> String {
    match server {
        0 => "source".to_owned(),
        replica => format!("replica-{replica}"),
    }
}

/// A text in both languages of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bilingual {
    pub en: String,
    pub zh: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// For the command line, such as `seconds-behind`.
    pub id: String,
    /// From 1, in the order of teaching.
    pub number: u32,
    pub title: Bilingual,
    /// What a student can say or do afterwards.
    pub goal: Bilingual,
    /// How long it takes in class.
    pub minutes: u32,
    pub lab: LabNeed,
    pub steps: Vec<Step>,
    pub question: Question,
    /// What to check at home, on servers that earn money.
    pub production: Vec<Bilingual>,
}

/// The lab a lesson is taught on.
#[derive(Clone, Debug, PartialEq)]
pub struct LabNeed {
    /// Its ground and seed are only what is built where there is no lab yet.
    pub plan: LabPlan,
}

impl LabNeed {
    /// Whether this lesson can be taught on a lab that stands already.
    pub fn fits(&self, lab: &LabPlan) -> bool {
        lab.shape == self.plan.shape
            && lab.replicas >= self.plan.replicas
            && lab.semi_sync == self.plan.semi_sync
            && lab.applier_workers == self.plan.applier_workers
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What to do and what to see: two or three sentences, to be read from the last row.
    pub text: Bilingual,
    /// What the button "do it for me" does, in this order; empty where there is only something to look at.
    pub acts: Vec<Act>,
    /// Where to look.
    pub look: Option<Spot>,
    /// For the students' own clients.
    pub sql: Option<StepSql>,
    /// Ticks the step off when seen; without it the person does.
    pub until: Option<Condition>,
    /// It must hold for so long without a break.
    pub hold: Span,
    /// After this time without success the hint is shown.
    pub patience: Span,
    pub hint: Option<Bilingual>,
}

/// The time after which a step that is not ticked off shows its hint, where the lesson does not say.
pub const USUAL_PATIENCE: Span = Span::from_secs(45);

/// A statement to try by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSql {
    pub on: LabServer,
    /// The lab's account that may do it.
    pub account: &'static str,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub ask: Bilingual,
    pub answer: Bilingual,
}

/// What the runner, or a button, can do for the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Make {
        kind: FaultKind,
        on: LabServer,
        /// In the unit of its kind; 0 where it has none.
        intensity: f64,
        lasts: Option<Span>,
    },
    /// Every fault of this kind that has not been undone.
    Undo(FaultKind),
    UndoAll,
    Carry(Traffic),
    Probe {
        plan: ProbePlan,
        /// None: all replicas.
        replica: Option<LabServer>,
    },
    /// Hold the routing rules against a workload.
    Compare {
        length: Span,
        /// Statements a second.
        rate: u32,
    },
    /// The acceptance run; holding a replica back for a moment is allowed in a lab.
    Accept,
    Show(Spot),
    /// Before the next act.
    Wait(Span),
}

/// What a person asks of the lessons.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonOrder {
    /// By its id.
    Begin(String),
    Leave,
    Forward,
    Back,
    Open(Page),
    /// Do for me what this step says.
    Act,
    /// Say for me the statements of this step.
    Say,
    /// I have seen it.
    Tick,
    RevealAnswer,
    /// Bring this up and show where it is.
    Look(Spot),
    /// Large, for the projector.
    Present(bool),
    /// Make the lab this lesson needs, in place of the one that stands.
    BuildLab,
}

/// Something on the screens that a lesson points at. A server is meant where there is one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spot {
    /// The sentence on top of the window.
    Verdict,
    /// The tree of servers.
    Tree,
    OverviewPlot,
    OverviewSource,
    OverviewCard(LabServer),
    ServerChannels(LabServer),
    ServerAppliers(LabServer),
    ServerGtids(LabServer),
    ServerSettings(LabServer),
    ServerLoad(LabServer),
    LagPlot(LabServer),
    LagVerdict(LabServer),
    /// Transport, queue, apply.
    LagStages(LabServer),
    LagClocks(LabServer),
    TransactionsSource,
    TransactionsReplica(LabServer),
    SemiSync,
    ProbeControls,
    ProbeTimeline,
    ProbeFigures,
    /// P(stale) against the time since the commit.
    ProbeCurve,
    RoutingRules,
    RoutingGuard,
    Acceptance,
    Events,
    LabTopology,
    LabTraffic,
    LabFaults,
}

/// The screens a lesson can point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Overview,
    Server,
    Lag,
    Transactions,
    SemiSync,
    Probe,
    Routing,
    Events,
    Lab,
}

impl Spot {
    /// One of each, those about a server with this one.
    pub fn all(server: LabServer) -> [Spot; 28] {
        [
            Spot::Verdict,
            Spot::Tree,
            Spot::OverviewPlot,
            Spot::OverviewSource,
            Spot::OverviewCard(server),
            Spot::ServerChannels(server),
            Spot::ServerAppliers(server),
            Spot::ServerGtids(server),
            Spot::ServerSettings(server),
            Spot::ServerLoad(server),
            Spot::LagPlot(server),
            Spot::LagVerdict(server),
            Spot::LagStages(server),
            Spot::LagClocks(server),
            Spot::TransactionsSource,
            Spot::TransactionsReplica(server),
            Spot::SemiSync,
            Spot::ProbeControls,
            Spot::ProbeTimeline,
            Spot::ProbeFigures,
            Spot::ProbeCurve,
            Spot::RoutingRules,
            Spot::RoutingGuard,
            Spot::Acceptance,
            Spot::Events,
            Spot::LabTopology,
            Spot::LabTraffic,
            Spot::LabFaults,
        ]
    }

    /// For files and keys of the catalogue.
    pub fn code(self) -> &'static str {
        match self {
            Spot::Verdict => "verdict",
            Spot::Tree => "tree",
            Spot::OverviewPlot => "overview_plot",
            Spot::OverviewSource => "overview_source",
            Spot::OverviewCard(_) => "overview_card",
            Spot::ServerChannels(_) => "server_channels",
            Spot::ServerAppliers(_) => "server_appliers",
            Spot::ServerGtids(_) => "server_gtids",
            Spot::ServerSettings(_) => "server_settings",
            Spot::ServerLoad(_) => "server_load",
            Spot::LagPlot(_) => "lag_plot",
            Spot::LagVerdict(_) => "lag_verdict",
            Spot::LagStages(_) => "lag_stages",
            Spot::LagClocks(_) => "lag_clocks",
            Spot::TransactionsSource => "transactions_source",
            Spot::TransactionsReplica(_) => "transactions_replica",
            Spot::SemiSync => "semi_sync",
            Spot::ProbeControls => "probe_controls",
            Spot::ProbeTimeline => "probe_timeline",
            Spot::ProbeFigures => "probe_figures",
            Spot::ProbeCurve => "probe_curve",
            Spot::RoutingRules => "routing_rules",
            Spot::RoutingGuard => "routing_guard",
            Spot::Acceptance => "acceptance",
            Spot::Events => "events",
            Spot::LabTopology => "lab_topology",
            Spot::LabTraffic => "lab_traffic",
            Spot::LabFaults => "lab_faults",
        }
    }

    /// The screen it is on; `None`: it is in sight on every screen.
    pub fn place(self) -> Option<Place> {
        Some(match self {
            Spot::Verdict | Spot::Tree => return None,
            Spot::OverviewPlot | Spot::OverviewSource | Spot::OverviewCard(_) => Place::Overview,
            Spot::ServerChannels(_)
            | Spot::ServerAppliers(_)
            | Spot::ServerGtids(_)
            | Spot::ServerSettings(_)
            | Spot::ServerLoad(_) => Place::Server,
            Spot::LagPlot(_) | Spot::LagVerdict(_) | Spot::LagStages(_) | Spot::LagClocks(_) => {
                Place::Lag
            }
            Spot::TransactionsSource | Spot::TransactionsReplica(_) => Place::Transactions,
            Spot::SemiSync => Place::SemiSync,
            Spot::ProbeControls
            | Spot::ProbeTimeline
            | Spot::ProbeFigures
            | Spot::ProbeCurve
            | Spot::Acceptance => Place::Probe,
            Spot::RoutingRules | Spot::RoutingGuard => Place::Routing,
            Spot::Events => Place::Events,
            Spot::LabTopology | Spot::LabTraffic | Spot::LabFaults => Place::Lab,
        })
    }

    /// The server it is about, if it is about one.
    pub fn server(self) -> Option<LabServer> {
        match self {
            Spot::OverviewCard(server)
            | Spot::ServerChannels(server)
            | Spot::ServerAppliers(server)
            | Spot::ServerGtids(server)
            | Spot::ServerSettings(server)
            | Spot::ServerLoad(server)
            | Spot::LagPlot(server)
            | Spot::LagVerdict(server)
            | Spot::LagStages(server)
            | Spot::LagClocks(server)
            | Spot::TransactionsReplica(server) => Some(server),
            _ => None,
        }
    }
}

impl Lesson {
    /// The codes of findings that its steps wait for.
    pub fn findings(&self) -> BTreeSet<&str> {
        let mut codes = BTreeSet::new();
        for condition in self.steps.iter().filter_map(|step| step.until.as_ref()) {
            condition.visit(&mut |part| {
                if let Condition::Finding { code, .. } = part {
                    codes.insert(code.as_str());
                }
            });
        }
        codes
    }
}

#[cfg(test)]
mod tests;
