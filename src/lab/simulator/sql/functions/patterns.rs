//! Regular expressions.

use std::cell::RefCell;
use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use rusqlite::types::ValueRef;

use super::{Frame, Function, INT, TEXT, Value};
use super::{Given, int, pure, text};
use crate::lab::simulator::sql::problem::SqlProblem;

pub const FUNCTIONS: &[Function] = &[
    pure("REGEXP", (2, 2), INT, like),
    pure("REGEXP_LIKE", (2, 3), INT, like),
    pure("REGEXP_REPLACE", (3, 6), TEXT, replace),
    pure("REGEXP_SUBSTR", (2, 5), TEXT, part),
    pure("REGEXP_INSTR", (2, 6), INT, place),
];

type Arguments<'a> = &'a [ValueRef<'a>];

fn like(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let is_like = with(frame, a[1], a.get(2), |regex| regex.is_match(&text(a[0])))?;
    Ok(is_like.into())
}

fn replace(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let said = text(a[0]);
    let from = start(&said, a.get(3))?;
    let nth = a.get(4).map_or(0, |nth| int(*nth).max(0) as usize);
    let new = replacement(&text(a[2]), frame.is_mariadb());
    let (kept, rest) = said.split_at(from);
    let replaced = with(frame, a[1], a.get(5), |regex| match nth {
        0 => regex.replace_all(rest, new.as_str()).into_owned(),
        nth => replaced_once(regex, rest, nth, &new),
    })?;
    Ok(Value::Text(format!("{kept}{replaced}")))
}

fn replaced_once(regex: &Regex, text: &str, nth: usize, new: &str) -> String {
    let Some(found) = regex.captures_iter(text).nth(nth - 1) else {
        return text.to_owned();
    };
    let place = found.get_match().range();
    let mut replaced = text[..place.start].to_owned();
    found.expand(new, &mut replaced);
    replaced + &text[place.end..]
}

/// `$1` on MySQL, `\1` on MariaDB; `${1}` is what cannot be mistaken.
fn replacement(written: &str, is_mariadb: bool) -> String {
    let (sign, other) = if is_mariadb { ('\\', '$') } else { ('$', '\\') };
    let mut new = String::new();
    let mut chars = written.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            (c, Some(digit)) if c == sign && digit.is_ascii_digit() => {
                new.push_str(&format!("${{{digit}}}"));
                chars.next();
            }
            (c, Some(_)) if c == other && c == '\\' => new.extend(chars.next()),
            ('$', _) => new.push_str("$$"),
            (c, _) => new.push(c),
        }
    }
    new
}

fn part(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let said = text(a[0]);
    let from = start(&said, a.get(2))?;
    let found = found(frame, &said[from..], a, (a.get(3), a.get(4)))?;
    let missing = if frame.is_mariadb() {
        Value::text("")
    } else {
        Value::Null
    };
    Ok(found.map_or(missing, |range| Value::text(&said[from..][range])))
}

fn place(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let said = text(a[0]);
    let from = start(&said, a.get(2))?;
    let behind = a.get(4).is_some_and(|behind| int(*behind) != 0);
    let found = found(frame, &said[from..], a, (a.get(3), a.get(5)))?;
    let at = found.map(|range| from + if behind { range.end } else { range.start });
    Ok(Value::Int(
        at.map_or(0, |at| said[..at].chars().count() as i64 + 1),
    ))
}

fn found(
    frame: &Frame,
    said: &str,
    a: Arguments<'_>,
    (nth, how): (Option<&ValueRef<'_>>, Option<&ValueRef<'_>>),
) -> Result<Option<std::ops::Range<usize>>, SqlProblem> {
    let nth = nth.map_or(1, |nth| int(*nth).max(1) as usize);
    with(frame, a[1], how, |regex| {
        regex
            .find_iter(said)
            .nth(nth - 1)
            .map(|found| found.range())
    })
}

/// Where the character of this number begins.
fn start(said: &str, number: Option<&ValueRef<'_>>) -> Result<usize, SqlProblem> {
    let Some(number) = number.map(|number| int(*number)) else {
        return Ok(0);
    };
    let before = usize::try_from(number.saturating_sub(1)).ok();
    let mut places = said.char_indices().map(|(at, _)| at).chain([said.len()]);
    let place = before.and_then(|before| places.nth(before));
    place.ok_or_else(|| SqlProblem::new(3686, "Index out of bounds in regular expression search."))
}

/// Patterns that this thread has used lately.
const KEPT: usize = 32;

thread_local! {
    static PATTERNS: RefCell<HashMap<String, Regex>> = RefCell::default();
}

fn with<T>(
    frame: &Frame,
    pattern: ValueRef<'_>,
    how: Option<&ValueRef<'_>>,
    look: impl FnOnce(&Regex) -> T,
) -> Result<T, SqlProblem> {
    let how = how.map_or(String::new(), |how| text(*how));
    let pattern = text(pattern);
    let key = format!("{how}/{pattern}");
    PATTERNS.with_borrow_mut(|patterns| {
        if patterns.len() >= KEPT {
            patterns.clear();
        }
        if !patterns.contains_key(&key) {
            let regex = compiled(&pattern, &how).map_err(|error| wrong(frame, &error))?;
            patterns.insert(key.clone(), regex);
        }
        Ok(look(&patterns[&key]))
    })
}

/// Case does not matter, as in the usual collations, unless it is said to.
fn compiled(pattern: &str, how: &str) -> Result<Regex, regex::Error> {
    let last = how.rfind(['c', 'i']).map(|at| &how[at..=at]);
    RegexBuilder::new(pattern)
        .case_insensitive(last != Some("c"))
        .multi_line(how.contains('m'))
        .dot_matches_new_line(how.contains('n'))
        .build()
}

fn wrong(frame: &Frame, error: &regex::Error) -> SqlProblem {
    let text = error.to_string();
    let last = text
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    match frame.is_mariadb() {
        true => SqlProblem::new(1139, format!("Regex error '{last}'")),
        false => SqlProblem::new(
            3685,
            format!("Illegal argument to a regular expression: {last}."),
        ),
    }
}
