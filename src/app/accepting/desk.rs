//! The acceptance run of the window: prepared on a thread, started, its events taken in between frames and kept on the
//! board that the card draws.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use super::{AcceptDial, AcceptEvent, AcceptServer, AcceptTask, Acceptance, Faults, longest_hold};
use crate::app::dialing::AcceptAccount;
use crate::app::files;
use crate::app::headless::accept::environment;
use crate::app::headless::accept_records;
use crate::app::headless::accept_report::{self, Circumstances};
use crate::app::probing::prepare;
use crate::link::clock;
use crate::link::probing::ProbeDial;
use crate::model::acceptance::{AcceptReport, StepName};
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ProbeFlavour, ProbeId, ProbePlan};
use crate::model::profile::{Address, ServerId, TopologyId, TopologyProfile};
use crate::model::server::Product;
use crate::model::time::Span;
use crate::mysql::{holding, pooling};
use crate::routing::record::Recorded;
use crate::ui::acceptance::board::{AcceptBoard, AcceptPhase, AcceptSql, AcceptView, must_type};
use crate::ui::action::ExportFormat;
use crate::words::Catalogue;

const EVENTS_IN_FLIGHT: usize = 256;

/// How long quitting waits for a held replica to be let go and our rows to be removed.
const GOODBYE: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct AcceptDesk {
    pub board: AcceptBoard,
    /// One for each server that is watched, with the password that was found for it.
    accounts: BTreeMap<(TopologyId, ServerId), AcceptAccount>,
    stage: Stage,
    saving: Option<Receiver<Result<Phrase, Phrase>>>,
    exporting: Option<Receiver<Result<Phrase, Phrase>>>,
}

#[derive(Default)]
enum Stage {
    #[default]
    Idle,
    Preparing {
        topology: TopologyId,
        answer: Receiver<Result<Prepared, Phrase>>,
    },
    Running(Running),
}

struct Prepared {
    task: AcceptTask,
    at: Circumstances,
}

struct Running {
    topology: TopologyId,
    acceptance: Acceptance,
    events: Receiver<AcceptEvent>,
    at: Circumstances,
}

fn plan(wait_limit: Span) -> ProbePlan {
    ProbePlan {
        flavour: ProbeFlavour::Update,
        wait_limit,
        ..ProbePlan::default()
    }
}

/// How the person wants a run.
pub struct Wanted {
    pub may_hold: bool,
    pub wait_limit: Span,
    /// Where the pools' sessions that write connect to in place of the source.
    pub proxy: Option<Address>,
    /// Where the topology's name is asked for.
    pub typed: String,
}

impl AcceptDesk {
    pub fn know(&mut self, topology: &TopologyId, server: &ServerId, account: AcceptAccount) {
        self.accounts
            .insert((topology.clone(), server.clone()), account);
    }

    /// The topology is watched no longer.
    pub fn forget(&mut self, topology: &TopologyId) {
        self.accounts.retain(|(of, _), _| of != topology);
        if self.board.running() == Some(topology) {
            self.stop();
        }
    }

    pub fn describe(
        &mut self,
        profile: &TopologyProfile,
        wait_limit: Span,
        known: impl Iterator<Item = Product>,
    ) {
        let plan = plan(wait_limit);
        let at_most = longest_hold(plan.wait_limit);
        let account = profile
            .servers
            .iter()
            .find_map(|server| profile.account_for(server));
        let user = account.map_or("replicascope", |(account, _)| account.user.as_str());
        let sql = AcceptSql {
            flavours: prepare::listed(&plan, known),
            pools: pooling::listed(),
            hold: holding::listed(&plan.schema, at_most),
            grant: prepare::grant(&plan, profile),
            hold_grant: holding::account_sql(&plan.schema, user),
            wait_limit,
            longest_hold: Span::from(at_most),
        };
        self.board.sql.insert(profile.id.clone(), sql);
    }

    /// `may_write`: the person has enabled writes here.
    pub fn start(&mut self, profile: &TopologyProfile, may_write: bool, wanted: Wanted) {
        let topology = profile.id.clone();
        match self.prepare(profile, may_write, wanted) {
            Err(why) => {
                self.board.refused.insert(topology, why);
            }
            Ok(answer) => {
                self.board.refused.remove(&topology);
                self.board.saved = None;
                self.board.exported = None;
                let view = AcceptView::default();
                self.board.runs.insert(topology.clone(), view);
                self.stage = Stage::Preparing { topology, answer };
            }
        }
    }

