//! The probe as the window carries it out.

use super::App;
use crate::model::phrase::phrase;
use crate::model::probe::ProbePlan;
use crate::model::profile::{ServerId, TopologyId, TopologyProfile, WritePermission};
use crate::ui::action::Action;

impl App {
    /// Takes what concerns the probe; the rest comes back.
    pub(super) fn perform_probe(&mut self, action: Action) -> Option<Action> {
        match action {
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
            } => self.start_probe(topology, plan, replica.as_ref()),
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
            other => return Some(other),
        }
        None
    }

    fn start_probe(&mut self, topology: TopologyId, plan: ProbePlan, replica: Option<&ServerId>) {
        if self.accepting.board.running().is_some() {
            let why = phrase("acceptance.refused.running");
            self.probing.board.refused.insert(topology, why);
        } else if let Some(profile) = self.profiles.iter().find(|p| p.id == topology) {
            self.probing.start(profile, plan, replica);
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
}
