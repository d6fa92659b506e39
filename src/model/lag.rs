//! What can be said of how late a replica is.

use super::phrase::Phrase;
use super::time::{Moment, Span};

/// A way to measure lag, from the most to the least trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Marks of the source's executed set, waited for on the replica; the workstation's clock only.
    GtidMarks,
    /// The original commit time of the transaction being applied (MySQL 8.0 and later).
    Applier,
    /// Lateness of a heartbeat row.
    Heartbeat,
    /// What the platform's own table says (Aurora).
    Platform,
    /// `Seconds_Behind_Source`.
    SecondsBehind,
}

impl Method {
    pub const ALL: [Method; 5] = [
        Method::GtidMarks,
        Method::Applier,
        Method::Heartbeat,
        Method::Platform,
        Method::SecondsBehind,
    ];

    /// The name in the JSON contract.
    pub fn code(self) -> &'static str {
        match self {
            Method::GtidMarks => "gtid_marks",
            Method::Applier => "applier",
            Method::Heartbeat => "heartbeat",
            Method::Platform => "platform",
            Method::SecondsBehind => "seconds_behind",
        }
    }
}

/// A lag with its error bound and origin. The value is never negative: a stamp from the future is a clock problem,
/// not a lag (R06).
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    pub value: Span,
    /// The true lag lies within value ± bound; `None` when the method cannot bound itself.
    pub bound: Option<Span>,
    pub method: Method,
    /// When the facts behind it were read.
    pub taken_at: Moment,
}

/// One of three things that are never turned into one another.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    Measured(Measurement),
    Unknown { why: Phrase },
    NotApplicable { why: Phrase },
}

impl Reading {
    pub fn unknown(why: Phrase) -> Self {
        Reading::Unknown { why }
    }

    pub fn not_applicable(why: Phrase) -> Self {
        Reading::NotApplicable { why }
    }

    pub fn measured(&self) -> Option<&Measurement> {
        match self {
            Reading::Measured(measurement) => Some(measurement),
            _ => None,
        }
    }

    pub fn value(&self) -> Option<Span> {
        self.measured().map(|m| m.value)
    }

    pub fn why(&self) -> Option<&Phrase> {
        match self {
            Reading::Measured(_) => None,
            Reading::Unknown { why } | Reading::NotApplicable { why } => Some(why),
        }
    }
}

/// Where the time of a late transaction goes, as far as the server tells (MySQL 8.0 and later).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages {
    /// Commit on the source → queued in the replica's relay log.
    pub transport: Option<Span>,
    /// Queued → applying began.
    pub queue: Option<Span>,
    /// Applying began → now or end.
    pub apply: Option<Span>,
}

/// What waits between source and replica.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Backlog {
    /// Executed on the source, not on the replica.
    pub transactions: Option<u64>,
    /// Of these, already received, waiting in the relay log.
    pub received: Option<u64>,
    /// Bytes of the source's binary log not yet executed; rough: positions advance at checkpoints.
    pub bytes: Option<u64>,
}

/// How fast a late replica catches up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CatchUp {
    /// Nothing waits.
    CaughtUp,
    /// Seconds of the source's time applied per second, beyond the one that passes; and when it will be done.
    Closing { speed: f64, done_in: Span },
    /// The distance grows or stands.
    FallingBehind,
}

/// Everything known of one channel's lag at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct LagView {
    /// The best method available now.
    pub headline: Reading,
    /// Each method's own reading, in the order of trust.
    pub methods: Vec<(Method, Reading)>,
    /// The planned delay (`SQL_Delay`); the readings are lateness beyond it.
    pub planned_delay: Span,
    /// Which to believe, and why the others disagree.
    pub verdict: Phrase,
    pub cause: Option<Cause>,
    pub stages: Stages,
    pub backlog: Backlog,
    pub catch_up: Option<CatchUp>,
}

impl LagView {
    pub fn method(&self, method: Method) -> Option<&Reading> {
        self.methods
            .iter()
            .find(|(m, _)| *m == method)
            .map(|(_, reading)| reading)
    }
}

/// Why a replica is late or cannot be judged, with what shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    pub kind: CauseKind,
    pub text: Phrase,
    pub evidence: Vec<Phrase>,
}

/// The causes told apart (lag is a symptom, these are the illnesses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CauseKind {
    ReceiverStopped,
    ReceiverConnecting,
    ApplierStopped,
    ApplierBroken,
    BigTransaction,
    TooFewWorkers,
    BlockedByLock,
    SlowReaders,
    SlowNetwork,
    PlannedDelay,
    HeartbeatWriterDown,
    ClockOrZone,
}
