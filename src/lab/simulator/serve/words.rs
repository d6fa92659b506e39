//! A statement cut into words, as far as the statements about servers need it; what tables are asked goes to the SQL
//! engine whole.

use std::ops::Range;
use std::sync::Arc;

use crate::lab::wire::SqlError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in back quotes.
    Quoted,
    /// A text in quotes.
    Text,
    Number,
    Symbol,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    place: Range<usize>,
}

/// Reads a statement from left to right. Nothing is consumed unless it is what was looked for.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    sql: &'a str,
    tokens: Arc<[Token]>,
    at: usize,
}

impl<'a> Words<'a> {
    pub fn of(sql: &'a str) -> Self {
        let sql = sql.trim_end().trim_end_matches(';');
        Words {
            sql,
            tokens: tokens(sql).into(),
            at: 0,
        }
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn peek(&self, ahead: usize) -> Option<(Kind, &'a str)> {
        let token = self.tokens.get(self.at + ahead)?;
        Some((token.kind, &self.sql[token.place.clone()]))
    }

    /// Whether these words come next, as keywords.
    pub fn are(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(ahead, word)| {
            self.peek(ahead).is_some_and(|(kind, text)| {
                matches!(kind, Kind::Word | Kind::Symbol) && text.eq_ignore_ascii_case(word)
            })
        })
    }

    pub fn is(&self, word: &str) -> bool {
        self.are(&[word])
    }

    /// Takes these words if they come next. Several in one text: `"FOR CHANNEL"`.
    pub fn accept(&mut self, words: &str) -> bool {
        let words: Vec<&str> = words.split(' ').collect();
        let are = self.are(&words);
        if are {
            self.at += words.len();
        }
        are
    }

    /// Takes one of these words, and says which.
    pub fn accept_one_of(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let found = words.iter().copied().find(|word| self.is(word))?;
        self.at += 1;
        Some(found)
    }

    /// The next word in upper case, for dispatch.
    pub fn keyword(&mut self) -> String {
        match self.peek(0) {
            Some((Kind::Word, text)) => {
                self.at += 1;
                text.to_ascii_uppercase()
            }
            _ => String::new(),
        }
    }

    /// A name, quoted or not.
    pub fn name(&mut self) -> Option<String> {
        let (kind, text) = self.peek(0)?;
        let name = match kind {
            Kind::Word => text.to_owned(),
            Kind::Quoted => unquoted(text),
            _ => return None,
        };
        self.at += 1;
        Some(name)
    }

    /// A name with or without its schema: `(schema, name)`.
    pub fn qualified_name(&mut self) -> Option<(Option<String>, String)> {
        let first = self.name()?;
        if self.accept(".") {
            return Some((Some(first), self.name()?));
        }
        Some((None, first))
    }

    /// A text in quotes.
    pub fn text(&mut self) -> Option<String> {
        match self.peek(0)? {
            (Kind::Text, text) => {
                self.at += 1;
                Some(unquoted(text))
            }
            _ => None,
        }
    }

    /// A text, a name or a number, as a value.
    pub fn value(&mut self) -> Option<String> {
        let (kind, text) = self.peek(0)?;
        let is_minus = kind == Kind::Symbol && text == "-";
        if is_minus && let Some((Kind::Number, digits)) = self.peek(1) {
            self.at += 2;
            return Some(format!("-{digits}"));
        }
        let value = match kind {
            Kind::Text | Kind::Quoted => unquoted(text),
            Kind::Word | Kind::Number => text.to_owned(),
            Kind::Symbol => return None,
        };
        self.at += 1;
        Some(value)
    }

    pub fn number(&mut self) -> Option<u64> {
        let (kind, text) = self.peek(0)?;
        let number = (kind == Kind::Number)
            .then(|| text.parse().ok())
            .flatten()?;
        self.at += 1;
        Some(number)
    }

