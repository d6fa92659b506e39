//! The compact card of a source, and of every server without channels: what it is, whether it takes writes, where its
//! binary log stands; or why it has not answered.

use eframe::egui::Ui;

use super::card::{details_button_ui, line_ui, separator_ui};
use super::card_data::{LampWord, kind, lamp, stale};
use crate::model::event::LinkState;
use crate::model::finding::{Health, Role};
use crate::model::gtid::Gtids;
use crate::model::phrase::phrase;
use crate::model::profile::{ServerId, TopologyId};
use crate::model::sample::Sample;
use crate::store::judged::ServerJudged;
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::lesson::pointer;
use crate::ui::theme::{self, UNIT, palette};
use crate::ui::widgets::{Card, Edge, Fact, Sign, card_head_ui, copy_button_ui, fact_ui, lamp_ui};

/// A server that is no replica, as far as seen.
#[derive(Clone, Debug)]
pub struct ServerCard {
    pub topology: TopologyId,
    pub server: ServerId,
    pub name: String,
    pub kind: String,
    pub sign: Sign,
    /// Sources first.
    pub rank: u8,
    /// Why there is nothing to show, or that it is old, with the next try.
    pub remark: Option<String>,
    /// The server's or the driver's own words, and what to try.
    pub detail: Option<String>,
    pub semi_sync: Option<LampWord>,
    /// Name, value, where it comes from.
    pub facts: Vec<(&'static str, String, String)>,
    /// To be copied.
    pub executed: Option<String>,
}

pub fn server_card(frame: &Frame<'_>, server: &Watched, judged: &ServerJudged) -> ServerCard {
    let sample = server.last_known.as_deref();
    let (remark, detail) = remark(frame, server, judged);
    let executed = sample.and_then(|s| s.gtid.executed.as_ref());
    ServerCard {
        topology: server.registration.topology.clone(),
        server: server.registration.server.clone(),
        name: server.registration.name.clone(),
        kind: kind(frame, server, judged),
        sign: sign(server, judged),
        rank: match judged.role {
            Role::Source | Role::Intermediate => 0,
            Role::Standalone | Role::Replica => 1,
            Role::Unknown => 2,
        },
        remark,
        detail,
        semi_sync: sample.map(|_| lamp(frame, "overview.lamp.semi_sync", &judged.lamps.semi_sync)),
        facts: sample.map_or_else(Vec::new, |sample| facts(frame, server, sample)),
        executed: executed.map(Gtids::to_string),
    }
}

fn sign(server: &Watched, judged: &ServerJudged) -> Sign {
    match &server.link {
        LinkState::Down { .. } => Sign::Critical,
        LinkState::Connecting => Sign::Unknown,
        LinkState::Up { .. }
            if judged.health == Health::Unknown && judged.freshness.is_usable() =>
        {
            Sign::Unknown
        }
        LinkState::Up { .. } => Sign::from(judged.health),
    }
}

fn remark(
    frame: &Frame<'_>,
    server: &Watched,
    judged: &ServerJudged,
) -> (Option<String>, Option<String>) {
    let words = frame.words;
    match &server.link {
        LinkState::Connecting => (Some(words.text("overview.connecting").to_owned()), None),
        LinkState::Down {
            trouble, retry_at, ..
        } => {
            let text = phrase("overview.link_down")
                .with("why", trouble.what.clone())
                .with("wait", retry_at.since(frame.now).or_zero());
            let hint = trouble.hint.as_ref().map(|hint| words.say(hint));
            let own = Some(trouble.detail.clone()).filter(|detail| !detail.is_empty());
            let detail: Vec<String> = hint.into_iter().chain(own).collect();
            (
                Some(words.say(&text)),
                (!detail.is_empty()).then(|| detail.join("\n")),
            )
        }
        LinkState::Up { .. } => match judged.role.is_replica() {
            // a replica without channels: say why its lag is unknown
            true => (
                judged.own_lag.headline.why().map(|why| words.say(why)),
                None,
            ),
            false => (stale(frame, judged), None),
        },
    }
}

fn facts(
    frame: &Frame<'_>,
    server: &Watched,
    sample: &Sample,
) -> Vec<(&'static str, String, String)> {
    let words = frame.words;
    let age = words.ago(frame.now.since(sample.answered_at).or_zero());
    let from = |what: &str| format!("{what} · {age}");
    let replicas = frame
        .store
        .wires()
        .iter()
        .filter(|wire| wire.source == server.watch())
        .count();
    let mut facts = vec![(
        "overview.writable",
        words.text(writable(sample)).to_owned(),
        from("read_only, super_read_only"),
    )];
    if replicas > 0 {
        facts.push((
            "overview.replicas",
            words.count(replicas as u64),
            from(words.text("overview.replicas_source")),
        ));
    }
    if let Some(at) = sample.binlog.value() {
        facts.push((
            "overview.binlog",
            format!("{}:{}", at.file, at.position),
            from("SHOW BINARY LOG STATUS"),
        ));
    }
    if let Some(executed) = &sample.gtid.executed {
        let text = executed.to_string();
        facts.push((
            "overview.executed",
            text.replace('\n', " "),
            from("gtid_executed"),
        ));
    }
    facts
}

fn writable(sample: &Sample) -> &'static str {
    match sample.is_writable() {
        Some(true) if sample.identity.read_only == Some(true) => "overview.writable_privileged",
        Some(true) => "overview.writable_yes",
        Some(false) => "overview.writable_no",
        None => "overview.untold",
    }
}

