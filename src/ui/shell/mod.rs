//! The window around the screens: the tree of topologies left, the verdict on top, the strip of screens, the own cost
//! at the bottom, and the keys that work everywhere.

mod bottom;
mod commands;
mod data;
mod icons;
mod keys;
mod palette;
mod top;
mod tree;

pub use data::{Cost, ServerRow, ShellData, TopologyRow, TreeRow};
pub use palette::PaletteState;
pub use tree::TreeState;

use eframe::egui::{CentralPanel, Frame as Area, Margin, Panel, Rect, Stroke, Ui};

use super::action::{Action, Screen};
use super::lesson::pointer;
use super::theme::{UNIT, palette};
use super::widgets::{Tab, Toasts, tabs_ui};
use crate::model::profile::Environment;
use crate::model::time::Moment;
use crate::ui::Frame;

/// What the person is doing around the screens.
#[derive(Debug, Default)]
pub struct ShellState {
    pub screen: Screen,
    /// The picture stands still since then.
    pub paused_since: Option<Moment>,
    pub tree: TreeState,
    /// The search over everything, while it is open.
    pub palette: Option<PaletteState>,
    pub toasts: Toasts,
}

/// Below this width the tree starts folded.
const NARROW: f32 = 760.0;

/// Draws everything but the screen itself, which `screen_ui` draws into the middle.
pub fn shell_ui(
    ui: &mut Ui,
    data: &ShellData,
    state: &mut ShellState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
    screen_ui: impl FnOnce(&mut Ui, &mut Vec<Action>),
) {
    keys::keys_ui(ui, data, state, frame, actions);
    let width = ui.available_width();
    let top = Panel::top("top")
        .resizable(false)
        .frame(bar(ui))
        .show(ui, |ui| top::top_ui(ui, data, state, frame, actions));
    pointer::mark(ui, "verdict", top.response.rect);
    if data.environment == Some(Environment::Production) {
        production_edge_ui(ui, top.response.rect);
    }
    Panel::bottom("bottom")
        .resizable(false)
        .frame(bar(ui))
        .show(ui, |ui| {
            bottom::bottom_ui(ui, data, frame, actions);
        });
    if state.tree.is_open(width > NARROW) {
        let tree = Panel::left("tree")
            .default_size((width * 0.2).clamp(46.0 * UNIT, 60.0 * UNIT))
            .size_range(40.0 * UNIT..=(width * 0.45).max(41.0 * UNIT))
            .frame(bar(ui).inner_margin(Margin::symmetric(0, (2.0 * UNIT) as i8)))
            .show(ui, |ui| {
                tree::tree_ui(ui, data, &mut state.tree, frame, actions)
            });
        pointer::mark(ui, "tree", tree.response.rect);
    }
    let inside = Area::new()
        .fill(palette(ui).background)
        .inner_margin(Margin::symmetric((4.0 * UNIT) as i8, 0));
    CentralPanel::default().frame(inside).show(ui, |ui| {
        screens_ui(ui, state, frame, actions);
        ui.add_space(2.0 * UNIT);
        screen_ui(ui, actions);
    });
    palette::palette_ui(ui, data, state, frame, actions);
    state.toasts.ui(ui.ctx());
}

/// A red edge along the top of the window: production is seen from across the room.
fn production_edge_ui(ui: &Ui, top: Rect) {
    let edge = top.with_max_y(top.min.y + 3.0);
    ui.painter().rect_filled(edge, 0.0, palette(ui).critical);
}

fn bar(ui: &Ui) -> Area {
    Area::new()
        .fill(palette(ui).panel)
        .inner_margin(Margin::symmetric((3.0 * UNIT) as i8, (1.5 * UNIT) as i8))
}

fn screens_ui(ui: &mut Ui, state: &mut ShellState, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let tabs = Screen::ALL.map(|screen| Tab {
        screen,
        name: frame.words.text(screen_key(screen)),
    });
    let mut screen = state.screen;
    if tabs_ui(ui, &mut screen, &tabs) {
        actions.push(Action::Show(screen));
    }
    let line = Stroke::new(1.0, palette(ui).line);
    let place = ui.max_rect().expand2(eframe::egui::vec2(4.0 * UNIT, 0.0));
    ui.painter()
        .with_clip_rect(place)
        .hline(place.x_range(), ui.cursor().min.y - 0.5 * UNIT, line);
}

/// What a screen is called.
pub fn screen_key(screen: Screen) -> &'static str {
    match screen {
        Screen::Overview => "screen.overview",
        Screen::Server => "screen.server",
        Screen::Lag => "screen.lag",
        Screen::Transactions => "screen.transactions",
        Screen::SemiSync => "screen.semi_sync",
        Screen::Probe => "screen.probe",
        Screen::Routing => "screen.routing",
        Screen::Lab => "screen.lab",
        Screen::Events => "screen.events",
        Screen::Profiles => "screen.profiles",
        Screen::Settings => "screen.settings",
    }
}