    /// What is left, as it was written.
    pub fn rest(&self) -> &'a str {
        let start = self
            .tokens
            .get(self.at)
            .map_or(self.sql.len(), |t| t.place.start);
        self.sql[start..].trim_end()
    }

    pub fn skip(&mut self) {
        self.at += 1;
    }

    /// Up to a comma outside brackets, as it was written; the comma is taken too.
    pub fn up_to_comma(&mut self) -> &'a str {
        let start = self
            .tokens
            .get(self.at)
            .map_or(self.sql.len(), |t| t.place.start);
        let mut depth = 0_i32;
        let mut end = start;
        while let Some((kind, text)) = self.peek(0) {
            match (kind, text) {
                (Kind::Symbol, "(") => depth += 1,
                (Kind::Symbol, ")") => depth -= 1,
                (Kind::Symbol, ",") if depth == 0 => {
                    self.at += 1;
                    break;
                }
                _ => {}
            }
            end = self.tokens[self.at].place.end;
            self.at += 1;
        }
        &self.sql[start..end]
    }

    /// Every place where a function of this name is called: where the call begins and ends, and its arguments.
    pub fn calls(&self, names: &[&str]) -> Vec<Call<'a>> {
        let mut calls = Vec::new();
        for at in 0..self.tokens.len().saturating_sub(1) {
            let token = &self.tokens[at];
            let text = &self.sql[token.place.clone()];
            let name = names.iter().find(|name| text.eq_ignore_ascii_case(name));
            let opens = &self.sql[self.tokens[at + 1].place.clone()] == "(";
            if let Some(name) = name
                && token.kind == Kind::Word
                && opens
                && let Some(call) = self.call(at, name)
            {
                calls.push(call);
            }
        }
        calls
    }

    fn call(&self, at: usize, name: &str) -> Option<Call<'a>> {
        let mut inside = Words {
            at: at + 2,
            ..self.clone()
        };
        let mut arguments = Vec::new();
        if inside.accept(")") {
            let end = self.tokens[at + 2].place.end;
            return Some(Call::new(name, self.tokens[at].place.start..end, arguments));
        }
        let (mut depth, mut start) = (0_i32, self.tokens.get(inside.at)?.place.start);
        loop {
            let (kind, text) = inside.peek(0)?;
            let place = self.tokens[inside.at].place.clone();
            match (kind, text, depth) {
                (Kind::Symbol, "(", _) => depth += 1,
                (Kind::Symbol, ")", 0) => {
                    arguments.push(self.sql[start..place.start].trim());
                    return Some(Call::new(
                        name,
                        self.tokens[at].place.start..place.end,
                        arguments,
                    ));
                }
                (Kind::Symbol, ")", _) => depth -= 1,
                (Kind::Symbol, ",", 0) => {
                    arguments.push(self.sql[start..place.start].trim());
                    start = place.end;
                }
                _ => {}
            }
            inside.at += 1;
        }
    }

    /// The server does not understand the statement from here on.
    pub fn error(&self) -> SqlError {
        let near: String = self.rest().chars().take(80).collect();
        SqlError::new(
            1064,
            format!(
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
                 version for the right syntax to use near '{near}' at line 1"
            ),
        )
    }
}

/// A function that is called inside a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// In upper case.
    pub name: String,
    pub place: Range<usize>,
    pub arguments: Vec<&'a str>,
}

impl<'a> Call<'a> {
    fn new(name: &str, place: Range<usize>, arguments: Vec<&'a str>) -> Self {
        Call {
            name: name.to_ascii_uppercase(),
            place,
            arguments,
        }
    }
}

