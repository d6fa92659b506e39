//! The lab of this program: started and stopped, its orders sent, and what its thread tells turned into a board for the
//! screen, an ordinary topology, and episodes for the plots.

pub mod plan;
pub mod programs;

use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use crate::app::files;
use crate::lab::deployment;
use crate::lab::ground;
use crate::lab::running::LabHandle;
use crate::lab::sandbox::Place;
use crate::link::clock;
use crate::model::lab::{
    FaultNote, FaultState, LabNode, LabOrder, LabPhase, LabPlan, LabStatus, Recipe, Traffic,
    TrafficCounts, lab_topology,
};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{
    Account, Address, Environment, HeartbeatTable, SecretKey, SecretOwner, SecretSource,
    ServerProfile, TlsMode, TlsSettings, TopologyId, TopologyProfile, WritePermission,
};
use crate::model::secret::Secret;
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;
use crate::store::episodes::Episode;
use crate::ui::lab::board::{LabBoard, Recipes, TrafficRates};
use crate::ui::lab::wording::{fault_label, ground_name};
use crate::ui::lab::{name_of, server_id};

/// What the window must hear.
#[derive(Debug)]
pub enum LabNews {
    /// It runs: its servers as a topology, and the password of the account that watches them.
    Ready {
        profile: Box<TopologyProfile>,
        secret: Secret,
    },
    /// Its topology is no more.
    Gone(TopologyId),
    Failed(Trouble),
    /// How all faults stand.
    Faults(TopologyId, Vec<Episode>),
}

/// Sliders are dragged in many small steps; the lab hears of them so often at most.
const CARRY_EVERY: Duration = Duration::from_millis(250);

/// Called by threads when there is something to take in.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

pub struct LabDesk {
    pub board: LabBoard,
    /// Started with the first lab.
    thread: Option<(LabHandle, Receiver<LabStatus>)>,
    wake: Wake,
    /// A server that the person showed us; who starts a lab looks here.
    program: Arc<Mutex<Option<PathBuf>>>,
    looking: Option<Receiver<programs::Looked>>,
    saving: Option<Receiver<Result<Phrase, Phrase>>>,
    /// How many labs there have been: each is a topology of its own.
    runs: u64,
    /// Since when the one that is known runs.
    since: Option<Moment>,
    to_carry: Option<Traffic>,
    carried_at: Option<Instant>,
    pace: TrafficPace,
}

impl LabDesk {
    pub fn new(wake: Wake) -> Self {
        LabDesk {
            board: LabBoard::default(),
            thread: None,
            wake,
            program: Arc::default(),
            looking: None,
            saving: None,
            runs: 0,
            since: None,
            to_carry: None,
            carried_at: None,
            pace: TrafficPace::default(),
        }
    }

    /// What has the window look again.
    pub fn wake(&self) -> Wake {
        self.wake.clone()
    }

    /// It is being made or removed, and the person waits for it.
    pub fn is_passing(&self) -> bool {
        self.board.is_busy() && !self.board.is_running()
    }

    pub fn start(&mut self, plan: LabPlan, program: Option<PathBuf>) {
        if let Ok(mut chosen) = self.program.lock() {
            *chosen = program;
        }
        if self.thread.is_none() {
            let wake = self.wake.clone();
            let build = building_with(self.program.clone());
            self.thread = Some(LabHandle::start_with(build, move || wake()));
        }
        self.send(LabOrder::Start(plan));
    }

    pub fn send(&mut self, order: LabOrder) {
        if let LabOrder::Carry(traffic) = order {
            self.to_carry = Some(traffic);
            return self.carry_when_due();
        }
        self.send_now(order);
    }

    fn send_now(&mut self, order: LabOrder) {
        let taken = self.thread.as_ref().is_some_and(|(lab, _)| lab.send(order));
        self.board.refused = (!taken).then(|| phrase("lab_screen.not_taken"));
    }

    fn carry_when_due(&mut self) {
        let is_due = self.carried_at.is_none_or(|at| at.elapsed() >= CARRY_EVERY);
        if is_due && let Some(traffic) = self.to_carry.take() {
            self.carried_at = Some(Instant::now());
            self.send_now(LabOrder::Carry(traffic));
        }
    }

