//! Every rule over the same writes and reads: what it returned, what it cost.
//!
//! A [`Recording`] holds what happened on a topology: writes with the instant each replica had them, reads, and what
//! was known of the replicas. [`compare`] replays it once per rule; a wait ends when the replica had the write, or
//! when its limit ran out. What the recording cannot tell is counted as undecided and never as fresh.

pub mod outcome;
pub mod sentence;

use std::collections::BTreeMap;

use crate::model::gtid::Gtids;
use crate::model::phrase::Phrase;
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};

pub use outcome::{Outcome, ReplicaSeen};

use super::decision::{Decision, Go};
use super::record::Freshness;
use super::replica::ReplicaView;
use super::request::{Awaited, Need, QueryKind, Request, Seq, SessionKey, Write};
use super::strategy::{Promise, Strategy};
use super::wait::{Attempt, WaitResult, WaitSpec, WaitTally};

/// When a replica had a write. A replica that was not watched is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visible {
    At(Moment),
    /// Not yet then; nothing is known of later.
    NotUntil(Moment),
}

#[derive(Clone, Debug, PartialEq)]
pub struct WriteSeen {
    pub session: SessionKey,
    pub seq: Seq,
    pub committed_at: Moment,
    pub gtids: Option<Gtids>,
    pub visible: BTreeMap<WatchId, Visible>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReadSeen {
    pub session: SessionKey,
    pub at: Moment,
    pub kind: QueryKind,
    pub in_transaction: bool,
    /// The write it must see: its session's last one, or another's in the cross-session mode.
    pub must_see: Option<Seq>,
}

/// What was known of the replicas from an instant on.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthSeen {
    pub at: Moment,
    pub replicas: Vec<ReplicaView>,
}

/// Put in order of time by [`Recording::new`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    writes: Vec<WriteSeen>,
    reads: Vec<ReadSeen>,
    health: Vec<HealthSeen>,
    by_seq: BTreeMap<Seq, usize>,
    /// What asking to wait costs when there is nothing to wait for.
    wait_round_trip: Span,
}

impl Recording {
    pub fn new(
        mut writes: Vec<WriteSeen>,
        mut reads: Vec<ReadSeen>,
        mut health: Vec<HealthSeen>,
        wait_round_trip: Span,
    ) -> Self {
        writes.sort_by_key(|write| write.committed_at);
        reads.sort_by_key(|read| read.at);
        health.sort_by_key(|health| health.at);
        let by_seq = writes.iter().enumerate().map(|(n, w)| (w.seq, n)).collect();
        Recording {
            writes,
            reads,
            health,
            by_seq,
            wait_round_trip: wait_round_trip.or_zero(),
        }
    }

    pub fn reads(&self) -> &[ReadSeen] {
        &self.reads
    }

    fn write(&self, seq: Seq) -> Option<&WriteSeen> {
        self.by_seq.get(&seq).map(|n| &self.writes[*n])
    }

    /// The newest knowledge of the replicas; before the first there is none.
    fn replicas_at(&self, now: Moment) -> &[ReplicaView] {
        let known = self.health.partition_point(|health| health.at <= now);
        match known {
            0 => &[],
            n => &self.health[n - 1].replicas,
        }
    }

    fn visible(&self, seq: Seq, on: WatchId) -> Option<Visible> {
        self.write(seq)?.visible.get(&on).copied()
    }

    fn request(&self, read: &ReadSeen) -> Request {
        let need = match read.must_see {
            None => Need::Nothing,
            Some(seq) => Need::Write(Awaited {
                gtids: self.write(seq).and_then(|write| write.gtids.clone()),
            }),
        };
        Request {
            session: read.session,
            kind: read.kind.clone(),
            at: read.at,
            in_transaction: read.in_transaction,
            need,
            reads_to: read.must_see,
        }
    }
}

/// One rule's line in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub code: String,
    pub name: Phrase,
    pub promise: Promise,
    pub reads: u64,
    /// Of these, reads that had to see a write.
    pub must_see: u64,
    /// Of these, reads that were answered, as fresh or stale as the recording tells.
    pub judged: u64,
    /// Of these, reads that returned something older.
    pub stale: u64,
    /// Reads of which the recording does not tell.
    pub undecided: u64,
    pub refused: u64,
    pub on_source: u64,
    /// What answered reads that had to see a write waited before they were sent; `None` when there were none.
    pub added: Option<Percentiles>,
    /// By [`super::Reason::code`]: how often the rule wanted a replica and could not have one.
    pub fallbacks: BTreeMap<&'static str, u64>,
    pub waits: WaitTally,
}

impl Row {
    /// Of the reads that had to see a write and were answered; `None` when there were none.
    pub fn stale_share(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.stale as f64 / self.judged as f64)
    }

    pub fn source_share(&self) -> Option<f64> {
        (self.reads > 0).then(|| self.on_source as f64 / self.reads as f64)
    }
}

/// By nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentiles {
    pub p50: Span,
    pub p95: Span,
    pub p99: Span,
}

