//! The texts are read as those read them who will: YAML by a parser, shell by a shell.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use yaml_rust2::{Yaml, YamlLoader};

use super::{compose, dbdeployer};
use crate::model::lab::{Generation, Ground, LabPlan, Shape};
use crate::model::server::Flavour;
use crate::model::time::Span;

fn plans() -> Vec<LabPlan> {
    let shapes = [
        Shape::Fan,
        Shape::Chain,
        Shape::MultiSource,
        Shape::Delayed {
            delay: Span::from_secs(30),
        },
    ];
    let grounds = Generation::ALL.map(Ground::Simulated).into_iter();
    let grounds = grounds.chain([Ground::Real(Flavour::MySql), Ground::Real(Flavour::MariaDb)]);
    grounds
        .flat_map(|ground| {
            shapes.map(|shape| LabPlan {
                ground,
                shape,
                ..LabPlan::default()
            })
        })
        .collect()
}

fn parsed(plan: &LabPlan) -> Yaml {
    let text = compose::file(plan);
    let mut documents = YamlLoader::load_from_str(&text)
        .unwrap_or_else(|error| panic!("{plan:?}: {error}\n{text}"));
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn names(map: &Yaml) -> Vec<&str> {
    map.as_hash()
        .expect("a mapping")
        .keys()
        .map(|name| name.as_str().expect("a name"))
        .collect()
}

#[test]
fn a_compose_file_has_a_service_for_each_server_and_one_that_sets_up() {
    for plan in plans() {
        let file = parsed(&plan);
        let expected: &[&str] = match plan.shape {
            Shape::MultiSource => &["source-1", "source-2", "replica-1", "replica-2", "setup"],
            _ => &["source", "replica-1", "replica-2", "setup"],
        };
        assert_eq!(names(&file["services"]), expected, "{plan:?}");
        let waits_for = names(&file["services"]["setup"]["depends_on"]);
        assert_eq!(waits_for, expected[..expected.len() - 1]);
    }
}

#[test]
fn containers_listen_on_loopback_only_each_on_a_port_of_its_own() {
    for plan in plans() {
        let file = parsed(&plan);
        let services = file["services"].as_hash().expect("services");
        let mut ports = BTreeSet::new();
        for (name, service) in services {
            let published = service["ports"].as_vec().cloned().unwrap_or_default();
            assert_eq!(published.len(), usize::from(name.as_str() != Some("setup")));
            for port in published {
                let port = port.as_str().expect("text").to_owned();
                assert!(
                    port.starts_with("127.0.0.1:") && port.ends_with(":3306"),
                    "{port}"
                );
                assert!(ports.insert(port), "{plan:?}");
            }
        }
    }
}

#[test]
fn images_and_settings_are_those_of_the_release() {
    let plan = |generation| LabPlan {
        ground: Ground::Simulated(generation),
        ..LabPlan::default()
    };
    let file = parsed(&plan(Generation::MySql97));
    let source = &file["services"]["source"];
    assert_eq!(source["image"].as_str(), Some("mysql:9.7"));
    let has = |service: &Yaml, setting: &str| {
        let command = service["command"].as_vec().expect("a list").clone();
        command.iter().any(|part| part.as_str() == Some(setting))
    };
    assert!(has(source, "--server-id=1") && has(source, "--loose-rpl_semi_sync_source_enabled=ON"));
    let replica = &file["services"]["replica-2"];
    assert!(
        has(replica, "--server-id=3") && has(replica, "--loose-rpl_semi_sync_replica_enabled=ON")
    );

    let file = parsed(&plan(Generation::MariaDb1011));
    assert_eq!(
        file["services"]["source"]["image"].as_str(),
        Some("mariadb:10.11")
    );
    assert!(
        file["services"]["source"]["environment"]["MARIADB_ROOT_PASSWORD"]
            .as_str()
            .is_some()
    );
}

#[test]
fn no_password_is_in_the_texts() {
    for plan in plans() {
        for text in [compose::file(&plan), dbdeployer::script(&plan)] {
            for (_, after) in text
                .match_indices("IDENTIFIED BY '")
                .map(|(at, found)| text[at..].split_at(found.len()))
            {
                assert!(after.starts_with('$'), "{}", &after[..20]);
            }
            for variable in [
                "ADMIN_PASSWORD",
                "MONITOR_PASSWORD",
                "APP_PASSWORD",
                "REPL_PASSWORD",
            ] {
                assert!(
                    text.contains(&format!("{{{variable}:?")),
                    "{variable} is asked for"
                );
            }
        }
    }
}

/// The script as compose hands it to the shell.
fn setup_script(plan: &LabPlan) -> String {
    let file = parsed(plan);
    let command = file["services"]["setup"]["command"]
        .as_vec()
        .expect("a list")
        .clone();
    command[0].as_str().expect("a script").replace("$$", "$")
}

#[test]
fn replicas_are_pointed_by_name_and_by_channel_where_there_are_two_sources() {
    let of = |generation, shape| {
        setup_script(&LabPlan {
            ground: Ground::Simulated(generation),
            shape,
            ..LabPlan::default()
        })
    };
    let script = of(Generation::MySql97, Shape::Chain);
    assert!(script.contains("say replica-2 <<SQL\nCHANGE REPLICATION SOURCE TO SOURCE_HOST='replica-1', SOURCE_PORT=3306"), "{script}");
    let script = of(Generation::MySql80, Shape::MultiSource);
    assert!(script.contains("SOURCE_HOST='source-2'") && script.contains("FOR CHANNEL 'source-2'"));
    let script = of(Generation::MariaDb118, Shape::MultiSource);
    assert!(
        script.contains("CHANGE MASTER 'source-1' TO MASTER_HOST='source-1'"),
        "{script}"
    );
    let delay = Span::from_secs(30);
    let script = of(Generation::MySql57, Shape::Delayed { delay });
    assert!(
        script.contains("CHANGE MASTER TO MASTER_DELAY=30"),
        "{script}"
    );
}

/// `bash -n` reads without running.
#[cfg(unix)]
#[track_caller]
fn assert_a_shell_reads(script: &str) {
    let mut shell = Command::new("bash")
        .arg("-n")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash is there");
    let mut input = shell.stdin.take().expect("a pipe");
    input.write_all(script.as_bytes()).expect("bash reads");
    drop(input);
    let done = shell.wait_with_output().expect("bash ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.is_empty(), "{said}\n{script}");
}

#[test]
#[cfg(unix)]
fn a_shell_can_read_both_scripts() {
    for plan in plans() {
        assert_a_shell_reads(&setup_script(&plan));
        assert_a_shell_reads(&dbdeployer::script(&plan));
    }
}

#[test]
fn dbdeployer_starts_as_many_servers_on_loopback_as_planned() {
    for plan in plans() {
        let script = dbdeployer::script(&plan);
        let nodes = if plan.shape == Shape::MultiSource {
            4
        } else {
            3
        };
        assert!(script.contains(&format!("--nodes={nodes} ")), "{script}");
        assert!(script.contains("--bind-address=127.0.0.1"));
        assert!(script.contains("_PORT=14307") && !script.contains("_PORT=3306"));
        assert!(!script.contains("options='server-id"));
        // Roles differ, so what makes them is said to each.
        let own = script
            .lines()
            .find(|line| line.contains("/node1/add_option"));
        assert!(
            own.is_some_and(|line| line.contains("_enabled=ON")),
            "{own:?}"
        );
    }
}
