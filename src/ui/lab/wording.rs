//! The vocabulary of the lab in words: what a fault is called and how strong it is, what a lab is made of.

use crate::model::lab::{
    Fault, FaultKind, Generation, Ground, IntensityUnit, LabAccount, LabNode, LabPlan, LabStatus,
    Shape,
};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;

/// What a fault is called.
pub fn fault_key(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::LinkLatency => "lab_screen.fault.link_latency",
        FaultKind::LinkBandwidth => "lab_screen.fault.link_bandwidth",
        FaultKind::LinkCut => "lab_screen.fault.link_cut",
        FaultKind::PlannedDelay => "lab_screen.fault.planned_delay",
        FaultKind::StopApplier => "lab_screen.fault.stop_applier",
        FaultKind::StopReceiver => "lab_screen.fault.stop_receiver",
        FaultKind::BreakApplier => "lab_screen.fault.break_applier",
        FaultKind::LockTable => "lab_screen.fault.lock_table",
        FaultKind::BigTransaction => "lab_screen.fault.big_transaction",
        FaultKind::SlowReaders => "lab_screen.fault.slow_readers",
        FaultKind::SlowDisk => "lab_screen.fault.slow_disk",
        FaultKind::SemiSyncLoss => "lab_screen.fault.semi_sync_loss",
        FaultKind::WriteOnReplica => "lab_screen.fault.write_on_replica",
        FaultKind::ClockSkew => "lab_screen.fault.clock_skew",
        FaultKind::StopHeartbeat => "lab_screen.fault.stop_heartbeat",
        FaultKind::DisableEvent => "lab_screen.fault.disable_event",
        FaultKind::SourceReadOnly => "lab_screen.fault.source_read_only",
        FaultKind::KillServer => "lab_screen.fault.kill_server",
        FaultKind::SwapRoles => "lab_screen.fault.swap_roles",
    }
}

/// What it does, and what undoes it.
pub fn fault_hint_key(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::LinkLatency => "lab_screen.hint.link_latency",
        FaultKind::LinkBandwidth => "lab_screen.hint.link_bandwidth",
        FaultKind::LinkCut => "lab_screen.hint.link_cut",
        FaultKind::PlannedDelay => "lab_screen.hint.planned_delay",
        FaultKind::StopApplier => "lab_screen.hint.stop_applier",
        FaultKind::StopReceiver => "lab_screen.hint.stop_receiver",
        FaultKind::BreakApplier => "lab_screen.hint.break_applier",
        FaultKind::LockTable => "lab_screen.hint.lock_table",
        FaultKind::BigTransaction => "lab_screen.hint.big_transaction",
        FaultKind::SlowReaders => "lab_screen.hint.slow_readers",
        FaultKind::SlowDisk => "lab_screen.hint.slow_disk",
        FaultKind::SemiSyncLoss => "lab_screen.hint.semi_sync_loss",
        FaultKind::WriteOnReplica => "lab_screen.hint.write_on_replica",
        FaultKind::ClockSkew => "lab_screen.hint.clock_skew",
        FaultKind::StopHeartbeat => "lab_screen.hint.stop_heartbeat",
        FaultKind::DisableEvent => "lab_screen.hint.disable_event",
        FaultKind::SourceReadOnly => "lab_screen.hint.source_read_only",
        FaultKind::KillServer => "lab_screen.hint.kill_server",
        FaultKind::SwapRoles => "lab_screen.hint.swap_roles",
    }
}

/// How strong a fault is: "800 ms", "200,000 rows".
pub fn strength(fault: &Fault) -> Option<Phrase> {
    let unit = fault.kind.intensity()?.unit;
    let value = fault.intensity;
    Some(match unit {
        IntensityUnit::Milliseconds => {
            let span = Span::from_secs_f64(value / 1000.0);
            phrase("lab_screen.strength.span").with("span", span)
        }
        IntensityUnit::Seconds => {
            phrase("lab_screen.strength.span").with("span", Span::from_secs_f64(value))
        }
        IntensityUnit::KilobytesPerSecond => {
            let bytes = crate::model::phrase::Arg::Bytes((value * 1000.0).round() as u64);
            phrase("lab_screen.strength.rate").with("bytes", bytes)
        }
        IntensityUnit::Rows => phrase("lab_screen.strength.rows").with("n", value as u64),
        IntensityUnit::Sessions => phrase("lab_screen.strength.sessions").with("n", value as u64),
    })
}

/// "Link latency 800 ms on replica-1"
pub fn fault_label(fault: &Fault, server: &str) -> Phrase {
    let name = phrase(fault_key(fault.kind));
    match strength(fault) {
        Some(strength) => phrase("lab_screen.label.strong")
            .with("fault", name)
            .with("strength", strength)
            .with("server", server),
        None => phrase("lab_screen.label.plain")
            .with("fault", name)
            .with("server", server),
    }
}

/// A product's name is the same in every language.
pub fn generation_name(generation: Generation) -> &'static str {
    match generation {
        Generation::MySql57 => "MySQL 5.7",
        Generation::MySql80 => "MySQL 8.0",
        Generation::MySql84 => "MySQL 8.4",
        Generation::MySql97 => "MySQL 9.7",
        Generation::MariaDb1011 => "MariaDB 10.11",
        Generation::MariaDb118 => "MariaDB 11.8",
    }
}

/// What a lab's topology is called: its badge says already that it is a lab.
pub fn ground_name(ground: Ground) -> &'static str {
    match ground {
        Ground::Simulated(generation) => generation_name(generation),
        Ground::Real(flavour) => flavour.name(),
    }
}

/// "Simulated MySQL 9.7, a source and 2 replicas, semi-sync"
pub fn plan_phrase(plan: &LabPlan) -> Phrase {
    let ground = match plan.ground {
        Ground::Simulated(generation) => {
            phrase("lab_screen.plan.simulated").with("name", generation_name(generation))
        }
        Ground::Real(flavour) => phrase("lab_screen.plan.real").with("name", flavour.name()),
    };
    let n = u64::from(plan.replicas);
    let shape = match plan.shape {
        Shape::Fan => phrase("lab_screen.plan.fan").with("n", n),
        Shape::Chain => phrase("lab_screen.plan.chain").with("n", n),
        Shape::MultiSource => phrase("lab_screen.plan.multi_source").with("n", n),
        Shape::Delayed { delay } => phrase("lab_screen.plan.delayed")
            .with("n", n)
            .with("delay", delay),
    };
    let key = match plan.semi_sync {
        true => "lab_screen.plan.with_semi_sync",
        false => "lab_screen.plan.asynchronous",
    };
    Phrase::new(key).with("ground", ground).with("shape", shape)
}

/// The `mysql` command line by which a student reaches a server of the lab; empty before there are accounts.
pub fn client_command(status: &LabStatus, node: &LabNode) -> String {
    let Some(accounts) = &status.accounts else {
        return String::new();
    };
    let LabAccount { user, password } = &accounts.app;
    format!(
        "mysql -h 127.0.0.1 -P {} -u {user} -p{} shop",
        node.port,
        password.expose()
    )
}
