//! The preferences on disk: `preferences.toml` in the config folder.
//!
//! Less is at stake than with profiles: a value that makes no sense becomes the default, and the person is told. Keys
//! this version does not know stay in the file.

use super::file::{self, Content, SettingsFile, VERSION};
use super::notice::{Damage, Notice, SaveError};
use super::paths;
use crate::model::phrase::phrase;
use crate::model::preferences::*;
use crate::model::profile::TopologyId;
use std::path::Path;
use toml::{Table, Value};

const HEADER: &str =
    "# Replicascope: how the window looks. Rewritten by the program; comments are not kept.\n";
const LANGUAGES: [(&str, LanguageChoice); 3] = [
    ("auto", LanguageChoice::Auto),
    ("en", LanguageChoice::English),
    ("zh", LanguageChoice::Chinese),
];
const THEMES: [(&str, ThemeChoice); 3] = [
    ("auto", ThemeChoice::Auto),
    ("light", ThemeChoice::Light),
    ("dark", ThemeChoice::Dark),
];

/// `preferences.toml`, as we last saw it.
#[derive(Debug)]
pub struct PreferenceStore {
    file: SettingsFile,
    unknown: Table,
}

/// Reads the preferences of a config folder; a damaged file is moved aside. Never fails: what cannot be read is told.
pub fn load(config_dir: &Path) -> (PreferenceStore, Preferences, Vec<Notice>) {
    let (mut file, content) = SettingsFile::open(paths::preferences_file(config_dir));
    let told = file::notice(file.path(), &content);
    let mut notices = Vec::new();
    let mut table = Table::new();
    match content {
        Content::Text(text) => match text.parse::<Table>() {
            Ok(read) => table = read,
            Err(error) => notices.push(file.put_damaged_aside(&Damage::toml(&text, &error))),
        },
        Content::Damaged(damage) => notices.push(file.put_damaged_aside(&damage)),
        _ => notices.extend(told),
    }
    let preferences = take_preferences(&mut table, &mut notices);
    table.remove("version");
    let store = PreferenceStore {
        file,
        unknown: table,
    };
    (store, preferences, notices)
}

impl PreferenceStore {
    pub fn changed_on_disk(&self) -> bool {
        self.file.changed_on_disk()
    }

    /// Replaces the file in one step, unless somebody else changed it or it must not be touched.
    pub fn save(&mut self, preferences: &Preferences) -> Result<(), SaveError> {
        let mut table = self.unknown.clone();
        put_preferences(&mut table, preferences);
        let text = toml::to_string_pretty(&table).map_err(|_| SaveError::NotFaithful {
            path: self.file.path().to_owned(),
        })?;
        self.file.write(&format!("{HEADER}{text}"))
    }
}

/// Takes what it understands out of `table` and leaves the rest.
fn take_preferences(table: &mut Table, notices: &mut Vec<Notice>) -> Preferences {
    let default = Preferences::default();
    let mut take = |key: &'static str| table.remove(key);
    let mut wrong = |key: &'static str| {
        notices.push(Notice::hint(
            phrase("settings.preference.wrong").with("key", key),
        ));
    };
    let mut preferences = default.clone();
    match take("language").map(|v| word(&LANGUAGES, &v)) {
        Some(Some(language)) => preferences.language = language,
        Some(None) => wrong("language"),
        None => {}
    }
    match take("theme").map(|v| word(&THEMES, &v)) {
        Some(Some(theme)) => preferences.theme = theme,
        Some(None) => wrong("theme"),
        None => {}
    }
    match take("zoom").map(|v| number(&v)) {
        Some(Some(zoom)) if (ZOOM_MIN..=ZOOM_MAX).contains(&zoom) => preferences.zoom = zoom,
        Some(_) => wrong("zoom"),
        None => {}
    }
    match take("last_topology") {
        Some(Value::String(id)) => preferences.last_topology = Some(TopologyId(id)),
        Some(_) => wrong("last_topology"),
        None => {}
    }
    match take("window").map(|v| window(&v)) {
        Some(Some(size)) => preferences.window = Some(size),
        Some(None) => wrong("window"),
        None => {}
    }
    preferences
}

