//! What a rule says of a subject, and how quickly it is to be believed.

use super::facts::{ChannelFacts, Facts, ServerFacts};
use crate::model::finding::{Finding, Severity, Subject, Verdict};
use crate::model::phrase::{Phrase, phrase};
use crate::model::sample::Sample;
use crate::model::time::Moment;

/// One rule's verdict on one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub code: &'static str,
    pub subject: Subject,
    pub verdict: Verdict,
    pub patience: Patience,
    /// When the poll behind it was answered: judging the same poll again proves nothing new.
    pub polled_at: Option<Moment>,
}

/// How quickly a verdict becomes a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Patience {
    /// Raised and cleared at once.
    AtOnce,
    /// So many polls in a row must agree, to raise and to clear.
    Polls {
        needed: u32,
        /// What remains of a finding already raised: it is cleared only when this is absent too (hysteresis).
        still: Option<Box<Finding>>,
        /// Today's figures for a finding that is on its way out, so that it never shows old ones.
        figures: Option<Box<Finding>>,
    },
}

/// A rule's answer before it has a subject.
#[derive(Clone, Debug)]
pub enum Say {
    /// The rule has nothing to do with this subject.
    Nothing,
    Fine,
    CannotTell(Phrase),
    Raise(Box<Draft>),
    /// An answer that needs several polls to be believed.
    Steady {
        now: Box<Say>,
        polls: u32,
        still: Option<Box<Draft>>,
        figures: Option<Box<Draft>>,
    },
}

/// A finding before it has a code and a subject.
#[derive(Clone, Debug)]
pub struct Draft {
    severity: Severity,
    text: Phrase,
    evidence: Vec<Phrase>,
    advice: Option<Phrase>,
    sql: Option<String>,
}

impl Draft {
    pub fn new(severity: Severity, text: Phrase) -> Self {
        Draft {
            severity,
            text,
            evidence: Vec::new(),
            advice: None,
            sql: None,
        }
    }

    pub fn evidence(mut self, evidence: impl IntoIterator<Item = Phrase>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub fn advice(mut self, key: &'static str) -> Self {
        self.advice = Some(phrase(key));
        self
    }

    pub fn sql(mut self, sql: impl Into<String>) -> Self {
        self.sql = Some(sql.into());
        self
    }

    pub fn say(self) -> Say {
        Say::Raise(Box::new(self))
    }

    fn about(self, code: &'static str, subject: &Subject) -> Finding {
        Finding {
            code,
            severity: self.severity,
            subject: subject.clone(),
            text: self.text,
            evidence: self.evidence,
            advice: self.advice,
            sql: self.sql,
        }
    }
}

impl Say {
    /// Believed only when so many polls in a row say the same.
    pub fn after_polls(self, polls: u32) -> Say {
        match self {
            Say::Nothing => Say::Nothing,
            say => Say::Steady {
                now: Box::new(say),
                polls,
                still: None,
                figures: None,
            },
        }
    }

    fn judgement(
        self,
        code: &'static str,
        subject: Subject,
        polled_at: Option<Moment>,
    ) -> Option<Judgement> {
        let (say, patience) = match self {
            Say::Steady {
                now,
                polls,
                still,
                figures,
            } => {
                let about = |draft: Box<Draft>| Box::new(draft.about(code, &subject));
                let patience = Patience::Polls {
                    needed: polls,
                    still: still.map(about),
                    figures: figures.map(about),
                };
                (*now, patience)
            }
            say => (say, Patience::AtOnce),
        };
        let verdict = match say {
            Say::Nothing | Say::Steady { .. } => return None,
            Say::Fine => Verdict::Fine,
            Say::CannotTell(why) => Verdict::CannotTell { why },
            Say::Raise(draft) => Verdict::Raise(draft.about(code, &subject)),
        };
        Some(Judgement {
            code,
            subject,
            verdict,
            patience,
            polled_at,
        })
    }
}

/// A channel in its surroundings, on a server whose sample may be used.
pub struct Place<'f, 'a> {
    pub facts: &'f Facts<'a>,
    pub server: &'f ServerFacts<'a>,
    pub sample: &'a Sample,
    pub channel: &'f ChannelFacts<'a>,
}

impl<'f, 'a> Place<'f, 'a> {
    /// The channel's source, when it is watched and its sample may be used.
    pub fn source(&self) -> Option<(&'f ServerFacts<'a>, &'a Sample)> {
        let source = self.facts.server(self.channel.source?)?;
        Some((source, source.current()?))
    }
}

/// Puts a question to every server, whatever its state.
pub fn of_all_servers<'a>(
    code: &'static str,
    facts: &Facts<'a>,
    ask: impl Fn(&ServerFacts<'a>) -> Say,
) -> Vec<Judgement> {
    let judged = |server: &ServerFacts<'a>| {
        let polled_at = server.sample.map(|sample| sample.answered_at);
        ask(server).judgement(code, Subject::Server(server.watch), polled_at)
    };
    facts.servers.iter().filter_map(judged).collect()
}

/// Puts a question to every server whose sample may be used; of the others the rule cannot tell.
pub fn of_servers<'a>(
    code: &'static str,
    facts: &Facts<'a>,
    ask: impl Fn(&ServerFacts<'a>, &'a Sample) -> Say,
) -> Vec<Judgement> {
    of_all_servers(code, facts, |server| match server.current() {
        Some(sample) => ask(server, sample),
        None => Say::CannotTell(
            server
                .why_not_current()
                .unwrap_or_else(|| phrase("lamp.not_polled")),
        ),
    })
}

/// Puts a question to every channel that counts; of those on a server whose sample is too old the rule cannot tell.
/// A channel that was never started and that nobody expects is nobody's trouble (R13).
pub fn of_channels<'a>(
    code: &'static str,
    facts: &Facts<'a>,
    ask: impl Fn(&Place<'_, 'a>) -> Say,
) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for server in &facts.servers {
        let polled_at = server.sample.map(|sample| sample.answered_at);
        for channel in server.channels.iter().filter(|channel| channel.counts) {
            let subject = Subject::Channel(server.watch, channel.channel.name.clone());
            let say = match (server.current(), server.why_not_current()) {
                (Some(sample), _) => ask(&Place {
                    facts,
                    server,
                    sample,
                    channel,
                }),
                (None, why) => Say::CannotTell(why.unwrap_or_else(|| phrase("lamp.not_polled"))),
            };
            judgements.extend(say.judgement(code, subject, polled_at));
        }
    }
    judgements
}

/// One statement about the whole topology.
pub fn of_topology(code: &'static str, facts: &Facts<'_>, say: Say) -> Vec<Judgement> {
    let newest = facts
        .servers
        .iter()
        .filter_map(|server| server.sample.map(|sample| sample.answered_at))
        .max();
    say.judgement(code, Subject::Topology, newest)
        .into_iter()
        .collect()
}
