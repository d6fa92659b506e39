//! `replicascope probe`: writes on the source and shows what reads on the replicas make of it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use super::probe_json;
use super::{FAILED, NOT_ALLOWED, Summoned};
use crate::app::cli::ProbeArgs;
use crate::app::probing::prepare::{self, Listed};
use crate::link::probing::ProbeDial;
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::summary::Percentiles;
use crate::model::probe::{
    ListedStatement, Met, On, Precondition, ProbeId, ProbePlan, ProbeRun, ProbeSummary, ReadFrom,
    ReplicaSummary, ServerState, Verdict,
};
use crate::model::profile::{TopologyProfile, WritePermission};
use crate::model::time::Span;
use crate::model::trouble::Trouble;
use crate::monitor::prober::{
    EndReason, ProbeEnd, ProbeEvent, ProbeTask, ProbedServer, Prober, Readiness,
};
use crate::mysql::probing;
use crate::words::{Catalogue, Language};

const EVENTS_IN_FLIGHT: usize = 1_024;
const ATTENTION: Duration = Duration::from_millis(100);
/// How long the clean-up may take after Ctrl+C.
const GOODBYE: Duration = Duration::from_secs(3);

/// Ends with 0 when all runs were done, 2 when not, 3 when nothing was written for want of permission.
pub fn run(args: &ProbeArgs, words: &Catalogue) -> ExitCode {
    super::ended(probe(args, words), words)
}

fn probe(args: &ProbeArgs, words: &Catalogue) -> Result<ExitCode, Phrase> {
    let plan = args.plan();
    if let Some(problem) = plan.problem() {
        return Err(problem);
    }
    let Summoned {
        profile,
        dials,
        states,
        ..
    } = super::summon(&args.selection, &plan, words)?;
    let allowed = args.enable_writes || profile.writes == WritePermission::Allowed;
    if !allowed {
        show_sql(probing::listed, &plan, &profile, &states, words)?;
        println!("\n-- {}", words.text("probe.cli.not_allowed"));
        return Ok(ExitCode::from(NOT_ALLOWED));
    }
    let source = prepare::source(&profile, &states)?;
    if profile.environment.guards_writes()
        && !confirmed(probing::listed, &plan, &profile, &states, words)?
    {
        eprintln!("replicascope: {}", words.text("probe.cli.not_confirmed"));
        return Ok(ExitCode::from(NOT_ALLOWED));
    }
    let task = task(plan, &profile, &dials, source);
    let names: Vec<String> = task.replicas.iter().map(|s| s.name.clone()).collect();
    watch(task, &names, args.json, words)
}

fn task(
    plan: ProbePlan,
    profile: &TopologyProfile,
    dials: &[Arc<dyn ProbeDial>],
    source: usize,
) -> ProbeTask {
    let server = |place: usize| ProbedServer {
        name: profile.servers[place].label(),
        dial: dials[place].clone(),
    };
    ProbeTask {
        plan,
        probe: ProbeId(fastrand::u32(1..)),
        source: server(source),
        replicas: (0..dials.len())
            .filter(|place| *place != source)
            .map(server)
            .collect(),
    }
}

/// For each kind of server there is; for both when none says what it is.
pub(super) fn show_sql(
    listed: Listed,
    plan: &ProbePlan,
    profile: &TopologyProfile,
    states: &[Result<ServerState, Trouble>],
    words: &Catalogue,
) -> Result<(), Phrase> {
    let mut out = io::stdout().lock();
    let shown = sql_text(listed, plan, profile, states, words);
    out.write_all(shown.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| phrase("probe.cli.no_output").with("reason", error.to_string()))
}

pub(super) fn sql_text(
    listed: Listed,
    plan: &ProbePlan,
    profile: &TopologyProfile,
    states: &[Result<ServerState, Trouble>],
    words: &Catalogue,
) -> String {
    let known = states.iter().flatten().map(|state| state.product.clone());
    let mut text = String::new();
    for (flavour, statements) in prepare::listed_by(listed, plan, known) {
        let on = |on: On| {
            words.text(match on {
                On::Source => "probe.on.source",
                On::Replica => "probe.on.replica",
            })
        };
        text += &format!("-- {flavour}\n");
        for ListedStatement { on: place, sql, .. } in statements {
            text += &format!("/* {} */ {sql}\n", on(place));
        }
    }
    text += &format!("-- {}\n", words.text("probe.cli.grants"));
    text += &format!("-- {}\n", prepare::grant(plan, profile));
    text
}

