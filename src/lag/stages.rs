//! Where the time goes: transport, queue, apply, from the time stamps of performance_schema (MySQL 8.0 and later).

use super::{Scene, applier};
use crate::model::lag::Stages;
use crate::model::replication::ApplierThread;
use crate::model::time::{ServerTime, Span};

pub fn of(scene: &Scene<'_>) -> Stages {
    Stages {
        transport: transport(scene),
        queue: queue(scene),
        apply: apply(scene),
    }
}

/// Commit on the source → end of queueing here, of the newest transaction received. Two clocks, offsets taken off.
fn transport(scene: &Scene<'_>) -> Option<Span> {
    let times = scene.channel.receiver_times.as_ref()?;
    let committed = times
        .last_queued_original_commit?
        .on_our_clock(scene.source?.ahead_by());
    let queued = times
        .last_queued_end?
        .on_our_clock(scene.replica.ahead_by());
    Some(queued.since(committed).or_zero())
}

/// How long the transaction in hand (or the last one) lay in the relay log before applying began: what its commit is
/// older than its start, less the transport.
fn queue(scene: &Scene<'_>) -> Option<Span> {
    let (commit, started, _) = times(scene)?;
    let waited = started
        .on_our_clock(scene.replica.ahead_by())
        .since(commit.on_our_clock(scene.source?.ahead_by()));
    Some((waited - transport(scene).unwrap_or(Span::ZERO)).or_zero())
}

/// Time in the applier: until now for the one in hand, until its end for the last one.
fn apply(scene: &Scene<'_>) -> Option<Span> {
    let (_, started, ended) = times(scene)?;
    let end = match ended {
        Some(ended) => ended.on_our_clock(scene.replica.ahead_by()),
        None => scene.replica.sample.answered_at,
    };
    Some(
        end.since(started.on_our_clock(scene.replica.ahead_by()))
            .or_zero(),
    )
}

fn times(scene: &Scene<'_>) -> Option<(ServerTime, ServerTime, Option<ServerTime>)> {
    let in_hand = applier::applying(scene)
        .filter_map(|thread| thread.applying.as_ref())
        .filter_map(|t| Some((t.original_commit?, t.started?, None)))
        .min_by_key(|(commit, ..)| *commit);
    in_hand.or_else(|| {
        let own = |thread: &&ApplierThread| thread.channel == scene.channel.name;
        scene
            .replica
            .sample
            .appliers()
            .iter()
            .filter(own)
            .filter_map(|thread| thread.last_applied.as_ref())
            .filter_map(|t| Some((t.original_commit?, t.started?, Some(t.ended?))))
            .max_by_key(|(commit, ..)| *commit)
    })
}
