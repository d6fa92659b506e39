//! The three lamps (threads, real lag, semi-sync), the health word, and whether reads may be sent here.
//!
//! A lamp shows what is the case now and what still holds by the findings, so that it does not flutter. What cannot be
//! told is grey, its health is unknown, and no read is sent there: fail closed (R01, R02).

mod semi_sync;
mod server;

#[cfg(test)]
mod tests;

use super::facts::{ChannelFacts, Facts, ServerFacts};
use super::rules::{applier_not_advancing, lag_over_threshold, receiver_connecting};
use crate::model::finding::{Finding, Health, Lamp, Lamps, Lit, Severity, Subject};
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::replication::ThreadState;
use crate::model::time::Span;

/// A server or channel in short.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub lamps: Lamps,
    pub health: Health,
    /// A read may be sent here now without fear of an answer older than the warning threshold.
    pub routable: bool,
}

/// A server and its channels, in the order of the facts.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerState {
    pub server: State,
    /// By channel name.
    pub channels: Vec<(String, State)>,
}

/// Condenses one server.
pub fn of_server(facts: &Facts<'_>, server: &ServerFacts<'_>, findings: &[Finding]) -> ServerState {
    let semi_sync = semi_sync::lamp(server);
    let judged: Vec<(&ChannelFacts<'_>, State)> = server
        .channels
        .iter()
        .map(|channel| {
            let place = Where {
                facts,
                server,
                channel,
                findings,
            };
            (channel, place.state(semi_sync.clone()))
        })
        .collect();
    let counting: Vec<&State> = judged
        .iter()
        .filter(|(channel, _)| channel.counts)
        .map(|(_, state)| state)
        .collect();
    let state = server::whole(server, &counting, findings, semi_sync);
    let channels = judged
        .into_iter()
        .map(|(channel, state)| (channel.channel.name.clone(), state))
        .collect();
    ServerState {
        server: state,
        channels,
    }
}

fn lit(lamp: Lamp, text: Phrase) -> Lit {
    Lit { lamp, text }
}

fn of_severity(severity: Severity) -> Lamp {
    match severity {
        Severity::Info => Lamp::Ok,
        Severity::Warning => Lamp::Warning,
        Severity::Critical => Lamp::Critical,
    }
}

/// One channel in its surroundings.
struct Where<'f, 'a> {
    facts: &'f Facts<'a>,
    server: &'f ServerFacts<'a>,
    channel: &'f ChannelFacts<'a>,
    findings: &'f [Finding],
}

impl Where<'_, '_> {
    fn state(&self, semi_sync: Lit) -> State {
        let (threads, health) = self.threads();
        let (lag, lag_health) = self.lag();
        // The threads are judged first: with one of them down no lag means anything.
        let health = match health {
            Health::Ok => lag_health,
            down => down,
        };
        State {
            routable: self.is_routable(health),
            lamps: Lamps {
                threads,
                lag,
                semi_sync,
            },
            health,
        }
    }

    fn threads(&self) -> (Lit, Health) {
        if let Some(why) = self.server.why_not_current() {
            return (lit(Lamp::Unknown, why), Health::Unknown);
        }
        if !self.channel.counts {
            let text = phrase("lamp.threads.never_started");
            return (lit(Lamp::Unknown, text), Health::Unknown);
        }
        let (text, health) = self.word_of_threads();
        let lamp = match health {
            Health::Ok => Lamp::Ok,
            Health::Unknown => Lamp::Unknown,
            Health::Delayed | Health::Broken | Health::Stopped => Lamp::Critical,
        };
        (lit(lamp, text), health)
    }

    /// Broken before stopped, and the applier before the receiver: what is worse is said.
    fn word_of_threads(&self) -> (Phrase, Health) {
        use ThreadState::{Connecting, Other, Running, Stopped, Untold};
        let channel = self.channel.channel;
        let number = |number: u32| Arg::Number(number.into());
        match (&channel.applier, &channel.applier_error) {
            (Running, _) => {}
            (Untold, _) => return (phrase("lamp.threads.untold"), Health::Unknown),
            (Stopped | Connecting | Other(_), Some(error)) => {
                let text =
                    phrase("lamp.threads.applier_broken").with("number", number(error.number));
                return (text, Health::Broken);
            }
            (Other(word), None) => {
                let text = phrase("lamp.threads.applier_state").with("state", word.as_str());
                return (text, Health::Broken);
            }
            (Stopped | Connecting, None) => {
                if let (Stopped, Some(error)) = (&channel.receiver, &channel.receiver_error) {
                    return (receiver_broken(error.number), Health::Broken);
                }
                return (phrase("lamp.threads.applier_stopped"), Health::Stopped);
            }
        }
        match (&channel.receiver, &channel.receiver_error) {
            (Running, _) => (phrase("lamp.threads.running"), Health::Ok),
            (Untold, _) => (phrase("lamp.threads.untold"), Health::Unknown),
            (Stopped, Some(error)) => (receiver_broken(error.number), Health::Broken),
            (Stopped, None) => (phrase("lamp.threads.receiver_stopped"), Health::Stopped),
            (Other(word), _) => {
                let text = phrase("lamp.threads.receiver_state").with("state", word.as_str());
                (text, Health::Broken)
            }
            (Connecting, _) => {
                let beyond = receiver_connecting::is_beyond_grace(self.channel, self.facts.now);
                let health = if beyond {
                    Health::Broken
                } else {
                    Health::Unknown
                };
                (phrase("lamp.threads.receiver_connecting"), health)
            }
        }
    }

    fn lag(&self) -> (Lit, Health) {
        if let Some(why) = self.server.why_not_current() {
            return (lit(Lamp::Unknown, why), Health::Unknown);
        }
        let thresholds = self.server.thresholds;
        let standing =
            applier_not_advancing::standing_for(self.channel, self.server, self.facts.now);
        let trouble = self.facts.source_trouble(self.channel);
        let believable =
            lag_over_threshold::believable(self.channel, trouble, thresholds.lag_warning);
        let (lag, standing) = match (believable, standing) {
            (Ok(measured), standing) => (measured.value, standing),
            (Err(_), Some(standing)) => {
                let text = phrase("lamp.lag.standing").with("for", standing);
                return (lit(Lamp::Critical, text), Health::Delayed);
            }
            (Err(why), None) => return (lit(Lamp::Unknown, why), Health::Unknown),
        };
        let held = self.held(lag_over_threshold::RULE.code);
        let severity = lag_over_threshold::severity(lag, thresholds)
            .max(held)
            .max(standing.map(|_| Severity::Warning));
        let text = match standing {
            Some(standing) => phrase("lamp.lag.standing").with("for", standing),
            None => self.word_of_lag(lag),
        };
        match severity {
            Some(severity) => (lit(of_severity(severity), text), Health::Delayed),
            None => (lit(Lamp::Ok, text), Health::Ok),
        }
    }

    fn word_of_lag(&self, lag: Span) -> Phrase {
        let delay = self.channel.channel.planned_delay;
        match delay > Span::ZERO {
            true => phrase("lamp.lag.delayed")
                .with("delay", delay)
                .with("lag", lag),
            false => phrase("lamp.lag.measured").with("lag", lag),
        }
    }

    /// The severity at which a finding about this channel holds.
    fn held(&self, code: &str) -> Option<Severity> {
        let subject = Subject::Channel(self.server.watch, self.channel.channel.name.clone());
        self.findings
            .iter()
            .find(|finding| finding.code == code && finding.subject == subject)
            .map(|finding| finding.severity)
    }

    /// Only what is known to be fresh: threads running, a lag measured below the warning limit, no delay on purpose.
    fn is_routable(&self, health: Health) -> bool {
        let measured = self.channel.lag.headline.value();
        health == Health::Ok
            && self.channel.counts
            && self.channel.channel.planned_delay <= Span::ZERO
            && measured.is_some_and(|lag| lag < self.server.thresholds.lag_warning)
    }
}

fn receiver_broken(number: u32) -> Phrase {
    phrase("lamp.threads.receiver_broken").with("number", Arg::Number(number.into()))
}
