//! The commands for people without a display: the same threads, the same store, the same rules.

pub mod accept;
pub mod accept_report;
pub mod check;
pub mod json;
pub mod probe;
pub mod probe_json;
pub mod route;
pub mod route_json;
pub mod watch;

use std::sync::atomic::{AtomicBool, Ordering};

use super::cli::Selection;
use super::conductor::Conductor;
use super::{dialing, secrets, selection};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::TopologyProfile;
use crate::words::Catalogue;

/// Set by Ctrl+C and SIGTERM: end politely.
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
    // A second handler cannot be set; then the first one does.
    let _ = ctrlc::set_handler(interrupt);
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
