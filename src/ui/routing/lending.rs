//! Whether pooled connections to the source would be lent now, and since when those from before would not.

use eframe::egui::{Grid, Label, Ui};

use crate::model::phrase::phrase;
use crate::model::profile::TopologyId;
use crate::routing::demotion::{Lending, SourceLending, WhyNot};
use crate::ui::Frame;
use crate::ui::local_time;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Sign, sign_word_ui};

/// One server that is, or was, a source.
#[derive(Clone, Debug, PartialEq)]
pub struct LendingRow {
    pub source: String,
    pub sign: Sign,
    pub word: String,
    /// Why not, or what is looked at.
    pub note: String,
    /// The generation of connections, and when it began.
    pub generation: String,
}

pub fn lending_rows(frame: &Frame<'_>, topology: &TopologyId) -> Vec<LendingRow> {
    let servers = frame.store.servers_of(topology);
    servers
        .filter_map(|server| {
            let lending = server.lending.as_ref()?;
            Some(row(frame, &server.registration.name, lending))
        })
        .collect()
}

fn row(frame: &Frame<'_>, source: &str, lending: &SourceLending) -> LendingRow {
    let words = frame.words;
    let (sign, word, note) = match lending.lending() {
        Lending::Lend => (
            Sign::Ok,
            "rules.lending.lent",
            words.text("rules.lending.lent_note").to_owned(),
        ),
        Lending::Stop(why @ WhyNot::RoleUnknown) => (
            Sign::Unknown,
            "rules.lending.unknown",
            words.say(&why.phrase()),
        ),
        Lending::Stop(why) => (
            Sign::Warning,
            "rules.lending.stopped",
            words.say(&why.phrase()),
        ),
    };
    LendingRow {
        source: source.to_owned(),
        sign,
        word: words.text(word).to_owned(),
        note,
        generation: generation(frame, lending),
    }
}

fn generation(frame: &Frame<'_>, lending: &SourceLending) -> String {
    let words = frame.words;
    match lending.renewed_at() {
        None => words.text("rules.lending.first").to_owned(),
        Some(at) => words.say(
            &phrase("rules.lending.generation")
                .with("n", lending.generation().number())
                .with("at", local_time::time_of_day(at)),
        ),
    }
}

pub fn lending_ui(ui: &mut Ui, rows: &[LendingRow], frame: &Frame<'_>) {
    let words = frame.words;
    ui.label(theme::title(words.text("rules.lending.title")));
    if rows.is_empty() {
        ui.label(theme::note(ui, words.text("rules.lending.none")));
        return;
    }
    Card::new().show(ui, |ui| {
        let about = theme::note(ui, words.text("rules.lending.about"));
        ui.add(Label::new(about).wrap());
        ui.add_space(UNIT);
        let width = ui.available_width() - 33.0 * UNIT;
        Grid::new("lending")
            .num_columns(2)
            .spacing([3.0 * UNIT, 4.0 * UNIT])
            .show(ui, |ui| {
                for row in rows {
                    ui.vertical(|ui| {
                        ui.set_width(27.0 * UNIT);
                        ui.add(Label::new(theme::strong(&row.source)).truncate());
                    });
                    row_ui(ui, row, width);
                    ui.end_row();
                }
            });
    });
}

fn row_ui(ui: &mut Ui, row: &LendingRow, width: f32) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
        ui.set_width(width.max(40.0 * UNIT));
        sign_word_ui(ui, row.sign, theme::strong(&row.word));
        for text in [&row.note, &row.generation] {
            let text = theme::note(ui, text);
            ui.add(Label::new(text).wrap());
        }
    });
}
