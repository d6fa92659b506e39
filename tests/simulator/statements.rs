//! What people and programs say to a server, and what it answers: as the real one, see servers/README.

use std::thread;
use std::time::{Duration, Instant};

use replicascope::lab::bed::Bed;
use replicascope::model::lab::{Generation, LabPlan};

use super::lab::{SOON, admin, plan, said, start};
use super::support::eventually;

fn small() -> LabPlan {
    LabPlan {
        replicas: 1,
        ..plan(Generation::MySql97)
    }
}

const NEVER: &str = "00000000-0000-4000-8000-000000000001:1-99999999";

#[test]
fn waits_for_gtids_end_as_on_real_servers() {
    let lab = start(&small());
    let mut replica = admin(&lab, 1);
    let wait = |arguments: &str| format!("SELECT WAIT_FOR_EXECUTED_GTID_SET({arguments})");
    assert_eq!(replica.value(&wait("@@GLOBAL.gtid_executed, 1")), "0");
    let began = Instant::now();
    assert_eq!(replica.value(&wait(&format!("'{NEVER}', 0.3"))), "1");
    assert!(began.elapsed() >= Duration::from_millis(290));
    assert_eq!(replica.value(&wait("'', 1")), "0");
    assert_eq!(replica.refused(&wait("NULL, 1")), 1772);
    assert_eq!(replica.refused(&wait("'uuid:1-782', 1")), 1772);
    assert_eq!(replica.refused(&wait(&format!("'{NEVER}', -1"))), 1210);
    let hinted = wait(&format!("'{NEVER}', 3")).replacen(
        "SELECT",
        "SELECT /*+ MAX_EXECUTION_TIME(200) */",
        1,
    );
    assert_eq!(replica.refused(&hinted), 3024);
    // For ever, until somebody ends it.
    let id = replica.0.id();
    let mut other = admin(&lab, 1);
    let waiting = thread::spawn(move || replica.refused(&wait(&format!("'{NEVER}', 0"))));
    let seen = eventually(SOON, || {
        let state = format!("SELECT STATE FROM performance_schema.processlist WHERE ID = {id}");
        other.value(&state) == "Waiting for GTID to be committed"
    });
    assert!(seen);
    other.run(&format!("KILL QUERY {id}"));
    assert_eq!(waiting.join().unwrap(), 1317);
}

#[test]
fn mariadb_waits_in_its_own_way() {
    let lab = start(&LabPlan {
        replicas: 1,
        ..plan(Generation::MariaDb1011)
    });
    let (mut source, mut replica) = (admin(&lab, 0), admin(&lab, 1));
    source.run("UPDATE shop.orders SET amount = 1 WHERE id = 1");
    let last = source.value("SELECT @@last_gtid");
    assert!(last.starts_with("0-1-"), "{last}");
    let wait = |arguments: &str| format!("SELECT MASTER_GTID_WAIT({arguments})");
    assert_eq!(replica.value(&wait(&format!("'{last}', 20"))), "0");
    assert_eq!(replica.value(&wait("'0-1-99999999', 0.2")), "-1");
    assert_eq!(replica.value(&wait("'0-1-99999999', 0")), "-1");
    assert_eq!(replica.value(&wait("NULL, 1")), "NULL");
    assert_eq!(replica.value(&wait("'', 1")), "0");
    assert_eq!(replica.refused(&wait("'x', 1")), 1941);
    let limited =
        "SET STATEMENT max_statement_time = 0.3 FOR SELECT MASTER_GTID_WAIT('0-1-99999999', -1)";
    assert_eq!(replica.refused(limited), 1969);
    // On the source itself nothing is copied.
    assert_eq!(source.value(&wait(&format!("'{last}', 0.1"))), "-1");
}

#[test]
fn read_only_refuses_as_the_manual_says() {
    let lab = start(&small());
    let mut replica = admin(&lab, 1);
    let insert =
        "INSERT INTO shop.orders (customer, address, status, amount) VALUES (1, 'x', 'new', 1)";
    assert_eq!(replica.refused(insert), 1290);
    assert_eq!(replica.refused("CREATE DATABASE x"), 1290);
    assert_eq!(
        replica.refused("ALTER EVENT replicascope.heartbeat ENABLE"),
        1290
    );
    replica.run("SET GLOBAL super_read_only = OFF");
    assert_eq!(replica.value("SELECT @@read_only"), "1");
    let mut app = said(&lab, 1, &lab.accounts().app);
    assert_eq!(
        app.refused(insert),
        1290,
        "an ordinary account is refused under read_only too"
    );
    replica.run("SET GLOBAL read_only = OFF; SET GLOBAL super_read_only = ON");
    assert_eq!(replica.value("SELECT @@read_only"), "1");
}

