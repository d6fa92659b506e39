//! One line for each request of a run, so that a wrong read can be answered for: replica behind, route wrong, or pool
//! reuse? (B-10)

use super::sessions::Wrote;
use crate::model::probe::{ReadFrom, Seen, WaitKind, WaitSeen, WaitedRead};
use crate::model::server::WatchId;
use crate::routing::decision::{Decision, Go, Reason};
use crate::routing::record::{Freshness, Record, Recorded};
use crate::routing::replica::Unfit;
use crate::routing::request::{Awaited, Need, QueryKind, Request, SessionKey};
use crate::routing::wait::{Attempt, WaitResult};

/// The replicas of a run by their place, in the words of `routing`.
pub fn watch(replica: usize) -> WatchId {
    WatchId(u32::try_from(replica).unwrap_or(u32::MAX).saturating_add(1))
}

/// A read on a replica that has waited for nothing.
pub fn plain(server: &str, replica: usize, wrote: &Wrote, seen: &Seen) -> Recorded {
    let decision = Decision::replica(watch(replica), Reason::AnyReplica);
    recorded(server, wrote, seen, Vec::new(), decision)
}

/// A read after a wait, wherever that led.
pub fn waited(servers: [&str; 2], replica: usize, wrote: &Wrote, waited: &WaitedRead) -> Recorded {
    let [source, on_replica] = servers;
    let on = watch(replica);
    let attempt = WaitResult::of_seen(&waited.wait).map(|result| Attempt {
        on,
        result,
        took: waited.wait.length().unwrap_or_default(),
    });
    let (server, decision) = match waited.read_from {
        ReadFrom::Replica => {
            let caught = Decision {
                go: Go::WaitedReplica(on),
                reason: Reason::Caught,
            };
            (on_replica, caught)
        }
        ReadFrom::Source => (source, Decision::source(why_source(&waited.wait))),
    };
    let attempts = attempt.into_iter().collect();
    recorded(server, wrote, &waited.read, attempts, decision)
}

fn why_source(wait: &WaitSeen) -> Reason {
    match wait.kind {
        WaitKind::NoGtid => Reason::NoGtid,
        WaitKind::NotRunning => Reason::NoFitReplica(Unfit::NotRunning),
        WaitKind::NoReplica => Reason::NoFitReplica(Unfit::NoReplica),
        WaitKind::ReadFailed => Reason::ReplicaUnreadable,
        _ => WaitResult::of_seen(wait)
            .map_or(Reason::NoFitReplica(Unfit::CheckFailed), Reason::WaitEnded),
    }
}

fn recorded(
    server: &str,
    wrote: &Wrote,
    seen: &Seen,
    attempts: Vec<Attempt>,
    decision: Decision,
) -> Recorded {
    let request = Request {
        session: SessionKey(wrote.session),
        kind: QueryKind::List,
        // The wait, if any, began when the read was asked for.
        at: wrote.written.committed_at,
        in_transaction: false,
        need: Need::Write(Awaited {
            gtids: wrote.written.token.as_ref().ok().map(|t| t.gtids.clone()),
        }),
        reads_to: None,
    };
    let mut record = Record::new(&request, attempts, decision);
    record.wrote_ago = Some(seen.asked_at.since(wrote.written.committed_at));
    Recorded {
        record,
        freshness: Freshness::of(seen.verdict(&wrote.value)),
        server: server.to_owned(),
        is_careless: false,
    }
}
