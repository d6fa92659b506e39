//! What the Lag screen shows, in finished words.

use super::clock_plot::ClockPlot;
use super::plots::{clock_plot, method_plot};
use super::{LagState, lies};
use crate::lag::verdict::{contradicts, method_name};
use crate::lag::window::summarise;
use crate::model::finding::Health;
use crate::model::lag::{CatchUp, LagView, Method, Reading};
use crate::model::phrase::phrase;
use crate::model::profile::ServerId;
use crate::model::time::{Moment, Span};
use crate::store::judged::ChannelJudged;
use crate::store::watched::{ChannelPast, Watched};
use crate::ui::Frame;
use crate::ui::panels::{
    Absence, Block, Cell, FactRow, Panel, RowColumn, Rows, Staleness, Tone, server_on_show,
};
use crate::ui::plot::{PlotData, PlotState};
use crate::ui::server::scene::Scene;
use crate::ui::server::{channel_title, clock_fact};
use crate::ui::widgets::Sign;
use crate::words::Figure;

#[derive(Debug)]
pub enum LagData {
    Nothing(Absence),
    /// The server on show replicates from nobody; its replicas do.
    NoLag {
        title: String,
        why: String,
        choices: Vec<Choice>,
    },
    Channel(Box<LagScreen>),
}

/// A channel that can be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub server: ServerId,
    pub channel: String,
    pub label: String,
    pub chosen: bool,
}

#[derive(Debug)]
pub struct LagScreen {
    pub choices: Vec<Choice>,
    pub stale: Option<Staleness>,
    pub name: String,
    pub sign: Sign,
    /// The number to believe, or the word in its place.
    pub figure: Result<Figure, String>,
    /// How measured and how old; or why there is no number.
    pub how: String,
    pub verdict: String,
    pub cause: Option<(String, Vec<String>)>,
    pub methods: Vec<MethodLine>,
    pub stages: Vec<StagePart>,
    /// Why no stage is known.
    pub stages_missing: Option<String>,
    pub plot: PlotData,
    pub clock_plot: ClockPlot,
    pub backlog: Panel,
    pub window: Panel,
    pub clocks: Panel,
    pub lies: Panel,
}

/// One method's own reading.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodLine {
    pub method: Method,
    pub name: String,
    pub value: String,
    pub bound: String,
    pub taken: String,
    pub state: String,
    pub tone: Tone,
}

/// A part of the way of a late transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct StagePart {
    pub name: String,
    pub span: Option<Span>,
    pub text: String,
}

impl LagData {
    pub fn new(frame: &Frame<'_>, state: &mut LagState) -> Self {
        let choices = choices(frame);
        let Some(server) = chosen_server(frame, &choices) else {
            return LagData::Nothing(Absence::NoServer);
        };
        let Some(scene) = Scene::of(frame, server) else {
            return LagData::Nothing(Absence::of(frame, server));
        };
        let Some((channel, judged)) = chosen_channel(&scene, state) else {
            return no_lag(&scene, choices);
        };
        let choices = choices
            .into_iter()
            .map(|choice| Choice {
                chosen: choice.server == server.registration.server && choice.channel == channel,
                ..choice
            })
            .collect();
        LagData::Channel(Box::new(LagScreen::of(
            &scene,
            &channel,
            judged,
            choices,
            &mut state.plot,
        )))
    }
}

/// Every channel of the topology, in its order.
fn choices(frame: &Frame<'_>) -> Vec<Choice> {
    let Some(topology) = frame.topology else {
        return Vec::new();
    };
    let Some(judged) = frame.store.judged(topology) else {
        return Vec::new();
    };
    frame
        .store
        .servers_of(topology)
        .flat_map(|server| {
            let channels = judged.servers.get(&server.watch()).map(|s| &s.channels);
            let several = channels.is_some_and(|channels| channels.len() > 1);
            let names: Vec<String> = channels
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect();
            names.into_iter().map(move |channel| Choice {
                server: server.registration.server.clone(),
                label: match several {
                    true if channel.is_empty() => format!("{} · —", server.registration.name),
                    true => format!("{} · {channel}", server.registration.name),
                    false => server.registration.name.clone(),
                },
                channel,
                chosen: false,
            })
        })
        .collect()
}

