//! The window's work without the window: the same threads, store and drawing code, down to triangles that nobody paints.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui::{self, RawInput, Rect, pos2, vec2};
use replicascope::app::conductor::Conductor;
use replicascope::app::dialing;
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
use super::{FRAME_EVERY, SIZE};

/// What the window holds, without the window.
pub struct Desk {
    pub conductor: Conductor,
    profiles: Vec<TopologyProfile>,
    preferences: Preferences,
    context: egui::Context,
    shell: ShellState,
    overview: OverviewState,
    began: Instant,
    pub frames: Vec<Duration>,
    /// Of the newest frame.
    pub triangles: usize,
}

impl Desk {
    pub fn watching(file: &Path) -> Self {
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
            frames: Vec::new(),
            triangles: 0,
        };
        let password = Secret::new(WATCHER.to_owned());
        for topology in &desk.profiles {
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
            let begin = Instant::now();
            self.frame();
            self.frames.push(begin.elapsed());
            next += FRAME_EVERY;
        }
        let measured = self
            .conductor
            .store
            .servers()
            .filter(|server| server.last_known.is_some())
            .count();
        assert_eq!(measured, 3, "all servers were read");
    }

    /// As the window does it: events in, judged, drawn.
    fn frame(&mut self) {
        self.conductor.take_in();
        let now = clock::now();
        self.conductor.store.judge(now);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(SIZE[0], SIZE[1]))),
            time: Some(self.began.elapsed().as_secs_f64()),
            ..RawInput::default()
        };
        let context = self.context.clone();
        let mut output = context.run_ui(input, |ui| self.draw(ui, now));
        output.textures_delta.clear(); // nobody paints
        let meshes = context.tessellate(output.shapes, output.pixels_per_point);
        self.triangles = meshes.iter().map(triangles).sum();
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
