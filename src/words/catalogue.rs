//! The message catalogue of one language: keys, sentences with `{placeholders}`, plural forms.
//!
//! A file of the catalogue is TOML with flat dotted keys, one sentence a line:
//!
//! ```toml
//! lag.why.applier_stopped = "the applier is stopped"
//! backlog.waiting.one = "1 transaction waiting"
//! backlog.waiting.other = "{n} transactions waiting"
//! ```
//!
//! Where a key begins another one (`trouble.hangs`, `trouble.hangs.hint`), the longer is written in quotes.
//!
//! A key with plural forms is named without its ending (`backlog.waiting`); the argument `n` decides, or else the first
//! count. Chinese has no plural and writes the key without an ending.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Language;
use crate::model::phrase::{Arg, Phrase};

/// Everything that can be said in one language. Parsed once, then looked up each frame.
#[derive(Debug)]
pub struct Catalogue {
    language: Language,
    sentences: HashMap<String, String>,
    gap: Gap,
}

/// What stands between a number and its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Gap {
    #[default]
    Space,
    NoBreak,
}

/// The files of one language, each about one part of the program.
macro_rules! files {
    ($folder:literal: $($file:literal),*) => {
        [$(($file, include_str!(concat!("../../assets/i18n/", $folder, "/", $file)))),*]
    };
}

static ENGLISH: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::embedded(
        Language::English,
        &files!("en": "accept.toml", "common.toml", "detail.toml", "finding.toml", "forms.toml", "headless.toml", "lab.toml", "lab_screen.toml", "lesson.toml", "probe.toml", "probe_screen.toml", "routing.toml", "rules.toml", "shell.toml", "trouble.toml"),
    )
});
static SIMPLIFIED_CHINESE: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::embedded(
        Language::SimplifiedChinese,
        &files!("zh-CN": "accept.toml", "common.toml", "detail.toml", "finding.toml", "forms.toml", "headless.toml", "lab.toml", "lab_screen.toml", "lesson.toml", "probe.toml", "probe_screen.toml", "routing.toml", "rules.toml", "shell.toml", "trouble.toml"),
    )
});
static WINDOW_ENGLISH: LazyLock<Catalogue> = LazyLock::new(|| ENGLISH.unbroken());
static WINDOW_CHINESE: LazyLock<Catalogue> = LazyLock::new(|| SIMPLIFIED_CHINESE.unbroken());

