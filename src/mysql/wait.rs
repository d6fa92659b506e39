//! Waiting on a replica until a position is applied: the statement, and what its answer means (R20, R21).

use std::time::Duration;

use crate::model::event::{Position, WaitOutcome};
use crate::model::gtid::Gtids;
use crate::model::trouble::{Trouble, TroubleKind};

use super::dialect::Dialect;
use super::queries::{NAME, literal};
use super::rows::Rows;
use super::trouble::wait_failed;

/// The function that waits, with its own idea of what its numbers mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `WAIT_FOR_EXECUTED_GTID_SET`: 0 reached, 1 timeout.
    MySqlGtids,
    /// `MASTER_GTID_WAIT`: 0 reached, -1 timeout.
    MariaDbGtids,
    /// `SOURCE_POS_WAIT`, `MASTER_POS_WAIT`: events waited for, -1 timeout, NULL when the applier does not run.
    Coordinates,
}

/// Writes the statement, or says why none may be sent: never a limit of zero, never an empty set.
pub fn statement(
    dialect: &Dialect,
    target: &Position,
    channel: &str,
    limit: Duration,
) -> Result<(Function, String), Trouble> {
    if limit.is_zero() {
        return Err(wait_failed("trouble.wait.no_limit", ""));
    }
    match target {
        Position::Gtids(gtids) if gtids.is_empty() => Err(wait_failed("trouble.wait.empty", "")),
        Position::Gtids(Gtids::MySql(set)) => mysql_gtids(dialect, &set.to_string(), limit),
        Position::Gtids(Gtids::MariaDb(position)) => {
            mariadb_gtids(dialect, &position.to_string(), limit)
        }
        Position::Coordinates(at) => {
            let name = coordinates_function(dialect);
            let seconds = limit_text(limit, dialect.product.is_mysql_from(8, 0, 0));
            let channel = match channel {
                "" => String::new(),
                name => format!(", {}", literal(name)),
            };
            let file = literal(&at.file);
            let sql = format!(
                "{NAME}SELECT {name}({file}, {}, {seconds}{channel})",
                at.position
            );
            Ok((Function::Coordinates, sql))
        }
    }
}

fn mysql_gtids(
    dialect: &Dialect,
    set: &str,
    limit: Duration,
) -> Result<(Function, String), Trouble> {
    if dialect.product.is_mariadb() {
        return Err(wait_failed("trouble.wait.other_flavour", set));
    }
    if !dialect.product.is_mysql_from(5, 7, 5) {
        return Err(wait_failed("trouble.wait.too_old", ""));
    }
    // 5.7 takes whole seconds: 0.4 would be 0, and 0 is for ever.
    let seconds = limit_text(limit, dialect.product.is_mysql_from(8, 0, 0));
    let sql = format!("{NAME}SELECT WAIT_FOR_EXECUTED_GTID_SET('{set}', {seconds})");
    Ok((Function::MySqlGtids, sql))
}

fn mariadb_gtids(
    dialect: &Dialect,
    position: &str,
    limit: Duration,
) -> Result<(Function, String), Trouble> {
    if !dialect.product.is_mariadb() {
        return Err(wait_failed("trouble.wait.other_flavour", position));
    }
    let seconds = limit_text(limit, true);
    let sql = format!("{NAME}SELECT MASTER_GTID_WAIT('{position}', {seconds})");
    Ok((Function::MariaDbGtids, sql))
}

fn coordinates_function(dialect: &Dialect) -> &'static str {
    if dialect.product.is_mysql_from(8, 0, 26) {
        "SOURCE_POS_WAIT"
    } else {
        "MASTER_POS_WAIT"
    }
}

/// Seconds, never 0: to the millisecond where fractions are understood, else whole and rounded up.
fn limit_text(limit: Duration, fractions: bool) -> String {
    let millis = limit.as_millis().max(1);
    if fractions {
        format!("{}.{:03}", millis / 1000, millis % 1000)
    } else {
        millis.div_ceil(1000).to_string()
    }
}

/// What an answer means. Anything unexpected is a failed wait, never a success.
pub fn outcome(function: Function, rows: &Rows) -> WaitOutcome {
    let answer = rows.single().and_then(|bytes| {
        std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.trim().parse::<i64>().ok())
    });
    match (function, answer) {
        (Function::MySqlGtids | Function::MariaDbGtids, Some(0)) => WaitOutcome::Reached,
        (Function::MySqlGtids, Some(1)) | (Function::MariaDbGtids, Some(-1)) => {
            WaitOutcome::TimedOut
        }
        (Function::Coordinates, Some(0..)) => WaitOutcome::Reached,
        (Function::Coordinates, Some(-1)) => WaitOutcome::TimedOut,
        (Function::Coordinates, None) => {
            WaitOutcome::Failed(wait_failed("trouble.wait.applier_not_running", ""))
        }
        (_, Some(number)) => {
            WaitOutcome::Failed(wait_failed("trouble.wait.unexpected", &number.to_string()))
        }
        (_, None) => WaitOutcome::Failed(wait_failed("trouble.wait.unexpected", "NULL")),
    }
}

