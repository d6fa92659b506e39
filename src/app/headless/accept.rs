//! `replicascope accept`: the five steps of the acceptance run.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, bounded};

use super::accept_records;
use super::accept_report::{self, Circumstances};
use super::probe::sql_text;
use super::{FAILED, NOT_ALLOWED, Summoned};
use crate::app::accepting::{
    AcceptDial, AcceptEvent, AcceptServer, AcceptTask, Acceptance, Faults, longest_hold,
};
use crate::app::cli::{AcceptArgs, Given};
use crate::app::dialing;
use crate::app::probing::prepare::source;
use crate::link::clock;
use crate::model::acceptance::{AcceptReport, AcceptVerdict, Step, StepName};
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ListedStatement, On, ProbeId, ProbePlan, ServerState};
use crate::model::profile::{
    Environment, ServerId, ServerProfile, TopologyProfile, WritePermission,
};
use crate::model::secret::Secret;
use crate::model::trouble::Trouble;
use crate::mysql::{holding, pooling};
use crate::routing::record::Recorded;
use crate::words::Catalogue;

/// Not every step has passed.
const NOT_ALL_PASSED: u8 = 1;

const EVENTS_IN_FLIGHT: usize = 64;
const ATTENTION: Duration = Duration::from_millis(100);
/// How long letting go and the clean-up may take after Ctrl+C: a wait under way ends by its own limit.
const GOODBYE: Duration = Duration::from_secs(5);

/// Ends with 0 when all five passed, 1 when not, 2 when there was no run, 3 when nothing was written for want of
/// permission.
pub fn run(args: &AcceptArgs, words: &Catalogue) -> ExitCode {
    super::ended(accept(args, words), words)
}

fn accept(args: &AcceptArgs, words: &Catalogue) -> Result<ExitCode, Phrase> {
    let plan = args.plan();
    if let Some(problem) = plan.problem() {
        return Err(problem);
    }
    let Summoned {
        profile,
        passwords,
        states,
        ..
    } = super::summon(&args.selection, &plan, words)?;
    let sql = listed(args, &plan, &profile, &states, words);
    if !(args.enable_writes || profile.writes == WritePermission::Allowed) {
        let refusal = words.text("probe.cli.not_allowed");
        print(&format!("{sql}\n-- {refusal}\n"))?;
        return Ok(ExitCode::from(NOT_ALLOWED));
    }
    let source = source(&profile, &states)?;
    let name = match profile.name.trim() {
        "" => profile.servers[source].label(),
        name => name.to_owned(),
    };
    let asks = Asks::of(args, &profile);
    let confirmed = asks.needs_a_person() && confirmed(asks, &sql, &name, words)?;
    if asks.writes && !confirmed {
        eprintln!("replicascope: {}", words.text("probe.cli.not_confirmed"));
        return Ok(ExitCode::from(NOT_ALLOWED));
    }
    let faults = match (args.allow_faults, asks.faults && !confirmed) {
        (false, _) => Faults::NotAsked,
        (true, true) => Faults::NotConfirmed,
        (true, false) => Faults::Allowed,
    };
    let found = Found {
        profile: &profile,
        passwords: &passwords,
        source,
    };
    follow(found.task(plan, faults, args), &profile, args, words)
}

/// The servers as they were found.
struct Found<'a> {
    profile: &'a TopologyProfile,
    passwords: &'a BTreeMap<ServerId, Secret>,
    source: usize,
}

impl Found<'_> {
    fn task(&self, plan: ProbePlan, faults: Faults, args: &AcceptArgs) -> AcceptTask {
        let places = 0..self.profile.servers.len();
        AcceptTask {
            plan,
            probe: ProbeId(fastrand::u32(1..)),
            source: self.server(self.source),
            replicas: places
                .filter(|place| *place != self.source)
                .map(|place| self.server(place))
                .collect(),
            faults,
            proxy: args.proxy.as_ref().map(|given| self.behind(given)),
        }
    }

    fn server(&self, place: usize) -> AcceptServer {
        let server = &self.profile.servers[place];
        AcceptServer {
            name: server.label(),
            dial: self.dial(server),
        }
    }

    /// The source with its account, reached by another address.
    fn behind(&self, proxy: &Given) -> AcceptServer {
        let mut server = self.profile.servers[self.source].clone();
        server.address = proxy.target.address.clone();
        AcceptServer {
            name: proxy.text.clone(),
            dial: self.dial(&server),
        }
    }

    fn dial(&self, server: &ServerProfile) -> Arc<dyn AcceptDial> {
        dialing::accept_dialer(self.profile, server, self.passwords.get(&server.id))
    }
}

