//! From a text to the parser's tree: what its MySQL dialect does not know is put in words it knows, and what it refuses
//! becomes error 1064 with the place.

use std::cell::Cell;

use sqlparser::ast::Statement;
use sqlparser::dialect::MySqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use super::problem::SqlProblem;
use crate::model::lab::Generation;
use crate::model::server::Flavour;

/// One statement.
pub struct Parsed {
    pub statement: Statement,
    /// The texts of the first SELECT's items as they were written: MySQL names columns so.
    pub items: Vec<String>,
    /// SELECT … INTO @a, @b.
    pub into: Vec<String>,
}

pub fn parse(sql: &str, product: &str) -> Result<Parsed, SqlProblem> {
    let source = Source::of(sql);
    let refused = |error: ParserError| source.refused(&error, product);
    let tokens = Tokenizer::new(&MySqlDialect {}, sql)
        .tokenize_with_location()
        .map_err(|error| refused(ParserError::from(error)))?;
    if is_too_deep(&tokens) {
        return Err(SqlProblem::too_deep());
    }
    let items = source.items(&tokens);
    let mut tokens = tokens;
    let into = take_into(&mut tokens);
    in_known_words(&mut tokens);
    let mut parser = Parser::new(&MySqlDialect {}).with_tokens_with_locations(tokens);
    let statement = parser.parse_statement().map_err(refused)?;
    while parser.consume_token(&Token::SemiColon) {}
    let rest = parser.next_token();
    if rest.token != Token::EOF {
        return Err(source.near(rest.span.start, product));
    }
    Ok(Parsed {
        statement,
        items,
        into,
    })
}

/// The tree of a chain like `a OR b OR c` is as deep as the chain is long, and each walk through it takes so much stack.
/// (Parentheses the parser counts itself.)
pub const MOST_DEEP: usize = 1000;

/// Stack that a thread needs which runs statements of that depth: in a build for tests a level takes about 4 KB.
pub const STACK_BYTES: usize = 16 << 20;

/// Counts operators from one comma to the next, with those around the parentheses.
fn is_too_deep(tokens: &[TokenWithSpan]) -> bool {
    let mut chains = vec![0_usize];
    let mut depth = 0;
    for token in tokens {
        match &token.token {
            Token::LParen => chains.push(0),
            Token::RParen if chains.len() > 1 => depth -= chains.pop().unwrap_or(0),
            Token::Comma => {
                if let Some(chain) = chains.last_mut() {
                    depth -= std::mem::take(chain);
                }
            }
            _ if is_operator(token) => {
                depth += 1;
                if let Some(chain) = chains.last_mut() {
                    *chain += 1;
                }
            }
            _ => {}
        }
        if depth > MOST_DEEP {
            return true;
        }
    }
    false
}

fn is_operator(token: &TokenWithSpan) -> bool {
    match &token.token {
        Token::Word(_) => matches!(
            keyword(token),
            Keyword::AND
                | Keyword::OR
                | Keyword::XOR
                | Keyword::NOT
                | Keyword::IS
                | Keyword::NOTNULL
                | Keyword::IN
                | Keyword::BETWEEN
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::RLIKE
                | Keyword::REGEXP
                | Keyword::SIMILAR
                | Keyword::DIV
                | Keyword::COLLATE
                | Keyword::AT
                | Keyword::OVERLAPS
                | Keyword::MEMBER
                | Keyword::INTERVAL
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::MINUS
                | Keyword::INTERSECT
        ),
        Token::Whitespace(_)
        | Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::Period
        | Token::Placeholder(_)
        | Token::SemiColon
        | Token::EOF => false,
        _ => true,
    }
}

/// What a server of this generation calls itself in its errors.
pub fn product(generation: Generation) -> &'static str {
    match generation.flavour() {
        Flavour::MariaDb => "MariaDB",
        _ => "MySQL",
    }
}

