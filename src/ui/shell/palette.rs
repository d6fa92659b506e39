//! Ctrl+K: everything there is to go to or to do, found by typing a part of its name.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align2, Area, Button, Id, Key, Modal, Modifiers, Order, ScrollArea, TextEdit, Ui, WidgetInfo,
    vec2,
};

use super::commands::LabCommand;
use super::top::{other_language, other_theme};
use super::{ShellData, ShellState, TreeRow, screen_key};
use crate::model::profile::{ServerId, TopologyId};
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::theme::{self, UNIT};

/// The search while it is open.
#[derive(Debug, Default)]
pub struct PaletteState {
    pub text: String,
    pub chosen: usize,
}

/// Something to go to or to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub text: String,
    /// What kind of thing it is, or its key.
    pub kind: String,
    /// Why it cannot be done now.
    pub impossible: Option<String>,
    pub target: Target,
}

impl Entry {
    pub fn new(text: impl Into<String>, kind: impl Into<String>, target: Target) -> Self {
        Entry {
            text: text.into(),
            kind: kind.into(),
            impossible: None,
            target,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Screen(Screen),
    Topology(TopologyId),
    Server(TopologyId, ServerId),
    Pause(bool),
    PollNow(TopologyId),
    AddTopology,
    Lab(LabCommand),
    Theme,
    Language,
    Zoom(f32),
    Quit,
}

/// So many are shown; typing more narrows them down.
const SHOWN: usize = 50;

pub fn palette_ui(
    ui: &mut Ui,
    data: &ShellData,
    state: &mut ShellState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let paused = state.paused_since.is_some();
    let Some(palette) = &mut state.palette else {
        return;
    };
    let found = matching(&entries(data, frame, paused), &palette.text);
    let dark = ui.visuals().dark_mode;
    let id = Id::unique("palette");
    let width = (ui.ctx().content_rect().width() - 16.0 * UNIT).min(130.0 * UNIT);
    let area = Area::new(id)
        .order(Order::Foreground)
        .anchor(Align2::CENTER_TOP, vec2(0.0, 16.0 * UNIT));
    let shown = Modal::new(id).area(area).show(ui.ctx(), |ui| {
        ui.set_width(width);
        let mut run = keys(ui, palette, found.len());
        field_ui(ui, palette, frame);
        ui.add_space(UNIT);
        if found.is_empty() {
            ui.label(theme::dim(ui, frame.words.text("palette.nothing")));
        }
        let height = (ui.ctx().content_rect().height() * 0.5).max(30.0 * UNIT);
        ScrollArea::vertical().max_height(height).show(ui, |ui| {
            for (n, entry) in found.iter().enumerate() {
                run |= entry_ui(ui, entry, n, palette);
            }
        });
        let chosen = found.get(palette.chosen).filter(|_| run);
        chosen
            .filter(|entry| entry.impossible.is_none())
            .map(|entry| entry.target.clone())
    });
    let close = shown.should_close() || shown.inner.is_some();
    if let Some(target) = shown.inner {
        actions.extend(carried_out(target, frame, dark));
    }
    if close {
        state.palette = None;
    }
}

/// Up and down choose, Enter runs.
fn keys(ui: &Ui, palette: &mut PaletteState, count: usize) -> bool {
    let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    if pressed(Key::ArrowDown) && palette.chosen + 1 < count {
        palette.chosen += 1;
    }
    if pressed(Key::ArrowUp) {
        palette.chosen = palette.chosen.saturating_sub(1);
    }
    pressed(Key::Enter)
}

fn field_ui(ui: &mut Ui, palette: &mut PaletteState, frame: &Frame<'_>) {
    let hint = frame.words.text("palette.hint");
    let field = TextEdit::singleline(&mut palette.text)
        .hint_text(hint)
        .desired_width(f32::INFINITY);
    let response = ui.add(field);
    response.widget_info(|| WidgetInfo::labeled(Role::SearchInput, true, hint));
    if response.changed() {
        palette.chosen = 0;
    }
    response.request_focus();
}

fn entry_ui(ui: &mut Ui, entry: &Entry, n: usize, palette: &mut PaletteState) -> bool {
    let chosen = n == palette.chosen;
    let note = match &entry.impossible {
        // what is disabled is drawn faded: a dim reason could not be read
        Some(why) => theme::note(ui, why.as_str()).color(theme::palette(ui).text),
        None => theme::note(ui, entry.kind.as_str()),
    };
    let button = Button::selectable(chosen, entry.text.as_str())
        .right_text(note)
        .truncate()
        .min_size(vec2(ui.available_width(), 0.0));
    let mut response = ui.add_enabled(entry.impossible.is_none(), button);
    if let Some(why) = &entry.impossible {
        response = response.on_disabled_hover_text(why);
    }
    if chosen && ui.input(|i| i.key_pressed(Key::ArrowDown) || i.key_pressed(Key::ArrowUp)) {
        response.scroll_to_me(None);
    }
    let clicked = response.clicked();
    if clicked {
        palette.chosen = n;
    }
    clicked
}

/// Everything, in the order in which it is offered before anything is typed.
pub fn entries(data: &ShellData, frame: &Frame<'_>, paused: bool) -> Vec<Entry> {
    let mut entries = places(data, frame);
    let words = frame.words;
    let action = words.text("palette.action");
    if let Some(topology) = frame.topology.filter(|_| data.watched) {
        let key = if paused {
            "shell.resume"
        } else {
            "shell.pause"
        };
        let space = words.text("palette.key.space");
        entries.push(Entry::new(words.text(key), space, Target::Pause(!paused)));
        let poll = Target::PollNow(topology.clone());
        entries.push(Entry::new(words.text("shell.poll_now"), "F5", poll));
    }
    entries.extend(data.commands.iter().cloned());
    let others = [
        ("shell.add", action, Target::AddTopology),
        ("shell.theme", action, Target::Theme),
        ("shell.language", action, Target::Language),
        ("palette.zoom_in", "Ctrl +", Target::Zoom(1.0)),
        ("palette.zoom_out", "Ctrl −", Target::Zoom(-1.0)),
        ("palette.quit", "Ctrl Q", Target::Quit),
    ];
    let others = others.map(|(key, kind, target)| Entry::new(words.text(key), kind, target));
    entries.extend(others);
    entries.extend(data.lessons.iter().cloned());
    entries
}

/// Topologies, servers and screens.
fn places(data: &ShellData, frame: &Frame<'_>) -> Vec<Entry> {
    let words = frame.words;
    let in_tree = data.tree.iter().map(|row| match row {
        TreeRow::Topology(t) => {
            let kind = words.text("palette.topology");
            Entry::new(&t.name, kind, Target::Topology(t.id.clone()))
        }
        TreeRow::Server(s) => {
            let kind = format!("{} · {}", words.text("palette.server"), s.right);
            let target = Target::Server(s.topology.clone(), s.server.clone());
            Entry::new(&s.name, kind, target)
        }
    });
    let screens = Screen::ALL.into_iter().enumerate().map(|(n, screen)| {
        // as many as there are digits
        let digit = match n {
            0..10 => ((n + 1) % 10).to_string(),
            _ => String::new(),
        };
        let name = words.text(screen_key(screen));
        Entry::new(name, digit, Target::Screen(screen))
    });
    in_tree.chain(screens).collect()
}

/// Those that have every typed word in their name or kind; those that begin with the first come first.
pub fn matching(entries: &[Entry], text: &str) -> Vec<Entry> {
    let typed = text.trim().to_lowercase();
    let has = |entry: &&Entry| {
        let whole = format!("{} {}", entry.text, entry.kind).to_lowercase();
        let whole = whole.replace('\u{a0}', " ");
        typed.split_whitespace().all(|word| whole.contains(word))
    };
    let mut found: Vec<Entry> = entries.iter().filter(has).cloned().collect();
    found.sort_by_key(|entry| !entry.text.to_lowercase().starts_with(&typed));
    found.truncate(SHOWN);
    found
}

fn carried_out(target: Target, frame: &Frame<'_>, dark: bool) -> Vec<Action> {
    match target {
        Target::Screen(screen) => vec![Action::Show(screen)],
        Target::Topology(topology) => vec![Action::Open(topology)],
        Target::Server(topology, server) => {
            let select = Action::Select { topology, server };
            vec![select, Action::Show(Screen::Server)]
        }
        Target::Pause(pause) => vec![Action::Pause(pause)],
        Target::PollNow(topology) => vec![Action::PollNow(topology)],
        Target::AddTopology => vec![Action::AddTopology],
        Target::Lab(command) => vec![command.action()],
        Target::Theme => vec![Action::Theme(other_theme(dark))],
        Target::Language => vec![Action::Language(other_language(frame.words.language()))],
        Target::Zoom(direction) => vec![Action::Zoom(super::keys::step(
            frame.preferences.zoom,
            direction,
        ))],
        Target::Quit => vec![Action::Quit],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_typed_word_must_be_there_and_beginnings_come_first() {
        let entry = |text: &str, kind: &str| Entry::new(text, kind, Target::Quit);
        let all = [
            entry("old db", "server"),
            entry("db-r1", "server"),
            entry("Lag", "3"),
        ];
        let found = |text: &str| -> Vec<String> {
            matching(&all, text).into_iter().map(|e| e.text).collect()
        };
        assert_eq!(found("DB"), ["db-r1", "old db"]);
        assert_eq!(found("server r1"), ["db-r1"]);
        assert_eq!(found("").len(), 3);
        assert!(found("zzz").is_empty());
    }
}
