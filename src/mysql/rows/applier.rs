//! Applier workers, coordinators and receiver times from one answer of `performance_schema`
//! (`queries::appliers`); and what little MariaDB tells, from its process list.

use std::collections::HashMap;

use crate::model::replication::{
    AppliedTransaction, ApplierPart, ApplierThread, ReceiverTimes, ReplicationError,
};
use crate::model::time::ServerTime;

use super::{Row, Rows, micros};

/// What one answer told about all channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appliers {
    pub threads: Vec<ApplierThread>,
    /// By channel name.
    pub receivers: HashMap<String, ReceiverTimes>,
}

/// Rows tell in `part` what they are: `w`orker, `c`oordinator, `r`eceiver.
pub fn appliers(rows: &Rows) -> Appliers {
    let mut told = Appliers::default();
    for row in rows.iter() {
        let channel = row.text(&["channel_name"]).unwrap_or_default();
        match row.word(&["part"]).as_deref() {
            Some("r") => {
                told.receivers.insert(channel, receiver(row));
            }
            Some("c") => {
                told.threads
                    .push(thread(row, channel, ApplierPart::Coordinator));
            }
            Some("w") => {
                let number = row.told(&["worker_id"]).unwrap_or(0);
                told.threads
                    .push(thread(row, channel, ApplierPart::Worker(number)));
            }
            _ => {}
        }
    }
    told
}

fn receiver(row: Row<'_>) -> ReceiverTimes {
    ReceiverTimes {
        last_heartbeat: stamp(row, "heartbeat"),
        last_queued_gtid: row.filled(&["last_gtid"]),
        last_queued_original_commit: stamp(row, "last_commit"),
        last_queued_end: stamp(row, "last_end"),
    }
}

fn thread(row: Row<'_>, channel: String, part: ApplierPart) -> ApplierThread {
    let error = error(row);
    let mut applying = transaction(
        row,
        ["now_gtid", "now_commit", "now_start", "", "now_retries"],
    );
    let mut last = transaction(
        row,
        [
            "last_gtid",
            "last_commit",
            "last_start",
            "last_end",
            "last_retries",
        ],
    );
    // 5.7 tells only the transaction last seen: of a worker stopped by an error it is the one that failed.
    if let Some(gtid) = row.filled(&["seen_gtid"]) {
        let seen = Some(AppliedTransaction {
            gtid,
            ..AppliedTransaction::default()
        });
        if error.is_some() {
            applying = seen;
        } else {
            last = seen;
        }
    }
    ApplierThread {
        channel,
        part,
        thread: row.told(&["thread"]),
        running: row
            .word(&["service_state"])
            .is_some_and(|state| state.eq_ignore_ascii_case("on")),
        applying,
        last_applied: last,
        error,
    }
}

/// `names`: GTID, original commit, start, end, retries. The text `ANONYMOUS` is kept: it is a transaction too.
fn transaction(row: Row<'_>, names: [&str; 5]) -> Option<AppliedTransaction> {
    let [gtid, commit, start, end, retries] = names;
    Some(AppliedTransaction {
        gtid: row.filled(&[gtid])?,
        original_commit: stamp(row, commit),
        started: stamp(row, start),
        ended: stamp(row, end),
        retries: row.told(&[retries]).unwrap_or(0),
    })
}

fn error(row: Row<'_>) -> Option<ReplicationError> {
    let number = row.told::<u32>(&["error_number"]).filter(|n| *n != 0)?;
    Some(ReplicationError {
        number,
        text: row.text(&["error_text"]).unwrap_or_default(),
        at: row
            .filled(&["error_at"])
            .filter(|at| !at.starts_with("0000-00-00")),
    })
}

/// Unix seconds with decimals; 0 stands for `0000-00-00 00:00:00.000000`, which stands for "none".
fn stamp(row: Row<'_>, name: &str) -> Option<ServerTime> {
    let bytes = row.bytes(&[name]);
    micros(bytes.value()?)
        .filter(|micros| *micros > 0)
        .map(ServerTime)
}