    /// The card asks for all of it; here nothing is taken on trust.
    fn prepare(
        &self,
        profile: &TopologyProfile,
        may_write: bool,
        wanted: Wanted,
    ) -> Result<Receiver<Result<Prepared, Phrase>>, Phrase> {
        if !may_write {
            return Err(phrase("probe_screen.refused.not_enabled"));
        }
        if self.board.running().is_some() {
            return Err(phrase("acceptance.refused.running"));
        }
        let name = profile.name.trim();
        let is_typed = !name.is_empty() && wanted.typed.trim() == name;
        if must_type(profile.environment, wanted.may_hold) && !is_typed {
            return Err(phrase("acceptance.refused.not_typed").with("name", name));
        }
        let account = |server: &ServerId| self.accounts.get(&(profile.id.clone(), server.clone()));
        // a server whose password nobody said is left out
        let mut profile = profile.clone();
        profile
            .servers
            .retain(|server| account(&server.id).is_some());
        if profile.servers.is_empty() {
            return Err(phrase("probe_screen.refused.not_watched"));
        }
        let accounts: Vec<AcceptAccount> = profile
            .servers
            .iter()
            .filter_map(|server| account(&server.id).cloned())
            .collect();
        let (sender, answer) = bounded(1);
        let work = move || {
            // nobody waits for it any more when the person stopped meanwhile
            let _ = sender.send(prepared(&profile, &accounts, &wanted));
        };
        spawn("acceptance preparation", work)?;
        Ok(answer)
    }

    pub fn stop(&mut self) {
        match &mut self.stage {
            Stage::Idle => {}
            Stage::Preparing { topology, .. } => {
                let topology = topology.clone();
                self.stage = Stage::Idle;
                self.end_without(&topology, phrase("accept.stopped"));
            }
            Stage::Running(running) => {
                running.acceptance.stop();
                if let Some(view) = self.board.runs.get_mut(&running.topology) {
                    view.phase = AcceptPhase::Stopping;
                }
            }
        }
    }

    /// Takes in what has come since the last frame.
    pub fn take_in(&mut self, words: &Catalogue) {
        let saved = self.saving.as_ref().and_then(|s| s.try_recv().ok());
        if let Some(how) = saved {
            self.saving = None;
            self.board.saved = Some(how);
        }
        let exported = self.exporting.as_ref().and_then(|e| e.try_recv().ok());
        if let Some(how) = exported {
            self.exporting = None;
            self.board.exported = Some(how);
        }
        match std::mem::take(&mut self.stage) {
            Stage::Idle => {}
            Stage::Preparing { topology, answer } => self.take_preparation(topology, answer),
            Stage::Running(running) => self.take_events(running, words),
        }
    }

    /// Frames should come quickly.
    pub fn is_busy(&self) -> bool {
        let writes = self.saving.is_some() || self.exporting.is_some();
        writes || !matches!(self.stage, Stage::Idle)
    }

    fn take_preparation(
        &mut self,
        topology: TopologyId,
        answer: Receiver<Result<Prepared, Phrase>>,
    ) {
        match answer.try_recv() {
            Err(TryRecvError::Empty) => self.stage = Stage::Preparing { topology, answer },
            Err(TryRecvError::Disconnected) => {
                self.end_without(&topology, phrase("acceptance.no_answer"));
            }
            Ok(Err(why)) => self.end_without(&topology, why),
            Ok(Ok(prepared)) => self.run(topology, prepared),
        }
    }

    fn run(&mut self, topology: TopologyId, prepared: Prepared) {
        let (sender, events) = bounded(EVENTS_IN_FLIGHT);
        match Acceptance::start(prepared.task, sender) {
            Err(error) => {
                let why = phrase("window.no_thread").with("reason", error.to_string());
                self.end_without(&topology, why);
            }
            Ok(acceptance) => {
                if let Some(view) = self.board.runs.get_mut(&topology) {
                    view.phase = AcceptPhase::Running;
                }
                self.stage = Stage::Running(Running {
                    topology,
                    acceptance,
                    events,
                    at: prepared.at,
                });
            }
        }
    }

    fn take_events(&mut self, running: Running, words: &Catalogue) {
        loop {
            let event = match running.events.try_recv() {
                Ok(event) => event,
                Err(TryRecvError::Empty) => {
                    self.stage = Stage::Running(running);
                    return;
                }
                Err(TryRecvError::Disconnected) => {
                    self.end_without(&running.topology, phrase("acceptance.no_answer"));
                    return;
                }
            };
            let Some(view) = self.board.runs.get_mut(&running.topology) else {
                continue;
            };
            match event {
                AcceptEvent::Begins(step) => view.begun = Some(step),
                AcceptEvent::Does(what) => view.does = Some(what),
                AcceptEvent::Drifted(table) => view.drift = Some(table),
                AcceptEvent::Recorded(step, recorded) => view.records.push((step, *recorded)),
                AcceptEvent::Done(step) => {
                    view.does = None;
                    view.steps.push(step);
                }
                AcceptEvent::Ended(report) => {
                    end(view, report, running.at, words);
                    return;
                }
            }
        }
    }