/// On production the name is typed, by a person, after the SQL was seen.
pub(super) fn confirmed(
    listed: Listed,
    plan: &ProbePlan,
    profile: &TopologyProfile,
    states: &[Result<ServerState, Trouble>],
    words: &Catalogue,
) -> Result<bool, Phrase> {
    let mut err = io::stderr().lock();
    let failed = |error: io::Error| phrase("probe.cli.no_output").with("reason", error.to_string());
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    let question = phrase("probe.cli.type_name").with("name", profile.name.as_str());
    let sql = sql_text(listed, plan, profile, states, words);
    write!(err, "{sql}\n{} ", words.say(&question)).map_err(failed)?;
    err.flush().map_err(failed)?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).map_err(failed)?;
    Ok(!profile.name.trim().is_empty() && typed.trim() == profile.name.trim())
}

fn watch(
    task: ProbeTask,
    names: &[String],
    json: bool,
    words: &Catalogue,
) -> Result<ExitCode, Phrase> {
    let (sender, events) = bounded(EVENTS_IN_FLIGHT);
    let flavour = task.plan.flavour;
    let source = task.source.name.clone();
    let prober = Prober::start(task, sender)
        .map_err(|error| phrase("cli.no_thread").with("reason", error.to_string()))?;
    let mut summary = ProbeSummary::of_replicas(names.len());
    let mut out = io::stdout().lock();
    let english = Catalogue::of(Language::English);
    let end = follow(&prober, &events, |event| match event {
        ProbeEvent::Ready(readiness) => {
            tell_readiness(&readiness, &source, names, words);
            Ok(())
        }
        ProbeEvent::Ran(run) => {
            summary.add(&run);
            if json {
                for line in probe_json::lines(&run, flavour, names, english) {
                    serde_json::to_writer(&mut out, &line)?;
                    out.write_all(b"\n")?;
                }
            } else {
                print_run(&mut out, &run, names, words)?;
            }
            out.flush()
        }
        ProbeEvent::Ended(_) => Ok(()),
    });
    prober.close(GOODBYE);
    let Some(end) = end else {
        return Ok(ExitCode::SUCCESS);
    };
    // A closed pipe is no failure of the probe.
    let _ = finish(&mut out, &end, &summary, names, json, words);
    Ok(match end.why {
        EndReason::Failed(_) => ExitCode::from(FAILED),
        EndReason::AllRun | EndReason::Stopped if summary.runs == 0 => ExitCode::from(FAILED),
        EndReason::AllRun | EndReason::Stopped => ExitCode::SUCCESS,
    })
}

