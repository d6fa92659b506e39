//! A replica's card in words. It answers in this order: how late, how sure and how measured, which of the three lamps,
//! what the other methods say, what is waiting and until when.

use super::data::channel_name;
use crate::health::facts::Freshness;
use crate::lag::verdict::{contradicts, method_name};
use crate::model::dialect::Dialect;
use crate::model::event::LinkState;
use crate::model::finding::{Health, Lamp, Lit};
use crate::model::lag::{Backlog, CatchUp, LagView, Method, Reading};
use crate::model::phrase::phrase;
use crate::model::profile::{ServerId, TopologyId, TopologyProfile};
use crate::model::time::Span;
use crate::store::judged::{ChannelJudged, ServerJudged};
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::plot::series_color;
use crate::ui::widgets::Sign;
use crate::words::Figure;

/// One replica, or one channel of it.
#[derive(Clone, Debug)]
pub struct ReplicaCard {
    pub topology: TopologyId,
    pub server: ServerId,
    pub name: String,
    /// "replica · 9.7.4"
    pub kind: String,
    pub sign: Sign,
    /// Index into the series colours: the same as its line.
    pub color: usize,
    pub headline: Headline,
    /// How sure, how measured, how old; or why nothing is known.
    pub how: String,
    /// "1 h planned + 13 s late", on a delayed replica.
    pub delay: Option<String>,
    /// Why it is late, or what the link says.
    pub cause: Option<String>,
    pub lamps: [LampWord; 3],
    pub methods: Vec<MethodRow>,
    /// Which method to believe, as a sentence.
    pub verdict: String,
    pub waiting: String,
    pub waiting_hint: String,
}

/// The large words of a card.
#[derive(Clone, Debug, PartialEq)]
pub enum Headline {
    Lag {
        figure: Figure,
        sign: Sign,
    },
    /// No number: "unknown", "not applicable".
    Word {
        text: String,
        sign: Sign,
    },
}

#[derive(Clone, Debug)]
pub struct LampWord {
    pub sign: Sign,
    pub name: &'static str,
    pub word: String,
}

/// One method's own reading.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodRow {
    pub name: String,
    pub value: String,
    pub contradicted: bool,
    /// Method, bound and age, or why there is none.
    pub source: String,
    pub known: bool,
}

pub fn replica_cards(
    frame: &Frame<'_>,
    profile: Option<&TopologyProfile>,
    server: &Watched,
    judged: &ServerJudged,
) -> Vec<ReplicaCard> {
    let several = judged.channels.len() > 1;
    let cards = judged.channels.iter().enumerate();
    cards
        .map(|(nth, (name, channel))| {
            let name = channel_name(frame, &server.registration.name, name, several);
            let color = series_color(profile, &server.registration.server, nth);
            card(frame, server, judged, channel, name, color)
        })
        .collect()
}

fn card(
    frame: &Frame<'_>,
    server: &Watched,
    judged: &ServerJudged,
    channel: &ChannelJudged,
    name: String,
    color: usize,
) -> ReplicaCard {
    let words = frame.words;
    let lag = &channel.lag;
    let sign = card_sign(channel);
    let lamps = &channel.lamps;
    let waiting = waiting(frame, &lag.backlog, lag.catch_up);
    ReplicaCard {
        topology: server.registration.topology.clone(),
        server: server.registration.server.clone(),
        name,
        kind: kind(frame, server, judged),
        sign,
        color,
        headline: headline(frame, lag, channel),
        how: link_down(frame, server).unwrap_or_else(|| how(frame, lag, server.dialect())),
        delay: delay(frame, lag),
        cause: cause(frame, lag),
        lamps: [
            lamp(frame, "overview.lamp.threads", &lamps.threads),
            lamp(frame, "overview.lamp.lag", &lamps.lag),
            lamp(frame, "overview.lamp.semi_sync", &lamps.semi_sync),
        ],
        methods: methods(frame, lag, server.dialect()),
        verdict: words.say(&lag.verdict),
        waiting_hint: format!("{waiting}\n{}", words.text("overview.waiting.hint")),
        waiting,
    }
}

