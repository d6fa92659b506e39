//! The one sentence on top of the window, and the dimmer one under it.
//!
//! The gravest finding speaks; without one, what cannot be told; only when everything is known and well, "all replicas
//! are current".

use super::facts::{ChannelFacts, Facts, ServerFacts};
use super::lamps;
use crate::model::finding::{Finding, Health, Lamp, Severity, Subject, TopologyVerdict};
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::time::Span;

/// `findings` sorted, the gravest first, as [`super::book::Book::findings`] gives them.
pub fn verdict_of_topology(facts: &Facts<'_>, findings: &[Finding]) -> TopologyVerdict {
    if facts.servers.is_empty() {
        return TopologyVerdict {
            lamp: Lamp::Unknown,
            headline: phrase("verdict.no_servers"),
            detail: Some(phrase("verdict.no_servers_hint")),
        };
    }
    let states = States::of(facts, findings);
    let grave: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.severity > Severity::Info)
        .collect();
    match (grave.first(), states.unknown.first()) {
        (Some(worst), _) if worst.severity == Severity::Critical => TopologyVerdict {
            lamp: Lamp::Critical,
            headline: sentence(facts, worst),
            detail: beside(&grave, &states),
        },
        (warning, Some(unknown)) => TopologyVerdict {
            lamp: Lamp::Unknown,
            headline: unknown.clone(),
            detail: match warning {
                Some(warning) => Some(sentence(facts, warning)),
                None => states.others_known(),
            },
        },
        (Some(worst), None) => TopologyVerdict {
            lamp: Lamp::Warning,
            headline: sentence(facts, worst),
            detail: beside(&grave, &states),
        },
        (None, None) => TopologyVerdict {
            // Nothing is wrong, but of lag nothing is known where nobody is late.
            lamp: if states.replicas == 0 {
                Lamp::Unknown
            } else {
                Lamp::Ok
            },
            headline: states.all_well(),
            detail: states
                .latest
                .map(|lag| phrase("verdict.largest_lag").with("lag", lag)),
        },
    }
}

/// The replicas, counted.
#[derive(Default)]
struct States {
    replicas: u64,
    current: u64,
    /// Sentences about servers of which nothing can be said.
    unknown: Vec<Phrase>,
    latest: Option<Span>,
}

impl States {
    fn of(facts: &Facts<'_>, findings: &[Finding]) -> States {
        let mut states = States::default();
        for server in &facts.servers {
            states.count(facts, server, findings);
        }
        states
    }

    fn count(&mut self, facts: &Facts<'_>, server: &ServerFacts<'_>, findings: &[Finding]) {
        let state = lamps::of_server(facts, server, findings).server;
        if server.is_replica() {
            self.replicas += 1;
            self.current += u64::from(state.health == Health::Ok);
            let lags = server
                .channels
                .iter()
                .filter(|channel| channel.counts)
                .filter_map(|channel| channel.lag.headline.value());
            self.latest = lags.chain(self.latest).max();
        }
        if state.health == Health::Unknown {
            let said = match state.lamps.threads.lamp {
                Lamp::Unknown => state.lamps.threads.text,
                _ => state.lamps.lag.text,
            };
            let sentence = phrase("verdict.cannot_tell")
                .with("server", server.name)
                .with("why", said);
            self.unknown.push(sentence);
        }
    }

    fn all_well(&self) -> Phrase {
        match self.replicas {
            0 => phrase("verdict.no_replicas"),
            1 => phrase("verdict.one_current"),
            replicas => phrase("verdict.all_current").with("count", replicas),
        }
    }

    fn others_known(&self) -> Option<Phrase> {
        (self.replicas > 0).then(|| {
            phrase("verdict.some_current")
                .with("current", self.current)
                .with("count", self.replicas)
        })
    }
}

/// How many more findings there are, else how the replicas are.
fn beside(grave: &[&Finding], states: &States) -> Option<Phrase> {
    match grave.len() {
        0 | 1 => states.others_known(),
        more => Some(phrase("verdict.more").with("count", more as u64 - 1)),
    }
}

/// A finding as a sentence with a subject; a late replica with its cause.
fn sentence(facts: &Facts<'_>, finding: &Finding) -> Phrase {
    let Some(name) = name_of(facts, &finding.subject) else {
        return finding.text.clone();
    };
    match (finding.code, channel_of(facts, &finding.subject)) {
        ("lag_over_threshold", Some(channel)) => behind(name, finding, channel),
        _ => phrase("verdict.finding")
            .with("server", name)
            .with("finding", finding.text.clone()),
    }
}

fn behind(name: String, finding: &Finding, channel: &ChannelFacts<'_>) -> Phrase {
    let lag = channel
        .lag
        .headline
        .value()
        .map(Arg::Span)
        .or_else(|| finding.text.arg("lag").cloned())
        .unwrap_or(Arg::Span(Span::ZERO));
    match &channel.lag.cause {
        Some(cause) => phrase("verdict.behind_because")
            .with("server", name)
            .with("lag", lag)
            .with("cause", cause.text.clone()),
        None => phrase("verdict.behind")
            .with("server", name)
            .with("lag", lag),
    }
}

