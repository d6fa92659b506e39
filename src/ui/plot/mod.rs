//! Lag over time, the plot that several screens share: a logarithmic axis, one line for each series, a lane of states
//! under it for each channel, thresholds, and marks where something happened.
//!
//! A screen fills [`PlotData`] (finished words and points), keeps a [`PlotState`] (which stretch of time is looked at),
//! and calls [`lag_plot_ui`].

mod axes;
mod draw;
mod faults;
mod lines;
mod view;

pub use draw::lag_plot_ui;
pub use lines::{LineCache, Run, value_at};
pub use view::{PlotState, View, time_choice_ui};

use super::widgets::Sign;
use crate::model::finding::{Health, Severity};
use crate::model::phrase::phrase;
use crate::model::profile::{ServerId, TopologyProfile};
use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};
use crate::routing::Unfit;
use crate::store::guards::GuardPreset;
use crate::store::journal::{Entry, EntryKind};
use crate::store::lanes::Lane;
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::local_time;

/// What a plot shows, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct PlotData {
    pub from: Option<Moment>,
    pub to: Option<Moment>,
    pub lines: Vec<PlotLine>,
    pub lanes: Vec<PlotLane>,
    pub thresholds: Vec<Threshold>,
    pub events: Vec<EventMark>,
    /// Faults of the lab.
    pub faults: Vec<FaultSpan>,
    /// For screen readers: what the picture shows, in words.
    pub summary: String,
}

/// One series as runs of points between gaps.
#[derive(Clone, Debug)]
pub struct PlotLine {
    /// The same for the same series in every frame.
    pub key: String,
    pub name: String,
    /// Index into the palette's series colours.
    pub color: usize,
    pub runs: std::sync::Arc<Vec<Run>>,
    /// What the cross-hair says where the line has no value and no lane tells why.
    pub no_value: String,
    /// Its values have no finer parts, so that its 0 is one and not "a millisecond at most".
    pub whole_seconds: bool,
}

/// The states of one channel over time.
#[derive(Clone, Debug)]
pub struct PlotLane {
    /// The line it belongs to.
    pub key: String,
    pub name: String,
    pub color: usize,
    pub stretches: Vec<LaneStretch>,
    /// When a shadow guard would have sent reads to the source.
    pub guard: Vec<GuardStretch>,
}

/// A stretch of time under a lane, with the sentence its hover text says.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardStretch {
    pub from: Moment,
    pub to: Moment,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneStretch {
    pub from: Moment,
    pub to: Moment,
    pub health: Health,
}

/// A horizontal line with its word.
#[derive(Clone, Debug)]
pub struct Threshold {
    pub lag: Span,
    pub label: String,
    pub sign: Sign,
}

/// Something that happened, marked on the time axis.
#[derive(Clone, Debug, PartialEq)]
pub struct EventMark {
    pub at: Moment,
    pub sign: Sign,
    pub text: String,
}

/// How long a fault of the lab lasted, or lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultSpan {
    pub from: Moment,
    pub to: Moment,
    pub lasts: bool,
    pub label: String,
    /// With its times, for the hover text.
    pub text: String,
}

/// So many marks are told apart on one plot; of more, the newest are shown.
const MARKS: usize = 60;

/// The states of a channel within a stretch of time. The last one reaches to `to` as long as judging goes on.
pub fn lane_stretches(lane: &Lane, from: Moment, to: Moment) -> Vec<LaneStretch> {
    lane.between(from, to)
        .map(|stretch| LaneStretch {
            from: stretch.from.max(from),
            to: stretch.to.min(to),
            health: stretch.health,
        })
        .collect()
}

