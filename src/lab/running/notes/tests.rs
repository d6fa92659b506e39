use super::*;
use crate::lab::faults::site::Site;
use crate::lab::faults::{NotMade, trouble};
use crate::model::phrase::phrase;

/// In force, and quiet.
struct Quiet;

impl InForce for Quiet {
    fn undo(&mut self, _: &Site) -> Result<(), Trouble> {
        Ok(())
    }
}

const START: Moment = Moment::from_unix_micros(1_000_000_000);

fn at(seconds: i64) -> Moment {
    START + Span::from_secs(seconds)
}

fn fault(kind: FaultKind, on: usize) -> Fault {
    Fault {
        kind,
        on,
        intensity: 1.0,
        lasts: None,
    }
}

fn nodes() -> Vec<LabNode> {
    (0..3)
        .map(|server| LabNode {
            server,
            name: format!("server-{server}"),
            port: 1,
            copies_from: if server == 0 { vec![] } else { vec![0] },
            is_up: true,
        })
        .collect()
}

fn next(notes: &mut Notes) -> Option<Job> {
    notes.next_job(&nodes(), &[], at(0))
}

fn next_id(notes: &mut Notes) -> Option<u64> {
    next(notes).map(|job| job.id.0)
}

fn in_force() -> Outcome {
    Outcome::Made(Ok(Made::InForce(Box::new(Quiet))))
}

fn refused() -> Trouble {
    trouble(phrase("lab.trouble.no_lab"))
}

fn not_made(left: Option<Box<dyn InForce>>) -> Outcome {
    let why = Box::new(refused());
    Outcome::Made(Err(NotMade { why, left }))
}

/// Has the undo that is due carried out, in vain.
fn undo_in_vain(notes: &mut Notes, now: Moment) {
    let job = next(notes).expect("it is to be undone");
    let Work::Undo(made) = job.work else {
        panic!("it is to be made");
    };
    notes.done(job.id, Outcome::Undone(Err((refused(), made))), now);
}

fn stuck(at: Moment, again_at: Option<Moment>) -> FaultState {
    let why = refused();
    FaultState::Stuck { at, why, again_at }
}

fn state(notes: &Notes, id: u64) -> FaultState {
    let note = notes.list().into_iter().find(|note| note.id.0 == id);
    note.expect("it is kept").state
}

fn undo(notes: &mut Notes, job: Job) {
    assert!(matches!(job.work, Work::Undo(_)));
    notes.done(job.id, Outcome::Undone(Ok(())), at(9));
}

#[test]
fn orders_for_one_server_go_in_turn_and_for_others_at_once() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::StopApplier, 1), at(0));
    notes.make(fault(FaultKind::StopReceiver, 1), at(0));
    notes.make(fault(FaultKind::StopApplier, 2), at(0));
    assert_eq!(next_id(&mut notes), Some(1));
    assert_eq!(next_id(&mut notes), Some(3));
    assert_eq!(next_id(&mut notes), None);
    notes.done(FaultId(1), in_force(), at(1));
    assert_eq!(next_id(&mut notes), Some(2));
}

#[test]
fn a_swap_waits_for_all_and_all_wait_for_a_swap() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::SlowDisk, 2), at(0));
    assert_eq!(next_id(&mut notes), Some(1));
    notes.make(fault(FaultKind::SwapRoles, 1), at(0));
    notes.make(fault(FaultKind::SlowDisk, 0), at(0));
    assert_eq!(next_id(&mut notes), None);
    notes.done(FaultId(1), in_force(), at(1));
    assert_eq!(next_id(&mut notes), Some(2));
    assert_eq!(next_id(&mut notes), None);
}

#[test]
fn what_cannot_be_made_is_noted_with_its_reason_and_holds_up_nobody() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::StopApplier, 0), at(0));
    notes.make(fault(FaultKind::SourceReadOnly, 0), at(0));
    assert_eq!(next_id(&mut notes), Some(2));
    assert!(matches!(state(&notes, 1), FaultState::Failed { .. }));
}

