//! What people say about replication, and what the servers' own words show of it.

use std::time::Duration;

use replicascope::lab::simulator::Simulator;
use replicascope::model::lab::{Generation, LabPlan};

use super::lab::{SOON, Said, admin, plan, start, watch};
use super::support::eventually;

/// One replica, and nothing but what the test writes: the heartbeat's event is off. Both have the table.
fn quiet(generation: Generation) -> (Simulator, Said, Said) {
    let lab = start(&LabPlan {
        replicas: 1,
        ..plan(generation)
    });
    let (mut source, mut replica) = (admin(&lab, 0), admin(&lab, 1));
    source.run("SET GLOBAL event_scheduler = OFF; CREATE TABLE shop.marks (n INT PRIMARY KEY)");
    let is_there = "SELECT COUNT(*) FROM information_schema.tables \
                    WHERE table_schema = 'shop' AND table_name = 'marks'";
    becomes("the table", || replica.value(is_there), "1");
    (lab, source, replica)
}

fn mark(source: &mut Said, n: u32) {
    source.run(&format!("INSERT INTO shop.marks VALUES ({n})"));
}

fn marks(replica: &mut Said) -> String {
    replica.value("SELECT COALESCE(GROUP_CONCAT(n ORDER BY n), '') FROM shop.marks")
}

fn becomes(what: &str, mut value: impl FnMut() -> String, wanted: &str) {
    let mut last = String::new();
    let is_so = eventually(Duration::from_secs(10), || {
        last = value();
        last == wanted
    });
    assert!(is_so, "{what}: {last:?}, not {wanted:?}");
}

#[test]
fn an_applier_stops_where_it_was_told_to() {
    let (_lab, mut source, mut replica) = quiet(Generation::MySql97);
    replica.run("STOP REPLICA");
    let last = |source: &mut Said| {
        let all = source.value("SELECT @@GLOBAL.gtid_executed");
        let (uuid, numbers) = all.rsplit_once(':').expect("a set");
        let number = numbers.rsplit('-').next().expect("a number").to_owned();
        (uuid.to_owned(), number.parse::<u64>().expect("a number"))
    };
    let (uuid, before) = last(&mut source);
    for n in 1..=6 {
        mark(&mut source, n);
    }
    let until = |replica: &mut Said, goal: &str, condition: &str, wanted: &str| {
        replica.run(&format!("START REPLICA UNTIL {goal}"));
        let status = "SHOW REPLICA STATUS";
        becomes(
            goal,
            || {
                replica
                    .field(status, "Replica_SQL_Running")
                    .unwrap_or_default()
            },
            "No",
        );
        assert_eq!(
            replica.field(status, "Until_Condition").as_deref(),
            Some(condition)
        );
        assert_eq!(
            replica.field(status, "Last_SQL_Errno").as_deref(),
            Some("0")
        );
        assert_eq!(marks(replica), wanted, "{goal}");
    };
    let gtid = |n: u64| format!("'{uuid}:{}'", before + n);
    until(
        &mut replica,
        &format!("SQL_BEFORE_GTIDS = {}", gtid(2)),
        "SQL_BEFORE_GTIDS",
        "1",
    );
    until(
        &mut replica,
        &format!("SQL_AFTER_GTIDS = {}", gtid(3)),
        "SQL_AFTER_GTIDS",
        "1,2,3",
    );
    let file = source
        .field("SHOW BINARY LOG STATUS", "File")
        .expect("a file");
    let events = source.rows(&format!("SHOW BINLOG EVENTS IN '{file}'"));
    let fifth = format!("SET @@SESSION.GTID_NEXT= {}", gtid(5));
    let start = events
        .iter()
        .find(|row| row[5].as_deref() == Some(&fifth))
        .expect("its GTID");
    let start = start[1].clone().expect("a position");
    let at = format!("SOURCE_LOG_FILE = '{file}', SOURCE_LOG_POS = {start}");
    until(&mut replica, &at, "Source", "1,2,3,4");
    let told = replica.field("SHOW REPLICA STATUS", "Until_Log_Pos");
    assert_eq!(told, Some(start));
    replica.run("START REPLICA");
    becomes("the rest", || marks(&mut replica), "1,2,3,4,5,6");
    let told = replica.field("SHOW REPLICA STATUS", "Until_Condition");
    assert_eq!(told.as_deref(), Some("None"));
    for (sql, code) in [
        ("START REPLICA UNTIL SQL_AFTER_GTIDS = 'zzz'", 1772),
        ("START REPLICA UNTIL NONSENSE = 1", 1064),
        ("START REPLICA UNTIL SOURCE_LOG_FILE = 'x'", 1277),
        ("START REPLICA UNTIL SOURCE_LOG_POS = 5", 1277),
        (
            "START REPLICA UNTIL MASTER_LOG_FILE = 'x', MASTER_LOG_POS = 5",
            1064,
        ),
    ] {
        assert_eq!(replica.refused(sql), code, "{sql}");
    }
}

