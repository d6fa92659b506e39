//! The rows of a form: label left, field right, and under the field what is wrong with it.

use std::path::PathBuf;

use eframe::egui::{
    Align, ComboBox, DragValue, Id, Label, Layout, Response, RichText, Stroke, TextEdit, Ui, vec2,
};

use crate::model::phrase::Phrase;
use crate::model::profile::{Field, FieldName, FieldProblem, ServerId};
use crate::model::time::Span;
use crate::ui::action::{Action, FilePurpose};
use crate::ui::theme::{self, UNIT, size};
use crate::ui::widgets::{Sign, sign_word_ui};
use crate::words::Catalogue;

/// Room for the labels, the same in all sections so that the fields stand under each other.
const LABEL: f32 = 38.0 * UNIT;
/// No field is wider, however wide the window.
pub const WIDE: f32 = 90.0 * UNIT;
pub const NARROW: f32 = 24.0 * UNIT;

/// What every row of a form needs to know.
pub struct Form<'a> {
    pub words: &'a Catalogue,
    pub problems: &'a [FieldProblem],
    /// Whose fields these are; None for the topology's own.
    pub server: Option<&'a ServerId>,
    pub out: &'a mut Vec<Action>,
    /// The file dialog was asked for, and its answer is not there yet.
    pub choosing: &'a mut Option<FilePurpose>,
    /// What the last dialog ended with, when that was no file.
    pub unchosen: Option<&'a FilePurpose>,
}

impl<'a> Form<'a> {
    pub fn text(&self, key: &'static str) -> &'a str {
        self.words.text(key)
    }

    fn field(&self, name: FieldName) -> Field {
        Field {
            server: self.server.cloned(),
            name,
        }
    }

    /// The first thing wrong with a field.
    pub fn problem(&self, name: FieldName) -> Option<&'a Phrase> {
        let is_this =
            |p: &&FieldProblem| p.field.name == name && p.field.server.as_ref() == self.server;
        self.problems.iter().find(is_this).map(|p| &p.problem)
    }

    /// A row: `label` left, what `content` draws right. `content` gets the label's id, to name its field by it.
    pub fn row_ui<R>(
        &mut self,
        ui: &mut Ui,
        label: &'static str,
        content: impl FnOnce(&mut Self, &mut Ui, Id) -> R,
    ) -> R {
        let text = self.text(label);
        ui.horizontal(|ui| {
            let id = label_ui(ui, text);
            content(self, ui, id)
        })
        .inner
    }

    /// What is wrong with the field above, in words, where the field begins.
    pub fn problem_ui(&self, ui: &mut Ui, name: FieldName) {
        if let Some(problem) = self.problem(name) {
            indented_ui(ui, |ui| remark_ui(ui, self.words, problem));
        }
    }

    /// A dim sentence under a field.
    pub fn note_ui(&self, ui: &mut Ui, text: &str) {
        indented_ui(ui, |ui| {
            ui.add(Label::new(theme::note(ui, text)).wrap());
        });
    }

    pub fn text_row_ui(
        &mut self,
        ui: &mut Ui,
        label: &'static str,
        name: FieldName,
        text: &mut String,
        hint: &'static str,
    ) -> Response {
        let response = self.row_ui(ui, label, |form, ui, id| {
            let hint = if hint.is_empty() { "" } else { form.text(hint) };
            let field = TextEdit::singleline(text)
                .id(form.id(name))
                .hint_text(hint.to_owned())
                .desired_width(field_width(ui, WIDE));
            ui.add(field).labelled_by(id)
        });
        self.problem_ui(ui, name);
        response
    }

    pub fn id(&self, name: FieldName) -> Id {
        field_id(self.server, name)
    }

    /// The same form for the fields of one server.
    pub fn of_server<'b>(&'b mut self, server: &'b ServerId) -> Form<'b> {
        Form {
            words: self.words,
            problems: self.problems,
            server: Some(server),
            out: self.out,
            choosing: self.choosing,
            unchosen: self.unchosen,
        }
    }

