//! A few of the reports as a person without a display sees them: `watch --json` and `check`.

use std::process::{Command, Output};

use super::support::captures::capture_without_rows;
use super::support::scripted::text::contains;
use super::support::stage::Generation::MariaDb1011;
use super::support::stage::{Actor, Player, replica, replica_of, source, stage};
use replicascope::lab::wire::{Rows, SqlError};

fn run(actors: &[Actor], password: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replicascope"));
    command
        .args(arguments)
        .env("REPLICASCOPE_PASSWORD", password);
    for actor in actors {
        let address = format!("monitor@127.0.0.1:{}", actor.server.port());
        command.args(["--server", &address]);
    }
    command.output().expect("the program runs")
}

/// The last line about the last server.
fn last_line(players: impl IntoIterator<Item = Player>) -> serde_json::Value {
    let (actors, _) = stage(players).start();
    let arguments = ["watch", "--json", "--interval", "200ms", "--for", "4s"];
    let output = run(&actors, "s3cret", &arguments);
    let text = String::from_utf8(output.stdout).expect("text");
    let port = actors.last().expect("a server").server.port().to_string();
    let line = text
        .lines()
        .rfind(|line| line.contains(&format!("127.0.0.1:{port}\"")));
    let line = line.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(line).expect("JSON")
}

#[test]
fn r01_watch_says_unknown_and_null_where_the_server_said_null() {
    let line = last_line([
        source(),
        replica()
            .field("Replica_SQL_Running", "No")
            .null("Seconds_Behind_Source"),
    ]);
    let seconds = &line["methods"]["seconds_behind"];
    assert_eq!(seconds["state"], "unknown", "{line}");
    assert!(
        seconds["seconds"].is_null() && seconds["why"].is_string(),
        "{line}"
    );
    assert_eq!(
        (line["health"].as_str(), line["routable"].as_bool()),
        (Some("stopped"), Some(false))
    );
}

#[test]
fn r33_watch_tells_auroras_lag_in_seconds() {
    let lag = Rows::text(&["SERVER_ID", "REPLICA_LAG_IN_MILLISECONDS"])
        .row([Some("reader-1"), Some("19.299")]);
    let line = last_line([replica()
        .channels(capture_without_rows("mysql97/quiet"))
        .variable("aurora_version", "3.08.0")
        .variable("innodb_read_only", "ON")
        .on(contains("replica_host_status"), lag)]);
    assert_eq!(line["lag"]["seconds"].as_f64(), Some(0.019_299), "{line}");
    assert_eq!(line["lag"]["method"], "platform", "{line}");
}

#[test]
fn r34_check_is_unknown_when_the_status_is_refused() {
    let refusal = "Access denied; you need (at least one of) the SUPER, SLAVE MONITOR privilege(s) for this operation";
    let (actors, _) = stage([replica_of(MariaDb1011)]).start();
    actors[0]
        .server
        .set("SHOW ALL REPLICAS STATUS", SqlError::new(1227, refusal));
    let output = run(&actors, "s3cret", &["check"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.starts_with("REPLICATION UNKNOWN"), "{text}");
}

#[test]
fn r12_check_is_critical_when_the_applier_is_stopped() {
    let (actors, _) = stage([
        source(),
        replica()
            .field("Replica_SQL_Running", "No")
            .null("Seconds_Behind_Source"),
    ])
    .start();
    let output = run(&actors, "s3cret", &["check"]);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn r41_a_password_of_any_character_reaches_the_server_from_the_environment() {
    let password = "p#a@s:s/w?o%r\"d' x";
    let (actors, _) = stage([source().password(password), replica().password(password)]).start();
    let output = run(&actors, password, &["check"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        !text.contains(password) && !String::from_utf8_lossy(&output.stderr).contains(password)
    );
}