/// The text, with where its lines begin.
struct Source<'a> {
    sql: &'a str,
    lines: Vec<usize>,
    /// The place that was asked for last and its offset: the next one is mostly a little behind it, in a line that may be
    /// very long.
    last: Cell<(Location, usize)>,
}

impl<'a> Source<'a> {
    fn of(sql: &'a str) -> Self {
        let breaks = sql.match_indices('\n').map(|(at, _)| at + 1);
        Source {
            sql,
            lines: std::iter::once(0).chain(breaks).collect(),
            last: Cell::new((Location { line: 1, column: 1 }, 0)),
        }
    }

    /// Lines and columns count from 1, columns in characters.
    fn offset(&self, place: Location) -> usize {
        let line = (place.line as usize)
            .checked_sub(1)
            .and_then(|line| self.lines.get(line));
        let Some(start) = line else {
            return self.sql.len();
        };
        let (last, at) = self.last.get();
        let (start, column) = match last.line == place.line && last.column <= place.column {
            true => (at, last.column),
            false => (*start, 1),
        };
        let ahead = place.column.saturating_sub(column) as usize;
        let offset = self.sql[start..]
            .char_indices()
            .nth(ahead)
            .map_or(self.sql.len(), |(at, _)| start + at);
        self.last.set((place, offset));
        offset
    }

    /// The place told may be behind the word that was refused.
    fn found_before(&self, place: usize, message: &str) -> usize {
        let found = message
            .split_once("found: ")
            .and_then(|(_, rest)| rest.split_once(" at Line"))
            .map_or("", |(found, _)| found);
        let there = self.sql[place..].get(..found.len());
        if found.is_empty() || there.is_some_and(|there| there.eq_ignore_ascii_case(found)) {
            return place;
        }
        self.sql[..place].rfind(found).unwrap_or(place)
    }

    fn near(&self, place: Location, product: &str) -> SqlProblem {
        self.near_offset(self.offset(place), place.line, product)
    }

    fn near_offset(&self, place: usize, line: u64, product: &str) -> SqlProblem {
        let rest = self.sql[place..].trim_end();
        const SHOWN: usize = 80;
        let shown: String = rest.chars().take(SHOWN).collect();
        syntax_error(&shown, line.max(1), product)
    }

    /// The parser tells the place only in words.
    fn refused(&self, error: &ParserError, product: &str) -> SqlProblem {
        let message = error.to_string();
        let number = |word: &str| -> Option<u64> {
            let rest = &message[message.rfind(word)? + word.len()..];
            let digits = rest.trim_start_matches([':', ' ']);
            let end = digits
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(digits.len());
            digits[..end].parse().ok()
        };
        match number("Line").zip(number("Column")) {
            Some((line, column)) => {
                let place = self.offset(Location { line, column });
                self.near_offset(self.found_before(place, &message), line, product)
            }
            None => syntax_error("", self.lines.len() as u64, product),
        }
    }

    /// What stands between the first SELECT outside of parentheses and its FROM, cut at commas.
    fn items(&self, tokens: &[TokenWithSpan]) -> Vec<String> {
        let spoken = |token: &&TokenWithSpan| !matches!(token.token, Token::Whitespace(_));
        let mut tokens = tokens.iter().filter(spoken).peekable();
        let mut opened = 0_i32;
        // `(SELECT …)` and `WITH c AS (…) SELECT …`.
        let mut is_with = false;
        for token in tokens.by_ref() {
            match &token.token {
                Token::LParen => opened += 1,
                Token::RParen => opened -= 1,
                Token::Word(word) if word.keyword == Keyword::WITH => is_with = true,
                Token::Word(word)
                    if word.keyword == Keyword::SELECT && (!is_with || opened == 0) =>
                {
                    break;
                }
                _ if !is_with => return Vec::new(),
                _ => {}
            }
        }
        let mut items = Vec::new();
        let mut item: Option<(usize, usize)> = None;
        let mut depth = 0_i32;
        let mut close = |item: &mut Option<(usize, usize)>| {
            if let Some((from, to)) = item.take() {
                items.push(self.sql[from..to].to_owned());
            }
        };
        for token in tokens {
            match &token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                Token::Comma if depth == 0 => {
                    close(&mut item);
                    continue;
                }
                Token::Word(word) if depth == 0 && item.is_none() && is_modifier(&word.value) => {
                    continue;
                }
                Token::Word(word) if depth == 0 && ends_items(word.keyword) => break,
                Token::SemiColon | Token::EOF => break,
                _ => {}
            }
            if depth < 0 {
                break;
            }
            let from = self.offset(token.span.start);
            let to = self.offset(token.span.end);
            item = Some(item.map_or((from, to), |(from, _)| (from, to)));
        }
        close(&mut item);
        items
    }
}

