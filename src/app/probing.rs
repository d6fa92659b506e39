//! The probe of the window: prepares it on a thread, starts the prober, takes its events in between frames and keeps the
//! board that the screen draws.

mod export;
mod keeping;
pub mod prepare;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::app::kept::KeptFiles;
use crate::link::clock;
use crate::link::probing::ProbeDial;
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ProbeId, ProbePlan};
use crate::model::profile::{ServerId, TopologyId, TopologyProfile};
use crate::model::server::Product;
use crate::monitor::prober::{
    EndReason, ProbeEnd, ProbeEvent, ProbeTask, ProbedServer, Prober, Readiness,
};
use crate::ui::action::ExportFormat;
use crate::ui::probe::board::{EndedBy, Needs, ProbeBoard, ProbeSql, ProbeView, Probed};
use crate::words::Catalogue;
pub use keeping::KeptProbes;

/// Events waiting for the next frame: seconds of the fastest probe.
const EVENTS_IN_FLIGHT: usize = 2_048;

/// The figures take sorting; they are worked out so often at most, and may take this share of the time.
const REFRESH_EVERY: Duration = Duration::from_millis(250);
const REFRESH_SHARE: u32 = 20;

/// How long quitting waits for our rows to be removed.
const GOODBYE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Probing {
    pub board: ProbeBoard,
    /// One for each server that is watched, with the password that was found for it.
    dials: BTreeMap<(TopologyId, ServerId), Arc<dyn ProbeDial>>,
    stage: Stage,
    refreshed: Option<Instant>,
    refresh_cost: Duration,
    exporting: Option<Receiver<Result<Phrase, Phrase>>>,
    /// Absent where the system names no folder for data, and in tests.
    files: Option<KeptFiles<KeptProbes>>,
    asked_for: BTreeSet<TopologyId>,
}

#[derive(Default)]
enum Stage {
    #[default]
    Idle,
    Preparing {
        topology: TopologyId,
        answer: Receiver<Result<Prepared, Phrase>>,
    },
    Running {
        topology: TopologyId,
        prober: Prober,
        events: Receiver<ProbeEvent>,
    },
}

/// A probe ready to be started.
struct Prepared {
    task: ProbeTask,
    source: Probed,
    replicas: Vec<Probed>,
}

impl Probing {
    /// Results are kept in this folder beyond the session; without one only in memory.
    pub fn keeping_in(folder: Option<PathBuf>) -> Probing {
        Probing {
            files: folder.and_then(|folder| KeptFiles::open(folder).ok()),
            ..Probing::default()
        }
    }

    /// A server can be reached by now; its probe sessions will use the same account.
    pub fn know(&mut self, topology: &TopologyId, server: &ServerId, dial: Arc<dyn ProbeDial>) {
        self.dials.insert((topology.clone(), server.clone()), dial);
        self.bring_kept(topology);
    }

    pub fn dial(&self, topology: &TopologyId, server: &ServerId) -> Option<&Arc<dyn ProbeDial>> {
        self.dials.get(&(topology.clone(), server.clone()))
    }

    /// The topology is watched no longer.
    pub fn forget(&mut self, topology: &TopologyId) {
        self.dials.retain(|(of, _), _| of != topology);
        if self.board.running() == Some(topology) {
            self.stop();
        }
    }

    pub fn describe(
        &mut self,
        profile: &TopologyProfile,
        plan: ProbePlan,
        known: impl Iterator<Item = Product>,
    ) {
        let sql = ProbeSql {
            flavours: prepare::listed(&plan, known),
            grant: prepare::grant(&plan, profile),
            plan,
        };
        self.board.sql.insert(profile.id.clone(), sql);
    }

    /// True when probes may write there from now on.
    pub fn enable(&mut self, profile: &TopologyProfile, typed: &str) -> bool {
        let name = profile.name.trim();
        let confirmed = !name.is_empty() && typed.trim() == name;
        if profile.environment.guards_writes() && !confirmed {
            let why = phrase("probe_screen.refused.not_typed").with("name", name);
            self.board.refused.insert(profile.id.clone(), why);
            return false;
        }
        self.board.refused.remove(&profile.id);
        self.board.enabled.insert(profile.id.clone());
        true
    }

    pub fn start(
        &mut self,
        profile: &TopologyProfile,
        plan: ProbePlan,
        replica: Option<&ServerId>,
    ) {
        let topology = profile.id.clone();
        match self.prepare(profile, &plan, replica) {
            Err(why) => {
                self.board.refused.insert(topology, why);
            }
            Ok(answer) => {
                self.board.refused.remove(&topology);
                self.keep_unnamed(&topology);
                let view = ProbeView::new(plan, clock::now());
                self.board.probes.insert(topology.clone(), view);
                self.stage = Stage::Preparing { topology, answer };
            }
        }
    }

