//! The statement about lock waits: `performance_schema` since 8.0, before that and on MariaDB `information_schema`.

use super::super::dialect::Dialect;
use super::NAME;

pub fn lock_waits(dialect: &Dialect) -> String {
    if dialect.has_lock_tables() {
        lock_waits_80()
    } else {
        lock_waits_before_80()
    }
}

fn lock_waits_80() -> String {
    let applier = "r.NAME IN ('thread/sql/replica_worker', 'thread/sql/replica_sql', 'thread/sql/slave_worker', \
                   'thread/sql/slave_sql')";
    let blocker = "b.PROCESSLIST_ID AS blocking, b.PROCESSLIST_USER AS blocking_user, \
                   COALESCE(b.PROCESSLIST_INFO, s.SQL_TEXT) AS blocking_statement";
    let last_statement = "LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = b.THREAD_ID \
                          AND s.NESTING_EVENT_LEVEL = 0";
    format!(
        "{NAME}SELECT r.PROCESSLIST_ID AS waiting, {applier} AS applier, \
         CONCAT(l.OBJECT_SCHEMA, '.', l.OBJECT_NAME) AS object, \
         TIMESTAMPDIFF(SECOND, x.trx_wait_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS waited, {blocker} \
         FROM performance_schema.data_lock_waits w \
         JOIN performance_schema.threads r ON r.THREAD_ID = w.REQUESTING_THREAD_ID \
         LEFT JOIN performance_schema.threads b ON b.THREAD_ID = w.BLOCKING_THREAD_ID AND b.THREAD_ID <> r.THREAD_ID \
         LEFT JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID \
         LEFT JOIN information_schema.INNODB_TRX x ON x.trx_mysql_thread_id = r.PROCESSLIST_ID {last_statement} \
         UNION ALL SELECT r.PROCESSLIST_ID, {applier}, \
         IF(p.OBJECT_NAME IS NULL, p.OBJECT_TYPE, CONCAT(p.OBJECT_SCHEMA, '.', p.OBJECT_NAME)), \
         IF({applier}, NULL, r.PROCESSLIST_TIME), {blocker} \
         FROM performance_schema.metadata_locks p \
         JOIN performance_schema.metadata_locks g ON g.OBJECT_TYPE = p.OBJECT_TYPE \
         AND g.OBJECT_SCHEMA <=> p.OBJECT_SCHEMA AND g.OBJECT_NAME <=> p.OBJECT_NAME \
         AND g.LOCK_STATUS = 'GRANTED' AND g.OWNER_THREAD_ID <> p.OWNER_THREAD_ID \
         AND (p.OBJECT_NAME IS NOT NULL OR g.LOCK_TYPE NOT LIKE 'INTENTION%') \
         JOIN performance_schema.threads r ON r.THREAD_ID = p.OWNER_THREAD_ID \
         JOIN performance_schema.threads b ON b.THREAD_ID = g.OWNER_THREAD_ID {last_statement} \
         WHERE p.LOCK_STATUS = 'PENDING' LIMIT 200"
    )
}

fn lock_waits_before_80() -> String {
    format!(
        "{NAME}SELECT r.trx_mysql_thread_id AS waiting, pr.USER AS applier, l.lock_table AS object, \
         TIMESTAMPDIFF(SECOND, r.trx_wait_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS waited, \
         b.trx_mysql_thread_id AS blocking, pb.USER AS blocking_user, b.trx_query AS blocking_statement \
         FROM information_schema.INNODB_LOCK_WAITS w \
         JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id \
         JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id \
         LEFT JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id \
         LEFT JOIN information_schema.PROCESSLIST pr ON pr.ID = r.trx_mysql_thread_id \
         LEFT JOIN information_schema.PROCESSLIST pb ON pb.ID = b.trx_mysql_thread_id LIMIT 200"
    )
}
