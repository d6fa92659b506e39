//! A running lab: where its servers are and who may log in, and the traffic it carries.

use eframe::egui::{Align, Button, Grid, Label, Layout, RichText, ScrollArea, Slider, Ui, vec2};

use super::data::{Running, ServerLine};
use super::{LabState, elsewhere, faults};
use crate::model::lab::{LabOrder, Traffic};
use crate::model::phrase::phrase;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::lesson::pointer;
use crate::ui::profiles::{named, question_modal};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{
    Card, Sign, answers_enter, copy_button_ui, notice_ui, segments_ui, sign_ui, sign_word_ui,
};

/// Narrower, and everything stands under each other.
const TWO_COLUMNS: f32 = 215.0 * UNIT;

pub fn running_ui(
    ui: &mut Ui,
    running: &Running,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    head_ui(ui, running, state, frame, actions);
    if let Some(why) = &running.refused {
        notice_ui(ui, Sign::Critical, why, None);
    }
    let servers = |ui: &mut Ui| {
        pointer::around(ui, "lab_topology", |ui| servers_ui(ui, running, frame));
    };
    let traffic = |ui: &mut Ui, state: &mut LabState, actions: &mut Vec<Action>| {
        pointer::around(ui, "lab_traffic", |ui| {
            traffic_ui(ui, running, state, frame, actions);
        });
    };
    let faults = |ui: &mut Ui, state: &mut LabState, actions: &mut Vec<Action>| {
        pointer::around(ui, "lab_faults", |ui| {
            faults::faults_ui(ui, running, state, frame, actions, TWO_COLUMNS);
        });
    };
    if ui.available_width() < TWO_COLUMNS {
        // what is used again and again is not to be scrolled for; the tree shows the servers
        faults(ui, state, actions);
        Card::new().show(ui, servers);
        Card::new().show(ui, |ui| traffic(ui, state, actions));
    } else {
        pair_ui(ui, servers, |ui| traffic(ui, state, actions));
        faults(ui, state, actions);
    }
    stop_question_ui(ui, running, state, frame, actions);
}

/// Side by side, both as high as the higher one was in the last frame.
fn pair_ui(ui: &mut Ui, left: impl FnOnce(&mut Ui), right: impl FnOnce(&mut Ui)) {
    let id = ui.scope_id().with("lab pair");
    let last: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    let gap = 3.0 * UNIT;
    let whole = ui.available_width() - gap;
    let mut highest: f32 = 0.0;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let mut column = |ui: &mut Ui, width: f32, content: &mut dyn FnMut(&mut Ui)| {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.x = 2.0 * UNIT;
                ui.set_width(width);
                Card::new().min_height(last).show(ui, |ui| {
                    let top = ui.cursor().min.y;
                    content(ui);
                    // the card's margins, above and below
                    highest = highest.max(ui.cursor().min.y - top + 7.0 * UNIT);
                });
            });
        };
        let (mut left, mut right) = (Some(left), Some(right));
        column(ui, whole * 0.60, &mut |ui| {
            if let Some(left) = left.take() {
                left(ui);
            }
        });
        ui.add_space(gap);
        column(ui, whole * 0.40, &mut |ui| {
            if let Some(right) = right.take() {
                right(ui);
            }
        });
    });
    if (highest - last).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, highest));
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_millis(1));
    }
}

/// Room for how long it has been running.
const AGE: f32 = 36.0 * UNIT;

fn head_ui(
    ui: &mut Ui,
    running: &Running,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let head = |ui: &mut Ui| {
        sign_ui(ui, words, Sign::Ok);
        let headline = Label::new(theme::strong(running.headline.as_str()));
        let headline = ui.add(headline.truncate());
        if ui.available_width() > AGE {
            ui.label(theme::note(ui, running.age.as_str()));
        } else {
            let text = format!("{}\n{}", running.headline, running.age);
            headline.on_hover_text(text);
        }
    };
    head_and_tail_ui(ui, head, |ui| {
        elsewhere::button_ui(ui, &running.plan, &mut state.elsewhere, frame, actions);
        if let Some(topology) = &running.topology
            && ui.button(words.text("lab_screen.show")).clicked()
        {
            actions.push(Action::Open(topology.clone()));
            actions.push(Action::Show(Screen::Overview));
        }
        let text = RichText::new(words.text("lab_screen.stop"));
        let text = text.color(theme::palette(ui).critical);
        if ui.add(Button::new(text)).clicked() {
            state.asks_to_stop = true;
        }
    });
}