    fn prepare(
        &self,
        profile: &TopologyProfile,
        plan: &ProbePlan,
        replica: Option<&ServerId>,
    ) -> Result<Receiver<Result<Prepared, Phrase>>, Phrase> {
        if !self.board.may_write(profile) {
            return Err(phrase("probe_screen.refused.not_enabled"));
        }
        if self.board.running().is_some() {
            return Err(phrase("probe_screen.refused.running"));
        }
        if let Some(problem) = plan.problem() {
            return Err(problem);
        }
        let dial = |server: &ServerId| self.dials.get(&(profile.id.clone(), server.clone()));
        // a server whose password nobody said is left out
        let mut profile = profile.clone();
        profile.servers.retain(|server| dial(&server.id).is_some());
        if profile.servers.is_empty() {
            return Err(phrase("probe_screen.refused.not_watched"));
        }
        let dials: Vec<Arc<dyn ProbeDial>> = profile
            .servers
            .iter()
            .filter_map(|server| dial(&server.id).cloned())
            .collect();
        let (sender, answer) = bounded(1);
        let (plan, replica) = (plan.clone(), replica.cloned());
        let work = move || {
            // nobody waits for it any more when the person stopped meanwhile
            let _ = sender.send(prepared(&profile, plan, &dials, replica.as_ref()));
        };
        std::thread::Builder::new()
            .name("probe preparation".into())
            .spawn(work)
            .map_err(|error| phrase("window.no_thread").with("reason", error.to_string()))?;
        Ok(answer)
    }

    /// A probe being prepared ends at once; one that runs removes its rows first.
    pub fn stop(&mut self) {
        match &self.stage {
            Stage::Idle => {}
            Stage::Preparing { topology, .. } => {
                let topology = topology.clone();
                self.stage = Stage::Idle;
                self.end(&topology, EndedBy::Person, None);
            }
            Stage::Running {
                topology, prober, ..
            } => {
                prober.stop();
                if let Some(view) = self.board.probes.get_mut(topology) {
                    view.phase = crate::ui::probe::board::Phase::Stopping;
                }
            }
        }
    }

    /// Takes in what has come since the last frame. True when there was something.
    pub fn take_in(&mut self) -> bool {
        self.take_in_kept();
        let exported = self
            .exporting
            .as_ref()
            .and_then(|answer| answer.try_recv().ok());
        if let Some(how) = exported {
            self.exporting = None;
            self.board.exported = Some(how);
        }
        match std::mem::take(&mut self.stage) {
            Stage::Idle => false,
            Stage::Preparing { topology, answer } => self.take_preparation(topology, answer),
            Stage::Running {
                topology,
                prober,
                events,
            } => self.take_events(topology, prober, events),
        }
    }

    /// Frames should come quickly.
    pub fn is_busy(&self) -> bool {
        !matches!(self.stage, Stage::Idle) || self.exporting.is_some()
    }

    fn take_preparation(
        &mut self,
        topology: TopologyId,
        answer: Receiver<Result<Prepared, Phrase>>,
    ) -> bool {
        let why = match answer.try_recv() {
            Err(TryRecvError::Empty) => {
                self.stage = Stage::Preparing { topology, answer };
                return false;
            }
            Err(TryRecvError::Disconnected) => phrase("probe_screen.refused.no_answer"),
            Ok(Err(why)) => why,
            Ok(Ok(prepared)) => match self.run(topology.clone(), prepared) {
                Ok(()) => return true,
                Err(why) => why,
            },
        };
        self.end(&topology, EndedBy::NotBegun(why), None);
        true
    }

    fn run(&mut self, topology: TopologyId, prepared: Prepared) -> Result<(), Phrase> {
        let (sender, events) = bounded(EVENTS_IN_FLIGHT);
        let prober = Prober::start(prepared.task, sender)
            .map_err(|error| phrase("window.no_thread").with("reason", error.to_string()))?;
        if let Some(view) = self.board.probes.get_mut(&topology) {
            view.begin(prepared.source, prepared.replicas);
        }
        self.stage = Stage::Running {
            topology,
            prober,
            events,
        };
        Ok(())
    }

    fn take_events(
        &mut self,
        topology: TopologyId,
        prober: Prober,
        events: Receiver<ProbeEvent>,
    ) -> bool {
        let now = clock::now();
        let mut ended = None;
        let mut any = false;
        // no more than waited when we began: a frame is due
        for _ in 0..events.len() {
            let Ok(event) = events.try_recv() else { break };
            any = true;
            let Some(view) = self.board.probes.get_mut(&topology) else {
                continue;
            };
            match event {
                ProbeEvent::Ready(readiness) => view.needs = Some(needs(readiness)),
                ProbeEvent::Ran(run) => view.take_in(run, now),
                ProbeEvent::Ended(end) => ended = Some(end),
            }
        }
        if let Some(end) = ended {
            let (why, rows_left) = ending(end);
            self.end(&topology, why, rows_left);
            return true;
        }
        if any {
            self.refresh(&topology);
        }
        self.stage = Stage::Running {
            topology,
            prober,
            events,
        };
        any
    }

    fn refresh(&mut self, topology: &TopologyId) {
        let pause = REFRESH_EVERY.max(self.refresh_cost * REFRESH_SHARE);
        let began = Instant::now();
        if self.refreshed.is_some_and(|at| began - at < pause) {
            return;
        }
        if let Some(view) = self.board.probes.get_mut(topology) {
            view.refresh();
        }
        self.refreshed = Some(began);
        self.refresh_cost = began.elapsed();
    }

