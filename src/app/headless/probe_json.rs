//! The JSON contract of `probe --json`; the README documents it, tests compare it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::probe::summary::{CurvePoint, Percentiles, Share, VerdictCounts};
use crate::model::probe::{
    ProbeFlavour, ProbeRun, ProbeSummary, ReplicaRun, ReplicaSummary, Seen, Verdict, WaitedRead,
};
use crate::model::time::Span;
use crate::words::Catalogue;

/// Stretches of the curve.
const STRETCHES: usize = 20;

/// One run on one replica.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    pub run: u32,
    pub server: &'a str,
    pub flavour: &'static str,
    pub gtid: Option<String>,
    pub gtid_from: Option<&'static str>,
    /// The value written; null when the write was refused.
    pub written: Option<&'a str>,
    pub plain: Plain<'a>,
    pub waited: Waited<'a>,
    pub source: Source<'a>,
    /// Why nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Plain<'a> {
    pub value: Option<&'a str>,
    pub verdict: &'static str,
    pub after_commit_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct Waited<'a> {
    pub outcome: &'static str,
    /// The server's error number, or the number the wait answered in place of 0.
    pub code: Option<i64>,
    pub wait_ms: Option<f64>,
    pub value: Option<&'a str>,
    pub verdict: &'static str,
    pub read_from: &'static str,
    pub reason: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Source<'a> {
    pub value: Option<&'a str>,
    pub verdict: &'static str,
}

/// One line for each replica, also of a run whose write was refused.
pub fn lines<'a>(
    run: &'a ProbeRun,
    flavour: ProbeFlavour,
    servers: &'a [String],
    words: &Catalogue,
) -> Vec<Line<'a>> {
    let lines = servers.iter().enumerate().map(|(place, server)| {
        let token = run.write.as_ref().ok().map(|write| write.token.as_ref());
        let token = token.and_then(Result::ok);
        let replica = run.replicas.get(place);
        Line {
            run: run.number,
            server,
            flavour: flavour.code(),
            gtid: token.map(|token| token.gtids.to_string()),
            gtid_from: token.map(|token| token.from.code()),
            written: run.write.is_ok().then_some(run.value.as_str()),
            plain: plain(run, replica),
            waited: waited(run, replica.map(|replica| &replica.waited), words),
            source: source(run),
            error: run.write.as_ref().err().map(|why| words.say(&why.what)),
        }
    });
    lines.collect()
}

fn plain<'a>(run: &ProbeRun, replica: Option<&'a ReplicaRun>) -> Plain<'a> {
    let seen = replica.map(|replica| &replica.plain);
    Plain {
        value: seen.and_then(Seen::text),
        verdict: verdict(run, seen),
        after_commit_ms: seen
            .and_then(|seen| run.after_commit(seen))
            .map(Span::millis_f64),
    }
}

fn waited<'a>(run: &ProbeRun, waited: Option<&'a WaitedRead>, words: &Catalogue) -> Waited<'a> {
    let Some(waited) = waited else {
        return Waited {
            outcome: "failed",
            code: None,
            wait_ms: None,
            value: None,
            verdict: Verdict::Failed.code(),
            read_from: "source",
            reason: run.write.as_ref().err().map(|why| words.say(&why.what)),
        };
    };
    Waited {
        outcome: waited.wait.kind.outcome().code(),
        code: waited.wait.code,
        wait_ms: waited.wait.length().map(Span::millis_f64),
        value: waited.read.text(),
        verdict: verdict(run, Some(&waited.read)),
        read_from: waited.read_from.code(),
        reason: waited.reason.as_ref().map(|why| words.say(why)),
    }
}

fn source(run: &ProbeRun) -> Source<'_> {
    Source {
        value: run.source.as_ref().and_then(Seen::text),
        verdict: verdict(run, run.source.as_ref()),
    }
}

fn verdict(run: &ProbeRun, seen: Option<&Seen>) -> &'static str {
    seen.map_or(Verdict::Failed, |seen| seen.verdict(&run.value))
        .code()
}

/// The last line.
#[derive(Debug, Serialize)]
pub struct Last<'a> {
    pub summary: Summary<'a>,
}