/// What a person must confirm by typing a name.
#[derive(Clone, Copy)]
struct Asks {
    writes: bool,
    faults: bool,
}

impl Asks {
    /// What was not said to be a lab or for development may be anything: addresses on a command line say nothing.
    fn of(args: &AcceptArgs, profile: &TopologyProfile) -> Self {
        let is_said = args.selection.topology.is_some();
        let harmless = match profile.environment {
            Environment::Lab | Environment::Development => is_said,
            Environment::Production | Environment::Staging => false,
        };
        Asks {
            writes: profile.environment.guards_writes(),
            faults: args.allow_faults && !harmless,
        }
    }

    fn needs_a_person(self) -> bool {
        self.writes || self.faults
    }
}

/// The statements of the probe, and those of the run besides.
fn listed(
    args: &AcceptArgs,
    plan: &ProbePlan,
    profile: &TopologyProfile,
    states: &[Result<ServerState, Trouble>],
    words: &Catalogue,
) -> String {
    let mut text = sql_text(crate::mysql::probing::listed, plan, profile, states, words);
    let mut list = |heading: &str, statements: Vec<ListedStatement>| {
        text += &format!("-- {heading}\n");
        for ListedStatement { on, sql, .. } in statements {
            let on = words.text(match on {
                On::Source => "probe.on.source",
                On::Replica => "probe.on.replica",
            });
            text += &format!("/* {on} */ {sql}\n");
        }
    };
    list(words.text("accept.sql.pools"), pooling::listed());
    if args.allow_faults {
        let at_most = longest_hold(plan.wait_limit);
        list(
            words.text("accept.sql.hold"),
            holding::listed(&plan.schema, at_most),
        );
        let account = profile
            .servers
            .iter()
            .find_map(|server| profile.account_for(server));
        let user = account.map_or("replicascope", |(account, _)| account.user.as_str());
        text += &format!("-- {}\n", words.text("probe.cli.grants"));
        text += &format!("-- {}\n", holding::account_sql(&plan.schema, user));
    }
    text
}

/// The name is typed, by a person, after the SQL was seen.
fn confirmed(asks: Asks, sql: &str, name: &str, words: &Catalogue) -> Result<bool, Phrase> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    let question = match asks.faults {
        true => phrase("accept.cli.type_name_for_faults"),
        false => phrase("probe.cli.type_name"),
    };
    let question = words.say(&question.with("name", name));
    let mut err = io::stderr().lock();
    write!(err, "{sql}\n{question} ")
        .and_then(|()| err.flush())
        .map_err(no_output)?;
    let mut typed = String::new();
    io::stdin()
        .lock()
        .read_line(&mut typed)
        .map_err(no_output)?;
    Ok(typed.trim() == name)
}

