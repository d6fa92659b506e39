//! What the store holds of one watched server.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::errant::Errant;
use super::guards::Guards;
use super::lanes::Lane;
use super::series::Series;
use crate::health::facts::{Degraded, Freshness, Memory, Replaced};
use crate::health::rules::server_restarted::was_restarted;
use crate::lag::HeartbeatReading;
use crate::lag::clock::{ClockEstimate, ClockFilter};
use crate::lag::marks::Ledger;
use crate::model::dialect::Dialect;
use crate::model::event::LinkState;
use crate::model::finding::Role;
use crate::model::lag::Method;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{Address, ExpectedRole, Intervals, ServerId, Thresholds, TopologyId};
use crate::model::replication::ThreadState;
use crate::model::sample::Sample;
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};
use crate::routing::demotion::SourceLending;

/// However short the interval, an answer older than this only is too old.
const STALE_AT_LEAST: Span = Span::from_secs(1);

/// A server to be watched, as the profile has it.
#[derive(Clone, Debug)]
pub struct Registration {
    pub watch: WatchId,
    pub topology: TopologyId,
    pub server: ServerId,
    pub name: String,
    pub address: Address,
    pub expected_role: ExpectedRole,
    pub expected_channels: Vec<String>,
    pub thresholds: Thresholds,
    pub intervals: Intervals,
    pub heartbeat: HeartbeatReading,
}

/// The past of one channel.
#[derive(Clone, Debug, Default)]
pub struct ChannelPast {
    pub headline: Series,
    pub methods: BTreeMap<Method, Series>,
    pub lane: Lane,
    /// Since when the applier stands although something waits.
    pub standing_since: Option<Moment>,
    /// Since when the receiver tries to reach its source in vain.
    pub connecting_since: Option<Moment>,
    pub heartbeat_ages: Vec<(Moment, Span)>,
}

/// One watched server.
#[derive(Clone, Debug)]
pub struct Watched {
    pub registration: Registration,
    pub link: LinkState,
    pub link_since: Moment,
    /// The newest sample of this session.
    pub latest: Option<Arc<Sample>>,
    pub previous: Option<Arc<Sample>>,
    /// The newest sample of any session: what was known last, for display with its age.
    pub last_known: Option<Arc<Sample>>,
    pub clock: ClockFilter,
    pub clock_series: Series,
    /// One for each source this server follows.
    pub ledgers: BTreeMap<WatchId, Ledger>,
    pub wait_trouble: Option<Phrase>,
    pub channels: BTreeMap<String, ChannelPast>,
    pub memory: Memory,
    /// The last role that was certain.
    pub role: Option<Role>,
    pub errant: Errant,
    /// While it is a replica.
    pub guards: Option<Guards>,
    /// Since it was first seen as a source.
    pub lending: Option<SourceLending>,
}

impl Watched {
    /// In whose words it is spoken of; those of MySQL 8.4 before it has answered.
    pub fn dialect(&self) -> Dialect {
        let told = self.last_known.as_ref();
        told.map_or_else(Dialect::default, |sample| {
            Dialect::of_product(&sample.product)
        })
    }

    pub fn new(registration: Registration, now: Moment) -> Self {
        Watched {
            registration,
            link: LinkState::Connecting,
            link_since: now,
            latest: None,
            previous: None,
            last_known: None,
            clock: ClockFilter::default(),
            clock_series: Series::default(),
            ledgers: BTreeMap::new(),
            wait_trouble: None,
            channels: BTreeMap::new(),
            memory: Memory::default(),
            role: None,
            errant: Errant::default(),
            guards: None,
            lending: None,
        }
    }

    pub fn watch(&self) -> WatchId {
        self.registration.watch
    }

    /// Age of the last good answer, of this or an earlier session.
    pub fn answer_age(&self, now: Moment) -> Option<Span> {
        self.last_known
            .as_ref()
            .map(|sample| now.since(sample.answered_at).or_zero())
    }

    /// Fresh up to 1.5 poll intervals, late up to 2, then stale (R37). A link that is down is stale at once: what it
    /// said last is not live.
    pub fn freshness(&self, now: Moment) -> Freshness {
        let age = self.answer_age(now);
        if let LinkState::Down { trouble, .. } = &self.link {
            let why = trouble.what.clone();
            return match age {
                Some(age) => Freshness::Stale { age, why },
                None => Freshness::Never,
            };
        }
        let Some(sample) = &self.latest else {
            return Freshness::Never;
        };
        let age = now.since(sample.answered_at).or_zero();
        let interval = self.registration.intervals.poll;
        if age.micros() * 2 <= interval.micros() * 3 {
            Freshness::Fresh
        } else if age <= interval.times(2).max(STALE_AT_LEAST) {
            Freshness::Late { age }
        } else {
            Freshness::Stale {
                age,
                why: phrase("lag.why.no_answer").with("for", age),
            }
        }
    }

    /// The newest sample, if it may speak for the present.
    pub fn current(&self, now: Moment) -> Option<&Arc<Sample>> {
        self.latest
            .as_ref()
            .filter(|_| self.freshness(now).is_usable())
    }

