//! A workload against a real topology: one thread writes on the source and keeps the time of reads, one thread for each
//! replica looks when every write became visible there, and now and then has it wait for something it has already.
//!
//! It reports plain facts. What they mean for a routing rule is judged by `routing::compare`, over the recording that
//! the program puts together from them. Writes go only into the probe's table, under the probe's precautions.

mod looker;

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, select, unbounded};

use super::prober::conductor::said;
use super::prober::session::Keeper;
use super::prober::source::SourceSession;
use super::prober::{EndReason, ProbedServer};
use super::spawn;
use crate::link::clock;
use crate::link::probing::{ProbePurpose, Written};
use crate::model::gtid::Gtids;
use crate::model::phrase::phrase;
use crate::model::probe::{
    Met, Precondition, ProbeId, ProbePlan, ProbeRow, REFUSED_PAUSE, source_preconditions,
};
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;
use looker::{Look, LookOrder};

/// So many refused writes in a row, each after a pause, and the workload gives up.
const REFUSALS_TO_END: u32 = 3;

/// Replicas get so long to show the last writes.
const LAST_LOOKS: Duration = Duration::from_secs(5);

/// Every look has ended by its own limits long before.
const LOOKERS_END: Duration = Duration::from_secs(15);
/// A replica that hangs does not keep us from removing our rows when the person wants to leave.
const LOOKERS_END_AT_STOP: Duration = Duration::from_millis(300);

/// What to do, and when, counted from the start; in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Comes back with the report.
    pub number: u32,
    pub after: Span,
    pub what: StepKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A new row with this number, from 1.
    Write(u32),
    /// Only its instant is noted: what it would have found is seen by those who look all the time.
    Read,
}

/// What to run.
pub struct WorkloadTask {
    pub plan: ProbePlan,
    pub probe: ProbeId,
    pub source: ProbedServer,
    pub replicas: Vec<ProbedServer>,
    pub steps: Vec<Step>,
}

/// What a workload tells.
#[derive(Clone, Debug)]
pub enum WorkloadEvent {
    /// The source as it stands; steps begin, unless `Ended` follows.
    Ready(Vec<Precondition>),
    Wrote {
        step: u32,
        row: u32,
        committed_at: Moment,
        /// `None`: the source did not tell.
        gtids: Option<Gtids>,
    },
    Refused {
        step: u32,
        why: Trouble,
    },
    Read {
        step: u32,
        at: Moment,
    },
    /// A row was first seen on a replica.
    Visible {
        replica: usize,
        row: u32,
        at: Moment,
    },
    /// It was never seen; then, it surely was not there.
    NotUntil {
        replica: usize,
        row: u32,
        at: Moment,
    },
    /// What a wait costs when there is nothing to wait for.
    WaitRoundTrip {
        replica: usize,
        took: Span,
    },
    /// A replica cannot be looked at.
    CannotLook {
        replica: usize,
        why: Trouble,
    },
    /// The last one.
    Ended(WorkloadEnd),
}

#[derive(Clone, Debug)]
pub struct WorkloadEnd {
    pub why: EndReason,
    /// Whether our rows are gone again; `None` when none was written.
    pub clean_up: Option<Result<(), Trouble>>,
}

enum Order {
    Stop,
}

/// A workload under way. Dropping it stops it.
pub struct Workload {
    orders: Option<Sender<Order>>,
    ended: Receiver<()>,
}

impl Workload {
    /// Starts the threads. `events` should be bounded: a full one makes the workload wait.
    pub fn start(task: WorkloadTask, events: Sender<WorkloadEvent>) -> std::io::Result<Workload> {
        let (orders, inbox) = unbounded();
        let ended = spawn(format!("load {}", task.source.name), move || {
            run(task, inbox, events);
        })?;
        Ok(Workload {
            orders: Some(orders),
            ended,
        })
    }

