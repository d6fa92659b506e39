//! Everything that can be made to go wrong in a lab, and its undo: one file for each family.
//!
//! A fault is made with what a clumsy colleague or a bad day would use: statements of an administrator, the lab's own
//! links, a killed process. So it shows on the servers as it shows in life. Each is looked at before (can it be made
//! here, now?), made, seen to be in force where the server can say so, undone, and seen to be gone.
//!
//! - [`check`] says what cannot be made now, and why; pure.
//! - [`site`] is where it happens; [`admin`] the session with which; `words` what the servers call things.

pub mod admin;
pub mod check;
pub mod site;
mod words;

mod applier;
mod broken;
mod bulk;
mod errant;
mod heartbeat;
mod links;
mod locked;
mod machine;
mod parts;
mod read_only;
mod readers;
mod semi_sync;
mod swap;

use crate::model::lab::{Fault, FaultKind, LabServer};
use crate::model::phrase::{Phrase, phrase};
use crate::model::trouble::{Trouble, TroubleKind};

use site::{Control, Site};

/// A fault that lasts. Dropped without an undo, it lets go of what it holds (sessions, threads) and leaves the rest.
pub trait InForce: Send {
    /// May be tried again after it failed.
    fn undo(&mut self, site: &Site) -> Result<(), Trouble>;
}

/// A fault that could not be made.
pub struct NotMade {
    pub why: Box<Trouble>,
    /// What was done of it and is still there.
    pub left: Option<Box<dyn InForce>>,
}

impl From<Trouble> for NotMade {
    fn from(why: Trouble) -> NotMade {
        NotMade {
            why: Box::new(why),
            left: None,
        }
    }
}

/// A fault that could not be made whole is undone as far as it came; the first trouble is the one to tell.
fn whole<F: InForce + 'static>(
    mut fault: F,
    made: Result<(), Trouble>,
    site: &Site,
) -> Result<F, NotMade> {
    let Err(why) = made else { return Ok(fault) };
    // Under a hold of its own: the order may have been withdrawn.
    let left = match fault.undo(&site.under(Control::default())) {
        Ok(()) => None,
        Err(_) => Some(Box::new(fault) as Box<dyn InForce>),
    };
    Err(NotMade {
        why: Box::new(why),
        left,
    })
}

/// What came of it.
pub enum Made {
    InForce(Box<dyn InForce>),
    /// It was done, and nothing is left to undo.
    Over,
}

/// Makes a fault that [`check::why_not`] has nothing against; returns when it is in force.
pub fn make(fault: &Fault, site: &Site) -> Result<Made, NotMade> {
    let on = fault.on;
    let strength = strength(fault);
    let lasting: Box<dyn InForce> = match fault.kind {
        FaultKind::LinkLatency => Box::new(links::Link::slow(site, on, strength)?),
        FaultKind::LinkBandwidth => Box::new(links::Link::narrow(site, on, strength)?),
        FaultKind::LinkCut => Box::new(links::Link::cut(site, on)?),
        FaultKind::PlannedDelay => Box::new(applier::Delayed::make(site, on, strength)?),
        FaultKind::StopApplier => Box::new(applier::Stopped::applier(site, on)?),
        FaultKind::StopReceiver => Box::new(applier::Stopped::receiver(site, on)?),
        FaultKind::BreakApplier => Box::new(broken::Broken::make(site, on)?),
        FaultKind::LockTable => Box::new(locked::Locked::make(site, on)?),
        FaultKind::BigTransaction => {
            bulk::run(site, on, strength)?;
            return Ok(Made::Over);
        }
        FaultKind::SlowReaders => Box::new(readers::Readers::start(site, on, strength)?),
        FaultKind::SlowDisk => Box::new(machine::Disk::slow(site, on, strength)?),
        FaultKind::SemiSyncLoss => Box::new(semi_sync::Silent::make(site, on)?),
        FaultKind::WriteOnReplica => Box::new(errant::Errant::make(site, on)?),
        FaultKind::ClockSkew => Box::new(machine::Clock::skew(site, on, strength)?),
        FaultKind::StopHeartbeat => Box::new(heartbeat::SchedulerOff::make(site, on)?),
        FaultKind::DisableEvent => Box::new(heartbeat::EventDisabled::make(site, on)?),
        FaultKind::SourceReadOnly => Box::new(read_only::ReadOnly::make(site, on)?),
        FaultKind::KillServer => Box::new(machine::Killed::make(site, on)?),
        FaultKind::SwapRoles => Box::new(swap::Swapped::make(site, on)?),
    };
    Ok(Made::InForce(lasting))
}

