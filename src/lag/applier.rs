//! Applier timestamps: the age of the transaction being applied, from `performance_schema.
//! replication_applier_status_by_worker` (MySQL 8.0 and later). Original commit times are on the source's clock and
//! are moved to ours by its measured offset.

use super::{Scene, backlog};
use crate::model::lag::{Measurement, Method, Reading};
use crate::model::phrase::{Phrase, phrase};
use crate::model::replication::ApplierThread;
use crate::model::time::{Moment, ServerTime, Span};

pub fn read(scene: &Scene<'_>) -> Reading {
    if let Some(reading) = not_here(scene) {
        return reading;
    }
    if let Some(why) = thread_down(scene) {
        return Reading::unknown(why);
    }
    let measured_at = scene.replica.sample.answered_at;
    if let Some(commit) = oldest_commit_on_our_clock(scene) {
        return measured(
            scene,
            measured_at.since(commit) - scene.channel.planned_delay,
            measured_at,
        );
    }
    match backlog::of(scene) {
        b if b.transactions == Some(0) || (b.transactions.is_none() && b.received == Some(0)) => {
            measured(scene, Span::ZERO, measured_at)
        }
        _ => Reading::unknown(phrase("lag.why.nothing_being_applied")),
    }
}

fn not_here(scene: &Scene<'_>) -> Option<Reading> {
    let sample = scene.replica.sample;
    if !sample.product.is_mysql_from(8, 0, 1) {
        let product = sample.product.to_string();
        return Some(Reading::not_applicable(
            phrase("lag.why.no_applier_times").with("product", product),
        ));
    }
    if let Some(trouble) = sample.appliers.refused() {
        return Some(Reading::unknown(trouble.what.clone()));
    }
    sample
        .appliers
        .value()
        .is_none()
        .then(|| Reading::unknown(phrase("lag.why.no_applier_rows")))
}

/// With a thread down the applier's times say nothing of what a reader misses.
pub fn thread_down(scene: &Scene<'_>) -> Option<Phrase> {
    use crate::model::replication::ThreadState::*;
    let channel = scene.channel;
    match (&channel.receiver, &channel.applier) {
        (_, Stopped) if channel.applier_error.is_some() => Some(phrase("lag.why.applier_broken")),
        (_, Stopped) => Some(phrase("lag.why.applier_stopped")),
        (_, Other(word)) => Some(phrase("lag.why.applier_state").with("state", word.as_str())),
        (_, Untold) => Some(phrase("lag.why.applier_untold")),
        (Connecting, _) => Some(phrase("lag.why.receiver_connecting")),
        (Stopped, _) => Some(phrase("lag.why.receiver_stopped")),
        (Other(word), _) => Some(phrase("lag.why.receiver_state").with("state", word.as_str())),
        (Untold, _) => Some(phrase("lag.why.receiver_untold")),
        (Running, Running) | (Running, Connecting) => None,
    }
}

fn measured(scene: &Scene<'_>, value: Span, taken_at: Moment) -> Reading {
    let bound = scene
        .source
        .and_then(|source| source.clock)
        .map(|clock| clock.bound);
    Reading::Measured(Measurement {
        value: value.or_zero(),
        bound,
        method: Method::Applier,
        taken_at,
    })
}

/// When the oldest transaction now being applied was committed, on our clock.
pub fn oldest_commit_on_our_clock(scene: &Scene<'_>) -> Option<Moment> {
    let commit = applying(scene).filter_map(original_commit).min()?;
    let ahead_by = scene
        .source
        .map_or(scene.replica.ahead_by(), |source| source.ahead_by());
    Some(commit.on_our_clock(ahead_by))
}

/// The threads of this channel that have a transaction in hand.
pub fn applying<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = &'a ApplierThread> {
    let name = &scene.channel.name;
    scene
        .replica
        .sample
        .appliers()
        .iter()
        .filter(move |thread| thread.channel == *name && thread.applying.is_some())
}

fn original_commit(thread: &ApplierThread) -> Option<ServerTime> {
    thread
        .applying
        .as_ref()
        .and_then(|transaction| transaction.original_commit)
}
