//! What the Semi-sync screen shows, in finished words.

use super::setup::{self, End};
use super::worst;
use crate::model::phrase::{Phrase, phrase};
use crate::model::replication::SemiSyncSource;
use crate::model::sample::Answer;
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::panels::{
    Absence, Block, Cell, FactRow, Panel, Refusal, RowColumn, Rows, Staleness, Tone, from_where,
    server_on_show, switch_word,
};
use crate::ui::server::scene::Scene;
use crate::ui::server::sql::Asked;
use crate::ui::transactions::family;
use crate::ui::widgets::Sign;

#[derive(Clone, Debug, PartialEq)]
pub enum SemiSyncData {
    Nothing(Absence),
    Sources(Vec<SourceEnd>),
}

/// One source with the replicas that may acknowledge.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceEnd {
    pub title: String,
    pub sign: Sign,
    pub sentence: String,
    pub stale: Option<Staleness>,
    /// `None` where the plugin is missing or the server does not tell.
    pub facts: Option<ThreeFacts>,
    pub source: String,
    /// The source's figures, or how to set semi-sync up.
    pub left: Vec<Panel>,
    /// The replicas' ends, and when it gave way.
    pub right: Vec<Panel>,
}

/// Wanted, working, and answered: each may hold without the next.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreeFacts {
    pub configured: (Sign, String),
    pub in_force: (Sign, String),
    pub acknowledging: (Sign, String),
}

impl SemiSyncData {
    pub fn new(frame: &Frame<'_>) -> Self {
        let Some(chosen) = server_on_show(frame) else {
            return SemiSyncData::Nothing(Absence::NoServer);
        };
        if chosen.last_known.is_none() {
            return SemiSyncData::Nothing(Absence::of(frame, chosen));
        }
        let (sources, replicas) = family(frame, chosen);
        // Of a replica whose source is not watched, its own end is still known
        let ends = match sources.is_empty() {
            true => vec![replica_alone(frame, chosen)],
            false => sources
                .into_iter()
                .filter_map(|source| {
                    let all = family_of_source(frame, source);
                    let replicas = if all.is_empty() {
                        replicas.clone()
                    } else {
                        all
                    };
                    Some(source_end(&Scene::of(frame, source)?, &replicas))
                })
                .collect(),
        };
        SemiSyncData::Sources(ends)
    }
}

fn family_of_source<'a>(frame: &Frame<'a>, source: &Watched) -> Vec<&'a Watched> {
    let wires = frame.store.wires().iter();
    let mut watches: Vec<_> = wires
        .filter(|wire| wire.source == source.watch())
        .map(|wire| wire.replica)
        .collect();
    watches.sort();
    watches.dedup();
    watches
        .into_iter()
        .filter_map(|watch| frame.store.watched(watch))
        .collect()
}

fn replica_alone(frame: &Frame<'_>, replica: &Watched) -> SourceEnd {
    SourceEnd {
        title: replica.registration.name.clone(),
        sign: Sign::Unknown,
        sentence: frame.words.text("semi_sync.source_not_watched").to_owned(),
        stale: Staleness::of(frame, replica),
        facts: None,
        source: String::new(),
        left: Vec::new(),
        right: vec![replicas_panel(frame, &[replica])],
    }
}

fn source_end(scene: &Scene<'_>, replicas: &[&Watched]) -> SourceEnd {
    let name = scene.server.registration.name.as_str();
    let mut end = SourceEnd {
        title: scene.with("semi_sync.source", "name", name),
        sign: Sign::Unknown,
        sentence: String::new(),
        stale: Staleness::of(scene.frame, scene.server),
        facts: None,
        source: from_where(scene.frame, "SHOW GLOBAL STATUS", scene.sample.answered_at),
        left: Vec::new(),
        right: Vec::new(),
    };
    match &scene.sample.semi_sync {
        Answer::Refused(trouble) => {
            end.sentence = scene.say(&trouble.what);
            let mut panel = scene.panel("semi_sync refused", "semi_sync.details", Asked::SemiSync);
            panel.push(Block::Refused(Refusal::of(scene.frame, trouble)));
            end.left.push(panel);
        }
        Answer::NotAsked { why } => end.sentence = scene.say(why),
        Answer::Known { value, .. } => match &value.source {
            None => not_installed(scene, &mut end),
            Some(source) => installed(scene, source, &mut end),
        },
    }
    end.right.push(replicas_panel(scene.frame, replicas));
    end.right.push(events(scene));
    end
}

