//! Waiting until a replica has a write: what is asked, for how long, and the many ways it ends (R20, R21).

use std::collections::BTreeMap;

use crate::model::gtid::Gtids;
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::probe::{WaitKind, WaitSeen};
use crate::model::server::WatchId;
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};

/// How a server takes the limit of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitUnit {
    /// MySQL 8.0 and later, MariaDB.
    Fractions,
    /// MySQL 5.7: 0.4 would become 0, which waits for ever.
    WholeSeconds,
}

/// How long a server may wait: always more than zero, and whole seconds where it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitLimit(Span);

const SECOND: i64 = 1_000_000;

impl WaitLimit {
    /// Below this a wait is no wait, and the fraction a server is sent would round to nothing.
    pub const SHORTEST: Span = Span::from_millis(1);

    /// `wanted`, but no more than the request has time `left`; `None` when that is too little to wait at all. Whole
    /// seconds are rounded up where the time allows it, otherwise down.
    pub fn within(wanted: Span, left: Span, unit: WaitUnit) -> Option<Self> {
        let (limit, shortest) = match unit {
            WaitUnit::Fractions => (wanted.min(left), Self::SHORTEST),
            WaitUnit::WholeSeconds => {
                let up = wanted.micros().saturating_add(SECOND - 1) / SECOND;
                let down = left.micros() / SECOND;
                (Span::from_secs(up.min(down)), Span::from_secs(1))
            }
        };
        let asked = wanted >= Self::SHORTEST && limit >= shortest;
        asked.then_some(WaitLimit(limit))
    }

    pub fn span(self) -> Span {
        self.0
    }

    /// When our side gives up on a server that does not answer in time; the connection is then thrown away.
    pub fn client_deadline(self) -> Span {
        self.0 + Span::from_millis(250)
    }
}

/// What to wait for: never an empty set.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitSpec {
    gtids: Gtids,
    limit: WaitLimit,
}

impl WaitSpec {
    pub fn new(gtids: &Gtids, limit: WaitLimit) -> Option<Self> {
        (!gtids.is_empty()).then(|| WaitSpec {
            gtids: gtids.clone(),
            limit,
        })
    }

    pub fn gtids(&self) -> &Gtids {
        &self.gtids
    }

    pub fn limit(&self) -> WaitLimit {
        self.limit
    }
}

/// How a wait ended. Only `Reached` is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitResult {
    Reached,
    TimedOut,
    Null,
    /// A number that stands for nothing.
    OddNumber(i64),
    /// The server answered with an error: 3024 and 1317 (interrupted), GTIDs off, and others.
    Error(u32),
    /// The server did not answer at all in time; the connection is out of step.
    Deadline,
    ConnectionLost,
    /// Failed in a way that has no number.
    Failed,
}

impl WaitResult {
    /// `WAIT_FOR_EXECUTED_GTID_SET`: 0 reached, 1 timed out. The removed function said -1, which here is odd.
    pub fn from_mysql(answer: Option<i64>) -> Self {
        Self::from_number(answer, 1)
    }

    /// `MASTER_GTID_WAIT`: 0 reached, -1 timed out.
    pub fn from_mariadb(answer: Option<i64>) -> Self {
        Self::from_number(answer, -1)
    }

    fn from_number(answer: Option<i64>, timed_out: i64) -> Self {
        match answer {
            Some(0) => WaitResult::Reached,
            Some(number) if number == timed_out => WaitResult::TimedOut,
            Some(number) => WaitResult::OddNumber(number),
            None => WaitResult::Null,
        }
    }

    /// Of a wait that brought no row.
    pub fn from_trouble(trouble: &Trouble) -> Self {
        match (trouble.kind, trouble.code) {
            (TroubleKind::TimedOut, None) => WaitResult::Deadline,
            (TroubleKind::Lost | TroubleKind::Unreachable, _) => WaitResult::ConnectionLost,
            (_, Some(code)) => WaitResult::Error(code),
            (_, None) => WaitResult::Failed,
        }
    }

    /// Of a wait of a probe; `None` when none was sent.
    pub fn of_seen(seen: &WaitSeen) -> Option<Self> {
        let code = seen.code.unwrap_or_default();
        let error = || WaitResult::Error(u32::try_from(code).unwrap_or_default());
        Some(match seen.kind {
            _ if seen.span.is_none() => return None,
            // The wait itself was well.
            WaitKind::Reached | WaitKind::ReadFailed => WaitResult::Reached,
            WaitKind::TimedOut => WaitResult::TimedOut,
            WaitKind::Null => WaitResult::Null,
            WaitKind::OddNumber => WaitResult::OddNumber(code),
            WaitKind::NoAnswer => WaitResult::Deadline,
            WaitKind::Lost | WaitKind::Unreachable => WaitResult::ConnectionLost,
            WaitKind::CutShort
            | WaitKind::Killed
            | WaitKind::BadArguments
            | WaitKind::Refused
            | WaitKind::GtidOff => error(),
            WaitKind::NoGtid | WaitKind::NotRunning | WaitKind::NoReplica => WaitResult::Failed,
        })
    }

    /// The connection that waited must not be used again.
    pub fn spoils_connection(self) -> bool {
        matches!(
            self,
            WaitResult::Deadline | WaitResult::ConnectionLost | WaitResult::Failed
        )
    }

