//! What the lesson panel shows: the lessons there are and the one being taught, as `app` keeps it up to date.

use std::sync::Arc;

use crate::model::lesson::{Act, Lesson, LessonRun, Said};
use crate::model::phrase::Phrase;

#[derive(Clone, Debug, Default)]
pub struct LessonBoard {
    /// In the order of teaching.
    pub lessons: Vec<Arc<Lesson>>,
    pub run: Option<LessonRun>,
    pub lab: LabFit,
    /// The acts of the step are being carried out.
    pub is_acting: bool,
    /// What an act of the step was followed by, because nothing was to be seen of it.
    pub made_again: Option<Act>,
    /// Why the last act was not carried out.
    pub trouble: Option<Phrase>,
    /// To the statements of the step on show.
    pub answers: Answers,
    /// The large view is on show.
    pub is_presenting: bool,
}

/// What came of having a step's statements said.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Answers {
    /// They were not said.
    #[default]
    None,
    Awaited,
    Here(Vec<Said>),
}

/// Whether the lab that stands can carry the lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabFit {
    /// There is none.
    #[default]
    Missing,
    /// It is being made or removed.
    Passing,
    Fits,
    /// Another shape, other switches, or another ground.
    Other,
}
