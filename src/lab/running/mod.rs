//! A lab at work: [`LabHandle`] outside, one thread inside that knows how everything stands.
//!
//! Orders go in over a bounded queue; whole [`LabStatus`] values come out, of which only the latest waits to be read.
//! What takes long (starting, each fault and its undo) runs on threads of its own, a bounded number of them, so that the
//! next order is heard at once.

mod notes;
mod worker;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};

use super::bed::Bed;
use super::faults::site::{Control, Site};
use super::ground::{self, Build, Starting};
use super::traffic::{Carrier, Counts};
use crate::link::clock;
use crate::model::lab::{
    FaultId, FaultKind, LabNode, LabOrder, LabPhase, LabPlan, LabStatus, Traffic, TrafficCounts,
};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Moment;
use crate::model::trouble::Trouble;

use notes::{Notes, Outcome};
use worker::{interrupt, no_thread, not_begun, spawn_worker};

const MOST_ORDERS: usize = 256;
const MOST_EVENTS: usize = 256;

/// How often servers and counters are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long the end of a lab may wait for an order that has its bed.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// Runs until dropped; then everything of its lab is gone, within a bound.
pub struct LabHandle {
    orders: Option<Sender<LabOrder>>,
    ended: Receiver<()>,
}

impl LabHandle {
    /// `wake` is called after each new status.
    pub fn start(wake: impl Fn() + Send + Sync + 'static) -> (LabHandle, Receiver<LabStatus>) {
        LabHandle::start_with(Arc::new(ground::build), wake)
    }

    /// With another way from a plan to servers.
    pub fn start_with(
        build: Build,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> (LabHandle, Receiver<LabStatus>) {
        let (orders, orders_in) = bounded(MOST_ORDERS);
        let (out, statuses) = bounded(1);
        let (end, ended) = bounded::<()>(1);
        let told = Latest {
            out,
            unread: statuses.clone(),
            wake: Box::new(wake),
        };
        let mut lab = Lab::new(build, told);
        lab.publish();
        let spawned = thread::Builder::new()
            .name("lab".to_owned())
            .spawn(move || {
                lab.work(&orders_in);
                drop(end);
            });
        if let Err(error) = spawned {
            // Nobody hears orders: `send` says so.
            tracing::error!("no thread for the lab: {error}");
        }
        let handle = LabHandle {
            orders: Some(orders),
            ended,
        };
        (handle, statuses)
    }

    /// False when it is not taken: far too many are waiting.
    pub fn send(&self, order: LabOrder) -> bool {
        let orders = self.orders.as_ref();
        orders.is_some_and(|orders| orders.try_send(order).is_ok())
    }
}

impl Drop for LabHandle {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self
            .ended
            .recv_timeout(CLOSE_LIMIT + Duration::from_secs(5));
    }
}

/// A queue for one, in which the newer takes the place of the older.
struct Latest {
    out: Sender<LabStatus>,
    unread: Receiver<LabStatus>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Latest {
    fn tell(&self, status: LabStatus) {
        let mut status = status;
        while let Err(TrySendError::Full(again)) = self.out.try_send(status) {
            let _ = self.unread.try_recv();
            status = again;
        }
        (self.wake)();
    }
}

/// What threads of the lab report; `run` tells of which lab.
struct Event {
    run: u64,
    what: Happened,
}

enum Happened {
    Step(Phrase),
    Built(Result<Box<dyn Bed>, Trouble>),
    Worked(FaultId, Outcome),
}

struct Lab {
    build: Build,
    told: Latest,
    events: (Sender<Event>, Receiver<Event>),
    /// The number of this lab; what is reported of an earlier one is dropped.
    run: u64,
    plan: LabPlan,
    phase: LabPhase,
    traffic: Traffic,
    /// Hold on those who start it.
    starting: Option<Control>,
    /// Wanted as soon as the one before is gone.
    next_plan: Option<LabPlan>,
    running: Option<Running>,
    last_look: Instant,
    last_seen: Option<(Vec<LabNode>, TrafficCounts)>,
}

/// Only while it runs.
struct Running {
    // In the order of their end.
    carrier: Carrier,
    counts: Counts,
    notes: Notes,
    impossible: Vec<(FaultKind, Phrase)>,
    site: Site,
}

impl Lab {
    fn new(build: Build, told: Latest) -> Lab {
        let plan = LabPlan::default();
        Lab {
            build,
            told,
            events: bounded(MOST_EVENTS),
            run: 0,
            phase: LabPhase::Stopped,
            traffic: plan.traffic,
            plan,
            starting: None,
            next_plan: None,
            running: None,
            last_look: Instant::now(),
            last_seen: None,
        }
    }

