//! One second of a scene: what each server answers in it.

use std::sync::Arc;

use replicascope::model::gtid::Gtids;
use replicascope::model::phrase::phrase;
use replicascope::model::replication::*;
use replicascope::model::sample::*;
use replicascope::model::server::{Flavour, Product, WatchId};
use replicascope::model::time::{Moment, ServerTime, Span};

use super::told::{
    UUID, binary_logs, found, long_statements, long_transactions, named, raw, refused, settings,
    uuid,
};
use super::{R1, R2, SOURCE, Scene};

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

pub struct Second {
    pub scene: Scene,
    pub second: i64,
    pub at: Moment,
}

impl Second {
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

    pub fn gtids(&self, numbers: u64) -> Gtids {
        let text = format!("{UUID}:1-{numbers}");
        Gtids::parse(&text, Flavour::MySql).expect("a set")
    }

    /// 20 commits a second.
    pub fn written(&self) -> u64 {
        18_204 + 20 * self.second as u64
    }

    pub fn applied(&self, watch: WatchId) -> u64 {
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
                connection: Some(8),
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

    pub fn source(&self) -> Sample {
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

    pub fn replica(&self, watch: WatchId) -> Sample {
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
