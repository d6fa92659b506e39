//! Channels from `SHOW REPLICA STATUS`, `SHOW SLAVE STATUS` and MariaDB's `SHOW ALL … STATUS`.

use std::sync::Arc;

use crate::model::gtid::Gtids;
use crate::model::replication::{
    Channel, Coordinates, Field, Filters, ReplicationError, SourceAddress, ThreadState,
};
use crate::model::server::Flavour;
use crate::model::time::Span;

use super::{Row, Rows};

/// One channel per row, in the server's order.
pub fn channels(rows: &Rows, flavour: Flavour) -> Vec<Channel> {
    rows.iter().map(|row| channel(row, flavour)).collect()
}

fn channel(row: Row<'_>, flavour: Flavour) -> Channel {
    let state = |names: &[&str]| ThreadState::from_text(row.word(names).as_deref());
    Channel {
        name: row
            .text(&["Channel_Name", "Connection_name"])
            .unwrap_or_default(),
        source: source(row),
        receiver: state(&["Replica_IO_Running", "Slave_IO_Running"]),
        applier: state(&["Replica_SQL_Running", "Slave_SQL_Running"]),
        receiver_doing: row.filled(&["Replica_IO_State", "Slave_IO_State"]),
        applier_doing: row.filled(&[
            "Replica_SQL_Running_State",
            "Slave_SQL_Running_State",
            "Slave_SQL_State",
        ]),
        receiver_error: error(
            row,
            "Last_IO_Errno",
            "Last_IO_Error",
            "Last_IO_Error_Timestamp",
        ),
        applier_error: error(
            row,
            "Last_SQL_Errno",
            "Last_SQL_Error",
            "Last_SQL_Error_Timestamp",
        )
        .or_else(|| error(row, "Last_Errno", "Last_Error", "Last_SQL_Error_Timestamp")),
        seconds_behind: row.number(&["Seconds_Behind_Source", "Seconds_Behind_Master"]),
        planned_delay: seconds(row, "SQL_Delay").unwrap_or(Span::ZERO),
        remaining_delay: seconds(row, "SQL_Remaining_Delay"),
        read: coordinates(
            row,
            &["Source_Log_File", "Master_Log_File"],
            &["Read_Source_Log_Pos", "Read_Master_Log_Pos"],
        ),
        executed: coordinates(
            row,
            &["Relay_Source_Log_File", "Relay_Master_Log_File"],
            &["Exec_Source_Log_Pos", "Exec_Master_Log_Pos"],
        ),
        relay_log_space: row.told(&["Relay_Log_Space"]),
        retrieved_gtids: row
            .word(&["Retrieved_Gtid_Set", "Gtid_IO_Pos"])
            .and_then(|text| Gtids::parse(&text, flavour).ok()),
        auto_position: auto_position(row),
        receiver_times: None,
        filters: filters(row),
        raw: Arc::new(row.raw()),
    }
}

fn source(row: Row<'_>) -> SourceAddress {
    SourceAddress {
        host: row
            .text(&["Source_Host", "Master_Host"])
            .unwrap_or_default(),
        port: row.told(&["Source_Port", "Master_Port"]),
        uuid: row.filled(&["Source_UUID", "Master_UUID"]),
        server_id: row.told(&["Source_Server_Id", "Master_Server_Id"]),
    }
}

/// Number 0 means "no error", whatever the text says.
fn error(row: Row<'_>, number: &str, text: &str, at: &str) -> Option<ReplicationError> {
    let number = row.told::<u32>(&[number]).filter(|n| *n != 0)?;
    Some(ReplicationError {
        number,
        text: row.text(&[text]).unwrap_or_default(),
        at: row.filled(&[at]),
    })
}

fn seconds(row: Row<'_>, name: &str) -> Option<Span> {
    row.told::<i64>(&[name]).map(Span::from_secs)
}

fn coordinates(row: Row<'_>, file: &[&str], position: &[&str]) -> Option<Coordinates> {
    Some(Coordinates {
        file: row.filled(file)?,
        position: row.told(position)?,
    })
}

/// MySQL says 0 or 1, MariaDB `No`, `Slave_Pos` or `Current_Pos`.
fn auto_position(row: Row<'_>) -> Option<bool> {
    match row.number::<u8>(&["Auto_Position"]) {
        Field::Value(number) => Some(number != 0),
        _ => row
            .word(&["Using_Gtid"])
            .map(|word| !word.eq_ignore_ascii_case("no")),
    }
}

