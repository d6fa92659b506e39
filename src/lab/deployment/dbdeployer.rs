//! A plan as a shell script around dbdeployer, which starts servers unpacked from archives.
//!
//! Its own replication topologies know no chains and no delays, and their words depend on the version; so it starts bare
//! servers, and the script says the rest.

use std::fmt::Write;

use crate::lab::sandbox::shape;
use crate::model::lab::{Generation, LabPlan};

use super::steps::{settings, steps};
use super::{ACCOUNTS, generation, release};

const FOLDER: &str = "replicascope_lab";
/// Nodes are numbered from one, and so are their ports from here.
const BASE_PORT: u16 = 14_306;

/// The script. `VERSION` names the archive that was unpacked; the release of the plan unless set.
pub fn script(plan: &LabPlan) -> String {
    let generation = generation(plan);
    let mut text = heading(plan, generation);
    text += &deploy(plan, generation);
    let release = release(generation);
    let reach = |server| ("127.0.0.1".to_owned(), BASE_PORT + 1 + server as u16);
    for step in steps(plan, &release, reach) {
        let _ = write!(text, "say {} <<SQL\n{}SQL\n", step.server + 1, step.sql);
    }
    for (number, server) in shape::servers(plan).iter().enumerate() {
        let (port, folder) = (BASE_PORT + 1 + number as u16, number + 1);
        let _ = writeln!(
            text,
            "echo '{}: 127.0.0.1:{port} ({FOLDER}/n{folder})'",
            server.name
        );
    }
    text
}

fn heading(plan: &LabPlan, generation: Generation) -> String {
    let version = generation.version().split('-').next().unwrap_or_default();
    let count = shape::servers(plan).len();
    let mut text = format!(
        "#!/usr/bin/env bash\n\
         # A replication topology of {count} {} servers on loopback, with dbdeployer.\n\
         # Once:    dbdeployer unpack ARCHIVE\n\
         # End it:  dbdeployer delete {FOLDER}\n\
         set -euo pipefail\n\
         VERSION=${{VERSION:-{version}}}\n\
         SANDBOXES=${{SANDBOXES:-$HOME/sandboxes}}\n",
        generation.code()
    );
    for (_, variable) in ACCOUNTS {
        let _ = writeln!(
            text,
            ": \"${{{variable}:?set {variable} (letters and digits)}}\""
        );
    }
    text + &format!(
        "say() {{ \"$SANDBOXES/{FOLDER}/n$1\" -u root --skip-column-names --default-character-set=utf8mb4; }}\n\n"
    )
}

/// First servers that differ in nothing but their numbers, then what each is told besides.
fn deploy(plan: &LabPlan, generation: Generation) -> String {
    let release = release(generation);
    let each: Vec<Vec<(String, String)>> = (0..shape::servers(plan).len())
        .map(|number| settings(plan, &release, number))
        .collect();
    let is_common = |setting: &&(String, String)| each.iter().all(|all| all.contains(setting));
    // dbdeployer itself gives each node a number, a port and what it reports.
    let is_ours = |setting: &&(String, String)| setting.0 != "server-id";
    // One alone it would not call multiple.
    let nodes = each.len().max(2);
    let mut text = format!(
        "dbdeployer deploy multiple \"$VERSION\" --nodes={nodes} --sandbox-directory={FOLDER} \\\n  \
         --base-port={BASE_PORT} --bind-address=127.0.0.1"
    );
    for (name, value) in each[0].iter().filter(is_ours).filter(is_common) {
        let _ = write!(text, " \\\n  --my-cnf-options='{name}={value}'");
    }
    text += "\n\n";
    for (number, own) in each.iter().enumerate() {
        let own: Vec<String> = own
            .iter()
            .filter(|setting| is_ours(setting) && !is_common(setting))
            .map(|(name, value)| format!(" {name}={value}"))
            .collect();
        if !own.is_empty() {
            let node = number + 1;
            let _ = writeln!(
                text,
                "\"$SANDBOXES/{FOLDER}/node{node}/add_option\"{}",
                own.concat()
            );
        }
    }
    text + "\n"
}
