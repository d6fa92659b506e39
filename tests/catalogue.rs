//! The catalogue and the sources agree: every key said in the code has its sentence in both languages, with the same
//! placeholders, and no sentence is there that nobody says.
//!
//! Keys are found by reading `src/**/*.rs` as text, without comments and without the tests beside the code: in the calls
//! that take one (`phrase("…")`, `Phrase::new("…")`, `text("…")`, `tr("…")`), and in every other string that looks
//! like a key of a section the catalogue has, for functions that answer with a key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use replicascope::words::{Catalogue, Language};

#[test]
fn every_key_in_the_code_has_its_sentence_in_both_languages() {
    let mut missing = Vec::new();
    for language in Language::ALL {
        let sentences = sentences(language);
        let sections = sections(&sentences);
        for literal in literals_of_the_sources() {
            if literal.names_a_key(&sections) && !sentences.contains_key(&literal.text) {
                let tag = language.tag();
                missing.push(format!("{}: {} ({tag})", literal.place, literal.text));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "no sentence in assets/i18n for:\n{}",
        missing.join("\n")
    );
}

#[test]
fn nothing_is_in_the_catalogue_that_nobody_says() {
    let said: BTreeSet<String> = literals_of_the_sources()
        .into_iter()
        .map(|literal| literal.text)
        .collect();
    for language in Language::ALL {
        let unsaid: Vec<String> = sentences(language)
            .into_keys()
            .filter(|key| !said.contains(key))
            .collect();
        assert!(
            unsaid.is_empty(),
            "{}: nobody says {unsaid:#?}",
            language.tag()
        );
    }
}

#[test]
fn both_languages_have_the_same_keys_and_placeholders() {
    let english = sentences(Language::English);
    let chinese = sentences(Language::SimplifiedChinese);
    let keys = |of: &Sentences| of.keys().cloned().collect::<BTreeSet<_>>();
    let only_in_one: Vec<String> = keys(&english)
        .symmetric_difference(&keys(&chinese))
        .cloned()
        .collect();
    assert!(
        only_in_one.is_empty(),
        "in one language only: {only_in_one:#?}"
    );
    for (key, sentence) in &english {
        assert_eq!(
            placeholders(sentence),
            placeholders(&chinese[key]),
            "placeholders of {key}"
        );
    }
}

#[test]
fn a_plural_has_both_its_forms() {
    for language in Language::ALL {
        let keys: BTreeSet<&str> = Catalogue::of(language).entries().map(|(k, _)| k).collect();
        for key in &keys {
            if let Some(base) = key.strip_suffix(".one") {
                let other = format!("{base}.other");
                assert!(keys.contains(other.as_str()), "{key} without {other}");
                assert!(!keys.contains(base), "{base} has a plural and a plain form");
            }
        }
    }
}

#[test]
fn sentences_are_written_to_be_shown() {
    for language in Language::ALL {
        for (key, sentence) in Catalogue::of(language).entries() {
            assert!(!sentence.is_empty(), "{key} is empty");
            assert_eq!(sentence.trim(), sentence, "{key} has blanks around it");
            assert!(!sentence.contains("  "), "{key} has two blanks in a row");
            assert!(!sentence.contains("..."), "{key}: write … for an ellipsis");
        }
    }
}

#[test]
fn the_reader_of_sources_sees_calls_over_two_lines_and_no_comments_or_tests() {
    let source = "
        // text(\"in.comment\")
        let a = words.text(\n    \"over.lines\");
        let b = ui.hover_text(\"other call\"); let quote = '\"'; let c = phrase(\"a \\\" b\");
        #[cfg(test)]
        mod tests { fn t() { phrase(\"in.test\"); } }
    ";
    let found: Vec<(String, bool)> = literals(source, Path::new("x.rs"))
        .into_iter()
        .map(|l| (l.text, l.in_call))
        .collect();
    assert_eq!(
        found,
        [
            ("over.lines".to_owned(), true),
            ("other call".to_owned(), false),
            ("a \\\" b".to_owned(), true),
        ]
    );
}

// --- the catalogue ---------------------------------------------------------------------------------------------------

type Sentences = BTreeMap<String, String>;

/// Keys as the code names them: plural endings folded into the key, the form for many standing for both.
fn sentences(language: Language) -> Sentences {
    let entries: Sentences = Catalogue::of(language)
        .entries()
        .map(|(key, sentence)| (key.to_owned(), sentence.to_owned()))
        .collect();
    let is_plural = |base: &str| entries.contains_key(&format!("{base}.one"));
    let fold = |(key, sentence): (&String, &String)| match key.rsplit_once('.') {
        Some((base, "one")) if is_plural(base) => None,
        Some((base, "other")) if is_plural(base) => Some((base.to_owned(), sentence.clone())),
        _ => Some((key.clone(), sentence.clone())),
    };
    entries.iter().filter_map(fold).collect()
}

fn sections(sentences: &Sentences) -> BTreeSet<String> {
    let first_part = |key: &String| key.split('.').next().map(str::to_owned);
    sentences.keys().filter_map(first_part).collect()
}

fn placeholders(sentence: &str) -> BTreeSet<&str> {
    sentence
        .split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'))
        .map(|(name, _)| name)
        .collect()
}

// --- the sources -----------------------------------------------------------------------------------------------------

/// A string in the code.
struct Literal {
    text: String,
    /// Stands first in a call that takes a key.
    in_call: bool,
    place: String,
}

impl Literal {
    fn names_a_key(&self, sections: &BTreeSet<String>) -> bool {
        let is_part = |part: &str| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let in_a_section = || {
            let mut parts = self.text.split('.');
            let section = parts.next().unwrap_or("");
            let rest: Vec<&str> = parts.collect();
            let is_file = matches!(rest.last(), Some(&("toml" | "rs" | "json" | "cnf" | "log")));
            sections.contains(section)
                && !rest.is_empty()
                && rest.iter().all(|p| is_part(p))
                && !is_file
        };
        // A dot: `named.text("gtid_mode")` of a server's variables is no key of ours.
        (self.in_call && self.text.contains('.')) || in_a_section()
    }
}

const CALLS: [&str; 4] = ["phrase(", "Phrase::new(", "text(", "tr("];

fn literals_of_the_sources() -> Vec<Literal> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(&root.join("src"), &mut files);
    assert!(files.len() > 10, "the sources were not found");
    let sources: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|path| {
            let source = std::fs::read_to_string(&path).expect("a readable source");
            (path, source)
        })
        .collect();
    let in_tests_only: BTreeSet<PathBuf> = sources
        .iter()
        .flat_map(|(path, source)| test_modules(source).map(|name| module_file(path, name)))
        .collect();
    sources
        .iter()
        .filter(|(path, _)| !in_tests_only.contains(path))
        .flat_map(|(path, source)| literals(source, path.strip_prefix(root).unwrap_or(path)))
        .collect()
}

/// Where `mod name;` written in this file is found.
fn module_file(parent: &Path, name: &str) -> PathBuf {
    let own_folder = match parent.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib" | "main") => parent.with_file_name(""),
        _ => parent.with_extension(""),
    };
    own_folder.join(format!("{name}.rs"))
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The strings of a source, up to its tests. Raw strings are read as far as their first inner quote, which is enough:
/// SQL and TOML stand in them, not keys.
fn literals(source: &str, path: &Path) -> Vec<Literal> {
    let source = without_tests(source);
    let mut found = Vec::new();
    let mut code = String::new();
    let mut line = 1;
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        line += usize::from(c == '\n');
        match c {
            '/' if rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '\'' if code.ends_with(|c: char| !c.is_alphanumeric()) && rest.peek() == Some(&'"') => {
                rest.next();
            }
            '"' => {
                let place = format!("{}:{line}", path.display());
                let text = string_body(&mut rest);
                line += text.matches('\n').count();
                let in_call = stands_in_a_call(&code);
                found.push(Literal {
                    text,
                    in_call,
                    place,
                });
                code.push('"');
            }
            c => code.push(c),
        }
    }
    found
}

/// Tests stand last in a file: `#[cfg(test)] mod tests { … }`. One that only names another file ends nothing.
fn without_tests(source: &str) -> &str {
    let opens_tests = |at: &usize| {
        let after = source[*at..]
            .trim_start_matches("#[cfg(test)]")
            .trim_start();
        let head = after.split(['{', ';']).next().unwrap_or("");
        head.starts_with("mod ") && after[head.len()..].starts_with('{')
    };
    let mut marks = source.match_indices("#[cfg(test)]").map(|(at, _)| at);
    marks.find(opens_tests).map_or(source, |at| &source[..at])
}

/// Modules that exist in tests only: `#[cfg(test)] mod build;`.
fn test_modules(source: &str) -> impl Iterator<Item = &str> {
    source.split("#[cfg(test)]").skip(1).filter_map(|after| {
        let (name, _) = after.trim_start().strip_prefix("mod ")?.split_once(';')?;
        (!name.contains('{')).then_some(name.trim())
    })
}

fn string_body(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => {
                text.push(c);
                text.extend(rest.next());
            }
            c => text.push(c),
        }
    }
    text
}

/// Does the code so far end in one of the calls, and not in `hover_text(`?
fn stands_in_a_call(code: &str) -> bool {
    let code = code.trim_end();
    CALLS.iter().any(|call| {
        code.strip_suffix(call)
            .is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}
