//! The journal: every change of state with its time, to be searched and copied.

use eframe::egui::accesskit::Role;
use eframe::egui::{Align, ComboBox, Layout, TextEdit, Ui, WidgetInfo};

use super::lesson::pointer;
use super::plot::entry_sign;
use super::theme::{self, UNIT};
use super::widgets::{
    Column, Sign, Sorting, Table, copy_button_ui, empty_ui, sign_word_ui, table_ui,
};
use crate::model::phrase::phrase;
use crate::model::time::Moment;
use crate::store::journal::{Entry, EntryKind};
use crate::ui::{Frame, local_time};
use crate::words::Language;

/// What the person is doing on this screen.
#[derive(Debug)]
pub struct EventsState {
    pub search: String,
    /// Only events of this server.
    pub server: Option<String>,
    pub sorting: Sorting,
    cache: Option<(CacheKey, EventsData)>,
}

impl Default for EventsState {
    fn default() -> Self {
        EventsState {
            search: String::new(),
            server: None,
            // the newest first
            sorting: Sorting {
                column: 0,
                descending: true,
            },
            cache: None,
        }
    }
}

/// The journal has thousands of entries; it is put into words again only when one of these changes.
#[derive(Clone, Debug, PartialEq)]
struct CacheKey {
    count: usize,
    newest: Option<Moment>,
    search: String,
    server: Option<String>,
    language: Language,
    sorting: (usize, bool),
}

/// The rows that the filters leave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventsData {
    pub rows: Vec<EventRow>,
    /// Every server the journal names.
    pub servers: Vec<String>,
    pub total: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    pub at: Moment,
    pub time: String,
    pub sign: Sign,
    pub kind: String,
    pub server: String,
    pub text: String,
}

impl EventsData {
    pub fn new(frame: &Frame<'_>, state: &mut EventsState) -> EventsData {
        let key = CacheKey {
            count: frame.store.journal().entries().count(),
            newest: frame.store.journal().last().map(|entry| entry.at),
            search: state.search.clone(),
            server: state.server.clone(),
            language: frame.words.language(),
            sorting: (state.sorting.column, state.sorting.descending),
        };
        if let Some((kept, data)) = &state.cache
            && *kept == key
        {
            return data.clone();
        }
        let data = filled(frame, state);
        state.cache = Some((key, data.clone()));
        data
    }
}

fn filled(frame: &Frame<'_>, state: &EventsState) -> EventsData {
    let mut data = EventsData::default();
    let wanted = state.search.trim().to_lowercase();
    for entry in frame.store.journal().entries() {
        data.total += 1;
        let server = entry.server.clone().unwrap_or_default();
        if !server.is_empty() && !data.servers.contains(&server) {
            data.servers.push(server.clone());
        }
        if state.server.as_ref().is_some_and(|only| *only != server) {
            continue;
        }
        let row = row(frame, entry, server);
        if wanted.is_empty() || row.matches(&wanted) {
            data.rows.push(row);
        }
    }
    data.servers.sort();
    sort(&mut data.rows, state.sorting);
    data
}

fn row(frame: &Frame<'_>, entry: &Entry, server: String) -> EventRow {
    EventRow {
        at: entry.at,
        time: local_time::day_and_time(entry.at),
        sign: entry_sign(entry.kind),
        kind: kind(frame, entry.kind).to_owned(),
        server,
        text: frame.words.say(&entry.text),
    }
}

fn kind<'a>(frame: &Frame<'a>, kind: EntryKind) -> &'a str {
    match kind {
        EntryKind::Raised(severity) => frame.words.severity(severity),
        EntryKind::Cleared => frame.words.text("events.cleared"),
        EntryKind::Changed => frame.words.text("events.changed"),
        EntryKind::Fault => frame.words.text("lab_screen.journal.kind"),
    }
}

impl EventRow {
    fn matches(&self, wanted: &str) -> bool {
        [&self.text, &self.server, &self.kind]
            .iter()
            .any(|part| part.to_lowercase().replace('\u{a0}', " ").contains(wanted))
    }

