//! The statement about applier threads and receivers, for each generation of `performance_schema`.

use super::super::dialect::Dialect;
use super::NAME;

/// Workers, coordinators and receivers in one answer; stamps as Unix time, so that no session time zone matters.
pub fn appliers(dialect: &Dialect) -> Option<String> {
    if dialect.has_applier_times() {
        Some(applier_times(dialect))
    } else if dialect.has_applier_tables() {
        Some(applier_tables_57())
    } else if dialect.product.is_mariadb() {
        Some(format!(
            "{NAME}SELECT ID AS id, COMMAND AS command, STATE AS state FROM information_schema.PROCESSLIST \
             WHERE USER = 'system user' ORDER BY ID"
        ))
    } else {
        None
    }
}

fn applier_times(dialect: &Dialect) -> String {
    let counted = dialect.product.is_mysql_from(8, 0, 13);
    let retries = |name: &str| match counted {
        true => format!("w.{name}_TRANSACTION_RETRIES_COUNT"),
        false => "0".to_owned(),
    };
    let unix = |name: &str| format!("UNIX_TIMESTAMP({name})");
    let error = "LAST_ERROR_NUMBER AS error_number, LAST_ERROR_MESSAGE AS error_text, \
                 CAST(LAST_ERROR_TIMESTAMP AS CHAR) AS error_at";
    let workers = format!(
        "SELECT 'w' AS part, CHANNEL_NAME AS channel_name, WORKER_ID AS worker_id, PROCESSLIST_ID AS thread, \
         SERVICE_STATE AS service_state, {error}, \
         APPLYING_TRANSACTION AS now_gtid, {} AS now_commit, {} AS now_start, {} AS now_retries, \
         LAST_APPLIED_TRANSACTION AS last_gtid, {} AS last_commit, {} AS last_start, {} AS last_end, \
         {} AS last_retries, NULL AS heartbeat \
         FROM performance_schema.replication_applier_status_by_worker w \
         LEFT JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID",
        unix("APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"),
        unix("APPLYING_TRANSACTION_START_APPLY_TIMESTAMP"),
        retries("APPLYING"),
        unix("LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"),
        unix("LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP"),
        unix("LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP"),
        retries("LAST_APPLIED"),
    );
    let coordinators = format!(
        "SELECT 'c', CHANNEL_NAME, NULL, PROCESSLIST_ID, SERVICE_STATE, {error}, \
         PROCESSING_TRANSACTION, {}, {}, 0, LAST_PROCESSED_TRANSACTION, {}, {}, {}, 0, NULL \
         FROM performance_schema.replication_applier_status_by_coordinator c \
         LEFT JOIN performance_schema.threads t ON t.THREAD_ID = c.THREAD_ID",
        unix("PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"),
        unix("PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP"),
        unix("LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"),
        unix("LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP"),
        unix("LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP"),
    );
    let receivers = format!(
        "SELECT 'r', CHANNEL_NAME, NULL, NULL, SERVICE_STATE, {error}, \
         NULL, NULL, NULL, 0, LAST_QUEUED_TRANSACTION, {}, NULL, {}, 0, {} \
         FROM performance_schema.replication_connection_status",
        unix("LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP"),
        unix("LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP"),
        unix("LAST_HEARTBEAT_TIMESTAMP"),
    );
    format!("{NAME}{workers} UNION ALL {coordinators} UNION ALL {receivers}")
}

fn applier_tables_57() -> String {
    let error = "LAST_ERROR_NUMBER AS error_number, LAST_ERROR_MESSAGE AS error_text, \
                 CAST(LAST_ERROR_TIMESTAMP AS CHAR) AS error_at";
    format!(
        "{NAME}SELECT 'w' AS part, CHANNEL_NAME AS channel_name, WORKER_ID AS worker_id, PROCESSLIST_ID AS thread, \
         SERVICE_STATE AS service_state, {error}, LAST_SEEN_TRANSACTION AS seen_gtid, NULL AS heartbeat \
         FROM performance_schema.replication_applier_status_by_worker w \
         LEFT JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID \
         UNION ALL SELECT 'c', CHANNEL_NAME, NULL, PROCESSLIST_ID, SERVICE_STATE, {error}, NULL, NULL \
         FROM performance_schema.replication_applier_status_by_coordinator c \
         LEFT JOIN performance_schema.threads t ON t.THREAD_ID = c.THREAD_ID \
         UNION ALL SELECT 'r', CHANNEL_NAME, NULL, NULL, SERVICE_STATE, {error}, NULL, \
         UNIX_TIMESTAMP(LAST_HEARTBEAT_TIMESTAMP) FROM performance_schema.replication_connection_status"
    )
}