    pub fn clock_now(&self, now: Moment) -> Option<ClockEstimate> {
        self.clock.best(now)
    }

    /// A new session begins: what the last one said is history.
    pub fn begin_session(&mut self) {
        self.latest = None;
        self.previous = None;
    }

    pub fn take_sample(&mut self, sample: Arc<Sample>) {
        self.note_identity(&sample);
        if let Some(clock) = sample.clock {
            self.clock.add(clock);
        }
        if let Some(estimate) = self.clock.best(sample.answered_at) {
            self.clock_series
                .push(sample.answered_at, Some(estimate.ahead_by));
        }
        self.note_advance(&sample);
        self.note_heartbeat(&sample);
        self.note_semi_sync(&sample);
        self.previous = self.latest.replace(sample.clone());
        self.last_known = Some(sample);
    }

    /// Restarted, or another server under the same address? Then nothing cached is true any more (R44).
    fn note_identity(&mut self, sample: &Sample) {
        let Some(old) = &self.last_known else { return };
        if was_restarted(old, sample) {
            self.memory.restarted_at = Some(sample.answered_at);
        }
        let (was, is) = (&old.identity.server_uuid, &sample.identity.server_uuid);
        if let (Some(was), Some(is)) = (was, is)
            && was != is
        {
            let replaced = Replaced {
                at: sample.answered_at,
                was: was.clone(),
                is: is.clone(),
            };
            self.forget_the_other_server(replaced);
        }
    }

    fn forget_the_other_server(&mut self, replaced: Replaced) {
        let at = replaced.at;
        self.memory = Memory {
            replaced: Some(replaced),
            ..Memory::default()
        };
        self.errant = Errant::default();
        self.clock = ClockFilter::default();
        self.ledgers.clear();
        self.latest = None;
        self.previous = None;
        self.clock_series.push(at, None);
        for past in self.channels.values_mut() {
            past.headline.push(at, None);
            past.methods
                .values_mut()
                .for_each(|series| series.push(at, None));
            past.standing_since = None;
            past.connecting_since = None;
            past.heartbeat_ages.clear();
        }
    }

    /// Does the applier move while something waits for it? (R04)
    fn note_advance(&mut self, sample: &Sample) {
        for channel in sample.channels() {
            let before = self.latest.as_ref().and_then(|old| {
                let same = old.channels().iter().find(|c| c.name == channel.name)?;
                Some((same.executed.clone(), old.gtid.applied.clone()))
            });
            let moved = before != Some((channel.executed.clone(), sample.gtid.applied.clone()));
            let past = self.channels.entry(channel.name.clone()).or_default();
            past.connecting_since = match channel.receiver {
                ThreadState::Connecting => past.connecting_since.or(Some(sample.answered_at)),
                _ => None,
            };
            if moved {
                past.standing_since = None;
            } else if past.standing_since.is_none() {
                past.standing_since = self.latest.as_ref().map(|old| old.answered_at);
            }
        }
    }

    /// Wanted and not in force: semi-sync has given way. What is committed since is not known to be on any replica.
    fn note_semi_sync(&mut self, sample: &Sample) {
        let source = sample
            .semi_sync
            .value()
            .and_then(|facts| facts.source.as_ref());
        let Some(source) = source.filter(|s| s.enabled == Some(true) && s.active == Some(false))
        else {
            if sample.semi_sync.value().is_some() {
                self.memory.degraded = None;
            }
            return;
        };
        let before = self
            .latest
            .as_ref()
            .and_then(|old| old.semi_sync.value()?.source.as_ref()?.no_tx);
        let grown = source
            .no_tx
            .zip(before)
            .map_or(0, |(now, before)| now.saturating_sub(before));
        let degraded = self.memory.degraded.get_or_insert(Degraded {
            since: sample.answered_at,
            unacknowledged: 0,
        });
        degraded.unacknowledged += grown;
    }

    fn note_heartbeat(&mut self, sample: &Sample) {
        let Some(rows) = sample.heartbeat.value() else {
            return;
        };
        for channel in sample.channels() {
            let pinned = self.registration.heartbeat.pinned_writer;
            let wanted = pinned.or(channel.source.server_id);
            let row = rows
                .rows
                .iter()
                .find(|row| row.server_id == wanted)
                .or(rows.rows.first());
            let Some(wall) = row.and_then(|row| row.wall) else {
                continue;
            };
            let ages = &mut self
                .channels
                .entry(channel.name.clone())
                .or_default()
                .heartbeat_ages;
            let age = Span::from_micros(rows.read_at.0.saturating_sub(wall));
            keep_ages(ages, sample.answered_at, age);
        }
    }
}

/// Twice as long as the time zone is judged by.
const HEARTBEAT_AGES_FOR: Span = Span::from_secs(8);

/// Ages for as long as they are judged by, and five at least.
fn keep_ages(ages: &mut Vec<(Moment, Span)>, at: Moment, age: Span) {
    ages.push((at, age));
    let older = ages.len().saturating_sub(5);
    let is_old = |(polled, _): &&(Moment, Span)| at.since(*polled) > HEARTBEAT_AGES_FOR;
    let unneeded = ages.iter().take(older).take_while(is_old).count();
    ages.drain(..unneeded);
}
