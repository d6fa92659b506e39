//! The screens with what the person is doing on each, and the questions that stand over all of them.

use std::path::PathBuf;

use eframe::egui::Ui;

use crate::app::dialing;
use crate::app::profiles::ServerSide;
use crate::model::lab::LabPlan;
use crate::model::lesson::Spot;
use crate::model::profile::{ServerProfile, TopologyProfile};
use crate::model::secret::Secret;
use crate::model::time::Span;
use crate::model::trouble::Trouble;
use crate::ui::Frame;
use crate::ui::acceptance::board::AcceptBoard;
use crate::ui::acceptance::{AcceptanceData, AcceptanceState, Part, acceptance_ui, part_ui};
use crate::ui::action::{Action, Screen};
use crate::ui::events::{EventsData, EventsState, events_ui};
use crate::ui::first_run::{FirstRunState, first_run_ui};
use crate::ui::lab::board::LabBoard;
use crate::ui::lab::{LabData, LabState, lab_ui};
use crate::ui::lag::{LagData, LagState, lag_ui};
use crate::ui::lesson::board::LessonBoard;
use crate::ui::lesson::{
    Exhibit, LessonData, LessonState, Looking, Part as LabPart, lesson_panel_ui,
    part_ui as lab_part_ui, presenter_ui, strip_ui,
};
use crate::ui::overview::{OverviewData, OverviewState, overview_ui};
use crate::ui::password::{PasswordState, password_ui};
use crate::ui::preferences::{PreferencesData, PreferencesState, preferences_ui};
use crate::ui::probe::board::ProbeBoard;
use crate::ui::probe::{ProbeData, ProbeState, probe_ui};
use crate::ui::profiles::{
    News, ProfilesData, ProfilesState, QuestionReport, TestReport, profiles_ui,
};
use crate::ui::routing::{RoutingData, RoutingState, routing_ui};
use crate::ui::semi_sync::{SemiSyncData, SemiSyncState, semi_sync_ui};
use crate::ui::server::{ServerData, ServerState, server_ui};
use crate::ui::transactions::{TransactionsData, TransactionsState, transactions_ui};

/// What plots show of a lab that has just begun.
const LAB_PAST: Span = Span::from_secs(60);

/// What `app` keeps up to date for screens beside the store.
#[derive(Clone, Copy)]
pub struct Boards<'a> {
    pub probes: &'a ProbeBoard,
    pub acceptances: &'a AcceptBoard,
    pub lab: &'a LabBoard,
    pub lessons: &'a LessonBoard,
}

#[derive(Default)]
pub struct Screens {
    overview: OverviewState,
    server: ServerState,
    lag: LagState,
    transactions: TransactionsState,
    semi_sync: SemiSyncState,
    probe: ProbeState,
    acceptance: AcceptanceState,
    pub(super) routing: RoutingState,
    lab: LabState,
    lesson: LessonState,
    looking: Looking,
    events: EventsState,
    profiles: ProfilesState,
    preferences: PreferencesState,
    first_run: FirstRunState,
    password: PasswordState,
}

