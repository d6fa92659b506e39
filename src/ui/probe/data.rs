//! What the Probe screen shows in one frame.

use crate::model::finding::Role;
use crate::model::phrase::phrase;
use crate::model::probe::{Met, On, Precondition};
use crate::model::profile::{ServerId, TopologyId, TopologyProfile, WritePermission};
use crate::model::time::Span;
use crate::model::trouble::Trouble;
use crate::ui::Frame;
use crate::ui::widgets::Sign;

use super::board::{EndedBy, Phase, ProbeBoard, ProbeSql, ProbeView};
use super::figures::FiguresData;
use super::run_data::{self, ReadCard};
use super::timeline::Timeline;
use super::wording::{SignedLine, met_sign};
use super::{ProbeState, Which};

pub enum ProbeData {
    Empty {
        title: &'static str,
        text: &'static str,
        action: Option<&'static str>,
    },
    Here(Box<Scene>),
}

/// One topology's probe.
pub struct Scene {
    pub topology: TopologyId,
    pub name: String,
    /// Writes are confirmed by typing the name.
    pub is_guarded: bool,
    pub may_write: bool,
    /// The profile allows it already.
    pub is_saved: bool,
    pub replicas: Vec<(ServerId, String)>,
    pub sql: Option<SqlData>,
    /// What stands in `sql` is not what the plan would send.
    pub sql_is_due: bool,
    pub busy: Option<Busy>,
    pub refused: Option<String>,
    pub result: Option<ResultData>,
    pub exported: Option<SignedLine>,
    pub kept: Vec<super::keep::KeptData>,
}

