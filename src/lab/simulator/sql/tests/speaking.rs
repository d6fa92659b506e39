//! MySQL's words and ways.

use super::*;
use crate::lab::wire::ColumnKind;
use std::time::Duration;

#[test]
fn values_come_back_in_mysqls_format() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    for (sql, wanted) in [
        (
            "SELECT NOW(), NOW(3), NOW(6)",
            "2026-03-01 10:00:00|2026-03-01 10:00:00.123|2026-03-01 10:00:00.123456",
        ),
        (
            "SELECT 7/2, 1/3, 0.1+0.2, 10 DIV 3, 7 % 0",
            "3.5000|0.3333|0.3|3|NULL",
        ),
        (
            "SELECT 'a' = 'A', '10' > 9, NULL <=> NULL, 5 <=> NULL",
            "1|1|1|0",
        ),
        (
            "SELECT SUM(amount), AVG(amount), COUNT(*) FROM orders",
            "3.00|1.000000|3",
        ),
        (
            "SELECT UNIX_TIMESTAMP(NOW(6)), UNIX_TIMESTAMP('2026-03-01 10:00:00')",
            "1772359200.123456|1772359200",
        ),
        (
            "SELECT NOW() - INTERVAL 1 DAY, DATE_ADD(DATE '2026-01-31', INTERVAL 1 MONTH)",
            "2026-02-28 10:00:00|2026-02-28",
        ),
        (
            "SELECT CONCAT('x', amount), CAST(amount AS CHAR) FROM orders LIMIT 1",
            "x1.00|1.00",
        ),
        (
            "SELECT DATABASE(), USER(), CURRENT_USER(), VERSION(), CONNECTION_ID()",
            "shop|app@localhost|app@%|9.7.4|7",
        ),
        ("SELECT 'it\\'s', \"dq\", 'a\\\\b', X'41'", "it's|dq|a\\b|A"),
        (
            "SELECT IF(1 > 2, 'a', 'b'), COALESCE(NULL, 5), LEFT('abc', 2), LOCATE('b', 'abc')",
            "b|5|ab|2",
        ),
        (
            "SELECT GTID_SUBTRACT('00000001-aaaa-11f0-8000-000000000000:1-9', '00000001-aaaa-11f0-8000-000000000000:1-5')",
            "00000001-aaaa-11f0-8000-000000000000:6-9",
        ),
        ("SELECT id FROM orders ORDER BY id LIMIT 1, 2", "2\n3"),
        (
            "SELECT id FROM orders WHERE address IN ('A', 'C') ORDER BY id DESC",
            "3\n1",
        ),
    ] {
        assert_eq!(stage.rows(sql), wanted, "{sql}");
    }
}

