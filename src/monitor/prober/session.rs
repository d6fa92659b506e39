//! One session of a probe that comes back after it was lost, but not in a hurry.

use std::sync::Arc;
use std::time::Instant;

use crate::link::probing::{ProbeDial, ProbeLink, ProbePurpose};
use crate::model::phrase::phrase;
use crate::model::probe::ProbePlan;
use crate::model::trouble::{Trouble, TroubleKind};

use super::super::backoff::Backoff;

pub struct Keeper {
    dial: Arc<dyn ProbeDial>,
    purpose: ProbePurpose,
    plan: ProbePlan,
    link: Option<Box<dyn ProbeLink>>,
    /// Why there is none.
    trouble: Option<Trouble>,
    backoff: Backoff,
    not_before: Option<Instant>,
    sessions: u64,
}

impl Keeper {
    pub fn new(dial: Arc<dyn ProbeDial>, purpose: ProbePurpose, plan: &ProbePlan) -> Self {
        Keeper {
            dial,
            purpose,
            plan: plan.clone(),
            link: None,
            trouble: None,
            backoff: Backoff::default(),
            not_before: None,
            sessions: 0,
        }
    }

    /// How many sessions there were so far: another number, another session.
    pub fn sessions(&self) -> u64 {
        self.sessions
    }

    /// A session that is well, and no longer wanted.
    pub fn discard(&mut self) {
        self.link = None;
    }

    /// The session as it is, without an attempt to get one: reads do not wait for a dead server.
    pub fn link(&mut self) -> Result<&mut dyn ProbeLink, Trouble> {
        match &mut self.link {
            Some(link) => Ok(link.as_mut()),
            None => Err(self.trouble.clone().unwrap_or_else(not_connected)),
        }
    }

    /// A session that is in step: the one there is, or a new one.
    pub fn ready(&mut self) -> Result<&mut dyn ProbeLink, Trouble> {
        self.mend();
        self.link()
    }

    /// Throws a session away that is out of step, and gets a new one unless the last attempt was just now.
    pub fn mend(&mut self) {
        if self.link.as_ref().is_some_and(|link| link.is_spoiled()) {
            self.link = None;
        }
        if self.link.is_some() || self.not_before.is_some_and(|at| Instant::now() < at) {
            return;
        }
        match self.dial.dial_probe(self.purpose, &self.plan) {
            Ok(link) => {
                self.link = Some(link);
                self.sessions += 1;
                self.trouble = None;
                self.backoff.succeeded();
                self.not_before = None;
            }
            Err(trouble) => {
                let pause = self.backoff.failed(trouble.kind, fastrand::f64());
                self.not_before = Some(Instant::now() + pause);
                self.trouble = Some(trouble);
            }
        }
    }
}

pub fn not_connected() -> Trouble {
    Trouble {
        kind: TroubleKind::Lost,
        what: phrase("probe.not_connected"),
        hint: None,
        code: None,
        detail: String::new(),
    }
}
