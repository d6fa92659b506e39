//! What the window around the screens shows, in finished words.

use std::collections::{BTreeMap, BTreeSet};

use super::commands;
use super::palette::Entry;
use crate::health::facts::Freshness;
use crate::model::event::LinkState;
use crate::model::finding::Health;
use crate::model::lag::Reading;
use crate::model::phrase::phrase;
use crate::model::profile::{Environment, Intervals, ServerId, TopologyId, TopologyProfile};
use crate::model::server::WatchId;
use crate::store::judged::{Judged, ServerJudged};
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::lab::board::LabBoard;
use crate::ui::lesson::board::LessonBoard;
use crate::ui::local_time;
use crate::ui::plot::{entry_sign, entry_text};
use crate::ui::widgets::Sign;
use crate::words::Catalogue;

/// The bars and the tree.
#[derive(Clone, Debug)]
pub struct ShellData {
    pub tree: Vec<TreeRow>,
    pub name: Option<String>,
    pub environment: Option<Environment>,
    pub watched: bool,
    /// The sentence of the topology, and the dimmer one under it.
    pub verdict: Option<(Sign, String, Option<String>)>,
    pub intervals: Option<Intervals>,
    pub cost: Cost,
    /// The newest journal entry: sign, text.
    pub last_event: Option<(Sign, String)>,
    /// What the search offers of the lab.
    pub commands: Vec<Entry>,
    /// The lessons, as the search offers them.
    pub lessons: Vec<Entry>,
}