    /// No further step; what was seen is told, rows are removed, then `Ended` is told.
    pub fn stop(&self) {
        if let Some(orders) = &self.orders {
            // A thread that has ended takes no orders.
            let _ = orders.send(Order::Stop);
        }
    }

    /// Stops and waits for the clean-up, but not longer than `limit`. Events nobody takes are dropped.
    pub fn close(mut self, limit: Duration) {
        self.orders = None;
        let _ = self.ended.recv_deadline(Instant::now() + limit);
    }
}

fn run(task: WorkloadTask, orders: Receiver<Order>, events: Sender<WorkloadEvent>) {
    let writer = Keeper::new(task.source.dial.clone(), ProbePurpose::Write, &task.plan);
    let mut writer = Writer {
        source: SourceSession::new(writer),
        plan: &task.plan,
        probe: task.probe,
        orders,
        events: events.clone(),
        rows: None,
        refusals: 0,
        not_before: None,
    };
    let why = match writer.carry_out(&task) {
        Ok(()) => EndReason::AllRun,
        Err(why) => why,
    };
    let clean_up = writer.clean_up();
    let _ = writer.report(WorkloadEvent::Ended(WorkloadEnd { why, clean_up }));
}

/// The thread that writes.
struct Writer<'a> {
    source: SourceSession,
    plan: &'a ProbePlan,
    probe: ProbeId,
    orders: Receiver<Order>,
    events: Sender<WorkloadEvent>,
    /// Rows of ours that lie in the table: from this number, up to and with that.
    rows: Option<(u32, u32)>,
    refusals: u32,
    not_before: Option<Instant>,
}

type Stepped<T> = Result<T, EndReason>;

