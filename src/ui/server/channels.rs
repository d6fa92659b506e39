//! One panel for each channel: its threads, what they say, where they are, and what is filtered out.

use super::scene::Scene;
use super::sql::Asked;
use crate::model::dialect::SECONDS_BEHIND;
use crate::model::phrase::{Arg, phrase};
use crate::model::replication::{Channel, Coordinates, Field, ReplicationError, ThreadState};
use crate::model::time::Span;
use crate::ui::panels::{Block, FactRow, Panel, Tone, answered, from_where, told};
use crate::ui::widgets::Sign;

pub fn panels(scene: &Scene<'_>) -> Vec<Panel> {
    let mut none = scene.panel("channels", "server.channels.title", Asked::Channels);
    match answered(&mut none, scene.frame, &scene.sample.channels) {
        None => vec![none],
        Some((channels, _)) if channels.is_empty() => {
            none.say(scene.t("server.channels.none"), Tone::Dim);
            vec![none]
        }
        Some((channels, _)) => channels
            .iter()
            .map(|channel| panel(scene, channel))
            .collect(),
    }
}

/// The default channel has no name of its own.
pub fn channel_title(scene: &Scene<'_>, name: &str) -> String {
    match name {
        "" => scene.t("server.channel.default").to_owned(),
        name => scene.with("server.channel.named", "name", name),
    }
}

fn panel(scene: &Scene<'_>, channel: &Channel) -> Panel {
    let id = format!("channel {}", channel.name);
    let mut panel =
        Panel::new(id, channel_title(scene, &channel.name)).sql(scene.sql(Asked::Channels));
    panel.note = source_text(channel);
    panel.sign = Some(worst(channel));
    source(scene, channel, &mut panel);
    panel.push(thread(
        scene,
        "server.receiver",
        &channel.receiver,
        channel.receiver_doing.as_deref(),
    ));
    errors(scene, channel.receiver_error.as_ref(), &mut panel);
    panel.push(thread(
        scene,
        "server.applier",
        &channel.applier,
        channel.applier_doing.as_deref(),
    ));
    errors(scene, channel.applier_error.as_ref(), &mut panel);
    panel.push(seconds_behind(scene, channel));
    delay(scene, channel, &mut panel);
    positions(scene, channel, &mut panel);
    filters(scene, channel, &mut panel);
    panel
}

fn worst(channel: &Channel) -> Sign {
    let broken = channel.receiver_error.is_some() || channel.applier_error.is_some();
    match (&channel.receiver, &channel.applier) {
        (ThreadState::Running, ThreadState::Running) => Sign::Ok,
        _ if broken => Sign::Critical,
        (ThreadState::Connecting, _) => Sign::Warning,
        (ThreadState::Stopped, _) | (_, ThreadState::Stopped) => Sign::Stopped,
        _ => Sign::Unknown,
    }
}

fn source_text(channel: &Channel) -> String {
    match channel.source.port {
        Some(port) => format!("{}:{port}", channel.source.host),
        None => channel.source.host.clone(),
    }
}

fn source(scene: &Scene<'_>, channel: &Channel, panel: &mut Panel) {
    let watched = scene
        .judged
        .and_then(|judged| judged.channels.get(&channel.name)?.source)
        .and_then(|watch| scene.frame.store.watched(watch));
    let text = source_text(channel);
    let mut fact = FactRow::new(scene.t("server.source.title"), &text).source(from_where(
        scene.frame,
        scene.own_name("Source_Host"),
        scene.sample.answered_at,
    ));
    if let Some(uuid) = channel.source.uuid.as_ref().filter(|uuid| !uuid.is_empty()) {
        let name = scene.own_name("Source_UUID");
        fact.source = format!("{}\n{name} {uuid}", fact.source);
    }
    match watched {
        Some(server) => fact.value = format!("{} · {text}", server.registration.name),
        None => fact = fact.meaning(scene.t("server.source.not_watched"), Tone::Dim),
    }
    panel.push(fact);
}

fn thread(
    scene: &Scene<'_>,
    name: &'static str,
    state: &ThreadState,
    doing: Option<&str>,
) -> FactRow {
    let (word, tone) = match state {
        ThreadState::Running => (scene.t("server.thread.running").to_owned(), Tone::Good),
        ThreadState::Connecting => (
            scene.t("server.thread.connecting").to_owned(),
            Tone::Warning,
        ),
        ThreadState::Stopped => (scene.t("server.thread.stopped").to_owned(), Tone::Critical),
        ThreadState::Other(word) => (word.clone(), Tone::Unknown),
        ThreadState::Untold => (scene.t("panel.not_told").to_owned(), Tone::Unknown),
    };
    let source = from_where(
        scene.frame,
        scene.own_name("SHOW REPLICA STATUS"),
        scene.sample.answered_at,
    );
    FactRow::new(scene.t(name), word)
        .tone(tone)
        .source(source)
        .meaning(doing.unwrap_or(""), Tone::Dim)
}

/// Number, time and text, to read and to copy.
fn errors(scene: &Scene<'_>, error: Option<&ReplicationError>, panel: &mut Panel) {
    let Some(error) = error else { return };
    let name = phrase("server.error").with("number", Arg::Number(error.number.into()));
    let name = match &error.at {
        Some(at) => format!("{} · {at}", scene.say(&name)),
        None => scene.say(&name),
    };
    panel.push(Block::Code {
        name,
        text: error.text.clone(),
        whole: None,
        copy: scene.t("server.copy_error").to_owned(),
    });
    if let Some((attempt, of)) = attempts(&error.text) {
        let text = phrase("server.attempt").with("attempt", attempt).with(
            "of",
            of.map_or_else(|| "∞".to_owned(), |of| scene.frame.words.count(of)),
        );
        panel.say(scene.say(&text), Tone::Dim);
    }
}