    fn work(&mut self, orders: &Receiver<LabOrder>) {
        loop {
            let events = self.events.1.clone();
            let news = select! {
                recv(orders) -> order => match order {
                    Ok(order) => self.obey(order),
                    Err(_) => break,
                },
                recv(events) -> event => event.is_ok_and(|event| self.take_in(event)),
                default(self.rest()) => false,
            };
            let now = clock::now();
            if self.pass_time(now) | news | self.look() {
                self.publish();
            }
        }
        self.stop();
        self.await_starter();
    }

    /// Until something is due by itself.
    fn rest(&self) -> Duration {
        let Some(running) = &self.running else {
            return Duration::from_secs(3600);
        };
        let next_end = running.notes.next_end();
        let until_end = next_end.map(|at| at.since(clock::now()).to_duration());
        let until_look = LOOK_EVERY.saturating_sub(self.last_look.elapsed());
        until_end.unwrap_or(LOOK_EVERY).min(until_look)
    }

    fn publish(&mut self) {
        let status = self.status();
        self.told.tell(status);
    }

    fn status(&self) -> LabStatus {
        let running = self.running.as_ref();
        LabStatus {
            plan: self.plan.clone(),
            phase: self.phase.clone(),
            nodes: running.map(|r| r.site.nodes()).unwrap_or_default(),
            accounts: running.map(|r| r.site.accounts().clone()),
            ca_pem: running.and_then(|r| r.site.ca_pem().map(str::to_owned)),
            traffic: self.traffic,
            carried: running.map(|r| r.counts.get()).unwrap_or_default(),
            faults: running.map(|r| r.notes.list()).unwrap_or_default(),
            impossible: running.map(|r| r.impossible.clone()).unwrap_or_default(),
        }
    }

    /// True when servers or counters are not as last told.
    fn look(&mut self) -> bool {
        let Some(running) = &self.running else {
            return false;
        };
        if self.last_look.elapsed() < LOOK_EVERY {
            return false;
        }
        self.last_look = Instant::now();
        let seen = Some((running.site.nodes(), running.counts.get()));
        let is_new = seen != self.last_seen;
        self.last_seen = seen;
        is_new
    }

    fn obey(&mut self, order: LabOrder) -> bool {
        let now = clock::now();
        match order {
            LabOrder::Start(plan) => self.start(plan),
            LabOrder::Stop => {
                self.next_plan = None;
                self.stop();
            }
            LabOrder::Carry(traffic) => self.carry(traffic),
            LabOrder::Make(fault) => {
                if let Some(running) = &mut self.running {
                    running.notes.make(fault, now);
                }
            }
            LabOrder::Undo(id) => {
                if let Some(running) = &mut self.running {
                    let held = running.notes.undo(id, now);
                    held.into_iter().for_each(|c| interrupt(&running.site, &c));
                }
            }
            LabOrder::UndoAll => {
                if let Some(running) = &mut self.running {
                    let held = running.notes.undo_all(now);
                    held.iter().for_each(|c| interrupt(&running.site, c));
                }
            }
        }
        true
    }

    fn carry(&mut self, traffic: Traffic) {
        self.traffic = traffic;
        if let Some(running) = &mut self.running {
            let seed = self.plan.seed;
            running.carrier = Carrier::start(&running.site, traffic, seed, &running.counts);
        }
    }

    /// One after the other: the servers of a former lab are gone before the next come.
    fn start(&mut self, plan: LabPlan) {
        self.stop();
        if self.starting.is_some() {
            self.next_plan = Some(plan);
            return;
        }
        self.run += 1;
        self.traffic = plan.traffic;
        self.plan = plan;
        self.phase = LabPhase::Starting(phrase("lab.step.begins"));
        self.spawn_starter();
    }

