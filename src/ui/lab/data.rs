//! What the Lab screen shows in one frame, in finished words.

use super::board::LabBoard;
use super::wording::{client_command, fault_hint_key, fault_key, plan_phrase, strength};
use crate::model::dialect::Dialect;
use crate::model::finding::Role;
use crate::model::lab::{
    Aim, FaultId, FaultKind, FaultNote, FaultState, Intensity, LabAccount, LabNode, LabPhase,
    LabPlan, LabServer, LabStatus, Traffic,
};
use crate::model::phrase::phrase;
use crate::model::profile::{ServerId, TopologyId};
use crate::model::time::Span;
use crate::model::trouble::Trouble;
use crate::ui::Frame;
use crate::ui::widgets::Sign;

/// The lab as it is drawn.
#[derive(Debug)]
pub enum LabData {
    /// None yet, or no more.
    Nothing {
        failed: Option<Failed>,
    },
    /// Being made or removed: what is being done, and of which lab.
    Passing {
        text: String,
        plan: String,
        may_cancel: bool,
    },
    Running(Box<Running>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub what: String,
    pub hint: Option<String>,
    pub detail: String,
}

#[derive(Debug)]
pub struct Running {
    pub plan: LabPlan,
    pub headline: String,
    /// How long it has been running.
    pub age: String,
    pub topology: Option<TopologyId>,
    pub servers: Vec<ServerLine>,
    pub accounts: Vec<AccountLine>,
    pub traffic: Traffic,
    /// Measured, beside what is asked: writes, reads.
    pub carried: [Option<String>; 2],
    /// Why some of it does not come to pass.
    pub traffic_trouble: Option<String>,
    pub groups: Vec<FaultGroup>,
    /// Faults that can be undone.
    pub active: u64,
    pub refused: Option<String>,
}

/// One server, as anybody may reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLine {
    pub name: String,
    pub sign: Sign,
    /// How it is: its lag, or why there is none.
    pub state: String,
    /// What it is: "replica of source".
    pub role: String,
    pub port: u16,
    /// For a student's terminal.
    pub command: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountLine {
    pub user: &'static str,
    pub password: String,
    /// What it is for.
    pub note: String,
}

/// Faults of one kind of thing.
#[derive(Debug)]
pub struct FaultGroup {
    pub name: String,
    pub rows: Vec<FaultRow>,
}

/// One fault to be made.
#[derive(Debug)]
pub struct FaultRow {
    pub kind: FaultKind,
    pub name: String,
    pub hint: String,
    /// Why it cannot be made on this ground.
    pub impossible: Option<String>,
    pub targets: Vec<(LabServer, String)>,
    pub intensity: Option<Intensity>,
    /// Made and not undone yet.
    pub active: Vec<ActiveLine>,
    /// The last one could not be made.
    pub failed: Option<String>,
}

/// A fault that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveLine {
    pub id: FaultId,
    pub text: String,
    /// "48 s left", or what is being done to it.
    pub note: String,
    /// Why it is there although it should not be.
    pub trouble: Option<String>,
    pub may_undo: bool,
}

/// In two columns where there is room: the first three left, the others right.
const GROUPS: [(&str, &[FaultKind]); 6] = [
    (
        "lab_screen.group.network",
        &[
            FaultKind::LinkLatency,
            FaultKind::LinkBandwidth,
            FaultKind::LinkCut,
        ],
    ),
    (
        "lab_screen.group.applier",
        &[
            FaultKind::PlannedDelay,
            FaultKind::StopApplier,
            FaultKind::StopReceiver,
            FaultKind::BreakApplier,
            FaultKind::LockTable,
        ],
    ),
    ("lab_screen.group.semi_sync", &[FaultKind::SemiSyncLoss]),
    (
        "lab_screen.group.load",
        &[
            FaultKind::BigTransaction,
            FaultKind::SlowReaders,
            FaultKind::SlowDisk,
        ],
    ),
    (
        "lab_screen.group.clocks",
        &[
            FaultKind::ClockSkew,
            FaultKind::StopHeartbeat,
            FaultKind::DisableEvent,
        ],
    ),
    (
        "lab_screen.group.roles",
        &[
            FaultKind::WriteOnReplica,
            FaultKind::SourceReadOnly,
            FaultKind::KillServer,
            FaultKind::SwapRoles,
        ],
    ),
];