/// The server the person chose; without a choice, the first that replicates.
fn chosen_server<'a>(frame: &Frame<'a>, choices: &[Choice]) -> Option<&'a Watched> {
    if frame.server.is_some() {
        return server_on_show(frame);
    }
    let topology = frame.topology?;
    let first = choices.first().map(|choice| &choice.server);
    let replica = frame
        .store
        .servers_of(topology)
        .find(|server| Some(&server.registration.server) == first);
    replica.or_else(|| server_on_show(frame))
}

fn chosen_channel<'a>(scene: &Scene<'a>, state: &LagState) -> Option<(String, &'a ChannelJudged)> {
    let judged = scene.judged?;
    let kept = state
        .channel
        .as_ref()
        .filter(|(server, _)| *server == scene.server.registration.server)
        .and_then(|(_, name)| judged.channels.get_key_value(name));
    kept.or_else(|| judged.worst_channel())
        .map(|(name, channel)| (name.clone(), channel))
}

fn no_lag(scene: &Scene<'_>, choices: Vec<Choice>) -> LagData {
    let name = scene.server.registration.name.as_str();
    let own = scene.judged.map(|judged| &judged.own_lag);
    let why = own.map(|lag| scene.say(&lag.verdict));
    LagData::NoLag {
        title: scene.with("methods.no_lag", "name", name),
        why: why.unwrap_or_default(),
        choices,
    }
}

impl LagScreen {
    fn of(
        scene: &Scene<'_>,
        channel: &str,
        judged: &ChannelJudged,
        choices: Vec<Choice>,
        plot: &mut PlotState,
    ) -> Self {
        let window = plot.window;
        let view = &judged.lag;
        let past = scene.server.channels.get(channel);
        let name = &scene.server.registration.name;
        let title = match scene.sample.channels().len() {
            0 | 1 => name.clone(),
            _ => format!("{name} · {}", channel_title(scene, channel)),
        };
        let (figure, how) = headline(scene, &view.headline);
        let stages = stages(scene, view);
        LagScreen {
            choices,
            stale: Staleness::of(scene.frame, scene.server),
            name: title,
            sign: sign(scene, judged),
            figure,
            how,
            verdict: scene.say(&view.verdict),
            cause: view.cause.as_ref().map(|cause| {
                let evidence = cause.evidence.iter().map(|e| scene.say(e)).collect();
                (scene.say(&cause.text), evidence)
            }),
            methods: view
                .methods
                .iter()
                .map(|(m, r)| method_line(scene, view, *m, r))
                .collect(),
            stages_missing: stages
                .iter()
                .all(|part| part.span.is_none())
                .then(|| why_no_stages(scene, view)),
            stages,
            plot: method_plot(scene, past, plot),
            clock_plot: clock_plot(scene, judged, window),
            backlog: backlog(scene, view),
            window: window_panel(scene, past, window),
            clocks: clocks(scene, judged),
            lies: lies::panel(scene.frame, scene.dialect()),
        }
    }

    pub fn rows(&self, frame: &Frame<'_>) -> Rows {
        let t = |key| frame.words.text(key);
        Rows {
            columns: vec![
                RowColumn::words(t("methods.method"), 2.2),
                RowColumn::numbers(t("methods.value"), 1.3),
                RowColumn::numbers(t("methods.bound"), 1.1),
                RowColumn::numbers(t("methods.taken"), 1.3),
                RowColumn::words(t("methods.state.title"), 4.5),
            ],
            rows: self.methods.iter().map(MethodLine::cells).collect(),
            more: None,
        }
    }
}

