use super::super::build::at_ms;
use super::fields::build::{clean_source, observed};
use super::*;

fn pool(size: usize) -> Pool {
    let rules = PoolRules {
        size,
        longest_queue: Span::from_millis(200),
        clean: clean_source(),
    };
    Pool::new(Origin::Source, rules)
}

fn clean() -> Observed {
    observed(&clean_source())
}

fn borrow(pool: &mut Pool) -> Lease {
    let id = match pool.borrow(at_ms(0), at_ms(0)) {
        Next::Open(id) | Next::Inspect(id) => id,
        other => panic!("{other:?}"),
    };
    match pool.inspected(id, &clean()).verdict {
        Verdict::Lend(lease) => lease,
        other => panic!("{other:?}"),
    }
}

fn keep(pool: &mut Pool, lease: Lease) {
    let checked = pool.give_back(lease, &clean()).expect("its own pool");
    assert_eq!(checked.verdict, Verdict::Keep);
}

#[test]
fn a_clean_connection_is_lent_again_and_again() {
    let mut pool = pool(1);
    for _ in 0..5 {
        let lease = borrow(&mut pool);
        assert_eq!(lease.connection(), ConnectionId(1));
        keep(&mut pool, lease);
    }
    assert_eq!((pool.counts().lent, pool.counts().returned), (5, 5));
    assert_eq!(pool.counts().found, BTreeMap::new());
}

#[test]
fn what_a_user_leaves_behind_is_cleaned_before_the_next_one() {
    let mut pool = pool(1);
    let lease = borrow(&mut pool);
    let id = lease.connection();
    let left = Observed {
        route_label: Some("read_write".to_owned()),
        ..clean()
    };
    let checked = pool.give_back(lease, &left).expect("its own pool");
    assert_eq!(checked.verdict, Verdict::Clean(vec![Step::ClearRouteLabel]));
    assert_eq!(checked.differences.len(), 1);
    // Not idle while it is being cleaned.
    assert_eq!(pool.borrow(at_ms(0), at_ms(0)), Next::Queue);
    assert_eq!(pool.cleaned(id, &clean()).verdict, Verdict::Keep);
    assert_eq!(pool.borrow(at_ms(0), at_ms(0)), Next::Inspect(id));
    let found = BTreeMap::from([((When::Return, Field::RouteLabel), 1)]);
    assert_eq!((pool.counts().cleaned, &pool.counts().found), (1, &found));
}

#[test]
fn b09_cleaning_that_fails_destroys_the_connection() {
    for after in [
        Observed::default(),
        Observed {
            in_transaction: Some(true),
            ..clean()
        },
    ] {
        let mut pool = pool(1);
        let lease = borrow(&mut pool);
        let id = lease.connection();
        let open = Observed {
            in_transaction: Some(true),
            ..clean()
        };
        pool.give_back(lease, &open).expect("its own pool");
        let verdict = pool.cleaned(id, &after).verdict;
        assert!(matches!(
            verdict,
            Verdict::Destroy(WhyDestroy::CleaningFailed(_))
        ));
        assert_eq!(pool.size(), 0);
    }
}

#[test]
fn b13_the_role_is_looked_at_before_lending_too() {
    let mut pool = pool(1);
    let lease = borrow(&mut pool);
    keep(&mut pool, lease);
    let Next::Inspect(id) = pool.borrow(at_ms(0), at_ms(0)) else {
        panic!("none idle");
    };
    let demoted = Observed {
        read_only: Some(true),
        ..clean()
    };
    let verdict = pool.inspected(id, &demoted).verdict;
    assert!(matches!(verdict, Verdict::Destroy(WhyDestroy::Hopeless(_))));
    assert_eq!(pool.borrow(at_ms(0), at_ms(0)), Next::Open(ConnectionId(2)));
}

#[test]
fn t9_a_connection_goes_back_to_the_pool_it_came_from_and_no_other() {
    let mut source = pool(1);
    let rules = PoolRules {
        clean: Clean {
            read_only: true,
            ..clean_source()
        },
        ..source.rules.clone()
    };
    let mut replica = Pool::new(Origin::Replica(WatchId(2)), rules);
    let lease = borrow(&mut source);
    let lease = replica
        .give_back(lease, &clean())
        .expect_err("not its pool");
    assert_eq!((lease.origin(), replica.size()), (Origin::Source, 0));
    keep(&mut source, lease);
}

#[test]
fn b11_after_a_switch_old_connections_are_not_lent() {
    let mut pool = pool(3);
    let (one, two) = (borrow(&mut pool), borrow(&mut pool));
    keep(&mut pool, one);
    assert_eq!(pool.retire_all(), [ConnectionId(1)]);
    let checked = pool.give_back(two, &clean()).expect("its own pool");
    assert_eq!(checked.verdict, Verdict::Destroy(WhyDestroy::Retired));
    assert_eq!(borrow(&mut pool).connection(), ConnectionId(3));
}

#[test]
fn nobody_cleans_what_is_to_be_closed() {
    let mut pool = pool(2);
    let (one, two) = (borrow(&mut pool), borrow(&mut pool));
    let dirty = Observed {
        in_transaction: Some(true),
        ..clean()
    };
    let id = one.connection();
    let cleaning = pool.give_back(one, &dirty).expect("its own pool");
    assert!(matches!(cleaning.verdict, Verdict::Clean(_)));
    pool.retire_all();
    // The switch came before the cleaning was over, or before the return.
    let retired = Verdict::Destroy(WhyDestroy::Retired);
    assert_eq!(pool.cleaned(id, &clean()).verdict, retired);
    let checked = pool.give_back(two, &dirty).expect("its own pool");
    assert_eq!(checked.verdict, retired);
}

#[test]
fn c13_a_request_that_waits_too_long_fails() {
    let mut pool = pool(1);
    let _lease = borrow(&mut pool);
    for (now_ms, next) in [(0, Next::Queue), (199, Next::Queue), (200, Next::Refuse)] {
        assert_eq!(pool.borrow(at_ms(0), at_ms(now_ms)), next, "{now_ms}");
    }
    assert_eq!(pool.counts().refused, 1);
}

#[test]
fn a_lost_connection_makes_room() {
    let mut pool = pool(1);
    let lease = borrow(&mut pool);
    pool.lost(lease.connection());
    assert_eq!(pool.borrow(at_ms(0), at_ms(0)), Next::Open(ConnectionId(2)));
    let late = pool.give_back(lease, &clean()).expect("its own pool");
    assert_eq!(late.verdict, Verdict::Destroy(WhyDestroy::NotOurs));
}

#[test]
fn nothing_leaks_over_many_borrowers_whatever_they_leave() {
    let mut pool = pool(2);
    for round in 0..40 {
        let lease = borrow(&mut pool);
        let id = lease.connection();
        let left = Observed {
            in_transaction: Some(round % 2 == 0),
            schema: Some(if round % 3 == 0 { "archive" } else { "shop" }.to_owned()),
            read_only: Some(round % 7 == 6),
            ..clean()
        };
        let checked = pool.give_back(lease, &left).expect("its own pool");
        if let Verdict::Clean(steps) = checked.verdict {
            assert!(!steps.is_empty());
            assert_eq!(pool.cleaned(id, &clean()).verdict, Verdict::Keep);
        }
    }
    let at_borrow = pool
        .counts()
        .found
        .keys()
        .filter(|(when, _)| *when == When::Borrow);
    assert_eq!(at_borrow.count(), 0);
    assert_eq!(pool.lent(), 0);
}
