//! Carries out what the person asked for.

use eframe::egui::{self, ViewportCommand};

use super::{App, paced};
use crate::model::preferences::{ZOOM_MAX, ZOOM_MIN};
use crate::model::profile::{ServerId, TopologyId};
use crate::model::time::Span;
use crate::ui::action::{Action, Screen};

impl App {
    pub(in crate::app) fn perform(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::Open(topology) => {
                // A profile that is still being saved is opened when that is done.
                if let Some(Action::Open(topology)) = self.desk.perform(Action::Open(topology)) {
                    self.open(&topology);
                }
            }
            Action::Close(topology) => self.close_topology(&topology),
            Action::Show(screen) => self.show(screen),
            Action::Select { topology, server } => {
                self.topology = Some(topology);
                self.server = Some(server);
            }
            Action::PollNow(topology) => self.conductor.poll_now(&topology),
            Action::Pause(pause) => self.pause(pause),
            Action::PollEvery { topology, interval } => self.poll_every(&topology, interval),
            Action::Copy(text) => ctx.copy_text(text),
            Action::Language(choice) => {
                self.preferences.language = choice;
                self.preferences_changed(ctx);
            }
            Action::Theme(choice) => {
                self.preferences.theme = choice;
                self.preferences_changed(ctx);
            }
            Action::Zoom(zoom) => {
                self.preferences.zoom = zoom.clamp(ZOOM_MIN, ZOOM_MAX);
                self.preferences_changed(ctx);
            }
            Action::SavePreferences(mut preferences) => {
                // the window's own business, not the form's
                preferences.window = self.preferences.window;
                self.preferences = preferences;
                self.preferences_changed(ctx);
            }
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Action::SaveProfile(_)
            | Action::SaveOverChanges(_)
            | Action::ReloadProfiles
            | Action::RemoveProfile(_)
            | Action::TestProfile(_)
            | Action::DescribeAccount { .. }
            | Action::KeepPassword { .. }
            | Action::ForgetPassword(_)
            | Action::DeclinePassword(_)
            | Action::ImportProfiles(_)
            | Action::ExportProfiles { .. }
            | Action::ChooseFile(_)
            | Action::AddFound { .. } => self.to_desk(action),
        }
        // what was asked for is seen at once
        ctx.request_repaint_after(std::time::Duration::from_millis(1));
    }

    /// Profiles, passwords and files; the answers come back in `hear_desk`.
    fn to_desk(&mut self, action: Action) {
        if let Some(action) = self.desk.perform(action) {
            debug_assert!(false, "the desk does not know {action:?}");
        }
    }

    fn show(&mut self, screen: Screen) {
        self.shell.screen = screen;
        if self.server.is_none()
            && let Some(topology) = self.topology.clone()
        {
            self.server = self.first_server(&topology);
        }
    }

    fn preferences_changed(&mut self, ctx: &egui::Context) {
        self.apply_preferences(ctx);
        self.keep_preferences();
    }

    /// Shows a topology, and begins to watch it unless it is watched already.
    fn open(&mut self, topology: &TopologyId) {
        if self.topology.as_ref() != Some(topology) {
            self.server = None;
        }
        self.topology = Some(topology.clone());
        self.preferences.last_topology = Some(topology.clone());
        self.keep_preferences();
        if self.conductor.store.judged(topology).is_some() {
            return;
        }
        self.desk.resolve(topology);
    }

    pub(super) fn close_topology(&mut self, topology: &TopologyId) {
        self.pause(false);
        let servers: Vec<ServerId> = self
            .conductor
            .store
            .servers_of(topology)
            .map(|server| server.registration.server.clone())
            .collect();
        for server in servers {
            self.conductor.unwatch(topology, &server);
        }
    }

    fn poll_every(&mut self, topology: &TopologyId, interval: Span) {
        if let Some(profile) = self.profile(topology) {
            let intervals = paced(profile, interval);
            self.conductor.pace(topology, intervals);
        }
    }
}
