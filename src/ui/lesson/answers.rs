//! What servers answered to the statements of a step, as a client would write it.

use eframe::egui::{Grid, Label, RichText, ScrollArea, Spinner, TextWrapMode, Ui};

use super::board::Answers;
use crate::model::lesson::{Answer, Said, Table};
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::trouble::Trouble;
use crate::ui::theme::{self, UNIT};
use crate::words::Catalogue;

/// The answers as they are drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswersView {
    pub is_awaited: bool,
    pub answers: Vec<AnswerView>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerView {
    /// To which statement, where there are several.
    pub to: Option<String>,
    pub table: Option<TableView>,
    /// How many rows and how long it took, or the server's refusal.
    pub summary: String,
    pub is_refused: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableView {
    pub columns: Vec<String>,
    /// `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Each column on a line of its own.
    pub is_upright: bool,
}

impl AnswersView {
    pub fn new(words: &Catalogue, answers: &Answers) -> Self {
        let said = match answers {
            Answers::Here(said) => said.as_slice(),
            Answers::None | Answers::Awaited => &[],
        };
        AnswersView {
            is_awaited: *answers == Answers::Awaited,
            answers: said
                .iter()
                .map(|one| view(words, one, said.len() > 1))
                .collect(),
        }
    }
}

fn view(words: &Catalogue, said: &Said, is_one_of_several: bool) -> AnswerView {
    let summary = match &said.answer {
        Ok(Answer::Rows(table)) => counted(table).with("took", said.took),
        Ok(Answer::Done { changed }) => phrase("lesson.said.changed")
            .with("rows", *changed)
            .with("took", said.took),
        Err(why) => refusal(why),
    };
    let table = match &said.answer {
        Ok(Answer::Rows(table)) if !table.rows.is_empty() => Some(TableView {
            columns: table.columns.clone(),
            rows: table.rows.clone(),
            is_upright: said.statement.is_upright,
        }),
        _ => None,
    };
    AnswerView {
        to: is_one_of_several.then(|| said.statement.text.clone()),
        table,
        summary: words.say(&summary),
        is_refused: said.answer.is_err(),
    }
}

fn counted(table: &Table) -> Phrase {
    let shown = table.rows.len() as u64;
    if shown < table.all_rows {
        phrase("lesson.said.first_rows")
            .with("shown", shown)
            .with("rows", table.all_rows)
    } else {
        phrase("lesson.said.rows").with("rows", table.all_rows)
    }
}

/// In the server's own words and with its number, as the student's client would say it.
fn refusal(why: &Trouble) -> Phrase {
    match why.code {
        Some(code) => phrase("lesson.said.error")
            .with("code", Arg::Number(code.into()))
            .with("text", why.detail.as_str()),
        None => why.what.clone(),
    }
}

/// Higher than this a table scrolls.
pub const HEIGHT: f32 = 56.0 * UNIT;

/// `size` is that of the letters in a table, `height` what each table may take.
pub fn answers_ui(ui: &mut Ui, view: &AnswersView, size: f32, height: f32) {
    if view.is_awaited {
        ui.add(Spinner::new().size(3.5 * UNIT));
    }
    for (n, answer) in view.answers.iter().enumerate() {
        ui.push_id(("answer", n), |ui| answer_ui(ui, answer, size, height));
    }
}

fn answer_ui(ui: &mut Ui, answer: &AnswerView, size: f32, height: f32) {
    if let Some(to) = &answer.to {
        ui.add(Label::new(theme::dim(ui, to).monospace().size(size)).wrap());
    }
    if let Some(table) = &answer.table {
        ScrollArea::both()
            .max_height(height)
            .auto_shrink([false, true])
            .show(ui, |ui| table_ui(ui, table, size));
    }
    let summary = match answer.is_refused {
        true => RichText::new(&answer.summary)
            .size(size)
            .color(theme::palette(ui).critical),
        false => theme::note(ui, &answer.summary),
    };
    ui.add(Label::new(summary).wrap().selectable(true));
}

fn table_ui(ui: &mut Ui, table: &TableView, size: f32) {
    ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
    let grid = |id| {
        let gaps = [4.0 * UNIT, 0.5 * UNIT];
        Grid::new(id).spacing(gaps).min_row_height(size)
    };
    if table.is_upright {
        for (n, row) in table.rows.iter().enumerate() {
            grid(("upright", n)).show(ui, |ui| {
                for (column, value) in table.columns.iter().zip(row) {
                    ui.label(theme::dim(ui, column).monospace().size(size));
                    value_ui(ui, value.as_deref(), size);
                    ui.end_row();
                }
            });
        }
        return;
    }
    grid(("table", 0)).show(ui, |ui| {
        for column in &table.columns {
            ui.label(theme::dim(ui, column).monospace().size(size));
        }
        ui.end_row();
        for row in &table.rows {
            for value in row {
                value_ui(ui, value.as_deref(), size);
            }
            ui.end_row();
        }
    });
}

fn value_ui(ui: &mut Ui, value: Option<&str>, size: f32) {
    let text = match value {
        Some(value) => theme::mono(value.replace('\n', "⏎")).size(size),
        None => theme::dim(ui, "NULL").monospace().size(size).italics(),
    };
    ui.add(Label::new(text).selectable(true));
}
