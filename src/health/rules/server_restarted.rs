//! A server was started anew.
//!
//! Sees: "Server restarted 2 min ago".
//! Why: `SET GLOBAL` is forgotten, read_only may be back to its file, the event scheduler off, caches cold.
//! What to do: look at what depends on settings made by hand.
//! Decided: the moment of its start, worked out from uptime, has moved, or connections are counted anew; told for ten
//! minutes.
//! Can't tell: uptime is not told.

use super::Rule;
use crate::health::facts::{Facts, ServerFacts};
use crate::health::judgement::{Draft, Judgement, Say, of_servers};
use crate::model::finding::Severity;
use crate::model::phrase::phrase;
use crate::model::sample::Sample;
use crate::model::time::{Moment, Span};

pub const RULE: Rule = Rule {
    code: "server_restarted",
    ask,
};

/// How long a thing that happened is news.
const NEWS: Span = Span::from_secs(600);

/// How long ago it was, while it is news.
pub fn news(at: Moment, now: Moment) -> Option<Span> {
    let ago = now.since(at);
    (ago <= NEWS).then_some(ago.or_zero())
}

/// Whether the server was started anew between two samples, the older first.
///
/// A server killed right after its start may be up for longer at the next look than it was at the last, so not uptimes
/// are compared but the moments of the start. Uptime is the difference of two readings of the server's own clock: when
/// that is set, the moment moves on our clock and stays on the server's. Where uptime runs on evenly, it is the other
/// way round. A restart moves both. One within the second of a server's own start moves neither by more than uptime's
/// whole seconds hide; then the connections' ids tell it.
pub fn was_restarted(before: &Sample, after: &Sample) -> bool {
    start_has_moved(before, after) || counts_connections_anew(before, after)
}

fn start_has_moved(before: &Sample, after: &Sample) -> bool {
    // Asked somewhere in the poll, after the clock, and told in whole seconds.
    let on_ours = moved(before, after, started).map(|by| by > SECOND + took(after));
    let on_its_own =
        moved(before, after, started_by_its_clock).map(|by| by > SECOND + took(before));
    on_ours == Some(true) && on_its_own != Some(false)
}

/// Ids grow for as long as a server runs; after 2³² they begin again in the greeting, as they do in a proxy that was
/// restarted, so the server must also be no older than the time we have not heard of it.
fn counts_connections_anew(before: &Sample, after: &Sample) -> bool {
    let ids = before.identity.connection.zip(after.identity.connection);
    let silence = after.answered_at.since(before.asked_at);
    ids.is_some_and(|(was, is)| is < was)
        && (after.identity.uptime).is_some_and(|uptime| uptime <= silence)
}

const SECOND: Span = Span::from_secs(1);

fn moved(before: &Sample, after: &Sample, start: fn(&Sample) -> Option<Span>) -> Option<Span> {
    Some(start(after)? - start(before)?)
}

/// Since 1970, at the latest.
fn started(sample: &Sample) -> Option<Span> {
    Some(Span::from_micros(sample.answered_at.unix_micros()) - sample.identity.uptime?)
}

/// Since 1970 on its clock, at the earliest.
fn started_by_its_clock(sample: &Sample) -> Option<Span> {
    Some(Span::from_micros(sample.clock?.server.0) - sample.identity.uptime?)
}

fn took(sample: &Sample) -> Span {
    sample.answered_at.since(sample.asked_at)
}

fn ask(code: &'static str, facts: &Facts<'_>) -> Vec<Judgement> {
    of_servers(code, facts, |server, sample| {
        judge(server, sample, facts.now)
    })
}

