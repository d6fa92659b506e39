//! GTID sets: what this server has, what its source has that it has not, what is gone from the binary logs.

use super::scene::Scene;
use super::sql::Asked;
use crate::model::gtid::Gtids;
use crate::model::phrase::phrase;
use crate::store::watched::Watched;
use crate::ui::panels::{Block, FactRow, Panel, Tone, from_where};
use crate::ui::widgets::Sign;

/// A set is written out up to so many intervals; copying gives the whole.
const SHOWN_INTERVALS: usize = 400;

pub fn panel(scene: &Scene<'_>) -> Panel {
    let mut panel = scene.panel("gtids", "server.gtids.title", Asked::Gtids);
    let facts = &scene.sample.gtid;
    if let Some(text) = &facts.unreadable {
        panel.sign = Some(Sign::Unknown);
        panel.say(
            scene.with("server.gtids.unreadable", "text", text.as_str()),
            Tone::Unknown,
        );
    }
    match &facts.executed {
        None => panel.say(scene.t("server.gtids.off"), Tone::Dim),
        Some(set) => {
            let executed = if scene.sample.product.is_mariadb() {
                "server.gtids.binlog_pos"
            } else {
                "server.gtids.executed"
            };
            code(scene, &mut panel, executed, set);
        }
    }
    if scene.sample.product.is_mariadb()
        && let Some(applied) = &facts.applied
    {
        code(scene, &mut panel, "server.gtids.slave_pos", applied);
    }
    for (name, source) in sources(scene) {
        difference(scene, &mut panel, &name, source);
    }
    errant(scene, &mut panel);
    if let Some(purged) = facts.purged.as_ref().filter(|set| !set.is_empty()) {
        code(scene, &mut panel, "server.gtids.purged", purged);
    }
    if let Some(state) = &facts.binlog_state {
        panel.push(FactRow::new("gtid_binlog_state", state.as_str()));
    }
    panel
}

/// The watched servers this one replicates from.
fn sources<'a>(scene: &Scene<'a>) -> Vec<(String, &'a Watched)> {
    let store = scene.frame.store;
    let mine = store
        .wires()
        .iter()
        .filter(|wire| wire.replica == scene.server.watch());
    mine.filter_map(|wire| {
        let source = store.watched(wire.source)?;
        Some((source.registration.name.clone(), source))
    })
    .collect()
}

/// What the source has and this server has not, of the newest samples of both.
fn difference(scene: &Scene<'_>, panel: &mut Panel, name: &str, source: &Watched) {
    let ours = scene
        .sample
        .gtid
        .applied
        .as_ref()
        .or(scene.sample.gtid.executed.as_ref());
    let theirs = source
        .last_known
        .as_ref()
        .and_then(|sample| sample.gtid.executed.as_ref());
    let label = scene.with("server.gtids.missing", "source", name);
    let (Some(ours), Some(theirs), Some(sample)) = (ours, theirs, &source.last_known) else {
        let unknown = scene.t("panel.not_told");
        panel.push(FactRow::new(label, unknown).tone(Tone::Unknown));
        return;
    };
    let source = from_where(scene.frame, name, sample.answered_at);
    match (theirs.missing_from(ours), theirs.since(ours)) {
        (Some(0), _) => {
            let nothing = scene.t("server.gtids.nothing_missing");
            panel.push(FactRow::new(label, nothing).tone(Tone::Good).source(source));
        }
        (Some(count), Some(set)) => {
            let count = scene.say(&phrase("server.transactions").with("n", count));
            panel.push(FactRow::new(label, count).source(source));
            code(scene, panel, "server.gtids.missing_set", &set);
        }
        _ => panel.push(FactRow::new(label, scene.t("panel.not_told")).tone(Tone::Unknown)),
    }
}

fn errant(scene: &Scene<'_>, panel: &mut Panel) {
    let Some(errant) = &scene.server.memory.errant else {
        return;
    };
    panel.sign = Some(Sign::Critical);
    panel.say(scene.t("server.gtids.errant.text"), Tone::Critical);
    code(scene, panel, "server.gtids.errant.title", errant);
}

/// One UUID (or domain) a line, with a copy button.
pub fn code(scene: &Scene<'_>, panel: &mut Panel, name: &'static str, set: &Gtids) {
    let name = scene.t(name);
    panel.push(Block::Code {
        name: name.to_owned(),
        text: pretty(scene, set),
        whole: Some(set.clone()),
        copy: scene.with("server.gtids.copy", "name", name),
    });
}

fn pretty(scene: &Scene<'_>, set: &Gtids) -> String {
    if set.is_empty() {
        return scene.t("server.gtids.empty").to_owned();
    }
    match set {
        Gtids::MySql(set) if set.interval_count() <= SHOWN_INTERVALS => set.pretty(),
        Gtids::MySql(set) => {
            let lines = set.iter().take(20).map(|(sid, intervals)| {
                let text = phrase("server.gtids.line")
                    .with("sid", sid.to_string())
                    .with("n", intervals.len() as u64);
                scene.say(&text)
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Gtids::MariaDb(position) => position.to_string().replace(',', ",\n"),
    }
}
