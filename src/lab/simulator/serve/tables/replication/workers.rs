//! Coordinators and workers: what each has done last and is doing.

use std::rc::Rc;

use super::super::super::super::sql::TableData;
use super::super::super::super::world::{
    AppliedTransaction, ApplyingTransaction, ProcessedTransaction, WorkerStatus,
};
use super::super::super::table::{BIGINT, INT, STAMP, TEXT};
use super::super::super::words_of_replication as words;
use super::{
    Column, Of, at, channel_name, empty, error_number, error_text, error_time, gtid, never, on,
    rows_about, thread,
};
use crate::model::time::ServerTime;

impl Of {
    fn applier_error(&self) -> Option<(u16, String)> {
        words::applier_error(self.generation, &self.status)
    }

    fn last_processed(&self) -> Option<&ProcessedTransaction> {
        self.status.applier.last_processed.as_ref()
    }
}

const COORDINATOR: &[Column<Of>] = &[
    ("CHANNEL_NAME", TEXT, channel_name),
    ("THREAD_ID", BIGINT, |of| {
        let applier = &of.status.applier;
        thread(applier.thread_id.filter(|_| applier.is_running))
    }),
    ("SERVICE_STATE", TEXT, |of| on(of.status.applier.is_running)),
    ("LAST_ERROR_NUMBER", INT, |of| {
        error_number(of.applier_error())
    }),
    ("LAST_ERROR_MESSAGE", TEXT, |of| {
        error_text(of.applier_error())
    }),
    ("LAST_ERROR_TIMESTAMP", STAMP, |of| {
        error_time(of.status.applier.error.as_ref())
    }),
    ("LAST_PROCESSED_TRANSACTION", TEXT, |of| {
        gtid(of.last_processed().map(|t| t.gtid))
    }),
    (
        "LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        STAMP,
        |of| at(of.last_processed().map(|t| t.original_commit)),
    ),
    (
        "LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        STAMP,
        |of| at(of.last_processed().map(|t| t.immediate_commit)),
    ),
    (
        "LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP",
        STAMP,
        |of| at(of.last_processed().map(|t| t.buffer_started)),
    ),
    (
        "LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP",
        STAMP,
        |of| at(of.last_processed().map(|t| t.buffer_ended)),
    ),
    ("PROCESSING_TRANSACTION", TEXT, empty),
    (
        "PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        STAMP,
        never,
    ),
    (
        "PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        STAMP,
        never,
    ),
    (
        "PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP",
        STAMP,
        never,
    ),
];

/// 5.7 and MariaDB stop after the error.
const OLD_COORDINATOR: usize = 6;

/// Without workers there is no coordinator: no row.
pub fn coordinators(is_new: bool, all: &[Rc<Of>]) -> TableData {
    let columns = match is_new {
        true => COORDINATOR,
        false => &COORDINATOR[..OLD_COORDINATOR],
    };
    let has_workers = |of: &&Rc<Of>| !of.status.applier.workers.is_empty();
    rows_about(columns, all.iter().filter(has_workers).cloned())
}

/// A worker of a channel; the applier itself where it has none.
struct OfWorker {
    of: Rc<Of>,
    worker: WorkerStatus,
}

impl OfWorker {
    fn error(&self) -> Option<(u16, String)> {
        let problem = &self.worker.error.as_ref()?.problem;
        let (generation, config) = (self.of.generation, &self.of.status.config);
        Some(words::worker_error(generation, problem, config))
    }

    fn last(&self) -> Option<&AppliedTransaction> {
        self.worker.last_applied.as_ref()
    }

    fn now(&self) -> Option<&ApplyingTransaction> {
        self.worker.applying.as_ref()
    }

    fn transient(&self) -> Option<(u16, ServerTime)> {
        self.now()?.last_transient_error
    }
}

