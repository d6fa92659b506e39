//! The first screen: how late every replica of a topology is, over time and now, and what is wrong.

mod card;
mod card_data;
mod data;
mod findings;
mod source;

pub use card_data::{Headline, LampWord, MethodRow, ReplicaCard};
pub use data::OverviewData;
pub use findings::FindingRow;
pub use source::ServerCard;

use std::collections::BTreeSet;

use eframe::egui::{Align, Layout, ScrollArea, Ui};

use super::action::{Action, Screen};
use super::lesson::pointer;
use super::plot::{PlotState, lag_plot_ui, time_choice_ui};
use super::profiles::found_ui;
use super::theme::{self, UNIT};
use super::widgets::{Card, empty_ui, quiet_button_ui};
use crate::model::dialect::Dialect;
use crate::model::lab::is_lab_topology;
use crate::ui::Frame;

/// What the person is doing on this screen.
#[derive(Debug, Default)]
pub struct OverviewState {
    pub plot: PlotState,
    /// Findings whose evidence is unfolded, by code and subject.
    pub unfolded: BTreeSet<String>,
    pub all_findings: bool,
    /// Addresses of found servers the person does not want offered again.
    pub dismissed: Vec<String>,
}

/// Cards are at least so wide; what is left over is shared.
const CARD_WIDTH: f32 = 74.0 * UNIT;
/// The title of the plot and its choices need so much beside each other.
const ONE_LINE: f32 = 140.0 * UNIT;

pub fn overview_ui(
    ui: &mut Ui,
    data: &OverviewData,
    state: &mut OverviewState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    if let OverviewData::Empty {
        title,
        text,
        action,
    } = data
    {
        if empty_ui(
            ui,
            words.text(title),
            &words.say(text),
            action.map(|a| words.text(a)),
        ) {
            actions.push(match frame.topology {
                Some(topology) if !frame.profiles.is_empty() => Action::Open(topology.clone()),
                _ => Action::AddTopology,
            });
        }
        return;
    }
    let OverviewData::Watched(topology) = data else {
        return;
    };
    let visible = ui.available_height();
    ScrollArea::vertical()
        .id_salt("overview")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            if !topology.plot.lines.is_empty() {
                plot_part_ui(ui, topology, state, frame, actions, visible);
            }
            found_ui(ui, &topology.found, &mut state.dismissed, frame, actions);
            findings::findings_ui(ui, &topology.findings, state, frame, actions);
            cards_ui(ui, topology, frame, actions);
            ui.add_space(UNIT);
        });
}

fn plot_part_ui(
    ui: &mut Ui,
    topology: &data::Topology,
    state: &mut OverviewState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
    visible: f32,
) {
    let title = theme::title(frame.words.text("overview.lag_by_replica"));
    let (words, plot) = (frame.words, &mut state.plot);
    if ui.available_width() > ONE_LINE {
        ui.horizontal(|ui| {
            ui.label(title);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                time_choice_ui(ui, words, plot, frame.now);
                to_lab_ui(ui, frame, actions);
            });
        });
    } else {
        ui.horizontal(|ui| {
            ui.label(title);
            to_lab_ui(ui, frame, actions);
        });
        ui.horizontal_wrapped(|ui| time_choice_ui(ui, words, plot, frame.now));
    }
    let lanes = topology.plot.lanes.len() as f32 * 4.0 * UNIT;
    let height = (visible * 0.32).clamp(40.0 * UNIT, 110.0 * UNIT) + lanes;
    let shown = Card::new().show(ui, |ui| {
        lag_plot_ui(ui, &topology.plot, &mut state.plot, frame, height);
    });
    pointer::mark(ui, "overview_plot", shown.response.rect);
}

/// On the lab's own picture, the way to what can be done there.
fn to_lab_ui(ui: &mut Ui, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let is_lab = frame.topology.is_some_and(is_lab_topology);
    if is_lab && quiet_button_ui(ui, frame.words.text("lab_screen.to_lab")).clicked() {
        actions.push(Action::Show(Screen::Lab));
    }
}

/// As many beside each other as find room; all cards of a row are equally high.
fn cards_ui(ui: &mut Ui, topology: &data::Topology, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let gap = 3.0 * UNIT;
    let width = ui.available_width();
    let count = topology.replicas.len() + topology.others.len();
    let fit = ((width + gap) / (CARD_WIDTH + gap)).floor().max(1.0) as usize;
    let per_row = fit.min(count.max(1)).min(5);
    let mut draw: Vec<Cell<'_>> = Vec::new();
    for replica in &topology.replicas {
        draw.push(Box::new(move |ui, min, actions| {
            card::replica_card_ui(ui, replica, min, frame, actions)
        }));
    }
    for server in &topology.others {
        draw.push(Box::new(move |ui, min, actions| {
            source::server_card_ui(ui, server, min, frame, actions)
        }));
    }
    let mut draw = draw.into_iter().peekable();
    let mut row = 0;
    while draw.peek().is_some() {
        let cells: Vec<_> = draw.by_ref().take(per_row).collect();
        row_ui(ui, row, per_row, gap, cells, actions);
        row += 1;
    }
}

type Cell<'a> = Box<dyn FnOnce(&mut Ui, f32, &mut Vec<Action>) -> f32 + 'a>;

/// The highest card of the last frame tells how high all are in this one.
fn row_ui(
    ui: &mut Ui,
    row: usize,
    per_row: usize,
    gap: f32,
    cells: Vec<Cell<'_>>,
    actions: &mut Vec<Action>,
) {
    let id = ui.scope_id().with(("row height", row));
    let last: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    let mut highest: f32 = 0.0;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        ui.columns(per_row, |columns| {
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.spacing_mut().item_spacing.x = 2.0 * UNIT;
                // columns justify their text; sentences are not to be stretched
                let layout = Layout::top_down(Align::LEFT);
                let shown = column.with_layout(layout, |ui| cell(ui, last, actions));
                highest = highest.max(shown.inner);
            }
        });
    });
    if (highest - last).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, highest));
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_millis(1));
    }
}

/// "12 ms · ± 0.4 ms · GTID marks · 0.2 s ago", or why it is unknown: for hover texts elsewhere.
pub fn lag_line(frame: &Frame<'_>, lag: &crate::model::lag::LagView, dialect: Dialect) -> String {
    let how = card_data::how(frame, lag, dialect);
    match lag.headline.value() {
        Some(value) => format!("{} · {how}", frame.words.span(value)),
        None => how,
    }
}
