//! The Probe screen: one write, and beside each other what a plain replica read, a replica read after a wait and a
//! source read made of it; repeated, how likely a read is stale at a time after the commit.

pub mod board;
mod cards;
pub(super) mod controls;
pub(super) mod curve;
mod data;
pub(super) mod figures;
mod histogram;
mod keep;
pub(super) mod permission;
mod run_data;
pub(super) mod timeline;
pub(super) mod wording;

use eframe::egui::{Align, Label, Layout, ScrollArea, Ui};

use super::Frame;
use super::action::{Action, FilePurpose};
use super::export::ExportState;
use super::lesson::pointer;
use super::profiles::News;
use super::theme::{self, UNIT};
use super::widgets::{Card, Sign, empty_ui, notice_ui, segments_ui, sign_word_ui};
use crate::model::probe::{Awaited, DEFAULT_RATE, ProbeFlavour, ProbePlan, ReadDelay, Reader};
use crate::model::profile::{ServerId, TopologyId};
use crate::model::time::Span;

pub use data::{ProbeData, ResultData, Scene, SqlLine};

/// Which of many runs the cards and the timeline show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    #[default]
    Latest,
    /// The last one whose plain read on the replica on show was stale.
    LastStale,
}

/// Of what was kept, the last.
const NEWEST: usize = usize::MAX;

/// What the person is doing here.
#[derive(Debug)]
pub struct ProbeState {
    flavour: ProbeFlavour,
    awaited: Awaited,
    reader: Reader,
    wait_limit: Span,
    sweep: Option<Span>,
    runs: u32,
    rate: u32,
    /// None: all.
    replica: Option<ServerId>,
    /// The place of the replica on show.
    shown: usize,
    which: Which,
    typed: String,
    remember: bool,
    sql_is_open: bool,
    kept_name: String,
    compared: usize,
    export: ExportState,
    /// Whose screen all this was typed for.
    topology: Option<TopologyId>,
}

impl Default for ProbeState {
    fn default() -> Self {
        ProbeState {
            flavour: ProbeFlavour::Update,
            awaited: Awaited::OwnGtid,
            reader: Reader::Writer,
            wait_limit: Span::from_secs(1),
            sweep: None,
            runs: 200,
            rate: DEFAULT_RATE as u32,
            replica: None,
            shown: 0,
            which: Which::Latest,
            typed: String::new(),
            remember: false,
            sql_is_open: false,
            kept_name: String::new(),
            compared: NEWEST,
            export: ExportState::default(),
            topology: None,
        }
    }
}

impl ProbeState {
    /// To be looked at only: the last run whose plain read was stale, where there is one.
    pub(super) fn showing_stale() -> Self {
        ProbeState {
            which: Which::LastStale,
            ..ProbeState::default()
        }
    }

    /// One run with everything looked at, or many with the read swept over the time after the commit.
    pub fn plan(&self, is_repeated: bool) -> ProbePlan {
        ProbePlan {
            flavour: self.flavour,
            awaited: self.awaited,
            reader: self.reader,
            wait_limit: self.wait_limit,
            rate: f64::from(self.rate),
            runs: if is_repeated { self.runs } else { 1 },
            read_delay: match is_repeated {
                true => ReadDelay::Swept { up_to: self.sweep },
                false => ReadDelay::None,
            },
            measures_floor: !is_repeated,
            ..ProbePlan::default()
        }
    }

    pub fn hear(&mut self, news: &News) {
        let News::FileChosen {
            purpose: FilePurpose::ProbeResult(_),
            path,
        } = news
        else {
            return;
        };
        self.export.chose(path.as_ref());
    }

    /// What was typed for one topology is not meant for another.
    fn turn_to(&mut self, topology: &TopologyId) {
        if self.topology.as_ref() != Some(topology) {
            self.topology = Some(topology.clone());
            self.replica = None;
            self.shown = 0;
            self.compared = NEWEST;
            self.typed.clear();
            self.remember = false;
        }
    }
}

pub fn probe_ui(
    ui: &mut Ui,
    data: &ProbeData,
    state: &mut ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let scene = match data {
        ProbeData::Empty {
            title,
            text,
            action,
        } => {
            let action = action.map(|key| words.text(key));
            if empty_ui(ui, words.text(title), words.text(text), action) {
                actions.push(match frame.topology {
                    Some(topology) => Action::Open(topology.clone()),
                    None => Action::Show(super::action::Screen::Profiles),
                });
            }
            return;
        }
        ProbeData::Here(scene) => scene,
    };
    state.turn_to(&scene.topology);
    if scene.sql_is_due {
        actions.push(Action::DescribeProbe {
            topology: scene.topology.clone(),
            plan: state.plan(false),
        });
    }
    ScrollArea::vertical()
        .id_salt("probe")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
            scene_ui(ui, scene, state, frame, actions);
            ui.add_space(2.0 * UNIT);
        });
}

fn scene_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &mut ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    pointer::around(ui, "probe_controls", |ui| {
        controls::controls_ui(ui, scene, state, frame, actions);
    });
    if let Some(refused) = &scene.refused {
        notice_ui(ui, Sign::Critical, refused, None);
    }
    if !scene.may_write {
        permission::permission_ui(ui, scene, state, frame, actions);
    }
    match &scene.result {
        Some(result) => result_ui(ui, scene, result, state, frame, actions),
        None if scene.may_write => permission::before_first_ui(ui, scene, frame),
        None => {}
    }
    if state.sql_is_open && scene.may_write && scene.result.is_some() {
        permission::sql_card_ui(ui, scene, frame);
    }
}

