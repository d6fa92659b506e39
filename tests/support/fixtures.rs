//! Stores for tests of screens, filled the way the program fills them: events of threads, one after the other, with
//! synthetic samples. Nothing here reaches into the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use replicascope::lag::HeartbeatReading;
use replicascope::model::event::{Event, LinkState, Mark, Position, WaitOutcome, Waited, What};
use replicascope::model::gtid::Gtids;
use replicascope::model::phrase::phrase;
use replicascope::model::preferences::Preferences;
use replicascope::model::profile::{
    Environment, ExpectedRole, ServerId, ServerProfile, Target, TopologyId, TopologyProfile,
};
use replicascope::model::replication::*;
use replicascope::model::sample::*;
use replicascope::model::server::{Flavour, Product, WatchId};
use replicascope::model::time::{Moment, ServerTime, Span};
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::store::Store;
use replicascope::store::watched::Registration;

/// The instant at which every fixture is looked at.
pub const NOW: Moment = Moment::from_unix_micros(1_795_960_928_000_000);

const MARK: Span = Span::from_millis(250);

/// What a screen may look at, owned.
pub struct Scene {
    pub store: Store,
    pub profiles: Vec<TopologyProfile>,
    pub preferences: Preferences,
    pub topology: Option<TopologyId>,
    pub server: Option<ServerId>,
    pub now: Moment,
}

impl Scene {
    fn of(store: Store, profiles: Vec<TopologyProfile>) -> Self {
        let topology = profiles.first().map(|p| p.id.clone());
        Scene {
            store,
            profiles,
            preferences: Preferences::default(),
            topology,
            server: None,
            now: NOW,
        }
    }

    pub fn frame<'a>(
        &'a self,
        words: &'a replicascope::words::Catalogue,
    ) -> replicascope::ui::Frame<'a> {
        replicascope::ui::Frame {
            store: &self.store,
            now: self.now,
            words,
            profiles: &self.profiles,
            preferences: &self.preferences,
            topology: self.topology.as_ref(),
            server: self.server.as_ref(),
        }
    }
}

/// The program was just started for the first time.
pub fn nothing_yet() -> Scene {
    Scene::of(Store::default(), Vec::new())
}

/// A source and two replicas, five minutes of nothing wrong.
pub fn healthy() -> Scene {
    let mut play = Play::new("orders", Environment::Production);
    play.source("db-source");
    play.replica("db-r1", "db-source", |t| Doing::Late(11 + t % 3));
    play.replica("db-r2", "db-source", |t| Doing::Late(19 + t % 5));
    let (store, profile) = play.run(300);
    Scene::of(store, vec![profile, not_watched()])
}

/// One replica late with a big transaction, one broken by a duplicate key, one below it that does not answer, and
/// another topology with a delayed replica.
pub fn in_trouble() -> Scene {
    let mut play = Play::new("orders", Environment::Production);
    play.source("db-source");
    play.replica("db-r1", "db-source", |t| Doing::Late(11 + t % 3));
    play.replica("db-r2", "db-source", |t| match t {
        76..=90 => Doing::Late(20 + 45 * (15 - (83 - t).abs())),
        294.. => Doing::BigTransaction { since: 294 },
        _ => Doing::Late(19 + t % 5),
    });
    play.replica("db-r3", "db-source", |t| match t {
        100.. => Doing::Broken,
        _ => Doing::Late(45 + t % 7),
    });
    play.replica("db-r3a", "db-r3", |t| match t {
        258.. => Doing::Down,
        _ => Doing::Late(60),
    });
    let (store, profile) = play.run(300);
    let mut billing = Play::continuing(store, "billing", Environment::Staging);
    billing.source("bill-1");
    billing.replica("bill-2", "bill-1", |_| Doing::Late(3));
    billing.replica("bill-3", "bill-1", |t| Doing::Delayed(3600, 13_000 + t));
    let (store, other) = billing.run(60);
    Scene::of(store, vec![profile, other, not_watched()])
}

