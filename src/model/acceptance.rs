//! The acceptance run: five steps that show on a real topology that reads after a write are routed right (B-12). Here is
//! what a run comes to; running it is the business of `app::accepting`.

use super::phrase::{Phrase, phrase};
use super::trouble::Trouble;

/// The five steps, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepName {
    /// An update on the source, its GTID recorded.
    Write,
    /// A plain read on a replica can be old: otherwise the steps after it prove nothing.
    PlainCanBeOld,
    /// A read after a wait, on the connection that waited, is new.
    WaitedIsNew,
    /// With a replica held back the wait times out, and the read goes to the source.
    TimeoutToSource,
    /// Connections that were given back and are borrowed again carry nothing of their last user.
    NothingLeaks,
}

impl StepName {
    pub const ALL: [StepName; 5] = [
        StepName::Write,
        StepName::PlainCanBeOld,
        StepName::WaitedIsNew,
        StepName::TimeoutToSource,
        StepName::NothingLeaks,
    ];

    /// From 1.
    pub fn number(self) -> u64 {
        self as u64 + 1
    }

    pub fn phrase(self) -> Phrase {
        match self {
            StepName::Write => phrase("accept.step.write"),
            StepName::PlainCanBeOld => phrase("accept.step.plain"),
            StepName::WaitedIsNew => phrase("accept.step.waited"),
            StepName::TimeoutToSource => phrase("accept.step.timeout"),
            StepName::NothingLeaks => phrase("accept.step.leaks"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepState {
    Passed,
    Failed,
    /// It could not be run, or what it needs was not allowed; the evidence says which.
    NotRun,
}

impl StepState {
    pub fn code(self) -> &'static str {
        match self {
            StepState::Passed => "passed",
            StepState::Failed => "failed",
            StepState::NotRun => "not_run",
        }
    }

    pub fn phrase(self) -> Phrase {
        match self {
            StepState::Passed => phrase("accept.state.passed"),
            StepState::Failed => phrase("accept.state.failed"),
            StepState::NotRun => phrase("accept.state.not_run"),
        }
    }

    /// Of two parts of one step: a failure outweighs what was not run, and that outweighs success.
    pub fn and(self, other: StepState) -> StepState {
        use StepState::{Failed, NotRun, Passed};
        match (self, other) {
            (Failed, _) | (_, Failed) => Failed,
            (NotRun, _) | (_, NotRun) => NotRun,
            (Passed, Passed) => Passed,
        }
    }
}

/// One step and what was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub name: StepName,
    pub state: StepState,
    pub evidence: Vec<Phrase>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptReport {
    /// All five, in their order.
    pub steps: Vec<Step>,
    /// Whether our rows are gone again; `None` when none was written.
    pub clean_up: Option<Result<(), Trouble>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcceptVerdict {
    Passed,
    Failed,
    /// Nothing failed, and not everything was run.
    Incomplete,
}

impl AcceptVerdict {
    pub fn code(self) -> &'static str {
        match self {
            AcceptVerdict::Passed => "passed",
            AcceptVerdict::Failed => "failed",
            AcceptVerdict::Incomplete => "incomplete",
        }
    }

    pub fn phrase(self) -> Phrase {
        match self {
            AcceptVerdict::Passed => phrase("accept.verdict.passed"),
            AcceptVerdict::Failed => phrase("accept.verdict.failed"),
            AcceptVerdict::Incomplete => phrase("accept.verdict.incomplete"),
        }
    }
}

impl AcceptReport {
    /// Without all five there is no "passed".
    pub fn verdict(&self) -> AcceptVerdict {
        let all = StepName::ALL.map(|name| self.steps.iter().find(|step| step.name == name));
        let states = all.map(|step| step.map_or(StepState::NotRun, |step| step.state));
        match states.into_iter().fold(StepState::Passed, StepState::and) {
            StepState::Passed => AcceptVerdict::Passed,
            StepState::Failed => AcceptVerdict::Failed,
            StepState::NotRun => AcceptVerdict::Incomplete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StepState::{Failed, NotRun, Passed};

    fn report(states: &[StepState]) -> AcceptReport {
        let steps = StepName::ALL.into_iter().zip(states);
        AcceptReport {
            steps: steps
                .map(|(name, state)| Step {
                    name,
                    state: *state,
                    evidence: Vec::new(),
                })
                .collect(),
            clean_up: None,
        }
    }

    #[test]
    fn only_five_passed_steps_are_an_accepted_topology() {
        for (states, verdict) in [
            (&[Passed; 5][..], AcceptVerdict::Passed),
            (&[Passed; 4], AcceptVerdict::Incomplete),
            (
                &[Passed, Passed, Passed, NotRun, Passed],
                AcceptVerdict::Incomplete,
            ),
            (
                &[Passed, Passed, Failed, NotRun, Passed],
                AcceptVerdict::Failed,
            ),
            (&[], AcceptVerdict::Incomplete),
        ] {
            assert_eq!(report(states).verdict(), verdict, "{states:?}");
        }
    }

    #[test]
    fn the_steps_are_numbered_from_one() {
        assert_eq!(StepName::ALL.map(StepName::number), [1, 2, 3, 4, 5]);
    }
}
