//! Panels: titled cards of facts, tables and sentences that the detail screens are made of. They hold finished words,
//! so that a test can read a screen without drawing it; `draw` draws them.

mod draw;
mod rows;
mod subject;

use eframe::egui::Color32;

use crate::model::gtid::Gtids;
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::profile::TopologyId;
use crate::model::sample::{Answer, FoundReplica};
use crate::model::time::Moment;
use crate::model::trouble::Trouble;
use crate::ui::Frame;
use crate::ui::theme::Palette;
use crate::ui::widgets::Sign;

pub use draw::{PanelsState, columns_ui, copy_ui, halves_ui, panel_ui};
pub use rows::rows_ui;
pub use subject::{Absence, Staleness, absence_ui, server_on_show, stale_ui};

/// What a value means, apart from what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Dim,
    Good,
    Warning,
    Critical,
    Unknown,
}

impl Tone {
    pub fn color(self, palette: &Palette) -> Color32 {
        match self {
            Tone::Plain => palette.text,
            Tone::Dim => palette.dim,
            Tone::Good => palette.ok,
            Tone::Warning => palette.warning,
            Tone::Critical => palette.critical,
            Tone::Unknown => palette.unknown,
        }
    }

    /// The shape that says the same as the colour.
    pub fn sign(self) -> Option<Sign> {
        match self {
            Tone::Plain | Tone::Dim => None,
            Tone::Good => Some(Sign::Ok),
            Tone::Warning => Some(Sign::Warning),
            Tone::Critical => Some(Sign::Critical),
            Tone::Unknown => Some(Sign::Unknown),
        }
    }
}

/// A titled card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Keeps its folding from frame to frame; not shown.
    pub id: String,
    pub title: String,
    /// Small, beside the title: how many, how old.
    pub note: String,
    /// What is the case here, in one sign.
    pub sign: Option<Sign>,
    /// The statement behind it, to copy.
    pub sql: Option<String>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Heading(String),
    Fact(FactRow),
    Sentence {
        text: String,
        tone: Tone,
    },
    Refused(Refusal),
    /// Text for machines: GTID sets, error texts, statements.
    Code {
        name: String,
        /// As shown; a set of thousands of intervals is cut.
        text: String,
        /// The whole set, made into text only when it is copied.
        whole: Option<Gtids>,
        /// What its copy button says.
        copy: String,
    },
    Rows(Rows),
    Offer(Offer),
}

/// A name and its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactRow {
    pub name: String,
    pub value: String,
    pub tone: Tone,
    /// What the value means, in a few plain words under it.
    pub meaning: String,
    pub meaning_tone: Tone,
    /// Where it comes from and how old it is.
    pub source: String,
}

/// A question the server would not answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub what: String,
    pub hint: Option<String>,
    /// The statement that would help, to copy.
    pub statement: Option<String>,
    pub detail: String,
}

/// A small table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<RowColumn>,
    pub rows: Vec<Vec<Cell>>,
    /// Rows beyond those listed, in words: "and 120 more".
    pub more: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RowColumn {
    pub title: String,
    /// In shares of the width that is there.
    pub share: f32,
    pub numbers: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    pub text: String,
    pub tone: Tone,
    pub mono: bool,
    /// More on hover; the whole text is shown anyway when it is cut.
    pub hover: String,
    /// What a click copies: the whole statement.
    pub copies: Option<String>,
}

/// A server nobody watches yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub text: String,
    pub note: String,
    /// None where it is watched already.
    pub add: Option<(TopologyId, FoundReplica)>,
}

impl RowColumn {
    pub fn words(title: &str, share: f32) -> Self {
        RowColumn {
            title: title.to_owned(),
            share,
            numbers: false,
        }
    }

    pub fn numbers(title: &str, share: f32) -> Self {
        RowColumn {
            numbers: true,
            ..RowColumn::words(title, share)
        }
    }
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Self {
        Cell {
            text: text.into(),
            ..Cell::default()
        }
    }

    pub fn code(text: impl Into<String>) -> Self {
        Cell {
            mono: true,
            ..Cell::new(text)
        }
    }

    pub fn tone(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }

    pub fn hover(self, hover: impl Into<String>) -> Self {
        Cell {
            hover: hover.into(),
            ..self
        }
    }
}

impl FactRow {
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        FactRow {
            name: name.into(),
            value: value.into(),
            ..FactRow::default()
        }
    }

    pub fn tone(self, tone: Tone) -> Self {
        FactRow { tone, ..self }
    }

    pub fn source(self, source: impl Into<String>) -> Self {
        FactRow {
            source: source.into(),
            ..self
        }
    }

    pub fn meaning(self, meaning: impl Into<String>, tone: Tone) -> Self {
        FactRow {
            meaning: meaning.into(),
            meaning_tone: tone,
            ..self
        }
    }
}

