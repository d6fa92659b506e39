//! The window: eframe on one side, the conductor on the other.
//!
//! `logic` takes in what the threads reported and has it judged, `ui` draws, [`App::perform`] carries out what the person
//! asked for. Whatever may block (keychain, disk, servers) happens on threads; this one only draws.

mod frames;
mod keeper;
mod opening;
mod perform;
mod startup;

use std::path::PathBuf;

use eframe::egui::{self, ViewportBuilder};

use super::conductor::Conductor;
use crate::link::clock;
use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::{LanguageChoice, Preferences, ThemeChoice, WindowSize};
use crate::model::profile::{SecretKey, ServerId, TopologyId, TopologyProfile};
use crate::model::time::{Moment, Span};
use crate::settings::profiles::ProfileStore;
use crate::settings::secrets::SessionSecrets;
use crate::settings::{notice::NoticeSeverity, preferences, profiles};
use crate::store::Store;
use crate::ui::action::{Action, Screen};
use crate::ui::events::{EventsData, EventsState, events_ui};
use crate::ui::overview::{OverviewData, OverviewState, overview_ui};
use crate::ui::shell::{ShellData, ShellState, screen_key, shell_ui};
use crate::ui::widgets::{Sign, empty_ui};
use crate::ui::{Frame, fonts, theme};
use crate::words::{Catalogue, Language};

use frames::Pace;
use keeper::Keeper;
use opening::Lookups;
use startup::Startup;

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
    let loaded = Loaded::from(options);
    let native = eframe::NativeOptions {
        viewport: viewport(loaded.preferences.window),
        centered: loaded.preferences.window.is_none(),
        ..eframe::NativeOptions::default()
    };
    eframe::run_native(
        TITLE,
        native,
        Box::new(|creation| Ok(Box::new(App::new(&creation.egui_ctx, loaded)))),
    )
    .map_err(why_no_window)
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

/// What was read from disk before the window opens.
struct Loaded {
    profiles: Vec<TopologyProfile>,
    profile_store: Option<ProfileStore>,
    preferences: Preferences,
    preference_store: Option<preferences::PreferenceStore>,
    notices: Vec<(Sign, Phrase)>,
    open: Option<TopologyId>,
}

impl From<WindowOptions> for Loaded {
    fn from(options: WindowOptions) -> Self {
        let mut loaded = Loaded {
            profiles: Vec::new(),
            profile_store: None,
            preferences: Preferences::default(),
            preference_store: None,
            notices: Vec::new(),
            open: None,
        };
        if let Some(folder) = options.config_dir {
            let (store, read) = profiles::load(&folder);
            let (kept, preferences, notices) = preferences::load(&folder);
            let all = read.notices.into_iter().chain(notices);
            loaded.notices = all.map(|n| (sign_of(n.severity), n.text)).collect();
            loaded.profiles = read.profiles;
            loaded.profile_store = Some(store);
            loaded.preferences = preferences;
            loaded.preference_store = Some(kept);
        }
        let last = loaded.preferences.last_topology.clone();
        loaded.open = last.filter(|id| loaded.profiles.iter().any(|p| p.id == *id));
        if let Some(topology) = options.topology {
            loaded.open = Some(topology.id.clone());
            if !loaded.profiles.iter().any(|p| p.id == topology.id) {
                loaded.profiles.push(topology);
            }
        }
        loaded
    }
}

fn sign_of(severity: NoticeSeverity) -> Sign {
    match severity {
        NoticeSeverity::Hint => Sign::Ok,
        NoticeSeverity::Warning => Sign::Warning,
    }
}

/// The program while its window is open.
pub struct App {
    pub(super) conductor: Conductor,
    pub(super) profiles: Vec<TopologyProfile>,
    /// Absent without a config folder.
    pub(super) profile_store: Option<ProfileStore>,
    pub(super) secrets: SessionSecrets,
    /// Accounts whose password nobody has told yet: to be asked for.
    pub(super) needed: Vec<Needed>,
    pub(super) shell: ShellState,
    preferences: Preferences,
    keeper: Option<Keeper>,
    lookups: Lookups,
    topology: Option<TopologyId>,
    server: Option<ServerId>,
    overview: OverviewState,
    events: EventsState,
    paused: Option<Paused>,
    pace: Pace,
    startup: Startup,
}

/// A password that only the person can tell.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Needed {
    pub topology: TopologyId,
    pub key: SecretKey,
    pub user: String,
}

/// The picture that is held still.
struct Paused {
    since: Moment,
    store: Store,
}

impl App {
    fn new(ctx: &egui::Context, loaded: Loaded) -> Self {
        fonts::install(ctx);
        theme::install(ctx);
        // its steps and limits are not ours; see Action::Zoom
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let mut app = App {
            conductor: Conductor::default(),
            profiles: loaded.profiles,
            profile_store: loaded.profile_store,
            secrets: SessionSecrets::default(),
            needed: Vec::new(),
            shell: ShellState::default(),
            preferences: loaded.preferences,
            keeper: loaded
                .preference_store
                .and_then(|store| Keeper::start(store).ok()),
            lookups: Lookups::default(),
            topology: None,
            server: None,
            overview: OverviewState::default(),
            events: EventsState::default(),
            paused: None,
            pace: Pace::default(),
            startup: Startup::default(),
        };
        app.apply_preferences(ctx);
        for (sign, text) in loaded.notices {
            let text = app.words().say(&text);
            app.shell.toasts.say(sign, text);
        }
        match loaded.open {
            Some(topology) => app.perform(ctx, Action::Open(topology)),
            None => app.topology = app.profiles.first().map(|p| p.id.clone()),
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
            profiles: &self.profiles,
            preferences: &self.preferences,
            topology: self.topology.as_ref(),
            server: self.server.as_ref(),
        };
        let data = ShellData::new(&frame);
        let screen = self.shell.screen;
        let (overview, events) = (&mut self.overview, &mut self.events);
        shell_ui(
            ui,
            &data,
            &mut self.shell,
            &frame,
            &mut actions,
            |ui, actions| match screen {
                Screen::Overview => {
                    let data = OverviewData::new(&frame, overview);
                    overview_ui(ui, &data, overview, &frame, actions);
                }
                Screen::Events => {
                    let data = EventsData::new(&frame, events);
                    events_ui(ui, &data, events, &frame);
                }
                Screen::Server
                | Screen::Lag
                | Screen::Transactions
                | Screen::SemiSync
                | Screen::Profiles
                | Screen::Settings => {
                    empty_ui(ui, words.text(screen_key(screen)), "", None);
                }
            },
        );
        actions
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _: &mut eframe::Frame) {
        let any = self.conductor.take_in();
        self.take_in_lookups(ctx);
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
        self.startup
            .drawn(&self.conductor.store, self.topology.as_ref());
        self.note_window_size(&ctx);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }

    fn on_exit(&mut self, _: Option<&eframe::glow::Context>) {
        self.conductor.close();
        if let Some(keeper) = self.keeper.take() {
            keeper.close(self.preferences.clone());
        }
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
        self.profiles.iter().find(|p| p.id == *topology)
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