#[test]
fn an_open_transaction_is_seen_by_itself_alone_and_blocks_whoever_wants_its_rows() {
    let lab = start(&small());
    let (mut one, mut other) = (admin(&lab, 0), admin(&lab, 0));
    one.run("BEGIN; UPDATE shop.orders SET status = 'held' WHERE id = 5");
    let status = "SELECT status FROM shop.orders WHERE id = 5";
    assert_eq!(one.value(status), "held");
    assert_ne!(other.value(status), "held");
    other.run("SET SESSION innodb_lock_wait_timeout = 1");
    assert_eq!(
        other.refused("UPDATE shop.orders SET status = 'mine' WHERE id = 5"),
        1205
    );
    other.run("UPDATE shop.orders SET status = 'mine' WHERE id = 6");
    let waiting = thread::spawn(move || {
        other.run("SET SESSION innodb_lock_wait_timeout = 20; UPDATE shop.orders SET amount = 2 WHERE id = 5");
        other
    });
    let mut looking = admin(&lab, 0);
    let blocked = "SELECT COUNT(*) FROM performance_schema.data_lock_waits";
    assert!(eventually(SOON, || looking.value(blocked) == "1"));
    one.run("COMMIT");
    let mut other = waiting.join().unwrap();
    assert_eq!(
        other.value("SELECT CONCAT(status, ' ', amount) FROM shop.orders WHERE id = 5"),
        "held 2.00"
    );
}

#[test]
fn two_that_wait_for_each_other_do_not_wait_for_ever() {
    let lab = start(&small());
    let (mut one, mut other) = (admin(&lab, 0), admin(&lab, 0));
    one.run("BEGIN; UPDATE shop.orders SET amount = 1 WHERE id = 1");
    other.run("BEGIN; UPDATE shop.orders SET amount = 2 WHERE id = 2");
    let first = thread::spawn(move || {
        one.0
            .run("UPDATE shop.orders SET amount = 1 WHERE id = 2")
            .map(drop)
    });
    let second = other
        .0
        .run("UPDATE shop.orders SET amount = 2 WHERE id = 1");
    let first = first.join().unwrap();
    let codes = [first, second].map(|told| told.err().and_then(|trouble| trouble.code));
    assert!(codes.contains(&Some(1213)), "{codes:?}");
}

#[test]
fn table_locks_bind_their_own_session_and_others() {
    let lab = start(&small());
    let (mut one, mut other) = (admin(&lab, 0), admin(&lab, 0));
    one.run("LOCK TABLES shop.orders READ");
    assert_eq!(one.refused("SELECT * FROM replicascope.heartbeat"), 1100);
    assert_eq!(one.refused("DELETE FROM shop.orders WHERE id = 1"), 1099);
    other.run("SET SESSION lock_wait_timeout = 1; SELECT COUNT(*) FROM shop.orders");
    assert_eq!(other.refused("DELETE FROM shop.orders WHERE id = 1"), 1205);
    drop(one);
    other.run("SET SESSION lock_wait_timeout = 20; DELETE FROM shop.orders WHERE id = 1");
}

#[test]
fn a_session_that_says_nothing_is_closed_after_its_wait_timeout() {
    let lab = start(&small());
    let mut silent = admin(&lab, 0);
    // In this order: it may be silent for no longer from then on.
    silent.run("LOCK TABLES shop.orders WRITE; SET SESSION wait_timeout = 1");
    let mut other = admin(&lab, 0);
    other.run("SET SESSION lock_wait_timeout = 20; UPDATE shop.orders SET amount = 1 WHERE id = 1");
    assert!(silent.0.run("DO 1").is_err());
}

