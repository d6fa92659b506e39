//! What the program tells this screen of a comparison.

use crate::model::phrase::Phrase;
use crate::model::profile::TopologyId;
use crate::model::time::Moment;
use crate::routing::compare::Outcome;

/// A comparison under way or over.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub topology: TopologyId,
    pub is_running: bool,
    /// Of the statements planned, so many were sent.
    pub done: u64,
    pub planned: u64,
    /// As far as it has come.
    pub outcome: Option<Outcome>,
    pub at: Moment,
    /// What a person should know: unmet needs, an early end, refused writes, rows left behind.
    pub troubles: Vec<Phrase>,
}