/// The tail stands at the right edge, and yet Tab goes through it from left to right: a layout from right to left would
/// reach its last button first. How wide it is was seen in the last frame.
fn head_and_tail_ui(ui: &mut Ui, head: impl FnOnce(&mut Ui), tail: impl FnOnce(&mut Ui)) {
    let id = ui.scope_id().with("tail");
    let last: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    let gap = ui.spacing().item_spacing.x;
    let mut width = 0.0;
    ui.horizontal(|ui| {
        let room = (ui.available_width() - last - gap).max(0.0);
        let size = vec2(room, ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_width(room);
            head(ui);
        });
        let start = ui.cursor().min.x;
        tail(ui);
        width = ui.min_rect().right() - start;
    });
    if (width - last).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, width));
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_millis(1));
    }
}

/// Whoever presses by mistake loses the class's work.
fn stop_question_ui(
    ui: &mut Ui,
    running: &Running,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    if !state.asks_to_stop {
        return;
    }
    let words = frame.words;
    let mut stop = None;
    let shown = question_modal(ui, "stop the lab").show(ui.ctx(), |ui| {
        ui.set_width((ui.ctx().content_rect().width() - 16.0 * UNIT).min(105.0 * UNIT));
        ui.label(theme::title(words.text("lab_screen.ask_stop.title")));
        let text = words.text("lab_screen.ask_stop.text");
        ui.add(Label::new(theme::dim(ui, text)).wrap());
        if running.active > 0 {
            let text = phrase("lab_screen.ask_stop.active").with("n", running.active);
            sign_word_ui(ui, Sign::Stopped, words.say(&text));
        }
        ui.add_space(2.0 * UNIT);
        ui.horizontal_wrapped(|ui| {
            let text = RichText::new(words.text("lab_screen.stop"));
            let text = text.color(theme::palette(ui).critical);
            if ui.add(Button::new(text)).clicked() {
                stop = Some(true);
            }
            let back = ui.button(words.text("ask.back"));
            answers_enter(ui, &back);
            if back.clicked() {
                stop = Some(false);
            }
        });
    });
    if shown.should_close() {
        stop = stop.or(Some(false));
    }
    let Some(stop) = stop else { return };
    state.asks_to_stop = false;
    if stop {
        actions.push(Action::Lab(LabOrder::Stop));
    }
}

// --- servers and accounts --------------------------------------------------------------------------------------------

/// So many rows are seen at once; a larger lab scrolls.
const SERVERS_SHOWN: f32 = 6.0;

fn servers_ui(ui: &mut Ui, running: &Running, frame: &Frame<'_>) {
    let words = frame.words;
    ui.label(theme::strong(words.text("lab_screen.servers")));
    let row = 7.5 * UNIT;
    ScrollArea::vertical()
        .id_salt("lab servers")
        .max_height(SERVERS_SHOWN * row)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            Grid::new("lab servers")
                .num_columns(5)
                .min_row_height(6.5 * UNIT)
                .spacing([4.0 * UNIT, UNIT])
                .show(ui, |ui| {
                    for server in &running.servers {
                        server_ui(ui, server, frame);
                        ui.end_row();
                    }
                });
        });
    ui.add_space(UNIT);
    accounts_ui(ui, running, frame);
    if let Some(first) = running.servers.first() {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let what = words.text("lab_screen.copy_student_command");
                copy_button_ui(ui, words, what, || first.command.clone());
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let command = Label::new(theme::mono(first.command.as_str()));
                    ui.add(command.truncate().selectable(true));
                });
            });
        });
    }
}

/// The passwords are in the hover texts: a class sees the screen.
fn accounts_ui(ui: &mut Ui, running: &Running, frame: &Frame<'_>) {
    let words = frame.words;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.5 * UNIT;
        ui.label(theme::strong(words.text("lab_screen.accounts")));
        for account in &running.accounts {
            ui.add_space(3.0 * UNIT);
            ui.label(theme::mono(account.user))
                .on_hover_text(format!("{}\n{}", account.note, account.password));
            let what = phrase("lab_screen.copy_password")
                .with("user", account.user)
                .with("note", account.note.as_str());
            copy_button_ui(ui, words, &words.say(&what), || account.password.clone());
        }
    });
}

fn server_ui(ui: &mut Ui, server: &ServerLine, frame: &Frame<'_>) {
    let words = frame.words;
    sign_word_ui(ui, server.sign, theme::strong(server.name.as_str()));
    ui.label(server.state.as_str());
    ui.label(theme::mono(format!("127.0.0.1:{}", server.port)));
    let what = phrase("lab_screen.copy_command").with("server", server.name.as_str());
    copy_button_ui(ui, words, &words.say(&what), || server.command.clone());
    ui.add(Label::new(theme::note(ui, server.role.as_str())).truncate());
}

// --- traffic ---------------------------------------------------------------------------------------------------------

/// Traffic at a press.
#[derive(Clone, Copy, PartialEq)]
enum Preset {
    None,
    Usual,
    Busy,
    Own,
}

