//! The settings: how the window looks, where our files are, and what stands behind the program.

use eframe::egui::{CentralPanel, Frame as Area, Label, Margin, ScrollArea, Slider, Ui};

use super::Frame;
use super::action::Action;
use super::profiles::{Keychain, News, Places, label_ui};
use super::theme::{self, UNIT};
use super::widgets::{Card, Sign, copy_button_ui, quiet_button_ui, segments_ui, sign_word_ui};
use crate::model::phrase::phrase;
use crate::model::preferences::{LanguageChoice, ThemeChoice, ZOOM_MAX, ZOOM_MIN};
use crate::words::Language;

/// The licence of the fonts in the program, as their authors ask it to be shown.
const FONT_LICENCE: &str = include_str!("../../../assets/fonts/OFL.txt");

#[derive(Clone, Debug, PartialEq)]
pub struct PreferencesData {
    pub language: LanguageChoice,
    pub theme: ThemeChoice,
    pub zoom: f32,
    pub version: &'static str,
}

impl PreferencesData {
    pub fn new(frame: &Frame<'_>) -> Self {
        let preferences = frame.preferences;
        PreferencesData {
            language: preferences.language,
            theme: preferences.theme,
            zoom: preferences.zoom,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

#[derive(Debug, Default)]
pub struct PreferencesState {
    places: Places,
    keychain: Keychain,
    shows_licence: bool,
    /// While the handle is held: the window must not grow under the mouse.
    zoom: Option<f32>,
}

impl PreferencesState {
    pub fn hear(&mut self, news: &News) {
        match news {
            News::Places(places) => self.places = places.clone(),
            News::Keychain(keychain) => self.keychain = keychain.clone(),
            _ => {}
        }
    }
}

pub fn preferences_ui(
    ui: &mut Ui,
    data: &PreferencesData,
    state: &mut PreferencesState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let words = frame.words;
    let margin = Margin::same((3.0 * UNIT) as i8);
    CentralPanel::no_frame()
        .frame(Area::new().inner_margin(margin))
        .show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.set_max_width(ui.available_width().min(180.0 * UNIT));
                ui.spacing_mut().item_spacing.y = 1.5 * UNIT;
                ui.label(theme::title(words.text("settings.screen.look")));
                Card::new().show(ui, |ui| look_ui(ui, data, state, frame, out));
                ui.add_space(UNIT);
                ui.label(theme::title(words.text("settings.screen.files")));
                Card::new().show(ui, |ui| files_ui(ui, state, frame));
                ui.add_space(UNIT);
                ui.label(theme::title(words.text("settings.screen.about")));
                Card::new().show(ui, |ui| about_ui(ui, data, state, frame));
            });
        });
}

fn look_ui(
    ui: &mut Ui,
    data: &PreferencesData,
    state: &mut PreferencesState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.horizontal(|ui| {
        label_ui(ui, words.text("settings.screen.language"));
        let mut language = data.language;
        let choices = [
            (
                LanguageChoice::Auto,
                words.text("settings.screen.language.auto").to_owned(),
            ),
            (
                LanguageChoice::English,
                Language::English.own_name().to_owned(),
            ),
            (
                LanguageChoice::Chinese,
                Language::SimplifiedChinese.own_name().to_owned(),
            ),
        ];
        if segments_ui(ui, &mut language, &choices) {
            out.push(Action::Language(language));
        }
    });
    ui.horizontal(|ui| {
        label_ui(ui, words.text("settings.screen.theme"));
        let mut theme = data.theme;
        let choices = [
            (
                ThemeChoice::Auto,
                words.text("settings.screen.theme.auto").to_owned(),
            ),
            (
                ThemeChoice::Light,
                words.text("settings.screen.theme.light").to_owned(),
            ),
            (
                ThemeChoice::Dark,
                words.text("settings.screen.theme.dark").to_owned(),
            ),
        ];
        if segments_ui(ui, &mut theme, &choices) {
            out.push(Action::Theme(theme));
        }
    });
    zoom_ui(ui, data, state, frame, out);
}

