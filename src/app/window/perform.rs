//! Carries out what the person asked for.

use eframe::egui::{self, ViewportCommand};

use super::opening::{Answer, Password};
use super::{App, Needed, paced};
use crate::app::dialing;
use crate::link::clock;
use crate::model::phrase::phrase;
use crate::model::preferences::{ZOOM_MAX, ZOOM_MIN};
use crate::model::profile::{ServerId, TopologyId};
use crate::model::time::Span;
use crate::ui::action::{Action, Screen};
use crate::ui::widgets::Sign;

impl App {
    pub(in crate::app) fn perform(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::Open(topology) => self.open(&topology),
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
            | Action::RemoveProfile(_)
            | Action::TestProfile(_)
            | Action::KeepPassword { .. }
            | Action::ForgetPassword(_)
            | Action::ImportProfiles(_)
            | Action::ExportProfiles { .. }
            | Action::ChooseFile(_)
            | Action::SaveOverChanges(_)
            | Action::ReloadProfiles
            | Action::DeclinePassword(_)
            | Action::DescribeAccount { .. }
            | Action::AddFound { .. } => self.perform_profile(ctx, action),
        }
        // what was asked for is seen at once
        ctx.request_repaint_after(std::time::Duration::from_millis(1));
    }

    /// Profiles, passwords and files: `app::profiles`.
    fn perform_profile(&mut self, _ctx: &egui::Context, action: Action) {
        tracing::debug!("not carried out: {action:?}");
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
        if let Some(keeper) = &self.keeper {
            keeper.keep(self.preferences.clone());
        }
    }

    /// Shows a topology, and begins to watch it unless it is watched already.
    fn open(&mut self, topology: &TopologyId) {
        if self.topology.as_ref() != Some(topology) {
            self.server = None;
        }
        self.topology = Some(topology.clone());
        self.preferences.last_topology = Some(topology.clone());
        if let Some(keeper) = &self.keeper {
            keeper.keep(self.preferences.clone());
        }
        if self.conductor.store.judged(topology).is_some() {
            return;
        }
        let Some(profile) = self.profiles.iter().find(|p| p.id == *topology) else {
            return;
        };
        if let Err(error) = self.lookups.begin(profile, &self.secrets) {
            let text = phrase("window.no_thread")
                .with("server", profile.name.as_str())
                .with("reason", error.to_string());
            self.say(Sign::Critical, &text);
        }
    }

    fn close_topology(&mut self, topology: &TopologyId) {
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
        self.needed.retain(|needed| needed.topology != *topology);
    }

    fn poll_every(&mut self, topology: &TopologyId, interval: Span) {
        if let Some(profile) = self.profile(topology) {
            let intervals = paced(profile, interval);
            self.conductor.pace(topology, intervals);
        }
    }

    /// Passwords were found: their servers are watched from now on.
    pub(super) fn take_in_lookups(&mut self, ctx: &egui::Context) {
        while let Some(answer) = self.lookups.next() {
            self.pause(false);
            self.begin_watching(answer);
            self.pace.began(clock::now());
            self.conductor.store.judge(clock::now());
            ctx.request_repaint_after(std::time::Duration::from_millis(1));
        }
    }

    fn begin_watching(&mut self, answer: Answer) {
        let Some(profile) = self.profile(&answer.topology).cloned() else {
            return;
        };
        for server in &profile.servers {
            let secret = match answer.passwords.get(&server.id) {
                Some(Password::Known { key, secret }) => {
                    self.secrets.keep(key.clone(), secret.clone());
                    Some(secret)
                }
                Some(Password::NoAccount) | None => None,
                Some(Password::Ask { key, user }) => {
                    let needed = Needed {
                        topology: profile.id.clone(),
                        key: key.clone(),
                        user: user.clone(),
                    };
                    if !self.needed.contains(&needed) {
                        self.needed.push(needed);
                        let text = phrase("window.password_needed").with("server", server.label());
                        self.say(Sign::Warning, &text);
                    }
                    continue;
                }
                Some(Password::Failed(why)) => {
                    let text = phrase("window.no_thread")
                        .with("server", server.label())
                        .with("reason", why.clone());
                    self.say(Sign::Critical, &text);
                    continue;
                }
            };
            let dial = dialing::dialer(&profile, server, secret);
            if let Err(error) = self.conductor.watch(&profile, server, dial) {
                let text = phrase("window.no_thread")
                    .with("server", server.label())
                    .with("reason", error.to_string());
                self.say(Sign::Critical, &text);
            }
        }
    }
}
