//! What clients do to the lab: transactions on the source, evenly spread with a little jitter from a seed, and reads on
//! the replicas in turn.
//!
//! Each thread has connections of its own and asks before each write who the source is; it survives kills and swapped
//! roles. A source that refuses writers is asked again once a second: refused writes are counted, not piled up.

mod pace;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::faults::site::{Site, lock};
use crate::link::clock;
use crate::model::lab::{LabNode, LabServer, Traffic, TrafficCounts, TrafficError};
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;
use pace::{Pace, Pauses};

/// A commit may wait for semi-sync's time-out, ten seconds as servers are delivered.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// Threads of a kind, at most; and what one of them is taken to do in a second.
const MOST_THREADS: usize = 8;
const WRITES_OF_A_THREAD: f64 = 40.0;
const READS_OF_A_THREAD: f64 = 100.0;

/// Orders that are there from the beginning; what is changed is one of them.
const ORDERS: u64 = 1000;

/// Of so many transactions one is a new order, and one in the same number removes one of those.
const NEW_ORDER_EVERY: u64 = 4;
const NEW_ORDERS_KEPT: usize = 500;

const STATES: [&str; 5] = ["new", "paid", "packed", "sent", "delivered"];

/// Traffic on the way. Dropped, it stops at once: its threads end with the statement they are at.
pub struct Carrier {
    shared: Arc<Shared>,
}

struct Shared {
    site: Site,
    traffic: Traffic,
    is_over: Mutex<bool>,
    over: Condvar,
    writes: Mutex<Pace>,
    reads: Mutex<Pace>,
    write_pauses: Mutex<Pauses>,
    read_pauses: Mutex<Pauses>,
    counts: Counts,
}

/// Goes on counting when the traffic is changed.
#[derive(Clone, Default)]
pub struct Counts(Arc<Mutex<TrafficCounts>>);

impl Counts {
    pub fn get(&self) -> TrafficCounts {
        lock(&self.0).clone()
    }

    fn add(&self, count: impl FnOnce(&mut TrafficCounts)) {
        count(&mut lock(&self.0));
    }

    fn failed(&self, server: LabServer, why: Trouble) {
        self.add(|counts| {
            counts.last_error = Some(TrafficError {
                at: clock::now(),
                server,
                why,
            });
        });
    }
}

impl Carrier {
    pub fn start(site: &Site, traffic: Traffic, seed: u64, counts: &Counts) -> Carrier {
        let now = Instant::now();
        let shared = Arc::new(Shared {
            site: site.clone(),
            traffic,
            is_over: Mutex::new(false),
            over: Condvar::new(),
            writes: Mutex::new(Pace::new(traffic.writes_per_second, seed, now)),
            reads: Mutex::new(Pace::new(traffic.reads_per_second, seed ^ 1, now)),
            write_pauses: Mutex::default(),
            read_pauses: Mutex::default(),
            counts: counts.clone(),
        });
        let carrier = Carrier { shared };
        for number in 0..threads(traffic.writes_per_second, WRITES_OF_A_THREAD) {
            let rng = Rng::with_seed(seed.wrapping_add(number as u64));
            carrier.spawn(move |shared| Writer::new(shared, rng).write_on());
        }
        for number in 0..threads(traffic.reads_per_second, READS_OF_A_THREAD) {
            let rng = Rng::with_seed(seed.wrapping_sub(number as u64 + 1));
            carrier.spawn(move |shared| Reader::new(shared, rng).read_on());
        }
        carrier
    }

    fn spawn(&self, work: impl FnOnce(Arc<Shared>) + Send + 'static) {
        let shared = self.shared.clone();
        let spawned = thread::Builder::new()
            .name("lab-traffic".to_owned())
            .spawn(move || work(shared));
        if let Err(error) = spawned {
            tracing::warn!("no thread for traffic: {error}");
        }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        *lock(&self.shared.is_over) = true;
        self.shared.over.notify_all();
    }
}

fn threads(per_second: f64, of_one: f64) -> usize {
    if per_second <= 0.0 {
        return 0;
    }
    ((per_second / of_one).ceil() as usize).clamp(1, MOST_THREADS)
}

