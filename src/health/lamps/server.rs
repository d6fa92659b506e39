//! A whole server: its worst channel that counts, or what a server without channels is.

use super::{State, lit, of_severity};
use crate::health::facts::ServerFacts;
use crate::health::rules::lag_over_threshold;
use crate::lag::platform;
use crate::model::finding::{Finding, Health, Lamp, Lamps, Lit, Subject};
use crate::model::lag::Reading;
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::ExpectedRole;
use crate::model::sample::{Answer, Sample};

/// The whole server: its worst channel that counts, or what a server without channels is.
pub fn whole(
    server: &ServerFacts<'_>,
    counting: &[&State],
    findings: &[Finding],
    semi_sync: Lit,
) -> State {
    if let Some(why) = server.why_not_current() {
        return unknown(why, semi_sync);
    }
    let worst = counting
        .iter()
        .max_by_key(|state| (badness(state.health), lamp_badness(state.lamps.lag.lamp)));
    match worst {
        // Half of a ring that takes the writes: its own receiver does not take it out of writing (R45).
        Some(worst) if server.takes_writes() => State {
            health: health_of_source(server, findings),
            routable: true,
            lamps: worst.lamps.clone(),
        },
        Some(worst) => State {
            routable: counting.iter().all(|state| state.routable),
            ..State::clone(worst)
        },
        None => lonely(server, findings, semi_sync),
    }
}

/// A server without a channel that counts: a source, a platform's reader, or a replica that says nothing.
fn lonely(server: &ServerFacts<'_>, findings: &[Finding], semi_sync: Lit) -> State {
    let Some(sample) = server.current() else {
        return unknown(phrase("lamp.not_polled"), semi_sync);
    };
    if sample.identity.innodb_read_only == Some(true) {
        return reader(server, sample, semi_sync);
    }
    if let Some(why) = may_be_a_replica(server, sample) {
        return unknown(why, semi_sync);
    }
    let nothing = |key| lit(Lamp::NotApplicable, phrase(key));
    State {
        lamps: Lamps {
            threads: nothing("lamp.threads.source"),
            lag: nothing("lamp.lag.source"),
            semi_sync,
        },
        health: health_of_source(server, findings),
        routable: true,
    }
}

/// Why nobody can say that this is a source: no rows were read, or rows are missed.
fn may_be_a_replica(server: &ServerFacts<'_>, sample: &Sample) -> Option<Phrase> {
    match &sample.channels {
        Answer::Refused(trouble) => Some(trouble.what.clone()),
        Answer::NotAsked { why } => Some(why.clone()),
        Answer::Known { .. } if sample.is_replica() => Some(phrase("lamp.threads.never_started")),
        Answer::Known { .. } if server.expected_role == ExpectedRole::Replica => {
            Some(phrase("lamp.no_status"))
        }
        Answer::Known { .. } => None,
    }
}

/// Nothing can be said, for one reason.
fn unknown(why: Phrase, semi_sync: Lit) -> State {
    let said = lit(Lamp::Unknown, why);
    State {
        lamps: Lamps {
            threads: said.clone(),
            lag: said,
            semi_sync,
        },
        health: Health::Unknown,
        routable: false,
    }
}

/// A platform's reader has no threads of ours to see, only the platform's own figure (R33).
fn reader(server: &ServerFacts<'_>, sample: &Sample, semi_sync: Lit) -> State {
    let (lag, health) = match platform::of_sample(sample) {
        Reading::Measured(measured) => {
            let severity = lag_over_threshold::severity(measured.value, server.thresholds);
            let text = phrase("lamp.lag.measured").with("lag", measured.value);
            let health = severity.map_or(Health::Ok, |_| Health::Delayed);
            (lit(severity.map_or(Lamp::Ok, of_severity), text), health)
        }
        Reading::Unknown { why } | Reading::NotApplicable { why } => {
            (lit(Lamp::Unknown, why), Health::Unknown)
        }
    };
    State {
        lamps: Lamps {
            threads: lit(Lamp::NotApplicable, phrase("lamp.threads.platform")),
            lag,
            semi_sync,
        },
        health,
        routable: health == Health::Ok,
    }
}

/// A source is never late (R29); broken when it refuses what it is for.
fn health_of_source(server: &ServerFacts<'_>, findings: &[Finding]) -> Health {
    let refuses_writes = findings.iter().any(|finding| {
        finding.subject == Subject::Server(server.watch) && finding.code == "source_read_only"
    });
    match refuses_writes {
        true => Health::Broken,
        false => Health::Ok,
    }
}

fn badness(health: Health) -> u8 {
    match health {
        Health::Ok => 0,
        Health::Delayed => 1,
        Health::Unknown => 2,
        Health::Stopped => 3,
        Health::Broken => 4,
    }
}

fn lamp_badness(lamp: Lamp) -> u8 {
    match lamp {
        Lamp::NotApplicable => 0,
        Lamp::Ok => 1,
        Lamp::Warning => 2,
        Lamp::Unknown => 3,
        Lamp::Critical => 4,
    }
}
