//! What was asked for and how it stands: decides which order is carried out next, and when a fault has had its time.
//!
//! Orders that need the same server go one after the other, in the order in which they came; others at the same time.
//! No clock and no thread in here.

use crate::lab::faults::check::{Scene, why_not, why_not_undone};
use crate::lab::faults::site::Control;
use crate::lab::faults::{InForce, Made, Needs, NotMade, ends_with_its_server};
use crate::model::lab::{Fault, FaultId, FaultKind, FaultNote, FaultState, LabNode};
use crate::model::phrase::Phrase;
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;

/// Orders carried out at the same time.
const MOST_AT_WORK: usize = 6;

/// Faults that are over are told for so long, and no more of them than this.
const TOLD_FOR: Span = Span::from_secs(15 * 60);
const MOST_TOLD: usize = 200;

/// What could not be undone is tried again after a pause, which doubles up to a bound.
const FIRST_PAUSE: Span = Span::from_secs(2);
const LONGEST_PAUSE: Span = Span::from_secs(60);
/// About a quarter of an hour; then only a person tries again.
const MOST_TRIES: u32 = 19;

#[derive(Default)]
pub struct Notes {
    kept: Vec<Kept>,
    last_id: u64,
    last_turn: u64,
}

struct Kept {
    note: FaultNote,
    stage: Stage,
    control: Control,
    /// In force, while nobody works on it.
    made: Option<Box<dyn InForce>>,
    /// When it is undone by itself next.
    ends_at: Option<Moment>,
    /// How often it was undone by itself so far.
    tries: u32,
    /// Asked to be undone while it was being made.
    is_unwanted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Waits for its turn.
    ToMake(u64),
    Making,
    InForce,
    ToUndo(u64),
    Undoing,
    Done,
}

/// What a worker is to do.
pub struct Job {
    pub id: FaultId,
    pub control: Control,
    pub work: Work,
}

pub enum Work {
    Make(Fault),
    Undo(Box<dyn InForce>),
}

/// What a worker did.
pub enum Outcome {
    Made(Result<Made, NotMade>),
    /// The fault, when it is still there.
    Undone(Result<(), (Trouble, Box<dyn InForce>)>),
}

impl Notes {
    pub fn list(&self) -> Vec<FaultNote> {
        self.kept.iter().map(|kept| kept.note.clone()).collect()
    }

    pub fn make(&mut self, fault: Fault, now: Moment) {
        self.last_id += 1;
        let turn = self.turn();
        self.kept.push(Kept {
            note: FaultNote {
                id: FaultId(self.last_id),
                fault,
                since: now,
                state: FaultState::Starting,
            },
            stage: Stage::ToMake(turn),
            control: Control::default(),
            made: None,
            ends_at: None,
            tries: 0,
            is_unwanted: false,
        });
    }

    /// The hold on what is being made, to be ended early.
    pub fn undo(&mut self, id: FaultId, now: Moment) -> Option<Control> {
        let turn = self.turn();
        let kept = self.kept.iter_mut().find(|kept| kept.note.id == id)?;
        match kept.stage {
            Stage::ToMake(_) => kept.over(now),
            Stage::Making => {
                kept.is_unwanted = true;
                kept.note.state = FaultState::Ending;
                kept.control.withdraw();
                return Some(kept.control.clone());
            }
            Stage::InForce => {
                kept.stage = Stage::ToUndo(turn);
                kept.note.state = FaultState::Ending;
            }
            Stage::ToUndo(_) | Stage::Undoing | Stage::Done => {}
        }
        None
    }

    /// The youngest first.
    pub fn undo_all(&mut self, now: Moment) -> Vec<Control> {
        let ids: Vec<FaultId> = self.kept.iter().rev().map(|kept| kept.note.id).collect();
        ids.into_iter()
            .filter_map(|id| self.undo(id, now))
            .collect()
    }