#[test]
fn mariadb_stops_at_a_gtid_in_its_own_words() {
    let (_lab, mut source, mut replica) = quiet(Generation::MariaDb1011);
    replica.run("STOP SLAVE");
    mark(&mut source, 1);
    let goal = source.value("SELECT @@gtid_binlog_pos");
    mark(&mut source, 2);
    replica.run(&format!("START SLAVE UNTIL master_gtid_pos = '{goal}'"));
    becomes(
        "stopped",
        || {
            replica
                .field("SHOW SLAVE STATUS", "Slave_SQL_Running")
                .unwrap_or_default()
        },
        "No",
    );
    assert_eq!(marks(&mut replica), "1");
    let told = replica.field("SHOW SLAVE STATUS", "Until_Condition");
    assert_eq!(told.as_deref(), Some("Gtid"));
}

#[test]
fn filters_leave_out_what_they_name_and_show_it() {
    for generation in [
        Generation::MySql57,
        Generation::MySql97,
        Generation::MariaDb118,
    ] {
        let (_lab, mut source, mut replica) = quiet(generation);
        let (word, status) = match generation {
            Generation::MySql57 => ("SLAVE", "SHOW SLAVE STATUS"),
            _ => ("REPLICA", "SHOW REPLICA STATUS"),
        };
        let is_mariadb = generation == Generation::MariaDb118;
        let filter = |name: &str, values: &str| match is_mariadb {
            true => format!("SET GLOBAL {name} = '{values}'"),
            false => format!("CHANGE REPLICATION FILTER {name} = ({values})"),
        };
        let running = match generation {
            Generation::MySql57 => 3017,
            Generation::MySql97 => 3085,
            _ => 1198,
        };
        let ignore = filter("replicate_ignore_table", "shop.marks");
        assert_eq!(replica.refused(&ignore), running, "{generation:?}");
        replica.run(&format!(
            "STOP {word} SQL_THREAD; {ignore}; START {word} SQL_THREAD"
        ));
        let shown = replica.field(status, "Replicate_Ignore_Table");
        assert_eq!(shown.as_deref(), Some("shop.marks"), "{generation:?}");
        mark(&mut source, 1);
        source.run("UPDATE shop.orders SET status = 'seen' WHERE id = 3");
        becomes(
            "what comes after it",
            || replica.value("SELECT status FROM shop.orders WHERE id = 3"),
            "seen",
        );
        assert_eq!(marks(&mut replica), "", "{generation:?}");
        let none = filter("replicate_ignore_table", "");
        let only = filter("replicate_do_db", "replicascope");
        replica.run(&format!(
            "STOP {word} SQL_THREAD; {none}; {only}; START {word} SQL_THREAD"
        ));
        assert_eq!(
            replica.field(status, "Replicate_Do_DB").as_deref(),
            Some("replicascope")
        );
        mark(&mut source, 2);
        source.run("UPDATE replicascope.heartbeat SET ts = '2020-01-01'");
        becomes(
            "the only schema",
            || replica.value("SELECT YEAR(MIN(ts)) FROM replicascope.heartbeat"),
            "2020",
        );
        assert_eq!(marks(&mut replica), "", "{generation:?}");
    }
}