fn filters(row: Row<'_>) -> Filters {
    let text = |name: &str| row.text(&[name]).unwrap_or_default();
    Filters {
        do_db: text("Replicate_Do_DB"),
        ignore_db: text("Replicate_Ignore_DB"),
        do_table: text("Replicate_Do_Table"),
        ignore_table: text("Replicate_Ignore_Table"),
        wild_do_table: text("Replicate_Wild_Do_Table"),
        wild_ignore_table: text("Replicate_Wild_Ignore_Table"),
        rewrite_db: text("Replicate_Rewrite_DB"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::captured::{row, vertical};
    use super::*;

    fn one(text: &str, flavour: Flavour) -> Channel {
        let mut found = channels(&vertical(text), flavour);
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    #[test]
    fn every_real_server_tells_the_same_facts_in_its_own_words() {
        for (name, text, flavour, columns) in [
            (
                "5.6",
                include_str!("../../../tests/captures/mysql56/quiet.txt"),
                Flavour::MySql,
                54,
            ),
            (
                "5.7",
                include_str!("../../../tests/captures/mysql57/quiet.txt"),
                Flavour::MySql,
                57,
            ),
            (
                "9.7",
                include_str!("../../../tests/captures/mysql97/quiet.txt"),
                Flavour::MySql,
                60,
            ),
            (
                "MariaDB 10.11",
                include_str!("../../../tests/captures/mariadb1011/quiet_all.txt"),
                Flavour::MariaDb,
                62,
            ),
            (
                "MariaDB 11.8",
                include_str!("../../../tests/captures/mariadb118/quiet_all.txt"),
                Flavour::MariaDb,
                65,
            ),
        ] {
            let channel = one(text, flavour);
            assert_eq!(channel.name, "", "{name}");
            assert_eq!(channel.source.host, "127.0.0.1", "{name}");
            assert!(channel.source.port.is_some(), "{name}");
            assert_eq!(channel.source.server_id, Some(1), "{name}");
            assert_eq!(
                channel.source.uuid.is_some(),
                !flavour.is_mariadb(),
                "{name}"
            );
            assert!(channel.receiver.is_running(), "{name}");
            assert!(channel.applier.is_running(), "{name}");
            assert_eq!(channel.seconds_behind, Field::Value(0), "{name}");
            assert_eq!(channel.planned_delay, Span::ZERO, "{name}");
            assert_eq!(channel.remaining_delay, None, "{name}");
            assert!(channel.receiver_error.is_none(), "{name}");
            assert!(channel.applier_error.is_none(), "{name}");
            assert!(channel.applier_doing.is_some(), "{name}");
            assert_eq!(
                channel.read.as_ref().map(|at| at.file.as_str()),
                Some("binlog.000001")
            );
            assert!(channel.executed.is_some(), "{name}");
            assert_eq!(channel.auto_position, Some(true), "{name}");
            assert!(
                channel.retrieved_gtids.is_some_and(|set| !set.is_empty()),
                "{name}"
            );
            assert!(channel.filters.is_empty(), "{name}");
            assert_eq!(channel.raw.len(), columns, "{name}");
        }
    }

    #[test]
    fn r13_every_channel_has_its_line() {
        let found = channels(
            &vertical(include_str!(
                "../../../tests/captures/mysql97/two_channels.txt"
            )),
            Flavour::MySql,
        );
        let names: Vec<_> = found.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["", "second"]);
        assert_eq!(
            found[0].source.uuid.as_deref(),
            Some("00000001-aaaa-11f0-8000-000000000000")
        );
    }

    #[test]
    fn r12_stopped_by_error_has_its_number_and_seconds_are_null_not_zero() {
        let channel = one(
            include_str!("../../../tests/captures/mysql97/duplicate_key.txt"),
            Flavour::MySql,
        );
        assert_eq!(channel.applier, ThreadState::Stopped);
        assert!(channel.receiver.is_running());
        assert_eq!(channel.seconds_behind, Field::Null);
        let error = channel.applier_error.expect("an error");
        assert_eq!(error.number, 1062);
        assert!(
            error.text.starts_with("Coordinator stopped"),
            "{}",
            error.text
        );
        assert!(error.at.is_some());
    }

    #[test]
    fn r09_a_row_with_the_new_name_only_is_read() {
        // 8.4: the new statement has only the new names.
        let found = channels(
            &row(&[
                ("Replica_IO_Running", Some("Yes")),
                ("Replica_SQL_Running", Some("Yes")),
                ("Seconds_Behind_Source", Some("95")),
                ("Source_Host", Some("db1")),
            ]),
            Flavour::MySql,
        );
        assert_eq!(found[0].seconds_behind, Field::Value(95));
        assert_eq!(found[0].source.host, "db1");
        // And neither spelling: absent, not zero.
        let found = channels(&row(&[("Replica_IO_Running", Some("Yes"))]), Flavour::MySql);
        assert_eq!(found[0].seconds_behind, Field::Absent);
        assert_eq!(found[0].applier, ThreadState::Untold);
    }

    #[test]
    fn r16_a_retrieved_set_over_several_lines_is_read() {
        let found = channels(
            &row(&[(
                "Retrieved_Gtid_Set",
                Some(
                    "2e35321d-0000-4000-8000-000000000001:1-37729572,\n314306f3-ff7b-4000-8000-000000000002:1-2734181",
                ),
            )]),
            Flavour::MySql,
        );
        let set = found[0].retrieved_gtids.clone().expect("a set");
        let whole = Gtids::parse("", Flavour::MySql).expect("empty");
        assert_eq!(set.missing_from(&whole), Some(40_463_753));
    }

    #[test]
    fn r14_a_planned_delay_and_what_is_left_of_it() {
        let found = channels(
            &row(&[
                ("SQL_Delay", Some("3600")),
                ("SQL_Remaining_Delay", Some("12")),
            ]),
            Flavour::MySql,
        );
        assert_eq!(found[0].planned_delay, Span::from_secs(3600));
        assert_eq!(found[0].remaining_delay, Some(Span::from_secs(12)));
    }
}
