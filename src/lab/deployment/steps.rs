//! What is said to bare servers, in order, until they replicate as planned.

use crate::lab::sandbox::accounts;
use crate::lab::sandbox::release::{Release, Upstream};
use crate::lab::sandbox::role::{Role, on};
use crate::lab::sandbox::shape::{self, Planned};
use crate::lab::schema;
use crate::model::lab::{LabPlan, LabServer};
use crate::model::server::Version;

use super::ACCOUNTS;

/// Statements for one server, each with its `;`.
pub(super) struct Step {
    pub server: LabServer,
    pub sql: String,
}

/// `reach` tells the host and port at which replicas find a server. `$NAME` stands for a password in a variable.
pub(super) fn steps(
    plan: &LabPlan,
    release: &Release,
    reach: impl Fn(LabServer) -> (String, u16),
) -> Vec<Step> {
    let servers = shape::servers(plan);
    let numbered = || servers.iter().enumerate();
    let mut steps = Vec::new();
    for (server, _) in numbered() {
        let sql = format!("{};\n{}", forget(release), make_accounts(release));
        steps.push(Step { server, sql });
    }
    for (server, planned) in numbered() {
        for source in &planned.part.copies_from {
            let sql = point(release, planned, *source, &reach(*source));
            steps.push(Step { server, sql });
        }
    }
    for (server, _) in numbered().filter(|(_, planned)| planned.part.copies_from.is_empty()) {
        let sql = ended(&schema::statements(server));
        steps.push(Step { server, sql });
    }
    for (server, planned) in numbered().filter(|(_, planned)| !planned.part.copies_from.is_empty())
    {
        let mut sql = delay(release, planned);
        sql += refuse_writes(release);
        if !sql.is_empty() {
            steps.push(Step { server, sql });
        }
    }
    steps
}

/// What installing wrote into the binlog is on each server and comes from no source: an errant transaction each.
fn forget(release: &Release) -> &'static str {
    if release.is_mariadb() {
        "RESET MASTER; SET GLOBAL gtid_slave_pos = ''"
    } else if release.version >= Version::new(8, 2, 0) {
        "RESET BINARY LOGS AND GTIDS"
    } else {
        "RESET MASTER"
    }
}

fn make_accounts(release: &Release) -> String {
    let variables = ACCOUNTS.map(|(user, variable)| (user, format!("${variable}")));
    let accounts: Vec<(&str, &str)> = variables
        .iter()
        .map(|(user, variable)| (*user, variable.as_str()))
        .collect();
    accounts::statements(release, &accounts) + "SET sql_log_bin = 1;\n"
}

fn point(
    release: &Release,
    replica: &Planned,
    source: LabServer,
    (host, port): &(String, u16),
) -> String {
    let channel = shape::channel(&replica.part.copies_from, source);
    let upstream = Upstream {
        host,
        port: *port,
        user: "repl",
        password: "$REPL_PASSWORD",
    };
    let point = release.point(channel.as_deref(), &upstream);
    let start = release.start_replica(channel.as_deref());
    format!("{point};\n{start};\n")
}

fn ended(statements: &[String]) -> String {
    statements
        .iter()
        .map(|statement| format!("{statement};\n"))
        .collect()
}

fn delay(release: &Release, replica: &Planned) -> String {
    let seconds = replica.delay.micros() / 1_000_000;
    if seconds <= 0 {
        return String::new();
    }
    format!(
        "{};\n{};\n{};\n",
        release.stop_replica(None),
        release.set_delay(seconds),
        release.start_replica(None)
    )
}

/// Last, since the accounts are made on the servers themselves; kept over a restart where the release can. On MariaDB it
/// is an option from the start: it does not hold for who sets up.
fn refuse_writes(release: &Release) -> &'static str {
    if release.is_mariadb() {
        ""
    } else if release.version >= Version::new(8, 0, 0) {
        "SET PERSIST super_read_only = ON;\n"
    } else {
        "SET GLOBAL super_read_only = ON;\n"
    }
}

/// What a server is started with, its number aside.
pub(super) fn settings(
    plan: &LabPlan,
    release: &Release,
    server: LabServer,
) -> Vec<(String, String)> {
    let servers = shape::servers(plan);
    let role = Role {
        release,
        number: server,
        sources: shape::sources(plan.shape),
        part: &servers[server].part,
        semi_sync: plan.semi_sync,
        applier_workers: plan.applier_workers,
    };
    let mut settings = role.settings();
    if release.is_mariadb() {
        settings.push((
            role.read_only_switch().to_owned(),
            on(role.copies()).to_owned(),
        ));
    }
    settings
}
