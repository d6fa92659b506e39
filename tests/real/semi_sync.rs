//! Semi-synchronous replication gives way, and comes back.

use std::thread;

use replicascope::model::finding::{Health, Lamp};
use replicascope::model::replication::SemiSyncSource;

use super::{LATER, SOON};
use crate::support::servers::{Plan, Topology};
use crate::support::watching::{View, Watching};

fn source_end<'a>(view: &View<'a>) -> Option<&'a SemiSyncSource> {
    view.sample(0)?.semi_sync.value()?.source.as_ref()
}

fn is_in_force(view: &View<'_>) -> bool {
    let lamp = view.judged(0).map(|judged| judged.lamps.semi_sync.lamp);
    source_end(view).is_some_and(|end| end.active == Some(true) && end.clients == Some(2))
        && lamp == Some(Lamp::Ok)
        && view.finding(0, "semi_sync_degraded").is_none()
}

fn has_given_way(view: &View<'_>) -> bool {
    let lamp = view.judged(0).map(|judged| judged.lamps.semi_sync.lamp);
    source_end(view).is_some_and(|end| end.enabled == Some(true) && end.active == Some(false))
        && lamp == Some(Lamp::Warning)
        && view.finding(0, "semi_sync_degraded").is_some()
}

fn semi_sync_gives_way_and_comes_back(plan: Plan) {
    let topology = plan.replicas(2).semi_sync(true).start();
    topology
        .source()
        .sql("CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY)");
    topology.replicating();
    let mut watching = Watching::of(&topology).start();
    watching.until("semi-sync in force", SOON, |view| {
        is_in_force(view) && view.is_well()
    });
    let unacknowledged = |view: &View<'_>| source_end(view).and_then(|end| end.no_tx).unwrap_or(0);
    let before = unacknowledged(&watching.view());

    for replica in topology.replicas() {
        replica.sql("STOP REPLICA IO_THREAD");
    }
    // The commit waits out the time limit of 1 s, then goes through unacknowledged.
    topology.source().sql("INSERT INTO shop.orders VALUES (1)");
    watching.until("semi-sync to have given way", SOON, |view| {
        has_given_way(view)
            && unacknowledged(view) == before + 1
            && source_end(view).is_some_and(|end| end.clients == Some(0))
    });
    for replica in topology.replicas() {
        replica.sql("START REPLICA IO_THREAD");
    }
    watching.until("semi-sync in force again", SOON, |view| {
        is_in_force(view) && view.is_well()
    });

    // Frozen replicas stay registered: the number of clients alone would look well.
    topology
        .replicas()
        .for_each(|replica| replica.stop_process());
    let source = topology.source();
    thread::scope(|scope| {
        scope.spawn(|| source.sql("INSERT INTO shop.orders VALUES (2)"));
        watching.until(
            "semi-sync to have given way with both clients there",
            SOON,
            |view| {
                has_given_way(view)
                    && source_end(view).is_some_and(|end| end.clients == Some(2))
                    && [1, 2]
                        .iter()
                        .all(|node| view.health(*node) == Health::Unknown && !view.routable(*node))
            },
        );
    });
    topology
        .replicas()
        .for_each(|replica| replica.continue_process());
    watching.until("semi-sync in force after the thaw", LATER, |view| {
        is_in_force(view) && view.is_well()
    });
}

#[test]
fn mysql_semi_sync() {
    semi_sync_gives_way_and_comes_back(Topology::mysql());
}

#[test]
fn mariadb_semi_sync() {
    semi_sync_gives_way_and_comes_back(Topology::mariadb());
}
