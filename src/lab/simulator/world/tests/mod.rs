//! Claims about the whole model, and what they are tried on: servers whose tables are a map.

mod breakdowns;
mod filters;
mod goals;
mod lag;
mod locking;
mod orders;
mod properties;
mod semi_sync;
mod topologies;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::model::gtid::Uuid;
use crate::model::lab::Generation;

pub const TABLE: &str = "shop.orders";
pub const T: i64 = 1_700_000_000;

/// One row written.
#[derive(Debug)]
pub enum Change {
    Insert(u64),
    Set(u64, i64),
}

/// One table.
#[derive(Debug, Default)]
pub struct Tables {
    pub rows: BTreeMap<u64, i64>,
    /// How many transactions were carried out here.
    pub applied: u64,
    /// The row that the event writes, with the server's clock.
    pub beats: u64,
}

const BEAT: u64 = 0;

impl Engine for Tables {
    fn apply(&mut self, payload: &Payload) -> Result<(), ApplyError> {
        let error = |code, text: String| {
            Err(ApplyError {
                code,
                message: text,
            })
        };
        match payload.downcast_ref::<Change>() {
            Some(Change::Insert(key)) if self.rows.contains_key(key) => {
                return error(1062, format!("Duplicate entry '{key}'"));
            }
            Some(Change::Insert(key)) => {
                self.rows.insert(*key, 0);
            }
            Some(Change::Set(key, value)) => {
                let Some(row) = self.rows.get_mut(key) else {
                    return error(1032, format!("Can't find record {key}"));
                };
                *row = *value;
            }
            None => return error(1, "no change".into()),
        }
        self.applied += 1;
        Ok(())
    }

    fn part(&self, _: &Payload, is_wanted: &mut dyn FnMut(&str) -> bool) -> Option<PartOf> {
        let nothing = PartOf {
            payload: None,
            touches: Arc::from([]),
            share: 0.0,
        };
        (!is_wanted(TABLE)).then_some(nothing)
    }

    fn run_event(&mut self, _name: &str, at: ServerTime) -> Option<Write> {
        self.beats += 1;
        let change = match self.rows.contains_key(&BEAT) {
            true => Change::Set(BEAT, at.0),
            false => Change::Insert(BEAT),
        };
        let began = Moment::from_unix_micros(at.0);
        Some(write_of(began, change, BEAT))
    }
}

pub fn write_of(began: Moment, change: Change, key: u64) -> Write {
    Write {
        rows: 1,
        bytes: 318,
        touches: Arc::from([Touch {
            table: Arc::from(TABLE),
            part: Part::Rows(Arc::from([key])),
        }]),
        ..Write::new(Some(Arc::new(change)), began)
    }
}

/// A world at work.
pub struct Lab {
    pub world: World<Tables>,
    next_key: u64,
}

impl Lab {
    /// Servers of this kind, not yet pointed at each other.
    pub fn of(generation: Generation, servers: usize) -> Lab {
        Lab::seeded(generation, servers, 1)
    }

    pub fn seeded(generation: Generation, servers: usize, seed: u64) -> Lab {
        let start = Moment::from_unix_micros(T * 1_000_000);
        let mut world = World::new(seed, start, Costs::default());
        for server in 0..servers {
            let number = server as u8 + 1;
            let identity = Identity {
                generation,
                server_id: number.into(),
                uuid: Uuid::from_bytes([number; 16]),
                binlog_name: "binlog".into(),
                relay_log_name: "relay".into(),
            };
            let mut settings = Settings::of(generation);
            settings.net_timeout = Span::from_secs(10);
            settings.event_scheduler = true;
            world.add_node(identity, settings, Tables::default());
        }
        Lab {
            world,
            next_key: 100,
        }
    }

    /// One source, the others copy from it.
    pub fn fan(generation: Generation, replicas: usize) -> Lab {
        let mut lab = Lab::of(generation, replicas + 1);
        for replica in 1..=replicas {
            lab.point(replica, 0);
        }
        lab.run(1000);
        lab
    }

    pub fn point(&mut self, replica: NodeId, source: NodeId) {
        self.point_channel(replica, source, "");
    }