impl Writer<'_> {
    fn carry_out(&mut self, task: &WorkloadTask) -> Stepped<()> {
        if let Some(problem) = self.plan.problem() {
            return Err(EndReason::Failed(said(problem)));
        }
        self.begin()?;
        let lookers = start_lookers(task, &self.events)
            .map_err(|error| EndReason::Failed(no_thread(&error)))?;
        let steps = self.steps(&task.steps, &lookers);
        // What was written before a stop is still looked for, but nobody is made to wait long.
        let (patience, limit) = match &steps {
            Ok(()) => (
                LAST_LOOKS.min(self.plan.wait_limit.to_duration() * 2),
                LOOKERS_END,
            ),
            Err(_) => (Duration::ZERO, LOOKERS_END_AT_STOP),
        };
        finish_lookers(lookers, Instant::now() + patience, limit);
        steps
    }

    /// Asks how the source stands, and makes the table where it is missing.
    fn begin(&mut self) -> Stepped<()> {
        let failed = EndReason::Failed;
        self.source.mend();
        let state = self.source.link().and_then(|link| link.state());
        let state = state.map_err(failed)?;
        let needs = source_preconditions(&state);
        let hopeless = needs.iter().find(|need| need.met == Met::No).cloned();
        self.report(WorkloadEvent::Ready(needs))?;
        if let Some(need) = hopeless {
            return Err(failed(said(need.what)));
        }
        self.source.begin(&state);
        let link = self.source.link().map_err(failed)?;
        if !state.has_table {
            link.create_table().map_err(failed)?;
        } else if let Err(trouble) = link.remove_abandoned()
            && link.is_spoiled()
        {
            return Err(failed(trouble));
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step], lookers: &[Looker]) -> Stepped<()> {
        let started = Instant::now();
        for step in steps {
            self.sleep_until(started + step.after.to_duration())?;
            match step.what {
                StepKind::Read => self.report(WorkloadEvent::Read {
                    step: step.number,
                    at: clock::now(),
                })?,
                StepKind::Write(row) => self.step_write(step.number, row, lookers)?,
            }
        }
        Ok(())
    }

    fn step_write(&mut self, step: u32, row: u32, lookers: &[Looker]) -> Stepped<()> {
        if let Some(until) = self.not_before.take() {
            self.sleep_until(until)?;
        }
        match self.write(row) {
            Ok(written) => {
                self.refusals = 0;
                let gtids = written.token.ok().map(|token| token.gtids);
                for looker in lookers {
                    let _ = looker.orders.send(LookOrder::For(Look {
                        row,
                        committed_at: written.committed_at,
                        gtids: gtids.clone(),
                    }));
                }
                self.report(WorkloadEvent::Wrote {
                    step,
                    row,
                    committed_at: written.committed_at,
                    gtids,
                })?;
            }
            Err(why) => {
                self.report(WorkloadEvent::Refused {
                    step,
                    why: why.clone(),
                })?;
                self.refusals += 1;
                self.not_before = Some(Instant::now() + REFUSED_PAUSE.to_duration());
                if self.refusals >= REFUSALS_TO_END {
                    return Err(EndReason::Failed(why));
                }
            }
        }
        self.source.mend();
        Ok(())
    }

    /// Looks first whether the server is still the one that may be written to (R44).
    fn write(&mut self, number: u32) -> Result<Written, Trouble> {
        let (row, value) = (
            self.plan.row(self.probe, number),
            self.plan.value(self.probe, number),
        );
        self.source.lend()?;
        // An INSERT whose answer is lost may have been carried out: its row is ours to remove all the same.
        let from = self.rows.map_or(number, |(from, _)| from);
        self.rows = Some((from, number));
        let written = self.source.link()?.insert(row, &value);
        written.inspect_err(|why| self.source.failed(why))
    }

    /// All rows of ours, unless the server may not be written to any more: then whoever finds them there a day later
    /// removes them.
    fn clean_up(&mut self) -> Option<Result<(), Trouble>> {
        let (from, to) = self.rows?;
        self.source.mend();
        let from = ProbeRow {
            probe: self.probe,
            number: from,
        };
        let link = self.source.lend_at_once();
        Some(link.and_then(|link| link.remove(from, to)))
    }

    fn sleep_until(&self, until: Instant) -> Stepped<()> {
        match self.orders.recv_deadline(until) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => Err(EndReason::Stopped),
        }
    }

    /// Waits for room, but not longer than the workload is wanted.
    fn report(&self, event: WorkloadEvent) -> Stepped<()> {
        match self.events.try_send(event) {
            Ok(()) => Ok(()),
            Err(TrySendError::Disconnected(_)) => Err(EndReason::Stopped),
            Err(TrySendError::Full(event)) => select! {
                send(self.events, event) -> sent => sent.map_err(|_| EndReason::Stopped),
                recv(self.orders) -> _ => Err(EndReason::Stopped),
            },
        }
    }
}

struct Looker {
    orders: Sender<LookOrder>,
    ended: Receiver<()>,
}

fn start_lookers(
    task: &WorkloadTask,
    events: &Sender<WorkloadEvent>,
) -> std::io::Result<Vec<Looker>> {
    let one = |(place, server): (usize, &ProbedServer)| {
        let (orders, inbox) = unbounded();
        let keeper = |purpose| Keeper::new(server.dial.clone(), purpose, &task.plan);
        let thread = looker::Thread::new(
            place,
            task.probe,
            keeper(ProbePurpose::Read),
            keeper(ProbePurpose::WaitThenRead),
            events.clone(),
        );
        let ended = spawn(format!("look {}", server.name), move || thread.run(&inbox))?;
        Ok(Looker { orders, ended })
    };
    task.replicas.iter().enumerate().map(one).collect()
}

/// Each looks until it has seen all or the time is over, and tells what it never saw.
fn finish_lookers(lookers: Vec<Looker>, until: Instant, limit: Duration) {
    for looker in &lookers {
        let _ = looker.orders.send(LookOrder::Finish { until });
    }
    let deadline = until + limit;
    for looker in lookers {
        let _ = looker.ended.recv_deadline(deadline);
    }
}

fn no_thread(error: &std::io::Error) -> Trouble {
    said(phrase("cli.no_thread").with("reason", error.to_string()))
}
