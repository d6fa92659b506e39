//! The bar at the top: which topology this is, what is the case with it in one sentence, and how it is watched.

use eframe::egui::{Align, Label, Layout, RichText, Ui};

use super::icons::{Icon, icon_button_ui};
use super::{ShellData, ShellState, ShellState as State};
use crate::model::phrase::phrase;
use crate::model::preferences::{LanguageChoice, ThemeChoice};
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT, palette};
use crate::ui::widgets::{Sign, environment_badge_ui, sign_ui};
use crate::ui::{fonts, local_time};
use crate::words::Language;

/// The poll intervals to choose from.
pub const POLL_EVERY: [Span; 8] = [
    Span::from_millis(200),
    Span::from_millis(500),
    Span::from_secs(1),
    Span::from_secs(2),
    Span::from_secs(5),
    Span::from_secs(10),
    Span::from_secs(30),
    Span::from_secs(60),
];

const HEIGHT: f32 = 10.0 * UNIT;

pub fn top_ui(
    ui: &mut Ui,
    data: &ShellData,
    state: &mut State,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let wide = ui.available_width() > 620.0;
    ui.horizontal(|ui| {
        ui.set_min_height(HEIGHT);
        if icon_button_ui(
            ui,
            Icon::Tree,
            words.text("shell.tree"),
            words.text("shell.tree_hint"),
        )
        .clicked()
        {
            state.tree.toggle(wide);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            controls_ui(ui, data, state, frame, actions);
            if let Some(environment) = data.environment {
                ui.add_space(UNIT);
                environment_badge_ui(ui, words, environment);
                ui.add_space(UNIT);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                sentence_ui(ui, data, state, frame);
            });
        });
    });
}

fn sentence_ui(ui: &mut Ui, data: &ShellData, state: &ShellState, frame: &Frame<'_>) {
    let words = frame.words;
    let Some(name) = &data.name else {
        ui.label(RichText::new("Replicascope").font(fonts::semibold(theme::size::TITLE)));
        return;
    };
    ui.label(RichText::new(name).font(fonts::semibold(theme::size::TITLE)));
    ui.add_space(2.0 * UNIT);
    if let Some(since) = state.paused_since {
        let text = phrase("shell.paused_since").with("time", local_time::time_of_day(since));
        two_lines_ui(
            ui,
            frame,
            Sign::Stopped,
            &words.say(&text),
            Some(words.text("shell.paused.detail")),
        );
        return;
    }
    match &data.verdict {
        Some((sign, text, detail)) => two_lines_ui(ui, frame, *sign, text, detail.as_deref()),
        None => drop(ui.label(theme::dim(ui, words.text("shell.not_watched")))),
    }
}

fn two_lines_ui(ui: &mut Ui, frame: &Frame<'_>, sign: Sign, text: &str, detail: Option<&str>) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        // in the middle, whether one line or two
        let lines = if detail.is_some() { 2.0 } else { 1.0 };
        let line = ui.text_style_height(&eframe::egui::TextStyle::Body);
        ui.add_space(((HEIGHT - lines * line) / 2.0 - 2.0).max(0.0));
        ui.horizontal(|ui| {
            ui.spacing_mut().interact_size.y = line;
            ui.spacing_mut().item_spacing.x = 1.25 * UNIT;
            sign_ui(ui, frame.words, sign);
            ui.add(Label::new(theme::strong(text)).truncate())
                .on_hover_text(text);
        });
        if let Some(detail) = detail {
            ui.add(Label::new(theme::note(ui, detail)).truncate())
                .on_hover_text(detail);
        }
    });
}

/// Drawn from the right edge inwards.
fn controls_ui(
    ui: &mut Ui,
    data: &ShellData,
    state: &ShellState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    ui.spacing_mut().item_spacing.x = UNIT;
    language_ui(ui, frame, actions);
    theme_ui(ui, frame, actions);
    if !data.watched {
        return;
    }
    let Some(topology) = frame.topology else {
        return;
    };
    let words = frame.words;
    let (name, hint) = (
        words.text("shell.poll_now"),
        words.text("shell.poll_now_hint"),
    );
    if icon_button_ui(ui, Icon::Refresh, name, hint).clicked() {
        actions.push(Action::PollNow(topology.clone()));
    }
    interval_ui(ui, data, frame, actions);
    let paused = state.paused_since.is_some();
    let (icon, name) = match paused {
        true => (Icon::Play, words.text("shell.resume")),
        false => (Icon::Pause, words.text("shell.pause")),
    };
    if icon_button_ui(ui, icon, name, words.text("shell.pause_hint")).clicked() {
        actions.push(Action::Pause(!paused));
    }
}

fn interval_ui(ui: &mut Ui, data: &ShellData, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let (Some(intervals), Some(topology)) = (data.intervals, frame.topology) else {
        return;
    };
    let words = frame.words;
    let shown = format!("{} ▾", words.span(intervals.poll));
    let menu = ui.menu_button(shown, |ui| {
        ui.label(theme::note(ui, words.text("shell.poll_every")));
        for interval in POLL_EVERY {
            let chosen = interval == intervals.poll;
            if ui.selectable_label(chosen, words.span(interval)).clicked() {
                actions.push(Action::PollEvery {
                    topology: topology.clone(),
                    interval,
                });
                ui.close();
            }
        }
    });
    menu.response.on_hover_text(words.text("shell.poll_every"));
}

fn theme_ui(ui: &mut Ui, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    if icon_button_ui(
        ui,
        Icon::Theme,
        words.text("shell.theme"),
        words.text("shell.theme_hint"),
    )
    .clicked()
    {
        actions.push(Action::Theme(other_theme(ui.visuals().dark_mode)));
    }
}

/// One press changes what is seen, whatever the system says.
pub fn other_theme(dark: bool) -> ThemeChoice {
    match dark {
        true => ThemeChoice::Light,
        false => ThemeChoice::Dark,
    }
}

pub fn other_language(now: Language) -> LanguageChoice {
    match now {
        Language::English => LanguageChoice::Chinese,
        Language::SimplifiedChinese => LanguageChoice::English,
    }
}

fn language_ui(ui: &mut Ui, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    let text = RichText::new("文/A").color(palette(ui).dim);
    let button = eframe::egui::Button::new(text).frame_when_inactive(false);
    let response = ui
        .add(button)
        .on_hover_text(words.text("shell.language_hint"));
    if response.clicked() {
        actions.push(Action::Language(other_language(words.language())));
    }
}