/// Everything answered until a minute ago; now nothing does.
pub fn stale() -> Scene {
    let mut play = Play::new("orders", Environment::Staging);
    let until = |lag: i64| {
        move |t: i64| {
            if t < 240 {
                Doing::Late(lag)
            } else {
                Doing::Down
            }
        }
    };
    play.servers
        .push(Actor::new("db-source", None, Box::new(until(0))));
    play.replica("db-r1", "db-source", until(11));
    play.replica("db-r2", "db-source", until(19));
    let (store, profile) = play.run(300);
    Scene::of(store, vec![profile])
}

/// Just opened: no thread has reported anything.
pub fn connecting() -> Scene {
    let mut play = Play::new("orders", Environment::Lab);
    play.source("db-source");
    play.replica("db-r1", "db-source", |_| Doing::Late(11));
    let (store, profile) = play.run(0);
    Scene::of(store, vec![profile])
}

/// A saved topology that nobody opened.
pub fn not_opened() -> Scene {
    Scene::of(Store::default(), vec![not_watched()])
}

fn not_watched() -> TopologyProfile {
    let mut profile = TopologyProfile::new(TopologyId("archive".into()), "archive");
    profile.environment = Environment::Development;
    profile.servers = vec![server_profile("arc-1", 3399)];
    profile
}

/// What a server does at one second.
#[derive(Clone, Copy)]
pub enum Doing {
    /// Runs, so many milliseconds behind.
    Late(i64),
    /// Applies one transaction of 524,288 rows since that second.
    BigTransaction { since: i64 },
    /// Delayed on purpose by seconds, and so many milliseconds late beyond that.
    Delayed(i64, i64),
    /// Its applier is stopped by error 1062.
    Broken,
    /// Does not answer.
    Down,
}

struct Actor {
    name: String,
    source: Option<String>,
    doing: Box<dyn Fn(i64) -> Doing>,
    watch: WatchId,
    /// Marks sent to it and not reached: number, instant, transactions written by then.
    pending: Vec<(u64, Moment, u64)>,
    applied: u64,
    down: bool,
}

impl Actor {
    fn new(name: &str, source: Option<&str>, doing: Box<dyn Fn(i64) -> Doing>) -> Self {
        Actor {
            name: name.into(),
            source: source.map(Into::into),
            doing,
            watch: WatchId(0),
            pending: Vec::new(),
            applied: 0,
            down: false,
        }
    }
}

/// A topology acted out second by second.
pub struct Play {
    store: Store,
    profile: TopologyProfile,
    servers: Vec<Actor>,
    first_watch: u32,
}

const UUIDS: [&str; 10] = [
    "3e11fa47-71ca-11e1-9e33-c80aa9429501",
    "3e11fa47-71ca-11e1-9e33-c80aa9429502",
    "3e11fa47-71ca-11e1-9e33-c80aa9429503",
    "3e11fa47-71ca-11e1-9e33-c80aa9429504",
    "3e11fa47-71ca-11e1-9e33-c80aa9429505",
    "3e11fa47-71ca-11e1-9e33-c80aa9429506",
    "3e11fa47-71ca-11e1-9e33-c80aa9429507",
    "3e11fa47-71ca-11e1-9e33-c80aa9429508",
    "3e11fa47-71ca-11e1-9e33-c80aa9429509",
    "3e11fa47-71ca-11e1-9e33-c80aa942950a",
];

impl Play {
    pub fn new(name: &str, environment: Environment) -> Self {
        Self::continuing(Store::default(), name, environment)
    }

    /// Another topology in the same store.
    pub fn continuing(store: Store, name: &str, environment: Environment) -> Self {
        let first_watch = store.servers().count() as u32 + 1;
        let mut profile = TopologyProfile::new(TopologyId(name.into()), name);
        profile.environment = environment;
        Play {
            store,
            profile,
            servers: Vec::new(),
            first_watch,
        }
    }

    pub fn source(&mut self, name: &str) {
        self.servers
            .push(Actor::new(name, None, Box::new(|_| Doing::Late(0))));
    }

    pub fn replica(&mut self, name: &str, source: &str, doing: impl Fn(i64) -> Doing + 'static) {
        self.servers
            .push(Actor::new(name, Some(source), Box::new(doing)));
    }

