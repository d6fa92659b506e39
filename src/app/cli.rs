//! The command line: what may be said, and what is meant by it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::comparing::{ComparePlan, DEFAULT_RATE as DEFAULT_STATEMENTS};
use crate::model::probe::{
    Awaited, DEFAULT_RATE, DEFAULT_SCHEMA, LONGEST_WAIT, MOST_RUNS, ProbeFlavour, ProbePlan,
    ReadDelay, Reader, SHORTEST_WAIT,
};
use crate::model::profile::{Target, TlsMode};
use crate::model::time::Span;
use crate::settings::durations;
use crate::words::{Catalogue, Language};

/// See what your replicas are really serving: lag, health and routing of MySQL and MariaDB replication.
#[derive(Debug, Parser)]
#[command(name = "replicascope", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Open the window on this topology: the name of a saved one, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pub topology: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print readings until stopped.
    Watch(WatchArgs),
    /// Look once and end with 0 ok, 1 warning, 2 critical or 3 unknown, as monitoring systems expect.
    Check(CheckArgs),
    /// Write on the source, and see what reads on the replicas make of it. Without permission only prints the SQL.
    Probe(ProbeArgs),
    /// Compare the routing rules over one workload: how often each would read an old value, and what it costs. Without
    /// permission only prints the SQL.
    Route(RouteArgs),
    /// Five steps that show whether reads after a write are safe here: 0 all passed, 1 not all, 3 nothing was allowed.
    Accept(AcceptArgs),
}

/// Which servers, and who we are there.
#[derive(Clone, Debug, Args)]
pub struct Selection {
    /// A saved topology by its name, or a topology file.
    #[arg(
        long,
        value_name = "NAME|FILE",
        conflicts_with = "server",
        required_unless_present = "server"
    )]
    pub topology: Option<String>,

    /// A server, as [user@]host[:port], [user@][IPv6]:port or the path of a socket; may be given several times.
    #[arg(long, value_name = "ADDRESS", value_parser = given)]
    pub server: Vec<Given>,

    /// The account, where the address or the topology does not name one.
    #[arg(long)]
    pub user: Option<String>,

    /// A file whose only line is the password. Otherwise REPLICASCOPE_PASSWORD, the keychain, or a prompt.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,

    /// What the connection must prove about the server. By default the certificate and its name are verified, except
    /// to this machine, where TLS is off.
    #[arg(long, value_enum, value_name = "MODE")]
    pub tls: Option<TlsArg>,

    /// PEM file of the certificate authority to trust.
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,

    /// PEM file of our own certificate.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file of our own private key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// A heartbeat table to read, as schema.table (pt-heartbeat, Blip, repl_heartbeat and our own are recognised).
    #[arg(long, value_name = "SCHEMA.TABLE")]
    pub heartbeat: Option<String>,

    /// How often each server is polled.
    #[arg(long, value_parser = interval, value_name = "TIME")]
    pub interval: Option<Span>,

    /// How often a source's position is marked.
    #[arg(long, value_parser = interval, value_name = "TIME")]
    pub mark_interval: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TlsArg {
    Off,
    Required,
    VerifyCa,
    VerifyIdentity,
}

impl From<TlsArg> for TlsMode {
    fn from(mode: TlsArg) -> Self {
        match mode {
            TlsArg::Off => TlsMode::Off,
            TlsArg::Required => TlsMode::Required,
            TlsArg::VerifyCa => TlsMode::VerifyCa,
            TlsArg::VerifyIdentity => TlsMode::VerifyIdentity,
        }
    }
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    pub selection: Selection,

    /// End after this long; otherwise on Ctrl+C.
    #[arg(long = "for", value_parser = interval, value_name = "TIME")]
    pub run_for: Option<Span>,

    /// One JSON object a line, per server and channel, every interval.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub selection: Selection,

    /// Lag from here on is a warning.
    #[arg(long, value_parser = threshold, value_name = "TIME")]
    pub warn: Option<Span>,

    /// Lag from here on is critical.
    #[arg(long, value_parser = threshold, value_name = "TIME")]
    pub crit: Option<Span>,

    /// How long to wait for answers before calling them unknown.
    #[arg(long, value_parser = interval, value_name = "TIME", default_value = "5s")]
    pub timeout: Span,

    /// The same as one JSON object.
    #[arg(long)]
    pub json: bool,
}

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

#[derive(Debug, Args)]
pub struct RouteArgs {
    #[command(flatten)]
    pub selection: Selection,

    /// How long the workload runs.
    #[arg(long = "for", value_parser = threshold, value_name = "TIME", default_value = "20s")]
    pub run_for: Span,

    /// Statements a second, reads and writes of all sessions together; at most 200.
    #[arg(long, default_value_t = DEFAULT_STATEMENTS, value_name = "N")]
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
        }
    }
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

const SHORTEST: Span = Span::from_millis(20);
const LONGEST: Span = Span::from_secs(86_400);

/// A server as it was given; the output names it so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub text: String,
    pub target: Target,
}

fn given(text: &str) -> Result<Given, String> {
    let target = Target::parse(text).map_err(|why| Catalogue::of(Language::English).say(&why))?;
    Ok(Given {
        text: text.trim().to_owned(),
        target,
    })
}

fn threshold(text: &str) -> Result<Span, String> {
    durations::parse(text).map_err(|why| Catalogue::of(Language::English).say(&why))
}

fn wait_limit(text: &str) -> Result<Span, String> {
    let span = threshold(text)?;
    if span < SHORTEST_WAIT || span > LONGEST_WAIT {
        return Err("between 1ms and 60s".to_owned());
    }
    Ok(span)
}

fn interval(text: &str) -> Result<Span, String> {
    let span = threshold(text)?;
    if span < SHORTEST || span > LONGEST {
        return Err("between 20ms and 1d".to_owned());
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn servers_and_intervals_are_read_as_a_person_writes_them() {
        let line = "replicascope watch --server monitor@db1:3307 --server 2abc::1 --interval 200ms --for 30s --json";
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Some(Command::Watch(args)) = cli.command else {
            panic!("not watch")
        };
        assert_eq!(args.selection.server.len(), 2);
        assert_eq!(
            args.selection.server[0].target.user.as_deref(),
            Some("monitor")
        );
        assert_eq!(args.selection.interval, Some(Span::from_millis(200)));
        assert!(args.json);
    }

    #[test]
    fn a_selection_is_needed_and_only_one() {
        assert!(Cli::try_parse_from(["replicascope", "watch"]).is_err());
        let both = ["replicascope", "check", "--topology", "a", "--server", "b"];
        assert!(Cli::try_parse_from(both).is_err());
    }

    #[test]
    fn an_interval_without_a_unit_is_refused() {
        let line = [
            "replicascope",
            "watch",
            "--server",
            "a",
            "--interval",
            "200",
        ];
        assert!(Cli::try_parse_from(line).is_err());
    }
}
