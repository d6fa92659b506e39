//! A lesson being taught.

use std::sync::Arc;

use super::*;
use crate::model::lab::{Fault, FaultId, FaultNote, FaultState};

fn step(until: Option<Condition>) -> Step {
    Step {
        text: Bilingual::default(),
        acts: Vec::new(),
        look: None,
        sql: None,
        hint: until.is_some().then(Bilingual::default),
        until,
        hold: Span::ZERO,
        patience: secs(30),
    }
}

/// Two steps: one waits for a small lag that holds 3 s, the other for nothing.
fn run() -> LessonRun {
    let lesson = Lesson {
        id: "test".to_owned(),
        number: 1,
        title: Bilingual::default(),
        goal: Bilingual::default(),
        minutes: 10,
        lab: LabNeed {
            plan: LabPlan::default(),
        },
        steps: vec![
            Step {
                hold: secs(3),
                ..step(Some(lag_at_most(100)))
            },
            step(None),
        ],
        question: Question {
            ask: Bilingual::default(),
            answer: Bilingual::default(),
        },
        production: Vec::new(),
    };
    LessonRun::new(Arc::new(lesson), at(0))
}

fn lag_ms(ms: i64) -> LessonFacts {
    replica(|s| s.lag = LagNow::Measured(Span::from_millis(ms)))
}

#[test]
fn a_step_is_ticked_off_when_what_it_waits_for_has_held_long_enough() {
    let mut run = run();
    assert!(!run.observe(&lag_ms(10), at(1)));
    assert!(!run.observe(&lag_ms(10), at(3)));
    assert!(run.observe(&lag_ms(10), at(4)));
    assert!(run.is_ticked(0));
    assert!(
        !run.observe(&lag_ms(10), at(5)),
        "it is ticked off but once"
    );
}

#[test]
fn a_break_starts_the_holding_anew() {
    let mut run = run();
    run.observe(&lag_ms(10), at(1));
    run.observe(&lag_ms(500), at(2));
    assert!(!run.observe(&lag_ms(10), at(4)));
    assert!(!run.observe(&lag_ms(10), at(6)));
    assert!(run.observe(&lag_ms(10), at(7)));
}

#[test]
fn a_hint_is_due_after_the_steps_patience_and_not_once_it_is_ticked_off() {
    let mut run = run();
    assert!(!run.hint_is_due(at(29)));
    assert!(run.hint_is_due(at(30)));
    assert_eq!(run.waiting_for(at(31)), Some(secs(31)));
    run.acted(at(31));
    assert!(!run.hint_is_due(at(60)), "done at last: it waits anew");
    assert!(run.hint_is_due(at(61)));
    run.tick();
    assert!(!run.hint_is_due(at(61)));
    assert_eq!(run.waiting_for(at(61)), None);
    run.forward(at(40));
    assert!(!run.hint_is_due(at(400)), "this step waits for nothing");
}

#[test]
fn the_pages_follow_each_other_to_the_checklist_and_back() {
    let mut run = run();
    let mut seen = vec![run.page()];
    for _ in 0..4 {
        run.forward(at(1));
        seen.push(run.page());
    }
    let order = [
        Page::Step(0),
        Page::Step(1),
        Page::Question,
        Page::Production,
        Page::Production,
    ];
    assert_eq!(seen, order);
    for page in order.into_iter().rev().skip(2) {
        run.back(at(2));
        assert_eq!(run.page(), page);
    }
    run.back(at(3));
    assert_eq!(run.page(), Page::Step(0));
}

#[test]
fn leaving_a_step_ticks_it_off_only_if_it_waits_for_nothing() {
    let mut run = run();
    run.forward(at(1));
    assert!(!run.is_ticked(0));
    run.forward(at(2));
    assert!(run.is_ticked(1));
    run.forward(at(3));
    assert_eq!(run.steps_ticked(), 1, "the first step was never seen");
    run.go_to(Page::Step(0), at(4));
    run.tick();
    run.go_to(Page::Production, at(5));
    assert_eq!(run.steps_ticked(), 2);
}