    /// Ends those that have had their time, and forgets old ones. True when something changed.
    pub fn pass_time(&mut self, now: Moment) -> bool {
        let is_due = |kept: &&Kept| kept.ends_at.is_some_and(|at| at <= now);
        let due: Vec<FaultId> = self
            .kept
            .iter()
            .filter(is_due)
            .map(|kept| kept.note.id)
            .collect();
        for id in &due {
            self.undo_by_itself(*id, now);
        }
        let count = self.kept.len();
        let spare = count.saturating_sub(MOST_TOLD);
        let mut position = 0;
        self.kept.retain(|kept| {
            position += 1;
            let over_at = kept.over_at();
            over_at.is_none_or(|at| now.since(at) < TOLD_FOR && position > spare)
        });
        !due.is_empty() || self.kept.len() != count
    }

    /// Nobody asked for it, so nobody may be there to ask again.
    fn undo_by_itself(&mut self, id: FaultId, now: Moment) {
        self.undo(id, now);
        let kept = self.at(id);
        kept.ends_at = None;
        kept.tries += 1;
    }

    /// When the next fault has had its time.
    pub fn next_end(&self) -> Option<Moment> {
        self.kept.iter().filter_map(|kept| kept.ends_at).min()
    }

    /// The next order that can be carried out now; those that cannot be at all are noted as failed on the way.
    pub fn next_job(
        &mut self,
        nodes: &[LabNode],
        impossible: &[(FaultKind, Phrase)],
        now: Moment,
    ) -> Option<Job> {
        while let Some(id) = self.next_in_turn() {
            let active = self.active(id);
            let scene = Scene {
                nodes,
                active: &active,
                impossible,
            };
            let kept = self.at(id);
            let fault = kept.note.fault;
            let objection = match kept.stage {
                Stage::ToUndo(_) => why_not_undone(&fault, &scene),
                _ => why_not(&fault, &scene),
            };
            match objection {
                None => return kept.begin(now),
                Some(why) => kept.failed(why, now),
            }
        }
        None
    }

    fn next_in_turn(&self) -> Option<FaultId> {
        let at_work = |kept: &&Kept| matches!(kept.stage, Stage::Making | Stage::Undoing);
        if self.kept.iter().filter(at_work).count() >= MOST_AT_WORK {
            return None;
        }
        let mut waiting: Vec<(u64, &Kept)> = self
            .kept
            .iter()
            .filter_map(|kept| Some((kept.turn()?, kept)))
            .collect();
        waiting.sort_by_key(|(turn, _)| *turn);
        let mut before: Vec<Needs> = self.kept.iter().filter(at_work).map(Kept::needs).collect();
        for (_, kept) in waiting {
            let needs = kept.needs();
            if !before.iter().any(|other| other.meets(needs)) {
                return Some(kept.note.id);
            }
            before.push(needs);
        }
        None
    }

    /// Those in force or being made, without `id` if that is still to be made.
    fn active(&self, id: FaultId) -> Vec<Fault> {
        let is_active = |kept: &&Kept| match kept.stage {
            Stage::Making | Stage::InForce => true,
            Stage::ToUndo(_) | Stage::Undoing => kept.note.id == id || kept.made.is_some(),
            Stage::ToMake(_) | Stage::Done => false,
        };
        let active = self.kept.iter().filter(is_active);
        active.map(|kept| kept.note.fault).collect()
    }

    pub fn done(&mut self, id: FaultId, outcome: Outcome, now: Moment) {
        let turn = self.turn();
        let Some(kept) = self.kept.iter_mut().find(|kept| kept.note.id == id) else {
            return;
        };
        let mut restarted = None;
        match outcome {
            Outcome::Made(Ok(Made::InForce(made))) => {
                kept.made = Some(made);
                if kept.is_unwanted {
                    kept.stage = Stage::ToUndo(turn);
                } else {
                    kept.stage = Stage::InForce;
                    kept.note.state = FaultState::Active;
                    kept.ends_at = kept.note.fault.lasts.map(|lasts| now + lasts);
                }
            }
            Outcome::Made(Ok(Made::Over)) => kept.passed(now),
            Outcome::Made(Err(NotMade { why, left })) => {
                kept.made = left;
                // What is left was undone once already, in vain.
                kept.tries = 1;
                match (&kept.made, kept.is_unwanted) {
                    (None, true) => kept.over(now),
                    (Some(_), true) => kept.stage = Stage::ToUndo(turn),
                    (_, false) => kept.failed(*why, now),
                }
            }
            Outcome::Undone(Ok(())) => {
                kept.over(now);
                if kept.note.fault.kind == FaultKind::KillServer {
                    restarted = Some(kept.note.fault.on);
                }
            }
            Outcome::Undone(Err((why, made))) => {
                kept.made = Some(made);
                kept.failed(why, now);
            }
        }
        if let Some(server) = restarted {
            self.end_with(server, now);
        }
    }

