//! Servers that die, freeze, hang and refuse: the others keep their rhythm, nothing is made up, and all of it heals by
//! itself. The test that counts this process's threads and file descriptors runs alone.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use replicascope::link::clock;
use replicascope::model::event::LinkState;
use replicascope::model::finding::Health;
use replicascope::model::trouble::TroubleKind;
use serde_json::Value;
use support::proxy::{Manner, Proxy};
use support::servers::{Node, Plan, Topology, wait_until};
use support::watching::{QUITS_WITHIN, View, Watching};

const SOON: Duration = Duration::from_secs(20);

/// Polls of all tests in here.
const INTERVAL: Duration = Duration::from_secs(1);

/// A server that is gone is unknown within two intervals; and a look takes its time.
const UNKNOWN_WITHIN: Duration = Duration::from_millis(2_200);

/// By itself, from the moment the fault is over: the longest back-off is 5 s for servers that are not there.
const HEALED_WITHIN: Duration = Duration::from_secs(15);

/// How long the faults go round, unless REPLICASCOPE_FAULTS_TEN_MINUTES is set.
const ROUNDS: Duration = Duration::from_secs(30);

static COUNTING: RwLock<()> = RwLock::new(());

/// No other test runs: what this process holds can be counted.
fn alone() -> RwLockWriteGuard<'static, ()> {
    COUNTING.write().unwrap_or_else(PoisonError::into_inner)
}

/// No test counts what this process holds.
fn among_others() -> RwLockReadGuard<'static, ()> {
    COUNTING.read().unwrap_or_else(PoisonError::into_inner)
}

/// The sessions of the account monitor on a server, as root counts them.
fn our_sessions(node: &Node) -> Vec<u64> {
    node.rows("SELECT id FROM information_schema.processlist WHERE user = 'monitor'")
}

fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    let mut names: Vec<String> = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect();
    names.sort();
    names
}

fn descriptors() -> Vec<PathBuf> {
    let files = fs::read_dir("/proc/self/fd").expect("this is Linux");
    files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok())
        .collect()
}

fn is_unknown(view: &View<'_>, node: usize) -> bool {
    view.health(node) == Health::Unknown && !view.routable(node) && view.seconds(node).is_none()
}

fn watch_through(topology: &Topology, node: usize, proxy: &Proxy) -> Watching {
    Watching::of(topology)
        .poll_every(INTERVAL)
        .mark_every(Duration::from_millis(100))
        .at(node, proxy.address())
        .start()
}

/// While the fault lasts: the server is unknown within two intervals and stays so, and the others keep their rhythm.
#[track_caller]
fn unknown_while(watching: &mut Watching, node: usize, what: &str, lasts: Duration) {
    watching.look();
    let from = clock::now();
    let taken = watching.until(&format!("{what}: the state to be unknown"), SOON, |view| {
        is_unknown(view, node)
    });
    // On a busy machine we wait for our turn as the polls do.
    let stall = watching.longest_stall(from);
    assert!(
        taken <= UNKNOWN_WITHIN + stall,
        "{what}: unknown after {taken:?} only"
    );
    let others: Vec<usize> = (0..3).filter(|other| *other != node).collect();
    watching.always(
        &format!("{what}: unknown, and the others in touch"),
        lasts,
        |view| is_unknown(view, node) && others.iter().all(|other| view.is_up(*other)),
    );
    let stall = watching.longest_stall(from);
    for other in others {
        let pause = watching.longest_pause(other, from);
        assert!(
            pause <= INTERVAL * 2 + stall,
            "{what}: server {other} was not read for {pause:?}"
        );
    }
}

#[track_caller]
fn heals(watching: &mut Watching, what: &str) {
    let taken = watching.until_well(SOON);
    assert!(taken <= HEALED_WITHIN, "{what}: healed after {taken:?}");
    eprintln!("{what}: healed after {taken:?}");
}

fn down_by(view: &View<'_>, node: usize) -> Option<TroubleKind> {
    match &view.watched(node).link {
        LinkState::Down { trouble, .. } => Some(trouble.kind),
        _ => None,
    }
}

