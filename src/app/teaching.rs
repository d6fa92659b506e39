//! A lesson at work: where it stands, what its steps ask to be done, and what it has seen. Who carries the acts out is
//! the window's business.

pub mod facts;

use std::collections::VecDeque;
use std::thread;

use crossbeam_channel::{Receiver, bounded};

use crate::app::lab::Wake;
use crate::lab::lessons;
use crate::lab::lessons::saying::Errand;
use crate::model::lab::{FaultId, FaultKind, FaultNote, FaultState, LabPhase, LabStatus};
use crate::model::lesson::{Act, Condition, LessonFacts, LessonRun, Said, Servers};
use crate::model::phrase::{Phrase, phrase};
use crate::model::server::Version;
use crate::model::time::{Moment, Span};
use crate::ui::lab::board::LabBoard;
use crate::ui::lesson::board::{Answers, LabFit, LessonBoard};

/// A fault that is not in force by then will not be.
const FAULT_LIMIT: Span = Span::from_secs(90);

/// The heartbeat's event and the polls both come once a second: what the server says of itself for 300 ms after each
/// beat (MySQL moves the applier's position on every `replica_checkpoint_period`) is seen every time, or never. So long
/// after the last one a poll is due that is out of step; 3.7 s lead through all tenths of a second.
const OUT_OF_STEP_AFTER: Span = Span::from_millis(3_700);

pub struct Teaching {
    pub board: LessonBoard,
    /// The lessons speak of the lab's servers, or of those of the lab before.
    servers: Servers,
    to_do: VecDeque<Act>,
    doing: Option<Doing>,
    /// Of the thread that says the step's statements.
    said: Option<Receiver<Vec<Said>>>,
    /// When an acceptance run and a comparison were last started, whoever did.
    pub accept_started: Option<Moment>,
    pub compare_started: Option<Moment>,
    /// The last poll out of step.
    polled_at: Option<Moment>,
    /// To be begun as soon as a lab runs.
    pub begins_with_lab: Option<String>,
}

/// What the next act waits for.
#[derive(Clone, Debug, PartialEq)]
enum Doing {
    Until(Moment),
    Making {
        kind: FaultKind,
        /// The newest fault before.
        after: Option<FaultId>,
        since: Moment,
    },
    /// None: all.
    Undoing {
        kind: Option<FaultKind>,
        since: Moment,
    },
    Probe,
    Compare,
    Accept,
}

/// How what takes a while stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busy {
    pub probe: bool,
    pub compare: bool,
    pub accept: bool,
}

impl Default for Teaching {
    fn default() -> Self {
        Teaching {
            board: LessonBoard {
                lessons: lessons::all().to_vec(),
                ..LessonBoard::default()
            },
            servers: Servers::default(),
            to_do: VecDeque::new(),
            doing: None,
            said: None,
            accept_started: None,
            compare_started: None,
            polled_at: None,
            begins_with_lab: None,
        }
    }
}

impl Teaching {
    /// That lesson as soon as a lab runs.
    pub fn beginning_with(lesson: Option<String>) -> Self {
        Teaching {
            begins_with_lab: lesson,
            ..Teaching::default()
        }
    }

    /// False when there is no such lesson.
    pub fn begin(&mut self, id: &str, now: Moment) -> bool {
        let Some(lesson) = lessons::find(id, self.servers) else {
            return false;
        };
        self.stop_acting();
        self.forget_answers();
        self.board.run = Some(LessonRun::new(lesson, now));
        true
    }

    pub fn leave(&mut self) {
        self.stop_acting();
        self.forget_answers();
        self.board.run = None;
        self.board.is_presenting = false;
    }

    fn stop_acting(&mut self) {
        self.to_do.clear();
        self.doing = None;
        self.board.is_acting = false;
        self.board.made_again = None;
        self.board.trouble = None;
    }

    /// What was answered belongs to the step it was said on.
    fn forget_answers(&mut self) {
        self.said = None;
        self.board.answers = Answers::None;
    }

    /// Another page: what the last one had still to do is not done any more.
    pub fn turn(&mut self, turn: impl FnOnce(&mut LessonRun)) {
        let Some(run) = &mut self.board.run else {
            return;
        };
        let before = run.page();
        turn(run);
        if run.page() != before {
            self.stop_acting();
            self.forget_answers();
        }
    }

