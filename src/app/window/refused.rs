//! A password that a server refuses is asked for again, once for each watch: with a new one it is watched anew.

use std::collections::BTreeSet;

use super::App;
use crate::model::event::LinkState;
use crate::model::server::WatchId;
use crate::model::trouble::TroubleKind;

/// Watches whose password was refused and asked for again.
pub type Refused = BTreeSet<WatchId>;

impl App {
    pub(super) fn ask_again_where_refused(&mut self) {
        let mut to_ask = Vec::new();
        for server in self.conductor.store.servers() {
            if let LinkState::Down { trouble, .. } = &server.link
                && trouble.kind == TroubleKind::AccessDenied
                && self.refused.insert(server.watch())
            {
                let place = &server.registration;
                let why = trouble.what.clone();
                to_ask.push((place.topology.clone(), place.server.clone(), why));
            }
        }
        for (topology, server, why) in to_ask {
            self.desk.refused(&topology, &server, why);
        }
    }
}
