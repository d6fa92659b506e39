//! SHOW ENGINE INNODB STATUS, in short: transactions, what they wait for, counters.

use std::fmt::Write;

use super::super::super::sql::TableData;
use super::super::bench::Bench;
use super::super::me::Me;
use super::super::problems;
use super::super::table::{TEXT, date_time, table};
use super::super::threads::{id_of, on_server_clock, table_of};
use super::super::words::Words;
use crate::lab::wire::SqlError;

pub fn show(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<Option<TableData>, SqlError> {
    if !words.accept("ENGINE INNODB STATUS") {
        return Ok(None);
    }
    if !me.may(bench, &["PROCESS"]) {
        return Err(problems::needs("PROCESS"));
    }
    let row = vec!["InnoDB".into(), "".into(), text(bench, me).into()];
    Ok(Some(table(
        &[("Type", TEXT), ("Name", TEXT), ("Status", TEXT)],
        vec![row],
    )))
}

fn text(bench: &Bench, me: &Me) -> String {
    let now = bench.world.clock(me.node);
    let counters = &bench.machines[me.node].counters;
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = write!(
        text,
        "\n=====================================\n{} INNODB MONITOR OUTPUT\n\
         =====================================\n------------\nTRANSACTIONS\n------------\n",
        date_time(now, 0)
    );
    for (id, seat) in &bench.machines[me.node].seats {
        let Some(transaction) = seat.transaction else {
            continue;
        };
        let age = bench.world.now().since(transaction.since).micros() / 1_000_000;
        let _ = write!(
            text,
            "---TRANSACTION {}, ACTIVE {age} sec\nMySQL thread id {id}, {} {}\nundo log entries {}\n",
            421_000_000 + id,
            seat.host,
            seat.user,
            transaction.rows_modified
        );
    }
    for wait in bench.world.lock_waits(me.node) {
        let (waiter, holder) = (
            id_of(bench, me.node, &wait.waiter),
            id_of(bench, me.node, &wait.on.owner),
        );
        let since = on_server_clock(bench, me.node, wait.since);
        let _ = writeln!(
            text,
            "------- THREAD {} HAS BEEN WAITING SINCE {} FOR A LOCK OF THREAD {} ON {:?}",
            waiter.unwrap_or(0),
            date_time(since, 0),
            holder.unwrap_or(0),
            table_of(&wait.on.what)
        );
    }
    let _ = write!(
        text,
        "--------------\nROW OPERATIONS\n--------------\nNumber of rows inserted {}, updated {}, deleted {}, read {}\n\
         ----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n",
        counters.rows_inserted, counters.rows_updated, counters.rows_deleted, counters.rows_read
    );
    text
}
