//! Everything that this program itself says is answered, in the words of each generation.

use super::*;
use crate::mysql::every_statement::every_statement;

/// Columns that the statements name, with a row where one is needed to see that the answer is right.
fn known_tables() -> BTreeMap<String, TableData> {
    let workers = "CHANNEL_NAME WORKER_ID THREAD_ID SERVICE_STATE LAST_ERROR_NUMBER LAST_ERROR_MESSAGE \
                   LAST_ERROR_TIMESTAMP LAST_APPLIED_TRANSACTION LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP \
                   LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP \
                   APPLYING_TRANSACTION APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP \
                   APPLYING_TRANSACTION_START_APPLY_TIMESTAMP LAST_APPLIED_TRANSACTION_RETRIES_COUNT \
                   APPLYING_TRANSACTION_RETRIES_COUNT LAST_SEEN_TRANSACTION";
    let coordinators = "CHANNEL_NAME THREAD_ID SERVICE_STATE LAST_ERROR_NUMBER LAST_ERROR_MESSAGE \
                        LAST_ERROR_TIMESTAMP LAST_PROCESSED_TRANSACTION \
                        LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP \
                        LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP \
                        LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP PROCESSING_TRANSACTION \
                        PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP \
                        PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP";
    let receivers = "CHANNEL_NAME SERVICE_STATE LAST_ERROR_NUMBER LAST_ERROR_MESSAGE LAST_ERROR_TIMESTAMP \
                     LAST_QUEUED_TRANSACTION LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP \
                     LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP LAST_HEARTBEAT_TIMESTAMP";
    let threads = "THREAD_ID NAME PROCESSLIST_ID PROCESSLIST_USER PROCESSLIST_HOST PROCESSLIST_COMMAND \
                   PROCESSLIST_TIME PROCESSLIST_INFO";
    let tables: [(&str, &str); 16] = [
        (
            "performance_schema.replication_applier_status_by_worker",
            workers,
        ),
        (
            "performance_schema.replication_applier_status_by_coordinator",
            coordinators,
        ),
        (
            "performance_schema.replication_connection_status",
            receivers,
        ),
        ("performance_schema.threads", threads),
        (
            "performance_schema.user_variables_by_thread",
            "THREAD_ID VARIABLE_NAME VARIABLE_VALUE",
        ),
        (
            "performance_schema.processlist",
            "ID USER HOST DB COMMAND TIME STATE INFO",
        ),
        (
            "information_schema.processlist",
            "ID USER HOST DB COMMAND TIME STATE INFO",
        ),
        (
            "information_schema.innodb_trx",
            "trx_id trx_mysql_thread_id trx_started trx_wait_started trx_rows_modified trx_rows_locked trx_query",
        ),
        (
            "information_schema.events",
            "EVENT_SCHEMA EVENT_NAME STATUS ORIGINATOR EVENT_DEFINITION",
        ),
        (
            "performance_schema.data_lock_waits",
            "REQUESTING_THREAD_ID BLOCKING_THREAD_ID REQUESTING_ENGINE_LOCK_ID",
        ),
        (
            "performance_schema.data_locks",
            "ENGINE_LOCK_ID OBJECT_SCHEMA OBJECT_NAME",
        ),
        (
            "performance_schema.metadata_locks",
            "OBJECT_TYPE OBJECT_SCHEMA OBJECT_NAME LOCK_TYPE LOCK_STATUS OWNER_THREAD_ID",
        ),
        (
            "performance_schema.events_statements_current",
            "THREAD_ID SQL_TEXT NESTING_EVENT_LEVEL",
        ),
        (
            "information_schema.innodb_lock_waits",
            "requesting_trx_id requested_lock_id blocking_trx_id",
        ),
        ("information_schema.innodb_locks", "lock_id lock_table"),
        ("mysql.slave_master_info", "Host"),
    ];
    tables
        .into_iter()
        .map(|(name, columns)| (name.to_owned(), table(columns, &[])))
        .collect()
}

