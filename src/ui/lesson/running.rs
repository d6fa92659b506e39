//! The lesson being taught, whole: its steps with their ticks, the one at hand large.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, Button, Label, Layout, Response, RichText, TextWrapMode, Ui, WidgetInfo, vec2,
};

use super::data::{PageView, RunView, StepLine, StepState, StepView};
use super::parts::{
    hint_ui, lab_ui, leave_ui, order, paging_ui, present_ui, sql_ui, state_ui, step_buttons_ui,
    tick, trouble_ui,
};
use crate::model::lesson::{LessonOrder, Page};
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT, size};
use crate::ui::widgets::{Card, Edge, primary_button_ui};

/// Narrower, and the list of steps stands under the step.
const TWO_COLUMNS: f32 = 190.0 * UNIT;

pub fn running_ui(ui: &mut Ui, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    head_ui(ui, run, frame, actions);
    lab_ui(ui, run, frame, actions);
    trouble_ui(ui, run);
    if ui.available_width() < TWO_COLUMNS {
        page_ui(ui, run, frame, actions);
        steps_ui(ui, run, actions);
        return;
    }
    let gap = 3.0 * UNIT;
    let whole = ui.available_width() - gap;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        column_ui(ui, whole * 0.4, |ui| steps_ui(ui, run, actions));
        ui.add_space(gap);
        column_ui(ui, whole * 0.6, |ui| page_ui(ui, run, frame, actions));
    });
}

fn column_ui(ui: &mut Ui, width: f32, content: impl FnOnce(&mut Ui)) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing = vec2(2.0 * UNIT, 2.0 * UNIT);
        ui.set_width(width);
        content(ui);
    });
}

fn head_ui(ui: &mut Ui, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            leave_ui(ui, words, actions);
            present_ui(ui, words, actions);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.label(theme::note(ui, &run.heading));
                ui.add(Label::new(theme::title(&run.title)).truncate());
            });
        });
    });
    ui.add(Label::new(theme::dim(ui, &run.goal)).wrap());
}

/// Every step on a line; pressing one goes there.
fn steps_ui(ui: &mut Ui, run: &RunView, actions: &mut Vec<Action>) {
    Card::new().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
        for line in &run.steps {
            if line_ui(ui, line) {
                order(actions, LessonOrder::Open(line.page));
            }
        }
    });
}

fn line_ui(ui: &mut Ui, line: &StepLine) -> bool {
    let height = ui.spacing().interact_size.y;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = UNIT;
        let place = vec2(5.0 * UNIT, height);
        ui.allocate_ui_with_layout(place, Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_size(place);
            match (line.state, line.page) {
                (StepState::Ticked, _) => ui.label(tick(ui, "")),
                (StepState::Open, Page::Step(n)) => ui.label(theme::dim(ui, (n + 1).to_string())),
                _ => ui.label(""),
            };
        });
        let justified = Layout::left_to_right(Align::Center)
            .with_main_justify(true)
            .with_main_align(Align::Min);
        ui.with_layout(justified, |ui| line_button_ui(ui, line).clicked())
            .inner
    })
    .inner
}

fn line_button_ui(ui: &mut Ui, line: &StepLine) -> Response {
    let palette = theme::palette(ui);
    let text = RichText::new(&line.text).color(match (line.is_current, line.state) {
        (true, _) => palette.on_selected,
        (false, StepState::Ticked) => palette.dim,
        (false, _) => palette.text,
    });
    let button = Button::selectable(line.is_current, text).wrap_mode(TextWrapMode::Truncate);
    let response = ui.add(button);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, line.is_current, &line.text));
    response
}

fn page_ui(ui: &mut Ui, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let accent = theme::palette(ui).accent;
    Card::new().edge(Edge::Left(accent)).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
        ui.label(theme::note(ui, &run.position));
        match &run.page {
            PageView::Step(step) => step_ui(ui, step, frame, actions),
            PageView::Question { ask, answer } => {
                question_ui(ui, ask, answer.as_deref(), frame, actions);
            }
            PageView::Production { lines } => production_ui(ui, lines),
        }
        ui.separator();
        ui.horizontal(|ui| paging_ui(ui, run, frame, actions));
    });
}

/// Larger than the rest: it is read aloud.
fn large(text: &str) -> Label {
    Label::new(RichText::new(text).size(size::TITLE)).wrap()
}

fn step_ui(ui: &mut Ui, step: &StepView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    ui.add(large(&step.text));
    ui.horizontal_wrapped(|ui| step_buttons_ui(ui, step, frame, actions));
    if let Some(sql) = &step.sql {
        sql_ui(ui, sql, frame.words, actions);
    }
    if step.ticked || step.waiting.is_some() {
        ui.horizontal_wrapped(|ui| state_ui(ui, step, frame, actions));
    }
    if let Some(hint) = &step.hint {
        hint_ui(ui, hint, frame.words);
    }
}

fn question_ui(
    ui: &mut Ui,
    ask: &str,
    answer: Option<&str>,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ui.add(large(ask));
    match answer {
        Some(answer) => {
            ui.label(theme::strong(frame.words.text("lesson.answer")));
            ui.add(large(answer));
        }
        None => {
            if primary_button_ui(ui, frame.words.text("lesson.reveal")).clicked() {
                order(actions, LessonOrder::RevealAnswer);
            }
        }
    }
}

fn production_ui(ui: &mut Ui, lines: &[String]) {
    for line in lines {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 1.5 * UNIT;
            ui.label(theme::dim(ui, "□").size(size::TITLE));
            ui.add(large(line));
        });
    }
}
