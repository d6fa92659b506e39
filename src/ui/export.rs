//! A text written to a file: which format, which file, typed or chosen with the system's dialog.

use std::path::PathBuf;

use eframe::egui::{Button, Label, TextEdit, TextWrapMode, Ui};

use super::action::{Action, ExportFormat, FilePurpose};
use super::theme::{self, UNIT};
use super::widgets::{entered, segments_ui};
use crate::words::Catalogue;

#[derive(Clone, Debug, Default)]
pub struct ExportState {
    format: ExportFormat,
    file: FileState,
}

/// What the person wants written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    pub format: ExportFormat,
    pub to: PathBuf,
    /// The dialog has asked.
    pub may_replace: bool,
}

impl ExportState {
    /// The dialog was closed.
    pub fn chose(&mut self, path: Option<&PathBuf>) {
        self.file.chose(path);
    }
}

/// `purpose` tells the dialog's answer apart from others.
pub fn export_ui(
    ui: &mut Ui,
    state: &mut ExportState,
    is_ready: bool,
    purpose: fn(ExportFormat) -> FilePurpose,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) -> Option<Wish> {
    let ExportState { format, file } = state;
    let to = ui.horizontal_wrapped(|ui| {
        let formats = [
            (ExportFormat::Csv, "CSV".to_owned()),
            (ExportFormat::Json, "JSON".to_owned()),
        ];
        segments_ui(ui, format, &formats);
        file.field_ui(ui, is_ready, || purpose(*format), words, actions)
    });
    file.not_chosen_ui(ui, words);
    to.inner.map(|to| Wish {
        format: state.format,
        may_replace: to.may_replace,
        to: to.path,
    })
}

/// A file to be written, as it is typed or chosen.
#[derive(Clone, Debug, Default)]
pub struct FileState {
    path: String,
    choosing: bool,
    not_chosen: bool,
    /// The system's dialog has asked whether this one may be replaced.
    chosen: Option<PathBuf>,
}

/// Where to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub path: PathBuf,
    /// The dialog has asked.
    pub may_replace: bool,
}

impl FileState {
    /// The dialog was closed.
    pub fn chose(&mut self, path: Option<&PathBuf>) {
        self.choosing = false;
        self.not_chosen = path.is_none();
        if let Some(path) = path {
            self.path = path.display().to_string();
            self.chosen = Some(path.clone());
        }
    }

    /// The path, the way to the dialog, and the button that writes: then the destination.
    pub fn field_ui(
        &mut self,
        ui: &mut Ui,
        is_ready: bool,
        purpose: impl FnOnce() -> FilePurpose,
        words: &Catalogue,
        actions: &mut Vec<Action>,
    ) -> Option<Destination> {
        let label = ui.label(theme::dim(ui, words.text("form.file")));
        let width = (ui.available_width() * 0.35).clamp(32.0 * UNIT, 80.0 * UNIT);
        let field = TextEdit::singleline(&mut self.path).desired_width(width);
        let field = ui.add(field).labelled_by(label.id);
        let choose = ui.add_enabled_ui(!self.choosing, |ui| ui.button(words.text("form.choose")));
        if choose.inner.clicked() {
            self.choosing = true;
            self.not_chosen = false;
            actions.push(Action::ChooseFile(purpose()));
        }
        let is_named = !self.path.trim().is_empty();
        let write = Button::new(words.text("probe_screen.export.do"));
        let write = ui.add_enabled(is_ready && is_named, write.wrap_mode(TextWrapMode::Extend));
        let write = match is_named {
            true => write,
            false => write.on_disabled_hover_text(words.text("form.name_the_file")),
        };
        let is_wanted = write.clicked() || is_ready && is_named && entered(ui, &field);
        is_wanted.then(|| {
            let path = PathBuf::from(self.path.trim());
            Destination {
                may_replace: self.chosen.as_ref() == Some(&path),
                path,
            }
        })
    }

    /// Why nothing was chosen, where that is so.
    pub fn not_chosen_ui(&self, ui: &mut Ui, words: &Catalogue) {
        if self.not_chosen {
            let text = theme::note(ui, words.text("form.no_file_chosen"));
            ui.add(Label::new(text).wrap());
        }
    }
}