/// Comments are left out; what stands in `/*! … */` is not a comment.
fn tokens(sql: &str) -> Vec<Token> {
    let bytes = sql.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &sql[at..];
        let (kind, length) = match bytes[at] {
            b if b.is_ascii_whitespace() => (None, 1),
            b'/' if rest.starts_with("/*!") => {
                let digits = rest[3..].bytes().take_while(u8::is_ascii_digit).count();
                (None, 3 + digits)
            }
            b'/' if rest.starts_with("/*") => (None, through(rest, "*/")),
            b'*' if rest.starts_with("*/") => (None, 2),
            b'#' => (None, through(rest, "\n")),
            b'-' if rest.starts_with("-- ") || rest == "--" => (None, through(rest, "\n")),
            quote @ (b'\'' | b'"') => (Some(Kind::Text), quoted_length(rest, quote)),
            b'`' => (Some(Kind::Quoted), quoted_length(rest, b'`')),
            b if b.is_ascii_digit() => number_or_word(rest),
            b if is_word(b) => {
                let length = rest.bytes().take_while(|b| is_word(*b)).count();
                (Some(Kind::Word), length)
            }
            _ if ["@@", ":=", "<>", "<=", ">=", "!=", "||", "&&"]
                .iter()
                .any(|two| rest.starts_with(two)) =>
            {
                (Some(Kind::Symbol), 2)
            }
            _ => (Some(Kind::Symbol), 1),
        };
        let end = (at + length).min(sql.len());
        if let Some(kind) = kind {
            let place = at..end;
            tokens.push(Token { kind, place });
        }
        at = end;
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// `1`, `1.5`, `1e3`; `1st` is a name.
fn number_or_word(rest: &str) -> (Option<Kind>, usize) {
    let word = rest.bytes().take_while(|b| is_word(*b)).count();
    let number = rest
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    if word > number
        && !rest[..word]
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b'e')
    {
        return (Some(Kind::Word), word);
    }
    (Some(Kind::Number), word.max(number))
}

fn through(rest: &str, end: &str) -> usize {
    rest.find(end).map_or(rest.len(), |at| at + end.len())
}

fn quoted_length(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] == b'\\' && quote != b'`' {
            at += 2;
            continue;
        }
        if bytes[at] == quote {
            if bytes.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    rest.len()
}

/// What stands in quotes.
pub fn unquoted(text: &str) -> String {
    let Some(quote) = text.chars().next().filter(|c| ['\'', '"', '`'].contains(c)) else {
        return text.to_owned();
    };
    let inside = text[1..].strip_suffix(quote).unwrap_or(&text[1..]);
    let mut plain = String::with_capacity(inside.len());
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote != '`' => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('r') => plain.push('\r'),
                Some('0') => plain.push('\0'),
                Some(c @ ('%' | '_')) => plain.extend(['\\', c]),
                Some(other) => plain.push(other),
                None => {}
            },
            c if c == quote => {
                chars.next_if_eq(&quote);
                plain.push(c);
            }
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_quotes_do_not_get_in_the_way() {
        let mut words =
            Words::of("/* replicascope */ SHOW  -- x\n `REPLICA` Status LIKE 'a''b\\'c';");
        assert_eq!(words.keyword(), "SHOW");
        assert!(!words.is("REPLICA"), "a quoted name is no keyword");
        assert_eq!(words.name().as_deref(), Some("REPLICA"));
        assert!(words.accept("STATUS LIKE"));
        assert_eq!(words.text().as_deref(), Some("a'b'c"));
        assert!(words.at_end());
    }

    #[test]
    fn what_stands_in_a_version_comment_counts() {
        let mut words = Words::of("/*!40101 SET NAMES utf8mb4 */");
        assert!(words.accept("SET NAMES"));
        assert_eq!(words.value().as_deref(), Some("utf8mb4"));
        assert!(words.at_end());
    }

    #[test]
    fn calls_are_found_with_their_arguments() {
        let sql = "SELECT GTID_SUBSET('a,b', CONCAT('x', 'y')) AS g, SLEEP(0.5), NOW()";
        let words = Words::of(sql);
        let calls = words.calls(&["GTID_SUBSET", "SLEEP", "NOW"]);
        assert_eq!(calls.len(), 3);
        assert_eq!(calls[0].arguments, ["'a,b'", "CONCAT('x', 'y')"]);
        assert_eq!(&sql[calls[1].place.clone()], "SLEEP(0.5)");
        assert_eq!(calls[1].arguments, ["0.5"]);
        assert!(calls[2].arguments.is_empty());
    }

    #[test]
    fn an_error_says_where() {
        let mut words = Words::of("SHOW NONSENSE PLEASE");
        words.keyword();
        let message = String::from_utf8(words.error().message).unwrap();
        assert!(
            message.contains("near 'NONSENSE PLEASE' at line 1"),
            "{message}"
        );
    }
}
