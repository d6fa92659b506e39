//! `replicascope route`: what it may be told.

use clap::Args;

use super::Selection;
use super::values::threshold;
use crate::app::comparing::{ComparePlan, DEFAULT_RATE};
use crate::model::probe::DEFAULT_SCHEMA;
use crate::model::time::Span;

#[derive(Debug, Args)]
pub struct RouteArgs {
    #[command(flatten)]
    pub selection: Selection,

    /// How long the workload runs.
    #[arg(long = "for", value_parser = threshold, value_name = "TIME", default_value = "20s")]
    pub run_for: Span,

    /// Statements a second, reads and writes of all sessions together; at most 200.
    #[arg(long, default_value_t = DEFAULT_RATE, value_name = "N")]
    pub rate: u32,

    /// Reads a second the source could take over when replicas are taken out; adds the rule that keeps to it.
    #[arg(long, value_name = "N")]
    pub spare: Option<f64>,

    /// The same seed gives the same workload.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// The schema our table lies in; made where it is missing.
    #[arg(long, default_value = DEFAULT_SCHEMA)]
    pub schema: String,

    /// Allow the workload to write into its own table. On production the topology's name must be typed besides.
    #[arg(long)]
    pub enable_writes: bool,

    /// One JSON object a line: one for each rule, then one summary.
    #[arg(long)]
    pub json: bool,
}

impl RouteArgs {
    pub fn plan(&self) -> ComparePlan {
        ComparePlan {
            length: self.run_for,
            rate: self.rate,
            spare_per_second: self.spare,
            schema: self.schema.clone(),
            seed: self.seed,
            ..ComparePlan::default()
        }
    }
}