/// A state of its own: not off, not broken, just not there (R23).
fn not_installed(scene: &Scene<'_>, end: &mut SourceEnd) {
    end.sign = Sign::NotApplicable;
    end.sentence = scene.t("semi_sync.not_installed").to_owned();
    let mut panel = scene.panel("setup", "semi_sync.setup", Asked::SemiSync);
    panel.sql = None;
    for (name, which) in [
        ("semi_sync.on_source", End::Source),
        ("semi_sync.on_replica", End::Replica),
    ] {
        let name = scene.t(name);
        panel.push(Block::Code {
            name: name.to_owned(),
            text: setup::sql(&scene.sample.product, which),
            whole: None,
            copy: scene.with("semi_sync.copy_setup", "where", name),
        });
    }
    panel.say(scene.t("semi_sync.setup_note"), Tone::Dim);
    end.left.push(panel);
}

fn installed(scene: &Scene<'_>, source: &SemiSyncSource, end: &mut SourceEnd) {
    let facts = three_facts(scene, source);
    let signs = [facts.configured.0, facts.in_force.0, facts.acknowledging.0];
    end.sign = match source.enabled {
        Some(false) => Sign::NotApplicable,
        _ => worst(&signs),
    };
    end.sentence = scene.say(&sentence(source));
    end.facts = Some(facts);
    end.left.push(details(scene, source));
}

fn three_facts(scene: &Scene<'_>, source: &SemiSyncSource) -> ThreeFacts {
    let t = |key: &'static str| scene.t(key).to_owned();
    let wanted = source.enabled == Some(true);
    let configured = match source.enabled {
        Some(true) => (Sign::Ok, t("panel.on")),
        Some(false) => (Sign::NotApplicable, t("panel.off")),
        None => (Sign::Unknown, t("panel.not_told")),
    };
    let in_force = match source.active {
        Some(true) => (Sign::Ok, t("semi_sync.yes")),
        Some(false) if wanted => (Sign::Critical, t("semi_sync.given_up")),
        Some(false) => (Sign::NotApplicable, t("semi_sync.no")),
        None => (Sign::Unknown, t("panel.not_told")),
    };
    let acknowledging = match source.clients {
        Some(clients) => {
            let required = source.required.unwrap_or(1);
            let text = phrase("semi_sync.clients")
                .with("n", clients)
                .with("required", required);
            let sign = match clients {
                _ if !wanted => Sign::NotApplicable,
                n if n >= required => Sign::Ok,
                _ => Sign::Critical,
            };
            (sign, scene.say(&text))
        }
        None => (Sign::Unknown, t("panel.not_told")),
    };
    ThreeFacts {
        configured,
        in_force,
        acknowledging,
    }
}

/// What the three facts mean together.
fn sentence(source: &SemiSyncSource) -> Phrase {
    let enough = source
        .clients
        .map(|clients| clients >= source.required.unwrap_or(1));
    match (source.enabled, source.active, enough) {
        (None, ..) | (_, None, _) | (_, _, None) => phrase("semi_sync.says.not_told"),
        (Some(false), ..) => phrase("semi_sync.says.off"),
        (_, Some(false), Some(true)) => phrase("semi_sync.says.degraded"),
        (_, Some(false), Some(false)) => phrase("semi_sync.says.nobody"),
        (_, Some(true), Some(true)) => phrase("semi_sync.says.ok"),
        (_, Some(true), Some(false)) => match source.wait_no_replica {
            Some(true) => phrase("semi_sync.says.will_wait"),
            _ => phrase("semi_sync.says.will_give_up"),
        },
    }
}

