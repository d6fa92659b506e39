//! The Server screen: everything known of one server, and the statement behind each part of it.

mod appliers;
mod around;
mod channels;
mod gtids;
mod identity;
mod load;
mod raw;
pub(super) mod scene;
mod settings;
pub mod sql;

use eframe::egui::{Align, Checkbox, Label, Layout, ScrollArea, TextEdit, Ui};

use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::panels::{
    Absence, Panel, PanelsState, Staleness, absence_ui, columns_ui, copy_ui, rows_ui,
    server_on_show, stale_ui,
};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, segments_ui};

pub(super) use appliers::{short_gtid, time_in_hand};
pub(super) use channels::channel_title;
pub(super) use identity::clock_fact;
pub use raw::{RawGroup, RawRow};
use scene::Scene;

/// What the screen shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerData {
    Nothing(Absence),
    Server(Box<ServerView>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ServerView {
    pub name: String,
    pub stale: Option<Staleness>,
    /// Replication on the left, the server itself on the right.
    pub left: Vec<Panel>,
    pub right: Vec<Panel>,
    pub raw: Vec<RawGroup>,
}

/// What the person is doing here.
#[derive(Clone, Debug, Default)]
pub struct ServerState {
    pub panels: PanelsState,
    pub filter: String,
    pub only_changed: bool,
    pub raw_group: usize,
}

impl ServerData {
    pub fn new(frame: &Frame<'_>) -> Self {
        let Some(server) = server_on_show(frame) else {
            return ServerData::Nothing(Absence::NoServer);
        };
        let Some(scene) = Scene::of(frame, server) else {
            return ServerData::Nothing(Absence::of(frame, server));
        };
        ServerData::Server(Box::new(ServerView::of(&scene)))
    }
}

impl ServerView {
    fn of(scene: &Scene<'_>) -> Self {
        let mut left = channels::panels(scene);
        left.push(gtids::panel(scene));
        let mut right = vec![
            identity::panel(scene),
            load::panel(scene),
            settings::panel(scene),
        ];
        let around = [around::binary_logs(scene), around::found(scene)];
        // A replica has its appliers on the left; a source is mostly its logs and its replicas
        if scene.sample.channels().is_empty() {
            left.extend(around);
        } else {
            left.push(appliers::panel(scene));
            right.extend(around);
        }
        left.push(appliers::parallel_panel(scene));
        left.push(around::heartbeat(scene));
        ServerView {
            name: scene.server.registration.name.clone(),
            stale: Staleness::of(scene.frame, scene.server),
            left,
            right,
            raw: raw::groups(scene),
        }
    }

    pub fn panel(&self, id: &str) -> Option<&Panel> {
        self.left
            .iter()
            .chain(&self.right)
            .find(|panel| panel.id == id)
    }
}

pub fn server_ui(
    ui: &mut Ui,
    data: &ServerData,
    state: &mut ServerState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let view = match data {
        ServerData::Nothing(absence) => return absence_ui(ui, absence, frame, actions),
        ServerData::Server(view) => view,
    };
    ScrollArea::vertical().id_salt("server").show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
        if let Some(stale) = &view.stale {
            stale_ui(ui, stale, frame, actions);
        }
        columns_ui(
            ui,
            [&view.left, &view.right],
            &mut state.panels,
            frame,
            actions,
        );
        raw_ui(ui, view, state, frame);
        ui.add_space(2.0 * UNIT);
    });
}

fn raw_ui(ui: &mut Ui, view: &ServerView, state: &mut ServerState, frame: &Frame<'_>) {
    let words = frame.words;
    Card::new().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.5 * UNIT;
        ui.add(Label::new(theme::strong(words.text("server.raw.title"))));
        if view.raw.is_empty() {
            ui.label(theme::dim(ui, words.text("server.raw.none")));
            return;
        }
        state.raw_group = state.raw_group.min(view.raw.len() - 1);
        let choices: Vec<(usize, String)> = view
            .raw
            .iter()
            .enumerate()
            .map(|(n, group)| (n, group.title.clone()))
            .collect();
        ui.horizontal_wrapped(|ui| {
            segments_ui(ui, &mut state.raw_group, &choices);
        });
        let group = &view.raw[state.raw_group];
        raw_controls_ui(ui, group, state, frame);
        let rows = group.shown(&state.filter, state.only_changed);
        if rows.is_empty() {
            ui.label(theme::dim(ui, words.text("server.raw.no_match")));
            return;
        }
        let titles =
            ["server.raw.name", "server.raw.value", "server.raw.before"].map(|key| words.text(key));
        rows_ui(ui, words, &raw::table(titles, &rows));
    });
}

fn raw_controls_ui(ui: &mut Ui, group: &RawGroup, state: &mut ServerState, frame: &Frame<'_>) {
    let words = frame.words;
    ui.horizontal(|ui| {
        let label = ui.label(theme::dim(ui, words.text("server.raw.filter")));
        ui.add(TextEdit::singleline(&mut state.filter).desired_width(45.0 * UNIT))
            .labelled_by(label.id);
        let changed = words
            .text("server.raw.only_changed")
            .replace("{n}", &words.count(group.changed() as u64));
        ui.add(Checkbox::new(&mut state.only_changed, changed));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            copy_ui(ui, words, words.text("server.raw.copy"), || group.text());
        });
    });
}
