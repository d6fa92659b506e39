//! Those who carry out orders: each on a thread of its own, which reports what came of it.

use std::thread;
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};

use super::notes::{Job, Outcome, Work};
use super::{Event, Happened};
use crate::lab::faults;
use crate::lab::faults::site::{Control, Site};
use crate::model::lab::LabServer;
use crate::model::phrase::phrase;
use crate::model::trouble::Trouble;

/// How often, and how many times at most, a statement is told to end.
const INTERRUPT_EVERY: Duration = Duration::from_millis(500);
const INTERRUPTIONS: u32 = 20;

/// `Err`: it was not begun.
pub(super) fn spawn_worker(
    site: &Site,
    job: Job,
    run: u64,
    events: &Sender<Event>,
) -> Result<(), (std::io::Error, Work)> {
    let Job { id, control, work } = job;
    let (site, events) = (site.under(control), events.clone());
    let (hand_over, handed) = bounded(1);
    let work_on = move || {
        let Ok(work) = handed.recv() else { return };
        let outcome = carry_out(work, &site);
        let what = Happened::Worked(id, outcome);
        drop(events.send(Event { run, what }));
    };
    let spawned = thread::Builder::new()
        .name("lab-order".to_owned())
        .spawn(work_on);
    match spawned {
        Ok(_) => drop(hand_over.send(work)),
        // What is to be undone must not be lost with the thread.
        Err(error) => return Err((error, work)),
    }
    Ok(())
}

pub(super) fn not_begun(work: Work, why: Trouble) -> Outcome {
    match work {
        Work::Make(_) => Outcome::Made(Err(why.into())),
        Work::Undo(made) => Outcome::Undone(Err((why, made))),
    }
}

fn carry_out(work: Work, site: &Site) -> Outcome {
    match work {
        Work::Make(fault) => Outcome::Made(faults::make(&fault, site)),
        Work::Undo(mut made) => Outcome::Undone(match made.undo(site) {
            Ok(()) => Ok(()),
            Err(why) => Err((why, made)),
        }),
    }
}

/// Ends the statement that an order is at, so that it need not be waited for. More than once: it may not have begun.
pub(super) fn interrupt(site: &Site, control: &Control) {
    let Some(statement) = control.statement() else {
        return;
    };
    let (site, control) = (site.clone(), control.clone());
    let spawned = thread::Builder::new()
        .name("lab-order".to_owned())
        .spawn(move || {
            for _ in 0..INTERRUPTIONS {
                if control.statement() != Some(statement) {
                    return;
                }
                kill(&site, statement);
                thread::sleep(INTERRUPT_EVERY);
            }
        });
    drop(spawned);
}

fn kill(site: &Site, (server, session): (LabServer, u64)) {
    let killed = site
        .admin(server)
        .and_then(|mut admin| admin.run(&format!("KILL QUERY {session}")));
    if let Err(why) = killed {
        tracing::debug!("an order could not be ended early: {why:?}");
    }
}

pub(super) fn no_thread(error: &std::io::Error) -> Trouble {
    Trouble {
        detail: error.to_string(),
        ..faults::trouble(phrase("lab.trouble.no_thread"))
    }
}
