//! Who replicates from whom among the watched servers, as their own status rows tell.

use crate::model::profile::{Address, ExpectedRole};
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
    /// What the profile calls it.
    pub expected: ExpectedRole,
    /// It copies from another server; `None` where it has never answered.
    pub is_replica: Option<bool>,
}

/// The server an address in a status row means: by server_uuid where there is one, else by server id and port, else
/// by host and port, else by the server id alone behind a tunnel. MariaDB tells no uuid, and hosts have many names.
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
        .or_else(|| behind_a_tunnel(of, candidates))
        .or_else(|| never_answered(of, candidates))
}

/// The only one that has never answered, when nobody who has answered is the source: replicas often know their source
/// by an address of their own network. The profile calls it the source, or it listens on the same port and is not
/// called a replica. Taken for the source its silence makes the replicas unknown, and not green (R05).
fn never_answered(of: &SourceAddress, candidates: &[Candidate<'_>]) -> Option<WatchId> {
    let mut silent = candidates
        .iter()
        .filter(|c| c.is_replica.is_none() && c.expected != ExpectedRole::Replica);
    let only = silent.next().filter(|_| silent.next().is_none())?;
    let same_port = matches!(only.address, Address::Tcp { port, .. } if of.port == Some(*port));
    let nobody_else = candidates.iter().all(|c| c.is_replica != Some(false));
    let is_it = only.expected == ExpectedRole::Source || same_port && nobody_else;
    is_it.then_some(only.watch)
}

/// A replica that copies from a port of its own machine which no server has: the port is a tunnel's, and the server id
/// is all that tells who is at its other end. It must be the only one with that id.
fn behind_a_tunnel(of: &SourceAddress, candidates: &[Candidate<'_>]) -> Option<WatchId> {
    let tells_no_uuid = of.uuid.as_deref().is_none_or(str::is_empty);
    let is_here = same_host(&of.host, "localhost");
    let id = of
        .server_id
        .filter(|id| *id != 0 && tells_no_uuid && is_here)?;
    let mut with_it = candidates
        .iter()
        .filter(|c| c.identity.server_id == Some(id) && c.identity.server_uuid.is_none());
    let found = with_it.next()?;
    with_it.next().is_none().then_some(found.watch)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(server_id: u64, port: u16) -> Identity {
        Identity {
            server_id: Some(server_id),
            port: Some(port),
            ..Identity::default()
        }
    }

    fn at(host: &str, port: u16, server_id: u64) -> SourceAddress {
        SourceAddress {
            host: host.to_owned(),
            port: Some(port),
            uuid: None,
            server_id: Some(server_id),
        }
    }

    fn found(of: &SourceAddress, ids: &[u64]) -> Option<u32> {
        let address = Address::tcp("10.0.0.1", 3306);
        let identities: Vec<Identity> = ids.iter().map(|id| identity(*id, 3306)).collect();
        let candidates: Vec<Candidate<'_>> = (0..)
            .zip(&identities)
            .map(|(number, identity)| Candidate {
                watch: WatchId(number),
                address: &address,
                identity,
                expected: ExpectedRole::Auto,
                is_replica: Some(true),
            })
            .collect();
        find_source(of, &candidates).map(|watch| watch.0)
    }

    #[test]
    fn mariadb_behind_a_tunnel_is_told_by_its_server_id() {
        assert_eq!(found(&at("127.0.0.1", 40_001, 2), &[1, 2, 3]), Some(1));
    }

    #[test]
    fn r05_a_source_that_never_answered_is_known_under_another_address() {
        use ExpectedRole::{Auto, Replica, Source};
        let stranger = Identity::default();
        let answered = identity(2, 3306);
        let address = Address::tcp("db1.example", 3306);
        let candidate = |number, is_replica: Option<bool>, expected| Candidate {
            watch: WatchId(number),
            address: &address,
            identity: is_replica.map_or(&stranger, |_| &answered),
            expected,
            is_replica,
        };
        let source_of = |port, first, second| {
            let candidates = [
                candidate(1, None, first),
                candidate(2, Some(true), Replica),
                candidate(3, second, Auto),
            ];
            find_source(&at("10.0.0.5", port, 1), &candidates).map(|watch| watch.0)
        };
        let (replica, source, silent) = (Some(true), Some(false), None);
        assert_eq!(source_of(3306, Auto, replica), Some(1), "by its port");
        assert_eq!(source_of(3307, Auto, replica), None);
        assert_eq!(source_of(3307, Source, replica), Some(1), "by its role");
        assert_eq!(source_of(3306, Replica, replica), None);
        assert_eq!(source_of(3306, Auto, source), None, "another may be it");
        assert_eq!(source_of(3306, Auto, silent), None, "two are silent");
    }

    #[test]
    fn a_server_id_alone_tells_nothing_of_another_machine_or_when_two_have_it() {
        assert_eq!(found(&at("10.9.9.9", 40_001, 2), &[1, 2, 3]), None);
        assert_eq!(found(&at("127.0.0.1", 40_001, 2), &[2, 2]), None);
        assert_eq!(found(&at("127.0.0.1", 40_001, 0), &[0, 1]), None);
    }
}
