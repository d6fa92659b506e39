//! The threads that read: each owns one session, takes orders one by one, and ends when its inbox is closed.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::session::{Keeper, not_connected};
use crate::link::clock;
use crate::link::probing::ProbeLink;
use crate::model::probe::{
    ProbeRow, ReadFrom, Seen, ServerState, Token, WaitKind, WaitSeen, WaitedRead, why_not_wait,
};
use crate::model::replication::Channel;
use crate::model::time::{Moment, Span};
use crate::model::trouble::Trouble;

/// Whether a replica's threads run is known this well.
const CHANNELS_AGE: Duration = Duration::from_millis(500);

/// The read on the source answers within its own limit; this only guards against waiting for a thread that has gone.
const SOURCE_LIMIT: Duration = Duration::from_secs(15);

/// A sleep may end late by this; the rest of a delay is waited for awake.
const SLEEP_SLACK: Duration = Duration::from_micros(200);

/// What a worker reports.
pub struct Told {
    /// The run it belongs to; 0 before the first.
    pub run: u32,
    /// Which replica; `None`: the source.
    pub replica: Option<usize>,
    pub part: Part,
}

pub enum Part {
    /// Once, when the first session was tried.
    Ready(Box<Result<ServerState, Trouble>>),
    Settled,
    Plain(Seen),
    Waited(Box<WaitedRead>),
    /// When the row was first seen as written.
    FirstVisible(Option<Moment>),
}

/// Reports of one worker.
#[derive(Clone)]
pub struct Desk {
    pub replica: Option<usize>,
    pub told: Sender<Told>,
}

impl Desk {
    fn tell(&self, run: u32, part: Part) {
        // Nobody listens any more: the probe has ended, and so will this thread.
        let _ = self.told.send(Told {
            run,
            replica: self.replica,
            part,
        });
    }
}

pub struct ReadOrder {
    pub run: u32,
    pub row: ProbeRow,
    pub at: Instant,
}

pub enum WaitOrder {
    /// Wait for what was set up, so that the first run does not find an empty server; at most until then.
    Settle { token: Token, until: Instant },
    Run {
        run: u32,
        row: ProbeRow,
        token: Result<Token, WaitKind>,
    },
}

pub struct LookOrder {
    pub run: u32,
    pub row: ProbeRow,
    pub value: String,
    pub until: Instant,
}

pub enum SourceOrder {
    Read {
        row: ProbeRow,
        answer: Sender<Seen>,
    },
    Executed {
        answer: Sender<Result<Token, WaitKind>>,
    },
}

/// Reads on a replica at the instant it is told.
pub fn reader(mut keeper: Keeper, orders: Receiver<ReadOrder>, desk: Desk) {
    keeper.mend();
    desk.tell(0, ready(&mut keeper));
    for order in orders {
        wait_until(order.at);
        let seen = read(&mut keeper, order.row);
        desk.tell(order.run, Part::Plain(seen));
        keeper.mend();
    }
}

fn ready(keeper: &mut Keeper) -> Part {
    Part::Ready(Box::new(keeper.link().and_then(|link| link.state())))
}

fn wait_until(instant: Instant) {
    let left = instant.saturating_duration_since(Instant::now());
    std::thread::sleep(left.saturating_sub(SLEEP_SLACK));
    while Instant::now() < instant {
        std::hint::spin_loop();
    }
}

fn read(keeper: &mut Keeper, row: ProbeRow) -> Seen {
    read_by(keeper.link(), row)
}

/// On a session that is in step, a new one if need be.
pub fn read_kept(keeper: &mut Keeper, row: ProbeRow) -> Seen {
    read_by(keeper.ready(), row)
}

fn read_by(link: Result<&mut dyn ProbeLink, Trouble>, row: ProbeRow) -> Seen {
    match link {
        Ok(link) => read_on(link, row),
        Err(trouble) => unread(trouble),
    }
}

fn read_on(link: &mut dyn ProbeLink, row: ProbeRow) -> Seen {
    let asked_at = clock::now();
    let value = link.read(row);
    Seen {
        session: Some(link.session_id()),
        asked_at,
        answered_at: clock::now(),
        value,
    }
}

/// A read for which there was no session.
pub fn unread(trouble: Trouble) -> Seen {
    let now = clock::now();
    Seen {
        session: None,
        asked_at: now,
        answered_at: now,
        value: Err(trouble),
    }
}