    /// Plays so many seconds, up to [`NOW`], judging once a second.
    pub fn run(mut self, secs: i64) -> (Store, TopologyProfile) {
        let start = NOW - Span::from_secs(secs);
        self.register(start);
        for second in 0..=secs {
            let at = start + Span::from_secs(second);
            if secs > 0 {
                self.links(second, at);
                for quarter in 0..4 {
                    let number = (second * 4 + quarter + 1) as u64;
                    self.marks(second, number, at - Span::from_millis(950 - 250 * quarter));
                }
                self.samples(second, at);
            }
            self.store.judge(at);
        }
        (self.store, self.profile)
    }

    fn register(&mut self, at: Moment) {
        for (n, actor) in self.servers.iter_mut().enumerate() {
            actor.watch = WatchId(self.first_watch + n as u32);
            let server = server_profile(&actor.name, 3300 + actor.watch.0 as u16);
            self.store.register(
                Registration {
                    watch: actor.watch,
                    topology: self.profile.id.clone(),
                    server: server.id.clone(),
                    name: server.label(),
                    address: server.address.clone(),
                    expected_role: ExpectedRole::Auto,
                    expected_channels: Vec::new(),
                    thresholds: self.profile.thresholds.clone(),
                    intervals: self.profile.intervals,
                    heartbeat: HeartbeatReading {
                        interval: None,
                        stamps_are_utc: true,
                        ..HeartbeatReading::default()
                    },
                },
                at,
            );
            self.profile.servers.push(server);
        }
    }

    fn links(&mut self, second: i64, at: Moment) {
        for n in 0..self.servers.len() {
            let down = matches!((self.servers[n].doing)(second), Doing::Down);
            if second > 0 && down == self.servers[n].down {
                continue;
            }
            self.servers[n].down = down;
            let state = match down {
                true => LinkState::Down {
                    trouble: refused(),
                    attempt: 3,
                    retry_at: NOW + Span::from_secs(4),
                },
                false => LinkState::Up { product: mysql() },
            };
            self.tell(n, at, What::Link(state));
        }
    }

    /// Three transactions are written, their source is marked, and the replicas reach what they can.
    fn marks(&mut self, second: i64, number: u64, at: Moment) {
        for source in 0..self.servers.len() {
            let name = self.servers[source].name.clone();
            let replicas: Vec<usize> = (0..self.servers.len())
                .filter(|n| self.servers[*n].source.as_ref() == Some(&name))
                .collect();
            if replicas.is_empty() || self.servers[source].down {
                continue;
            }
            let written = self.written(source, number);
            let mark = Mark {
                number,
                asked_at: at - Span::from_micros(200),
                answered_at: at + Span::from_micros(200),
                sent_at: at + Span::from_micros(200),
                position: Arc::new(Position::Gtids(gtids(written))),
                clock: Some(clock(at)),
            };
            self.tell(source, mark.answered_at, What::Marked(mark));
            for replica in replicas {
                self.wait(second, source, replica, (number, at, written));
            }
        }
    }

    /// A source has written by its marks; what is between has what it applied itself.
    fn written(&self, server: usize, number: u64) -> u64 {
        match self.servers[server].source {
            None => 10_000 + number * 3,
            Some(_) => self.servers[server].applied,
        }
    }

    fn wait(&mut self, second: i64, source: usize, replica: usize, mark: (u64, Moment, u64)) {
        let doing = (self.servers[replica].doing)(second);
        self.servers[replica].pending.push(mark);
        let lag = match doing {
            // the quickest wait tells the round trip
            Doing::Late(_) if mark.0 <= 12 => Some(Span::from_micros(300)),
            Doing::Late(millis) => Some(Span::from_millis(millis)),
            Doing::Delayed(secs, millis) => Some(Span::from_millis(secs * 1000 + millis)),
            Doing::BigTransaction { .. } | Doing::Broken => None,
            Doing::Down => return,
        };
        let until = mark.1 + MARK;
        let reached = lag.and_then(|lag| {
            let pending = &mut self.servers[replica].pending;
            let count = pending.partition_point(|(_, at, _)| *at + lag <= until);
            let last = count.checked_sub(1).map(|n| pending[n]);
            pending.drain(..count);
            last.map(|(number, at, written)| (number, (at + lag).max(mark.1), written))
        });
        let source = self.servers[source].watch;
        let waited = match reached {
            Some((number, answered_at, written)) => {
                self.servers[replica].applied = written;
                Waited {
                    source,
                    mark: number,
                    asked_at: mark.1,
                    answered_at,
                    outcome: WaitOutcome::Reached,
                }
            }
            None => Waited {
                source,
                mark: mark.0,
                asked_at: mark.1,
                answered_at: until,
                outcome: WaitOutcome::TimedOut,
            },
        };
        self.tell(replica, waited.answered_at, What::Waited(waited));
    }

