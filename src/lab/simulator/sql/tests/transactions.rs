//! Who sees what, and what is locked.

use super::*;

const COUNT: &str = "SELECT COUNT(*) FROM orders";

#[test]
fn nobody_else_sees_what_is_not_committed() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    stage
        .ask(
            &mut one,
            "INSERT INTO orders (customer, address) VALUES (5, 'x')",
        )
        .expect("a row");
    assert_eq!(stage.rows_in(&mut one, COUNT), "4");
    assert_eq!(stage.rows(COUNT), "3", "another session");
    stage
        .ask(&mut one, "DELETE FROM orders WHERE customer = 5")
        .expect("gone");
    stage
        .ask(&mut one, "UPDATE orders SET amount = 9 WHERE id = 1")
        .expect("changed");
    stage.run("UPDATE orders SET amount = 7 WHERE id = 2");
    assert_eq!(stage.rows("SELECT amount FROM orders"), "1.00\n7.00\n1.00");
    let changes = stage.database.commit(one).expect("committed");
    let events = changes.iter().map(|change| match change {
        Change::Row(row) => row.event(),
        Change::Statement { .. } => "",
    });
    assert_eq!(
        events.collect::<Vec<_>>(),
        ["Write_rows", "Delete_rows", "Update_rows"]
    );
    assert_eq!(stage.rows("SELECT amount FROM orders"), "9.00\n7.00\n1.00");
}

#[test]
fn a_dropped_transaction_never_was() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    stage
        .ask(&mut one, "DELETE FROM orders WHERE id > 0")
        .expect("gone");
    drop(one);
    assert_eq!(stage.rows(COUNT), "3");
    let next = stage.done("INSERT INTO orders (customer, address) VALUES (1, 'z')");
    assert_eq!(next.last_insert_id, 4);
}

#[test]
fn one_statement_can_be_taken_back_when_somebody_holds_its_rows() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    stage
        .ask(&mut one, "UPDATE orders SET customer = 8 WHERE id = 1")
        .expect("mine");
    stage
        .ask(&mut one, "UPDATE orders SET customer = 8 WHERE id = 2")
        .expect("not mine");
    stage.database.undo_statement(&mut one);
    assert_eq!(
        stage.rows_in(&mut one, "SELECT customer FROM orders"),
        "8\n2\n1"
    );
    assert_eq!(stage.database.commit(one).expect("committed").len(), 1);
    assert_eq!(stage.rows("SELECT customer FROM orders"), "8\n2\n1");
}

#[test]
fn a_statement_without_effect_can_be_taken_back_too() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    stage
        .ask(&mut one, "UPDATE orders SET customer = 8 WHERE id = 1")
        .expect("mine");
    stage
        .ask(&mut one, "UPDATE orders SET customer = 8 WHERE id = 99")
        .expect("nothing");
    stage.database.undo_statement(&mut one);
    assert_eq!(one.changes().len(), 1);
    stage
        .ask(&mut one, "SELECT * FROM orders FOR UPDATE")
        .expect("rows");
    stage.database.undo_statement(&mut one);
    assert_eq!(one.changes().len(), 1, "of a SELECT there is nothing");
}

#[test]
fn a_savepoint_takes_back_what_came_after_it() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    stage
        .ask(&mut one, "DELETE FROM orders WHERE id = 1")
        .expect("gone");
    one.savepoint("a");
    stage
        .ask(&mut one, "DELETE FROM orders WHERE id = 2")
        .expect("gone");
    assert_eq!(stage.rows_in(&mut one, COUNT), "1");
    assert!(one.rollback_to("A"));
    assert_eq!(stage.rows_in(&mut one, COUNT), "2");
    assert!(!one.rollback_to("nowhere"));
    assert!(one.release("a") && !one.release("a"));
}

#[test]
fn a_statement_that_fails_leaves_the_transaction_as_it_was() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    stage
        .ask(
            &mut one,
            "INSERT INTO orders (customer, address) VALUES (5, 'x')",
        )
        .expect("a row");
    let sql = "INSERT INTO orders (customer, address) VALUES (6, 'y'), (6, 'A')";
    let problem = stage.ask(&mut one, sql).expect_err("a duplicate");
    assert_eq!(
        problem.message,
        "Duplicate entry 'A' for key 'orders.place'"
    );
    assert_eq!(stage.rows_in(&mut one, COUNT), "4");
    assert_eq!(stage.database.commit(one).expect("committed").len(), 1);
    assert_eq!(stage.rows(COUNT), "4");
}

#[test]
fn rows_that_are_written_or_read_for_update_are_locked() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    for (sql, keys, mode) in [
        (
            "SELECT * FROM orders WHERE customer = 1 FOR UPDATE",
            &["1", "3"][..],
            LockMode::Exclusive,
        ),
        (
            "SELECT address FROM orders ORDER BY id DESC LIMIT 1 FOR SHARE",
            &["3"],
            LockMode::Shared,
        ),
        (
            "SELECT * FROM orders WHERE id = 2 LOCK IN SHARE MODE",
            &["2"],
            LockMode::Shared,
        ),
        (
            "UPDATE orders SET amount = 5 WHERE id < 3",
            &["1", "2"],
            LockMode::Exclusive,
        ),
        ("SELECT * FROM orders", &[], LockMode::Shared),
    ] {
        let mut one = Transaction::begin();
        let outcome = stage.ask(&mut one, sql).expect(sql);
        let wanted: Vec<Lock> = keys
            .iter()
            .map(|key| Lock {
                table: "shop.orders".into(),
                key: Some((*key).to_owned()),
                mode,
            })
            .collect();
        assert_eq!(outcome.locks, wanted, "{sql}");
        assert_eq!(outcome.tables, ["shop.orders".into()], "{sql}");
    }
}

#[test]
fn a_long_transaction_of_single_rows_is_not_replayed_from_its_beginning_each_time() {
    let mut stage = Stage::with_orders(Generation::MySql97);
    let mut one = Transaction::begin();
    for number in 0..2_000 {
        let sql = format!("INSERT INTO orders (customer, address) VALUES (1, 'n{number}')");
        stage.ask(&mut one, &sql).expect("a row");
        // Statements about the server's own tables do not disturb it.
        stage.tried("SELECT 1").expect("one");
    }
    assert_eq!(stage.database.replayed_rows, 0);
    assert_eq!(stage.database.commit(one).expect("committed").len(), 2_000);
    assert_eq!(stage.rows(COUNT), "2003");
}