#[test]
fn errors_have_mysqls_numbers_and_words() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    for (sql, code, message) in [
        (
            "SELECT nope FROM orders",
            1054,
            "Unknown column 'nope' in 'field list'",
        ),
        (
            "SELECT 1 FROM orders o WHERE o.nope = 1",
            1054,
            "Unknown column 'o.nope' in 'where clause'",
        ),
        (
            "SELECT * FROM nope",
            1146,
            "Table 'shop.nope' doesn't exist",
        ),
        ("SELECT * FROM x.nope", 1049, "Unknown database 'x'"),
        ("DROP TABLE nope", 1051, "Unknown table 'shop.nope'"),
        (
            "CREATE TABLE orders (id INT)",
            1050,
            "Table 'orders' already exists",
        ),
        ("SELECT foo(1)", 1305, "FUNCTION shop.foo does not exist"),
        ("SELECT @@nope", 1193, "Unknown system variable 'nope'"),
        (
            "INSERT INTO orders (customer) VALUES (1)",
            1364,
            "Field 'address' doesn't have a default value",
        ),
        (
            "INSERT INTO orders (customer, address) VALUES (NULL, 'x')",
            1048,
            "Column 'customer' cannot be null",
        ),
        (
            "INSERT INTO orders (customer, address) VALUES (1, 'x'), ('two', 'y')",
            1366,
            "Incorrect integer value: 'two' for column 'customer' at row 2",
        ),
        (
            "INSERT INTO orders (id, customer, address) VALUES (2, 1, 'x')",
            1062,
            "Duplicate entry '2' for key 'orders.PRIMARY'",
        ),
        (
            "INSERT INTO orders (customer, address) VALUES (1, 'B')",
            1062,
            "Duplicate entry 'B' for key 'orders.place'",
        ),
        (
            "INSERT INTO orders VALUES (1)",
            1136,
            "Column count doesn't match value count at row 1",
        ),
        (
            "SELECT * FROM performance_schema.nope",
            1146,
            "Table 'performance_schema.nope' doesn't exist",
        ),
        (
            "SELECT * FROM information_schema.nope",
            1109,
            "Unknown table 'NOPE' in information_schema",
        ),
    ] {
        assert_eq!(stage.error(sql), (code, message.to_owned()), "{sql}");
    }
    let (code, message) = stage.error("SELECT * FORM orders");
    assert_eq!(code, 1064);
    assert!(
        message.ends_with("for the right syntax to use near 'FORM orders' at line 1"),
        "{message}"
    );
    let (code, message) = stage.error("SELECT INET_ATON('10.0.0.1')");
    assert!(
        code == 1064
            && message.contains("the lab's simulated servers do not do the function INET_ATON"),
        "{message}"
    );
}

#[test]
fn without_strict_mode_values_are_bent_with_a_warning() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    stage.session.is_strict = false;
    let done = stage.done("INSERT INTO orders (customer, amount) VALUES ('12x', -1e12)");
    assert_eq!(
        done.warnings
            .iter()
            .map(|(code, _)| *code)
            .collect::<Vec<_>>(),
        [1265, 1264, 1364]
    );
    assert_eq!(
        stage.rows("SELECT customer, address, amount FROM orders WHERE id = 4"),
        "12||-99999999.99"
    );
}

#[test]
fn counts_are_told_as_mysql_counts() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    for (sql, affected, matched, info) in [
        (
            "UPDATE orders SET amount = 1",
            0,
            3,
            "Rows matched: 3  Changed: 0  Warnings: 0",
        ),
        (
            "UPDATE orders SET amount = 2 WHERE id < 3",
            2,
            2,
            "Rows matched: 2  Changed: 2  Warnings: 0",
        ),
        (
            "INSERT INTO orders (id, customer, address) VALUES (1, 1, 'q') ON DUPLICATE KEY UPDATE amount = 5",
            2,
            1,
            "",
        ),
        (
            "INSERT INTO orders (id, customer, address) VALUES (1, 1, 'q') ON DUPLICATE KEY UPDATE amount = 5",
            0,
            1,
            "",
        ),
        (
            "REPLACE INTO orders (id, customer, address) VALUES (1, 1, 'q')",
            2,
            2,
            "",
        ),
        (
            "INSERT IGNORE INTO orders (id, customer, address) VALUES (1, 1, 'q'), (10, 1, 'r')",
            1,
            1,
            "Records: 2  Duplicates: 1  Warnings: 0",
        ),
        ("DELETE FROM orders ORDER BY id DESC LIMIT 2", 2, 2, ""),
    ] {
        let done = stage.done(sql);
        assert_eq!(
            (done.affected_rows, done.matched_rows, done.info.as_str()),
            (affected, matched, info),
            "{sql}"
        );
    }
    assert_eq!(stage.session.row_count, 2);
}

#[test]
fn numbers_are_given_out_once() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    stage.run("DELETE FROM orders WHERE id = 3");
    let done = stage.done("INSERT INTO orders (customer, address) VALUES (1, 'x'), (1, 'y')");
    assert_eq!(
        done.last_insert_id, 4,
        "the first of the statement, and 3 is not given again"
    );
    assert_eq!(stage.rows("SELECT LAST_INSERT_ID()"), "4");
    stage.error("INSERT INTO orders (customer, address) VALUES (1, 'x')");
    assert_eq!(
        stage
            .done("INSERT INTO orders (customer, address) VALUES (1, 'z')")
            .last_insert_id,
        7,
        "a failed one keeps its number"
    );
}

