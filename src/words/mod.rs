//! Layer 1: every sentence a person reads, in English and Simplified Chinese, and how numbers are worded.
//!
//! The sentences live in `assets/i18n/*.toml`, embedded in the program. The other layers name a sentence by its key
//! (`Phrase`); a [`Catalogue`] turns it into text. Who draws asks a catalogue and nothing else, so changing the
//! language is drawing the next frame with the other one.

mod catalogue;
mod language;
mod names;
mod numbers;

pub use catalogue::Catalogue;
pub use language::Language;
pub use numbers::Figure;
