//! What to write, where, how often; and the buttons that start and stop it.

use eframe::egui::accesskit::Role;
use eframe::egui::{ComboBox, Id, ProgressBar, Ui, WidgetInfo};

use super::ProbeState;
use super::data::{Scene, wait_limits};
use crate::model::phrase::phrase;
use crate::model::probe::{Awaited, ProbeFlavour, Reader};
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{copy_button_ui, primary_button_ui, quiet_button_ui};
use crate::words::Catalogue;

const RUNS: [u32; 5] = [50, 200, 1_000, 5_000, 20_000];
const RATES: [u32; 5] = [10, 20, 50, 100, 200];
const SWEEPS: [i64; 5] = [10, 50, 200, 1_000, 5_000];

pub fn controls_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &mut ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.y = 1.5 * UNIT;
        buttons_ui(ui, scene, state, frame, actions);
        disable_while_busy(ui, scene);
        what_ui(ui, scene, state, frame.words);
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.y = 1.5 * UNIT;
        disable_while_busy(ui, scene);
        how_often_ui(ui, state, frame.words);
        aside_ui(ui, scene, state, frame.words);
    });
    if let Some(busy) = &scene.busy {
        ui.horizontal(|ui| {
            if busy.is_here {
                let width = (ui.available_width() * 0.4).min(80.0 * UNIT);
                ui.add(
                    ProgressBar::new(busy.share)
                        .desired_width(width)
                        .desired_height(6.0)
                        .fill(theme::palette(ui).accent),
                );
            }
            ui.label(theme::dim(ui, &busy.text));
        });
    }
}

fn disable_while_busy(ui: &mut Ui, scene: &Scene) {
    if scene.busy.is_some() {
        ui.disable();
    }
}

fn buttons_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    if let Some(busy) = scene.busy.as_ref().filter(|busy| busy.is_here) {
        ui.add_enabled_ui(!busy.is_stopping, |ui| {
            if primary_button_ui(ui, words.text("probe_screen.stop")).clicked() {
                actions.push(Action::StopProbe);
            }
        });
        return;
    }
    let may = scene.may_write && scene.busy.is_none();
    ui.add_enabled_ui(may, |ui| {
        let why_not = words.text("probe_screen.enable_first");
        let once = primary_button_ui(ui, words.text("probe_screen.once"));
        let repeat = phrase("probe_screen.repeat").with("n", words.count(u64::from(state.runs)));
        let many = ui.button(words.say(&repeat));
        let start = |is_repeated| Action::StartProbe {
            topology: scene.topology.clone(),
            plan: state.plan(is_repeated),
            replica: state.replica.clone(),
        };
        if once.clicked() {
            actions.push(start(false));
        }
        if many.clicked() {
            actions.push(start(true));
        }
        if !scene.may_write {
            once.on_disabled_hover_text(why_not);
            many.on_disabled_hover_text(why_not);
        }
    });
}

fn what_ui(ui: &mut Ui, scene: &Scene, state: &mut ProbeState, words: &Catalogue) {
    let text = |key: &'static str| words.text(key).to_owned();
    pick_ui(
        ui,
        words.text("probe_screen.flavour"),
        &mut state.flavour,
        &[
            (ProbeFlavour::Update, text("probe_screen.flavour.update")),
            (ProbeFlavour::Insert, text("probe_screen.flavour.insert")),
        ],
    );
    let mut servers = vec![(None, text("probe_screen.all"))];
    servers.extend(
        scene
            .replicas
            .iter()
            .map(|(id, name)| (Some(id.clone()), name.clone())),
    );
    pick_ui(
        ui,
        words.text("probe_screen.replica"),
        &mut state.replica,
        &servers,
    );
    let limits: Vec<(Span, String)> = wait_limits()
        .into_iter()
        .map(|limit| (limit, words.span(limit)))
        .collect();
    pick_ui(
        ui,
        words.text("probe_screen.wait_limit"),
        &mut state.wait_limit,
        &limits,
    );
    pick_ui(
        ui,
        words.text("probe_screen.awaited"),
        &mut state.awaited,
        &[
            (Awaited::OwnGtid, text("probe_screen.awaited.own")),
            (Awaited::WholeSet, text("probe_screen.awaited.whole")),
        ],
    );
    pick_ui(
        ui,
        words.text("probe_screen.reader"),
        &mut state.reader,
        &[
            (Reader::Writer, text("probe_screen.reader.writer")),
            (Reader::SomebodyElse, text("probe_screen.reader.other")),
        ],
    );
}

fn how_often_ui(ui: &mut Ui, state: &mut ProbeState, words: &Catalogue) {
    ui.label(theme::dim(ui, words.text("probe_screen.repeated")));
    let runs = RUNS.map(|n| (n, format!("{}×", words.count(u64::from(n)))));
    pick_ui(ui, words.text("probe_screen.runs"), &mut state.runs, &runs);
    let rates = RATES.map(|n| (n, words.rate(f64::from(n))));
    pick_ui(ui, words.text("probe_screen.rate"), &mut state.rate, &rates);
    let mut sweeps = vec![(None, words.text("probe_screen.sweep.auto").to_owned())];
    for millis in SWEEPS {
        let end = Span::from_millis(millis);
        let text = phrase("probe_screen.sweep.up_to").with("end", end);
        sweeps.push((Some(end), words.say(&text)));
    }
    pick_ui(
        ui,
        words.text("probe_screen.sweep"),
        &mut state.sweep,
        &sweeps,
    );
}

/// SQL and copy.
fn aside_ui(ui: &mut Ui, scene: &Scene, state: &mut ProbeState, words: &Catalogue) {
    let Some(result) = &scene.result else { return };
    if scene.may_write {
        let key = match state.sql_is_open {
            true => "probe_screen.hide_sql",
            false => "probe_screen.show_sql",
        };
        if quiet_button_ui(ui, words.text(key)).clicked() {
            state.sql_is_open = !state.sql_is_open;
        }
    }
    if !result.copied.is_empty() {
        let what = words.text("probe_screen.copy_result");
        copy_button_ui(ui, words, what, || result.copied.clone());
    }
}

/// A choice that says what it is about: "wait up to 1 s". True when another one was chosen.
pub fn pick_ui<T: PartialEq + Clone>(
    ui: &mut Ui,
    name: &str,
    chosen: &mut T,
    choices: &[(T, String)],
) -> bool {
    let before = chosen.clone();
    let now = choices.iter().find(|(choice, _)| choice == chosen);
    let value = now.map_or("—", |(_, text)| text.as_str());
    let shown = ComboBox::from_id_salt(Id::unique(name))
        .width(0.0)
        .selected_text(format!("{name} {value}"))
        .show_ui(ui, |ui| {
            for (choice, text) in choices {
                ui.selectable_value(chosen, choice.clone(), text);
            }
        });
    let label = format!("{name} {value}");
    shown
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
    before != *chosen
}