/// Within what its kind allows.
fn strength(fault: &Fault) -> f64 {
    match fault.kind.intensity() {
        Some(range) if fault.intensity.is_finite() => {
            fault.intensity.clamp(range.least, range.most)
        }
        Some(range) => range.usual,
        None => 0.0,
    }
}

/// A fault of this kind loses its hold when its server is killed: it lived in a session or a setting of that process.
pub fn ends_with_its_server(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::StopApplier
            | FaultKind::StopReceiver
            | FaultKind::LockTable
            | FaultKind::SlowReaders
            | FaultKind::SemiSyncLoss
            | FaultKind::StopHeartbeat
            | FaultKind::SourceReadOnly
    )
}

/// Servers that an order of this kind must have for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Gets along with everything.
    Nothing,
    Server(LabServer),
    All,
}

impl Needs {
    pub fn of(fault: &Fault) -> Needs {
        match fault.kind {
            // Takes long and must hold nobody up.
            FaultKind::BigTransaction => Needs::Nothing,
            FaultKind::SwapRoles => Needs::All,
            _ => Needs::Server(fault.on),
        }
    }

    pub fn meets(self, other: Needs) -> bool {
        match (self, other) {
            (Needs::Nothing, Needs::All) | (Needs::All, Needs::Nothing) => true,
            (Needs::Nothing, _) | (_, Needs::Nothing) => false,
            (Needs::All, _) | (_, Needs::All) => true,
            (Needs::Server(one), Needs::Server(other)) => one == other,
        }
    }
}

/// What a fault is called inside a sentence.
pub fn name(kind: FaultKind) -> Phrase {
    phrase(match kind {
        FaultKind::LinkLatency => "lab.said.link_latency",
        FaultKind::LinkBandwidth => "lab.said.link_bandwidth",
        FaultKind::LinkCut => "lab.said.link_cut",
        FaultKind::PlannedDelay => "lab.said.planned_delay",
        FaultKind::StopApplier => "lab.said.stop_applier",
        FaultKind::StopReceiver => "lab.said.stop_receiver",
        FaultKind::BreakApplier => "lab.said.break_applier",
        FaultKind::LockTable => "lab.said.lock_table",
        FaultKind::BigTransaction => "lab.said.big_transaction",
        FaultKind::SlowReaders => "lab.said.slow_readers",
        FaultKind::SlowDisk => "lab.said.slow_disk",
        FaultKind::SemiSyncLoss => "lab.said.semi_sync_loss",
        FaultKind::WriteOnReplica => "lab.said.write_on_replica",
        FaultKind::ClockSkew => "lab.said.clock_skew",
        FaultKind::StopHeartbeat => "lab.said.stop_heartbeat",
        FaultKind::DisableEvent => "lab.said.disable_event",
        FaultKind::SourceReadOnly => "lab.said.source_read_only",
        FaultKind::KillServer => "lab.said.kill_server",
        FaultKind::SwapRoles => "lab.said.swap_roles",
    })
}

/// A trouble that no server spoke of.
pub fn trouble(what: Phrase) -> Trouble {
    Trouble {
        kind: TroubleKind::QueryFailed,
        what,
        hint: None,
        code: None,
        detail: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intensity_out_of_range_is_brought_into_it() {
        let fault = |intensity| Fault {
            kind: FaultKind::PlannedDelay,
            on: 1,
            intensity,
            lasts: None,
        };
        assert_eq!(strength(&fault(-4.0)), 1.0);
        assert_eq!(strength(&fault(1e9)), 3600.0);
        assert_eq!(strength(&fault(f64::NAN)), 10.0);
    }

    #[test]
    fn a_big_transaction_holds_up_nothing_but_a_swap() {
        assert!(!Needs::Nothing.meets(Needs::Server(0)));
        assert!(!Needs::Nothing.meets(Needs::Nothing));
        assert!(Needs::Nothing.meets(Needs::All));
        assert!(Needs::Server(1).meets(Needs::Server(1)));
        assert!(!Needs::Server(1).meets(Needs::Server(2)));
    }
}
