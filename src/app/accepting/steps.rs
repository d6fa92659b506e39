//! The five steps, in their order; each says what it saw.

use std::time::{Duration, Instant};

use super::drift::{self, DriftTask};
use super::sessions::{Sessions, Wrote};
use super::{AcceptEvent, AcceptTask, Desk, evidence, longest_hold, records};
use crate::link::holding::Hold;
use crate::model::acceptance::{AcceptReport, Step, StepName, StepState};
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ReadFrom, Seen, Verdict, WaitKind, WaitedRead};
use crate::model::trouble::{Trouble, TroubleKind};

/// Writes of step 2 at most, and how long it tries.
const MOST_TRIES: u32 = 200;
const LONGEST_SWEEP: Duration = Duration::from_secs(3);

/// How often the drift test goes through its users.
const DRIFT_ROUNDS: u32 = 3;

type Done = (StepState, Vec<Phrase>);

/// All five; those that cannot be run say why.
pub fn run(task: &AcceptTask, desk: &Desk) -> AcceptReport {
    let mut steps = Vec::new();
    desk.tell(AcceptEvent::Begins(StepName::Write));
    let opened = Sessions::open(task);
    let mut sessions = match opened {
        Ok(sessions) => sessions,
        Err(why) => {
            let step = done(
                StepName::Write,
                (StepState::Failed, evidence::trouble(&why)),
            );
            desk.tell(AcceptEvent::Done(step.clone()));
            steps.push(step);
            return AcceptReport {
                steps: with_the_rest(steps, "accept.why.no_write"),
                clean_up: None,
            };
        }
    };
    for name in StepName::ALL {
        if desk.is_stopped() {
            break;
        }
        if name != StepName::Write {
            desk.tell(AcceptEvent::Begins(name));
        }
        let result = match name {
            StepName::Write => write(task, &mut sessions),
            StepName::PlainCanBeOld => plain_can_be_old(task, &mut sessions, desk),
            StepName::WaitedIsNew => waited_is_new(task, &mut sessions, desk),
            StepName::TimeoutToSource => timeout_to_source(task, &mut sessions, desk),
            StepName::NothingLeaks => nothing_leaks(task, &mut sessions, desk),
        };
        let step = done(name, result);
        let gives_up = name == StepName::Write && step.state != StepState::Passed;
        desk.tell(AcceptEvent::Done(step.clone()));
        steps.push(step);
        if gives_up {
            steps = with_the_rest(steps, "accept.why.no_write");
            break;
        }
    }
    AcceptReport {
        steps: with_the_rest(steps, "accept.stopped"),
        clean_up: Some(sessions.clean_up()),
    }
}

fn done(name: StepName, (state, evidence): Done) -> Step {
    Step {
        name,
        state,
        evidence,
    }
}

/// Those not come to were not run.
fn with_the_rest(mut steps: Vec<Step>, why: &'static str) -> Vec<Step> {
    for name in StepName::ALL.into_iter().skip(steps.len()) {
        steps.push(done(name, not_run(why)));
    }
    steps
}

fn not_run(why: &'static str) -> Done {
    (StepState::NotRun, vec![phrase(why)])
}

/// Step 1: without the write's GTID there is nothing to wait for.
fn write(task: &AcceptTask, sessions: &mut Sessions<'_>) -> Done {
    match sessions.write() {
        Err(why) => (StepState::Failed, evidence::trouble(&why)),
        Ok(wrote) => {
            let state = match wrote.written.token {
                Ok(_) => StepState::Passed,
                Err(_) => StepState::Failed,
            };
            (state, vec![evidence::wrote(&task.source.name, &wrote)])
        }
    }
}

/// Step 2: reads straight after a commit, again and again; and only when none of them was old, and it is allowed, with
/// a replica held back.
fn plain_can_be_old(task: &AcceptTask, sessions: &mut Sessions<'_>, desk: &Desk) -> Done {
    let began = Instant::now();
    let mut tries = 0;
    while tries < MOST_TRIES && began.elapsed() < LONGEST_SWEEP && !desk.is_stopped() {
        tries += 1;
        let wrote = match sessions.write() {
            Ok(wrote) => wrote,
            Err(why) => return (StepState::Failed, evidence::trouble(&why)),
        };
        for replica in 0..sessions.replicas.len() {
            let name = &task.replicas[replica].name;
            let seen = plain_read(sessions, StepName::PlainCanBeOld, replica, &wrote, desk);
            if let Some(caught) = seen.and_then(|seen| evidence::caught(name, &wrote, &seen)) {
                let tried = phrase("accept.saw.caught_at").with("tries", u64::from(tries));
                return (StepState::Passed, vec![tried, caught]);
            }
        }
    }
    let none = phrase("accept.saw.none_old").with("tries", u64::from(tries));
    if let Some(why) = task.faults.why_not() {
        return (StepState::NotRun, vec![none, why]);
    }
    let (state, mut seen) = old_while_held(task, sessions, desk);
    seen.insert(0, none);
    (state, seen)
}

