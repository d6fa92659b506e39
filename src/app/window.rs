//! The window: eframe on one side, the conductor on the other.
//!
//! `logic` takes in what the threads reported and has it judged, `ui` draws, [`App::perform`] carries out what the person
//! asked for. Whatever may block (keychain, disk, servers) happens on threads; this one only draws.

mod acceptance;
pub mod frames;
mod lab;
mod lesson;
mod perform;
mod probing;
mod refused;
mod routing;
mod screens;
mod startup;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eframe::egui::{self, ViewportBuilder, ViewportCommand, ViewportId};

use super::accepting::desk::AcceptDesk;
use super::comparing::Comparing;
use super::comparing::desk::CompareDesk;
use super::conductor::Conductor;
use super::lab::{LabDesk, plan as lab_plan};
use super::probing::Probing;
use super::profiles::{DeskEvent, ProfileDesk};
use super::signals;
use super::teaching::Teaching;
use crate::link::clock;
use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::{LanguageChoice, Preferences, ThemeChoice, WindowSize};
use crate::model::profile::{ServerId, TopologyId, TopologyProfile};
use crate::model::time::{Moment, Span};
use crate::settings::{paths, preferences};
use crate::store::Store;
use crate::ui::action::Action;
use crate::ui::shell::{ShellData, ShellState, shell_ui};
use crate::ui::widgets::Sign;
use crate::ui::{Frame, fonts, theme};
use crate::words::{Catalogue, Language};

use frames::Pace;
use screens::{Boards, Screens};
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
    /// Started at once and shown.
    pub lab: Option<lab_plan::Wanted>,
    /// Begun at once, on that lab.
    pub lesson: Option<String>,
    /// For this run, whatever the preferences say.
    pub language: Option<Language>,
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
    let size = last_size(&options);
    let native = eframe::NativeOptions {
        viewport: viewport(size),
        centered: size.is_none(),
        ..eframe::NativeOptions::default()
    };
    let create = |creation: &eframe::CreationContext<'_>| -> Result<Box<dyn eframe::App>, _> {
        close_when_told_to_end(&creation.egui_ctx);
        Ok(Box::new(App::new(&creation.egui_ctx, options)?))
    };
    eframe::run_native(TITLE, native, Box::new(create)).map_err(why_no_window)
}

/// As if the person had closed it, whether it is shown or not: what is at work ends, and preferences are kept.
fn close_when_told_to_end(ctx: &egui::Context) {
    let ctx = ctx.clone();
    signals::when_told_to_end(move || {
        ctx.send_viewport_cmd_to(ViewportId::ROOT, ViewportCommand::Close);
        ctx.request_repaint_of(ViewportId::ROOT);
    });
}

/// The size is needed before there is a window; everything else is read when it opens.
fn last_size(options: &WindowOptions) -> Option<WindowSize> {
    let folder = options.config_dir.as_deref()?;
    if !paths::preferences_file(folder).exists() {
        return None;
    }
    preferences::load(folder).1.window
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
    conductor: Conductor,
    desk: ProfileDesk,
    probing: Probing,
    accepting: AcceptDesk,
    lab: LabDesk,
    teaching: Teaching,
    /// The overview comes up as soon as the lab runs.
    overview_follows: bool,
    /// Those of the desk, and the one named on the command line.
    profiles: Vec<TopologyProfile>,
    preferences: Preferences,
    /// As the command line says, until the person chooses another.
    language: Option<Language>,
    shell: ShellState,
    screens: Screens,
    topology: Option<TopologyId>,
    server: Option<ServerId>,
    paused: Option<Paused>,
    pace: Pace,
    startup: Startup,
    comparing: Option<Comparing>,
    compare_desk: CompareDesk,
    refused: refused::Refused,
}

/// The picture that is held still.
struct Paused {
    since: Moment,
    store: Store,
}

impl App {
    /// With everything at work; drawn by eframe, or by nobody.
    pub fn new(ctx: &egui::Context, options: WindowOptions) -> std::io::Result<Self> {
        fonts::install(ctx);
        theme::install(ctx);
        // its steps and limits are not ours; see Action::Zoom
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let wake: Arc<dyn Fn() + Send + Sync> = {
            let ctx = ctx.clone();
            // request_repaint would draw two frames
            Arc::new(move || ctx.request_repaint_after(Duration::from_millis(1)))
        };
        let (desk, preferences) =
            ProfileDesk::open(options.config_dir, screens::server_side(), wake.clone())?;
        let mut app = App {
            conductor: Conductor::default(),
            profiles: desk.profiles().to_vec(),
            desk,
            probing: Probing::keeping_in(paths::data_dir()),
            accepting: AcceptDesk::default(),
            lab: LabDesk::new(wake),
            teaching: Teaching::beginning_with(options.lesson),
            overview_follows: false,
            preferences,
            language: options.language,
            shell: ShellState::default(),
            screens: Screens::default(),
            topology: None,
            server: None,
            paused: None,
            pace: Pace::default(),
            startup: Startup::default(),
            comparing: None,
            compare_desk: CompareDesk::keeping_in(paths::data_dir()),
            refused: refused::Refused::default(),
        };
        app.apply_preferences(ctx);
        app.open_the_first(options.topology, options.lab);
        Ok(app)
    }

