//! The poller: one session that polls, and marks while replicas of this server are watched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::backoff::Backoff;
use super::report::{Closed, Reporter};
use super::schedule::{Beat, Thoroughness};
use super::{MarkSink, Plan, PollerOrder};
use crate::link::{Link, MarkReading, Purpose, clock};
use crate::model::event::{Event, LinkState, Mark, Position, What};
use crate::model::profile::Intervals;
use crate::model::sample::Sample;
use crate::model::time::Span;
use crate::model::trouble::{Trouble, TroubleKind};

/// Runs until the orders' sender is dropped.
pub fn run(plan: Plan, orders: Receiver<PollerOrder>, events: Sender<Event>) {
    let reporter = Reporter {
        watch: plan.watch,
        events,
    };
    let mut poller = Poller {
        intervals: plan.intervals,
        plan,
        orders,
        held: Vec::new(),
        reporter,
        sinks: Vec::new(),
        marks: 0,
        backoff: Backoff::default(),
        predecessor: None,
        thoroughness: Thoroughness::default(),
        hurry: false,
    };
    // The only way out of the loop is that nobody wants this thread any more.
    while poller.one_session().is_ok() {}
}

struct Poller {
    plan: Plan,
    intervals: Intervals,
    orders: Receiver<PollerOrder>,
    /// Orders that came while a report waited for room.
    held: Vec<PollerOrder>,
    reporter: Reporter,
    sinks: Vec<MarkSink>,
    marks: u64,
    backoff: Backoff,
    /// A session whose statement never answered; it may still hang on the server.
    predecessor: Option<u64>,
    thoroughness: Thoroughness,
    /// A poll was ordered while none could be made.
    hurry: bool,
}

impl Poller {
    /// Connects and works until the session fails; then waits out the back-off.
    fn one_session(&mut self) -> Result<(), Closed> {
        let trouble = match self.connect() {
            Ok(link) => {
                self.backoff.succeeded();
                self.report(What::Link(LinkState::Up {
                    product: link.product().clone(),
                }))?;
                self.work(link)?
            }
            Err(trouble) => trouble,
        };
        let wait = self.backoff.failed(trouble.kind, fastrand::f64());
        let retry_at = clock::now() + Span::from(wait);
        let attempt = self.backoff.attempts();
        self.report(What::Link(LinkState::Down {
            trouble,
            attempt,
            retry_at,
        }))?;
        self.wait_out(wait)
    }

    fn connect(&mut self) -> Result<Box<dyn Link>, Trouble> {
        let mut link = self.plan.dial.dial(Purpose::Poll)?;
        if let Some(session) = self.predecessor {
            if !link.end_predecessor(session)? {
                return Err(super::waiter::still_hanging());
            }
            self.predecessor = None;
        }
        Ok(link)
    }

    /// Polls and marks until the session fails, and says why it did.
    fn work(&mut self, mut link: Box<dyn Link>) -> Result<Trouble, Closed> {
        let start = Instant::now();
        let (mut poll, mut mark) = (Beat::starting(start), Beat::starting(start));
        self.thoroughness = Thoroughness::default();
        loop {
            let now = Instant::now();
            let hurry = std::mem::take(&mut self.hurry);
            if hurry {
                poll.bring_forward(now);
            }
            if poll.due(now) && wants_a_new_session(link.as_ref(), hurry) {
                match self.renew(link) {
                    Ok(new) => link = new,
                    Err(trouble) => return Ok(trouble),
                }
            }
            if poll.due(now) {
                match self.poll(link.as_mut(), now) {
                    Ok(sample) => {
                        if self.take_mark_from(&sample)? {
                            mark.bring_forward(now);
                            mark.done(Instant::now(), self.intervals.mark.to_duration());
                        }
                        self.report(What::Sampled(sample))?;
                    }
                    Err(trouble) => return Ok(self.give_up(link.as_ref(), trouble)),
                }
                poll.done(Instant::now(), self.intervals.poll.to_duration());
            } else if !self.sinks.is_empty() && mark.due(now) {
                match link.mark() {
                    Ok(reading) => self.send_mark(reading)?,
                    Err(trouble) => return Ok(self.give_up(link.as_ref(), trouble)),
                }
                mark.done(Instant::now(), self.intervals.mark.to_duration());
            }
            let next = if self.sinks.is_empty() {
                poll.next()
            } else {
                poll.next().min(mark.next())
            };
            self.take_orders_until(next)?;
        }
    }

