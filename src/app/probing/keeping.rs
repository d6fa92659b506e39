//! Results kept to hold later ones against, beyond the session where the system has a folder for that.

use serde::{Deserialize, Serialize};

use super::Probing;
use crate::app::kept::{Kept, KeptFiles};
use crate::link::clock;
use crate::model::lab::is_lab_topology;
use crate::model::profile::TopologyId;
use crate::ui::probe::board::{Figures, KeptProbe};

/// Results kept to compare with, for each topology.
const KEPT: usize = 10;

/// What is kept on disk of each topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptProbes {
    pub probes: Vec<KeptProbe>,
}

impl Kept for KeptProbes {
    const FOLDER: &'static str = "probes";
    const VERSION: u32 = 1;
}

impl Probing {
    /// A repeated probe is not lost when the next one begins.
    pub(super) fn keep_unnamed(&mut self, topology: &TopologyId) {
        let Some(view) = self.board.probes.get(topology) else {
            return;
        };
        let kept = self.board.kept.get(topology).and_then(|all| all.last());
        let is_kept = kept.is_some_and(|kept| kept.figures == view.figures);
        if view.is_repeated() && !is_kept {
            self.keep(topology, "");
        }
    }

    /// Keeps the latest result under a name, to hold later ones against.
    pub fn keep(&mut self, topology: &TopologyId, name: &str) {
        let Some(view) = self.board.probes.get(topology) else {
            return;
        };
        if view.summary.runs == 0 {
            return;
        }
        let kept = KeptProbe {
            at: clock::now(),
            name: name.trim().to_owned(),
            plan: view.plan.clone(),
            replicas: view.replicas.clone(),
            figures: Figures::of(&view.summary),
        };
        let all = self.board.kept.entry(topology.clone()).or_default();
        if all.len() == KEPT {
            all.remove(0);
        }
        all.push(kept);
        if let Some(files) = &self.files
            && !is_lab_topology(topology)
        {
            let probes = all.clone();
            files.keep(topology, KeptProbes { probes });
        }
    }

    /// Results kept in earlier sessions are brought once for each topology, before what this session keeps.
    pub(super) fn bring_kept(&mut self, topology: &TopologyId) {
        if !self.asked_for.insert(topology.clone()) {
            return;
        }
        if let Some(files) = &self.files {
            files.ask_for(topology);
        }
    }

    pub(super) fn take_in_kept(&mut self) {
        while let Some((topology, earlier)) = self.files.as_ref().and_then(KeptFiles::next_loaded) {
            let mut earlier = earlier.probes;
            let now = self.board.kept.entry(topology).or_default();
            earlier.append(now);
            let too_many = earlier.len().saturating_sub(KEPT);
            *now = earlier.split_off(too_many);
        }
    }
}