    /// The one named on the command line, else the one shown last, if it is still there.
    /// A lab comes before both.
    fn open_the_first(&mut self, named: Option<TopologyProfile>, lab: Option<lab_plan::Wanted>) {
        if let Some(lab_plan::Wanted { plan, program }) = lab {
            self.topology = self.profiles.first().map(|p| p.id.clone());
            self.start_lab(plan, program);
            return;
        }
        let last = self.preferences.last_topology.clone();
        let mut open = last.filter(|id| self.profile(id).is_some());
        if let Some(topology) = named {
            open = Some(topology.id.clone());
            if self.profile(&topology.id).is_none() {
                self.desk.adopt(topology);
                self.profiles = self.desk.profiles().to_vec();
            }
        }
        match open {
            Some(topology) => self.open(&topology),
            None => self.topology = self.profiles.first().map(|p| p.id.clone()),
        }
    }

    fn words(&self) -> &'static Catalogue {
        if let Some(language) = self.language {
            return Catalogue::in_window(language);
        }
        Catalogue::in_window(match self.preferences.language {
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
        let boards = Boards {
            probes: &self.probing.board,
            acceptances: &self.accepting.board,
            lab: &self.lab.board,
            lessons: &self.teaching.board,
        };
        if boards.lessons.is_presenting {
            self.zoom_for_projector(ui.ctx());
            self.screens.presenter_ui(ui, &frame, boards, &mut actions);
            return actions;
        }
        let data = ShellData::new(&frame).with_lab(words, boards.lab, boards.lessons);
        let (screen, screens) = (self.shell.screen, &mut self.screens);
        shell_ui(
            ui,
            &data,
            &mut self.shell,
            &frame,
            &mut actions,
            |ui, actions| {
                screens.ui(ui, screen, &frame, boards, actions);
            },
        );
        self.screens.questions_ui(ui, &frame, &mut actions);
        actions
    }
}

impl App {
    /// Ends everything that is at work.
    pub fn close(&mut self) {
        // side by side: each may wait half a second for what does not answer
        let (conductor, desk, probing) = (&mut self.conductor, &mut self.desk, &mut self.probing);
        let (accepting, lab) = (&mut self.accepting, &mut self.lab);
        let comparing = self.comparing.take().filter(|c| c.end.is_none());
        std::thread::scope(|scope| {
            scope.spawn(|| conductor.close());
            scope.spawn(|| probing.close());
            scope.spawn(|| accepting.close());
            scope.spawn(|| lab.close());
            // rows of ours are removed first, within a limit
            scope.spawn(|| comparing.map(Comparing::close));
            desk.close();
        });
    }

    /// Takes in what has happened and goes on with what is under way; answers when to look again.
    pub fn advance(&mut self, ctx: &egui::Context) -> Span {
        self.hear_lab(ctx);
        let any = self.conductor.take_in();
        self.hear_desk(ctx);
        self.ask_again_where_refused();
        let now = clock::now();
        if let Some(began) = self.pace.round(now, any) {
            let store = &mut self.conductor.store;
            let looked_at = self.topology.as_ref();
            let all = store.judge_some(began, looked_at, frames::JUDGED_AT_ONCE, now);
            self.pace.judged(all);
            self.hear_comparison(now);
            self.tell_routing();
        }
        self.probing.take_in();
        self.accepting.take_in(self.words());
        self.compare_desk.take_in(&mut self.screens.routing.board);
        self.go_on_teaching(ctx, now);
        let soon = self.pace.next_frame(&self.conductor.store, now);
        let at_work = [
            self.probing.is_busy(),
            self.accepting.is_busy(),
            self.compare_desk.is_busy(),
            self.lab.is_passing() || self.lab.is_waiting(),
            self.teaching.board.is_acting,
        ];
        match at_work.contains(&true) {
            true => soon.min(frames::WHILE_PROBING),
            false => soon,
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _: &mut eframe::Frame) {
        let soon = self.advance(ctx);
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
        self.keep_preferences();
        self.close();
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

    fn keep_preferences(&mut self) {
        self.desk
            .perform(Action::SavePreferences(self.preferences.clone()));
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