/// Answers with the height the card needs.
pub fn server_card_ui(
    ui: &mut Ui,
    card: &ServerCard,
    min_height: f32,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) -> f32 {
    let edge = Edge::Left(card.sign.color(palette(ui)));
    let shown = Card::new()
        .edge(edge)
        .min_height(min_height)
        .show(ui, |ui| {
            let top = ui.cursor().min.y;
            ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
            card_head_ui(ui, card.sign, &card.name, &card.kind);
            if let Some(remark) = &card.remark {
                ui.add(eframe::egui::Label::new(remark).wrap());
            }
            if let Some(detail) = &card.detail {
                ui.add(eframe::egui::Label::new(theme::note(ui, detail.as_str())).wrap());
            }
            if let Some(lamp) = &card.semi_sync {
                separator_ui(ui);
                lamp_ui(
                    ui,
                    lamp.sign,
                    frame.words.text(lamp.name),
                    &lamp.word,
                    &lamp.word,
                );
                separator_ui(ui);
            }
            facts_ui(ui, card, frame);
            foot_ui(ui, card, frame, actions);
            ui.min_rect().max.y.min(ui.cursor().min.y) - top
        });
    pointer::mark_of(ui, "overview_source", &card.server, shown.response.rect);
    shown.inner + 7.0 * UNIT
}

fn facts_ui(ui: &mut Ui, card: &ServerCard, frame: &Frame<'_>) {
    for (name, value, source) in &card.facts {
        let name = frame.words.text(name);
        // a long set is cut; all of it is in the hover text
        if value.len() > 24 {
            ui.label(theme::dim(ui, name));
            line_ui(ui, theme::mono(value), &format!("{value}\n{source}"));
        } else {
            fact_ui(
                ui,
                Fact {
                    name,
                    value,
                    source,
                    ..Fact::default()
                },
            );
        }
    }
}

fn foot_ui(ui: &mut Ui, card: &ServerCard, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    ui.horizontal(|ui| {
        details_button_ui(ui, &card.topology, &card.server, frame, actions);
        if let Some(set) = &card.executed {
            copy_button_ui(ui, words, words.text("overview.copy_executed"), || {
                set.clone()
            });
        } else if let Some(detail) = &card.detail {
            copy_button_ui(ui, words, words.text("overview.copy_error"), || {
                detail.clone()
            });
        }
    });
}
