//! Keeping a comparison: to hold a later one against it rule by rule, and as a file.

use eframe::egui::{Label, TextEdit, Ui};

use super::RoutingState;
use super::board::{KeptComparison, KeptRule};
use super::data::Shown;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::TopologyId;
use crate::model::time::Span;
use crate::routing::compare::Outcome;
use crate::routing::strategies::{Headroom, RouteTable, standard};
use crate::ui::Frame;
use crate::ui::action::{Action, FilePurpose};
use crate::ui::export::{Wish, export_ui};
use crate::ui::probe::controls::pick_ui;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Column, Sorting, Table, entered, sign_word_ui, table_ui};
use crate::words::Catalogue;

/// Of what was kept, the last.
pub const NEWEST: usize = usize::MAX;

/// A kept result beside the latest one.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptData {
    pub name: String,
    pub rows: Vec<KeptRow>,
}

/// One rule: its name, then old values, added time and share on the source, each before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRow {
    pub name: String,
    pub figures: [String; 6],
    /// The same, to be sorted by; `None` is unknown.
    values: [Option<f64>; 6],
}

impl KeptData {
    pub fn new(frame: &Frame<'_>, kept: &KeptComparison, now: Option<&Outcome>) -> Self {
        let words = frame.words;
        let name = match kept.name.as_str() {
            "" => words.text("rules.keep.unnamed"),
            name => name,
        };
        let name = phrase("rules.keep.entry")
            .with("name", name)
            .with("reads", words.count(kept.reads))
            .with("age", words.ago(frame.now.since(kept.at).or_zero()));
        KeptData {
            name: words.say(&name),
            rows: kept
                .rules
                .iter()
                .map(|rule| row(words, rule, now))
                .collect(),
        }
    }
}

fn row(words: &Catalogue, before: &KeptRule, now: Option<&Outcome>) -> KeptRow {
    let rows = now.map(|outcome| &outcome.comparison.rows);
    let after = rows.and_then(|rows| rows.iter().find(|row| row.code == before.code));
    let after = after.map(KeptRule::of);
    let after = after.as_ref();
    let p95 = |rule: &KeptRule| rule.added.map(|added| added[1]);
    let shares = [
        before.stale_share(),
        after.and_then(KeptRule::stale_share),
        before.source_share(),
        after.and_then(KeptRule::source_share),
    ];
    let spans = [p95(before), after.and_then(p95)];
    let percent = |share: Option<f64>| share.map_or_else(dash, |share| words.percent(share));
    let time = |span: Option<Span>| span.map_or_else(dash, |span| words.span(span));
    let ([a, b, e, f], [c, d]) = (shares.map(percent), spans.map(time));
    let [first, second] = spans.map(|span| span.map(Span::millis_f64));
    KeptRow {
        name: words.say(&name_of(&before.code)),
        figures: [a, b, c, d, e, f],
        values: [shares[0], shares[1], first, second, shares[2], shares[3]],
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// A rule of an older version of the program is called by its code.
fn name_of(code: &str) -> Phrase {
    let headroom = Headroom {
        capacity_per_second: 1.0,
        used_per_second: 0.0,
    };
    let rules = standard(Some(headroom), &RouteTable::default());
    let rule = rules.iter().find(|rule| rule.code() == code);
    rule.map_or_else(
        || phrase("rules.keep.unknown_rule").with("code", code),
        |rule| rule.name(),
    )
}

pub fn keep_ui(
    ui: &mut Ui,
    shown: &Shown,
    state: &mut RoutingState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let Some(topology) = frame.topology else {
        return;
    };
    let words = frame.words;
    if !shown.can_keep && shown.kept.is_empty() {
        return;
    }
    Card::new().show(ui, |ui| {
        ui.label(theme::strong(words.text("rules.keep.title")));
        if shown.can_keep {
            name_ui(ui, topology, state, words, actions);
            let wish = export_ui(
                ui,
                &mut state.export,
                true,
                FilePurpose::Comparison,
                words,
                actions,
            );
            if let Some(Wish {
                format,
                to,
                may_replace,
            }) = wish
            {
                actions.push(Action::ExportComparison {
                    topology: topology.clone(),
                    format,
                    to,
                    may_replace,
                });
            }
        }
        if let Some((sign, text)) = &shown.exported {
            sign_word_ui(ui, *sign, text.as_str());
        }
        before_after_ui(ui, shown, state, words);
    });
}

fn name_ui(
    ui: &mut Ui,
    topology: &TopologyId,
    state: &mut RoutingState,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(theme::dim(ui, words.text("rules.keep.name")));
        let field = TextEdit::singleline(&mut state.kept_name)
            .desired_width(40.0 * UNIT)
            .hint_text(words.text("rules.keep.hint"));
        let field = ui.add(field).labelled_by(label.id);
        let keep = ui.button(words.text("rules.keep.do"));
        if keep.clicked() || entered(ui, &field) {
            state.compared = NEWEST;
            actions.push(Action::SaveComparison {
                topology: topology.clone(),
                name: std::mem::take(&mut state.kept_name),
            });
        }
    });
}

fn before_after_ui(ui: &mut Ui, shown: &Shown, state: &mut RoutingState, words: &Catalogue) {
    let Some(last) = shown.kept.len().checked_sub(1) else {
        let none = theme::note(ui, words.text("rules.keep.none"));
        ui.add(Label::new(none).wrap());
        return;
    };
    let mut compared = state.compared.min(last);
    let names = shown.kept.iter().map(|kept| kept.name.clone()).enumerate();
    let choices: Vec<(usize, String)> = names.collect();
    ui.horizontal_wrapped(|ui| {
        if pick_ui(ui, words.text("rules.keep.with"), &mut compared, &choices) {
            state.compared = compared;
        }
    });
    rows_ui(
        ui,
        &shown.kept[compared].rows,
        &mut state.kept_sorting,
        words,
    );
}

fn rows_ui(ui: &mut Ui, rows: &[KeptRow], sorting: &mut Sorting, words: &Catalogue) {
    let number = |key| Column::numbers(words.text(key), 25.0 * UNIT);
    let columns = [
        Column::words(words.text("rules.column.rule"), 50.0 * UNIT).rest(),
        number("rules.keep.stale_before"),
        number("rules.keep.after"),
        number("rules.keep.p95_before"),
        number("rules.keep.after"),
        number("rules.keep.source_before"),
        number("rules.keep.after"),
    ];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    // By the first column they stay as the rules are listed.
    if let Some(column) = sorting.column.checked_sub(1) {
        let value = |place: &usize| rows[*place].values[column].unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|a, b| value(a).total_cmp(&value(b)));
    }
    if sorting.descending {
        order.reverse();
    }
    let table = Table {
        name: "kept rules",
        columns: &columns,
        rows: rows.len(),
        selected: None,
    };
    let height = 6.5 * UNIT * (rows.len() as f32 + 1.0) + 2.0 * UNIT;
    ui.scope(|ui| {
        ui.set_min_height(height);
        table_ui(ui, table, sorting, |ui, row, column| {
            let row = &rows[order[row]];
            let text = match column {
                0 => &row.name,
                column => &row.figures[column - 1],
            };
            ui.add(Label::new(text).truncate()).on_hover_text(&row.name);
        });
    });
}
