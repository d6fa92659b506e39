//! `replicascope route`: what each routing rule would return and cost on this very topology.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::probe::{confirmed, show_sql};
use super::route_json;
use super::{FAILED, NOT_ALLOWED, Summoned};
use crate::app::cli::RouteArgs;
use crate::app::comparing::{ComparePlan, Comparing, Servers};
use crate::app::conductor::Conductor;
use crate::app::dialing;
use crate::app::kept;
use crate::app::probing::prepare;
use crate::link::clock;
use crate::link::probing::ProbeDial;
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::Met;
use crate::model::profile::{ServerId, TopologyProfile, WritePermission};
use crate::model::server::WatchId;
use crate::model::time::Span;
use crate::monitor::prober::{EndReason, ProbedServer};
use crate::mysql::probing;
use crate::routing::compare::{Outcome, Row};
use crate::routing::decision::fallback_key;
use crate::settings::paths;
use crate::ui::routing::board::KeptRouting;
use crate::words::{Catalogue, Language};

/// Between two looks at what came in.
const ATTENTION: Duration = Duration::from_millis(100);
/// Readings come first, so that the rules have something to go by; the guards want two of them, three seconds apart.
const READINGS_WITHIN: Duration = Duration::from_secs(8);
/// How long the last looks and the clean-up may take after Ctrl+C.
const GOODBYE: Duration = Duration::from_secs(8);

/// Ends with 0 when the workload was carried out, 2 when not, 3 when nothing was written for want of permission.
pub fn run(args: &RouteArgs, words: &Catalogue) -> ExitCode {
    super::ended(route(args, words), words)
}

fn route(args: &RouteArgs, words: &Catalogue) -> Result<ExitCode, Phrase> {
    let plan = args.plan();
    if let Some(problem) = plan.problem() {
        return Err(problem);
    }
    let probe_plan = plan.probe_plan();
    let Summoned {
        profile,
        passwords,
        dials,
        states,
    } = super::summon(&args.selection, &probe_plan, words)?;
    let listed = probing::listed_for_workload;
    let allowed = args.enable_writes || profile.writes == WritePermission::Allowed;
    if !allowed {
        show_sql(listed, &probe_plan, &profile, &states, words)?;
        println!("\n-- {}", words.text("probe.cli.not_allowed"));
        return Ok(ExitCode::from(NOT_ALLOWED));
    }
    let source = prepare::source(&profile, &states)?;
    if profile.environment.guards_writes()
        && !confirmed(listed, &probe_plan, &profile, &states, words)?
    {
        eprintln!("replicascope: {}", words.text("probe.cli.not_confirmed"));
        return Ok(ExitCode::from(NOT_ALLOWED));
    }
    let mut conductor = Conductor::default();
    let mut watches = Vec::new();
    for server in &profile.servers {
        let dial = dialing::dialer(&profile, server, passwords.get(&server.id));
        watches.push(
            conductor
                .watch(&profile, server, dial)
                .map_err(|error| no_thread(&error))?,
        );
    }
    take_readings(&mut conductor, &profile);
    let kept: KeptRouting = kept::read(paths::data_dir(), &profile.id);
    let watch_of = |server: &ServerId| conductor.watch_of(&profile.id, server);
    let plan = ComparePlan {
        kinds: kept.kinds.routes(&watch_of),
        ..plan
    };
    let servers = servers(&profile, &dials, &watches, source);
    let comparing = Comparing::start(
        profile.id.clone(),
        plan,
        servers,
        &conductor.store,
        clock::now(),
    )
    .map_err(|error| no_thread(&error))?;
    let code = follow(comparing, &mut conductor, args.json, words);
    conductor.close();
    Ok(code)
}

fn no_thread(error: &io::Error) -> Phrase {
    phrase("cli.no_thread").with("reason", error.to_string())
}

fn servers(
    profile: &TopologyProfile,
    dials: &[Arc<dyn ProbeDial>],
    watches: &[WatchId],
    source: usize,
) -> Servers {
    let server = |place: usize| ProbedServer {
        name: profile.servers[place].label(),
        dial: dials[place].clone(),
    };
    Servers {
        source: server(source),
        replicas: (0..dials.len())
            .filter(|place| *place != source)
            .map(|place| (watches[place], server(place)))
            .collect(),
    }
}

/// Until the lag of every replica is known and its guard has judged it, or it is clear that they will not.
fn take_readings(conductor: &mut Conductor, profile: &TopologyProfile) {
    let until = Instant::now() + READINGS_WITHIN;
    while Instant::now() < until && !super::interrupted() {
        conductor.take_in_until(Instant::now() + ATTENTION);
        conductor.store.judge(clock::now());
        let views = conductor.store.replica_views(&profile.id);
        let are_known = !views.is_empty() && views.iter().all(|view| view.lag.value().is_some());
        if are_known && conductor.store.guards_are_settled(&profile.id) {
            return;
        }
    }
}