#[test]
fn a_fault_that_has_had_its_time_is_undone() {
    let mut notes = Notes::default();
    let lasts = Some(Span::from_secs(10));
    let limited = Fault {
        lasts,
        ..fault(FaultKind::StopApplier, 1)
    };
    notes.make(limited, at(0));
    let _ = next(&mut notes);
    notes.done(FaultId(1), in_force(), at(5));
    assert_eq!(notes.next_end(), Some(at(15)));
    assert!(!notes.pass_time(at(14)));
    assert!(notes.pass_time(at(15)));
    assert_eq!(state(&notes, 1), FaultState::Ending);
    let job = next(&mut notes).expect("it is to be undone");
    undo(&mut notes, job);
    assert_eq!(state(&notes, 1), FaultState::Over { at: at(9) });
    assert_eq!(notes.next_end(), None);
}

#[test]
fn undoing_what_waits_is_no_work_at_all() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::StopApplier, 1), at(0));
    assert!(notes.undo(FaultId(1), at(1)).is_none());
    assert_eq!(state(&notes, 1), FaultState::Over { at: at(1) });
    assert!(next(&mut notes).is_none());
}

#[test]
fn undoing_what_is_being_made_withdraws_it_and_undoes_what_came_of_it() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::StopApplier, 1), at(0));
    let job = next(&mut notes).expect("it is to be made");
    let held = notes.undo(FaultId(1), at(1));
    assert!(held.is_some() && job.control.is_withdrawn());
    notes.done(FaultId(1), in_force(), at(2));
    let job = next(&mut notes).expect("it is to be undone");
    assert!(!job.control.is_withdrawn());
    undo(&mut notes, job);
    assert_eq!(state(&notes, 1), FaultState::Over { at: at(9) });
}

#[test]
fn a_momentary_one_has_passed_unless_it_was_called_off() {
    for (is_called_off, told) in [
        (false, FaultState::Passed { at: at(2) }),
        (true, FaultState::Over { at: at(2) }),
    ] {
        let mut notes = Notes::default();
        notes.make(fault(FaultKind::BigTransaction, 0), at(0));
        let _ = next(&mut notes);
        if is_called_off {
            notes.undo(FaultId(1), at(1));
        }
        notes.done(FaultId(1), Outcome::Made(Ok(Made::Over)), at(2));
        assert_eq!(state(&notes, 1), told);
    }
}

#[test]
fn what_was_withdrawn_in_time_did_not_fail() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::BigTransaction, 0), at(0));
    let _ = next(&mut notes);
    notes.undo(FaultId(1), at(1));
    notes.done(FaultId(1), not_made(None), at(2));
    assert_eq!(state(&notes, 1), FaultState::Over { at: at(2) });
}

#[test]
fn what_could_not_be_undone_is_still_there_and_can_be_tried_again() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::StopApplier, 1), at(0));
    let _ = next(&mut notes);
    notes.done(FaultId(1), in_force(), at(1));
    notes.undo(FaultId(1), at(2));
    undo_in_vain(&mut notes, at(3));
    assert_eq!(
        state(&notes, 1),
        stuck(at(3), None),
        "who asked may ask again"
    );
    notes.make(fault(FaultKind::StopApplier, 1), at(4));
    assert!(next(&mut notes).is_none(), "it is there already");
    notes.undo(FaultId(1), at(5));
    let job = next(&mut notes).expect("it is tried again");
    undo(&mut notes, job);
}

/// One that has had its time, with nobody there to undo it.
fn overdue() -> Notes {
    let mut notes = Notes::default();
    let limited = Fault {
        lasts: Some(Span::from_secs(10)),
        ..fault(FaultKind::StopApplier, 1)
    };
    notes.make(limited, at(0));
    let _ = next(&mut notes);
    notes.done(FaultId(1), in_force(), at(0));
    notes
}

#[test]
fn a_fault_that_could_not_be_undone_in_time_is_tried_again_after_growing_pauses() {
    let mut notes = overdue();
    let mut now = at(10);
    for pause in [2, 4, 8, 16, 32, 60, 60] {
        assert!(notes.pass_time(now));
        undo_in_vain(&mut notes, now);
        let again_at = now + Span::from_secs(pause);
        assert_eq!(state(&notes, 1), stuck(now, Some(again_at)));
        assert_eq!(notes.next_end(), Some(again_at));
        assert!(!notes.pass_time(again_at - Span::from_millis(1)));
        now = again_at;
    }
    assert!(notes.pass_time(now));
    let job = next(&mut notes).expect("it is tried again");
    undo(&mut notes, job);
    assert_eq!(notes.next_end(), None);
}