    /// A path, and a button for the system's dialog; the field stays the way when there is no dialog.
    pub fn path_row_ui(
        &mut self,
        ui: &mut Ui,
        label: &'static str,
        name: FieldName,
        path: &mut Option<PathBuf>,
    ) {
        let purpose = FilePurpose::Field(self.field(name));
        let mut text = path
            .as_deref()
            .map(|p| p.display().to_string())
            .unwrap_or_default();
        let is_utf8 = path.as_deref().is_none_or(|p| p.to_str().is_some());
        self.row_ui(ui, label, |form, ui, id| {
            let button = 26.0 * UNIT;
            let field = TextEdit::singleline(&mut text)
                .id(form.id(name))
                .desired_width((field_width(ui, WIDE) - button).max(NARROW));
            // what is not UTF-8 cannot be typed; the dialog can choose it
            let response = ui.add_enabled(is_utf8, field).labelled_by(id);
            if response.changed() {
                *path = (!text.is_empty()).then(|| PathBuf::from(&text));
            }
            form.choose_button_ui(ui, &purpose);
        });
        self.unchosen_ui(ui, &purpose);
        self.problem_ui(ui, name);
    }

    pub fn choose_button_ui(&mut self, ui: &mut Ui, purpose: &FilePurpose) {
        if choose_button_ui(ui, self.words, self.choosing.is_some()) {
            *self.choosing = Some(purpose.clone());
            self.out.push(Action::ChooseFile(purpose.clone()));
        }
    }

    pub fn unchosen_ui(&self, ui: &mut Ui, purpose: &FilePurpose) {
        if self.unchosen == Some(purpose) {
            self.note_ui(ui, self.text("form.no_file_chosen"));
        }
    }