fn follow(
    mut comparing: Comparing,
    conductor: &mut Conductor,
    json: bool,
    words: &Catalogue,
) -> ExitCode {
    let mut stopping = None;
    let mut needs_told = false;
    while comparing.end.is_none() {
        if super::interrupted() && stopping.is_none() {
            comparing.stop();
            stopping = Some(Instant::now() + GOODBYE);
        }
        if stopping.is_some_and(|until| Instant::now() > until) {
            break;
        }
        conductor.take_in_until(Instant::now() + ATTENTION);
        let now = clock::now();
        conductor.store.judge(now);
        comparing.take_in(&conductor.store, now);
        if !needs_told && !comparing.needs.is_empty() {
            needs_told = true;
            for need in comparing.needs.iter().filter(|need| need.met != Met::Yes) {
                eprintln!("{}", words.say(&need.what));
            }
        }
    }
    let outcome = comparing.outcome();
    // A closed pipe is no failure of the comparison.
    let _ = print(&outcome, &comparing, json, words);
    tell_end(&comparing, words);
    let failed = !matches!(
        comparing.end.as_ref().map(|end| &end.why),
        Some(EndReason::AllRun | EndReason::Stopped)
    );
    comparing.close();
    if failed || outcome.writes == 0 {
        ExitCode::from(FAILED)
    } else {
        ExitCode::SUCCESS
    }
}

fn print(
    outcome: &Outcome,
    comparing: &Comparing,
    json: bool,
    words: &Catalogue,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        let english = Catalogue::of(Language::English);
        for row in &outcome.comparison.rows {
            serde_json::to_writer(&mut out, &route_json::rule(row, english))?;
            out.write_all(b"\n")?;
        }
        let last = route_json::last(outcome, comparing.end.as_ref(), english);
        serde_json::to_writer(&mut out, &last)?;
        out.write_all(b"\n")?;
    } else {
        print_text(&mut out, outcome, words)?;
    }
    out.flush()
}

fn print_text(out: &mut impl Write, outcome: &Outcome, words: &Catalogue) -> io::Result<()> {
    for row in &outcome.comparison.rows {
        writeln!(out, "{}", words.say(&row.name))?;
        writeln!(out, "    {}", words.say(&line(row, words)))?;
        for (code, times) in &row.fallbacks {
            let line = phrase("rules.line.fallback")
                .with("why", words.text(fallback_key(code)))
                .with("times", *times);
            writeln!(out, "        {}", words.say(&line))?;
        }
    }
    writeln!(out)?;
    for replica in &outcome.replicas {
        let delay = replica.delay;
        let after = |span: Option<Span>| span.map_or_else(dash, |span| words.span(span));
        let line = phrase("rules.line.seen")
            .with("replica", replica.name.as_str())
            .with("seen", replica.seen)
            .with("unseen", replica.unseen)
            .with("p50", after(delay.map(|d| d.p50)))
            .with("p99", after(delay.map(|d| d.p99)));
        writeln!(out, "{}", words.say(&line))?;
        if let Some(trouble) = &replica.trouble {
            writeln!(out, "    {}", words.say(&trouble.what))?;
        }
    }
    writeln!(out, "{}", words.say(&outcome.comparison.sentence))
}

fn dash() -> String {
    "–".to_owned()
}

fn line(row: &Row, words: &Catalogue) -> Phrase {
    let share =
        |share: Option<f64>| share.map_or_else(dash, |share| format!("{:.1} %", share * 100.0));
    let after = |span: Option<Span>| span.map_or_else(dash, |span| words.span(span));
    phrase("rules.line.rule")
        .with("stale", share(row.stale_share()))
        .with("count", row.stale)
        .with("judged", row.judged)
        .with("undecided", row.undecided)
        .with("p50", after(row.added.map(|added| added.p50)))
        .with("p95", after(row.added.map(|added| added.p95)))
        .with("p99", after(row.added.map(|added| added.p99)))
        .with("source", share(row.source_share()))
        .with("refused", row.refused)
}

fn tell_end(comparing: &Comparing, words: &Catalogue) {
    let Some(end) = &comparing.end else { return };
    if let EndReason::Failed(trouble) = &end.why {
        eprintln!("replicascope: {}", words.say(&trouble.what));
        if !trouble.detail.is_empty() {
            eprintln!("{}", trouble.detail);
        }
        if let Some(hint) = &trouble.hint {
            eprintln!("{}", words.say(hint));
        }
    } else if end.why == EndReason::Stopped {
        eprintln!("replicascope: {}", words.text("rules.end.stopped"));
    }
    if let Some(Err(trouble)) = &end.clean_up {
        let left = phrase("probe.end.rows_left").with("why", trouble.what.clone());
        eprintln!("replicascope: {}", words.say(&left));
    }
}