impl Catalogue {
    /// The catalogue of a language.
    pub fn of(language: Language) -> &'static Catalogue {
        match language {
            Language::English => &ENGLISH,
            Language::SimplifiedChinese => &SIMPLIFIED_CHINESE,
        }
    }

    /// The same for where lines are broken to fit: no number is parted from its unit.
    pub fn in_window(language: Language) -> &'static Catalogue {
        match language {
            Language::English => &WINDOW_ENGLISH,
            Language::SimplifiedChinese => &WINDOW_CHINESE,
        }
    }

    fn unbroken(&self) -> Self {
        let sentences = self.sentences.iter();
        Catalogue {
            language: self.language,
            sentences: sentences
                .map(|(key, sentence)| (key.clone(), unbroken(sentence)))
                .collect(),
            gap: Gap::NoBreak,
        }
    }

    /// A number and its units as one word, where lines are broken.
    pub(super) fn as_one(&self, number: String) -> String {
        match self.gap {
            Gap::Space => number,
            Gap::NoBreak => number.replace(' ', NO_BREAK),
        }
    }

    /// The embedded files are part of the program: one that cannot be read, or that says a key another file has said,
    /// is a mistake in it and stops every test.
    fn embedded(language: Language, files: &[(&str, &str)]) -> Self {
        let mut sentences = HashMap::new();
        for (file, toml) in files {
            let path = format!("assets/i18n/{}/{file}", language.tag());
            let part =
                Self::parse(language, toml).unwrap_or_else(|error| panic!("{path}: {error}"));
            for (key, sentence) in part.sentences {
                let twice = sentences.insert(key.clone(), sentence);
                assert!(twice.is_none(), "{path}: {key} stands in another file too");
            }
        }
        Catalogue {
            language,
            sentences,
            gap: Gap::Space,
        }
    }

    /// Reads a catalogue file.
    pub fn parse(language: Language, toml: &str) -> Result<Self, toml::de::Error> {
        let mut sentences = HashMap::new();
        flatten("", toml::from_str(toml)?, &mut sentences);
        Ok(Catalogue {
            language,
            sentences,
            gap: Gap::Space,
        })
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// Every key with its sentence, plural endings included, in no order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sentences.iter().map(|(k, s)| (k.as_str(), s.as_str()))
    }

    /// A sentence without arguments. A key nobody wrote a sentence for is shown as it is, so that it is seen.
    pub fn text<'a>(&'a self, key: &'a str) -> &'a str {
        self.sentence(key).unwrap_or(key)
    }

    /// A phrase as text.
    pub fn say(&self, phrase: &Phrase) -> String {
        let plain = self.sentence(phrase.key);
        let template = plain.or_else(|| self.plural(phrase)).unwrap_or(phrase.key);
        fill(template, |name| phrase.arg(name).map(|arg| self.word(arg)))
    }

    /// A value of a phrase as text.
    pub fn word(&self, arg: &Arg) -> String {
        match arg {
            Arg::Text(text) => text.clone(),
            Arg::Count(count) => self.count(*count),
            Arg::Number(number) => number.to_string(),
            Arg::Span(span) => self.span(*span),
            Arg::Bytes(bytes) => self.bytes(*bytes),
            Arg::Phrase(phrase) => self.say(phrase),
        }
    }

    fn sentence(&self, key: &str) -> Option<&str> {
        self.sentences.get(key).map(String::as_str)
    }

    fn plural(&self, phrase: &Phrase) -> Option<&str> {
        let count = deciding_count(phrase)?;
        let ending = if count == 1 { "one" } else { "other" };
        self.sentence(&format!("{}.{ending}", phrase.key))
    }
}

/// The count that chooses between "transaction" and "transactions".
fn deciding_count(phrase: &Phrase) -> Option<u64> {
    let count = |arg: &Arg| match arg {
        Arg::Count(count) => Some(*count),
        _ => None,
    };
    let first = || phrase.args.iter().find_map(|(_, arg)| count(arg));
    phrase.arg("n").and_then(count).or_else(first)
}

/// TOML reads dotted keys as tables in tables; here they are joined again. What is not text is left out, and the test
/// of the catalogue misses it.
fn flatten(prefix: &str, table: toml::Table, sentences: &mut HashMap<String, String>) {
    for (name, value) in table {
        let key = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}.{name}")
        };
        match value {
            toml::Value::String(sentence) => {
                sentences.insert(key, sentence);
            }
            toml::Value::Table(inner) => flatten(&key, inner, sentences),
            _ => {}
        }
    }
}

/// Puts values into `{placeholders}`. One without a value stays as it is, so that it is seen.
fn fill(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            rest = &rest[before.len()..];
            break;
        };
        match value(name) {
            Some(value) => text.push_str(&value),
            None => text.extend(["{", name, "}"]),
        }
        rest = behind;
    }
    text + rest
}

const NO_BREAK: &str = "\u{a0}";

/// Units that a sentence writes after a number of its own, or after a placeholder for one.
const UNITS: [&str; 19] = [
    "µs", "ms", "s", "min", "h", "d", "B", "kB", "MB", "GB", "TB", "%", "微秒", "毫秒", "秒", "分",
    "分钟", "小时", "天",
];

/// The sentence with no-break spaces between its numbers and their units.
fn unbroken(sentence: &str) -> String {
    let mut kept = String::with_capacity(sentence.len() + 8);
    for (at, letter) in sentence.char_indices() {
        match letter == ' ' && is_one(&sentence[..at], &sentence[at + 1..]) {
            true => kept.push_str(NO_BREAK),
            false => kept.push(letter),
        }
    }
    kept
}

