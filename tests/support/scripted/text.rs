//! Statement texts: when two count as the same, and how a list of expressions comes apart.

/// Which statements an answer is for. Compared without regard to case, whitespace, leading comments and a `;` at the end.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Exact(String),
    Prefix(String),
    Contains(String),
}

pub fn prefix(text: &str) -> Pattern {
    Pattern::Prefix(normalised(text))
}

pub fn contains(text: &str) -> Pattern {
    Pattern::Contains(normalised(text))
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Pattern::Exact(normalised(text))
    }
}

impl Pattern {
    pub fn fits(&self, normalised: &str) -> bool {
        match self {
            Pattern::Exact(text) => normalised == text,
            Pattern::Prefix(text) => normalised.starts_with(text.as_str()),
            Pattern::Contains(text) => normalised.contains(text.as_str()),
        }
    }
}

pub fn without_comments_before(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    while let Some((_, after)) = rest
        .strip_prefix("/*")
        .and_then(|comment| comment.split_once("*/"))
    {
        rest = after.trim_start();
    }
    rest.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

pub fn normalised(sql: &str) -> String {
    let mut text = String::new();
    for (c, inside) in outside_and_inside(without_comments_before(sql)) {
        let folds = inside.is_none() && c.is_whitespace();
        match folds {
            true if text.ends_with(' ') => {}
            true => text.push(' '),
            false => text.extend(c.to_lowercase()),
        }
    }
    text
}

/// Cuts at the commas outside quotes and parentheses.
pub fn items(list: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for ((at, c), (_, inside)) in list.char_indices().zip(outside_and_inside(list)) {
        match c {
            _ if inside.is_some() => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                items.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(list[start..].trim());
    items
}

/// Where this word stands alone outside quotes and parentheses; the last place, if there are several.
pub fn last_word_at(text: &str, word: &str) -> Option<usize> {
    let (mut found, mut depth) = (None, 0);
    for ((at, c), (_, inside)) in text.char_indices().zip(outside_and_inside(text)) {
        match c {
            _ if inside.is_some() => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && starts_word(text, at, word) => found = Some(at),
            _ => {}
        }
    }
    found
}

fn starts_word(text: &str, at: usize, word: &str) -> bool {
    let stops = |c: Option<char>| c.is_none_or(char::is_whitespace);
    text[at..]
        .get(..word.len())
        .is_some_and(|here| here.eq_ignore_ascii_case(word))
        && stops(text[..at].chars().next_back())
        && stops(text[at + word.len()..].chars().next())
}

/// The texts in single or double quotes, each with what stands before it.
pub fn literals(text: &str) -> Vec<(&str, &str)> {
    let mut literals = Vec::new();
    let (mut after_last, mut open) = (0, None);
    for ((at, _), (_, inside)) in text.char_indices().zip(outside_and_inside(text)) {
        match (open, inside) {
            (None, Some('\'' | '"')) => open = Some(at),
            (Some(start), None) => {
                literals.push((&text[after_last..start], &text[start + 1..at - 1]));
                (after_last, open) = (at, None);
            }
            _ => {}
        }
    }
    if let Some(start) = open {
        literals.push((
            &text[after_last..start],
            text[start + 1..].trim_end_matches(['\'', '"']),
        ));
    }
    literals
}

/// Each character with the quote it is inside of; the quotes themselves count as inside.
fn outside_and_inside(text: &str) -> impl Iterator<Item = (char, Option<char>)> + '_ {
    let mut open = None;
    text.chars().map(move |c| match open {
        Some(quote) if c == quote => {
            open = None;
            (c, Some(quote))
        }
        None if matches!(c, '\'' | '"' | '`') => {
            open = Some(c);
            (c, open)
        }
        inside => (c, inside),
    })
}

#[test]
fn statements_that_differ_in_dress_only_are_the_same() {
    assert_eq!(
        normalised(" /* app */ /*2*/ SHOW\n  Replica\tSTATUS ; "),
        "show replica status"
    );
    assert_eq!(
        normalised("SELECT 'a  B' , \"c;\""),
        "select 'a  b' , \"c;\""
    );
}

#[test]
fn a_list_comes_apart_at_its_own_commas_only() {
    assert_eq!(
        items("@@a AS x, F(1, 'b)') , 'c,d'"),
        ["@@a AS x", "F(1, 'b)')", "'c,d'"]
    );
    assert_eq!(last_word_at("CAST(a AS CHAR) AS `as b`", "as"), Some(16));
    assert_eq!(
        literals("x IN ('a', \"b\")"),
        [("x IN (", "a"), (", ", "b")]
    );
    assert_eq!(literals("LIKE 'Rpl%'"), [("LIKE ", "Rpl%")]);
}
