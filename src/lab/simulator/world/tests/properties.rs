//! What holds whatever happens.

use proptest::prelude::*;

use super::*;

/// Something done to a lab of one source, two replicas and one behind the first of them.
#[derive(Clone, Debug)]
enum Act {
    Write,
    Big(u64),
    Wait(i64),
    StopReceiver(usize),
    StopApplier(usize),
    Start(usize),
    Cut(usize, bool),
    Latency(usize, i64),
    Narrow(usize, f64),
    SlowDisk(usize, i64),
    Kill(usize),
    Restart(usize),
    Clock(usize, i64),
    Rotate(usize),
}

const SERVERS: usize = 4;
const SOURCE_OF: [usize; SERVERS] = [0, 0, 0, 1];

fn act() -> impl Strategy<Value = Act> {
    let replica = 1..SERVERS;
    let server = 0..SERVERS;
    prop_oneof![
        6 => Just(Act::Write),
        1 => (1_000u64..50_000).prop_map(Act::Big),
        4 => (1i64..3_000).prop_map(Act::Wait),
        1 => (10_000i64..40_000).prop_map(Act::Wait),
        1 => replica.clone().prop_map(Act::StopReceiver),
        1 => replica.clone().prop_map(Act::StopApplier),
        2 => replica.clone().prop_map(Act::Start),
        2 => (replica.clone(), any::<bool>()).prop_map(|(r, cut)| Act::Cut(r, cut)),
        1 => (replica.clone(), 0i64..2_000).prop_map(|(r, ms)| Act::Latency(r, ms)),
        1 => (replica.clone(), 1e3..1e6f64).prop_map(|(r, width)| Act::Narrow(r, width)),
        1 => (server.clone(), 0i64..300).prop_map(|(s, ms)| Act::SlowDisk(s, ms)),
        1 => server.clone().prop_map(Act::Kill),
        2 => server.clone().prop_map(Act::Restart),
        1 => (server.clone(), -100i64..100).prop_map(|(s, secs)| Act::Clock(s, secs)),
        1 => server.prop_map(Act::Rotate),
    ]
}

fn kind() -> impl Strategy<Value = Generation> {
    prop::sample::select(KINDS.to_vec())
}

/// A lab with everything that was ever asked to be written.
struct Tried {
    lab: Lab,
    commits: Vec<CommitId>,
    committed: Vec<Gtid>,
}

impl Tried {
    fn new(kind: Generation, seed: u64, workers: u32, semi_sync: bool) -> Tried {
        let mut lab = Lab::seeded(kind, SERVERS, seed);
        for server in 0..SERVERS {
            lab.world.change_settings(server, |s| {
                s.applier_workers = workers;
                s.semi_sync.source_enabled = semi_sync && server == 0;
                s.semi_sync.replica_enabled = semi_sync;
                s.semi_sync.timeout = Span::from_secs(1);
            });
        }
        for (replica, source) in SOURCE_OF.into_iter().enumerate().skip(1) {
            lab.point(replica, source);
        }
        lab.run(500);
        Tried {
            lab,
            commits: Vec::new(),
            committed: Vec::new(),
        }
    }

    fn act(&mut self, act: &Act) {
        let world = &mut self.lab.world;
        let quality = |r: usize, world: &World<Tables>| world.link(r, SOURCE_OF[r]);
        match *act {
            Act::Write => {
                let (commit, _) = self.lab.insert(0);
                self.commits.push(commit);
            }
            Act::Big(rows) => self.begin_big(rows),
            Act::Wait(ms) => self.lab.run(ms),
            Act::StopReceiver(r) => drop(world.stop_receiver(r, "")),
            Act::StopApplier(r) => drop(world.stop_applier(r, "")),
            Act::Start(r) => {
                drop(world.start_receiver(r, ""));
                drop(world.start_applier(r, ""));
            }
            Act::Cut(r, is_cut) => {
                let new = LinkQuality {
                    is_cut,
                    ..quality(r, world)
                };
                world.set_link(r, SOURCE_OF[r], new);
            }
            Act::Latency(r, ms) => {
                let new = LinkQuality {
                    latency: Span::from_millis(ms),
                    ..quality(r, world)
                };
                world.set_link(r, SOURCE_OF[r], new);
            }
            Act::Narrow(r, width) => {
                let new = LinkQuality {
                    bytes_per_second: Some(width),
                    ..quality(r, world)
                };
                world.set_link(r, SOURCE_OF[r], new);
            }
            Act::SlowDisk(s, ms) => world.set_disk(s, Span::from_millis(ms)),
            Act::Kill(s) => world.kill(s),
            Act::Restart(s) => world.restart(s),
            Act::Clock(s, secs) => world.set_clock(s, Span::from_secs(secs)),
            Act::Rotate(s) => world.rotate_binlog(s),
        }
        self.collect();
    }

