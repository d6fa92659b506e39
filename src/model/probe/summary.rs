//! What many runs add up to: counts, the stale share, wait times, and how likely a read is stale at a time after the
//! commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::run::{ProbeRun, ReadFrom, Verdict, WaitKind};
use crate::model::time::Span;

/// Of one probe, taken in run by run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeSummary {
    /// Runs that wrote.
    pub runs: u64,
    /// Runs whose write was refused or failed.
    pub writes_failed: u64,
    pub source: VerdictCounts,
    /// In the order of the replicas given.
    pub replicas: Vec<ReplicaSummary>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicaSummary {
    pub plain: VerdictCounts,
    pub waited: VerdictCounts,
    /// Every way a wait ended that occurred.
    pub outcomes: BTreeMap<WaitKind, u64>,
    /// Waited reads that went to the source.
    pub read_from_source: u64,
    /// How long successful waits took.
    waits: Lengths,
    /// From the commit to the waited value, of reads from this replica.
    commit_to_waited: Lengths,
    /// From the commit to the first sight of the write.
    floor: Lengths,
    /// Plain reads: how long after the commit, and whether stale.
    points: Vec<(Span, bool)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    pub fresh: u64,
    pub old: u64,
    pub missing: u64,
    pub failed: u64,
}

impl VerdictCounts {
    fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Fresh => &mut self.fresh,
            Verdict::Old => &mut self.old,
            Verdict::Missing => &mut self.missing,
            Verdict::Failed => &mut self.failed,
        } += 1;
    }

    fn take_in(&mut self, other: VerdictCounts) {
        self.fresh += other.fresh;
        self.old += other.old;
        self.missing += other.missing;
        self.failed += other.failed;
    }

    pub fn stale(&self) -> u64 {
        self.old + self.missing
    }

    /// Of the reads that got an answer; a failed read is neither fresh nor stale.
    pub fn stale_share(&self) -> Option<Share> {
        Share::of(self.stale(), self.fresh + self.stale())
    }
}

/// A share seen in a sample, with the band in which the true one lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub count: u64,
}

impl Share {
    /// Wilson's interval (E. B. Wilson, 1927): unlike the textbook one it stays within 0…1 and says something for 0 of
    /// n. `None` without a single trial.
    pub fn of(hits: u64, count: u64) -> Option<Share> {
        if count == 0 {
            return None;
        }
        const Z: f64 = 1.959_963_984_540_054;
        let n = count as f64;
        let p = hits as f64 / n;
        let shrink = 1.0 + Z * Z / n;
        let middle = (p + Z * Z / (2.0 * n)) / shrink;
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / shrink;
        Some(Share {
            value: p,
            low: (middle - half).clamp(0.0, p),
            high: (middle + half).clamp(p, 1.0),
            count,
        })
    }
}

/// The staleness of plain reads sent within one stretch of time after the commit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub from: Span,
    pub to: Span,
    pub share: Share,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    pub p50: Span,
    pub p95: Span,
    pub p99: Span,
    pub longest: Span,
    pub count: u64,
}

/// One bar: waits longer than `from`, up to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistogramBar {
    pub from: Span,
    pub to: Span,
    pub count: u64,
}

/// Lengths of time, kept to the microsecond. A million runs are 8 MB.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lengths(Vec<Span>);

impl Lengths {
    /// By nearest rank: a length that really occurred.
    fn percentiles(&self) -> Option<Percentiles> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let longest = *sorted.last()?;
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1);
            sorted[rank - 1]
        };
        Some(Percentiles {
            p50: at(50),
            p95: at(95),
            p99: at(99),
            longest,
            count: sorted.len() as u64,
        })
    }
}

impl ProbeSummary {
    pub fn of_replicas(count: usize) -> Self {
        ProbeSummary {
            replicas: vec![ReplicaSummary::default(); count],
            ..ProbeSummary::default()
        }
    }