/// When the guard with the limit of 3 s would have sent this replica's reads to the source; not before its first check.
pub fn guard_stretches(
    frame: &Frame<'_>,
    server: &Watched,
    (from, to): (Moment, Moment),
) -> Vec<GuardStretch> {
    let Some(guards) = &server.guards else {
        return Vec::new();
    };
    let degraded = guards.of(GuardPreset::ThreeSeconds).degraded();
    degraded
        .filter(|degraded| degraded.why != Unfit::NotChecked)
        .map(|degraded| (degraded, degraded.until.unwrap_or(frame.now)))
        .filter(|(degraded, until)| degraded.from <= to && *until >= from)
        .map(|(degraded, until)| GuardStretch {
            from: degraded.from.max(from),
            to: until.min(to),
            text: frame.words.say(
                &phrase("rules.guard.span")
                    .with("replica", server.registration.name.as_str())
                    .with("from", local_time::time_of_day(degraded.from))
                    .with("to", local_time::time_of_day(until))
                    .with("why", degraded.why.phrase()),
            ),
        })
        .collect()
}

/// What the journal has to say about these servers, as marks. Findings that only clear are quiet.
pub fn event_marks(
    frame: &Frame<'_>,
    from: Moment,
    to: Moment,
    concerns: impl Fn(&Entry) -> bool,
) -> Vec<EventMark> {
    let mut marks: Vec<EventMark> = frame
        .store
        .journal()
        .between(from, to)
        // a fault has a span of its own
        .filter(|entry| entry.kind != EntryKind::Fault && concerns(entry))
        .map(|entry| EventMark {
            at: entry.at,
            sign: entry_sign(entry.kind),
            text: entry_text(frame, entry),
        })
        .collect();
    if marks.len() > MARKS {
        marks.drain(..marks.len() - MARKS);
    }
    marks
}

/// The faults of the topology on show that touch a stretch of time and happen to servers that concern the plot.
pub fn fault_spans(
    frame: &Frame<'_>,
    (from, to): (Moment, Moment),
    concerns: impl Fn(&ServerId) -> bool,
) -> Vec<FaultSpan> {
    let episodes = frame.topology.and_then(|id| frame.store.episodes(id));
    let touching = episodes.into_iter().flat_map(|all| all.between(from, to));
    touching
        .filter(|episode| episode.took_place() && concerns(&episode.server))
        .map(|episode| {
            let label = frame.words.say(&episode.label);
            let begun = local_time::time_of_day(episode.from);
            let until = episode.until.unwrap_or(frame.now);
            let lasted = frame.words.span(until.since(episode.from));
            let text = match episode.until {
                Some(_) => format!(
                    "{label}\n{begun}–{} ({lasted})",
                    local_time::time_of_day(until)
                ),
                None => format!("{label}\n{begun}– ({lasted})"),
            };
            FaultSpan {
                from: episode.from.max(from),
                to: until.min(to),
                lasts: episode.until.is_none(),
                label,
                text,
            }
        })
        .collect()
}

/// `db-r2: applier stopped`, without naming the server twice.
pub fn entry_text(frame: &Frame<'_>, entry: &Entry) -> String {
    let text = frame.words.say(&entry.text);
    match &entry.server {
        Some(server) if !text.contains(server.as_str()) => frame.words.say(
            &crate::model::phrase::phrase("plot.of_server")
                .with("server", server.as_str())
                .with("text", text),
        ),
        _ => text,
    }
}

pub fn entry_sign(kind: EntryKind) -> Sign {
    match kind {
        EntryKind::Raised(Severity::Critical) => Sign::Critical,
        EntryKind::Raised(Severity::Warning) => Sign::Warning,
        EntryKind::Raised(Severity::Info) | EntryKind::Changed => Sign::NotApplicable,
        EntryKind::Cleared => Sign::Ok,
        // on purpose
        EntryKind::Fault => Sign::Stopped,
    }
}

/// The colour of a server: its place in the topology, so that it keeps it whatever else is shown. Further channels of
/// one server take the places behind all servers.
pub fn series_color(profile: Option<&TopologyProfile>, server: &ServerId, channel: usize) -> usize {
    let servers = profile.map_or(&[][..], |profile| profile.servers.as_slice());
    let place = servers.iter().position(|s| s.id == *server).unwrap_or(0);
    place + channel * servers.len().max(1)
}

/// The key of a channel's line.
pub fn channel_key(watch: WatchId, channel: &str) -> String {
    format!("{}/{channel}", watch.0)
}