    fn end_without(&mut self, topology: &TopologyId, why: Phrase) {
        if let Some(view) = self.board.runs.get_mut(topology) {
            view.phase = AcceptPhase::Ended;
            view.begun = None;
            view.does = None;
            view.not_run = Some(why);
        }
    }

    /// Writes the report on a thread, never over another file.
    pub fn save(&mut self, topology: &TopologyId, to: PathBuf) {
        let Some(view) = self.board.runs.get(topology) else {
            return;
        };
        let text = view.markdown.clone();
        let (sender, answer) = bounded(1);
        let work = move || {
            let _ = sender.send(write(&to, &text));
        };
        match spawn("acceptance report", work) {
            Ok(()) => self.saving = Some(answer),
            Err(why) => self.board.saved = Some(Err(why)),
        }
    }

    /// Writes the requests to a file, on a thread.
    pub fn export(
        &mut self,
        topology: &TopologyId,
        format: ExportFormat,
        to: PathBuf,
        may_replace: bool,
    ) {
        let Some(view) = self.board.runs.get(topology) else {
            return;
        };
        let records = view.records.clone();
        let (sender, answer) = bounded(1);
        let work = move || {
            let _ = sender.send(write_records(&records, format, &to, may_replace));
        };
        match spawn("acceptance records", work) {
            Ok(()) => self.exporting = Some(answer),
            Err(why) => self.board.exported = Some(Err(why)),
        }
    }

    /// Stops what runs; waits for what it did to be undone, but not for ever.
    pub fn close(&mut self) {
        if let Stage::Running(running) = std::mem::take(&mut self.stage) {
            running.acceptance.close(GOODBYE);
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Phrase> {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(work)
        .map(|_| ())
        .map_err(|error| phrase("window.no_thread").with("reason", error.to_string()))
}

fn end(view: &mut AcceptView, report: AcceptReport, at: Circumstances, words: &Catalogue) {
    let at = Circumstances {
        took: clock::wall_clock().since(at.began_at),
        ..at
    };
    view.markdown = accept_report::markdown(&report, &view.records, &at, words);
    view.phase = AcceptPhase::Ended;
    view.begun = None;
    view.does = None;
    view.steps = report.steps.clone();
    view.report = Some(report);
}

fn prepared(
    profile: &TopologyProfile,
    accounts: &[AcceptAccount],
    wanted: &Wanted,
) -> Result<Prepared, Phrase> {
    let plan = plan(wanted.wait_limit);
    let dials: Vec<Arc<dyn AcceptDial>> = accounts.iter().map(AcceptAccount::dialer).collect();
    let probes: Vec<Arc<dyn ProbeDial>> = dials
        .iter()
        .map(|dial| dial.clone() as Arc<dyn ProbeDial>)
        .collect();
    let source = prepare::source(profile, &prepare::states(&probes, &plan))?;
    let server = |place: usize| AcceptServer {
        name: profile.servers[place].label(),
        dial: dials[place].clone(),
    };
    let replicas: Vec<AcceptServer> = (0..dials.len())
        .filter(|place| *place != source)
        .map(server)
        .collect();
    let at = Circumstances {
        topology: profile.name.clone(),
        environment: environment(profile.environment),
        source: server(source).name,
        replicas: replicas.iter().map(|r| r.name.clone()).collect(),
        began_at: clock::wall_clock(),
        took: Span::ZERO,
    };
    let task = AcceptTask {
        plan,
        probe: ProbeId(fastrand::u32(1..)),
        source: server(source),
        replicas,
        faults: match wanted.may_hold {
            true => Faults::Allowed,
            false => Faults::NotAsked,
        },
        proxy: wanted.proxy.as_ref().map(|address| AcceptServer {
            name: address.to_string(),
            dial: accounts[source].behind(address),
        }),
    };
    Ok(Prepared { task, at })
}

fn write_records(
    records: &[(StepName, Recorded)],
    format: ExportFormat,
    to: &Path,
    may_replace: bool,
) -> Result<Phrase, Phrase> {
    let mut out = BufWriter::new(files::create(to, may_replace)?);
    match format {
        ExportFormat::Csv => accept_records::write_csv(&mut out, records),
        ExportFormat::Json => accept_records::write_json(&mut out, records),
    }
    .and_then(|()| out.flush())
    .map_err(|error| files::not_written(&error))?;
    let done = phrase("acceptance.records.written").with("n", records.len() as u64);
    Ok(done.with("path", to.display().to_string()))
}

fn write(to: &Path, text: &str) -> Result<Phrase, Phrase> {
    let mut file = files::create(to, false)?;
    file.write_all(text.as_bytes())
        .map_err(|error| files::not_written(&error))?;
    Ok(phrase("acceptance.saved").with("path", to.display().to_string()))
}