/// What counts for nobody is grey; else the health decides.
fn card_sign(channel: &ChannelJudged) -> Sign {
    match channel.counts {
        true => Sign::from(channel.health),
        false => Sign::NotApplicable,
    }
}

/// "replica · 9.7.4", with the age of the last answer when it is old.
pub fn kind(frame: &Frame<'_>, server: &Watched, judged: &ServerJudged) -> String {
    let role = frame.words.role(judged.role);
    let product = server.last_known.as_ref().map(|sample| {
        let product = &sample.product;
        match product.is_mariadb() {
            true => format!(
                "MariaDB {}.{}",
                product.version.major, product.version.minor
            ),
            false => product.version.to_string(),
        }
    });
    match product {
        Some(product) => format!("{role} · {product}"),
        None => role.to_owned(),
    }
}

fn headline(frame: &Frame<'_>, lag: &LagView, channel: &ChannelJudged) -> Headline {
    match &lag.headline {
        Reading::Measured(m) => Headline::Lag {
            figure: frame.words.span_figure(m.value),
            sign: match channel.health {
                Health::Delayed | Health::Broken => lamp_sign(channel.lamps.lag.lamp),
                _ => Sign::Ok,
            },
        },
        Reading::Unknown { .. } => Headline::Word {
            text: frame.words.text("health.unknown").to_owned(),
            sign: match channel.health {
                Health::Broken => Sign::Critical,
                Health::Stopped => Sign::Stopped,
                _ => Sign::Unknown,
            },
        },
        Reading::NotApplicable { .. } => Headline::Word {
            text: frame.words.text("sign.not_applicable").to_owned(),
            sign: Sign::NotApplicable,
        },
    }
}

fn lamp_sign(lamp: Lamp) -> Sign {
    Sign::from(lamp)
}

/// "± 0.4 ms · GTID marks · 0.2 s ago", or why there is no value.
pub fn how(frame: &Frame<'_>, lag: &LagView, dialect: Dialect) -> String {
    let words = frame.words;
    match &lag.headline {
        Reading::Measured(m) => {
            let bound = m.bound.map(|bound| format!("± {}", words.span(bound)));
            let method = words.say(&method_name(m.method, dialect));
            let age = words.ago(frame.now.since(m.taken_at).or_zero());
            bound
                .into_iter()
                .chain([method, age])
                .collect::<Vec<_>>()
                .join(" · ")
        }
        Reading::Unknown { why } | Reading::NotApplicable { why } => words.say(why),
    }
}

/// Planned delay apart from lateness.
fn delay(frame: &Frame<'_>, lag: &LagView) -> Option<String> {
    let planned = lag.planned_delay;
    if planned <= Span::ZERO {
        return None;
    }
    let text = match lag.headline.value() {
        Some(late) => phrase("overview.delay_and_late")
            .with("planned", planned)
            .with("late", late),
        None => phrase("overview.delay").with("planned", planned),
    };
    Some(frame.words.say(&text))
}

/// A link that is down comes before any reading.
fn link_down(frame: &Frame<'_>, server: &Watched) -> Option<String> {
    let LinkState::Down {
        retry_at, trouble, ..
    } = &server.link
    else {
        return None;
    };
    let text = phrase("overview.link_down")
        .with("why", trouble.what.clone())
        .with("wait", retry_at.since(frame.now).or_zero());
    Some(frame.words.say(&text))
}

fn cause(frame: &Frame<'_>, lag: &LagView) -> Option<String> {
    let cause = lag.cause.as_ref()?;
    let evidence = cause.evidence.iter().map(|e| frame.words.say(e));
    let all: Vec<String> = std::iter::once(frame.words.say(&cause.text))
        .chain(evidence)
        .collect();
    Some(all.join(" · "))
}

