//! System variables that the model of replication knows: read from there, and told to it when they are set.

use super::super::world::{Dependency, FilterKind, NodeId, Settings, WaitPoint};
use super::bench::Bench;
use super::generation::Habits;
use super::me::Me;
use crate::model::gtid::Gtids;
use crate::model::time::Span;

/// As servers write a set: each server's part on a line of its own.
pub fn gtids(gtids: &Gtids) -> String {
    match gtids {
        Gtids::MySql(set) => set.to_string().replace(',', ",\n"),
        Gtids::MariaDb(position) => position.to_string(),
    }
}

fn switch(on: bool) -> String {
    if on { "ON" } else { "OFF" }.to_owned()
}

/// A global value, as SHOW GLOBAL VARIABLES has it. `None`: this generation has no such variable.
pub fn global(bench: &Bench, node: NodeId, name: &str) -> Option<String> {
    let kept = bench.machines[node].globals.get(name)?;
    Some(known_to_world(bench, node, name).unwrap_or_else(|| kept.to_owned()))
}

fn known_to_world(bench: &Bench, node: NodeId, name: &str) -> Option<String> {
    let world = &bench.world;
    let identity = world.identity(node);
    let mariadb = || world.mariadb_positions(node);
    Some(match name {
        "server_id" => identity.server_id.to_string(),
        "server_uuid" => identity.uuid.to_string(),
        "hostname" => bench.machines[node].name.clone(),
        "port" | "report_port" => bench.machines[node].port.to_string(),
        "gtid_executed" => gtids(&world.executed(node)),
        "gtid_purged" => gtids(&world.purged(node)),
        "gtid_slave_pos" => mariadb().slave_pos,
        "gtid_binlog_pos" => mariadb().binlog_pos,
        "gtid_binlog_state" => mariadb().binlog_state,
        "gtid_current_pos" => gtids(&world.executed(node)),
        "read_only" => switch(world.settings(node).read_only),
        "super_read_only" => switch(world.settings(node).super_read_only),
        _ if name.starts_with("replicate_") => {
            let mut kinds = FilterKind::ALL.into_iter();
            let kind = kinds.find(|kind| kind.name() == name)?;
            world.filters(node).text(kind)
        }
        "event_scheduler" => switch(world.settings(node).event_scheduler),
        _ => return None,
    })
}

/// What `@@x` or `@@SESSION.x` is in this session, as SHOW has it. `None`: it has no value of its own.
pub fn session(bench: &Bench, me: &Me, name: &str) -> Option<String> {
    Some(match name {
        "in_transaction" => u8::from(me.is_in_transaction).to_string(),
        "last_gtid" => me.last_gtid.clone(),
        "gtid_next" => me.next_gtid.shown(),
        "gtid_owned" => me.next_gtid.owned(),
        "pseudo_thread_id" => me.id.to_string(),
        "last_insert_id" | "identity" => me.last_insert_id.to_string(),
        "timestamp" if me.values.get(name) == Some("0.000000") => {
            let clock = bench.world.clock(me.node);
            format!(
                "{}.{:06}",
                clock.0.div_euclid(1_000_000),
                clock.0.rem_euclid(1_000_000)
            )
        }
        "warning_count" => me.warnings.len().to_string(),
        "error_count" => me
            .warnings
            .iter()
            .filter(|w| w.is_error)
            .count()
            .to_string(),
        _ => me.values.get(name)?.to_owned(),
    })
}

/// Draws the consequences of a global value that has been set.
pub fn tell_world(bench: &mut Bench, node: NodeId, name: &str, value: &str) {
    let generation = bench.generation;
    let is_on = matches!(value, "ON" | "1");
    let number = value.parse::<f64>().unwrap_or(0.0);
    let seconds = Span::from_secs_f64(number);
    let millis = Span::from_millis(number as i64);
    let Some(change) = change(
        name,
        value,
        is_on,
        number,
        seconds,
        millis,
        generation.is_mariadb(),
    ) else {
        return;
    };
    bench.world.change_settings(node, change);
}

type Change = Box<dyn FnOnce(&mut Settings)>;

