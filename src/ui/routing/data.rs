//! What the Routing screen shows, in finished words.

use super::guards::{GuardRow, guard_rows};
use super::keep::KeptData;
use super::kinds::{KindState, KindTable, kind_key, target_name};
use super::lending::{LendingRow, lending_rows};
use super::{Report, RoutingState, SqlShown};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{ServerId, TopologyId, TopologyProfile, WritePermission};
use crate::model::server::WatchId;
use crate::model::time::Span;
use crate::routing::Promise;
use crate::routing::compare::{Outcome, Row};
use crate::routing::decision::fallback_key;
use crate::ui::Frame;
use crate::ui::widgets::Sign;
use crate::words::Catalogue;

/// The screen, or why there is none.
#[derive(Clone, Debug)]
pub enum RoutingData {
    NoTopology,
    Shown(Box<Shown>),
}

#[derive(Clone, Debug)]
pub struct Shown {
    /// May a comparison be started, and if not, why.
    pub start: Result<(), StartProblem>,
    /// On production, what must be typed before.
    pub must_type: Option<String>,
    pub running: Option<(u64, u64)>,
    pub verdict: Option<Verdict>,
    pub guards: Vec<GuardRow>,
    pub lending: Vec<LendingRow>,
    pub kinds: KindsData,
    pub replicas: Vec<(ServerId, String)>,
    pub sql: Option<SqlShown>,
    /// There is a whole result.
    pub can_keep: bool,
    pub kept: Vec<KeptData>,
    pub exported: Option<(Sign, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StartProblem {
    /// Not allowed for this topology; the profile is the place to allow it.
    NotAllowed,
    NothingToCompare,
}

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub sentence: String,
    pub rows: Vec<RuleRow>,
    pub basis: String,
    pub replicas: Vec<(Sign, String)>,
    pub troubles: Vec<String>,
    /// Fallbacks admitted to the source and refused, of the rule that is limited to what it can spare.
    pub bucket: Option<(u64, u64)>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleRow {
    /// Its number in the chart, from 1.
    pub number: usize,
    pub name: String,
    pub sign: Sign,
    pub promise: String,
    pub stale: String,
    pub stale_hover: String,
    pub added: [String; 3],
    pub on_source: String,
    pub on_source_hover: String,
    pub fallbacks: String,
    /// For sorting and the chart; `None` is unknown.
    pub stale_share: Option<f64>,
    pub added_spans: [Option<Span>; 3],
    pub source_share: Option<f64>,
    pub fallback_count: u64,
}

/// The query-kind router's table, and how it stands against what was asserted.
#[derive(Clone, Debug, PartialEq)]
pub struct KindsData {
    pub table: KindTable,
    /// In the order of the table.
    pub lines: Vec<KindLine>,
    pub is_taken: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KindLine {
    pub kind: String,
    pub sign: Sign,
    pub verdict: String,
    /// The whole sentence, when it fails.
    pub why: Option<String>,
}

impl RoutingData {
    pub fn new(frame: &Frame<'_>, state: &RoutingState) -> Self {
        let profile = frame
            .topology
            .and_then(|id| frame.profiles.iter().find(|profile| profile.id == *id));
        let Some(profile) = profile else {
            return RoutingData::NoTopology;
        };
        let report = state
            .report
            .as_ref()
            .filter(|report| report.topology == profile.id);
        let sql = state.sql.as_ref().filter(|sql| sql.topology == profile.id);
        let replicas = watched_replicas(frame, &profile.id);
        let result = report
            .filter(|report| !report.is_running)
            .and_then(|report| report.outcome.as_ref());
        let kept = state.board.kept.get(&profile.id);
        let kept = kept.map_or(&[][..], |kept| &kept.comparisons);
        RoutingData::Shown(Box::new(Shown {
            start: may_start(frame, profile, state),
            must_type: profile
                .environment
                .guards_writes()
                .then(|| profile.name.clone()),
            running: report
                .filter(|report| report.is_running)
                .map(|report| (report.done, report.planned)),
            verdict: report.and_then(|report| verdict(frame, report)),
            guards: guard_rows(frame, &profile.id),
            lending: lending_rows(frame, &profile.id),
            kinds: kinds(frame, state, &profile.id, &replicas),
            replicas,
            sql: sql.cloned(),
            can_keep: result.is_some(),
            kept: kept
                .iter()
                .map(|kept| KeptData::new(frame, kept, result))
                .collect(),
            exported: exported(frame.words, state),
        }))
    }
}

fn may_start(
    frame: &Frame<'_>,
    profile: &TopologyProfile,
    state: &RoutingState,
) -> Result<(), StartProblem> {
    let enabled = state.enabled.contains(&profile.id);
    if profile.writes != WritePermission::Allowed && !enabled {
        return Err(StartProblem::NotAllowed);
    }
    if frame.store.replica_views(&profile.id).is_empty() {
        return Err(StartProblem::NothingToCompare);
    }
    Ok(())
}

fn verdict(frame: &Frame<'_>, report: &Report) -> Option<Verdict> {
    let words = frame.words;
    let troubles: Vec<String> = report.troubles.iter().map(|what| words.say(what)).collect();
    let Some(outcome) = &report.outcome else {
        return (!troubles.is_empty()).then(|| Verdict {
            sentence: words.text("rules.screen.nothing_seen").to_owned(),
            rows: Vec::new(),
            basis: String::new(),
            replicas: Vec::new(),
            troubles,
            bucket: None,
        });
    };
    let rows = &outcome.comparison.rows;
    Some(Verdict {
        // Writes under way are undecided yet: which rule is best is not said too early.
        sentence: match report.is_running {
            true => words.text("rules.screen.so_far").to_owned(),
            false => words.say(&outcome.comparison.sentence),
        },
        rows: (1..)
            .zip(rows)
            .map(|(number, row)| rule_row(words, number, row))
            .collect(),
        basis: words.say(&basis(frame, report, outcome)),
        replicas: replicas(words, outcome),
        troubles,
        bucket: bucket(rows),
    })
}

fn basis(frame: &Frame<'_>, report: &Report, outcome: &Outcome) -> Phrase {
    let trip = outcome.wait_round_trip;
    let trip = trip.map_or_else(dash, |trip| frame.words.span(trip));
    phrase("rules.screen.basis")
        .with("writes", outcome.writes)
        .with("reads", outcome.reads)
        .with("trip", trip)
        .with("ago", frame.words.ago(frame.now.since(report.at).or_zero()))
}

fn replicas(words: &Catalogue, outcome: &Outcome) -> Vec<(Sign, String)> {
    let line = |replica: &crate::routing::compare::ReplicaSeen| {
        let after = |span: Option<Span>| span.map_or_else(dash, |span| words.span(span));
        let text = phrase("rules.line.seen")
            .with("replica", replica.name.as_str())
            .with("seen", replica.seen)
            .with("unseen", replica.unseen)
            .with("p50", after(replica.delay.map(|delay| delay.p50)))
            .with("p99", after(replica.delay.map(|delay| delay.p99)));
        let sign = match &replica.trouble {
            Some(_) => Sign::Unknown,
            None if replica.unseen > 0 => Sign::Warning,
            None => Sign::Ok,
        };
        let text = words.say(&text);
        match &replica.trouble {
            Some(trouble) => (sign, format!("{text} – {}", words.say(&trouble.what))),
            None => (sign, text),
        }
    };
    outcome.replicas.iter().map(line).collect()
}

/// The last rule when it has a limiter: what fell back and passed, and what was refused.
fn bucket(rows: &[Row]) -> Option<(u64, u64)> {
    let limited = rows
        .iter()
        .find(|row| row.code.ends_with("_rate_limited"))?;
    let refused = limited.refused;
    let all: u64 = limited.fallbacks.values().sum();
    Some((all.saturating_sub(refused), refused))
}

fn dash() -> String {
    "–".to_owned()
}

fn rule_row(words: &Catalogue, number: usize, row: &Row) -> RuleRow {
    let added = row.added.map(|added| [added.p50, added.p95, added.p99]);
    let added_spans = [0, 1, 2].map(|place| added.map(|added| added[place]));
    let (stale_share, source_share) = (row.stale_share(), row.source_share());
    let share = |share: Option<f64>| share.map_or_else(dash, |share| words.percent(share));
    let count: u64 = row.fallbacks.values().sum();
    RuleRow {
        number,
        name: words.say(&row.name),
        sign: sign(row),
        promise: words.say(&promise(row.promise)),
        stale: share(stale_share),
        stale_hover: words.say(
            &phrase("rules.screen.stale_hover")
                .with("stale", row.stale)
                .with("judged", row.judged)
                .with("undecided", row.undecided)
                .with("refused", row.refused),
        ),
        added: added_spans.map(|span| span.map_or_else(dash, |span| words.span(span))),
        on_source: share(source_share),
        on_source_hover: words.say(
            &phrase("rules.screen.source_hover")
                .with("on_source", row.on_source)
                .with("reads", row.reads),
        ),
        fallbacks: fallbacks(words, row),
        stale_share,
        added_spans,
        source_share,
        fallback_count: count,
    }
}

/// Fresh only by promise is well: what came out fresh by luck may not tomorrow.
fn sign(row: &Row) -> Sign {
    match (row.stale, row.undecided + row.refused, row.promise) {
        _ if row.judged == 0 => Sign::Unknown,
        (0, 0, Promise::Nothing) => Sign::NotApplicable,
        (0, 0, _) => Sign::Ok,
        (0, _, _) => Sign::Unknown,
        _ => Sign::Warning,
    }
}

fn promise(promise: Promise) -> Phrase {
    match promise {
        Promise::Strong => phrase("rules.promise.strong"),
        Promise::WhileLagIsBelow(window) => {
            Phrase::new("rules.promise.while").with("window", window)
        }
        Promise::Nothing => phrase("rules.promise.nothing"),
    }
}

/// The most frequent first.
fn fallbacks(words: &Catalogue, row: &Row) -> String {
    let mut all: Vec<(&&str, &u64)> = row.fallbacks.iter().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    let each = all.into_iter().map(|(code, times)| {
        format!(
            "{} × {}",
            words.count(*times),
            words.text(fallback_key(code))
        )
    });
    let text = each.collect::<Vec<_>>().join("; ");
    if text.is_empty() { dash() } else { text }
}

fn kinds(
    frame: &Frame<'_>,
    state: &RoutingState,
    topology: &TopologyId,
    replicas: &[(ServerId, String)],
) -> KindsData {
    let words = frame.words;
    let kept = state.board.kept.get(topology);
    let edited = state.edited.as_ref().filter(|(of, _)| of == topology);
    let table = edited
        .map(|(_, table)| table.clone())
        .or_else(|| kept.map(|kept| kept.kinds.clone()))
        .unwrap_or_default();
    let watch_of = |server: &ServerId| watch_of(frame, topology, server);
    let states = table.states(&watch_of).into_iter();
    let lines: Vec<KindLine> = table
        .lines()
        .into_iter()
        .zip(states)
        .map(|((kind, setting), state)| {
            let name = |target| target_name(target, replicas);
            let kind = words.text(kind_key(&kind)).to_owned();
            let why = match state {
                KindState::Holds => None,
                KindState::Broken(_) => Some(
                    phrase("rules.kind.broken")
                        .with("asserted", name(&setting.asserted))
                        .with("found", name(&setting.goes_to)),
                ),
                KindState::NoSuchReplica => Some(phrase("rules.kind.no_such_replica")),
            };
            let (sign, verdict) = match why {
                None => (Sign::Ok, "rules.kind.holds"),
                Some(_) => (Sign::Critical, "rules.kind.fails"),
            };
            KindLine {
                sign,
                verdict: words.text(verdict).to_owned(),
                why: why.map(|why| words.say(&why.with("kind", kind.as_str()))),
                kind,
            }
        })
        .collect();
    KindsData {
        is_taken: lines.iter().all(|line| line.sign == Sign::Ok),
        table,
        lines,
    }
}

/// The number under which a replica of the topology is watched now.
pub fn watch_of(frame: &Frame<'_>, topology: &TopologyId, server: &ServerId) -> Option<WatchId> {
    let views = frame.store.replica_views(topology);
    let mut servers = frame.store.servers_of(topology);
    let watch = servers.find(|s| s.registration.server == *server)?.watch();
    views
        .iter()
        .any(|view| view.watch == watch)
        .then_some(watch)
}

fn watched_replicas(frame: &Frame<'_>, topology: &TopologyId) -> Vec<(ServerId, String)> {
    let views = frame.store.replica_views(topology);
    let servers = views
        .iter()
        .filter_map(|view| frame.store.watched(view.watch));
    servers
        .map(|server| {
            let registration = &server.registration;
            (registration.server.clone(), registration.name.clone())
        })
        .collect()
}

fn exported(words: &Catalogue, state: &RoutingState) -> Option<(Sign, String)> {
    state.board.exported.as_ref().map(|how| match how {
        Ok(done) => (Sign::Ok, words.say(done)),
        Err(why) => (Sign::Critical, words.say(why)),
    })
}
