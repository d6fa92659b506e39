//! What the desk behind the forms answers, and what follows for the servers watched.

use eframe::egui;

use super::App;
use crate::app::dialing;
use crate::app::profiles::{DeskEvent, ProfileDesk};
use crate::link::clock;
use crate::model::event::LinkState;
use crate::model::phrase::{Phrase, phrase};
use crate::model::preferences::Preferences;
use crate::model::profile::{ServerId, TopologyId, TopologyProfile};
use crate::model::secret::Secret;
use crate::model::trouble::TroubleKind;
use crate::ui::action::Action;
use crate::ui::widgets::Sign;

/// What to watch at once: what the command line names, else what was on show last time.
pub fn first_topology(
    desk: &mut ProfileDesk,
    named: Option<TopologyProfile>,
    preferences: &Preferences,
) -> Option<TopologyId> {
    if let Some(profile) = named {
        let id = profile.id.clone();
        desk.add_guest(profile);
        return Some(id);
    }
    let last = preferences.last_topology.clone();
    last.filter(|id| desk.profile(id).is_some())
}

impl App {
    /// Takes in what the desk's workers answered.
    pub(super) fn hear_desk(&mut self, ctx: &egui::Context) {
        for event in self.desk.poll() {
            match event {
                DeskEvent::News(news) => {
                    if let Some((sign, text)) = news.toast(self.words()) {
                        self.shell.toasts.say(sign, text);
                    }
                    self.screens.hear(&news);
                }
                DeskEvent::ProfilesChanged { changed, removed } => {
                    self.profiles_changed(&changed, &removed)
                }
                DeskEvent::Open(topology) => self.perform(ctx, Action::Open(topology)),
                DeskEvent::Ready {
                    topology,
                    server,
                    secret,
                } => {
                    self.begin_watching(&topology, &server, secret.as_ref());
                }
                DeskEvent::NoPassword {
                    topology,
                    server,
                    why,
                } => {
                    self.say_of_server(&topology, &server, "window.no_password", why);
                }
            }
        }
    }

    fn profiles_changed(&mut self, changed: &[TopologyId], removed: &[TopologyId]) {
        for topology in changed.iter().chain(removed) {
            if self.conductor.store.judged(topology).is_none() {
                continue;
            }
            self.close_topology(topology);
            if changed.contains(topology) {
                self.desk.resolve(topology);
            }
        }
        let gone = self
            .topology
            .as_ref()
            .is_some_and(|id| self.desk.profile(id).is_none());
        if gone || self.topology.is_none() {
            self.topology = self.desk.profiles().first().map(|p| p.id.clone());
            self.server = None;
        }
    }

    fn begin_watching(
        &mut self,
        topology: &TopologyId,
        server: &ServerId,
        secret: Option<&Secret>,
    ) {
        let Some(profile) = self.desk.profile(topology).cloned() else {
            return;
        };
        let Some(server) = profile.server(server) else {
            return;
        };
        self.pause(false);
        let dial = dialing::dialer(&profile, server, secret);
        if let Err(error) = self.conductor.watch(&profile, server, dial) {
            let why = phrase("window.reason").with("reason", error.to_string());
            self.say_of_server(topology, &server.id, "window.no_thread", why);
        }
        self.pace.began(clock::now());
        self.conductor.store.judge(clock::now());
    }

    /// A password that the server refuses is asked for again, once for each watch.
    pub(super) fn ask_again_where_refused(&mut self) {
        let mut asked = Vec::new();
        for server in self.conductor.store.servers() {
            if let LinkState::Down { trouble, .. } = &server.link
                && trouble.kind == TroubleKind::AccessDenied
                && self.refused.insert(server.watch())
            {
                let place = &server.registration;
                asked.push((
                    place.topology.clone(),
                    place.server.clone(),
                    trouble.what.clone(),
                ));
            }
        }
        for (topology, server, why) in asked {
            self.desk.refused(&topology, &server, why);
        }
    }

    fn say_of_server(
        &mut self,
        topology: &TopologyId,
        server: &ServerId,
        key: &'static str,
        why: Phrase,
    ) {
        let name = self
            .desk
            .profile(topology)
            .and_then(|p| p.server(server))
            .map(|s| s.label());
        let text = Phrase::new(key)
            .with("server", name.unwrap_or_default())
            .with("reason", why);
        self.say(Sign::Critical, &text);
    }

    pub(super) fn keep_preferences(&mut self) {
        // Gives back only what is not the desk's business.
        let _ = self
            .desk
            .perform(Action::SavePreferences(self.preferences.clone()));
    }
}
