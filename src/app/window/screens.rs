//! The screens with what the person is doing on each, and the questions that stand over all of them.

use eframe::egui::Ui;

use crate::app::dialing;
use crate::app::profiles::ServerSide;
use crate::model::profile::{ServerProfile, TopologyProfile};
use crate::model::secret::Secret;
use crate::model::trouble::Trouble;
use crate::ui::Frame;
use crate::ui::acceptance::board::AcceptBoard;
use crate::ui::acceptance::{AcceptanceData, AcceptanceState, Part, acceptance_ui, part_ui};
use crate::ui::action::{Action, Screen};
use crate::ui::events::{EventsData, EventsState, events_ui};
use crate::ui::first_run::{FirstRunState, first_run_ui};
use crate::ui::lag::{LagData, LagState, lag_ui};
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
        (probes, acceptances): (&ProbeBoard, &AcceptBoard),
        actions: &mut Vec<Action>,
    ) {
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
            Screen::Probe => {
                part_ui(ui, frame.words, &mut self.acceptance.part);
                if self.acceptance.part == Part::Acceptance {
                    let data = AcceptanceData::new(frame, acceptances, probes);
                    acceptance_ui(ui, &data, &mut self.acceptance, frame, actions);
                } else {
                    let data = ProbeData::new(frame, probes, &self.probe);
                    probe_ui(ui, &data, &mut self.probe, frame, actions);
                }
            }
            Screen::Routing => {
                let data = RoutingData::new(frame, &self.routing);
                routing_ui(ui, &data, &mut self.routing, frame, actions);
            }
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

    /// A password that a watch waits for is asked for whatever screen is shown.
    pub fn questions_ui(&mut self, ui: &mut Ui, frame: &Frame<'_>, actions: &mut Vec<Action>) {
        password_ui(ui, &mut self.password, frame, actions);
    }

    /// Every form hears all of it and takes what concerns it.
    pub fn hear(&mut self, news: &News) {
        self.profiles.hear(news);
        self.probe.hear(news);
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
