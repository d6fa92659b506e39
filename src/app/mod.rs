//! The glue: window, headless commands, actions carried out.

pub mod accepting;
pub mod cli;
pub mod comparing;
pub mod conductor;
pub mod dialing;
pub mod headless;
pub mod probing;
pub mod profiles;
pub mod secrets;
pub mod selection;
pub mod window;

use std::process::ExitCode;

use cli::{Cli, Command};

use crate::model::phrase::Phrase;
use crate::words::{Catalogue, Language};

/// Ends with 2 when the command could not do what it was asked, as clap does for a wrong command line; `check` has
/// its own codes.
const FAILED: u8 = 2;

/// Does what the command line says.
pub fn run(cli: Cli) -> ExitCode {
    start_logging();
    let words = Catalogue::of(language());
    match cli.command {
        Some(Command::Watch(args)) => end(headless::watch::run(&args, words), words),
        Some(Command::Check(args)) => headless::check::run(&args, words),
        Some(Command::Probe(args)) => headless::probe::run(&args, words),
        Some(Command::Route(args)) => headless::route::run(&args, words),
        Some(Command::Accept(args)) => headless::accept::run(&args, words),
        None => end(open_window(cli.topology.as_deref()), words),
    }
}

fn open_window(topology: Option<&str>) -> Result<(), Phrase> {
    let topology = topology.map(selection::saved_or_file).transpose()?;
    let options = window::WindowOptions {
        topology,
        config_dir: crate::settings::paths::config_dir(),
    };
    window::run(options).map_err(|error| error.0)
}

/// To the standard error output, and only what `RUST_LOG` asks for: the terminal belongs to the readings.
fn start_logging() {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("off"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

/// As the environment says it (POSIX: LC_ALL, then LC_MESSAGES, then LANG).
pub fn language() -> Language {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    Language::from_locale(locale.as_deref().unwrap_or_default())
}

fn end(result: Result<(), Phrase>, words: &Catalogue) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("replicascope: {}", words.say(&why));
            ExitCode::from(FAILED)
        }
    }
}
