//! What the rules found, and the health that follows.

use super::phrase::Phrase;
use super::server::WatchId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Info,
    Warning,
    Critical,
}

impl Severity {
    pub fn code(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

/// What a finding is about: a server, one of its channels, or the whole topology.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    Topology,
    Server(WatchId),
    Channel(WatchId, String),
}

impl Subject {
    pub fn watch(&self) -> Option<WatchId> {
        match self {
            Subject::Topology => None,
            Subject::Server(watch) | Subject::Channel(watch, _) => Some(*watch),
        }
    }
}

/// A rule's statement about a subject, with what shows it and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Stable name, part of the JSON contract: `applier_stopped`.
    pub code: &'static str,
    pub severity: Severity,
    pub subject: Subject,
    pub text: Phrase,
    /// The figures it rests on.
    pub evidence: Vec<Phrase>,
    /// What the person can do.
    pub advice: Option<Phrase>,
    /// Statements to copy, never run by us.
    pub sql: Option<String>,
}

/// What a rule says of one subject. "Cannot tell" is drawn grey, never green.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Fine,
    Raise(Finding),
    CannotTell { why: Phrase },
}

/// One of the three lamps, and of a server's health on the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lamp {
    Ok,
    Warning,
    Critical,
    /// Grey: cannot tell.
    Unknown,
    /// Nothing to say here: no semi-sync configured, a source has no lag.
    NotApplicable,
}

/// A lamp with the word beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lit {
    pub lamp: Lamp,
    pub text: Phrase,
}

/// The three things to watch at once: missing one of them misses a class of failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Lamps {
    /// Receiver and applier run.
    pub threads: Lit,
    /// The real lag, not what the server says of itself.
    pub lag: Lit,
    /// Semi-sync is in force and acknowledged.
    pub semi_sync: Lit,
}

/// The one sentence on top of a topology, and the second, dimmer one under it.
#[derive(Clone, Debug, PartialEq)]
pub struct TopologyVerdict {
    pub lamp: Lamp,
    pub headline: Phrase,
    pub detail: Option<Phrase>,
}

/// The health of a channel or server, part of the JSON contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Health {
    Ok,
    Delayed,
    Broken,
    /// Stopped on purpose.
    Stopped,
    /// Never drawn like ok, never routable.
    Unknown,
}

impl Health {
    pub fn code(self) -> &'static str {
        match self {
            Health::Ok => "ok",
            Health::Delayed => "delayed",
            Health::Broken => "broken",
            Health::Stopped => "stopped",
            Health::Unknown => "unknown",
        }
    }
}

/// What a server is in its topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Source,
    Replica,
    /// Replica of one server and source of another.
    Intermediate,
    /// Neither replicates nor is replicated from, as far as seen.
    Standalone,
    Unknown,
}

impl Role {
    pub fn code(self) -> &'static str {
        match self {
            Role::Source => "source",
            Role::Replica => "replica",
            Role::Intermediate => "intermediate",
            Role::Standalone => "standalone",
            Role::Unknown => "unknown",
        }
    }

    pub fn is_replica(self) -> bool {
        matches!(self, Role::Replica | Role::Intermediate)
    }
}
