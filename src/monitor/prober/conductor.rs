//! The thread that writes, has the others read, and puts each run together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};

use super::replica::{Parts, Replica, start_replica};
use super::session::{Keeper, not_connected};
use super::source::SourceSession;
use super::workers::{LookOrder, Part, ReadOrder, SourceOrder, Told, WaitOrder, source_reader};
use super::{EndReason, ProbeEnd, ProbeEvent, ProbeOrder, ProbeTask, Readiness};
use crate::link::probing::{ProbePurpose, Written};
use crate::model::phrase::Phrase;
use crate::model::probe::{
    Awaited, Met, ProbeFlavour, ProbeRow, ProbeRun, ProbeSummary, REFUSED_PAUSE, ROWS_KEPT, Reader,
    ReplicaRun, Seen, ServerState, Token, WaitKind, Write, replica_preconditions,
    source_preconditions,
};
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};
use crate::monitor::spawn;

/// All sessions have answered or failed by then: name, connect, login and first questions have limits of their own.
const READY_LIMIT: Duration = Duration::from_secs(30);

/// How long replicas get to apply what was set up.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);

/// Beyond the longest wait every read has ended by its own limits; this is the last resort.
const RUN_MARGIN: Duration = Duration::from_secs(30);

/// So many refused writes in a row, each after a pause, and the probe gives up.
const REFUSALS_TO_END: u32 = 3;

/// Runs until all runs are done, it is stopped, or the source will not have it.
pub fn run(task: ProbeTask, orders: Receiver<ProbeOrder>, events: Sender<ProbeEvent>) {
    let mut conductor = match Conductor::start(task, orders, events) {
        Ok(conductor) => conductor,
        // Without a thread there is nobody to tell it to; the sender of events is dropped, which tells it.
        Err(_) => return,
    };
    let why = match conductor.probe() {
        Ok(()) => EndReason::AllRun,
        Err(why) => why,
    };
    let clean_up = conductor.clean_up();
    let _ = conductor.report(ProbeEvent::Ended(ProbeEnd { why, clean_up }));
}

struct Conductor {
    task: ProbeTask,
    orders: Receiver<ProbeOrder>,
    events: Sender<ProbeEvent>,
    writer: SourceSession,
    source: Sender<SourceOrder>,
    replicas: Vec<Replica>,
    told: Receiver<Told>,
    /// Rows of ours that lie in the table: from this number, up to and with that.
    rows: Option<(u32, u32)>,
    refusals: u32,
    not_before: Option<Instant>,
    summary: ProbeSummary,
    p99_delay: Option<Span>,
}

type Step<T> = Result<T, EndReason>;

impl Conductor {
    fn start(
        task: ProbeTask,
        orders: Receiver<ProbeOrder>,
        events: Sender<ProbeEvent>,
    ) -> std::io::Result<Self> {
        let (desk, told) = unbounded();
        let (source, source_inbox) = unbounded();
        let keeper = |dial, purpose| Keeper::new(dial, purpose, &task.plan);
        let source_keeper = keeper(task.source.dial.clone(), ProbePurpose::Read);
        spawn(format!("read {}", task.source.name), move || {
            source_reader(source_keeper, source_inbox)
        })?;
        let replicas = (0..task.replicas.len())
            .map(|place| start_replica(&task, place, &desk, &source))
            .collect::<Result<_, _>>()?;
        Ok(Conductor {
            writer: SourceSession::new(keeper(task.source.dial.clone(), ProbePurpose::Write)),
            summary: ProbeSummary::of_replicas(task.replicas.len()),
            task,
            orders,
            events,
            source,
            replicas,
            told,
            rows: None,
            refusals: 0,
            not_before: None,
            p99_delay: None,
        })
    }

    fn probe(&mut self) -> Step<()> {
        if let Some(problem) = self.task.plan.problem() {
            return Err(EndReason::Failed(said(problem)));
        }
        self.writer.mend();
        let state = self.writer.link().and_then(|link| link.state());
        let state = state.map_err(EndReason::Failed)?;
        let replicas = self.replica_states()?;
        let source = source_preconditions(&state);
        let hopeless = source.iter().find(|need| need.met == Met::No).cloned();
        self.report(ProbeEvent::Ready(Readiness {
            source,
            replicas: replicas
                .into_iter()
                .map(|state| state.map(|state| replica_preconditions(&state)))
                .collect(),
        }))?;
        if let Some(need) = hopeless {
            return Err(EndReason::Failed(said(need.what)));
        }
        self.set_up(&state)?;
        self.runs()
    }

    /// Each waiter tells once how its replica stands; readers tell it too, and are only waited for.
    fn replica_states(&mut self) -> Step<Vec<Result<ServerState, Trouble>>> {
        let count = self.replicas.len();
        let mut states: Vec<Result<ServerState, Trouble>> = vec![Err(not_connected()); count];
        let deadline = Instant::now() + READY_LIMIT;
        for _ in 0..2 * count {
            let Some(told) = self.next_told(deadline)? else {
                break;
            };
            if let (Some(place), Part::Ready(state)) = (told.replica, told.part)
                && states[place].is_err()
            {
                states[place] = *state;
            }
        }
        Ok(states)
    }