/// The server's name, with the channel where it has several.
fn name_of(facts: &Facts<'_>, subject: &Subject) -> Option<String> {
    let server = facts.server(subject.watch()?)?;
    match subject {
        Subject::Channel(_, channel) if server.channels.len() > 1 && !channel.is_empty() => {
            Some(format!("{} ({channel})", server.name))
        }
        _ => Some(server.name.to_owned()),
    }
}

fn channel_of<'f, 'a>(facts: &'f Facts<'a>, subject: &Subject) -> Option<&'f ChannelFacts<'a>> {
    let Subject::Channel(watch, name) = subject else {
        return None;
    };
    let server = facts.server(*watch)?;
    server.channels.iter().find(|c| c.channel.name == *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::book::{Book, sort};
    use crate::health::build::*;
    use crate::health::judge;
    use crate::model::finding::Verdict;
    use crate::model::lag::{Cause, CauseKind, Method};

    /// The verdict with everything raised at once.
    fn verdict(town: &Town) -> TopologyVerdict {
        let facts = town.facts();
        let raised = |judgement: crate::health::Judgement| match judgement.verdict {
            Verdict::Raise(finding) => Some(finding),
            _ => None,
        };
        let mut findings: Vec<Finding> = judge(&facts).into_iter().filter_map(raised).collect();
        sort(&mut findings);
        verdict_of_topology(&facts, &findings)
    }

    #[test]
    fn all_well_is_said_with_the_largest_lag() {
        let mut town = source_and_replica();
        assert_eq!(verdict(&town).headline, phrase("verdict.one_current"));
        town.servers.push(replica_of(1, 3, "db-r2"));
        assert_eq!(
            verdict(&town),
            TopologyVerdict {
                lamp: Lamp::Ok,
                headline: phrase("verdict.all_current").with("count", 2),
                detail: Some(phrase("verdict.largest_lag").with("lag", Span::from_millis(12))),
            }
        );
    }

    #[test]
    fn a_source_alone_is_not_shown_as_well() {
        let mut town = source_and_replica();
        town.servers.truncate(1);
        let said = verdict(&town);
        assert_eq!(said.lamp, Lamp::Unknown);
        assert_eq!(said.headline, phrase("verdict.no_replicas"));
    }

    #[test]
    fn a_late_replica_is_said_with_its_cause() {
        let mut town = source_and_replica();
        town.late_by(Span::from_millis(6_200));
        let cause = phrase("cause.big_transaction_rows")
            .with("age", Span::from_secs(6))
            .with("rows", 524_288);
        town.about_channel().lag.cause = Some(Cause {
            kind: CauseKind::BigTransaction,
            text: cause.clone(),
            evidence: vec![],
        });
        let said = verdict(&town);
        assert_eq!(said.lamp, Lamp::Warning);
        assert_eq!(
            said.headline,
            phrase("verdict.behind_because")
                .with("server", "db-r1".to_owned())
                .with("lag", Span::from_millis(6_200))
                .with("cause", cause)
        );
    }

    #[test]
    fn what_cannot_be_told_is_never_all_well() {
        let mut town = source_and_replica();
        town.about_channel().lag = unknown_lag(phrase("test.unknown"));
        let said = verdict(&town);
        assert_eq!(said.lamp, Lamp::Unknown);
        assert_eq!(
            said.headline.arg("why"),
            Some(&phrase("test.unknown").into())
        );
    }

    #[test]
    fn r05_a_full_source_is_the_headline_and_lag_is_not_mentioned() {
        let mut town = source_and_replica();
        town.about_channel().lag = lag_by(Method::Heartbeat, Span::from_secs(300));
        town.source().link_down(1040, "Too many connections");
        let said = verdict(&town);
        assert_eq!(said.lamp, Lamp::Critical);
        assert_eq!(said.headline.arg("server"), Some(&"db-1".into()));
        let Some(Arg::Phrase(finding)) = said.headline.arg("finding") else {
            panic!("{said:?}")
        };
        assert_eq!(finding.key, "finding.server_unreachable.source_refuses");
        let current = phrase("verdict.some_current")
            .with("current", 0)
            .with("count", 1);
        assert_eq!(said.detail, Some(current));
    }

    #[test]
    fn an_empty_topology_and_one_just_opened_claim_nothing() {
        let nobody = Town {
            now: NOW,
            servers: vec![],
        };
        assert_eq!(verdict(&nobody).lamp, Lamp::Unknown);
        let mut town = source_and_replica();
        for server in &mut town.servers {
            server.freshness = crate::health::facts::Freshness::Never;
            server.sample = None;
        }
        assert_eq!(verdict(&town).lamp, Lamp::Unknown);
        assert_eq!(Book::default().findings(), []);
    }
}
