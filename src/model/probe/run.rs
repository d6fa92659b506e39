//! One run of a probe as it was seen.

use serde::{Deserialize, Serialize};

use crate::model::gtid::Gtids;
use crate::model::phrase::Phrase;
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;

/// One write and all reads after it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeRun {
    /// From 1.
    pub number: u32,
    /// What was, or would have been, written.
    pub value: String,
    /// `Err`: nothing was written, so nothing was read.
    pub write: Result<Write, Trouble>,
    /// The read on the source, on a session of its own.
    pub source: Option<Seen>,
    /// In the order of the replicas given.
    pub replicas: Vec<ReplicaRun>,
}

/// The write and what is known of its commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    pub session: u64,
    pub asked_at: Moment,
    /// When we had the source's OK: the write is committed, and a person would believe it done.
    pub committed_at: Moment,
    /// `Err`: why there is nothing to wait for.
    pub token: Result<Token, WaitKind>,
}

/// What a reader waits for to be sure to see the write.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub gtids: Gtids,
    pub from: TokenFrom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenFrom {
    /// Told with the OK of the commit: exactly this transaction.
    Session,
    /// `gtid_executed` read after the commit: this one and all others.
    ExecutedSet,
    /// MariaDB's `@@last_gtid`, asked after the commit on the same session.
    LastGtid,
}

impl TokenFrom {
    pub fn code(self) -> &'static str {
        match self {
            TokenFrom::Session => "session",
            TokenFrom::ExecutedSet => "executed_set",
            TokenFrom::LastGtid => "last_gtid",
        }
    }
}

/// What one replica made of the write.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaRun {
    pub plain: Seen,
    pub waited: WaitedRead,
    /// When a session that did nothing but look first saw the write; `None` when nobody looked or it was not seen.
    pub first_visible: Option<Moment>,
}

/// One read.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The connection it ran on; `None` when there was none.
    pub session: Option<u64>,
    pub asked_at: Moment,
    pub answered_at: Moment,
    /// `Ok(None)`: the row is not there.
    pub value: Result<Option<String>, Trouble>,
}

impl Seen {
    /// `written` is what a fresh read must find.
    pub fn verdict(&self, written: &str) -> Verdict {
        match &self.value {
            Ok(Some(value)) if value == written => Verdict::Fresh,
            Ok(Some(_)) => Verdict::Old,
            Ok(None) => Verdict::Missing,
            Err(_) => Verdict::Failed,
        }
    }

    pub fn text(&self) -> Option<&str> {
        self.value.as_ref().ok()?.as_deref()
    }
}

/// What a read made of the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    Fresh,
    /// A value from before the write.
    Old,
    /// The row is not there yet.
    Missing,
    /// No answer to judge.
    Failed,
}

impl Verdict {
    pub fn code(self) -> &'static str {
        match self {
            Verdict::Fresh => "fresh",
            Verdict::Old => "old",
            Verdict::Missing => "missing",
            Verdict::Failed => "failed",
        }
    }

    pub fn is_stale(self) -> bool {
        matches!(self, Verdict::Old | Verdict::Missing)
    }
}

/// A wait on a replica, then the read on the connection that waited; or, when the wait did not succeed, the read on the
/// source. Rows of a replica whose wait failed are never returned (A-19, B-05).
#[derive(Clone, Debug, PartialEq)]
pub struct WaitedRead {
    pub wait: WaitSeen,
    pub read: Seen,
    pub read_from: ReadFrom,
    /// Why the read went to the source.
    pub reason: Option<Phrase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadFrom {
    Replica,
    Source,
}

impl ReadFrom {
    pub fn code(self) -> &'static str {
        match self {
            ReadFrom::Replica => "replica",
            ReadFrom::Source => "source",
        }
    }
}

/// How a wait went.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitSeen {
    pub kind: WaitKind,
    /// The connection that waited; `None` when there was none.
    pub session: Option<u64>,
    /// `None`: no wait was sent.
    pub span: Option<(Moment, Moment)>,
    /// The server's error number, or the unexpected number it answered.
    pub code: Option<i64>,
    pub trouble: Option<Trouble>,
}

impl WaitSeen {
    pub fn not_sent(kind: WaitKind) -> Self {
        WaitSeen {
            kind,
            session: None,
            span: None,
            code: None,
            trouble: None,
        }
    }

    pub fn length(&self) -> Option<Span> {
        self.span.map(|(asked, answered)| answered.since(asked))
    }
}

