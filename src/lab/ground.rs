//! From a plan to running servers: which ground a lab stands on is decided here and nowhere else.

use std::sync::Arc;

use super::bed::Bed;
use super::faults::site::Control;
use super::sandbox::{Place, Sandbox, Watch};
use super::simulator::{SimClock, Simulator};
use crate::model::lab::{Ground, LabPlan};
use crate::model::phrase::Phrase;
use crate::model::trouble::Trouble;

/// Starts the servers of a plan; takes as long as that takes.
pub type Build =
    Arc<dyn Fn(&LabPlan, &Starting) -> Result<Box<dyn Bed>, Trouble> + Send + Sync + 'static>;

/// What who starts a lab may tell and must ask meanwhile.
pub struct Starting {
    pub tell: Box<dyn Fn(Phrase) + Send + Sync>,
    pub control: Control,
}

impl Starting {
    /// Says what is being done now. An error once the lab is no longer wanted.
    pub fn step(&self, what: Phrase) -> Result<(), Trouble> {
        (self.tell)(what);
        self.control.go_on()
    }
}

pub fn build(plan: &LabPlan, starting: &Starting) -> Result<Box<dyn Bed>, Trouble> {
    build_at(plan, starting, &Place::default())
}

/// The same with real servers from another place than the usual ones.
pub fn build_at(
    plan: &LabPlan,
    starting: &Starting,
    place: &Place,
) -> Result<Box<dyn Bed>, Trouble> {
    match plan.ground {
        Ground::Simulated(_) => Ok(Box::new(Simulator::start(plan, SimClock::wall())?)),
        Ground::Real(_) => {
            let watch = Watch {
                say: &|what| (starting.tell)(what),
                is_stopped: &|| starting.control.is_withdrawn(),
            };
            Ok(Box::new(Sandbox::start(plan, place, &watch)?))
        }
    }
}
