//! What watching costs: our CPU time and our statements per server and second, and the CPU time that the servers spend on
//! us. A source and two replicas under a light write load, polled once a second and marked four times a second.
//!
//! Where dolphie is installed (on PATH, or named by DOLPHIE), it watches the same servers afterwards, one daemon per server
//! as it wants it, and the ratio is printed.
//!
//! `cargo bench --bench poll_cost [-- mysql|mariadb]`, two to four minutes per flavour.

mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::ffi::OsString;
use std::fs::File;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;

use measure::{Aims, Limit, WATCHER, Watching, cpu_time};
use support::servers::{Flavour, Node, Topology};

const WRITE_EVERY: Duration = Duration::from_millis(50);
/// Connecting and finding out what each server can is not what watching costs.
const SETTLE: Duration = Duration::from_secs(5);
const WINDOW: Duration = Duration::from_secs(60);
const WINDOW_ALONE: Duration = Duration::from_secs(30);
/// The account for dolphie alone, so that its statements can be told from ours.
const PEER: &str = "admin";

fn main() -> ExitCode {
    let Some(words) = measure::words() else {
        return ExitCode::SUCCESS;
    };
    let mut aims = Aims::default();
    for flavour in measure::flavours(&words) {
        run(flavour, &mut aims);
    }
    aims.exit_if_optimised()
}

fn run(flavour: Flavour, aims: &mut Aims) {
    let topology = measure::plan(flavour).replicas(2).start();
    topology.source().sql(
        "CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(50))",
    );
    topology.replicating();
    println!(
        "poll_cost: {}, source + 2 replicas, {}",
        measure::title(topology.source()),
        measure::build()
    );

    let stop = AtomicBool::new(false);
    let (alone, ours, peer) = thread::scope(|scope| {
        scope.spawn(|| write_lightly(topology.source(), &stop));
        thread::sleep(SETTLE);
        let alone = Window::open(&topology, &[], "nobody").close_after(WINDOW_ALONE);
        let ours = watch(&topology);
        let peer = dolphie().map(|program| watch_with_dolphie(&program, &topology));
        stop.store(true, Ordering::Relaxed);
        (alone, ours, peer)
    });
    let name = flavour.name();
    ours.print("replicascope", &alone);
    aims.judge(
        &format!("{name}: CPU ms per server and second"),
        ours.own_cpu_ms,
        Limit::AtMost(1.1),
    );
    aims.judge(
        &format!("{name}: statements per server and second"),
        ours.statements,
        Limit::AtMost(9.0),
    );
    match peer {
        Some(peer) => {
            peer.print("dolphie, daemon mode", &alone);
            println!(
                "  dolphie/replicascope: CPU time {:.1}",
                peer.own_cpu_ms / ours.own_cpu_ms
            );
        }
        None => {
            println!("  *** dolphie is neither on PATH nor named by DOLPHIE: no ratio to it ***")
        }
    }
}

fn write_lightly(source: &Node, stop: &AtomicBool) {
    let mut session = source.session();
    while !stop.load(Ordering::Relaxed) {
        session
            .query_drop("INSERT INTO shop.orders (pad) VALUES ('x')")
            .expect("the source takes writes");
        thread::sleep(WRITE_EVERY);
    }
}

fn watch(topology: &Topology) -> Cost {
    let mut program = Watching::start(topology.nodes(), "1s", "250ms");
    let lines = program.lines();
    let reader = thread::spawn(move || {
        lines
            .filter(|line| line["lag"]["state"] == "measured")
            .count()
    });
    thread::sleep(SETTLE);
    let cost = Window::open(topology, &[program.id()], WATCHER).close_after(WINDOW);
    drop(program);
    let measured = reader.join().expect("every line is JSON");
    // A program that fails to watch is cheap.
    let expected = WINDOW.as_secs() as usize * topology.replicas().count();
    assert!(
        measured >= expected * 9 / 10,
        "only {measured} of {expected} readings of lag were measured"
    );
    cost
}

/// The program named by DOLPHIE, or the one on PATH.
fn dolphie() -> Option<OsString> {
    let program = std::env::var_os("DOLPHIE").unwrap_or_else(|| "dolphie".into());
    let answer = Command::new(&program).arg("--version").output().ok()?;
    println!(
        "  beside it: {}",
        String::from_utf8_lossy(&answer.stdout).trim()
    );
    Some(program)
}

