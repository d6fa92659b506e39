//! Claims about statements that take long.

use std::thread;
use std::time::Duration;

use super::*;

const CROSS_JOIN: &str =
    "SELECT COUNT(*) + @a FROM orders a, orders b, orders c WHERE a.id + b.id + c.id < 0";

fn many_orders() -> Stage {
    let mut stage = Stage::with_orders(Generation::MySql97);
    stage.run(
        "INSERT INTO orders (customer, address) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n \
         WHERE i < 150) SELECT i, CONCAT('street ', i) FROM n",
    );
    stage.session.patience = Some(Duration::from_millis(1));
    stage
}

fn told(aside: &Aside) -> Result<Told, SqlProblem> {
    loop {
        match aside.told() {
            Some(told) => return told,
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[test]
fn an_impatient_session_is_told_so_and_nothing_has_happened() {
    let mut stage = many_orders();
    let mut transaction = Transaction::begin();
    stage
        .ask(
            &mut transaction,
            "UPDATE orders SET customer = 9 WHERE id = 1",
        )
        .unwrap();
    let long = "UPDATE orders SET customer = customer + (@a := 1) \
                WHERE (SELECT COUNT(*) FROM orders b, orders c WHERE b.id + c.id < 0) = 0";
    let outcome = stage.ask(&mut transaction, long).unwrap();
    let writes = vec![Arc::from("shop.orders")];
    assert_eq!(outcome.result, Brought::TooLong { writes });
    assert_eq!(transaction.changes().len(), 1);
    assert!(stage.session.user_variables.is_empty());
    let customers = "SELECT GROUP_CONCAT(customer ORDER BY id) FROM orders WHERE id < 4";
    assert_eq!(stage.rows_in(&mut transaction, customers), "9,2,1");
    assert_eq!(stage.rows(customers), "1,2,1");
}

#[test]
fn aside_it_sees_the_tables_as_they_were_and_its_own_transaction() {
    let mut stage = many_orders();
    stage
        .session
        .user_variables
        .insert("a".into(), Value::Int(5));
    let mut transaction = Transaction::begin();
    stage
        .ask(&mut transaction, "DELETE FROM orders WHERE id = 3")
        .unwrap();
    assert!(matches!(
        stage.ask(&mut transaction, CROSS_JOIN).unwrap().result,
        Brought::TooLong { .. }
    ));
    let Stage {
        database,
        session,
        around,
    } = &mut stage;
    let counting = "SELECT COUNT(*) + @a FROM orders";
    let aside = [CROSS_JOIN, counting].map(|sql| {
        database
            .aside(&transaction, session, around, sql, false)
            .unwrap()
    });
    stage.run("DELETE FROM orders WHERE id > 3");
    let [none, count] = aside.map(|aside| match told(&aside).unwrap().outcome.result {
        Brought::Rows(rows) => shown(&rows),
        other => panic!("{other:?}"),
    });
    assert_eq!((none.as_str(), count.as_str()), ("5", "157"));
}

#[test]
fn what_it_changed_aside_is_part_of_the_transaction_that_comes_back() {
    let mut stage = many_orders();
    let Stage {
        database,
        session,
        around,
    } = &mut stage;
    let insert = "INSERT INTO orders (customer, address) VALUES (7, 'aside')";
    let aside = database
        .aside(&Transaction::begin(), session, around, insert, false)
        .unwrap();
    let told = told(&aside).unwrap();
    assert_eq!(told.session.last_insert_id, 154);
    assert_eq!(
        stage.rows("SELECT COUNT(*) FROM orders WHERE id = 154"),
        "0"
    );
    stage.database.commit(told.transaction).unwrap();
    assert_eq!(
        stage.rows("SELECT address FROM orders WHERE id = 154"),
        "aside"
    );
    stage.run("INSERT INTO orders (customer, address) VALUES (7, 'after')");
    assert_eq!(
        stage.rows("SELECT id FROM orders WHERE address = 'after'"),
        "155"
    );
}

#[test]
fn an_answer_that_would_fill_the_memory_is_refused() {
    let mut stage = many_orders();
    stage.session.patience = None;
    let (code, message) = stage.error("SELECT REPEAT('x', 1000) FROM orders a, orders b, orders c");
    assert_eq!(code, 1104, "{message}");
}
