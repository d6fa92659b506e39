//! A small topology for the detail screens, made the way the program makes it: events into a real store.
//!
//! `db-source` with the replicas `db-r1` (healthy) and `db-r2` (as the scene wants it), polled once a second.

use std::collections::BTreeMap;
use std::sync::Arc;

use replicascope::lag::HeartbeatReading;
use replicascope::model::event::{Event, LinkState, Mark, Position, WaitOutcome, Waited, What};
use replicascope::model::gtid::Gtids;
use replicascope::model::phrase::phrase;
use replicascope::model::preferences::Preferences;
use replicascope::model::profile::{
    Address, ExpectedRole, Intervals, ServerId, ServerProfile, Thresholds, TopologyId,
    TopologyProfile,
};
use replicascope::model::replication::*;
use replicascope::model::sample::*;
use replicascope::model::server::{Flavour, Product, WatchId};
use replicascope::model::time::{Moment, ServerTime, Span};
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::store::Store;
use replicascope::store::watched::Registration;
use replicascope::ui::Frame;
use replicascope::words::{Catalogue, Language};

use super::captures;

pub const SOURCE: WatchId = WatchId(1);
pub const R1: WatchId = WatchId(2);
pub const R2: WatchId = WatchId(3);

const UUID: &str = "8f0f0000-aaaa-11f0-8000-000000009562";

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// Registered, connecting, nothing answered yet.
    NothingYet,
    Healthy,
    /// db-r2 applies a big transaction, with one worker, blocked; semi-sync has given up; long transactions.
    Trouble,
    /// Broken by an error, a missing privilege on the source.
    Broken,
    /// As `Healthy`, but nobody has answered for 42 s.
    Stale,
    /// As `Healthy`, without the semi-sync plugin.
    WithoutSemiSync,
}

/// Everything a frame lends from.
pub struct World {
    pub store: Store,
    pub profiles: Vec<TopologyProfile>,
    pub preferences: Preferences,
    pub topology: TopologyId,
    pub server: Option<ServerId>,
    pub now: Moment,
}

pub fn start() -> Moment {
    Moment::from_unix_micros(1_790_000_000_000_000)
}

pub fn server_id(name: &str) -> ServerId {
    ServerId(name.to_owned())
}

