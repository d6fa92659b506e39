//! The shadow guards: what they say of each replica now, and when they would have degraded.

use eframe::egui::{Grid, Label, Ui};

use crate::model::phrase::phrase;
use crate::model::profile::TopologyId;
use crate::routing::guard::Degraded;
use crate::routing::{GuardState, ReplicaHealthGuard, Unfit};
use crate::store::guards::GuardPreset;
use crate::ui::Frame;
use crate::ui::local_time;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Sign, sign_word_ui};

/// One replica.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardRow {
    pub replica: String,
    pub cells: Vec<GuardCell>,
}

/// What one guard says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardCell {
    pub sign: Sign,
    pub word: String,
    /// Which reads it would let in, and why no more.
    pub note: String,
    /// How often it would have sent all reads to the source, and when last.
    pub past: String,
}

pub fn guard_rows(frame: &Frame<'_>, topology: &TopologyId) -> Vec<GuardRow> {
    let servers = frame.store.servers_of(topology);
    servers
        .filter_map(|server| {
            let guards = server.guards.as_ref()?;
            let cell = |preset| cell(frame, guards.of(preset));
            Some(GuardRow {
                replica: server.registration.name.clone(),
                cells: GuardPreset::ALL.map(cell).into(),
            })
        })
        .collect()
}

fn cell(frame: &Frame<'_>, guard: &ReplicaHealthGuard) -> GuardCell {
    let words = frame.words;
    let (sign, word, note) = match guard.state() {
        GuardState::Unknown => (
            Sign::Unknown,
            "rules.guard.unknown",
            words.text("rules.guard.unknown_note").to_owned(),
        ),
        GuardState::Unhealthy { why } => (
            Sign::Warning,
            "rules.guard.degraded",
            words.say(&why.phrase()),
        ),
        GuardState::Recovering => (
            Sign::Unknown,
            "rules.guard.recovering",
            words.text("rules.guard.recovering_note").to_owned(),
        ),
        GuardState::Healthy => (
            Sign::Ok,
            "rules.guard.healthy",
            words.text("rules.guard.healthy_note").to_owned(),
        ),
    };
    GuardCell {
        sign,
        word: words.text(word).to_owned(),
        note,
        past: past(frame, guard),
    }
}

/// Before the first check a guard lets nothing in either, but that says nothing of the replica.
pub fn is_degradation(degraded: &Degraded) -> bool {
    degraded.why != Unfit::NotChecked
}

fn past(frame: &Frame<'_>, guard: &ReplicaHealthGuard) -> String {
    let words = frame.words;
    let all: Vec<&Degraded> = guard.degraded().filter(|d| is_degradation(d)).collect();
    let Some(last) = all.last() else {
        return words.text("rules.guard.never").to_owned();
    };
    let until = last.until.unwrap_or(frame.now);
    words.say(
        &phrase("rules.guard.past")
            .with("n", all.len() as u64)
            .with("at", local_time::time_of_day(last.from))
            .with("for", until.since(last.from).or_zero())
            .with("why", last.why.phrase()),
    )
}

pub fn guards_ui(ui: &mut Ui, rows: &[GuardRow], frame: &Frame<'_>) {
    let words = frame.words;
    ui.label(theme::title(words.text("rules.guard.title")));
    if rows.is_empty() {
        ui.label(theme::note(ui, words.text("rules.guard.none")));
        return;
    }
    Card::new().show(ui, |ui| {
        let width = (ui.available_width() - 30.0 * UNIT) / 2.0 - 3.0 * UNIT;
        Grid::new("guards")
            .num_columns(3)
            .spacing([3.0 * UNIT, 4.0 * UNIT])
            .show(ui, |ui| {
                ui.label(theme::note(ui, words.text("rules.guard.replica")));
                for key in ["rules.guard.three_seconds", "rules.guard.one_second"] {
                    ui.label(theme::note(ui, words.text(key)));
                }
                ui.end_row();
                for row in rows {
                    ui.vertical(|ui| ui.add(Label::new(theme::strong(&row.replica)).extend()));
                    for cell in &row.cells {
                        cell_ui(ui, cell, width);
                    }
                    ui.end_row();
                }
            });
    });
}

fn cell_ui(ui: &mut Ui, cell: &GuardCell, width: f32) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
        ui.set_width(width.max(40.0 * UNIT));
        sign_word_ui(ui, cell.sign, theme::strong(&cell.word));
        for text in [&cell.note, &cell.past] {
            let text = theme::note(ui, text);
            ui.add(Label::new(text).wrap());
        }
    });
}
