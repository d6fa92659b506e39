//! Tells the log when the first frame and the first reading were drawn (`RUST_LOG=startup=debug`): what opening the window
//! costs is measured by that.

use crate::model::profile::TopologyId;
use crate::store::Store;

#[derive(Debug, Default)]
pub struct Startup {
    frame_told: bool,
    reading_told: bool,
}

impl Startup {
    /// To be called after each frame.
    pub fn drawn(&mut self, store: &Store, topology: Option<&TopologyId>) {
        if !self.frame_told {
            self.frame_told = true;
            tracing::debug!(target: "startup", "first frame");
        }
        if !self.reading_told && topology.is_some_and(|topology| has_reading(store, topology)) {
            self.reading_told = true;
            tracing::debug!(target: "startup", "first reading");
        }
    }
}

/// Is the lag of any channel known?
fn has_reading(store: &Store, topology: &TopologyId) -> bool {
    let servers = store.judged(topology).map(|judged| judged.servers.values());
    servers
        .into_iter()
        .flatten()
        .flat_map(|server| server.channels.values())
        .any(|channel| channel.lag.headline.measured().is_some())
}