    pub fn code(self) -> &'static str {
        match self {
            WaitResult::Reached => "wait_reached",
            WaitResult::TimedOut => "wait_timed_out",
            WaitResult::Null => "wait_null",
            WaitResult::OddNumber(_) => "wait_odd_number",
            WaitResult::Error(_) => "wait_error",
            WaitResult::Deadline => "wait_deadline",
            WaitResult::ConnectionLost => "wait_connection_lost",
            WaitResult::Failed => "wait_failed",
        }
    }

    pub fn phrase(self) -> Phrase {
        match self {
            WaitResult::Reached => phrase("routing.wait.reached"),
            WaitResult::TimedOut => phrase("routing.wait.timed_out"),
            WaitResult::Null => phrase("routing.wait.null"),
            WaitResult::OddNumber(number) => {
                Phrase::new("routing.wait.odd_number").with("number", number.to_string())
            }
            WaitResult::Error(code) => {
                Phrase::new("routing.wait.error").with("code", Arg::Number(u64::from(code)))
            }
            WaitResult::Deadline => phrase("routing.wait.deadline"),
            WaitResult::ConnectionLost => phrase("routing.wait.connection_lost"),
            WaitResult::Failed => phrase("routing.wait.failed"),
        }
    }
}

/// One wait of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    pub on: WatchId,
    pub result: WaitResult,
    pub took: Span,
}

/// Waits by how they ended, each kind and error number apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitTally(BTreeMap<WaitResult, u64>);

impl WaitTally {
    pub fn count(&mut self, result: WaitResult) {
        *self.0.entry(result).or_default() += 1;
    }

    pub fn of(&self, result: WaitResult) -> u64 {
        self.0.get(&result).copied().unwrap_or(0)
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (WaitResult, u64)> + '_ {
        self.0.iter().map(|(result, count)| (*result, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::gtids;
    use super::*;

    #[test]
    fn r20_only_zero_is_success_and_each_flavour_has_its_own_timeout() {
        for (answer, mysql, mariadb) in [
            (Some(0), WaitResult::Reached, WaitResult::Reached),
            (Some(1), WaitResult::TimedOut, WaitResult::OddNumber(1)),
            (Some(-1), WaitResult::OddNumber(-1), WaitResult::TimedOut),
            (Some(7), WaitResult::OddNumber(7), WaitResult::OddNumber(7)),
            (None, WaitResult::Null, WaitResult::Null),
        ] {
            assert_eq!(WaitResult::from_mysql(answer), mysql, "{answer:?}");
            assert_eq!(WaitResult::from_mariadb(answer), mariadb, "{answer:?}");
        }
    }

    #[test]
    fn r21_a_limit_is_never_zero_and_on_5_7_never_a_fraction() {
        use WaitUnit::{Fractions, WholeSeconds};
        for (wanted_ms, left_ms, unit, limit_ms) in [
            (1_000, 5_000, Fractions, Some(1_000)),
            (1_000, 400, Fractions, Some(400)),
            (1_000, 1, Fractions, Some(1)),
            (1_000, 0, Fractions, None),
            (1_000, -3, Fractions, None),
            (0, 5_000, Fractions, None),
            (-1, 5_000, Fractions, None),
            (400, 5_000, WholeSeconds, Some(1_000)),
            (1_000, 5_000, WholeSeconds, Some(1_000)),
            (1_001, 5_000, WholeSeconds, Some(2_000)),
            (1_400, 1_900, WholeSeconds, Some(1_000)),
            (1_000, 999, WholeSeconds, None),
            (0, 5_000, WholeSeconds, None),
        ] {
            let limit = WaitLimit::within(
                Span::from_millis(wanted_ms),
                Span::from_millis(left_ms),
                unit,
            );
            assert_eq!(
                limit.map(WaitLimit::span),
                limit_ms.map(Span::from_millis),
                "{wanted_ms} of {left_ms} {unit:?}"
            );
        }
    }

    #[test]
    fn half_a_millisecond_left_is_no_wait() {
        let left = Span::from_micros(500);
        let limit = WaitLimit::within(Span::from_secs(1), left, WaitUnit::Fractions);
        assert_eq!(limit, None);
    }

    #[test]
    fn r21_nothing_is_never_waited_for() {
        let limit = WaitLimit::within(Span::from_secs(1), Span::from_secs(1), WaitUnit::Fractions)
            .expect("a limit");
        assert_eq!(WaitSpec::new(&gtids(""), limit), None);
        assert!(WaitSpec::new(&gtids("1-5"), limit).is_some());
        assert!(limit.client_deadline() > limit.span());
    }

    #[test]
    fn troubles_are_told_apart() {
        for (kind, code, result, spoiled) in [
            (
                TroubleKind::QueryFailed,
                Some(3024),
                WaitResult::Error(3024),
                false,
            ),
            (
                TroubleKind::QueryFailed,
                Some(1317),
                WaitResult::Error(1317),
                false,
            ),
            (TroubleKind::TimedOut, None, WaitResult::Deadline, true),
            (TroubleKind::Lost, None, WaitResult::ConnectionLost, true),
            (TroubleKind::Unreadable, None, WaitResult::Failed, true),
        ] {
            let trouble = Trouble {
                kind,
                what: phrase("routing.wait.failed"),
                hint: None,
                code,
                detail: String::new(),
            };
            assert_eq!(WaitResult::from_trouble(&trouble), result);
            assert_eq!(result.spoils_connection(), spoiled);
        }
    }

    #[test]
    fn the_tally_keeps_error_numbers_apart() {
        let mut tally = WaitTally::default();
        for result in [
            WaitResult::Error(3024),
            WaitResult::Error(1317),
            WaitResult::Error(3024),
        ] {
            tally.count(result);
        }
        assert_eq!(tally.of(WaitResult::Error(3024)), 2);
        assert_eq!(tally.of(WaitResult::Error(1317)), 1);
        assert_eq!(tally.of(WaitResult::Reached), 0);
        assert_eq!(tally.total(), 3);
    }
}
