//! Draws the Routing screen.

use eframe::egui::{Label, RichText, ScrollArea, Ui};

use super::RoutingState;
use super::chart::chart_ui;
use super::controls::controls_ui;
use super::data::{RoutingData, RuleRow, Verdict};
use super::guards::guards_ui;
use super::keep::keep_ui;
use super::kinds_ui::kinds_ui;
use super::lending::lending_ui;
use crate::model::phrase::phrase;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::lesson::pointer;
use crate::ui::panels::halves_ui;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Column, Edge, Sign, Sorting, Table, empty_ui, sign_ui, table_ui};

pub fn routing_ui(
    ui: &mut Ui,
    data: &RoutingData,
    state: &mut RoutingState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let shown = match data {
        RoutingData::Shown(shown) => shown,
        RoutingData::NoTopology => {
            let (title, text) = ("rules.screen.title", "rules.screen.no_topology");
            let step = words.text("screen.profiles");
            if empty_ui(ui, words.text(title), words.text(text), Some(step)) {
                actions.push(Action::Show(Screen::Profiles));
            }
            return;
        }
    };
    ScrollArea::vertical()
        .id_salt("routing")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            pointer::around(ui, "routing_rules", |ui| {
                controls_ui(ui, shown, state, frame, actions);
                if let Some(verdict) = &shown.verdict {
                    verdict_ui(ui, verdict, &mut state.sorting, frame);
                }
            });
            keep_ui(ui, shown, state, frame, actions);
            pointer::around(ui, "routing_guard", |ui| {
                guards_ui(ui, &shown.guards, frame);
            });
            lending_ui(ui, &shown.lending, frame);
            kinds_ui(ui, shown, state, frame, actions);
            ui.add_space(2.0 * UNIT);
        });
}

fn verdict_ui(ui: &mut Ui, verdict: &Verdict, sorting: &mut Sorting, frame: &Frame<'_>) {
    let words = frame.words;
    let palette = theme::palette(ui);
    Card::new().edge(Edge::Left(palette.accent)).show(ui, |ui| {
        ui.add(Label::new(RichText::new(&verdict.sentence)).wrap());
        if !verdict.basis.is_empty() {
            let basis = theme::note(ui, &verdict.basis);
            ui.add(Label::new(basis).wrap());
        }
        for trouble in &verdict.troubles {
            ui.horizontal_top(|ui| {
                sign_ui(ui, words, Sign::Warning);
                ui.add(Label::new(trouble).wrap());
            });
        }
    });
    if verdict.rows.is_empty() {
        return;
    }
    Card::new().show(ui, |ui| rules_ui(ui, &verdict.rows, sorting, frame));
    halves_ui(ui, |ui, half| match half {
        0 => drop(Card::new().show(ui, |ui| {
            ui.label(theme::strong(words.text("rules.chart.title")));
            chart_ui(ui, &verdict.rows, frame);
        })),
        _ => drop(Card::new().show(ui, |ui| {
            ui.label(theme::strong(words.text("rules.screen.seen")));
            for (sign, line) in &verdict.replicas {
                ui.horizontal_top(|ui| {
                    sign_ui(ui, words, *sign);
                    ui.add(Label::new(line).wrap());
                });
            }
            if let Some((admitted, refused)) = verdict.bucket {
                ui.add_space(UNIT);
                ui.label(theme::strong(words.text("rules.bucket.title")));
                let counts = phrase("rules.bucket.counts")
                    .with("admitted", admitted)
                    .with("refused", refused);
                ui.add(Label::new(words.say(&counts)).wrap());
            }
        })),
    });
}

fn rules_ui(ui: &mut Ui, rows: &[RuleRow], sorting: &mut Sorting, frame: &Frame<'_>) {
    let words = frame.words;
    let narrow = ui.available_width() < 230.0 * UNIT;
    let mut columns = vec![
        Column::numbers(words.text("rules.column.number"), 9.0 * UNIT),
        Column::words(words.text("rules.column.rule"), 50.0 * UNIT).rest(),
        Column::numbers(words.text("rules.column.stale"), 19.0 * UNIT),
        Column::numbers(words.text("rules.column.p50"), 17.0 * UNIT),
        Column::numbers(words.text("rules.column.p95"), 17.0 * UNIT),
        Column::numbers(words.text("rules.column.p99"), 17.0 * UNIT),
        Column::numbers(words.text("rules.column.source"), 20.0 * UNIT),
    ];
    let fallbacks = if narrow { 26.0 * UNIT } else { 46.0 * UNIT };
    columns.push(Column::words(
        words.text("rules.column.fallbacks"),
        fallbacks,
    ));
    let order = ordered(rows, *sorting);
    let table = Table {
        name: "rules",
        columns: &columns,
        rows: rows.len(),
        selected: None,
    };
    let height = 6.5 * UNIT * (rows.len() as f32 + 1.0) + 2.0 * UNIT;
    ui.scope(|ui| {
        ui.set_min_height(height);
        table_ui(ui, table, sorting, |ui, row, column| {
            cell_ui(ui, &rows[order[row]], column, frame);
        });
    });
}

/// There are hardly more than ten.
fn ordered(rows: &[RuleRow], sorting: Sorting) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let key = |row: &RuleRow| match sorting.column {
        2 => row.stale_share,
        column @ 3..=5 => row.added_spans[column - 3].map(|span| span.millis_f64()),
        6 => row.source_share,
        7 => Some(row.fallback_count as f64),
        _ => Some(row.number as f64),
    };
    order.sort_by(|a, b| match sorting.column {
        1 => rows[*a].name.cmp(&rows[*b].name),
        _ => key(&rows[*a])
            .partial_cmp(&key(&rows[*b]))
            .unwrap_or(std::cmp::Ordering::Equal),
    });
    if sorting.descending {
        order.reverse();
    }
    order
}

fn cell_ui(ui: &mut Ui, row: &RuleRow, column: usize, frame: &Frame<'_>) {
    let label = |ui: &mut Ui, text: &str, hover: &str| {
        ui.add(Label::new(text).truncate()).on_hover_text(hover);
    };
    let waited = frame.words.text("rules.screen.added_hover");
    match column {
        0 => label(ui, &row.number.to_string(), &row.name),
        1 => {
            sign_ui(ui, frame.words, row.sign);
            label(ui, &row.name, &format!("{}\n{}", row.name, row.promise));
        }
        2 => label(ui, &row.stale, &row.stale_hover),
        3..=5 => label(ui, &row.added[column - 3], waited),
        6 => label(ui, &row.on_source, &row.on_source_hover),
        _ => label(ui, &row.fallbacks, &row.fallbacks),
    }
}