fn is_modifier(word: &str) -> bool {
    const MODIFIERS: &[&str] = &[
        "DISTINCT",
        "DISTINCTROW",
        "ALL",
        "HIGH_PRIORITY",
        "STRAIGHT_JOIN",
        "SQL_SMALL_RESULT",
        "SQL_BIG_RESULT",
        "SQL_BUFFER_RESULT",
        "SQL_NO_CACHE",
        "SQL_CACHE",
        "SQL_CALC_FOUND_ROWS",
    ];
    MODIFIERS
        .iter()
        .any(|modifier| modifier.eq_ignore_ascii_case(word))
}

fn ends_items(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::FROM
            | Keyword::WHERE
            | Keyword::UNION
            | Keyword::EXCEPT
            | Keyword::INTERSECT
            | Keyword::LIMIT
            | Keyword::ORDER
            | Keyword::GROUP
            | Keyword::HAVING
            | Keyword::INTO
            | Keyword::FOR
    )
}

pub fn syntax_error(near: &str, line: u64, product: &str) -> SqlProblem {
    SqlProblem::new(
        1064,
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your {product} server version \
             for the right syntax to use near '{near}' at line {line}"
        ),
    )
}

fn keyword(token: &TokenWithSpan) -> Keyword {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

fn is_word(token: &TokenWithSpan, text: &str) -> bool {
    matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
}

/// Places of the tokens that are no space.
fn spoken(tokens: &[TokenWithSpan]) -> Vec<usize> {
    let is_spoken = |place: &usize| !matches!(tokens[*place].token, Token::Whitespace(_));
    (0..tokens.len()).filter(is_spoken).collect()
}

/// Cuts `INTO @a, @b` out, wherever it stands.
fn take_into(tokens: &mut Vec<TokenWithSpan>) -> Vec<String> {
    let variable = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) if word.value.starts_with('@') => {
            Some(word.value[1..].to_ascii_lowercase())
        }
        _ => None,
    };
    let places = spoken(tokens);
    let begins = places.windows(2).position(|pair| {
        keyword(&tokens[pair[0]]) == Keyword::INTO && variable(&tokens[pair[1]]).is_some()
    });
    let Some(begin) = begins else {
        return Vec::new();
    };
    let mut names = Vec::new();
    let mut at = begin + 1;
    while let Some(name) = places.get(at).and_then(|place| variable(&tokens[*place])) {
        names.push(name);
        at += 1;
        let more = places
            .get(at)
            .is_some_and(|place| tokens[*place].token == Token::Comma);
        if !more {
            break;
        }
        at += 1;
    }
    let end = places.get(at).copied().unwrap_or(tokens.len());
    tokens.drain(places[begin]..end);
    names
}

