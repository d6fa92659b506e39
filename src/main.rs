//! The program: arguments, then the window or a headless command.

use std::process::ExitCode;

use clap::Parser;
use replicascope::app::{self, cli::Cli};

fn main() -> ExitCode {
    app::run(Cli::parse())
}
