//! One statement that writes very many rows: the replicas get it as one transaction, and apply it as one.
//!
//! It fills a table of its own, `shop.bulk`, from a cross product, so that nothing has to be prepared and nothing else is
//! locked. Afterwards the table is dropped: one short statement, where deleting the rows would be a second big
//! transaction. The replicas drop theirs when they get there.

use std::time::Duration;

use super::site::Site;
use crate::model::lab::LabServer;
use crate::model::trouble::Trouble;

/// Five million rows on a slow machine.
const AT_MOST: Duration = Duration::from_secs(30 * 60);

const CREATE: &str =
    "CREATE TABLE shop.bulk (id INT NOT NULL PRIMARY KEY, note VARCHAR(60) NOT NULL)";
const DROP: &str = "DROP TABLE IF EXISTS shop.bulk";

pub fn run(site: &Site, source: LabServer, rows: f64) -> Result<(), Trouble> {
    let mut admin = site.admin_for(source, AT_MOST)?;
    admin.run(DROP)?;
    admin.run(CREATE)?;
    site.control().works_in(Some((source, admin.id())));
    let filled = admin.run(&fill(rows.round().max(1.0) as u64));
    site.control().works_in(None);
    // In a session of its own: the other may have been killed.
    let dropped = site.admin(source).and_then(|mut admin| admin.run(DROP));
    site.control().go_on()?;
    filled.and(dropped)
}

/// From as many tables of ten digits as the number of rows has.
fn fill(rows: u64) -> String {
    let digits = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 \
                  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    let mut places = 1;
    while 10_u64.pow(places) < rows {
        places += 1;
    }
    let tables: Vec<String> = (0..places).map(|n| format!("{digits} d{n}")).collect();
    let number: Vec<String> = (0..places)
        .map(|n| format!("{} * d{n}.d", 10_u64.pow(n)))
        .collect();
    format!(
        "INSERT INTO shop.bulk (id, note) SELECT {}, 'one of very many rows of one transaction' \
         FROM {} LIMIT {rows}",
        number.join(" + "),
        tables.join(" CROSS JOIN ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_digits_are_crossed_as_the_rows_need() {
        for (rows, tables) in [(10, 1), (11, 2), (200_000, 6), (5_000_000, 7)] {
            let sql = fill(rows);
            assert_eq!(sql.matches("(SELECT 0 d").count(), tables, "{rows}");
            assert!(sql.ends_with(&format!("LIMIT {rows}")));
        }
    }
}