impl Percentiles {
    pub fn of(mut spans: Vec<Span>) -> Option<Self> {
        spans.sort_unstable();
        let rank = |percent: usize| {
            let place = (spans.len() * percent).div_ceil(100).max(1) - 1;
            spans.get(place).copied()
        };
        Some(Percentiles {
            p50: rank(50)?,
            p95: rank(95)?,
            p99: rank(99)?,
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// In the order of the rules.
    pub rows: Vec<Row>,
    /// Which rule buys what.
    pub sentence: Phrase,
}

/// Replays the recording once per rule; each should be new.
pub fn compare(recording: &Recording, rules: &mut [Box<dyn Strategy>]) -> Comparison {
    let rows: Vec<Row> = rules
        .iter_mut()
        .map(|rule| replay(recording, rule.as_mut()))
        .collect();
    let sentence = sentence::of(&rows);
    Comparison { rows, sentence }
}

/// One rule over the recording.
pub fn replay(recording: &Recording, rule: &mut dyn Strategy) -> Row {
    let mut ledger = Ledger::default();
    let mut writes = recording.writes.iter().peekable();
    for read in &recording.reads {
        while let Some(write) = writes.next_if(|write| write.committed_at <= read.at) {
            rule.write(&Write {
                session: write.session,
                at: write.committed_at,
                seq: Some(write.seq),
            });
        }
        ledger.enter(read, &route(recording, rule, read));
    }
    ledger.row(rule)
}

/// Where a read ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Routed {
    /// `None`: a wait whose end the recording does not tell.
    pub decision: Option<Decision>,
    pub attempts: Vec<Attempt>,
    pub sent_at: Moment,
    pub freshness: Freshness,
}

/// No rule waits more often; the end of one that would.
const MOST_WAITS: usize = 16;

fn route(recording: &Recording, rule: &mut dyn Strategy, read: &ReadSeen) -> Routed {
    let request = recording.request(read);
    let mut now = read.at;
    let mut attempts = Vec::new();
    let mut decision = rule.read(&request, recording.replicas_at(now));
    while let Go::WaitOn(on, spec) = &decision.go {
        let attempt = match wait(recording, read, *on, spec, now) {
            Some(attempt) if attempts.len() < MOST_WAITS => attempt,
            _ => return undecided(attempts, now),
        };
        now = now + attempt.took;
        attempts.push(attempt);
        decision = rule.waited(&request, &attempts, now, recording.replicas_at(now));
    }
    Routed {
        freshness: freshness(recording, read, &decision.go, now),
        decision: Some(decision),
        attempts,
        sent_at: now,
    }
}

fn undecided(attempts: Vec<Attempt>, now: Moment) -> Routed {
    Routed {
        decision: None,
        attempts,
        sent_at: now,
        freshness: Freshness::Unknown,
    }
}

/// How a wait there and then would have ended; `None` when the recording does not tell.
fn wait(
    recording: &Recording,
    read: &ReadSeen,
    on: WatchId,
    spec: &WaitSpec,
    now: Moment,
) -> Option<Attempt> {
    let limit = spec.limit().span();
    let gives_up_at = now + limit;
    let (result, waited) = match recording.visible(read.must_see?, on)? {
        Visible::At(at) if at <= gives_up_at => (WaitResult::Reached, at.since(now).or_zero()),
        Visible::At(_) => (WaitResult::TimedOut, limit),
        Visible::NotUntil(at) if at >= gives_up_at => (WaitResult::TimedOut, limit),
        Visible::NotUntil(_) => return None,
    };
    Some(Attempt {
        on,
        result,
        took: waited + recording.wait_round_trip,
    })
}

fn freshness(recording: &Recording, read: &ReadSeen, go: &Go, now: Moment) -> Freshness {
    let (Go::Replica(on) | Go::WaitedReplica(on)) = go else {
        return Freshness::Fresh;
    };
    let Some(seq) = read.must_see else {
        return Freshness::Fresh;
    };
    match recording.visible(seq, *on) {
        Some(Visible::At(at)) if at <= now => Freshness::Fresh,
        Some(Visible::At(_)) => Freshness::Stale,
        Some(Visible::NotUntil(at)) if now <= at => Freshness::Stale,
        Some(Visible::NotUntil(_)) | None => Freshness::Unknown,
    }
}

/// Adds up one rule's reads.
#[derive(Default)]
struct Ledger {
    reads: u64,
    must_see: u64,
    judged: u64,
    stale: u64,
    undecided: u64,
    refused: u64,
    on_source: u64,
    added: Vec<Span>,
    fallbacks: BTreeMap<&'static str, u64>,
}

impl Ledger {
    fn enter(&mut self, read: &ReadSeen, routed: &Routed) {
        self.reads += 1;
        self.must_see += u64::from(read.must_see.is_some());
        self.stale += u64::from(routed.freshness == Freshness::Stale);
        self.undecided += u64::from(routed.freshness == Freshness::Unknown);
        let Some(decision) = &routed.decision else {
            return;
        };
        self.on_source += u64::from(decision.go == Go::Source);
        if decision.reason.is_fallback() {
            *self.fallbacks.entry(decision.reason.code()).or_default() += 1;
        }
        if decision.go == Go::Refuse {
            self.refused += 1;
        } else if read.must_see.is_some() {
            self.judged += u64::from(routed.freshness != Freshness::Unknown);
            self.added.push(routed.sent_at.since(read.at));
        }
    }

    fn row(self, rule: &dyn Strategy) -> Row {
        Row {
            code: rule.code(),
            name: rule.name(),
            promise: rule.promise(),
            reads: self.reads,
            must_see: self.must_see,
            judged: self.judged,
            stale: self.stale,
            undecided: self.undecided,
            refused: self.refused,
            on_source: self.on_source,
            added: Percentiles::of(self.added),
            fallbacks: self.fallbacks,
            waits: rule.waits(),
        }
    }
}

#[cfg(test)]
mod tests;