fn old_while_held(task: &AcceptTask, sessions: &mut Sessions<'_>, desk: &Desk) -> Done {
    let mut seen = Vec::new();
    for replica in 0..sessions.replicas.len() {
        let name = &task.replicas[replica].name;
        let held = match hold(task, replica, desk) {
            Ok(held) => held,
            Err(why) => {
                seen.extend(evidence::not_held(name, &why));
                continue;
            }
        };
        let wrote = match sessions.write() {
            Ok(wrote) => wrote,
            Err(why) => return (StepState::Failed, evidence::trouble(&why)),
        };
        let caught = plain_read(sessions, StepName::PlainCanBeOld, replica, &wrote, desk)
            .and_then(|read| evidence::caught(name, &wrote, &read));
        seen.push(let_go(held, name));
        seen.push(evidence::caught_up(
            name,
            sessions.catch_up(replica, &wrote),
        ));
        if let Some(caught) = caught {
            seen.push(caught);
            return (StepState::Passed, seen);
        }
    }
    (StepState::Failed, seen)
}

/// Step 3: on every replica, on the connection that waited, which is another one than that of the plain reads.
fn waited_is_new(task: &AcceptTask, sessions: &mut Sessions<'_>, desk: &Desk) -> Done {
    if task.replicas.is_empty() {
        return not_run("accept.why.no_replica");
    }
    let mut state = StepState::Passed;
    let mut seen = Vec::new();
    for replica in 0..sessions.replicas.len() {
        let name = &task.replicas[replica].name;
        if let Some(why) = unreachable(sessions, replica) {
            seen.extend(why);
            state = StepState::Failed;
            continue;
        }
        let wrote = match sessions.write() {
            Ok(wrote) => wrote,
            Err(why) => return (StepState::Failed, evidence::trouble(&why)),
        };
        let waited = waited_read(sessions, StepName::WaitedIsNew, replica, &wrote, desk);
        let Some(waited) = waited else { continue };
        seen.push(evidence::waited(name, &wrote, &waited));
        if !is_new_from_replica(&wrote, &waited) {
            state = StepState::Failed;
        }
    }
    (state, seen)
}

fn is_new_from_replica(wrote: &Wrote, waited: &WaitedRead) -> bool {
    waited.read_from == ReadFrom::Replica
        && waited.read.verdict(&wrote.value) == Verdict::Fresh
        && waited.read.session.is_some()
        && waited.read.session == waited.wait.session
}

/// Step 4: each replica in turn is held back longer than the wait lasts.
fn timeout_to_source(task: &AcceptTask, sessions: &mut Sessions<'_>, desk: &Desk) -> Done {
    if let Some(why) = task.faults.why_not() {
        return (StepState::NotRun, vec![why]);
    }
    if task.replicas.is_empty() {
        return not_run("accept.why.no_replica");
    }
    let mut state = StepState::Passed;
    let mut seen = Vec::new();
    for replica in 0..sessions.replicas.len() {
        if desk.is_stopped() {
            seen.push(phrase("accept.stopped"));
            return (state.and(StepState::NotRun), seen);
        }
        let (of_this, evidence) = timeout_of(task, sessions, replica, desk);
        state = state.and(of_this);
        seen.extend(evidence);
    }
    (state, seen)
}

