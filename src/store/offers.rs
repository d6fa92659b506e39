//! Servers that the watched ones know of and nobody watches: offered, never added by themselves.

use super::Store;
use super::wiring::{Candidate, find_source};
use crate::model::profile::TopologyId;
use crate::model::replication::SourceAddress;
use crate::model::sample::FoundReplica;
use crate::model::server::WatchId;

/// A server one could watch too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub server: FoundReplica,
    pub relation: Relation,
    /// Who told of it.
    pub told_by: WatchId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It replicates from the server that told.
    ReplicaOf,
    /// The server that told replicates from it.
    SourceOf,
}

impl Store {
    /// What the newest samples of a topology tell of other servers, each once.
    pub fn offers(&self, topology: &TopologyId) -> Vec<Offer> {
        let known: Vec<_> = self
            .servers_of(topology)
            .filter_map(|server| Some((server, server.last_known.as_deref()?)))
            .collect();
        let candidates: Vec<Candidate<'_>> = known
            .iter()
            .map(|(server, sample)| Candidate {
                watch: server.watch(),
                address: &server.registration.address,
                identity: &sample.identity,
                expected: server.registration.expected_role,
                is_replica: Some(sample.is_replica()),
            })
            .collect();
        let told = known.iter().flat_map(|(server, sample)| {
            let told_by = server.watch();
            let replicas = sample
                .found_replicas
                .value()
                .into_iter()
                .flat_map(|found| found.iter().cloned());
            let replicas = replicas.map(move |server| Offer {
                server,
                relation: Relation::ReplicaOf,
                told_by,
            });
            let sources = sample
                .channels()
                .iter()
                .filter(|c| !c.source.host.is_empty());
            let sources = sources.map(move |channel| Offer {
                server: as_found(&channel.source),
                relation: Relation::SourceOf,
                told_by,
            });
            replicas.chain(sources)
        });
        let mut offers: Vec<Offer> = Vec::new();
        for offer in told.filter(|offer| !is_watched(&offer.server, &candidates)) {
            if !offers
                .iter()
                .any(|other| is_same(&other.server, &offer.server))
            {
                offers.push(offer);
            }
        }
        offers
    }
}

fn as_found(source: &SourceAddress) -> FoundReplica {
    FoundReplica {
        host: source.host.clone(),
        port: source.port,
        server_id: source.server_id.filter(|id| *id != 0),
        uuid: source.uuid.clone().filter(|uuid| !uuid.is_empty()),
    }
}

fn is_watched(found: &FoundReplica, candidates: &[Candidate<'_>]) -> bool {
    let address = SourceAddress {
        host: found.host.clone(),
        port: found.port,
        uuid: found.uuid.clone(),
        server_id: found.server_id,
    };
    find_source(&address, candidates).is_some()
        // A dump thread without a port is told by its uuid or server id only.
        || candidates.iter().any(|c| found.server_id.is_some() && c.identity.server_id == found.server_id && found.port.is_none())
}

fn is_same(a: &FoundReplica, b: &FoundReplica) -> bool {
    match (&a.uuid, &b.uuid) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => (&a.host, a.port) == (&b.host, b.port),
    }
}
