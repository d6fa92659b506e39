//! Replication filters.

use super::*;

fn ignoring(lab: &mut Lab, tables: &[&str]) -> Result<(), Refusal> {
    let values = tables.iter().map(|table| (*table).to_owned()).collect();
    lab.world
        .set_filters(1, None, &[(FilterKind::IgnoreTable, values)])
}

#[test]
fn what_is_left_out_is_committed_empty() {
    for kind in KINDS {
        let mut lab = Lab::fan(kind, 1);
        assert_eq!(ignoring(&mut lab, &[TABLE]), Err(Refusal::ApplierRuns));
        lab.world.stop_applier(1, "").expect("there");
        ignoring(&mut lab, &[TABLE]).expect("it is stopped");
        lab.world.start_applier(1, "").expect("there");
        let (commit, key) = lab.insert(0);
        let gtid = lab.wait(commit);
        lab.until_applied(1, &gtid);
        assert!(!lab.world.engine(1).rows.contains_key(&key), "{kind:?}");
        let file = lab.world.binlog_position(1).file;
        let logged = lab.world.binlog_transactions(1, &file, 0, 100);
        let copy = logged.iter().find(|t| t.gtid == gtid).expect("logged");
        assert_eq!((copy.is_empty, copy.rows), (true, 0), "{kind:?}");
        let status = lab.status(1);
        let (_, filter) = status.filters.all().next().expect("a filter");
        assert_eq!((filter.used, filter.values.len()), (1, 1), "{kind:?}");
    }
}

#[test]
fn filters_of_the_server_hold_for_new_channels_and_are_gone_with_it() {
    let mut lab = Lab::of(Generation::MySql97, 2);
    ignoring(&mut lab, &["a.b"]).expect("nothing runs");
    lab.point(1, 0);
    let text = |lab: &Lab| lab.status(1).filters.text(FilterKind::IgnoreTable);
    assert_eq!(text(&lab), "a.b");
    lab.world.kill(1);
    lab.world.restart(1);
    assert_eq!(text(&lab), "");
}
