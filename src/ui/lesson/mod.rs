//! Lessons: the list of them and the one being taught, on the Lab screen; the step at hand as a strip under every other
//! screen; and a presenter view for the projector.
//!
//! [`pointer`] rings what a step points at.

mod answers;
pub mod board;
mod data;
mod list;
mod parts;
pub mod pointer;
mod presenter;
mod running;
mod strip;
pub mod wording;

pub use data::{LessonData, LessonRow, PageView, RunView, SqlView, StepLine, StepState, StepView};
pub use presenter::{Exhibit, Looking, presenter_ui};
pub use strip::strip_ui;

use eframe::egui::{ScrollArea, Ui};

use super::Frame;
use super::action::Action;
use super::theme::UNIT;
use super::widgets::segments_ui;
use crate::words::Catalogue;

/// What the Lab screen has on show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    Lab,
    Lessons,
}

/// What the person is doing here.
#[derive(Debug, Default)]
pub struct LessonState {
    pub part: Part,
    /// The strip is reduced to one line.
    pub strip_is_folded: bool,
}

/// The choice between the lab and its lessons, above both.
pub fn part_ui(ui: &mut Ui, words: &Catalogue, part: &mut Part) {
    let choices = [
        (Part::Lab, words.text("lesson.part.lab").to_owned()),
        (Part::Lessons, words.text("lesson.part.lessons").to_owned()),
    ];
    segments_ui(ui, part, &choices);
    ui.add_space(1.5 * UNIT);
}

/// The lesson being taught, else the list of all.
pub fn lesson_panel_ui(
    ui: &mut Ui,
    data: &LessonData,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ScrollArea::vertical()
        .id_salt("lessons")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            match &data.run {
                Some(run) => running::running_ui(ui, run, frame, actions),
                None => list::list_ui(ui, &data.list, frame, actions),
            }
            ui.add_space(2.0 * UNIT);
        });
}