    /// A new session in place of the old one, which goes first: a server never carries more than our two.
    fn renew(&mut self, old: Box<dyn Link>) -> Result<Box<dyn Link>, Trouble> {
        drop(old);
        self.thoroughness.ask_all();
        self.connect()
    }

    fn poll(&mut self, link: &mut dyn Link, now: Instant) -> Result<Arc<Sample>, Trouble> {
        let sample = link.poll(self.thoroughness.next(now))?;
        self.thoroughness.learn(&sample);
        Ok(Arc::new(sample))
    }

    fn give_up(&mut self, link: &dyn Link, trouble: Trouble) -> Trouble {
        if trouble.kind == TroubleKind::TimedOut {
            self.predecessor = Some(link.session_id());
        }
        trouble
    }

    /// A poll has just read the executed set: that is a mark, and saves a statement.
    fn take_mark_from(&mut self, sample: &Sample) -> Result<bool, Closed> {
        let (Some(clock), Some(executed)) = (sample.clock, &sample.gtid.executed) else {
            return Ok(false);
        };
        if self.sinks.is_empty() || executed.is_empty() {
            return Ok(false);
        }
        self.send_mark(MarkReading {
            asked_at: clock.asked_at,
            answered_at: clock.answered_at,
            position: Position::Gtids(executed.clone()),
            clock: Some(clock),
        })?;
        Ok(true)
    }

    fn send_mark(&mut self, reading: MarkReading) -> Result<(), Closed> {
        self.marks += 1;
        let mark = Mark {
            number: self.marks,
            asked_at: reading.asked_at,
            answered_at: reading.answered_at,
            sent_at: clock::now(),
            position: Arc::new(reading.position),
            clock: reading.clock,
        };
        // Reported first: a waiter may have its answer within a fraction of a millisecond, and an answer that overtook
        // its mark would leave the mark unreached until the next one.
        self.report(What::Marked(mark.clone()))?;
        for sink in &self.sinks {
            // A waiter that is busy, or ended, loses this mark; the next one says it too.
            let _ = sink.inbox.try_send((self.plan.watch, mark.clone()));
        }
        Ok(())
    }

    fn report(&mut self, what: What) -> Result<(), Closed> {
        self.reporter.send(what, &self.orders, &mut self.held)?;
        for order in std::mem::take(&mut self.held) {
            self.obey(order);
        }
        Ok(())
    }

    fn take_orders_until(&mut self, deadline: Instant) -> Result<(), Closed> {
        match self.orders.recv_deadline(deadline) {
            Ok(order) => self.obey(order),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Closed),
        }
        Ok(())
    }

    fn wait_out(&mut self, wait: Duration) -> Result<(), Closed> {
        let deadline = Instant::now() + wait;
        while Instant::now() < deadline && !self.hurry {
            self.take_orders_until(deadline)?;
        }
        Ok(())
    }

    fn obey(&mut self, order: PollerOrder) {
        match order {
            PollerOrder::PollNow => {
                self.hurry = true;
                self.thoroughness.ask_all();
            }
            PollerOrder::Pace(intervals) => self.intervals = intervals,
            PollerOrder::MarkFor(sinks) => self.sinks = sinks,
        }
    }
}

/// A question refused for want of a privilege is asked again in a new session: at once when the person asks, else when
/// its time has come.
fn wants_a_new_session(link: &dyn Link, hurry: bool) -> bool {
    link.refused_until()
        .is_some_and(|until| hurry || clock::now() >= until)
}