fn details(scene: &Scene<'_>, source: &SemiSyncSource) -> Panel {
    let words = scene.frame.words;
    let mut panel = scene.panel("details", "semi_sync.details", Asked::SemiSync);
    let before = scene
        .previous
        .and_then(|old| old.semi_sync.value()?.source.as_ref());
    panel.push(scene.fact(
        "semi_sync.timeout",
        source.timeout,
        |span| words.span(span),
        scene.semi_sync_name(
            "rpl_semi_sync_source_timeout",
            "rpl_semi_sync_master_timeout",
        ),
    ));
    let point = match source.wait_point.as_deref() {
        Some("AFTER_SYNC") => "semi_sync.after_sync",
        Some("AFTER_COMMIT") => "semi_sync.after_commit",
        _ => "",
    };
    let mut fact = scene.fact(
        "semi_sync.wait_point",
        source.wait_point.clone(),
        |p| p,
        scene.semi_sync_name(
            "rpl_semi_sync_source_wait_point",
            "rpl_semi_sync_master_wait_point",
        ),
    );
    if !point.is_empty() {
        fact = fact.meaning(scene.t(point), Tone::Dim);
    }
    panel.push(fact);
    let wait = switch_word(scene.frame, source.wait_no_replica);
    let note = match source.wait_no_replica {
        Some(true) => scene.t("semi_sync.waits"),
        Some(false) => scene.t("semi_sync.waits_not"),
        None => "",
    };
    panel.push(FactRow::new(scene.t("semi_sync.wait_no_replica"), wait).meaning(note, Tone::Dim));
    let grown = |of: fn(&SemiSyncSource) -> Option<u64>| growth(of(source), before.and_then(of));
    panel.push(counter(
        scene,
        "semi_sync.yes_tx",
        source.yes_tx,
        grown(|s| s.yes_tx),
        Tone::Plain,
    ));
    panel.push(counter(
        scene,
        "semi_sync.no_tx",
        source.no_tx,
        grown(|s| s.no_tx),
        Tone::Critical,
    ));
    panel.push(counter(
        scene,
        "semi_sync.no_times",
        source.no_times,
        grown(|s| s.no_times),
        Tone::Warning,
    ));
    panel.push(scene.fact(
        "semi_sync.average_wait",
        source.average_wait,
        |span| words.span(span),
        scene.semi_sync_name(
            "Rpl_semi_sync_source_tx_avg_wait_time",
            "Rpl_semi_sync_master_tx_avg_wait_time",
        ),
    ));
    panel.push(scene.fact(
        "semi_sync.wait_sessions",
        source.wait_sessions,
        |n| words.count(n),
        scene.semi_sync_name(
            "Rpl_semi_sync_source_wait_sessions",
            "Rpl_semi_sync_master_wait_sessions",
        ),
    ));
    panel
}

/// Growth since the last poll; a counter that went back was reset and has none.
fn growth(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}

fn counter(
    scene: &Scene<'_>,
    name: &'static str,
    value: Option<u64>,
    grown: Option<u64>,
    when_growing: Tone,
) -> FactRow {
    let words = scene.frame.words;
    let text = value.map(|value| match grown {
        Some(grown) if grown > 0 => format!("{} (+{})", words.count(value), words.count(grown)),
        _ => words.count(value),
    });
    let fact = scene.fact(name, text, |text| text, "SHOW GLOBAL STATUS");
    match grown {
        Some(grown) if grown > 0 => fact.tone(when_growing),
        _ => fact,
    }
}

fn replicas_panel(frame: &Frame<'_>, replicas: &[&Watched]) -> Panel {
    let t = |key: &'static str| frame.words.text(key);
    let mut panel = Panel::new("replicas", t("semi_sync.replicas"));
    if replicas.is_empty() {
        panel.say(t("semi_sync.replicas_none"), Tone::Dim);
        return panel;
    }
    panel.push(Rows {
        columns: vec![
            RowColumn::words(t("semi_sync.replica"), 1.6),
            RowColumn::words(t("semi_sync.configured"), 2.0),
            RowColumn::words(t("semi_sync.in_force"), 1.4),
            RowColumn::words(t("semi_sync.remark"), 5.0),
        ],
        rows: replicas
            .iter()
            .map(|replica| replica_row(frame, replica))
            .collect(),
        more: None,
    });
    panel
}

