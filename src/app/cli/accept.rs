//! `replicascope accept`: what it may be told.

use std::path::PathBuf;

use clap::Args;

use super::values::{given, wait_limit};
use super::{Given, Selection};
use crate::model::probe::{DEFAULT_SCHEMA, ProbeFlavour, ProbePlan};
use crate::model::time::Span;

#[derive(Debug, Args)]
pub struct AcceptArgs {
    #[command(flatten)]
    pub selection: Selection,

    /// The longest wait on a replica.
    #[arg(long, value_parser = wait_limit, value_name = "TIME", default_value = "1s")]
    pub wait: Span,

    /// The schema our table lies in; made where it is missing.
    #[arg(long, default_value = DEFAULT_SCHEMA)]
    pub schema: String,

    /// A proxy before the source, which the pools of step 5 connect to, with the source's account.
    #[arg(long, value_name = "ADDRESS", value_parser = given)]
    pub proxy: Option<Given>,

    /// Allow the run to write into its own table. On production the topology's name must be typed besides.
    #[arg(long)]
    pub enable_writes: bool,

    /// Allow the run to hold each replica's applier back for a moment, by a lock on its own table. Without a topology
    /// marked lab or development a name must be typed besides.
    #[arg(long)]
    pub allow_faults: bool,

    /// One JSON object.
    #[arg(long)]
    pub json: bool,

    /// Write a report to attach to a change ticket.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub markdown: Option<PathBuf>,

    /// Write one line for each request: where it went and why, what its connection carried, who is to blame. CSV where the
    /// name ends in .csv, otherwise one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
}

impl AcceptArgs {
    pub fn plan(&self) -> ProbePlan {
        ProbePlan {
            flavour: ProbeFlavour::Update,
            wait_limit: self.wait,
            schema: self.schema.clone(),
            ..ProbePlan::default()
        }
    }
}