fn faults_of_one_server_stay_its_own(plan: Plan) {
    let _uncounted = among_others();
    let topology = plan.replicas(2).start();
    let proxy = Proxy::before(topology.node(1).port());
    let mut watching = watch_through(&topology, 1, &proxy);
    watching.until_well(SOON);

    proxy.set(Manner::Hold);
    unknown_while(
        &mut watching,
        1,
        "a peer that goes silent",
        Duration::from_secs(8),
    );
    proxy.set(Manner::Pass);
    heals(&mut watching, "a peer that goes silent");
    let at_most_two = |node: &Node| {
        wait_until("old sessions to be gone", SOON, || {
            our_sessions(node).len() <= 2
        });
    };
    at_most_two(topology.node(1));

    cut(&proxy, &mut watching);
    heals(&mut watching, "connections cut");

    proxy.set(Manner::Refuse);
    unknown_while(
        &mut watching,
        1,
        "a port that refuses",
        Duration::from_secs(4),
    );
    watching.until("the refusal to be told", SOON, |view| {
        down_by(view, 1) == Some(TroubleKind::Unreachable)
    });
    proxy.set(Manner::Pass);
    heals(&mut watching, "a port that refuses");

    topology.node(1).kill();
    unknown_while(&mut watching, 1, "kill -9", Duration::from_secs(2));
    topology.node(1).restart();
    heals(&mut watching, "kill -9");

    topology.node(2).stop_process();
    unknown_while(&mut watching, 2, "SIGSTOP", Duration::from_secs(10));
    topology.node(2).continue_process();
    heals(&mut watching, "SIGSTOP");
    at_most_two(topology.node(2));
    assert!(watching.close() < QUITS_WITHIN);
}

#[test]
fn r36_r37_mysql_faults_of_one_server_stay_its_own() {
    faults_of_one_server_stay_its_own(Topology::mysql());
}

#[test]
fn r36_r37_mariadb_faults_of_one_server_stay_its_own() {
    faults_of_one_server_stay_its_own(Topology::mariadb());
}

/// Too many connections: the server answers, and takes nobody in.
#[test]
fn a_full_server_is_unknown_until_there_is_room() {
    let _uncounted = among_others();
    let topology = Topology::mysql().replicas(2).start();
    let mut watching = Watching::of(&topology).poll_every(INTERVAL).start();
    watching.until_well(SOON);
    let server = topology.node(1);
    let sessions = our_sessions(server);
    let mut root = server.session();
    let mut tell = |statement: &str| root.query_drop(statement).expect("root may all");
    tell("SET GLOBAL max_connections = 1");
    sessions
        .iter()
        .for_each(|session| tell(&format!("KILL {session}")));
    unknown_while(&mut watching, 1, "1040", Duration::from_secs(4));
    watching.until("the refusal to be told with its number", SOON, |view| {
        matches!(
            &view.watched(1).link,
            LinkState::Down { trouble, .. }
                if (trouble.kind, trouble.code) == (TroubleKind::Refusing, Some(1040))
        )
    });
    tell("SET GLOBAL max_connections = 100");
    heals(&mut watching, "1040");
}

#[test]
fn a_dead_source_leaves_its_replicas_unknown_and_not_late() {
    let _uncounted = among_others();
    let topology = Topology::mysql().replicas(2).start();
    let mut watching = Watching::of(&topology).poll_every(INTERVAL).start();
    watching.until_well(SOON);
    topology.source().stop_process();
    // Its replicas go on to say 0 for their whole net time-out.
    watching.until("the replicas to be unknown", SOON, |view| {
        (0..3).all(|node| is_unknown(view, node))
    });
    watching.look();
    let pause_from = clock::now();
    watching.always(
        "nobody vouches for a replica",
        Duration::from_secs(3),
        |view| {
            [1, 2]
                .iter()
                .all(|node| !view.routable(*node) && view.is_up(*node))
        },
    );
    for node in [1, 2] {
        let pause = watching.longest_pause(node, pause_from);
        assert!(
            pause <= INTERVAL * 2 + watching.longest_stall(pause_from),
            "{pause:?}"
        );
    }
    topology.source().continue_process();
    heals(&mut watching, "a frozen source");
}