fn zoom_ui(
    ui: &mut Ui,
    data: &PreferencesData,
    state: &mut PreferencesState,
    frame: &Frame<'_>,
    out: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.horizontal(|ui| {
        let label = label_ui(ui, words.text("settings.screen.zoom"));
        let mut zoom = state.zoom.unwrap_or(data.zoom);
        let slider = Slider::new(&mut zoom, ZOOM_MIN..=ZOOM_MAX)
            .step_by(0.05)
            .custom_formatter(|zoom, _| format!("{:.0} %", zoom * 100.0))
            .custom_parser(|text| {
                Some(text.trim_end_matches(['%', ' ']).parse::<f64>().ok()? / 100.0)
            });
        // the rail would be as dark as the card it lies on
        let rail = theme::palette(ui).line;
        let shown = ui.scope(|ui| {
            ui.visuals_mut().widgets.inactive.bg_fill = rail;
            ui.spacing_mut().slider_width = 45.0 * UNIT;
            ui.add(slider)
        });
        let response = shown.inner.labelled_by(label);
        if response.dragged() {
            state.zoom = Some(zoom);
        } else if response.changed() || response.drag_stopped() {
            state.zoom = None;
            out.push(Action::Zoom(zoom));
        }
        if data.zoom != 1.0
            && quiet_button_ui(ui, words.text("settings.screen.zoom.reset")).clicked()
        {
            out.push(Action::Zoom(1.0));
        }
    });
    ui.label(theme::note(ui, words.text("settings.screen.zoom.keys")));
}

fn files_ui(ui: &mut Ui, state: &PreferencesState, frame: &Frame<'_>) {
    let words = frame.words;
    for (key, path) in [
        ("settings.screen.profiles_file", &state.places.profiles_file),
        (
            "settings.screen.preferences_file",
            &state.places.preferences_file,
        ),
    ] {
        ui.horizontal(|ui| {
            label_ui(ui, words.text(key));
            let Some(path) = path else {
                sign_word_ui(ui, Sign::Warning, words.text("settings.screen.no_home"));
                return;
            };
            let copy = phrase("settings.screen.copy_path").with("path", path.as_str());
            copy_button_ui(ui, words, &words.say(&copy), || path.clone());
            ui.add(Label::new(theme::mono(path)).truncate().selectable(true));
        });
    }
    ui.horizontal(|ui| {
        label_ui(ui, words.text("settings.screen.keychain"));
        match &state.keychain {
            Keychain::Asking => {
                sign_word_ui(
                    ui,
                    Sign::Unknown,
                    words.text("settings.screen.keychain.asking"),
                );
            }
            Keychain::Available => {
                sign_word_ui(ui, Sign::Ok, words.text("settings.screen.keychain.there"));
            }
            Keychain::Unavailable(_) => {
                sign_word_ui(
                    ui,
                    Sign::Warning,
                    words.text("settings.screen.keychain.none"),
                );
            }
        }
    });
    if let Keychain::Unavailable(why) = &state.keychain {
        ui.add(Label::new(theme::note(ui, words.say(why))).wrap());
    }
    ui.add(Label::new(theme::note(ui, words.text("settings.screen.passwords"))).wrap());
}

fn about_ui(ui: &mut Ui, data: &PreferencesData, state: &mut PreferencesState, frame: &Frame<'_>) {
    let words = frame.words;
    ui.horizontal(|ui| {
        label_ui(ui, words.text("settings.screen.version"));
        ui.label(format!("Replicascope {}", data.version));
    });
    ui.add(Label::new(theme::note(ui, words.text("settings.screen.fonts"))).wrap());
    let key = match state.shows_licence {
        true => "settings.screen.licence.hide",
        false => "settings.screen.licence.show",
    };
    if quiet_button_ui(ui, words.text(key)).clicked() {
        state.shows_licence = !state.shows_licence;
    }
    if state.shows_licence {
        ui.add(
            Label::new(theme::mono(FONT_LICENCE.trim()))
                .wrap()
                .selectable(true),
        );
    }
}
