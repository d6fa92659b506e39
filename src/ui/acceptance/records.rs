//! The requests of a run, one line each: where it went and why, what its connection carried, and who is to blame when it
//! returned something wrong (B-10).

use eframe::egui::{Label, Ui};

use super::{AcceptanceState, tick_ui};
use crate::model::acceptance::StepName;
use crate::model::phrase::phrase;
use crate::model::profile::TopologyId;
use crate::routing::decision::Go;
use crate::routing::record::{Blame, Freshness, Record, Recorded};
use crate::ui::action::{Action, FilePurpose};
use crate::ui::export::{Wish, export_ui};
use crate::ui::local_time;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Column, Sign, Table, sign_ui, table_ui};
use crate::words::Catalogue;

/// So many lines are seen at once; more by scrolling.
const ROWS: usize = 9;

/// One request, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordLine {
    pub sign: Sign,
    /// The step's number, and its name.
    pub step: (String, String),
    pub at: String,
    pub went_to: String,
    pub reason: String,
    pub waited: String,
    pub carried: String,
    pub blame: String,
    /// Everything that is known of it.
    pub whole: String,
    pub is_blamed: bool,
}

pub fn record_lines(words: &Catalogue, records: &[(StepName, Recorded)]) -> Vec<RecordLine> {
    let line = |(step, recorded): &(StepName, Recorded)| line(words, *step, recorded);
    records.iter().map(line).collect()
}

fn line(words: &Catalogue, step: StepName, recorded: &Recorded) -> RecordLine {
    let record = &recorded.record;
    let blame = recorded.blame();
    let carried: Vec<String> = record
        .carried
        .iter()
        .map(|difference| words.say(&difference.field.phrase()))
        .collect();
    let waited = match record.attempts.is_empty() {
        true => "–".to_owned(),
        false => words.span(record.waited()),
    };
    RecordLine {
        sign: sign(recorded),
        step: (step.number().to_string(), words.say(&step.phrase())),
        at: local_time::in_full(record.at),
        went_to: recorded.server.clone(),
        reason: words.say(&record.decision.reason.phrase()),
        waited,
        carried: match carried.is_empty() {
            true => "–".to_owned(),
            false => carried.join(", "),
        },
        blame: words.say(&blame.phrase()),
        whole: whole(words, recorded),
        is_blamed: blame != Blame::Nobody,
    }
}

/// What careless pools and plain reads return old is what the run sets out to show.
fn sign(recorded: &Recorded) -> Sign {
    let is_plain = matches!(recorded.record.decision.go, Go::Replica(_));
    let is_meant = recorded.is_careless || is_plain && !recorded.record.in_transaction;
    match recorded.blame() {
        Blame::Nobody => Sign::Ok,
        Blame::CannotTell => Sign::Unknown,
        _ if is_meant => Sign::Warning,
        _ => Sign::Critical,
    }
}

fn whole(words: &Catalogue, recorded: &Recorded) -> String {
    let record = &recorded.record;
    let mut lines = vec![words.say(&request(words, record))];
    if recorded.is_careless {
        lines.push(words.text("acceptance.records.is_careless").to_owned());
    }
    if let Some(gtids) = &record.awaited {
        lines.push(format!("GTID {gtids}"));
    }
    for attempt in &record.attempts {
        let ended = words.say(&attempt.result.phrase());
        lines.push(format!("{ended} ({})", words.span(attempt.took)));
    }
    let freshness = match recorded.freshness {
        Freshness::Fresh => "acceptance.records.fresh",
        Freshness::Stale => "acceptance.records.stale",
        Freshness::Unknown => "acceptance.records.unknown",
    };
    lines.push(words.text(freshness).to_owned());
    for (key, all) in [
        ("acceptance.records.borrowed", Some(&record.carried)),
        ("acceptance.records.left", record.left.as_ref()),
    ] {
        for difference in all.into_iter().flatten() {
            let found = difference.found.as_deref().unwrap_or("?");
            let sentence = phrase(key)
                .with("field", difference.field.phrase())
                .with("found", found)
                .with("expected", difference.expected.as_str());
            lines.push(words.say(&sentence));
        }
    }
    lines.join("\n")
}

