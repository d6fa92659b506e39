//! The acceptance run and the drift test on real servers: all five steps pass where everything is allowed, what is not
//! allowed is not run, and a replica that was held back applies again whatever becomes of the program.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use replicascope::app::accepting::desk::{AcceptDesk, Wanted};
use replicascope::app::accepting::drift::{self, DriftReport, DriftTask};
use replicascope::app::dialing::AcceptAccount;
use replicascope::model::probe::{ProbeId, ProbeRow};
use replicascope::model::profile::{
    Account, Address as ProfileAddress, Environment, SecretSource, ServerId, ServerProfile,
    TopologyId, TopologyProfile,
};
use replicascope::model::secret::Secret;
use replicascope::model::time::Span;
use replicascope::mysql::{Address, Dialer, Endpoint};
use replicascope::routing::pool::Field;
use replicascope::routing::wait::WaitResult;
use replicascope::ui::acceptance::board::AcceptPhase;
use replicascope::ui::action::ExportFormat;
use replicascope::words::{Catalogue, Language};
use serde_json::Value;
use support::proxy::Proxy;
use support::servers::{Flavour, Node, Topology, wait_until};

const SOON: Duration = Duration::from_secs(20);

/// A topology file; the source's port may be that of something before it.
fn profile(topology: &Topology, environment: &str, source_port: u16) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = format!(
        "version = 1\n[[topology]]\nname = \"Shop\"\nenvironment = \"{environment}\"\n\
         [topology.account]\nuser = \"admin\"\npassword_from = \"env:REPLICASCOPE_PASSWORD\"\n"
    );
    let ports = topology.replicas().map(Node::port);
    for port in std::iter::once(source_port).chain(ports) {
        file += &format!("[[topology.server]]\nhost = \"127.0.0.1\"\nport = {port}\n");
    }
    fs::write(file_of(&folder), file).expect("written");
    folder
}

fn file_of(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("shop.toml")
}

fn lab(topology: &Topology) -> tempfile::TempDir {
    profile(topology, "lab", topology.source().port())
}

fn accept() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    command
        .arg("accept")
        .env("REPLICASCOPE_PASSWORD", "admin")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

