//! A read that must see a write waits until its replica has it; every other read is an ordinary one.
//!
//! Exact, and the price is about the lag. Only "reached" is success; every other end of a wait leads to the source
//! and never to the rows of the replica that was not there yet. After a timeout another replica may be tried, within
//! the time the whole request has.

use crate::model::gtid::Gtids;
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::{Moment, Span};

use super::super::decision::{Decision, Go, Reason};
use super::super::pick::{Order, Picker};
use super::super::replica::{LagLimit, ReplicaView, Unfit};
use super::super::request::{Need, Request};
use super::super::strategy::{Promise, Strategy};
use super::super::wait::{Attempt, WaitLimit, WaitResult, WaitSpec, WaitTally};

/// What follows a timeout. Any other failed wait goes to the source at once (B-05).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTimeout {
    Source,
    /// Another replica, so many waits at most in all.
    Reselect {
        most_waits: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GtidWaitRules {
    /// Of one wait.
    pub wait: Span,
    /// For all waits of a request together, counted from when it came.
    pub total_budget: Span,
    pub after_timeout: AfterTimeout,
    /// For reads that await nothing.
    pub list_limit: LagLimit,
}

impl GtidWaitRules {
    pub const SOURCE_ON_TIMEOUT: GtidWaitRules = GtidWaitRules {
        wait: Span::from_secs(1),
        total_budget: Span::from_secs(1),
        after_timeout: AfterTimeout::Source,
        list_limit: LagLimit::THREE_SECONDS,
    };

    pub const RESELECT_ON_TIMEOUT: GtidWaitRules = GtidWaitRules {
        wait: Span::from_millis(500),
        total_budget: Span::from_secs(1),
        after_timeout: AfterTimeout::Reselect { most_waits: 2 },
        list_limit: LagLimit::THREE_SECONDS,
    };
}

#[derive(Clone, Debug)]
pub struct GtidWait {
    rules: GtidWaitRules,
    picker: Picker,
    tally: WaitTally,
}

impl GtidWait {
    pub fn new(rules: GtidWaitRules) -> Self {
        GtidWait {
            rules,
            picker: Picker::new(Order::RoundRobin),
            tally: WaitTally::default(),
        }
    }

    fn wait_on_next(&mut self, gtids: &Gtids, scene: &Scene<'_>) -> Result<Decision, Reason> {
        let untried = |view: &ReplicaView| match scene.was_tried(view) {
            true => Err(Unfit::NoReplica),
            false => view.can_wait().map(|_| ()),
        };
        let watch = self
            .picker
            .pick(scene.replicas, untried)
            .map_err(Reason::NoFitReplica)?;
        let unit = scene
            .replicas
            .iter()
            .find(|view| view.watch == watch)
            .ok_or(Unfit::NoReplica)
            .and_then(ReplicaView::can_wait)
            .map_err(Reason::NoFitReplica)?;
        let left = self.rules.total_budget - scene.spent;
        let limit = WaitLimit::within(self.rules.wait, left, unit).ok_or(Reason::BudgetSpent)?;
        let spec = WaitSpec::new(gtids, limit).ok_or(Reason::NoGtid)?;
        Ok(Decision {
            go: Go::WaitOn(watch, spec),
            reason: Reason::WaitFirst,
        })
    }

    fn may_try_again(&self, attempts: &[Attempt]) -> bool {
        match self.rules.after_timeout {
            AfterTimeout::Source => false,
            AfterTimeout::Reselect { most_waits } => attempts.len() < most_waits,
        }
    }

    fn after_timeout(&mut self, request: &Request, scene: &Scene<'_>) -> Decision {
        let timed_out = Decision::source(Reason::WaitEnded(WaitResult::TimedOut));
        let Some(gtids) = request
            .awaited_gtids()
            .filter(|_| self.may_try_again(scene.attempts))
        else {
            return timed_out;
        };
        match self.wait_on_next(gtids, scene) {
            Ok(decision) => decision,
            Err(Reason::BudgetSpent) => Decision::source(Reason::BudgetSpent),
            Err(_) => timed_out,
        }
    }
}

/// What a request has behind it and before it.
struct Scene<'a> {
    replicas: &'a [ReplicaView],
    attempts: &'a [Attempt],
    spent: Span,
}

impl Scene<'_> {
    fn was_tried(&self, view: &ReplicaView) -> bool {
        self.attempts.iter().any(|attempt| attempt.on == view.watch)
    }
}

impl Strategy for GtidWait {
    fn code(&self) -> String {
        match self.rules.after_timeout {
            AfterTimeout::Source => "gtid_wait".to_owned(),
            AfterTimeout::Reselect { .. } => "gtid_wait_reselect".to_owned(),
        }
    }

    fn name(&self) -> Phrase {
        match self.rules.after_timeout {
            AfterTimeout::Source => phrase("routing.rule.gtid_wait"),
            AfterTimeout::Reselect { .. } => phrase("routing.rule.gtid_wait_reselect"),
        }
    }

    fn promise(&self) -> Promise {
        Promise::Strong
    }

    fn choose(&mut self, request: &Request, replicas: &[ReplicaView]) -> Decision {
        if request.need == Need::Nothing {
            let limit = self.rules.list_limit;
            return Decision::of_pick(self.picker.pick(replicas, |view| view.is_fresh(limit)));
        }
        let Some(gtids) = request.awaited_gtids() else {
            return Decision::source(Reason::NoGtid);
        };
        let scene = Scene {
            replicas,
            attempts: &[],
            spent: Span::ZERO,
        };
        self.wait_on_next(gtids, &scene)
            .unwrap_or_else(Decision::source)
    }

    fn waited(
        &mut self,
        request: &Request,
        attempts: &[Attempt],
        now: Moment,
        replicas: &[ReplicaView],
    ) -> Decision {
        let Some(last) = attempts.last() else {
            return Decision::source(Reason::NoGtid);
        };
        self.tally.count(last.result);
        match last.result {
            WaitResult::Reached => Decision {
                go: Go::WaitedReplica(last.on),
                reason: Reason::Caught,
            },
            WaitResult::TimedOut => {
                let scene = Scene {
                    replicas,
                    attempts,
                    spent: now.since(request.at).or_zero(),
                };
                self.after_timeout(request, &scene)
            }
            failed => Decision::source(Reason::WaitEnded(failed)),
        }
    }

    fn waits(&self) -> WaitTally {
        self.tally.clone()
    }
}

#[cfg(test)]
mod tests;
