//! A channel: what a replica is told about one source, the receiver that fetches from it and the applier.

use crate::model::time::{Moment, Span};

use super::NodeId;
use super::applier::Applier;
use super::filters::Filters;
use super::gtids::Having;
use super::receiver::Receiver;

/// `CHANGE REPLICATION SOURCE TO`.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceConfig {
    pub host: String,
    pub port: u16,
    pub user: String,
    /// Whom `host` and `port` lead to. Set by whoever knows the ports.
    pub target: Target,
    /// What the source says to that user and password.
    pub login: Login,
    pub auto_position: bool,
    /// MariaDB: `MASTER_USE_GTID = current_pos`, so that what was written here counts as had.
    pub from_current_pos: bool,
    pub connect_retry: Span,
    pub retry_count: u64,
    /// Zero: none are sent.
    pub heartbeat_period: Span,
    /// `SOURCE_DELAY`.
    pub delay_secs: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Node(NodeId),
    /// Nobody listens there.
    Nobody,
    UnknownHost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    Accepted,
    Refused { code: u16, message: String },
}

impl SourceConfig {
    /// One that leads to that server and differs from the server's defaults only in what every lab sets.
    pub fn to(node: NodeId, host: &str, port: u16) -> SourceConfig {
        SourceConfig {
            host: host.to_owned(),
            port,
            user: "repl".to_owned(),
            target: Target::Node(node),
            login: Login::Accepted,
            auto_position: true,
            from_current_pos: false,
            connect_retry: Span::from_secs(1),
            retry_count: 86_400,
            heartbeat_period: Span::from_secs(1),
            delay_secs: 0,
        }
    }
}

/// Why an order about replication was refused; the server's number and text are up to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 3074 / MariaDB 1617.
    NoSuchChannel,
    /// 1200 / 1794: not configured.
    NotConfigured,
    /// 3021, 3081, 1198: stop the receiver first.
    ReceiverRuns,
    /// 3085, 1198: stop the applier first.
    ApplierRuns,
    /// 1840: GTID_PURGED can only be set when … ; says what the server already has.
    GtidsPresent(String),
    /// 1373: no such binary log.
    NoSuchLog,
    /// The server is down.
    Down,
}

#[derive(Debug)]
pub(super) struct Channel {
    pub number: u64,
    pub name: String,
    pub config: SourceConfig,
    pub filters: Filters,
    pub receiver: Receiver,
    pub applier: Applier,
    pub relay: RelayLog,
}

impl Channel {
    pub fn new(number: u64, name: &str, config: SourceConfig, empty: Having, now: Moment) -> Self {
        Channel {
            number,
            name: name.to_owned(),
            config,
            filters: Filters::default(),
            receiver: Receiver::new(empty),
            applier: Applier::new(now),
            relay: RelayLog::default(),
        }
    }
}

/// Names and sizes only; what is in it waits in the applier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RelayLog {
    pub file: u32,
    pub position: u64,
    pub file_size: u64,
    pub space: u64,
}

/// The description and the GTIDs before it.
const RELAY_HEADER_BYTES: u64 = 158;

impl Default for RelayLog {
    fn default() -> Self {
        RelayLog {
            file: 1,
            position: 4,
            file_size: RELAY_HEADER_BYTES,
            space: RELAY_HEADER_BYTES,
        }
    }
}

impl RelayLog {
    /// Each start of the receiver begins a file.
    pub fn begin_file(&mut self) {
        self.file += 1;
        self.space += RELAY_HEADER_BYTES;
        self.file_size = RELAY_HEADER_BYTES;
        self.position = RELAY_HEADER_BYTES;
    }

    pub fn queued(&mut self, bytes: u64) {
        self.space += bytes;
        self.file_size += bytes;
    }

    /// Applied files are deleted; `left` is what waits.
    pub fn applied(&mut self, bytes: u64, left: u64) {
        self.position = (self.position + bytes).min(self.file_size);
        if left == 0 {
            self.position = self.file_size;
            self.space = self.file_size + RELAY_HEADER_BYTES;
        }
    }
}
