//! `replicascope lab` as a person or a script calls it, without a window: what it refuses, what it lists, and what it
//! prints of a running lab.

mod support;

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::eventually;
use yaml_rust2::YamlLoader;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    command.arg("lab").args(arguments).env("LC_ALL", "C");
    command
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command(arguments).output().expect("it runs");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output.status.code(), out, err)
}

#[test]
fn the_list_names_every_lesson_and_fault_in_both_languages() {
    let (code, out, _) = run(&["--list"]);
    assert_eq!(code, Some(0));
    for wanted in ["seconds-behind", "acceptance", "link_latency", "swap_roles"] {
        assert!(out.contains(wanted), "{wanted} in\n{out}");
    }
    let (code, out, _) = run(&["--list", "--language", "zh"]);
    assert_eq!(code, Some(0));
    assert!(
        out.contains("课程") && out.contains("link_latency"),
        "{out}"
    );
}

#[test]
fn what_does_not_fit_together_is_refused_before_anything_starts() {
    for (arguments, why) in [
        (&["--headless", "--lesson", "no-such"][..], "no-such"),
        (&["--headless", "--delay", "5s"], "--shape delayed"),
        (
            &["--headless", "--real", "mysql", "--replicas", "9"],
            "at most 5",
        ),
        (&["--headless", "--real", "mysql", "--tls"], "simulated"),
        (
            &["--headless", "--real", "/no/such/mysqld"],
            "/no/such/mysqld",
        ),
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {out}{err}");
        assert!(err.contains(why), "{arguments:?}: {err}");
        assert!(out.is_empty(), "{arguments:?}: {out}");
    }
    assert_eq!(run(&["--for", "5s"]).0, Some(2), "--for without --headless");
}

#[test]
fn a_lab_is_written_down_for_elsewhere_and_not_started() {
    let (code, out, err) = run(&[
        "--compose",
        "--generation",
        "mariadb-11.8",
        "--shape",
        "chain",
    ]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let file = YamlLoader::load_from_str(&out).expect("YAML").remove(0);
    let services = file["services"].as_hash().expect("services").keys();
    let names: Vec<&str> = services.filter_map(|name| name.as_str()).collect();
    assert_eq!(names, ["source", "replica-1", "replica-2", "setup"]);
    let image = file["services"]["replica-2"]["image"].as_str();
    assert_eq!(image, Some("mariadb:11.8"));

    let (code, out, _) = run(&["--dbdeployer", "--replicas", "4"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("#!/usr/bin/env bash\n"), "{out}");
    assert!(out.contains("--nodes=5 "), "{out}");
}

#[test]
fn what_is_written_down_is_the_lab_of_the_lesson() {
    let (code, out, _) = run(&["--compose", "--lesson", "failover"]);
    let lesson =
        replicascope::lab::lessons::find("failover", Default::default()).expect("a lesson");
    let usual = run(&["--compose"]).1;
    let replicas = |text: &str| text.matches("\n  replica-").count() as u32;
    assert_eq!((code, replicas(&usual)), (Some(0), 2));
    assert_eq!(replicas(&out), lesson.lab.plan.replicas);
}

#[test]
fn writing_down_goes_with_neither_running_nor_the_other_text() {
    for other in ["--headless", "--list", "--dbdeployer"] {
        let (code, out, _) = run(&["--compose", other]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{other}");
    }
    assert_eq!(run(&["--compose", "--delay", "5s"]).0, Some(2));
}

/// A lab in a process of its own, as a script has it.
struct Running {
    child: Child,
    lab: serde_json::Value,
}

impl Running {
    fn start(arguments: &[&str]) -> Running {
        let mut child = command(&[&["--headless", "--json"], arguments].concat())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let told: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        Running {
            child,
            lab: told["lab"].clone(),
        }
    }

    fn ports(&self) -> Vec<u16> {
        let servers = self.lab["servers"].as_array().expect("servers");
        servers
            .iter()
            .map(|server| server["port"].as_u64().expect("a port") as u16)
            .collect()
    }

    fn is_open(port: u16) -> bool {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_script_learns_where_the_servers_are_and_who_may_log_in() {
    let running = Running::start(&["--replicas", "3", "--shape", "chain"]);
    let servers = running.lab["servers"].as_array().expect("servers");
    let copies: Vec<(&str, Option<&str>)> = servers
        .iter()
        .map(|server| {
            let from = server["copies_from"][0].as_str();
            (server["name"].as_str().expect("a name"), from)
        })
        .collect();
    assert_eq!(
        copies,
        [
            ("source", None),
            ("replica-1", Some("source")),
            ("replica-2", Some("replica-1")),
            ("replica-3", Some("replica-2")),
        ]
    );
    for account in ["admin", "watcher", "app"] {
        let password = running.lab["accounts"][account]["password"].as_str();
        assert!(password.is_some_and(|p| p.len() >= 12), "{account}");
    }
    assert!(running.ports().into_iter().all(Running::is_open));
}

#[test]
fn a_script_learns_by_which_authority_the_servers_can_be_verified() {
    let running = Running::start(&["--replicas", "1", "--tls"]);
    let pem = running.lab["ca_pem"].as_str().expect("a certificate");
    assert!(pem.starts_with("-----BEGIN CERTIFICATE-----"), "{pem}");
    let plain = Running::start(&["--replicas", "1"]);
    assert!(plain.lab["ca_pem"].is_null());
    let (code, out, err) = run(&["--headless", "--tls", "--for", "1s"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("-----BEGIN CERTIFICATE-----"), "{out}");
}

#[cfg(unix)]
#[test]
fn a_lab_that_is_asked_to_end_ends_well_and_leaves_no_port_open() {
    let mut running = Running::start(&[]);
    let ports = running.ports();
    let pid = running.child.id().to_string();
    Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .expect("kill");
    let limit = Duration::from_secs(20);
    let mut code = None;
    let ended = eventually(limit, || {
        code = running.child.try_wait().expect("it can be asked");
        code.is_some()
    });
    assert!(ended, "it goes on");
    assert_eq!(code.and_then(|code| code.code()), Some(0));
    assert!(!ports.into_iter().any(Running::is_open));
}

#[test]
fn time_is_up_when_it_was_said() {
    let (code, out, err) = run(&["--headless", "--for", "1s"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("replica of source"), "{out}");
    assert!(out.contains("mysql -h 127.0.0.1 -P "), "{out}");
}

#[test]
fn a_lesson_goes_through_itself_in_both_languages() {
    std::thread::scope(|scope| {
        for language in ["en", "zh-CN"] {
            scope.spawn(move || {
                let (code, out, err) =
                    run(&["--headless", "--lesson", "10", "--language", language]);
                assert_eq!(code, Some(0), "{out}{err}");
            });
        }
    });
}
