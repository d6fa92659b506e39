//! One run on one replica: the three reads as cards, and everything in the order of time.

use crate::model::phrase::phrase;
use crate::model::probe::{
    Outcome, ProbeRun, ReadFrom, ReplicaRun, Seen, TokenFrom, Verdict, WaitKind, WaitSeen, Write,
};
use crate::model::time::Moment;
use crate::ui::Frame;
use crate::ui::widgets::Sign;

use super::board::ProbeView;
use super::timeline::{Bar, TimeRow, Timeline, Tone};
use super::wording::{SignedLine, exact, outcome_key, session, verdict_key, verdict_sign};

/// One read as a card.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadCard {
    pub title: String,
    /// Where it was read, on which connection.
    pub place: String,
    pub value: String,
    pub sign: Sign,
    pub word: String,
    pub lines: Vec<String>,
}

/// "run 17 of 200 · 12 s ago · GTID …:1204 (from the commit)".
pub fn heading(frame: &Frame<'_>, view: &ProbeView, run: &ProbeRun) -> Option<SignedLine> {
    let words = frame.words;
    let write = run.write.as_ref().ok()?;
    let token = match &write.token {
        Ok(token) => {
            let from = words.text(match token.from {
                TokenFrom::Session => "probe_screen.gtid.session",
                TokenFrom::ExecutedSet => "probe_screen.gtid.executed_set",
                TokenFrom::LastGtid => "probe_screen.gtid.last_gtid",
            });
            format!("GTID {} ({from})", short_gtid(&token.gtids.to_string()))
        }
        Err(kind) => words.text(outcome_key(*kind)).to_owned(),
    };
    let text = phrase("probe_screen.heading")
        .with("run", run.number.to_string())
        .with("runs", view.plan.runs.to_string())
        .with("age", words.ago(frame.now.since(write.committed_at)))
        .with("gtid", token);
    Some(SignedLine {
        sign: Sign::NotApplicable,
        text: words.say(&text),
    })
}

/// The end of a long one is what tells it from others.
fn short_gtid(gtid: &str) -> String {
    let length = gtid.chars().count();
    if length <= 24 {
        return gtid.to_owned();
    }
    let end: String = gtid.chars().skip(length - 20).collect();
    format!("…{end}")
}

pub fn cards(
    frame: &Frame<'_>,
    view: &ProbeView,
    run: &ProbeRun,
    shown: usize,
) -> Option<[ReadCard; 3]> {
    let write = run.write.as_ref().ok()?;
    let replica = run.replicas.get(shown)?;
    let name = view.replicas.get(shown)?.name.as_str();
    let source = view.source.as_ref().map_or("", |s| s.name.as_str());
    Some([
        plain_card(frame, run, replica, name),
        waited_card(frame, run, write, replica, name, source),
        source_card(frame, run, source),
    ])
}

fn plain_card(frame: &Frame<'_>, run: &ProbeRun, replica: &ReplicaRun, name: &str) -> ReadCard {
    let title = frame.words.text("probe_screen.card.plain");
    let mut card = read_card(frame, run, &replica.plain, title, name);
    if card.sign == Sign::Critical {
        let written = phrase("probe_screen.card.written").with("value", run.value.as_str());
        card.lines.push(frame.words.say(&written));
    }
    card
}

fn source_card(frame: &Frame<'_>, run: &ProbeRun, source: &str) -> ReadCard {
    let title = frame.words.text("probe_screen.card.source");
    match &run.source {
        Some(seen) => read_card(frame, run, seen, title, source),
        None => ReadCard {
            title: title.to_owned(),
            place: source.to_owned(),
            value: "—".to_owned(),
            sign: Sign::Unknown,
            word: frame.words.text(verdict_key(Verdict::Failed)).to_owned(),
            lines: Vec::new(),
        },
    }
}

