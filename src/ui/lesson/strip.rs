//! The step at hand under every other screen, so that what is read and what is watched are seen together.

use eframe::egui::{Align, Frame as Area, Label, Layout, Margin, Panel, Stroke, Ui};

use super::LessonState;
use super::data::{PageView, RunView, StepView};
use super::parts::{
    hint_ui, lab_ui, paging_ui, present_ui, show_lessons_ui, state_ui, step_buttons_ui, trouble_ui,
};
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::quiet_button_ui;

/// Takes its place from the bottom of what is left.
pub fn strip_ui(
    ui: &mut Ui,
    run: &RunView,
    state: &mut LessonState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let palette = theme::palette(ui);
    let area = Area::new()
        .fill(palette.card)
        .stroke(Stroke::new(1.0, palette.accent))
        .corner_radius(theme::CORNER)
        .outer_margin(Margin {
            top: (2.0 * UNIT) as i8,
            bottom: (2.0 * UNIT) as i8,
            ..Margin::ZERO
        })
        .inner_margin(Margin::symmetric((3.0 * UNIT) as i8, (2.0 * UNIT) as i8));
    Panel::bottom("lesson strip")
        .resizable(false)
        .show_separator_line(false)
        .frame(area)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.5 * UNIT;
            head_ui(ui, run, state, frame, actions);
            if !state.strip_is_folded {
                body_ui(ui, run, frame, actions);
            }
        });
}

fn head_ui(
    ui: &mut Ui,
    run: &RunView,
    state: &mut LessonState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let key = match state.strip_is_folded {
                true => "lesson.strip.unfold",
                false => "lesson.strip.fold",
            };
            if quiet_button_ui(ui, words.text(key)).clicked() {
                state.strip_is_folded = !state.strip_is_folded;
            }
            present_ui(ui, words, actions);
            // from right to left
            ui.scope(|ui| {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.label(theme::note(ui, &run.position));
                    ui.add(Label::new(theme::strong(&run.title)).truncate());
                });
            });
        });
    });
}

fn body_ui(ui: &mut Ui, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    lab_ui(ui, run, frame, actions);
    trouble_ui(ui, run);
    match &run.page {
        PageView::Step(step) => step_ui(ui, step, run, frame, actions),
        PageView::Question { ask, .. } => rest_ui(ui, ask, run, frame, actions),
        PageView::Production { lines } => {
            rest_ui(
                ui,
                lines.first().map_or("", String::as_str),
                run,
                frame,
                actions,
            );
        }
    }
}

fn step_ui(
    ui: &mut Ui,
    step: &StepView,
    run: &RunView,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ui.add(Label::new(&step.text).wrap());
    if let Some(hint) = &step.hint {
        hint_ui(ui, hint, frame.words);
    }
    ui.horizontal_wrapped(|ui| {
        paging_ui(ui, run, frame, actions);
        step_buttons_ui(ui, step, frame, actions);
        state_ui(ui, step, frame, actions);
        show_lessons_ui(ui, frame.words, actions);
    });
}

/// Question and checklist are read on the lesson's own page.
fn rest_ui(ui: &mut Ui, text: &str, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    ui.add(Label::new(text).wrap());
    ui.horizontal_wrapped(|ui| {
        paging_ui(ui, run, frame, actions);
        show_lessons_ui(ui, frame.words, actions);
    });
}