fn put_preferences(table: &mut Table, preferences: &Preferences) {
    let mut put = |key: &str, value: Value| {
        table.insert(key.to_owned(), value);
    };
    put("version", Value::Integer(VERSION));
    put(
        "language",
        Value::String(spelling(&LANGUAGES, preferences.language)),
    );
    put("theme", Value::String(spelling(&THEMES, preferences.theme)));
    put("zoom", Value::Float(short(preferences.zoom)));
    if let Some(id) = &preferences.last_topology {
        put("last_topology", Value::String(id.0.clone()));
    }
    if let Some(size) = preferences.window {
        let mut window = Table::new();
        window.insert("width".into(), Value::Float(short(size.width)));
        window.insert("height".into(), Value::Float(short(size.height)));
        window.insert("maximized".into(), Value::Boolean(size.maximized));
        put("window", Value::Table(window));
    }
}

fn word<T: Copy>(words: &[(&str, T)], value: &Value) -> Option<T> {
    let text = value.as_str()?;
    words
        .iter()
        .find(|(spelling, _)| *spelling == text)
        .map(|(_, word)| *word)
}

fn spelling<T: PartialEq>(words: &[(&str, T)], word: T) -> String {
    let found = words.iter().find(|(_, w)| *w == word);
    found.map_or("auto", |(spelling, _)| spelling).to_owned()
}

/// Finite and below any screen's size.
fn number(value: &Value) -> Option<f32> {
    let number = match value {
        Value::Float(number) => *number as f32,
        Value::Integer(number) => *number as f32,
        _ => return None,
    };
    (number.is_finite() && number.abs() < 100_000.0).then_some(number)
}

/// 1.1, not 1.100000023841858.
fn short(number: f32) -> f64 {
    (f64::from(number) * 100.0).round() / 100.0
}

fn window(value: &Value) -> Option<WindowSize> {
    let side = |key| number(value.get(key)?).filter(|n| *n >= 100.0);
    Some(WindowSize {
        width: side("width")?,
        height: side("height")?,
        maximized: value
            .get("maximized")
            .and_then(Value::as_bool)
            .unwrap_or(false),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn keys(notices: &[Notice]) -> Vec<&'static str> {
        notices.iter().map(|n| n.text.key).collect()
    }

    #[test]
    fn preferences_come_back_as_saved() {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, preferences, notices) = load(dir.path());
        assert_eq!((preferences, notices), (Preferences::default(), vec![]));

        let mine = Preferences {
            language: LanguageChoice::Chinese,
            theme: ThemeChoice::Dark,
            zoom: 1.1,
            last_topology: Some(TopologyId("shop".into())),
            window: Some(WindowSize {
                width: 1280.0,
                height: 800.0,
                maximized: true,
            }),
        };
        store.save(&mine).unwrap();
        let (_, read, notices) = load(dir.path());
        assert_eq!((read, notices), (mine, vec![]));
        let text = fs::read_to_string(paths::preferences_file(dir.path())).unwrap();
        assert!(text.contains("zoom = 1.1\n"), "{text}");
    }

    #[test]
    fn values_that_make_no_sense_become_defaults_and_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let text = "language = 'klingon'\ntheme = 'dark'\nzoom = nan\nlast_topology = 3\nwindow = {width = 1e30}\nlater = 1979-05-27\n";
        fs::write(paths::preferences_file(dir.path()), text).unwrap();
        let (mut store, read, notices) = load(dir.path());
        let expected = Preferences {
            theme: ThemeChoice::Dark,
            ..Preferences::default()
        };
        assert_eq!(read, expected);
        assert_eq!(keys(&notices), ["settings.preference.wrong"; 4]);

        store.save(&read).unwrap();
        let text = fs::read_to_string(paths::preferences_file(dir.path())).unwrap();
        assert!(
            text.contains("later = 1979-05-27"),
            "unknown keys stay: {text}"
        );
    }

    #[test]
    fn a_newer_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = paths::preferences_file(dir.path());
        fs::write(&path, "version = 7\nlanguage = 'zh'\n").unwrap();
        let (mut store, read, notices) = load(dir.path());
        assert_eq!(read, Preferences::default());
        assert_eq!(keys(&notices), ["settings.file.newer"]);
        assert!(matches!(
            store.save(&read),
            Err(SaveError::Newer { version: 7, .. })
        ));
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "version = 7\nlanguage = 'zh'\n"
        );
    }
}
