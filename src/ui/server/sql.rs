//! The statement behind each panel, as a person would type it on this server: to copy, to check what is shown here by
//! hand. What the program itself sends names more columns and is leaner; the facts are the same.

use crate::model::server::Product;

/// What a panel of the detail screens is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Identity,
    Channels,
    Gtids,
    Appliers,
    Settings,
    Status,
    BinaryLogs,
    Replicas,
    Events,
    Transactions,
    LockWaits,
    Statements,
    SemiSync,
}

/// `None` where this server has nothing of the kind.
pub fn of(asked: Asked, product: &Product) -> Option<String> {
    let says_replica = product.is_mysql_from(8, 0, 22);
    let mariadb = product.is_mariadb();
    let text = match asked {
        Asked::Identity => identity(product).to_owned(),
        Asked::Channels => channels(product).to_owned(),
        Asked::Gtids if mariadb => {
            "SELECT @@GLOBAL.gtid_binlog_pos, @@GLOBAL.gtid_slave_pos, @@GLOBAL.gtid_binlog_state;"
                .to_owned()
        }
        Asked::Gtids => "SELECT @@GLOBAL.gtid_executed, @@GLOBAL.gtid_purged;".to_owned(),
        Asked::Appliers if mariadb => {
            "SELECT ID, COMMAND, TIME, STATE FROM information_schema.PROCESSLIST WHERE USER = 'system user';".to_owned()
        }
        Asked::Appliers => "SELECT * FROM performance_schema.replication_applier_status_by_worker;\n\
             SELECT * FROM performance_schema.replication_applier_status_by_coordinator;\n\
             SELECT * FROM performance_schema.replication_connection_status;"
            .to_owned(),
        Asked::Settings => settings(product),
        Asked::Status => "SHOW GLOBAL STATUS WHERE Variable_name IN\n  ('Threads_connected', 'Threads_running', \
             'Slow_queries', 'Questions',\n   'Com_select', 'Com_insert', 'Com_update', 'Com_delete', 'Com_replace');"
            .to_owned(),
        Asked::BinaryLogs if product.is_mysql_from(8, 2, 0) => {
            "SHOW BINARY LOGS;\nSHOW BINARY LOG STATUS;".to_owned()
        }
        Asked::BinaryLogs => "SHOW BINARY LOGS;\nSHOW MASTER STATUS;".to_owned(),
        Asked::Replicas if says_replica => "SHOW REPLICAS;".to_owned(),
        Asked::Replicas if mariadb && product.version >= MARIADB_SAYS_REPLICA => {
            "SHOW REPLICA HOSTS;".to_owned()
        }
        Asked::Replicas => "SHOW SLAVE HOSTS;".to_owned(),
        Asked::Events => "SELECT EVENT_SCHEMA, EVENT_NAME, STATUS, ORIGINATOR, EVENT_DEFINITION\n\
             FROM information_schema.EVENTS;"
            .to_owned(),
        Asked::Transactions => transactions().to_owned(),
        Asked::LockWaits => lock_waits(product).to_owned(),
        Asked::Statements => "SELECT ID, USER, HOST, TIME, STATE, INFO FROM information_schema.PROCESSLIST\n\
             WHERE COMMAND NOT IN ('Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID') AND TIME >= 1\n\
             ORDER BY TIME DESC;"
            .to_owned(),
        Asked::SemiSync => {
            "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync%';\nSHOW GLOBAL VARIABLES LIKE 'rpl_semi_sync%';"
                .to_owned()
        }
    };
    Some(text)
}

const MARIADB_SAYS_REPLICA: crate::model::server::Version =
    crate::model::server::Version::new(10, 5, 2);

fn identity(product: &Product) -> &'static str {
    if product.is_mariadb() {
        "SELECT @@version, @@server_id, @@hostname, @@port, @@GLOBAL.read_only, UTC_TIMESTAMP(6), NOW(6);"
    } else {
        "SELECT @@version, @@server_uuid, @@server_id, @@hostname, @@port,\n       @@GLOBAL.read_only, \
         @@GLOBAL.super_read_only, @@GLOBAL.innodb_read_only, UTC_TIMESTAMP(6), NOW(6);"
    }
}

fn channels(product: &Product) -> &'static str {
    if product.is_mysql_from(8, 0, 22) {
        "SHOW REPLICA STATUS;"
    } else if product.is_mariadb() && product.version >= MARIADB_SAYS_REPLICA {
        "SHOW ALL REPLICAS STATUS;"
    } else if product.is_mariadb() {
        "SHOW ALL SLAVES STATUS;"
    } else {
        "SHOW SLAVE STATUS;"
    }
}

