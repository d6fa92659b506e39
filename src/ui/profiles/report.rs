//! What a test found: each server, what its account may see, and the GRANT for what it may not. And the account that
//! needs no such report.

use eframe::egui::{Label, ScrollArea, Ui};

use super::news::{QuestionReport, TestOutcome, TestReport};
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::profile::{HeartbeatTable, ServerId};
use crate::model::trouble::Trouble;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{
    Card, Edge, Sign, card_head_ui, copy_button_ui, quiet_button_ui, segments_ui, sign_word_ui,
};
use crate::words::Catalogue;

/// A test of one server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTest {
    pub server: ServerId,
    pub label: String,
    pub state: TestState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TestState {
    Running,
    Done(TestOutcome),
}

pub fn tests_ui(ui: &mut Ui, words: &Catalogue, tests: &[ServerTest]) {
    for test in tests {
        let (sign, kind) = summary(words, &test.state);
        let color = sign.color(theme::palette(ui));
        Card::new().edge(Edge::Left(color)).show(ui, |ui| {
            card_head_ui(ui, sign, &test.label, &kind);
            match &test.state {
                TestState::Running => {
                    ui.horizontal(|ui| {
                        ui.spinner();
                        ui.label(theme::dim(ui, words.text("test.running")));
                    });
                }
                TestState::Done(TestOutcome::NoPassword(why)) => {
                    if let Some(why) = why {
                        ui.add(Label::new(words.say(why)).wrap());
                    }
                    ui.add(Label::new(words.text("test.no_password.hint")).wrap());
                }
                TestState::Done(TestOutcome::Failed(trouble)) => trouble_ui(ui, words, trouble),
                TestState::Done(TestOutcome::Reached(report)) => {
                    for question in &report.questions {
                        question_ui(ui, words, question);
                    }
                }
            }
        });
    }
}

fn summary(words: &Catalogue, state: &TestState) -> (Sign, String) {
    let text = |key| words.text(key).to_owned();
    match state {
        TestState::Running => (Sign::Unknown, String::new()),
        TestState::Done(TestOutcome::NoPassword(_)) => (Sign::Warning, text("test.no_password")),
        TestState::Done(TestOutcome::Failed(_)) => (Sign::Critical, text("test.failed")),
        TestState::Done(TestOutcome::Reached(report)) => {
            let all = report.questions.iter().all(|q| q.result.is_ok());
            (
                if all { Sign::Ok } else { Sign::Warning },
                reached(words, report),
            )
        }
    }
}

/// "MySQL 9.7.4 · TLSv1.3".
fn reached(words: &Catalogue, report: &TestReport) -> String {
    let product = format!(
        "{} {}",
        report.product.flavour.name(),
        report.product.version
    );
    let protection = match &report.tls {
        Some((version, cipher)) if cipher.is_empty() => version.clone(),
        Some((version, cipher)) => format!("{version} {cipher}"),
        None => words.text("test.plain_text").to_owned(),
    };
    format!("{product} · {protection}")
}

fn question_ui(ui: &mut Ui, words: &Catalogue, question: &QuestionReport) {
    let what = words.say(&question.what);
    match &question.result {
        Ok(()) => {
            sign_word_ui(ui, Sign::Ok, what);
        }
        Err(trouble) => {
            sign_word_ui(ui, Sign::Warning, what);
            ui.indent(("trouble", question.what.key), |ui| {
                trouble_ui(ui, words, trouble)
            });
        }
    }
}

/// What happened, what to try, and in the server's own words on hover.
fn trouble_ui(ui: &mut Ui, words: &Catalogue, trouble: &Trouble) {
    let what = ui.add(Label::new(words.say(&trouble.what)).wrap());
    if !trouble.detail.is_empty() {
        what.on_hover_text(&trouble.detail);
        ui.add(
            Label::new(theme::note(ui, &trouble.detail))
                .wrap()
                .selectable(true),
        );
    }
    match (&trouble.hint, trouble.hint.as_ref().and_then(sql_of)) {
        (_, Some(sql)) => {
            ui.horizontal(|ui| {
                ui.add(Label::new(theme::mono(sql)).selectable(true));
                copy_button_ui(ui, words, &copy_what(words, sql), || sql.to_owned());
            });
        }
        (Some(hint), None) => {
            ui.add(Label::new(theme::dim(ui, words.say(hint))).wrap());
        }
        (None, None) => {}
    }
}

fn sql_of(hint: &Phrase) -> Option<&str> {
    match hint.arg("sql") {
        Some(Arg::Text(sql)) => Some(sql),
        _ => None,
    }
}

fn copy_what(words: &Catalogue, sql: &str) -> String {
    words.say(&phrase("test.copy_grant").with("sql", sql))
}

/// The SQL for an account that sees everything and changes nothing.
#[derive(Debug, Default)]
pub struct AccountSqlState {
    is_open: bool,
    /// For whom it was made; made anew when that changes.
    asked: Option<(String, Option<HeartbeatTable>)>,
    pub sql: Vec<(String, String)>,
    flavour: usize,
}

pub fn account_sql_ui(
    ui: &mut Ui,
    words: &Catalogue,
    state: &mut AccountSqlState,
    user: &str,
    heartbeat: Option<&HeartbeatTable>,
    out: &mut Vec<Action>,
) {
    ui.add(Label::new(theme::dim(ui, words.text("account_sql.why"))).wrap());
    let key = if state.is_open {
        "account_sql.hide"
    } else {
        "account_sql.show"
    };
    if quiet_button_ui(ui, words.text(key)).clicked() {
        state.is_open = !state.is_open;
    }
    if !state.is_open {
        return;
    }
    let user = if user.is_empty() {
        "replicascope"
    } else {
        user
    };
    let wanted = (user.to_owned(), heartbeat.cloned());
    if state.asked.as_ref() != Some(&wanted) {
        let (user, heartbeat) = wanted.clone();
        state.asked = Some(wanted);
        out.push(Action::DescribeAccount { user, heartbeat });
    }
    let flavours: Vec<(usize, String)> = state
        .sql
        .iter()
        .enumerate()
        .map(|(n, (name, _))| (n, name.clone()))
        .collect();
    ui.horizontal_wrapped(|ui| segments_ui(ui, &mut state.flavour, &flavours));
    let Some((_, sql)) = state.sql.get(state.flavour) else {
        return;
    };
    ScrollArea::horizontal()
        .id_salt("account sql")
        .show(ui, |ui| {
            ui.add(
                Label::new(theme::mono(sql.trim_end()))
                    .extend()
                    .selectable(true),
            );
        });
    ui.add_space(UNIT);
    copy_button_ui(ui, words, words.text("account_sql.copy"), || sql.clone());
}