fn sign(scene: &Scene<'_>, judged: &ChannelJudged) -> Sign {
    let thresholds = &scene.server.registration.thresholds;
    match (judged.health, judged.lag.headline.value()) {
        (Health::Unknown, Some(lag)) if lag >= thresholds.lag_critical => Sign::Critical,
        (Health::Unknown, Some(lag)) if lag >= thresholds.lag_warning => Sign::Warning,
        (Health::Unknown, Some(_)) => Sign::Ok,
        (health, _) => health.into(),
    }
}

fn headline(scene: &Scene<'_>, reading: &Reading) -> (Result<Figure, String>, String) {
    let words = scene.frame.words;
    match reading {
        Reading::Measured(m) => {
            let bound = m.bound.map(|bound| format!("± {} · ", words.span(bound)));
            let method = words.say(&method_name(m.method, scene.dialect()));
            let age = words.ago(scene.frame.now.since(m.taken_at));
            let how = format!("{}{method} · {age}", bound.unwrap_or_default());
            (Ok(words.span_figure(m.value)), how)
        }
        Reading::Unknown { why } => (Err(scene.t("sign.unknown").to_owned()), words.say(why)),
        Reading::NotApplicable { why } => (
            Err(scene.t("sign.not_applicable").to_owned()),
            words.say(why),
        ),
    }
}

fn method_line(scene: &Scene<'_>, view: &LagView, method: Method, reading: &Reading) -> MethodLine {
    let words = scene.frame.words;
    let name = words.say(&method_name(method, scene.dialect()));
    let dash = || "—".to_owned();
    match reading {
        Reading::Measured(m) => {
            let (state, tone) = standing(view, m.method, reading);
            MethodLine {
                method,
                name,
                value: words.span(m.value),
                bound: m
                    .bound
                    .map_or_else(dash, |bound| format!("± {}", words.span(bound))),
                taken: words.ago(scene.frame.now.since(m.taken_at)),
                state: scene.t(state).to_owned(),
                tone,
            }
        }
        Reading::Unknown { why } => MethodLine {
            method,
            name,
            value: scene.t("sign.unknown").to_owned(),
            bound: dash(),
            taken: dash(),
            state: words.say(why),
            tone: Tone::Unknown,
        },
        Reading::NotApplicable { why } => MethodLine {
            method,
            name,
            value: dash(),
            bound: dash(),
            taken: dash(),
            state: words.say(why),
            tone: Tone::Dim,
        },
    }
}

/// The one to believe, one that agrees with it, or one it contradicts.
fn standing(view: &LagView, method: Method, reading: &Reading) -> (&'static str, Tone) {
    match (view.headline.measured(), reading.measured()) {
        (Some(best), _) if best.method == method => ("methods.state.believed", Tone::Good),
        (Some(best), Some(other)) if contradicts(best, other) => {
            ("methods.state.contradicted", Tone::Warning)
        }
        (Some(_), _) => ("methods.state.agrees", Tone::Plain),
        (None, _) => ("methods.state.not_enough", Tone::Dim),
    }
}

impl MethodLine {
    fn cells(&self) -> Vec<Cell> {
        let value = match self.tone {
            Tone::Unknown | Tone::Dim => Tone::Dim,
            _ => Tone::Plain,
        };
        vec![
            Cell::new(&self.name).tone(if self.tone == Tone::Dim {
                Tone::Dim
            } else {
                Tone::Plain
            }),
            Cell::new(&self.value).tone(value),
            Cell::new(&self.bound).tone(Tone::Dim),
            Cell::new(&self.taken).tone(Tone::Dim),
            Cell::new(&self.state).tone(self.tone),
        ]
    }
}

/// A server that has fallen silent is another reason than one that cannot tell.
fn why_no_stages(scene: &Scene<'_>, view: &LagView) -> String {
    match view.headline.why() {
        Some(why) => scene.say(why),
        None => scene.t("methods.stages.missing").to_owned(),
    }
}