#[test]
fn a_step_begins_anew_when_one_comes_back_to_it() {
    let mut run = run();
    run.acted(at(0));
    run.observe(&lag_ms(10), at(1));
    run.forward(at(2));
    run.back(at(10));
    assert!(!run.has_acted());
    assert_eq!(run.since(), at(10));
    assert!(
        !run.observe(&lag_ms(10), at(11)),
        "what held before does not count"
    );
    run.go_to(Page::Step(7), at(20));
    assert_eq!(run.page(), Page::Step(0), "there is no such step");
}

#[test]
fn an_answer_stays_hidden_until_it_is_asked_for() {
    let mut run = run();
    assert!(!run.answer_is_revealed());
    run.reveal_answer();
    assert!(run.answer_is_revealed());
}

#[test]
fn a_lesson_in_other_words_stands_where_it_stood() {
    let mut run = run();
    run.forward(at(1));
    run.tick();
    let mut other = run.lesson().clone();
    other.title.en = "Other words".to_owned();
    run.reword(Arc::new(other));
    assert_eq!(run.lesson().title.en, "Other words");
    assert_eq!((run.page(), run.steps_ticked()), (Page::Step(1), 1));
}

/// One step, that makes a transaction of 300,000 rows and waits for a lag.
fn big_transaction() -> LessonRun {
    let waits = step(Some(Condition::Lag {
        on: 1,
        method: None,
        range: LagRange {
            at_least: Some(Span::from_millis(1500)),
            at_most: None,
        },
    }));
    let lesson = Lesson {
        steps: vec![Step {
            acts: vec![
                Act::UndoAll,
                Act::Make {
                    kind: FaultKind::BigTransaction,
                    on: 0,
                    intensity: 300_000.0,
                    lasts: None,
                },
            ],
            ..waits
        }],
        ..run().lesson().clone()
    };
    LessonRun::new(Arc::new(lesson), at(0))
}

/// Replica 1 so late, after a transaction of so many rows.
fn made(rows: f64, since: i64, state: FaultState, lag: i64) -> LessonFacts {
    let note = FaultNote {
        id: FaultId(1),
        fault: Fault {
            kind: FaultKind::BigTransaction,
            on: 0,
            intensity: rows,
            lasts: None,
        },
        since: at(since),
        state,
    };
    LessonFacts {
        faults: vec![note],
        ..lag_ms(lag)
    }
}

fn passed(at_secs: i64) -> FaultState {
    FaultState::Passed { at: at(at_secs) }
}

fn rows_once_more(run: &mut LessonRun, facts: &LessonFacts, now: i64) -> Option<f64> {
    run.observe(facts, at(now));
    match run.once_more(facts, at(now))? {
        Act::Make { intensity, .. } => Some(intensity),
        _ => None,
    }
}

#[test]
fn a_big_transaction_that_passed_unseen_is_made_again_bigger_as_far_as_it_goes() {
    let mut run = big_transaction();
    run.acted(at(1));
    let now = |run: &mut LessonRun, rows, at| rows_once_more(run, &made(rows, 2, passed(3), 0), at);
    assert_eq!(now(&mut run, 300_000.0, 8), None, "it may still be seen");
    assert_eq!(now(&mut run, 300_000.0, 9), Some(1_200_000.0));
    assert_eq!(now(&mut run, 4_800_000.0, 9), Some(5_000_000.0));
    assert_eq!(now(&mut run, 5_000_000.0, 9), None);
}

#[test]
fn nothing_is_made_again_that_was_seen_or_not_asked_for() {
    let seen = made(300_000.0, 2, passed(3), 2000);
    let mut run = big_transaction();
    run.acted(at(1));
    assert_eq!(rows_once_more(&mut run, &seen, 9), None);
    assert!(run.is_ticked(0));

    // Nobody pressed the button, or the one that passed is of the step before.
    let unseen = made(300_000.0, 2, passed(3), 0);
    let mut run = big_transaction();
    assert_eq!(rows_once_more(&mut run, &unseen, 9), None);
    run.acted(at(4));
    assert_eq!(rows_once_more(&mut run, &unseen, 9), None);

    for state in [
        FaultState::Starting,
        FaultState::Ending,
        FaultState::Over { at: at(3) },
    ] {
        let mut run = big_transaction();
        run.acted(at(1));
        let facts = made(300_000.0, 2, state, 0);
        assert_eq!(rows_once_more(&mut run, &facts, 9), None);
    }
}
