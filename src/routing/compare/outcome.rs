//! A comparison together with what it stands on: how many writes and reads there were, and how the replicas fared.

use super::{Comparison, Percentiles};
use crate::model::server::WatchId;
use crate::model::time::Span;
use crate::model::trouble::Trouble;

/// How one replica fared with the writes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaSeen {
    pub watch: WatchId,
    pub name: String,
    /// Writes that were seen there.
    pub seen: u64,
    /// Writes that were not, up to the end.
    pub unseen: u64,
    /// From commit to first seen.
    pub delay: Option<Percentiles>,
    pub trouble: Option<Trouble>,
}

/// Where a comparison stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub writes: u64,
    pub reads: u64,
    pub refused: u32,
    pub last_refusal: Option<Trouble>,
    pub replicas: Vec<ReplicaSeen>,
    /// Half of the waits for nothing took less; `None` when none was possible.
    pub wait_round_trip: Option<Span>,
    pub comparison: Comparison,
}
