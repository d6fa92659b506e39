//! A sentence for a person, before it has a language.
//!
//! Rules and lag methods say *what* is the case with a key of the message catalogue and its arguments; `words` turns
//! that into English or Chinese. So the pure layers need no text and every sentence can be compared in tests.

use super::time::Span;

/// A key of the catalogue (`assets/i18n/*.toml`) with the values for its `{placeholders}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Phrase {
    pub key: &'static str,
    pub args: Vec<(&'static str, Arg)>,
}

/// A value inside a sentence; its kind decides how it is worded.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// Shown as it is: a name, an error text, a GTID set.
    Text(String),
    /// A number of things, with digit grouping.
    Count(u64),
    /// A number that is a name, never grouped: an error code, a port, a thread id.
    Number(u64),
    /// A length of time in the unit a person would say.
    Span(Span),
    /// An amount of data.
    Bytes(u64),
    /// A sentence inside the sentence.
    Phrase(Box<Phrase>),
}

impl Phrase {
    pub fn new(key: &'static str) -> Self {
        Phrase {
            key,
            args: Vec::new(),
        }
    }

    pub fn with(mut self, name: &'static str, arg: impl Into<Arg>) -> Self {
        self.args.push((name, arg.into()));
        self
    }

    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|(n, _)| *n == name).map(|(_, a)| a)
    }
}

/// A sentence without arguments: `phrase("lag.why.applier_stopped")`. Also what the catalogue test looks for.
pub fn phrase(key: &'static str) -> Phrase {
    Phrase::new(key)
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Arg::Text(text.to_owned())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Arg::Text(text)
    }
}

impl From<Span> for Arg {
    fn from(span: Span) -> Self {
        Arg::Span(span)
    }
}

impl From<Phrase> for Arg {
    fn from(phrase: Phrase) -> Self {
        Arg::Phrase(Box::new(phrase))
    }
}

impl From<u64> for Arg {
    fn from(count: u64) -> Self {
        Arg::Count(count)
    }
}