/// Closes the watch while a fault holds its threads.
fn closes_quickly_in(what: &str, topology: &Topology, fault: impl Fn(&Proxy)) {
    let proxy = Proxy::before(topology.node(1).port());
    let mut watching = watch_through(topology, 1, &proxy);
    watching.until_well(SOON);
    fault(&proxy);
    watching.always("the fault lasts", Duration::from_millis(1_500), |_| true);
    let taken = watching.close();
    assert!(taken < QUITS_WITHIN, "{what}: closed after {taken:?}");
}

#[test]
fn quitting_waits_for_no_answer_at_any_moment() {
    let _uncounted = among_others();
    let topology = Topology::mysql().replicas(2).start();
    closes_quickly_in("well", &topology, |_| {});
    closes_quickly_in("silent", &topology, |proxy| proxy.set(Manner::Hold));
    closes_quickly_in("refusing", &topology, |proxy| proxy.set(Manner::Refuse));
    let held = Proxy::before(topology.node(1).port());
    held.set(Manner::Hold);
    let mut watching = watch_through(&topology, 1, &held);
    watching.always("it never answers", Duration::from_secs(1), |view| {
        !view.is_up(1)
    });
    let taken = watching.close();
    assert!(taken < QUITS_WITHIN, "a handshake that hangs: {taken:?}");

    held.set(Manner::Pass);
    let mut program = watch_command(&topology, &held);
    let mut lines = BufReader::new(program.stdout.take().expect("a pipe")).lines();
    // Both servers answer: it watches.
    let answered = lines.by_ref().map_while(Result::ok).filter(|line| {
        let told: Value = serde_json::from_str(line).expect("JSON");
        told["server"] == held.address().to_string() && told["age"].is_number()
    });
    assert!(answered.take(1).count() == 1, "it ended");
    std::thread::spawn(move || lines.for_each(drop)); // so that it can go on writing
    held.set(Manner::Hold);
    std::thread::sleep(Duration::from_millis(700)); // it waits for an answer
    let asked = Instant::now();
    // SAFETY: a plain system call; the process is our child and not waited for yet.
    unsafe { libc::kill(program.id().cast_signed(), libc::SIGTERM) };
    let status = program.wait().expect("it is our child");
    assert!(asked.elapsed() < QUITS_WITHIN, "{:?}", asked.elapsed());
    assert!(status.success(), "{status}");
}

