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
use crate::model::lesson::{Act, LessonFacts, LessonRun, Said, Servers};
use crate::model::phrase::{Phrase, phrase};
use crate::model::server::Version;
use crate::model::time::{Moment, Span};
use crate::ui::lab::board::LabBoard;
use crate::ui::lesson::board::{Answers, LabFit, LessonBoard};

/// A fault that is not in force by then will not be.
const FAULT_LIMIT: Span = Span::from_secs(90);

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
mod tests {
    use super::*;
    use crate::model::lab::{Fault, Generation, Ground, LabPlan, Traffic, TrafficCounts};
    use crate::model::lesson::Page;

    fn at(secs: i64) -> Moment {
        Moment::from_unix_micros(secs * 1_000_000)
    }

    fn lab(faults: Vec<FaultNote>) -> LabStatus {
        LabStatus {
            plan: LabPlan::default(),
            phase: LabPhase::Running { since: at(0) },
            nodes: Vec::new(),
            accounts: None,
            ca_pem: None,
            traffic: Traffic::default(),
            carried: TrafficCounts::default(),
            faults,
            impossible: Vec::new(),
        }
    }

    #[test]
    fn a_lesson_is_taught_in_the_words_of_the_labs_servers() {
        let mut teaching = Teaching::default();
        teaching.begin("seconds-behind", at(0));
        let mut status = lab(Vec::new());
        status.plan.ground = Ground::Simulated(Generation::MariaDb1011);
        let board = LabBoard {
            status: Some(status),
            ..LabBoard::default()
        };
        teaching.board.run.as_mut().unwrap().forward(at(1));
        teaching.fit(&board, None);
        let run = teaching.board.run.as_ref().unwrap();
        assert_eq!(run.lesson().title.en, "Why Seconds_Behind_Master lies");
        assert_eq!(run.page(), Page::Step(1));
    }

    fn note(id: u64, state: FaultState) -> FaultNote {
        FaultNote {
            id: FaultId(id),
            fault: Fault {
                kind: FaultKind::LinkCut,
                on: 1,
                intensity: 0.0,
                lasts: None,
            },
            since: at(1),
            state,
        }
    }

    fn teaching(acts: Vec<Act>) -> Teaching {
        Teaching {
            to_do: acts.into(),
            ..Teaching::default()
        }
    }

    fn cut() -> Act {
        Act::Make {
            kind: FaultKind::LinkCut,
            on: 1,
            intensity: 0.0,
            lasts: None,
        }
    }

    #[test]
    fn an_act_waits_until_the_fault_before_it_is_in_force() {
        let mut teaching = teaching(vec![cut(), Act::Accept]);
        let busy = Busy::default();
        let old = note(3, FaultState::Over { at: at(0) });
        let before = lab(vec![old.clone()]);
        assert_eq!(teaching.next_act(Some(&before), busy, at(10)), Some(cut()));
        assert_eq!(teaching.next_act(Some(&before), busy, at(11)), None);
        let starting = lab(vec![old.clone(), note(4, FaultState::Starting)]);
        assert_eq!(teaching.next_act(Some(&starting), busy, at(12)), None);
        let active = lab(vec![old, note(4, FaultState::Active)]);
        assert_eq!(
            teaching.next_act(Some(&active), busy, at(13)),
            Some(Act::Accept)
        );
    }

    /// The lag of replica 1 that the step before has left.
    #[test]
    fn nothing_is_ticked_off_before_what_the_step_makes_is_in_force() {
        use crate::model::lesson::{LagNow, ServerFacts};
        let mut teaching = Teaching::default();
        teaching.begin("missing-order", at(0));
        teaching.turn(|run| run.go_to(Page::Step(2), at(0)));
        let late = ServerFacts {
            lag: LagNow::Measured(Span::from_secs(5)),
            ..ServerFacts::default()
        };
        let facts = LessonFacts {
            servers: [(1, late)].into(),
            ..LessonFacts::default()
        };
        let busy = Busy::default();
        teaching.act(at(1));
        assert!(!teaching.observe(&facts, at(1)));
        teaching.next_act(Some(&lab(Vec::new())), busy, at(2));
        assert!(!teaching.observe(&facts, at(2)));
        let mut active = note(1, FaultState::Active);
        active.fault.kind = FaultKind::LinkLatency;
        teaching.next_act(Some(&lab(vec![active])), busy, at(3));
        assert!(teaching.observe(&facts, at(3)));
    }