fn request(words: &Catalogue, record: &Record) -> crate::model::phrase::Phrase {
    let ago = record.wrote_ago;
    let ago = ago.map_or_else(|| "–".to_owned(), |ago| words.span(ago.or_zero()));
    phrase("acceptance.records.request")
        .with("session", record.session.0.to_string())
        .with("kind", record.kind.code())
        .with("ago", ago)
        .with(
            "transaction",
            match record.in_transaction {
                true => phrase("acceptance.records.inside"),
                false => phrase("acceptance.records.outside"),
            },
        )
}

pub fn records_ui(
    ui: &mut Ui,
    topology: &TopologyId,
    lines: &[RecordLine],
    is_ended: bool,
    state: &mut AcceptanceState,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) {
    Card::new().show(ui, |ui| {
        ui.label(theme::strong(words.text("acceptance.records.title")));
        let text = theme::note(ui, words.text("acceptance.records.text"));
        ui.add(Label::new(text).wrap());
        tick_ui(
            ui,
            &mut state.only_blamed,
            words.text("acceptance.records.only_blamed"),
        );
        let shown: Vec<&RecordLine> = lines
            .iter()
            .filter(|line| line.is_blamed || !state.only_blamed)
            .collect();
        lines_ui(ui, &shown, state, words);
        let purpose = FilePurpose::Records;
        let wish = export_ui(ui, &mut state.export, is_ended, purpose, words, actions);
        if let Some(Wish {
            format,
            to,
            may_replace,
        }) = wish
        {
            actions.push(Action::ExportRecords {
                topology: topology.clone(),
                format,
                to,
                may_replace,
            });
        }
    });
}

fn lines_ui(ui: &mut Ui, lines: &[&RecordLine], state: &mut AcceptanceState, words: &Catalogue) {
    let column = |key, width: f32| Column::words(words.text(key), width * UNIT);
    let columns = [
        column("acceptance.records.step", 11.0),
        column("acceptance.records.server", 26.0),
        column("acceptance.records.why", 42.0),
        Column::numbers(words.text("acceptance.records.waited"), 18.0 * UNIT),
        column("acceptance.records.carried", 26.0),
        column("acceptance.records.blame", 44.0).rest(),
    ];
    let table = Table {
        name: "records",
        columns: &columns,
        rows: lines.len(),
        selected: None,
    };
    let order = ordered(lines, state);
    let height = 6.5 * UNIT * (lines.len().min(ROWS) as f32 + 1.0) + 2.0 * UNIT;
    ui.allocate_ui(eframe::egui::vec2(ui.available_width(), height), |ui| {
        ui.set_min_height(height);
        table_ui(ui, table, &mut state.sorting, |ui, row, column| {
            let line = lines[order[row]];
            if column == 5 {
                sign_ui(ui, words, line.sign);
            }
            let text = cell(line, column);
            let hover = format!("{}\n{}", line.step.1, line.whole);
            ui.add(Label::new(text).truncate())
                .on_hover_text(format!("{}\n{hover}", line.at));
        });
    });
}

fn cell(line: &RecordLine, column: usize) -> &str {
    match column {
        0 => &line.step.0,
        1 => &line.went_to,
        2 => &line.reason,
        3 => &line.waited,
        4 => &line.carried,
        _ => &line.blame,
    }
}

/// By the first column they stay in the order of time.
fn ordered(lines: &[&RecordLine], state: &AcceptanceState) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    if state.sorting.column > 0 {
        let column = state.sorting.column;
        order.sort_by(|a, b| cell(lines[*a], column).cmp(cell(lines[*b], column)));
    }
    if state.sorting.descending {
        order.reverse();
    }
    order
}
