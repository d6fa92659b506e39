//! Asking for a password a watch needs: one question at a time, over everything else.

use std::collections::VecDeque;

use eframe::egui::{Id, Key, Label, Ui};

use super::Frame;
use super::action::Action;
use super::profiles::{
    Keychain, News, PasswordQuestion, TypedPassword, checkbox_ui, question_modal,
};
use super::theme::{self, UNIT};
use super::widgets::{Sign, primary_button_ui, sign_ui};
use crate::model::phrase::phrase;
use crate::model::secret::Secret;

/// The questions, the oldest first, and what is being typed.
#[derive(Debug, Default)]
pub struct PasswordState {
    questions: VecDeque<PasswordQuestion>,
    typed: TypedPassword,
    /// Keep it in the keychain; None: as the profile says.
    remember: Option<bool>,
    keychain: Keychain,
    /// The field was given the keyboard for this question.
    has_focus: bool,
}

impl PasswordState {
    pub fn is_asking(&self) -> bool {
        !self.questions.is_empty()
    }

    pub fn hear(&mut self, news: &News) {
        match news {
            News::PasswordNeeded(question) => {
                match self.questions.iter_mut().find(|q| q.key == question.key) {
                    Some(same) => *same = question.clone(),
                    None => self.questions.push_back(question.clone()),
                }
            }
            News::Keychain(keychain) => self.keychain = keychain.clone(),
            _ => {}
        }
    }

    fn next(&mut self) {
        self.questions.pop_front();
        drop(self.typed.take());
        self.remember = None;
        self.has_focus = false;
    }
}

/// Draws the question in front, if there is one. Enter answers, Esc declines.
pub fn password_ui(
    ui: &mut Ui,
    state: &mut PasswordState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let Some(question) = state.questions.front().cloned() else {
        return;
    };
    let mut answer = None;
    let shown = question_modal(ui, "password question").show(ui.ctx(), |ui| {
        ui.set_width((ui.ctx().content_rect().width() - 16.0 * UNIT).min(105.0 * UNIT));
        answer = question_ui(ui, state, &question, frame);
    });
    match answer {
        Some(true) => {
            let in_keychain = state.remembers(&question);
            // an empty password is an answer too: there are accounts without one
            let secret = state
                .typed
                .take()
                .unwrap_or_else(|| Secret::new(String::new()));
            out.push(Action::KeepPassword {
                key: question.key,
                secret,
                in_keychain,
            });
            state.next();
        }
        Some(false) => decline(state, question, out),
        None if shown.should_close() => decline(state, question, out),
        None => {}
    }
}

fn decline(state: &mut PasswordState, question: PasswordQuestion, out: &mut Vec<Action>) {
    out.push(Action::DeclinePassword(question.key));
    state.next();
}

impl PasswordState {
    fn remembers(&self, question: &PasswordQuestion) -> bool {
        self.keychain == Keychain::Available && self.remember.unwrap_or(question.for_keychain)
    }
}

/// Some(true): this is it. Some(false): not now.
fn question_ui(
    ui: &mut Ui,
    state: &mut PasswordState,
    question: &PasswordQuestion,
    frame: &Frame<'_>,
) -> Option<bool> {
    let words = frame.words;
    let title = phrase("password.title").with("user", question.user.as_str());
    let title = ui.label(theme::title(words.say(&title)));
    let servers = question.servers.join(", ");
    let whose = phrase("password.whose").with("topology", question.topology_name.as_str());
    let whose = words.say(&whose.with("servers", servers));
    ui.add(Label::new(theme::dim(ui, whose)).wrap());
    if let Some(why) = &question.why {
        ui.horizontal_top(|ui| {
            sign_ui(ui, words, Sign::Warning);
            ui.add(Label::new(words.say(why)).wrap());
        });
    }
    ui.add_space(UNIT);
    let width = ui.available_width() - 4.0 * UNIT;
    let field = state
        .typed
        .field_ui(ui, Id::unique("password answer"), width);
    let field = field.labelled_by(title.id);
    if !state.has_focus {
        state.has_focus = true;
        field.request_focus();
    }
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    keychain_ui(ui, state, question, frame);
    ui.add_space(2.0 * UNIT);
    let mut answer = entered.then_some(true);
    ui.horizontal(|ui| {
        if primary_button_ui(ui, words.text("password.connect")).clicked() {
            answer = Some(true);
        }
        if ui.button(words.text("password.not_now")).clicked() {
            answer = Some(false);
        }
    });
    answer
}

fn keychain_ui(
    ui: &mut Ui,
    state: &mut PasswordState,
    question: &PasswordQuestion,
    frame: &Frame<'_>,
) {
    let words = frame.words;
    match &state.keychain {
        Keychain::Available => {
            let mut remember = state.remembers(question);
            if checkbox_ui(ui, &mut remember, words.text("password.remember")) {
                state.remember = Some(remember);
            }
        }
        Keychain::Unavailable(why) => {
            ui.add(Label::new(theme::note(ui, words.say(why))).wrap());
        }
        Keychain::Asking => {
            ui.label(theme::note(ui, words.text("password.session")));
        }
    }
}
