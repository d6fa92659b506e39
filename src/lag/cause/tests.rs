use super::*;
use crate::health::build::{NOW, channel, known, measured, sample};
use crate::lag::{HeartbeatReading, Side};
use crate::model::lag::Method;
use crate::model::replication::Channel;
use crate::model::sample::{Answer, Named, RunningStatement, Sample};
use crate::model::server::WatchId;

const REPORT: &str = "SELECT status, COUNT(*) FROM shop.orders GROUP BY status";

/// A replica with nothing wrong, to be spoilt one fact at a time.
struct Replica {
    sample: Sample,
    channel: Channel,
}

fn replica() -> Replica {
    let mut replica = Replica {
        sample: sample(2),
        channel: channel(""),
    };
    replica.running_threads(2);
    replica
}

impl Replica {
    /// What the server counts as running, our own session among it.
    fn running_threads(&mut self, count: u64) {
        let pair = ("threads_running".to_owned(), count.to_string());
        self.sample.status = known(Named([pair].into_iter().collect()));
    }

    fn statements(&mut self, statements: Vec<RunningStatement>) {
        self.sample.statements = known(statements);
    }

    /// In the applier's hand for a minute, with so many rows so far.
    fn applies(&mut self, rows: Option<u64>) {
        self.sample.transactions = known(vec![OpenTransaction {
            id: "1".into(),
            owner: TransactionOwner::Applier,
            thread: 7,
            started: None,
            age: Some(Span::from_secs(60)),
            rows_modified: rows,
            rows_locked: None,
            statement: None,
            user: None,
            host: None,
            state: None,
        }]);
    }

    fn cause_at(&self, lag: Span) -> Option<Cause> {
        let scene = Scene {
            now: NOW,
            channel: &self.channel,
            replica: Side {
                watch: WatchId(2),
                sample: &self.sample,
                clock: None,
            },
            source: None,
            source_missing: None,
            ledger: None,
            heartbeat: &HeartbeatReading::default(),
            recent: &[],
        };
        of(
            &scene,
            &measured(Method::GtidMarks, lag),
            &Backlog::default(),
        )
    }

    fn cause(&self) -> Option<CauseKind> {
        self.cause_at(Span::from_secs(5)).map(|cause| cause.kind)
    }
}

fn read_for(age: Span) -> RunningStatement {
    RunningStatement {
        thread: 20,
        user: "app".into(),
        host: "localhost".into(),
        command: "Query".into(),
        age: Some(age),
        state: None,
        statement: Some(REPORT.into()),
    }
}

fn slow_read() -> RunningStatement {
    read_for(Span::from_secs(40))
}

const READERS: Option<CauseKind> = Some(CauseKind::SlowReaders);
const BIG: Option<CauseKind> = Some(CauseKind::BigTransaction);

#[test]
fn nothing_is_called_big_before_the_locks_were_asked_for() {
    let late = Span::from_secs(3);
    let kind = |replica: &Replica| replica.cause_at(late).map(|cause| cause.kind);
    let mut replica = replica();
    replica.sample.lock_waits = Answer::NotAsked {
        why: phrase("trouble.not_asked.not_suspicious"),
    };
    for few in [None, Some(3)] {
        replica.applies(few);
        assert_eq!(kind(&replica), None, "{few:?}");
    }
    replica.applies(Some(524_288));
    assert_eq!(
        kind(&replica),
        Some(CauseKind::BigTransaction),
        "that many are"
    );
    replica.applies(None);
    replica.sample.lock_waits = Answer::Known {
        value: vec![],
        at: NOW - Span::from_secs(9),
    };
    assert_eq!(kind(&replica), None, "an answer of long ago is none");
    replica.sample.lock_waits = known(vec![]);
    assert_eq!(
        kind(&replica),
        Some(CauseKind::BigTransaction),
        "nobody blocks it"
    );
}

