//! The commands for people without a display: the same threads, the same store, the same rules.

pub mod accept;
pub mod accept_records;
pub mod accept_report;
pub mod check;
pub mod json;
pub mod lab;
pub mod lesson;
pub mod probe;
pub mod probe_json;
pub mod route;
pub mod route_json;
pub mod watch;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cli::Selection;
use super::conductor::Conductor;
use super::probing::prepare;
use super::{dialing, secrets, selection, signals};
use crate::link::probing::ProbeDial;
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ProbePlan, ServerState};
use crate::model::profile::{ServerId, TopologyProfile};
use crate::model::secret::Secret;
use crate::model::trouble::Trouble;
use crate::words::Catalogue;

/// Set when we are told to end: politely.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// For the signal handler.
fn interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Watches every server of the selection.
fn start(selection: &Selection, words: &Catalogue) -> Result<(Conductor, TopologyProfile), Phrase> {
    let profile = selection::profile_of(selection)?;
    start_profile(profile, selection, words)
}

fn start_profile(
    profile: TopologyProfile,
    selection: &Selection,
    words: &Catalogue,
) -> Result<(Conductor, TopologyProfile), Phrase> {
    signals::when_told_to_end(interrupt);
    let passwords = secrets::resolve(&profile, selection.password_file.as_deref(), words)?;
    let mut conductor = Conductor::default();
    for server in &profile.servers {
        let dial = dialing::dialer(&profile, server, passwords.get(&server.id));
        conductor
            .watch(&profile, server, dial)
            .map_err(|error| phrase("cli.no_thread").with("reason", error.to_string()))?;
    }
    Ok((conductor, profile))
}

/// The command could not do what it was asked.
const FAILED: u8 = 2;
/// Nothing was written, because it was not allowed.
const NOT_ALLOWED: u8 = 3;

/// Ends a command; what kept it from its work is for a person.
fn ended(result: Result<ExitCode, Phrase>, words: &Catalogue) -> ExitCode {
    result.unwrap_or_else(|why| {
        eprintln!("replicascope: {}", words.say(&why));
        ExitCode::from(FAILED)
    })
}

/// The servers of a command that writes: how to reach each, and how it stands.
struct Summoned {
    profile: TopologyProfile,
    passwords: BTreeMap<ServerId, Secret>,
    dials: Vec<Arc<dyn ProbeDial>>,
    states: Vec<Result<ServerState, Trouble>>,
}

/// Finds the topology and its passwords, and asks every server how it stands.
fn summon(selection: &Selection, plan: &ProbePlan, words: &Catalogue) -> Result<Summoned, Phrase> {
    let profile = selection::profile_of(selection)?;
    signals::when_told_to_end(interrupt);
    let passwords = secrets::resolve(&profile, selection.password_file.as_deref(), words)?;
    let dials: Vec<Arc<dyn ProbeDial>> = profile
        .servers
        .iter()
        .map(|server| dialing::probe_dialer(&profile, server, passwords.get(&server.id)))
        .collect();
    let states = prepare::states(&dials, plan);
    Ok(Summoned {
        profile,
        passwords,
        dials,
        states,
    })
}
