//! What the panel, the strip and the presenter view show, in finished words.

use super::answers::AnswersView;
use super::board::{LabFit, LessonBoard};
use super::wording::{act_phrase, in_language, made_again_phrase, spot_phrase};
use crate::model::lesson::{Lesson, LessonRun, Page, Spot, Step, server_name};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;
use crate::ui::Frame;
use crate::words::Catalogue;

#[derive(Clone, Debug, PartialEq)]
pub struct LessonData {
    pub list: Vec<LessonRow>,
    pub run: Option<RunView>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LessonRow {
    pub id: String,
    pub number: u32,
    pub title: String,
    pub goal: String,
    pub minutes: String,
}

/// The lesson being taught.
#[derive(Clone, Debug, PartialEq)]
pub struct RunView {
    /// "Lesson 3 of 14".
    pub heading: String,
    pub title: String,
    pub goal: String,
    pub steps: Vec<StepLine>,
    /// "Step 2 of 7", "Question", "In production".
    pub position: String,
    pub page: PageView,
    pub lab: LabFit,
    /// What the lesson needs, where the lab does not fit.
    pub need: String,
    pub trouble: Option<String>,
    pub has_back: bool,
    pub has_forward: bool,
}

/// A step in the list of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLine {
    pub page: Page,
    pub text: String,
    pub state: StepState,
    pub is_current: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    Open,
    Ticked,
    /// The question and the checklist.
    NoStep,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PageView {
    Step(StepView),
    Question {
        ask: String,
        /// Once it was asked for.
        answer: Option<String>,
    },
    Production {
        lines: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    pub text: String,
    /// What the button does, a line each; empty: there is no button.
    pub acts: Vec<String>,
    pub has_acted: bool,
    pub is_acting: bool,
    pub look: Option<(Spot, String)>,
    pub sql: Option<SqlView>,
    pub ticked: bool,
    /// It ticks itself off, and has not yet.
    pub waiting: Option<String>,
    pub hint: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SqlView {
    /// "On replica-1, as admin, in a client of your own".
    pub heading: String,
    pub text: String,
    /// What the button that says it will do.
    pub says: String,
    pub answers: AnswersView,
}

impl LessonData {
    pub fn new(frame: &Frame<'_>, board: &LessonBoard) -> Self {
        LessonData {
            list: board.lessons.iter().map(|l| row(frame.words, l)).collect(),
            run: board.run.as_ref().map(|run| view(frame, board, run)),
        }
    }
}

impl RunView {
    /// Nothing is left to do or to wait for on this page.
    pub fn is_done_here(&self) -> bool {
        match &self.page {
            PageView::Step(step) => {
                step.ticked || step.waiting.is_none() && (step.acts.is_empty() || step.has_acted)
            }
            PageView::Question { answer, .. } => answer.is_some(),
            PageView::Production { .. } => false,
        }
    }
}

fn row(words: &Catalogue, lesson: &Lesson) -> LessonRow {
    LessonRow {
        id: lesson.id.clone(),
        number: lesson.number,
        title: in_language(words, &lesson.title).to_owned(),
        goal: in_language(words, &lesson.goal).to_owned(),
        minutes: words.span(Span::from_secs(i64::from(lesson.minutes) * 60)),
    }
}

fn view(frame: &Frame<'_>, board: &LessonBoard, run: &LessonRun) -> RunView {
    let words = frame.words;
    let lesson = run.lesson();
    let heading = phrase("lesson.heading")
        .with("number", u64::from(lesson.number))
        .with("of", board.lessons.len() as u64);
    RunView {
        heading: words.say(&heading),
        title: in_language(words, &lesson.title).to_owned(),
        goal: in_language(words, &lesson.goal).to_owned(),
        steps: steps(words, run),
        position: position(words, run),
        page: page(frame, board, run),
        lab: board.lab,
        need: need(words, lesson),
        trouble: board.trouble.as_ref().map(|why| words.say(why)),
        has_back: run.page() != Page::Step(0),
        has_forward: run.page() != Page::Production,
    }
}

fn steps(words: &Catalogue, run: &LessonRun) -> Vec<StepLine> {
    let line = |page, text: &str, state| StepLine {
        page,
        text: text.to_owned(),
        state,
        is_current: run.page() == page,
    };
    let steps = run.lesson().steps.iter().enumerate().map(|(index, step)| {
        let state = match run.is_ticked(index) {
            true => StepState::Ticked,
            false => StepState::Open,
        };
        line(Page::Step(index), in_language(words, &step.text), state)
    });
    let rest = [
        (Page::Question, "lesson.question"),
        (Page::Production, "lesson.production"),
    ];
    let rest = rest.map(|(page, key)| line(page, words.text(key), StepState::NoStep));
    steps.chain(rest).collect()
}

fn position(words: &Catalogue, run: &LessonRun) -> String {
    match run.page() {
        Page::Step(index) => words.say(
            &phrase("lesson.step_of")
                .with("number", index as u64 + 1)
                .with("of", run.lesson().steps.len() as u64),
        ),
        Page::Question => words.text("lesson.question").to_owned(),
        Page::Production => words.text("lesson.production").to_owned(),
    }
}

fn page(frame: &Frame<'_>, board: &LessonBoard, run: &LessonRun) -> PageView {
    let words = frame.words;
    let lesson = run.lesson();
    match (run.page(), run.step()) {
        (Page::Step(_), Some(step)) => PageView::Step(step_view(frame, board, run, step)),
        (Page::Production, _) => PageView::Production {
            lines: lesson
                .production
                .iter()
                .map(|line| in_language(words, line).to_owned())
                .collect(),
        },
        _ => PageView::Question {
            ask: in_language(words, &lesson.question.ask).to_owned(),
            answer: run
                .answer_is_revealed()
                .then(|| in_language(words, &lesson.question.answer).to_owned()),
        },
    }
}

fn step_view(frame: &Frame<'_>, board: &LessonBoard, run: &LessonRun, step: &Step) -> StepView {
    let words = frame.words;
    let waited = run.waiting_for(frame.now);
    StepView {
        text: in_language(words, &step.text).to_owned(),
        acts: step
            .acts
            .iter()
            .map(|act| words.say(&act_phrase(act)))
            .collect(),
        has_acted: run.has_acted(),
        is_acting: board.is_acting,
        look: step.look.map(|spot| (spot, words.say(&spot_phrase(spot)))),
        sql: step.sql.as_ref().map(|sql| {
            let whom = |phrase: Phrase| {
                phrase
                    .with("server", server_name(sql.on))
                    .with("user", sql.account)
            };
            SqlView {
                heading: words.say(&whom(phrase("lesson.sql"))),
                text: sql.text.clone(),
                says: words.say(&whom(phrase("lesson.say.hint"))),
                answers: AnswersView::new(words, &board.answers),
            }
        }),
        ticked: run.is_current_ticked(),
        waiting: waited
            .map(|waited| words.say(&phrase("lesson.waiting").with("for", whole(waited)))),
        hint: made_again(words, board).or_else(|| hint(frame, run, step)),
    }
}

/// Why it is not what the step's text says.
fn made_again(words: &Catalogue, board: &LessonBoard) -> Option<String> {
    let act = board.made_again.as_ref()?;
    Some(words.say(&made_again_phrase(act)))
}

/// Where nothing was done nothing can be seen: that comes first.
fn hint(frame: &Frame<'_>, run: &LessonRun, step: &Step) -> Option<String> {
    let words = frame.words;
    let hint = step.hint.as_ref().filter(|_| run.hint_is_due(frame.now))?;
    let own = in_language(words, hint).to_owned();
    if step.acts.is_empty() || run.has_acted() {
        return Some(own);
    }
    let first = phrase("lesson.hint.nothing_done").with("button", words.text("lesson.do"));
    Some(words.say(&first.with("hint", own)))
}

/// Nobody counts the tenths.
fn whole(span: Span) -> Span {
    Span::from_secs(span.micros() / 1_000_000)
}

fn need(words: &Catalogue, lesson: &Lesson) -> String {
    let plan = &lesson.lab.plan;
    let semi_sync = match plan.semi_sync {
        true => phrase("lesson.need.with_semi_sync"),
        false => phrase("lesson.need.without_semi_sync"),
    };
    words.say(
        &phrase("lesson.need")
            .with("replicas", u64::from(plan.replicas))
            .with("workers", u64::from(plan.applier_workers))
            .with("semi_sync", semi_sync),
    )
}