fn run(file: &Path, arguments: &[&str]) -> Output {
    let mut command = accept();
    command.arg("--topology").arg(file).args(arguments);
    command.output().expect("it runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn states(report: &Value) -> Vec<String> {
    let steps = report["steps"].as_array().expect("steps");
    let state = |step: &Value| step["state"].as_str().expect("a state").to_owned();
    steps.iter().map(state).collect()
}

fn evidence(report: &Value, n: usize) -> String {
    report["steps"][n - 1]["evidence"]
        .as_str()
        .expect("evidence")
        .to_owned()
}

fn keys(value: &Value) -> Vec<String> {
    let object = value.as_object().expect("an object");
    object.keys().cloned().collect()
}

fn executed(node: &Node) -> String {
    node.value(node.flavour().committed())
}

/// Nothing is left behind: no rows, no stopped thread, no lock.
#[track_caller]
fn is_as_before(topology: &Topology) {
    topology.replicating();
    let rows: u64 = topology
        .source()
        .value("SELECT COUNT(*) FROM replicascope.probe");
    assert_eq!(rows, 0);
    for replica in topology.replicas() {
        replica.threads_running().expect("both threads run");
    }
}

#[test]
fn on_mysql_all_five_steps_pass_where_all_is_allowed() {
    all_five(&Topology::mysql().start());
}

#[test]
fn on_mariadb_all_five_steps_pass_where_all_is_allowed() {
    all_five(&Topology::mariadb().start());
}

fn all_five(topology: &Topology) {
    let folder = lab(topology);
    let file = file_of(&folder);

    let before = executed(topology.source());
    let output = run(&file, &["--allow-faults", "--json"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(shown.contains("UPDATE `replicascope`.`probe`"), "{shown}");
    assert!(
        shown.contains("LOCK TABLES `replicascope`.`probe` READ"),
        "{shown}"
    );
    assert_eq!(executed(topology.source()), before, "nothing was written");

    // Longer than a busy machine makes a replica late.
    let all = [
        "--enable-writes",
        "--allow-faults",
        "--wait",
        "3s",
        "--json",
    ];
    let output = run(&file, &all);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report = json(&output);
    assert_eq!(keys(&report), ["steps", "verdict"]);
    assert_eq!(
        keys(&report["steps"][0]),
        ["evidence", "n", "name", "state"]
    );
    assert_eq!(states(&report), ["passed"; 5]);
    assert_eq!(report["verdict"], "passed");
    assert!(evidence(&report, 1).contains("GTID"), "{report:#}");
    // Each replica was held back and has caught up.
    let timeout = evidence(&report, 4);
    assert_eq!(
        timeout.matches("has caught up again").count(),
        2,
        "{timeout}"
    );
    assert_eq!(
        timeout.matches("of the source read").count(),
        2,
        "{timeout}"
    );
    is_as_before(topology);

    requests_have_somebody_to_blame_only_where_that_is_shown(&file, &folder);

    let paper = folder.path().join("ticket.md");
    let path = paper.to_str().expect("a path");
    let output = run(&file, &["--enable-writes", "--markdown", path]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = fs::read_to_string(&paper).expect("a report");
    assert!(text.contains("| **not run** |"), "{text}");
    assert!(text.contains("--allow-faults allows it"), "{text}");
    assert_eq!(
        text.matches("\n## ").count(),
        6,
        "five steps, and the requests: {text}"
    );

    not_without_a_person(topology);
    is_as_before(topology);
}

/// Plain reads are sent wrong on purpose, careless pools and routers are there to fail; nothing else is to blame.
fn requests_have_somebody_to_blame_only_where_that_is_shown(
    file: &Path,
    folder: &tempfile::TempDir,
) {
    let lines = folder.path().join("requests.jsonl");
    let path = lines.to_str().expect("a path");
    let options = [
        "--enable-writes",
        "--allow-faults",
        "--wait",
        "3s",
        "--records",
        path,
    ];
    let output = run(file, &options);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = fs::read_to_string(&lines).expect("records");
    let records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let of = |what: &str, value: Value| records.iter().filter(|r| r[what] == value).count();
    assert!(of("blame", "pool_reuse".into()) > 0, "{text}");
    assert!(of("reason", "wait_timed_out".into()) >= 2, "{text}");
    assert!(of("went_to", "waited_replica".into()) >= 2, "{text}");
    for record in &records {
        let is_meant = record["careless"] == true || record["went_to"] == "replica";
        assert!(is_meant || record["blame"] == "nobody", "{record:#}");
        // What the pools with hygiene lend carries nothing, whatever it is left with.
        if record["careless"] == false {
            assert_eq!(record["carried"], Value::Array(Vec::new()), "{record:#}");
        }
    }
    let left = records
        .iter()
        .filter(|r| r["careless"] == false)
        .filter(|r| r["left"].as_array().is_some_and(|left| !left.is_empty()));
    assert!(left.count() >= 12, "{text}");
}

/// Addresses on a command line say nothing of what kind of servers they lead to, and here nobody can type a name.
fn not_without_a_person(topology: &Topology) {
    let mut command = accept();
    for node in topology.nodes() {
        command.args(["--server", &format!("admin@127.0.0.1:{}", node.port())]);
    }
    let output = command
        .args(["--enable-writes", "--allow-faults", "--json"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report = json(&output);
    assert_eq!(states(&report)[3], "not_run");
    assert!(evidence(&report, 4).contains("confirmed"), "{report:#}");
    assert_eq!(report["verdict"], "incomplete");

    let production = profile(topology, "production", topology.source().port());
    let before = executed(topology.source());
    let output = run(
        &file_of(&production),
        &["--enable-writes", "--allow-faults", "--json"],
    );
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(executed(topology.source()), before, "nothing was written");
}

#[test]
fn what_a_replica_or_an_account_cannot_do_is_named_and_never_passes() {
    let topology = Topology::mysql().start();
    let folder = lab(&topology);
    let file = file_of(&folder);
    let all = ["--enable-writes", "--allow-faults", "--json"];

    topology.node(1).sql("STOP REPLICA SQL_THREAD");
    let output = run(&file, &all);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report = json(&output);
    let expected = ["passed", "passed", "failed", "not_run", "passed"];
    assert_eq!(states(&report), expected, "{report:#}");
    assert!(
        evidence(&report, 3).contains("the applier does not run"),
        "{report:#}"
    );
    topology.node(1).sql("START REPLICA SQL_THREAD");
    topology.replicating();

    topology.source().sql(
        "CREATE USER probe@'%' IDENTIFIED BY 'admin'; GRANT REPLICATION CLIENT ON *.* TO probe@'%'; \
         GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON replicascope.* TO probe@'%'",
    );
    topology.replicating();
    let text = fs::read_to_string(&file).expect("the file");
    fs::write(&file, text.replace("\"admin\"", "\"probe\"")).expect("written");
    let report = json(&run(&file, &all));
    assert_eq!(states(&report)[3], "not_run", "{report:#}");
    let grant = "GRANT SELECT, LOCK TABLES ON `replicascope`.* TO 'probe'@'%';";
    assert!(evidence(&report, 4).contains(grant), "{report:#}");
    is_as_before(&topology);

    topology.source().sql("SET GLOBAL read_only = ON");
    let report = json(&run(&file, &all));
    topology.source().sql("SET GLOBAL read_only = OFF");
    let expected = ["failed", "not_run", "not_run", "not_run", "not_run"];
    assert_eq!(states(&report), expected, "{report:#}");
    assert_eq!(report["verdict"], "failed");
}

/// A run in step 4, its replica held back: the applier waits for the lock.
struct Held {
    child: Child,
    _folder: tempfile::TempDir,
}

impl Held {
    fn start(topology: &Topology, wait: &str) -> Self {
        let folder = lab(topology);
        let mut command = accept();
        command.arg("--topology").arg(file_of(&folder));
        let child = command
            .args(["--enable-writes", "--allow-faults", "--wait", wait])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let held = Held {
            child,
            _folder: folder,
        };
        wait_until("the applier to wait for our lock", SOON, || {
            waiting(topology.node(1)) > 0
        });
        held
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([name, &pid]).status();
        assert!(status.expect("kill runs").success());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn waiting(node: &Node) -> u64 {
    node.value(
        "SELECT COUNT(*) FROM information_schema.processlist \
         WHERE state LIKE 'Waiting for table metadata lock%'",
    )
}

/// Locks belong to a session, and a session ends with its connection.
#[test]
fn killed_while_a_replica_is_held_back_the_applier_goes_on_at_once() {
    for plan in [Topology::mysql(), Topology::mariadb()] {
        let topology = plan.replicas(1).start();
        let held = Held::start(&topology, "30s");
        held.signal("-KILL");
        let killed = Instant::now();
        wait_until("the applier to go on", SOON, || {
            waiting(topology.node(1)) == 0
        });
        topology.replicating();
        assert!(
            killed.elapsed() < Duration::from_secs(25),
            "{:?}",
            killed.elapsed()
        );
        topology
            .node(1)
            .threads_running()
            .expect("both threads run");
    }
}

/// Frozen, the program can close nothing: then the server ends the silent session itself.
#[test]
fn frozen_while_a_replica_is_held_back_the_server_ends_it_within_its_box() {
    for plan in [Topology::mysql(), Topology::mariadb()] {
        let topology = plan.replicas(1).start();
        let held = Held::start(&topology, "2s");
        held.signal("-STOP");
        let frozen = Instant::now();
        thread::sleep(Duration::from_secs(3));
        assert!(waiting(topology.node(1)) > 0, "it is held by then");
        wait_until("the applier to go on", SOON, || {
            waiting(topology.node(1)) == 0
        });
        topology.replicating();
        // 2 s of the wait and 10 s, in whole seconds of the server; and what a busy machine adds.
        assert!(
            frozen.elapsed() < Duration::from_secs(30),
            "{:?}",
            frozen.elapsed()
        );
        topology
            .node(1)
            .threads_running()
            .expect("both threads run");
    }
}

/// Returns when the replica has all that is committed on the source, or after 2 s where it is held back.
fn let_catch_up(source_port: u16, replica_port: u16) {
    let session = |port| {
        let options = OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(port)
            .prefer_socket(false);
        Conn::new(options.user(Some("admin")).pass(Some("admin"))).expect("admin may log in")
    };
    let committed: Option<String> = session(source_port)
        .query_first(Flavour::MySql.committed())
        .expect("a set");
    let wait = format!(
        "SELECT WAIT_FOR_EXECUTED_GTID_SET('{}', 2)",
        committed.expect("a set")
    );
    let waited: Option<u8> = session(replica_port).query_first(wait).expect("it waits");
    assert!(waited.is_some(), "1 where it is held back, not NULL");
}

/// A source whose answers to a write come late: after `so_long` of this server.
fn late_answers(server_port: u16, so_long: impl Fn(u16) + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("some port is free");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)) else {
                return;
            };
            let handle = |stream: &TcpStream| stream.try_clone().expect("a handle");
            let there = (handle(&client), handle(&server));
            let wrote = Arc::new(AtomicBool::new(false));
            let seen = wrote.clone();
            let so_long = so_long.clone();
            thread::spawn(move || {
                carry(there.0, there.1, |sent| {
                    let is_write = sent.windows(8).any(|words| words == b"UPDATE `");
                    seen.fetch_or(is_write, Ordering::SeqCst);
                });
            });
            thread::spawn(move || {
                carry(server, client, |_| {
                    if wrote.swap(false, Ordering::SeqCst) {
                        so_long(server_port);
                    }
                });
            });
        }
    });
    port
}

fn carry(mut from: TcpStream, mut to: TcpStream, mut before: impl FnMut(&[u8])) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        before(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

#[test]
fn where_no_read_is_old_by_itself_the_replica_is_held_back_only_where_that_is_allowed() {
    let topology = Topology::mysql().replicas(1).start();
    let (source, replica) = (topology.source().port(), topology.node(1).port());
    // By the time a commit is known of, the replica has it, and no plain read is old.
    let port = late_answers(source, move |source| let_catch_up(source, replica));
    let folder = profile(&topology, "lab", port);
    let file = file_of(&folder);
    let report = json(&run(&file, &["--enable-writes", "--json"]));
    assert_eq!(states(&report)[1], "not_run", "{report:#}");
    let report = json(&run(
        &file,
        &["--enable-writes", "--allow-faults", "--json"],
    ));
    assert_eq!(states(&report), ["passed"; 5], "{report:#}");
    assert!(evidence(&report, 2).contains("held back"), "{report:#}");
    is_as_before(&topology);
}

#[test]
fn a_session_whose_answer_did_not_come_in_time_is_not_used_again() {
    let topology = Topology::mysql().replicas(1).start();
    // Longer than an answer is waited for, and only that to the second step's first write: it comes while something else
    // is asked.
    let writes = Arc::new(AtomicU32::new(0));
    let port = late_answers(topology.source().port(), move |_| {
        if writes.fetch_add(1, Ordering::SeqCst) == 1 {
            thread::sleep(Duration::from_secs(6));
        }
    });
    let folder = profile(&topology, "lab", port);
    let report = json(&run(&file_of(&folder), &["--enable-writes", "--json"]));
    let states = states(&report);
    assert_eq!(states[1], "failed", "{report:#}");
    assert!(
        evidence(&report, 2).contains("no answer within"),
        "{report:#}"
    );
    assert_eq!(states[2], "passed", "{report:#}");
    is_as_before(&topology);
}

fn dialer(port: u16) -> Dialer {
    let host = "127.0.0.1".into();
    Dialer::new(Endpoint::new(
        Address::Tcp { host, port },
        "admin",
        Some("admin"),
    ))
}

fn port_of(proxy: &Proxy) -> u16 {
    match proxy.address() {
        ProfileAddress::Tcp { port, .. } => port,
        ProfileAddress::Socket { .. } => unreachable!("a proxy listens on a port"),
    }
}

fn drift_through(topology: &Topology, writes_port: u16) -> DriftReport {
    let (source, replica) = (
        dialer(topology.source().port()),
        dialer(topology.node(1).port()),
    );
    let probe = ProbeId(7);
    let report = drift::run(
        &DriftTask {
            names: ["source", "replica"],
            writes: &dialer(writes_port),
            source: &source,
            replica: &replica,
            schema: "replicascope",
            row: ProbeRow { probe, number: 1 },
            rounds: 3,
        },
        &|| false,
    );
    report.expect("it runs")
}

#[test]
fn the_careless_pool_drifts_and_the_strict_one_does_not() {
    for plan in [Topology::mysql(), Topology::mariadb()] {
        let topology = plan.replicas(1).start();
        topology.source().sql(
            "CREATE DATABASE replicascope; CREATE TABLE replicascope.probe (probe INT UNSIGNED, number INT UNSIGNED, \
             value VARCHAR(64), PRIMARY KEY (probe, number)); INSERT INTO replicascope.probe VALUES (7, 1, 'old')",
        );
        topology.replicating();
        let proxy = Proxy::before(topology.source().port());
        for port in [topology.source().port(), port_of(&proxy)] {
            let report = drift_through(&topology, port);
            assert!(!report.strict.drifted(), "{report:#?}");
            assert_eq!(
                (report.strict.lent, report.destroyed),
                (21, 0),
                "{report:#?}"
            );
            assert!(report.cleaned >= 12, "{report:#?}");
            let carried: Vec<Field> = report.sloppy.carried.keys().copied().collect();
            assert_eq!(carried, Field::ALL, "{report:#?}");
            assert!(
                report.sloppy.wrong_server > 0 && report.drift.lost > 0,
                "{report:#?}"
            );
            // What the second look saw is what the pools know of themselves.
            assert_eq!(report.sloppy.wrong_server, report.drift.wrong_server);
            assert!(report.binding.bound.stayed(), "{report:#?}");
            assert_eq!(report.binding.by_kind.strayed.len(), 2, "{report:#?}");
            assert_eq!(report.binding.by_kind.saw_own_write, 0, "{report:#?}");
        }
    }
}

/// A proxy that leads elsewhere is no way to the source, however clean its connections are.
#[test]
fn a_proxy_that_leads_to_a_replica_is_found_out() {
    let topology = Topology::mysql().start();
    let folder = lab(&topology);
    let elsewhere = format!("127.0.0.1:{}", topology.node(2).port());
    let output = run(
        &file_of(&folder),
        &["--enable-writes", "--proxy", &elsewhere, "--json"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(states(&json(&output))[4], "failed", "{output:?}");
}

/// As the window does it: the address and the limit are what its card asks for.
#[test]
fn the_window_runs_it_through_a_proxy_and_with_the_wait_limit_chosen() {
    let topology = Topology::mysql().replicas(1).start();
    let proxy = Proxy::before(topology.source().port());
    let mut profile = TopologyProfile::new(TopologyId("lab".into()), "lab");
    profile.environment = Environment::Lab;
    profile.account = Some(Account {
        user: "admin".into(),
        secret: SecretSource::Ask,
    });
    profile.servers = topology
        .nodes()
        .iter()
        .map(|node| {
            let address = ProfileAddress::tcp("127.0.0.1", node.port());
            ServerProfile::new(ServerId(node.port().to_string()), address)
        })
        .collect();
    let mut desk = AcceptDesk::default();
    for server in &profile.servers {
        let account = AcceptAccount {
            topology: profile.clone(),
            server: server.clone(),
            secret: Some(Secret::new("admin".into())),
        };
        desk.know(&profile.id, &server.id, account);
    }
    let wanted = Wanted {
        may_hold: true,
        wait_limit: Span::from_secs(3),
        proxy: Some(proxy.address()),
        typed: String::new(),
    };
    desk.start(&profile, true, wanted);
    let words = Catalogue::of(Language::English);
    wait_until("the report", Duration::from_secs(60), || {
        desk.take_in(words);
        desk.board.runs[&profile.id].phase == AcceptPhase::Ended
    });
    let run = &desk.board.runs[&profile.id];
    assert!(
        run.markdown.contains("Accepted: all five steps passed"),
        "{}",
        run.markdown
    );
    let through = format!("through {}", proxy.address());
    assert!(run.markdown.contains(&through), "{}", run.markdown);
    // The wait that timed out lasted as long as was chosen.
    let timed_out = run.records.iter().find_map(|(_, recorded)| {
        let attempt = recorded.record.attempts.first()?;
        (attempt.result == WaitResult::TimedOut).then_some(attempt.took)
    });
    let took = timed_out.expect("a timed out wait");
    assert!(
        (Span::from_millis(2_900)..Span::from_secs(10)).contains(&took),
        "{took:?}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("requests.csv");
    desk.export(&profile.id, ExportFormat::Csv, to.clone(), false);
    wait_until("the file", Duration::from_secs(10), || {
        desk.take_in(words);
        desk.board.exported.is_some()
    });
    let records = desk.board.runs[&profile.id].records.len();
    let text = fs::read_to_string(&to).expect("a file");
    assert_eq!(text.lines().count(), records + 1, "{text}");
}
