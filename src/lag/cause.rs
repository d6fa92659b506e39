//! Why a replica is late or silent, with what shows it. Asked in the order in which one cause hides another: a
//! stopped thread explains everything below it.

use super::{Scene, applier, backlog};
use crate::model::lag::{Backlog, Cause, CauseKind, Reading};
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::replication::{AppliedTransaction, ApplierThread, ThreadState};
use crate::model::sample::{LockWait, OpenTransaction, Sample, TransactionOwner};
use crate::model::time::Span;

/// A transaction of fewer rows is not big, however long it takes.
const FEW_ROWS: u64 = 1_000;

/// Under this a lag needs no explanation.
const WORTH_EXPLAINING: Span = Span::from_millis(1_000);

/// How much later than its plan a delayed replica may be with nothing wrong: the server counts the delay in whole
/// seconds, and sleeps whole seconds before it looks again (MySQL 9.7, `sql_delay_event`). It then lets go of a whole
/// second's transactions at once, and for a moment every worker is busy.
const DELAY_IS_ROUGH_BY: Span = Span::from_millis(2_000);

/// A transaction in hand for this long is what everybody behind it waits for.
const LONG_IN_HAND: Span = Span::from_millis(1_000);

pub fn of(scene: &Scene<'_>, headline: &Reading, backlog: &Backlog) -> Option<Cause> {
    if let Some(cause) = thread_cause(scene) {
        return Some(cause);
    }
    let is_below = |limit| headline.value().is_some_and(|lag| lag < limit);
    if is_below(WORTH_EXPLAINING) {
        return waiting_on_purpose(scene);
    }
    let lock = blocked_by_lock(scene);
    if lock.is_some() {
        return lock;
    }
    if is_below(worth_explaining(scene)) {
        return waiting_on_purpose(scene);
    }
    let told = small_behind_readers(scene).or_else(|| small_on_the_way(scene, backlog));
    if told.is_some() || waits_for_an_answer(scene) {
        return told;
    }
    big_transaction(scene)
        .or_else(|| slow_network(scene, backlog))
        .or_else(|| slow_readers(scene))
        .or_else(|| too_few_workers(scene, backlog))
        .or_else(|| waiting_on_purpose(scene))
}

fn worth_explaining(scene: &Scene<'_>) -> Span {
    if scene.channel.planned_delay > Span::ZERO {
        WORTH_EXPLAINING + DELAY_IS_ROUGH_BY
    } else {
        WORTH_EXPLAINING
    }
}

fn cause(kind: CauseKind, text: Phrase, evidence: Vec<Phrase>) -> Option<Cause> {
    Some(Cause {
        kind,
        text,
        evidence,
    })
}

fn thread_cause(scene: &Scene<'_>) -> Option<Cause> {
    let channel = scene.channel;
    if let Some(error) = channel
        .applier_error
        .as_ref()
        .filter(|_| !channel.applier.is_running())
    {
        let text = phrase("cause.applier_broken").with("number", Arg::Number(error.number.into()));
        let words = scene.replica.sample.applier_error(channel);
        let words = words.map_or(error.text.as_str(), |error| error.text.as_str());
        return cause(CauseKind::ApplierBroken, text, vec![quoted(words)]);
    }
    if channel.applier == ThreadState::Stopped {
        return cause(
            CauseKind::ApplierStopped,
            phrase("cause.applier_stopped"),
            vec![],
        );
    }
    let why = channel
        .receiver_error
        .iter()
        .map(|error| quoted(&error.text))
        .collect();
    match channel.receiver {
        ThreadState::Connecting => cause(
            CauseKind::ReceiverConnecting,
            phrase("cause.receiver_connecting"),
            why,
        ),
        ThreadState::Stopped => cause(
            CauseKind::ReceiverStopped,
            phrase("cause.receiver_stopped"),
            why,
        ),
        _ => None,
    }
}