fn settings(product: &Product) -> String {
    let parallel = if product.is_mariadb() {
        "'slave_parallel_threads', 'slave_parallel_mode'"
    } else if product.is_mysql_from(8, 0, 26) {
        "'replica_parallel_workers', 'replica_parallel_type', 'replica_preserve_commit_order'"
    } else {
        "'slave_parallel_workers', 'slave_parallel_type', 'slave_preserve_commit_order'"
    };
    format!(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN\n  ({parallel},\n   'sync_binlog', \
         'innodb_flush_log_at_trx_commit', 'binlog_format', 'gtid_mode', 'log_bin', 'event_scheduler', 'time_zone');"
    )
}

/// A-06, with the age counted in the server's system zone, which is what trx_started is in.
fn transactions() -> &'static str {
    "SELECT trx_id, trx_started, trx_mysql_thread_id,\n       TIMESTAMPDIFF(SECOND, trx_started, \
     CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS run_seconds,\n       trx_rows_modified, trx_rows_locked, \
     trx_query\nFROM information_schema.INNODB_TRX ORDER BY trx_started;"
}

fn lock_waits(product: &Product) -> &'static str {
    if product.is_mysql_from(8, 0, 1) {
        "SELECT * FROM sys.innodb_lock_waits;\nSELECT * FROM performance_schema.metadata_locks WHERE LOCK_STATUS = 'PENDING';"
    } else {
        "SELECT r.trx_mysql_thread_id AS waiting, b.trx_mysql_thread_id AS blocking, b.trx_query AS blocking_statement\n\
         FROM information_schema.INNODB_LOCK_WAITS w\n\
         JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id\n\
         JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id;"
    }
}

/// parallel apply, with the restart it needs.
pub fn parallel_apply(product: &Product) -> String {
    if product.is_mariadb() {
        return "STOP SLAVE SQL_THREAD;\nSET GLOBAL slave_parallel_threads = 8;\n\
                SET GLOBAL slave_parallel_mode = 'optimistic';\nSTART SLAVE SQL_THREAD;"
            .to_owned();
    }
    let word = if product.is_mysql_from(8, 0, 26) {
        "replica"
    } else {
        "slave"
    };
    // 8.4 still has the type, deprecated; it is LOGICAL_CLOCK there unless somebody changed it
    let kind = format!("SET GLOBAL {word}_parallel_type = 'LOGICAL_CLOCK';\n");
    let kind = if product.is_mysql_from(8, 4, 0) {
        String::new()
    } else {
        kind
    };
    let thread = if product.is_mysql_from(8, 0, 22) {
        "REPLICA"
    } else {
        "SLAVE"
    };
    format!(
        "STOP {thread} SQL_THREAD;\n{kind}SET GLOBAL {word}_preserve_commit_order = ON;\n\
         SET GLOBAL {word}_parallel_workers = 8;\nSTART {thread} SQL_THREAD;"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_asked_in_its_own_words() {
        for (version, channels, replicas, log) in [
            (
                "5.7.29",
                "SHOW SLAVE STATUS;",
                "SHOW SLAVE HOSTS;",
                "SHOW MASTER STATUS;",
            ),
            (
                "8.0.37",
                "SHOW REPLICA STATUS;",
                "SHOW REPLICAS;",
                "SHOW MASTER STATUS;",
            ),
            (
                "9.7.4",
                "SHOW REPLICA STATUS;",
                "SHOW REPLICAS;",
                "SHOW BINARY LOG STATUS;",
            ),
            (
                "10.4.34-MariaDB",
                "SHOW ALL SLAVES STATUS;",
                "SHOW SLAVE HOSTS;",
                "SHOW MASTER STATUS;",
            ),
            (
                "10.11.19-MariaDB",
                "SHOW ALL REPLICAS STATUS;",
                "SHOW REPLICA HOSTS;",
                "SHOW MASTER STATUS;",
            ),
        ] {
            let product = Product::from_text(version, "");
            let asked = |asked| of(asked, &product).unwrap_or_default();
            assert_eq!(asked(Asked::Channels), channels, "{version}");
            assert_eq!(asked(Asked::Replicas), replicas, "{version}");
            assert!(asked(Asked::BinaryLogs).ends_with(log), "{version}");
        }
    }

    #[test]
    fn parallel_apply_is_told_in_the_words_of_the_version() {
        let sql = |version| parallel_apply(&Product::from_text(version, ""));
        assert!(sql("5.7.29").contains("SET GLOBAL slave_parallel_type = 'LOGICAL_CLOCK'"));
        assert!(sql("9.7.4").contains("SET GLOBAL replica_parallel_workers = 8"));
        assert!(!sql("9.7.4").contains("parallel_type"));
        assert!(sql("10.11.19-MariaDB").contains("slave_parallel_threads"));
        assert!(sql("8.0.37").ends_with("START REPLICA SQL_THREAD;"));
    }
}