/// MariaDB's applier threads, from the process list: they exist and have a thread id, more is not told. `only_channel`
/// is the name of the connection when there is but one; the list itself does not say whose thread it is.
pub fn mariadb_appliers(rows: &Rows, only_channel: Option<&str>) -> Vec<ApplierThread> {
    let mut workers = 0;
    rows.iter()
        .filter_map(|row| {
            let part = match row.word(&["command"]).as_deref() {
                Some("Slave_SQL") => ApplierPart::Coordinator,
                Some("Slave_worker") => {
                    workers += 1;
                    ApplierPart::Worker(workers)
                }
                _ => return None,
            };
            Some(ApplierThread {
                channel: only_channel.unwrap_or_default().to_owned(),
                part,
                thread: row.told(&["id"]),
                running: true,
                applying: None,
                last_applied: None,
                error: None,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::captured::table;
    use super::*;

    const NAMES: &[&str] = &[
        "part",
        "channel_name",
        "worker_id",
        "thread",
        "service_state",
        "error_number",
        "error_text",
        "error_at",
        "now_gtid",
        "now_commit",
        "now_start",
        "now_retries",
        "last_gtid",
        "last_commit",
        "last_start",
        "last_end",
        "last_retries",
        "heartbeat",
    ];
    const GTID: &str = "00000001-aaaa-11f0-8000-000000000000:818";

    #[test]
    fn a_busy_worker_an_idle_one_and_the_receiver_in_one_answer() {
        let z = Some("0.000000");
        let told = appliers(&table(
            NAMES,
            &[
                &[
                    Some("w"),
                    Some(""),
                    Some("1"),
                    Some("13"),
                    Some("ON"),
                    Some("0"),
                    Some(""),
                    Some("0000-00-00 00:00:00.000000"),
                    Some(GTID),
                    Some("1764444709.934913"),
                    Some("1764444709.936874"),
                    Some("2"),
                    Some(""),
                    z,
                    z,
                    z,
                    Some("0"),
                    None,
                ],
                &[
                    Some("w"),
                    Some(""),
                    Some("2"),
                    None,
                    Some("ON"),
                    Some("0"),
                    Some(""),
                    Some("0000-00-00 00:00:00.000000"),
                    Some(""),
                    z,
                    z,
                    Some("0"),
                    Some(""),
                    z,
                    z,
                    z,
                    Some("0"),
                    None,
                ],
                &[
                    Some("r"),
                    Some(""),
                    None,
                    None,
                    Some("ON"),
                    Some("0"),
                    Some(""),
                    None,
                    None,
                    None,
                    None,
                    None,
                    Some(GTID),
                    Some("1764444709.934913"),
                    None,
                    Some("1764444709.936496"),
                    None,
                    Some("1764444709.252554"),
                ],
            ],
        ));
        assert_eq!(told.threads.len(), 2);
        let busy = &told.threads[0];
        assert_eq!((busy.part, busy.thread), (ApplierPart::Worker(1), Some(13)));
        assert_eq!(
            busy.applying,
            Some(AppliedTransaction {
                gtid: GTID.into(),
                original_commit: Some(ServerTime(1_764_444_709_934_913)),
                started: Some(ServerTime(1_764_444_709_936_874)),
                ended: None,
                retries: 2,
            })
        );
        assert_eq!(busy.error, None);
        assert_eq!(
            (&told.threads[1].applying, &told.threads[1].last_applied),
            (&None, &None)
        );
        let receiver = &told.receivers[""];
        assert_eq!(
            receiver.last_heartbeat,
            Some(ServerTime(1_764_444_709_252_554))
        );
        assert_eq!(
            receiver.last_queued_end,
            Some(ServerTime(1_764_444_709_936_496))
        );
    }

    #[test]
    fn the_worker_keeps_the_real_error_text_that_the_coordinator_only_points_to() {
        // Captured on 5.7.29: the worker that failed on a duplicate key.
        let told = appliers(&table(
            &[
                "part",
                "channel_name",
                "worker_id",
                "service_state",
                "seen_gtid",
                "error_number",
                "error_text",
                "error_at",
            ],
            &[
                &[
                    Some("w"),
                    Some(""),
                    Some("1"),
                    Some("OFF"),
                    Some("bd96b92b-ec2b-11f1-b483-02fc00000001:44"),
                    Some("1062"),
                    Some(
                        "Worker 1 failed executing transaction 'bd96b92b-ec2b-11f1-b483-02fc00000001:44' at master log binlog.000002, end_log_pos 1318; Could not execute Write_rows event on table shop.orders; Duplicate entry '2000' for key 'PRIMARY', Error_code: 1062",
                    ),
                    Some("2026-11-29 19:34:35"),
                ],
                &[
                    Some("c"),
                    Some(""),
                    None,
                    Some("OFF"),
                    None,
                    Some("1062"),
                    Some("Coordinator stopped because there were error(s) in the worker(s)."),
                    None,
                ],
            ],
        ));
        let worker = &told.threads[0];
        assert!(!worker.running);
        assert_eq!(worker.last_applied, None);
        assert_eq!(
            worker.applying.as_ref().map(|t| t.gtid.ends_with(":44")),
            Some(true)
        );
        let error = worker.error.as_ref().expect("an error");
        assert!(error.text.contains("Duplicate entry '2000'"));
        assert_eq!(told.threads[1].part, ApplierPart::Coordinator);
        assert!(told.threads[1].error.is_some());
    }

    #[test]
    fn mariadb_tells_its_threads_only() {
        let found = mariadb_appliers(
            &table(
                &["id", "command", "state"],
                &[
                    &[
                        Some("5"),
                        Some("Slave_IO"),
                        Some("Waiting for master to send event"),
                    ],
                    &[
                        Some("6"),
                        Some("Slave_SQL"),
                        Some("Slave has read all relay log"),
                    ],
                    &[
                        Some("7"),
                        Some("Slave_worker"),
                        Some("Waiting for work from SQL thread"),
                    ],
                ],
            ),
            Some("east"),
        );
        let parts: Vec<_> = found.iter().map(|t| (t.part, t.thread)).collect();
        assert_eq!(
            parts,
            [
                (ApplierPart::Coordinator, Some(6)),
                (ApplierPart::Worker(1), Some(7))
            ]
        );
        assert_eq!(found[0].channel, "east");
    }
}
