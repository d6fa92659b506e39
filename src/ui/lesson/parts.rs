//! What panel, strip and presenter view have in common: the buttons of a step, its state, its statement, its hint.

use eframe::egui::{Button, Label, Response, RichText, Spinner, Ui};

use super::answers::{self, answers_ui};
use super::data::{RunView, SqlView, StepView};
use crate::model::lesson::LessonOrder;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{
    Card, Sign, copy_button_ui, notice_ui, primary_button_ui, quiet_button_ui,
};
use crate::words::Catalogue;

pub fn order(actions: &mut Vec<Action>, order: LessonOrder) {
    actions.push(Action::Lesson(order));
}

/// The button that does what the step says, and the way to where it is seen.
pub fn step_buttons_ui(ui: &mut Ui, step: &StepView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    if !step.acts.is_empty() {
        do_button_ui(ui, step, words, actions);
    }
    if let Some((spot, place)) = &step.look {
        let link = quiet_button_ui(ui, &format!("→ {place}"));
        if link.on_hover_text(words.text("lesson.look.hint")).clicked() {
            order(actions, LessonOrder::Look(*spot));
        }
    }
}

fn do_button_ui(ui: &mut Ui, step: &StepView, words: &Catalogue, actions: &mut Vec<Action>) {
    let key = match step.has_acted {
        true => "lesson.do_again",
        false => "lesson.do",
    };
    let pressed = ui.add_enabled_ui(!step.is_acting, |ui| {
        // what remains to be done on this step comes first
        let button = match step.has_acted || step.ticked {
            true => ui.button(words.text(key)),
            false => primary_button_ui(ui, words.text(key)),
        };
        button.on_hover_ui(|ui| acts_ui(ui, step)).clicked()
    });
    if step.is_acting {
        ui.add(Spinner::new().size(3.5 * UNIT));
    }
    if pressed.inner {
        order(actions, LessonOrder::Act);
    }
}

/// What will be pressed, line by line: nothing is done behind the person's back.
fn acts_ui(ui: &mut Ui, step: &StepView) {
    ui.set_max_width(100.0 * UNIT);
    for act in &step.acts {
        ui.label(act);
    }
}

/// Seen, or still waited for.
pub fn state_ui(ui: &mut Ui, step: &StepView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    if step.ticked {
        ui.label(tick(ui, words.text("lesson.seen")));
        return;
    }
    let Some(waiting) = &step.waiting else { return };
    ui.label(theme::dim(ui, waiting));
    let name = words.text("lesson.tick");
    let by_hand = quiet_button_ui(ui, name).on_hover_text(words.text("lesson.tick.hint"));
    if by_hand.clicked() {
        order(actions, LessonOrder::Tick);
    }
}

/// A tick mark with its word.
pub fn tick(ui: &Ui, word: &str) -> RichText {
    let color = theme::palette(ui).ok;
    RichText::new(format!("✓ {word}")).color(color)
}

pub fn hint_ui(ui: &mut Ui, hint: &str, words: &Catalogue) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 1.5 * UNIT;
        let name = theme::strong(words.text("lesson.hint")).color(theme::palette(ui).warning);
        ui.label(name);
        ui.add(Label::new(hint).wrap());
    });
}

pub fn sql_ui(ui: &mut Ui, sql: &SqlView, words: &Catalogue, actions: &mut Vec<Action>) {
    Card::new().show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(theme::note(ui, &sql.heading));
            let what = words.text("lesson.copy_sql");
            copy_button_ui(ui, words, what, || sql.text.clone());
            say_button_ui(ui, sql, words, actions);
        });
        ui.add(Label::new(theme::mono(&sql.text)).wrap().selectable(true));
        answers_ui(ui, &sql.answers, theme::size::MONO, answers::HEIGHT);
    });
}

/// Has the statements said by the program, for a class without clients.
pub fn say_button_ui(ui: &mut Ui, sql: &SqlView, words: &Catalogue, actions: &mut Vec<Action>) {
    let key = match sql.answers.answers.is_empty() {
        true => "lesson.say",
        false => "lesson.say_again",
    };
    let button = Button::new(words.text(key));
    let pressed = ui.add_enabled(!sql.answers.is_awaited, button);
    if pressed.on_hover_text(&sql.says).clicked() {
        order(actions, LessonOrder::Say);
    }
}

/// What stands between the lesson and its lab, if anything does.
pub fn lab_ui(ui: &mut Ui, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    use super::board::LabFit;
    let words = frame.words;
    let (sign, key, button) = match run.lab {
        LabFit::Fits => return,
        LabFit::Passing => (Sign::Unknown, "lesson.lab.passing", None),
        LabFit::Missing => (
            Sign::Warning,
            "lesson.lab.missing",
            Some("lesson.lab.build"),
        ),
        LabFit::Other => (
            Sign::Warning,
            "lesson.lab.other",
            Some("lesson.lab.rebuild"),
        ),
    };
    let text = crate::model::phrase::Phrase::new(key).with("need", run.need.as_str());
    let button = button.map(|key| words.text(key));
    if notice_ui(ui, sign, &words.say(&text), button) {
        order(actions, LessonOrder::BuildLab);
    }
}

pub fn trouble_ui(ui: &mut Ui, run: &RunView) {
    if let Some(why) = &run.trouble {
        notice_ui(ui, Sign::Critical, why, None);
    }
}

/// Back and on; on stands out once there is nothing left to do here.
pub fn paging_ui(ui: &mut Ui, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    let back = Button::new(words.text("lesson.back"));
    if ui.add_enabled(run.has_back, back).clicked() {
        order(actions, LessonOrder::Back);
    }
    let forward = ui
        .add_enabled_ui(run.has_forward, |ui| forward_button_ui(ui, run, words))
        .inner;
    if forward.clicked() {
        order(actions, LessonOrder::Forward);
    }
}

fn forward_button_ui(ui: &mut Ui, run: &RunView, words: &Catalogue) -> Response {
    let text = words.text("lesson.forward");
    match run.is_done_here() {
        true => primary_button_ui(ui, text),
        false => ui.button(text),
    }
}

pub fn leave_ui(ui: &mut Ui, words: &Catalogue, actions: &mut Vec<Action>) {
    let leave = ui.button(words.text("lesson.leave"));
    if leave
        .on_hover_text(words.text("lesson.leave.hint"))
        .clicked()
    {
        order(actions, LessonOrder::Leave);
    }
}

pub fn present_ui(ui: &mut Ui, words: &Catalogue, actions: &mut Vec<Action>) {
    let present = ui.button(words.text("lesson.present"));
    if present
        .on_hover_text(words.text("lesson.present.hint"))
        .clicked()
    {
        order(actions, LessonOrder::Present(true));
    }
}

pub fn show_lessons_ui(ui: &mut Ui, words: &Catalogue, actions: &mut Vec<Action>) {
    let whole = quiet_button_ui(ui, words.text("lesson.whole"));
    if whole
        .on_hover_text(words.text("lesson.whole.hint"))
        .clicked()
    {
        actions.push(Action::Show(Screen::Lab));
    }
}