/// What watching costs, over all watched servers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub servers: usize,
    pub statements_per_second: f64,
    pub bytes_per_second: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TreeRow {
    Topology(TopologyRow),
    Server(ServerRow),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TopologyRow {
    pub id: TopologyId,
    pub name: String,
    pub environment: Environment,
    pub watched: bool,
    pub sign: Sign,
    pub shown: bool,
    /// "3 servers"
    pub note: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ServerRow {
    pub topology: TopologyId,
    pub server: ServerId,
    /// How many sources stand above it.
    pub depth: usize,
    pub name: String,
    pub sign: Sign,
    /// Lag, "stopped", "unknown", or the role.
    pub right: String,
    /// The same without the planned delay, where there is one.
    pub right_short: Option<String>,
    /// The right word carries the state's colour.
    pub alarming: bool,
    pub selected: bool,
    /// Address, role, lag with method and age.
    pub hover: String,
}

impl ShellData {
    pub fn new(frame: &Frame<'_>) -> Self {
        let profile = frame
            .topology
            .and_then(|id| frame.profiles.iter().find(|p| p.id == *id));
        let judged = frame.topology.and_then(|id| frame.store.judged(id));
        ShellData {
            tree: tree(frame),
            name: profile.map(|p| p.name.clone()),
            environment: profile.map(|p| p.environment),
            watched: judged.is_some(),
            verdict: judged.and_then(|judged| verdict(frame, judged)),
            intervals: intervals(frame, profile),
            cost: cost(frame),
            last_event: frame.store.journal().last().map(|entry| {
                let text = format!(
                    "{}  {}",
                    local_time::time_of_day(entry.at),
                    entry_text(frame, entry)
                );
                (entry_sign(entry.kind), text)
            }),
            commands: Vec::new(),
            lessons: Vec::new(),
        }
    }

    /// With what can be done about the lab and its lessons.
    pub fn with_lab(self, words: &Catalogue, lab: &LabBoard, lessons: &LessonBoard) -> Self {
        ShellData {
            commands: commands::commands(words, lab, lessons),
            lessons: commands::lessons(words, lessons),
            ..self
        }
    }
}

/// As the servers are polled now; the profile's until they are.
fn intervals(frame: &Frame<'_>, profile: Option<&TopologyProfile>) -> Option<Intervals> {
    let polled = frame
        .topology
        .and_then(|id| frame.store.servers_of(id).next())
        .map(|server| server.registration.intervals);
    polled.or(profile.map(|p| p.intervals))
}

fn verdict(frame: &Frame<'_>, judged: &Judged) -> Option<(Sign, String, Option<String>)> {
    let words = frame.words;
    let Some(verdict) = &judged.verdict else {
        let text = words.text("shell.no_verdict_yet").to_owned();
        return Some((Sign::Unknown, text, None));
    };
    Some((
        Sign::from(verdict.lamp),
        words.say(&verdict.headline),
        verdict.detail.as_ref().map(|detail| words.say(detail)),
    ))
}

fn cost(frame: &Frame<'_>) -> Cost {
    let mut cost = Cost::default();
    for server in frame.store.servers() {
        cost.servers += 1;
        let (Some(latest), Some(previous)) = (&server.latest, &server.previous) else {
            continue;
        };
        let secs = latest.answered_at.since(previous.answered_at).secs_f64();
        if secs > 0.0 {
            cost.statements_per_second += f64::from(latest.cost.statements) / secs;
            cost.bytes_per_second += latest.cost.bytes as f64 / secs;
        }
    }
    cost
}

// --- the tree --------------------------------------------------------------------------------------------------------

fn tree(frame: &Frame<'_>) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    for profile in frame.profiles {
        let judged = frame.store.judged(&profile.id);
        rows.push(TreeRow::Topology(topology_row(frame, profile, judged)));
        if let Some(judged) = judged {
            rows.extend(
                server_rows(frame, profile, judged)
                    .into_iter()
                    .map(TreeRow::Server),
            );
        }
    }
    rows
}

fn topology_row(
    frame: &Frame<'_>,
    profile: &TopologyProfile,
    judged: Option<&Judged>,
) -> TopologyRow {
    let servers = phrase("shell.servers").with("n", profile.servers.len() as u64);
    TopologyRow {
        id: profile.id.clone(),
        name: profile.name.clone(),
        environment: profile.environment,
        watched: judged.is_some(),
        sign: match judged {
            Some(judged) => judged
                .verdict
                .as_ref()
                .map_or(Sign::Unknown, |verdict| Sign::from(verdict.lamp)),
            None => Sign::NotApplicable,
        },
        shown: frame.topology == Some(&profile.id),
        note: frame.words.say(&servers),
    }
}

/// Sources first, under each its replicas, in the order of the profile. A ring is entered at its first server, and a
/// server with two sources stands under the first of them.
fn server_rows(frame: &Frame<'_>, profile: &TopologyProfile, judged: &Judged) -> Vec<ServerRow> {
    let place = |watch: &WatchId| {
        let id = frame
            .store
            .watched(*watch)
            .map(|server| &server.registration.server);
        let at = profile.servers.iter().position(|s| Some(&s.id) == id);
        (at.unwrap_or(usize::MAX), *watch)
    };
    let mut watches: Vec<WatchId> = judged.servers.keys().copied().collect();
    watches.sort_by_key(place);
    let mut sources: BTreeMap<WatchId, WatchId> = BTreeMap::new();
    for wire in frame.store.wires() {
        if judged.servers.contains_key(&wire.source) {
            sources.entry(wire.replica).or_insert(wire.source);
        }
    }
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    let roots = watches.iter().filter(|watch| !sources.contains_key(watch));
    // behind the roots once more all: what is left over is a ring
    for root in roots.chain(&watches) {
        descend(*root, 0, &watches, &sources, &mut seen, &mut order);
    }
    order
        .into_iter()
        .filter_map(|(watch, depth)| {
            let server = frame.store.watched(watch)?;
            Some(server_row(
                frame,
                server,
                judged.servers.get(&watch)?,
                depth,
            ))
        })
        .collect()
}

fn descend(
    watch: WatchId,
    depth: usize,
    watches: &[WatchId],
    sources: &BTreeMap<WatchId, WatchId>,
    seen: &mut BTreeSet<WatchId>,
    order: &mut Vec<(WatchId, usize)>,
) {
    if !seen.insert(watch) {
        return;
    }
    order.push((watch, depth));
    for replica in watches.iter().filter(|w| sources.get(w) == Some(&watch)) {
        descend(*replica, depth + 1, watches, sources, seen, order);
    }
}

fn server_row(
    frame: &Frame<'_>,
    server: &Watched,
    judged: &ServerJudged,
    depth: usize,
) -> ServerRow {
    let registration = &server.registration;
    let (right, alarming) = right(frame, server, judged);
    ServerRow {
        topology: registration.topology.clone(),
        server: registration.server.clone(),
        depth,
        name: registration.name.clone(),
        sign: server_sign(server, judged),
        right,
        right_short: late_beyond_plan(frame, server, judged),
        alarming,
        selected: frame.topology == Some(&registration.topology)
            && frame.server == Some(&registration.server),
        hover: hover(frame, server, judged),
    }
}

/// A server that cannot be reached is not merely unknown.
fn server_sign(server: &Watched, judged: &ServerJudged) -> Sign {
    match &server.link {
        LinkState::Down { .. } => Sign::Critical,
        LinkState::Connecting => Sign::Unknown,
        LinkState::Up { .. } => Sign::from(judged.health),
    }
}

fn late_beyond_plan(frame: &Frame<'_>, server: &Watched, judged: &ServerJudged) -> Option<String> {
    let is_up = matches!(server.link, LinkState::Up { .. });
    let is_planned = judged.lag().planned_delay.micros() > 0;
    let lag = judged.lag().headline.value();
    lag.filter(|_| is_up && is_planned)
        .map(|lag| frame.words.span(lag))
}

/// The word at the right edge, and whether it is bad news.
fn right(frame: &Frame<'_>, server: &Watched, judged: &ServerJudged) -> (String, bool) {
    let words = frame.words;
    let text = |key| words.text(key).to_owned();
    match &server.link {
        LinkState::Down { .. } => return (text("shell.no_answer"), true),
        LinkState::Connecting => return (text("shell.connecting"), false),
        LinkState::Up { .. } => {}
    }
    if let Health::Stopped | Health::Broken = judged.health {
        let lag = &judged.lag().headline;
        if lag.measured().is_none() {
            return (words.health(judged.health).to_owned(), true);
        }
    }
    let planned = judged.lag().planned_delay;
    match &judged.lag().headline {
        Reading::Measured(m) if planned.micros() > 0 => {
            let late = phrase("shell.delayed_and_late")
                .with("planned", planned)
                .with("late", m.value);
            (words.say(&late), judged.health == Health::Delayed)
        }
        Reading::Measured(m) => {
            let alarming = !matches!(judged.health, Health::Ok | Health::Unknown);
            (words.span(m.value), alarming)
        }
        Reading::NotApplicable { .. } => (words.role(judged.role).to_owned(), false),
        Reading::Unknown { .. } => (words.health(Health::Unknown).to_owned(), false),
    }
}

fn hover(frame: &Frame<'_>, server: &Watched, judged: &ServerJudged) -> String {
    let words = frame.words;
    let mut lines = vec![
        format!("{} · {}", server.registration.name, words.role(judged.role)),
        server.registration.address.to_string(),
    ];
    if let Some(sample) = &server.last_known {
        lines.push(sample.product.to_string());
    }
    match &server.link {
        LinkState::Down { trouble, .. } => lines.push(words.say(&trouble.what)),
        _ => lines.push(crate::ui::overview::lag_line(
            frame,
            judged.lag(),
            server.dialect(),
        )),
    }
    if let Some(age) = judged.answer_age {
        let key = match &judged.freshness {
            Freshness::Stale { .. } => "shell.last_answer_stale",
            _ => "shell.last_answer",
        };
        lines.push(words.say(&phrase(key).with("ago", words.ago(age))));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_nested_and_a_ring_is_entered_once() {
        let watch = |n| WatchId(n);
        let watches: Vec<WatchId> = (1..=5).map(watch).collect();
        // 2 and 3 follow 1, 4 follows 3; 5 follows itself by way of nobody
        let sources = BTreeMap::from([
            (watch(2), watch(1)),
            (watch(3), watch(1)),
            (watch(4), watch(3)),
        ]);
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        for root in [1, 5] {
            descend(watch(root), 0, &watches, &sources, &mut seen, &mut order);
        }
        let nested: Vec<(u32, usize)> = order.iter().map(|(w, depth)| (w.0, *depth)).collect();
        assert_eq!(nested, [(1, 0), (2, 1), (3, 1), (4, 2), (5, 0)]);

        let ring = BTreeMap::from([(watch(1), watch(2)), (watch(2), watch(1))]);
        let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
        for root in &watches[..2] {
            descend(*root, 0, &watches[..2], &ring, &mut seen, &mut order);
        }
        assert_eq!(order.len(), 2);
    }
}
