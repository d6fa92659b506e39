//! Errors in the servers' words.

use super::generation::Habits;
use crate::lab::wire::SqlError;
use crate::model::lab::Generation;

pub fn problem(code: u16, message: impl Into<String>) -> SqlError {
    SqlError::new(code, message.into())
}

/// 1290, under read_only or super_read_only.
pub fn read_only(generation: Generation, option: &str) -> SqlError {
    let server = if generation.is_mariadb() {
        "MariaDB"
    } else {
        "MySQL"
    };
    problem(
        1290,
        format!(
            "The {server} server is running with the --{option} option so it cannot execute this statement"
        ),
    )
}

/// 1227: something that needs a privilege for the whole server.
pub fn needs(privileges: &str) -> SqlError {
    problem(
        1227,
        format!(
            "Access denied; you need (at least one of) the {privileges} privilege(s) for this operation"
        ),
    )
}

/// 1142.
pub fn denied_on_table(verb: &str, user: &str, table: &str) -> SqlError {
    problem(
        1142,
        format!("{verb} command denied to user '{user}'@'127.0.0.1' for table '{table}'"),
    )
}

/// 1044.
pub fn denied_on_schema(user: &str, schema: &str) -> SqlError {
    problem(
        1044,
        format!("Access denied for user '{user}'@'%' to database '{schema}'"),
    )
}

/// A query in a place where nothing can wait for it.
pub fn too_long() -> SqlError {
    problem(
        1104,
        "The SELECT would examine more than MAX_JOIN_SIZE rows, or rather: here the lab's simulated servers take only \
         what is quickly found",
    )
}

pub fn interrupted() -> SqlError {
    problem(1317, "Query execution was interrupted")
}

pub fn out_of_time(generation: Generation) -> SqlError {
    if generation.is_mariadb() {
        problem(
            1969,
            "Query execution was interrupted (max_statement_time exceeded)",
        )
    } else {
        problem(
            3024,
            "Query execution was interrupted, maximum statement execution time exceeded",
        )
    }
}

pub fn lock_wait_timeout() -> SqlError {
    problem(
        1205,
        "Lock wait timeout exceeded; try restarting transaction",
    )
}

pub fn malformed_gtids(text: &str) -> SqlError {
    problem(1772, format!("Malformed GTID set specification '{text}'."))
}

/// This server understands the statement, and the simulation does not carry it out.
pub fn not_simulated(what: &str) -> SqlError {
    problem(
        1235,
        format!(
            "This simulated server doesn't carry out '{what}'. It knows what the lab's lessons need: tables and queries, transactions and locks, variables, accounts, events, and everything about replication"
        ),
    )
}

/// 1064 with help, for what no server knows or the simulation cannot tell from nonsense.
pub fn not_understood(sql: &str) -> SqlError {
    let near: String = sql.trim().chars().take(80).collect();
    problem(
        1064,
        format!(
            "You have an error in your SQL syntax, or this simulated server does not know the statement; near '{near}' \
             at line 1. It knows tables and queries, transactions and locks, SHOW, SET, accounts, events, and \
             everything about replication"
        ),
    )
}