impl Shared {
    /// False when it is over.
    fn rest_until(&self, due: Instant) -> bool {
        let mut is_over = lock(&self.is_over);
        while !*is_over {
            let rest = due.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return true;
            }
            let woken = self.over.wait_timeout(is_over, rest);
            is_over = woken.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        false
    }

    /// Those nobody writes to but us.
    fn sources(&self) -> Vec<LabNode> {
        let nodes = self.site.nodes().into_iter();
        nodes.filter(|node| node.copies_from.is_empty()).collect()
    }

    fn replicas(&self) -> Vec<LabNode> {
        let nodes = self.site.nodes().into_iter();
        nodes.filter(|node| !node.copies_from.is_empty()).collect()
    }
}

/// A thread's own connections.
#[derive(Default)]
struct Connections(BTreeMap<LabServer, Hand>);

impl Connections {
    /// Does something on a server's connection, which is opened for it if need be.
    fn on<T>(
        &mut self,
        site: &Site,
        node: &LabNode,
        act: impl FnOnce(&mut Hand) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut hand = match self.0.remove(&node.server) {
            Some(hand) => hand,
            None => site.hand(node, &site.accounts().app, ANSWER_LIMIT)?,
        };
        let done = act(&mut hand);
        if !hand.is_spoiled() {
            self.0.insert(node.server, hand);
        }
        done
    }
}

struct Writer {
    shared: Arc<Shared>,
    rng: Rng,
    connections: Connections,
    /// Orders added by this thread, the oldest first.
    added: Vec<(LabServer, String)>,
}

impl Writer {
    fn new(shared: Arc<Shared>, rng: Rng) -> Writer {
        Writer {
            shared,
            rng,
            connections: Connections::default(),
            added: Vec::new(),
        }
    }

    fn write_on(mut self) {
        loop {
            let (number, due) = lock(&self.shared.writes).take(Instant::now());
            if !self.shared.rest_until(due) {
                return;
            }
            let sources = self.shared.sources();
            let turn = usize::try_from(number).unwrap_or(0) % sources.len().max(1);
            if let Some(source) = sources.get(turn) {
                self.write(number, source);
            }
        }
    }

    fn write(&mut self, number: u64, source: &LabNode) {
        let server = source.server;
        if !lock(&self.shared.write_pauses).may_try(server, Instant::now()) {
            self.shared.counts.add(|counts| counts.failed_writes += 1);
            return;
        }
        let rows = self.shared.traffic.rows_per_transaction;
        let is_new = self.shared.traffic.hot_rows == 0 && number.is_multiple_of(NEW_ORDER_EVERY);
        let written = match is_new {
            true => self.add_or_remove(source).map(|()| 1),
            false => self.change(source).map(|()| u64::from(rows.max(1))),
        };
        let counts = &self.shared.counts;
        match written {
            Ok(rows) => {
                lock(&self.shared.write_pauses).went_well(server);
                counts.add(|counts| {
                    counts.written += 1;
                    counts.rows_written += rows;
                });
            }
            Err(why) => {
                lock(&self.shared.write_pauses).failed(server, &why, Instant::now());
                counts.add(|counts| counts.failed_writes += 1);
                counts.failed(server, why);
            }
        }
    }

    /// Some orders get another state and price, in one transaction.
    fn change(&mut self, source: &LabNode) -> Result<(), Trouble> {
        let Traffic {
            rows_per_transaction,
            hot_rows,
            ..
        } = self.shared.traffic;
        let sql = change(&mut self.rng, rows_per_transaction, hot_rows);
        let site = &self.shared.site;
        self.connections.on(site, source, |hand| hand.run(&sql))
    }

    /// The table does not grow for ever.
    fn add_or_remove(&mut self, source: &LabNode) -> Result<(), Trouble> {
        let site = self.shared.site.clone();
        if self.added.len() >= NEW_ORDERS_KEPT {
            let (_, oldest) = &self.added[0];
            let sql = format!("DELETE FROM shop.orders WHERE id = {oldest}");
            self.connections.on(&site, source, |hand| hand.run(&sql))?;
            self.added.remove(0);
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO shop.orders (customer, address, status, amount) VALUES ({}, '{}', 'new', {})",
            self.rng.u32(1..500),
            address(&mut self.rng),
            amount(&mut self.rng)
        );
        let id = self.connections.on(&site, source, |hand| {
            hand.run(&sql)?;
            hand.value("SELECT LAST_INSERT_ID()")
        })?;
        self.added.extend(id.map(|id| (source.server, id)));
        Ok(())
    }
}

