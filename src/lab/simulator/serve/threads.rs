//! Everybody who is at work on a server: clients, replication threads, the event scheduler, dump threads.

use super::super::world::{Blocked, NodeId, Owner, Running, WorkerState};
use super::bench::Bench;
use super::generation::Habits;
use super::words_of_replication as words;
use crate::model::lab::Generation;
use crate::model::time::{Moment, ServerTime};

/// One thread, as the process list and `performance_schema.threads` show it.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its number in the process list.
    pub id: u64,
    pub kind: Kind,
    pub user: String,
    pub host: String,
    pub schema: Option<String>,
    pub command: &'static str,
    pub seconds: i64,
    pub state: String,
    pub info: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Client,
    Receiver,
    Coordinator,
    Worker,
    Dump,
    EventScheduler,
}

impl Kind {
    pub fn instrument(self, generation: Generation) -> String {
        let replica = if generation.says_slave() {
            "slave"
        } else {
            "replica"
        };
        match self {
            Kind::Client | Kind::Dump => "thread/sql/one_connection".to_owned(),
            Kind::Receiver => format!("thread/sql/{replica}_io"),
            Kind::Coordinator => format!("thread/sql/{replica}_sql"),
            Kind::Worker => format!("thread/sql/{replica}_worker"),
            Kind::EventScheduler => "thread/sql/event_scheduler".to_owned(),
        }
    }
}

/// `performance_schema` numbers all threads of the server, those that have nothing to do with SQL first.
pub fn thread_id(id: u64) -> u64 {
    id + 40
}

/// By their numbers.
pub fn all(bench: &Bench, node: NodeId) -> Vec<Thread> {
    let mut threads = clients(bench, node);
    threads.extend(dumps(bench, node));
    threads.extend(replication(bench, node));
    threads.extend(event_scheduler(bench, node));
    threads.sort_by_key(|thread| thread.id);
    threads
}

fn seconds_since(bench: &Bench, since: Moment) -> i64 {
    bench.world.now().since(since).or_zero().micros() / 1_000_000
}

fn clients(bench: &Bench, node: NodeId) -> Vec<Thread> {
    let seats = &bench.machines[node].seats;
    seats
        .iter()
        .map(|(id, seat)| Thread {
            id: *id,
            kind: Kind::Client,
            user: seat.user.clone(),
            host: seat.host.clone(),
            schema: seat.schema.clone(),
            command: seat.command,
            seconds: seconds_since(bench, seat.since),
            state: seat.state.to_owned(),
            info: seat.statement.clone(),
        })
        .collect()
}

fn dumps(bench: &Bench, node: NodeId) -> impl Iterator<Item = Thread> {
    let generation = bench.generation;
    let clock = bench.world.clock(node);
    bench.world.dump_threads(node).into_iter().map(move |dump| {
        let (source, replica) = if generation.says_slave() {
            ("Master", "slave")
        } else {
            ("Source", "replica")
        };
        let state = match (dump.has_sent_all, generation) {
            (false, _) => format!("Sending binlog event to {replica}"),
            (true, _) => {
                format!("{source} has sent all binlog to {replica}; waiting for more updates")
            }
        };
        Thread {
            id: dump.thread_id,
            kind: Kind::Dump,
            user: dump.user.clone(),
            host: format!("127.0.0.1:{}", 40_000 + dump.thread_id % 20_000),
            schema: None,
            command: if generation.is_mariadb() {
                "Binlog Dump"
            } else {
                "Binlog Dump GTID"
            },
            seconds: seconds_between(dump.since, clock),
            state,
            info: None,
        }
    })
}

fn seconds_between(since: ServerTime, clock: ServerTime) -> i64 {
    clock.since(since).or_zero().micros() / 1_000_000
}

