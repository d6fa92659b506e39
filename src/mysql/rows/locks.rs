//! Who waits for whose lock, and which statements run: asked only while something is late.

use crate::model::sample::{LockWait, RunningStatement};
use crate::model::time::Span;

use super::{Row, Rows};

const SYSTEM_USER: &str = "system user";

/// Rows of `queries::lock_waits`.
pub fn lock_waits(rows: &Rows) -> Vec<LockWait> {
    rows.iter()
        .filter_map(|row| {
            Some(LockWait {
                waiting_thread: row.told(&["waiting"])?,
                waiter_is_applier: row
                    .word(&["applier"])
                    .is_some_and(|word| word == "1" || word.contains(SYSTEM_USER)),
                object: row.filled(&["object"]),
                waited: row.told(&["waited"]).map(Span::from_secs),
                blocking_thread: row.told(&["blocking"]),
                blocking_user: row.filled(&["blocking_user"]),
                blocking_statement: row.filled(&["blocking_statement"]),
            })
        })
        .collect()
}

/// Waits that only a thread's state in the process list betrays (`Waiting for global read lock`, `Waiting for backup
/// lock`): who blocks is not told.
pub fn waits_seen_in_states(rows: &Rows) -> Vec<LockWait> {
    rows.iter()
        .filter_map(|row| {
            let state = row.filled(&["state"])?;
            if !is_lock_wait(&state) {
                return None;
            }
            Some(LockWait {
                waiting_thread: row.told(&["id"])?,
                waiter_is_applier: is_system(row),
                object: Some(state),
                waited: age(row),
                blocking_thread: None,
                blocking_user: None,
                blocking_statement: None,
            })
        })
        .collect()
}

/// Adds those of threads not yet known to wait.
pub fn add_waits_seen_in_states(waits: &mut Vec<LockWait>, seen: Vec<LockWait>) {
    for wait in seen {
        let known = waits
            .iter()
            .any(|known| known.waiting_thread == wait.waiting_thread);
        if !known {
            waits.push(wait);
        }
    }
}

fn is_lock_wait(state: &str) -> bool {
    state.starts_with("Waiting for") && state.ends_with("lock")
}

/// Statements of people: replication's and the server's own threads are not among them.
pub fn statements(rows: &Rows) -> Vec<RunningStatement> {
    rows.iter()
        .filter(|row| !is_system(*row))
        .filter_map(|row| {
            Some(RunningStatement {
                thread: row.told(&["id"])?,
                user: row.text(&["user"]).unwrap_or_default(),
                host: row.text(&["host"]).unwrap_or_default(),
                command: row.text(&["command"]).unwrap_or_default(),
                age: age(row),
                state: row.filled(&["state"]),
                statement: row.filled(&["info"]),
            })
        })
        .collect()
}

fn is_system(row: Row<'_>) -> bool {
    matches!(
        row.word(&["user"]).as_deref(),
        Some("system user" | "event_scheduler")
    )
}

/// Never negative: a replication thread's "time" is counted from the event's stamp and can be in the future.
fn age(row: Row<'_>) -> Option<Span> {
    row.told::<i64>(&["time"])
        .map(|s| Span::from_secs(s.max(0)))
}

#[cfg(test)]
mod tests {
    use super::super::captured::table;
    use super::*;

    const LIST: &[&str] = &["id", "user", "host", "command", "time", "state", "info"];

    #[test]
    fn an_applier_behind_a_global_read_lock_is_seen_by_its_state() {
        let list = table(
            LIST,
            &[
                &[
                    Some("12"),
                    Some("system user"),
                    Some(""),
                    Some("Query"),
                    Some("7"),
                    Some("Waiting for global read lock"),
                    None,
                ],
                &[
                    Some("13"),
                    Some("system user"),
                    Some(""),
                    Some("Connect"),
                    Some("7"),
                    Some("Waiting for an event from Coordinator"),
                    None,
                ],
                &[
                    Some("50"),
                    Some("app"),
                    Some("10.0.0.9:4711"),
                    Some("Query"),
                    Some("9"),
                    Some("executing"),
                    Some("SELECT 1"),
                ],
            ],
        );
        let seen = waits_seen_in_states(&list);
        assert_eq!(seen.len(), 1);
        assert_eq!(
            (seen[0].waiting_thread, seen[0].waiter_is_applier),
            (12, true)
        );
        let running = statements(&list);
        assert_eq!(running.len(), 1);
        assert_eq!(running[0].statement.as_deref(), Some("SELECT 1"));

        let mut waits = lock_waits(&table(
            &[
                "waiting",
                "applier",
                "object",
                "waited",
                "blocking",
                "blocking_user",
                "blocking_statement",
            ],
            &[&[
                Some("12"),
                Some("1"),
                Some("GLOBAL"),
                Some("7"),
                Some("50"),
                Some("app"),
                Some("FLUSH TABLES WITH READ LOCK"),
            ]],
        ));
        add_waits_seen_in_states(&mut waits, seen);
        assert_eq!(waits.len(), 1, "the wait that names its blocker stays");
        assert_eq!(waits[0].blocking_thread, Some(50));
    }
}