impl World {
    pub fn frame(&self, language: Language) -> Frame<'_> {
        Frame {
            store: &self.store,
            now: self.now,
            words: Catalogue::of(language),
            profiles: &self.profiles,
            preferences: &self.preferences,
            topology: Some(&self.topology),
            server: self.server.as_ref(),
        }
    }

    /// Five minutes of the scene, once a second.
    pub fn of(scene: Scene, server: Option<&str>) -> World {
        let mut world = World::registered();
        world.server = server.map(server_id);
        if scene == Scene::NothingYet {
            return world;
        }
        for watch in [SOURCE, R1, R2] {
            let product = Product::from_text("9.7.4", "");
            world.tell(watch, world.now, What::Link(LinkState::Up { product }));
        }
        const SECONDS: i64 = 300;
        for second in 0..=SECONDS {
            let at = start() + Span::from_secs(second);
            world.now = at + Span::from_millis(200);
            let step = Step {
                scene,
                second,
                last: second == SECONDS,
                at,
            };
            world.tell(SOURCE, at, What::Sampled(Arc::new(step.source())));
            world.tell(R1, at, What::Sampled(Arc::new(step.replica(R1))));
            world.tell(R2, at, What::Sampled(Arc::new(step.replica(R2))));
            world.mark(&step);
            world.store.judge(world.now);
        }
        if scene == Scene::Stale {
            world.now = world.now + Span::from_secs(42);
            world.store.judge(world.now);
        }
        world
    }

    /// The source's mark of this second, and how the replicas came to it.
    fn mark(&mut self, step: &Step) {
        let mark = Mark {
            number: step.second as u64,
            asked_at: step.at + Span::from_millis(10),
            answered_at: step.at + Span::from_millis(11),
            sent_at: step.at + Span::from_millis(11),
            position: Arc::new(Position::Gtids(step.gtids(step.written()))),
            clock: None,
        };
        let (number, asked_at) = (mark.number, mark.answered_at);
        self.tell(SOURCE, mark.answered_at, What::Marked(mark));
        for (watch, took) in [(R1, 12), (R2, 19)] {
            let behind = step.applied(watch) < step.written();
            let answered_at = asked_at + Span::from_millis(if behind { 150 } else { took });
            let waited = Waited {
                source: SOURCE,
                mark: number,
                asked_at,
                answered_at,
                outcome: if behind {
                    WaitOutcome::TimedOut
                } else {
                    WaitOutcome::Reached
                },
            };
            self.tell(watch, answered_at, What::Waited(waited));
        }
    }

    fn registered() -> World {
        let topology = TopologyId("orders".into());
        let mut profile = TopologyProfile::new(topology.clone(), "orders");
        let mut store = Store::default();
        for (watch, name) in [(SOURCE, "db-source"), (R1, "db-r1"), (R2, "db-r2")] {
            let address = address(watch);
            let mut server = ServerProfile::new(server_id(name), address.clone());
            server.name = name.to_owned();
            profile.servers.push(server);
            let registration = Registration {
                watch,
                topology: topology.clone(),
                server: server_id(name),
                name: name.to_owned(),
                address,
                expected_role: ExpectedRole::Auto,
                expected_channels: Vec::new(),
                thresholds: Thresholds::default(),
                intervals: Intervals::default(),
                heartbeat: HeartbeatReading {
                    interval: Some(Span::from_secs(1)),
                    stamps_are_utc: true,
                    ..HeartbeatReading::default()
                },
            };
            store.register(registration, start());
        }
        World {
            store,
            profiles: vec![profile],
            preferences: Preferences::default(),
            topology,
            server: None,
            now: start(),
        }
    }

    pub fn tell(&mut self, watch: WatchId, at: Moment, what: What) {
        self.store.apply(&Event { watch, at, what });
    }

    /// Nobody can be reached, and never could.
    pub fn unreachable() -> World {
        let mut world = World::registered();
        let trouble = Trouble {
            kind: TroubleKind::Unreachable,
            what: phrase("lag.why.seconds_null"),
            hint: None,
            code: None,
            detail: "Connection refused (os error 111)".into(),
        };
        for watch in [SOURCE, R1, R2] {
            let link = LinkState::Down {
                trouble: trouble.clone(),
                attempt: 3,
                retry_at: start() + Span::from_secs(4),
            };
            world.tell(watch, start(), What::Link(link));
        }
        world
    }
}

fn address(watch: WatchId) -> Address {
    Address::Tcp {
        host: format!("10.0.0.{}", watch.0),
        port: 3306,
    }
}

/// How far each server's clock is ahead of ours.
fn ahead(watch: WatchId) -> Span {
    Span::from_millis(match watch {
        SOURCE => 12,
        R1 => -3,
        _ => 41,
    })
}

fn on_clock_of(watch: WatchId, at: Moment) -> ServerTime {
    ServerTime((at + ahead(watch)).unix_micros())
}

fn uuid(watch: WatchId) -> String {
    match watch {
        SOURCE => UUID.to_owned(),
        watch => format!("{:08}-bbbb-11f0-8000-000000000000", watch.0),
    }
}

/// One second of a scene.
struct Step {
    scene: Scene,
    second: i64,
    last: bool,
    at: Moment,
}

impl Step {
    fn known<T>(&self, value: T) -> Answer<T> {
        Answer::Known { value, at: self.at }
    }

    fn late(&self, watch: WatchId) -> bool {
        watch == R2 && self.scene == Scene::Trouble && self.second > 292
    }

    fn late_by(&self, watch: WatchId) -> Span {
        match self.late(watch) {
            true => Span::from_secs(self.second - 292),
            false => Span::ZERO,
        }
    }

    fn gtids(&self, numbers: u64) -> Gtids {
        let text = format!("{UUID}:1-{numbers}");
        Gtids::parse(&text, Flavour::MySql).expect("a set")
    }

    /// 20 commits a second.
    fn written(&self) -> u64 {
        18_204 + 20 * self.second as u64
    }