/// MySQL's words that the parser does not know, in words it does.
fn in_known_words(tokens: &mut Vec<TokenWithSpan>) {
    let places = spoken(tokens);
    let mut replaced: Vec<(usize, Token)> = Vec::new();
    let at = |place: usize| places.get(place).map(|at| &tokens[*at]);
    let word = |text: &str| Token::make_keyword(text);
    if at(0).is_some_and(|token| is_word(token, "DO")) {
        replaced.push((places[0], word("SELECT")));
    }
    for place in 0..places.len() {
        let token = &tokens[places[place]];
        let before = place.checked_sub(1).and_then(at);
        let next = at(place + 1);
        let follows = |words: [&str; 3]| {
            (0..3).all(|ahead| at(place + 1 + ahead).is_some_and(|t| is_word(t, words[ahead])))
        };
        let is_operand = before.is_some_and(|before| {
            matches!(
                before.token,
                Token::RParen | Token::Number(..) | Token::Word(_)
            )
        });
        if is_word(token, "MOD")
            && is_operand
            && next.is_some_and(|next| next.token != Token::LParen)
        {
            replaced.push((places[place], Token::Mod));
        } else if token.token == Token::ExclamationMark {
            replaced.push((places[place], word("NOT")));
        } else if is_word(token, "LOCK") && follows(["IN", "SHARE", "MODE"]) {
            replaced.push((places[place], word("FOR")));
            replaced.push((places[place + 1], word("SHARE")));
            replaced.push((places[place + 2], space()));
            replaced.push((places[place + 3], space()));
        } else if is_word(token, "KEY") && before.is_some_and(|before| is_word(before, "DROP")) {
            replaced.push((places[place], word("INDEX")));
        }
    }
    replaced.extend(joined_by_comma(tokens, &places));
    for (place, token) in replaced {
        tokens[place].token = token;
    }
    if places
        .first()
        .is_some_and(|first| is_word(&tokens[*first], "TABLE"))
    {
        let span = tokens[places[0]].span;
        let with_span = |token| TokenWithSpan { token, span };
        let select = [word("SELECT"), space(), Token::Mul, space(), word("FROM")];
        tokens.splice(places[0]..=places[0], select.map(with_span));
    }
    if is_alter_table(tokens) {
        without_table_options(tokens);
    }
}

/// UPDATE a, b SET …: the comma is a join.
fn joined_by_comma(tokens: &[TokenWithSpan], places: &[usize]) -> Vec<(usize, Token)> {
    let mut found = Vec::new();
    if !places
        .first()
        .is_some_and(|first| is_word(&tokens[*first], "UPDATE"))
    {
        return found;
    }
    let mut depth = 0_i32;
    for place in places {
        match &tokens[*place].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => found.push((*place, Token::make_keyword("JOIN"))),
            Token::Word(word) if word.keyword == Keyword::SET => break,
            _ => {}
        }
    }
    found
}

fn space() -> Token {
    Token::Whitespace(sqlparser::tokenizer::Whitespace::Space)
}

fn is_alter_table(tokens: &[TokenWithSpan]) -> bool {
    let mut words = tokens
        .iter()
        .filter(|token| !matches!(token.token, Token::Whitespace(_)));
    words.next().is_some_and(|token| is_word(token, "ALTER"))
        && words.next().is_some_and(|token| is_word(token, "TABLE"))
}