/// Looks at a replica as fast as it answers until the write is there.
pub fn looker(mut keeper: Keeper, orders: Receiver<LookOrder>, desk: Desk) {
    keeper.mend();
    for order in orders {
        let mut first = None;
        while first.is_none() && Instant::now() < order.until {
            let seen = read(&mut keeper, order.row);
            match &seen.value {
                Ok(value) if value.as_deref() == Some(&order.value) => {
                    first = Some(seen.answered_at);
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        desk.tell(order.run, Part::FirstVisible(first));
        keeper.mend();
    }
}

/// Reads on the source: once each run, and for every reader whose wait did not succeed.
pub fn source_reader(mut keeper: Keeper, orders: Receiver<SourceOrder>) {
    keeper.mend();
    for order in orders {
        match order {
            SourceOrder::Read { row, answer } => {
                let _ = answer.send(read(&mut keeper, row));
            }
            SourceOrder::Executed { answer } => {
                let executed = keeper.link().and_then(|link| link.executed());
                let _ = answer.send(executed.unwrap_or(Err(WaitKind::NoGtid)));
            }
        }
        keeper.mend();
    }
}

/// Asks the source's reader, from another thread.
pub fn read_on_source(source: &Sender<SourceOrder>, row: ProbeRow) -> Seen {
    let (answer, answered) = bounded(1);
    if source.send(SourceOrder::Read { row, answer }).is_err() {
        return unread(not_connected());
    }
    match answered.recv_timeout(SOURCE_LIMIT) {
        Ok(seen) => seen,
        Err(_) => unread(not_connected()),
    }
}

/// Waits on a replica, then reads on the connection that waited.
pub struct Waiter {
    pub keeper: Keeper,
    pub limit: Span,
    pub source: Sender<SourceOrder>,
    pub desk: Desk,
    /// What the replica said of its channels last.
    pub channels: Option<(Instant, Option<Vec<Channel>>)>,
}

impl Waiter {
    pub fn run(mut self, orders: Receiver<WaitOrder>) {
        self.keeper.mend();
        let state = self.keeper.link().and_then(|link| link.state());
        if let Ok(state) = &state {
            self.channels = Some((Instant::now(), state.channels.clone()));
        }
        self.desk.tell(0, Part::Ready(Box::new(state)));
        loop {
            match orders.recv_timeout(CHANNELS_AGE) {
                Ok(WaitOrder::Settle { token, until }) => {
                    self.settle(&token, until);
                    self.desk.tell(0, Part::Settled);
                }
                Ok(WaitOrder::Run { run, row, token }) => {
                    let waited = self.waited_read(row, token);
                    self.desk.tell(run, Part::Waited(Box::new(waited)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.keeper.mend();
            self.look_at_channels(CHANNELS_AGE);
        }
    }

    fn settle(&mut self, token: &Token, until: Instant) {
        while self.why_not().is_none() && Instant::now() < until {
            let Ok(link) = self.keeper.link() else { return };
            let seen = link.wait(&token.gtids, self.limit.to_duration());
            if seen.kind != WaitKind::TimedOut {
                return;
            }
            self.look_at_channels(Duration::ZERO);
        }
    }

    fn waited_read(&mut self, row: ProbeRow, token: Result<Token, WaitKind>) -> WaitedRead {
        let token = match (token, self.why_not()) {
            (Err(kind), _) | (Ok(_), Some(kind)) => Err(WaitSeen::not_sent(kind)),
            (Ok(token), None) => Ok(token),
        };
        let link = self.keeper.link();
        let source = &self.source;
        wait_then_read(link, row, token, self.limit, || read_on_source(source, row))
    }

    /// "Stopped" is never taken from memory: it may have been started again.
    fn why_not(&mut self) -> Option<WaitKind> {
        self.known_why_not()?;
        self.look_at_channels(Duration::ZERO);
        self.known_why_not()
    }

    fn known_why_not(&self) -> Option<WaitKind> {
        let (_, channels) = self.channels.as_ref()?;
        why_not_wait(channels.as_deref())
    }

    fn look_at_channels(&mut self, age: Duration) {
        if self
            .channels
            .as_ref()
            .is_some_and(|(at, _)| at.elapsed() < age)
        {
            return;
        }
        self.channels = match self.keeper.link().map(|link| link.channels()) {
            Ok(Ok(channels)) => Some((Instant::now(), channels)),
            _ => None,
        };
    }
}

/// The rule that makes a read strong: only a wait that succeeded lets the replica answer, on the connection that waited;
/// in every other case the source does. A replica's rows after anything else are never looked at.
pub fn wait_then_read(
    link: Result<&mut dyn ProbeLink, Trouble>,
    row: ProbeRow,
    token: Result<Token, WaitSeen>,
    limit: Span,
    read_on_source: impl FnOnce() -> Seen,
) -> WaitedRead {
    let wait = match (link, token) {
        (_, Err(not_sent)) => not_sent,
        (Err(trouble), Ok(_)) => WaitSeen {
            trouble: Some(trouble),
            ..WaitSeen::not_sent(WaitKind::Unreachable)
        },
        (Ok(link), Ok(token)) => {
            let mut wait = link.wait(&token.gtids, limit.to_duration());
            if wait.kind == WaitKind::Reached {
                let read = read_on(link, row);
                match read.value {
                    Ok(_) => {
                        return WaitedRead {
                            wait,
                            read,
                            read_from: ReadFrom::Replica,
                            reason: None,
                        };
                    }
                    Err(trouble) => {
                        wait.kind = WaitKind::ReadFailed;
                        wait.code = trouble.code.map(i64::from);
                        wait.trouble = Some(trouble);
                    }
                }
            }
            wait
        }
    };
    let reason = wait.kind.reason();
    WaitedRead {
        wait,
        read: read_on_source(),
        read_from: ReadFrom::Source,
        reason,
    }
}