fn result_ui(
    ui: &mut Ui,
    scene: &Scene,
    result: &ResultData,
    state: &mut ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    for line in &result.notices {
        notice_ui(ui, line.sign, &line.text, None);
    }
    needs_ui(ui, result, frame);
    if result.cards.is_some() || result.replicas.len() > 1 {
        choice_ui(ui, result, state, frame);
    }
    if let Some(read) = &result.cards {
        cards::cards_ui(ui, frame.words, read);
    }
    if let Some(timeline) = &result.timeline {
        pointer::around(ui, "probe_timeline", |ui| {
            Card::new().show(ui, |ui| timeline::timeline_ui(ui, frame.words, timeline));
        });
    }
    if result.figures.is_some() {
        figures_ui(ui, scene, result, state, frame, actions);
    }
}

/// Curve and table beside each other where there is room; waits and comparison under them.
fn figures_ui(
    ui: &mut Ui,
    scene: &Scene,
    result: &ResultData,
    state: &mut ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let Some(figures) = &result.figures else {
        return;
    };
    let words = frame.words;
    let curve = |ui: &mut Ui| {
        pointer::around(ui, "probe_curve", |ui| curve::curve_ui(ui, words, figures));
    };
    let table = |ui: &mut Ui| {
        pointer::around(ui, "probe_figures", |ui| {
            figures::table_ui(ui, words, figures)
        });
    };
    let waits = |ui: &mut Ui| histogram::histogram_ui(ui, words, figures);
    let keep = |ui: &mut Ui| keep::keep_ui(ui, scene, result, state, frame, actions);
    if result.is_repeated {
        pair_ui(ui, "curve and table", curve, table);
        pair_ui(ui, "waits and comparison", waits, keep);
    } else {
        part_ui(ui, 0.0, table);
        part_ui(ui, 0.0, keep);
    }
}

/// A card; answers with the height its content needs.
fn part_ui(ui: &mut Ui, least: f32, content: impl FnOnce(&mut Ui)) -> f32 {
    let shown = Card::new().min_height(least).show(ui, |ui| {
        let top = ui.cursor().min.y;
        content(ui);
        ui.cursor().min.y - top
    });
    // the card's margins, above and below
    shown.inner + 7.0 * UNIT
}

/// Narrower, and the two stand under each other.
const TWO_COLUMNS: f32 = 215.0 * UNIT;

/// Two cards of the same height: the higher of the last frame tells.
fn pair_ui(ui: &mut Ui, name: &str, left: impl FnOnce(&mut Ui), right: impl FnOnce(&mut Ui)) {
    if ui.available_width() < TWO_COLUMNS {
        part_ui(ui, 0.0, left);
        part_ui(ui, 0.0, right);
        return;
    }
    let id = ui.scope_id().with(name);
    let last: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    let mut highest: f32 = 0.0;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0 * UNIT;
        ui.columns(2, |columns| {
            let [first, second] = columns else { return };
            let of = |column: &mut Ui, part: &mut dyn FnMut(&mut Ui) -> f32| {
                column.spacing_mut().item_spacing.x = 2.0 * UNIT;
                let layout = Layout::top_down(Align::LEFT);
                column.with_layout(layout, |ui| part(ui)).inner
            };
            let (mut left, mut right) = (Some(left), Some(right));
            let lefts = of(first, &mut |ui| {
                left.take().map_or(0.0, |l| part_ui(ui, last, l))
            });
            let rights = of(second, &mut |ui| {
                right.take().map_or(0.0, |r| part_ui(ui, last, r))
            });
            highest = lefts.max(rights);
        });
    });
    if (highest - last).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, highest));
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_millis(1));
    }
}

fn needs_ui(ui: &mut Ui, result: &ResultData, frame: &Frame<'_>) {
    if result.needs.is_empty() {
        return;
    }
    Card::new().show(ui, |ui| {
        ui.label(theme::strong(frame.words.text("probe_screen.needs")));
        for line in &result.needs {
            ui.horizontal_top(|ui| {
                super::widgets::sign_ui(ui, frame.words, line.sign);
                ui.add(Label::new(&line.text).wrap());
            });
        }
    });
}

/// Which replica and which run the cards below are about.
fn choice_ui(ui: &mut Ui, result: &ResultData, state: &mut ProbeState, frame: &Frame<'_>) {
    let words = frame.words;
    ui.horizontal_wrapped(|ui| {
        if result.replicas.len() > 1 {
            let names = result.replicas.iter().cloned().enumerate();
            let choices: Vec<(usize, String)> = names.collect();
            segments_ui(ui, &mut state.shown, &choices);
            ui.add_space(2.0 * UNIT);
        }
        if result.is_repeated {
            let choices = [
                (Which::Latest, words.text("probe_screen.latest").to_owned()),
                (
                    Which::LastStale,
                    words.text("probe_screen.last_stale").to_owned(),
                ),
            ];
            segments_ui(ui, &mut state.which, &choices);
        }
        if let Some(heading) = &result.heading {
            ui.add_space(UNIT);
            let text = theme::note(ui, &heading.text);
            match heading.sign {
                Sign::NotApplicable => ui.label(text),
                sign => sign_word_ui(ui, sign, text),
            };
        }
    });
}