#[test]
fn on_update_sets_the_time_only_where_something_changes() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    stage.run("UPDATE orders SET amount = 1 WHERE id = 1");
    stage.run("UPDATE orders SET amount = 2 WHERE id = 2");
    assert_eq!(
        stage.rows("SELECT updated_at FROM orders"),
        "NULL\n2026-03-01 10:00:00.123456\nNULL"
    );
}

#[test]
fn a_timestamp_is_shown_in_the_sessions_zone_and_kept_in_the_servers() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    stage.run("UPDATE orders SET updated_at = '2026-03-01 10:00:00' WHERE id = 1");
    stage.session.zone_offset_secs = 2 * 3600;
    assert_eq!(
        stage.rows("SELECT updated_at FROM orders WHERE id = 1"),
        "2026-03-01 12:00:00.000000"
    );
    assert_eq!(
        stage.rows("SELECT id FROM orders WHERE updated_at <= NOW()"),
        "1"
    );
    stage.run("UPDATE orders SET updated_at = NOW(6) WHERE id = 2");
    stage.session.zone_offset_secs = 0;
    assert_eq!(
        stage.rows("SELECT updated_at FROM orders WHERE id = 2"),
        "2026-03-01 10:00:00.123456"
    );
}

#[test]
fn columns_have_the_names_and_kinds_of_the_wire() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let columns = stage.columns("SELECT ID, amount, updated_at ts, address, count( * ), NOW(6), 'x', amount * 2.5 FROM orders GROUP BY id");
    let told: Vec<_> = columns.iter().map(|c| (c.name.as_str(), c.kind)).collect();
    assert_eq!(
        told,
        [
            ("ID", ColumnKind::LongLong),
            ("amount", ColumnKind::NewDecimal),
            ("ts", ColumnKind::Timestamp),
            ("address", ColumnKind::VarString),
            ("count( * )", ColumnKind::LongLong),
            ("NOW(6)", ColumnKind::DateTime),
            ("x", ColumnKind::VarString),
            ("amount * 2.5", ColumnKind::NewDecimal),
        ]
    );
}

#[test]
fn sleep_is_a_wait_for_the_caller_and_takes_no_time_here() {
    let mut stage = Stage::new(Generation::MySql97);
    let (outcome, _) = stage
        .tried("SELECT SLEEP(1.5), SLEEP(2)")
        .expect("an answer");
    assert_eq!(outcome.wait, Duration::from_millis(3500));
}

#[test]
fn a_function_of_the_server_is_asked_until_it_is_ready() {
    let mut stage = Stage::new(Generation::MySql97);
    let sql = "SELECT WAIT_FOR_EXECUTED_GTID_SET(CONCAT('u', ':1'), 2) + 1 AS x";
    stage.around.waited = Some(Called::NotYet(Duration::from_millis(10)));
    let (outcome, _) = stage.tried(sql).expect("an answer");
    assert_eq!(outcome.result, Brought::AskAgain(Duration::from_millis(10)));
    stage.around.waited = Some(Called::Value(Value::Int(1)));
    assert_eq!(stage.rows(sql), "2");
    stage.around.waited = Some(Called::Unknown);
    assert_eq!(stage.error(sql).0, 1305);
}

#[test]
fn parameters_and_user_variables_take_their_places() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    let sql = "SELECT id FROM orders WHERE customer = ? AND address <> ? ORDER BY id";
    let given = [Value::Int(1), Value::text("A")];
    let outcome = stage
        .database
        .execute(&mut one, &mut stage.session, &stage.around, sql, &given);
    let Ok(Brought::Rows(rows)) = outcome.map(|outcome| outcome.result) else {
        panic!("no rows");
    };
    assert_eq!(shown(&rows), "3");
    assert_eq!(stage.rows("SELECT @n := 5, @n + 1"), "5|6");
    stage.run("SELECT id, address INTO @id, @place FROM orders WHERE id = 2");
    assert_eq!(
        stage.rows("SELECT @n, @id + 1, @place, @none"),
        "5|3|b|NULL"
    );
}

