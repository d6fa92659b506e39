//! A lesson being taught: where it stands, what is ticked off, whether a hint is due. Time is passed in.

use std::sync::Arc;

use super::facts::LessonFacts;
use super::{Act, Lesson, Step};
use crate::model::lab::FaultState;
use crate::model::time::{Moment, Span};

/// What is to be seen of a transaction is seen by so long after its commit, on the slowest machine too: a replica is late
/// from then on, and what makes it late is named after a poll or two.
const UNSEEN_FOR: Span = Span::from_secs(6);

/// From one big transaction to the next.
const BIGGER: f64 = 4.0;

/// What is on show of a lesson. The presenter pages through them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// From 0.
    Step(usize),
    Question,
    Production,
}

#[derive(Clone, Debug)]
pub struct LessonRun {
    lesson: Arc<Lesson>,
    page: Page,
    /// Since when this page is on show.
    since: Moment,
    /// One for each step.
    ticked: Vec<bool>,
    /// Since when the condition of the current step holds without a break.
    met_since: Option<Moment>,
    /// When the acts of the current step were begun.
    acted_at: Option<Moment>,
    answer_revealed: bool,
}

impl LessonRun {
    pub fn new(lesson: Arc<Lesson>, now: Moment) -> Self {
        LessonRun {
            ticked: vec![false; lesson.steps.len()],
            lesson,
            page: Page::Step(0),
            since: now,
            met_since: None,
            acted_at: None,
            answer_revealed: false,
        }
    }

    pub fn lesson(&self) -> &Lesson {
        &self.lesson
    }

    pub fn shared_lesson(&self) -> Arc<Lesson> {
        Arc::clone(&self.lesson)
    }

    /// The same lesson in the words of other servers.
    pub fn reword(&mut self, lesson: Arc<Lesson>) {
        self.lesson = lesson;
        self.ticked.resize(self.lesson.steps.len(), false);
    }

    pub fn page(&self) -> Page {
        self.page
    }

    /// The step on show.
    pub fn step(&self) -> Option<&Step> {
        match self.page {
            Page::Step(index) => self.lesson.steps.get(index),
            Page::Question | Page::Production => None,
        }
    }

    pub fn is_ticked(&self, step: usize) -> bool {
        self.ticked.get(step).copied().unwrap_or(false)
    }

    pub fn steps_ticked(&self) -> usize {
        self.ticked.iter().filter(|ticked| **ticked).count()
    }

    pub fn since(&self) -> Moment {
        self.since
    }

    /// For how long the current step waits to be ticked off, since it came up or since its acts were begun; `None` where
    /// nothing is waited for (any more).
    pub fn waiting_for(&self, now: Moment) -> Option<Span> {
        let step = self.step()?;
        let waits = step.until.is_some() && !self.is_current_ticked();
        waits.then(|| now.since(self.acted_at.unwrap_or(self.since)).or_zero())
    }

    /// The step has waited longer than it should.
    pub fn hint_is_due(&self, now: Moment) -> bool {
        let Some(step) = self.step() else {
            return false;
        };
        step.hint.is_some()
            && self
                .waiting_for(now)
                .is_some_and(|waited| waited >= step.patience)
    }

    /// Ticks the current step off if what it waits for has been seen; says whether it did so now.
    pub fn observe(&mut self, facts: &LessonFacts, now: Moment) -> bool {
        let Page::Step(index) = self.page else {
            return false;
        };
        if self.is_current_ticked() {
            return false;
        }
        let Some(step) = self.lesson.steps.get(index) else {
            return false;
        };
        let Some(until) = &step.until else {
            return false;
        };
        if !until.met(facts, self.since) {
            self.met_since = None;
            return false;
        }
        let met_since = *self.met_since.get_or_insert(now);
        let held = now.since(met_since) >= step.hold;
        self.ticked[index] = held;
        held
    }

    /// The next page. Leaving a step that waits for nothing ticks it off; one that waits for something stays open.
    pub fn forward(&mut self, now: Moment) {
        if let Page::Step(index) = self.page
            && self.step().is_some_and(|step| step.until.is_none())
        {
            self.ticked[index] = true;
        }
        let next = match self.page {
            Page::Step(index) if index + 1 < self.lesson.steps.len() => Page::Step(index + 1),
            Page::Step(_) => Page::Question,
            Page::Question | Page::Production => Page::Production,
        };
        self.go_to(next, now);
    }

    pub fn back(&mut self, now: Moment) {
        let before = match self.page {
            Page::Step(index) => Page::Step(index.saturating_sub(1)),
            Page::Question => Page::Step(self.lesson.steps.len().saturating_sub(1)),
            Page::Production => Page::Question,
        };
        self.go_to(before, now);
    }

    pub fn go_to(&mut self, page: Page, now: Moment) {
        if page == self.page || matches!(page, Page::Step(i) if i >= self.lesson.steps.len()) {
            return;
        }
        self.page = page;
        self.since = now;
        self.met_since = None;
        self.acted_at = None;
    }

    /// The person says it was seen.
    pub fn tick(&mut self) {
        if let Page::Step(index) = self.page {
            self.ticked[index] = true;
        }
    }

    /// The acts of the current step are being carried out. What held before does not count.
    pub fn acted(&mut self, now: Moment) {
        self.acted_at = Some(now);
        self.met_since = None;
    }

    pub fn has_acted(&self) -> bool {
        self.acted_at.is_some()
    }

    /// A transaction is big where a machine takes its time over it. One that has passed on a quick machine with nothing
    /// to be seen is to be made again, bigger, as far as its kind allows.
    pub fn once_more(&self, facts: &LessonFacts, now: Moment) -> Option<Act> {
        let acted_at = self.acted_at?;
        if self.waiting_for(now).is_none() || self.met_since.is_some() {
            return None;
        }
        let mut acts = self.step()?.acts.iter();
        let (kind, on, lasts) = acts.find_map(|act| match act {
            Act::Make {
                kind, on, lasts, ..
            } if kind.is_momentary() => Some((*kind, *on, *lasts)),
            _ => None,
        })?;
        let last = facts.last_of(kind).filter(|note| note.since >= acted_at)?;
        let FaultState::Passed { at } = last.state else {
            return None;
        };
        let before = last.fault.intensity;
        let intensity = (before * BIGGER).min(kind.intensity()?.most);
        let is_due = now.since(at) >= UNSEEN_FOR && intensity > before;
        is_due.then_some(Act::Make {
            kind,
            on,
            intensity,
            lasts,
        })
    }

    pub fn reveal_answer(&mut self) {
        self.answer_revealed = true;
    }

    pub fn answer_is_revealed(&self) -> bool {
        self.answer_revealed
    }

    pub fn is_current_ticked(&self) -> bool {
        matches!(self.page, Page::Step(index) if self.is_ticked(index))
    }
}
