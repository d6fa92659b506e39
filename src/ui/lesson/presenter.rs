//! For the projector: the step in large letters, one picture, and the keys of a presenter's clicker. The window's own
//! bars are not drawn; `app` zooms so that the picture's small letters grow too.

use eframe::egui::{
    Align, CentralPanel, Frame as Area, Key, Label, Layout, Margin, Modifiers, Panel, RichText, Ui,
    vec2,
};

use super::answers::answers_ui;
use super::data::{LessonData, PageView, RunView, StepView};
use super::parts::{order, say_button_ui, state_ui, step_buttons_ui, trouble_ui};
use crate::model::lesson::{LessonOrder, Place, Spot, server_name};
use crate::model::profile::ServerId;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::fonts;
use crate::ui::lag::{LagData, LagState, StagePart, stage_bar_ui};
use crate::ui::overview::{OverviewData, OverviewState};
use crate::ui::plot::{PlotData, PlotState, lag_plot_ui};
use crate::ui::probe::board::ProbeBoard;
use crate::ui::probe::curve::curve_of_height_ui;
use crate::ui::probe::figures::FiguresData;
use crate::ui::probe::timeline::{Timeline, timeline_ui};
use crate::ui::probe::{ProbeData, ProbeState, ResultData};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, primary_button_ui};

/// The one picture beside the text.
#[derive(Debug)]
pub enum Exhibit {
    Nothing,
    Plot {
        title: String,
        plot: Box<PlotData>,
        /// Where the time goes, where the step speaks of it.
        stages: Vec<StagePart>,
    },
    Timeline(Timeline),
    Curve(Box<FiguresData>),
}

/// How far back the plot reaches: what the class has just seen.
#[derive(Debug)]
pub struct Looking {
    overview: OverviewState,
    lag: LagState,
    plot: PlotState,
}

impl Default for Looking {
    fn default() -> Self {
        let minute = || PlotState {
            window: crate::model::time::Span::from_secs(60),
            ..PlotState::default()
        };
        Looking {
            overview: OverviewState {
                plot: minute(),
                ..OverviewState::default()
            },
            lag: LagState {
                plot: minute(),
                ..LagState::default()
            },
            plot: minute(),
        }
    }
}

impl Exhibit {
    /// What the step points at, as far as it is a picture; else the delay of all replicas.
    pub fn new(
        frame: &Frame<'_>,
        look: Option<Spot>,
        probes: &ProbeBoard,
        looking: &mut Looking,
    ) -> Self {
        let of_step = match look {
            Some(spot) if spot.place() == Some(Place::Lag) => methods(frame, spot, looking),
            Some(Spot::ProbeTimeline | Spot::ProbeControls) => probed(frame, probes, timeline),
            Some(Spot::ProbeCurve | Spot::ProbeFigures) => probed(frame, probes, curve),
            _ => None,
        };
        of_step.unwrap_or_else(|| everybody(frame, looking))
    }
}

fn everybody(frame: &Frame<'_>, looking: &mut Looking) -> Exhibit {
    match OverviewData::new(frame, &mut looking.overview) {
        OverviewData::Watched(topology) => Exhibit::Plot {
            title: frame.words.text("overview.lag_by_replica").to_owned(),
            plot: Box::new(topology.plot),
            stages: Vec::new(),
        },
        OverviewData::Empty { .. } => Exhibit::Nothing,
    }
}

/// One replica by all methods.
fn methods(frame: &Frame<'_>, spot: Spot, looking: &mut Looking) -> Option<Exhibit> {
    let server = ServerId(server_name(spot.server()?));
    let of_server = Frame {
        server: Some(&server),
        ..*frame
    };
    match LagData::new(&of_server, &mut looking.lag) {
        LagData::Channel(screen) => Some(Exhibit::Plot {
            title: screen.name,
            plot: Box::new(screen.plot),
            stages: match spot {
                Spot::LagStages(_) => screen.stages,
                _ => Vec::new(),
            },
        }),
        _ => None,
    }
}

fn probed(
    frame: &Frame<'_>,
    probes: &ProbeBoard,
    picture: impl Fn(ResultData) -> Option<Exhibit>,
) -> Option<Exhibit> {
    let of = |state: &ProbeState| match ProbeData::new(frame, probes, state) {
        ProbeData::Here(scene) => scene.result.and_then(&picture),
        ProbeData::Empty { .. } => None,
    };
    of(&ProbeState::showing_stale()).or_else(|| of(&ProbeState::default()))
}

fn timeline(result: ResultData) -> Option<Exhibit> {
    result.timeline.map(Exhibit::Timeline)
}

fn curve(result: ResultData) -> Option<Exhibit> {
    let figures = result.figures.filter(|figures| !figures.curves.is_empty());
    match figures {
        Some(figures) => Some(Exhibit::Curve(Box::new(figures))),
        None => result.timeline.map(Exhibit::Timeline),
    }
}

