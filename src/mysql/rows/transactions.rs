//! Open transactions, with who owns them.

use crate::model::sample::{OpenTransaction, TransactionOwner};
use crate::model::time::Span;

use super::{Row, Rows};

pub fn transactions(rows: &Rows) -> Vec<OpenTransaction> {
    rows.iter().map(transaction).collect()
}

fn transaction(row: Row<'_>) -> OpenTransaction {
    let thread = row.told(&["thread"]).unwrap_or(0);
    let user = row.filled(&["user"]);
    OpenTransaction {
        id: row.text(&["trx_id"]).unwrap_or_default(),
        owner: owner(thread, user.as_deref()),
        thread,
        started: row.filled(&["trx_started"]),
        age: row.told(&["age"]).map(Span::from_secs),
        rows_modified: row.told(&["trx_rows_modified"]),
        rows_locked: row.told(&["trx_rows_locked"]),
        statement: row.filled(&["trx_query"]),
        user,
        host: row.filled(&["host"]),
        state: row.filled(&["state"]),
    }
}

/// Replication threads run as `system user` on both flavours.
fn owner(thread: u64, user: Option<&str>) -> TransactionOwner {
    match (thread, user) {
        (0, _) => TransactionOwner::PreparedXa,
        (_, Some("system user")) => TransactionOwner::Applier,
        _ => TransactionOwner::User,
    }
}

#[cfg(test)]
mod tests {
    use super::super::captured::table;
    use super::*;

    #[test]
    fn r46_prepared_xa_appliers_and_people_are_told_apart() {
        let found = transactions(&table(
            &[
                "trx_id",
                "thread",
                "trx_started",
                "age",
                "trx_rows_modified",
                "trx_rows_locked",
                "trx_query",
                "user",
                "host",
                "command",
                "state",
            ],
            &[
                &[
                    Some("9"),
                    Some("0"),
                    Some("2026-11-29 19:05:10"),
                    Some("9000"),
                    Some("1"),
                    Some("2"),
                    None,
                    None,
                    None,
                    None,
                    None,
                ],
                &[
                    Some("1574"),
                    Some("41"),
                    Some("2026-11-29 19:05:10"),
                    Some("7"),
                    Some("2"),
                    Some("3"),
                    Some("SELECT SLEEP(8)"),
                    Some("root"),
                    Some("localhost"),
                    Some("Query"),
                    Some("User sleep"),
                ],
                &[
                    Some("1575"),
                    Some("13"),
                    None,
                    None,
                    None,
                    None,
                    None,
                    Some("system user"),
                    Some(""),
                    Some("Query"),
                    None,
                ],
            ],
        ));
        let owners: Vec<_> = found.iter().map(|t| t.owner).collect();
        assert_eq!(
            owners,
            [
                TransactionOwner::PreparedXa,
                TransactionOwner::User,
                TransactionOwner::Applier
            ]
        );
        assert_eq!(found[0].age, Some(Span::from_secs(9000)));
        assert_eq!(found[1].statement.as_deref(), Some("SELECT SLEEP(8)"));
        assert_eq!((found[2].age, &found[2].host), (None, &None));
    }
}