fn preset_of(traffic: &Traffic) -> Preset {
    [Preset::None, Preset::Usual, Preset::Busy]
        .into_iter()
        .find(|preset| traffic_of(*preset) == Some(*traffic))
        .unwrap_or(Preset::Own)
}

fn traffic_of(preset: Preset) -> Option<Traffic> {
    let rates = |writes_per_second, reads_per_second| Traffic {
        writes_per_second,
        reads_per_second,
        ..Traffic::default()
    };
    match preset {
        Preset::None => Some(rates(0.0, 0.0)),
        Preset::Usual => Some(Traffic::default()),
        Preset::Busy => Some(rates(100.0, 400.0)),
        Preset::Own => None,
    }
}

fn traffic_ui(
    ui: &mut Ui,
    running: &Running,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let before = state.traffic.unwrap_or(running.traffic);
    let mut traffic = before;
    ui.horizontal(|ui| {
        ui.label(theme::strong(words.text("lab_screen.traffic")));
        ui.add_space(2.0 * UNIT);
        ui.scope(|ui| {
            let mut preset = preset_of(&traffic);
            let choices = [
                (
                    Preset::None,
                    words.text("lab_screen.traffic.none").to_owned(),
                ),
                (
                    Preset::Usual,
                    words.text("lab_screen.traffic.usual").to_owned(),
                ),
                (
                    Preset::Busy,
                    words.text("lab_screen.traffic.busy").to_owned(),
                ),
            ];
            if segments_ui(ui, &mut preset, &choices) {
                traffic = traffic_of(preset).unwrap_or(traffic);
            }
        });
    });
    let mut is_held = false;
    let [writes, reads] = &running.carried;
    let mut slider = |ui: &mut Ui, key, slider: Slider<'_>, note: Option<Note<'_>>| {
        is_held |= slider_ui(ui, frame, key, slider, note);
    };
    let carried = |text: &Option<String>| {
        let hint = words.text("lab_screen.traffic.carried.hint");
        text.clone().map(|text| Note { text, hint })
    };
    let rate = |value, most| {
        Slider::new(value, 0.0..=most)
            .logarithmic(true)
            .smallest_positive(1.0)
    };
    slider(
        ui,
        "lab_screen.traffic.writes",
        rate(&mut traffic.writes_per_second, 500.0).max_decimals(0),
        carried(writes),
    );
    slider(
        ui,
        "lab_screen.traffic.reads",
        rate(&mut traffic.reads_per_second, 2_000.0).max_decimals(0),
        carried(reads),
    );
    let rows = Slider::new(&mut traffic.rows_per_transaction, 1..=1_000).logarithmic(true);
    slider(ui, "lab_screen.traffic.rows", rows, None);
    let hot = Slider::new(&mut traffic.hot_rows, 0..=1_000).logarithmic(true);
    let note = (before.hot_rows == 0).then(|| Note {
        text: words.text("lab_screen.traffic.spread").to_owned(),
        hint: words.text("lab_screen.traffic.spread.hint"),
    });
    slider(ui, "lab_screen.traffic.hot_rows", hot, note);
    if let Some(trouble) = &running.traffic_trouble {
        let text = RichText::new(trouble).size(theme::size::SMALL);
        sign_word_ui(ui, Sign::Warning, text).on_hover_text(trouble);
    }
    if traffic != before {
        actions.push(Action::Lab(LabOrder::Carry(traffic)));
    }
    // what the lab tells lags behind the hand
    state.traffic = (is_held || traffic != running.traffic && traffic != before).then_some(traffic);
}

/// What stands behind a slider's value.
struct Note<'a> {
    text: String,
    hint: &'a str,
}

/// Room for a slider's name, and for its value with the note behind it.
const NAME: f32 = 34.0 * UNIT;
const VALUE: f32 = 36.0 * UNIT;

/// True while it is being dragged.
fn slider_ui(
    ui: &mut Ui,
    frame: &Frame<'_>,
    key: &'static str,
    slider: Slider<'_>,
    note: Option<Note<'_>>,
) -> bool {
    let name = frame.words.text(key);
    ui.horizontal(|ui| {
        let size = eframe::egui::vec2(NAME, 6.5 * UNIT);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_width(NAME);
            ui.add(Label::new(theme::dim(ui, name)).truncate());
        });
        let room = ui.available_width() - VALUE;
        ui.spacing_mut().slider_width = room.clamp(20.0 * UNIT, 60.0 * UNIT);
        // on a card the rail would not be seen
        ui.visuals_mut().widgets.inactive.bg_fill = theme::palette(ui).line;
        ui.visuals_mut().selection.bg_fill = theme::palette(ui).accent;
        let response = named(ui.add(slider.trailing_fill(true)), name);
        if let Some(note) = note {
            let text = theme::note(ui, note.text);
            ui.add(Label::new(text).truncate()).on_hover_text(note.hint);
        }
        response.dragged()
    })
    .inner
}
