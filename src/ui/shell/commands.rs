//! What the search offers of the lab and its lessons, whatever screen is shown; what cannot be done now says why.

use super::palette::{Entry, Target};
use crate::model::lab::LabOrder;
use crate::model::lesson::{Lesson, LessonOrder};
use crate::model::phrase::phrase;
use crate::ui::action::Action;
use crate::ui::lab::board::LabBoard;
use crate::ui::lab::is_active;
use crate::ui::lesson::board::LessonBoard;
use crate::ui::lesson::wording::in_language;
use crate::words::Catalogue;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabCommand {
    Start,
    Stop,
    UndoAll,
    ShowLessons,
    BeginLesson(String),
    Present,
    LeaveLesson,
}

impl LabCommand {
    pub fn action(self) -> Action {
        match self {
            LabCommand::Start => Action::StartChosenLab,
            LabCommand::Stop => Action::AskToStopLab,
            LabCommand::UndoAll => Action::Lab(LabOrder::UndoAll),
            LabCommand::ShowLessons => Action::ShowLessons,
            LabCommand::BeginLesson(id) => Action::Lesson(LessonOrder::Begin(id)),
            LabCommand::Present => Action::Lesson(LessonOrder::Present(true)),
            LabCommand::LeaveLesson => Action::Lesson(LessonOrder::Leave),
        }
    }
}

/// Commands of the lab, and those of the lesson that is taught.
pub fn commands(words: &Catalogue, lab: &LabBoard, lessons: &LessonBoard) -> Vec<Entry> {
    let is_taught = lessons.run.is_some();
    let no_lesson = (!is_taught).then_some("palette.no_lesson");
    let commands = [
        ("lab_screen.start", LabCommand::Start, cannot_start(lab)),
        ("lab_screen.stop", LabCommand::Stop, cannot_stop(lab)),
        ("palette.undo_all", LabCommand::UndoAll, cannot_undo(lab)),
        ("palette.present", LabCommand::Present, no_lesson),
        ("palette.leave_lesson", LabCommand::LeaveLesson, no_lesson),
        ("lesson.part.lessons", LabCommand::ShowLessons, None),
    ];
    let lab = words.text("palette.lab");
    let entry = |(name, command, why): (&str, _, Option<&str>)| Entry {
        impossible: why.map(|why| words.text(why).to_owned()),
        ..Entry::new(words.text(name), lab, Target::Lab(command))
    };
    commands.map(entry).into()
}

/// One for each lesson. The one being taught is gone on with; it has to be left before another one begins.
pub fn lessons(words: &Catalogue, board: &LessonBoard) -> Vec<Entry> {
    let taught = board.run.as_ref().map(|run| &run.lesson().id);
    let entry = |lesson: &Lesson| {
        let name = phrase("lab_screen.lesson.heading")
            .with("n", u64::from(lesson.number))
            .with("title", in_language(words, &lesson.title));
        let is_taught = taught == Some(&lesson.id);
        let command = match is_taught {
            true => LabCommand::ShowLessons,
            false => LabCommand::BeginLesson(lesson.id.clone()),
        };
        let other = taught.is_some() && !is_taught;
        Entry {
            impossible: other.then(|| words.text("palette.other_lesson").to_owned()),
            ..Entry::new(
                words.say(&name),
                words.text("palette.lesson"),
                Target::Lab(command),
            )
        }
    };
    board.lessons.iter().map(|lesson| entry(lesson)).collect()
}

fn cannot_start(lab: &LabBoard) -> Option<&'static str> {
    match (lab.is_running(), lab.is_busy()) {
        (true, _) => Some("palette.lab_runs"),
        (false, true) => Some("palette.lab_passes"),
        (false, false) => None,
    }
}

fn cannot_stop(lab: &LabBoard) -> Option<&'static str> {
    match (lab.is_running(), lab.is_busy()) {
        (true, _) => None,
        (false, true) => Some("palette.lab_passes"),
        (false, false) => Some("palette.no_lab"),
    }
}

fn cannot_undo(lab: &LabBoard) -> Option<&'static str> {
    let mut faults = lab.status.iter().flat_map(|status| &status.faults);
    match lab.is_running() {
        true => (!faults.any(is_active)).then_some("palette.no_fault"),
        false => Some("palette.no_lab"),
    }
}
