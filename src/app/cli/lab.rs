//! `replicascope lab`: what it may be told.

use clap::{Args, ValueEnum};

use super::values::interval;
use crate::model::lab::{Generation, MOST_REPLICAS, Recipe};
use crate::model::time::Span;
use crate::words::Language;

#[derive(Clone, Debug, Default, Args)]
pub struct LabArgs {
    /// Real servers instead of simulated ones: mysql, mariadb, or the path of a mysqld or mariadbd; without a value
    /// whichever is installed.
    #[arg(long, value_name = "mysql|mariadb|PATH", num_args = 0..=1, default_missing_value = "", conflicts_with = "generation")]
    pub real: Option<String>,

    /// What simulated servers play: mysql-5.7, mysql-8.0, mysql-8.4, mysql-9.7, mariadb-10.11 or mariadb-11.8.
    #[arg(long, value_parser = generation)]
    pub generation: Option<Generation>,

    /// Who copies from whom.
    #[arg(long, value_enum)]
    pub shape: Option<ShapeArg>,

    /// Servers that copy.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_REPLICAS)))]
    pub replicas: Option<u32>,

    /// With --shape delayed: how much later the last replica applies on purpose.
    #[arg(long, value_parser = interval, value_name = "TIME")]
    pub delay: Option<Span>,

    /// Commits do not wait for a replica.
    #[arg(long)]
    pub no_semi_sync: bool,

    /// Simulated servers offer TLS.
    #[arg(long)]
    pub tls: bool,

    /// The same seed and the same commands: the same history.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Transactions a second on the source.
    #[arg(long, value_name = "N", value_parser = rate)]
    pub writes: Option<f64>,

    /// Reads a second on the replicas.
    #[arg(long, value_name = "N", value_parser = rate)]
    pub reads: Option<f64>,

    /// Teach this lesson: its name or number.
    #[arg(long, value_name = "ID")]
    pub lesson: Option<String>,

    /// Print the lessons and the faults there are, and end.
    #[arg(long)]
    pub list: bool,

    /// Without a window: print addresses, accounts and command lines, and run until stopped. With --lesson: go through it
    /// alone, and end with 0 if everything was seen that it promises, with 1 if not.
    #[arg(long)]
    pub headless: bool,

    /// With --headless: end after this long; otherwise on Ctrl+C.
    #[arg(long = "for", value_parser = interval, value_name = "TIME", requires = "headless")]
    pub run_for: Option<Span>,

    /// With --headless: where the servers are and who may log in, as one JSON object.
    #[arg(long, requires = "headless", conflicts_with = "lesson")]
    pub json: bool,

    /// Print a Docker Compose file of these servers, and end. Nothing is started.
    #[arg(long, conflicts_with_all = ["dbdeployer", "list", "headless"])]
    pub compose: bool,

    /// Print a shell script that makes these servers with dbdeployer, and end. Nothing is started.
    #[arg(long, conflicts_with_all = ["list", "headless"])]
    pub dbdeployer: bool,

    /// en or zh-CN; otherwise as LANG says.
    #[arg(long, value_parser = language)]
    pub language: Option<Language>,
}

impl LabArgs {
    /// To be written down in place of being started.
    pub fn recipe(&self) -> Option<Recipe> {
        match self {
            LabArgs { compose: true, .. } => Some(Recipe::Compose),
            LabArgs {
                dbdeployer: true, ..
            } => Some(Recipe::Dbdeployer),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShapeArg {
    Fan,
    Chain,
    MultiSource,
    Delayed,
}

fn generation(text: &str) -> Result<Generation, String> {
    Generation::from_code(text).ok_or_else(|| {
        let codes = Generation::ALL.map(Generation::code);
        format!("one of {}", codes.join(", "))
    })
}

fn language(text: &str) -> Result<Language, String> {
    let of_tag = |language: &Language| {
        let begins = language.tag().split('-').next() == Some(text);
        language.tag() == text || begins
    };
    Language::ALL
        .into_iter()
        .find(of_tag)
        .ok_or_else(|| "en or zh-CN".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (0.0..=MOST_A_SECOND).contains(&rate) => Ok(rate),
        _ => Err(format!("between 0 and {MOST_A_SECOND}")),
    }
}

/// More is no lab any more, and one machine does not carry it.
const MOST_A_SECOND: f64 = 2_000.0;
