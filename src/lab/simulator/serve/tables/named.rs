//! Variables and counters as rows: for SHOW and for the tables of that name.

use std::sync::OnceLock;

use super::super::super::sql::{TableData, Value};
use super::super::super::world::{NodeId, Running};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::table::{TEXT, date_time, table};
use super::super::threads::on_server_clock;
use super::super::variables::{self, Lives, Scope};
use super::super::{settings, threads};
use crate::model::lab::Generation;
use crate::model::time::Span;

/// Name and value, in the order of the names.
pub fn variable_rows(bench: &Bench, me: &Me, scope: Scope) -> Vec<(&'static str, String)> {
    variables::all()
        .values()
        .filter(|variable| variable.initial(me.generation).is_some())
        .filter_map(|variable| {
            let value = match (scope, variable.lives) {
                (Scope::Global, Lives::InSessionsOnly) => None,
                (Scope::Global, _) | (_, Lives::Globally) => {
                    settings::global(bench, me.node, variable.name)
                }
                _ => settings::session(bench, me, variable.name),
            };
            Some((variable.name, value?))
        })
        .collect()
}

struct Counter {
    name: &'static str,
    initial: [Option<&'static str>; 6],
}

fn counters() -> &'static [Counter] {
    static ALL: OnceLock<Vec<Counter>> = OnceLock::new();
    ALL.get_or_init(|| {
        include_str!("../../../../../assets/lab/status.tsv")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .filter_map(counter)
            .collect()
    })
}

fn counter(line: &'static str) -> Option<Counter> {
    let mut cells = line.split('\t');
    let name = cells.next()?;
    let mut initial = [None; 6];
    let mut left = None;
    for place in &mut initial {
        match cells.next()? {
            "\"" => {}
            "-" => left = None,
            value => left = Some(value),
        }
        *place = left;
    }
    Some(Counter { name, initial })
}

/// Name and value, in the order of the names. `wanted`: which are of interest; the others are not looked up.
pub fn status_rows(
    bench: &Bench,
    me: &Me,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<(&'static str, String)> {
    let now = Now::of(bench, me.node);
    counters()
        .iter()
        .filter_map(|counter| Some((counter.name, counter.initial[bench.generation.place()]?)))
        .filter(|(name, _)| wanted(name))
        .map(|(name, initial)| {
            let value = of_session(me, name).or_else(|| now.value(name));
            (name, value.unwrap_or_else(|| initial.to_owned()))
        })
        .collect()
}

/// What is about the connection that asks.
fn of_session(me: &Me, name: &str) -> Option<String> {
    let tunnel = me.tunnel?;
    match name {
        "Ssl_cipher" => Some(tunnel.cipher.to_owned()),
        "Ssl_version" => Some(tunnel.version.to_owned()),
        _ => None,
    }
}

/// The counters of a server at this moment.
struct Now<'a> {
    bench: &'a Bench,
    node: NodeId,
    generation: Generation,
}