    fn applied(&self, watch: WatchId) -> u64 {
        let behind = match (watch, self.scene) {
            (R2, Scene::Broken) => 20 * self.second.saturating_sub(120).max(0) as u64,
            _ if self.late(watch) => 20 * (self.second - 292) as u64,
            _ => 0,
        };
        self.written() - behind
    }

    fn blank(&self, watch: WatchId) -> Sample {
        let ahead = ahead(watch);
        let not_asked = || phrase("panel.not_told");
        let server = ServerTime((self.at + ahead).unix_micros() + 700 * (self.second % 7));
        Sample {
            asked_at: self.at - Span::from_micros(900 + 100 * i64::from(watch.0)),
            answered_at: self.at,
            product: Product::from_text("9.7.4", ""),
            identity: Identity {
                server_uuid: Some(uuid(watch)),
                server_id: Some(u64::from(watch.0)),
                hostname: Some(format!("mysql-{}", watch.0)),
                port: Some(3306),
                read_only: Some(watch != SOURCE),
                super_read_only: Some(watch == R1),
                innodb_read_only: Some(false),
                uptime: Some(Span::from_secs(273_600 + self.second)),
                utc_offset: Some(Span::from_secs(8 * 3600)),
            },
            clock: Some(ClockReading {
                server,
                asked_at: self.at - Span::from_micros(800),
                answered_at: self.at,
            }),
            gtid: GtidFacts::default(),
            channels: self.known(Vec::new()),
            appliers: Answer::NotAsked { why: not_asked() },
            binlog: self.known(Coordinates {
                file: "binlog.000042".into(),
                position: 4_213_880 + 5_000 * self.second as u64,
            }),
            status: self.known(self.status(watch)),
            settings: self.known(Arc::new(settings(watch, self.scene))),
            semi_sync: self.known(SemiSync::default()),
            heartbeat: self.known(HeartbeatRows {
                table: "replicascope.heartbeat".into(),
                rows: vec![HeartbeatRow {
                    server_id: Some(1),
                    text: "2026-09-21 14:02:08.120".into(),
                    kind: StampKind::Wall,
                    wall: Some(server.0 - 320_000 - self.late_by(watch).micros()),
                    resolution: Span::from_millis(1),
                }],
                read_at: server,
            }),
            transactions: self.known(Vec::new()),
            lock_waits: self.known(Vec::new()),
            statements: self.known(Vec::new()),
            found_replicas: self.known(Arc::new(Vec::new())),
            events: self.known(Arc::new(vec![ScheduledEvent {
                schema: "replicascope".into(),
                name: "ev_heartbeat".into(),
                status: if watch == SOURCE {
                    "ENABLED"
                } else {
                    "REPLICA_SIDE_DISABLED"
                }
                .into(),
                originator: Some(1),
                body: "UPDATE repl_heartbeat SET ts = NOW(3) WHERE id = 1".into(),
            }])),
            binary_logs: self.known(Arc::new(binary_logs())),
            platform_lag: Answer::NotAsked { why: not_asked() },
            cost: PollCost {
                statements: 7,
                bytes: 4_120,
            },
        }
    }

    fn status(&self, watch: WatchId) -> Named {
        let s = self.second as u64;
        let busy = if watch == SOURCE { 1 } else { 4 };
        let slow = if self.scene == Scene::Trouble {
            s / 10
        } else {
            0
        };
        named(&[
            ("threads_connected", (38 + s % 3).to_string()),
            ("threads_running", "4".into()),
            ("slow_queries", (129 + slow).to_string()),
            ("questions", (9_000_000 + 410 * s).to_string()),
            ("com_select", (5_000_000 + 280 * busy * s).to_string()),
            ("com_insert", (900_000 + 60 * s).to_string()),
            ("com_update", (700_000 + 50 * s).to_string()),
            ("com_delete", (20_000 + 10 * s).to_string()),
            ("com_replace", "0".into()),
            ("innodb_row_lock_current_waits", "0".into()),
            ("uptime", (273_600 + s).to_string()),
        ])
    }

