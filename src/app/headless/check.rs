//! `replicascope check`: one look, one line, one exit code, as Nagios and its relatives expect.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::json::{self, JsonFinding};
use crate::app::cli::CheckArgs;
use crate::app::conductor::Conductor;
use crate::app::selection;
use crate::link::clock;
use crate::model::finding::{Health, Severity};
use crate::model::lag::Reading;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{Thresholds, TopologyProfile};
use crate::model::time::Span;
use crate::store::judged::Judged;
use crate::words::{Catalogue, Language};

/// Time for marks to be waited for once all servers have answered.
const SETTLE: Duration = Duration::from_millis(700);

/// The worst of what was found, in the order in which monitoring systems rank it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    Ok,
    Warning,
    Unknown,
    Critical,
}

impl Status {
    /// Plugin API of Nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
    fn exit_code(self) -> u8 {
        match self {
            Status::Ok => 0,
            Status::Warning => 1,
            Status::Critical => 2,
            Status::Unknown => 3,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Status::Ok => "OK",
            Status::Warning => "WARNING",
            Status::Critical => "CRITICAL",
            Status::Unknown => "UNKNOWN",
        }
    }
}

/// The line is for a monitoring system and always in English; what goes wrong before is for a person.
pub fn run(args: &CheckArgs, words: &Catalogue) -> ExitCode {
    match look(args, words) {
        Ok(status) => ExitCode::from(status.exit_code()),
        Err(why) => {
            println!("REPLICATION UNKNOWN - {}", words.say(&why));
            ExitCode::from(Status::Unknown.exit_code())
        }
    }
}

fn look(args: &CheckArgs, words: &Catalogue) -> Result<Status, Phrase> {
    let mut profile = selection::profile_of(&args.selection)?;
    set_thresholds(&mut profile, args)?;
    let (mut conductor, profile) = super::start_profile(profile, &args.selection, words)?;
    wait_for_readings(&mut conductor, args.timeout);
    conductor.store.judge(clock::now());
    let outcome = conductor
        .store
        .judged(&profile.id)
        .map(|judged| (status(judged), report(judged, &conductor, &profile)));
    conductor.close();
    let Some((status, report)) = outcome else {
        return Err(phrase("cli.nothing_to_check"));
    };
    if args.json {
        print_json(status, &report);
    } else {
        println!(
            "REPLICATION {} - {} | {}",
            status.word(),
            report.summary,
            report.perfdata
        );
    }
    Ok(status)
}

/// One look has no second poll to confirm what it sees.
fn set_thresholds(profile: &mut TopologyProfile, args: &CheckArgs) -> Result<(), Phrase> {
    let set = |thresholds: &mut Thresholds| {
        thresholds.lag_warning = args.warn.unwrap_or(thresholds.lag_warning);
        thresholds.lag_critical = args
            .crit
            .unwrap_or(thresholds.lag_critical.max(thresholds.lag_warning));
        thresholds.consecutive = 1;
    };
    set(&mut profile.thresholds);
    profile
        .servers
        .iter_mut()
        .filter_map(|server| server.thresholds.as_mut())
        .for_each(set);
    if profile.thresholds.lag_warning > profile.thresholds.lag_critical {
        return Err(phrase("cli.warn_over_crit"));
    }
    Ok(())
}

/// Until every server has answered or failed, and marks had time to come back; at most `limit`.
fn wait_for_readings(conductor: &mut Conductor, limit: Span) {
    let deadline = Instant::now() + limit.to_duration();
    let tick = Duration::from_millis(20);
    while Instant::now() < deadline && !super::interrupted() {
        conductor.take_in_until(Instant::now() + tick);
        if conductor
            .store
            .servers()
            .all(|server| server.latest.is_some())
        {
            conductor.take_in_until(deadline.min(Instant::now() + SETTLE));
            return;
        }
    }
}

fn status(judged: &Judged) -> Status {
    let of_findings = judged
        .findings
        .iter()
        .map(|finding| match finding.severity {
            Severity::Critical => Status::Critical,
            Severity::Warning => Status::Warning,
            Severity::Info => Status::Ok,
        });
    let of_servers = judged.servers.values().map(|server| match server.health {
        Health::Ok | Health::Delayed => Status::Ok,
        Health::Broken | Health::Stopped => Status::Critical,
        Health::Unknown => Status::Unknown,
    });
    of_findings
        .chain(of_servers)
        .max()
        .unwrap_or(Status::Unknown)
}

#[derive(Debug, Serialize)]
struct Report {
    summary: String,
    perfdata: String,
    findings: Vec<JsonFinding>,
}

fn report(judged: &Judged, conductor: &Conductor, profile: &TopologyProfile) -> Report {
    let words = Catalogue::of(Language::English);
    let worst = judged
        .findings
        .iter()
        .filter(|finding| finding.severity != Severity::Info);
    let sentences: Vec<String> = worst.map(|finding| words.say(&finding.text)).collect();
    let verdict = judged
        .verdict
        .as_ref()
        .map(|verdict| words.say(&verdict.headline))
        .unwrap_or_default();
    let summary = if sentences.is_empty() {
        verdict
    } else {
        sentences.join("; ")
    };
    Report {
        summary: one_line(&summary),
        perfdata: perfdata(judged, conductor, profile),
        findings: judged
            .findings
            .iter()
            .map(|finding| json::finding_json(finding, words))
            .collect(),
    }
}

/// `'label'=value[s];warn;crit;min`, U where the value is not known.
fn perfdata(judged: &Judged, conductor: &Conductor, profile: &TopologyProfile) -> String {
    let mut parts = Vec::new();
    for server in conductor.store.servers_of(&profile.id) {
        let Some(of_server) = judged.servers.get(&server.watch()) else {
            continue;
        };
        let limits = &server.registration.thresholds;
        let mut part = |channel: &str, reading: &Reading| {
            let name = server.registration.name.replace(['\'', '='], "_");
            let label = if channel.is_empty() {
                name
            } else {
                format!("{name}/{channel}")
            };
            let value = match reading {
                Reading::Measured(m) => format!("{:.6}s", m.value.secs_f64()),
                Reading::Unknown { .. } => "U".to_owned(),
                Reading::NotApplicable { .. } => return,
            };
            let (warn, crit) = (
                limits.lag_warning.secs_f64(),
                limits.lag_critical.secs_f64(),
            );
            parts.push(format!("'{label} lag'={value};{warn};{crit};0"));
        };
        if of_server.channels.is_empty() {
            part("", &of_server.own_lag.headline);
        }
        for (channel, of_channel) in &of_server.channels {
            part(channel, &of_channel.lag.headline);
        }
    }
    parts.join(" ")
}

fn one_line(text: &str) -> String {
    text.replace('|', "/")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn print_json(status: Status, report: &Report) {
    #[derive(Serialize)]
    struct Whole<'a> {
        status: &'static str,
        code: u8,
        #[serde(flatten)]
        report: &'a Report,
    }
    let whole = Whole {
        status: status.word(),
        code: status.exit_code(),
        report,
    };
    match serde_json::to_string(&whole) {
        Ok(text) => println!("{text}"),
        Err(error) => println!("{{\"status\":\"UNKNOWN\",\"code\":3,\"summary\":\"{error}\"}}"),
    }
}
