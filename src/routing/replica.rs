//! What is known of a replica when a read is routed. Unknown is a fact of its own and never counts as healthy
//! (R01, R02).

use crate::model::lag::Reading;
use crate::model::phrase::{Phrase, phrase};
use crate::model::replication::{Channel, ThreadState};
use crate::model::server::WatchId;
use crate::model::time::Span;

use super::wait::WaitUnit;

/// Do the replication threads run, all channels together?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Threads {
    Running,
    NotRunning,
    Unknown,
    /// The platform replicates below SQL: there are no threads to look at (Aurora).
    BelowSql,
}

impl Threads {
    /// Of a replica's channels, all together.
    pub fn of_channels(channels: &[Channel]) -> Self {
        Self::of(channels.iter().flat_map(|c| [&c.receiver, &c.applier]))
    }

    /// A receiver that is still connecting is not running (R10); no thread at all tells nothing.
    pub fn of<'a>(threads: impl IntoIterator<Item = &'a ThreadState>) -> Self {
        let rank = |thread: &ThreadState| match thread {
            ThreadState::Running => Threads::Running,
            ThreadState::Untold => Threads::Unknown,
            ThreadState::Connecting | ThreadState::Stopped | ThreadState::Other(_) => {
                Threads::NotRunning
            }
        };
        threads
            .into_iter()
            .map(rank)
            .reduce(Threads::worse)
            .unwrap_or(Threads::Unknown)
    }

    fn worse(self, other: Threads) -> Threads {
        let says = |threads| self == threads || other == threads;
        if says(Threads::NotRunning) {
            Threads::NotRunning
        } else if says(Threads::Unknown) {
            Threads::Unknown
        } else {
            Threads::Running
        }
    }
}

/// Does the server answer?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answering {
    Yes,
    No,
    /// Not asked yet, or too long ago.
    Unknown,
}

/// What the guard lets in (see [`super::guard`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Admission {
    Everything,
    /// Just came back: ordinary reads, but none that must see a write.
    OrdinaryReads,
    Nothing,
}

/// Which reads a replica is asked to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadClass {
    Ordinary,
    /// Must see a write made before.
    Strong,
}

/// The highest lag that is still fresh enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LagLimit {
    /// `lag <= limit`
    UpTo(Span),
    /// `lag < limit`
    Below(Span),
}

impl LagLimit {
    /// At most 3000 ms: a heartbeat guard that allows the limit itself.
    pub const THREE_SECONDS: LagLimit = LagLimit::UpTo(Span::from_millis(3_000));
    /// Less than one second: a position check that does not.
    pub const ONE_SECOND: LagLimit = LagLimit::Below(Span::from_secs(1));

    pub fn allows(self, lag: Span) -> bool {
        match self {
            LagLimit::UpTo(limit) => lag <= limit,
            LagLimit::Below(limit) => lag < limit,
        }
    }

    pub fn span(self) -> Span {
        match self {
            LagLimit::UpTo(limit) | LagLimit::Below(limit) => limit,
        }
    }
}

/// Why a replica may not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unfit {
    /// There is no replica at all.
    NoReplica,
    /// Nobody asked it yet, or the last answer is too old.
    NotChecked,
    /// It did not answer the check.
    CheckFailed,
    NotRunning,
    ThreadsUnknown,
    LagUnknown,
    LagOver {
        lag: Span,
        limit: Span,
    },
    /// It came back, but is not yet trusted with reads that must see a write.
    Recovering,
    /// The guard has taken it out.
    TakenOut,
    /// It cannot wait for a GTID set.
    CannotWait,
}

impl Unfit {
    pub fn code(self) -> &'static str {
        match self {
            Unfit::NoReplica => "no_replica",
            Unfit::NotChecked => "not_checked",
            Unfit::CheckFailed => "check_failed",
            Unfit::NotRunning => "not_running",
            Unfit::ThreadsUnknown => "threads_unknown",
            Unfit::LagUnknown => "lag_unknown",
            Unfit::LagOver { .. } => "lag_over_limit",
            Unfit::Recovering => "recovering",
            Unfit::TakenOut => "taken_out",
            Unfit::CannotWait => "cannot_wait",
        }
    }

    pub fn phrase(self) -> Phrase {
        match self {
            Unfit::NoReplica => phrase("routing.unfit.no_replica"),
            Unfit::NotChecked => phrase("routing.unfit.not_checked"),
            Unfit::CheckFailed => phrase("routing.unfit.check_failed"),
            Unfit::NotRunning => phrase("routing.unfit.not_running"),
            Unfit::ThreadsUnknown => phrase("routing.unfit.threads_unknown"),
            Unfit::LagUnknown => phrase("routing.unfit.lag_unknown"),
            Unfit::LagOver { lag, limit } => Phrase::new("routing.unfit.lag_over")
                .with("lag", lag)
                .with("limit", limit),
            Unfit::Recovering => phrase("routing.unfit.recovering"),
            Unfit::TakenOut => phrase("routing.unfit.taken_out"),
            Unfit::CannotWait => phrase("routing.unfit.cannot_wait"),
        }
    }
}

/// One replica as a rule sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaView {
    pub watch: WatchId,
    pub answering: Answering,
    pub threads: Threads,
    pub lag: Reading,
    pub admission: Admission,
    /// How it takes the limit of a GTID wait; `None` when it cannot wait (GTIDs off).
    pub wait_unit: Option<WaitUnit>,
}

impl ReplicaView {
    pub fn answers(&self) -> Result<(), Unfit> {
        match self.answering {
            Answering::Yes => Ok(()),
            Answering::No => Err(Unfit::CheckFailed),
            Answering::Unknown => Err(Unfit::NotChecked),
        }
    }