fn is_one(before: &str, after: &str) -> bool {
    let ends_a_word = |c: char| !c.is_alphanumeric() && c != '%';
    let next = after.split(ends_a_word).next().unwrap_or_default();
    let is_number = before.ends_with(|c: char| c.is_ascii_digit() || c == '}');
    before.ends_with('±') || is_number && UNITS.contains(&next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_window_no_number_is_parted_from_its_unit() {
        for (sentence, kept) in [
            (
                "every 5 s, {n} % of 3 reads",
                "every 5\u{a0}s, {n}\u{a0}% of 3 reads",
            ),
            ("± {bound} here", "±\u{a0}{bound} here"),
            ("{n} sessions and 2 more", "{n} sessions and 2 more"),
            ("每 5 秒一次，共 3 秒", "每 5 秒一次，共 3\u{a0}秒"),
        ] {
            assert_eq!(unbroken(sentence), kept);
        }
        let (plain, window) = (Language::English, Language::SimplifiedChinese);
        let span = Span::from_secs(125);
        assert_eq!(Catalogue::of(plain).span(span), "2 min 5 s");
        let english = Catalogue::in_window(plain);
        assert_eq!(english.span(span), "2\u{a0}min\u{a0}5\u{a0}s");
        assert_eq!(english.ago(span), "2\u{a0}min\u{a0}5\u{a0}s ago");
        assert_eq!(english.bytes(41_300_000), "41\u{a0}MB");
        assert_eq!(english.percent(0.31), "31\u{a0}%");
        let chinese = Catalogue::in_window(window).word(&Arg::Span(span));
        assert_eq!(chinese, "2\u{a0}分\u{a0}5\u{a0}秒");
    }

    use crate::model::phrase::phrase;
    use crate::model::time::Span;

    fn catalogue() -> Catalogue {
        let toml = r#"
            unit.s = "s"
            plain = "nothing waiting"
            lag.late = "{server} is {lag} behind: {why}"
            lag.why.stopped = "its applier is stopped by error {code}"
            rows.one = "1 row of {table}"
            rows.other = "{n} rows of {table}"
            size = "{bytes} waiting"
            "plain.more" = "and nothing more"
            odd = "left { open, {nobody} knows"
        "#;
        Catalogue::parse(Language::English, toml).expect("a catalogue")
    }

    #[test]
    fn a_phrase_is_filled_with_its_values_each_worded_by_its_kind() {
        let why = Phrase::new("lag.why.stopped").with("code", Arg::Number(1062));
        let late = Phrase::new("lag.late")
            .with("server", "db-r2")
            .with("lag", Span::from_millis(6_200))
            .with("why", why);
        assert_eq!(
            catalogue().say(&late),
            "db-r2 is 6.2 s behind: its applier is stopped by error 1062"
        );
        let size = Phrase::new("size").with("bytes", Arg::Bytes(41_000_000));
        assert_eq!(catalogue().say(&size), "41 MB waiting");
    }

    #[test]
    fn one_row_is_not_rows() {
        for (n, text) in [
            (0, "0 rows of t"),
            (1, "1 row of t"),
            (524_288, "524,288 rows of t"),
        ] {
            let rows = Phrase::new("rows").with("table", "t").with("n", n);
            assert_eq!(catalogue().say(&rows), text);
        }
    }

    #[test]
    fn a_key_or_value_that_is_missing_is_seen() {
        assert_eq!(catalogue().text("no.such.key"), "no.such.key");
        assert_eq!(catalogue().say(&phrase("no.such.key")), "no.such.key");
        assert_eq!(
            catalogue().say(&phrase("odd")),
            "left { open, {nobody} knows"
        );
    }

    #[test]
    fn a_key_may_begin_another_one() {
        assert_eq!(catalogue().text("plain"), "nothing waiting");
        assert_eq!(catalogue().text("plain.more"), "and nothing more");
    }

    #[test]
    fn braces_in_a_value_are_not_placeholders() {
        let late = Phrase::new("lag.late").with("server", "{lag}");
        assert_eq!(catalogue().say(&late), "{lag} is {lag} behind: {why}");
    }

    #[test]
    fn both_embedded_catalogues_can_be_read() {
        for language in Language::ALL {
            let catalogue = Catalogue::of(language);
            assert_eq!(catalogue.language(), language);
            assert!(catalogue.entries().count() > 0);
        }
    }
}
