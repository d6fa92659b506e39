//! Carries out what the person asked for, and what the desk behind the forms answers.

use std::time::Duration;

use eframe::egui::{self, ViewportCommand};

use super::{App, DeskEvent};
use crate::app::dialing::{self, AcceptAccount};
use crate::link::clock;
use crate::model::lab::is_lab_topology;
use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::{ZOOM_MAX, ZOOM_MIN};
use crate::model::profile::{Intervals, ServerId, TopologyId};
use crate::model::secret::Secret;
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::widgets::Sign;

impl App {
    pub(super) fn perform(&mut self, ctx: &egui::Context, action: Action) {
        // what was asked for is seen at once
        ctx.request_repaint_after(Duration::from_millis(1));
        if let Action::SavePreferences(preferences) = &action {
            self.preferences = preferences.clone();
            self.apply_preferences(ctx);
        }
        let Some(action) = self.desk.perform(action) else {
            return;
        };
        let Some(action) = self.perform_acceptance(action) else {
            return;
        };
        let Some(action) = self.perform_lab(ctx, action) else {
            return;
        };
        let Some(action) = self.perform_comparison(action) else {
            return;
        };
        let Some(action) = self.perform_probe(action) else {
            return;
        };
        match action {
            Action::Open(topology) => self.open(&topology),
            Action::Close(topology) => self.close_topology(&topology),
            Action::Show(screen) => self.show(screen),
            Action::AddTopology => self.add_topology(),
            Action::Select { topology, server } => {
                self.topology = Some(topology);
                self.server = Some(server);
            }
            Action::PollNow(topology) => self.conductor.poll_now(&topology),
            Action::Pause(pause) => self.pause(pause),
            Action::PollEvery { topology, interval } => self.poll_every(&topology, interval),
            Action::Copy(text) => ctx.copy_text(text),
            Action::Language(choice) => {
                self.language = None;
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
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            // the desk's own; it has taken them
            _ => {}
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

    /// What was typed for another topology is asked about first.
    fn add_topology(&mut self) {
        self.show(Screen::Profiles);
        let words = self.words();
        self.screens.add_topology(&Frame {
            store: &self.conductor.store,
            now: clock::now(),
            words,
            profiles: &self.profiles,
            preferences: &self.preferences,
            topology: self.topology.as_ref(),
            server: self.server.as_ref(),
        });
    }

    fn preferences_changed(&mut self, ctx: &egui::Context) {
        self.apply_preferences(ctx);
        self.keep_preferences();
    }

    /// Shows a topology, and begins to watch it unless it is watched already.
    pub(super) fn open(&mut self, topology: &TopologyId) {
        if self.topology.as_ref() != Some(topology) {
            self.server = None;
            self.topology = Some(topology.clone());
        }
        // a lab's is gone by the next start
        if self.preferences.last_topology.as_ref() != Some(topology) && !is_lab_topology(topology) {
            self.preferences.last_topology = Some(topology.clone());
            self.keep_preferences();
        }
        if self.conductor.store.judged(topology).is_none() {
            self.desk.resolve(topology);
        }
    }

    pub(super) fn close_topology(&mut self, topology: &TopologyId) {
        self.pause(false);
        self.probing.forget(topology);
        self.accepting.forget(topology);
        if let Some(comparing) = self.comparing.as_ref().filter(|c| c.topology == *topology) {
            comparing.stop();
        }
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

    /// Marks follow only where they would be rarer than polls.
    fn poll_every(&mut self, topology: &TopologyId, poll: Span) {
        if let Some(profile) = self.profile(topology) {
            let mark = profile.intervals.mark.min(poll);
            self.conductor.pace(topology, Intervals { poll, mark });
        }
    }

    // --- what the desk answers ---------------------------------------------------------------------------------------

    pub(super) fn hear_desk(&mut self, ctx: &egui::Context) {
        for event in self.desk.poll() {
            ctx.request_repaint_after(Duration::from_millis(1));
            match event {
                DeskEvent::News(news) => {
                    if let Some((sign, text)) = news.toast(self.words()) {
                        self.shell.toasts.say(sign, text);
                    }
                    self.screens.hear(&news);
                }
                DeskEvent::ProfilesChanged { changed, removed } => {
                    self.profiles_changed(&changed, &removed);
                }
                DeskEvent::Open(topology) => {
                    self.open(&topology);
                    self.shell.screen = Screen::Overview;
                }
                DeskEvent::Ready {
                    topology,
                    server,
                    secret,
                } => self.watch(&topology, &server, secret.as_ref()),
                DeskEvent::NoPassword {
                    topology,
                    server,
                    why,
                } => self.cannot_watch(&topology, &server, why),
            }
        }
    }

    fn profiles_changed(&mut self, changed: &[TopologyId], removed: &[TopologyId]) {
        self.profiles = self.desk.profiles().to_vec();
        for topology in removed {
            self.close_topology(topology);
        }
        for topology in changed {
            if self.conductor.store.judged(topology).is_some() {
                self.close_topology(topology);
                self.desk.resolve(topology);
            }
        }
        let shown = self.topology.as_ref();
        if shown.is_none_or(|id| self.profile(id).is_none()) {
            self.topology = self.profiles.first().map(|p| p.id.clone());
            self.server = None;
        }
    }

    fn watch(&mut self, topology: &TopologyId, server: &ServerId, secret: Option<&Secret>) {
        let Some(profile) = self.profile(topology).cloned() else {
            return;
        };
        let Some(profile_of_server) = profile.server(server) else {
            return;
        };
        self.pause(false);
        let dial = dialing::dialer(&profile, profile_of_server, secret);
        let probe_dial = dialing::probe_dialer(&profile, profile_of_server, secret);
        self.probing.know(topology, server, probe_dial);
        self.compare_desk.bring(topology);
        let account = AcceptAccount {
            topology: profile.clone(),
            server: profile_of_server.clone(),
            secret: secret.cloned(),
        };
        self.accepting.know(topology, server, account);
        match self.conductor.watch(&profile, profile_of_server, dial) {
            Ok(_) => {
                self.pace.began(clock::now());
                self.conductor.store.judge(clock::now());
            }
            Err(error) => {
                let why = phrase("window.no_thread").with("reason", error.to_string());
                self.cannot_watch(topology, server, why);
            }
        }
    }

    fn cannot_watch(&mut self, topology: &TopologyId, server: &ServerId, why: Phrase) {
        let label = self
            .profile(topology)
            .and_then(|profile| profile.server(server))
            .map_or_else(|| server.0.clone(), |server| server.label());
        let text = phrase("window.not_watched")
            .with("server", label)
            .with("reason", why);
        self.say(Sign::Critical, &text);
    }
}