fn watch_command(topology: &Topology, proxy: &Proxy) -> Child {
    Command::new(env!("CARGO_BIN_EXE_replicascope"))
        .args([
            "watch",
            "--json",
            "--user",
            "monitor",
            "--interval",
            "200ms",
        ])
        .args([
            "--server",
            &format!("127.0.0.1:{}", topology.source().port()),
        ])
        .args(["--server", &proxy.address().to_string()])
        .env("REPLICASCOPE_PASSWORD", "monitor")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Longer than any answer is waited for: the session is given up.
const GIVEN_UP: Duration = Duration::from_millis(5_500);

/// One of the things that can happen to a server and the way to it.
fn one_round(topology: &Topology, proxy: &Proxy, watching: &mut Watching, round: usize) {
    let server = topology.node(1);
    match round % KINDS {
        0 => {
            proxy.set(Manner::Hold);
            unknown_while(watching, 1, "silence", GIVEN_UP);
            proxy.set(Manner::Pass);
        }
        1 => cut(proxy, watching),
        2 => {
            proxy.set(Manner::Refuse);
            unknown_while(watching, 1, "refusal", Duration::from_millis(500));
            proxy.set(Manner::Pass);
        }
        3 => {
            server.stop_process();
            unknown_while(watching, 1, "freeze", GIVEN_UP);
            server.continue_process();
        }
        _ => {
            server.kill();
            unknown_while(watching, 1, "kill -9", Duration::from_millis(500));
            server.restart();
        }
    }
    heals(watching, "a round");
}

const KINDS: usize = 5;

/// Cuts the connections, and waits until that was noticed.
fn cut(proxy: &Proxy, watching: &mut Watching) {
    let since = watching.view().watched(1).link_since;
    proxy.drop_connections();
    watching.until("the cut to be noticed", SOON, |view| {
        view.watched(1).link_since != since
    });
}

#[test]
fn faults_for_half_a_minute_or_ten_leave_nothing_behind() {
    let _alone = alone();
    let ten_minutes = std::env::var_os("REPLICASCOPE_FAULTS_TEN_MINUTES").is_some();
    let time = if ten_minutes {
        Duration::from_secs(600)
    } else {
        eprintln!(
            "*** FAULTS FOR HALF A MINUTE ONLY: set REPLICASCOPE_FAULTS_TEN_MINUTES=1 FOR TEN ***"
        );
        ROUNDS
    };
    let topology = Topology::mysql().replicas(2).start();
    let proxy = Proxy::before(topology.node(1).port());
    let mut watching = watch_through(&topology, 1, &proxy);
    watching.until_well(SOON);
    // Every kind once, so that what is started at first need is there.
    for round in 0..KINDS {
        one_round(&topology, &proxy, &mut watching, round);
    }
    let settled = |watching: &mut Watching| {
        watching.always("all stay in touch", Duration::from_secs(3), |view| {
            (0..3).all(|node| view.is_up(node))
        });
        (threads(), descriptors())
    };
    let before = settled(&mut watching);
    let started = Instant::now();
    let mut rounds = 0;
    while started.elapsed() < time {
        one_round(&topology, &proxy, &mut watching, rounds);
        rounds += 1;
        for node in topology.nodes() {
            wait_until(
                "at most two sessions of ours",
                Duration::from_secs(10),
                || our_sessions(node).len() <= 2,
            );
        }
    }
    let after = settled(&mut watching);
    eprintln!(
        "{rounds} faults: {} threads before, {} after; {} descriptors before, {} after",
        before.0.len(),
        after.0.len(),
        before.1.len(),
        after.1.len()
    );
    assert!(rounds >= KINDS, "{rounds} rounds prove little");
    assert!(
        after.0.len() <= before.0.len(),
        "threads grew:\n{:?}\n{:?}",
        before.0,
        after.0
    );
    assert!(
        after.1.len() <= before.1.len(),
        "descriptors grew:\n{:?}\n{:?}",
        before.1,
        after.1
    );
}

/// The server's own counts of connections that went wrong.
fn connection_errors(node: &Node) -> (u64, u64) {
    let aborted: (String, u64) = node.value("SHOW GLOBAL STATUS LIKE 'Aborted_connects'");
    let of_hosts = node
        .value("SELECT CAST(COALESCE(SUM(sum_connect_errors), 0) AS UNSIGNED) FROM performance_schema.host_cache");
    (aborted.1, of_hosts)
}

#[test]
fn r38_a_thousand_polls_leave_no_connection_errors() {
    const POLLS: usize = 1_000;
    let _uncounted = among_others();
    // With skip-name-resolve a server keeps no host cache.
    let topology = Topology::mysql()
        .replicas(1)
        .extra_config("skip-name-resolve = OFF")
        .start();
    let before: Vec<_> = topology.nodes().iter().map(connection_errors).collect();
    for _ in 0..2 {
        let mut watching = Watching::of(&topology)
            .poll_every(Duration::from_millis(20))
            .mark_every(Duration::from_millis(20))
            .start();
        let mut polls = 0;
        let deadline = Instant::now() + Duration::from_secs(180);
        while polls < POLLS / 2 {
            watching.look();
            polls = watching.polls_seen(0).min(watching.polls_seen(1));
            assert!(Instant::now() < deadline, "{polls} polls in 180 s");
        }
        watching.close();
    }
    let after: Vec<_> = topology.nodes().iter().map(connection_errors).collect();
    assert_eq!(before, after);
}