impl LabData {
    pub fn new(frame: &Frame<'_>, board: &LabBoard) -> Self {
        let words = frame.words;
        let Some(status) = &board.status else {
            return LabData::Nothing { failed: None };
        };
        let passing = |text: String, may_cancel| LabData::Passing {
            text,
            plan: words.say(&plan_phrase(&status.plan)),
            may_cancel,
        };
        match &status.phase {
            LabPhase::Starting(doing) => passing(words.say(doing), true),
            LabPhase::Stopping => passing(words.text("lab_screen.stopping").to_owned(), false),
            LabPhase::Stopped => LabData::Nothing { failed: None },
            LabPhase::Failed(trouble) => LabData::Nothing {
                failed: Some(failed(frame, trouble)),
            },
            LabPhase::Running { since } => {
                let age = frame.now.since(*since).or_zero();
                LabData::Running(Box::new(running(frame, board, status, age)))
            }
        }
    }
}

fn failed(frame: &Frame<'_>, trouble: &Trouble) -> Failed {
    Failed {
        what: frame.words.say(&trouble.what),
        hint: trouble.hint.as_ref().map(|hint| frame.words.say(hint)),
        detail: trouble.detail.clone(),
    }
}

fn running(frame: &Frame<'_>, board: &LabBoard, status: &LabStatus, age: Span) -> Running {
    let words = frame.words;
    let whole = Span::from_secs(age.micros() / 1_000_000);
    let groups = GROUPS.map(|(name, kinds)| FaultGroup {
        name: words.text(name).to_owned(),
        rows: kinds.iter().map(|kind| row(frame, status, *kind)).collect(),
    });
    let carried = |rate: f64| {
        let text = phrase("lab_screen.traffic.carried").with("rate", words.rate(rate));
        words.say(&text)
    };
    Running {
        plan: status.plan.clone(),
        headline: words.say(&plan_phrase(&status.plan)),
        age: words.say(&phrase("lab_screen.running_for").with("span", whole)),
        topology: board.topology.clone(),
        servers: servers(frame, board, status),
        accounts: accounts(frame, status),
        traffic: status.traffic,
        carried: [
            board.rates.map(|r| carried(r.writes_per_second)),
            board.rates.map(|r| carried(r.reads_per_second)),
        ],
        traffic_trouble: traffic_trouble(frame, status),
        groups: groups.into(),
        active: active_notes(status).count() as u64,
        refused: board.refused.as_ref().map(|why| words.say(why)),
    }
}

/// The last failure, while it is recent.
fn traffic_trouble(frame: &Frame<'_>, status: &LabStatus) -> Option<String> {
    let error = status.carried.last_error.as_ref()?;
    let is_recent = frame.now.since(error.at) < Span::from_secs(5);
    is_recent.then(|| {
        let text = phrase("lab_screen.traffic.trouble")
            .with("server", name_of(status, error.server))
            .with("why", error.why.what.clone());
        frame.words.say(&text)
    })
}

// --- servers ---------------------------------------------------------------------------------------------------------

fn servers(frame: &Frame<'_>, board: &LabBoard, status: &LabStatus) -> Vec<ServerLine> {
    let line = |node: &LabNode| {
        let (sign, state) = state(frame, board, node);
        ServerLine {
            name: node.name.clone(),
            sign,
            state,
            role: role(frame, status, node),
            port: node.port,
            command: client_command(status, node),
        }
    };
    status.nodes.iter().map(line).collect()
}

fn state(frame: &Frame<'_>, board: &LabBoard, node: &LabNode) -> (Sign, String) {
    let words = frame.words;
    if !node.is_up {
        return (
            Sign::Critical,
            words.text("lab_screen.server.down").to_owned(),
        );
    }
    let judged = board.topology.as_ref().and_then(|topology| {
        let watch = frame.store.of_server(topology, &server_id(node))?.watch();
        frame.store.judged(topology)?.servers.get(&watch)
    });
    let Some(judged) = judged else {
        return (Sign::Ok, words.text("lab_screen.server.up").to_owned());
    };
    let sign = Sign::from(judged.health);
    match judged.lag().headline.value() {
        Some(lag) => (sign, words.span(lag)),
        None if judged.role == Role::Source => {
            (sign, words.text("lab_screen.server.up").to_owned())
        }
        None => (sign, words.health(judged.health).to_owned()),
    }
}

/// A lab's servers go by their names in its profile.
pub fn server_id(node: &LabNode) -> ServerId {
    ServerId(node.name.clone())
}

fn role(frame: &Frame<'_>, status: &LabStatus, node: &LabNode) -> String {
    let words = frame.words;
    if node.copies_from.is_empty() {
        return words.role(Role::Source).to_owned();
    }
    let sources: Vec<String> = node
        .copies_from
        .iter()
        .map(|source| name_of(status, *source))
        .collect();
    let text = phrase("lab_screen.server.replica_of").with("source", sources.join(", "));
    words.say(&text)
}

/// A server by its number.
pub fn name_of(status: &LabStatus, server: LabServer) -> String {
    let node = status.nodes.iter().find(|node| node.server == server);
    node.map_or_else(|| format!("#{server}"), |node| node.name.clone())
}

