//! The acceptance run as the window carries it out.

use super::App;
use crate::app::accepting::desk::Wanted;
use crate::link::clock;
use crate::model::phrase::phrase;
use crate::model::profile::TopologyId;
use crate::model::time::Span;
use crate::ui::action::Action;

impl App {
    /// Takes what concerns the acceptance run; the rest comes back.
    pub(super) fn perform_acceptance(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::DescribeAcceptance {
                topology,
                wait_limit,
            } => self.describe_acceptance(&topology, wait_limit),
            Action::StartAcceptance {
                topology,
                may_hold,
                wait_limit,
                proxy,
                typed,
            } => {
                let wanted = Wanted {
                    may_hold,
                    wait_limit,
                    proxy,
                    typed,
                };
                self.start_acceptance(&topology, wanted);
            }
            Action::StopAcceptance => self.accepting.stop(),
            Action::SaveAcceptance { topology, to } => self.accepting.save(&topology, to),
            Action::ExportRecords {
                topology,
                format,
                to,
                may_replace,
            } => self.accepting.export(&topology, format, to, may_replace),
            other => return Some(other),
        }
        None
    }

    fn describe_acceptance(&mut self, topology: &TopologyId, wait_limit: Span) {
        let Some(profile) = self.profiles.iter().find(|p| p.id == *topology) else {
            return;
        };
        let servers = self.conductor.store.servers_of(topology);
        let known = servers.filter_map(|server| Some(server.last_known.as_ref()?.product.clone()));
        self.accepting.describe(profile, wait_limit, known);
    }

    /// Not beside a probe or a comparison of rules: it would write to the table that a replica is held back by.
    fn start_acceptance(&mut self, topology: &TopologyId, wanted: Wanted) {
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
        self.teaching.accept_started = Some(clock::now());
        self.accepting.start(profile, may_write, wanted);
    }
}
