//! Layer 1: how late a replica is, from samples and marks; one file per method, then fusion and verdict. Pure.
//!
//! Lag of a replica at time t is the age of the oldest transaction committed on the source and not yet visible on the
//! replica, 0 if there is none: what a reader feels. Every method approximates it and says how well:
//!
//! | file | method | says |
//! |---|---|---|
//! | [`marks`] | GTID marks | the source's executed set at known instants, waited for on the replica; our clock only |
//! | [`applier`] | applier timestamps | original commit time of the transaction being applied |
//! | [`heartbeat`] | heartbeat lateness | age of a row beyond its write interval |
//! | [`platform`] | the platform's table | Aurora's own milliseconds |
//! | [`seconds_behind`] | `Seconds_Behind_Source` | whole seconds, with many ways to be wrong |
//!
//! [`fusion`] picks the headline, [`verdict`] says why the others disagree, [`cause`] says why it is late.

pub mod applier;
pub mod backlog;
pub mod catch_up;
pub mod cause;
pub mod clock;
pub mod filters;
pub mod fusion;
pub mod heartbeat;
pub mod marks;
pub mod platform;
pub mod seconds_behind;
pub mod stages;
pub mod verdict;
pub mod window;

use crate::model::dialect::Dialect;
use crate::model::lag::{CatchUp, LagView, Method, Reading};
use crate::model::phrase::Phrase;
use crate::model::replication::Channel;
use crate::model::sample::Sample;
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};

use clock::ClockEstimate;
use marks::Ledger;

/// One server as the lag methods see it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub watch: WatchId,
    /// The newest sample, only while it is fresh enough to speak for the present.
    pub sample: &'a Sample,
    pub clock: Option<ClockEstimate>,
}

impl Side<'_> {
    /// How far this server's clock is ahead of ours; no measurement counts as "in step", which the bound then says.
    pub fn ahead_by(&self) -> Span {
        self.clock.map_or(Span::ZERO, |clock| clock.ahead_by)
    }
}

/// How heartbeat stamps are to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatReading {
    /// `schema.table`: known also where it cannot be read.
    pub table: Option<String>,
    /// The server id whose row is used, whoever the source is.
    pub pinned_writer: Option<u64>,
    /// How often it is written, when known.
    pub interval: Option<Span>,
    /// Wall-clock stamps are UTC; otherwise local time of the server that wrote them.
    pub stamps_are_utc: bool,
}

/// Everything the lag of one channel is judged from.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    pub now: Moment,
    pub channel: &'a Channel,
    pub replica: Side<'a>,
    /// The channel's source, when it is watched and its sample is fresh.
    pub source: Option<Side<'a>>,
    /// Why `source` is absent, in words.
    pub source_missing: Option<Phrase>,
    pub ledger: Option<&'a Ledger>,
    pub heartbeat: &'a HeartbeatReading,
    /// How the headline went lately, for the catch-up estimate.
    pub recent: &'a [(Moment, Span)],
}

/// Judges one channel.
pub fn judge(scene: &Scene<'_>) -> LagView {
    let methods: Vec<(Method, Reading)> = Method::ALL
        .into_iter()
        .map(|method| (method, read(method, scene)))
        .collect();
    let dialect = Dialect::of_product(&scene.replica.sample.product);
    let backlog = backlog::of(scene);
    let headline = fusion::headline(&methods, &backlog, dialect);
    let cause = cause::of(scene, &headline, &backlog);
    let verdict = verdict::of(&headline, &methods, cause.as_ref(), dialect);
    let catch_up = catch_up::of(&headline, scene.recent);
    LagView {
        headline,
        methods,
        planned_delay: scene.channel.planned_delay,
        verdict,
        cause,
        stages: stages::of(scene),
        backlog,
        catch_up,
    }
}

fn read(method: Method, scene: &Scene<'_>) -> Reading {
    match method {
        Method::GtidMarks => marks::read(scene),
        Method::Applier => applier::read(scene),
        Method::Heartbeat => heartbeat::read(scene),
        Method::Platform => platform::read(scene),
        Method::SecondsBehind => seconds_behind::read(scene),
    }
}

/// A view in which nothing can be said, for one reason: the server does not answer, has no such role, was not polled.
pub fn without_facts(reading: Reading) -> LagView {
    let methods = Method::ALL
        .into_iter()
        .map(|method| (method, reading.clone()))
        .collect();
    let verdict = reading
        .why()
        .cloned()
        .unwrap_or_else(|| Phrase::new("lag.why.no_facts"));
    LagView {
        headline: reading,
        methods,
        planned_delay: Span::ZERO,
        verdict,
        cause: None,
        stages: Default::default(),
        backlog: Default::default(),
        catch_up: None::<CatchUp>,
    }
}
