//! A plan as a Docker compose file: a container for each server, and one that sets replication up and ends.

use std::fmt::Write;

use crate::lab::sandbox::shape;
use crate::model::lab::{Generation, LabPlan};
use crate::model::server::Flavour;

use super::steps::{settings, steps};
use super::{ACCOUNTS, generation, release};

/// The first server's port on the host; the others follow.
const FIRST_PORT: u16 = 13_306;
const PORT_INSIDE: u16 = 3306;

/// The file. Starting it takes `ROOT_PASSWORD` and the passwords of the accounts in the environment or in `.env`.
pub fn file(plan: &LabPlan) -> String {
    let generation = generation(plan);
    let servers = shape::servers(plan);
    let mut text = heading(plan, generation);
    text += "name: replicascope-lab\n\nservices:\n";
    for (number, _) in servers.iter().enumerate() {
        text += &service(plan, generation, number);
    }
    text + &setup(plan, generation)
}

fn heading(plan: &LabPlan, generation: Generation) -> String {
    let variables = ACCOUNTS.map(|(_, variable)| variable).join(", ");
    let last = FIRST_PORT + shape::servers(plan).len() as u16 - 1;
    format!(
        "# A replication topology of {} servers on 127.0.0.1:{FIRST_PORT} to {last}.\n\
         # Start it:    docker compose up --detach\n\
         # Passwords:   ROOT_PASSWORD, {variables}\n\
         #              from the environment or a file .env beside this one; letters and digits only\n\
         # Look at it:  docker compose logs setup\n\
         # End it:      docker compose down --volumes\n",
        generation.code(),
    )
}

fn service(plan: &LabPlan, generation: Generation, number: usize) -> String {
    let servers = shape::servers(plan);
    let name = &servers[number].name;
    let port = FIRST_PORT + number as u16;
    let mut text = format!(
        "  {name}:\n    image: {}\n    hostname: {name}\n    environment:\n      {}: {}\n    ports:\n      - {}\n    command:\n",
        quoted(&image(generation)),
        root_variable(generation),
        quoted("${ROOT_PASSWORD:?set ROOT_PASSWORD}"),
        quoted(&format!("127.0.0.1:{port}:{PORT_INSIDE}")),
    );
    let mut settings = settings(plan, &release(generation), number);
    settings.push(("report-host".to_owned(), name.clone()));
    for (name, value) in settings {
        let _ = writeln!(text, "      - {}", quoted(&format!("--{name}={value}")));
    }
    let _ = write!(
        text,
        "    healthcheck:\n      test: [\"CMD-SHELL\", {}]\n      interval: 2s\n      timeout: 5s\n      retries: 90\n\n",
        quoted(&health(generation))
    );
    text
}

/// Over TCP, which the image offers only when its own preparations are over.
fn health(generation: Generation) -> String {
    format!(
        "{} --protocol=tcp --host=127.0.0.1 --user=root --password=\"$${}\" --execute='DO 1'",
        client(generation),
        root_variable(generation)
    )
}

fn setup(plan: &LabPlan, generation: Generation) -> String {
    let servers = shape::servers(plan);
    let mut text = format!(
        "  setup:\n    image: {}\n    restart: \"no\"\n    environment:\n",
        quoted(&image(generation))
    );
    for variable in ["ROOT_PASSWORD"]
        .into_iter()
        .chain(ACCOUNTS.map(|(_, variable)| variable))
    {
        let value = quoted(&format!("${{{variable}:?set {variable}}}"));
        let _ = writeln!(text, "      {variable}: {value}");
    }
    text += "    depends_on:\n";
    for server in &servers {
        let _ = writeln!(
            text,
            "      {}:\n        condition: service_healthy",
            server.name
        );
    }
    text += "    entrypoint: [\"bash\", \"-euc\"]\n    command:\n      - |\n";
    for line in script(plan, generation).lines() {
        // Compose reads a single dollar as a variable of its own.
        let line = line.replace('$', "$$");
        text += if line.is_empty() { "" } else { "        " };
        text += &line;
        text.push('\n');
    }
    text
}

/// What the container `setup` runs. A topology that was set up before is left as it is.
pub(super) fn script(plan: &LabPlan, generation: Generation) -> String {
    let servers = shape::servers(plan);
    let first = &servers[0].name;
    let mut script = format!(
        "say() {{ {} --host=\"$1\" --user=root --password=\"$ROOT_PASSWORD\" --skip-column-names --default-character-set=utf8mb4; }}\n\
         there=$(echo \"SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'shop'\" | say {first})\n\
         if [ \"$there\" = 1 ]; then echo 'set up before'; exit 0; fi\n",
        client(generation)
    );
    let release = release(generation);
    for step in steps(plan, &release, |server| {
        (servers[server].name.clone(), PORT_INSIDE)
    }) {
        let _ = write!(
            script,
            "say {} <<SQL\n{}SQL\n",
            servers[step.server].name, step.sql
        );
    }
    script + "echo 'replication is set up'\n"
}

fn image(generation: Generation) -> String {
    generation.code().replacen('-', ":", 1)
}

fn client(generation: Generation) -> &'static str {
    match generation.flavour() {
        Flavour::MariaDb => "mariadb",
        _ => "mysql",
    }
}

fn root_variable(generation: Generation) -> &'static str {
    match generation.flavour() {
        Flavour::MariaDb => "MARIADB_ROOT_PASSWORD",
        _ => "MYSQL_ROOT_PASSWORD",
    }
}

/// A scalar that YAML takes for nothing else.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