fn replica_row(frame: &Frame<'_>, replica: &Watched) -> Vec<Cell> {
    let t = |key: &'static str| frame.words.text(key);
    let name = Cell::new(&replica.registration.name);
    let word = |value: Option<bool>| Cell::new(switch_word(frame, value));
    let nothing = || Cell::new("—").tone(Tone::Dim);
    let with = |remark: Cell| vec![name.clone(), nothing(), nothing(), remark];
    let Some(sample) = replica.last_known.as_deref() else {
        return with(Cell::new(t("semi_sync.no_answer")).tone(Tone::Unknown));
    };
    let stale = !replica.freshness(frame.now).is_usable();
    match &sample.semi_sync {
        Answer::Refused(trouble) => {
            with(Cell::new(frame.words.say(&trouble.what)).tone(Tone::Unknown))
        }
        Answer::NotAsked { why } => with(Cell::new(frame.words.say(why)).tone(Tone::Dim)),
        Answer::Known { value, .. } => {
            let Some(end) = &value.replica else {
                return with(Cell::new(t("semi_sync.replica_not_installed")).tone(Tone::Dim));
            };
            let (remark, tone) = match (end.enabled, end.active) {
                _ if stale => ("semi_sync.replica_stale", Tone::Unknown),
                (Some(true), Some(true)) => ("semi_sync.replica_ok", Tone::Good),
                (Some(true), Some(false)) => ("semi_sync.replica_restart", Tone::Warning),
                (Some(false), _) => ("semi_sync.replica_off", Tone::Dim),
                _ => ("panel.not_told", Tone::Unknown),
            };
            vec![
                name,
                word(end.enabled),
                word(end.active),
                Cell::new(t(remark)).tone(tone),
            ]
        }
    }
}

/// When it gave way, and what was committed without an acknowledgement meanwhile.
fn events(scene: &Scene<'_>) -> Panel {
    let words = scene.frame.words;
    let mut panel = Panel::new("events", scene.t("semi_sync.events"));
    if let Some(degraded) = &scene.server.memory.degraded {
        let text = phrase("semi_sync.degraded")
            .with("n", degraded.unacknowledged)
            .with("ago", words.ago(scene.frame.now.since(degraded.since)));
        panel.sign = Some(Sign::Critical);
        panel.say(scene.say(&text), Tone::Critical);
    }
    let watch = scene.server.watch();
    let entries = scene
        .frame
        .store
        .journal()
        .entries()
        .rev()
        .filter(|entry| entry.subject.watch() == Some(watch) && about_semi_sync(&entry.text))
        .take(20);
    for entry in entries {
        let age = words.ago(scene.frame.now.since(entry.at));
        panel.say(format!("{age} · {}", words.say(&entry.text)), Tone::Dim);
    }
    if panel.blocks.is_empty() {
        let text = match given_up(scene) {
            true => "semi_sync.events_before",
            false => "semi_sync.events_none",
        };
        panel.say(scene.t(text), Tone::Dim);
    }
    panel
}

/// Wanted and not in force, at this moment.
fn given_up(scene: &Scene<'_>) -> bool {
    let source = scene
        .sample
        .semi_sync
        .value()
        .and_then(|both| both.source.as_ref());
    source.is_some_and(|source| source.enabled == Some(true) && source.active == Some(false))
}

fn about_semi_sync(text: &Phrase) -> bool {
    text.key.contains("semi_sync")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(enabled: bool, active: bool, clients: u64) -> SemiSyncSource {
        SemiSyncSource {
            enabled: Some(enabled),
            active: Some(active),
            clients: Some(clients),
            required: Some(1),
            ..SemiSyncSource::default()
        }
    }

    #[test]
    fn r24_configured_in_force_and_acknowledging_are_told_apart() {
        for (source, key) in [
            (source(true, true, 2), "semi_sync.says.ok"),
            (source(true, false, 2), "semi_sync.says.degraded"),
            (source(true, false, 0), "semi_sync.says.nobody"),
            (source(true, true, 0), "semi_sync.says.will_give_up"),
            (source(false, false, 0), "semi_sync.says.off"),
            (SemiSyncSource::default(), "semi_sync.says.not_told"),
        ] {
            assert_eq!(sentence(&source).key, key, "{source:?}");
        }
    }

    #[test]
    fn a_counter_that_was_reset_did_not_grow() {
        assert_eq!(growth(Some(7), Some(5)), Some(2));
        assert_eq!(growth(Some(1), Some(5)), None);
        assert_eq!(growth(Some(1), None), None);
    }
}