/// What a read found, and when.
fn read_card(
    frame: &Frame<'_>,
    run: &ProbeRun,
    seen: &Seen,
    title: &str,
    server: &str,
) -> ReadCard {
    let words = frame.words;
    let verdict = seen.verdict(&run.value);
    let mut lines = Vec::new();
    if let Some(after) = run.after_commit(seen) {
        let took = seen.answered_at.since(seen.asked_at);
        let text = phrase("probe_screen.card.after")
            .with("after", exact(words, after))
            .with("took", exact(words, took));
        lines.push(words.say(&text));
    }
    if let Err(trouble) = &seen.value {
        lines.push(words.say(&trouble.what));
        lines.extend((!trouble.detail.is_empty()).then(|| trouble.detail.clone()));
    }
    ReadCard {
        title: title.to_owned(),
        place: format!("{server} · {}", session(words, seen.session)),
        value: value(frame, seen),
        sign: verdict_sign(verdict),
        word: words.text(verdict_key(verdict)).to_owned(),
        lines,
    }
}

fn value(frame: &Frame<'_>, seen: &Seen) -> String {
    match &seen.value {
        Ok(Some(value)) => value.clone(),
        Ok(None) => frame.words.text("probe_screen.card.no_row").to_owned(),
        Err(_) => "—".to_owned(),
    }
}

fn waited_card(
    frame: &Frame<'_>,
    run: &ProbeRun,
    write: &Write,
    replica: &ReplicaRun,
    name: &str,
    source: &str,
) -> ReadCard {
    let words = frame.words;
    let waited = &replica.waited;
    let read = &waited.read;
    let verdict = read.verdict(&run.value);
    let place = match waited.read_from {
        ReadFrom::Replica => words.say(
            &phrase("probe_screen.card.same_connection")
                .with("server", name)
                .with("session", session(words, read.session)),
        ),
        ReadFrom::Source => words.say(
            &phrase("probe_screen.card.fell_back")
                .with("server", source)
                .with("session", session(words, read.session)),
        ),
    };
    let word = match verdict {
        Verdict::Fresh => words.say(&phrase("probe_screen.verdict.fresh_after").with(
            "after",
            exact(words, read.answered_at.since(write.committed_at)),
        )),
        other => words.text(verdict_key(other)).to_owned(),
    };
    let mut lines = vec![wait_line(frame, &waited.wait)];
    if let Some(reason) = &waited.reason {
        lines.push(words.say(reason));
    }
    if let Some(trouble) = &waited.wait.trouble {
        lines.extend((!trouble.detail.is_empty()).then(|| trouble.detail.clone()));
    }
    if let Err(trouble) = &read.value {
        lines.push(words.say(&trouble.what));
    }
    ReadCard {
        title: words.text("probe_screen.card.waited").to_owned(),
        place,
        value: value(frame, read),
        sign: verdict_sign(verdict),
        word,
        lines,
    }
}

/// "wait: reached, 34.712 ms", with the number the server answered where it is not the usual one.
fn wait_line(frame: &Frame<'_>, wait: &WaitSeen) -> String {
    let words = frame.words;
    let mut outcome = words.text(outcome_key(wait.kind)).to_owned();
    if let Some(code) = wait.code.filter(|_| wait.kind != WaitKind::Reached) {
        outcome += &format!(" ({code})");
    }
    match wait.length() {
        Some(length) => words.say(
            &phrase("probe_screen.card.wait")
                .with("outcome", outcome)
                .with("length", exact(words, length)),
        ),
        None => words.say(&phrase("probe_screen.card.no_wait").with("outcome", outcome)),
    }
}

