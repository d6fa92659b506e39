//! The routing rules compared on real servers: with lag, plain replica reads are seen stale, waited ones never are, and a
//! window lies between; nothing is written without permission.

mod support;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::servers::{Node, Topology};

struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

fn command(topology: &Topology, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    command.arg("route");
    for node in topology.nodes() {
        command.args(["--server", &format!("admin@127.0.0.1:{}", node.port())]);
    }
    command
        .args(arguments)
        .env("REPLICASCOPE_PASSWORD", "admin")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

fn route(topology: &Topology, arguments: &[&str]) -> Told {
    told(command(topology, arguments).output().expect("it runs"))
}

fn told(output: std::process::Output) -> Told {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Told {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

impl Told {
    /// The rules by their code, and the summary.
    #[track_caller]
    fn read(&self) -> (BTreeMap<String, Value>, Value) {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        let mut lines: Vec<Value> = self
            .out
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let summary = lines.pop().expect("a summary")["summary"].take();
        assert!(summary.is_object(), "{}", self.out);
        let rules = lines.into_iter().map(|line| {
            let code = line["rule"].as_str().expect("a code").to_owned();
            (code, line)
        });
        (rules.collect(), summary)
    }
}

fn count(rule: &Value, what: &str) -> u64 {
    rule[what]
        .as_u64()
        .unwrap_or_else(|| panic!("{what}: {rule}"))
}

/// Whatever happened on the servers.
#[track_caller]
fn strong_rules_returned_nothing_old(rules: &BTreeMap<String, Value>) {
    let strong: Vec<_> = rules
        .values()
        .filter(|rule| rule["promise"] == "strong")
        .collect();
    assert_eq!(strong.len(), 3, "{rules:#?}");
    for rule in strong {
        assert_eq!(count(rule, "stale"), 0, "{rule}");
        assert!(count(rule, "judged") > 0, "{rule}");
    }
    assert_eq!(rules["always_source"]["source_share"], 1.0);
}

fn rows_left(node: &Node) -> u64 {
    node.value("SELECT COUNT(*) FROM replicascope.probe")
}

#[test]
fn on_mysql_two_seconds_behind_plain_reads_are_old_waited_ones_never_and_a_window_lies_between() {
    two_seconds_behind(Topology::mysql().replicas(1).delay(1, 2).start());
}

#[test]
fn on_mariadb_two_seconds_behind_plain_reads_are_old_waited_ones_never_and_a_window_lies_between() {
    two_seconds_behind(Topology::mariadb().replicas(1).delay(1, 2).start());
}

fn two_seconds_behind(topology: Topology) {
    let arguments = [
        "--for",
        "8s",
        "--rate",
        "100",
        "--spare",
        "5",
        "--enable-writes",
        "--json",
    ];
    let told = route(&topology, &arguments);
    let (rules, summary) = told.read();
    strong_rules_returned_nothing_old(&rules);
    let plain = count(&rules["plain_replica"], "stale");
    let window = count(&rules["write_window_1000ms"], "stale");
    assert!(plain > 20, "{:#}", rules["plain_replica"]);
    assert!(0 < window && window < plain, "{window} of {plain}");
    let wait = &rules["gtid_wait"];
    let timed_out = wait["fallbacks"]["wait_timed_out"].as_u64();
    assert!(timed_out.is_some_and(|times| times > 0), "{wait}");
    assert!(wait["added"]["p95_ms"].as_f64() > Some(1.0), "{wait}");
    let p50 = summary["replicas"][0]["delay"]["p50_ms"].as_f64();
    assert!(
        p50.is_some_and(|ms| (1_000.0..4_000.0).contains(&ms)),
        "{summary}"
    );
    let limited = &rules["query_kind_rate_limited"];
    assert!(count(limited, "refused") > 0, "{limited}");
    // A delay on purpose is lag to a reader.
    let over = &rules["query_kind"]["fallbacks"]["lag_over_limit"];
    assert!(over.as_u64() > Some(20), "{}", rules["query_kind"]);
    assert_eq!(count(&rules["query_kind"], "stale"), 0);
    assert_eq!(summary["cleaned_up"], true);
    assert_eq!(rows_left(topology.source()), 0);
}

#[test]
fn with_a_stopped_applier_only_the_plain_rule_reads_old() {
    let topology = Topology::mysql().replicas(2).start();
    // The table must be there before the appliers stop.
    assert_eq!(
        route(&topology, &["--for", "1s", "--enable-writes"]).code,
        Some(0)
    );
    topology.replicating();
    for replica in topology.replicas() {
        replica.sql("STOP REPLICA SQL_THREAD");
    }
    let told = route(
        &topology,
        &["--for", "4s", "--rate", "100", "--enable-writes", "--json"],
    );
    let (rules, summary) = told.read();
    strong_rules_returned_nothing_old(&rules);
    assert!(count(&rules["plain_replica"], "stale") > 20);
    let wait = &rules["gtid_wait"];
    assert!(
        wait["fallbacks"]["not_running"].as_u64() > Some(20),
        "{wait}"
    );
    for replica in summary["replicas"].as_array().expect("replicas") {
        assert_eq!(replica["seen"], 0, "{replica}");
        assert_eq!(replica["delay"], Value::Null, "unknown is not 0: {replica}");
        assert!(count(replica, "unseen") > 50, "{replica}");
    }
}

#[test]
fn nothing_is_written_without_permission() {
    let topology = Topology::mysql().replicas(1).start();
    let executed = || -> String {
        let source = topology.source();
        source.value(source.flavour().committed())
    };
    let before = executed();
    let told = route(&topology, &["--for", "1s"]);
    assert_eq!(told.code, Some(3), "{}\n{}", told.out, told.err);
    assert!(
        told.out
            .contains("CREATE TABLE IF NOT EXISTS `replicascope`.`probe`"),
        "{}",
        told.out
    );
    assert!(
        told.out
            .contains("SELECT number FROM `replicascope`.`probe`"),
        "{}",
        told.out
    );
    assert!(
        told.out.contains("WAIT_FOR_EXECUTED_GTID_SET"),
        "{}",
        told.out
    );
    assert_eq!(executed(), before, "nothing was written");
    let beyond = route(&topology, &["--rate", "100000", "--enable-writes"]);
    assert_eq!(beyond.code, Some(2), "{}", beyond.out);
    assert_eq!(executed(), before, "nothing was written");
}

#[test]
fn a_read_only_source_is_not_written_to_by_an_account_that_could() {
    let topology = Topology::mysql().replicas(1).start();
    let source = topology.source();
    source.sql("SET GLOBAL read_only = ON");
    let before: String = source.value(source.flavour().committed());
    let told = route(&topology, &["--for", "1s", "--enable-writes", "--json"]);
    assert_eq!(told.code, Some(2), "{}\n{}", told.out, told.err);
    assert!(told.err.contains("read-only"), "{}", told.err);
    let after: String = source.value(source.flavour().committed());
    assert_eq!(after, before, "nothing was written");
}

#[test]
fn stopped_early_it_judges_what_was_seen_and_leaves_no_rows() {
    let topology = Topology::mysql().replicas(1).start();
    let mut child = command(&topology, &["--for", "60s", "--enable-writes", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    support::servers::wait_until("the first rows", Duration::from_secs(20), || {
        let source = topology.source();
        let there: u64 = source.value(
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'replicascope'",
        );
        there > 0 && rows_left(source) > 50
    });
    let pid = child.id().to_string();
    let sent = Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .expect("kill");
    assert!(sent.success());
    let _ = child.stdin.take();
    let told = told(child.wait_with_output().expect("it ends"));
    let (rules, summary) = told.read();
    strong_rules_returned_nothing_old(&rules);
    assert!(summary["ended"].is_string(), "{summary}");
    assert_eq!(summary["cleaned_up"], true);
    assert_eq!(rows_left(topology.source()), 0);
}
