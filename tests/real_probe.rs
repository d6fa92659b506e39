//! The write-then-read probe on real servers: with lag made in every way, the plain read is seen stale and the waited one
//! never is; whatever a wait comes to leads to the source and is counted by kind.

mod support;

use std::thread;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use replicascope::model::probe::{
    Awaited, Met, ProbeFlavour, ProbePlan, ReadDelay, ReadFrom, Reader, TokenFrom, Verdict,
    WaitKind,
};
use replicascope::model::time::Span;
use replicascope::monitor::prober::EndReason;
use support::probing::{Probed, Probing, server};
use support::servers::{Flavour, Node, Topology, wait_until};

const SOON: Duration = Duration::from_secs(20);

/// Where nothing holds a replica up but a busy machine.
const PATIENT: Span = Span::from_secs(10);

fn plan(flavour: ProbeFlavour, runs: u32) -> ProbePlan {
    ProbePlan {
        flavour,
        runs,
        rate: 100.0,
        wait_limit: Span::from_millis(400),
        ..ProbePlan::default()
    }
}

fn start(topology: &Topology, plan: ProbePlan) -> Probing {
    let of = |node: &Node| server(node.port(), "admin", "admin");
    let replicas = topology.replicas().map(of).collect();
    Probing::start(plan, of(topology.source()), replicas)
}

fn probe(topology: &Topology, plan: ProbePlan) -> Probed {
    start(topology, plan).until_end()
}

/// Probes with the fault there, and without it before and after.
fn with_fault(
    topology: &Topology,
    plan: &ProbePlan,
    fault: impl FnOnce(),
    heal: impl FnOnce(),
) -> Probed {
    let mut under_way = start(
        topology,
        ProbePlan {
            runs: 10_000,
            rate: 10.0,
            ..plan.clone()
        },
    );
    under_way.until_runs(1).expect("a run before the fault");
    fault();
    under_way.take_in_all();
    let seen = under_way.runs.len();
    under_way
        .until_runs(seen + 1 + plan.runs as usize)
        .expect("runs with the fault");
    under_way.prober.stop();
    let probed = under_way.until_end();
    heal();
    topology.replicating();
    assert_eq!(probed.end.why, EndReason::Stopped);
    assert!(
        matches!(probed.end.clean_up, Some(Ok(()))),
        "{:?}",
        probed.end
    );
    probed
}

fn count(probed: &Probed, replica: usize, kind: WaitKind) -> u64 {
    let outcomes = &probed.summary.replicas[replica].outcomes;
    outcomes.get(&kind).copied().unwrap_or_default()
}

fn rows_left(topology: &Topology) -> u64 {
    topology
        .source()
        .value("SELECT COUNT(*) FROM replicascope.probe")
}

/// The probe's table is made by the first probe: a replica that is late has not even that.
fn first_probe_of_a_late_replica(topology: &Topology) {
    let replica = topology.node(1);
    replica.sql("STOP REPLICA SQL_THREAD");
    for flavour in [ProbeFlavour::Insert, ProbeFlavour::Update] {
        let probed = probe(topology, plan(flavour, 2));
        probed.all_ran().waited_reads_are_never_stale();
        assert_eq!(probed.plain(0), [Verdict::Missing; 2], "{flavour:?}");
    }
    replica.sql("START REPLICA SQL_THREAD");
    topology.replicating();
}

fn quiet_topology(topology: &Topology) {
    for flavour in [ProbeFlavour::Insert, ProbeFlavour::Update] {
        for awaited in [Awaited::OwnGtid, Awaited::WholeSet] {
            let plan = ProbePlan {
                awaited,
                measures_floor: true,
                wait_limit: PATIENT,
                ..plan(flavour, 10)
            };
            let probed = probe(topology, plan);
            probed.all_ran().waited_reads_are_never_stale();
            let wanted = match awaited {
                Awaited::OwnGtid => TokenFrom::Session,
                Awaited::WholeSet => TokenFrom::ExecutedSet,
            };
            for run in &probed.runs {
                let write = run.write.as_ref().expect("written");
                assert_eq!(write.token.as_ref().expect("a GTID").from, wanted);
                let source = run.source.as_ref().expect("read");
                assert_eq!(source.verdict(&run.value), Verdict::Fresh);
                for replica in &run.replicas {
                    assert_eq!(replica.waited.wait.kind, WaitKind::Reached, "{run:#?}");
                    assert_eq!(replica.waited.read.session, replica.waited.wait.session);
                    assert_ne!(replica.plain.session, replica.waited.read.session);
                    let seen = replica.first_visible.expect("seen");
                    assert!(seen > write.committed_at - Span::from_millis(1));
                }
            }
        }
    }
    let other = ProbePlan {
        reader: Reader::SomebodyElse,
        wait_limit: PATIENT,
        ..plan(ProbeFlavour::Update, 5)
    };
    let probed = probe(topology, other);
    probed.all_ran().waited_reads_are_never_stale();
    assert_eq!(count(&probed, 0, WaitKind::Reached), 5);
    assert_eq!(rows_left(topology), 0);
}