fn judge(server: &ServerFacts<'_>, sample: &Sample, now: Moment) -> Say {
    let restarted = server.memory.restarted_at.and_then(|at| news(at, now));
    match restarted {
        Some(ago) => Draft::new(
            Severity::Info,
            phrase("finding.server_restarted.text").with("ago", ago),
        )
        .advice("finding.server_restarted.advice")
        .say(),
        None if sample.identity.uptime.is_none() => Say::CannotTell(phrase("lamp.uptime_untold")),
        None => Say::Fine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::build::*;
    use crate::model::sample::ClockReading;
    use crate::model::time::ServerTime;

    /// Answered so many milliseconds after `NOW`, with the server's clock this far ahead of ours.
    fn seen(at_ms: i64, took_ms: i64, uptime_secs: i64, ahead_secs: i64) -> Sample {
        let answered_at = NOW + Span::from_millis(at_ms);
        let asked_at = answered_at - Span::from_millis(took_ms);
        let mut seen = sample(1);
        (seen.asked_at, seen.answered_at) = (asked_at, answered_at);
        seen.identity.uptime = Some(Span::from_secs(uptime_secs));
        seen.clock = Some(ClockReading {
            server: ServerTime((asked_at + Span::from_secs(ahead_secs)).unix_micros()),
            asked_at,
            answered_at: asked_at,
        });
        seen
    }

    #[test]
    fn a_start_that_has_moved_is_a_restart_and_a_clock_that_was_set_is_none() {
        let young = seen(0, 0, 3, 0);
        let old = seen(0, 0, 100, 0);
        let cases = [
            ("goes on", &old, seen(10_000, 0, 110, 0), false),
            ("between two seconds", &old, seen(10_999, 0, 110, 0), false),
            ("exactly a second", &old, seen(11_000, 0, 110, 0), false),
            ("more than a second", &old, seen(11_001, 0, 110, 0), true),
            (
                "asked early in a long poll",
                &old,
                seen(13_900, 3_000, 110, 0),
                false,
            ),
            ("uptime went back", &old, seen(10_000, 0, 3, 0), true),
            ("at once again as old", &young, seen(4_000, 0, 3, 0), true),
            (
                "older than it was before",
                &young,
                seen(10_000, 0, 5, 0),
                true,
            ),
            (
                "its clock was set back",
                &old,
                seen(10_000, 0, 105, -5),
                false,
            ),
            ("set back by much", &old, seen(10_000, 0, 0, -110), false),
            ("set ahead", &old, seen(10_000, 0, 200, 90), false),
            (
                "set ahead, uptime even",
                &old,
                seen(10_000, 0, 110, 90),
                false,
            ),
            (
                "set back, uptime even",
                &old,
                seen(10_000, 0, 110, -90),
                false,
            ),
            (
                "restarted and set ahead",
                &young,
                seen(10_000, 0, 5, 90),
                true,
            ),
        ];
        for (name, before, after, expected) in cases {
            assert_eq!(was_restarted(before, &after), expected, "{name}");
        }
    }

    #[test]
    fn without_its_clock_ours_decides_and_without_uptime_nothing_is_said() {
        let (before, mut after) = (seen(0, 0, 3, 0), seen(10_000, 0, 5, 0));
        after.clock = None;
        assert!(was_restarted(&before, &after));
        after.identity.uptime = None;
        assert!(!was_restarted(&before, &after));
    }

    #[test]
    fn connections_counted_anew_are_a_restart_of_a_server_young_enough() {
        let cases = [
            ("within its first second", (0, 12), (400, 0, 3), true),
            ("the same connection", (0, 12), (400, 0, 12), false),
            ("a later one", (0, 12), (400, 0, 13), false),
            ("through a restarted proxy", (100, 12), (400, 100, 3), false),
        ];
        for (name, (uptime, id), (at_ms, uptime_then, id_then), expected) in cases {
            let (mut before, mut after) = (seen(0, 0, uptime, 0), seen(at_ms, 0, uptime_then, 0));
            before.identity.connection = Some(id);
            after.identity.connection = Some(id_then);
            assert_eq!(was_restarted(&before, &after), expected, "{name}");
            after.identity.connection = None;
            assert!(!was_restarted(&before, &after), "{name}, id untold");
        }
    }

    #[test]
    fn a_restart_is_news_for_ten_minutes() {
        let mut town = source_and_replica();
        town.replica().memory.restarted_at = Some(secs_ago(120));
        assert_eq!(
            raised(&town, &RULE)[0].text.arg("ago"),
            Some(&Span::from_secs(120).into())
        );
        town.replica().memory.restarted_at = Some(secs_ago(601));
        assert_eq!(raised(&town, &RULE), []);
    }
}
