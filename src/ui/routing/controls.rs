//! What to compare over, and the button; before it the SQL, and on production the name to type.

use eframe::egui::{DragValue, Label, ProgressBar, ScrollArea, TextEdit, Ui};

use super::RoutingState;
use super::data::{Shown, StartProblem};
use crate::model::phrase::phrase;
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{
    Card, Sign, copy_button_ui, notice_ui, primary_button_ui, quiet_button_ui, segments_ui,
};

const RATES: [u32; 4] = [20, 50, 100, 200];

pub fn controls_ui(
    ui: &mut Ui,
    shown: &Shown,
    state: &mut RoutingState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    Card::new().show(ui, |ui| {
        ui.label(theme::title(words.text("rules.screen.title")));
        let about = theme::note(ui, words.text("rules.screen.about"));
        ui.add(Label::new(about).wrap());
        ui.add_space(UNIT);
        ui.horizontal_wrapped(|ui| choices_ui(ui, state, frame));
        ui.add_space(UNIT);
        match &shown.start {
            Err(StartProblem::NotAllowed) => {
                let (text, step) = ("rules.screen.not_allowed", "rules.screen.allow");
                if notice_ui(
                    ui,
                    Sign::NotApplicable,
                    words.text(text),
                    Some(words.text(step)),
                ) {
                    actions.push(Action::Show(Screen::Probe));
                }
            }
            Err(StartProblem::NothingToCompare) => {
                notice_ui(ui, Sign::Unknown, words.text("rules.plan.no_replica"), None);
            }
            Ok(()) => start_ui(ui, shown, state, frame, actions),
        }
        sql_ui(ui, shown, state, frame);
    });
}

fn choices_ui(ui: &mut Ui, state: &mut RoutingState, frame: &Frame<'_>) {
    let words = frame.words;
    ui.label(words.text("rules.screen.length"));
    let lengths = [10, 20, 60].map(Span::from_secs);
    let lengths = lengths.map(|span| (span, words.span(span)));
    segments_ui(ui, &mut state.length, &lengths);
    ui.add_space(2.0 * UNIT);
    let label = ui.label(words.text("rules.screen.rate"));
    let rates = RATES.map(|rate| (rate, words.rate(f64::from(rate))));
    segments_ui(ui, &mut state.rate, &rates);
    label.on_hover_text(words.text("rules.screen.rate_hover"));
    ui.add_space(2.0 * UNIT);
    let label = ui.label(words.text("rules.screen.spare"));
    let spare = DragValue::new(&mut state.spare)
        .range(0..=10_000)
        .suffix(words.text("rules.screen.per_second"));
    ui.add(spare)
        .labelled_by(label.id)
        .on_hover_text(words.text("rules.screen.spare_hover"));
}

fn start_ui(
    ui: &mut Ui,
    shown: &Shown,
    state: &mut RoutingState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    if let Some((done, planned)) = shown.running {
        ui.horizontal(|ui| {
            if ui.button(words.text("rules.screen.stop")).clicked() {
                actions.push(Action::StopComparing);
            }
            let share = done as f32 / planned.max(1) as f32;
            let text = phrase("rules.screen.progress")
                .with("done", words.count(done))
                .with("planned", planned);
            ui.add(
                ProgressBar::new(share)
                    .text(words.say(&text))
                    .desired_width(60.0 * UNIT),
            );
        });
        return;
    }
    let mut confirmed = true;
    if let Some(name) = &shown.must_type {
        ui.horizontal_wrapped(|ui| {
            let ask = phrase("rules.screen.type_name").with("name", name.as_str());
            let label = ui.label(words.say(&ask));
            let field = TextEdit::singleline(&mut state.typed).desired_width(40.0 * UNIT);
            ui.add(field).labelled_by(label.id);
        });
        confirmed = !name.trim().is_empty() && state.typed.trim() == name.trim();
    }
    let pressed = ui
        .add_enabled_ui(confirmed, |ui| {
            primary_button_ui(ui, words.text("rules.screen.start")).clicked()
        })
        .inner;
    if let Some(topology) = frame.topology.filter(|_| pressed) {
        actions.push(Action::Compare {
            topology: topology.clone(),
            length: state.length,
            rate: state.rate,
            spare_per_second: (state.spare > 0).then_some(state.spare),
            typed_name: std::mem::take(&mut state.typed),
        });
    }
}

fn sql_ui(ui: &mut Ui, shown: &Shown, state: &mut RoutingState, frame: &Frame<'_>) {
    let words = frame.words;
    let Some(sql) = &shown.sql else { return };
    ui.horizontal(|ui| {
        let key = match state.shows_sql {
            true => "rules.screen.hide_sql",
            false => "rules.screen.show_sql",
        };
        if quiet_button_ui(ui, words.text(key)).clicked() {
            state.shows_sql = !state.shows_sql;
        }
        copy_button_ui(ui, words, words.text("rules.screen.copy_sql"), || {
            sql.statements.clone()
        });
    });
    if state.shows_sql {
        ScrollArea::both()
            .id_salt("rules sql")
            .max_height(50.0 * UNIT)
            .show(ui, |ui| {
                ui.add(Label::new(theme::mono(sql.statements.as_str())).extend());
            });
        ui.horizontal_wrapped(|ui| {
            ui.label(theme::strong(words.text("probe.cli.grants")));
            let what = words.text("probe_screen.sql.copy_grant");
            copy_button_ui(ui, words, what, || sql.grant.clone());
        });
        ui.add(Label::new(theme::mono(&sql.grant)).wrap());
    }
}
