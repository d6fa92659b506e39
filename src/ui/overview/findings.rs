//! What the rules found, the gravest first: one line each, and unfolded the figures it rests on, what to do, and the
//! statements to copy.

use eframe::egui::{Label, RichText, Ui};

use super::OverviewState;
use super::card::line_ui;
use crate::model::finding::{Finding, Subject};
use crate::model::profile::{ServerId, TopologyId};
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT, palette};
use crate::ui::widgets::{Card, Sign, copy_button_ui, quiet_button_ui, sign_ui};

/// So many are always in sight.
const AT_ONCE: usize = 3;

/// One finding in words.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingRow {
    /// Tells it apart from the others as long as it holds.
    pub key: String,
    pub sign: Sign,
    pub text: String,
    /// The server's name, unless the text says it.
    pub server: Option<String>,
    pub select: Option<(TopologyId, ServerId)>,
    pub evidence: Vec<String>,
    pub advice: Option<String>,
    pub sql: Option<String>,
}

pub fn finding_rows(frame: &Frame<'_>, findings: &[Finding]) -> Vec<FindingRow> {
    findings.iter().map(|finding| row(frame, finding)).collect()
}

fn row(frame: &Frame<'_>, finding: &Finding) -> FindingRow {
    let words = frame.words;
    let text = words.say(&finding.text);
    let server = finding
        .subject
        .watch()
        .and_then(|watch| frame.store.watched(watch))
        .map(|server| &server.registration);
    let name = match &finding.subject {
        Subject::Channel(_, channel) if !channel.is_empty() => {
            server.map(|s| format!("{} · {channel}", s.name))
        }
        _ => server.map(|s| s.name.clone()),
    };
    FindingRow {
        key: format!("{} {:?}", finding.code, finding.subject),
        sign: Sign::from(finding.severity),
        server: name.filter(|name| !text.contains(name.as_str())),
        select: server.map(|s| (s.topology.clone(), s.server.clone())),
        text,
        evidence: finding.evidence.iter().map(|e| words.say(e)).collect(),
        advice: finding.advice.as_ref().map(|a| words.say(a)),
        sql: finding.sql.clone(),
    }
}

pub fn findings_ui(
    ui: &mut Ui,
    findings: &[FindingRow],
    state: &mut OverviewState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    if findings.is_empty() {
        return;
    }
    let words = frame.words;
    let shown = match state.all_findings {
        true => findings.len(),
        false => findings.len().min(AT_ONCE),
    };
    Card::new().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.spacing_mut().interact_size.y = 5.5 * UNIT;
        ui.spacing_mut().button_padding.y = 0.0;
        for finding in &findings[..shown] {
            finding_ui(ui, finding, state, frame, actions);
        }
        if findings.len() > AT_ONCE {
            let more = findings.len() - AT_ONCE;
            let text = match state.all_findings {
                true => words.text("overview.findings.fewer").to_owned(),
                false => words.say(
                    &crate::model::phrase::phrase("overview.findings.more").with("n", more as u64),
                ),
            };
            if quiet_button_ui(ui, &text).clicked() {
                state.all_findings = !state.all_findings;
            }
        }
    });
}

fn finding_ui(
    ui: &mut Ui,
    finding: &FindingRow,
    state: &mut OverviewState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let unfolded = state.unfolded.contains(&finding.key);
    ui.push_id(&finding.key, |ui| {
        ui.horizontal(|ui| {
            sign_ui(ui, words, finding.sign);
            if let Some(server) = &finding.server {
                let name = ui.add(eframe::egui::Button::new(theme::strong(server)).frame(false));
                if name.clicked()
                    && let Some((topology, server)) = &finding.select
                {
                    actions.push(Action::Select {
                        topology: topology.clone(),
                        server: server.clone(),
                    });
                }
            }
            ui.with_layout(
                eframe::egui::Layout::right_to_left(eframe::egui::Align::Center),
                |ui| {
                    let word = words.text(match unfolded {
                        true => "overview.findings.fold",
                        false => "overview.findings.unfold",
                    });
                    if !finding.is_bare() && quiet_button_ui(ui, word).clicked() {
                        toggle(state, &finding.key);
                    }
                    ui.with_layout(
                        eframe::egui::Layout::left_to_right(eframe::egui::Align::Center),
                        |ui| {
                            line_ui(ui, RichText::new(&finding.text), &finding.text);
                        },
                    );
                },
            );
        });
        if unfolded {
            ui.indent("details", |ui| details_ui(ui, finding, frame));
        }
    });
}

impl FindingRow {
    fn is_bare(&self) -> bool {
        self.evidence.is_empty() && self.advice.is_none() && self.sql.is_none()
    }
}

fn toggle(state: &mut OverviewState, key: &str) {
    if !state.unfolded.remove(key) {
        state.unfolded.insert(key.to_owned());
    }
}

fn details_ui(ui: &mut Ui, finding: &FindingRow, frame: &Frame<'_>) {
    let words = frame.words;
    for evidence in &finding.evidence {
        ui.add(Label::new(theme::note(ui, format!("• {evidence}"))).wrap());
    }
    if let Some(advice) = &finding.advice {
        ui.add(Label::new(advice).wrap());
    }
    if let Some(sql) = &finding.sql {
        let fill = palette(ui).field;
        eframe::egui::Frame::new()
            .fill(fill)
            .inner_margin(2.0 * UNIT)
            .corner_radius(theme::SMALL_CORNER)
            .show(ui, |ui| {
                ui.add(Label::new(theme::mono(sql)).wrap().selectable(true));
            });
        copy_button_ui(ui, words, words.text("overview.copy_sql"), || sql.clone());
    }
}