    /// The acts of the step on show are to be done, one after the other.
    pub fn act(&mut self, now: Moment) {
        let Some(run) = &mut self.board.run else {
            return;
        };
        let Some(step) = run.step() else { return };
        self.to_do = step.acts.iter().cloned().collect();
        self.doing = None;
        self.board.made_again = None;
        self.board.trouble = None;
        run.acted(now);
        self.board.is_acting = !self.to_do.is_empty();
    }

    /// The statements of the step on show are to be said, on a thread.
    pub fn say(&mut self, lab: Option<&LabStatus>, wake: Wake) {
        let step = self.board.run.as_ref().and_then(LessonRun::step);
        let Some(sql) = step.and_then(|step| step.sql.as_ref()) else {
            return;
        };
        self.board.trouble = None;
        let errand = match lab.map(|lab| Errand::new(sql, lab)) {
            None => return self.board.trouble = Some(phrase("lab_screen.no_lab")),
            Some(Err(why)) => return self.board.trouble = Some(why),
            Some(Ok(errand)) => errand,
        };
        let (sender, said) = bounded(1);
        let work = move || {
            // nobody listens once the page was turned
            let _ = sender.send(errand.run());
            wake();
        };
        let thread = thread::Builder::new().name("lesson".into()).spawn(work);
        self.said = thread.is_ok().then_some(said);
        self.board.answers = match self.said {
            Some(_) => Answers::Awaited,
            None => Answers::None,
        };
    }

    fn take_in_answers(&mut self) {
        if let Some(said) = self.said.as_ref().and_then(|said| said.try_recv().ok()) {
            self.board.answers = Answers::Here(said);
            self.said = None;
        }
    }

    /// The act to be carried out now, if its turn has come.
    pub fn next_act(&mut self, lab: Option<&LabStatus>, busy: Busy, now: Moment) -> Option<Act> {
        if let Some(doing) = &self.doing {
            match outcome(doing, lab, busy, now) {
                Outcome::Goes => return None,
                Outcome::Done => self.doing = None,
                Outcome::Failed(why) => {
                    self.stop_acting();
                    self.board.trouble = Some(why);
                    return None;
                }
            }
        }
        let runs_alone =
            |act: &Act| matches!(act, Act::Probe { .. } | Act::Compare { .. } | Act::Accept);
        // one that the step before has begun is still at work
        let is_busy = busy.probe || busy.compare || busy.accept;
        if is_busy && self.to_do.front().is_some_and(runs_alone) {
            return None;
        }
        let Some(act) = self.to_do.pop_front() else {
            self.board.is_acting = false;
            return None;
        };
        self.doing = doing(&act, lab, now);
        Some(act)
    }

    /// The last act could not be begun.
    pub fn refused(&mut self, why: Phrase) {
        self.stop_acting();
        self.board.trouble = Some(why);
    }

    /// Ticks off what was seen; true when the step was ticked just now. While its acts are being made ready, what is seen
    /// may still be the step before.
    pub fn observe(&mut self, facts: &LessonFacts, now: Moment) -> bool {
        self.take_in_answers();
        let makes_ready = match self.doing {
            Some(Doing::Probe | Doing::Compare | Doing::Accept) => false,
            Some(_) => true,
            None => self.board.is_acting,
        };
        if makes_ready || !self.to_do.is_empty() {
            return false;
        }
        let Some(run) = &mut self.board.run else {
            return false;
        };
        let is_ticked_now = run.observe(facts, now);
        let once_more = run.once_more(facts, now);
        if let Some(act) = once_more.filter(|_| self.board.trouble.is_none()) {
            self.board.made_again = Some(act.clone());
            self.board.is_acting = true;
            self.to_do.push_back(act);
        }
        is_ticked_now
    }