impl Screens {
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        screen: Screen,
        frame: &Frame<'_>,
        boards: Boards<'_>,
        actions: &mut Vec<Action>,
    ) {
        self.step_ui(ui, screen, frame, boards, actions);
        match screen {
            Screen::Overview if frame.profiles.is_empty() => {
                first_run_ui(ui, &mut self.first_run, frame, actions);
            }
            Screen::Overview => {
                let data = OverviewData::new(frame, &mut self.overview);
                overview_ui(ui, &data, &mut self.overview, frame, actions);
            }
            Screen::Server => {
                let data = ServerData::new(frame);
                server_ui(ui, &data, &mut self.server, frame, actions);
            }
            Screen::Lag => {
                let data = LagData::new(frame, &mut self.lag);
                lag_ui(ui, &data, &mut self.lag, frame, actions);
            }
            Screen::Transactions => {
                let data = TransactionsData::new(frame);
                transactions_ui(ui, &data, &mut self.transactions, frame, actions);
            }
            Screen::SemiSync => {
                let data = SemiSyncData::new(frame);
                semi_sync_ui(ui, &data, &mut self.semi_sync, frame, actions);
            }
            Screen::Probe => self.probe_ui(ui, frame, boards, actions),
            Screen::Routing => {
                let data = RoutingData::new(frame, &self.routing);
                routing_ui(ui, &data, &mut self.routing, frame, actions);
            }
            Screen::Lab => self.lab_ui(ui, frame, boards, actions),
            Screen::Events => {
                let data = EventsData::new(frame, &mut self.events);
                events_ui(ui, &data, &mut self.events, frame);
            }
            Screen::Profiles => {
                let data = ProfilesData::new(frame);
                profiles_ui(ui, &data, &mut self.profiles, frame, actions);
            }
            Screen::Settings => {
                let data = PreferencesData::new(frame);
                preferences_ui(ui, &data, &mut self.preferences, frame, actions);
            }
        }
    }

    /// The step of the lesson that is taught, above every screen but its own.
    fn step_ui(
        &mut self,
        ui: &mut Ui,
        screen: Screen,
        frame: &Frame<'_>,
        boards: Boards<'_>,
        actions: &mut Vec<Action>,
    ) {
        let is_on_lessons = screen == Screen::Lab && self.lesson.part == LabPart::Lessons;
        if boards.lessons.run.is_none() || is_on_lessons {
            return;
        }
        let data = LessonData::new(frame, boards.lessons);
        if let Some(run) = &data.run {
            strip_ui(ui, run, &mut self.lesson, frame, actions);
        }
    }

    fn probe_ui(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        boards: Boards<'_>,
        actions: &mut Vec<Action>,
    ) {
        part_ui(ui, frame.words, &mut self.acceptance.part);
        if self.acceptance.part == Part::Acceptance {
            let data = AcceptanceData::new(frame, boards.acceptances, boards.probes);
            acceptance_ui(ui, &data, &mut self.acceptance, frame, actions);
        } else {
            let data = ProbeData::new(frame, boards.probes, &self.probe);
            probe_ui(ui, &data, &mut self.probe, frame, actions);
        }
    }

    fn lab_ui(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        boards: Boards<'_>,
        actions: &mut Vec<Action>,
    ) {
        lab_part_ui(ui, frame.words, &mut self.lesson.part);
        if self.lesson.part == LabPart::Lessons {
            let data = LessonData::new(frame, boards.lessons);
            lesson_panel_ui(ui, &data, frame, actions);
        } else {
            let data = LabData::new(frame, boards.lab);
            lab_ui(ui, &data, boards.lab, &mut self.lab, frame, actions);
        }
    }

    /// A lesson for the projector, in place of everything else.
    pub fn presenter_ui(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        boards: Boards<'_>,
        actions: &mut Vec<Action>,
    ) {
        let data = LessonData::new(frame, boards.lessons);
        let step = boards.lessons.run.as_ref().and_then(|run| run.step());
        let look = step.and_then(|step| step.look);
        let exhibit = Exhibit::new(frame, look, boards.probes, &mut self.looking);
        presenter_ui(ui, &data, &exhibit, &mut self.looking, frame, actions);
    }

    /// The lessons come up on the Lab screen.
    pub fn show_lessons(&mut self) {
        self.lesson.part = LabPart::Lessons;
    }

    /// The part of its screen that a lesson points at.
    pub fn turn_to(&mut self, spot: Spot) {
        match spot {
            Spot::Acceptance => self.acceptance.part = Part::Acceptance,
            Spot::ProbeControls | Spot::ProbeTimeline | Spot::ProbeFigures | Spot::ProbeCurve => {
                self.acceptance.part = Part::Probe
            }
            _ => {}
        }
    }

    /// A lab has no past yet, and what is done to it shows within seconds.
    pub fn lab_begins(&mut self) {
        self.overview.plot.window = LAB_PAST;
        self.lag.plot.window = LAB_PAST;
    }

    pub fn choose_lab(&mut self) {
        self.show_lab();
        self.lab.details_open = true;
    }

    /// As it is chosen on its screen.
    pub fn chosen_lab(&self) -> (LabPlan, Option<PathBuf>) {
        self.lab.chosen()
    }

    pub fn ask_to_stop_lab(&mut self) {
        self.show_lab();
        self.lab.ask_to_stop();
    }

    pub fn add_topology(&mut self, frame: &Frame<'_>) {
        self.profiles.add(frame);
    }

    pub fn show_lab(&mut self) {
        self.lesson.part = LabPart::Lab;
    }

    /// A password that a watch waits for is asked for whatever screen is shown.
    pub fn questions_ui(&mut self, ui: &mut Ui, frame: &Frame<'_>, actions: &mut Vec<Action>) {
        password_ui(ui, &mut self.password, frame, actions);
    }

    /// Every form hears all of it and takes what concerns it.
    pub fn hear(&mut self, news: &News) {
        self.profiles.hear(news);
        self.probe.hear(news);
        self.lab.hear(news);
        self.acceptance.hear(news);
        self.routing.hear(news);
        self.preferences.hear(news);
        self.first_run.hear(news);
        self.password.hear(news);
    }
}

/// What the forms need of servers: a test of an account, and the SQL that makes one.
pub fn server_side() -> ServerSide {
    ServerSide {
        test,
        account_sql: dialing::account_sql,
    }
}

fn test(
    topology: &TopologyProfile,
    server: &ServerProfile,
    secret: Option<&Secret>,
) -> Result<TestReport, Trouble> {
    let report = dialing::test(topology, server, secret)?;
    let questions = report.questions.into_iter().map(|question| QuestionReport {
        what: question.what,
        result: question.result,
    });
    Ok(TestReport {
        product: report.product,
        tls: report.tls,
        questions: questions.collect(),
    })
}