    /// Answers, replicates, and the guard lets this read in; says nothing of lag.
    pub fn serves(&self, read: ReadClass) -> Result<(), Unfit> {
        self.answers()?;
        threads_run(self.threads)?;
        match (self.admission, read) {
            (Admission::Everything, _) | (Admission::OrdinaryReads, ReadClass::Ordinary) => Ok(()),
            (Admission::OrdinaryReads, ReadClass::Strong) => Err(Unfit::Recovering),
            (Admission::Nothing, _) => Err(Unfit::TakenOut),
        }
    }

    /// Takes ordinary reads and its lag is known to be within the limit.
    pub fn is_fresh(&self, limit: LagLimit) -> Result<(), Unfit> {
        self.serves(ReadClass::Ordinary)?;
        lag_within(&self.lag, limit)
    }

    /// May be waited on: the function would use up its time on a stopped replica (T-8), so that is asked first.
    pub fn can_wait(&self) -> Result<WaitUnit, Unfit> {
        self.serves(ReadClass::Strong)?;
        self.wait_unit.ok_or(Unfit::CannotWait)
    }
}

pub fn threads_run(threads: Threads) -> Result<(), Unfit> {
    match threads {
        Threads::Running | Threads::BelowSql => Ok(()),
        Threads::NotRunning => Err(Unfit::NotRunning),
        Threads::Unknown => Err(Unfit::ThreadsUnknown),
    }
}

pub fn lag_within(lag: &Reading, limit: LagLimit) -> Result<(), Unfit> {
    match lag.value() {
        None => Err(Unfit::LagUnknown),
        Some(lag) if limit.allows(lag) => Ok(()),
        Some(lag) => Err(Unfit::LagOver {
            lag,
            limit: limit.span(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::{lag_ms, replica, unknown_lag};
    use super::*;

    #[test]
    fn one_document_allows_the_limit_itself_and_the_other_does_not() {
        for (limit, lag_ms, allowed) in [
            (LagLimit::THREE_SECONDS, 2_999, true),
            (LagLimit::THREE_SECONDS, 3_000, true),
            (LagLimit::THREE_SECONDS, 3_001, false),
            (LagLimit::ONE_SECOND, 999, true),
            (LagLimit::ONE_SECOND, 1_000, false),
            (LagLimit::ONE_SECOND, 1_001, false),
        ] {
            assert_eq!(limit.allows(Span::from_millis(lag_ms)), allowed, "{lag_ms}");
        }
    }

    #[test]
    fn r10_threads_run_only_when_every_one_of_them_says_so() {
        use ThreadState::{Connecting, Other, Running, Stopped, Untold};
        for (threads, expected) in [
            (&[][..], Threads::Unknown),
            (&[Running, Running], Threads::Running),
            (&[Connecting, Running], Threads::NotRunning),
            (&[Running, Stopped], Threads::NotRunning),
            (&[Running, Other("Migrating".into())], Threads::NotRunning),
            (&[Running, Untold], Threads::Unknown),
            (&[Untold, Stopped], Threads::NotRunning),
            (&[Running, Running, Running, Stopped], Threads::NotRunning),
        ] {
            assert_eq!(Threads::of(threads), expected, "{threads:?}");
        }
    }

    #[test]
    fn r02_no_limit_is_so_high_that_unknown_lag_passes() {
        for seconds in [0, 1, 60, 70, 864_000] {
            let view = ReplicaView {
                lag: unknown_lag(),
                ..replica(1)
            };
            let limit = LagLimit::UpTo(Span::from_secs(seconds));
            assert_eq!(view.is_fresh(limit), Err(Unfit::LagUnknown));
        }
    }

    #[test]
    fn what_is_known_decides_and_what_is_unknown_never_serves() {
        use {Admission as A, Answering as Q, ReadClass as R, Threads as T};
        for (answering, threads, admission, read, expected) in [
            (Q::Yes, T::Running, A::Everything, R::Strong, Ok(())),
            (Q::Yes, T::BelowSql, A::Everything, R::Strong, Ok(())),
            (
                Q::Unknown,
                T::Running,
                A::Everything,
                R::Ordinary,
                Err(Unfit::NotChecked),
            ),
            (
                Q::No,
                T::Running,
                A::Everything,
                R::Ordinary,
                Err(Unfit::CheckFailed),
            ),
            (
                Q::Yes,
                T::NotRunning,
                A::Everything,
                R::Ordinary,
                Err(Unfit::NotRunning),
            ),
            (
                Q::Yes,
                T::Unknown,
                A::Everything,
                R::Ordinary,
                Err(Unfit::ThreadsUnknown),
            ),
            (Q::Yes, T::Running, A::OrdinaryReads, R::Ordinary, Ok(())),
            (
                Q::Yes,
                T::Running,
                A::OrdinaryReads,
                R::Strong,
                Err(Unfit::Recovering),
            ),
            (
                Q::Yes,
                T::Running,
                A::Nothing,
                R::Ordinary,
                Err(Unfit::TakenOut),
            ),
        ] {
            let view = ReplicaView {
                answering,
                threads,
                admission,
                ..replica(1)
            };
            assert_eq!(view.serves(read), expected, "{view:?}");
        }
    }

    #[test]
    fn a_replica_that_cannot_wait_or_does_not_run_is_not_waited_on() {
        assert_eq!(replica(1).can_wait(), Ok(WaitUnit::Fractions));
        let gtids_off = ReplicaView {
            wait_unit: None,
            ..replica(1)
        };
        assert_eq!(gtids_off.can_wait(), Err(Unfit::CannotWait));
        let stopped = ReplicaView {
            threads: Threads::NotRunning,
            lag: lag_ms(0),
            ..replica(1)
        };
        assert_eq!(stopped.can_wait(), Err(Unfit::NotRunning));
    }
}