    fn samples(&mut self, second: i64, at: Moment) {
        for n in 0..self.servers.len() {
            if self.servers[n].down {
                continue;
            }
            let sample = self.sample(n, second, at);
            self.tell(n, at, What::Sampled(Arc::new(sample)));
        }
    }

    fn tell(&mut self, server: usize, at: Moment, what: What) {
        let watch = self.servers[server].watch;
        self.store.apply(&Event { watch, at, what });
    }

    fn sample(&self, n: usize, second: i64, at: Moment) -> Sample {
        let actor = &self.servers[n];
        let number = (second * 4 + 4) as u64;
        let has = self.written(n, number);
        let mut sample = empty_sample(self.place(&actor.name), at);
        sample.gtid = GtidFacts {
            executed: Some(gtids(has)),
            applied: Some(gtids(has)),
            ..GtidFacts::default()
        };
        let at_position = |transactions: u64| Coordinates {
            file: "binlog.000042".into(),
            position: transactions * 1_370,
        };
        sample.binlog = known(at_position(has), at);
        let Some(source) = &actor.source else {
            sample.semi_sync = known(semi_sync_source(), at);
            return sample;
        };
        let source = self
            .servers
            .iter()
            .position(|a| a.name == *source)
            .unwrap_or(0);
        let written = self.written(source, number);
        sample.identity.read_only = Some(true);
        sample.identity.super_read_only = Some(true);
        let doing = (actor.doing)(second);
        let mut channel = channel(
            self.place(&self.servers[source].name),
            &self.servers[source],
        );
        channel.retrieved_gtids = Some(gtids(written));
        channel.read = Some(at_position(written));
        channel.executed = Some(at_position(has));
        act(doing, second, at, &mut channel, &mut sample);
        sample.channels = known(vec![channel], at);
        sample
    }

    fn place(&self, name: &str) -> usize {
        let here = self
            .servers
            .iter()
            .position(|a| a.name == name)
            .unwrap_or(0);
        (self.first_watch as usize + here) % UUIDS.len()
    }
}

fn act(doing: Doing, second: i64, at: Moment, channel: &mut Channel, sample: &mut Sample) {
    match doing {
        Doing::Late(_) | Doing::Down => {}
        Doing::Delayed(secs, _) => {
            channel.planned_delay = Span::from_secs(secs);
            channel.seconds_behind = Field::Value(secs + 13);
        }
        Doing::Broken => {
            channel.applier = ThreadState::Stopped;
            channel.seconds_behind = Field::Null;
            channel.applier_error = Some(ReplicationError {
                number: 1062,
                text: "Could not execute Write_rows event on table shop.orders; Duplicate entry '4711' for key 'PRIMARY'".into(),
                at: None,
            });
        }
        Doing::BigTransaction { since } => {
            let age = Span::from_secs(second - since);
            channel.seconds_behind = Field::Value(second - since + 5);
            let commit = ServerTime((at - age).unix_micros());
            sample.appliers = known(vec![applying(commit)], at);
            sample.transactions = known(vec![big_transaction(age)], at);
        }
    }
}

fn applying(commit: ServerTime) -> ApplierThread {
    ApplierThread {
        channel: String::new(),
        part: ApplierPart::Worker(1),
        thread: Some(31),
        running: true,
        applying: Some(AppliedTransaction {
            gtid: format!("{}:11183", UUIDS[1]),
            original_commit: Some(commit),
            started: Some(commit),
            ended: None,
            retries: 0,
        }),
        last_applied: None,
        error: None,
    }
}

