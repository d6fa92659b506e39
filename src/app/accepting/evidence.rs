//! What was seen, as sentences.

use std::time::Duration;

use super::drift::{DriftReport, Handed};
use super::sessions::Wrote;
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::probe::{ReadFrom, Seen, Verdict, WaitedRead};
use crate::model::time::Span;
use crate::model::trouble::Trouble;

/// Sentence, hint, and the server's own words.
pub fn trouble(why: &Trouble) -> Vec<Phrase> {
    let mut all = vec![why.what.clone()];
    all.extend(why.hint.clone());
    if !why.detail.is_empty() {
        all.push(phrase("accept.saw.words").with("text", why.detail.as_str()));
    }
    all
}

pub fn not_reached(server: &str, why: &Trouble) -> Vec<Phrase> {
    said_of(phrase("accept.saw.not_reached"), server, why)
}

pub fn not_held(server: &str, why: &Trouble) -> Vec<Phrase> {
    said_of(phrase("accept.saw.not_held"), server, why)
}

fn said_of(sentence: Phrase, server: &str, why: &Trouble) -> Vec<Phrase> {
    let mut all = vec![
        sentence
            .with("server", server)
            .with("why", why.what.clone()),
    ];
    all.extend(trouble(why).into_iter().skip(1));
    all
}

pub fn wrote(server: &str, wrote: &Wrote) -> Phrase {
    let said = match &wrote.written.token {
        Ok(token) => phrase("accept.saw.wrote")
            .with("gtid", token.gtids.to_string())
            .with("from", token.from.code()),
        Err(kind) => {
            let why = kind.reason().unwrap_or(phrase("probe.reason.no_gtid"));
            phrase("accept.saw.wrote_without_gtid").with("why", why)
        }
    };
    let took = wrote.written.committed_at.since(wrote.written.asked_at);
    said.with("server", server)
        .with("value", wrote.value.as_str())
        .with("session", Arg::Number(wrote.session))
        .with("took", took)
}

/// A plain read that was old; `None` for one that was not.
pub fn caught(server: &str, wrote: &Wrote, seen: &Seen) -> Option<Phrase> {
    let said = match seen.verdict(&wrote.value) {
        Verdict::Old => phrase("accept.saw.old").with("old", seen.text().unwrap_or_default()),
        Verdict::Missing => phrase("accept.saw.missing"),
        Verdict::Fresh | Verdict::Failed => return None,
    };
    let after = seen.asked_at.since(wrote.written.committed_at);
    Some(
        said.with("server", server)
            .with("value", wrote.value.as_str())
            .with("session", Arg::Number(seen.session.unwrap_or_default()))
            .with("after", after),
    )
}

pub fn waited(server: &str, wrote: &Wrote, waited: &WaitedRead) -> Phrase {
    let value = match &waited.read.value {
        Ok(Some(value)) => phrase("accept.saw.value").with("value", value.as_str()),
        Ok(None) => phrase("accept.saw.no_row"),
        Err(why) => why.what.clone(),
    };
    let took = waited.wait.length().unwrap_or(Span::ZERO);
    let said = match waited.read_from {
        ReadFrom::Replica => phrase("accept.saw.waited_read"),
        ReadFrom::Source => {
            let none = || phrase("probe.reason.refused");
            phrase("accept.saw.sent_to_source")
                .with("why", waited.reason.clone().unwrap_or_else(none))
        }
    };
    said.with("server", server)
        .with("wait", took)
        .with(
            "session",
            Arg::Number(waited.read.session.unwrap_or_default()),
        )
        .with("read", value)
        .with("value", wrote.value.as_str())
}

pub fn waits_for_nothing(server: &str, reason: Phrase) -> Phrase {
    phrase("accept.saw.no_wait")
        .with("server", server)
        .with("why", reason)
}

/// Said before it is done.
pub fn holds(server: &str, at_most: Duration) -> Phrase {
    phrase("accept.does.hold")
        .with("server", server)
        .with("limit", Span::from(at_most))
}

pub fn held(server: &str, session: u64) -> Phrase {
    phrase("accept.saw.held")
        .with("server", server)
        .with("session", Arg::Number(session))
}

pub fn caught_up(server: &str, took: Option<Span>) -> Phrase {
    match took {
        Some(took) => phrase("accept.saw.caught_up").with("took", took),
        None => phrase("accept.saw.not_caught_up"),
    }
    .with("server", server)
}

pub fn drift(report: &DriftReport, writes: &str) -> Vec<Phrase> {
    let binding = &report.binding;
    vec![
        handed(phrase("accept.saw.strict"), &report.strict)
            .with("cleaned", report.cleaned)
            .with("destroyed", report.destroyed)
            .with("server", writes),
        handed(phrase("accept.saw.sloppy"), &report.sloppy).with("lost", report.drift.lost),
        phrase("accept.saw.bound")
            .with("stayed", binding.bound.ran.len() as u64)
            .with("strayed", binding.bound.strayed.len() as u64)
            .with("own", binding.bound.saw_own_write)
            .with("inside", binding.bound.reads_inside),
        phrase("accept.saw.by_kind")
            .with("strayed", binding.by_kind.strayed.len() as u64)
            .with("own", binding.by_kind.saw_own_write)
            .with("inside", binding.by_kind.reads_inside),
    ]
}

fn handed(sentence: Phrase, handed: &Handed) -> Phrase {
    let fields = handed
        .carried
        .iter()
        .rev()
        .fold(None, |rest, (field, count)| {
            let one = phrase("accept.saw.field")
                .with("field", field.phrase())
                .with("count", *count);
            Some(match rest {
                None => one,
                Some(rest) => phrase("accept.saw.and").with("one", one).with("rest", rest),
            })
        });
    sentence
        .with("lent", handed.lent)
        .with("wrong", handed.wrong_server)
        .with(
            "carried",
            fields.unwrap_or_else(|| phrase("accept.saw.nothing")),
        )
}
