//! The window: eframe on one side, the conductor on the other.
//!
//! `logic` takes in what the threads reported and has it judged, `ui` draws, [`App::perform`] carries out what the person
//! asked for. Whatever may block (keychain, disk, servers) happens on threads; this one only draws.

mod desk;
mod frames;
mod perform;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eframe::egui::{self, ViewportBuilder};

use super::conductor::Conductor;
use super::dialing;
use super::profiles::{ProfileDesk, ServerSide};
use crate::link::clock;
use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::{LanguageChoice, Preferences, ThemeChoice, WindowSize};
use crate::model::profile::{ServerId, TopologyId, TopologyProfile};
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};
use crate::store::Store;
use crate::ui::action::{Action, Screen};
use crate::ui::events::{EventsData, EventsState, events_ui};
use crate::ui::first_run::{FirstRunState, first_run_ui};
use crate::ui::lag::{LagData, LagState, lag_ui};
use crate::ui::overview::{OverviewData, OverviewState, overview_ui};
use crate::ui::password::{PasswordState, password_ui};
use crate::ui::preferences::{PreferencesData, PreferencesState, preferences_ui};
use crate::ui::profiles::{News, ProfilesData, ProfilesState, profiles_ui};
use crate::ui::semi_sync::{SemiSyncData, SemiSyncState, semi_sync_ui};
use crate::ui::server::{ServerData, ServerState, server_ui};
use crate::ui::shell::{ShellData, ShellState, shell_ui};
use crate::ui::transactions::{TransactionsData, TransactionsState, transactions_ui};
use crate::ui::widgets::Sign;
use crate::ui::{Frame, fonts, theme};
use crate::words::{Catalogue, Language};

use frames::Pace;

const TITLE: &str = "Replicascope";
const ICON: &[u8] = include_bytes!("../../assets/icon.png");

/// Smaller, and words would have to be cut everywhere.
const SMALLEST: [f32; 2] = [640.0, 400.0];
const AT_FIRST: [f32; 2] = [1280.0, 800.0];

/// How to open the window.
#[derive(Debug, Default)]
pub struct WindowOptions {
    /// Shown and watched at once, whether saved or not.
    pub topology: Option<TopologyProfile>,
    /// Where profiles and preferences are; without one nothing is loaded and nothing kept.
    pub config_dir: Option<PathBuf>,
}

/// Why there is no window, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowError(pub Phrase);

/// Opens the window and stays until it is closed.
pub fn run(options: WindowOptions) -> Result<(), WindowError> {
    if cfg!(target_os = "linux") && !has_display() {
        return Err(WindowError(phrase("window.no_display")));
    }
    // Workers come back with answers before there is a window: then nobody needs waking.
    let waker = Arc::new(OnceLock::<egui::Context>::new());
    let (mut desk, preferences) = open_desk(&options, waker.clone())?;
    let open = desk::first_topology(&mut desk, options.topology, &preferences);
    let native = eframe::NativeOptions {
        viewport: viewport(preferences.window),
        centered: preferences.window.is_none(),
        ..eframe::NativeOptions::default()
    };
    eframe::run_native(
        TITLE,
        native,
        Box::new(move |creation| {
            // set once: the window is created once
            let _ = waker.set(creation.egui_ctx.clone());
            Ok(Box::new(App::new(
                &creation.egui_ctx,
                desk,
                preferences,
                open,
            )))
        }),
    )
    .map_err(why_no_window)
}

fn open_desk(
    options: &WindowOptions,
    waker: Arc<OnceLock<egui::Context>>,
) -> Result<(ProfileDesk, Preferences), WindowError> {
    let servers = ServerSide {
        test: dialing::test,
        account_sql: dialing::account_sql,
    };
    let wake = Arc::new(move || {
        if let Some(ctx) = waker.get() {
            ctx.request_repaint_after(Duration::from_millis(1));
        }
    });
    ProfileDesk::open(options.config_dir.clone(), servers, wake)
        .map_err(|error| WindowError(phrase("window.failed").with("reason", error.to_string())))
}

