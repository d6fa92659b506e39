//! The commands without a display, as a person or a monitoring system runs them.

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::SOON;
use crate::support::servers::{Plan, Topology, wait_until};

fn replicascope(topology: &Topology, command: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    program.args(command);
    for node in topology.nodes() {
        program.args(["--server", &format!("127.0.0.1:{}", node.port())]);
    }
    program
        .args(["--user", "monitor"])
        .env("REPLICASCOPE_PASSWORD", "monitor")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).expect("JSON is UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The last line about a server.
fn last_of<'a>(lines: &'a [Value], topology: &Topology, node: usize) -> &'a Value {
    let name = format!("127.0.0.1:{}", topology.node(node).port());
    lines
        .iter()
        .rev()
        .find(|line| line["server"] == name.as_str())
        .unwrap_or_else(|| panic!("no line about {name}"))
}

fn has_finding(line: &Value, code: &str) -> bool {
    let findings = line["findings"].as_array();
    findings.is_some_and(|findings| findings.iter().any(|finding| finding["code"] == code))
}

fn watch_says_it_line_by_line(plan: Plan) {
    let topology = plan.replicas(2).start();
    let watch = [
        "watch",
        "--json",
        "--for",
        "4s",
        "--interval",
        "250ms",
        "--mark-interval",
        "100ms",
    ];
    let output = replicascope(&topology, &watch);
    assert!(output.status.success(), "{output:?}");
    let well = lines(&output);
    assert!(well.len() >= 3 * 10, "{} lines in 4 s", well.len());
    assert_eq!(last_of(&well, &topology, 0)["role"], "source");
    assert_eq!(
        last_of(&well, &topology, 0)["lag"]["state"],
        "not_applicable"
    );
    for node in [1, 2] {
        let line = last_of(&well, &topology, node);
        assert_eq!(
            (&line["role"], &line["health"], &line["routable"]),
            (&"replica".into(), &"ok".into(), &true.into()),
            "{line}"
        );
        assert_eq!(line["lag"]["method"], "gtid_marks", "{line}");
        assert!(
            line["lag"]["seconds"].as_f64().is_some_and(|lag| lag < 1.0),
            "{line}"
        );
        assert!(
            line["clock_offset"]
                .as_f64()
                .is_some_and(|offset| offset.abs() < 0.5),
            "{line}"
        );
        assert!(line["at"].as_f64().is_some_and(|at| at > 1.6e9), "{line}");
    }

    topology.node(1).sql("STOP REPLICA SQL_THREAD");
    topology.source().sql("CREATE DATABASE shop");
    topology.node(2).kill();
    let troubled = lines(&replicascope(&topology, &watch));
    let stopped = last_of(&troubled, &topology, 1);
    assert_eq!(
        (&stopped["health"], &stopped["routable"]),
        (&"stopped".into(), &false.into()),
        "{stopped}"
    );
    assert_eq!(
        stopped["methods"]["seconds_behind"]["state"], "unknown",
        "{stopped}"
    );
    assert_eq!(
        stopped["methods"]["seconds_behind"]["seconds"],
        Value::Null,
        "{stopped}"
    );
    assert!(has_finding(stopped, "applier_stopped"), "{stopped}");
    let dead = last_of(&troubled, &topology, 2);
    assert_eq!(
        (&dead["health"], &dead["lag"]["state"], &dead["age"]),
        (&"unknown".into(), &"unknown".into(), &Value::Null),
        "{dead}"
    );
    assert!(has_finding(dead, "server_unreachable"), "{dead}");
}

fn check_ends_as_monitoring_systems_expect(plan: Plan) {
    let topology = plan.replicas(2).start();
    let check = |more: &[&str]| {
        let output = replicascope(&topology, &[&["check"], more].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    };
    let mut text = String::new();
    wait_until("all to be well", SOON, || {
        let (code, told) = check(&[]);
        text = told;
        code == Some(0)
    });
    assert!(text.starts_with("REPLICATION OK - "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    for node in [1, 2] {
        let label = format!("'127.0.0.1:{} lag'=0.", topology.node(node).port());
        assert!(text.contains(&label), "{label} in {text}");
    }

    topology.node(1).sql("STOP REPLICA");
    let (code, text) = check(&[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.starts_with("REPLICATION CRITICAL - "), "{text}");
    let (code, text) = check(&["--json"]);
    let whole: Value = serde_json::from_str(&text).expect("one JSON object");
    assert_eq!((code, &whole["code"]), (Some(2), &2.into()), "{text}");
    topology.node(1).sql("START REPLICA");

    // A password that does not fit tells nothing about replication.
    let wrong = topology.node(0).dir().join("wrong");
    fs::write(&wrong, "not it\n").expect("the folder is writable");
    let (code, text) = check(&[
        "--password-file",
        &wrong.display().to_string(),
        "--timeout",
        "3s",
    ]);
    assert!(matches!(code, Some(2 | 3)), "{code:?} {text}");
    assert!(!text.contains("not it"), "{text}");
}

#[test]
fn mysql_watch_json() {
    watch_says_it_line_by_line(Topology::mysql());
}

#[test]
fn mariadb_watch_json() {
    watch_says_it_line_by_line(Topology::mariadb());
}

#[test]
fn mysql_check() {
    check_ends_as_monitoring_systems_expect(Topology::mysql());
}

#[test]
fn mariadb_check() {
    check_ends_as_monitoring_systems_expect(Topology::mariadb());
}