    fn begin_big(&mut self, rows: u64) {
        self.lab.next_key += 1;
        let key = self.lab.next_key;
        let mut write = write_of(self.lab.world.now(), Change::Insert(key), key);
        write.rows = rows;
        write.bytes = rows * 100;
        self.commits.push(self.lab.world.commit(0, write));
    }

    fn collect(&mut self) {
        let world = &mut self.lab.world;
        let committed = &mut self.committed;
        self.commits
            .retain(|commit| match world.commit_state(*commit) {
                CommitState::Flushing | CommitState::WaitingForReceipt { .. } => true,
                CommitState::Done { gtid, .. } => {
                    committed.extend(gtid);
                    false
                }
                CommitState::Lost => false,
                failed @ CommitState::Failed { .. } => panic!("{failed:?}"),
            });
    }

    /// Everything is repaired, and enough time passes.
    fn repair(&mut self) {
        for server in 0..SERVERS {
            self.act(&Act::Restart(server));
            self.act(&Act::SlowDisk(server, 0));
        }
        for (replica, source) in SOURCE_OF.into_iter().enumerate().skip(1) {
            let whole = LinkQuality::default();
            let world = &mut self.lab.world;
            world.set_link(replica, source, whole);
            self.act(&Act::Start(replica));
        }
        self.act(&Act::Wait(120_000));
    }

    fn executed(&self) -> Vec<crate::model::gtid::Gtids> {
        (0..SERVERS).map(|s| self.lab.world.executed(s)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_committed_transaction_is_in_the_end_applied_exactly_once_everywhere(
        kind in kind(),
        workers in 0u32..6,
        semi_sync in any::<bool>(),
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let mut tried = Tried::new(kind, 1, workers, semi_sync);
        for act in &acts {
            tried.act(act);
        }
        tried.repair();
        let source = &tried.lab.world.engine(0).rows;
        for server in 1..SERVERS {
            let engine = tried.lab.world.engine(server);
            prop_assert_eq!(&engine.rows, source);
            // Inserting twice would have been error 1062, and stopped the applier.
            prop_assert_eq!(engine.applied, source.len() as u64);
            let running = tried.lab.running(server);
            prop_assert_eq!(running, (Running::Yes, true));
            prop_assert_eq!(tried.lab.seconds_behind(server), Some(0));
            for gtid in &tried.committed {
                prop_assert!(tried.lab.has(server, gtid));
            }
        }
    }

    #[test]
    fn what_is_executed_only_ever_grows(
        kind in kind(),
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let mut tried = Tried::new(kind, 1, 4, true);
        let mut before = tried.executed();
        for act in &acts {
            tried.act(act);
            let now = tried.executed();
            for (earlier, later) in before.iter().zip(&now) {
                prop_assert!(later.contains(earlier), "{earlier} to {later}");
            }
            before = now;
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_history(
        kind in kind(),
        seed in any::<u64>(),
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let history = || {
            let mut tried = Tried::new(kind, seed, 4, true);
            let mut seen = Vec::new();
            for act in &acts {
                tried.act(act);
                for server in 1..SERVERS {
                    seen.push(format!("{:?}", tried.lab.world.channel_status(server, "")));
                }
                seen.push(format!("{:?}", tried.lab.world.next_event()));
            }
            seen
        };
        prop_assert_eq!(history(), history());
    }

    #[test]
    fn how_often_the_world_is_asked_makes_no_difference(
        kind in kind(),
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let history = |in_steps: bool| {
            let mut tried = Tried::new(kind, 1, 4, true);
            for act in &acts {
                match act {
                    Act::Wait(ms) if in_steps => {
                        for _ in 0..*ms {
                            tried.act(&Act::Wait(1));
                            tried.lab.world.channel_status(1, "");
                        }
                    }
                    act => tried.act(act),
                }
            }
            let status = |s| format!("{:?}", tried.lab.world.channel_status(s, ""));
            (status(1), status(2), status(3))
        };
        prop_assert_eq!(history(true), history(false));
    }

    #[test]
    fn on_a_replica_with_one_source_commits_keep_the_order_of_the_source(
        kind in kind(),
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let mut tried = Tried::new(kind, 1, 4, false);
        for server in 1..SERVERS {
            tried.lab.world.change_settings(server, |s| s.preserve_commit_order = true);
            tried.act(&Act::StopApplier(server));
            tried.act(&Act::Start(server));
        }
        for act in &acts {
            tried.act(act);
        }
        tried.repair();
        let order = |server: usize| -> Vec<Gtid> {
            let world = &tried.lab.world;
            let files = world.binlog_files(server);
            let of_file = |f: &BinlogFile| world.binlog_transactions(server, &f.name, 0, 10_000);
            files.iter().flat_map(of_file).map(|t| t.gtid).collect()
        };
        for server in 1..SERVERS {
            prop_assert_eq!(order(server), order(0));
        }
    }
}