    /// One line for a report, with the date and the zone.
    fn line(&self) -> String {
        let time = local_time::in_full(self.at);
        format!("{time}\t{}\t{}\t{}", self.kind, self.server, self.text)
    }
}

/// Entries of one column's value keep the order of time.
fn sort(rows: &mut [EventRow], sorting: Sorting) {
    match sorting.column {
        1 => rows.sort_by(|a, b| a.kind.cmp(&b.kind)),
        2 => rows.sort_by(|a, b| a.server.cmp(&b.server)),
        3 => rows.sort_by(|a, b| a.text.cmp(&b.text)),
        _ => rows.sort_by_key(|row| row.at),
    }
    if sorting.descending {
        rows.reverse();
    }
}

pub fn events_ui(ui: &mut Ui, data: &EventsData, state: &mut EventsState, frame: &Frame<'_>) {
    let words = frame.words;
    if data.total == 0 {
        empty_ui(
            ui,
            words.text("events.none"),
            words.text("events.none_text"),
            None,
        );
        return;
    }
    head_ui(ui, data, state, frame);
    ui.add_space(UNIT);
    if data.rows.is_empty() {
        let text = words.text("events.none_found_text");
        if empty_ui(
            ui,
            words.text("events.none_found"),
            text,
            Some(words.text("events.show_all")),
        ) {
            state.search.clear();
            state.server = None;
        }
        return;
    }
    let columns = [
        Column::words(words.text("events.time"), 32.0 * UNIT),
        Column::words(words.text("events.kind"), 24.0 * UNIT),
        Column::words(words.text("events.server"), 30.0 * UNIT),
        Column::words(words.text("events.text"), 60.0 * UNIT).rest(),
    ];
    let table = Table {
        name: "events",
        columns: &columns,
        rows: data.rows.len(),
        selected: None,
    };
    pointer::mark(ui, "events", ui.available_rect_before_wrap());
    table_ui(ui, table, &mut state.sorting, |ui, row, column| {
        cell_ui(ui, &data.rows[row], column);
    });
}

fn cell_ui(ui: &mut Ui, row: &EventRow, column: usize) {
    match column {
        0 => drop(
            ui.label(&row.time)
                .on_hover_text(local_time::in_full(row.at)),
        ),
        1 => drop(sign_word_ui(ui, row.sign, row.kind.as_str())),
        2 => drop(ui.label(&row.server)),
        _ => drop(ui.label(&row.text).on_hover_text(&row.text)),
    }
}

fn head_ui(ui: &mut Ui, data: &EventsData, state: &mut EventsState, frame: &Frame<'_>) {
    let words = frame.words;
    ui.horizontal_wrapped(|ui| {
        ui.label(theme::title(words.text("screen.events")));
        let count = phrase("events.count")
            .with("shown", data.rows.len() as u64)
            .with("n", data.total as u64);
        ui.label(theme::note(ui, words.say(&count)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            copy_button_ui(ui, words, words.text("events.copy"), || {
                data.rows
                    .iter()
                    .map(EventRow::line)
                    .collect::<Vec<_>>()
                    .join("\n")
            });
            server_choice_ui(ui, data, state, frame);
            let hint = words.text("events.search");
            let field = TextEdit::singleline(&mut state.search)
                .hint_text(hint)
                .desired_width(50.0 * UNIT);
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo::labeled(Role::SearchInput, true, hint));
        });
    });
}

fn server_choice_ui(ui: &mut Ui, data: &EventsData, state: &mut EventsState, frame: &Frame<'_>) {
    let words = frame.words;
    let all = words.text("events.all_servers");
    let shown = state.server.as_deref().unwrap_or(all).to_owned();
    let choice = ComboBox::from_id_salt("server")
        .selected_text(shown)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut state.server, None, all);
            for server in &data.servers {
                ui.selectable_value(&mut state.server, Some(server.clone()), server);
            }
        });
    let name = words.text("events.server");
    choice
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name));
}
