//! The simulator against reality: the same scenarios on simulated and on real MySQL 9.7, seen through the product's own
//! polls. Every field that the product reads must have the same shape on both, and numbers that mean something the same
//! value within the scenario's tolerance. What differs and why stands in the table of `src/lab/simulator/DIFFERENCES.md`,
//! which is part of the documentation: a difference that is not in it fails, and so does a row that nothing needs.

#[path = "conformance/differences.rs"]
mod differences;
#[path = "conformance/picture.rs"]
mod picture;
#[path = "conformance/scenarios.rs"]
mod scenarios;
#[allow(dead_code)] // a part of it is enough here
#[path = "support/servers/mod.rs"]
mod servers;
#[path = "conformance/stand.rs"]
mod stand;

use std::thread;

use differences::Table;
use picture::Album;
use replicascope::model::lab::Generation;
use scenarios::SCENARIOS;
use stand::Stand;

#[test]
fn simulated_servers_look_like_real_ones_to_the_product() {
    let table = Table::read();
    let (real, simulated) = thread::scope(|scope| {
        let real = scope.spawn(|| record(Stand::real()));
        let simulated = scope.spawn(|| record(Stand::simulated()));
        (
            real.join().expect("the scenarios run on real servers"),
            simulated
                .join()
                .expect("the scenarios run on simulated servers"),
        )
    });
    let mut unexplained = Vec::new();
    for difference in real.differences(&simulated) {
        if !table.explains(&difference) {
            unexplained.push(difference.to_string());
        }
    }
    assert!(
        unexplained.is_empty(),
        "{} differences that no row of the table explains:\n{}",
        unexplained.len(),
        unexplained.join("\n")
    );
    let idle = table.idle_rows();
    assert!(
        idle.is_empty(),
        "rows of the table that explain nothing any more:\n{}",
        idle.join("\n")
    );
}

#[test]
fn a_simulated_mariadb_refuses_as_a_real_one() {
    let (mut real, mut simulated) = (Album::default(), Album::default());
    scenarios::mariadb(&mut Stand::real_mariadb(), &mut real);
    scenarios::mariadb(
        &mut Stand::simulated_of(Generation::MariaDb1011),
        &mut simulated,
    );
    let told = real.differences(&simulated);
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

fn record(mut stand: Stand) -> Album {
    let mut album = Album::default();
    for (name, scenario) in SCENARIOS {
        eprintln!("{}: {name}", stand.name);
        album.begin(name);
        scenario(&mut stand, &mut album);
        stand.settle();
    }
    album
}