const WORKER: &[Column<OfWorker>] = &[
    ("CHANNEL_NAME", TEXT, |it| channel_name(&it.of)),
    ("WORKER_ID", BIGINT, |it| it.worker.number.into()),
    ("THREAD_ID", BIGINT, |it| {
        thread(it.worker.thread_id.filter(|_| it.worker.is_running))
    }),
    ("SERVICE_STATE", TEXT, |it| on(it.worker.is_running)),
    ("LAST_ERROR_NUMBER", INT, |it| error_number(it.error())),
    ("LAST_ERROR_MESSAGE", TEXT, |it| error_text(it.error())),
    ("LAST_ERROR_TIMESTAMP", STAMP, |it| {
        error_time(it.worker.error.as_ref())
    }),
    ("LAST_APPLIED_TRANSACTION", TEXT, |it| {
        gtid(it.last().map(|t| t.gtid))
    }),
    (
        "LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        STAMP,
        |it| at(it.last().map(|t| t.original_commit)),
    ),
    (
        "LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        STAMP,
        |it| at(it.last().map(|t| t.immediate_commit)),
    ),
    (
        "LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP",
        STAMP,
        |it| at(it.last().map(|t| t.started)),
    ),
    (
        "LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP",
        STAMP,
        |it| at(it.last().map(|t| t.ended)),
    ),
    ("APPLYING_TRANSACTION", TEXT, |it| {
        gtid(it.now().map(|t| t.gtid))
    }),
    (
        "APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        STAMP,
        |it| at(it.now().map(|t| t.original_commit)),
    ),
    (
        "APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        STAMP,
        |it| at(it.now().map(|t| t.immediate_commit)),
    ),
    ("APPLYING_TRANSACTION_START_APPLY_TIMESTAMP", STAMP, |it| {
        at(it.now().map(|t| t.started))
    }),
    ("LAST_APPLIED_TRANSACTION_RETRIES_COUNT", BIGINT, |it| {
        it.last().map_or(0, |t| t.retries).into()
    }),
    (
        "LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER",
        INT,
        |_| 0_u32.into(),
    ),
    (
        "LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE",
        TEXT,
        empty,
    ),
    (
        "LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP",
        STAMP,
        never,
    ),
    ("APPLYING_TRANSACTION_RETRIES_COUNT", BIGINT, |it| {
        it.now().map_or(0, |t| t.retries).into()
    }),
    (
        "APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER",
        INT,
        |it| u32::from(it.transient().map_or(0, |(code, _)| code)).into(),
    ),
    (
        "APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE",
        TEXT,
        |it| {
            let text = |_| "Lock wait timeout exceeded; try restarting transaction";
            it.transient().map_or("", text).into()
        },
    ),
    (
        "APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP",
        STAMP,
        |it| at(it.transient().map(|(_, at)| at)),
    ),
];

/// 5.7, and MariaDB by another name, tell only the transaction seen last; MariaDB calls the connection so too.
const OLD_WORKER: &[Column<OfWorker>] = &[
    ("CHANNEL_NAME", TEXT, |it| channel_name(&it.of)),
    ("WORKER_ID", BIGINT, |it| it.worker.number.into()),
    ("THREAD_ID", BIGINT, |it| {
        thread(it.worker.thread_id.filter(|_| it.worker.is_running))
    }),
    ("SERVICE_STATE", TEXT, |it| on(it.worker.is_running)),
    ("LAST_SEEN_TRANSACTION", TEXT, |it| {
        let applying = it.now().map(|t| t.gtid);
        gtid(applying.or(it.last().map(|t| t.gtid)))
    }),
    ("LAST_ERROR_NUMBER", INT, |it| error_number(it.error())),
    ("LAST_ERROR_MESSAGE", TEXT, |it| error_text(it.error())),
    ("LAST_ERROR_TIMESTAMP", STAMP, |it| {
        error_time(it.worker.error.as_ref())
    }),
];

pub fn workers(is_new: bool, all: &[Rc<Of>]) -> TableData {
    let each = |of: &Rc<Of>| {
        let applier = &of.status.applier;
        let workers = applier.workers.iter().chain(&applier.single).cloned();
        let of = workers.map(|worker| {
            Rc::new(OfWorker {
                of: Rc::clone(of),
                worker,
            })
        });
        of.collect::<Vec<_>>()
    };
    let columns = if is_new { WORKER } else { OLD_WORKER };
    rows_about(columns, all.iter().flat_map(each))
}
