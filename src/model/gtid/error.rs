//! Why a text is not a GTID set or position: what was expected, where, and the text itself.

use std::fmt;

/// A text that could not be read. It is never taken for an empty set, which would mean "nothing is missing".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GtidError {
    pub problem: GtidProblem,
    /// Bytes into `text` at which it stopped making sense.
    pub at: usize,
    /// The whole text as it came.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GtidProblem {
    /// 32 hexadecimal digits, with dashes at 8-4-4-4-12, without any, or in braces.
    ExpectedUuid,
    /// `:` and intervals have to follow a UUID or a tag; a UUID alone names no transaction.
    ExpectedColon,
    ExpectedNumberOrTag,
    ExpectedNumber,
    /// Numbers run from 1 to 2⁶³ − 2.
    NumberOutOfRange,
    /// `5-3`: the server drops it silently; someone who types it meant something.
    ReversedInterval,
    /// More than 32 characters.
    TagTooLong,
    ExpectedComma,
    /// MariaDB: `domain-server-sequence`.
    ExpectedDash,
    /// MariaDB: a position names each domain once.
    DomainTwice,
}

impl GtidProblem {
    fn words(self) -> &'static str {
        match self {
            GtidProblem::ExpectedUuid => "a UUID is expected",
            GtidProblem::ExpectedColon => "\":\" and an interval are expected",
            GtidProblem::ExpectedNumberOrTag => "a number or a tag is expected",
            GtidProblem::ExpectedNumber => "a number is expected",
            GtidProblem::NumberOutOfRange => "the number is out of range",
            GtidProblem::ReversedInterval => "the interval ends before it begins",
            GtidProblem::TagTooLong => "the tag has more than 32 characters",
            GtidProblem::ExpectedComma => "\",\" or the end is expected",
            GtidProblem::ExpectedDash => "\"-\" is expected, as in domain-server-sequence",
            GtidProblem::DomainTwice => "the domain occurs twice",
        }
    }
}

/// How much of the text is shown on either side of the place.
const SHOWN_CHARACTERS: usize = 24;

impl fmt::Display for GtidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = self
            .text
            .split_at_checked(self.at)
            .unwrap_or((self.text.as_str(), ""));
        write!(
            f,
            "{} after {} characters, at [HERE] in \"",
            self.problem.words(),
            before.chars().count()
        )?;
        let skipped = before.chars().count().saturating_sub(SHOWN_CHARACTERS);
        if skipped > 0 {
            f.write_str("…")?;
        }
        let near: String = before.chars().skip(skipped).collect();
        write!(f, "{}[HERE]", near.escape_debug())?;
        let near: String = after.chars().take(SHOWN_CHARACTERS).collect();
        write!(f, "{}", near.escape_debug())?;
        if near.len() < after.len() {
            f.write_str("…")?;
        }
        f.write_str("\"")
    }
}

impl std::error::Error for GtidError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_the_place_and_what_stands_around_it() {
        let error = GtidError {
            problem: GtidProblem::ExpectedNumberOrTag,
            at: 37,
            text: "44fe5a28-517e-11eb-abdc-1273b9da759b:+1\n".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "a number or a tag is expected after 37 characters, at [HERE] in \
             \"…-11eb-abdc-1273b9da759b:[HERE]+1\\n\""
        );
    }

    #[test]
    fn a_place_inside_a_character_or_behind_the_end_does_no_harm() {
        for at in [1, 99] {
            let error = GtidError {
                problem: GtidProblem::ExpectedUuid,
                at,
                text: "é".to_owned(),
            };
            assert!(error.to_string().contains("é[HERE]"));
        }
    }
}