pub fn quoted(text: &str) -> Phrase {
    phrase("evidence.server_says").with("text", text)
}

/// The applier waits for a lock. MySQL says so in the thread's state; who holds it is asked rarely, and at every poll
/// while something is late. What one worker has to wait for because another has it explains nothing.
fn blocked_by_lock(scene: &Scene<'_>) -> Option<Cause> {
    let sample = scene.replica.sample;
    let waits = sample.of_this_poll(&sample.lock_waits);
    let waits = waits.map_or(&[][..], Vec::as_slice);
    let wait = waits
        .iter()
        .filter(|wait| wait.waiter_is_applier && !waits_for_an_applier(scene, wait, waits))
        .max_by_key(|wait| wait.waited);
    let is_unexplained = wait.is_some() || big_one_at_work(scene, waits).is_none();
    let state = applier_states(scene)
        .find(|state| names_a_lock(state))
        .filter(|_| is_unexplained);
    let evidence: Vec<Phrase> = state.iter().map(|state| quoted(state)).collect();
    match (wait, state) {
        (None, None) => None,
        (Some(wait), _) => {
            let holder = wait.blocking_user.clone().unwrap_or_default();
            let text = phrase("cause.blocked_by_session")
                .with("thread", Arg::Number(wait.blocking_thread.unwrap_or(0)))
                .with("user", holder);
            let text = if wait.blocking_thread.is_some() {
                text
            } else {
                phrase("cause.blocked_by_lock")
            };
            let statement = wait.blocking_statement.as_deref().map(quoted);
            cause(
                CauseKind::BlockedByLock,
                text,
                evidence.into_iter().chain(statement).collect(),
            )
        }
        (None, Some(_)) => cause(
            CauseKind::BlockedByLock,
            phrase("cause.blocked_by_lock"),
            evidence,
        ),
    }
}

/// It is another worker's turn: known by its thread, or, where the holder is not told (metadata locks on MariaDB), by
/// the many rows it has changed and goes on changing.
fn waits_for_an_applier(scene: &Scene<'_>, wait: &LockWait, waits: &[LockWait]) -> bool {
    match wait.blocking_thread {
        Some(holder) => appliers_transactions(scene).any(|trx| trx.thread == holder),
        None => big_one_at_work(scene, waits).is_some(),
    }
}

/// An applier's transaction of many rows that waits for nothing itself.
fn big_one_at_work<'a>(scene: &Scene<'a>, waits: &[LockWait]) -> Option<&'a OpenTransaction> {
    let waits_itself = |trx: &OpenTransaction| {
        let in_its_state = |state: &str| state.starts_with("Waiting for");
        trx.state.as_deref().is_none_or(in_its_state)
            || waits.iter().any(|wait| wait.waiting_thread == trx.thread)
    };
    appliers_transactions(scene)
        .find(|trx| trx.rows_modified >= Some(FEW_ROWS) && !waits_itself(trx))
}

fn appliers_transactions<'a>(scene: &Scene<'a>) -> impl Iterator<Item = &'a OpenTransaction> {
    let all = scene.replica.sample.transactions.value();
    all.into_iter()
        .flatten()
        .filter(|trx| trx.owner == TransactionOwner::Applier)
}

fn applier_states<'a>(scene: &'a Scene<'a>) -> impl Iterator<Item = &'a str> {
    appliers_transactions(scene)
        .filter_map(|trx| trx.state.as_deref())
        .chain(scene.channel.applier_doing.as_deref())
}

/// Process list states of a thread that waits for a lock (MySQL 8.4 manual, 10.14.3 "General Thread States").
fn names_a_lock(state: &str) -> bool {
    const LOCKS: [&str; 7] = [
        "Waiting for global read lock",
        "Waiting for backup lock",
        "Waiting for commit lock",
        "Waiting for table metadata lock",
        "Waiting for table level lock",
        "Waiting for table flush",
        "Waiting for schema metadata lock",
    ];
    LOCKS.iter().any(|lock| state.contains(lock))
}