/// So many orders, all among the hot ones where there are any.
fn change(rng: &mut Rng, rows: u32, hot_rows: u32) -> String {
    let among = match hot_rows {
        0 => ORDERS,
        hot => u64::from(hot).min(ORDERS),
    };
    let rows = u64::from(rows).clamp(1, among);
    let first = rng.u64(0..among);
    let ids: Vec<String> = (0..rows)
        .map(|n| (1 + (first + n) % among).to_string())
        .collect();
    format!(
        "UPDATE shop.orders SET status = '{}', amount = {} WHERE id IN ({})",
        STATES[rng.usize(0..STATES.len())],
        amount(rng),
        ids.join(", ")
    )
}

fn amount(rng: &mut Rng) -> String {
    format!("{}.{:02}", rng.u32(1..1000), rng.u32(0..100))
}

fn address(rng: &mut Rng) -> String {
    const STREETS: [&str; 4] = ["Main Street", "Harbour Road", "Mill Lane", "Station Square"];
    format!("{} {}", rng.u32(1..200), STREETS[rng.usize(0..4)])
}

struct Reader {
    shared: Arc<Shared>,
    rng: Rng,
    connections: Connections,
}

impl Reader {
    fn new(shared: Arc<Shared>, rng: Rng) -> Reader {
        Reader {
            shared,
            rng,
            connections: Connections::default(),
        }
    }

    fn read_on(mut self) {
        loop {
            let (number, due) = lock(&self.shared.reads).take(Instant::now());
            if !self.shared.rest_until(due) {
                return;
            }
            self.read(number);
        }
    }

    /// On the replica whose turn it is, or the next one that can be tried.
    fn read(&mut self, number: u64) {
        let replicas = self.shared.replicas();
        let turn = usize::try_from(number).unwrap_or(0) % replicas.len().max(1);
        let (before, after) = replicas.split_at(turn.min(replicas.len()));
        let mut in_turn = after.iter().chain(before);
        let now = Instant::now();
        let may_try = |node: &&LabNode| lock(&self.shared.read_pauses).may_try(node.server, now);
        let Some(node) = in_turn.find(may_try) else {
            if !replicas.is_empty() {
                self.shared.counts.add(|counts| counts.failed_reads += 1);
            }
            return;
        };
        let customer = self.rng.u32(1..500);
        let sql = format!(
            "SELECT id, status, amount FROM shop.orders WHERE id = {}",
            1 + u64::from(customer) % ORDERS
        );
        let site = &self.shared.site;
        let counts = &self.shared.counts;
        match self.connections.on(site, node, |hand| hand.rows(&sql)) {
            Ok(_) => {
                lock(&self.shared.read_pauses).went_well(node.server);
                counts.add(|counts| counts.read += 1);
            }
            Err(why) => {
                lock(&self.shared.read_pauses).failed(node.server, &why, Instant::now());
                counts.add(|counts| counts.failed_reads += 1);
                counts.failed(node.server, why);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_changes_the_same_orders() {
        let of = |seed| change(&mut Rng::with_seed(seed), 3, 0);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn hot_rows_get_all_changes() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..50 {
            let sql = change(&mut rng, 5, 2);
            let ids = sql.split_once("IN (").unwrap().1.trim_end_matches(')');
            let mut ids: Vec<&str> = ids.split(", ").collect();
            ids.sort_unstable();
            assert_eq!(ids, ["1", "2"]);
        }
    }

    #[test]
    fn no_traffic_takes_no_threads_and_much_takes_a_bounded_number() {
        assert_eq!(threads(0.0, 40.0), 0);
        assert_eq!(threads(0.1, 40.0), 1);
        assert_eq!(threads(1e9, 40.0), MOST_THREADS);
    }
}
