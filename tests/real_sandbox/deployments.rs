//! What the lab writes down for containers, said to bare real servers.

use std::process::Command;

use replicascope::lab::deployment::compose;
use replicascope::model::lab::Generation;
use support::servers::{Node, Topology};
use yaml_rust2::YamlLoader;

use super::*;

/// The script of the container that sets up, as its shell gets it.
fn setup_script(plan: &LabPlan) -> String {
    let file = YamlLoader::load_from_str(&compose::file(plan))
        .expect("YAML")
        .remove(0);
    let script = file["services"]["setup"]["command"][0]
        .as_str()
        .expect("a script");
    script.replace("$$", "$")
}

/// As the image leaves them: root from everywhere, no other account, nothing replicates, nothing was ever written.
fn made_bare(topology: &Topology) {
    // All before any is written to: what the source does below must not arrive half.
    for node in topology.nodes() {
        if node.copies_from().is_some() {
            node.sql("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL read_only = OFF");
        }
    }
    for node in topology.nodes() {
        node.sql(
            "SET sql_log_bin = 0; DROP USER admin, monitor, repl; CREATE USER root@'%' IDENTIFIED BY 'r'; \
             GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION",
        );
        // Written by the image as it prepared the data.
        node.sql("CREATE DATABASE leftover; DROP DATABASE leftover");
    }
}

/// The client finds the containers by their names; here they are ports of loopback.
fn on_loopback(script: &str, client: &Path, topology: &Topology) -> String {
    let names = ["source", "replica-1", "replica-2"];
    let mut script = script.to_owned();
    let mut cases = String::new();
    for (name, node) in names.iter().zip(topology.nodes()) {
        let port = node.port();
        for word in ["SOURCE", "MASTER"] {
            let inside = format!("{word}_HOST='{name}', {word}_PORT=3306");
            script = script.replace(
                &inside,
                &format!("{word}_HOST='127.0.0.1', {word}_PORT={port}"),
            );
        }
        cases += &format!("--host={name}) all+=(--host=127.0.0.1 --port={port}) ;;\n");
    }
    let name = client
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    format!(
        "{name}() {{ local all=() one; for one in \"$@\"; do case \"$one\" in\n{cases}*) all+=(\"$one\") ;;\nesac; done; \
         '{}' --no-defaults \"${{all[@]}}\"; }}\n{script}",
        client.display()
    )
}

fn run(script: &str) -> String {
    let mut command = Command::new("bash");
    command.args(["-euc", script]);
    for name in ["ADMIN", "MONITOR", "APP", "REPL"] {
        command.env(format!("{name}_PASSWORD"), format!("{name}secret"));
    }
    let done = command
        .env("ROOT_PASSWORD", "r")
        .output()
        .expect("bash is there");
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    said
}

fn the_setup_of_containers_works(topology: Topology, generation: Generation, shape: Shape) {
    made_bare(&topology);
    let plan = LabPlan {
        ground: Ground::Simulated(generation),
        shape,
        ..LabPlan::default()
    };
    let flavour = topology.source().flavour();
    let client = flavour.prefix().join("bin").join(flavour.name());
    let script = on_loopback(&setup_script(&plan), &client, &topology);
    assert!(run(&script).contains("replication is set up"));
    for node in topology.nodes() {
        wait_for("the orders", SOON, || {
            let found = node
                .try_sql("SELECT 1 FROM shop.orders")
                .map_err(|error| error.to_string());
            found.and_then(|()| {
                if count(node) == 1000 {
                    Ok(())
                } else {
                    Err(count(node).to_string())
                }
            })
        });
    }
    for node in topology.nodes().iter().skip(1) {
        node.threads_running().expect("it replicates");
        node.session_as("monitor", "MONITORsecret");
        assert_eq!(
            node.value::<bool>("SELECT @@read_only"),
            flavour == Installed::MySql
        );
    }
    // A second time it finds all there and leaves it.
    assert!(run(&script).contains("set up before"));
}

fn count(node: &Node) -> u32 {
    node.value("SELECT COUNT(*) FROM shop.orders")
}

#[test]
fn mysql_containers() {
    let topology = Topology::mysql().replicas(2).semi_sync(true).start();
    the_setup_of_containers_works(topology, Generation::MySql97, Shape::Chain);
}

#[test]
fn mariadb_containers() {
    let topology = Topology::mariadb().replicas(2).semi_sync(true).start();
    the_setup_of_containers_works(topology, Generation::MariaDb1011, Shape::Fan);
}