/// T-8: no wait is sent to an applier that does not run.
fn stopped_applier(topology: &Topology, flavour: ProbeFlavour, stale: Verdict) {
    let replica = topology.node(1);
    let probed = with_fault(
        topology,
        &plan(flavour, 4),
        || replica.sql("STOP REPLICA SQL_THREAD"),
        || replica.sql("START REPLICA SQL_THREAD"),
    );
    probed.waited_reads_are_never_stale();
    assert_eq!(probed.plain(0).last(), Some(&stale));
    assert!(
        count(&probed, 0, WaitKind::NotRunning) >= 2,
        "{:?}",
        probed.summary
    );
    // The other replica goes on.
    assert_eq!(probed.summary.replicas[1].read_from_source, 0);
}

/// Lets reads of the probe's table through and holds the applier up.
struct Lock(std::cell::RefCell<mysql::Conn>);

impl Lock {
    fn on(node: &Node) -> Self {
        Lock(node.session().into())
    }

    fn take(&self) {
        self.say("LOCK TABLES replicascope.probe READ");
    }

    fn release(&self) {
        self.say("UNLOCK TABLES");
    }

    fn say(&self, sql: &str) {
        self.0.borrow_mut().query_drop(sql).expect("done");
    }
}

/// A reader's lock lets reads through and holds the applier up: the wait uses up its limit.
fn lock(topology: &Topology) {
    let replica = topology.node(1);
    let lock = Lock::on(replica);
    let probed = with_fault(
        topology,
        &plan(ProbeFlavour::Update, 3),
        || lock.take(),
        || lock.release(),
    );
    probed.waited_reads_are_never_stale();
    assert_eq!(probed.plain(0).last(), Some(&Verdict::Old));
    assert!(
        count(&probed, 0, WaitKind::TimedOut) >= 2,
        "{:?}",
        probed.summary
    );
    let last = &probed.runs.last().expect("runs").replicas[0].waited;
    assert_eq!(last.read_from, ReadFrom::Source);
    let waited = last.wait.length().expect("a wait").to_duration();
    assert!(waited >= Duration::from_millis(390) && waited < Duration::from_secs(5));
}

fn delay(topology: &Topology) {
    let replica = topology.node(1);
    let set = |seconds: u32| {
        let change = match replica.flavour() {
            Flavour::MySql => format!("CHANGE REPLICATION SOURCE TO SOURCE_DELAY={seconds}"),
            Flavour::MariaDb => format!("CHANGE MASTER TO MASTER_DELAY={seconds}"),
        };
        let threads = match replica.flavour() {
            Flavour::MySql => "REPLICA SQL_THREAD",
            Flavour::MariaDb => "REPLICA",
        };
        replica.sql(&format!("STOP {threads}; {change}; START {threads}"));
    };
    let insert = plan(ProbeFlavour::Insert, 3);
    let probed = with_fault(topology, &insert, || set(2), || set(0));
    probed.waited_reads_are_never_stale();
    assert_eq!(probed.plain(0).last(), Some(&Verdict::Missing));
    assert!(
        count(&probed, 0, WaitKind::TimedOut) >= 2,
        "{:?}",
        probed.summary
    );
}

/// One transaction of many rows, behind which the probe's own must wait.
fn big_transaction(topology: &Topology) {
    let source = topology.source();
    source.sql(
        "CREATE DATABASE big; CREATE TABLE big.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200)); \
         INSERT INTO big.t (v) VALUES (REPEAT('x', 200))",
    );
    for _ in 0..16 {
        source.sql("INSERT INTO big.t (v) SELECT v FROM big.t");
    }
    topology.replicating();
    let mut under_way = start(
        topology,
        ProbePlan {
            runs: 5_000,
            ..plan(ProbeFlavour::Update, 1)
        },
    );
    under_way.until_runs(1).expect("a run");
    source.sql("UPDATE big.t SET v = REPEAT('y', 200)");
    under_way.take_in_all();
    let seen = under_way.runs.len();
    under_way.until_runs(seen + 4).expect("runs");
    under_way.prober.stop();
    let probed = under_way.until_end();
    probed.waited_reads_are_never_stale();
    assert!(
        probed.plain(0).contains(&Verdict::Old),
        "{:?}",
        probed.plain(0)
    );
    source.sql("DROP DATABASE big");
    topology.replicating();
}