#[test]
fn a_kill_closes_the_connection_of_its_victim() {
    let lab = start(&small());
    let (mut victim, mut other) = (admin(&lab, 0), admin(&lab, 0));
    let id = victim.0.id();
    assert_eq!(victim.value("SELECT CONNECTION_ID()"), id.to_string());
    other.run(&format!("KILL {id}"));
    assert!(victim.0.run("DO 1").is_err() && victim.0.is_spoiled());
    assert_eq!(other.refused("KILL 999999"), 1094);
    let mut watcher = said(&lab, 0, &lab.accounts().watcher);
    let mine = other.0.id();
    assert_eq!(watcher.refused(&format!("KILL {mine}")), 1095);
}

#[test]
fn variables_are_checked_as_servers_check_them() {
    let lab = start(&small());
    let mut one = admin(&lab, 0);
    for (sql, code) in [
        ("SET nonsense = 1", 1193),
        ("SELECT @@nonsense", 1193),
        ("SET GLOBAL max_connections = 'many'", 1232),
        ("SET sql_mode = 'loose'", 1231),
        ("SET autocommit = 7", 1231),
        ("SET GLOBAL server_uuid = 'x'", 1238),
        ("SET SESSION read_only = 1", 1229),
        ("SET GLOBAL gtid_next = 'AUTOMATIC'", 1228),
        ("SELECT @@SESSION.read_only", 1238),
        ("SET GLOBAL gtid_purged = 'x'", 1772),
        ("SET NAMES klingon", 1115),
    ] {
        assert_eq!(one.refused(sql), code, "{sql}");
    }
    one.run("SET GLOBAL long_query_time = 2.5, SESSION sort_buffer_size = 65536, @a = 7");
    assert_eq!(one.value("SELECT @@GLOBAL.long_query_time"), "2.5");
    assert_eq!(one.value("SELECT @@long_query_time"), "10");
    assert_eq!(one.value("SELECT @@sort_buffer_size + @a"), "65543");
    one.run("BEGIN");
    assert_eq!(one.refused("SET TRANSACTION READ WRITE"), 1568);
    one.run("ROLLBACK; SET TRANSACTION READ ONLY; BEGIN");
    assert_eq!(
        one.refused("UPDATE shop.orders SET amount = 1 WHERE id = 1"),
        1792
    );
}

#[test]
fn accounts_may_do_what_they_were_granted_and_no_more() {
    let lab = start(&small());
    let accounts = lab.accounts();
    let mut app = said(&lab, 0, &accounts.app);
    app.run("UPDATE shop.orders SET amount = 1 WHERE id = 1");
    for (sql, code) in [
        ("SELECT * FROM replicascope.heartbeat", 1142),
        ("CREATE TABLE shop.mine (id INT PRIMARY KEY)", 1142),
        ("SHOW BINARY LOG STATUS", 1227),
        ("SET GLOBAL read_only = ON", 1227),
        ("STOP REPLICA", 1227),
        ("SELECT * FROM information_schema.INNODB_TRX", 1227),
        ("SELECT * FROM performance_schema.threads", 1142),
        ("USE replicascope", 1044),
        ("CREATE USER x", 1227),
    ] {
        assert_eq!(app.refused(sql), code, "{sql}");
    }
    admin(&lab, 0).run("GRANT SELECT ON replicascope.* TO app");
    app.run("SELECT * FROM replicascope.heartbeat");
}

#[test]
fn a_new_account_reaches_the_replica_and_may_log_in_there() {
    let lab = start(&small());
    let mut source = admin(&lab, 0);
    source.run("CREATE USER 'kim'@'%' IDENTIFIED BY 'secret'; GRANT SELECT ON shop.* TO kim");
    let kim = replicascope::model::lab::LabAccount {
        user: "kim",
        password: replicascope::model::secret::Secret::new("secret".into()),
    };
    let executed = source.value("SELECT @@GLOBAL.gtid_executed");
    let wait = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 20)");
    assert_eq!(admin(&lab, 1).value(&wait), "0");
    let mut there = said(&lab, 1, &kim);
    assert_eq!(there.value("SELECT COUNT(*) FROM shop.orders"), "1000");
    assert_eq!(there.refused("DELETE FROM shop.orders"), 1290);
}