    fn source(&self) -> Sample {
        let mut sample = self.blank(SOURCE);
        sample.asked_at = self.at;
        sample.gtid = GtidFacts {
            executed: Some(self.gtids(self.written())),
            applied: Some(self.gtids(self.written())),
            purged: Some(self.gtids(9_120)),
            ..GtidFacts::default()
        };
        sample.found_replicas = self.known(Arc::new(found()));
        sample.semi_sync = self.known(self.semi_sync_source());
        if self.scene == Scene::Trouble {
            sample.transactions = self.known(long_transactions(self.second));
            sample.statements = self.known(long_statements());
        }
        if self.scene == Scene::Broken {
            sample.transactions = Answer::Refused(refused());
            sample.binary_logs = Answer::Refused(refused());
        }
        sample
    }

    fn semi_sync_source(&self) -> SemiSync {
        if self.scene == Scene::WithoutSemiSync {
            return SemiSync::default();
        }
        let degraded = self.scene == Scene::Trouble;
        SemiSync {
            source: Some(SemiSyncSource {
                enabled: Some(true),
                active: Some(!degraded),
                clients: Some(if degraded { 0 } else { 2 }),
                required: Some(1),
                timeout: Some(Span::from_secs(1)),
                wait_no_replica: Some(true),
                wait_point: Some("AFTER_SYNC".into()),
                yes_tx: Some(18_000 + if degraded { 0 } else { 20 * self.second as u64 }),
                no_tx: Some(if degraded { 20 * self.second as u64 } else { 0 }),
                no_times: Some(u64::from(degraded)),
                wait_sessions: Some(0),
                average_wait: Some(Span::from_micros(430)),
            }),
            replica: None,
        }
    }

    fn replica(&self, watch: WatchId) -> Sample {
        let mut sample = self.blank(watch);
        sample.asked_at = self.at - Span::from_millis(30);
        sample.answered_at = self.at - Span::from_millis(10);
        let applied = self.gtids(self.applied(watch));
        sample.gtid = GtidFacts {
            executed: Some(applied.clone()),
            applied: Some(applied),
            ..GtidFacts::default()
        };
        sample.channels = self.known(vec![self.channel(watch)]);
        sample.appliers = self.known(self.appliers(watch));
        let on = self.scene != Scene::WithoutSemiSync;
        sample.semi_sync = self.known(SemiSync {
            source: None,
            replica: on.then_some(SemiSyncReplica {
                enabled: Some(true),
                active: Some(!(watch == R2 && self.scene == Scene::Trouble)),
            }),
        });
        if self.late(watch) {
            sample.transactions = self.known(vec![OpenTransaction {
                id: "421931".into(),
                owner: TransactionOwner::Applier,
                thread: 13,
                started: None,
                age: Some(Span::from_secs(6)),
                rows_modified: Some(318_402),
                rows_locked: Some(318_402),
                statement: None,
                user: None,
                host: None,
                state: Some("Applying batch of row changes (update)".into()),
            }]);
            sample.lock_waits = self.known(vec![LockWait {
                waiting_thread: 13,
                waiter_is_applier: true,
                object: Some("shop.orders".into()),
                waited: Some(Span::from_secs(4)),
                blocking_thread: Some(57),
                blocking_user: Some("report".into()),
                blocking_statement: Some("SELECT * FROM shop.orders FOR UPDATE".into()),
            }]);
        }
        sample
    }