/// Ends the wait that runs on a server, as `how` says, again and again until told to stop.
fn while_ending_waits(node: &Node, how: &str, work: impl FnOnce()) {
    let stop = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = node.session();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let waiting: Vec<u64> = session
                    .query(
                        "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() \
                         AND (info LIKE '%SELECT WAIT_FOR_EXEC%' OR info LIKE '%SELECT MASTER_GTID_W%')",
                    )
                    .unwrap_or_default();
                for id in waiting {
                    let _ = session.query_drop(format!("{how} {id}"));
                }
                thread::sleep(Duration::from_millis(50));
            }
        });
        work();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// R20 and its relatives as the servers really say them.
fn ends_of_waits(topology: &Topology) {
    let replica = topology.node(1);
    let lock = Lock::on(replica);
    let slow = ProbePlan {
        wait_limit: Span::from_secs(3),
        ..plan(ProbeFlavour::Update, 2)
    };
    for (how, kinds) in [
        ("KILL QUERY", [WaitKind::Killed, WaitKind::Killed]),
        ("KILL", [WaitKind::Lost, WaitKind::Lost]),
    ] {
        let mut probed = None;
        while_ending_waits(replica, how, || {
            probed = Some(with_fault(
                topology,
                &slow,
                || lock.take(),
                || lock.release(),
            ));
        });
        let probed = probed.expect("probed");
        probed.waited_reads_are_never_stale();
        assert!(
            kinds.iter().any(|kind| count(&probed, 0, *kind) > 0),
            "{how}: {:?}",
            probed.summary
        );
    }
    let (limit, none) = match replica.flavour() {
        Flavour::MySql => ("max_execution_time = 300", "max_execution_time = 0"),
        Flavour::MariaDb => ("max_statement_time = 0.3", "max_statement_time = 0"),
    };
    replica.sql(&format!("SET GLOBAL {limit}"));
    let probed = with_fault(topology, &slow, || lock.take(), || lock.release());
    replica.sql(&format!("SET GLOBAL {none}"));
    probed.waited_reads_are_never_stale();
    assert!(
        count(&probed, 0, WaitKind::CutShort) > 0,
        "{:?}",
        probed.summary
    );
    let code = probed.runs.iter().find_map(|run| {
        let wait = &run.replicas[0].waited.wait;
        (wait.kind == WaitKind::CutShort).then_some(wait.code)
    });
    let wanted = match replica.flavour() {
        Flavour::MySql => 3024,
        Flavour::MariaDb => 1969,
    };
    assert_eq!(code, Some(Some(wanted)));
}

/// A server that freezes in the middle of a wait: our own limit ends it, and the connection is not used again.
fn frozen(topology: &Topology) {
    let replica = topology.node(1);
    let probed = with_fault(
        topology,
        &plan(ProbeFlavour::Insert, 2),
        || replica.stop_process(),
        || replica.continue_process(),
    );
    probed.waited_reads_are_never_stale();
    let kinds = [WaitKind::NoAnswer, WaitKind::Unreachable];
    let not_there: u64 = kinds.iter().map(|kind| count(&probed, 0, *kind)).sum();
    assert!(not_there > 0, "{:?}", probed.summary);
    assert_eq!(probed.summary.replicas[1].read_from_source, 0);
}

fn killed(topology: &Topology) {
    let replica = topology.node(1);
    let probed = with_fault(
        topology,
        &plan(ProbeFlavour::Insert, 3),
        || replica.kill(),
        || replica.restart(),
    );
    probed.waited_reads_are_never_stale();
    let kinds = [WaitKind::Lost, WaitKind::Unreachable, WaitKind::NotRunning];
    let not_there: u64 = kinds.iter().map(|kind| count(&probed, 0, *kind)).sum();
    assert!(not_there >= 2, "{:?}", probed.summary);
    assert_eq!(probed.plain(0).last(), Some(&Verdict::Failed));
}