impl From<FactRow> for Block {
    fn from(fact: FactRow) -> Self {
        Block::Fact(fact)
    }
}

impl From<Rows> for Block {
    fn from(rows: Rows) -> Self {
        Block::Rows(rows)
    }
}

impl Panel {
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Panel {
            id: id.into(),
            title: title.into(),
            ..Panel::default()
        }
    }

    pub fn sql(self, sql: Option<String>) -> Self {
        Panel { sql, ..self }
    }

    pub fn push(&mut self, block: impl Into<Block>) {
        self.blocks.push(block.into());
    }

    pub fn say(&mut self, text: impl Into<String>, tone: Tone) {
        self.blocks.push(Block::Sentence {
            text: text.into(),
            tone,
        });
    }

    /// Everything in it as text, for tests and for copying.
    pub fn text(&self) -> String {
        let mut lines = vec![self.title.clone()];
        for block in &self.blocks {
            match block {
                Block::Heading(text) | Block::Sentence { text, .. } => lines.push(text.clone()),
                Block::Fact(fact) => {
                    lines.push(format!("{}: {} {}", fact.name, fact.value, fact.meaning))
                }
                Block::Refused(refusal) => {
                    lines.push(refusal.what.clone());
                    lines.extend(refusal.statement.clone());
                }
                Block::Code { name, text, .. } => lines.push(format!("{name}: {text}")),
                Block::Rows(rows) => lines.extend(rows.rows.iter().map(|row| {
                    let cells: Vec<&str> = row.iter().map(|cell| cell.text.as_str()).collect();
                    cells.join(" | ")
                })),
                Block::Offer(offer) => lines.push(offer.text.clone()),
            }
        }
        lines.join("\n")
    }
}

/// Hands on what the server said; else says in the panel why there is nothing.
pub fn answered<'a, T>(
    panel: &mut Panel,
    frame: &Frame<'_>,
    answer: &'a Answer<T>,
) -> Option<(&'a T, Moment)> {
    match answer {
        Answer::Known { value, at } => Some((value, *at)),
        Answer::Refused(trouble) => {
            panel.sign = Some(Sign::Unknown);
            panel
                .blocks
                .push(Block::Refused(Refusal::of(frame, trouble)));
            None
        }
        Answer::NotAsked { why } => {
            panel.say(frame.words.say(why), Tone::Dim);
            None
        }
    }
}

impl Refusal {
    pub fn of(frame: &Frame<'_>, trouble: &Trouble) -> Self {
        let phrases = trouble.hint.iter().chain([&trouble.what]);
        Refusal {
            what: frame.words.say(&trouble.what),
            hint: trouble.hint.as_ref().map(|hint| frame.words.say(hint)),
            statement: phrases.flat_map(statements).next(),
            detail: match trouble.code {
                Some(code) => format!("{code}: {}", trouble.detail),
                None => trouble.detail.clone(),
            },
        }
    }
}

/// The GRANT a sentence carries.
fn statements(phrase: &Phrase) -> Vec<String> {
    let of = |(_, arg): &(&str, Arg)| match arg {
        Arg::Text(text) if text.trim_start().starts_with("GRANT ") => vec![text.clone()],
        Arg::Phrase(inner) => statements(inner),
        _ => Vec::new(),
    };
    phrase.args.iter().flat_map(of).collect()
}

/// "performance_schema, 0.2 s ago": what stands on hover over a value.
pub fn from_where(frame: &Frame<'_>, source: &str, at: Moment) -> String {
    let age = frame.words.ago(frame.now.since(at));
    let words = phrase("panel.from_where")
        .with("source", source)
        .with("age", age);
    frame.words.say(&words)
}

/// A value that may not be told, and its tone: never a number where none is known.
pub fn told<T>(
    frame: &Frame<'_>,
    value: Option<T>,
    word: impl FnOnce(T) -> String,
) -> (String, Tone) {
    match value {
        Some(value) => (word(value), Tone::Plain),
        None => (frame.words.text("panel.not_told").to_owned(), Tone::Unknown),
    }
}

/// on, off, or not told.
pub fn switch_word(frame: &Frame<'_>, value: Option<bool>) -> String {
    let key = match value {
        Some(true) => "panel.on",
        Some(false) => "panel.off",
        None => "panel.not_told",
    };
    frame.words.text(key).to_owned()
}