#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    pub runs: u64,
    pub writes_failed: u64,
    pub source: Counts,
    /// Of all replicas together.
    #[serde(flatten)]
    pub all: Figures,
    pub replicas: Vec<OfReplica<'a>>,
    /// Why it ended before all runs were done.
    pub ended: Option<String>,
    /// Whether our rows are gone again; null when none was written.
    pub cleaned_up: Option<bool>,
}

#[derive(Debug, Serialize)]
pub struct Counts {
    pub fresh: u64,
    pub old: u64,
    pub missing: u64,
    pub failed: u64,
}

impl From<VerdictCounts> for Counts {
    fn from(counts: VerdictCounts) -> Self {
        Counts {
            fresh: counts.fresh,
            old: counts.old,
            missing: counts.missing,
            failed: counts.failed,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct OfReplica<'a> {
    pub server: &'a str,
    #[serde(flatten)]
    pub figures: Figures,
}

/// What the runs add up to.
#[derive(Debug, Serialize)]
pub struct Figures {
    pub plain: Counts,
    pub waited: Counts,
    /// Of the plain reads that were answered; null without one.
    pub stale_share: Option<JsonShare>,
    /// Every way a wait ended that occurred.
    pub outcomes: BTreeMap<&'static str, u64>,
    pub read_from_source: u64,
    /// Of successful waits.
    pub wait_ms: Option<JsonPercentiles>,
    pub commit_to_waited_ms: Option<JsonPercentiles>,
    /// From the commit to the first sight of it; only with `--floor`.
    pub first_visible_ms: Option<JsonPercentiles>,
    pub curve: Vec<JsonPoint>,
}

#[derive(Debug, Serialize)]
pub struct JsonShare {
    pub value: f64,
    /// The band of 95 % confidence.
    pub low: f64,
    pub high: f64,
}

impl From<Share> for JsonShare {
    fn from(share: Share) -> Self {
        JsonShare {
            value: share.value,
            low: share.low,
            high: share.high,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct JsonPercentiles {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
    pub count: u64,
}

impl From<Percentiles> for JsonPercentiles {
    fn from(of: Percentiles) -> Self {
        JsonPercentiles {
            p50: of.p50.millis_f64(),
            p95: of.p95.millis_f64(),
            p99: of.p99.millis_f64(),
            max: of.longest.millis_f64(),
            count: of.count,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct JsonPoint {
    pub from_ms: f64,
    pub to_ms: f64,
    pub stale_share: f64,
    pub low: f64,
    pub high: f64,
    pub count: u64,
}

impl From<CurvePoint> for JsonPoint {
    fn from(point: CurvePoint) -> Self {
        JsonPoint {
            from_ms: point.from.millis_f64(),
            to_ms: point.to.millis_f64(),
            stale_share: point.share.value,
            low: point.share.low,
            high: point.share.high,
            count: point.share.count,
        }
    }
}

pub fn last<'a>(
    summary: &ProbeSummary,
    servers: &'a [String],
    ended: Option<String>,
    cleaned_up: Option<bool>,
) -> Last<'a> {
    let replicas = servers.iter().zip(&summary.replicas);
    Last {
        summary: Summary {
            runs: summary.runs,
            writes_failed: summary.writes_failed,
            source: summary.source.into(),
            all: figures(&summary.of_all()),
            replicas: replicas
                .map(|(server, of)| OfReplica {
                    server,
                    figures: figures(of),
                })
                .collect(),
            ended,
            cleaned_up,
        },
    }
}

fn figures(of: &ReplicaSummary) -> Figures {
    Figures {
        plain: of.plain.into(),
        waited: of.waited.into(),
        stale_share: of.plain.stale_share().map(Into::into),
        outcomes: of
            .outcomes
            .iter()
            .map(|(kind, n)| (kind.code(), *n))
            .collect(),
        read_from_source: of.read_from_source,
        wait_ms: of.waits().map(Into::into),
        commit_to_waited_ms: of.commit_to_waited().map(Into::into),
        first_visible_ms: of.first_visible().map(Into::into),
        curve: of.curve(STRETCHES).into_iter().map(Into::into).collect(),
    }
}