    pub fn choice_row_ui<T: PartialEq + Clone>(
        &mut self,
        ui: &mut Ui,
        label: &'static str,
        chosen: &mut T,
        choices: &[(T, &'static str)],
    ) -> bool {
        let salt = (label, self.server.map(|id| id.0.clone()));
        self.row_ui(ui, label, |form, ui, id| {
            let width = field_width(ui, 70.0 * UNIT);
            let (response, changed) = choice_ui(ui, form.words, salt, width, chosen, choices);
            response.labelled_by(id);
            changed
        })
    }

    /// A length of time as a number of seconds (or milliseconds): typed, or dragged.
    pub fn span_row_ui(
        &mut self,
        ui: &mut Ui,
        label: &'static str,
        name: FieldName,
        span: &mut Span,
        unit: SpanUnit,
    ) {
        self.row_ui(ui, label, |form, ui, id| {
            span_ui(ui, form.words, span, unit).labelled_by(id);
        });
        self.problem_ui(ui, name);
    }

    pub fn count_row_ui(
        &mut self,
        ui: &mut Ui,
        label: &'static str,
        name: FieldName,
        count: &mut u32,
        suffix: &str,
    ) {
        self.row_ui(ui, label, |_, ui, id| {
            let field = DragValue::new(count).suffix(suffix.to_owned()).speed(0.2);
            ui.add(field).labelled_by(id);
        });
        self.problem_ui(ui, name);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanUnit {
    Seconds,
    Millis,
}

pub fn span_ui(ui: &mut Ui, words: &Catalogue, span: &mut Span, unit: SpanUnit) -> Response {
    let (micros, key, decimals, speed) = match unit {
        SpanUnit::Seconds => (1_000_000, "unit.s", 3, 0.1),
        SpanUnit::Millis => (1_000, "unit.ms", 0, 5.0),
    };
    let mut number = span.micros() as f64 / micros as f64;
    let field = DragValue::new(&mut number)
        .speed(speed)
        .max_decimals(decimals)
        .suffix(format!(" {}", words.text(key)));
    let response = ui.add(field);
    // only then: what is finer than the field shows stays as it was
    if response.changed() {
        *span = Span::from_micros((number * micros as f64).round() as i64);
    }
    response
}

/// Stable whatever else appears on the form, so that a field keeps the keyboard.
pub fn field_id(server: Option<&ServerId>, name: FieldName) -> Id {
    Id::unique(("profile field", server.map(|id| id.0.as_str()), name))
}

/// A name for screen readers, where the visible one is not a label beside the field.
pub fn named(response: Response, name: &str) -> Response {
    response
        .ctx
        .accesskit_node_builder(response.id, |node| node.set_label(name));
    response
}

/// A choice that opens downwards; the caller names it. True when another one was chosen.
pub fn choice_ui<T: PartialEq + Clone>(
    ui: &mut Ui,
    words: &Catalogue,
    salt: impl std::hash::Hash + std::fmt::Debug,
    width: f32,
    chosen: &mut T,
    choices: &[(T, &'static str)],
) -> (Response, bool) {
    let before = chosen.clone();
    let now = choices.iter().find(|(choice, _)| choice == chosen);
    let text = now.map_or("", |(_, key)| words.text(key));
    let shown = ComboBox::from_id_salt(Id::unique(salt))
        .width(width)
        .truncate()
        .selected_text(text)
        .show_ui(ui, |ui| {
            for (choice, key) in choices {
                ui.selectable_value(chosen, choice.clone(), words.text(key));
            }
        });
    (shown.response, before != *chosen)
}

/// A box to tick, with a frame that is seen on a card too. True when it was changed.
pub fn checkbox_ui(ui: &mut Ui, is_on: &mut bool, text: &str) -> bool {
    ui.scope(|ui| {
        let line = theme::palette(ui).dim;
        ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::new(1.0, line);
        ui.checkbox(is_on, text).changed()
    })
    .inner
}

/// True when pressed.
pub fn choose_button_ui(ui: &mut Ui, words: &Catalogue, is_choosing: bool) -> bool {
    ui.add_enabled_ui(!is_choosing, |ui| ui.button(words.text("form.choose")))
        .inner
        .clicked()
}

pub fn label_ui(ui: &mut Ui, text: &str) -> Id {
    let height = ui.spacing().interact_size.y;
    let layout = Layout::left_to_right(Align::Center);
    ui.allocate_ui_with_layout(vec2(LABEL, height), layout, |ui| {
        ui.set_min_width(LABEL);
        ui.add(Label::new(theme::dim(ui, text)).truncate()).id
    })
    .inner
}

/// As wide as there is room for, at most `most`.
pub fn field_width(ui: &Ui, most: f32) -> f32 {
    (ui.available_width() - 4.0 * UNIT).clamp(NARROW, most)
}

pub fn indented_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    ui.horizontal_top(|ui| {
        ui.add_space(LABEL + ui.spacing().item_spacing.x);
        ui.vertical(|ui| {
            ui.set_max_width(field_width(ui, WIDE));
            content(ui);
        });
    });
}

/// What nobody filled in yet is only pointed out; what is wrong is marked.
pub fn remark_ui(ui: &mut Ui, words: &Catalogue, problem: &Phrase) {
    let text = RichText::new(words.say(problem)).size(size::SMALL);
    if is_missing(problem) {
        ui.add(Label::new(text.color(theme::palette(ui).dim)).wrap());
        return;
    }
    let color = Sign::Critical.color(theme::palette(ui));
    sign_word_ui(ui, Sign::Critical, text.color(color));
}

fn is_missing(problem: &Phrase) -> bool {
    matches!(
        problem.key,
        "profile.name.empty"
            | "profile.address.no_host"
            | "profile.user.empty"
            | "profile.secret.env_name"
            | "profile.secret.file_name"
            | "profile.servers.none"
    )
}
