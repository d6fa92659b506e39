//! Where a read goes, and why.

use crate::model::phrase::{Phrase, phrase};
use crate::model::server::WatchId;
use crate::model::time::Span;

use super::replica::Unfit;
use super::wait::{WaitResult, WaitSpec};

/// Where to.
#[derive(Clone, Debug, PartialEq)]
pub enum Go {
    Source,
    /// Any plain connection to this replica.
    Replica(WatchId),
    /// Wait there first, then ask the rule again with how it ended.
    WaitOn(WatchId, WaitSpec),
    /// The very connection that waited: another one of the pool may lead elsewhere (B-06).
    WaitedReplica(WatchId),
    /// Fail the request instead of overloading the source.
    Refuse,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub go: Go,
    pub reason: Reason,
}

impl Decision {
    pub fn source(reason: Reason) -> Self {
        Decision {
            go: Go::Source,
            reason,
        }
    }

    pub fn replica(watch: WatchId, reason: Reason) -> Self {
        Decision {
            go: Go::Replica(watch),
            reason,
        }
    }

    /// The replica picked, or the source because none was fit.
    pub fn of_pick(picked: Result<WatchId, Unfit>) -> Self {
        match picked {
            Ok(watch) => Decision::replica(watch, Reason::FitReplica),
            Err(unfit) => Decision::source(Reason::NoFitReplica(unfit)),
        }
    }
}

/// Why a read went where it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    // By design.
    IsWrite,
    InTransaction,
    AlwaysSource,
    /// Its session wrote `age` ago, which is within the window.
    WroteLately {
        age: Span,
        window: Span,
    },
    /// It reaches rows its session wrote lately.
    ReadsLateRows,
    /// The route table sends this kind to the source.
    KindOnSource,
    /// The rule looks at nothing.
    AnyReplica,
    FitReplica,
    /// First see whether the replica has the write.
    WaitFirst,
    /// It has.
    Caught,
    // Fallbacks: meant for a replica, went to the source.
    NoFitReplica(Unfit),
    /// There is no GTID to wait for; waiting for nothing would succeed at once (R21).
    NoGtid,
    WaitEnded(WaitResult),
    /// The time for this request is used up, or too short for a wait.
    BudgetSpent,
    /// The replica could not be read after all.
    ReplicaUnreadable,
    // Refused.
    SourceHasNoRoom,
}

impl Reason {
    /// A stable name, for counting and for the JSON contract.
    pub fn code(self) -> &'static str {
        match self {
            Reason::IsWrite => "write",
            Reason::InTransaction => "in_transaction",
            Reason::AlwaysSource => "always_source",
            Reason::WroteLately { .. } => "wrote_lately",
            Reason::ReadsLateRows => "reads_late_rows",
            Reason::KindOnSource => "kind_on_source",
            Reason::AnyReplica => "any_replica",
            Reason::FitReplica => "fit_replica",
            Reason::WaitFirst => "wait_first",
            Reason::Caught => "caught_up",
            Reason::NoFitReplica(unfit) => unfit.code(),
            Reason::NoGtid => "no_gtid",
            Reason::WaitEnded(result) => result.code(),
            Reason::BudgetSpent => "budget_spent",
            Reason::ReplicaUnreadable => "replica_unreadable",
            Reason::SourceHasNoRoom => "source_has_no_room",
        }
    }

    /// The rule wanted a replica and could not have one.
    pub fn is_fallback(self) -> bool {
        matches!(
            self,
            Reason::NoFitReplica(_)
                | Reason::NoGtid
                | Reason::WaitEnded(_)
                | Reason::BudgetSpent
                | Reason::ReplicaUnreadable
                | Reason::SourceHasNoRoom
        )
    }

    pub fn phrase(self) -> Phrase {
        match self {
            Reason::IsWrite => phrase("routing.reason.write"),
            Reason::InTransaction => phrase("routing.reason.in_transaction"),
            Reason::AlwaysSource => phrase("routing.reason.always_source"),
            Reason::WroteLately { age, window } => Phrase::new("routing.reason.wrote_lately")
                .with("age", age)
                .with("window", window),
            Reason::ReadsLateRows => phrase("routing.reason.reads_late_rows"),
            Reason::KindOnSource => phrase("routing.reason.kind_on_source"),
            Reason::AnyReplica => phrase("routing.reason.any_replica"),
            Reason::FitReplica => phrase("routing.reason.fit_replica"),
            Reason::WaitFirst => phrase("routing.reason.wait_first"),
            Reason::Caught => phrase("routing.reason.caught_up"),
            Reason::NoFitReplica(unfit) => unfit.phrase(),
            Reason::NoGtid => phrase("routing.reason.no_gtid"),
            Reason::WaitEnded(result) => result.phrase(),
            Reason::BudgetSpent => phrase("routing.reason.budget_spent"),
            Reason::ReplicaUnreadable => phrase("routing.reason.replica_unreadable"),
            Reason::SourceHasNoRoom => phrase("routing.reason.source_has_no_room"),
        }
    }
}

/// The words of a fallback counted by its code, without the figures of one case.
pub fn fallback_key(code: &str) -> &'static str {
    match code {
        "no_replica" => "rules.fallback.no_replica",
        "not_checked" => "rules.fallback.not_checked",
        "check_failed" => "rules.fallback.check_failed",
        "not_running" => "rules.fallback.not_running",
        "threads_unknown" => "rules.fallback.threads_unknown",
        "lag_unknown" => "rules.fallback.lag_unknown",
        "lag_over_limit" => "rules.fallback.lag_over_limit",
        "recovering" => "rules.fallback.recovering",
        "taken_out" => "rules.fallback.taken_out",
        "cannot_wait" => "rules.fallback.cannot_wait",
        "no_gtid" => "rules.fallback.no_gtid",
        "wait_timed_out" => "rules.fallback.wait_timed_out",
        "wait_null" => "rules.fallback.wait_null",
        "wait_odd_number" => "rules.fallback.wait_odd_number",
        "wait_error" => "rules.fallback.wait_error",
        "wait_deadline" => "rules.fallback.wait_deadline",
        "wait_connection_lost" => "rules.fallback.wait_connection_lost",
        "wait_failed" => "rules.fallback.wait_failed",
        "budget_spent" => "rules.fallback.budget_spent",
        "replica_unreadable" => "rules.fallback.replica_unreadable",
        "source_has_no_room" => "rules.fallback.source_has_no_room",
        _ => "rules.fallback.other",
    }
}