fn stages(scene: &Scene<'_>, view: &LagView) -> Vec<StagePart> {
    let stages = &view.stages;
    [
        ("methods.stages.transport", stages.transport),
        ("methods.stages.queue", stages.queue),
        ("methods.stages.apply", stages.apply),
    ]
    .into_iter()
    .map(|(name, span)| StagePart {
        name: scene.t(name).to_owned(),
        span,
        text: span.map_or_else(
            || scene.t("panel.not_told").to_owned(),
            |span| scene.frame.words.span(span),
        ),
    })
    .collect()
}

fn backlog(scene: &Scene<'_>, view: &LagView) -> Panel {
    let words = scene.frame.words;
    let mut panel = Panel::new("backlog", scene.t("methods.backlog"));
    let count = |n: u64| words.count(n);
    panel.push(scene.fact(
        "methods.backlog_transactions",
        view.backlog.transactions,
        count,
        "gtid_executed",
    ));
    panel.push(scene.fact(
        "methods.backlog_received",
        view.backlog.received,
        count,
        "Retrieved_Gtid_Set",
    ));
    panel.push(scene.fact(
        "methods.backlog_bytes",
        view.backlog.bytes,
        |n| words.bytes(n),
        scene.own_name("Exec_Source_Log_Pos"),
    ));
    let (text, tone) = match view.catch_up {
        None => (scene.t("methods.catch_up.unknown").to_owned(), Tone::Dim),
        Some(CatchUp::CaughtUp) => (scene.t("methods.catch_up.done").to_owned(), Tone::Good),
        Some(CatchUp::FallingBehind) => {
            (scene.t("methods.catch_up.losing").to_owned(), Tone::Warning)
        }
        Some(CatchUp::Closing { speed, done_in }) => {
            let text = phrase("methods.catch_up.closing")
                .with("speed", format!("{speed:.1}"))
                .with("in", done_in);
            (scene.say(&text), Tone::Plain)
        }
    };
    panel.push(FactRow::new(scene.t("methods.catch_up.title"), text).tone(tone));
    if view.planned_delay > Span::ZERO {
        let text = scene.with("methods.planned", "delay", view.planned_delay);
        panel.say(text, Tone::Dim);
    }
    panel
}

fn window_panel(scene: &Scene<'_>, past: Option<&ChannelPast>, window: Span) -> Panel {
    let words = scene.frame.words;
    let from = scene.frame.now - window;
    let mut panel = Panel::new("window", scene.with("methods.window", "window", window));
    let values: Vec<(Moment, Span)> = past
        .map(|past| past.headline.since(from).collect())
        .unwrap_or_default();
    let Some(summary) = summarise(values.iter().map(|(_, lag)| *lag)) else {
        panel.say(scene.t("methods.window_empty"), Tone::Dim);
        return panel;
    };
    for (name, value) in [
        ("methods.p50", summary.p50),
        ("methods.p95", summary.p95),
        ("methods.p99", summary.p99),
        ("methods.max", summary.max),
    ] {
        panel.push(
            FactRow::new(scene.t(name), words.span(value))
                .source(scene.t("methods.percentile_note")),
        );
    }
    let reach = values
        .first()
        .map_or(Span::ZERO, |(at, _)| scene.frame.now.since(*at));
    let text = phrase("methods.window_reach")
        .with("n", summary.count as u64)
        .with("span", reach);
    panel.say(scene.say(&text), Tone::Dim);
    panel
}

fn clocks(scene: &Scene<'_>, judged: &ChannelJudged) -> Panel {
    let words = scene.frame.words;
    let mut panel = Panel::new("clocks", scene.t("methods.clocks"));
    let source = judged
        .source
        .and_then(|watch| scene.frame.store.watched(watch));
    for server in [Some(scene.server), source].into_iter().flatten() {
        let mut fact = clock_fact(words, scene, server, "server.clock.title");
        fact.name = server.registration.name.clone();
        panel.push(fact);
    }
    panel.blocks.push(Block::Sentence {
        text: scene.t("methods.clocks_note").to_owned(),
        tone: Tone::Dim,
    });
    panel
}