    pub fn point_channel(&mut self, replica: NodeId, source: NodeId, channel: &str) {
        let config = SourceConfig::to(source, "127.0.0.1", 3306);
        let world = &mut self.world;
        world
            .change_source(replica, channel, config, |_| {})
            .expect("pointed");
        self.start(replica, channel);
    }

    pub fn start(&mut self, replica: NodeId, channel: &str) {
        self.world.start_receiver(replica, channel).expect("there");
        self.world.start_applier(replica, channel).expect("there");
    }

    pub fn run(&mut self, ms: i64) {
        self.world.advance(self.world.now() + Span::from_millis(ms));
    }

    /// Inserts a new row and does not wait.
    pub fn insert(&mut self, node: NodeId) -> (CommitId, u64) {
        self.next_key += 1;
        let key = self.next_key;
        let write = write_of(self.world.now(), Change::Insert(key), key);
        (self.world.commit(node, write), key)
    }

    /// Inserts a row with this key and waits up to 5 s.
    pub fn insert_key(&mut self, node: NodeId, key: u64) -> Gtid {
        let write = write_of(self.world.now(), Change::Insert(key), key);
        let commit = self.world.commit(node, write);
        self.wait(commit)
    }

    pub fn write(&mut self, node: NodeId) -> Gtid {
        let commit = self.insert(node).0;
        self.wait(commit)
    }

    pub fn wait(&mut self, commit: CommitId) -> Gtid {
        for _ in 0..50_000 {
            match self.world.commit_state(commit) {
                CommitState::Done { gtid, .. } => return gtid.expect("logged"),
                CommitState::Flushing | CommitState::WaitingForReceipt { .. } => {
                    self.world
                        .advance(self.world.now() + Span::from_micros(100));
                }
                other => panic!("{other:?}"),
            }
        }
        panic!("not committed within 5 s");
    }

    /// One transaction of many rows; returns when it is committed.
    pub fn big(&mut self, node: NodeId, rows: u64) -> Gtid {
        let began = self.world.now();
        let work = self.world.begin_work(node, Work::Rows(rows));
        while let WorkState::Going { until, .. } = self.world.work(node, work) {
            self.world.advance(until);
        }
        self.next_key += 1;
        let mut write = write_of(began, Change::Insert(self.next_key), self.next_key);
        write.rows = rows;
        write.bytes = rows * 100;
        write.touches = Arc::from([Touch {
            table: Arc::from("shop.orders"),
            part: Part::AllRows,
        }]);
        let commit = self.world.commit(node, write);
        self.wait(commit)
    }

    pub fn status(&self, node: NodeId) -> ChannelStatus {
        self.world.channel_status(node, "").expect("a replica")
    }

    pub fn seconds_behind(&self, node: NodeId) -> Option<i64> {
        self.status(node).seconds_behind
    }

    pub fn running(&self, node: NodeId) -> (Running, bool) {
        let status = self.status(node);
        (status.receiver.running, status.applier.is_running)
    }

    pub fn has(&self, node: NodeId, gtid: &Gtid) -> bool {
        self.world.nodes[node].book.has(gtid)
    }

    /// How long after this moment the replica has it.
    pub fn until_applied(&mut self, node: NodeId, gtid: &Gtid) -> Span {
        let start = self.world.now();
        for _ in 0..1_000_000 {
            if self.has(node, gtid) {
                return self.world.now().since(start);
            }
            self.world.advance(self.world.now() + Span::from_millis(1));
        }
        panic!("never applied");
    }

    pub fn cut(&mut self, replica: NodeId, is_cut: bool) {
        let quality = LinkQuality {
            is_cut,
            ..LinkQuality::default()
        };
        self.world.set_link(replica, 0, quality);
    }

    pub fn io_problem(&self, node: NodeId) -> Option<Problem> {
        self.status(node).receiver.error.map(|e| e.problem)
    }
}

/// One of each kind that behaves differently.
pub const KINDS: [Generation; 4] = [
    Generation::MySql57,
    Generation::MySql80,
    Generation::MySql97,
    Generation::MariaDb1011,
];