/// R44: after a planned switch-over the old source is not written to any more, and no read is stale on the way.
fn role_swap(topology: &Topology) {
    let old = topology.source();
    let mut under_way = start(
        topology,
        ProbePlan {
            runs: 10_000,
            rate: 50.0,
            ..plan(ProbeFlavour::Update, 1)
        },
    );
    under_way.until_runs(5).expect("runs before the swap");
    let began = Instant::now();
    topology.swap_roles(1);
    let inserted =
        |node: &Node| -> (String, u64) { node.value("SHOW GLOBAL STATUS LIKE 'Com_update'") };
    let before = inserted(old).1;
    let probed = under_way.until_end();
    probed.waited_reads_are_never_stale();
    let EndReason::Failed(why) = &probed.end.why else {
        panic!("{:?}", probed.end)
    };
    assert_eq!(why.what.key, "probe.write.read_only");
    assert!(
        began.elapsed() >= Duration::from_secs(10),
        "it pauses 5 s after each refusal"
    );
    assert_eq!(probed.summary.writes_failed, 3);
    assert_eq!(
        inserted(old).1,
        before,
        "a demoted source is not written to"
    );
}

#[test]
fn on_mysql_the_plain_read_is_seen_stale_and_the_waited_one_never_is() {
    on(Topology::mysql().start());
}

#[test]
fn on_mariadb_the_plain_read_is_seen_stale_and_the_waited_one_never_is() {
    on(Topology::mariadb().start());
}

fn on(topology: Topology) {
    let say = |what: &str| eprintln!("{:?}: {what}", topology.source().flavour());
    say("first probe");
    first_probe_of_a_late_replica(&topology);
    say("quiet");
    quiet_topology(&topology);
    say("stopped applier");
    stopped_applier(&topology, ProbeFlavour::Insert, Verdict::Missing);
    stopped_applier(&topology, ProbeFlavour::Update, Verdict::Old);
    say("lock");
    lock(&topology);
    say("delay");
    delay(&topology);
    say("big transaction");
    big_transaction(&topology);
    say("ends of waits");
    ends_of_waits(&topology);
    say("frozen");
    frozen(&topology);
    say("killed");
    killed(&topology);
    say("role swap");
    role_swap(&topology);
}

#[test]
fn a_missing_privilege_is_named_and_its_grant_is_enough() {
    let topology = Topology::mysql().replicas(1).start();
    let of = |node: &Node| server(node.port(), "monitor", "monitor");
    let source = of(topology.source());
    let replicas = vec![of(topology.node(1))];
    let probed = Probing::start(
        plan(ProbeFlavour::Insert, 1),
        source.clone(),
        replicas.clone(),
    );
    let probed = probed.until_end();
    let EndReason::Failed(why) = probed.end.why else {
        panic!("{:?}", probed.end)
    };
    let hint = why.hint.expect("the GRANT");
    let grant = "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `replicascope`.* TO 'monitor'@'%'";
    assert!(format!("{hint:?}").contains(grant), "{hint:?}");
    topology.source().sql(grant);
    topology.replicating();
    let probed = Probing::start(plan(ProbeFlavour::Insert, 2), source, replicas).until_end();
    probed.all_ran().waited_reads_are_never_stale();
    assert_eq!(probed.summary.replicas[0].waited.fresh, 2);
}

#[test]
fn a_sweep_gives_a_curve_that_falls_with_time() {
    let topology = Topology::mysql().replicas(1).delay(1, 1).start();
    let table = ProbePlan {
        runs: 1,
        ..plan(ProbeFlavour::Insert, 1)
    };
    probe(&topology, table);
    wait_until("the table to be on the replica", SOON, || {
        topology
            .node(1)
            .try_sql("SELECT 1 FROM replicascope.probe")
            .is_ok()
    });
    let sweep = ProbePlan {
        wait_limit: Span::from_secs(4),
        read_delay: ReadDelay::Swept {
            up_to: Some(Span::from_secs(4)),
        },
        ..plan(ProbeFlavour::Insert, 15)
    };
    let probed = probe(&topology, sweep);
    probed.all_ran().waited_reads_are_never_stale();
    let readiness = probed.readiness.as_ref().expect("told");
    assert!(
        readiness.source.iter().all(|need| need.met == Met::Yes),
        "{readiness:?}"
    );
    // A delay of 1 s in whole seconds takes one or two; a busy machine adds to it.
    let curve = probed.summary.replicas[0].curve(5);
    let (first, last) = (
        curve.first().expect("points"),
        curve.last().expect("points"),
    );
    assert_eq!(first.share.value, 1.0, "{curve:?}");
    assert_eq!(last.share.value, 0.0, "{curve:?}");
    assert!(last.share.high < 1.0 && first.share.low > 0.0);
}
