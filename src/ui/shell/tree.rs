//! The tree of topologies and their servers, left in the window.

use std::collections::BTreeSet;

use eframe::egui::accesskit::Role;
use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{
    Align, Color32, EventFilter, FontId, Id, Key, Label, Layout, Margin, Modifiers, Rect, Response,
    ScrollArea, Sense, Stroke, StrokeKind, TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use super::icons::{Icon, icon_button_ui};
use super::{ServerRow, ShellData, TopologyRow, TreeRow};
use crate::model::profile::TopologyId;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::fonts;
use crate::ui::theme::{self, UNIT, palette, size};
use crate::ui::widgets::{
    Sign, badge_width, environment_badge_ui, paint_sign, quiet_button_ui, sign_ui,
};

const ROW: f32 = 7.0 * UNIT;
const INDENT: f32 = 4.5 * UNIT;
const EDGE: f32 = 3.0 * UNIT;

/// What the person does in the tree.
#[derive(Debug, Default)]
pub struct TreeState {
    pub search: String,
    /// Watched topologies whose servers are not shown.
    pub folded: BTreeSet<TopologyId>,
    /// Open or not by the person's own choice.
    wanted: Option<bool>,
    /// What had the keyboard in the last frame, and whether an arrow key was pressed in it: egui moves the focus at the
    /// end of a frame and tells nobody.
    last_focus: Option<Id>,
    last_arrow: bool,
}

impl TreeState {
    /// Whether the tree is shown: as the person said, else if there is room.
    pub fn is_open(&self, room: bool) -> bool {
        self.wanted.unwrap_or(room)
    }

    /// True in the frame in which an arrow key has brought the focus elsewhere.
    fn moved_by_arrow(&mut self, ui: &Ui) -> bool {
        let focus = ui.memory(|memory| memory.focused());
        let arrow = ui.input(|i| i.key_pressed(Key::ArrowUp) || i.key_pressed(Key::ArrowDown));
        let moved = self.last_arrow && focus != self.last_focus;
        self.last_focus = focus;
        self.last_arrow = arrow;
        moved
    }

    pub fn toggle(&mut self, room: bool) {
        self.wanted = Some(!self.is_open(room));
    }
}

pub fn tree_ui(
    ui: &mut Ui,
    data: &ShellData,
    state: &mut TreeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    head_ui(ui, state, frame, actions);
    let shown = visible_rows(&data.tree, state);
    let by_arrow = state.moved_by_arrow(ui);
    ScrollArea::vertical()
        .id_salt("tree")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            if data.tree.is_empty() {
                nothing_ui(ui, frame.words.text("shell.tree_empty"));
            } else if shown.is_empty() {
                nothing_ui(ui, frame.words.text("shell.tree_none_found"));
            }
            for row in shown {
                match row {
                    TreeRow::Topology(row) => {
                        topology_row_ui(ui, row, state, by_arrow, frame, actions)
                    }
                    TreeRow::Server(row) => server_row_ui(ui, row, by_arrow, frame, actions),
                }
            }
        });
}

fn head_ui(ui: &mut Ui, state: &mut TreeState, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    ui.horizontal(|ui| {
        ui.add_space(EDGE);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(UNIT);
            let (name, hint) = (words.text("shell.add"), words.text("shell.add_hint"));
            if icon_button_ui(ui, Icon::Plus, name, hint).clicked() {
                actions.push(Action::AddTopology);
            }
            let search = TextEdit::singleline(&mut state.search)
                .hint_text(words.text("shell.search"))
                .desired_width(ui.available_width());
            let response = ui.add(search);
            let name = words.text("shell.search");
            response.widget_info(|| WidgetInfo::labeled(Role::SearchInput, true, name));
            if response.has_focus() && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Escape))
            {
                state.search.clear();
            }
        });
    });
    ui.add_space(UNIT);
}

fn nothing_ui(ui: &mut Ui, text: &str) {
    ui.add_space(2.0 * UNIT);
    let frame = eframe::egui::Frame::new().inner_margin(Margin::symmetric(EDGE as i8, 0));
    frame.show(ui, |ui| ui.add(Label::new(theme::note(ui, text)).wrap()));
}

/// Rows that the search and the folding leave. A server that is found keeps its topology above it, and a topology that
/// is found keeps its servers.
pub fn visible_rows<'a>(rows: &'a [TreeRow], state: &TreeState) -> Vec<&'a TreeRow> {
    let wanted = state.search.trim().to_lowercase();
    let found = |name: &str| name.to_lowercase().contains(&wanted);
    let mut shown = Vec::new();
    let mut above: Option<&TreeRow> = None;
    let mut topology_found = false;
    for row in rows {
        match row {
            TreeRow::Topology(topology) => {
                topology_found = found(&topology.name);
                above = Some(row);
                if topology_found {
                    shown.extend(above.take());
                }
            }
            TreeRow::Server(server) => {
                let folded = wanted.is_empty() && state.folded.contains(&server.topology);
                if !folded && (topology_found || found(&server.name)) {
                    shown.extend(above.take());
                    shown.push(row);
                }
            }
        }
    }
    shown
}

