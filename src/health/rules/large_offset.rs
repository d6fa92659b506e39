//! A statement skips many rows before it returns some.
//!
//! Sees: "Statement skips 100,000 rows (OFFSET)".
//! Why: the rows skipped are read all the same; deep pages of lists eat the replica's CPU and IO and replication with it
//! (C-11).
//! What to do: page by key: `WHERE seq > last ORDER BY seq LIMIT n`.
//! Decided: `LIMIT … OFFSET n` or `LIMIT n, m` with n over 10,000 in a statement that runs now.
//! Can't tell: the process list is refused.

use super::{Rule, quoted};
use crate::health::facts::Facts;
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::{Arg, phrase};
use crate::model::sample::{Answer, Sample};

pub const RULE: Rule = Rule {
    code: "large_offset",
    ask,
};

const LIMIT: u64 = 10_000;

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |_, sample| judge(sample))
}

fn judge(sample: &Sample) -> Say {
    let running = match &sample.statements {
        Answer::Known { value, .. } => value,
        Answer::Refused(trouble) => return Say::CannotTell(trouble.what.clone()),
        Answer::NotAsked { .. } => return Say::Nothing,
    };
    let worst = running
        .iter()
        .filter_map(|running| Some((running, offset(running.statement.as_deref()?)?)))
        .max_by_key(|(_, offset)| *offset);
    match worst.filter(|(_, offset)| *offset > LIMIT) {
        None => Say::Fine,
        Some((running, offset)) => Draft::new(
            Severity::Info,
            phrase("finding.large_offset.text")
                .with("count", offset)
                .with("user", running.user.as_str())
                .with("thread", Arg::Number(running.thread)),
        )
        .evidence(running.statement.as_deref().map(quoted))
        .advice("finding.large_offset.advice")
        .say(),
    }
}

/// The largest number of rows a statement skips. Words inside string literals are taken for SQL too: it is a hint.
fn offset(statement: &str) -> Option<u64> {
    let words: Vec<String> = statement
        .replace(',', " , ")
        .replace(['(', ')', ';'], " ")
        .split_whitespace()
        .map(str::to_ascii_uppercase)
        .collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let skips = |(at, word): (usize, &String)| match word.as_str() {
        "OFFSET" => number(at + 1),
        "LIMIT" if words.get(at + 2).is_some_and(|word| word == ",") => number(at + 1),
        _ => None,
    };
    words.iter().enumerate().filter_map(skips).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_an_offset_are_read() {
        for (statement, skipped) in [
            (
                "SELECT * FROM m ORDER BY id LIMIT 20 OFFSET 100000",
                Some(100_000),
            ),
            ("select * from m limit 50000,20", Some(50_000)),
            (
                "SELECT * FROM (SELECT 1 FROM t LIMIT 7 , 3) x LIMIT 9",
                Some(7),
            ),
            ("SELECT * FROM m WHERE seq > 5 LIMIT 20", None),
            ("SELECT * FROM m LIMIT ? OFFSET ?", None),
        ] {
            assert_eq!(offset(statement), skipped, "{statement}");
        }
    }
}