    fn channel(&self, watch: WatchId) -> Channel {
        let late = self.late(watch);
        let broken = watch == R2 && self.scene == Scene::Broken && self.second > 120;
        let capture = if broken {
            "mysql97/duplicate_key"
        } else {
            "mysql97/quiet"
        };
        let at = |position| {
            Some(Coordinates {
                file: "binlog.000042".into(),
                position,
            })
        };
        let read = 4_213_880 + 5_000 * self.second as u64;
        let commit = on_clock_of(SOURCE, self.at - Span::from_millis(30));
        let queued = on_clock_of(watch, self.at - Span::from_millis(24));
        Channel {
            name: String::new(),
            source: SourceAddress {
                host: "10.0.0.1".into(),
                port: Some(3306),
                uuid: Some(UUID.into()),
                server_id: Some(1),
            },
            receiver: ThreadState::Running,
            applier: if broken { ThreadState::Stopped } else { ThreadState::Running },
            receiver_doing: Some("Waiting for source to send event".into()),
            applier_doing: (!broken).then(|| "Replica has read all relay log; waiting for more updates".into()),
            receiver_error: None,
            applier_error: broken.then(|| ReplicationError {
                number: 1062,
                text: "Could not execute Write_rows event on table shop.orders; Duplicate entry '1088' for key \
                       'orders.PRIMARY', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY"
                    .into(),
                at: Some("261129 19:05:10".into()),
            }),
            seconds_behind: match (broken, late) {
                (true, _) => Field::Null,
                (_, true) => Field::Value(11),
                _ => Field::Value(0),
            },
            planned_delay: Span::ZERO,
            remaining_delay: None,
            read: at(read),
            executed: at(if late { read - 41_000_000.min(read) / 100 } else { read }),
            relay_log_space: Some(if late { 41_300_000 } else { 1_322 }),
            retrieved_gtids: Some(self.gtids(self.written())),
            auto_position: Some(true),
            receiver_times: Some(ReceiverTimes {
                last_heartbeat: Some(queued),
                last_queued_gtid: Some(format!("{UUID}:{}", self.written())),
                last_queued_original_commit: Some(commit),
                last_queued_end: Some(queued),
            }),
            filters: Filters {
                wild_ignore_table: if watch == R2 { "shop.tmp_%".into() } else { String::new() },
                ..Filters::default()
            },
            raw: Arc::new(raw(capture, self.second)),
        }
    }

    fn appliers(&self, watch: WatchId) -> Vec<ApplierThread> {
        let long = self.late(watch);
        let started = match long {
            true => self.at - self.late_by(watch),
            false => self.at - Span::from_millis(18),
        };
        let done = |n: u64| AppliedTransaction {
            gtid: format!("{UUID}:{}", self.applied(watch) - n),
            original_commit: Some(on_clock_of(SOURCE, started - Span::from_millis(12))),
            started: Some(on_clock_of(watch, started)),
            ended: Some(on_clock_of(watch, started + Span::from_millis(9))),
            retries: 0,
        };
        let worker = |n: u32| ApplierThread {
            channel: String::new(),
            part: ApplierPart::Worker(n),
            thread: Some(12 + u64::from(n)),
            running: true,
            applying: (long && n == 1).then(|| AppliedTransaction {
                gtid: format!("{UUID}:{}", self.applied(watch) + 1),
                original_commit: Some(on_clock_of(SOURCE, started - Span::from_millis(900))),
                started: Some(on_clock_of(watch, started)),
                ended: None,
                retries: 1,
            }),
            last_applied: Some(done(u64::from(n))),
            error: None,
        };
        let coordinator = ApplierThread {
            channel: String::new(),
            part: ApplierPart::Coordinator,
            thread: Some(12),
            running: true,
            applying: None,
            last_applied: Some(done(0)),
            error: None,
        };
        let workers = if watch == R2 { 1 } else { 4 };
        std::iter::once(coordinator)
            .chain((1..=workers).map(worker))
            .collect()
    }
}

fn named(pairs: &[(&str, String)]) -> Named {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    Named(pairs.collect::<BTreeMap<_, _>>())
}

fn settings(watch: WatchId, scene: Scene) -> Named {
    let text = |text: &str| text.to_owned();
    let flush = if scene == Scene::Trouble { "2" } else { "1" };
    named(&[
        (
            "replica_parallel_workers",
            text(if watch == R2 { "1" } else { "4" }),
        ),
        ("replica_preserve_commit_order", text("ON")),
        ("binlog_transaction_dependency_tracking", text("WRITESET")),
        ("sync_binlog", text("1")),
        ("innodb_flush_log_at_trx_commit", text(flush)),
        ("log_bin", text("ON")),
        ("log_replica_updates", text("ON")),
        ("binlog_format", text("ROW")),
        ("binlog_row_image", text("FULL")),
        ("gtid_mode", text("ON")),
        ("enforce_gtid_consistency", text("ON")),
        ("binlog_expire_logs_seconds", text("2592000")),
        ("event_scheduler", text("ON")),
        ("relay_log_recovery", text("ON")),
        ("replica_net_timeout", text("60")),
        ("replica_skip_errors", text("OFF")),
        ("max_connections", text("500")),
        ("long_query_time", text("1.000000")),
        ("performance_schema", text("ON")),
        ("time_zone", text("SYSTEM")),
        ("system_time_zone", text("CST")),
    ])
}