// --- rows ------------------------------------------------------------------------------------------------------------

fn topology_row_ui(
    ui: &mut Ui,
    row: &TopologyRow,
    state: &mut TreeState,
    by_arrow: bool,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.add_space(UNIT);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = UNIT;
        ui.set_height(ROW);
        fold_ui(ui, row, state, frame);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(EDGE - UNIT);
            if !row.watched {
                if quiet_button_ui(ui, words.text("shell.open"))
                    .on_hover_text(&row.note)
                    .clicked()
                {
                    actions.push(Action::Open(row.id.clone()));
                }
            } else if row.shown {
                close_ui(ui, row, frame, actions);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if state.folded.contains(&row.id) {
                    // what is folded away still shows how it is
                    sign_ui(ui, words, row.sign);
                }
                let badge = badge_width(ui, words, row.environment) + UNIT;
                let room = (ui.available_width() - badge).max(10.0 * UNIT);
                let response = name_ui(ui, row, room);
                if response.clicked() || moved_here(&response, by_arrow) && row.watched {
                    actions.push(Action::Open(row.id.clone()));
                }
                fold_by_key(ui, &response, row, state);
                environment_badge_ui(ui, words, row.environment);
            });
        });
    });
}

fn close_ui(ui: &mut Ui, row: &TopologyRow, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    let text = theme::dim(ui, "×");
    let button = eframe::egui::Button::new(text).frame_when_inactive(false);
    let response = ui.add(button).on_hover_text(words.text("shell.close_hint"));
    let name =
        words.say(&crate::model::phrase::phrase("shell.close").with("name", row.name.as_str()));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if response.clicked() {
        actions.push(Action::Close(row.id.clone()));
    }
}

/// A small triangle, down when the servers are shown.
fn fold_ui(ui: &mut Ui, row: &TopologyRow, state: &mut TreeState, frame: &Frame<'_>) {
    let (rect, response) = ui.allocate_exact_size(vec2(EDGE + UNIT, ROW), Sense::click());
    if !row.watched {
        return;
    }
    let folded = state.folded.contains(&row.id);
    let key = if folded { "shell.unfold" } else { "shell.fold" };
    let name = frame
        .words
        .say(&crate::model::phrase::phrase(key).with("name", row.name.as_str()));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    let color = palette(ui).dim;
    let c = rect.center() + vec2(UNIT * 0.5, 0.0);
    let corners = match folded {
        true => vec![
            c + vec2(-2.5, -4.0),
            c + vec2(3.5, 0.0),
            c + vec2(-2.5, 4.0),
        ],
        false => vec![
            c + vec2(-4.0, -2.5),
            c + vec2(4.0, -2.5),
            c + vec2(0.0, 3.5),
        ],
    };
    ui.painter().add(eframe::egui::Shape::convex_polygon(
        corners,
        color,
        Stroke::NONE,
    ));
    if response.has_focus() {
        ring(ui, rect.shrink(1.0));
    }
    if response.clicked() {
        toggle(state, &row.id);
    }
}

fn toggle(state: &mut TreeState, topology: &TopologyId) {
    if !state.folded.remove(topology) {
        state.folded.insert(topology.clone());
    }
}

fn fold_by_key(ui: &Ui, response: &Response, row: &TopologyRow, state: &mut TreeState) {
    if !response.has_focus() || !row.watched {
        return;
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let (left, right) = ui.input_mut(|input| {
        (
            input.consume_key(Modifiers::NONE, Key::ArrowLeft),
            input.consume_key(Modifiers::NONE, Key::ArrowRight),
        )
    });
    if left {
        state.folded.insert(row.id.clone());
    } else if right {
        state.folded.remove(&row.id);
    }
}

fn name_ui(ui: &mut Ui, row: &TopologyRow, room: f32) -> Response {
    let colors = palette(ui);
    let color = if row.watched { colors.text } else { colors.dim };
    let font = fonts::semibold(size::BODY);
    let galley = cut(ui, &row.name, font, color, room);
    let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x, ROW), Sense::click());
    let (elided, at) = (
        galley.elided,
        pos2(rect.min.x, rect.center().y - galley.size().y / 2.0),
    );
    ui.painter().galley(at, galley, color);
    if response.has_focus() {
        ring(ui, rect.expand(1.0));
    }
    response.widget_info(|| WidgetInfo::selected(Role::TreeItem, true, row.shown, &row.name));
    match elided {
        true => response.on_hover_text(format!("{}\n{}", row.name, row.note)),
        false => response.on_hover_text(&row.note),
    }
}