/// Hands on events until the end; `None` when nobody reads what is printed any more.
fn follow(
    prober: &Prober,
    events: &Receiver<ProbeEvent>,
    mut take: impl FnMut(ProbeEvent) -> io::Result<()>,
) -> Option<ProbeEnd> {
    let mut stopping = None;
    loop {
        if super::interrupted() && stopping.is_none() {
            prober.stop();
            stopping = Some(Instant::now() + GOODBYE);
        }
        match events.recv_timeout(ATTENTION) {
            Ok(ProbeEvent::Ended(end)) => return Some(end),
            Ok(event) => take(event).ok()?,
            Err(RecvTimeoutError::Timeout) => {
                if stopping.is_some_and(|until| Instant::now() > until) {
                    return None;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// What is not as it should be goes to the standard error output, so that it does not stand between the results.
fn tell_readiness(readiness: &Readiness, source: &str, names: &[String], words: &Catalogue) {
    let tell = |server: &str, list: &[Precondition]| {
        for need in list.iter().filter(|need| need.met != Met::Yes) {
            eprintln!("{server}: {}", words.say(&need.what));
        }
    };
    tell(source, &readiness.source);
    for (name, replica) in names.iter().zip(&readiness.replicas) {
        match replica {
            Ok(list) => tell(name, list),
            Err(trouble) => eprintln!("{name}: {}", words.say(&trouble.what)),
        }
    }
}

fn print_run(
    out: &mut impl Write,
    run: &ProbeRun,
    names: &[String],
    words: &Catalogue,
) -> io::Result<()> {
    let write = match &run.write {
        Ok(write) => write,
        Err(why) => {
            let hint = why.hint.as_ref().map(|hint| words.say(hint));
            return writeln!(
                out,
                "#{}  {}  {}  {}",
                run.number,
                words.say(&why.what),
                why.detail,
                hint.unwrap_or_default()
            );
        }
    };
    let gtid = match &write.token {
        Ok(token) => format!("{} ({})", token.gtids, token.from.code()),
        Err(kind) => kind.reason().map(|why| words.say(&why)).unwrap_or_default(),
    };
    writeln!(out, "#{}  {}  {gtid}", run.number, run.value)?;
    let after = |span: Option<Span>| span.map(|span| words.span(span)).unwrap_or_default();
    for (name, replica) in names.iter().zip(&run.replicas) {
        let plain = replica.plain.verdict(&run.value);
        let waited = &replica.waited;
        writeln!(
            out,
            "    {name}  {}",
            words.say(
                &phrase("probe.line.replica")
                    .with("plain", words.text(verdict_key(plain)))
                    .with("after", after(run.after_commit(&replica.plain)))
                    .with(
                        "waited",
                        words.text(verdict_key(waited.read.verdict(&run.value)))
                    )
                    .with(
                        "from",
                        words.text(match waited.read_from {
                            ReadFrom::Replica => "probe.on.replica",
                            ReadFrom::Source => "probe.on.source",
                        })
                    )
                    .with("wait", after(waited.wait.length()))
            )
        )?;
        if let Some(reason) = &waited.reason {
            writeln!(out, "        {}", words.say(reason))?;
        }
    }
    Ok(())
}

fn verdict_key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fresh => "probe.verdict.fresh",
        Verdict::Old => "probe.verdict.old",
        Verdict::Missing => "probe.verdict.missing",
        Verdict::Failed => "probe.verdict.failed",
    }
}

fn finish(
    out: &mut impl Write,
    end: &ProbeEnd,
    summary: &ProbeSummary,
    names: &[String],
    json: bool,
    words: &Catalogue,
) -> io::Result<()> {
    let (ended, trouble) = match &end.why {
        EndReason::AllRun => (None, None),
        EndReason::Stopped => (Some(phrase("probe.end.stopped")), None),
        EndReason::Failed(trouble) => (Some(trouble.what.clone()), Some(trouble)),
    };
    let cleaned_up = end.clean_up.as_ref().map(Result::is_ok);
    if json {
        let english = Catalogue::of(Language::English);
        let ended = ended.as_ref().map(|why| english.say(why));
        let last = probe_json::last(summary, names, ended, cleaned_up);
        serde_json::to_writer(&mut *out, &last)?;
        writeln!(out)?;
    } else {
        for (name, replica) in names.iter().zip(&summary.replicas) {
            writeln!(out, "{name}  {}", words.say(&sentence(replica, words)))?;
        }
    }
    out.flush()?;
    if let Some(why) = ended {
        eprintln!("replicascope: {}", words.say(&why));
    }
    if let Some(trouble) = trouble {
        if !trouble.detail.is_empty() {
            eprintln!("{}", trouble.detail);
        }
        if let Some(hint) = &trouble.hint {
            eprintln!("{}", words.say(hint));
        }
    }
    if let Some(Err(trouble)) = &end.clean_up {
        let left = phrase("probe.end.rows_left").with("why", trouble.what.clone());
        eprintln!("replicascope: {}", words.say(&left));
    }
    Ok(())
}

/// One replica's result in words.
fn sentence(replica: &ReplicaSummary, words: &Catalogue) -> Phrase {
    let share = replica.plain.stale_share();
    let share = share.map_or_else(|| "–".to_owned(), |share| words.percent(share.value));
    let wait = |pick: fn(Percentiles) -> Span| {
        replica
            .waits()
            .map_or_else(|| "–".to_owned(), |waits| words.span(pick(waits)))
    };
    phrase("probe.line.summary")
        .with("share", share)
        .with("stale", replica.plain.stale())
        .with("reads", replica.plain.fresh + replica.plain.stale())
        .with("p50", wait(|w| w.p50))
        .with("p99", wait(|w| w.p99))
        .with("source", replica.read_from_source)
}