#[test]
fn system_tables_are_as_they_are_when_asked_and_names_have_no_case() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let name = "performance_schema.threads";
    let sql = "SELECT t.thread_id, o.address FROM Performance_Schema.THREADS t JOIN orders o ON o.id = t.Thread_ID";
    for (id, wanted) in [("2", "2|b"), ("3", "3|c")] {
        stage
            .around
            .tables
            .insert(name.into(), table("THREAD_ID NAME", &[&[Some(id), None]]));
        assert_eq!(stage.rows(sql), wanted);
    }
    stage.around.tables.insert(
        name.into(),
        table("THREAD_ID NAME MORE", &[&[Some("1"), None, None]]),
    );
    assert_eq!(stage.rows(sql), "1|a", "a table may get other columns");
}

#[test]
fn users_tables_stand_in_information_schema() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    for (sql, wanted) in [
        (
            "SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = 'shop'",
            "orders|3",
        ),
        (
            "SELECT column_name, column_type, column_key FROM information_schema.columns WHERE table_name = 'orders' AND ordinal_position < 3",
            "id|bigint|PRI\ncustomer|int|",
        ),
        (
            "SELECT index_name, column_name FROM information_schema.statistics WHERE table_schema = DATABASE()",
            "PRIMARY|id\nplace|address",
        ),
        (
            "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'SHOP'",
            "1",
        ),
    ] {
        assert_eq!(stage.rows(sql), wanted, "{sql}");
    }
    let columns = stage.columns("SELECT table_name FROM information_schema.tables");
    assert_eq!(columns[0].name, "TABLE_NAME");
    assert!(
        stage
            .rows("SHOW CREATE TABLE orders")
            .contains("UNIQUE KEY `place` (`address`)")
    );
    assert_eq!(stage.rows("SHOW TABLES LIKE 'ord%'"), "orders");
}

#[test]
fn a_tables_form_can_change_and_its_rows_stay() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    for sql in [
        "ALTER TABLE orders ADD COLUMN note VARCHAR(10) NOT NULL DEFAULT 'n' AFTER id, DROP COLUMN updated_at",
        "ALTER TABLE orders MODIFY amount INT, RENAME COLUMN customer TO buyer, ENGINE=InnoDB",
        "CREATE INDEX who ON orders (buyer)",
        "ALTER TABLE orders DROP INDEX place",
        "RENAME TABLE orders TO sales",
    ] {
        stage.run(sql);
    }
    assert_eq!(stage.rows("SELECT * FROM sales WHERE id = 2"), "2|n|2|b|1");
    let problem = stage.error("ALTER TABLE sales ADD UNIQUE KEY one (buyer)");
    assert_eq!(
        problem,
        (1062, "Duplicate entry '1' for key 'sales.one'".to_owned())
    );
    assert_eq!(
        stage.rows("SELECT COUNT(*) FROM sales"),
        "3",
        "nothing of it stayed"
    );
    stage.run("TRUNCATE TABLE sales");
    assert_eq!(
        stage
            .done("INSERT INTO sales (buyer, address) VALUES (1, 'x')")
            .last_insert_id,
        1
    );
}