    fn spawn_starter(&mut self) {
        let control = Control::default();
        let (run, events) = (self.run, self.events.0.clone());
        let told = events.clone();
        let starting = Starting {
            tell: Box::new(move |step| {
                // Only a word on the way: nothing is lost with it.
                let what = Happened::Step(step);
                let _ = told.try_send(Event { run, what });
            }),
            control: control.clone(),
        };
        let (build, plan) = (self.build.clone(), self.plan.clone());
        let spawned = thread::Builder::new()
            .name("lab-start".to_owned())
            .spawn(move || {
                let what = Happened::Built(build(&plan, &starting));
                // With nobody to take it, the bed ends here.
                drop(events.send(Event { run, what }));
            });
        match spawned {
            Ok(_) => self.starting = Some(control),
            Err(error) => self.phase = LabPhase::Failed(no_thread(&error)),
        }
    }

    /// True when there is something to tell.
    fn take_in(&mut self, event: Event) -> bool {
        if let Happened::Built(built) = event.what {
            self.starting = None;
            return self.built(built, event.run);
        }
        if event.run != self.run {
            return false;
        }
        match event.what {
            Happened::Step(step) => match &mut self.phase {
                LabPhase::Starting(told) => *told = step,
                _ => return false,
            },
            Happened::Worked(id, outcome) => {
                if let Some(running) = &mut self.running {
                    running.notes.done(id, outcome, clock::now());
                }
            }
            Happened::Built(_) => {}
        }
        true
    }

    fn built(&mut self, built: Result<Box<dyn Bed>, Trouble>, run: u64) -> bool {
        let is_wanted = run == self.run && matches!(self.phase, LabPhase::Starting(_));
        match built {
            Ok(bed) if is_wanted => self.run_on(bed),
            Err(why) if is_wanted => self.phase = LabPhase::Failed(why),
            unwanted => {
                drop(unwanted);
                self.phase = LabPhase::Stopped;
            }
        }
        if let Some(plan) = self.next_plan.take() {
            self.start(plan);
        }
        true
    }

    fn run_on(&mut self, bed: Box<dyn Bed>) {
        let impossible = bed.impossible();
        let site = Site::new(bed);
        let counts = Counts::default();
        self.running = Some(Running {
            carrier: Carrier::start(&site, self.traffic, self.plan.seed, &counts),
            counts,
            notes: Notes::default(),
            impossible,
            site,
        });
        self.phase = LabPhase::Running {
            since: clock::now(),
        };
    }

    /// True when something changed by itself.
    fn pass_time(&mut self, now: Moment) -> bool {
        let Some(running) = &mut self.running else {
            return false;
        };
        let mut changed = running.notes.pass_time(now);
        let nodes = running.site.nodes();
        while let Some(job) = running.notes.next_job(&nodes, &running.impossible, now) {
            changed = true;
            let id = job.id;
            if let Err((error, work)) = spawn_worker(&running.site, job, self.run, &self.events.0) {
                running
                    .notes
                    .done(id, not_begun(work, no_thread(&error)), now);
            }
        }
        changed
    }

    fn stop(&mut self) {
        if let Some(control) = &self.starting {
            control.withdraw();
            self.phase = LabPhase::Stopping;
        }
        let Some(mut running) = self.running.take() else {
            if self.starting.is_none() {
                self.phase = LabPhase::Stopped;
            }
            return;
        };
        self.phase = LabPhase::Stopping;
        self.publish();
        self.run += 1;
        drop(running.carrier);
        running.notes.drop_all();
        running.site.close(CLOSE_LIMIT);
        self.phase = LabPhase::Stopped;
    }

    /// The program may be about to end: the servers that are just being started must not outlive it.
    fn await_starter(&mut self) {
        let until = Instant::now() + CLOSE_LIMIT;
        while self.starting.is_some() {
            match self.events.1.recv_deadline(until) {
                Ok(event) => drop(self.take_in(event)),
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests;
