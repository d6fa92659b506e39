//! Why a replica is late or silent, with what shows it. Asked in the order in which one cause hides another: a
//! stopped thread explains everything below it.

use super::{Scene, applier, backlog};
use crate::model::lag::{Backlog, Cause, CauseKind, Reading};
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::replication::{AppliedTransaction, ApplierThread, ThreadState};
use crate::model::sample::{OpenTransaction, TransactionOwner};
use crate::model::time::Span;

/// Under this a lag needs no explanation.
const WORTH_EXPLAINING: Span = Span::from_millis(1_000);

/// A transaction in hand for this long is what everybody behind it waits for.
const LONG_IN_HAND: Span = Span::from_millis(1_000);

/// A read that runs this long may be what eats the replica's CPU.
const SLOW_READ: Span = Span::from_secs(5);

pub fn of(scene: &Scene<'_>, headline: &Reading, backlog: &Backlog) -> Option<Cause> {
    if let Some(cause) = thread_cause(scene) {
        return Some(cause);
    }
    if headline.value().is_some_and(|lag| lag < WORTH_EXPLAINING) {
        return waiting_on_purpose(scene);
    }
    blocked_by_lock(scene)
        .or_else(|| big_transaction(scene))
        .or_else(|| slow_network(scene, backlog))
        .or_else(|| slow_readers(scene))
        .or_else(|| too_few_workers(scene, backlog))
        .or_else(|| waiting_on_purpose(scene))
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

fn quoted(text: &str) -> Phrase {
    phrase("evidence.server_says").with("text", text)
}

/// The applier waits for a lock. MySQL says so in the thread's state; who holds it is asked while something is late.
fn blocked_by_lock(scene: &Scene<'_>) -> Option<Cause> {
    let wait = scene.replica.sample.lock_waits.value().and_then(|waits| {
        waits
            .iter()
            .filter(|wait| wait.waiter_is_applier)
            .max_by_key(|wait| wait.waited)
    });
    let state = applier_states(scene).find(|state| names_a_lock(state));
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

fn applier_states<'a>(scene: &'a Scene<'_>) -> impl Iterator<Item = &'a str> {
    let of_transactions = scene
        .replica
        .sample
        .transactions
        .value()
        .into_iter()
        .flatten();
    let states = of_transactions
        .filter(|trx| trx.owner == TransactionOwner::Applier)
        .filter_map(|trx| trx.state.as_deref());
    let statements = scene
        .replica
        .sample
        .statements
        .value()
        .into_iter()
        .flatten();
    let of_statements = statements
        .filter(|s| s.user == "system user")
        .filter_map(|s| s.state.as_deref());
    states
        .chain(of_statements)
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

fn big_transaction(scene: &Scene<'_>) -> Option<Cause> {
    let in_hand = applier::applying(scene)
        .filter_map(|thread| Some((thread, age_in_hand(scene, thread)?)))
        .max_by_key(|(_, age)| *age)
        .filter(|(_, age)| *age >= LONG_IN_HAND);
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
    let transactions = scene.replica.sample.transactions.value()?;
    transactions
        .iter()
        .filter(|trx| trx.owner == TransactionOwner::Applier)
        .max_by_key(|trx| trx.rows_modified)
}

/// The applier has nothing to do, yet the source has written more: it is on the way.
fn slow_network(scene: &Scene<'_>, backlog: &Backlog) -> Option<Cause> {
    let missing = backlog.transactions.filter(|n| *n > 0)?;
    let received = backlog.received?;
    let bytes = backlog::not_received(scene.source?.sample, scene.channel)?;
    (received == 0 && missing > 1 && bytes > 0).then_some(())?;
    let text = phrase("cause.slow_network").with("bytes", Arg::Bytes(bytes));
    cause(
        CauseKind::SlowNetwork,
        text,
        vec![phrase("evidence.on_the_way").with("count", missing)],
    )
}

/// Reports that eat the replica's CPU look like lag (C-17): the data is fine, the machine is busy.
fn slow_readers(scene: &Scene<'_>) -> Option<Cause> {
    let statements = scene.replica.sample.statements.value()?;
    let slow: Vec<_> = statements
        .iter()
        .filter(|s| s.user != "system user" && s.age.is_some_and(|age| age >= SLOW_READ))
        .filter(|s| s.statement.as_deref().is_some_and(reads))
        .collect();
    let worst = slow.iter().max_by_key(|s| s.age)?;
    let running = scene
        .replica
        .sample
        .status
        .value()
        .and_then(|s| s.number(&["threads_running"]))?;
    (running >= 2 + slow.len() as u64 || slow.len() >= 2).then_some(())?;
    let text = phrase("cause.slow_readers")
        .with("count", slow.len() as u64)
        .with("age", worst.age.unwrap_or(Span::ZERO));
    cause(
        CauseKind::SlowReaders,
        text,
        worst.statement.as_deref().map(quoted).into_iter().collect(),
    )
}

fn reads(statement: &str) -> bool {
    let word = statement
        .trim_start_matches(['(', ' ', '\n', '\t'])
        .get(..6)
        .unwrap_or_default();
    word.eq_ignore_ascii_case("select") || word.to_ascii_lowercase().starts_with("with ")
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
