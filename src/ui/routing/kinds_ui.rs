//! Draws the table of query kinds: where each goes, with which limit, and what was asserted of it.

use eframe::egui::accesskit::Role;
use eframe::egui::{ComboBox, DragValue, Grid, Label, Ui, WidgetInfo};

use super::RoutingState;
use super::data::{KindLine, Shown};
use super::kinds::{KindSetting, KindTable, KindTarget, target_name};
use crate::model::phrase::phrase;
use crate::model::profile::{ServerId, TopologyId};
use crate::model::time::Span;
use crate::routing::QueryKind;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Sign, notice_ui, quiet_button_ui, sign_ui, sign_word_ui};
use crate::words::Catalogue;

/// No rule lets more through.
const HIGHEST_LIMIT_MS: i64 = 3_600_000;

pub fn kinds_ui(
    ui: &mut Ui,
    shown: &Shown,
    state: &mut RoutingState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.label(theme::title(words.text("rules.kind.title")));
    let Some(topology) = frame.topology else {
        return;
    };
    Card::new().show(ui, |ui| {
        let about = theme::note(ui, words.text("rules.kind.about"));
        ui.add(Label::new(about).wrap());
        ui.add_space(UNIT);
        let mut table = shown.kinds.table.clone();
        table_ui(ui, &shown.kinds.lines, &mut table, &shown.replicas, words);
        ui.add_space(UNIT);
        if !shown.kinds.is_taken {
            for why in shown
                .kinds
                .lines
                .iter()
                .filter_map(|line| line.why.as_ref())
            {
                ui.horizontal_top(|ui| {
                    sign_ui(ui, words, Sign::Critical);
                    ui.add(Label::new(why).wrap());
                });
            }
            let text = words.text("rules.kind.not_taken");
            notice_ui(ui, Sign::Critical, text, None);
        }
        let is_default = table == KindTable::default();
        let reset = ui.add_enabled_ui(!is_default, |ui| {
            quiet_button_ui(ui, words.text("rules.kind.reset")).clicked()
        });
        if reset.inner {
            table = KindTable::default();
        }
        if table != shown.kinds.table {
            changed(topology, table, state, frame, actions);
        }
    });
}

/// A table that holds is taken at once; another one is only shown.
fn changed(
    topology: &TopologyId,
    table: KindTable,
    state: &mut RoutingState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    if table.holds(&|server| super::data::watch_of(frame, topology, server)) {
        let kept = state.board.kept.entry(topology.clone()).or_default();
        kept.kinds = table;
        state.edited = None;
        actions.push(Action::KeepKinds(topology.clone()));
    } else {
        state.edited = Some((topology.clone(), table));
    }
}

fn table_ui(
    ui: &mut Ui,
    lines: &[KindLine],
    table: &mut KindTable,
    replicas: &[(ServerId, String)],
    words: &Catalogue,
) {
    let mut targets = vec![KindTarget::Source, KindTarget::HealthyReplica];
    targets.extend(replicas.iter().map(|(id, _)| KindTarget::Only(id.clone())));
    let choices: Vec<(KindTarget, String)> = targets
        .into_iter()
        .map(|target| {
            let name = words.say(&target_name(&target, replicas));
            (target, name)
        })
        .collect();
    Grid::new("kinds")
        .num_columns(5)
        .spacing([3.0 * UNIT, UNIT])
        .show(ui, |ui| {
            for key in [
                "rules.kind.kind",
                "rules.kind.goes_to",
                "rules.kind.limit",
                "rules.kind.asserted",
            ] {
                ui.label(theme::note(ui, words.text(key)));
            }
            ui.end_row();
            let settings = table.lines_mut().into_iter();
            for ((kind, setting), line) in settings.zip(lines) {
                line_ui(ui, &kind, setting, line, &choices, words);
                ui.end_row();
            }
            ui.label(words.text("rules.kind.other"));
            ui.label(words.text("rules.route.source"));
            ui.label("");
            ui.label(words.text("rules.route.source"));
            sign_word_ui(ui, Sign::Ok, words.text("rules.kind.holds"));
            ui.end_row();
        });
}

fn line_ui(
    ui: &mut Ui,
    kind: &QueryKind,
    setting: &mut KindSetting,
    line: &KindLine,
    choices: &[(KindTarget, String)],
    words: &Catalogue,
) {
    ui.label(&line.kind);
    ui.push_id(("goes", kind.code()), |ui| {
        target_ui(ui, &line.kind, &mut setting.goes_to, choices);
    });
    match setting.goes_to {
        KindTarget::Source => drop(ui.label("–")),
        KindTarget::HealthyReplica | KindTarget::Only(_) => limit_ui(ui, &mut setting.limit, words),
    }
    // Whatever a table says, no rule lets a write leave the source; so neither may be asserted otherwise.
    match kind {
        QueryKind::Write => drop(ui.label(words.text("rules.route.source"))),
        _ => {
            let name = phrase("rules.kind.asserted_of").with("kind", line.kind.as_str());
            let name = words.say(&name);
            ui.push_id(("asserted", kind.code()), |ui| {
                target_ui(ui, &name, &mut setting.asserted, choices);
            });
        }
    }
    ui.scope(|ui| {
        sign_word_ui(ui, line.sign, line.verdict.as_str());
    });
}

/// The name stands beside it already; it is for those who hear the screen read.
fn target_ui(ui: &mut Ui, name: &str, target: &mut KindTarget, choices: &[(KindTarget, String)]) {
    let now = choices.iter().find(|(choice, _)| choice == target);
    let value = now.map_or("—", |(_, text)| text.as_str()).to_owned();
    let shown = ComboBox::from_id_salt("target")
        .width(0.0)
        .selected_text(&value)
        .show_ui(ui, |ui| {
            for (choice, text) in choices {
                ui.selectable_value(target, choice.clone(), text);
            }
        });
    let label = format!("{name}: {value}");
    shown
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
}

fn limit_ui(ui: &mut Ui, limit: &mut Span, words: &Catalogue) {
    let mut millis = limit.micros() / 1_000;
    let field = DragValue::new(&mut millis)
        .range(1..=HIGHEST_LIMIT_MS)
        .suffix(format!(" {}", words.text("rules.kind.ms")));
    if ui
        .add(field)
        .on_hover_text(words.text("rules.kind.limit_hover"))
        .changed()
    {
        *limit = Span::from_millis(millis);
    }
}
