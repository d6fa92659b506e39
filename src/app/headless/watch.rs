//! `replicascope watch`: readings as lines, for people or as JSON.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::json;
use crate::app::cli::WatchArgs;
use crate::link::clock;
use crate::model::lag::Reading;
use crate::model::phrase::Phrase;
use crate::model::profile::TopologyProfile;
use crate::store::Store;
use crate::words::{Catalogue, Language};

/// Longest wait between two looks at whether to end.
const ATTENTION: Duration = Duration::from_millis(250);

/// Runs until the time is up, Ctrl+C, or nobody reads any more.
pub fn run(args: &WatchArgs, words: &Catalogue) -> Result<(), Phrase> {
    let (mut conductor, profile) = super::start(&args.selection, words)?;
    let interval = profile.intervals.poll.to_duration();
    let started = Instant::now();
    let end = args.run_for.map(|span| started + span.to_duration());
    // A little after the polls, so that what is printed is new.
    let mut next = started + interval.mul_f64(0.25);
    let mut out = io::stdout().lock();
    loop {
        let now = Instant::now();
        if super::interrupted() || end.is_some_and(|end| now >= end) {
            break;
        }
        if now < next {
            let until = next.min(now + ATTENTION);
            conductor.take_in_until(end.map_or(until, |end| until.min(end)));
            continue;
        }
        next += interval * ((now - next).as_nanos() / interval.as_nanos()) as u32 + interval;
        conductor.take_in();
        conductor.store.judge(clock::now());
        let printed = if args.json {
            print_json(&mut out, &conductor.store, &profile)
        } else {
            print_text(&mut out, &conductor.store, &profile, words)
        };
        // A closed pipe (`| head`) is an end like any other.
        if printed.is_err() {
            break;
        }
    }
    conductor.close();
    Ok(())
}

/// JSON is for programs and always in English.
fn print_json(out: &mut impl Write, store: &Store, profile: &TopologyProfile) -> io::Result<()> {
    let Some(judged) = store.judged(&profile.id) else {
        return Ok(());
    };
    let words = Catalogue::of(Language::English);
    let now = judged.at.unwrap_or_else(clock::now);
    let at = clock::wall_clock() - clock::now().since(now);
    for line in json::lines(judged, store.servers_of(&profile.id), at, now, words) {
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn print_text(
    out: &mut impl Write,
    store: &Store,
    profile: &TopologyProfile,
    words: &Catalogue,
) -> io::Result<()> {
    let Some(judged) = store.judged(&profile.id) else {
        return Ok(());
    };
    let time = jiff::ZonedDateTime::now().strftime("%H:%M:%S").to_string();
    for server in store.servers_of(&profile.id) {
        let Some(of_server) = judged.servers.get(&server.watch()) else {
            continue;
        };
        let name = &server.registration.name;
        let role = words.role(of_server.role);
        if of_server.channels.is_empty() {
            let health = words.health(of_server.health);
            writeln!(
                out,
                "{time}  {name}  {role}  {health}  {}",
                reading(&of_server.own_lag.headline, words)
            )?;
        }
        for (channel, of_channel) in &of_server.channels {
            let health = words.health(of_channel.health);
            let place = if channel.is_empty() {
                name.clone()
            } else {
                format!("{name}/{channel}")
            };
            let verdict = words.say(&of_channel.lag.verdict);
            let lag = reading(&of_channel.lag.headline, words);
            writeln!(out, "{time}  {place}  {role}  {health}  {lag}  {verdict}")?;
        }
    }
    for finding in &judged.findings {
        writeln!(
            out,
            "{time}    {}: {}",
            words.severity(finding.severity),
            words.say(&finding.text)
        )?;
    }
    out.flush()
}

fn reading(reading: &Reading, words: &Catalogue) -> String {
    match reading {
        Reading::Measured(m) => match m.bound {
            Some(bound) => format!("{} ± {}", words.span(m.value), words.span(bound)),
            None => words.span(m.value),
        },
        Reading::Unknown { why } | Reading::NotApplicable { why } => words.say(why),
    }
}
