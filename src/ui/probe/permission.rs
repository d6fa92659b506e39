//! Before anything is written: every statement, what the account needs, and on production the name typed.

use eframe::egui::{Label, RichText, Stroke, TextEdit, Ui};

use super::ProbeState;
use super::data::{Scene, SqlData, SqlLine};
use crate::model::phrase::phrase;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{
    BadgeTone, Card, Sign, badge_ui, copy_button_ui, primary_button_ui, sign_word_ui,
};
use crate::words::Catalogue;

/// Read-only until the person has seen the SQL and says so.
pub fn permission_ui(
    ui: &mut Ui,
    scene: &Scene,
    state: &mut ProbeState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    Card::new().show(ui, |ui| {
        let title = phrase("probe_screen.permission.title").with("name", scene.name.as_str());
        ui.label(theme::title(words.say(&title)));
        let text = theme::dim(ui, words.text("probe_screen.permission.text"));
        ui.add(Label::new(text).wrap());
        ui.add_space(UNIT);
        if scene.is_guarded {
            typed_ui(ui, scene, state, words);
        }
        ui.horizontal_wrapped(|ui| {
            let is_typed = !scene.is_guarded || state.typed.trim() == scene.name.trim();
            ui.add_enabled_ui(is_typed && scene.sql.is_some(), |ui| {
                if primary_button_ui(ui, words.text("probe_screen.permission.enable")).clicked() {
                    actions.push(Action::EnableWrites {
                        topology: scene.topology.clone(),
                        typed: std::mem::take(&mut state.typed),
                        remember: state.remember,
                    });
                }
            });
            if !scene.is_saved && !scene.is_guarded {
                let text = words.text("probe_screen.permission.remember");
                ui.scope(|ui| {
                    let line = Stroke::new(1.0, theme::palette(ui).dim);
                    ui.visuals_mut().widgets.inactive.bg_stroke = line;
                    ui.checkbox(&mut state.remember, text);
                });
            }
        });
    });
    sql_card_ui(ui, scene, frame);
}

fn typed_ui(ui: &mut Ui, scene: &Scene, state: &mut ProbeState, words: &Catalogue) {
    let palette = theme::palette(ui);
    let warning = words.text("probe_screen.permission.production");
    sign_word_ui(
        ui,
        Sign::Warning,
        theme::strong(warning).color(palette.warning),
    );
    ui.horizontal(|ui| {
        let ask = phrase("probe_screen.permission.type").with("name", scene.name.as_str());
        let label = ui.label(words.say(&ask));
        let field = TextEdit::singleline(&mut state.typed).desired_width(50.0 * UNIT);
        ui.add(field).labelled_by(label.id);
    });
}

/// Nothing was run yet: what the buttons above will do.
pub fn before_first_ui(ui: &mut Ui, scene: &Scene, frame: &Frame<'_>) {
    let words = frame.words;
    Card::new().show(ui, |ui| {
        ui.label(theme::title(words.text("probe_screen.before.title")));
        let text = theme::dim(ui, words.text("probe_screen.before.text"));
        ui.add(Label::new(text).wrap());
    });
    sql_card_ui(ui, scene, frame);
}

pub fn sql_card_ui(ui: &mut Ui, scene: &Scene, frame: &Frame<'_>) {
    let words = frame.words;
    Card::new().show(ui, |ui| {
        let Some(sql) = &scene.sql else {
            ui.label(theme::dim(ui, words.text("probe_screen.sql.not_yet")));
            return;
        };
        ui.horizontal(|ui| {
            ui.label(theme::strong(words.text("probe_screen.sql.title")));
            let what = words.text("probe_screen.sql.copy");
            copy_button_ui(ui, words, what, || sql.text.clone());
        });
        statements_ui(ui, sql, words);
        ui.add_space(UNIT);
        ui.label(theme::strong(words.text("probe.cli.grants")));
        ui.horizontal_wrapped(|ui| {
            ui.add(Label::new(theme::mono(&sql.grant)));
            let what = words.text("probe_screen.sql.copy_grant");
            copy_button_ui(ui, words, what, || sql.grant.clone());
        });
    });
}

fn statements_ui(ui: &mut Ui, sql: &SqlData, words: &Catalogue) {
    for (flavour, lines) in &sql.flavours {
        if sql.flavours.len() > 1 {
            ui.label(theme::note(ui, *flavour));
        }
        lines_ui(ui, lines, words);
    }
}

/// Room for where a statement goes, so that the statements stand under each other.
const BADGE: f32 = 26.0 * UNIT;

/// Each with where it goes and whether it changes something.
pub fn lines_ui(ui: &mut Ui, lines: &[SqlLine], words: &Catalogue) {
    ui.spacing_mut().item_spacing.y = 0.75 * UNIT;
    for line in lines {
        ui.horizontal_top(|ui| {
            let (word, tone) = match line.changes_something {
                true => ("probe_screen.sql.writes", BadgeTone::Accent),
                false => ("probe_screen.sql.reads", BadgeTone::Quiet),
            };
            let badge = format!("{} · {}", line.on, words.text(word));
            let left = ui.cursor().min.x;
            badge_ui(ui, &badge, tone);
            let used = ui.cursor().min.x - left;
            ui.add_space((BADGE - used).max(0.0));
            let color = match line.changes_something {
                true => theme::palette(ui).text,
                false => theme::palette(ui).dim,
            };
            let text: RichText = theme::mono(&line.sql).color(color);
            ui.add(Label::new(text).wrap());
        });
    }
}
