//! A comparison of the routing rules as the program runs it, on real servers: roles are swapped under it, and it is quit
//! in the middle.

mod support;

use std::time::{Duration, Instant};

use replicascope::app::comparing::{ComparePlan, Comparing, Servers};
use replicascope::app::conductor::Conductor;
use replicascope::app::dialing;
use replicascope::link::clock;
use replicascope::model::profile::{
    Account, Address, SecretSource, ServerId, ServerProfile, TopologyId, TopologyProfile,
};
use replicascope::model::secret::Secret;
use replicascope::model::server::WatchId;
use replicascope::model::time::Span;
use replicascope::monitor::prober::{EndReason, ProbedServer};
use replicascope::routing::Promise;
use replicascope::routing::demotion::{Lending, WhyNot};
use support::servers::{Node, Topology, wait_until};
use support::watching::QUITS_WITHIN;

const SOON: Duration = Duration::from_secs(30);

/// The program without its window: every server watched, and one comparison under way.
struct Desk {
    conductor: Conductor,
    watches: Vec<WatchId>,
    comparing: Comparing,
}

impl Desk {
    fn start(topology: &Topology, rate: u32) -> Desk {
        let mut profile = TopologyProfile::new(TopologyId("swap".into()), "swap");
        profile.account = Some(Account {
            user: "admin".into(),
            secret: SecretSource::Ask,
        });
        let secret = Secret::new("admin".into());
        profile.servers = topology
            .nodes()
            .iter()
            .map(|node| {
                let address = Address::tcp("127.0.0.1", node.port());
                ServerProfile::new(ServerId(node.port().to_string()), address)
            })
            .collect();
        let mut conductor = Conductor::default();
        let mut probed = Vec::new();
        for server in &profile.servers {
            let dial = dialing::dialer(&profile, server, Some(&secret));
            let watch = conductor.watch(&profile, server, dial).expect("a thread");
            let dial = dialing::probe_dialer(&profile, server, Some(&secret));
            let name = server.label();
            probed.push((watch, ProbedServer { name, dial }));
        }
        let watches: Vec<WatchId> = probed.iter().map(|(watch, _)| *watch).collect();
        let replicas = probed.split_off(1);
        let (_, source) = probed.swap_remove(0);
        look_until(&mut conductor, "the guards to be settled", |conductor| {
            let views = conductor.store.replica_views(&profile.id);
            views.len() == replicas.len() && conductor.store.guards_are_settled(&profile.id)
        });
        let plan = ComparePlan {
            length: Span::from_secs(120),
            rate,
            ..ComparePlan::default()
        };
        let servers = Servers { source, replicas };
        let id = profile.id.clone();
        let comparing = Comparing::start(id, plan, servers, &conductor.store, clock::now());
        Desk {
            conductor,
            watches,
            comparing: comparing.expect("threads"),
        }
    }

    fn look(&mut self) {
        self.conductor
            .take_in_until(Instant::now() + Duration::from_millis(50));
        let now = clock::now();
        self.conductor.store.judge(now);
        self.comparing.take_in(&self.conductor.store, now);
    }

    fn until(&mut self, what: &str, mut seen: impl FnMut(&Desk) -> bool) {
        let give_up_at = Instant::now() + SOON;
        while !seen(self) {
            assert!(Instant::now() < give_up_at, "never seen: {what}");
            self.look();
        }
    }

    fn lending(&self, server: usize) -> Option<Lending> {
        let server = self.conductor.store.watched(self.watches[server])?;
        Some(server.lending.as_ref()?.lending())
    }
}

fn look_until(conductor: &mut Conductor, what: &str, seen: impl Fn(&Conductor) -> bool) {
    let give_up_at = Instant::now() + SOON;
    while !seen(conductor) {
        assert!(Instant::now() < give_up_at, "never seen: {what}");
        conductor.take_in_until(Instant::now() + Duration::from_millis(50));
        conductor.store.judge(clock::now());
    }
}

fn inserted(node: &Node) -> u64 {
    let (_, count): (String, u64) = node.value("SHOW GLOBAL STATUS LIKE 'Com_insert'");
    count
}

fn rows(node: &Node) -> u64 {
    node.value("SELECT COUNT(*) FROM replicascope.probe")
}

/// Of ours, by the account that only we use here.
fn sessions(node: &Node) -> u64 {
    node.value("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'admin'")
}

#[test]
fn on_mysql_a_role_swap_under_a_comparison_stops_its_writes_and_no_strong_rule_returns_old() {
    role_swap(&Topology::mysql().start());
}

#[test]
fn on_mariadb_a_role_swap_under_a_comparison_stops_its_writes_and_no_strong_rule_returns_old() {
    role_swap(&Topology::mariadb().start());
}

fn role_swap(topology: &Topology) {
    let old = topology.source();
    let mut desk = Desk::start(topology, 100);
    desk.until("some writes", |desk| desk.comparing.outcome().writes > 30);
    assert_eq!(desk.lending(0), Some(Lending::Lend));
    let swapping = Instant::now();
    topology.swap_roles(1);
    let before = inserted(old);
    desk.until("its end", |desk| desk.comparing.end.is_some());
    let end = desk.comparing.end.clone().expect("an end");
    let EndReason::Failed(why) = &end.why else {
        panic!("{end:?}")
    };
    assert_eq!(why.what.key, "probe.write.read_only", "{end:?}");
    assert!(matches!(end.clean_up, Some(Err(_))), "{end:?}");
    assert!(
        swapping.elapsed() >= Duration::from_secs(10),
        "it pauses 5 s after each refusal"
    );
    assert_eq!(inserted(old), before, "a demoted source is not written to");
    let outcome = desk.comparing.outcome();
    assert_eq!(outcome.refused, 3);
    for row in &outcome.comparison.rows {
        if row.promise == Promise::Strong {
            assert_eq!(row.stale, 0, "{row:?}");
            assert!(row.judged > 0, "{row:?}");
        }
    }
    desk.until("the new source", |desk| {
        desk.lending(1) == Some(Lending::Lend)
    });
    let stopped = Some(Lending::Stop(WhyNot::ReadOnly));
    assert_eq!(desk.lending(0), stopped);
    let told = desk.conductor.store.journal().entries();
    let told = told.filter(|entry| entry.text.key == "routing.lending.stopped");
    assert_eq!(told.count(), 1);
    desk.comparing.close();
    desk.conductor.close();
}

/// What the window does when it is closed.
#[test]
fn quitting_in_the_middle_leaves_no_rows_and_no_sessions() {
    for plan in [Topology::mysql(), Topology::mariadb()] {
        let topology = plan.replicas(2).start();
        let mut desk = Desk::start(&topology, 200);
        desk.until("many writes", |desk| desk.comparing.outcome().writes > 100);
        assert!(rows(topology.source()) > 50);
        assert!(topology.nodes().iter().all(|node| sessions(node) > 0));
        let Desk {
            mut conductor,
            comparing,
            ..
        } = desk;
        let asked = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| conductor.close());
            scope.spawn(|| comparing.close());
        });
        let took = asked.elapsed();
        assert!(took < QUITS_WITHIN, "{took:?}");
        assert_eq!(rows(topology.source()), 0);
        for node in topology.nodes() {
            wait_until("all sessions to be gone", SOON, || sessions(node) == 0);
        }
    }
}
