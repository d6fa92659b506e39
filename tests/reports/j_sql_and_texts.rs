//! J. SQL environment, texts.

use super::support::stage::Generation;
use super::support::stage::{replica, replica_of, source_of, stage};
use replicascope::lab::wire::Rows;

#[test]
fn r42_no_statement_depends_on_sql_mode() {
    for generation in Generation::ALL {
        let mode = "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,ONLY_FULL_GROUP_BY,ANSI";
        let players = [source_of(generation), replica_of(generation)]
            .map(|player| player.variable("sql_mode", mode));
        let mut stage = stage(players).watch();
        stage.settle();
        for name in ["source", "replica"] {
            let statements = stage.server(name).statements();
            assert!(statements.len() > 10);
            for statement in &statements {
                assert!(
                    !statement.sql.contains('"'),
                    "{generation:?}: {}",
                    statement.sql
                );
                assert!(
                    !statement.sql.contains("||"),
                    "{generation:?}: {}",
                    statement.sql
                );
            }
            for login in stage.server(name).logins() {
                let mut own = statements
                    .iter()
                    .filter(|s| s.connection_id == login.connection_id);
                // What is asked before the mode is ours has literals without anything to escape.
                let first = own.next().expect("a statement");
                assert!(!first.sql.contains('\\'), "{}", first.sql);
                let second = own.next().expect("a second statement");
                assert!(
                    second.sql.contains("sql_mode=''"),
                    "{generation:?}: {}",
                    second.sql
                );
            }
        }
    }
}

#[test]
fn r43_bytes_that_are_no_text_are_shown_escaped_and_lose_nothing() {
    let long = "x".repeat(65_536);
    let mut text = vec![0x62, 0xAE, 0xE1, 0xBD, b' ', 0xAC];
    text.extend(long.as_bytes());
    let player = replica()
        .field("Replica_SQL_Running", "No")
        .null("Seconds_Behind_Source")
        .field("Last_SQL_Errno", "1366")
        .alter(|rows: &mut Rows| {
            let at = rows
                .columns
                .iter()
                .position(|c| c.name == "Last_SQL_Error")
                .expect("there");
            rows.rows[0][at] = Some(text);
        });
    let mut stage = player.watch();
    let view = stage.until("broken", |view| view.finding("applier_broken").is_some());
    let expected = format!("b\\xAE\\xE1\\xBD \\xAC{long}");
    let channel = &view.sample("replica").expect("a sample").channels()[0];
    let told = channel.applier_error.as_ref().map(|error| &error.text);
    assert!(told == Some(&expected), "{:?}", told.map(|text| text.len()));
    let raw = channel
        .raw
        .iter()
        .find(|(name, _)| name == "Last_SQL_Error");
    let raw = raw.and_then(|(_, value)| value.as_ref());
    assert!(raw == Some(&expected), "in full, for copying");
    let evidence = format!(
        "{:?}",
        view.finding("applier_broken").expect("found").evidence
    );
    assert!(evidence.contains("xAE"), "{}", &evidence[..200]);
}
