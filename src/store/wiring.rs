//! Who replicates from whom among the watched servers, as their own status rows tell.

use crate::model::profile::Address;
use crate::model::replication::SourceAddress;
use crate::model::sample::{Identity, Sample};
use crate::model::server::WatchId;

/// A channel of a watched replica and its watched source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wire {
    pub replica: WatchId,
    pub channel: String,
    pub source: WatchId,
}

/// A server by which a source address may be recognised.
pub struct Candidate<'a> {
    pub watch: WatchId,
    pub address: &'a Address,
    pub identity: &'a Identity,
}

/// The server an address in a status row means: by server_uuid where there is one, else by server id and port, else
/// by host and port. MariaDB tells no uuid, and hosts have many names.
pub fn find_source(of: &SourceAddress, candidates: &[Candidate<'_>]) -> Option<WatchId> {
    let by_uuid = candidates.iter().find(|c| same_uuid(of, c.identity));
    if let Some(found) = by_uuid {
        return Some(found.watch);
    }
    let known_uuid = of.uuid.as_deref().is_some_and(|uuid| !uuid.is_empty());
    candidates
        .iter()
        // A server that told another uuid is another server, whatever its address.
        .filter(|c| !(known_uuid && c.identity.server_uuid.is_some()))
        .find(|c| same_id_and_port(of, c.identity) || same_address(of, c.address))
        .map(|c| c.watch)
}

fn same_uuid(of: &SourceAddress, identity: &Identity) -> bool {
    match (&of.uuid, &identity.server_uuid) {
        (Some(a), Some(b)) => !a.is_empty() && a.eq_ignore_ascii_case(b),
        _ => false,
    }
}

fn same_id_and_port(of: &SourceAddress, identity: &Identity) -> bool {
    of.server_id.is_some_and(|id| id != 0)
        && of.server_id == identity.server_id
        && of.port.is_some()
        && of.port == identity.port
}

fn same_address(of: &SourceAddress, address: &Address) -> bool {
    match address {
        Address::Tcp { host, port } => of.port == Some(*port) && same_host(&of.host, host),
        Address::Socket { .. } => false,
    }
}

fn same_host(a: &str, b: &str) -> bool {
    let plain = |host: &str| match host {
        "localhost" | "::1" => "127.0.0.1".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    plain(a) == plain(b)
}

/// The wires of one replica's sample.
pub fn wires_of(replica: WatchId, sample: &Sample, candidates: &[Candidate<'_>]) -> Vec<Wire> {
    sample
        .channels()
        .iter()
        .filter_map(|channel| {
            let source = find_source(&channel.source, candidates)?;
            (source != replica).then(|| Wire {
                replica,
                channel: channel.name.clone(),
                source,
            })
        })
        .collect()
}