#[test]
fn explain_tells_which_key_is_used() {
    let mut stage = Stage::with_orders(Generation::MySql84);
    for (sql, told) in [
        (
            "EXPLAIN SELECT * FROM orders",
            "1|SIMPLE|orders|NULL|ALL|NULL|NULL|NULL|NULL|3|100.00|NULL",
        ),
        (
            "EXPLAIN SELECT * FROM orders WHERE id = 2",
            "1|SIMPLE|orders|NULL|const|PRIMARY|PRIMARY|8|const|1|100.00|NULL",
        ),
        (
            "DESC SELECT * FROM orders o WHERE address = 'a'",
            "1|SIMPLE|o|NULL|const|place|place|802|const|1|100.00|NULL",
        ),
        (
            "EXPLAIN UPDATE orders SET amount = 2 WHERE id > 1",
            "1|UPDATE|orders|NULL|range|PRIMARY|PRIMARY|8|NULL|1|100.00|Using where",
        ),
        (
            "EXPLAIN SELECT a.id FROM orders a JOIN orders b ON b.id = a.customer ORDER BY a.amount",
            "1|SIMPLE|a|NULL|ALL|NULL|NULL|NULL|NULL|3|100.00|Using filesort\n\
             1|SIMPLE|b|NULL|eq_ref|PRIMARY|PRIMARY|8|func|1|100.00|NULL",
        ),
        (
            "EXPLAIN SELECT (SELECT MAX(id) FROM orders b WHERE b.customer = a.id) FROM orders a",
            "1|PRIMARY|a|NULL|index|place|place|802|NULL|3|100.00|Using index\n\
             2|DEPENDENT SUBQUERY|b|NULL|ALL|NULL|NULL|NULL|NULL|3|100.00|Using where",
        ),
    ] {
        assert_eq!(stage.rows(sql), told, "{sql}");
    }
    assert_eq!(stage.error("EXPLAIN ANALYZE SELECT 1").0, 1235);
    assert_eq!(stage.error("EXPLAIN FORMAT=XML SELECT 1").0, 1791);
    assert_eq!(stage.error("EXPLAIN SELECT nope FROM orders").0, 1054);
    assert_eq!(
        stage.rows("SELECT COUNT(*) FROM orders WHERE amount = 2"),
        "0"
    );
}

#[test]
fn explain_tells_the_plan_as_a_tree_too() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut told = |sql: &str| stage.rows(sql);
    assert_eq!(
        told("EXPLAIN FORMAT=TREE SELECT * FROM orders WHERE amount > 5 ORDER BY amount LIMIT 3")
            .lines()
            .map(|line| line.split("  (cost").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>(),
        [
            "-> Limit: 3 row(s)",
            "    -> Sort: amount, limit input to 3 row(s) per chunk",
            "        -> Filter: (amount > 5)",
            "            -> Table scan on orders",
        ]
    );
    let tree = told("EXPLAIN FORMAT=TREE SELECT * FROM orders WHERE id = 2");
    assert_eq!(
        tree,
        "-> Rows fetched before execution  (cost=0..0 rows=1)\n"
    );
    let tree =
        told("EXPLAIN FORMAT=TREE SELECT a.id FROM orders a JOIN orders b ON b.id = a.customer");
    assert!(tree.contains("Nested loop inner join"), "{tree}");
    assert!(
        tree.contains("Single-row covering index lookup on b using PRIMARY")
            || tree.contains("Single-row index lookup on b using PRIMARY"),
        "{tree}"
    );
    let json = told("EXPLAIN FORMAT=JSON SELECT customer, COUNT(*) FROM orders GROUP BY customer");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["query_type"], "select");
    assert!(json["query_plan"]["operation"].is_string(), "{json}");
}

#[test]
fn a_new_foreign_key_must_hold_for_the_rows_that_are_there() {
    let mut stage = Stage::new(Generation::MySql97);
    for sql in [
        "CREATE TABLE parent (id INT PRIMARY KEY)",
        "CREATE TABLE child (id INT PRIMARY KEY, parent_id INT)",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (1, 1), (2, NULL), (3, 99)",
    ] {
        stage.run(sql);
    }
    let add = "ALTER TABLE child ADD CONSTRAINT fk FOREIGN KEY (parent_id) REFERENCES parent (id)";
    assert_eq!(stage.error(add).0, 1452);
    let shown = stage.rows("SHOW CREATE TABLE child");
    assert!(!shown.contains("fk"), "{shown}");
    stage.run("DELETE FROM child WHERE id = 3");
    stage.run(add);
    assert_eq!(stage.error("INSERT INTO child VALUES (4, 98)").0, 1452);
}
