//! The acceptance run as a button: what it would send, five steps with their evidence as they come, what pools carry over
//! with and without hygiene, and the report for a change ticket.

pub mod board;
mod choices;
mod data;
mod records;
mod result;

use std::path::PathBuf;

use eframe::egui::{Label, Response, ScrollArea, Spinner, Stroke, TextEdit, Ui};

use super::Frame;
use super::action::{Action, FilePurpose, Screen};
use super::export::ExportState;
use super::lesson::pointer;
use super::probe::permission::lines_ui;
use super::profiles::News;
use super::theme::{self, UNIT};
use super::widgets::{
    Card, Sign, Sorting, copy_button_ui, empty_ui, entered, notice_ui, primary_button_ui,
    quiet_button_ui, segments_ui, sign_word_ui,
};
use crate::model::phrase::phrase;
use crate::model::profile::TopologyId;
use crate::model::time::Span;
use crate::words::Catalogue;

use choices::choices_ui;

pub use choices::DEFAULT_WAIT_LIMIT;
pub use data::{AcceptanceData, DriftLine, ResultData, Scene, StepLine};

/// What the Probe screen has on show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    Probe,
    Acceptance,
}

/// The choice between a probe and the acceptance run, above both.
pub fn part_ui(ui: &mut Ui, words: &Catalogue, part: &mut Part) {
    let choices = [
        (Part::Probe, words.text("acceptance.part.probe").to_owned()),
        (
            Part::Acceptance,
            words.text("acceptance.part.acceptance").to_owned(),
        ),
    ];
    segments_ui(ui, part, &choices);
    ui.add_space(1.5 * UNIT);
}

/// What the person is doing here.
#[derive(Debug)]
pub struct AcceptanceState {
    pub part: Part,
    may_hold: bool,
    wait_limit: Span,
    proxy: String,
    typed: String,
    sql_is_open: bool,
    path: String,
    /// Of the requests, those only for which somebody is to blame.
    only_blamed: bool,
    sorting: Sorting,
    export: ExportState,
    /// Whose card all this was typed for.
    topology: Option<TopologyId>,
}

impl Default for AcceptanceState {
    fn default() -> Self {
        AcceptanceState {
            part: Part::default(),
            may_hold: false,
            wait_limit: choices::DEFAULT_WAIT_LIMIT,
            proxy: String::new(),
            typed: String::new(),
            sql_is_open: false,
            path: String::new(),
            only_blamed: false,
            sorting: Sorting::by(0),
            export: ExportState::default(),
            topology: None,
        }
    }
}

impl AcceptanceState {
    pub fn hear(&mut self, news: &News) {
        if let News::FileChosen {
            purpose: FilePurpose::Records(_),
            path,
        } = news
        {
            self.export.chose(path.as_ref());
        }
    }

    /// What was typed for one topology is not meant for another.
    fn turn_to(&mut self, topology: &TopologyId) {
        if self.topology.as_ref() != Some(topology) {
            self.topology = Some(topology.clone());
            self.may_hold = false;
            self.typed.clear();
            self.proxy.clear();
        }
    }
}

pub fn acceptance_ui(
    ui: &mut Ui,
    data: &AcceptanceData,
    state: &mut AcceptanceState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let scene = match data {
        AcceptanceData::Empty {
            title,
            text,
            action,
        } => {
            let action = Some(words.text(action));
            if empty_ui(ui, words.text(title), words.text(text), action) {
                actions.push(match frame.topology {
                    Some(topology) => Action::Open(topology.clone()),
                    None => Action::Show(Screen::Profiles),
                });
            }
            return;
        }
        AcceptanceData::Here(scene) => scene,
    };
    state.turn_to(&scene.topology);
    if scene.sql.as_ref().map(|sql| sql.wait_limit) != Some(state.wait_limit) {
        actions.push(Action::DescribeAcceptance {
            topology: scene.topology.clone(),
            wait_limit: state.wait_limit,
        });
    }
    ScrollArea::vertical()
        .id_salt("acceptance")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            pointer::around(ui, "acceptance", |ui| {
                scene_ui(ui, scene, state, words, actions);
            });
            ui.add_space(2.0 * UNIT);
        });
}

fn scene_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &mut AcceptanceState,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) {
    Card::new().show(ui, |ui| {
        ui.label(theme::title(words.text("accept.report.title")));
        let text = theme::dim(ui, words.text("acceptance.text"));
        ui.add(Label::new(text).wrap());
        ui.add_space(UNIT);
        controls_ui(ui, scene, state, words, actions);
    });
    if let Some(refused) = &scene.refused {
        notice_ui(ui, Sign::Critical, refused, None);
    }
    let sql_is_open = match &scene.result {
        Some(result) => {
            result::result_ui(ui, result, words);
            if !result.records.is_empty() {
                let is_ended = scene.busy.is_none();
                let topology = &scene.topology;
                records::records_ui(
                    ui,
                    topology,
                    &result.records,
                    is_ended,
                    state,
                    words,
                    actions,
                );
                if let Some(how) = &scene.exported {
                    sign_word_ui(ui, how.sign, how.text.as_str());
                }
            }
            if !result.markdown.is_empty() {
                keep_ui(ui, scene, result, state, words, actions);
            }
            let key = match state.sql_is_open {
                true => "probe_screen.hide_sql",
                false => "probe_screen.show_sql",
            };
            if quiet_button_ui(ui, words.text(key)).clicked() {
                state.sql_is_open = !state.sql_is_open;
            }
            state.sql_is_open
        }
        None => true,
    };
    if sql_is_open {
        sql_ui(ui, scene, words);
    }
}