/// Something has been in hand for long and is not seen to be big, and who holds locks was not asked yet: the next poll
/// tells whether it works or waits.
fn waits_for_an_answer(scene: &Scene<'_>) -> bool {
    let sample = scene.replica.sample;
    let rows = biggest_applied(scene).and_then(|trx| trx.rows_modified);
    let is_told = sample.of_this_poll(&sample.lock_waits).is_some();
    let is_refused = sample.lock_waits.refused().is_some();
    !is_told
        && !is_refused
        && rows.is_none_or(|rows| rows < FEW_ROWS)
        && (long_in_hand(scene).is_some()
            || biggest_applied(scene).is_some_and(|trx| trx.age >= Some(LONG_IN_HAND)))
}

fn long_in_hand<'a>(scene: &'a Scene<'_>) -> Option<(&'a ApplierThread, Span)> {
    applier::applying(scene)
        .filter_map(|thread| Some((thread, age_in_hand(scene, thread)?)))
        .max_by_key(|(_, age)| *age)
        .filter(|(_, age)| *age >= LONG_IN_HAND)
}

fn big_transaction(scene: &Scene<'_>) -> Option<Cause> {
    let in_hand = long_in_hand(scene);
    let rows = biggest_applied(scene);
    match (in_hand, rows) {
        (None, None) => None,
        (Some((thread, age)), rows) => {
            let gtid = thread
                .applying
                .as_ref()
                .map(|t: &AppliedTransaction| t.gtid.clone())
                .unwrap_or_default();
            cause(
                CauseKind::BigTransaction,
                text_of_big(age, rows),
                vec![phrase("evidence.in_hand").with("gtid", gtid)],
            )
        }
        (None, Some(rows)) => {
            let age = rows.age.filter(|age| *age >= LONG_IN_HAND)?;
            cause(
                CauseKind::BigTransaction,
                text_of_big(age, Some(rows)),
                vec![],
            )
        }
    }
}

/// A small transaction that has been in hand for long is not what makes the replica late while reports run there.
fn small_behind_readers(scene: &Scene<'_>) -> Option<Cause> {
    let rows = biggest_applied(scene)?.rows_modified?;
    (rows < FEW_ROWS).then(|| slow_readers(scene))?
}

fn text_of_big(age: Span, trx: Option<&OpenTransaction>) -> Phrase {
    match trx
        .and_then(|trx| trx.rows_modified)
        .filter(|rows| *rows > 0)
    {
        Some(rows) => phrase("cause.big_transaction_rows")
            .with("age", age)
            .with("rows", rows),
        None => phrase("cause.big_transaction").with("age", age),
    }
}

fn age_in_hand(scene: &Scene<'_>, thread: &ApplierThread) -> Option<Span> {
    let started = thread
        .applying
        .as_ref()?
        .started?
        .on_our_clock(scene.replica.ahead_by());
    Some(scene.replica.sample.answered_at.since(started))
}

/// The open transaction of an applier thread with the most rows so far.
pub fn biggest_applied<'a>(scene: &'a Scene<'_>) -> Option<&'a OpenTransaction> {
    appliers_transactions(scene).max_by_key(|trx| trx.rows_modified)
}

/// The applier has nothing to do, yet the source has written more: it is on the way.
fn slow_network(scene: &Scene<'_>, backlog: &Backlog) -> Option<Cause> {
    on_the_way(scene, backlog, InHand::Nothing)
}

/// On a narrow network a transaction is in hand from its first event on, and waits there for its last: that it is in
/// hand for long does not make it big.
fn small_on_the_way(scene: &Scene<'_>, backlog: &Backlog) -> Option<Cause> {
    scene.replica.sample.transactions.value()?;
    let is_small = appliers_transactions(scene)
        .all(|trx| trx.rows_modified.is_some_and(|rows| rows < FEW_ROWS));
    is_small.then(|| on_the_way(scene, backlog, InHand::One))?
}

