//! Facts for tests, with few lines: a healthy source and its replica, to be spoilt one fact at a time.

use std::sync::Arc;

use super::facts::*;
use super::judgement::Judgement;
use super::rules::Rule;
use crate::lag::clock::ClockEstimate;
use crate::lag::without_facts;
use crate::model::event::LinkState;
use crate::model::finding::{Finding, Role, Verdict};
use crate::model::gtid::Gtids;
use crate::model::lag::{LagView, Measurement, Method, Reading};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{ExpectedRole, Thresholds};
use crate::model::replication::*;
use crate::model::sample::*;
use crate::model::server::{Flavour, Product, WatchId};
use crate::model::time::{Moment, Span};
use crate::model::trouble::{Trouble, TroubleKind};

/// The instant at which everything in a built town is judged.
pub const NOW: Moment = Moment::from_unix_micros(1_800_000_000_000_000);

pub fn secs_ago(secs: i64) -> Moment {
    NOW - Span::from_secs(secs)
}

/// Owned facts.
pub struct Town {
    pub now: Moment,
    pub servers: Vec<Built>,
}

pub struct Built {
    pub watch: WatchId,
    pub name: String,
    pub expected_role: ExpectedRole,
    pub thresholds: Thresholds,
    pub role: Role,
    pub link: LinkState,
    pub freshness: Freshness,
    pub sample: Option<Sample>,
    pub previous: Option<Sample>,
    pub clock: Option<ClockEstimate>,
    pub channels: Vec<BuiltChannel>,
    pub replicas: Vec<WatchId>,
    pub memory: Memory,
}

pub struct BuiltChannel {
    pub lag: LagView,
    pub source: Option<WatchId>,
    pub standing_since: Option<Moment>,
    pub connecting_since: Option<Moment>,
    pub heartbeat_ages: Vec<(Moment, Span)>,
    pub writer_silent_for: Option<Span>,
    pub counts: bool,
}

impl Town {
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            now: self.now,
            servers: self.servers.iter().map(Built::facts).collect(),
        }
    }

    pub fn source(&mut self) -> &mut Built {
        &mut self.servers[0]
    }

    pub fn replica(&mut self) -> &mut Built {
        &mut self.servers[1]
    }

    /// The status row of the replica's only channel.
    pub fn channel(&mut self) -> &mut Channel {
        self.replica().channel(0)
    }

    /// Everything else known of that channel.
    pub fn about_channel(&mut self) -> &mut BuiltChannel {
        &mut self.replica().channels[0]
    }

    /// The headline lag of the replica by marks.
    pub fn late_by(&mut self, lag: Span) {
        self.about_channel().lag = lag_by(Method::GtidMarks, lag);
    }
}

impl Built {
    fn facts(&self) -> ServerFacts<'_> {
        let rows = self.sample.as_ref().map_or(&[][..], Sample::channels);
        ServerFacts {
            watch: self.watch,
            name: &self.name,
            expected_role: self.expected_role,
            thresholds: &self.thresholds,
            role: self.role,
            link: &self.link,
            freshness: self.freshness.clone(),
            sample: self.sample.as_ref(),
            previous: self.previous.as_ref(),
            clock: self.clock,
            channels: rows
                .iter()
                .zip(&self.channels)
                .map(|(row, built)| built.facts(row))
                .collect(),
            replicas: self.replicas.clone(),
            memory: &self.memory,
            wait_trouble: None,
        }
    }

    pub fn sample(&mut self) -> &mut Sample {
        self.sample.as_mut().expect("this server was polled")
    }

    pub fn channel(&mut self, index: usize) -> &mut Channel {
        let Answer::Known { value, .. } = &mut self.sample().channels else {
            panic!("no channels")
        };
        &mut value[index]
    }

    pub fn semi_sync(&mut self, end: SemiSyncSource) {
        self.sample().semi_sync = known(SemiSync {
            source: Some(end),
            replica: None,
        });
    }

    pub fn setting(&mut self, name: &str, value: &str) {
        let mut named = match &self.sample().settings {
            Answer::Known { value, .. } => Named::clone(value),
            _ => Named::default(),
        };
        named.0.insert(name.into(), value.into());
        self.sample().settings = known(Arc::new(named));
    }

    pub fn link_down(&mut self, code: u32, words: &str) {
        self.link = LinkState::Down {
            trouble: trouble(TroubleKind::Refusing, code, words),
            attempt: 1,
            retry_at: NOW,
        };
    }

    pub fn stale(&mut self) {
        self.freshness = Freshness::Stale {
            age: Span::from_secs(7),
            why: phrase("lag.why.no_answer"),
        };
    }
}

impl BuiltChannel {
    fn facts<'a>(&'a self, row: &'a Channel) -> ChannelFacts<'a> {
        ChannelFacts {
            channel: row,
            lag: self.lag.clone(),
            source: self.source,
            standing_since: self.standing_since,
            connecting_since: self.connecting_since,
            heartbeat_ages: &self.heartbeat_ages,
            writer_silent_for: self.writer_silent_for,
            counts: self.counts,
        }
    }
}

/// `db-1` (watch 1) and its replica `db-r1` (watch 2): MySQL 9.7, everything as it should be.
pub fn source_and_replica() -> Town {
    let mut source = server(1, "db-1", Role::Source);
    source.replicas = vec![WatchId(2)];
    Town {
        now: NOW,
        servers: vec![source, replica_of(1, 2, "db-r1")],
    }
}