fn change(
    name: &str,
    value: &str,
    is_on: bool,
    number: f64,
    seconds: Span,
    millis: Span,
    is_mariadb: bool,
) -> Option<Change> {
    let count = number as u32;
    Some(match name {
        "read_only" => Box::new(move |s| s.read_only = is_on),
        "super_read_only" => Box::new(move |s| s.super_read_only = is_on),
        "event_scheduler" => Box::new(move |s| s.event_scheduler = is_on),
        "replica_parallel_workers" | "slave_parallel_threads" => {
            Box::new(move |s| s.applier_workers = count)
        }
        "slave_parallel_workers" if !is_mariadb => Box::new(move |s| s.applier_workers = count),
        "replica_preserve_commit_order" | "slave_preserve_commit_order" => {
            Box::new(move |s| s.preserve_commit_order = is_on)
        }
        "replica_transaction_retries" | "slave_transaction_retries" => {
            Box::new(move |s| s.transaction_retries = count)
        }
        "replica_net_timeout" | "slave_net_timeout" => Box::new(move |s| s.net_timeout = seconds),
        "replica_checkpoint_period" | "slave_checkpoint_period" => {
            Box::new(move |s| s.checkpoint_period = millis)
        }
        "innodb_lock_wait_timeout" => Box::new(move |s| s.row_lock_wait = seconds),
        "lock_wait_timeout" => Box::new(move |s| s.table_lock_wait = seconds),
        "max_binlog_size" => Box::new(move |s| s.max_binlog_size = number as u64),
        "binlog_transaction_dependency_tracking" => {
            let dependency = match value {
                "COMMIT_ORDER" => Dependency::CommitOrder,
                _ => Dependency::WriteSet,
            };
            Box::new(move |s| s.dependency = dependency)
        }
        "slave_parallel_mode" => {
            let dependency = match value {
                "optimistic" | "aggressive" => Dependency::Optimistic,
                _ => Dependency::CommitOrder,
            };
            Box::new(move |s| s.dependency = dependency)
        }
        "gtid_domain_id" => Box::new(move |s| s.gtid_domain_id = count),
        "gtid_strict_mode" => Box::new(move |s| s.gtid_strict_mode = is_on),
        name => return semi_sync(name, value, is_on, count, millis),
    })
}

fn semi_sync(name: &str, value: &str, is_on: bool, count: u32, millis: Span) -> Option<Change> {
    let part = name.strip_prefix("rpl_semi_sync_")?;
    Some(match part {
        "source_enabled" | "master_enabled" => {
            Box::new(move |s| s.semi_sync.source_enabled = is_on)
        }
        "replica_enabled" | "slave_enabled" => {
            Box::new(move |s| s.semi_sync.replica_enabled = is_on)
        }
        "source_timeout" | "master_timeout" => Box::new(move |s| s.semi_sync.timeout = millis),
        "source_wait_for_replica_count" | "master_wait_for_slave_count" => {
            Box::new(move |s| s.semi_sync.wait_for_replicas = count)
        }
        "source_wait_no_replica" | "master_wait_no_slave" => {
            Box::new(move |s| s.semi_sync.wait_no_replica = is_on)
        }
        "source_wait_point" | "master_wait_point" => {
            let point = match value {
                "AFTER_SYNC" => WaitPoint::AfterSync,
                _ => WaitPoint::AfterCommit,
            };
            Box::new(move |s| s.semi_sync.wait_point = point)
        }
        _ => return None,
    })
}

/// Two names for the same setting: set together.
pub fn other_name(name: &str) -> Option<String> {
    for (new, old) in [
        ("replica_", "slave_"),
        ("sync_source_info", "sync_master_info"),
        ("source_verify_checksum", "master_verify_checksum"),
        ("rpl_stop_replica_timeout", "rpl_stop_slave_timeout"),
        ("sql_replica_skip_counter", "sql_slave_skip_counter"),
        ("init_replica", "init_slave"),
        ("tx_isolation", "transaction_isolation"),
        ("tx_read_only", "transaction_read_only"),
    ] {
        if let Some(rest) = name.strip_prefix(new) {
            return Some(format!("{old}{rest}"));
        }
        if let Some(rest) = name.strip_prefix(old) {
            return Some(format!("{new}{rest}"));
        }
    }
    None
}

/// What a server of the lab starts with, told to the world's settings the other way round.
pub fn values_of(settings: &Settings, values: &mut super::variables::Values) {
    let semi = &settings.semi_sync;
    let millis = semi.timeout.micros() / 1000;
    let point = match semi.wait_point {
        WaitPoint::AfterSync => "AFTER_SYNC",
        WaitPoint::AfterCommit => "AFTER_COMMIT",
    };
    for (names, value) in [
        (
            [
                "rpl_semi_sync_source_enabled",
                "rpl_semi_sync_master_enabled",
            ],
            switch(semi.source_enabled),
        ),
        (
            [
                "rpl_semi_sync_replica_enabled",
                "rpl_semi_sync_slave_enabled",
            ],
            switch(semi.replica_enabled),
        ),
        (
            [
                "rpl_semi_sync_source_timeout",
                "rpl_semi_sync_master_timeout",
            ],
            millis.to_string(),
        ),
        (
            [
                "rpl_semi_sync_source_wait_point",
                "rpl_semi_sync_master_wait_point",
            ],
            point.to_owned(),
        ),
        (
            ["replica_parallel_workers", "slave_parallel_workers"],
            settings.applier_workers.to_string(),
        ),
        (
            ["slave_parallel_threads", "slave_parallel_threads"],
            settings.applier_workers.to_string(),
        ),
        (
            [
                "replica_preserve_commit_order",
                "slave_preserve_commit_order",
            ],
            switch(settings.preserve_commit_order),
        ),
        (
            ["replica_net_timeout", "slave_net_timeout"],
            (settings.net_timeout.micros() / 1_000_000).to_string(),
        ),
        (
            ["max_binlog_size", "max_binlog_size"],
            settings.max_binlog_size.to_string(),
        ),
        (
            ["gtid_domain_id", "gtid_domain_id"],
            settings.gtid_domain_id.to_string(),
        ),
    ] {
        for name in names {
            values.set(name, value.clone());
        }
    }
}