#[test]
fn a_read_is_slow_from_five_seconds_on() {
    for (age, expected) in [
        (Span::from_millis(4_999), None),
        (Span::from_secs(5), READERS),
    ] {
        let mut replica = replica();
        replica.statements(vec![read_for(age); 2]);
        assert_eq!(replica.cause(), expected, "{age:?}");
    }
}

#[test]
fn one_slow_read_must_have_company_and_two_are_enough() {
    for (reads, running, expected) in [
        (1, 2, None),
        (1, 3, READERS),
        (2, 2, READERS),
        (0, 40, None),
    ] {
        let mut replica = replica();
        replica.statements(vec![slow_read(); reads]);
        replica.running_threads(running);
        assert_eq!(replica.cause(), expected, "{reads} of {running}");
    }
}

#[test]
fn the_longest_read_is_quoted_and_all_are_counted() {
    let mut replica = replica();
    let longest = RunningStatement {
        statement: Some("SELECT 1 FROM shop.orders".into()),
        ..read_for(Span::from_secs(90))
    };
    replica.statements(vec![slow_read(), longest, slow_read()]);
    let cause = replica.cause_at(Span::from_secs(5));
    let expected = Cause {
        kind: CauseKind::SlowReaders,
        text: phrase("cause.slow_readers")
            .with("count", 3)
            .with("age", Span::from_secs(90)),
        evidence: vec![quoted("SELECT 1 FROM shop.orders")],
    };
    assert_eq!(cause, Some(expected));
}

#[test]
fn only_reads_of_others_are_reports() {
    let said = |statement: &str| RunningStatement {
        statement: Some(statement.into()),
        ..slow_read()
    };
    let cases = [
        (said("select 1"), true),
        (said("(\n  SELECT 1)"), true),
        (said("WITH t AS (SELECT 1) SELECT * FROM t"), true),
        (said("UPDATE shop.orders SET amount = 1"), false),
        (said("sel"), false),
        (said("表"), false),
        (
            RunningStatement {
                statement: None,
                ..slow_read()
            },
            false,
        ),
        (
            RunningStatement {
                age: None,
                ..slow_read()
            },
            false,
        ),
        (
            RunningStatement {
                user: "system user".into(),
                ..slow_read()
            },
            false,
        ),
    ];
    for (statement, is_report) in cases {
        let mut replica = replica();
        replica.statements(vec![statement.clone(); 2]);
        let expected = READERS.filter(|_| is_report);
        assert_eq!(replica.cause(), expected, "{statement:?}");
    }
}

/// A small transaction in hand for long waits like everybody else.
#[test]
fn reports_excuse_a_transaction_of_fewer_than_a_thousand_rows() {
    for (rows, expected) in [
        (Some(0), READERS),
        (Some(999), READERS),
        (Some(1_000), BIG),
        // nobody says how big it is
        (None, BIG),
    ] {
        let mut replica = replica();
        replica.applies(rows);
        replica.statements(vec![slow_read(); 2]);
        assert_eq!(replica.cause(), expected, "{rows:?} rows");
    }
}

#[test]
fn a_small_transaction_without_reports_is_what_all_wait_for() {
    let mut replica = replica();
    replica.applies(Some(999));
    assert_eq!(replica.cause(), BIG);
}

#[test]
fn under_a_second_of_lag_nobody_is_to_blame() {
    let mut replica = replica();
    replica.statements(vec![slow_read(); 2]);
    let kind = |lag| replica.cause_at(lag).map(|cause| cause.kind);
    assert_eq!(kind(Span::from_millis(999)), None);
    assert_eq!(kind(Span::from_secs(1)), READERS);
}

#[test]
fn a_delayed_replica_needs_no_other_reason_for_two_seconds_more() {
    let mut replica = replica();
    replica.statements(vec![slow_read(); 2]);
    replica.channel.planned_delay = Span::from_secs(60);
    let kind = |lag| replica.cause_at(lag).map(|cause| cause.kind);
    let planned = Some(CauseKind::PlannedDelay);
    assert_eq!(kind(Span::ZERO), planned);
    assert_eq!(kind(Span::from_millis(2_999)), planned);
    assert_eq!(kind(Span::from_secs(3)), READERS);
}