    pub fn add(&mut self, run: &ProbeRun) {
        let Ok(write) = &run.write else {
            self.writes_failed += 1;
            return;
        };
        self.runs += 1;
        if let Some(read) = &run.source {
            self.source.add(read.verdict(&run.value));
        }
        for (summary, replica) in self.replicas.iter_mut().zip(&run.replicas) {
            let plain = replica.plain.verdict(&run.value);
            summary.plain.add(plain);
            if let Some(after) = run
                .after_commit(&replica.plain)
                .filter(|_| plain != Verdict::Failed)
            {
                summary.points.push((after.or_zero(), plain.is_stale()));
            }
            let waited = &replica.waited;
            summary.waited.add(waited.read.verdict(&run.value));
            *summary.outcomes.entry(waited.wait.kind).or_default() += 1;
            match waited.read_from {
                ReadFrom::Source => summary.read_from_source += 1,
                ReadFrom::Replica => {
                    let whole = waited.read.answered_at.since(write.committed_at);
                    summary.commit_to_waited.0.push(whole);
                }
            }
            if waited.wait.kind == WaitKind::Reached {
                summary.waits.0.extend(waited.wait.length());
            }
            if let Some(seen) = replica.first_visible {
                summary.floor.0.push(seen.since(write.committed_at));
            }
        }
    }

    /// All replicas together.
    pub fn of_all(&self) -> ReplicaSummary {
        let mut all = ReplicaSummary::default();
        for replica in &self.replicas {
            all.take_in(replica);
        }
        all
    }

    /// The 99th percentile of the delay: of how long successful waits of the slowest replica took.
    pub fn p99_delay(&self) -> Option<Span> {
        self.replicas
            .iter()
            .filter_map(|replica| Some(replica.waits()?.p99))
            .max()
    }
}

impl ReplicaSummary {
    fn take_in(&mut self, other: &ReplicaSummary) {
        self.plain.take_in(other.plain);
        self.waited.take_in(other.waited);
        for (kind, count) in &other.outcomes {
            *self.outcomes.entry(*kind).or_default() += count;
        }
        self.read_from_source += other.read_from_source;
        self.waits.0.extend(&other.waits.0);
        self.commit_to_waited.0.extend(&other.commit_to_waited.0);
        self.floor.0.extend(&other.floor.0);
        self.points.extend(&other.points);
    }

    pub fn waits(&self) -> Option<Percentiles> {
        self.waits.percentiles()
    }

    pub fn commit_to_waited(&self) -> Option<Percentiles> {
        self.commit_to_waited.percentiles()
    }

    /// From the commit to the first sight of the write, where somebody looked.
    pub fn first_visible(&self) -> Option<Percentiles> {
        self.floor.percentiles()
    }

    /// P(stale) against the time since the commit, in at most `stretches` of equal length; stretches without a read are
    /// left out.
    pub fn curve(&self, stretches: usize) -> Vec<CurvePoint> {
        let Some(end) = self.points.iter().map(|(after, _)| *after).max() else {
            return Vec::new();
        };
        let width = (end.micros() / stretches.max(1) as i64 + 1).max(1);
        let mut counts: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        for (after, is_stale) in &self.points {
            let (stale, all) = counts.entry(after.micros() / width).or_default();
            *stale += u64::from(*is_stale);
            *all += 1;
        }
        let points = counts.into_iter().filter_map(|(place, (stale, all))| {
            Some(CurvePoint {
                from: Span::from_micros(place * width),
                to: Span::from_micros((place + 1) * width),
                share: Share::of(stale, all)?,
            })
        });
        points.collect()
    }