    fn end(
        &mut self,
        topology: &TopologyId,
        why: EndedBy,
        rows_left: Option<crate::model::trouble::Trouble>,
    ) {
        self.refreshed = None;
        if let Some(view) = self.board.probes.get_mut(topology) {
            view.end(why, rows_left, clock::now());
        }
    }

    /// Writes the runs to a file, on a thread.
    pub fn export(
        &mut self,
        topology: &TopologyId,
        format: ExportFormat,
        to: PathBuf,
        may_replace: bool,
        words: &'static Catalogue,
    ) {
        let Some(view) = self.board.probes.get(topology).cloned() else {
            return;
        };
        let (sender, answer) = bounded(1);
        let work = move || {
            let _ = sender.send(export::write(&view, format, &to, may_replace, words));
        };
        let thread = std::thread::Builder::new().name("probe export".into());
        match thread.spawn(work) {
            Ok(_) => self.exporting = Some(answer),
            Err(error) => {
                let why = phrase("window.no_thread").with("reason", error.to_string());
                self.board.exported = Some(Err(why));
            }
        }
    }

    /// Stops what runs; waits for its rows to be removed, but not for ever.
    pub fn close(&mut self) {
        if let Stage::Running { prober, .. } = std::mem::take(&mut self.stage) {
            prober.close(GOODBYE);
        }
    }
}

fn prepared(
    profile: &TopologyProfile,
    plan: ProbePlan,
    dials: &[Arc<dyn ProbeDial>],
    replica: Option<&ServerId>,
) -> Result<Prepared, Phrase> {
    let states = prepare::states(dials, &plan);
    let source = prepare::source(profile, &states)?;
    let probed = |place: usize| Probed {
        id: profile.servers[place].id.clone(),
        name: profile.servers[place].label(),
    };
    let server = |place: usize| ProbedServer {
        name: profile.servers[place].label(),
        dial: dials[place].clone(),
    };
    let is_wanted = |place: &usize| {
        *place != source && replica.is_none_or(|only| profile.servers[*place].id == *only)
    };
    let places: Vec<usize> = (0..profile.servers.len()).filter(is_wanted).collect();
    if places.is_empty() {
        return Err(phrase("probe_screen.refused.no_replica"));
    }
    Ok(Prepared {
        task: ProbeTask {
            plan,
            probe: ProbeId(fastrand::u32(1..)),
            source: server(source),
            replicas: places.iter().copied().map(server).collect(),
        },
        source: probed(source),
        replicas: places.into_iter().map(probed).collect(),
    })
}

fn needs(readiness: Readiness) -> Needs {
    Needs {
        source: readiness.source,
        replicas: readiness.replicas,
    }
}

fn ending(end: ProbeEnd) -> (EndedBy, Option<crate::model::trouble::Trouble>) {
    let why = match end.why {
        EndReason::AllRun => EndedBy::AllRun,
        EndReason::Stopped => EndedBy::Person,
        EndReason::Failed(trouble) => EndedBy::Trouble(trouble),
    };
    (why, end.clean_up.and_then(Result::err))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::{Address, Environment, ServerProfile, WritePermission};

    fn profile(environment: Environment) -> TopologyProfile {
        let mut profile = TopologyProfile::new(TopologyId("orders".into()), "orders");
        profile.environment = environment;
        let address = Address::tcp("db1", 3306);
        let server = ServerProfile::new(ServerId("db1".into()), address);
        profile.servers.push(server);
        profile
    }

    fn refused(probing: &Probing) -> Option<&'static str> {
        let why = probing.board.refused.get(&TopologyId("orders".into()));
        why.map(|why| why.key)
    }

    #[test]
    fn production_is_enabled_by_its_name_only_and_anew_in_each_session() {
        let mut orders = profile(Environment::Production);
        orders.writes = WritePermission::Allowed;
        let mut probing = Probing::default();
        assert!(!probing.board.may_write(&orders));
        for typed in ["", "order", "Orders"] {
            assert!(!probing.enable(&orders, typed), "{typed}");
            assert_eq!(refused(&probing), Some("probe_screen.refused.not_typed"));
        }
        assert!(probing.enable(&orders, " orders "));
        assert!(probing.board.may_write(&orders));
        assert_eq!(refused(&probing), None);
        assert!(!Probing::default().board.may_write(&orders));
    }

    #[test]
    fn nothing_starts_without_permission_or_without_a_watched_server() {
        let orders = profile(Environment::Staging);
        let mut probing = Probing::default();
        probing.start(&orders, ProbePlan::default(), None);
        assert_eq!(refused(&probing), Some("probe_screen.refused.not_enabled"));
        assert!(probing.enable(&orders, ""));
        probing.start(&orders, ProbePlan::default(), None);
        assert_eq!(refused(&probing), Some("probe_screen.refused.not_watched"));
        assert!(!probing.is_busy());
        assert!(probing.board.probes.is_empty());
    }
}
