use super::*;
use crate::model::lab::{Fault, Generation, Ground, LabPlan, Traffic, TrafficCounts};
use crate::model::lesson::Page;

fn at(secs: i64) -> Moment {
    Moment::from_unix_micros(secs * 1_000_000)
}

fn lab(faults: Vec<FaultNote>) -> LabStatus {
    LabStatus {
        plan: LabPlan::default(),
        phase: LabPhase::Running { since: at(0) },
        nodes: Vec::new(),
        accounts: None,
        ca_pem: None,
        traffic: Traffic::default(),
        carried: TrafficCounts::default(),
        faults,
        impossible: Vec::new(),
    }
}

#[test]
fn a_lesson_is_taught_in_the_words_of_the_labs_servers() {
    let mut teaching = Teaching::default();
    teaching.begin("seconds-behind", at(0));
    let mut status = lab(Vec::new());
    status.plan.ground = Ground::Simulated(Generation::MariaDb1011);
    let board = LabBoard {
        status: Some(status),
        ..LabBoard::default()
    };
    teaching.board.run.as_mut().unwrap().forward(at(1));
    teaching.fit(&board, None);
    let run = teaching.board.run.as_ref().unwrap();
    assert_eq!(run.lesson().title.en, "Why Seconds_Behind_Master lies");
    assert_eq!(run.page(), Page::Step(1));
}

fn note(id: u64, state: FaultState) -> FaultNote {
    FaultNote {
        id: FaultId(id),
        fault: Fault {
            kind: FaultKind::LinkCut,
            on: 1,
            intensity: 0.0,
            lasts: None,
        },
        since: at(1),
        state,
    }
}

fn teaching(acts: Vec<Act>) -> Teaching {
    Teaching {
        to_do: acts.into(),
        ..Teaching::default()
    }
}

fn cut() -> Act {
    Act::Make {
        kind: FaultKind::LinkCut,
        on: 1,
        intensity: 0.0,
        lasts: None,
    }
}

#[test]
fn an_act_waits_until_the_fault_before_it_is_in_force() {
    let mut teaching = teaching(vec![cut(), Act::Accept]);
    let busy = Busy::default();
    let old = note(3, FaultState::Over { at: at(0) });
    let before = lab(vec![old.clone()]);
    assert_eq!(teaching.next_act(Some(&before), busy, at(10)), Some(cut()));
    assert_eq!(teaching.next_act(Some(&before), busy, at(11)), None);
    let starting = lab(vec![old.clone(), note(4, FaultState::Starting)]);
    assert_eq!(teaching.next_act(Some(&starting), busy, at(12)), None);
    let active = lab(vec![old, note(4, FaultState::Active)]);
    assert_eq!(
        teaching.next_act(Some(&active), busy, at(13)),
        Some(Act::Accept)
    );
}

/// The lag of replica 1 that the step before has left.
#[test]
fn nothing_is_ticked_off_before_what_the_step_makes_is_in_force() {
    use crate::model::lesson::{LagNow, ServerFacts};
    let mut teaching = Teaching::default();
    teaching.begin("missing-order", at(0));
    teaching.turn(|run| run.go_to(Page::Step(2), at(0)));
    let late = ServerFacts {
        lag: LagNow::Measured(Span::from_secs(5)),
        ..ServerFacts::default()
    };
    let facts = LessonFacts {
        servers: [(1, late)].into(),
        ..LessonFacts::default()
    };
    let busy = Busy::default();
    teaching.act(at(1));
    assert!(!teaching.observe(&facts, at(1)));
    teaching.next_act(Some(&lab(Vec::new())), busy, at(2));
    assert!(!teaching.observe(&facts, at(2)));
    let mut active = note(1, FaultState::Active);
    active.fault.kind = FaultKind::LinkLatency;
    teaching.next_act(Some(&lab(vec![active])), busy, at(3));
    assert!(teaching.observe(&facts, at(3)));
}

