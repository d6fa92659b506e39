//! The command line: what may be said, and what is meant by it.

mod accept;
mod lab;
mod probe;
mod route;
mod selection;
mod values;

use clap::{Args, Parser, Subcommand};

use crate::model::time::Span;
use values::{interval, threshold};

pub use accept::AcceptArgs;
pub use lab::{LabArgs, ShapeArg};
pub use probe::{AwaitArg, FlavourArg, ProbeArgs};
pub use route::RouteArgs;
pub use selection::{Given, Selection, TlsArg};

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
    /// Open the window on a topology of our own that is made for it: simulated, or real servers started and thrown away.
    Lab(LabArgs),
    /// Five steps that show whether reads after a write are safe here: 0 all passed, 1 not all, 3 nothing was allowed.
    Accept(AcceptArgs),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lab::Generation;
    use crate::words::Language;
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
    fn a_lab_is_started_by_one_word_and_described_by_more() {
        let lab = |line: &str| match Cli::try_parse_from(line.split(' ')).map(|cli| cli.command) {
            Ok(Some(Command::Lab(args))) => Ok(args),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind()),
        };
        assert_eq!(lab("replicascope lab").unwrap().real, None);
        let real = lab("replicascope lab --real --headless --for 5s").unwrap();
        assert_eq!(real.real.as_deref(), Some(""));
        assert_eq!(real.run_for, Some(Span::from_secs(5)));
        let chosen = lab("replicascope lab --generation mariadb-10.11 --shape chain --replicas 3");
        let chosen = chosen.unwrap();
        assert_eq!(chosen.generation, Some(Generation::MariaDb1011));
        assert_eq!(chosen.shape, Some(ShapeArg::Chain));
        for wrong in [
            "--generation mysql-4.1",
            "--replicas 0",
            "--for 5s",
            "--language fr",
        ] {
            assert!(
                lab(&format!("replicascope lab {wrong}")).is_err(),
                "{wrong}"
            );
        }
        let chinese = lab("replicascope lab --language zh").unwrap();
        assert_eq!(chinese.language, Some(Language::SimplifiedChinese));
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