/// What the applier has of the transactions it misses.
#[derive(Clone, Copy)]
enum InHand {
    Nothing,
    One,
}

fn on_the_way(scene: &Scene<'_>, backlog: &Backlog, in_hand: InHand) -> Option<Cause> {
    let missing = missing_on_the_way(backlog, in_hand)?;
    let bytes = backlog::not_received(scene.source?.sample, scene.channel)?;
    (bytes > 0).then_some(())?;
    let text = phrase("cause.slow_network").with("bytes", Arg::Bytes(bytes));
    cause(
        CauseKind::SlowNetwork,
        text,
        vec![phrase("evidence.on_the_way").with("count", missing)],
    )
}

/// How many are missing, where more than what is in hand was not received.
fn missing_on_the_way(backlog: &Backlog, in_hand: InHand) -> Option<u64> {
    let missing = backlog.transactions?;
    let received = backlog.received?;
    (missing > 1 && received <= in_hand as u64).then_some(missing)
}

/// Reports that eat the replica's CPU look like lag (C-17): the data is fine, the machine is busy.
fn slow_readers(scene: &Scene<'_>) -> Option<Cause> {
    let reads = long_reads(scene.replica.sample)?;
    let text = phrase("cause.slow_readers")
        .with("count", reads.count)
        .with("age", reads.longest);
    cause(
        CauseKind::SlowReaders,
        text,
        reads.statement.map(quoted).into_iter().collect(),
    )
}

/// Queries that keep a replica busy.
pub struct LongReads<'a> {
    pub count: u64,
    pub longest: Span,
    /// Of the one that has run for longest.
    pub statement: Option<&'a str>,
}

/// Several long queries, or one beside other work; `None` too where the process list was not asked for.
pub fn long_reads(sample: &Sample) -> Option<LongReads<'_>> {
    let statements = sample.statements.value()?;
    let slow: Vec<_> = statements.iter().filter(|s| s.is_long_read()).collect();
    let worst = slow.iter().max_by_key(|s| s.age)?;
    let count = slow.len() as u64;
    let running = sample.status.value();
    let running = running.and_then(|s| s.number(&["threads_running"]));
    let beside_others = running.is_some_and(|running| running >= 2 + count);
    (beside_others || count >= 2).then_some(LongReads {
        count,
        longest: worst.age.unwrap_or(Span::ZERO),
        statement: worst.statement.as_deref(),
    })
}

fn too_few_workers(scene: &Scene<'_>, backlog: &Backlog) -> Option<Cause> {
    let waiting = backlog
        .received
        .or(backlog.transactions)
        .filter(|n| *n > 10)?;
    let sample = scene.replica.sample;
    let settings = sample.settings.value()?;
    let workers = settings.number(&[
        "replica_parallel_workers",
        "slave_parallel_workers",
        "slave_parallel_threads",
    ])?;
    let busy = applier::applying(scene).count() as u64;
    let text = match workers {
        0 | 1 => phrase("cause.one_worker"),
        workers if busy >= workers => phrase("cause.too_few_workers").with("workers", workers),
        _ => return None,
    };
    cause(
        CauseKind::TooFewWorkers,
        text,
        vec![phrase("evidence.waiting").with("count", waiting)],
    )
}

fn waiting_on_purpose(scene: &Scene<'_>) -> Option<Cause> {
    let delay = scene.channel.planned_delay;
    if delay <= Span::ZERO {
        return None;
    }
    let remaining = scene
        .channel
        .remaining_delay
        .map(|left| phrase("evidence.delay_left").with("left", left));
    cause(
        CauseKind::PlannedDelay,
        phrase("cause.planned_delay").with("delay", delay),
        remaining.into_iter().collect(),
    )
}

#[cfg(test)]
mod tests;
