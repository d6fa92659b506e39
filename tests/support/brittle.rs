//! A lab's ground on which one link cannot be made for a while.

use std::sync::{Arc, Mutex, PoisonError};

use replicascope::lab::bed::{Bed, LinkQuality};
use replicascope::lab::faults::trouble;
use replicascope::model::lab::{FaultKind, LabAccount, LabAccounts, LabNode, LabServer};
use replicascope::model::phrase::{Phrase, phrase};
use replicascope::model::time::Span;
use replicascope::model::trouble::Trouble;

/// The replica that cannot be pointed at a source, and that source.
#[derive(Clone, Default)]
pub struct Gap(Arc<Mutex<Option<(LabServer, LabServer)>>>);

impl Gap {
    pub fn open(&self, replica: LabServer, source: LabServer) {
        self.set(Some((replica, source)));
    }

    pub fn close(&self) {
        self.set(None);
    }

    fn set(&self, pair: Option<(LabServer, LabServer)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = pair;
    }

    fn is_between(&self, replica: LabServer, source: LabServer) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) == Some((replica, source))
    }
}

/// Any ground, with a gap.
pub struct Brittle {
    pub bed: Box<dyn Bed>,
    pub gap: Gap,
}

impl Bed for Brittle {
    fn nodes(&self) -> Vec<LabNode> {
        self.bed.nodes()
    }

    fn accounts(&self) -> LabAccounts {
        self.bed.accounts()
    }

    fn replication(&self) -> LabAccount {
        self.bed.replication()
    }

    fn link_port(&mut self, replica: LabServer, source: LabServer) -> Result<u16, Trouble> {
        if self.gap.is_between(replica, source) {
            return Err(trouble(phrase("lab.trouble.no_server")));
        }
        self.bed.link_port(replica, source)
    }

    fn pointed(&mut self, server: LabServer, copies_from: &[LabServer]) {
        self.bed.pointed(server, copies_from);
    }

    fn set_link(
        &mut self,
        replica: LabServer,
        source: LabServer,
        quality: LinkQuality,
    ) -> Result<(), Trouble> {
        self.bed.set_link(replica, source, quality)
    }

    fn set_disk(&mut self, server: LabServer, slower_by: Span) -> Result<(), Trouble> {
        self.bed.set_disk(server, slower_by)
    }

    fn set_clock(&mut self, server: LabServer, ahead_by: Span) -> Result<(), Trouble> {
        self.bed.set_clock(server, ahead_by)
    }

    fn kill(&mut self, server: LabServer) -> Result<(), Trouble> {
        self.bed.kill(server)
    }

    fn restart(&mut self, server: LabServer) -> Result<(), Trouble> {
        self.bed.restart(server)
    }

    fn impossible(&self) -> Vec<(FaultKind, Phrase)> {
        self.bed.impossible()
    }
}