fn server_row_ui(
    ui: &mut Ui,
    row: &ServerRow,
    by_arrow: bool,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let colors = palette(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    if row.selected {
        ui.painter().rect_filled(rect, 0.0, colors.selected);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 0.0, colors.hovered);
    }
    if response.has_focus() {
        ring(ui, rect.shrink(1.0));
    }
    let left = rect.min.x + EDGE + 1.5 * UNIT + row.depth.min(6) as f32 * INDENT;
    paint_sign(
        ui.painter(),
        pos2(left, rect.center().y),
        5.0,
        row.sign,
        colors,
    );
    let name_left = left + 2.5 * UNIT;
    let right = right_word(ui, row, rect, name_left);
    let room = (right.min.x - name_left - 2.0 * UNIT).max(4.0 * UNIT);
    let galley = cut(
        ui,
        &row.name,
        FontId::proportional(size::BODY),
        colors.text,
        room,
    );
    let at = pos2(name_left, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, colors.text);
    let said = format!(
        "{}, {}, {}",
        row.name,
        row.sign.word(frame.words),
        row.right
    );
    response.widget_info(|| WidgetInfo::selected(Role::TreeItem, true, row.selected, &said));
    if response.clicked() || moved_here(&response, by_arrow) {
        actions.push(Action::Select {
            topology: row.topology.clone(),
            server: row.server.clone(),
        });
    }
    if response.double_clicked() {
        actions.push(Action::Show(Screen::Server));
    }
    response.on_hover_text(&row.hover);
}

/// At the right edge, at most half the row. Shorter where the name would have to be cut.
fn right_word(ui: &Ui, row: &ServerRow, rect: Rect, name_left: f32) -> Rect {
    let colors = palette(ui);
    let width = |text: &str, size| {
        let font = FontId::proportional(size);
        let galley = ui
            .painter()
            .layout_no_wrap(text.to_owned(), font, colors.text);
        galley.size().x
    };
    let name = name_left + width(&row.name, size::BODY) + 2.0 * UNIT;
    let fits = name + width(&row.right, size::SMALL) <= rect.max.x - EDGE;
    let word = match &row.right_short {
        Some(short) if !fits => short,
        _ => &row.right,
    };
    let color = match (row.alarming, row.sign) {
        (true, Sign::Ok) | (false, _) => colors.dim,
        (true, sign) => sign.color(colors),
    };
    let galley = cut(
        ui,
        word,
        FontId::proportional(size::SMALL),
        color,
        rect.width() * 0.55,
    );
    let size = galley.size();
    let at = pos2(rect.max.x - EDGE - size.x, rect.center().y - size.y / 2.0);
    ui.painter().galley(at, galley, color);
    Rect::from_min_size(at, size)
}

fn cut(
    ui: &Ui,
    text: &str,
    font: FontId,
    color: Color32,
    width: f32,
) -> std::sync::Arc<eframe::egui::Galley> {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font, color);
    job.wrap = TextWrapping::truncate_at_width(width);
    ui.painter().layout_job(job)
}

fn ring(ui: &Ui, rect: Rect) {
    let stroke = Stroke::new(1.5, palette(ui).accent);
    ui.painter()
        .rect_stroke(rect, 3.0, stroke, StrokeKind::Inside);
}

/// The arrow keys brought the focus here: choosing follows it.
fn moved_here(response: &Response, by_arrow: bool) -> bool {
    let here = by_arrow && response.has_focus();
    if here {
        response.scroll_to_me(None);
    }
    here
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::{Environment, ServerId};

    fn topology(name: &str) -> TreeRow {
        TreeRow::Topology(TopologyRow {
            id: TopologyId(name.into()),
            name: name.into(),
            environment: Environment::Lab,
            watched: true,
            sign: Sign::Ok,
            shown: false,
            note: String::new(),
        })
    }

    fn server(topology: &str, name: &str) -> TreeRow {
        TreeRow::Server(ServerRow {
            topology: TopologyId(topology.into()),
            server: ServerId(name.into()),
            depth: 0,
            name: name.into(),
            sign: Sign::Ok,
            right: String::new(),
            right_short: None,
            alarming: false,
            selected: false,
            hover: String::new(),
        })
    }

    #[test]
    fn a_search_keeps_what_stands_above_and_below_what_it_finds() {
        let rows = [
            topology("orders"),
            server("orders", "db-r1"),
            server("orders", "db-r2"),
            topology("billing"),
            server("billing", "bill-1"),
        ];
        let names = |search: &str, folded: &[&str]| -> Vec<String> {
            let state = TreeState {
                search: search.into(),
                folded: folded.iter().map(|f| TopologyId((*f).into())).collect(),
                ..TreeState::default()
            };
            visible_rows(&rows, &state)
                .into_iter()
                .map(|row| match row {
                    TreeRow::Topology(t) => t.name.clone(),
                    TreeRow::Server(s) => s.name.clone(),
                })
                .collect()
        };
        assert_eq!(names("", &[]).len(), 5);
        assert_eq!(names(" R2 ", &[]), ["orders", "db-r2"]);
        assert_eq!(names("bill", &[]), ["billing", "bill-1"]);
        assert_eq!(names("", &["orders"]), ["orders", "billing", "bill-1"]);
        assert_eq!(names("r1", &["orders"]), ["orders", "db-r1"]);
        assert!(names("nothing like it", &[]).is_empty());
    }
}
