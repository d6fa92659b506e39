//! `replicascope probe`: what it may be told.

use clap::{Args, ValueEnum};

use super::Selection;
use super::values::{threshold, wait_limit};
use crate::model::probe::{
    Awaited, DEFAULT_RATE, DEFAULT_SCHEMA, MOST_RUNS, ProbeFlavour, ProbePlan, ReadDelay, Reader,
};
use crate::model::time::Span;

#[derive(Debug, Args)]
pub struct ProbeArgs {
    #[command(flatten)]
    pub selection: Selection,

    /// How many writes. With more than one, the plain reads are sent at times spread over the delay seen.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS)))]
    pub runs: u32,

    /// A new row each time, or the same row changed each time.
    #[arg(long, value_enum, default_value = "insert")]
    pub flavour: FlavourArg,

    /// The longest wait on a replica.
    #[arg(long, value_parser = wait_limit, value_name = "TIME", default_value = "1s")]
    pub wait: Span,

    /// Wait for the write's own GTID, or for all that the source has executed.
    #[arg(long = "await", value_enum, default_value = "own", value_name = "WHAT")]
    pub awaited: AwaitArg,

    /// Runs a second, at most.
    #[arg(long, default_value_t = DEFAULT_RATE, value_name = "N")]
    pub rate: f64,

    /// The schema our table lies in; made where it is missing.
    #[arg(long, default_value = DEFAULT_SCHEMA)]
    pub schema: String,

    /// Spread the plain reads over 0 to this time after the commit.
    #[arg(long, value_parser = threshold, value_name = "TIME")]
    pub sweep: Option<Span>,

    /// Have another session read, which does not know what was written.
    #[arg(long)]
    pub cross_session: bool,

    /// Also measure how soon the write could be seen at all, by looking without pause.
    #[arg(long)]
    pub floor: bool,

    /// Allow the probe to write into its own table. On production the topology's name must be typed besides.
    #[arg(long)]
    pub enable_writes: bool,

    /// One JSON object a line, per run and replica, then one summary.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FlavourArg {
    Insert,
    Update,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AwaitArg {
    Own,
    Whole,
}

impl ProbeArgs {
    pub fn plan(&self) -> ProbePlan {
        ProbePlan {
            flavour: match self.flavour {
                FlavourArg::Insert => ProbeFlavour::Insert,
                FlavourArg::Update => ProbeFlavour::Update,
            },
            awaited: match self.awaited {
                AwaitArg::Own => Awaited::OwnGtid,
                AwaitArg::Whole => Awaited::WholeSet,
            },
            reader: if self.cross_session {
                Reader::SomebodyElse
            } else {
                Reader::Writer
            },
            wait_limit: self.wait,
            schema: self.schema.clone(),
            read_delay: match (self.runs, self.sweep) {
                (1, None) => ReadDelay::None,
                (_, up_to) => ReadDelay::Swept { up_to },
            },
            runs: self.runs,
            rate: self.rate,
            measures_floor: self.floor,
        }
    }
}
