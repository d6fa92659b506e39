//! The faults that can be made in a lab, and what became of those that were.

use super::LabServer;
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;

/// What can be made to go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    LinkLatency,
    LinkBandwidth,
    LinkCut,
    PlannedDelay,
    StopApplier,
    StopReceiver,
    /// The replica already has the row that comes next: error 1062.
    BreakApplier,
    /// A table of the replica is locked by a session.
    LockTable,
    BigTransaction,
    SlowReaders,
    SlowDisk,
    /// The replica no longer acknowledges.
    SemiSyncLoss,
    /// An errant transaction.
    WriteOnReplica,
    ClockSkew,
    StopHeartbeat,
    DisableEvent,
    SourceReadOnly,
    /// `kill -9`; undone by starting it again.
    KillServer,
    /// Done in order; undone by swapping back.
    SwapRoles,
}

/// What a fault happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A replica, or the link by which it copies.
    Replica,
    Source,
    AnyServer,
}

/// How strong a fault is, in a unit of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intensity {
    pub unit: IntensityUnit,
    pub least: f64,
    pub usual: f64,
    pub most: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntensityUnit {
    Milliseconds,
    Seconds,
    KilobytesPerSecond,
    Rows,
    Sessions,
}

impl FaultKind {
    pub const ALL: [FaultKind; 19] = [
        FaultKind::LinkLatency,
        FaultKind::LinkBandwidth,
        FaultKind::LinkCut,
        FaultKind::PlannedDelay,
        FaultKind::StopApplier,
        FaultKind::StopReceiver,
        FaultKind::BreakApplier,
        FaultKind::LockTable,
        FaultKind::BigTransaction,
        FaultKind::SlowReaders,
        FaultKind::SlowDisk,
        FaultKind::SemiSyncLoss,
        FaultKind::WriteOnReplica,
        FaultKind::ClockSkew,
        FaultKind::StopHeartbeat,
        FaultKind::DisableEvent,
        FaultKind::SourceReadOnly,
        FaultKind::KillServer,
        FaultKind::SwapRoles,
    ];

    /// For files, the command line and keys of the catalogue.
    pub fn code(self) -> &'static str {
        match self {
            FaultKind::LinkLatency => "link_latency",
            FaultKind::LinkBandwidth => "link_bandwidth",
            FaultKind::LinkCut => "link_cut",
            FaultKind::PlannedDelay => "planned_delay",
            FaultKind::StopApplier => "stop_applier",
            FaultKind::StopReceiver => "stop_receiver",
            FaultKind::BreakApplier => "break_applier",
            FaultKind::LockTable => "lock_table",
            FaultKind::BigTransaction => "big_transaction",
            FaultKind::SlowReaders => "slow_readers",
            FaultKind::SlowDisk => "slow_disk",
            FaultKind::SemiSyncLoss => "semi_sync_loss",
            FaultKind::WriteOnReplica => "write_on_replica",
            FaultKind::ClockSkew => "clock_skew",
            FaultKind::StopHeartbeat => "stop_heartbeat",
            FaultKind::DisableEvent => "disable_event",
            FaultKind::SourceReadOnly => "source_read_only",
            FaultKind::KillServer => "kill_server",
            FaultKind::SwapRoles => "swap_roles",
        }
    }

    pub fn from_code(code: &str) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| kind.code() == code)
    }

    pub fn aim(self) -> Aim {
        match self {
            FaultKind::BigTransaction
            | FaultKind::StopHeartbeat
            | FaultKind::DisableEvent
            | FaultKind::SourceReadOnly => Aim::Source,
            FaultKind::KillServer | FaultKind::ClockSkew | FaultKind::SlowDisk => Aim::AnyServer,
            _ => Aim::Replica,
        }
    }

    /// `None`: it is there or not.
    pub fn intensity(self) -> Option<Intensity> {
        let of = |unit, least, usual, most| {
            Some(Intensity {
                unit,
                least,
                usual,
                most,
            })
        };
        match self {
            FaultKind::LinkLatency => of(IntensityUnit::Milliseconds, 1.0, 800.0, 30_000.0),
            FaultKind::LinkBandwidth => of(IntensityUnit::KilobytesPerSecond, 0.1, 1.0, 10_000.0),
            FaultKind::PlannedDelay => of(IntensityUnit::Seconds, 1.0, 10.0, 3600.0),
            FaultKind::BigTransaction => of(IntensityUnit::Rows, 1000.0, 200_000.0, 5_000_000.0),
            FaultKind::SlowReaders => of(IntensityUnit::Sessions, 1.0, 8.0, 64.0),
            FaultKind::SlowDisk => of(IntensityUnit::Milliseconds, 1.0, 200.0, 5_000.0),
            FaultKind::ClockSkew => of(IntensityUnit::Seconds, -3600.0, 90.0, 3600.0),
            _ => None,
        }
    }

    /// Over when it is done; nothing is left to undo.
    pub fn is_momentary(self) -> bool {
        matches!(self, FaultKind::BigTransaction)
    }
}

/// A fault to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// For faults of a link: the replica that copies over it.
    pub on: LabServer,
    /// In the unit of its kind; 0 where it has none.
    pub intensity: f64,
    /// Undone by itself after this time.
    pub lasts: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FaultId(pub u64);

/// A fault that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultNote {
    pub id: FaultId,
    pub fault: Fault,
    pub since: Moment,
    pub state: FaultState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FaultState {
    /// Being made: some take a while.
    Starting,
    Active,
    Ending,
    /// Undone, or called off.
    Over {
        at: Moment,
    },
    /// A momentary one that has run its course.
    Passed {
        at: Moment,
    },
    /// It could not be made, and nothing of it is there; says why.
    Failed {
        at: Moment,
        why: Trouble,
    },
    /// It could not be undone, or was made by half: it is there, whole or in part. Says why.
    Stuck {
        at: Moment,
        why: Trouble,
        /// When it is tried again by itself.
        again_at: Option<Moment>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_their_faults() {
        for kind in FaultKind::ALL {
            assert_eq!(FaultKind::from_code(kind.code()), Some(kind));
        }
    }

    #[test]
    fn a_usual_intensity_lies_in_its_range() {
        for kind in FaultKind::ALL {
            if let Some(i) = kind.intensity() {
                assert!(i.least <= i.usual && i.usual <= i.most, "{kind:?}");
            }
        }
    }
}