fn follow(
    task: AcceptTask,
    profile: &TopologyProfile,
    args: &AcceptArgs,
    words: &Catalogue,
) -> Result<ExitCode, Phrase> {
    let began_at = clock::wall_clock();
    let source = task.source.name.clone();
    let replicas = task.replicas.iter().map(|r| r.name.clone()).collect();
    let Some((report, records)) = until_end(task, args, words)? else {
        return Ok(ExitCode::from(FAILED));
    };
    let at = Circumstances {
        topology: profile.name.clone(),
        environment: environment(profile.environment),
        source,
        replicas,
        began_at,
        took: clock::wall_clock().since(began_at),
    };
    if args.json {
        let json = serde_json::to_string(&accept_report::json(&report))
            .map_err(|error| phrase("probe.cli.no_output").with("reason", error.to_string()))?;
        print(&format!("{json}\n"))?;
    } else {
        print(&format!("{}\n", words.say(&report.verdict().phrase())))?;
    }
    if let Some(Err(_)) = &report.clean_up {
        let left = accept_report::clean_up(&report, words).unwrap_or_default();
        eprintln!("replicascope: {left}");
    }
    if let Some(file) = &args.markdown {
        write_report(
            file,
            &accept_report::markdown(&report, &records, &at, words),
        )?;
    }
    if let Some(file) = &args.records {
        write_records(file, &records)?;
    }
    Ok(match report.verdict() {
        AcceptVerdict::Passed => ExitCode::SUCCESS,
        AcceptVerdict::Failed | AcceptVerdict::Incomplete => ExitCode::from(NOT_ALL_PASSED),
    })
}

type Records = Vec<(StepName, Recorded)>;

/// Tells each step as it comes. `None`: it did not end in time after Ctrl+C.
fn until_end(
    task: AcceptTask,
    args: &AcceptArgs,
    words: &Catalogue,
) -> Result<Option<(AcceptReport, Records)>, Phrase> {
    let (sender, events) = bounded(EVENTS_IN_FLIGHT);
    let goodbye = GOODBYE + task.plan.wait_limit.to_duration();
    let mut acceptance = Acceptance::start(task, sender)
        .map_err(|error| phrase("cli.no_thread").with("reason", error.to_string()))?;
    let mut stopping: Option<Instant> = None;
    let mut records = Records::new();
    loop {
        if super::interrupted() && stopping.is_none() {
            acceptance.stop();
            stopping = Some(Instant::now() + goodbye);
        }
        match events.recv_timeout(ATTENTION) {
            Ok(AcceptEvent::Ended(report)) => return Ok(Some((report, records))),
            Ok(AcceptEvent::Done(step)) if !args.json => print(&told(&step, words))?,
            Ok(AcceptEvent::Recorded(step, recorded)) => records.push((step, *recorded)),
            Ok(AcceptEvent::Does(what)) => eprintln!("{}", words.say(&what)),
            Ok(AcceptEvent::Begins(_) | AcceptEvent::Drifted(_) | AcceptEvent::Done(_)) => {}
            Err(RecvTimeoutError::Timeout) => {
                if stopping.is_some_and(|until| Instant::now() > until) {
                    return Ok(None);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

fn told(step: &Step, words: &Catalogue) -> String {
    let mut text = format!(
        "{}. {}: {}\n",
        step.name.number(),
        words.say(&step.name.phrase()),
        words.say(&step.state.phrase())
    );
    for sentence in accept_report::sentences(step, words) {
        text += &format!("   {sentence}\n");
    }
    text
}

pub fn environment(environment: Environment) -> &'static str {
    match environment {
        Environment::Production => "production",
        Environment::Staging => "staging",
        Environment::Development => "development",
        Environment::Lab => "lab",
    }
}

fn write_report(file: &Path, text: &str) -> Result<(), Phrase> {
    std::fs::write(file, text).map_err(|error| no_report(file, &error))
}

fn write_records(file: &Path, records: &Records) -> Result<(), Phrase> {
    let is_csv = file.extension().is_some_and(|end| end == "csv");
    let opened = std::fs::File::create(file).map_err(|error| no_report(file, &error))?;
    let mut out = io::BufWriter::new(opened);
    match is_csv {
        true => accept_records::write_csv(&mut out, records),
        false => accept_records::write_json(&mut out, records),
    }
    .and_then(|()| out.flush())
    .map_err(|error| no_report(file, &error))
}

fn no_report(file: &Path, error: &io::Error) -> Phrase {
    phrase("accept.cli.no_report")
        .with("path", file.display().to_string())
        .with("reason", error.to_string())
}

fn print(text: &str) -> Result<(), Phrase> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(no_output)
}

fn no_output(error: io::Error) -> Phrase {
    phrase("probe.cli.no_output").with("reason", error.to_string())
}