    /// There is still something to be done at the next look.
    pub fn is_waiting(&self) -> bool {
        self.to_carry.is_some()
    }

    /// On a thread: each server program is asked what it is.
    pub fn look_for_servers(&mut self, program: Option<PathBuf>) {
        let (sender, found) = bounded(1);
        let wake = self.wake.clone();
        let look = move || {
            // nobody listens once the window is closed
            let _ = sender.send(programs::look(program.as_deref()));
            wake();
        };
        let thread = std::thread::Builder::new().name("lab-programs".into());
        self.looking = thread.spawn(look).is_ok().then_some(found);
    }

    /// The texts by which the servers of a plan can be made elsewhere.
    pub fn write_down(&mut self, plan: &LabPlan) {
        self.board.saved = None;
        self.board.recipes = Some(Recipes {
            compose: deployment::text(plan, Recipe::Compose),
            dbdeployer: deployment::text(plan, Recipe::Dbdeployer),
        });
    }

    /// Writes the text that is on show to a file, on a thread.
    pub fn save(&mut self, recipe: Recipe, to: PathBuf, may_replace: bool) {
        let Some(recipes) = &self.board.recipes else {
            return;
        };
        let text = recipes.of(recipe).to_owned();
        let (sender, answer) = bounded(1);
        let wake = self.wake.clone();
        let work = move || {
            // nobody listens once the window is closed
            let _ = sender.send(write(&to, &text, may_replace));
            wake();
        };
        let thread = std::thread::Builder::new().name("lab recipe".into());
        match thread.spawn(work) {
            Ok(_) => self.saving = Some(answer),
            Err(error) => self.board.saved = Some(Err(files::not_written(&error))),
        }
    }

    /// Its servers are stopped and what they left is removed, within a limit.
    pub fn close(&mut self) {
        self.thread = None;
    }

    /// Takes in what the lab's thread told.
    pub fn take_in(&mut self) -> Vec<LabNews> {
        self.carry_when_due();
        if let Some(looked) = self.looking.as_ref().and_then(|l| l.try_recv().ok()) {
            self.board.found = Some(looked.found);
            self.board.useless = looked.useless;
            self.looking = None;
        }
        if let Some(how) = self.saving.as_ref().and_then(|s| s.try_recv().ok()) {
            self.board.saved = Some(how);
            self.saving = None;
        }
        let mut news = Vec::new();
        let Some((_, statuses)) = &self.thread else {
            return news;
        };
        let told: Vec<LabStatus> = statuses.try_iter().collect();
        for status in told {
            news.extend(self.hear(status));
        }
        self.board.rates = self.pace.rates();
        news
    }

    fn hear(&mut self, status: LabStatus) -> Vec<LabNews> {
        let mut news = Vec::new();
        let since = match status.phase {
            LabPhase::Running { since } => Some(since),
            _ => None,
        };
        // only the latest status is told: another lab may have taken the place of the one that was known
        if since != self.since {
            news.extend(self.board.topology.take().map(LabNews::Gone));
            self.pace = TrafficPace::default();
            self.since = since;
        }
        if let (Some(_), None) = (since, &self.board.topology)
            && let Some(secret) = watcher_secret(&status)
        {
            self.runs += 1;
            let profile = profile_of(&status, lab_topology(self.runs));
            self.board.topology = Some(profile.id.clone());
            let profile = Box::new(profile);
            news.push(LabNews::Ready { profile, secret });
        }
        if let Some(topology) = &self.board.topology {
            news.push(LabNews::Faults(topology.clone(), episodes_of(&status)));
        }
        if let LabPhase::Failed(trouble) = &status.phase {
            news.push(LabNews::Failed(trouble.clone()));
        }
        if since.is_some() {
            self.pace.note(clock::now(), &status.carried);
        }
        self.board.status = Some(status);
        news
    }
}

/// How fast the traffic's counters grow.
#[derive(Default)]
struct TrafficPace {
    /// When they were told, writes, reads; the newest last.
    told: VecDeque<(Moment, u64, u64)>,
}