#[test]
fn after_many_vain_tries_only_a_person_tries_again() {
    let mut notes = overdue();
    let (mut tries, mut last) = (0, at(0));
    while let Some(due) = notes.next_end() {
        notes.pass_time(due);
        undo_in_vain(&mut notes, due);
        tries += 1;
        last = due;
    }
    assert_eq!(tries, MOST_TRIES);
    assert_eq!(state(&notes, 1), stuck(last, None));
    notes.undo(FaultId(1), at(9999));
    let job = next(&mut notes).expect("it is tried again");
    undo(&mut notes, job);
}

#[test]
fn meanwhile_a_person_may_try_and_the_next_try_stands_when_that_fails_too() {
    let mut notes = overdue();
    notes.pass_time(at(10));
    undo_in_vain(&mut notes, at(10));
    notes.undo(FaultId(1), at(11));
    assert_eq!(state(&notes, 1), FaultState::Ending);
    undo_in_vain(&mut notes, at(11));
    assert_eq!(state(&notes, 1), stuck(at(11), Some(at(13))));
    notes.undo(FaultId(1), at(12));
    let job = next(&mut notes).expect("it is tried again");
    undo(&mut notes, job);
    assert!(matches!(state(&notes, 1), FaultState::Over { .. }));
    assert!(!notes.pass_time(at(13)));
}

#[test]
fn what_was_made_by_half_and_is_still_there_is_undone_by_itself() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::SwapRoles, 1), at(0));
    let _ = next(&mut notes);
    notes.done(FaultId(1), not_made(Some(Box::new(Quiet))), at(1));
    assert_eq!(state(&notes, 1), stuck(at(1), Some(at(3))));
    assert!(notes.pass_time(at(3)));
    let job = next(&mut notes).expect("it is to be undone");
    undo(&mut notes, job);
    assert!(matches!(state(&notes, 1), FaultState::Over { .. }));
}

#[test]
fn what_was_made_by_half_and_is_gone_again_has_failed() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::SwapRoles, 1), at(0));
    let _ = next(&mut notes);
    notes.done(FaultId(1), not_made(None), at(1));
    let failed = FaultState::Failed {
        at: at(1),
        why: refused(),
    };
    assert_eq!(state(&notes, 1), failed);
    assert_eq!(notes.next_end(), None);
    notes.undo(FaultId(1), at(2));
    assert!(next(&mut notes).is_none(), "there is nothing to undo");
}

#[test]
fn all_are_undone_the_youngest_first() {
    let mut notes = Notes::default();
    for kind in [FaultKind::StopApplier, FaultKind::StopReceiver] {
        notes.make(fault(kind, 1), at(0));
        let job = next(&mut notes).expect("it is to be made");
        notes.done(job.id, in_force(), at(0));
    }
    notes.undo_all(at(1));
    let job = next(&mut notes).expect("there is something to undo");
    assert_eq!(job.id, FaultId(2));
    assert!(next(&mut notes).is_none(), "one after the other");
    undo(&mut notes, job);
    assert_eq!(next_id(&mut notes), Some(1));
}

#[test]
fn a_server_started_again_has_lost_what_lived_in_its_process() {
    let mut notes = Notes::default();
    let kinds = [
        FaultKind::LockTable,
        FaultKind::LinkCut,
        FaultKind::KillServer,
    ];
    for kind in kinds {
        notes.make(fault(kind, 1), at(0));
        let job = next(&mut notes).expect("it is to be made");
        notes.done(job.id, in_force(), at(0));
    }
    notes.undo(FaultId(3), at(1));
    let job = next(&mut notes).expect("it is to be started again");
    undo(&mut notes, job);
    assert_eq!(state(&notes, 1), FaultState::Ending);
    assert_eq!(state(&notes, 2), FaultState::Active);
}

#[test]
fn what_is_over_is_told_for_a_while_and_then_forgotten() {
    let mut notes = Notes::default();
    notes.make(fault(FaultKind::StopApplier, 1), at(0));
    notes.undo(FaultId(1), at(1));
    assert!(!notes.pass_time(at(60)));
    assert_eq!(notes.list().len(), 1);
    assert!(notes.pass_time(at(3600)));
    assert!(notes.list().is_empty());
}