fn watch_with_dolphie(program: &OsString, topology: &Topology) -> Cost {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut daemons: Vec<Child> = topology
        .nodes()
        .iter()
        .map(|node| start_dolphie(program, node, folder.path()))
        .collect();
    thread::sleep(SETTLE);
    let processes: Vec<u32> = daemons.iter().map(Child::id).collect();
    let cost = Window::open(topology, &processes, PEER).close_after(WINDOW);
    daemons.iter_mut().for_each(measure::end);
    cost
}

fn start_dolphie(program: &OsString, node: &Node, folder: &std::path::Path) -> Child {
    let of_this_server = |name: &str| folder.join(format!("{}-{name}", node.index()));
    let output = File::create(of_this_server("output")).expect("the folder is writable");
    let mut command = Command::new(program);
    command.args(["--daemon", "--refresh-interval", "1", "--host", "127.0.0.1"]);
    command.args([
        "--user",
        PEER,
        "--password",
        PEER,
        "--port",
        &node.port().to_string(),
    ]);
    command.arg("--daemon-log-file").arg(of_this_server("log"));
    command.arg("--replay-dir").arg(of_this_server("replay"));
    command
        .stdin(Stdio::null())
        .stderr(output.try_clone().expect("an open file can be shared"))
        .stdout(output);
    command.spawn().expect("it answered before")
}

/// Per server and second.
struct Cost {
    own_cpu_ms: f64,
    statements: f64,
    /// All that the servers did, whoever asked.
    source_cpu_ms: f64,
    replica_cpu_ms: f64,
}

impl Cost {
    fn print(&self, who: &str, alone: &Cost) {
        println!(
            "  {who}: {:.2} ms CPU and {:.1} statements per server and second; server-side CPU {:+.2} ms/s on the source, \
             {:+.2} on a replica (without us {:.2} and {:.2})",
            self.own_cpu_ms,
            self.statements,
            self.source_cpu_ms - alone.source_cpu_ms,
            self.replica_cpu_ms - alone.replica_cpu_ms,
            alone.source_cpu_ms,
            alone.replica_cpu_ms,
        );
    }
}

/// What processes and servers had used when it opened.
struct Window<'a> {
    topology: &'a Topology,
    watchers: &'a [u32],
    account: &'a str,
    opened_at: Instant,
    at_opening: Used,
}

struct Used {
    watchers: Duration,
    statements: u64,
    source: Duration,
    replicas: Duration,
}

impl<'a> Window<'a> {
    fn open(topology: &'a Topology, watchers: &'a [u32], account: &'a str) -> Self {
        let at_opening = Used::until_now(topology, watchers, account);
        Window {
            topology,
            watchers,
            account,
            opened_at: Instant::now(),
            at_opening,
        }
    }

    fn close_after(self, length: Duration) -> Cost {
        thread::sleep(length);
        let seconds = self.opened_at.elapsed().as_secs_f64();
        let (before, now) = (
            self.at_opening,
            Used::until_now(self.topology, self.watchers, self.account),
        );
        let servers = self.topology.nodes().len() as f64;
        let per_second_ms =
            |before: Duration, now: Duration| (now - before).as_secs_f64() * 1e3 / seconds;
        Cost {
            own_cpu_ms: per_second_ms(before.watchers, now.watchers) / servers,
            statements: (now.statements - before.statements) as f64 / seconds / servers,
            source_cpu_ms: per_second_ms(before.source, now.source),
            replica_cpu_ms: per_second_ms(before.replicas, now.replicas) / (servers - 1.0),
        }
    }
}

impl Used {
    fn until_now(topology: &Topology, watchers: &[u32], account: &str) -> Self {
        Used {
            watchers: watchers.iter().map(|process| cpu_time(*process)).sum(),
            statements: topology
                .nodes()
                .iter()
                .map(|node| statements_of(account, node))
                .sum(),
            source: cpu_time(measure::process_of(topology.source())),
            replicas: topology
                .replicas()
                .map(|node| cpu_time(measure::process_of(node)))
                .sum(),
        }
    }
}

/// By the server's own count.
fn statements_of(account: &str, node: &Node) -> u64 {
    node.value(&format!(
        "SELECT CAST(COALESCE(SUM(count_star), 0) AS UNSIGNED) \
         FROM performance_schema.events_statements_summary_by_account_by_event_name WHERE user = '{account}'"
    ))
}