fn accounts(frame: &Frame<'_>, status: &LabStatus) -> Vec<AccountLine> {
    let Some(accounts) = &status.accounts else {
        return Vec::new();
    };
    let line = |account: &LabAccount, note: &'static str| AccountLine {
        user: account.user,
        // made to be handed out
        password: account.password.expose().to_owned(),
        note: frame.words.text(note).to_owned(),
    };
    vec![
        line(&accounts.app, "lab_screen.account.app"),
        line(&accounts.admin, "lab_screen.account.admin"),
        line(&accounts.watcher, "lab_screen.account.watcher"),
    ]
}

// --- faults ----------------------------------------------------------------------------------------------------------

/// Made, and neither undone nor over.
pub fn is_active(note: &FaultNote) -> bool {
    matches!(
        note.state,
        FaultState::Starting | FaultState::Active | FaultState::Ending | FaultState::Stuck { .. }
    )
}

fn active_notes(status: &LabStatus) -> impl Iterator<Item = &FaultNote> {
    status.faults.iter().filter(|note| is_active(note))
}

fn row(frame: &Frame<'_>, status: &LabStatus, kind: FaultKind) -> FaultRow {
    let words = frame.words;
    let why_not = status.impossible.iter().find(|(of, _)| *of == kind);
    let last = status.faults.iter().rfind(|note| note.fault.kind == kind);
    FaultRow {
        kind,
        name: words.text(fault_key(kind)).to_owned(),
        hint: Dialect::of(status.plan.ground, None).words(words.text(fault_hint_key(kind))),
        impossible: why_not.map(|(_, why)| words.say(why)),
        targets: targets(status, kind.aim()),
        intensity: kind.intensity(),
        active: active_notes(status)
            .filter(|note| note.fault.kind == kind)
            .map(|note| active_line(frame, status, note))
            .collect(),
        failed: last.and_then(|note| match &note.state {
            FaultState::Failed { why, .. } => Some(words.say(&why.what)),
            _ => None,
        }),
    }
}

/// The servers it can happen to, by their roles of now.
fn targets(status: &LabStatus, aim: Aim) -> Vec<(LabServer, String)> {
    let fits = |node: &&LabNode| match aim {
        Aim::Replica => !node.copies_from.is_empty(),
        Aim::Source => node.copies_from.is_empty(),
        Aim::AnyServer => true,
    };
    let nodes = status.nodes.iter().filter(fits);
    nodes.map(|node| (node.server, node.name.clone())).collect()
}

fn active_line(frame: &Frame<'_>, status: &LabStatus, note: &FaultNote) -> ActiveLine {
    let words = frame.words;
    let mut text = name_of(status, note.fault.on);
    if let Some(strength) = strength(&note.fault) {
        text = format!("{text} · {}", words.say(&strength));
    }
    let lasted = frame.now.since(note.since).or_zero();
    let note_text = match (&note.state, note.fault.lasts) {
        (FaultState::Starting, _) => words.text("lab_screen.fault_starting").to_owned(),
        (FaultState::Ending, _) => words.text("lab_screen.fault_ending").to_owned(),
        (FaultState::Stuck { again_at: None, .. }, _) => {
            words.text("lab_screen.fault_stuck").to_owned()
        }
        (
            FaultState::Stuck {
                again_at: Some(at), ..
            },
            _,
        ) => {
            let left = whole_seconds_up(at.since(frame.now));
            words.say(&phrase("lab_screen.undone_again").with("span", left))
        }
        (_, Some(lasts)) => {
            let left = whole_seconds_up(lasts - lasted);
            words.say(&phrase("lab_screen.left").with("span", left))
        }
        (_, None) => {
            let whole = Span::from_secs(lasted.micros() / 1_000_000);
            words.say(&phrase("lab_screen.lasts_for").with("span", whole))
        }
    };
    ActiveLine {
        id: note.id,
        text,
        note: note_text,
        trouble: match &note.state {
            FaultState::Stuck { why, .. } => Some(words.say(&why.what)),
            _ => None,
        },
        may_undo: match note.state {
            FaultState::Active => !note.fault.kind.is_momentary(),
            FaultState::Stuck { .. } => true,
            _ => false,
        },
    }
}

/// Rounded up: what is left is never nothing.
fn whole_seconds_up(left: Span) -> Span {
    Span::from_secs((left.or_zero().micros() + 999_999) / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_fault_stands_in_exactly_one_group() {
        let all: Vec<FaultKind> = GROUPS
            .iter()
            .flat_map(|(_, kinds)| kinds.iter().copied())
            .collect();
        let once: BTreeSet<&str> = all.iter().map(|kind| kind.code()).collect();
        assert_eq!(all.len(), FaultKind::ALL.len());
        assert_eq!(once.len(), all.len());
    }
}