fn binary_logs() -> Vec<BinaryLog> {
    (30..=42)
        .map(|n| BinaryLog {
            file: format!("binlog.0000{n}"),
            bytes: 104_857_600 - 7_000_000 * (n % 5),
        })
        .collect()
}

fn found() -> Vec<FoundReplica> {
    [(R1, "10.0.0.2"), (R2, "10.0.0.3"), (WatchId(4), "10.0.0.4")]
        .into_iter()
        .map(|(watch, host)| FoundReplica {
            host: host.into(),
            port: Some(3306),
            server_id: Some(u64::from(watch.0)),
            uuid: Some(uuid(watch)),
        })
        .collect()
}

fn long_transactions(second: i64) -> Vec<OpenTransaction> {
    let user = |id: &str, thread, age, rows, statement: Option<&str>| OpenTransaction {
        id: id.into(),
        owner: TransactionOwner::User,
        thread,
        started: Some("2026-09-21 14:01:20".into()),
        age: Some(Span::from_secs(age)),
        rows_modified: Some(rows),
        rows_locked: Some(rows + 12),
        statement: statement.map(str::to_owned),
        user: Some("app".into()),
        host: Some("10.0.0.9:41822".into()),
        state: Some("updating".into()),
    };
    vec![
        OpenTransaction {
            owner: TransactionOwner::PreparedXa,
            user: None,
            host: None,
            thread: 0,
            ..user("421007", 0, 3_725, 18, None)
        },
        user(
            "421880",
            41,
            48 + second % 2,
            524_288,
            Some(
                "UPDATE shop.orders SET status = 'archived', updated_at = NOW()\n WHERE created_at < '2026-01-01' AND \
                 status IN ('done', 'cancelled') AND region_id BETWEEN 1 AND 400",
            ),
        ),
        user("421902", 44, 7, 0, None),
    ]
}

fn long_statements() -> Vec<RunningStatement> {
    vec![RunningStatement {
        thread: 51,
        user: "report".into(),
        host: "10.0.0.12:50110".into(),
        command: "Query".into(),
        age: Some(Span::from_secs(12)),
        state: Some("executing".into()),
        statement: Some(
            "SELECT * FROM shop.order_items ORDER BY id LIMIT 100 OFFSET 2500000".into(),
        ),
    }]
}

pub fn refused() -> Trouble {
    let grant = "GRANT PROCESS ON *.* TO 'monitor'@'%';";
    Trouble {
        kind: TroubleKind::MissingPrivilege,
        what: phrase("lag.why.seconds_unreadable").with("text", "open transactions"),
        hint: Some(phrase("evidence.server_says").with("text", grant)),
        code: Some(1227),
        detail:
            "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation"
                .into(),
    }
}

fn raw(capture: &'static str, second: i64) -> Vec<(String, Option<String>)> {
    let rows = read_once(capture);
    let names = rows.columns.iter().map(|column| column.name.clone());
    let values = rows.rows.first().cloned().unwrap_or_default();
    names
        .zip(values)
        .map(|(name, value)| {
            let value = value.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            match name.as_str() {
                "Read_Source_Log_Pos" | "Exec_Source_Log_Pos" => {
                    (name, Some((910 + 5_000 * second).to_string()))
                }
                _ => (name, value),
            }
        })
        .collect()
}

/// A capture is read from disk once a test, not once a second.
fn read_once(name: &'static str) -> replicascope::lab::wire::Rows {
    thread_local! {
        static READ: std::cell::RefCell<BTreeMap<&'static str, replicascope::lab::wire::Rows>> =
            const { std::cell::RefCell::new(BTreeMap::new()) };
    }
    READ.with_borrow_mut(|read| {
        read.entry(name)
            .or_insert_with(|| captures::capture(name))
            .clone()
    })
}