#[test]
fn what_passed_unseen_is_made_again_once_at_a_time_and_that_is_told() {
    let mut teaching = Teaching::default();
    teaching.begin("big-transactions", at(0));
    teaching.turn(|run| run.go_to(Page::Step(1), at(0)));
    teaching.act(at(1));
    let (busy, idle) = (Busy::default(), lab(Vec::new()));
    let made = teaching.next_act(Some(&idle), busy, at(1));
    assert!(made.is_some() && teaching.board.made_again.is_none());

    let mut unseen = note(1, FaultState::Passed { at: at(2) });
    unseen.fault.kind = FaultKind::BigTransaction;
    unseen.fault.intensity = 300_000.0;
    let facts = LessonFacts {
        faults: vec![unseen.clone()],
        ..LessonFacts::default()
    };
    let after = lab(vec![unseen]);
    assert_eq!(teaching.next_act(Some(&after), busy, at(9)), None);
    teaching.observe(&facts, at(9));
    let again = teaching.next_act(Some(&after), busy, at(10));
    assert!(again.is_some() && again == teaching.board.made_again);
    teaching.observe(&facts, at(11));
    assert_eq!(teaching.next_act(Some(&after), busy, at(11)), None);

    teaching.turn(|run| run.forward(at(12)));
    assert_eq!(teaching.board.made_again, None);
}

#[test]
fn answers_are_those_of_the_step_they_were_asked_on() {
    let mut teaching = Teaching::default();
    teaching.begin("heartbeat", at(0));
    let (sender, said) = bounded(1);
    teaching.said = Some(said);
    teaching.board.answers = Answers::Awaited;
    sender.send(Vec::new()).unwrap();
    teaching.observe(&LessonFacts::default(), at(1));
    assert_eq!(teaching.board.answers, Answers::Here(Vec::new()));
    teaching.turn(|run| run.forward(at(2)));
    assert_eq!(teaching.board.answers, Answers::None);
}

#[test]
fn without_a_lab_nothing_is_said_and_that_is_told() {
    let mut teaching = Teaching::default();
    teaching.begin("heartbeat", at(0));
    teaching.say(None, std::sync::Arc::new(|| {}));
    assert_eq!(teaching.board.answers, Answers::None);
    let told = teaching.board.trouble.as_ref().map(|why| why.key);
    assert_eq!(told, Some("lab_screen.no_lab"));
}

#[test]
fn a_wait_lasts_as_long_as_it_says() {
    let mut teaching = teaching(vec![Act::Wait(Span::from_secs(5)), Act::Accept]);
    let busy = Busy::default();
    assert!(teaching.next_act(None, busy, at(0)).is_some());
    assert_eq!(teaching.next_act(None, busy, at(4)), None);
    assert_eq!(teaching.next_act(None, busy, at(5)), Some(Act::Accept));
}

#[test]
fn a_probe_waits_for_the_one_that_the_step_before_began() {
    let mut teaching = teaching(vec![Act::Accept]);
    let busy = Busy {
        probe: true,
        ..Busy::default()
    };
    assert_eq!(teaching.next_act(None, busy, at(0)), None);
    let idle = Busy::default();
    assert_eq!(teaching.next_act(None, idle, at(1)), Some(Act::Accept));
}

#[test]
fn a_fault_that_cannot_be_made_ends_the_acts_and_says_why() {
    let mut teaching = teaching(vec![cut(), Act::Accept]);
    let busy = Busy::default();
    teaching.next_act(None, busy, at(0));
    let failed = FaultState::Failed {
        at: at(1),
        why: crate::model::trouble::Trouble {
            kind: crate::model::trouble::TroubleKind::Lost,
            what: Phrase::new("why"),
            hint: None,
            code: None,
            detail: String::new(),
        },
    };
    assert_eq!(
        teaching.next_act(Some(&lab(vec![note(1, failed)])), busy, at(1)),
        None
    );
    assert_eq!(
        teaching.board.trouble.as_ref().map(|why| why.key),
        Some("why")
    );
    assert_eq!(teaching.next_act(None, busy, at(2)), None);
}

#[test]
fn a_step_that_waits_for_a_number_that_flickers_is_polled_for_out_of_step() {
    let mut teaching = Teaching::default();
    teaching.begin("seconds-behind", at(0));
    teaching.turn(|run| run.go_to(Page::Step(6), at(0)));
    let polls = |teaching: &mut Teaching| {
        let tenths = (0..100).map(|n| at(0) + Span::from_millis(n * 100));
        tenths.filter(|now| teaching.wants_poll(*now)).count()
    };
    assert_eq!(polls(&mut teaching), 2, "after 3.7 and 7.4 s");
    teaching.turn(|run| run.go_to(Page::Step(4), at(0)));
    assert_eq!(polls(&mut teaching), 0, "a lag is there at every poll");
}