#[test]
fn purged_logs_stop_a_receiver_that_still_needs_them() {
    let lab = start(&small());
    let (mut source, mut replica) = (admin(&lab, 0), admin(&lab, 1));
    replica.run("STOP REPLICA");
    source.run("UPDATE shop.orders SET amount = 1 WHERE id = 1; FLUSH BINARY LOGS");
    let file = source.value("SHOW BINARY LOG STATUS");
    source.run(&format!("PURGE BINARY LOGS TO '{file}'"));
    replica.run("START REPLICA");
    let failed = eventually(SOON, || {
        replica
            .field("SHOW REPLICA STATUS", "Last_IO_Errno")
            .as_deref()
            == Some("13114")
    });
    assert!(failed);
    // As it is repaired where the data are the same anyway.
    let executed = source
        .value("SELECT @@GLOBAL.gtid_executed")
        .replace('\n', "");
    replica.run("STOP REPLICA; RESET BINARY LOGS AND GTIDS; RESET REPLICA");
    replica.run(&format!(
        "SET GLOBAL gtid_purged = '{executed}'; START REPLICA"
    ));
    let wait = source.value("SELECT @@GLOBAL.gtid_executed");
    assert_eq!(
        replica.value(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{wait}', 20)")),
        "0"
    );
}

#[test]
fn what_is_not_played_says_so_in_plain_words() {
    let lab = start(&small());
    let mut one = admin(&lab, 0);
    let trouble = one.0.run("FROBNICATE THE TABLES").unwrap_err();
    assert_eq!(trouble.code, Some(1064));
    assert!(trouble.detail.contains("simulated"), "{}", trouble.detail);
}

#[test]
fn a_prepared_statement_is_carried_out_with_the_values_it_is_given() {
    let lab = start(&small());
    let mut one = admin(&lab, 0);
    one.run("PREPARE pick FROM 'SELECT CONCAT(id, ?) FROM shop.orders WHERE id = ?'; SET @id = 7, @tail = 'it''s'");
    assert_eq!(one.value("EXECUTE pick USING @tail, @id"), "7it's");
    assert_eq!(one.refused("EXECUTE pick USING @id"), 1210);
    assert_eq!(one.refused("EXECUTE nothing"), 1243);
    one.run(
        "SET @text = 'UPDATE shop.orders SET status = ? WHERE id = 7'; PREPARE mark FROM @text",
    );
    one.run("SET @status = NULL");
    assert_eq!(one.refused("EXECUTE mark USING @status"), 1048);
    one.run("SET @status = 'marked'; EXECUTE mark USING @status; DEALLOCATE PREPARE mark");
    assert_eq!(
        one.value("SELECT status FROM shop.orders WHERE id = 7"),
        "marked"
    );
    assert_eq!(one.refused("EXECUTE mark USING @status"), 1243);
    let mut other = admin(&lab, 0);
    assert_eq!(other.refused("EXECUTE pick USING @tail, @id"), 1243);
}

#[test]
fn what_a_cascade_changes_is_changed_on_replicas_too() {
    let lab = start(&small());
    let (mut source, mut replica) = (admin(&lab, 0), admin(&lab, 1));
    source.run("CREATE TABLE shop.people (id INT PRIMARY KEY)");
    source.run(
        "CREATE TABLE shop.pets (id INT PRIMARY KEY, owner INT, \
         FOREIGN KEY (owner) REFERENCES shop.people (id) ON DELETE CASCADE)",
    );
    source.run("INSERT INTO shop.people VALUES (1), (2); INSERT INTO shop.pets VALUES (1, 1), (2, 1), (3, 2)");
    assert_eq!(source.refused("INSERT INTO shop.pets VALUES (4, 9)"), 1452);
    source.run("DELETE FROM shop.people WHERE id = 1");
    let left = "SELECT GROUP_CONCAT(id) FROM shop.pets";
    assert_eq!(source.value(left), "3");
    // Until all of it is there the table may not be there either.
    let executed = source.value("SELECT @@GLOBAL.gtid_executed");
    let wait = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 20)");
    assert_eq!(replica.value(&wait), "0");
    assert_eq!(replica.value(left), "3");
    assert_eq!(
        replica
            .field("SHOW REPLICA STATUS", "Last_SQL_Errno")
            .as_deref(),
        Some("0")
    );
    source.run("SET SESSION foreign_key_checks = OFF; INSERT INTO shop.pets VALUES (4, 9)");
}