fn has_display() -> bool {
    ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn why_no_window(error: eframe::Error) -> WindowError {
    let reason = error.to_string();
    WindowError(match error {
        eframe::Error::WinitEventLoop(_) => phrase("window.no_display"),
        eframe::Error::Glutin(_)
        | eframe::Error::NoGlutinConfigs(..)
        | eframe::Error::OpenGL(_) => phrase("window.no_graphics").with("reason", reason),
        _ => phrase("window.failed").with("reason", reason),
    })
}

fn viewport(size: Option<WindowSize>) -> ViewportBuilder {
    let builder = ViewportBuilder::default()
        .with_title(TITLE)
        .with_app_id("replicascope")
        .with_min_inner_size(SMALLEST);
    let builder = match size {
        Some(size) => builder
            .with_inner_size([size.width, size.height])
            .with_maximized(size.maximized),
        None => builder.with_inner_size(AT_FIRST),
    };
    match eframe::icon_data::from_png_bytes(ICON) {
        Ok(icon) => builder.with_icon(icon),
        Err(_) => builder,
    }
}

/// The program while its window is open.
pub struct App {
    pub(super) conductor: Conductor,
    desk: ProfileDesk,
    shell: ShellState,
    preferences: Preferences,
    topology: Option<TopologyId>,
    server: Option<ServerId>,
    screens: Screens,
    paused: Option<Paused>,
    pace: Pace,
    /// Watches whose password was refused, and asked for again.
    refused: BTreeSet<WatchId>,
}

/// What the person is doing on each screen.
#[derive(Default)]
struct Screens {
    overview: OverviewState,
    server: ServerState,
    lag: LagState,
    transactions: TransactionsState,
    semi_sync: SemiSyncState,
    events: EventsState,
    profiles: ProfilesState,
    preferences: PreferencesState,
    first_run: FirstRunState,
    password: PasswordState,
}

impl Screens {
    /// Every form takes what concerns it.
    fn hear(&mut self, news: &News) {
        self.profiles.hear(news);
        self.preferences.hear(news);
        self.first_run.hear(news);
        self.password.hear(news);
    }

    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        screen: Screen,
        frame: &Frame<'_>,
        actions: &mut Vec<Action>,
    ) {
        match screen {
            Screen::Overview => {
                let data = OverviewData::new(frame, &mut self.overview);
                overview_ui(ui, &data, &mut self.overview, frame, actions);
            }
            Screen::Server => server_ui(
                ui,
                &ServerData::new(frame),
                &mut self.server,
                frame,
                actions,
            ),
            Screen::Lag => {
                let data = LagData::new(frame, &mut self.lag);
                lag_ui(ui, &data, &mut self.lag, frame, actions);
            }
            Screen::Transactions => {
                let data = TransactionsData::new(frame);
                transactions_ui(ui, &data, &mut self.transactions, frame, actions);
            }
            Screen::SemiSync => {
                semi_sync_ui(
                    ui,
                    &SemiSyncData::new(frame),
                    &mut self.semi_sync,
                    frame,
                    actions,
                );
            }
            Screen::Events => {
                let data = EventsData::new(frame, &mut self.events);
                events_ui(ui, &data, &mut self.events, frame);
            }
            Screen::Profiles => {
                profiles_ui(
                    ui,
                    &ProfilesData::new(frame),
                    &mut self.profiles,
                    frame,
                    actions,
                );
            }
            Screen::Settings => {
                let data = PreferencesData::new(frame);
                preferences_ui(ui, &data, &mut self.preferences, frame, actions);
            }
        }
    }
}

/// The picture that is held still.
struct Paused {
    since: Moment,
    store: Store,
}

impl App {
    fn new(
        ctx: &egui::Context,
        desk: ProfileDesk,
        preferences: Preferences,
        open: Option<TopologyId>,
    ) -> Self {
        fonts::install(ctx);
        theme::install(ctx);
        // its steps and limits are not ours; see Action::Zoom
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let mut app = App {
            conductor: Conductor::default(),
            topology: desk.profiles().first().map(|p| p.id.clone()),
            desk,
            shell: ShellState::default(),
            preferences,
            server: None,
            screens: Screens::default(),
            paused: None,
            pace: Pace::default(),
            refused: BTreeSet::new(),
        };
        app.apply_preferences(ctx);
        if let Some(topology) = open {
            app.perform(ctx, Action::Open(topology));
        }
        app
    }