fn stage(generation: Generation) -> Stage {
    let mut stage = Stage::new(generation);
    stage.around.tables = known_tables();
    for name in [
        "server_id",
        "hostname",
        "port",
        "read_only",
        "server_uuid",
        "super_read_only",
        "innodb_read_only",
        "gtid_mode",
        "gtid_executed",
        "gtid_purged",
        "gtid_slave_pos",
        "gtid_binlog_pos",
        "gtid_binlog_state",
        "in_transaction",
        "transaction_isolation",
        "last_gtid",
    ] {
        stage.around.variables.insert(name, Value::Int(1));
    }
    stage.around.waited = Some(Called::Value(Value::Int(0)));
    stage.run("CREATE DATABASE replicascope");
    stage.run(
        "CREATE TABLE replicascope.heartbeat (server_id INT UNSIGNED PRIMARY KEY, ts TIMESTAMP(6) NOT NULL)",
    );
    stage
}

#[test]
fn every_statement_of_the_program_is_answered_in_each_generation() {
    for generation in Generation::ALL {
        let mut stage = stage(generation);
        let mut answered = 0;
        for sql in every_statement(generation.version()) {
            if !Kind::of(&sql).is_for_tables() {
                continue;
            }
            if let Err(problem) = stage.tried(&sql) {
                panic!("{generation:?}: {problem:?}\n{sql}");
            }
            answered += 1;
        }
        assert!(answered > 20, "{generation:?}: only {answered} statements");
    }
}

#[test]
fn what_is_not_about_tables_is_left_to_the_server() {
    let mut kinds: Vec<Kind> = every_statement("9.7.4")
        .iter()
        .map(|sql| Kind::of(sql))
        .filter(|kind| !kind.is_for_tables())
        .collect();
    kinds.sort_by_key(|kind| format!("{kind:?}"));
    kinds.dedup();
    assert_eq!(kinds, [Kind::Set, Kind::Show]);
}

#[test]
fn a_transaction_is_listed_with_its_age_on_the_servers_clock() {
    let mut stage = stage(Generation::MySql97);
    stage.session.zone_offset_secs = 7200;
    stage.around.tables.insert(
        "information_schema.innodb_trx".into(),
        table(
            "trx_id trx_mysql_thread_id trx_started trx_wait_started trx_rows_modified trx_rows_locked trx_query",
            &[&[
                Some("9"),
                Some("12"),
                Some("2026-03-01 09:59:30"),
                None,
                Some("3"),
                Some("4"),
                None,
            ]],
        ),
    );
    stage.around.tables.insert(
        "performance_schema.processlist".into(),
        table(
            "ID USER HOST DB COMMAND TIME STATE INFO",
            &[&[
                Some("12"),
                Some("app"),
                Some("h:1"),
                None,
                None,
                None,
                None,
                None,
            ]],
        ),
    );
    let sql = every_statement("9.7.4")
        .into_iter()
        .find(|sql| sql.contains("INNODB_TRX x LEFT JOIN"))
        .expect("the statement about transactions");
    assert_eq!(
        stage.rows(&sql),
        "9|12|2026-03-01 09:59:30|30|3|4|NULL|app|h:1|NULL"
    );
}

#[test]
fn appliers_are_told_with_microseconds() {
    let mut stage = stage(Generation::MySql97);
    let name = "performance_schema.replication_applier_status_by_worker";
    let mut workers = stage.around.tables[name].clone();
    let columns = workers.columns.iter();
    let row = columns.map(|column| match &*column.name {
        "CHANNEL_NAME" => "".into(),
        "WORKER_ID" => "1".into(),
        "SERVICE_STATE" => "ON".into(),
        "LAST_APPLIED_TRANSACTION" => "u:5".into(),
        "LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP" => "2026-03-01 10:00:00.000250".into(),
        "APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP" => "0000-00-00 00:00:00.000000".into(),
        "LAST_ERROR_NUMBER" => "0".into(),
        _ => Value::Null,
    });
    workers.rows = vec![row.collect()];
    workers.columns = workers
        .columns
        .iter()
        .map(|column| SystemColumn {
            kind: if column.name.ends_with("_TIMESTAMP") {
                ColumnType::Timestamp(6)
            } else {
                ColumnType::Text
            },
            ..column.clone()
        })
        .collect();
    stage.around.tables.insert(name.into(), workers);
    let sql = every_statement("9.7.4")
        .into_iter()
        .find(|sql| sql.contains("'w' AS part"))
        .expect("the statement about appliers");
    assert_eq!(
        stage.rows(&sql),
        "w||1|NULL|ON|0|NULL|NULL|NULL|0.000000|NULL|NULL|u:5|1772359200.000250|NULL|NULL|NULL|NULL"
    );
}