fn controls_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &mut AcceptanceState,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) {
    if let Some(busy) = &scene.busy {
        ui.horizontal_wrapped(|ui| {
            if busy.is_here {
                ui.add_enabled_ui(!busy.is_stopping, |ui| {
                    if primary_button_ui(ui, words.text("probe_screen.stop")).clicked() {
                        actions.push(Action::StopAcceptance);
                    }
                });
                ui.add(Spinner::new().size(3.5 * UNIT));
            }
            let text = theme::dim(ui, &busy.text);
            ui.add(Label::new(text).wrap());
        });
        return;
    }
    let hold = phrase("acceptance.may_hold").with("limit", scene.longest_hold.as_str());
    tick_ui(ui, &mut state.may_hold, &words.say(&hold))
        .on_hover_text(words.text("acceptance.why_hold"));
    choices_ui(ui, state, words);
    let proxy = choices::proxy(&state.proxy);
    let must_type = board::must_type(scene.environment, state.may_hold);
    let is_guarded = scene.environment.guards_writes();
    if must_type || is_guarded && !scene.may_write {
        typed_ui(ui, scene, state, words);
    }
    let is_typed = !scene.name.is_empty() && state.typed.trim() == scene.name;
    ui.horizontal_wrapped(|ui| {
        if scene.may_write {
            let may = scene.sql.is_some() && (!must_type || is_typed) && proxy.is_ok();
            ui.add_enabled_ui(may, |ui| {
                if primary_button_ui(ui, words.text("acceptance.run")).clicked() {
                    actions.push(Action::StartAcceptance {
                        topology: scene.topology.clone(),
                        may_hold: state.may_hold,
                        wait_limit: state.wait_limit,
                        proxy: proxy.ok().flatten(),
                        typed: std::mem::take(&mut state.typed),
                    });
                }
            });
            return;
        }
        ui.add_enabled_ui(scene.sql.is_some() && (!is_guarded || is_typed), |ui| {
            if primary_button_ui(ui, words.text("probe_screen.permission.enable")).clicked() {
                actions.push(Action::EnableWrites {
                    topology: scene.topology.clone(),
                    typed: state.typed.clone(),
                    remember: false,
                });
            }
        });
        let text = theme::dim(ui, words.text("acceptance.enable_first"));
        ui.add(Label::new(text).wrap());
    });
}

/// A tick box that is seen as one also while it is empty.
fn tick_ui(ui: &mut Ui, ticked: &mut bool, text: &str) -> Response {
    ui.scope(|ui| {
        let line = Stroke::new(1.0, theme::palette(ui).dim);
        ui.visuals_mut().widgets.inactive.bg_stroke = line;
        ui.checkbox(ticked, text)
    })
    .inner
}

fn typed_ui(ui: &mut Ui, scene: &Scene, state: &mut AcceptanceState, words: &Catalogue) {
    let palette = theme::palette(ui);
    let warning = match scene.environment.guards_writes() {
        true => "probe_screen.permission.production",
        false => "acceptance.not_a_lab",
    };
    let warning = theme::strong(words.text(warning)).color(palette.warning);
    sign_word_ui(ui, Sign::Warning, warning);
    ui.horizontal_wrapped(|ui| {
        let ask = phrase("acceptance.type").with("name", scene.name.as_str());
        let label = ui.label(words.say(&ask));
        let field = TextEdit::singleline(&mut state.typed).desired_width(50.0 * UNIT);
        ui.add(field).labelled_by(label.id);
    });
}

/// The report to be taken away.
fn keep_ui(
    ui: &mut Ui,
    scene: &Scene,
    result: &ResultData,
    state: &mut AcceptanceState,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) {
    Card::new().show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(theme::strong(words.text("acceptance.report")));
            let what = words.text("acceptance.copy");
            copy_button_ui(ui, words, what, || result.markdown.clone());
            let label = ui.label(theme::dim(ui, words.text("form.file")));
            let field = TextEdit::singleline(&mut state.path)
                .desired_width(60.0 * UNIT)
                .hint_text("report.md");
            let field = ui.add(field).labelled_by(label.id);
            let is_named = !state.path.trim().is_empty();
            ui.add_enabled_ui(is_named, |ui| {
                let write = ui.button(words.text("probe_screen.export.do"));
                if write.clicked() || is_named && entered(ui, &field) {
                    actions.push(Action::SaveAcceptance {
                        topology: scene.topology.clone(),
                        to: PathBuf::from(state.path.trim()),
                    });
                }
            });
        });
        if let Some(saved) = &scene.saved {
            sign_word_ui(ui, saved.sign, saved.text.as_str());
        }
    });
}

fn sql_ui(ui: &mut Ui, scene: &Scene, words: &Catalogue) {
    Card::new().show(ui, |ui| {
        let Some(sql) = &scene.sql else {
            ui.label(theme::dim(ui, words.text("probe_screen.sql.not_yet")));
            return;
        };
        ui.horizontal(|ui| {
            ui.label(theme::strong(words.text("probe_screen.sql.title")));
            let what = words.text("probe_screen.sql.copy");
            copy_button_ui(ui, words, what, || sql.text.clone());
        });
        for (heading, lines) in &sql.parts {
            ui.label(theme::note(ui, heading));
            lines_ui(ui, lines, words);
        }
        ui.add_space(UNIT);
        ui.horizontal_wrapped(|ui| {
            ui.label(theme::strong(words.text("probe.cli.grants")));
            let what = words.text("probe_screen.sql.copy_grant");
            copy_button_ui(ui, words, what, || sql.grants.clone());
        });
        ui.add(Label::new(theme::mono(&sql.grants)).wrap());
    });
}