    pub(super) fn words(&self) -> &'static Catalogue {
        Catalogue::of(match self.preferences.language {
            LanguageChoice::Auto => super::language(),
            LanguageChoice::English => Language::English,
            LanguageChoice::Chinese => Language::SimplifiedChinese,
        })
    }

    fn apply_preferences(&mut self, ctx: &egui::Context) {
        ctx.set_zoom_factor(self.preferences.zoom);
        ctx.set_theme(match self.preferences.theme {
            ThemeChoice::Auto => egui::ThemePreference::System,
            ThemeChoice::Light => egui::ThemePreference::Light,
            ThemeChoice::Dark => egui::ThemePreference::Dark,
        });
    }

    /// Draws everything; answers with what the person asked for.
    fn draw(&mut self, ui: &mut egui::Ui) -> Vec<Action> {
        let mut actions = Vec::new();
        let words = self.words();
        let (store, now) = match &self.paused {
            Some(paused) => (&paused.store, paused.since),
            None => (&self.conductor.store, clock::now()),
        };
        let frame = Frame {
            store,
            now,
            words,
            profiles: self.desk.profiles(),
            preferences: &self.preferences,
            topology: self.topology.as_ref(),
            server: self.server.as_ref(),
        };
        let screens = &mut self.screens;
        if frame.profiles.is_empty() && self.shell.screen != Screen::Settings {
            first_run_ui(ui, &mut screens.first_run, &frame, &mut actions);
            self.shell.toasts.ui(ui.ctx());
        } else {
            let screen = self.shell.screen;
            let data = ShellData::new(&frame);
            let middle = |ui: &mut egui::Ui, actions: &mut Vec<Action>| {
                screens.ui(ui, screen, &frame, actions)
            };
            shell_ui(ui, &data, &mut self.shell, &frame, &mut actions, middle);
        }
        password_ui(ui, &mut self.screens.password, &frame, &mut actions);
        actions
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _: &mut eframe::Frame) {
        let any = self.conductor.take_in();
        self.hear_desk(ctx);
        self.ask_again_where_refused();
        let now = clock::now();
        if self.pace.is_judging_due(now, any) {
            self.conductor.store.judge(now);
        }
        let soon = self.pace.next_frame(&self.conductor.store, now);
        ctx.request_repaint_after(soon.to_duration());
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        for action in self.draw(ui) {
            self.perform(&ctx, action);
        }
        self.note_window_size(&ctx);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }

    fn on_exit(&mut self, _: Option<&eframe::glow::Context>) {
        self.conductor.close();
        self.keep_preferences();
        self.desk.close();
    }
}

impl App {
    /// Kept when the program ends.
    fn note_window_size(&mut self, ctx: &egui::Context) {
        let zoom = ctx.zoom_factor();
        let (rect, maximized) = ctx.input(|i| {
            (
                i.viewport().inner_rect,
                i.viewport().maximized.unwrap_or(false),
            )
        });
        let Some(rect) = rect else { return };
        // a maximized window comes back to its size before
        let size = match self.preferences.window {
            Some(before) if maximized => WindowSize {
                maximized,
                ..before
            },
            _ => WindowSize {
                width: rect.width() * zoom,
                height: rect.height() * zoom,
                maximized,
            },
        };
        self.preferences.window = Some(size);
    }

    fn pause(&mut self, pause: bool) {
        self.paused = pause.then(|| Paused {
            since: clock::now(),
            store: self.conductor.store.clone(),
        });
        self.shell.paused_since = self.paused.as_ref().map(|paused| paused.since);
    }

    fn say(&mut self, sign: Sign, text: &Phrase) {
        let text = self.words().say(text);
        self.shell.toasts.say(sign, text);
    }

    fn profile(&self, topology: &TopologyId) -> Option<&TopologyProfile> {
        self.desk.profile(topology)
    }

    /// The server that screens about one server begin with: the first replica, else the first of all.
    fn first_server(&self, topology: &TopologyId) -> Option<ServerId> {
        let store = &self.conductor.store;
        let replica = store
            .servers_of(topology)
            .find(|server| store.role(server).is_replica())
            .map(|server| server.registration.server.clone());
        let profile = self.profile(topology)?;
        replica.or_else(|| profile.servers.first().map(|s| s.id.clone()))
    }
}

/// A poll interval the person chose; marks follow only where they would be rarer than polls.
fn paced(profile: &TopologyProfile, poll: Span) -> crate::model::profile::Intervals {
    crate::model::profile::Intervals {
        poll,
        mark: profile.intervals.mark.min(poll),
    }
}
