//! The lab's real servers: every shape replicates, links do what they are told, and nothing is left.

#[path = "../support/mod.rs"]
mod support;

mod crashes;
mod deployments;
mod figures;
mod leftovers;
mod links;
mod shapes;
mod troubles;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use replicascope::lab::bed::{Bed, LinkQuality};
use replicascope::lab::sandbox::{self, Place, Sandbox, Watch};
use replicascope::model::lab::{FaultKind, Ground, LabAccount, LabPlan, LabServer, Shape};
use replicascope::model::server::Flavour;
use replicascope::model::time::Span;
use replicascope::mysql::hand::Hand;
use replicascope::mysql::{Address, Dialer, Endpoint};
use support::servers::{Flavour as Installed, wait_for};

const SOON: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(20);

const MYSQL: Flavour = Flavour::MySql;
const MARIADB: Flavour = Flavour::MariaDb;

fn installed(flavour: Flavour) -> PathBuf {
    if flavour.is_mariadb() {
        Installed::MariaDb.program()
    } else {
        Installed::MySql.program()
    }
}

fn plan(flavour: Flavour, shape: Shape, replicas: u32) -> LabPlan {
    LabPlan {
        ground: Ground::Real(flavour),
        shape,
        replicas,
        ..LabPlan::default()
    }
}

/// A cache that all tests share for the templates; each lab has a folder of its own in it.
fn place(flavour: Flavour) -> Place {
    Place {
        program: Some(installed(flavour)),
        cache: Some(shared_cache()),
    }
}

fn shared_cache() -> PathBuf {
    Installed::MySql
        .prefix()
        .parent()
        .expect("the cache of the servers")
        .join("lab-of-tests")
}

fn start(flavour: Flavour, shape: Shape, replicas: u32) -> Sandbox {
    let started = Instant::now();
    let plan = plan(flavour, shape, replicas);
    let sandbox = Sandbox::start(&plan, &place(flavour), &Watch::NOBODY)
        .unwrap_or_else(|trouble| panic!("{trouble:#?}"));
    eprintln!(
        "{} {shape:?} up in {:.1} s",
        sandbox.release(),
        started.elapsed().as_secs_f64()
    );
    sandbox
}

fn hand_of(lab: &Sandbox, server: LabServer, account: &LabAccount) -> Hand {
    try_hand(lab, server, account).unwrap_or_else(|trouble| panic!("{server}: {trouble:#?}"))
}

fn try_hand(
    lab: &Sandbox,
    server: LabServer,
    account: &LabAccount,
) -> Result<Hand, replicascope::model::trouble::Trouble> {
    let address = Address::Tcp {
        host: "127.0.0.1".into(),
        port: lab.nodes()[server].port,
    };
    let endpoint = Endpoint::new(address, account.user, Some(account.password.expose()));
    Hand::open(&Dialer::new(endpoint), ANSWER)
}

fn hand(lab: &Sandbox, server: LabServer) -> Hand {
    hand_of(lab, server, &lab.accounts().admin)
}

fn value(lab: &Sandbox, server: LabServer, sql: &str) -> String {
    hand(lab, server)
        .value(sql)
        .unwrap_or_else(|trouble| panic!("{server}: {sql}: {trouble:#?}"))
        .unwrap_or_default()
}

fn run(lab: &Sandbox, server: LabServer, sql: &str) {
    hand(lab, server)
        .run(sql)
        .unwrap_or_else(|trouble| panic!("{server}: {sql}: {trouble:#?}"));
}

/// Writes an order on a source, and waits until these servers have it.
#[track_caller]
fn assert_orders_travel(lab: &Sandbox, source: LabServer, to: &[LabServer]) {
    let mark = format!("mark {}", fastrand::u64(..));
    run(
        lab,
        source,
        &format!(
            "INSERT INTO shop.orders (customer, address, status, amount) VALUES (1, '{mark}', 'new', 1.5)"
        ),
    );
    for server in to {
        let count = format!("SELECT COUNT(*) FROM shop.orders WHERE address = '{mark}'");
        wait_for(&format!("server {server} to have the order"), SOON, || {
            let found = value(lab, *server, &count);
            if found == "1" { Ok(()) } else { Err(found) }
        });
    }
}

type Status = std::collections::BTreeMap<String, String>;

fn channels(lab: &Sandbox, server: LabServer) -> Vec<Status> {
    let sql = if value(lab, server, "SELECT @@version").contains("MariaDB") {
        "SHOW ALL REPLICAS STATUS"
    } else {
        "SHOW REPLICA STATUS"
    };
    let rows = hand(lab, server).named_rows(sql).expect("a status");
    rows.into_iter()
        .map(|row| {
            row.into_iter()
                .map(|(name, value)| {
                    (
                        name.replace("Slave_", "Replica_"),
                        value.unwrap_or_default(),
                    )
                })
                .collect()
        })
        .collect()
}

fn threads(lab: &Sandbox, server: LabServer) -> Vec<(String, String)> {
    channels(lab, server)
        .iter()
        .map(|c| {
            (
                c["Replica_IO_Running"].clone(),
                c["Replica_SQL_Running"].clone(),
            )
        })
        .collect()
}

fn yes_yes() -> (String, String) {
    ("Yes".to_owned(), "Yes".to_owned())
}

/// A script in place of a server's program.
#[cfg(unix)]
fn wrapper(path: &Path, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, script).expect("a writable folder");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    // A process that another test starts just now may still have the file open for writing.
    let is_busy = || {
        let tried = std::process::Command::new(path).arg("--version").output();
        tried.is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy)
    };
    while is_busy() {
        std::thread::sleep(Duration::from_millis(1));
    }
    path.to_owned()
}

/// The folders of labs in a cache.
fn runs(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.join("runs"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}
