//! What a replica makes of a source's changes.

use super::*;

/// The same rows on both.
fn pair(generation: Generation) -> (Stage, Stage) {
    let shared = Shared::new(generation).expect("memory");
    let mut source = Stage::on(&shared);
    let mut replica = Stage::on(&shared);
    for sql in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(20), at TIMESTAMP(6) NULL)",
        "CREATE TABLE shop.log (line TEXT)",
        "INSERT INTO shop.orders (note, at) VALUES ('one', NOW(6)), ('two', NULL)",
        "INSERT INTO shop.log VALUES ('x'), ('x')",
    ] {
        let changes = source.run(sql);
        replica.database.apply(&changes).expect(sql);
    }
    (source, replica)
}

#[test]
fn a_replica_that_applies_everything_has_the_same_rows() {
    let (mut source, mut replica) = pair(Generation::MySql97);
    for sql in [
        "INSERT INTO shop.orders (note) VALUES ('three'), ('four')",
        "UPDATE shop.orders SET note = CONCAT(note, '!') WHERE id > 1",
        "REPLACE INTO shop.orders (id, note) VALUES (1, 'again'), (9, 'new')",
        "INSERT INTO shop.orders (id, note) VALUES (9, 'x') ON DUPLICATE KEY UPDATE note = 'upserted'",
        "DELETE FROM shop.orders WHERE id = 2",
        "UPDATE shop.orders SET id = 20 WHERE id = 9",
        "DELETE FROM shop.log LIMIT 1",
        "ALTER TABLE shop.orders ADD COLUMN extra INT NOT NULL DEFAULT 5",
        "UPDATE shop.orders SET extra = 6 WHERE id = 3",
        "CREATE TABLE shop.copy LIKE shop.orders",
        "INSERT INTO shop.copy SELECT * FROM shop.orders",
    ] {
        let changes = source.run(sql);
        assert!(!changes.is_empty(), "{sql}");
        replica.database.apply(&changes).expect(sql);
    }
    for table in ["orders", "log", "copy"] {
        let sql = format!("SELECT * FROM shop.{table}");
        assert_eq!(replica.rows(&sql), source.rows(&sql), "{table}");
    }
    let row = "INSERT INTO shop.orders (note) VALUES ('next')";
    source.run(row);
    replica.run(row);
    let last = "SELECT MAX(id) FROM shop.orders";
    assert_eq!(replica.rows(last), source.rows(last), "AUTO_INCREMENT");
}

#[test]
fn a_row_that_stands_in_the_way_is_error_1062_and_nothing_of_the_transaction_stays() {
    for (generation, key) in [
        (Generation::MySql97, "orders.PRIMARY"),
        (Generation::MySql57, "PRIMARY"),
        (Generation::MariaDb1011, "PRIMARY"),
    ] {
        let (mut source, mut replica) = pair(generation);
        replica.run("INSERT INTO shop.orders (id, note) VALUES (50, 'only here')");
        let changes = source.run("INSERT INTO shop.orders (id, note) VALUES (49, 'a'), (50, 'b')");
        let error = replica.database.apply(&changes).expect_err("a duplicate");
        assert_eq!(error.code, 1062);
        assert_eq!(
            error.sentence(),
            format!(
                "Could not execute Write_rows event on table shop.orders; Duplicate entry '50' for key '{key}', \
                 Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY"
            )
        );
        assert_eq!(
            replica.rows("SELECT id, note FROM shop.orders WHERE id > 40"),
            "50|only here"
        );
    }
}

#[test]
fn a_row_that_is_missing_is_error_1032() {
    let (mut source, mut replica) = pair(Generation::MySql97);
    replica.run("DELETE FROM shop.orders WHERE id = 1");
    replica.run("DELETE FROM shop.log");
    for (sql, sentence) in [
        (
            "UPDATE shop.orders SET note = 'x' WHERE id = 1",
            "Could not execute Update_rows event on table shop.orders; Can't find record in 'orders', \
             Error_code: 1032; handler error HA_ERR_KEY_NOT_FOUND",
        ),
        (
            "DELETE FROM shop.orders WHERE id = 1",
            "Could not execute Delete_rows event on table shop.orders; Can't find record in 'orders', \
             Error_code: 1032; handler error HA_ERR_KEY_NOT_FOUND",
        ),
        (
            "DELETE FROM shop.log LIMIT 1",
            "Could not execute Delete_rows event on table shop.log; Can't find record in 'log', \
             Error_code: 1032; handler error HA_ERR_END_OF_FILE",
        ),
    ] {
        let changes = source.run(sql);
        let error = replica.database.apply(&changes).expect_err(sql);
        assert_eq!(error.sentence(), sentence);
    }
}

#[test]
fn a_table_that_is_missing_is_error_1146() {
    let (mut source, mut replica) = pair(Generation::MySql97);
    replica.run("DROP TABLE shop.orders");
    let changes = source.run("INSERT INTO shop.orders (note) VALUES ('x')");
    let error = replica.database.apply(&changes).expect_err("no table");
    assert_eq!(
        (error.code, error.sentence().as_str()),
        (
            1146,
            "Error executing row event: 'Table 'shop.orders' doesn't exist'"
        )
    );
}

#[test]
fn only_rows_that_changed_are_replicated() {
    let (mut source, _) = pair(Generation::MySql97);
    assert_eq!(
        source.run("UPDATE shop.orders SET note = 'one' WHERE id = 1"),
        []
    );
    assert_eq!(
        source
            .run("UPDATE shop.orders SET note = 'One' WHERE id = 1")
            .len(),
        1
    );
    assert_eq!(source.run("DELETE FROM shop.orders WHERE id = 99"), []);
    let all = source.run("DELETE FROM shop.orders");
    assert_eq!(all.len(), 2, "an emptied table's rows go one by one");
}

#[test]
fn a_change_tells_its_keys_and_about_how_long_it_is() {
    let (mut source, _) = pair(Generation::MySql97);
    let changes = source.run("UPDATE shop.orders SET id = 7 WHERE id = 1");
    let [Change::Row(row)] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(*row.keys, ["1", "7"]);
    assert_eq!((row.event(), &*row.table), ("Update_rows", "shop.orders"));
    assert!((100..300).contains(&changes[0].bytes()));
}
