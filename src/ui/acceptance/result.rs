//! Verdict, steps with their evidence, and what pools carried over.

use eframe::egui::{Label, Ui};

use super::data::{DriftLine, ResultData, StepLine};
use crate::ui::probe::figures::{Cell, grid_row_ui};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Sign, sign_ui, sign_word_ui};
use crate::words::Catalogue;

pub fn result_ui(ui: &mut Ui, result: &ResultData, words: &Catalogue) {
    Card::new().show(ui, |ui| {
        if let Some(verdict) = &result.verdict {
            let color = verdict.sign.color(theme::palette(ui));
            let text = theme::title(&verdict.text).color(color);
            sign_word_ui(ui, verdict.sign, text);
            ui.add_space(UNIT);
        }
        for step in &result.steps {
            step_ui(ui, step, words);
        }
    });
    if !result.drift.is_empty() {
        Card::new().show(ui, |ui| drift_ui(ui, &result.drift, words));
    }
}

fn step_ui(ui: &mut Ui, step: &StepLine, words: &Catalogue) {
    ui.spacing_mut().item_spacing.y = 0.75 * UNIT;
    ui.horizontal_wrapped(|ui| {
        sign_ui(ui, words, step.sign);
        ui.label(theme::strong(&step.name));
        let color = step.sign.color(theme::palette(ui));
        ui.label(theme::colored(&step.word, color));
    });
    for sentence in &step.evidence {
        ui.horizontal_top(|ui| {
            ui.add_space(5.5 * UNIT);
            let text = theme::note(ui, sentence);
            ui.add(Label::new(text).wrap());
        });
    }
    ui.add_space(1.5 * UNIT);
}

fn drift_ui(ui: &mut Ui, rows: &[DriftLine], words: &Catalogue) {
    let palette = theme::palette(ui);
    ui.label(theme::strong(words.text("acceptance.drift.title")));
    let text = theme::note(ui, words.text("acceptance.drift.text"));
    ui.add(Label::new(text).wrap());
    let heading = |key| Cell::new(words.text(key), palette.dim);
    let headings = [
        heading("acceptance.drift.strict"),
        heading("acceptance.drift.sloppy"),
    ];
    let what = heading("acceptance.drift.what");
    grid_row_ui(ui, Some((words, Sign::NotApplicable)), what, &headings, "");
    for row in rows {
        let strict = match row.sign {
            Sign::Critical => palette.critical,
            _ => palette.text,
        };
        let sloppy = match row.is_shown {
            true => palette.warning,
            false => palette.text,
        };
        let cells = [
            Cell::new(&row.strict, strict),
            Cell::new(&row.sloppy, sloppy),
        ];
        let name = Cell::new(&row.name, palette.text);
        grid_row_ui(ui, Some((words, row.sign)), name, &cells, &row.name);
    }
}