    /// Wait times in stretches that double, from 0.1 ms on: a wait is a matter of microseconds here and of seconds there.
    pub fn wait_histogram(&self) -> Vec<HistogramBar> {
        let mut bars: Vec<HistogramBar> = Vec::new();
        let Some(longest) = self.waits.0.iter().max() else {
            return bars;
        };
        let (mut from, mut to) = (Span::ZERO, Span::from_micros(100));
        loop {
            let is_in = |wait: &&Span| (**wait > from || from == Span::ZERO) && **wait <= to;
            let count = self.waits.0.iter().filter(is_in).count() as u64;
            bars.push(HistogramBar { from, to, count });
            if to >= *longest {
                return bars;
            }
            (from, to) = (to, to.times(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::{ReplicaRun, Seen, WaitSeen, WaitedRead, Write};
    use super::*;
    use crate::model::time::Moment;

    const T0: Moment = Moment::from_unix_micros(0);

    fn at(millis: i64) -> Moment {
        T0 + Span::from_millis(millis)
    }

    fn seen(at_ms: i64, value: Option<&str>) -> Seen {
        Seen {
            session: Some(1),
            asked_at: at(at_ms),
            answered_at: at(at_ms + 1),
            value: Ok(value.map(Into::into)),
        }
    }

    fn run(plain_at_ms: i64, plain: Option<&str>, wait_ms: i64, kind: WaitKind) -> ProbeRun {
        let from = if kind == WaitKind::Reached {
            ReadFrom::Replica
        } else {
            ReadFrom::Source
        };
        ProbeRun {
            number: 1,
            value: "new".into(),
            write: Ok(Write {
                session: 1,
                asked_at: at(-1),
                committed_at: T0,
                token: Err(WaitKind::NoGtid),
            }),
            source: Some(seen(0, Some("new"))),
            replicas: vec![ReplicaRun {
                plain: seen(plain_at_ms, plain),
                waited: WaitedRead {
                    wait: WaitSeen {
                        span: Some((T0, at(wait_ms))),
                        ..WaitSeen::not_sent(kind)
                    },
                    read: seen(wait_ms, Some("new")),
                    read_from: from,
                    reason: kind.reason(),
                },
                first_visible: None,
            }],
        }
    }

    #[test]
    fn old_and_missing_are_stale_and_every_outcome_is_counted_apart() {
        let mut summary = ProbeSummary::of_replicas(1);
        for run in [
            run(0, None, 5, WaitKind::Reached),
            run(0, Some("old"), 1000, WaitKind::TimedOut),
            run(9, Some("new"), 7, WaitKind::Reached),
            run(9, Some("new"), 2, WaitKind::Killed),
        ] {
            summary.add(&run);
        }
        let replica = &summary.replicas[0];
        let counts = VerdictCounts {
            fresh: 2,
            old: 1,
            missing: 1,
            failed: 0,
        };
        assert_eq!(replica.plain, counts);
        assert_eq!(replica.plain.stale_share().map(|s| s.value), Some(0.5));
        assert_eq!(replica.waited.fresh, 4);
        assert_eq!(
            replica.outcomes,
            BTreeMap::from([
                (WaitKind::Reached, 2),
                (WaitKind::TimedOut, 1),
                (WaitKind::Killed, 1)
            ])
        );
        assert_eq!(replica.read_from_source, 2);
        let waits = replica.waits().expect("two waits");
        assert_eq!((waits.count, waits.longest), (2, Span::from_millis(7)));
        assert_eq!(summary.of_all().plain, counts, "one replica is all of them");
        let curve = replica.curve(10);
        let shares: Vec<f64> = curve.iter().map(|point| point.share.value).collect();
        assert_eq!(shares, [1.0, 0.0]);
        assert!(curve[1].from <= Span::from_millis(9) && curve[1].to > Span::from_millis(9));
    }

    #[test]
    fn a_write_that_failed_is_no_run() {
        let mut summary = ProbeSummary::of_replicas(1);
        let mut refused = run(0, None, 1, WaitKind::Reached);
        refused.write = Err(crate::model::trouble::Trouble {
            kind: crate::model::trouble::TroubleKind::QueryFailed,
            what: crate::model::phrase::phrase("x"),
            hint: None,
            code: Some(1290),
            detail: String::new(),
        });
        summary.add(&refused);
        assert_eq!((summary.runs, summary.writes_failed), (0, 1));
        assert_eq!(summary.replicas[0].plain.stale_share(), None);
        assert_eq!(summary.p99_delay(), None);
    }

    #[test]
    fn wilsons_band_says_something_even_for_none_of_ten() {
        let none = Share::of(0, 10).expect("a share");
        assert_eq!((none.value, none.low), (0.0, 0.0));
        assert!((none.high - 0.2775).abs() < 0.001, "{none:?}");
        let half = Share::of(50, 100).expect("a share");
        assert!((half.low - 0.4038).abs() < 0.001 && (half.high - 0.5962).abs() < 0.001);
        let all = Share::of(7, 7).expect("a share");
        assert_eq!((all.value, all.high), (1.0, 1.0));
        assert_eq!(Share::of(0, 0), None);
    }

    #[test]
    fn percentiles_are_lengths_that_occurred() {
        let lengths = Lengths((1..=100).rev().map(Span::from_millis).collect());
        let told = lengths.percentiles().expect("lengths");
        assert_eq!(
            (told.p50, told.p95, told.p99),
            (
                Span::from_millis(50),
                Span::from_millis(95),
                Span::from_millis(99)
            )
        );
        assert_eq!(
            Lengths(vec![Span::from_millis(3)])
                .percentiles()
                .map(|p| p.p50),
            Some(Span::from_millis(3))
        );
    }

    #[test]
    fn every_wait_stands_in_one_bar() {
        let mut summary = ReplicaSummary::default();
        summary.waits.0 = [0, 50, 100, 101, 200, 5_000]
            .map(Span::from_micros)
            .to_vec();
        let bars = summary.wait_histogram();
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 6);
        assert_eq!((bars[0].count, bars[1].count), (3, 2));
    }
}
