//! What the forms are tried on: profiles, a store that watches one of them, and answers from outside.

use std::sync::Arc;

use replicascope::lag::HeartbeatReading;
use replicascope::model::event::{Event, LinkState, What};
use replicascope::model::phrase::{Phrase, phrase};
use replicascope::model::profile::*;
use replicascope::model::sample::*;
use replicascope::model::server::{Product, WatchId};
use replicascope::model::time::Moment;
use replicascope::model::trouble::{Trouble, TroubleKind};
use replicascope::store::Store;
use replicascope::store::watched::Registration;
use replicascope::ui::profiles::{QuestionReport, TestReport};

use super::fixtures::Scene;

pub const NOW: Moment = Moment::from_unix_micros(1_760_000_000_000_000);

pub fn orders() -> TopologyProfile {
    let mut orders = TopologyProfile::new(TopologyId("orders".into()), "orders");
    orders.environment = Environment::Production;
    orders.account = Some(Account {
        user: "replicascope".into(),
        secret: SecretSource::Keychain,
    });
    orders.heartbeat = Some(HeartbeatTable::pt_heartbeat("percona", StampZone::Utc));
    for (id, name, address) in [
        ("a", "db-source", "10.20.0.11:3306"),
        ("b", "db-r1", "10.20.0.12:3306"),
        ("c", "", "[2001:db8::13]:3307"),
    ] {
        let address = Target::parse(address).expect("an address").address;
        let mut server = ServerProfile::new(ServerId(id.into()), address);
        server.name = name.into();
        orders.servers.push(server);
    }
    orders.servers[0].role = ExpectedRole::Source;
    orders
}

pub fn billing() -> TopologyProfile {
    let mut billing = TopologyProfile::new(TopologyId("billing".into()), "billing 账务");
    billing.environment = Environment::Staging;
    let address = Address::tcp("bill-1.internal.example", 3306);
    billing
        .servers
        .push(ServerProfile::new(ServerId("b1".into()), address));
    billing
}

/// The orders, watched: what a screen may look at.
pub fn watched_orders(environment: Environment) -> Scene {
    let mut profile = orders();
    profile.environment = environment;
    let mut scene = Scene::of(store_watching(&profile), vec![profile]);
    scene.now = NOW;
    scene
}

/// Watches the source of a topology, which knows of two replicas: one in the profile, one not.
pub fn store_watching(profile: &TopologyProfile) -> Store {
    let mut store = Store::default();
    let server = &profile.servers[0];
    let watch = WatchId(1);
    let registration = Registration {
        watch,
        topology: profile.id.clone(),
        server: server.id.clone(),
        name: server.label(),
        address: server.address.clone(),
        expected_role: server.role,
        expected_channels: Vec::new(),
        thresholds: profile.thresholds.clone(),
        intervals: profile.intervals,
        heartbeat: HeartbeatReading {
            interval: None,
            stamps_are_utc: true,
            ..HeartbeatReading::default()
        },
    };
    store.register(registration, NOW);
    let product = Product::from_text("9.7.4", "");
    let up = What::Link(LinkState::Up { product });
    for what in [up, What::Sampled(Arc::new(sample_with_replicas()))] {
        store.apply(&Event {
            watch,
            at: NOW,
            what,
        });
    }
    store
}

fn sample_with_replicas() -> Sample {
    let replica = |host: &str, port| FoundReplica {
        host: host.into(),
        port: Some(port),
        server_id: None,
        uuid: None,
    };
    let found = vec![replica("10.20.0.12", 3306), replica("10.20.0.14", 3306)];
    Sample {
        asked_at: NOW,
        answered_at: NOW,
        product: Product::from_text("9.7.4", ""),
        identity: Identity::default(),
        clock: None,
        gtid: GtidFacts::default(),
        channels: known(Vec::new()),
        appliers: known(Vec::new()),
        binlog: not_asked(),
        status: not_asked(),
        settings: not_asked(),
        semi_sync: not_asked(),
        heartbeat: not_asked(),
        transactions: known(Vec::new()),
        lock_waits: known(Vec::new()),
        statements: known(Vec::new()),
        found_replicas: known(Arc::new(found)),
        events: not_asked(),
        binary_logs: not_asked(),
        platform_lag: not_asked(),
        cost: PollCost::default(),
    }
}

fn known<T>(value: T) -> Answer<T> {
    Answer::Known { value, at: NOW }
}

fn not_asked<T>() -> Answer<T> {
    Answer::NotAsked {
        why: phrase("lag.why.not_polled_yet"),
    }
}

/// An account that may see the replication status and not the transactions.
pub fn half_allowed() -> TestReport {
    let question = |key: &'static str, result| QuestionReport {
        what: Phrase::new(key),
        result,
    };
    let sql = "GRANT PROCESS ON *.* TO 'replicascope'@'%';";
    let missing = Trouble {
        kind: TroubleKind::MissingPrivilege,
        what: phrase("lag.why.no_replication_status"),
        hint: Some(Phrase::new("test.copy_grant").with("sql", sql)),
        code: Some(1227),
        detail:
            "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation"
                .into(),
    };
    TestReport {
        product: Product::from_text("9.7.4", ""),
        tls: Some(("TLSv1.3".into(), "TLS_AES_128_GCM_SHA256".into())),
        questions: vec![
            question("lag.method.applier", Ok(())),
            question("lag.method.heartbeat", Ok(())),
            question("lag.method.platform", Err(missing)),
        ],
    }
}

pub fn wrong_password() -> Trouble {
    Trouble {
        kind: TroubleKind::AccessDenied,
        what: phrase("secret.keychain.not_text"),
        hint: Some(phrase("test.no_password.hint")),
        code: Some(1045),
        detail: "Access denied for user 'replicascope'@'10.20.0.2' (using password: YES)".into(),
    }
}
