//! How receivers are connected, and to what.

use std::rc::Rc;

use super::super::super::super::sql::{ColumnType, TableData};
use super::super::super::super::world::{QueuedTransaction, Running};
use super::super::super::generation::Habits;
use super::super::super::settings::gtids;
use super::super::super::table::{BIGINT, INT, STAMP, TEXT};
use super::super::super::words_of_replication as words;
use super::{
    Column, Of, at, channel_name, empty, error_number, error_text, error_time, gtid, null,
    rows_about, thread,
};
use crate::model::lab::Generation;

impl Of {
    fn receiver_error(&self) -> Option<(u16, String)> {
        let error = self.status.receiver.error.as_ref()?;
        Some(words::told(
            self.generation,
            &error.problem,
            &self.status.config,
        ))
    }

    fn last_queued(&self) -> Option<&QueuedTransaction> {
        self.status.receiver.last_queued.as_ref()
    }

    fn queueing(&self) -> Option<&QueuedTransaction> {
        self.status.receiver.queueing.as_ref()
    }
}

const STATUS: &[Column<Of>] = &[
    ("CHANNEL_NAME", TEXT, channel_name),
    ("GROUP_NAME", TEXT, empty),
    ("SOURCE_UUID", TEXT, |of| gtid(of.status.source_uuid)),
    ("THREAD_ID", BIGINT, |of| {
        thread(of.status.receiver.thread_id)
    }),
    ("SERVICE_STATE", TEXT, |of| {
        match of.status.receiver.running {
            Running::Yes => "ON",
            Running::Connecting => "CONNECTING",
            Running::No => "OFF",
        }
        .into()
    }),
    ("COUNT_RECEIVED_HEARTBEATS", BIGINT, |of| {
        of.status.receiver.heartbeats_received.into()
    }),
    ("LAST_HEARTBEAT_TIMESTAMP", STAMP, |of| {
        at(of.status.receiver.last_heartbeat)
    }),
    ("RECEIVED_TRANSACTION_SET", TEXT, |of| {
        gtids(&of.status.retrieved).into()
    }),
    ("LAST_ERROR_NUMBER", INT, |of| {
        error_number(of.receiver_error())
    }),
    ("LAST_ERROR_MESSAGE", TEXT, |of| {
        error_text(of.receiver_error())
    }),
    ("LAST_ERROR_TIMESTAMP", STAMP, |of| {
        error_time(of.status.receiver.error.as_ref())
    }),
    ("LAST_QUEUED_TRANSACTION", TEXT, |of| {
        gtid(of.last_queued().map(|t| t.gtid))
    }),
    (
        "LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        STAMP,
        |of| at(of.last_queued().map(|t| t.original_commit)),
    ),
    (
        "LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        STAMP,
        |of| at(of.last_queued().map(|t| t.immediate_commit)),
    ),
    (
        "LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP",
        STAMP,
        |of| at(of.last_queued().map(|t| t.started)),
    ),
    ("LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP", STAMP, |of| {
        at(of.last_queued().and_then(|t| t.ended))
    }),
    ("QUEUEING_TRANSACTION", TEXT, |of| {
        gtid(of.queueing().map(|t| t.gtid))
    }),
    (
        "QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        STAMP,
        |of| at(of.queueing().map(|t| t.original_commit)),
    ),
    (
        "QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        STAMP,
        |of| at(of.queueing().map(|t| t.immediate_commit)),
    ),
    ("QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP", STAMP, |of| {
        at(of.queueing().map(|t| t.started))
    }),
];

/// 5.7 stops after the error.
const STATUS_OF_57: usize = 11;

pub fn status(generation: Generation, all: &[Rc<Of>]) -> TableData {
    let columns = match generation {
        Generation::MySql57 => &STATUS[..STATUS_OF_57],
        _ => STATUS,
    };
    rows_about(columns, all.iter().cloned())
}

const CONFIGURATION: &[Column<Of>] = &[
    ("CHANNEL_NAME", TEXT, channel_name),
    ("HOST", TEXT, |of| of.status.config.host.clone().into()),
    ("PORT", INT, |of| u32::from(of.status.config.port).into()),
    ("USER", TEXT, |of| of.status.config.user.clone().into()),
    ("NETWORK_INTERFACE", TEXT, empty),
    ("AUTO_POSITION", TEXT, |of| {
        if of.status.config.auto_position {
            "1"
        } else {
            "0"
        }
        .into()
    }),
    ("SSL_ALLOWED", TEXT, |of| {
        if of.generation.forgot_slave() {
            "YES"
        } else {
            "NO"
        }
        .into()
    }),
    ("SSL_CA_FILE", TEXT, empty),
    ("SSL_CA_PATH", TEXT, empty),
    ("SSL_CERTIFICATE", TEXT, empty),
    ("SSL_CIPHER", TEXT, empty),
    ("SSL_KEY", TEXT, empty),
    ("SSL_VERIFY_SERVER_CERTIFICATE", TEXT, |_| "NO".into()),
    ("SSL_CRL_FILE", TEXT, empty),
    ("SSL_CRL_PATH", TEXT, empty),
    ("CONNECTION_RETRY_INTERVAL", INT, |of| {
        (of.status.config.connect_retry.micros() / 1_000_000).into()
    }),
    ("CONNECTION_RETRY_COUNT", BIGINT, |of| {
        of.status.config.retry_count.into()
    }),
    ("HEARTBEAT_INTERVAL", ColumnType::Double, |of| {
        of.status.config.heartbeat_period.secs_f64().into()
    }),
    ("TLS_VERSION", TEXT, empty),
    ("PUBLIC_KEY_PATH", TEXT, empty),
    ("GET_PUBLIC_KEY", TEXT, |_| "YES".into()),
    ("NETWORK_NAMESPACE", TEXT, empty),
    ("COMPRESSION_ALGORITHM", TEXT, |_| "uncompressed".into()),
    ("ZSTD_COMPRESSION_LEVEL", INT, |_| 3_u32.into()),
    ("TLS_CIPHERSUITES", TEXT, null),
    ("SOURCE_CONNECTION_AUTO_FAILOVER", TEXT, |_| "0".into()),
    ("GTID_ONLY", TEXT, |_| "0".into()),
];

const CONFIGURATION_OF_57: usize = 19;

pub fn configuration(generation: Generation, all: &[Rc<Of>]) -> TableData {
    let columns = match generation {
        Generation::MySql57 => &CONFIGURATION[..CONFIGURATION_OF_57],
        _ => CONFIGURATION,
    };
    rows_about(columns, all.iter().cloned())
}
