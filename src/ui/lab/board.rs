//! What the Lab screen shows: the lab of this session as `app` keeps it up to date.

use std::path::PathBuf;

use crate::model::lab::{LabPhase, LabStatus, Recipe};
use crate::model::phrase::Phrase;
use crate::model::profile::TopologyId;
use crate::model::server::Flavour;

#[derive(Clone, Debug, Default)]
pub struct LabBoard {
    /// As last told; none: no lab was started in this session.
    pub status: Option<LabStatus>,
    /// The topology made of its servers, while it runs.
    pub topology: Option<TopologyId>,
    /// How much of the traffic that is asked for comes to pass.
    pub rates: Option<TrafficRates>,
    /// Servers installed on this machine; none: not looked for yet.
    pub found: Option<Vec<FoundProgram>>,
    /// Why the server program that the person showed us will not do.
    pub useless: Option<Phrase>,
    /// As texts, the lab that was last asked for so.
    pub recipes: Option<Recipes>,
    /// How writing one to a file ended.
    pub saved: Option<Result<Phrase, Phrase>>,
    /// Why the last wish was not carried out.
    pub refused: Option<Phrase>,
}

/// How to make a lab's servers elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipes {
    pub compose: String,
    pub dbdeployer: String,
}

impl Recipes {
    pub fn of(&self, recipe: Recipe) -> &str {
        match recipe {
            Recipe::Compose => &self.compose,
            Recipe::Dbdeployer => &self.dbdeployer,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficRates {
    pub writes_per_second: f64,
    pub reads_per_second: f64,
}

/// A server program a lab can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    pub flavour: Flavour,
    /// Such as `9.7.4`.
    pub version: String,
    pub path: PathBuf,
}

impl LabBoard {
    pub fn is_running(&self) -> bool {
        let phase = self.status.as_ref().map(|status| &status.phase);
        matches!(phase, Some(LabPhase::Running { .. }))
    }

    /// A lab stands, or is being made or removed.
    pub fn is_busy(&self) -> bool {
        let phase = self.status.as_ref().map(|status| &status.phase);
        matches!(
            phase,
            Some(LabPhase::Starting(_) | LabPhase::Running { .. } | LabPhase::Stopping)
        )
    }
}
