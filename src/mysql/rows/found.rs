//! What a server knows of its surroundings: replicas, events, binary logs, its own write position, Aurora's lag.

use crate::model::replication::Coordinates;
use crate::model::sample::{BinaryLog, FoundReplica, Named, PlatformLag, ScheduledEvent};
use crate::model::time::Span;

use super::{Row, Rows, micros};

/// `SHOW REPLICAS`, `SHOW SLAVE HOSTS`. The host is empty unless the replica sets `report_host`.
pub fn found_replicas(rows: &Rows) -> Vec<FoundReplica> {
    rows.iter()
        .map(|row| FoundReplica {
            host: row.text(&["Host"]).unwrap_or_default(),
            port: row.told(&["Port"]).filter(|port| *port != 0),
            server_id: row.told(&["Server_Id"]),
            uuid: row.filled(&["Replica_UUID", "Slave_UUID"]),
        })
        .collect()
}

/// Adds replicas seen only by their binary log dump: `SHOW REPLICAS` loses entries when two share a server id, and
/// does not know the host of one that does not report it. Their port is not told.
pub fn dump_threads(rows: &Rows, known: &mut Vec<FoundReplica>) {
    for row in rows.iter() {
        let host = host_only(&row.text(&["host"]).unwrap_or_default()).to_owned();
        if host.is_empty() {
            continue;
        }
        let uuid = row.filled(&["uuid"]);
        let same = known
            .iter_mut()
            .find(|replica| match (&uuid, &replica.uuid) {
                (Some(ours), Some(theirs)) => ours.eq_ignore_ascii_case(theirs),
                _ => replica.host == host,
            });
        match same {
            Some(replica) if replica.host.is_empty() => replica.host = host,
            Some(_) => {}
            None => known.push(FoundReplica {
                host,
                port: None,
                server_id: None,
                uuid,
            }),
        }
    }
}

/// `127.0.0.1:46644` → `127.0.0.1`; an IPv6 address has more colons, its port is behind the last.
fn host_only(text: &str) -> &str {
    match text.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => text,
    }
}

pub fn events(rows: &Rows) -> Vec<ScheduledEvent> {
    rows.iter()
        .map(|row| ScheduledEvent {
            schema: row.text(&["EVENT_SCHEMA"]).unwrap_or_default(),
            name: row.text(&["EVENT_NAME"]).unwrap_or_default(),
            status: row.text(&["STATUS"]).unwrap_or_default(),
            originator: row.told(&["ORIGINATOR"]),
            body: row.text(&["EVENT_DEFINITION"]).unwrap_or_default(),
        })
        .collect()
}

pub fn binary_logs(rows: &Rows) -> Vec<BinaryLog> {
    rows.iter()
        .filter_map(|row| {
            Some(BinaryLog {
                file: row.filled(&["Log_name"])?,
                bytes: row.told(&["File_size"])?,
            })
        })
        .collect()
}

/// `SHOW BINARY LOG STATUS`, `SHOW MASTER STATUS`: no row when nothing is written.
pub fn coordinates(rows: &Rows) -> Option<Coordinates> {
    let row = rows.first()?;
    Some(Coordinates {
        file: row.filled(&["File"])?,
        position: row.told(&["Position"])?,
    })
}

/// MariaDB's write position among its counters; empty names where there is no binary log.
pub fn binlog_snapshot(status: &Named) -> Option<Coordinates> {
    Some(Coordinates {
        file: status
            .text("binlog_snapshot_file")
            .filter(|file| !file.is_empty())?
            .to_owned(),
        position: status.number(&["binlog_snapshot_position"])?,
    })
}

/// Aurora's own figures, which are milliseconds with decimals (R33).
pub fn platform_lag(rows: &Rows) -> Vec<PlatformLag> {
    rows.iter().filter_map(replica_lag).collect()
}

fn replica_lag(row: Row<'_>) -> Option<PlatformLag> {
    let bytes = row.bytes(&["REPLICA_LAG_IN_MILLISECONDS", "Replica_lag_in_msec"]);
    let thousandths = micros(bytes.value()?)?;
    Some(PlatformLag {
        server: row.text(&["SERVER_ID"]).unwrap_or_default(),
        lag: Span::from_micros((thousandths + 500) / 1000),
    })
}

#[cfg(test)]
mod tests {
    use super::super::captured::{row, table};
    use super::*;

    #[test]
    fn r33_aurora_speaks_milliseconds() {
        let found = platform_lag(&row(&[
            ("Server_id", Some("reader-1")),
            ("Replica_lag_in_msec", Some("19.299")),
        ]));
        assert_eq!(found[0].lag, Span::from_micros(19_299));
        let found = platform_lag(&row(&[
            ("SERVER_ID", Some("reader-1")),
            ("REPLICA_LAG_IN_MILLISECONDS", None),
        ]));
        assert!(found.is_empty(), "a lag that is not told is not zero");
    }

    #[test]
    fn dump_threads_fill_what_the_list_of_replicas_lacks() {
        let mut known = found_replicas(&table(
            &["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"],
            &[
                &[
                    Some("3"),
                    Some("db3"),
                    Some("3306"),
                    Some("1"),
                    Some("00000003-aaaa-11f0-8000-000000000000"),
                ],
                &[
                    Some("2"),
                    Some(""),
                    Some("3306"),
                    Some("1"),
                    Some("00000002-aaaa-11f0-8000-000000000000"),
                ],
            ],
        ));
        let dumps = table(
            &["host", "uuid"],
            &[
                &[
                    Some("10.0.0.3:46644"),
                    Some("00000003-aaaa-11f0-8000-000000000000"),
                ],
                &[
                    Some("10.0.0.2"),
                    Some("00000002-AAAA-11f0-8000-000000000000"),
                ],
                &[
                    Some("2abc::1:46660"),
                    Some("00000004-aaaa-11f0-8000-000000000000"),
                ],
                &[Some("2abc::1:46661"), None],
            ],
        );
        dump_threads(&dumps, &mut known);
        let hosts: Vec<_> = known.iter().map(|r| r.host.as_str()).collect();
        assert_eq!(hosts, ["db3", "10.0.0.2", "2abc::1"]);
        assert_eq!(known[2].port, None);
    }

    #[test]
    fn the_old_names_are_read_too() {
        let found = found_replicas(&row(&[
            ("Server_id", Some("2")),
            ("Host", Some("db2")),
            ("Port", Some("3306")),
            ("Master_id", Some("1")),
        ]));
        assert_eq!((found[0].server_id, found[0].port), (Some(2), Some(3306)));
        assert_eq!(
            coordinates(&row(&[
                ("File", Some("binlog.000001")),
                ("Position", Some("767"))
            ])),
            Some(Coordinates {
                file: "binlog.000001".into(),
                position: 767
            })
        );
    }
}