fn replication(bench: &Bench, node: NodeId) -> Vec<Thread> {
    let (world, generation) = (&bench.world, bench.generation);
    let clock = world.clock(node);
    let is_mariadb = generation.is_mariadb();
    let up = world.now().since(world.up_since(node)).micros() / 1_000_000;
    let mut threads = Vec::new();
    for channel in world.channels(node) {
        let Some(status) = world.channel_status(node, &channel) else {
            continue;
        };
        let thread = |id: u64, kind, command, seconds, state: String| Thread {
            id,
            kind,
            user: "system user".to_owned(),
            host: if kind == Kind::Receiver && !is_mariadb {
                "connecting host".to_owned()
            } else {
                String::new()
            },
            schema: None,
            command,
            seconds,
            state,
            info: None,
        };
        let receiver = &status.receiver;
        if receiver.running != Running::No
            && let Some(id) = receiver.thread_id
        {
            let command = if is_mariadb { "Slave_IO" } else { "Connect" };
            let state = words::receiver_state(generation, receiver.state);
            threads.push(thread(id, Kind::Receiver, command, up, state));
        }
        let applier = &status.applier;
        if let Some(id) = applier.thread_id.filter(|_| applier.is_running) {
            let command = if is_mariadb { "Slave_SQL" } else { "Query" };
            let single = applier.single.as_ref().map(|worker| &worker.doing);
            let state = match single {
                Some(doing @ (WorkerState::WaitingForLock { .. } | WorkerState::Applying)) => {
                    words::worker_state(generation, doing).to_owned()
                }
                _ => words::applier_state(generation, applier.state),
            };
            let seconds = status.seconds_behind.unwrap_or(0).max(0);
            threads.push(thread(id, Kind::Coordinator, command, seconds, state));
        }
        for worker in applier.workers.iter().filter(|worker| worker.is_running) {
            let Some(id) = worker.thread_id else { continue };
            let command = match (is_mariadb, &worker.applying) {
                (true, _) => "Slave_worker",
                (false, Some(_)) => "Query",
                (false, None) => "Connect",
            };
            let seconds = match (&worker.doing, &worker.applying, &worker.last_applied) {
                (WorkerState::WaitingForLock { since, .. }, _, _) => seconds_between(*since, clock),
                (_, Some(applying), _) => seconds_between(applying.started, clock),
                (_, None, Some(last)) => seconds_between(last.ended, clock),
                _ => up,
            };
            let state = words::worker_state(generation, &worker.doing).to_owned();
            threads.push(thread(id, Kind::Worker, command, seconds, state));
        }
    }
    threads
}

fn event_scheduler(bench: &Bench, node: NodeId) -> Option<Thread> {
    let world = &bench.world;
    if !world.settings(node).event_scheduler {
        return None;
    }
    let enabled = world
        .engine(node)
        .events
        .iter()
        .any(|event| event.state == super::events::EventState::Enabled);
    let state = if enabled {
        "Waiting for next activation"
    } else {
        "Waiting on empty queue"
    };
    Some(Thread {
        id: EVENT_SCHEDULER,
        kind: Kind::EventScheduler,
        user: "event_scheduler".to_owned(),
        host: "localhost".to_owned(),
        schema: None,
        command: "Daemon",
        seconds: seconds_since(bench, world.up_since(node)).max(0),
        state: state.to_owned(),
        info: None,
    })
}

/// Connections are numbered from higher up.
const EVENT_SCHEDULER: u64 = 0;

/// The process list's number of whoever holds or wants a lock.
pub fn id_of(bench: &Bench, node: NodeId, owner: &Owner) -> Option<u64> {
    match owner {
        Owner::Session(id) => Some(*id),
        Owner::Worker { channel, number } => {
            let status = bench.world.channel_status(node, channel)?;
            let applier = status.applier;
            if *number == 0 {
                return applier.thread_id;
            }
            applier
                .workers
                .iter()
                .find(|worker| worker.number == *number)
                .and_then(|worker| worker.thread_id)
        }
    }
}

/// The table that a lock is about.
pub fn table_of(what: &Blocked) -> Option<(&str, &str)> {
    match what {
        Blocked::Global => None,
        Blocked::Table(name) | Blocked::Row(name) => Some(split(name)),
    }
}

/// `shop.orders`.
pub fn split(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or(("", name))
}

/// For `trx_wait_started` and the like.
pub fn on_server_clock(bench: &Bench, node: NodeId, at: Moment) -> ServerTime {
    bench.world.clock_at(node, at)
}