/// ALTER TABLE t ENGINE=…, FORCE, COMMENT=…: they change nothing here.
fn without_table_options(tokens: &mut Vec<TokenWithSpan>) {
    const OPTIONS: &[&str] = &[
        "ENGINE",
        "FORCE",
        "COMMENT",
        "CONVERT",
        "DEFAULT",
        "CHARACTER",
        "CHARSET",
        "COLLATE",
        "ROW_FORMAT",
        "ORDER",
        "KEY_BLOCK_SIZE",
        "STATS_PERSISTENT",
        "ENABLE",
        "DISABLE",
        "ALGORITHM",
        "LOCK",
    ];
    let places = spoken(tokens);
    // ALTER TABLE [schema.]name, then operations.
    let mut begin = 3;
    if places
        .get(begin)
        .is_some_and(|place| tokens[*place].token == Token::Period)
    {
        begin += 2;
    }
    let Some(first) = places.get(begin).copied() else {
        return;
    };
    let mut operations: Vec<Vec<TokenWithSpan>> = vec![Vec::new()];
    let mut depth = 0_i32;
    for token in &tokens[first..] {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => {
                operations.push(Vec::new());
                continue;
            }
            Token::EOF | Token::SemiColon => break,
            _ => {}
        }
        if let Some(operation) = operations.last_mut() {
            operation.push(token.clone());
        }
    }
    operations.retain(|operation| {
        let first = operation
            .iter()
            .find(|token| !matches!(token.token, Token::Whitespace(_)));
        !first.is_some_and(|first| OPTIONS.iter().any(|option| is_word(first, option)))
    });
    let span = tokens[first].span;
    let with_span = |token| TokenWithSpan { token, span };
    if operations.is_empty() {
        // An operation that has no effect either.
        let nothing = [
            Token::make_keyword("ALGORITHM"),
            Token::Eq,
            Token::make_keyword("INPLACE"),
        ];
        operations.push(nothing.map(with_span).to_vec());
    }
    tokens.truncate(first);
    tokens.extend(operations.join(&with_span(Token::Comma)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(sql: &str) -> Vec<String> {
        parse(sql, "MySQL")
            .map(|parsed| parsed.items)
            .unwrap_or_default()
    }

    #[test]
    fn a_column_is_named_as_it_was_written() {
        assert_eq!(
            items("/* x */ SELECT DISTINCT count( * ), 1+1 , NOW(6) AS n, 'a,b' FROM t"),
            ["count( * )", "1+1", "NOW(6) AS n", "'a,b'"]
        );
        assert_eq!(items("(SELECT 1) UNION (SELECT 2)"), ["1"]);
        assert_eq!(
            items("WITH c AS (SELECT 5) SELECT @@version, (SELECT 1) FROM c"),
            ["@@version", "(SELECT 1)"]
        );
    }

    #[test]
    fn an_error_of_syntax_shows_the_place() {
        for (sql, near) in [
            ("SELEC 1", "'SELEC 1' at line 1"),
            ("SELECT *\nFROM t WHERE a = = 1", "'= 1' at line 2"),
            ("SELECT * FROM t WHERE a =", "'' at line 1"),
            ("SELECT 1 2", "'2' at line 1"),
        ] {
            let problem = parse(sql, "MySQL").err().expect("an error");
            assert_eq!(problem.code, 1064);
            assert!(problem.message.ends_with(near), "{}", problem.message);
        }
    }

    #[test]
    fn chains_are_counted_between_commas() {
        let chain = |operators: usize| "1 OR ".repeat(operators) + "1";
        let code = |sql: String| parse(&sql, "MySQL").err().map(|problem| problem.code);
        let half = chain(MOST_DEEP / 2);
        assert_eq!(
            code(format!("SELECT {half}, {half}, ({half}), ({half})")),
            None
        );
        assert_eq!(code(format!("SELECT {half} OR ({half})")), Some(1436));
        assert_eq!(code(format!("SELECT {}", chain(200_000))), Some(1436));
        let unions = "SELECT 1 UNION ".repeat(MOST_DEEP + 1);
        assert_eq!(code(format!("{unions} SELECT 1")), Some(1436));
    }

    #[test]
    fn words_of_mysql_alone_are_understood() {
        for sql in [
            "SELECT 7 MOD 2, MOD(7, 2), !1",
            "SELECT * FROM t LOCK IN SHARE MODE",
            "DO SLEEP(1)",
            "TABLE t",
            "ALTER TABLE a.t ENGINE=InnoDB",
            "ALTER TABLE t ADD x INT, COMMENT='a, b', FORCE",
            "ALTER TABLE t DROP KEY k",
        ] {
            assert!(
                parse(sql, "MySQL").is_ok(),
                "{sql}: {:?}",
                parse(sql, "MySQL").err()
            );
        }
        let parsed = parse("SELECT a, b FROM t INTO @x, @Y", "MySQL").expect("parsed");
        assert_eq!(parsed.into, ["x", "y"]);
    }
}
