//! The waiter: one session on a replica that waits for its sources' marks.
//!
//! It waits for what is new in each mark only. Marks equal to the one before need no question at all. When many are
//! unreached it first asks what has been applied, instead of walking through them one by one.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, select};

use super::backoff::Backoff;
use super::report::{Closed, Reporter};
use super::{Followed, Plan, WaiterOrder};
use crate::link::{Link, Purpose, clock};
use crate::model::event::{Event, Mark, Position, WaitOutcome, Waited, What};
use crate::model::gtid::Gtids;
use crate::model::phrase::phrase;
use crate::model::server::WatchId;
use crate::model::trouble::{Trouble, TroubleKind};

/// One wait; short, so that orders and the end are noticed soon.
const WAIT: Duration = Duration::from_millis(200);

/// With more than one source the waits take turns.
const WAIT_IN_TURN: Duration = Duration::from_millis(50);

/// With this many unreached marks, ask what is applied before waiting on.
const MANY: usize = 8;

/// Unreached marks kept; beyond it neighbours are merged.
const PENDING_KEPT: usize = 2_048;

/// Runs until the orders' sender is dropped.
pub fn run(
    plan: Plan,
    orders: Receiver<WaiterOrder>,
    marks: Receiver<(WatchId, Mark)>,
    events: Sender<Event>,
) {
    let reporter = Reporter {
        watch: plan.watch,
        events,
    };
    let mut waiter = Waiter {
        plan,
        orders,
        marks,
        held: Vec::new(),
        reporter,
        queues: Vec::new(),
        turn: 0,
        backoff: Backoff::default(),
        predecessor: None,
    };
    while waiter.one_session().is_ok() {}
}

/// The unreached marks of one source.
struct Queue {
    followed: Followed,
    /// The newest mark received, reached or not.
    newest: Option<Position>,
    pending: VecDeque<Pending>,
}

/// Marks up to `number` are reached when `target` is applied.
struct Pending {
    number: u64,
    target: Position,
}

struct Waiter {
    plan: Plan,
    orders: Receiver<WaiterOrder>,
    marks: Receiver<(WatchId, Mark)>,
    held: Vec<WaiterOrder>,
    reporter: Reporter,
    queues: Vec<Queue>,
    turn: usize,
    backoff: Backoff,
    predecessor: Option<u64>,
}

impl Waiter {
    /// Sleeps until there is something to wait for, then connects and waits until the session fails.
    fn one_session(&mut self) -> Result<(), Closed> {
        while self
            .queues
            .iter()
            .all(|queue| queue.pending.is_empty() && queue.newest.is_none())
        {
            self.take_in(None)?;
        }
        let trouble = match self.connect() {
            Ok(mut link) => match self.work(link.as_mut())? {
                Ended::NobodyToFollow => return Ok(()),
                Ended::Failed(trouble) => {
                    if trouble.kind == TroubleKind::TimedOut {
                        self.predecessor = Some(link.session_id());
                    }
                    trouble
                }
            },
            Err(trouble) => trouble,
        };
        let wait = self.backoff.failed(trouble.kind, fastrand::f64());
        self.report(What::WaitFailed(trouble))?;
        let deadline = Instant::now() + wait;
        while Instant::now() < deadline {
            self.take_in(Some(deadline))?;
        }
        Ok(())
    }

    fn connect(&mut self) -> Result<Box<dyn Link>, Trouble> {
        let mut link = self.plan.dial.dial(Purpose::Wait)?;
        if let Some(session) = self.predecessor {
            if !link.end_predecessor(session)? {
                return Err(still_hanging());
            }
            self.predecessor = None;
        }
        Ok(link)
    }

    fn work(&mut self, link: &mut dyn Link) -> Result<Ended, Closed> {
        let mut first = true;
        loop {
            if self.queues.is_empty() {
                return Ok(Ended::NobodyToFollow);
            }
            if first || self.queues.iter().any(|queue| queue.pending.len() > MANY) {
                if let Err(trouble) = self.skip_applied(link, first)? {
                    return Ok(Ended::Failed(trouble));
                }
                self.backoff.succeeded();
                first = false;
            }
            match self.next_turn() {
                Some(turn) => {
                    if let Err(trouble) = self.wait_for(link, turn)? {
                        return Ok(Ended::Failed(trouble));
                    }
                    self.take_in_now()?;
                }
                None => self.take_in(None)?,
            }
        }
    }