impl TrafficPace {
    /// Over so long a time a rate is worked out.
    const WINDOW: Span = Span::from_secs(3);

    fn note(&mut self, at: Moment, counts: &TrafficCounts) {
        self.told.push_back((at, counts.written, counts.read));
        while self.told.len() > 2 && at.since(self.told[1].0) >= Self::WINDOW {
            self.told.pop_front();
        }
    }

    /// None until two counts are far enough apart.
    fn rates(&self) -> Option<TrafficRates> {
        let (first, last) = (self.told.front()?, self.told.back()?);
        let secs = last.0.since(first.0).secs_f64();
        let rate = |from: u64, to: u64| to.saturating_sub(from) as f64 / secs;
        (secs >= 0.9).then(|| TrafficRates {
            writes_per_second: rate(first.1, last.1),
            reads_per_second: rate(first.2, last.2),
        })
    }
}

fn write(to: &Path, text: &str, may_replace: bool) -> Result<Phrase, Phrase> {
    let mut file = files::create(to, may_replace)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
    written.map_err(|error| files::not_written(&error))?;
    Ok(phrase("lab_screen.elsewhere.saved").with("path", to.display().to_string()))
}

/// From a plan to servers, with the program that is chosen by then.
fn building_with(program: Arc<Mutex<Option<PathBuf>>>) -> ground::Build {
    Arc::new(move |plan, starting| {
        let chosen = program.lock().map(|chosen| chosen.clone());
        let place = Place {
            program: chosen.unwrap_or_default(),
            ..Place::default()
        };
        ground::build_at(plan, starting, &place)
    })
}

fn watcher_secret(status: &LabStatus) -> Option<Secret> {
    let accounts = status.accounts.as_ref()?;
    Some(accounts.watcher.password.clone())
}

/// An ordinary topology, never saved. Its servers go by their names, whatever roles they have.
pub fn profile_of(status: &LabStatus, id: TopologyId) -> TopologyProfile {
    let mut profile = TopologyProfile::new(id, ground_name(status.plan.ground));
    profile.environment = Environment::Lab;
    profile.writes = WritePermission::Allowed;
    profile.account = status.accounts.as_ref().map(|accounts| Account {
        user: accounts.watcher.user.to_owned(),
        secret: SecretSource::Ask,
    });
    if status.plan.tls {
        // its certificate is of its own making
        profile.tls = Some(TlsSettings::with_mode(TlsMode::Required));
    }
    profile.heartbeat = Some(HeartbeatTable {
        interval: Some(Span::from_secs(1)),
        ..HeartbeatTable::own()
    });
    profile.servers = status.nodes.iter().map(server_of).collect();
    profile
}

fn server_of(node: &LabNode) -> ServerProfile {
    let address = Address::tcp("127.0.0.1", node.port);
    ServerProfile {
        name: node.name.clone(),
        ..ServerProfile::new(server_id(node), address)
    }
}

/// Where the watcher's password is looked for.
pub fn secret_key(topology: &TopologyId) -> SecretKey {
    SecretKey {
        topology: topology.clone(),
        owner: SecretOwner::Topology,
    }
}

/// How all faults stand, for the store.
pub fn episodes_of(status: &LabStatus) -> Vec<Episode> {
    status
        .faults
        .iter()
        .filter(|note| note.state != FaultState::Starting)
        .map(|note| episode_of(status, note))
        .collect()
}