pub struct SqlData {
    pub flavours: Vec<(&'static str, Vec<SqlLine>)>,
    pub grant: String,
    /// All of it, to be copied.
    pub text: String,
}

pub struct SqlLine {
    pub on: String,
    pub sql: String,
    pub changes_something: bool,
}

/// A probe is under way.
pub struct Busy {
    /// Here, and not on another topology.
    pub is_here: bool,
    pub is_stopping: bool,
    /// 0 to 1.
    pub share: f32,
    pub text: String,
}

pub struct ResultData {
    pub is_repeated: bool,
    pub notices: Vec<SignedLine>,
    pub needs: Vec<SignedLine>,
    pub replicas: Vec<String>,
    /// Which run the cards are about.
    pub heading: Option<SignedLine>,
    pub cards: Option<[ReadCard; 3]>,
    pub timeline: Option<Timeline>,
    pub figures: Option<FiguresData>,
    /// The whole result as lines with tabs.
    pub copied: String,
}

impl ProbeData {
    pub fn new(frame: &Frame<'_>, board: &ProbeBoard, state: &ProbeState) -> Self {
        let profile = frame
            .topology
            .and_then(|id| frame.profiles.iter().find(|p| p.id == *id));
        let Some(profile) = profile else {
            return ProbeData::Empty {
                title: "probe_screen.no_topology.title",
                text: "probe_screen.no_topology.text",
                action: Some("probe_screen.no_topology.action"),
            };
        };
        if frame.store.servers_of(&profile.id).next().is_none() {
            return ProbeData::Empty {
                title: "probe_screen.not_watched.title",
                text: "probe_screen.not_watched.text",
                action: Some("probe_screen.not_watched.action"),
            };
        }
        ProbeData::Here(Box::new(Scene::new(frame, profile, board, state)))
    }
}

impl Scene {
    fn new(
        frame: &Frame<'_>,
        profile: &TopologyProfile,
        board: &ProbeBoard,
        state: &ProbeState,
    ) -> Self {
        let words = frame.words;
        let id = &profile.id;
        let plan = state.plan(false);
        let sql = board.sql.get(id);
        let view = board.probes.get(id);
        let kept = board.kept.get(id).map_or(&[][..], Vec::as_slice);
        Scene {
            topology: id.clone(),
            name: profile.name.clone(),
            is_guarded: profile.environment.guards_writes(),
            may_write: board.may_write(profile),
            is_saved: profile.writes == WritePermission::Allowed,
            replicas: replicas(frame, profile),
            sql_is_due: sql.is_none_or(|sql| sql.plan != plan),
            sql: sql.map(|sql| sql_data(frame, sql)),
            busy: busy(frame, board, id),
            refused: board.refused.get(id).map(|why| words.say(why)),
            result: view.map(|view| ResultData::new(frame, profile, view, state)),
            exported: board.exported.as_ref().map(|how| match how {
                Ok(text) => line(Sign::Ok, words.say(text)),
                Err(why) => line(Sign::Critical, words.say(why)),
            }),
            kept: kept
                .iter()
                .map(|kept| super::keep::KeptData::new(frame, kept, view))
                .collect(),
        }
    }
}

fn line(sign: Sign, text: String) -> SignedLine {
    SignedLine { sign, text }
}

/// Every server that is not known to be the source.
fn replicas(frame: &Frame<'_>, profile: &TopologyProfile) -> Vec<(ServerId, String)> {
    let is_source = |id: &ServerId| {
        frame.store.servers_of(&profile.id).any(|server| {
            server.registration.server == *id && frame.store.role(server) == Role::Source
        })
    };
    let servers = profile.servers.iter().filter(|s| !is_source(&s.id));
    servers.map(|s| (s.id.clone(), s.label())).collect()
}

fn sql_data(frame: &Frame<'_>, sql: &ProbeSql) -> SqlData {
    let words = frame.words;
    let mut text = String::new();
    let mut flavours = Vec::new();
    for (flavour, statements) in &sql.flavours {
        text += &format!("-- {flavour}\n");
        let mut lines = Vec::new();
        for statement in statements {
            let on = words.text(match statement.on {
                On::Source => "probe.on.source",
                On::Replica => "probe.on.replica",
            });
            text += &format!("/* {on} */ {}\n", statement.sql);
            lines.push(SqlLine {
                on: on.to_owned(),
                sql: statement.sql.clone(),
                changes_something: statement.changes_something,
            });
        }
        flavours.push((*flavour, lines));
    }
    text += &format!("-- {}\n{}\n", words.text("probe.cli.grants"), sql.grant);
    SqlData {
        flavours,
        grant: sql.grant.clone(),
        text,
    }
}

fn busy(frame: &Frame<'_>, board: &ProbeBoard, here: &TopologyId) -> Option<Busy> {
    let words = frame.words;
    let running = board.running()?;
    let view = board.probes.get(running)?;
    if running != here {
        let other = frame.profiles.iter().find(|p| p.id == *running);
        let name = other.map_or(running.0.as_str(), |p| p.name.as_str());
        return Some(Busy {
            is_here: false,
            is_stopping: view.phase == Phase::Stopping,
            share: 0.0,
            text: words.say(&phrase("probe_screen.busy.elsewhere").with("name", name)),
        });
    }
    let runs = u64::from(view.plan.runs);
    let text = match view.phase {
        Phase::Preparing => words.text("probe_screen.busy.preparing").to_owned(),
        Phase::Stopping => words.text("probe_screen.busy.stopping").to_owned(),
        _ => words.say(
            &phrase("probe_screen.busy.running")
                .with("done", view.done())
                .with("runs", runs)
                .with("rate", words.rate(rate(view))),
        ),
    };
    Some(Busy {
        is_here: true,
        is_stopping: view.phase == Phase::Stopping,
        share: view.done() as f32 / runs.max(1) as f32,
        text,
    })
}

/// Runs a second so far.
fn rate(view: &ProbeView) -> f64 {
    let (Some(first), Some(last)) = (view.first_run_at, view.last_run_at) else {
        return 0.0;
    };
    let secs = last.since(first).secs_f64();
    if secs < 0.2 {
        return 0.0;
    }
    view.done() as f64 / secs
}

impl ResultData {
    fn new(
        frame: &Frame<'_>,
        profile: &TopologyProfile,
        view: &ProbeView,
        state: &ProbeState,
    ) -> Self {
        let shown = state.shown.min(view.replicas.len().saturating_sub(1));
        let run = match state.which {
            Which::LastStale if view.is_repeated() => {
                view.last_stale.get(shown).and_then(Option::as_ref)
            }
            _ => view.runs.iter().rev().find(|run| run.write.is_ok()),
        };
        let figures =
            (view.figures.runs > 0).then(|| FiguresData::new(frame, profile, view, shown));
        let mut result = ResultData {
            is_repeated: view.is_repeated(),
            notices: notices(frame, view),
            needs: needs(frame, view),
            replicas: view.replicas.iter().map(|r| r.name.clone()).collect(),
            heading: None,
            cards: None,
            timeline: None,
            copied: String::new(),
            figures,
        };
        if let Some(run) = run {
            result.heading = run_data::heading(frame, view, run);
            result.cards = run_data::cards(frame, view, run, shown);
            result.timeline = run_data::timeline(frame, view, run, shown);
        } else if state.which == Which::LastStale && view.is_repeated() {
            let text = frame.words.text("probe_screen.none_stale").to_owned();
            result.heading = Some(line(Sign::Ok, text));
        }
        result.copied = copied(&result);
        result
    }
}

/// The cards' and the table's words, with tabs between.
fn copied(result: &ResultData) -> String {
    let mut text = String::new();
    for card in result.cards.iter().flatten() {
        let lines = card.lines.join("\t");
        text += &format!(
            "{}\t{}\t{}\t{}\t{lines}\n",
            card.title, card.place, card.value, card.word
        );
    }
    if let Some(figures) = &result.figures {
        text += &figures.copied();
    }
    text
}

fn told(frame: &Frame<'_>, trouble: &Trouble) -> String {
    let mut text = frame.words.say(&trouble.what);
    if !trouble.detail.is_empty() {
        text += &format!(" · {}", trouble.detail);
    }
    if let Some(hint) = &trouble.hint {
        text += &format!(" · {}", frame.words.say(hint));
    }
    text
}

fn notices(frame: &Frame<'_>, view: &ProbeView) -> Vec<SignedLine> {
    let words = frame.words;
    let mut list = Vec::new();
    if let Phase::Ended(end) = &view.phase {
        match &end.why {
            EndedBy::AllRun => {}
            EndedBy::Person => {
                let text = words.text("probe.end.stopped").to_owned();
                list.push(line(Sign::Stopped, text));
            }
            EndedBy::Trouble(trouble) => list.push(line(Sign::Critical, told(frame, trouble))),
            EndedBy::NotBegun(why) => {
                let text = phrase("probe_screen.not_begun").with("why", why.clone());
                list.push(line(Sign::Critical, words.say(&text)));
            }
        }
        if let Some(trouble) = &end.rows_left {
            let left = phrase("probe.end.rows_left").with("why", trouble.what.clone());
            list.push(line(Sign::Warning, words.say(&left)));
        }
    }
    if let Some(trouble) = &view.last_failed {
        let text = phrase("probe_screen.write_failed").with("n", view.summary.writes_failed);
        let text = format!("{} {}", words.say(&text), told(frame, trouble));
        let still = view.runs.back().is_some_and(|run| run.write.is_err());
        let sign = if still { Sign::Critical } else { Sign::Warning };
        list.push(line(sign, text));
    }
    list
}

/// What is not as it should be, worst first; nothing when all is well.
fn needs(frame: &Frame<'_>, view: &ProbeView) -> Vec<SignedLine> {
    let Some(needs) = &view.needs else {
        return Vec::new();
    };
    let words = frame.words;
    let mut list: Vec<(Met, String)> = Vec::new();
    let add = |list: &mut Vec<(Met, String)>, server: &str, all: &[Precondition]| {
        for need in all.iter().filter(|need| need.met != Met::Yes) {
            list.push((need.met, format!("{server}: {}", words.say(&need.what))));
        }
    };
    let source = view.source.as_ref().map_or("", |s| s.name.as_str());
    add(&mut list, source, &needs.source);
    for (replica, state) in view.replicas.iter().zip(&needs.replicas) {
        match state {
            Ok(all) => add(&mut list, &replica.name, all),
            Err(trouble) => list.push((
                Met::No,
                format!("{}: {}", replica.name, told(frame, trouble)),
            )),
        }
    }
    list.sort_by_key(|(met, _)| match met {
        Met::No => 0,
        Met::Limits => 1,
        Met::CannotTell => 2,
        Met::Yes => 3,
    });
    list.into_iter()
        .map(|(met, text)| line(met_sign(met), text))
        .collect()
}

/// Presets of how long a replica is waited for.
pub fn wait_limits() -> [Span; 7] {
    [50, 100, 200, 500, 1_000, 5_000, 10_000].map(Span::from_millis)
}