#[test]
fn filters_are_listed_with_how_often_they_decided() {
    let (_lab, mut source, mut replica) = quiet(Generation::MySql97);
    replica.run("STOP REPLICA SQL_THREAD");
    replica.run("CHANGE REPLICATION FILTER REPLICATE_WILD_IGNORE_TABLE = ('shop.m%'), REPLICATE_DO_DB = () FOR CHANNEL ''");
    replica.run("START REPLICA SQL_THREAD");
    mark(&mut source, 1);
    mark(&mut source, 2);
    let sql = "SELECT FILTER_NAME, FILTER_RULE, CONFIGURED_BY, COUNTER FROM \
               performance_schema.replication_applier_filters";
    let rule = [
        "REPLICATE_WILD_IGNORE_TABLE",
        "shop.m%",
        "CHANGE_REPLICATION_FILTER",
        "2",
    ];
    let is_so = eventually(Duration::from_secs(10), || {
        replica
            .rows(sql)
            .contains(&rule.map(|cell| Some(cell.to_owned())).to_vec())
    });
    assert!(is_so, "{:?}", replica.rows(sql));
    let global = "SELECT COUNT(*) FROM performance_schema.replication_applier_global_filters";
    assert_eq!(replica.value(global), "0");
    replica.run("STOP REPLICA SQL_THREAD");
    for (sql, code) in [
        ("CHANGE REPLICATION FILTER NONSENSE = (a)", 1064),
        ("CHANGE REPLICATION FILTER REPLICATE_DO_TABLE = (a)", 1064),
        (
            "CHANGE REPLICATION FILTER REPLICATE_WILD_DO_TABLE = ('a')",
            3067,
        ),
        (
            "CHANGE REPLICATION FILTER REPLICATE_DO_DB = (a) FOR CHANNEL 'x'",
            3074,
        ),
    ] {
        assert_eq!(replica.refused(sql), code, "{sql}");
    }
}

#[test]
fn a_heartbeat_that_is_filtered_out_is_found_out() {
    let lab = start(&plan(Generation::MySql97));
    let mut watching = watch(&lab);
    watching.until_well(SOON);
    admin(&lab, 1).run(
        "STOP REPLICA SQL_THREAD; CHANGE REPLICATION FILTER REPLICATE_DO_DB = (shop); START REPLICA SQL_THREAD",
    );
    watching.until("the filter to be named", SOON, |view| {
        view.finding(1, "heartbeat_filtered").is_some()
    });
}

#[test]
fn a_forgotten_source_leaves_nothing_to_start() {
    let (_lab, _source, mut replica) = quiet(Generation::MySql97);
    assert_eq!(replica.refused("RESET REPLICA ALL"), 3081);
    replica.run("STOP REPLICA; RESET REPLICA ALL");
    assert!(replica.rows("SHOW REPLICA STATUS").is_empty());
    assert_eq!(replica.refused("START REPLICA"), 1200);
}

#[test]
fn binary_logs_are_purged_by_name_and_by_age() {
    let (_lab, mut source, _replica) = quiet(Generation::MySql97);
    let names = |source: &mut Said| -> Vec<String> {
        let rows = source.rows("SHOW BINARY LOGS");
        rows.into_iter().filter_map(|row| row[0].clone()).collect()
    };
    source.run("FLUSH BINARY LOGS; FLUSH BINARY LOGS; FLUSH BINARY LOGS");
    let all = names(&mut source);
    assert_eq!(all.len(), 4);
    source.run("PURGE BINARY LOGS BEFORE '2020-01-01 00:00:00'");
    assert_eq!(names(&mut source), all);
    source.run(&format!("PURGE BINARY LOGS TO '{}'", all[1]));
    assert_eq!(names(&mut source), all[1..]);
    source.run("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY");
    assert_eq!(names(&mut source), all[3..]);
    assert_eq!(
        source.refused("PURGE BINARY LOGS TO 'nowhere.000001'"),
        1373
    );
    assert_eq!(
        source.refused(&format!("SHOW BINLOG EVENTS IN '{}'", all[0])),
        1220
    );
}