/// Every way a wait can end, counted apart. Only the first is success (R20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum WaitKind {
    Reached,
    /// The function says so itself: 1, or -1 on MariaDB.
    TimedOut,
    /// A limit of the server ended the statement: 3024, 1969, 1205.
    CutShort,
    /// Somebody killed the statement: 1317.
    Killed,
    /// No answer within our own limit, slightly above the server's: the connection is thrown away.
    NoAnswer,
    /// The connection broke.
    Lost,
    Null,
    OddNumber,
    /// The server takes the arguments for nonsense: 1210, 1772, 1941.
    BadArguments,
    /// Any other error answer.
    Refused,
    /// GTIDs are off where the write was made: there is nothing to wait for.
    GtidOff,
    /// The source did not tell the GTID of the commit, in no way we know.
    NoGtid,
    /// The applier does not run: the wait would only have used up its limit.
    NotRunning,
    /// The server follows nobody (any more).
    NoReplica,
    /// There is no connection to wait on.
    Unreachable,
    /// The wait succeeded, but the read after it got no answer.
    ReadFailed,
}

/// The three a reader acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Reached,
    TimedOut,
    Failed,
}

impl Outcome {
    pub fn code(self) -> &'static str {
        match self {
            Outcome::Reached => "reached",
            Outcome::TimedOut => "timed_out",
            Outcome::Failed => "failed",
        }
    }
}

impl WaitKind {
    pub const ALL: [WaitKind; 16] = [
        WaitKind::Reached,
        WaitKind::TimedOut,
        WaitKind::CutShort,
        WaitKind::Killed,
        WaitKind::NoAnswer,
        WaitKind::Lost,
        WaitKind::Null,
        WaitKind::OddNumber,
        WaitKind::BadArguments,
        WaitKind::Refused,
        WaitKind::GtidOff,
        WaitKind::NoGtid,
        WaitKind::NotRunning,
        WaitKind::NoReplica,
        WaitKind::Unreachable,
        WaitKind::ReadFailed,
    ];

    pub fn outcome(self) -> Outcome {
        match self {
            WaitKind::Reached => Outcome::Reached,
            WaitKind::TimedOut => Outcome::TimedOut,
            _ => Outcome::Failed,
        }
    }

    /// For exports.
    pub fn code(self) -> &'static str {
        match self {
            WaitKind::Reached => "reached",
            WaitKind::TimedOut => "timed_out",
            WaitKind::CutShort => "cut_short",
            WaitKind::Killed => "killed",
            WaitKind::NoAnswer => "no_answer",
            WaitKind::Lost => "lost",
            WaitKind::Null => "null",
            WaitKind::OddNumber => "odd_number",
            WaitKind::BadArguments => "bad_arguments",
            WaitKind::Refused => "refused",
            WaitKind::GtidOff => "gtid_off",
            WaitKind::NoGtid => "no_gtid",
            WaitKind::NotRunning => "not_running",
            WaitKind::NoReplica => "no_replica",
            WaitKind::Unreachable => "unreachable",
            WaitKind::ReadFailed => "read_failed",
        }
    }

    /// Why the read goes to the source; `None` for the one that lets it stay.
    pub fn reason(self) -> Option<Phrase> {
        Some(Phrase::new(match self {
            WaitKind::Reached => return None,
            WaitKind::TimedOut => "probe.reason.timed_out",
            WaitKind::CutShort => "probe.reason.cut_short",
            WaitKind::Killed => "probe.reason.killed",
            WaitKind::NoAnswer => "probe.reason.no_answer",
            WaitKind::Lost => "probe.reason.lost",
            WaitKind::Null => "probe.reason.null",
            WaitKind::OddNumber => "probe.reason.odd_number",
            WaitKind::BadArguments => "probe.reason.bad_arguments",
            WaitKind::Refused => "probe.reason.refused",
            WaitKind::GtidOff => "probe.reason.gtid_off",
            WaitKind::NoGtid => "probe.reason.no_gtid",
            WaitKind::NotRunning => "probe.reason.applier_stopped",
            WaitKind::NoReplica => "probe.reason.no_replica",
            WaitKind::Unreachable => "probe.reason.unreachable",
            WaitKind::ReadFailed => "probe.reason.read_failed",
        }))
    }
}

impl ProbeRun {
    /// How long after the commit a read was sent.
    pub fn after_commit(&self, read: &Seen) -> Option<Span> {
        let write = self.write.as_ref().ok()?;
        Some(read.asked_at.since(write.committed_at))
    }
}
