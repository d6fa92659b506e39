//! What the overview shows of one topology, in finished words.

use super::OverviewState;
use super::card_data::{ReplicaCard, replica_cards};
use super::findings::{FindingRow, finding_rows};
use super::source::{ServerCard, server_card};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::TopologyProfile;
use crate::model::time::Moment;
use crate::store::judged::{Judged, ServerJudged};
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::plot::{
    PlotData, PlotLane, PlotLine, PlotState, Threshold, channel_key, event_marks, fault_spans,
    guard_stretches, lane_stretches, series_color,
};
use crate::ui::profiles::FoundData;
use crate::ui::widgets::Sign;

/// The overview, or why there is none and what to do about it.
#[derive(Debug)]
pub enum OverviewData {
    Empty {
        title: &'static str,
        text: Phrase,
        action: Option<&'static str>,
    },
    Watched(Box<Topology>),
}

/// A watched topology.
#[derive(Debug)]
pub struct Topology {
    pub plot: PlotData,
    pub findings: Vec<FindingRow>,
    /// One for each replica and channel.
    pub replicas: Vec<ReplicaCard>,
    /// Sources and whatever does not replicate, and servers that have not answered yet.
    pub others: Vec<ServerCard>,
    /// Servers that these know of and nobody watches.
    pub found: FoundData,
}

impl OverviewData {
    pub fn new(frame: &Frame<'_>, state: &mut OverviewState) -> Self {
        if frame.profiles.is_empty() {
            return OverviewData::Empty {
                title: "overview.no_topology",
                text: phrase("overview.no_topology_text"),
                action: Some("overview.add_topology"),
            };
        }
        let Some(topology) = frame.topology else {
            return OverviewData::Empty {
                title: "overview.none_chosen",
                text: phrase("overview.none_chosen_text"),
                action: None,
            };
        };
        let profile = frame.profiles.iter().find(|p| p.id == *topology);
        let Some(judged) = frame.store.judged(topology) else {
            return not_watched(profile);
        };
        OverviewData::Watched(Box::new(watched(frame, profile, judged, state)))
    }
}

fn not_watched(profile: Option<&TopologyProfile>) -> OverviewData {
    let name = profile.map_or("", |profile| profile.name.as_str());
    OverviewData::Empty {
        title: "overview.not_watched",
        text: phrase("overview.not_watched_text").with("name", name),
        action: Some("overview.watch"),
    }
}

fn watched(
    frame: &Frame<'_>,
    profile: Option<&TopologyProfile>,
    judged: &Judged,
    state: &mut OverviewState,
) -> Topology {
    let servers = in_order(frame, profile, judged);
    let mut replicas = Vec::new();
    let mut others = Vec::new();
    for (server, judged) in &servers {
        if judged.channels.is_empty() {
            others.push(server_card(frame, server, judged));
        } else {
            replicas.extend(replica_cards(frame, profile, server, judged));
        }
    }
    others.sort_by_key(|card| card.rank);
    Topology {
        plot: plot(frame, profile, &servers, &mut state.plot),
        findings: finding_rows(frame, &judged.findings),
        replicas,
        others,
        found: profile.map_or_else(FoundData::default, |p| FoundData::new(frame, &p.id)),
    }
}

/// In the order of the profile, as the tree has them.
fn in_order<'a>(
    frame: &Frame<'a>,
    profile: Option<&TopologyProfile>,
    judged: &'a Judged,
) -> Vec<(&'a Watched, &'a ServerJudged)> {
    let place = |server: &Watched| {
        profile.and_then(|p| {
            p.servers
                .iter()
                .position(|s| s.id == server.registration.server)
        })
    };
    let mut servers: Vec<_> = judged
        .servers
        .iter()
        .filter_map(|(watch, judged)| Some((frame.store.watched(*watch)?, judged)))
        .collect();
    servers.sort_by_key(|(server, _)| (place(server).unwrap_or(usize::MAX), server.watch()));
    servers
}

fn plot(
    frame: &Frame<'_>,
    profile: Option<&TopologyProfile>,
    servers: &[(&Watched, &ServerJudged)],
    state: &mut PlotState,
) -> PlotData {
    let (from, to) = state.range(frame.now);
    let mut data = PlotData {
        from: Some(from),
        to: Some(to),
        thresholds: thresholds(frame, profile),
        ..PlotData::default()
    };
    for (server, judged) in servers {
        for (nth, name) in judged.channels.keys().enumerate() {
            let several = judged.channels.len() > 1;
            add_channel(
                frame,
                profile,
                (server, nth, name, several),
                (from, to),
                state,
                &mut data,
            );
        }
    }
    state.cache.sweep();
    let topology = frame.topology;
    data.events = event_marks(frame, from, to, |entry| match entry.subject.watch() {
        Some(watch) => servers.iter().any(|(server, _)| server.watch() == watch),
        None => topology.is_some() && frame.profiles.len() == 1,
    });
    data.faults = fault_spans(frame, (from, to), |_| true);
    data.summary = summary(frame, &data);
    data
}

fn add_channel(
    frame: &Frame<'_>,
    profile: Option<&TopologyProfile>,
    (server, nth, channel, several): (&Watched, usize, &str, bool),
    (from, to): (Moment, Moment),
    state: &mut PlotState,
    data: &mut PlotData,
) {
    let Some(past) = server.channels.get(channel) else {
        return;
    };
    let key = channel_key(server.watch(), channel);
    let mut cache = std::mem::take(&mut state.cache);
    let (runs, _) = cache.line(&key, &past.headline, state, frame.now);
    state.cache = cache;
    let name = channel_name(frame, &server.registration.name, channel, several);
    let color = series_color(profile, &server.registration.server, nth);
    data.lines.push(PlotLine {
        key: key.clone(),
        name: name.clone(),
        color,
        runs,
        no_value: frame.words.text("plot.no_reading").to_owned(),
        whole_seconds: false,
    });
    data.lanes.push(PlotLane {
        key,
        name,
        color,
        stretches: lane_stretches(&past.lane, from, to),
        guard: match nth {
            0 => guard_stretches(frame, server, (from, to)),
            _ => Vec::new(),
        },
    });
}

/// `db-r1`, or with several channels `db-r1 · eu`.
pub fn channel_name(frame: &Frame<'_>, server: &str, channel: &str, several: bool) -> String {
    match (several, channel) {
        (false, _) => server.to_owned(),
        (true, "") => format!(
            "{server} · {}",
            frame.words.text("overview.default_channel")
        ),
        (true, channel) => format!("{server} · {channel}"),
    }
}

fn thresholds(frame: &Frame<'_>, profile: Option<&TopologyProfile>) -> Vec<Threshold> {
    let Some(profile) = profile else {
        return Vec::new();
    };
    let line = |lag, sign, key: &'static str| Threshold {
        lag,
        label: frame.words.say(&phrase(key).with("lag", lag)),
        sign,
    };
    vec![
        line(
            profile.thresholds.lag_warning,
            Sign::Warning,
            "plot.threshold",
        ),
        line(
            profile.thresholds.lag_critical,
            Sign::Critical,
            "plot.threshold_critical",
        ),
    ]
}

fn summary(frame: &Frame<'_>, data: &PlotData) -> String {
    let names: Vec<&str> = data.lines.iter().map(|line| line.name.as_str()).collect();
    let (Some(from), Some(to)) = (data.from, data.to) else {
        return String::new();
    };
    let text = phrase("plot.summary")
        .with("names", names.join(", "))
        .with("window", to.since(from));
    frame.words.say(&text)
}