    #[test]
    fn what_passed_unseen_is_made_again_once_at_a_time_and_that_is_told() {
        let mut teaching = Teaching::default();
        teaching.begin("big-transactions", at(0));
        teaching.turn(|run| run.go_to(Page::Step(1), at(0)));
        teaching.act(at(1));
        let (busy, idle) = (Busy::default(), lab(Vec::new()));
        let made = teaching.next_act(Some(&idle), busy, at(1));
        assert!(made.is_some() && teaching.board.made_again.is_none());

        let mut unseen = note(1, FaultState::Passed { at: at(2) });
        unseen.fault.kind = FaultKind::BigTransaction;
        unseen.fault.intensity = 300_000.0;
        let facts = LessonFacts {
            faults: vec![unseen.clone()],
            ..LessonFacts::default()
        };
        let after = lab(vec![unseen]);
        assert_eq!(teaching.next_act(Some(&after), busy, at(9)), None);
        teaching.observe(&facts, at(9));
        let again = teaching.next_act(Some(&after), busy, at(10));
        assert!(again.is_some() && again == teaching.board.made_again);
        teaching.observe(&facts, at(11));
        assert_eq!(teaching.next_act(Some(&after), busy, at(11)), None);

        teaching.turn(|run| run.forward(at(12)));
        assert_eq!(teaching.board.made_again, None);
    }

    #[test]
    fn answers_are_those_of_the_step_they_were_asked_on() {
        let mut teaching = Teaching::default();
        teaching.begin("heartbeat", at(0));
        let (sender, said) = bounded(1);
        teaching.said = Some(said);
        teaching.board.answers = Answers::Awaited;
        sender.send(Vec::new()).unwrap();
        teaching.observe(&LessonFacts::default(), at(1));
        assert_eq!(teaching.board.answers, Answers::Here(Vec::new()));
        teaching.turn(|run| run.forward(at(2)));
        assert_eq!(teaching.board.answers, Answers::None);
    }

    #[test]
    fn without_a_lab_nothing_is_said_and_that_is_told() {
        let mut teaching = Teaching::default();
        teaching.begin("heartbeat", at(0));
        teaching.say(None, std::sync::Arc::new(|| {}));
        assert_eq!(teaching.board.answers, Answers::None);
        let told = teaching.board.trouble.as_ref().map(|why| why.key);
        assert_eq!(told, Some("lab_screen.no_lab"));
    }

    #[test]
    fn a_wait_lasts_as_long_as_it_says() {
        let mut teaching = teaching(vec![Act::Wait(Span::from_secs(5)), Act::Accept]);
        let busy = Busy::default();
        assert!(teaching.next_act(None, busy, at(0)).is_some());
        assert_eq!(teaching.next_act(None, busy, at(4)), None);
        assert_eq!(teaching.next_act(None, busy, at(5)), Some(Act::Accept));
    }

    #[test]
    fn a_probe_waits_for_the_one_that_the_step_before_began() {
        let mut teaching = teaching(vec![Act::Accept]);
        let busy = Busy {
            probe: true,
            ..Busy::default()
        };
        assert_eq!(teaching.next_act(None, busy, at(0)), None);
        let idle = Busy::default();
        assert_eq!(teaching.next_act(None, idle, at(1)), Some(Act::Accept));
    }

    #[test]
    fn a_fault_that_cannot_be_made_ends_the_acts_and_says_why() {
        let mut teaching = teaching(vec![cut(), Act::Accept]);
        let busy = Busy::default();
        teaching.next_act(None, busy, at(0));
        let failed = FaultState::Failed {
            at: at(1),
            why: crate::model::trouble::Trouble {
                kind: crate::model::trouble::TroubleKind::Lost,
                what: Phrase::new("why"),
                hint: None,
                code: None,
                detail: String::new(),
            },
        };
        assert_eq!(
            teaching.next_act(Some(&lab(vec![note(1, failed)])), busy, at(1)),
            None
        );
        assert_eq!(
            teaching.board.trouble.as_ref().map(|why| why.key),
            Some("why")
        );
        assert_eq!(teaching.next_act(None, busy, at(2)), None);
    }
}