pub fn server(watch: u32, name: &str, role: Role) -> Built {
    Built {
        watch: WatchId(watch),
        name: name.into(),
        expected_role: ExpectedRole::Auto,
        thresholds: Thresholds::default(),
        role,
        link: LinkState::Up { product: mysql97() },
        freshness: Freshness::Fresh,
        sample: Some(sample(watch)),
        previous: None,
        clock: None,
        channels: vec![],
        replicas: vec![],
        memory: Memory::default(),
    }
}

pub fn replica_of(source: u32, watch: u32, name: &str) -> Built {
    let mut replica = server(watch, name, Role::Replica);
    let sample = replica.sample();
    sample.identity.read_only = Some(true);
    sample.identity.super_read_only = Some(true);
    sample.channels = known(vec![channel("")]);
    replica.channels = vec![built_channel(source)];
    replica
}

pub fn built_channel(source: u32) -> BuiltChannel {
    BuiltChannel {
        lag: lag_by(Method::GtidMarks, Span::from_millis(12)),
        source: Some(WatchId(source)),
        standing_since: None,
        connecting_since: None,
        heartbeat_ages: vec![],
        writer_silent_for: None,
        counts: true,
    }
}

pub fn mysql97() -> Product {
    Product::from_text("9.7.4", "(Debian)")
}

pub fn mariadb() -> Product {
    Product::from_text("10.11.19-MariaDB-deb12-log", "Debian 12")
}

pub fn known<T>(value: T) -> Answer<T> {
    Answer::Known { value, at: NOW }
}

fn not_asked<T>() -> Answer<T> {
    Answer::NotAsked {
        why: phrase("lag.why.not_polled_yet"),
    }
}

pub fn sample(id: u32) -> Sample {
    Sample {
        asked_at: NOW - Span::from_millis(2),
        answered_at: NOW,
        product: mysql97(),
        identity: Identity {
            server_uuid: Some(format!("0000000{id}-aaaa-11f0-8000-000000000000")),
            server_id: Some(id.into()),
            read_only: Some(false),
            super_read_only: Some(false),
            uptime: Some(Span::from_secs(86_400)),
            connection: Some(8),
            ..Identity::default()
        },
        clock: None,
        gtid: GtidFacts::default(),
        channels: known(vec![]),
        appliers: known(vec![]),
        binlog: not_asked(),
        status: known(Named::default()),
        settings: known(Arc::new(settings())),
        semi_sync: known(SemiSync::default()),
        heartbeat: not_asked(),
        transactions: known(vec![]),
        lock_waits: known(vec![]),
        statements: known(vec![]),
        found_replicas: not_asked(),
        events: known(Arc::new(vec![])),
        binary_logs: not_asked(),
        platform_lag: not_asked(),
        cost: PollCost::default(),
    }
}

fn settings() -> Named {
    let pairs = [
        ("gtid_mode", "ON"),
        ("enforce_gtid_consistency", "ON"),
        ("replica_parallel_workers", "4"),
        ("max_connections", "151"),
        ("event_scheduler", "ON"),
    ];
    Named(
        pairs
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect(),
    )
}

pub fn channel(name: &str) -> Channel {
    Channel {
        name: name.into(),
        source: SourceAddress {
            host: "db-1".into(),
            port: Some(3306),
            uuid: None,
            server_id: Some(1),
        },
        receiver: ThreadState::Running,
        applier: ThreadState::Running,
        receiver_doing: None,
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

pub fn measured(method: Method, value: Span) -> Reading {
    Reading::Measured(Measurement {
        value,
        bound: Some(Span::from_millis(5)),
        method,
        taken_at: NOW,
    })
}

/// A view in which only this method has something to say.
pub fn lag_by(method: Method, value: Span) -> LagView {
    let mut view = without_facts(Reading::unknown(phrase("lag.why.no_method")));
    view.headline = measured(method, value);
    set_method(&mut view, method, measured(method, value));
    view
}

pub fn unknown_lag(why: Phrase) -> LagView {
    without_facts(Reading::unknown(why))
}

pub fn set_method(view: &mut LagView, method: Method, reading: Reading) {
    for (m, r) in &mut view.methods {
        if *m == method {
            *r = reading.clone();
        }
    }
}

pub fn error(number: u32, text: &str) -> ReplicationError {
    ReplicationError {
        number,
        text: text.into(),
        at: None,
    }
}

pub fn trouble(kind: TroubleKind, code: u32, words: &str) -> Trouble {
    Trouble {
        kind,
        what: phrase("trouble.still_hanging").with("words", words),
        hint: None,
        code: Some(code),
        detail: words.into(),
    }
}

pub fn gtids(text: &str) -> Gtids {
    Gtids::parse(text, Flavour::MySql).expect("a GTID set")
}

/// What one rule raises here.
pub fn raised(town: &Town, rule: &Rule) -> Vec<Finding> {
    let finding = |judgement: Judgement| match judgement.verdict {
        Verdict::Raise(finding) => Some(finding),
        _ => None,
    };
    rule.judge(&town.facts())
        .into_iter()
        .filter_map(finding)
        .collect()
}

/// The key of the only finding's text; empty when there is none.
pub fn raised_key(town: &Town, rule: &Rule) -> &'static str {
    match raised(town, rule).as_slice() {
        [] => "",
        [only] => only.text.key,
        many => panic!("more than one: {many:?}"),
    }
}

/// Why the rule cannot tell, the key, once for each subject.
pub fn cannot_tell(town: &Town, rule: &Rule) -> Vec<&'static str> {
    let why = |judgement: Judgement| match judgement.verdict {
        Verdict::CannotTell { why } => Some(why.key),
        _ => None,
    };
    rule.judge(&town.facts())
        .into_iter()
        .filter_map(why)
        .collect()
}
