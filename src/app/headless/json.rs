//! The JSON contract of `watch --json` and `check --json`; the README documents it, tests compare it.

use serde::Serialize;

use crate::model::finding::{Finding, Subject};
use crate::model::lag::{LagView, Method, Reading};
use crate::model::phrase::Phrase;
use crate::model::sample::Sample;
use crate::model::time::{Moment, Span};
use crate::store::judged::Judged;
use crate::store::watched::Watched;
use crate::words::Catalogue;

/// One line: a server, or one of its channels, at one instant.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    /// Unix seconds of the workstation's clock, with microseconds.
    pub at: f64,
    /// As given on the command line, or the name in the profile.
    pub server: &'a str,
    /// Empty for the default channel, and for a server without channels.
    pub channel: &'a str,
    pub role: &'static str,
    pub lag: JsonReading,
    pub methods: JsonMethods,
    /// Seconds the server's clock is ahead of ours; null when not measured.
    pub clock_offset: Option<f64>,
    pub clock_offset_bound: Option<f64>,
    pub planned_delay: f64,
    /// Executed on the source and not here; null when not known.
    pub backlog_transactions: Option<u64>,
    pub health: &'static str,
    pub routable: bool,
    pub semi_sync: JsonSemiSync,
    pub verdict: String,
    pub findings: Vec<JsonFinding>,
    /// Seconds since the last good answer; null before the first.
    pub age: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct JsonReading {
    pub state: &'static str,
    pub seconds: Option<f64>,
    pub bound: Option<f64>,
    pub method: Option<&'static str>,
    pub why: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct JsonMethods {
    pub gtid_marks: JsonReading,
    pub applier: JsonReading,
    pub heartbeat: JsonReading,
    pub seconds_behind: JsonReading,
    pub platform: JsonReading,
}

/// Null where the plugin is not installed or the server does not tell.
#[derive(Debug, Default, Serialize)]
pub struct JsonSemiSync {
    pub source_enabled: Option<bool>,
    pub source_active: Option<bool>,
    pub source_clients: Option<u64>,
    pub source_required: Option<u64>,
    pub source_unacknowledged: Option<u64>,
    pub replica_enabled: Option<bool>,
    pub replica_active: Option<bool>,
}

#[derive(Debug, Serialize)]
pub struct JsonFinding {
    pub code: &'static str,
    pub severity: &'static str,
    pub text: String,
}

/// The lines of one judged topology, in the order of the servers.
pub fn lines<'a>(
    judged: &'a Judged,
    servers: impl Iterator<Item = &'a Watched>,
    at: Moment,
    now: Moment,
    words: &Catalogue,
) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for server in servers {
        let Some(of_server) = judged.servers.get(&server.watch()) else {
            continue;
        };
        let mut line = |channel: &'a str, lag: &LagView, health: &'static str, routable: bool| {
            let clock = server.clock_now(now);
            lines.push(Line {
                at: at.unix_secs_f64(),
                server: &server.registration.name,
                channel,
                role: of_server.role.code(),
                lag: reading(&lag.headline, words),
                methods: methods(lag, words),
                clock_offset: clock.map(|clock| clock.ahead_by.secs_f64()),
                clock_offset_bound: clock.map(|clock| clock.bound.secs_f64()),
                planned_delay: lag.planned_delay.secs_f64(),
                backlog_transactions: lag.backlog.transactions,
                health,
                routable,
                semi_sync: semi_sync(server.current(now).map(AsRef::as_ref)),
                verdict: words.say(&lag.verdict),
                findings: findings(&judged.findings, server, channel, words),
                age: of_server.answer_age.map(Span::secs_f64),
            });
        };
        if of_server.channels.is_empty() {
            line(
                "",
                &of_server.own_lag,
                of_server.health.code(),
                of_server.routable,
            );
        }
        for (name, channel) in &of_server.channels {
            line(name, &channel.lag, channel.health.code(), channel.routable);
        }
    }
    lines
}

fn reading(reading: &Reading, words: &Catalogue) -> JsonReading {
    let why = reading.why().map(|why| words.say(why));
    let measured = reading.measured();
    JsonReading {
        state: match reading {
            Reading::Measured(_) => "measured",
            Reading::Unknown { .. } => "unknown",
            Reading::NotApplicable { .. } => "not_applicable",
        },
        seconds: measured.map(|m| m.value.secs_f64()),
        bound: measured.and_then(|m| m.bound).map(Span::secs_f64),
        method: measured.map(|m| m.method.code()),
        why,
    }
}

fn methods(lag: &LagView, words: &Catalogue) -> JsonMethods {
    let of = |method| {
        lag.method(method).map_or_else(
            || reading(&Reading::unknown(Phrase::new("lag.why.no_facts")), words),
            |found| reading(found, words),
        )
    };
    JsonMethods {
        gtid_marks: of(Method::GtidMarks),
        applier: of(Method::Applier),
        heartbeat: of(Method::Heartbeat),
        seconds_behind: of(Method::SecondsBehind),
        platform: of(Method::Platform),
    }
}

fn semi_sync(sample: Option<&Sample>) -> JsonSemiSync {
    let Some(facts) = sample.and_then(|sample| sample.semi_sync.value()) else {
        return JsonSemiSync::default();
    };
    let (source, replica) = (facts.source.as_ref(), facts.replica.as_ref());
    JsonSemiSync {
        source_enabled: source.and_then(|s| s.enabled),
        source_active: source.and_then(|s| s.active),
        source_clients: source.and_then(|s| s.clients),
        source_required: source.and_then(|s| s.required),
        source_unacknowledged: source.and_then(|s| s.no_tx),
        replica_enabled: replica.and_then(|r| r.enabled),
        replica_active: replica.and_then(|r| r.active),
    }
}

/// Findings about this server as a whole and about this channel; those about the topology stand with its source.
fn findings(
    all: &[Finding],
    server: &Watched,
    channel: &str,
    words: &Catalogue,
) -> Vec<JsonFinding> {
    all.iter()
        .filter(|finding| match &finding.subject {
            Subject::Topology => true,
            Subject::Server(watch) => *watch == server.watch(),
            Subject::Channel(watch, name) => *watch == server.watch() && name == channel,
        })
        .map(|finding| finding_json(finding, words))
        .collect()
}

pub fn finding_json(finding: &Finding, words: &Catalogue) -> JsonFinding {
    JsonFinding {
        code: finding.code,
        severity: finding.severity.code(),
        text: words.say(&finding.text),
    }
}
