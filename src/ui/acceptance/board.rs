//! What the acceptance card shows: the runs of this session as `app` keeps them up to date.

use std::collections::BTreeMap;

use crate::model::acceptance::{AcceptReport, DriftTable, Step, StepName};
use crate::model::phrase::Phrase;
use crate::model::probe::ListedStatement;
use crate::model::profile::{Environment, TopologyId};
use crate::model::time::Span;
use crate::routing::record::Recorded;

/// Every topology's latest run.
#[derive(Clone, Debug, Default)]
pub struct AcceptBoard {
    pub sql: BTreeMap<TopologyId, AcceptSql>,
    pub runs: BTreeMap<TopologyId, AcceptView>,
    /// Why the last wish to start was not carried out.
    pub refused: BTreeMap<TopologyId, Phrase>,
    /// How the last report was saved.
    pub saved: Option<Result<Phrase, Phrase>>,
    /// How the last export of the requests ended.
    pub exported: Option<Result<Phrase, Phrase>>,
}

impl AcceptBoard {
    /// The topology of the run under way; there is never more than one.
    pub fn running(&self) -> Option<&TopologyId> {
        let mut all = self.runs.iter();
        all.find(|(_, run)| run.phase != AcceptPhase::Ended)
            .map(|(id, _)| id)
    }
}

/// The name is typed before every run on production, and before a replica is held back where others may be reading.
pub fn must_type(environment: Environment, may_hold: bool) -> bool {
    let harmless = match environment {
        Environment::Lab | Environment::Development => true,
        Environment::Production | Environment::Staging => false,
    };
    environment.guards_writes() || may_hold && !harmless
}

/// All that a run would send, and what the account needs for it.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptSql {
    /// The probe's own, for each flavour of server there is.
    pub flavours: Vec<(&'static str, Vec<ListedStatement>)>,
    /// On pooled connections.
    pub pools: Vec<ListedStatement>,
    /// To hold a replica back, and what that needs.
    pub hold: Vec<ListedStatement>,
    pub grant: String,
    pub hold_grant: String,
    /// How long a read may wait.
    pub wait_limit: Span,
    /// The server itself lets go of a held replica after this.
    pub longest_hold: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptPhase {
    /// Asking each server how it stands.
    Preparing,
    Running,
    Stopping,
    Ended,
}

/// One run as far as it has come.
#[derive(Clone, Debug)]
pub struct AcceptView {
    pub phase: AcceptPhase,
    /// The step under way.
    pub begun: Option<StepName>,
    /// What is being done to a server just now.
    pub does: Option<Phrase>,
    pub steps: Vec<Step>,
    pub drift: Option<DriftTable>,
    /// Every request so far.
    pub records: Vec<(StepName, Recorded)>,
    pub report: Option<AcceptReport>,
    /// It ended without a report.
    pub not_run: Option<Phrase>,
    /// The report to be attached to a ticket, in the language of the run.
    pub markdown: String,
}

impl Default for AcceptView {
    fn default() -> Self {
        AcceptView {
            phase: AcceptPhase::Preparing,
            begun: None,
            does: None,
            steps: Vec::new(),
            drift: None,
            records: Vec::new(),
            report: None,
            not_run: None,
            markdown: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lab_or_development_is_held_back_without_a_typed_name() {
        use Environment::{Development, Lab, Production, Staging};
        for (environment, plain, held) in [
            (Lab, false, false),
            (Development, false, false),
            (Staging, false, true),
            (Production, true, true),
        ] {
            assert_eq!(must_type(environment, false), plain, "{environment:?}");
            assert_eq!(must_type(environment, true), held, "{environment:?}");
        }
    }
}
