//! The glue: window, headless commands, actions carried out.

pub mod accepting;
pub mod cli;
pub mod comparing;
pub mod conductor;
pub mod dialing;
mod files;
pub mod headless;
mod kept;
pub mod lab;
pub mod probing;
pub mod profiles;
pub mod secrets;
pub mod selection;
pub mod signals;
pub mod teaching;
pub mod window;

use std::process::ExitCode;

use cli::{Cli, Command, LabArgs};

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
        Some(Command::Lab(args)) => lab_command(&args),
        None => end(open_window(cli.topology.as_deref()), words),
    }
}

fn open_window(topology: Option<&str>) -> Result<(), Phrase> {
    let topology = topology.map(selection::saved_or_file).transpose()?;
    let options = window::WindowOptions {
        topology,
        ..usual_window()
    };
    window::run(options).map_err(|error| error.0)
}

fn usual_window() -> window::WindowOptions {
    window::WindowOptions {
        config_dir: crate::settings::paths::config_dir(),
        ..window::WindowOptions::default()
    }
}

fn lab_command(args: &LabArgs) -> ExitCode {
    let words = Catalogue::of(args.language.unwrap_or_else(language));
    if let Some(recipe) = args.recipe() {
        return headless::lab::write_down(args, recipe, words);
    }
    match args {
        LabArgs { list: true, .. } => headless::lab::list(words),
        LabArgs {
            headless: true,
            lesson: Some(_),
            ..
        } => headless::lesson::run(args, words),
        LabArgs { headless: true, .. } => headless::lab::run(args, words),
        _ => end(open_window_on_a_lab(args), words),
    }
}

fn open_window_on_a_lab(args: &LabArgs) -> Result<(), Phrase> {
    let lesson = lab::plan::lesson(args)?;
    let plan = lab::plan::plan_for(lesson.as_deref());
    let options = window::WindowOptions {
        lab: Some(lab::plan::wanted(args, plan)?),
        lesson: lesson.map(|lesson| lesson.id.clone()),
        language: args.language,
        ..usual_window()
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