/// Draws the whole window.
pub fn presenter_ui(
    ui: &mut Ui,
    data: &LessonData,
    exhibit: &Exhibit,
    looking: &mut Looking,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let Some(run) = &data.run else {
        order(actions, LessonOrder::Present(false));
        return;
    };
    keys_ui(ui, run, actions);
    let edge = Margin::symmetric((6.0 * UNIT) as i8, (3.0 * UNIT) as i8);
    let area = || {
        Area::new()
            .fill(theme::palette(ui).background)
            .inner_margin(edge)
    };
    let (top, bottom, middle) = (area(), area(), area());
    Panel::top("presenter head")
        .resizable(false)
        .show_separator_line(false)
        .frame(top)
        .show(ui, |ui| head_ui(ui, run));
    Panel::bottom("presenter foot")
        .resizable(false)
        .show_separator_line(false)
        .frame(bottom)
        .show(ui, |ui| foot_ui(ui, run, frame, actions));
    CentralPanel::default().frame(middle).show(ui, |ui| {
        page_ui(ui, run, exhibit, looking, frame, actions);
    });
}

/// Page Up and Page Down are what clickers send.
fn keys_ui(ui: &Ui, run: &RunView, actions: &mut Vec<Action>) {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::Escape) {
        order(actions, LessonOrder::Present(false));
    }
    if pressed(Key::PageDown) {
        order(actions, next(run));
    }
    if pressed(Key::PageUp) {
        order(actions, LessonOrder::Back);
    }
    // a button that has the keyboard is pressed by it
    let nothing_has_the_keyboard = ui.memory(|memory| memory.focused().is_none());
    if nothing_has_the_keyboard && has_something_to_do(run) && pressed(Key::Enter) {
        order(actions, LessonOrder::Act);
    }
}

fn has_something_to_do(run: &RunView) -> bool {
    matches!(&run.page, PageView::Step(step) if !step.acts.is_empty() && !step.is_acting)
}

/// The answer comes before the next page.
fn next(run: &RunView) -> LessonOrder {
    match &run.page {
        PageView::Question { answer: None, .. } => LessonOrder::RevealAnswer,
        _ => LessonOrder::Forward,
    }
}

fn head_ui(ui: &mut Ui, run: &RunView) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(theme::dim(ui, &run.position).size(theme::size::TITLE));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let title = RichText::new(&run.title).font(fonts::semibold(TITLE));
                ui.add(Label::new(title).truncate());
            });
        });
    });
}

const TITLE: f32 = 20.0;

fn foot_ui(ui: &mut Ui, run: &RunView, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    trouble_ui(ui, run);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.button(words.text("lesson.presenter.leave")).clicked() {
                order(actions, LessonOrder::Present(false));
            }
            let keys = match has_something_to_do(run) {
                true => "lesson.presenter.keys_and_enter",
                false => "lesson.presenter.keys",
            };
            ui.label(theme::note(ui, words.text(keys)));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if let PageView::Step(step) = &run.page {
                    step_buttons_ui(ui, step, frame, actions);
                    if let Some(sql) = &step.sql {
                        say_button_ui(ui, sql, words, actions);
                    }
                }
            });
        });
    });
}

fn page_ui(
    ui: &mut Ui,
    run: &RunView,
    exhibit: &Exhibit,
    looking: &mut Looking,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    match &run.page {
        PageView::Step(step) => step_ui(ui, step, exhibit, looking, frame, actions),
        PageView::Question { ask, answer } => {
            let paragraphs: Vec<&str> = [Some(ask.as_str()), answer.as_deref()]
                .into_iter()
                .flatten()
                .collect();
            large_ui(ui, &paragraphs, ui.available_height());
            if answer.is_none()
                && primary_button_ui(ui, frame.words.text("lesson.reveal")).clicked()
            {
                order(actions, LessonOrder::RevealAnswer);
            }
        }
        PageView::Production { lines } => {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            large_ui(ui, &lines, ui.available_height());
        }
    }
}

fn step_ui(
    ui: &mut Ui,
    step: &StepView,
    exhibit: &Exhibit,
    looking: &mut Looking,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let share = match step.sql {
        Some(_) => SHARE_BESIDE_SQL,
        None => TEXT_SHARE,
    };
    let height = ui.available_height();
    let left = (height - under_the_text(step)).max(0.0);
    large_ui(ui, &[&step.text], left.min(height * share));
    if let Some(sql) = &step.sql {
        // several answers name their statements
        if sql.answers.answers.len() < 2 {
            let text = theme::mono(&sql.text).size(theme::size::TITLE);
            ui.add(Label::new(text).wrap());
        }
        let height = height_of_answers(ui.available_height());
        answers_ui(ui, &sql.answers, theme::size::TITLE, height);
    }
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().override_font_id =
            Some(eframe::egui::FontId::proportional(theme::size::TITLE));
        state_ui(ui, step, frame, actions);
    });
    if let Some(hint) = &step.hint {
        super::parts::hint_ui(ui, hint, frame.words);
    }
    ui.add_space(2.0 * UNIT);
    exhibit_ui(ui, exhibit, looking, frame);
}

