//! The window's work without the window: the same threads, store and drawing code, down to triangles that nobody paints.
#![allow(dead_code)] // each bench takes what it needs

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui::{self, RawInput, Rect, pos2, vec2};
use replicascope::app::conductor::Conductor;
use replicascope::app::dialing;
use replicascope::app::window::frames::{JUDGED_AT_ONCE, Pace};
use replicascope::link::clock;
use replicascope::model::preferences::Preferences;
use replicascope::model::profile::TopologyProfile;
use replicascope::model::secret::Secret;
use replicascope::model::time::Moment;
use replicascope::settings::profiles;
use replicascope::ui::action::Action;
use replicascope::ui::overview::{OverviewData, OverviewState, overview_ui};
use replicascope::ui::shell::{ShellData, ShellState, shell_ui};
use replicascope::ui::{Frame, fonts, theme};
use replicascope::words::{Catalogue, Language};

use super::measure::WATCHER;
use super::support::servers::Node;
use super::{FRAME_EVERY, SIZE};

/// Its password is the watching account's name, in the environment of whoever opens it.
pub fn save_profile(nodes: &[Node], folder: &Path) -> PathBuf {
    let mut text = format!(
        "version = 1\n[[topology]]\nname = \"bench\"\naccount = {{ user = \"{WATCHER}\", password_from = \
         \"env:REPLICASCOPE_PASSWORD\" }}\n"
    );
    for node in nodes {
        text += &format!(
            "[[topology.server]]\nhost = \"127.0.0.1\"\nport = {}\n",
            node.port()
        );
    }
    let file = folder.join("bench.toml");
    fs::write(&file, text).expect("the folder is writable");
    file
}

/// What the window holds, without the window.
pub struct Desk {
    pub conductor: Conductor,
    profiles: Vec<TopologyProfile>,
    preferences: Preferences,
    context: egui::Context,
    shell: ShellState,
    overview: OverviewState,
    began: Instant,
    pace: Pace,
    pub frames: Vec<Duration>,
    /// What each of `frames` was made of.
    pub stages: Vec<Stages>,
    /// Of the newest frame.
    pub triangles: usize,
}

/// Where the time of one frame went.
#[derive(Clone, Copy, Default)]
pub struct Stages {
    pub taking_in: Duration,
    pub judging: Duration,
    pub drawing: Duration,
    pub tessellating: Duration,
}

impl Desk {
    /// `password`: of the watching account of a topology, by its id.
    pub fn watching(file: &Path, password: impl Fn(&str) -> String) -> Self {
        let profiles = profiles::read_file(file)
            .expect("a readable profile")
            .profiles;
        let context = egui::Context::default();
        fonts::install(&context);
        theme::install(&context);
        let mut desk = Desk {
            conductor: Conductor::default(),
            profiles,
            preferences: Preferences::default(),
            context,
            shell: ShellState::default(),
            overview: OverviewState::default(),
            began: Instant::now(),
            pace: Pace::default(),
            frames: Vec::new(),
            stages: Vec::new(),
            triangles: 0,
        };
        for topology in &desk.profiles {
            let password = Secret::new(password(&topology.id.0));
            for server in &topology.servers {
                let dialer = dialing::dialer(topology, server, Some(&password));
                desk.conductor
                    .watch(topology, server, dialer)
                    .expect("a thread can be started");
            }
        }
        desk
    }

    /// A frame a second.
    pub fn go_on_for(&mut self, length: Duration) {
        let end = Instant::now() + length;
        let mut next = Instant::now();
        while next < end {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            self.timed_frame();
            next += FRAME_EVERY;
        }
    }

    pub fn timed_frame(&mut self) {
        let begin = Instant::now();
        let stages = self.frame();
        self.frames.push(begin.elapsed());
        self.stages.push(stages);
    }

    /// When the window would draw again, if nothing is touched, and no later than this bench wants it.
    pub fn next_frame_in(&self) -> Duration {
        let pace = self.pace.next_frame(&self.conductor.store, clock::now());
        pace.to_duration().min(FRAME_EVERY)
    }

    /// Servers that are not read cost nothing.
    pub fn assert_all_read(&self, servers: usize) {
        let measured = self
            .conductor
            .store
            .servers()
            .filter(|server| server.last_known.is_some())
            .count();
        assert_eq!(measured, servers, "all servers were read");
    }

    /// As the window does it: events in, judged, drawn.
    fn frame(&mut self) -> Stages {
        let mut lap = Instant::now();
        let mut split = || std::mem::replace(&mut lap, Instant::now()).elapsed();
        self.conductor.take_in();
        let taking_in = split();
        let now = clock::now();
        self.judge(now);
        let judging = split();
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(SIZE[0], SIZE[1]))),
            time: Some(self.began.elapsed().as_secs_f64()),
            ..RawInput::default()
        };
        let context = self.context.clone();
        let mut output = context.run_ui(input, |ui| self.draw(ui, now));
        let drawing = split();
        output.textures_delta.clear(); // nobody paints
        let meshes = context.tessellate(output.shapes, output.pixels_per_point);
        self.triangles = meshes.iter().map(triangles).sum();
        Stages {
            taking_in,
            judging,
            drawing,
            tessellating: split(),
        }
    }

    /// As the window does it: a large fleet in pieces.
    fn judge(&mut self, now: Moment) {
        let began = self.pace.round(now, true);
        if let Some(began) = began {
            let looked_at = self.profiles.first().map(|profile| &profile.id);
            let store = &mut self.conductor.store;
            let all = store.judge_some(began, looked_at, JUDGED_AT_ONCE, now);
            self.pace.judged(all);
        }
    }

    fn draw(&mut self, ui: &mut egui::Ui, now: Moment) {
        let frame = Frame {
            store: &self.conductor.store,
            now,
            words: Catalogue::of(Language::English),
            profiles: &self.profiles,
            preferences: &self.preferences,
            topology: self.profiles.first().map(|profile| &profile.id),
            server: None,
        };
        let overview = &mut self.overview;
        let mut actions: Vec<Action> = Vec::new();
        let data = ShellData::new(&frame);
        shell_ui(
            ui,
            &data,
            &mut self.shell,
            &frame,
            &mut actions,
            |ui, actions| {
                let data = OverviewData::new(&frame, overview);
                overview_ui(ui, &data, overview, &frame, actions);
            },
        );
    }
}

fn triangles(primitive: &egui::ClippedPrimitive) -> usize {
    match &primitive.primitive {
        egui::epaint::Primitive::Mesh(mesh) => mesh.indices.len() / 3,
        egui::epaint::Primitive::Callback(_) => 0,
    }
}
