//! The acceptance run as the window carries it out.

use super::App;
use crate::model::phrase::phrase;
use crate::model::profile::TopologyId;
use crate::ui::action::Action;

impl App {
    /// Takes what concerns the acceptance run; the rest comes back.
    pub(super) fn perform_acceptance(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::DescribeAcceptance(topology) => self.describe_acceptance(&topology),
            Action::StartAcceptance {
                topology,
                may_hold,
                typed,
            } => self.start_acceptance(&topology, may_hold, &typed),
            Action::StopAcceptance => self.accepting.stop(),
            Action::SaveAcceptance { topology, to } => self.accepting.save(&topology, to),
            other => return Some(other),
        }
        None
    }

    fn describe_acceptance(&mut self, topology: &TopologyId) {
        let Some(profile) = self.profiles.iter().find(|p| p.id == *topology) else {
            return;
        };
        let servers = self.conductor.store.servers_of(topology);
        let known = servers.filter_map(|server| Some(server.last_known.as_ref()?.product.clone()));
        self.accepting.describe(profile, known);
    }

    /// Not beside a probe or a comparison of rules: it would write to the table that a replica is held back by.
    fn start_acceptance(&mut self, topology: &TopologyId, may_hold: bool, typed: &str) {
        let Some(profile) = self.profiles.iter().find(|p| p.id == *topology) else {
            return;
        };
        let compares = self.comparing.as_ref().is_some_and(|c| c.end.is_none());
        if self.probing.board.running().is_some() || compares {
            let why = phrase("acceptance.refused.beside");
            self.accepting.board.refused.insert(topology.clone(), why);
            return;
        }
        let may_write = self.probing.board.may_write(profile);
        self.accepting.start(profile, may_write, may_hold, typed);
    }
}