/// Which try to connect this was, from the error text: "This was attempt 3/86400" (8.0 and later), "retries: 3"
/// (before, MariaDB: "retry-time: 1  maximum-retries: 86400").
pub fn attempts(text: &str) -> Option<(u64, Option<u64>)> {
    let number = |text: &str| {
        let digits: String = text
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse::<u64>().ok()
    };
    if let Some((_, rest)) = text.split_once("attempt ") {
        let of = rest.split_once('/').and_then(|(_, of)| number(of));
        return Some((number(rest)?, of));
    }
    let (_, rest) = text.split_once(" retries:")?;
    Some((number(rest)?, None))
}

fn seconds_behind(scene: &Scene<'_>, channel: &Channel) -> FactRow {
    let words = scene.frame.words;
    let (value, tone) = match &channel.seconds_behind {
        Field::Value(secs) => (words.span(Span::from_secs(*secs)), Tone::Plain),
        Field::Null => ("NULL".to_owned(), Tone::Unknown),
        Field::Absent => (scene.t("panel.not_told").to_owned(), Tone::Unknown),
        Field::Unreadable(text) => (text.clone(), Tone::Unknown),
    };
    FactRow::new(scene.own_name(SECONDS_BEHIND), value)
        .tone(tone)
        .source(from_where(
            scene.frame,
            scene.own_name("SHOW REPLICA STATUS"),
            scene.sample.answered_at,
        ))
}

fn delay(scene: &Scene<'_>, channel: &Channel, panel: &mut Panel) {
    if channel.planned_delay <= Span::ZERO {
        return;
    }
    let words = scene.frame.words;
    let mut fact = scene.fact(
        "server.planned_delay.title",
        Some(channel.planned_delay),
        |d| words.span(d),
        "SQL_Delay",
    );
    if let Some(left) = channel.remaining_delay {
        fact = fact.meaning(
            scene.with("server.planned_delay.left", "left", left),
            Tone::Dim,
        );
    }
    panel.push(fact);
}

fn positions(scene: &Scene<'_>, channel: &Channel, panel: &mut Panel) {
    let words = scene.frame.words;
    let at = |at: Coordinates| format!("{} : {}", at.file, words.count(at.position));
    let named = |at: &Option<Coordinates>| at.clone().filter(|at| !at.file.is_empty());
    panel.push(scene.fact(
        "server.read",
        named(&channel.read),
        at,
        scene.own_name("Read_Source_Log_Pos"),
    ));
    panel.push(scene.fact(
        "server.executed",
        named(&channel.executed),
        at,
        scene.own_name("Exec_Source_Log_Pos"),
    ));
    let space = channel.relay_log_space;
    panel.push(scene.fact(
        "server.relay_space",
        space,
        |n| words.bytes(n),
        "Relay_Log_Space",
    ));
    let (auto, tone) = told(scene.frame, channel.auto_position, |on| {
        scene
            .t(if on {
                "server.by_gtid"
            } else {
                "server.by_position"
            })
            .to_owned()
    });
    panel.push(FactRow::new(scene.t("server.follows"), auto).tone(tone));
    let heartbeat = channel
        .receiver_times
        .as_ref()
        .and_then(|times| times.last_heartbeat);
    if let (Some(heartbeat), Some(clock)) = (heartbeat, scene.server.clock_now(scene.frame.now)) {
        let age = scene
            .frame
            .now
            .since(heartbeat.on_our_clock(clock.ahead_by))
            .or_zero();
        panel.push(scene.fact(
            "server.last_heartbeat",
            Some(age),
            |age| words.ago(age),
            "LAST_HEARTBEAT_TIMESTAMP",
        ));
    }
    if let Some(set) = &channel.retrieved_gtids {
        super::gtids::code(scene, panel, "server.retrieved", set);
    }
}

/// In the server's words: a filter is quoted, not explained away.
fn filters(scene: &Scene<'_>, channel: &Channel, panel: &mut Panel) {
    let quoted = channel.filters.quoted();
    if quoted.is_empty() {
        panel.push(
            FactRow::new(
                scene.t("server.filters.title"),
                scene.t("server.filters.none"),
            )
            .tone(Tone::Dim),
        );
        return;
    }
    panel.push(Block::Heading(scene.t("server.filters.title").to_owned()));
    for (name, text) in quoted {
        panel.push(FactRow::new(name, text).tone(Tone::Warning));
    }
    panel.say(scene.t("server.filters.meaning"), Tone::Dim);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_try_is_read_from_the_error_text_of_each_version() {
        let new = "Error connecting to source 'repl@127.0.0.1:1'. This was attempt 3/86400, with a delay of 1 seconds \
                   between attempts. Message: Can't connect";
        assert_eq!(attempts(new), Some((3, Some(86_400))));
        let old = "error connecting to master 'repl@127.0.0.1:1' - retry-time: 1  retries: 7";
        assert_eq!(attempts(old), Some((7, None)));
        assert_eq!(attempts("Duplicate entry '7' for key 'PRIMARY'"), None);
    }
}
