//! `replicascope probe` as a person or a script calls it: nothing is written without permission, on production not without
//! a person, and what `--json` prints is what the README promises.

mod support;

use std::process::Command;

use support::servers::{Node, Topology};

fn rows_left(topology: &Topology) -> u64 {
    topology
        .source()
        .value("SELECT COUNT(*) FROM replicascope.probe")
}

fn replicascope(topology: &Topology, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    command.arg("probe");
    for node in topology.nodes() {
        command.args(["--server", &format!("admin@127.0.0.1:{}", node.port())]);
    }
    let output = command
        .args(arguments)
        .env("REPLICASCOPE_PASSWORD", "admin")
        .env("LC_ALL", "C")
        .output()
        .expect("it runs");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn executed(node: &Node) -> String {
    node.value(node.flavour().committed())
}

#[test]
fn nothing_is_written_without_permission_and_the_json_is_as_documented() {
    let topology = Topology::mysql().replicas(1).start();
    let before = executed(topology.source());
    let (code, out, _) = replicascope(&topology, &["--runs", "5", "--json"]);
    assert_eq!(code, Some(3), "{out}");
    assert!(
        out.contains("CREATE TABLE IF NOT EXISTS `replicascope`.`probe`"),
        "{out}"
    );
    assert!(out.contains("INSERT INTO `replicascope`.`probe`"), "{out}");
    assert_eq!(executed(topology.source()), before, "nothing was written");

    production_wants_a_person(&topology, &before);

    let arguments = [
        "--runs",
        "3",
        "--flavour",
        "update",
        "--enable-writes",
        "--json",
    ];
    let (code, out, errors) = replicascope(&topology, &arguments);
    assert_eq!(code, Some(0), "{out}{errors}");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        lines.len(),
        4,
        "three runs of one replica, and the summary: {out}"
    );
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect()
    };
    let first = &lines[0];
    assert_eq!(
        keys(first),
        [
            "flavour",
            "gtid",
            "gtid_from",
            "plain",
            "run",
            "server",
            "source",
            "waited",
            "written"
        ]
    );
    assert_eq!(
        keys(&first["plain"]),
        ["after_commit_ms", "value", "verdict"]
    );
    assert_eq!(
        keys(&first["waited"]),
        [
            "code",
            "outcome",
            "read_from",
            "reason",
            "value",
            "verdict",
            "wait_ms"
        ]
    );
    assert_eq!(first["gtid_from"], "session");
    assert_eq!(first["waited"]["verdict"], "fresh");
    assert_eq!(first["source"]["value"], first["written"]);
    let summary = &lines[3]["summary"];
    assert_eq!(summary["runs"], 3);
    assert_eq!(summary["waited"]["fresh"], 3);
    assert_eq!(summary["replicas"][0]["outcomes"]["reached"], 3);
    assert_eq!(summary["cleaned_up"], true);
    assert!(
        summary["curve"]
            .as_array()
            .is_some_and(|points| !points.is_empty())
    );
    assert_eq!(rows_left(&topology), 0);
}

/// Allowed or not: on production somebody must type the name, and here nobody can.
fn production_wants_a_person(topology: &Topology, before: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shop.toml");
    let mut file = "version = 1\n[[topology]]\nname = \"Shop\"\nenvironment = \"production\"\nwrites = \"allowed\"\n\
                    [topology.account]\nuser = \"admin\"\npassword_from = \"env:REPLICASCOPE_PASSWORD\"\n"
        .to_owned();
    for node in topology.nodes() {
        file += &format!(
            "[[topology.server]]\nhost = \"127.0.0.1\"\nport = {}\n",
            node.port()
        );
    }
    let run = |file: &str, flag: &[&str]| {
        std::fs::write(&path, file).expect("written");
        Command::new(env!("CARGO_BIN_EXE_replicascope"))
            .args(["probe", "--topology"])
            .arg(&path)
            .args(flag)
            .env("REPLICASCOPE_PASSWORD", "admin")
            .env("LC_ALL", "C")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("it runs")
    };
    let refused = run(&file, &["--enable-writes"]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(executed(topology.source()), before, "nothing was written");

    // Anywhere else a permission saved in the topology is enough.
    let staging = file.replace("production", "staging");
    let refused = run(&staging.replace("allowed", "forbidden"), &[]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(executed(topology.source()), before, "nothing was written");
    let done = run(&staging, &[]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
}
