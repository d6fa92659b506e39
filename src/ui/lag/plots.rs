//! Fills the plots of the Lag screen: all methods of one channel, and the clocks of its two servers.

use super::clock_plot::{ClockLine, ClockPlot};
use crate::lag::verdict::method_name;
use crate::model::lag::Method;
use crate::model::phrase::phrase;
use crate::model::profile::ServerId;
use crate::model::time::Span;
use crate::store::judged::ChannelJudged;
use crate::store::watched::{ChannelPast, Watched};
use crate::ui::plot::{
    PlotData, PlotLane, PlotLine, PlotState, Threshold, event_marks, fault_spans, guard_stretches,
    lane_stretches,
};
use crate::ui::server::scene::Scene;
use crate::ui::widgets::Sign;

/// As many columns as the plot of clocks has pixels.
const COLUMNS: usize = 500;

/// All methods as lines, the channel's states under them, and what happened.
pub fn method_plot(
    scene: &Scene<'_>,
    past: Option<&ChannelPast>,
    state: &mut PlotState,
) -> PlotData {
    let (from, to) = state.range(scene.frame.now);
    let watch = scene.server.watch();
    let name = &scene.server.registration.name;
    let mut data = PlotData {
        from: Some(from),
        to: Some(to),
        thresholds: thresholds(scene),
        events: event_marks(scene.frame, from, to, |entry| {
            entry.subject.watch() == Some(watch)
        }),
        faults: fault_spans(scene.frame, (from, to), |server| {
            *server == scene.server.registration.server || is_source_of(scene, server)
        }),
        ..PlotData::default()
    };
    let Some(past) = past else { return data };
    let mut cache = std::mem::take(&mut state.cache);
    for (color, method) in Method::ALL.into_iter().enumerate() {
        let Some(series) = past.methods.get(&method) else {
            continue;
        };
        let key = format!("{}/{}", watch.0, method.code());
        let (runs, _) = cache.line(&key, series, state, scene.frame.now);
        if runs.is_empty() {
            continue;
        }
        data.lines.push(PlotLine {
            key,
            name: scene.say(&method_name(method, scene.dialect())),
            color,
            runs,
            no_value: scene.t("plot.no_reading").to_owned(),
            whole_seconds: method == Method::SecondsBehind,
        });
    }
    cache.sweep();
    state.cache = cache;
    data.lanes.push(PlotLane {
        key: String::new(),
        name: name.clone(),
        color: Method::ALL.len(),
        stretches: lane_stretches(&past.lane, from, to),
        guard: guard_stretches(scene.frame, scene.server, (from, to)),
    });
    let names: Vec<&str> = data.lines.iter().map(|line| line.name.as_str()).collect();
    let summary = phrase("plot.summary")
        .with("names", names.join(", "))
        .with("window", to.since(from));
    data.summary = scene.say(&summary);
    data
}

/// What happens to a source happens to its replicas.
fn is_source_of(scene: &Scene<'_>, server: &ServerId) -> bool {
    let store = scene.frame.store;
    let mut wires = store.wires().iter();
    wires.any(|wire| {
        let source = store.watched(wire.source);
        wire.replica == scene.server.watch()
            && source.is_some_and(|source| source.registration.server == *server)
    })
}

fn thresholds(scene: &Scene<'_>) -> Vec<Threshold> {
    let limits = &scene.server.registration.thresholds;
    [
        (limits.lag_warning, Sign::Warning),
        (limits.lag_critical, Sign::Critical),
    ]
    .into_iter()
    .map(|(lag, sign)| Threshold {
        lag,
        label: scene.with("methods.threshold", "span", lag),
        sign,
    })
    .collect()
}

pub fn clock_plot(scene: &Scene<'_>, judged: &ChannelJudged, window: Span) -> ClockPlot {
    let (from, to) = (scene.frame.now - window, scene.frame.now);
    let source = judged
        .source
        .and_then(|watch| scene.frame.store.watched(watch));
    let servers = [Some(scene.server), source].into_iter().flatten();
    let line = |(color, server): (usize, &Watched)| {
        let columns = server.clock_series.columns(from, to, COLUMNS);
        ClockLine::new(server.registration.name.clone(), color, &columns)
    };
    ClockPlot {
        from,
        to,
        lines: servers
            .enumerate()
            .map(line)
            .filter(|line| !line.runs.is_empty())
            .collect(),
    }
}