impl<'a> Now<'a> {
    fn of(bench: &'a Bench, node: NodeId) -> Self {
        Now {
            bench,
            node,
            generation: bench.generation,
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        let machine = &self.bench.machines[self.node];
        let (world, counters) = (&self.bench.world, &machine.counters);
        if let Some(semi_sync) = name.strip_prefix("Rpl_semi_sync_") {
            return self.semi_sync(semi_sync);
        }
        if name.starts_with("Com_") {
            return counters.commands.get(name).map(u64::to_string);
        }
        let seconds_up = || {
            world
                .now()
                .since(world.up_since(self.node))
                .or_zero()
                .micros()
                / 1_000_000
        };
        let flushes = |factor: u64| (counters.flushes * factor).to_string();
        Some(match name {
            "Uptime" | "Uptime_since_flush_status" => seconds_up().to_string(),
            "Threads_connected" => machine.seats.len().to_string(),
            "Threads_running" => self.running().to_string(),
            "Threads_created" | "Connections" => counters.connections.to_string(),
            "Max_used_connections" => counters.most_connections.to_string(),
            "Max_used_connections_time" => {
                let at = counters.most_connections_at?;
                date_time(on_server_clock(self.bench, self.node, at), 0)
            }
            "Aborted_connects" => counters.aborted_connects.to_string(),
            "Questions" | "Queries" => counters.questions.to_string(),
            "Slow_queries" => counters.slow_queries.to_string(),
            "Innodb_rows_read" | "Handler_read_rnd_next" => counters.rows_read.to_string(),
            "Innodb_rows_inserted" | "Handler_write" => counters.rows_inserted.to_string(),
            "Innodb_rows_updated" | "Handler_update" => counters.rows_updated.to_string(),
            "Innodb_rows_deleted" | "Handler_delete" => counters.rows_deleted.to_string(),
            "Innodb_row_lock_waits" => counters.row_lock_waits.to_string(),
            "Innodb_row_lock_time" => counters.row_lock_time_ms.to_string(),
            "Innodb_row_lock_current_waits" => world.lock_waits(self.node).len().to_string(),
            "Innodb_os_log_fsyncs" | "Innodb_data_fsyncs" => flushes(1),
            "Innodb_data_writes" | "Innodb_log_writes" => flushes(2),
            "Innodb_log_write_requests" => flushes(8),
            "Innodb_buffer_pool_read_requests" => (counters.rows_read * 3 + 15_000).to_string(),
            "Innodb_buffer_pool_reads" => "1100".to_owned(),
            "Binlog_snapshot_file" => world.binlog_position(self.node).file,
            "Binlog_snapshot_position" => world.binlog_position(self.node).position.to_string(),
            "Slave_running" => self.replica_runs(),
            "Slaves_connected" => world.dump_threads(self.node).len().to_string(),
            "Slave_received_heartbeats" => self.heartbeats().to_string(),
            "Master_gtid_wait_count" => counters.gtid_waits.to_string(),
            "Master_gtid_wait_timeouts" => counters.gtid_wait_timeouts.to_string(),
            _ => return None,
        })
    }

    fn running(&self) -> usize {
        let clients = self.bench.machines[self.node].seats.values();
        let at_work = clients.filter(|seat| seat.command != "Sleep").count();
        let dumps = self.bench.world.dump_threads(self.node).len();
        // Replication threads count while they have something to do.
        let appliers = threads::all(self.bench, self.node)
            .iter()
            .filter(|t| t.kind == threads::Kind::Worker && t.command == "Query")
            .count();
        at_work + dumps + appliers
    }

    fn replica_runs(&self) -> String {
        let world = &self.bench.world;
        let runs = world
            .channel_status(self.node, "")
            .is_some_and(|s| s.receiver.running == Running::Yes && s.applier.is_running);
        if runs { "ON" } else { "OFF" }.to_owned()
    }

    fn heartbeats(&self) -> u64 {
        let world = &self.bench.world;
        let channels = world.channels(self.node);
        let statuses = channels
            .iter()
            .filter_map(|channel| world.channel_status(self.node, channel));
        statuses
            .map(|status| status.receiver.heartbeats_received)
            .sum()
    }

    fn semi_sync(&self, name: &str) -> Option<String> {
        let told = self.bench.world.semi_sync(self.node);
        let on = |is: bool| if is { "ON" } else { "OFF" }.to_owned();
        let micros = |span: Span| span.micros();
        let average = |span: Span, count: u64| match i64::try_from(count) {
            Ok(count) if count > 0 => micros(span) / count,
            _ => 0,
        };
        let part = name
            .strip_prefix("source_")
            .or_else(|| name.strip_prefix("master_"));
        let Some(part) = part else {
            let is_status = matches!(name, "replica_status" | "slave_status");
            return is_status.then(|| on(told.replica_is_on));
        };
        Some(match part {
            "status" => on(told.is_on),
            "clients" => told.clients.to_string(),
            "yes_tx" => told.yes_tx.to_string(),
            "no_tx" => told.no_tx.to_string(),
            "no_times" => told.no_times.to_string(),
            "wait_sessions" => told.wait_sessions.to_string(),
            "tx_waits" => told.tx_waits.to_string(),
            "tx_wait_time" => micros(told.tx_wait_time).to_string(),
            "tx_avg_wait_time" => average(told.tx_wait_time, told.tx_waits).to_string(),
            "net_waits" => told.net_waits.to_string(),
            "net_wait_time" if self.generation.is_mariadb() => {
                micros(told.net_wait_time).to_string()
            }
            _ => return None,
        })
    }
}

fn pairs(rows: Vec<(&'static str, String)>, names: [&'static str; 2]) -> TableData {
    let rows = rows
        .into_iter()
        .map(|(name, value)| vec![name.into(), value.into()]);
    table(&[(names[0], TEXT), (names[1], TEXT)], rows.collect())
}

pub fn performance_schema(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    if bench.generation.is_mariadb() {
        return None;
    }
    let names = ["VARIABLE_NAME", "VARIABLE_VALUE"];
    match name {
        "global_variables" => Some(pairs(variable_rows(bench, me, Scope::Global), names)),
        "session_variables" => Some(pairs(variable_rows(bench, me, Scope::Session), names)),
        "global_status" | "session_status" => Some(pairs(status_rows(bench, me, &|_| true), names)),
        "persisted_variables" if bench.generation.has_new_performance_schema() => {
            let kept = &bench.machines[me.node].persisted;
            let rows = kept.iter().map(|(name, value)| (*name, value.clone()));
            Some(pairs(rows.collect(), names))
        }
        "log_status" if bench.generation.has_new_performance_schema() => {
            Some(log_status(bench, me))
        }
        _ => None,
    }
}

/// MariaDB has them here; MySQL 5.7 too, but empty-handed (show_compatibility_56), so it is taken to have none.
pub fn information_schema(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    if !bench.generation.is_mariadb() {
        return None;
    }
    let names = ["VARIABLE_NAME", "VARIABLE_VALUE"];
    let upper = |rows: Vec<(&'static str, String)>| {
        let mut table = pairs(rows, names);
        for row in &mut table.rows {
            if let Value::Text(name) = &mut row[0] {
                *name = name.to_ascii_uppercase();
            }
        }
        table
    };
    match name {
        "global_variables" => Some(upper(variable_rows(bench, me, Scope::Global))),
        "session_variables" => Some(upper(variable_rows(bench, me, Scope::Session))),
        "global_status" | "session_status" => Some(upper(status_rows(bench, me, &|_| true))),
        _ => None,
    }
}

fn log_status(bench: &Bench, me: &Me) -> TableData {
    let world = &bench.world;
    let position = world.binlog_position(me.node);
    let executed = settings::gtids(&world.executed(me.node)).replace('\n', "\\n");
    let local = format!(
        "{{\"gtid_executed\": \"{executed}\", \"binary_log_file\": \"{}\", \"binary_log_position\": {}}}",
        position.file, position.position
    );
    let row = vec![
        world.identity(me.node).uuid.to_string().into(),
        local.into(),
        "{\"channels\": []}".into(),
        "{\"InnoDB\": {\"LSN\": 20993871, \"LSN_checkpoint\": 20934139}}".into(),
    ];
    table(
        &[
            ("SERVER_UUID", TEXT),
            ("LOCAL", TEXT),
            ("REPLICATION", TEXT),
            ("STORAGE_ENGINES", TEXT),
        ],
        vec![row],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_counters_is_read_whole() {
        let lines = include_str!("../../../../../assets/lab/status.tsv")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .count();
        assert_eq!(counters().len(), lines);
    }
}