/// From the moment the write was sent.
pub fn timeline(
    frame: &Frame<'_>,
    view: &ProbeView,
    run: &ProbeRun,
    shown: usize,
) -> Option<Timeline> {
    let words = frame.words;
    let write = run.write.as_ref().ok()?;
    let replica = run.replicas.get(shown)?;
    let name = view.replicas.get(shown)?.name.as_str();
    let at = |moment: Moment| moment.since(write.asked_at).millis_f64();
    let of = |key: &'static str| words.say(&phrase(key).with("server", name));
    let mut rows = vec![TimeRow {
        name: words.text("probe_screen.time.write").to_owned(),
        session: session(words, Some(write.session)),
        bars: vec![Bar {
            from: 0.0,
            to: at(write.committed_at),
            tone: Tone::Write,
        }],
        text: words.say(
            &phrase("probe_screen.time.committed")
                .with("at", exact(words, write.committed_at.since(write.asked_at))),
        ),
    }];
    rows.push(read_row(
        frame,
        run,
        &replica.plain,
        of("probe_screen.time.plain"),
        at,
    ));
    rows.push(wait_row(frame, run, replica, name, at));
    if let Some(seen) = &run.source {
        let name = words.text("probe_screen.time.source").to_owned();
        rows.push(read_row(frame, run, seen, name, at));
    }
    if view.plan.measures_floor {
        let after = replica
            .first_visible
            .map(|seen| exact(words, seen.since(write.committed_at)));
        rows.push(TimeRow {
            name: of("probe_screen.time.visible"),
            session: words.text("probe_screen.time.polled").to_owned(),
            bars: replica
                .first_visible
                .map(|seen| Bar::instant(at(seen)))
                .into_iter()
                .collect(),
            text: match after {
                Some(after) => words.say(&phrase("probe_screen.time.floor").with("after", after)),
                None => words.text("probe_screen.time.never_seen").to_owned(),
            },
        });
    }
    Some(Timeline::new(rows, at(write.committed_at)))
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Fresh => Tone::Fresh,
        Verdict::Old | Verdict::Missing => Tone::Stale,
        Verdict::Failed => Tone::Failed,
    }
}

fn read_row(
    frame: &Frame<'_>,
    run: &ProbeRun,
    seen: &Seen,
    name: String,
    at: impl Fn(Moment) -> f64,
) -> TimeRow {
    let words = frame.words;
    let verdict = seen.verdict(&run.value);
    let after = run.after_commit(seen).map(|after| exact(words, after));
    TimeRow {
        name,
        session: session(words, seen.session),
        bars: vec![Bar {
            from: at(seen.asked_at),
            to: at(seen.answered_at),
            tone: tone(verdict),
        }],
        text: words.say(
            &phrase("probe_screen.time.read")
                .with("verdict", words.text(verdict_key(verdict)))
                .with("after", after.unwrap_or_else(|| "—".to_owned())),
        ),
    }
}

fn wait_row(
    frame: &Frame<'_>,
    run: &ProbeRun,
    replica: &ReplicaRun,
    name: &str,
    at: impl Fn(Moment) -> f64,
) -> TimeRow {
    let words = frame.words;
    let waited = &replica.waited;
    let verdict = waited.read.verdict(&run.value);
    let mut bars = Vec::new();
    if let Some((from, to)) = waited.wait.span {
        let tone = match waited.wait.kind.outcome() {
            Outcome::Reached => Tone::Wait,
            Outcome::TimedOut | Outcome::Failed => Tone::WaitInVain,
        };
        let (from, to) = (at(from), at(to));
        bars.push(Bar { from, to, tone });
    }
    bars.push(Bar {
        from: at(waited.read.asked_at),
        to: at(waited.read.answered_at),
        tone: tone(verdict),
    });
    let key = match waited.read_from {
        ReadFrom::Replica => "probe_screen.time.wait_then_read",
        ReadFrom::Source => "probe_screen.time.wait_then_source",
    };
    TimeRow {
        name: words.say(&phrase(key).with("server", name)),
        session: session(words, waited.wait.session.or(waited.read.session)),
        bars,
        text: format!(
            "{} · {}",
            words.text(verdict_key(verdict)),
            wait_line(frame, &waited.wait)
        ),
    }
}