/// A step's text may take so much of the height; the picture has the rest.
const TEXT_SHARE: f32 = 0.42;
const SHARE_BESIDE_SQL: f32 = 0.34;
/// From the last row one can read no less.
const LARGEST: f32 = 34.0;
const SMALLEST: f32 = 18.0;

/// About what state, statement and hint take, and what a picture needs at least: the text gives way to them.
fn under_the_text(step: &StepView) -> f32 {
    let lines = step.sql.as_ref().map_or(0, |sql| sql.text.lines().count());
    let statement = lines as f32 * 6.0 * UNIT;
    let hint = match step.hint {
        Some(_) => 12.0 * UNIT,
        None => 0.0,
    };
    14.0 * UNIT + statement + hint + AROUND_A_PICTURE + LOWEST_PLOT
}

/// Of this height: a picture has what they leave, and where that is too little for one they have it all.
fn height_of_answers(room: f32) -> f32 {
    const SHARE: f32 = 0.4;
    const SUMMARY_AND_STATE: f32 = 14.0 * UNIT;
    let share = room * SHARE;
    let left = room - share - SUMMARY_AND_STATE;
    match left < AROUND_A_PICTURE + LOWEST_PLOT {
        true => room - SUMMARY_AND_STATE,
        false => share,
    }
}

/// As large as it fits into this height.
fn large_ui(ui: &mut Ui, paragraphs: &[&str], height: f32) {
    let place = vec2(ui.available_width(), height);
    let gap = 4.0 * UNIT;
    let height = |ui: &Ui, size: f32| -> f32 {
        let of = |text: &&str| {
            let font = eframe::egui::FontId::proportional(size);
            let color = theme::palette(ui).text;
            let galley = ui
                .painter()
                .layout((*text).to_owned(), font, color, place.x);
            galley.size().y + gap
        };
        paragraphs.iter().map(of).sum()
    };
    let mut size = LARGEST;
    while size > SMALLEST && height(ui, size) > place.y {
        size -= 1.0;
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = gap;
        for text in paragraphs {
            ui.add(Label::new(RichText::new(*text).size(size)).wrap());
        }
    });
}

/// Under this a plot says nothing.
const LOWEST_PLOT: f32 = 30.0 * UNIT;
/// The card's margins, and a line for the title.
const AROUND_A_PICTURE: f32 = 16.0 * UNIT;

fn exhibit_ui(ui: &mut Ui, exhibit: &Exhibit, looking: &mut Looking, frame: &Frame<'_>) {
    let room = ui.available_height() - AROUND_A_PICTURE;
    if room < LOWEST_PLOT {
        return;
    }
    match exhibit {
        Exhibit::Nothing => {}
        Exhibit::Plot {
            title,
            plot,
            stages,
        } => drop(Card::new().show(ui, |ui| {
            let room = room - stages_ui(ui, stages);
            let lanes = plot.lanes.len() as f32 * 4.0 * UNIT;
            let without_lanes = || PlotData {
                lanes: Vec::new(),
                ..(**plot).clone()
            };
            match room < LOWEST_PLOT + lanes {
                true => plot_ui(ui, title, &without_lanes(), looking, frame, room),
                false => plot_ui(ui, title, plot, looking, frame, room),
            }
        })),
        Exhibit::Timeline(timeline) => drop(Card::new().show(ui, |ui| {
            timeline_ui(ui, frame.words, timeline);
        })),
        Exhibit::Curve(figures) => drop(Card::new().show(ui, |ui| {
            let legend = 8.0 * UNIT;
            curve_of_height_ui(ui, frame.words, figures, room - legend);
        })),
    }
}

/// Returns the height it took.
fn stages_ui(ui: &mut Ui, stages: &[StagePart]) -> f32 {
    if stages.is_empty() {
        return 0.0;
    }
    let shown = ui.scope(|ui| {
        stage_bar_ui(ui, stages);
        ui.horizontal_wrapped(|ui| {
            for (n, part) in stages.iter().enumerate() {
                let color = theme::palette(ui).series(n);
                ui.label(RichText::new("■").color(color));
                ui.label(theme::strong(format!("{} {}", part.name, part.text)));
                ui.add_space(4.0 * UNIT);
            }
        });
    });
    shown.response.rect.height() + ui.spacing().item_spacing.y
}

fn plot_ui(
    ui: &mut Ui,
    title: &str,
    plot: &PlotData,
    looking: &mut Looking,
    frame: &Frame<'_>,
    room: f32,
) {
    ui.horizontal_wrapped(|ui| {
        ui.label(theme::strong(title));
        ui.add_space(4.0 * UNIT);
        legend_ui(ui, plot);
    });
    lag_plot_ui(ui, plot, &mut looking.plot, frame, room);
}

fn legend_ui(ui: &mut Ui, plot: &PlotData) {
    for line in &plot.lines {
        let color = theme::palette(ui).series(line.color);
        ui.label(RichText::new("■").color(color));
        ui.label(&line.name);
    }
}