    /// The table, and the row that UPDATE changes; then the replicas get a moment to have them too.
    fn set_up(&mut self, state: &ServerState) -> Step<()> {
        self.writer.begin(state);
        let (plan, probe) = (&self.task.plan, self.task.probe);
        let updates = plan.flavour == ProbeFlavour::Update;
        let (row, value) = (plan.row(probe, 0), plan.value(probe, 0));
        let failed = EndReason::Failed;
        let link = self.writer.link().map_err(failed)?;
        if !state.has_table {
            link.create_table().map_err(failed)?;
        } else if let Err(trouble) = link.remove_abandoned()
            && link.is_spoiled()
        {
            return Err(failed(trouble));
        }
        if updates {
            link.insert(row, &value).map_err(failed)?;
            self.rows = Some((0, 0));
        }
        if state.has_table && !updates {
            return Ok(());
        }
        match link.executed().map_err(failed)? {
            Ok(token) => self.settle(&token),
            Err(_) => Ok(()),
        }
    }

    fn settle(&mut self, token: &Token) -> Step<()> {
        let until = Instant::now() + SETTLE_LIMIT;
        for replica in &self.replicas {
            let token = token.clone();
            let _ = replica.waits.send(WaitOrder::Settle { token, until });
        }
        let deadline = until + self.task.plan.wait_limit.to_duration() + RUN_MARGIN;
        for _ in 0..self.replicas.len() {
            if self.next_told(deadline)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn runs(&mut self) -> Step<()> {
        let pause = Duration::from_secs_f64(1.0 / self.task.plan.rate);
        let mut next = Instant::now();
        for number in 1..=self.task.plan.runs {
            self.sleep_until(self.not_before.map_or(next, |at| at.max(next)))?;
            next = (next + pause).max(Instant::now());
            let run = self.one_run(number)?;
            self.summary.add(&run);
            // Sorting all waits costs: at 20, 40, 80 … runs is often enough.
            if number >= 20 && number.is_multiple_of(20) && (number / 20).is_power_of_two() {
                self.p99_delay = self.summary.p99_delay();
            }
            let refused = run.write.as_ref().err().cloned();
            self.report(ProbeEvent::Ran(Arc::new(run)))?;
            match refused {
                Some(trouble) => self.after_refusal(trouble)?,
                None => self.refusals = 0,
            }
            self.remove_old_rows(number);
            self.writer.mend();
        }
        Ok(())
    }

    /// A source that refuses is not asked again for a while, and not for ever.
    fn after_refusal(&mut self, trouble: Trouble) -> Step<()> {
        self.refusals += 1;
        self.not_before = Some(Instant::now() + REFUSED_PAUSE.to_duration());
        if self.refusals >= REFUSALS_TO_END {
            return Err(EndReason::Failed(trouble));
        }
        Ok(())
    }

    fn one_run(&mut self, number: u32) -> Step<ProbeRun> {
        let plan = &self.task.plan;
        let (row, value) = (
            plan.row(self.task.probe, number),
            plan.value(self.task.probe, number),
        );
        let delay = plan.read_delay_of(number, self.p99_delay);
        let mut run = ProbeRun {
            number,
            value: value.clone(),
            write: Err(not_connected()),
            source: None,
            replicas: Vec::new(),
        };
        let (session, written) = match self.write(number, row, &value) {
            Ok(written) => written,
            Err(trouble) => {
                run.write = Err(trouble);
                return Ok(run);
            }
        };
        let committed = Instant::now();
        let token = match self.task.plan.reader {
            Reader::Writer => written.token.clone(),
            // Does not know what was written: whatever the source has by now.
            Reader::SomebodyElse => self.ask_source_for_all(),
        };
        run.write = Ok(Write {
            session,
            asked_at: written.asked_at,
            committed_at: written.committed_at,
            token: token.clone(),
        });
        let source = self.send_out(number, row, &value, token, committed + delay.to_duration());
        (run.source, run.replicas) = self.gather(number, &source)?;
        Ok(run)
    }

    /// Looks first whether the server is still the one that may be written to (R44).
    fn write(
        &mut self,
        number: u32,
        row: ProbeRow,
        value: &str,
    ) -> Result<(u64, Written), Trouble> {
        let link = self.writer.lend()?;
        let written = match self.task.plan.flavour {
            ProbeFlavour::Insert => link.insert(row, value),
            ProbeFlavour::Update => link.update(row, value),
        };
        let mut written = written.inspect_err(|why| self.writer.failed(why))?;
        let link = self.writer.link()?;
        if self.task.plan.awaited == Awaited::WholeSet && self.task.plan.reader == Reader::Writer {
            // The write is committed whatever becomes of this question.
            written.token = link.executed().unwrap_or(Err(WaitKind::NoGtid));
        }
        if self.task.plan.flavour == ProbeFlavour::Insert {
            let from = self.rows.map_or(number, |(from, _)| from);
            self.rows = Some((from, number));
        }
        Ok((link.session_id(), written))
    }

    fn ask_source_for_all(&self) -> Result<Token, WaitKind> {
        let (answer, answered) = bounded(1);
        let order = SourceOrder::Executed { answer };
        self.source.send(order).map_err(|_| WaitKind::NoGtid)?;
        answered
            .recv_timeout(RUN_MARGIN)
            .unwrap_or(Err(WaitKind::NoGtid))
    }

    /// All at the same instant: waits and plain reads on the replicas, and the read on the source.
    fn send_out(
        &self,
        run: u32,
        row: ProbeRow,
        value: &str,
        token: Result<Token, WaitKind>,
        read_at: Instant,
    ) -> Receiver<Seen> {
        let until = Instant::now() + self.task.plan.wait_limit.to_duration();
        for replica in &self.replicas {
            // A worker that has gone leaves its part of the run empty.
            if let Some(looks) = &replica.looks {
                let value = value.to_owned();
                let _ = looks.send(LookOrder {
                    run,
                    row,
                    value,
                    until,
                });
            }
            let token = token.clone();
            let _ = replica.waits.send(WaitOrder::Run { run, row, token });
            let at = read_at;
            let _ = replica.reads.send(ReadOrder { run, row, at });
        }
        let (answer, answered) = bounded(1);
        let _ = self.source.send(SourceOrder::Read { row, answer });
        answered
    }

    fn gather(
        &mut self,
        run: u32,
        source: &Receiver<Seen>,
    ) -> Step<(Option<Seen>, Vec<ReplicaRun>)> {
        let mut parts: Vec<Parts> = self.replicas.iter().map(Parts::of).collect();
        let deadline = Instant::now() + self.task.plan.wait_limit.to_duration() + RUN_MARGIN;
        while parts.iter().any(Parts::is_incomplete) {
            let Some(told) = self.next_told(deadline)? else {
                break;
            };
            // Of a run given up before.
            if told.run != run {
                continue;
            }
            if let Some(parts) = told.replica.and_then(|place| parts.get_mut(place)) {
                parts.take(told.part);
            }
        }
        let source = source.recv_deadline(deadline).ok();
        Ok((source, parts.into_iter().map(Parts::put_together).collect()))
    }

    /// The next report; `None` when there is none until then.
    fn next_told(&self, deadline: Instant) -> Step<Option<Told>> {
        select! {
            recv(self.told) -> told => Ok(told.ok()),
            recv(self.orders) -> _ => Err(EndReason::Stopped),
            default(deadline.saturating_duration_since(Instant::now())) => Ok(None),
        }
    }

    fn sleep_until(&self, until: Instant) -> Step<()> {
        match self.orders.recv_deadline(until) {
            Err(crossbeam_channel::RecvTimeoutError::Timeout) => Ok(()),
            Ok(ProbeOrder::Stop) | Err(_) => Err(EndReason::Stopped),
        }
    }

    /// Waits for room, but not longer than the probe is wanted.
    fn report(&self, event: ProbeEvent) -> Step<()> {
        match self.events.try_send(event) {
            Ok(()) => Ok(()),
            Err(crossbeam_channel::TrySendError::Disconnected(_)) => Err(EndReason::Stopped),
            Err(crossbeam_channel::TrySendError::Full(event)) => select! {
                send(self.events, event) -> sent => sent.map_err(|_| EndReason::Stopped),
                recv(self.orders) -> _ => Err(EndReason::Stopped),
            },
        }
    }

    /// Keeps the table small while runs go on.
    fn remove_old_rows(&mut self, number: u32) {
        let Some((from, to)) = self.rows else { return };
        let is_due = to.saturating_sub(from) >= ROWS_KEPT && number.is_multiple_of(ROWS_KEPT / 2);
        if !is_due {
            return;
        }
        let keep_from = to - ROWS_KEPT / 2;
        if self.remove(from, keep_from - 1).is_ok() {
            self.rows = Some((keep_from, to));
        }
    }

    fn remove(&mut self, from: u32, to: u32) -> Result<(), Trouble> {
        let from = ProbeRow {
            probe: self.task.probe,
            number: from,
        };
        self.writer.link()?.remove(from, to)
    }

    /// All rows of ours, unless the server may not be written to any more: then whoever finds them there a day later
    /// removes them.
    fn clean_up(&mut self) -> Option<Result<(), Trouble>> {
        let (from, to) = self.rows?;
        self.writer.mend();
        let may = self.writer.lend_at_once().map(drop);
        Some(may.and_then(|()| self.remove(from, to)))
    }
}

pub fn said(what: Phrase) -> Trouble {
    Trouble {
        kind: TroubleKind::QueryFailed,
        what,
        hint: None,
        code: None,
        detail: String::new(),
    }
}
