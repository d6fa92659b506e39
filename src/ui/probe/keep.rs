//! Keeping a result: to hold a later one against it, and as a file.

use eframe::egui::{Label, TextEdit, Ui};

use super::ProbeState;
use super::board::{KeptProbe, ProbeView, ReplicaFigures};
use super::controls::pick_ui;
use super::data::{ResultData, Scene};
use super::figures::{Cell, grid_row_ui};
use crate::model::phrase::phrase;
use crate::ui::Frame;
use crate::ui::action::{Action, FilePurpose};
use crate::ui::export::{self, Wish};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{entered, sign_word_ui};
use crate::words::Catalogue;

/// A kept result beside the latest one.
pub struct KeptData {
    pub name: String,
    /// Server, measure, before, after.
    pub rows: Vec<[String; 4]>,
}

const NONE: &str = "—";

impl KeptData {
    pub fn new(frame: &Frame<'_>, kept: &KeptProbe, now: Option<&ProbeView>) -> Self {
        let words = frame.words;
        let mut rows = Vec::new();
        for (replica, before) in kept.replicas.iter().zip(&kept.figures.replicas) {
            let after = now.and_then(|view| {
                let place = view.replicas.iter().position(|r| r.id == replica.id)?;
                view.figures.replicas.get(place)
            });
            for (key, say) in measures() {
                let of = |figures: Option<&ReplicaFigures>| {
                    figures
                        .and_then(|figures| say(words, figures))
                        .unwrap_or_else(|| NONE.to_owned())
                };
                let name = words.text(key).to_owned();
                // named once, above its measures
                let server = match rows.len() % measures().len() {
                    0 => replica.name.clone(),
                    _ => String::new(),
                };
                rows.push([server, name, of(Some(before)), of(after)]);
            }
        }
        let age = words.ago(frame.now.since(kept.at));
        let runs = kept.figures.runs;
        let name = match kept.name.as_str() {
            "" => words.text("probe_screen.keep.unnamed"),
            name => name,
        };
        let name = phrase("probe_screen.keep.entry")
            .with("name", name)
            .with("runs", runs)
            .with("age", age);
        KeptData {
            name: words.say(&name),
            rows,
        }
    }
}

type Say = fn(&Catalogue, &ReplicaFigures) -> Option<String>;

fn measures() -> [(&'static str, Say); 4] {
    let stale: Say = |words, of| Some(words.percent(of.stale?.value));
    let p50: Say = |words, of| Some(words.span(of.waits?.p50));
    let p99: Say = |words, of| Some(words.span(of.waits?.p99));
    let source: Say = |words, of| Some(words.count(of.read_from_source));
    [
        ("probe_screen.keep.stale", stale),
        ("probe_screen.keep.p50", p50),
        ("probe_screen.keep.p99", p99),
        ("probe_screen.keep.on_source", source),
    ]
}

pub fn keep_ui(
    ui: &mut Ui,
    scene: &Scene,
    result: &ResultData,
    state: &mut ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let idle = !scene.busy.as_ref().is_some_and(|busy| busy.is_here);
    ui.label(theme::strong(words.text("probe_screen.keep.title")));
    if result.is_repeated {
        compare_ui(ui, scene, state, idle, words, actions);
        ui.add_space(UNIT);
    }
    export_ui(ui, scene, state, idle, words, actions);
}

fn compare_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &mut ProbeState,
    idle: bool,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(theme::dim(ui, words.text("probe_screen.keep.name")));
        let field = TextEdit::singleline(&mut state.kept_name)
            .desired_width(40.0 * UNIT)
            .hint_text(words.text("probe_screen.keep.hint"));
        let field = ui.add(field).labelled_by(label.id);
        ui.add_enabled_ui(idle, |ui| {
            let keep = ui.button(words.text("probe_screen.keep.do"));
            if keep.clicked() || idle && entered(ui, &field) {
                state.compared = super::NEWEST;
                actions.push(Action::SaveProbe {
                    topology: scene.topology.clone(),
                    name: std::mem::take(&mut state.kept_name),
                });
            }
        });
    });
    let Some(last) = scene.kept.len().checked_sub(1) else {
        let none = theme::note(ui, words.text("probe_screen.keep.none"));
        ui.add(Label::new(none).wrap());
        return;
    };
    let mut compared = state.compared.min(last);
    let names = scene.kept.iter().map(|kept| kept.name.clone()).enumerate();
    let choices: Vec<(usize, String)> = names.collect();
    let with = words.text("probe_screen.keep.with");
    if pick_ui(ui, with, &mut compared, &choices) {
        state.compared = compared;
    }
    let palette = theme::palette(ui);
    let heading = |key| Cell::new(words.text(key), palette.dim);
    let headings = [
        heading("probe_screen.keep.measure"),
        heading("probe_screen.keep.before"),
        heading("probe_screen.keep.after"),
    ];
    grid_row_ui(
        ui,
        None,
        heading("probe_screen.table.replica"),
        &headings,
        "",
    );
    for [server, measure, before, after] in &scene.kept[compared].rows {
        let cells = [
            Cell::new(measure, palette.dim),
            Cell::new(before, palette.text),
            Cell::new(after, palette.text),
        ];
        grid_row_ui(ui, None, Cell::new(server, palette.text), &cells, "");
    }
}

fn export_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &mut ProbeState,
    idle: bool,
    words: &Catalogue,
    actions: &mut Vec<Action>,
) {
    let purpose = FilePurpose::ProbeResult;
    let wish = export::export_ui(ui, &mut state.export, idle, purpose, words, actions);
    if let Some(Wish {
        format,
        to,
        may_replace,
    }) = wish
    {
        actions.push(Action::ExportProbe {
            topology: scene.topology.clone(),
            format,
            to,
            may_replace,
        });
    }
    if let Some(how) = &scene.exported {
        sign_word_ui(ui, how.sign, how.text.as_str());
    }
}