/// An error answer to a wait: cut short by a limit of the server is a timeout, the rest has failed.
pub fn failed(trouble: Trouble) -> WaitOutcome {
    match trouble.kind {
        TroubleKind::TimedOut => WaitOutcome::TimedOut,
        _ => WaitOutcome::Failed(trouble),
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect::tests::dialect;
    use super::super::rows::captured::row;
    use super::*;
    use crate::model::replication::Coordinates;
    use crate::model::server::Flavour;

    const SET: &str = "00000001-aaaa-11f0-8000-000000000000:1-5";

    fn gtids(text: &str, flavour: Flavour) -> Position {
        Position::Gtids(Gtids::parse(text, flavour).expect("GTIDs"))
    }

    fn sql(version: &str, target: &Position, channel: &str, millis: u64) -> String {
        let d = dialect(&[("version", version)]);
        match statement(&d, target, channel, Duration::from_millis(millis)) {
            Ok((_, sql)) => sql.trim_start_matches(NAME).to_owned(),
            Err(trouble) => trouble.what.key.to_owned(),
        }
    }

    #[test]
    fn r21_no_limit_is_zero_and_5_7_gets_whole_seconds() {
        let set = gtids(SET, Flavour::MySql);
        let call = |seconds: &str| format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{SET}', {seconds})");
        assert_eq!(sql("9.7.4", &set, "", 400), call("0.400"));
        assert_eq!(sql("5.7.29", &set, "", 400), call("1"));
        assert_eq!(sql("5.7.29", &set, "", 1001), call("2"));
        assert_eq!(sql("9.7.4", &set, "", 0), "trouble.wait.no_limit");
        let position = gtids("0-1-15", Flavour::MariaDb);
        assert_eq!(
            sql("10.11.19-MariaDB", &position, "", 300),
            "SELECT MASTER_GTID_WAIT('0-1-15', 0.300)"
        );
    }

    #[test]
    fn r21_an_empty_set_is_never_waited_for() {
        assert_eq!(
            sql("9.7.4", &gtids("", Flavour::MySql), "", 400),
            "trouble.wait.empty"
        );
        assert_eq!(
            sql("10.11.19-MariaDB", &gtids("", Flavour::MariaDb), "", 400),
            "trouble.wait.empty"
        );
    }

    #[test]
    fn r18_no_function_goes_to_the_other_flavour() {
        assert_eq!(
            sql("10.11.19-MariaDB", &gtids(SET, Flavour::MySql), "", 400),
            "trouble.wait.other_flavour"
        );
        assert_eq!(
            sql("9.7.4", &gtids("0-1-15", Flavour::MariaDb), "", 400),
            "trouble.wait.other_flavour"
        );
    }

    #[test]
    fn without_gtids_the_file_and_position_are_waited_for() {
        let at = Position::Coordinates(Coordinates {
            file: "binlog.000002".into(),
            position: 767,
        });
        assert_eq!(
            sql("9.7.4", &at, "", 400),
            "SELECT SOURCE_POS_WAIT('binlog.000002', 767, 0.400)"
        );
        assert_eq!(
            sql("5.7.29", &at, "east", 400),
            "SELECT MASTER_POS_WAIT('binlog.000002', 767, 1, 'east')"
        );
        assert_eq!(
            sql("10.11.19-MariaDB", &at, "", 400),
            "SELECT MASTER_POS_WAIT('binlog.000002', 767, 1)"
        );
    }

    #[test]
    fn r20_only_the_right_number_is_success() {
        use Function::{Coordinates, MariaDbGtids, MySqlGtids};
        let judged = |function, answer| outcome(function, &row(&[("x", answer)]));
        for function in [MySqlGtids, MariaDbGtids, Coordinates] {
            assert_eq!(judged(function, Some("0")), WaitOutcome::Reached);
            assert!(matches!(judged(function, None), WaitOutcome::Failed(_)));
        }
        assert_eq!(judged(MySqlGtids, Some("1")), WaitOutcome::TimedOut);
        assert!(matches!(
            judged(MySqlGtids, Some("-1")),
            WaitOutcome::Failed(_)
        ));
        assert_eq!(judged(MariaDbGtids, Some("-1")), WaitOutcome::TimedOut);
        assert!(matches!(
            judged(MariaDbGtids, Some("1")),
            WaitOutcome::Failed(_)
        ));
        assert_eq!(judged(Coordinates, Some("7")), WaitOutcome::Reached);
        assert_eq!(judged(Coordinates, Some("-1")), WaitOutcome::TimedOut);
        assert!(matches!(
            judged(Coordinates, Some("-2")),
            WaitOutcome::Failed(_)
        ));
        assert!(matches!(
            outcome(MySqlGtids, &Rows::default()),
            WaitOutcome::Failed(_)
        ));
    }
}
