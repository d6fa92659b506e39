//! Profiles from a file and into one. Passwords are in neither.

use std::collections::BTreeSet;
use std::path::PathBuf;

use eframe::egui::{Label, TextEdit, Ui};

use super::ProfilesData;
use super::fields::{checkbox_ui, choose_button_ui, field_width, label_ui};
use super::news::Remark;
use crate::model::phrase::Phrase;
use crate::model::profile::TopologyId;
use crate::ui::Frame;
use crate::ui::action::{Action, FilePurpose};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Sign, primary_button_ui, sign_word_ui};
use crate::words::Catalogue;

#[derive(Debug, Default)]
pub struct Transfer {
    pub path: String,
    pub is_running: bool,
    /// How the last one ended: a sentence, and what was found in the file.
    pub outcome: Option<(Sign, Phrase)>,
    pub remarks: Vec<Remark>,
    pub chosen: BTreeSet<TopologyId>,
}

pub fn import_ui(
    ui: &mut Ui,
    transfer: &mut Transfer,
    choosing: &mut Option<FilePurpose>,
    unchosen: Option<&FilePurpose>,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.label(theme::title(words.text("import.title")));
    Card::new().show(ui, |ui| {
        ui.add(Label::new(theme::dim(ui, words.text("import.what"))).wrap());
        ui.add_space(UNIT);
        path_ui(
            ui,
            words,
            transfer,
            &FilePurpose::Import,
            choosing,
            unchosen,
            out,
        );
        let ready = !transfer.path.trim().is_empty() && !transfer.is_running;
        ui.add_enabled_ui(ready, |ui| {
            if primary_button_ui(ui, words.text("import.do")).clicked() {
                transfer.start();
                out.push(Action::ImportProfiles(PathBuf::from(transfer.path.trim())));
            }
        });
        transfer.outcome_ui(ui, words);
    });
}

pub fn export_ui(
    ui: &mut Ui,
    data: &ProfilesData,
    transfer: &mut Transfer,
    choosing: &mut Option<FilePurpose>,
    unchosen: Option<&FilePurpose>,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.label(theme::title(words.text("export.title")));
    Card::new().show(ui, |ui| {
        ui.add(Label::new(theme::dim(ui, words.text("export.what"))).wrap());
        ui.add_space(UNIT);
        for line in &data.lines {
            let mut is_chosen = transfer.chosen.contains(&line.id);
            if checkbox_ui(ui, &mut is_chosen, &line.name) {
                match is_chosen {
                    true => transfer.chosen.insert(line.id.clone()),
                    false => transfer.chosen.remove(&line.id),
                };
            }
        }
        ui.add_space(UNIT);
        let topologies: Vec<TopologyId> = transfer.chosen.iter().cloned().collect();
        let purpose = FilePurpose::Export(topologies.clone());
        path_ui(ui, words, transfer, &purpose, choosing, unchosen, out);
        let named = !transfer.path.trim().is_empty();
        let ready = named && !topologies.is_empty() && !transfer.is_running;
        let pressed = ui.add_enabled_ui(ready, |ui| primary_button_ui(ui, words.text("export.do")));
        if topologies.is_empty() {
            ui.label(theme::note(ui, words.text("export.choose_some")));
        }
        if pressed.inner.clicked() {
            transfer.start();
            let to = PathBuf::from(transfer.path.trim());
            out.push(Action::ExportProfiles { topologies, to });
        }
        transfer.outcome_ui(ui, words);
    });
}

impl Transfer {
    fn start(&mut self) {
        self.is_running = true;
        self.outcome = None;
        self.remarks.clear();
    }

    pub fn end(&mut self, sign: Sign, text: Phrase, remarks: Vec<Remark>) {
        self.is_running = false;
        self.outcome = Some((sign, text));
        self.remarks = remarks;
    }

    fn outcome_ui(&self, ui: &mut Ui, words: &Catalogue) {
        if let Some((sign, text)) = &self.outcome {
            ui.add_space(UNIT);
            sign_word_ui(ui, *sign, words.say(text));
        }
        remarks_ui(ui, words, &self.remarks);
    }
}

pub fn remarks_ui(ui: &mut Ui, words: &Catalogue, remarks: &[Remark]) {
    for remark in remarks {
        let sign = if remark.is_warning {
            Sign::Warning
        } else {
            Sign::Ok
        };
        ui.horizontal_top(|ui| {
            crate::ui::widgets::sign_ui(ui, words, sign);
            ui.add(Label::new(words.say(&remark.text)).wrap());
        });
    }
}

fn path_ui(
    ui: &mut Ui,
    words: &Catalogue,
    transfer: &mut Transfer,
    purpose: &FilePurpose,
    choosing: &mut Option<FilePurpose>,
    unchosen: Option<&FilePurpose>,
    out: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        let label = label_ui(ui, words.text("form.file"));
        let width = field_width(ui, 100.0 * UNIT) - 26.0 * UNIT;
        let field = TextEdit::singleline(&mut transfer.path).desired_width(width);
        ui.add(field).labelled_by(label);
        if choose_button_ui(ui, words, choosing.is_some()) {
            *choosing = Some(purpose.clone());
            out.push(Action::ChooseFile(purpose.clone()));
        }
    });
    let same =
        |other: &FilePurpose| std::mem::discriminant(other) == std::mem::discriminant(purpose);
    if unchosen.is_some_and(same) {
        ui.add(Label::new(theme::note(ui, words.text("form.no_file_chosen"))).wrap());
    }
}