pub fn lamp(frame: &Frame<'_>, name: &'static str, lit: &Lit) -> LampWord {
    LampWord {
        sign: Sign::from(lit.lamp),
        name,
        word: frame.words.say(&lit.text),
    }
}

/// Every method that makes sense here; of those without a value, why not on hover. Where none has a value the headline
/// has said why.
fn methods(frame: &Frame<'_>, lag: &LagView, dialect: Dialect) -> Vec<MethodRow> {
    if lag
        .methods
        .iter()
        .all(|(_, reading)| reading.measured().is_none())
    {
        return Vec::new();
    }
    lag.methods
        .iter()
        .filter(|(_, reading)| !matches!(reading, Reading::NotApplicable { .. }))
        .map(|(method, reading)| method_row(frame, lag, (*method, reading), dialect))
        .collect()
}

fn method_row(
    frame: &Frame<'_>,
    lag: &LagView,
    (method, reading): (Method, &Reading),
    dialect: Dialect,
) -> MethodRow {
    let words = frame.words;
    let name = words.say(&method_name(method, dialect));
    match reading {
        Reading::Measured(m) => {
            let best = lag.headline.measured();
            let contradicted =
                best.is_some_and(|best| best.method != m.method && contradicts(best, m));
            let age = words.ago(frame.now.since(m.taken_at).or_zero());
            let bound = match m.bound {
                Some(bound) => format!("± {}", words.span(bound)),
                None => words.text("overview.no_bound").to_owned(),
            };
            MethodRow {
                source: format!("{name} · {bound} · {age}"),
                value: words.span(m.value),
                name,
                contradicted,
                known: true,
            }
        }
        Reading::Unknown { why } | Reading::NotApplicable { why } => MethodRow {
            name,
            value: words.text("overview.no_value").to_owned(),
            contradicted: false,
            source: words.say(why),
            known: false,
        },
    }
}

/// "1 transaction, 41 MB · caught up in about 9 s"
fn waiting(frame: &Frame<'_>, backlog: &Backlog, catch_up: Option<CatchUp>) -> String {
    let words = frame.words;
    let nothing = backlog.transactions == Some(0) && backlog.received.unwrap_or(0) == 0;
    if nothing {
        return words.text("overview.waiting.nothing").to_owned();
    }
    let transactions = backlog
        .transactions
        .map(|n| words.say(&phrase("overview.waiting.transactions").with("n", n)));
    let bytes = backlog.bytes.filter(|n| *n > 0).map(|n| words.bytes(n));
    let received = backlog
        .received
        .filter(|n| *n > 0)
        .map(|n| words.say(&phrase("overview.waiting.received").with("n", n)));
    let amounts: Vec<String> = [transactions, bytes, received]
        .into_iter()
        .flatten()
        .collect();
    let until = catch_up.map(|catch_up| until(frame, catch_up));
    if amounts.is_empty() {
        return until.unwrap_or_else(|| words.text("overview.waiting.untold").to_owned());
    }
    let amounts = amounts.join(", ");
    [Some(amounts), until]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ")
}

fn until(frame: &Frame<'_>, catch_up: CatchUp) -> String {
    let words = frame.words;
    match catch_up {
        CatchUp::CaughtUp => words.text("overview.caught_up").to_owned(),
        CatchUp::Closing { done_in, .. } => {
            words.say(&phrase("overview.caught_up_in").with("span", done_in))
        }
        CatchUp::FallingBehind => words.text("overview.falling_behind").to_owned(),
    }
}

/// How old what is shown is, when that must be said.
pub fn stale(frame: &Frame<'_>, judged: &ServerJudged) -> Option<String> {
    match &judged.freshness {
        Freshness::Fresh | Freshness::Never => None,
        Freshness::Late { age } => Some(
            frame
                .words
                .say(&phrase("overview.answer_late").with("age", *age)),
        ),
        Freshness::Stale { age, .. } => Some(
            frame
                .words
                .say(&phrase("overview.answer_stale").with("age", *age)),
        ),
    }
}
