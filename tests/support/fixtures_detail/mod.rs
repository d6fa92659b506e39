//! A small topology for the detail screens, made the way the program makes it: events into a real store.
//!
//! `db-source` with the replicas `db-r1` (healthy) and `db-r2` (as the scene wants it), polled once a second.

mod second;
mod told;

use std::sync::Arc;

use replicascope::lag::HeartbeatReading;
use replicascope::model::event::{Event, LinkState, Mark, Position, WaitOutcome, Waited, What};
use replicascope::model::phrase::phrase;
use replicascope::model::preferences::Preferences;
use replicascope::model::profile::{
    Address, ExpectedRole, Intervals, ServerId, ServerProfile, Thresholds, TopologyId,
    TopologyProfile,
};
use replicascope::model::server::{Product, WatchId};
use replicascope::model::time::{Moment, Span};
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::store::Store;
use replicascope::store::watched::Registration;
use replicascope::ui::Frame;
use replicascope::words::{Catalogue, Language};

use second::Second;
pub use told::refused;

pub const SOURCE: WatchId = WatchId(1);
pub const R1: WatchId = WatchId(2);
pub const R2: WatchId = WatchId(3);

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
            let step = Second { scene, second, at };
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
    fn mark(&mut self, step: &Second) {
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