    /// What lived in a process that was killed is gone; undoing it tidies up after it.
    fn end_with(&mut self, server: usize, now: Moment) {
        let gone = |kept: &&Kept| {
            let fault = &kept.note.fault;
            fault.on == server && ends_with_its_server(fault.kind)
        };
        let ids: Vec<FaultId> = self
            .kept
            .iter()
            .filter(gone)
            .map(|kept| kept.note.id)
            .collect();
        for id in ids {
            self.undo_by_itself(id, now);
        }
    }

    /// Withdraws everything and lets go of everything.
    pub fn drop_all(&mut self) -> Vec<Control> {
        let controls = self.kept.iter().map(|kept| kept.control.clone()).collect();
        self.kept.clear();
        for control in &controls {
            Control::withdraw(control);
        }
        controls
    }

    fn turn(&mut self) -> u64 {
        self.last_turn += 1;
        self.last_turn
    }

    fn at(&mut self, id: FaultId) -> &mut Kept {
        let found = self.kept.iter_mut().find(|kept| kept.note.id == id);
        found.expect("ids come from this list and nobody else removes")
    }
}

impl Kept {
    fn turn(&self) -> Option<u64> {
        match self.stage {
            Stage::ToMake(turn) | Stage::ToUndo(turn) => Some(turn),
            _ => None,
        }
    }

    fn needs(&self) -> Needs {
        Needs::of(&self.note.fault)
    }

    fn begin(&mut self, now: Moment) -> Option<Job> {
        let work = match (self.stage, self.made.take()) {
            (Stage::ToUndo(_), Some(made)) => {
                self.stage = Stage::Undoing;
                self.control = Control::default();
                Work::Undo(made)
            }
            (Stage::ToUndo(_), None) => {
                self.over(now);
                return None;
            }
            _ => {
                self.stage = Stage::Making;
                Work::Make(self.note.fault)
            }
        };
        Some(Job {
            id: self.note.id,
            control: self.control.clone(),
            work,
        })
    }

    fn over(&mut self, now: Moment) {
        self.stage = Stage::Done;
        self.ends_at = None;
        self.note.state = FaultState::Over { at: now };
    }

    /// Called off too late, it is over all the same.
    fn passed(&mut self, now: Moment) {
        let was_called_off = self.is_unwanted;
        self.over(now);
        if !was_called_off {
            self.note.state = FaultState::Passed { at: now };
        }
    }

    /// What is still there can be undone again, and is by itself if it had its time or should not be there at all.
    fn failed(&mut self, why: Trouble, now: Moment) {
        if self.made.is_none() {
            self.stage = Stage::Done;
            self.ends_at = None;
            self.note.state = FaultState::Failed { at: now, why };
            return;
        }
        if (1..MOST_TRIES).contains(&self.tries) {
            self.ends_at = Some(now + pause_after(self.tries));
        }
        self.stage = Stage::InForce;
        self.note.state = FaultState::Stuck {
            at: now,
            why,
            again_at: self.ends_at,
        };
    }

    fn over_at(&self) -> Option<Moment> {
        match self.note.state {
            FaultState::Over { at } | FaultState::Passed { at } | FaultState::Failed { at, .. } => {
                Some(at)
            }
            _ => None,
        }
    }
}

fn pause_after(tries: u32) -> Span {
    let doublings = tries.saturating_sub(1).min(5);
    FIRST_PAUSE.times(1 << doublings).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
