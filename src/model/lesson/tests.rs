//! What the tests of conditions and of a lesson being taught share, and the smaller matters.

mod conditions;
mod run;

use super::*;
use crate::model::finding::Role;
use crate::model::time::Moment;

fn at(secs: i64) -> Moment {
    Moment::from_unix_micros(secs * 1_000_000)
}

fn secs(secs: i64) -> Span {
    Span::from_secs(secs)
}

/// Replica 1 in one state, and everything else unknown.
fn replica(change: impl FnOnce(&mut ServerFacts)) -> LessonFacts {
    let mut server = ServerFacts {
        role: Role::Replica,
        is_fresh: true,
        ..ServerFacts::default()
    };
    change(&mut server);
    LessonFacts {
        servers: [(1, server)].into(),
        ..LessonFacts::default()
    }
}

fn lag_at_most(ms: i64) -> Condition {
    Condition::Lag {
        on: 1,
        method: None,
        range: LagRange {
            at_least: None,
            at_most: Some(Span::from_millis(ms)),
        },
    }
}

#[test]
fn a_lesson_fits_the_lab_it_needs_and_no_other() {
    use crate::model::lab::{Ground, Shape};
    use crate::model::server::Flavour;
    let need = LabNeed {
        plan: LabPlan::default(),
    };
    let lab = |change: fn(&mut LabPlan)| {
        let mut plan = LabPlan::default();
        change(&mut plan);
        plan
    };
    assert!(need.fits(&lab(|_| {})));
    assert!(need.fits(&lab(|p| p.replicas = 5)));
    assert!(need.fits(&lab(|p| p.seed = 7)));
    assert!(!need.fits(&lab(|p| p.replicas = 1)));
    assert!(!need.fits(&lab(|p| p.shape = Shape::Chain)));
    assert!(!need.fits(&lab(|p| p.semi_sync = false)));
    assert!(need.fits(&lab(|p| p.ground = Ground::Real(Flavour::MySql))));
}

#[test]
fn codes_of_spots_are_all_different() {
    let codes: BTreeSet<_> = Spot::all(1).into_iter().map(Spot::code).collect();
    assert_eq!(codes.len(), Spot::all(1).len());
}
