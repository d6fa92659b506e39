//! Carries out what the person asked for, and what the desk behind the forms answers.

use std::time::Duration;

use eframe::egui::{self, ViewportCommand};

use super::routing::Wanted;
use super::{App, DeskEvent};
use crate::app::dialing;
use crate::link::clock;
use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::{ZOOM_MAX, ZOOM_MIN};
use crate::model::probe::ProbePlan;
use crate::model::profile::{Intervals, ServerId, TopologyId, TopologyProfile, WritePermission};
use crate::model::secret::Secret;
use crate::model::time::Span;
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
            Action::Compare {
                topology,
                length,
                rate,
                spare_per_second,
                typed_name,
            } => self.start_comparing(Wanted {
                topology,
                length,
                rate,
                spare_per_second,
                typed_name,
            }),
            Action::StopComparing => {
                if let Some(comparing) = &self.comparing {
                    comparing.stop();
                }
            }
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
            Action::DescribeProbe { topology, plan } => self.describe_probe(&topology, plan),
            Action::EnableWrites {
                topology,
                typed,
                remember,
            } => self.enable_writes(&topology, &typed, remember),
            Action::StartProbe {
                topology,
                plan,
                replica,
            } => {
                if self.accepting.board.running().is_some() {
                    let why = phrase("acceptance.refused.running");
                    self.probing.board.refused.insert(topology, why);
                } else if let Some(profile) = self.profiles.iter().find(|p| p.id == topology) {
                    self.probing.start(profile, plan, replica.as_ref());
                }
            }
            Action::StopProbe => self.probing.stop(),
            Action::SaveProbe { topology, name } => self.probing.keep(&topology, &name),
            Action::ExportProbe {
                topology,
                format,
                to,
                may_replace,
            } => {
                let words = self.words();
                self.probing
                    .export(&topology, format, to, may_replace, words);
            }
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            // the desk's own; it has taken them
            _ => {}
        }
    }

    fn describe_probe(&mut self, topology: &TopologyId, plan: ProbePlan) {
        let Some(profile) = self.profiles.iter().find(|p| p.id == *topology) else {
            return;
        };
        let servers = self.conductor.store.servers_of(topology);
        let known = servers.filter_map(|server| Some(server.last_known.as_ref()?.product.clone()));
        self.probing.describe(profile, plan, known);
    }

    /// A refusal stands on the screen that asked.
    fn enable_writes(&mut self, topology: &TopologyId, typed: &str, remember: bool) {
        let Some(profile) = self.profiles.iter().find(|p| p.id == *topology) else {
            return;
        };
        let enabled = self.probing.enable(profile, typed);
        if enabled && remember && profile.writes != WritePermission::Allowed {
            let profile = TopologyProfile {
                writes: WritePermission::Allowed,
                ..profile.clone()
            };
            self.desk.perform(Action::SaveProfile(profile));
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
    pub(super) fn open(&mut self, topology: &TopologyId) {
        if self.topology.as_ref() != Some(topology) {
            self.server = None;
            self.topology = Some(topology.clone());
        }
        if self.preferences.last_topology.as_ref() != Some(topology) {
            self.preferences.last_topology = Some(topology.clone());
            self.keep_preferences();
        }
        if self.conductor.store.judged(topology).is_none() {
            self.desk.resolve(topology);
        }
    }

    fn close_topology(&mut self, topology: &TopologyId) {
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
        let accept_dial = dialing::accept_dialer(&profile, profile_of_server, secret);
        self.accepting.know(topology, server, accept_dial);
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