    /// The source whose oldest mark is to be waited for now; they take turns.
    fn next_turn(&mut self) -> Option<usize> {
        let count = self.queues.len();
        let turn = (1..=count)
            .map(|n| (self.turn + n) % count)
            .find(|n| !self.queues[*n].pending.is_empty())?;
        self.turn = turn;
        Some(turn)
    }

    fn wait_for(
        &mut self,
        link: &mut dyn Link,
        turn: usize,
    ) -> Result<Result<(), Trouble>, Closed> {
        let limit = if self.queues.len() > 1 {
            WAIT_IN_TURN
        } else {
            WAIT
        };
        let queue = &self.queues[turn];
        let Some(next) = queue.pending.front() else {
            return Ok(Ok(()));
        };
        let (number, source) = (next.number, queue.followed.source);
        let answer = match link.wait(&next.target, &queue.followed.channel, limit) {
            Ok(answer) => answer,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let took = answer.answered_at.since(answer.asked_at).to_duration();
        let ended_early = answer.outcome == WaitOutcome::TimedOut && took < limit / 2;
        let failed = match &answer.outcome {
            WaitOutcome::Reached | WaitOutcome::Found | WaitOutcome::Equal => {
                self.queues[turn].pending.pop_front();
                None
            }
            WaitOutcome::TimedOut => None,
            WaitOutcome::Failed(trouble) => Some(trouble.clone()),
        };
        self.report(What::Waited(Waited {
            source,
            mark: number,
            asked_at: answer.asked_at,
            answered_at: answer.answered_at,
            outcome: answer.outcome,
        }))?;
        if ended_early {
            // Whatever cut it short would do so a thousand times a second.
            self.take_in(Some(Instant::now() + limit - took))?;
        }
        // A wait that fails does so at once: without a pause it would fail a thousand times a second.
        Ok(failed.map_or(Ok(()), Err))
    }

    /// Drops the marks that are applied already. At the start of a session also those parts of the first mark that
    /// lie below what this replica has applied: holes in its set that it will never fill must not look like lag.
    fn skip_applied(
        &mut self,
        link: &mut dyn Link,
        first: bool,
    ) -> Result<Result<(), Trouble>, Closed> {
        let asked_at = clock::now();
        let applied = match link.applied() {
            Ok(applied) => applied,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let answered_at = clock::now();
        let mut reached = Vec::new();
        for queue in &mut self.queues {
            if first {
                queue
                    .pending
                    .iter_mut()
                    .for_each(|mark| mark.target = ahead_of(&mark.target, &applied));
            }
            let mut newest = None;
            while queue
                .pending
                .front()
                .is_some_and(|mark| is_applied(&mark.target, &applied))
            {
                newest = queue.pending.pop_front().map(|mark| mark.number);
            }
            reached.extend(newest.map(|mark| (queue.followed.source, mark)));
        }
        for (source, mark) in reached {
            let outcome = WaitOutcome::Found;
            self.report(What::Waited(Waited {
                source,
                mark,
                asked_at,
                answered_at,
                outcome,
            }))?;
        }
        Ok(Ok(()))
    }

    /// Takes in what is there, without waiting.
    fn take_in_now(&mut self) -> Result<(), Closed> {
        loop {
            match self.orders.try_recv() {
                Ok(order) => self.obey(order),
                Err(crossbeam_channel::TryRecvError::Empty) => break,
                Err(crossbeam_channel::TryRecvError::Disconnected) => return Err(Closed),
            }
        }
        while let Ok((source, mark)) = self.marks.try_recv() {
            self.take_mark(source, &mark)?;
        }
        Ok(())
    }

    /// Waits for an order or a mark, until `deadline` if there is one.
    fn take_in(&mut self, deadline: Option<Instant>) -> Result<(), Closed> {
        let timer = deadline.map_or_else(crossbeam_channel::never, crossbeam_channel::at);
        select! {
            recv(self.orders) -> order => match order {
                Ok(order) => self.obey(order),
                Err(_) => return Err(Closed),
            },
            recv(self.marks) -> mark => match mark {
                Ok((source, mark)) => self.take_mark(source, &mark)?,
                Err(_) => return Err(Closed),
            },
            recv(timer) -> _ => {}
        }
        self.take_in_now()
    }

    fn obey(&mut self, WaiterOrder::Follow(sources): WaiterOrder) {
        let mut kept: Vec<Queue> = Vec::with_capacity(sources.len());
        for followed in sources {
            match self
                .queues
                .iter()
                .position(|queue| queue.followed == followed)
            {
                Some(at) => kept.push(self.queues.swap_remove(at)),
                None => kept.push(Queue {
                    followed,
                    newest: None,
                    pending: VecDeque::new(),
                }),
            }
        }
        self.queues = kept;
        self.turn = 0;
    }

    fn take_mark(&mut self, source: WatchId, mark: &Mark) -> Result<(), Closed> {
        let Some(queue) = self
            .queues
            .iter_mut()
            .find(|queue| queue.followed.source == source)
        else {
            return Ok(());
        };
        let target = match &queue.newest {
            Some(before) => news(&mark.position, before),
            None => Some((*mark.position).clone()),
        };
        queue.newest = Some((*mark.position).clone());
        match (target, queue.pending.back_mut()) {
            (Some(target), _) => queue.push(Pending {
                number: mark.number,
                target,
            }),
            // Nothing new: reached together with the mark before it.
            (None, Some(last)) => last.number = mark.number,
            (None, None) => return self.report_equal(source, mark.number),
        }
        Ok(())
    }

    fn report_equal(&mut self, source: WatchId, mark: u64) -> Result<(), Closed> {
        let now = clock::now();
        let waited = Waited {
            source,
            mark,
            asked_at: now,
            answered_at: now,
            outcome: WaitOutcome::Equal,
        };
        self.report(What::Waited(waited))
    }

    fn report(&mut self, what: What) -> Result<(), Closed> {
        self.reporter.send(what, &self.orders, &mut self.held)?;
        for order in std::mem::take(&mut self.held) {
            self.obey(order);
        }
        Ok(())
    }
}

enum Ended {
    NobodyToFollow,
    Failed(Trouble),
}

impl Queue {
    fn push(&mut self, pending: Pending) {
        self.pending.push_back(pending);
        if self.pending.len() > PENDING_KEPT {
            self.merge_neighbours();
        }
    }

    /// Halves the number of marks: two neighbours become one, reached when both are.
    fn merge_neighbours(&mut self) {
        let mut merged = VecDeque::with_capacity(self.pending.len() / 2 + 1);
        while let Some(first) = self.pending.pop_front() {
            merged.push_back(match self.pending.pop_front() {
                Some(second) => Pending {
                    number: second.number,
                    target: both(first.target, second.target),
                },
                None => first,
            });
        }
        self.pending = merged;
    }
}

/// What of `now` was not in `before`; `None` when nothing is new. MariaDB positions and coordinates say everything
/// before them too, so the later one is the whole news.
fn news(now: &Position, before: &Position) -> Option<Position> {
    match (now, before) {
        (Position::Gtids(Gtids::MySql(now)), Position::Gtids(Gtids::MySql(before))) => {
            let new = now.subtract(before);
            (!new.is_empty()).then(|| Position::Gtids(new.into()))
        }
        (now, before) => (now != before).then(|| now.clone()),
    }
}

fn both(earlier: Position, later: Position) -> Position {
    match (earlier, later) {
        (Position::Gtids(Gtids::MySql(mut earlier)), Position::Gtids(Gtids::MySql(later))) => {
            earlier.union_with(&later);
            Position::Gtids(earlier.into())
        }
        (_, later) => later,
    }
}

fn ahead_of(target: &Position, applied: &Position) -> Position {
    match (target, applied) {
        (Position::Gtids(Gtids::MySql(target)), Position::Gtids(Gtids::MySql(applied))) => {
            Position::Gtids(target.beyond(applied).into())
        }
        (target, _) => target.clone(),
    }
}

fn is_applied(target: &Position, applied: &Position) -> bool {
    match (target, applied) {
        (Position::Gtids(target), Position::Gtids(applied)) => applied.contains(target),
        (Position::Coordinates(target), Position::Coordinates(applied)) => applied
            .compare(target)
            .is_some_and(std::cmp::Ordering::is_ge),
        _ => false,
    }
}

/// An earlier session of ours hangs inside the server and cannot be ended; another one would join it (R36).
pub fn still_hanging() -> Trouble {
    Trouble {
        kind: TroubleKind::TimedOut,
        what: phrase("trouble.still_hanging"),
        hint: Some(phrase("trouble.still_hanging.hint")),
        code: None,
        detail: String::new(),
    }
}