#[test]
fn a_lock_is_a_reason_on_a_delayed_replica_too() {
    let mut replica = replica();
    replica.channel.planned_delay = Span::from_secs(60);
    replica.channel.applier_doing = Some("Waiting for global read lock".into());
    let kind = |lag| replica.cause_at(lag).map(|cause| cause.kind);
    assert_eq!(kind(Span::from_millis(999)), Some(CauseKind::PlannedDelay));
    assert_eq!(kind(Span::from_secs(1)), Some(CauseKind::BlockedByLock));
}

#[test]
fn a_lock_hides_the_readers_behind_it() {
    let mut replica = replica();
    replica.statements(vec![slow_read(); 2]);
    replica.channel.applier_doing = Some("Waiting for table metadata lock".into());
    assert_eq!(replica.cause(), Some(CauseKind::BlockedByLock));
}

/// A statement that changes a table's form waits behind the big transaction of another worker, and the small ones keep
/// their turn (seen on a lab of MariaDB 10.11).
#[test]
fn a_worker_that_waits_for_a_worker_is_not_what_all_wait_for() {
    const METADATA: &str = "Waiting for table metadata lock";
    const WRITES: &str = "Write_rows_log_event::write_row(-1) on table `shop`.`bulk`";
    let lock = Some(CauseKind::BlockedByLock);
    let cases = [
        // of the big one: its rows, its state; the thread that holds what thread 11 waits for
        (524_288, Some(WRITES), None, BIG),
        (524_288, Some(WRITES), Some(7), BIG),
        (524_288, Some(METADATA), Some(7), lock),
        (999, Some(WRITES), None, lock),
        (524_288, Some(METADATA), None, lock),
        (
            524_288,
            Some("Waiting for prior transaction to commit"),
            None,
            lock,
        ),
        (524_288, None, None, lock),
        (524_288, Some(WRITES), Some(55), lock),
    ];
    for (rows, state, holder, expected) in cases {
        let mut replica = replica();
        replica.applies(Some(rows));
        if let Answer::Known { value, .. } = &mut replica.sample.transactions {
            value[0].state = state.map(str::to_owned);
        }
        replica.sample.lock_waits = known(vec![wait_of(11, holder)]);
        assert_eq!(replica.cause(), expected, "{rows} {state:?} {holder:?}");
    }
}

#[test]
fn a_big_transaction_that_waits_for_a_lock_itself_is_blocked() {
    let mut replica = replica();
    replica.applies(Some(524_288));
    if let Answer::Known { value, .. } = &mut replica.sample.transactions {
        value[0].state = Some("Applying batch of row changes (write)".into());
    }
    replica.sample.lock_waits = known(vec![wait_of(7, Some(55))]);
    assert_eq!(replica.cause(), Some(CauseKind::BlockedByLock));
}

fn wait_of(waiting_thread: u64, blocking_thread: Option<u64>) -> LockWait {
    LockWait {
        waiting_thread,
        waiter_is_applier: true,
        object: Some("Waiting for table metadata lock".into()),
        waited: Some(Span::from_secs(1)),
        blocking_thread,
        blocking_user: None,
        blocking_statement: None,
    }
}

#[test]
fn what_is_in_hand_on_a_narrow_network_is_not_what_the_others_wait_for() {
    let missing = |transactions, received, in_hand| {
        let backlog = Backlog {
            transactions: Some(transactions),
            received: Some(received),
            bytes: None,
        };
        missing_on_the_way(&backlog, in_hand)
    };
    assert_eq!(missing(9, 0, InHand::Nothing), Some(9));
    assert_eq!(missing(9, 1, InHand::Nothing), None);
    assert_eq!(missing(9, 1, InHand::One), Some(9));
    assert_eq!(missing(9, 2, InHand::One), None, "the applier is slow");
    assert_eq!(missing(1, 1, InHand::One), None, "nothing else is missing");
}
