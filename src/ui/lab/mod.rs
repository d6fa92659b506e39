//! The Lab screen: one press makes a topology of our own, and then its servers and accounts, the traffic it carries, and
//! everything that can be made to go wrong there.

pub mod board;
mod build;
mod data;
mod elsewhere;
mod faults;
mod running;
pub mod wording;

use std::collections::HashMap;
use std::path::PathBuf;

use eframe::egui::{Label, ScrollArea, Spinner, Ui};

use super::Frame;
use super::action::{Action, FilePurpose};
use super::profiles::News;
use super::theme::{self, UNIT};
use super::widgets::{Card, Edge, Sign, copy_button_ui, sign_word_ui};
use crate::model::lab::{FaultKind, LabOrder, LabPlan, Traffic};

use board::LabBoard;
pub use build::{Draft, GroundChoice, ShapeChoice, big_button_ui};
pub use data::{
    AccountLine, ActiveLine, Failed, FaultGroup, FaultRow, LabData, Running, ServerLine, is_active,
    name_of, server_id,
};
use elsewhere::Elsewhere;
pub use faults::FaultDraft;

/// What the person is doing here.
#[derive(Debug, Default)]
pub struct LabState {
    draft: Draft,
    pub details_open: bool,
    choosing: bool,
    /// The path of a server program, where it is typed.
    typed_program: String,
    /// The file dialog came back with nothing.
    not_chosen: bool,
    /// What was chosen is yet to be asked what it is.
    is_to_be_looked_at: bool,
    /// Being set on the sliders.
    traffic: Option<Traffic>,
    faults: HashMap<FaultKind, FaultDraft>,
    /// The question whether to stop is open.
    asks_to_stop: bool,
    elsewhere: Elsewhere,
}

impl LabState {
    /// The lab as it is chosen here, and the server program that the person showed us.
    pub fn chosen(&self) -> (LabPlan, Option<PathBuf>) {
        (self.draft.plan(), self.draft.program.clone())
    }

    pub fn ask_to_stop(&mut self) {
        self.asks_to_stop = true;
    }

    pub fn hear(&mut self, news: &News) {
        let News::FileChosen { purpose, path } = news else {
            return;
        };
        match purpose {
            FilePurpose::LabServer => {
                self.choosing = false;
                self.not_chosen = path.is_none();
                if let Some(chosen) = path {
                    self.typed_program = chosen.display().to_string();
                    self.draft.program = path.clone();
                    self.is_to_be_looked_at = true;
                }
            }
            FilePurpose::Recipe(_) => self.elsewhere.file.chose(path.as_ref()),
            _ => {}
        }
    }
}

pub fn lab_ui(
    ui: &mut Ui,
    data: &LabData,
    board: &LabBoard,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ScrollArea::vertical()
        .id_salt("lab")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            match data {
                LabData::Nothing { failed } => {
                    state.traffic = None;
                    state.asks_to_stop = false;
                    build::build_ui(ui, (board, failed.as_ref()), state, frame, actions);
                }
                LabData::Passing {
                    text,
                    plan,
                    may_cancel,
                } => passing_ui(ui, text, plan, *may_cancel, frame, actions),
                LabData::Running(running) => {
                    running::running_ui(ui, running, state, frame, actions);
                }
            }
            ui.add_space(2.0 * UNIT);
        });
    elsewhere::texts_ui(ui, board, &mut state.elsewhere, frame, actions);
}

/// The last attempt; the way to the next one stands under it.
fn failed_ui(ui: &mut Ui, failed: &Failed, frame: &Frame<'_>) {
    let words = frame.words;
    let edge = Edge::Left(theme::palette(ui).critical);
    Card::new().edge(edge).show(ui, |ui| {
        sign_word_ui(
            ui,
            Sign::Critical,
            theme::strong(words.text("lab_screen.failed")),
        );
        ui.add(Label::new(failed.what.as_str()).wrap());
        if let Some(hint) = &failed.hint {
            ui.add(Label::new(theme::dim(ui, hint.as_str())).wrap());
        }
        if !failed.detail.is_empty() {
            ui.add(Label::new(theme::mono(failed.detail.as_str())).wrap());
            let what = words.text("overview.copy_error");
            copy_button_ui(ui, words, what, || failed.detail.clone());
        }
    });
}

fn passing_ui(
    ui: &mut Ui,
    text: &str,
    plan: &str,
    may_cancel: bool,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.25).min(40.0 * UNIT));
        ui.add(Spinner::new().size(6.0 * UNIT));
        ui.add_space(2.0 * UNIT);
        ui.label(theme::title(text));
        ui.label(theme::dim(ui, plan));
        ui.add_space(2.0 * UNIT);
        if may_cancel && ui.button(frame.words.text("lab_screen.cancel")).clicked() {
            actions.push(Action::Lab(LabOrder::Stop));
        }
    });
}