    /// Whether to poll now, out of step: the step on show waits for a number that changes within a poll's interval.
    pub fn wants_poll(&mut self, now: Moment) -> bool {
        let Some(run) = &self.board.run else {
            return false;
        };
        let mut changes_fast = false;
        if let Some(until) = run.step().and_then(|step| step.until.as_ref()) {
            until.visit(&mut |part| {
                changes_fast |= matches!(part, Condition::SecondsBehind { .. });
            });
        }
        let has_waited = run.waiting_for(now) >= Some(OUT_OF_STEP_AFTER);
        let last = self.polled_at;
        let is_due = last.is_none_or(|at| now.since(at) >= OUT_OF_STEP_AFTER);
        let is_due = changes_fast && has_waited && is_due;
        if is_due {
            self.polled_at = Some(now);
        }
        is_due
    }

    /// Whether the lab carries the lesson, and in whose words it is taught there. `version` is what the lab's source
    /// says, once it does.
    pub fn fit(&mut self, lab: &LabBoard, version: Option<Version>) {
        let status = lab.status.as_ref();
        if let Some(status) = status {
            self.speak_of(Servers::of(status.plan.ground, version));
        }
        let lesson = self.board.run.as_ref().map(LessonRun::lesson);
        self.board.lab = match status.map(|status| &status.phase) {
            None | Some(LabPhase::Stopped | LabPhase::Failed(_)) => LabFit::Missing,
            Some(LabPhase::Starting(_) | LabPhase::Stopping) => LabFit::Passing,
            Some(LabPhase::Running { .. }) => {
                let plan = status.map(|status| &status.plan);
                let fits = lesson.zip(plan).is_none_or(|(l, plan)| l.lab.fits(plan));
                if fits { LabFit::Fits } else { LabFit::Other }
            }
        };
    }

    fn speak_of(&mut self, servers: Servers) {
        if servers == self.servers {
            return;
        }
        self.servers = servers;
        self.board.lessons = lessons::all_in(servers).to_vec();
        if let Some(run) = &mut self.board.run
            && let Some(lesson) = lessons::find(&run.lesson().id, servers)
        {
            run.reword(lesson);
        }
    }
}

/// What is to be waited for before the act after this one.
fn doing(act: &Act, lab: Option<&LabStatus>, now: Moment) -> Option<Doing> {
    Some(match act {
        Act::Wait(span) => Doing::Until(now + *span),
        Act::Make { kind, .. } => Doing::Making {
            kind: *kind,
            after: lab.and_then(|lab| lab.faults.iter().map(|note| note.id).max()),
            since: now,
        },
        Act::Undo(kind) => Doing::Undoing {
            kind: Some(*kind),
            since: now,
        },
        Act::UndoAll => Doing::Undoing {
            kind: None,
            since: now,
        },
        Act::Probe { .. } => Doing::Probe,
        Act::Compare { .. } => Doing::Compare,
        Act::Accept => Doing::Accept,
        Act::Carry(_) | Act::Show(_) => return None,
    })
}

enum Outcome {
    Goes,
    Done,
    Failed(Phrase),
}

fn outcome(doing: &Doing, lab: Option<&LabStatus>, busy: Busy, now: Moment) -> Outcome {
    let when = |done: bool| if done { Outcome::Done } else { Outcome::Goes };
    let faults = lab.map_or(&[][..], |lab| lab.faults.as_slice());
    let late = |since: Moment| now.since(since) > FAULT_LIMIT;
    match doing {
        Doing::Until(at) => when(now >= *at),
        Doing::Probe => when(!busy.probe),
        Doing::Compare => when(!busy.compare),
        Doing::Accept => when(!busy.accept),
        Doing::Making { kind, after, since } => {
            let made = |note: &&FaultNote| note.fault.kind == *kind && Some(note.id) > *after;
            match faults.iter().find(made).map(|note| &note.state) {
                Some(FaultState::Failed { why, .. } | FaultState::Stuck { why, .. }) => {
                    Outcome::Failed(why.what.clone())
                }
                Some(FaultState::Starting) | None if !late(*since) => Outcome::Goes,
                None => Outcome::Failed(phrase("lab_screen.not_taken")),
                Some(_) => Outcome::Done,
            }
        }
        Doing::Undoing { kind, since } => {
            let meant = |note: &&FaultNote| kind.is_none_or(|kind| note.fault.kind == kind);
            let open = faults.iter().filter(meant).any(crate::ui::lab::is_active);
            when(!open || late(*since))
        }
    }
}

#[cfg(test)]
mod tests;
