//! The probe and the acceptance run, on simulated servers as on real ones.

use std::process::{Command, Stdio};

use replicascope::lab::bed::{Bed, LinkQuality};
use replicascope::lab::simulator::Simulator;
use replicascope::model::lab::{Generation, LabAccount};
use replicascope::model::probe::{ProbeFlavour, ProbePlan};
use replicascope::model::time::Span;

use super::lab::{admin, plan, start};
use super::support::probing::{Probed, Probing, server};

fn probe(lab: &Simulator, account: &LabAccount, flavour: ProbeFlavour, runs: u32) -> Probed {
    let ports: Vec<u16> = lab.nodes().iter().map(|node| node.port).collect();
    let of = |port: &u16| server(*port, account.user, account.password.expose());
    let task = ProbePlan {
        flavour,
        runs,
        ..ProbePlan::default()
    };
    Probing::start(task, of(&ports[0]), ports[1..].iter().map(of).collect()).until_end()
}

#[test]
fn a_waited_read_is_fresh_in_every_generation() {
    for generation in Generation::ALL {
        let lab = start(&plan(generation));
        for flavour in [ProbeFlavour::Insert, ProbeFlavour::Update] {
            let probed = probe(&lab, &lab.accounts().watcher, flavour, 3);
            probed.all_ran().waited_reads_are_never_stale();
            let fresh = probed.summary.replicas[0].waited.fresh;
            assert_eq!(fresh, 3, "{generation:?} {flavour:?}");
        }
    }
}

#[test]
fn a_plain_read_behind_a_slow_link_is_stale() {
    let mut lab = start(&plan(Generation::MySql97));
    let slow = LinkQuality {
        latency: Span::from_secs(2),
        ..LinkQuality::default()
    };
    lab.set_link(1, 0, slow).unwrap();
    let probed = probe(&lab, &lab.accounts().watcher, ProbeFlavour::Update, 3);
    probed.all_ran().waited_reads_are_never_stale();
    assert!(probed.plain(0).iter().all(|verdict| verdict.is_stale()));
    assert_eq!(probed.summary.replicas[0].waited.fresh, 3);
}

#[test]
fn all_five_steps_of_the_acceptance_pass() {
    for generation in [Generation::MySql97, Generation::MariaDb1011] {
        let lab = start(&plan(generation));
        let account = lab.accounts().admin;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("lab.toml");
        let mut text = "version = 1\n[[topology]]\nname = \"Lab\"\nenvironment = \"lab\"\n[topology.account]\n\
                        user = \"admin\"\npassword_from = \"env:REPLICASCOPE_PASSWORD\"\n"
            .to_owned();
        for node in lab.nodes() {
            text += &format!(
                "[[topology.server]]\nhost = \"127.0.0.1\"\nport = {}\n",
                node.port
            );
        }
        std::fs::write(&file, text).expect("written");
        let output = Command::new(env!("CARGO_BIN_EXE_replicascope"))
            .args([
                "accept",
                "--enable-writes",
                "--allow-faults",
                "--json",
                "--topology",
            ])
            .arg(&file)
            .env("REPLICASCOPE_PASSWORD", account.password.expose())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let states: Vec<&str> = report["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .filter_map(|step| step["state"].as_str())
            .collect();
        assert_eq!(states, ["passed"; 5], "{generation:?}: {report:#}");
        // Nothing is left behind.
        let left = admin(&lab, 0).value("SELECT COUNT(*) FROM replicascope.probe");
        assert_eq!(left, "0");
    }
}