fn timeout_of(task: &AcceptTask, sessions: &mut Sessions<'_>, replica: usize, desk: &Desk) -> Done {
    let name = &task.replicas[replica].name;
    if let Some(why) = unreachable(sessions, replica) {
        return (StepState::Failed, why);
    }
    // No wait would be sent, so none could time out; step 3 has failed for it.
    if let Some(reason) = sessions
        .why_not_wait(replica)
        .and_then(|kind| kind.reason())
    {
        return (
            StepState::NotRun,
            vec![evidence::waits_for_nothing(name, reason)],
        );
    }
    let held = match hold(task, replica, desk) {
        Ok(held) => held,
        Err(why) => return (state_of(&why), evidence::not_held(name, &why)),
    };
    let wrote = match sessions.write() {
        Ok(wrote) => wrote,
        Err(why) => return (StepState::Failed, evidence::trouble(&why)),
    };
    let step = StepName::TimeoutToSource;
    let plain = plain_read(sessions, step, replica, &wrote, desk);
    let waited = waited_read(sessions, step, replica, &wrote, desk);
    let mut seen = vec![let_go(held, name)];
    seen.extend(plain.and_then(|plain| evidence::caught(name, &wrote, &plain)));
    seen.extend(waited.as_ref().map(|w| evidence::waited(name, &wrote, w)));
    let caught_up = sessions.catch_up(replica, &wrote);
    seen.push(evidence::caught_up(name, caught_up));
    let to_source = waited.is_some_and(|waited| {
        waited.wait.kind == WaitKind::TimedOut
            && waited.read_from == ReadFrom::Source
            && waited.read.verdict(&wrote.value) == Verdict::Fresh
    });
    let passed = to_source && caught_up.is_some();
    let state = match passed {
        true => StepState::Passed,
        false => StepState::Failed,
    };
    (state, seen)
}

/// What the account may not do, or the server would not bear, was not run; anything else has failed.
fn state_of(why: &Trouble) -> StepState {
    let not_tried = why.what.key == "accept.hold.impatient";
    match why.kind {
        TroubleKind::MissingPrivilege => StepState::NotRun,
        _ if not_tried => StepState::NotRun,
        _ => StepState::Failed,
    }
}

fn plain_read(
    sessions: &mut Sessions<'_>,
    step: StepName,
    replica: usize,
    wrote: &Wrote,
    desk: &Desk,
) -> Option<Seen> {
    let seen = sessions.plain_read(replica)?;
    let name = &sessions.replicas[replica].server.name;
    desk.record(step, records::plain(name, replica, wrote, &seen));
    Some(seen)
}

fn waited_read(
    sessions: &mut Sessions<'_>,
    step: StepName,
    replica: usize,
    wrote: &Wrote,
    desk: &Desk,
) -> Option<WaitedRead> {
    let waited = sessions.waited_read(replica, wrote)?;
    let servers = [
        sessions.source_name(),
        sessions.replicas[replica].server.name.as_str(),
    ];
    desk.record(step, records::waited(servers, replica, wrote, &waited));
    Some(waited)
}

fn hold(task: &AcceptTask, replica: usize, desk: &Desk) -> Result<Box<dyn Hold>, Trouble> {
    let server = &task.replicas[replica];
    let at_most = longest_hold(task.plan.wait_limit);
    desk.tell(AcceptEvent::Does(evidence::holds(&server.name, at_most)));
    server.dial.hold(&task.plan.schema, at_most)
}

fn let_go(held: Box<dyn Hold>, name: &str) -> Phrase {
    let session = held.session_id();
    match held.release() {
        Ok(()) => evidence::held(name, session),
        Err(why) => phrase("accept.saw.hold_lost")
            .with("server", name)
            .with("why", why.what),
    }
}

fn unreachable(sessions: &Sessions<'_>, replica: usize) -> Option<Vec<Phrase>> {
    let replica = sessions.replicas.get(replica)?;
    let why = replica.links.as_ref().err()?;
    Some(evidence::not_reached(&replica.server.name, why))
}

/// Step 5: on one replica.
fn nothing_leaks(task: &AcceptTask, sessions: &mut Sessions<'_>, desk: &Desk) -> Done {
    let Some(replica) = sessions.best_replica() else {
        return not_run("accept.why.no_replica");
    };
    let writes = task.proxy.as_ref().unwrap_or(&task.source);
    let drift = drift::run(
        &DriftTask {
            writes: writes.dial.as_ref(),
            source: task.source.dial.as_ref(),
            replica: task.replicas[replica].dial.as_ref(),
            schema: &task.plan.schema,
            names: [&writes.name, &task.replicas[replica].name],
            row: sessions.drift_row(),
            rounds: DRIFT_ROUNDS,
        },
        &|| desk.is_stopped(),
    );
    match drift {
        Err(why) => (StepState::Failed, evidence::trouble(&why)),
        Ok(report) => {
            desk.tell(AcceptEvent::Drifted(report.table()));
            for recorded in &report.records {
                desk.record(StepName::NothingLeaks, recorded.clone());
            }
            // Where the careless side shows nothing, the test sees nothing.
            let shows = report.sloppy.drifted() && !report.binding.by_kind.stayed();
            let clean = !report.strict.drifted() && report.binding.bound.stayed();
            let state = match shows && clean {
                true => StepState::Passed,
                false => StepState::Failed,
            };
            (state, evidence::drift(&report, &writes.name))
        }
    }
}