fn big_transaction(age: Span) -> OpenTransaction {
    OpenTransaction {
        id: "421".into(),
        owner: TransactionOwner::Applier,
        thread: 31,
        started: None,
        age: Some(age),
        rows_modified: Some(524_288),
        rows_locked: None,
        statement: None,
        user: Some("system user".into()),
        host: None,
        state: None,
    }
}

fn server_profile(name: &str, port: u16) -> ServerProfile {
    let address = Target::parse(&format!("10.0.7.21:{port}"))
        .expect("an address")
        .address;
    let mut server = ServerProfile::new(ServerId(name.into()), address);
    server.name = name.into();
    server
}

fn mysql() -> Product {
    Product::from_text("9.7.4", "(Debian)")
}

fn refused() -> Trouble {
    Trouble {
        kind: TroubleKind::Unreachable,
        what: phrase("lag.why.receiver_connecting"),
        hint: None,
        code: None,
        detail: "Connection refused (os error 111)".into(),
    }
}

fn gtids(last: u64) -> Gtids {
    let text = format!("{}:1-{}", UUIDS[1], last.max(1));
    Gtids::parse(&text, Flavour::MySql).expect("a GTID set")
}

fn known<T>(value: T, at: Moment) -> Answer<T> {
    Answer::Known { value, at }
}

fn not_asked<T>() -> Answer<T> {
    Answer::NotAsked {
        why: phrase("lag.why.no_facts"),
    }
}

fn clock(at: Moment) -> ClockReading {
    ClockReading {
        server: ServerTime(at.unix_micros()),
        asked_at: at - Span::from_micros(200),
        answered_at: at + Span::from_micros(200),
    }
}

fn channel(place: usize, source: &Actor) -> Channel {
    Channel {
        name: String::new(),
        source: SourceAddress {
            host: "10.0.7.21".into(),
            port: Some(3300 + source.watch.0 as u16),
            uuid: Some(UUIDS[place].into()),
            server_id: Some(place as u64),
        },
        receiver: ThreadState::Running,
        applier: ThreadState::Running,
        receiver_doing: Some("Waiting for source to send event".into()),
        applier_doing: None,
        receiver_error: None,
        applier_error: None,
        seconds_behind: Field::Value(0),
        planned_delay: Span::ZERO,
        remaining_delay: None,
        read: None,
        executed: None,
        relay_log_space: None,
        retrieved_gtids: None,
        auto_position: Some(true),
        receiver_times: None,
        filters: Filters::default(),
        raw: Arc::new(vec![]),
    }
}

fn semi_sync_source() -> SemiSync {
    SemiSync {
        source: Some(SemiSyncSource {
            enabled: Some(true),
            active: Some(true),
            clients: Some(2),
            required: Some(1),
            ..SemiSyncSource::default()
        }),
        replica: None,
    }
}

fn empty_sample(place: usize, at: Moment) -> Sample {
    let settings = [
        ("gtid_mode", "ON"),
        ("enforce_gtid_consistency", "ON"),
        ("replica_parallel_workers", "4"),
        ("max_connections", "151"),
        ("event_scheduler", "ON"),
    ];
    let settings: BTreeMap<String, String> = settings
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    Sample {
        asked_at: at - Span::from_millis(2),
        answered_at: at,
        product: mysql(),
        identity: Identity {
            server_uuid: Some(UUIDS[place].into()),
            server_id: Some(place as u64),
            read_only: Some(false),
            super_read_only: Some(false),
            uptime: Some(Span::from_secs(86_400)),
            ..Identity::default()
        },
        clock: Some(clock(at)),
        gtid: GtidFacts::default(),
        channels: known(vec![], at),
        appliers: known(vec![], at),
        binlog: not_asked(),
        status: known(Named::default(), at),
        settings: known(Arc::new(Named(settings)), at),
        semi_sync: known(SemiSync::default(), at),
        heartbeat: not_asked(),
        transactions: known(vec![], at),
        lock_waits: known(vec![], at),
        statements: known(vec![], at),
        found_replicas: not_asked(),
        events: known(Arc::new(vec![]), at),
        binary_logs: not_asked(),
        platform_lag: not_asked(),
        cost: PollCost {
            statements: 9,
            bytes: 1_370,
        },
    }
}