fn episode_of(status: &LabStatus, note: &FaultNote) -> Episode {
    let server = name_of(status, note.fault.on);
    let (until, failed): (_, Option<(Moment, Phrase)>) = match &note.state {
        FaultState::Starting | FaultState::Active | FaultState::Ending => (None, None),
        FaultState::Stuck { at, why, .. } => (None, Some((*at, why.what.clone()))),
        FaultState::Over { at } | FaultState::Passed { at } => (Some(*at), None),
        FaultState::Failed { at, why } => (Some(*at), Some((*at, why.what.clone()))),
    };
    Episode {
        id: note.id.0,
        label: fault_label(&note.fault, &server),
        server: crate::model::profile::ServerId(server),
        from: note.since,
        until,
        has_passed: matches!(note.state, FaultState::Passed { .. }),
        failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lab::{LabAccount, LabAccounts};

    fn at(secs: i64) -> Moment {
        Moment::from_unix_micros(secs * 1_000_000)
    }

    fn status(phase: LabPhase) -> LabStatus {
        let account = |user| LabAccount {
            user,
            password: Secret::new("secret".into()),
        };
        LabStatus {
            plan: LabPlan::default(),
            phase,
            nodes: vec![LabNode {
                server: 0,
                name: "source".into(),
                port: 4000,
                copies_from: Vec::new(),
                is_up: true,
            }],
            accounts: Some(LabAccounts {
                admin: account("admin"),
                watcher: account("monitor"),
                app: account("app"),
            }),
            ca_pem: None,
            traffic: Traffic::default(),
            carried: TrafficCounts::default(),
            faults: Vec::new(),
            impossible: Vec::new(),
        }
    }

    fn running(since: i64) -> LabStatus {
        status(LabPhase::Running { since: at(since) })
    }

    /// The kinds of news, with the topologies they are about.
    fn told(desk: &mut LabDesk, status: LabStatus) -> Vec<(&'static str, String)> {
        desk.hear(status)
            .iter()
            .filter_map(|news| match news {
                LabNews::Ready { profile, .. } => Some(("ready", profile.id.0.clone())),
                LabNews::Gone(id) => Some(("gone", id.0.clone())),
                LabNews::Failed(_) => Some(("failed", String::new())),
                LabNews::Faults(..) => None,
            })
            .collect()
    }

    fn one(kind: &'static str, id: &str) -> (&'static str, String) {
        (kind, id.to_owned())
    }

    #[test]
    fn each_lab_is_a_topology_of_its_own_even_when_only_the_next_one_is_heard_of() {
        let mut desk = LabDesk::new(Arc::new(|| {}));
        assert_eq!(told(&mut desk, running(1)), [one("ready", "lab@1")]);
        assert_eq!(told(&mut desk, running(1)), []);
        assert_eq!(
            told(&mut desk, running(9)),
            [one("gone", "lab@1"), one("ready", "lab@2")]
        );
        let stopped = status(LabPhase::Stopped);
        assert_eq!(told(&mut desk, stopped), [one("gone", "lab@2")]);
        assert!(desk.board.topology.is_none());
    }

    #[test]
    fn a_recipe_is_written_to_a_file_and_over_another_only_when_that_was_asked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("compose.yaml");
        let mut desk = LabDesk::new(Arc::new(|| {}));
        desk.write_down(&LabPlan::default());
        let mut save = |recipe, may_replace| {
            desk.save(recipe, file.clone(), may_replace);
            while desk.saving.is_some() {
                desk.take_in();
            }
            let text = std::fs::read_to_string(&file).unwrap();
            (desk.board.saved.clone().unwrap().is_ok(), text)
        };
        let (is_saved, compose) = save(Recipe::Compose, false);
        assert!(is_saved && compose.contains("replica-2:"), "{compose}");
        assert_eq!(save(Recipe::Dbdeployer, false), (false, compose));
        let (is_saved, script) = save(Recipe::Dbdeployer, true);
        assert!(is_saved && script.starts_with("#!"), "{script}");
    }

    #[test]
    fn a_rate_is_told_once_two_counts_are_far_enough_apart() {
        let mut pace = TrafficPace::default();
        let counts = |written, read| TrafficCounts {
            written,
            read,
            ..TrafficCounts::default()
        };
        pace.note(at(10), &counts(100, 0));
        assert_eq!(pace.rates(), None);
        pace.note(at(12), &counts(110, 40));
        let rates = TrafficRates {
            writes_per_second: 5.0,
            reads_per_second: 20.0,
        };
        assert_eq!(pace.rates(), Some(rates));
        // what is long ago counts no more
        pace.note(at(15), &counts(110, 40));
        pace.note(at(18), &counts(110, 40));
        assert_eq!(pace.rates().map(|r| r.writes_per_second), Some(0.0));
    }
}
