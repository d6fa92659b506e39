//! What the threads of replication say they are doing, and what went wrong: in the words of each generation.

use super::super::world::{
    ApplierState, Attempt, Blocked, ChannelStatus, Goal, LogPosition, Problem, ReceiverState,
    SourceConfig, WorkerState,
};
use super::generation::Habits;
use crate::model::lab::Generation;

/// `Source` and `Replica` as this generation calls them in sentences.
struct Roles {
    source: &'static str,
    replica: &'static str,
    /// At the beginning of a sentence.
    replica_first: &'static str,
}

/// 8.0 uses the old words in sentences until 8.0.26; the one played is later.
fn roles(generation: Generation) -> Roles {
    if generation.says_slave() {
        Roles {
            source: "master",
            replica: "slave",
            replica_first: "Slave",
        }
    } else {
        Roles {
            source: "source",
            replica: "replica",
            replica_first: "Replica",
        }
    }
}

pub fn receiver_state(generation: Generation, state: ReceiverState) -> String {
    let source = roles(generation).source;
    match state {
        ReceiverState::Stopped => String::new(),
        ReceiverState::Connecting => format!("Connecting to {source}"),
        ReceiverState::Reconnecting => format!("Reconnecting after a failed {source} event read"),
        ReceiverState::Waiting => format!("Waiting for {source} to send event"),
        ReceiverState::Queueing => format!("Queueing {source} event to the relay log"),
    }
}

pub fn applier_state(generation: Generation, state: ApplierState) -> String {
    let Roles {
        source,
        replica,
        replica_first,
    } = roles(generation);
    match state {
        ApplierState::Stopped => String::new(),
        ApplierState::ReadAll => {
            format!("{replica_first} has read all relay log; waiting for more updates")
        }
        ApplierState::Delaying => format!(
            "Waiting until {}_DELAY seconds after {source} executed event",
            source.to_ascii_uppercase()
        ),
        ApplierState::Reading => "Reading event from the relay log".to_owned(),
        ApplierState::WaitingForDependency => {
            "Waiting for dependent transaction to commit".to_owned()
        }
        ApplierState::WaitingForWorkers if generation.is_mariadb() => {
            "Waiting for room in worker thread event queue".to_owned()
        }
        ApplierState::WaitingForWorkers => {
            format!("Waiting for {replica} workers to process their queues")
        }
        ApplierState::Applying => "System lock".to_owned(),
    }
}

pub fn worker_state(generation: Generation, state: &WorkerState) -> &'static str {
    match state {
        WorkerState::Stopped => "",
        WorkerState::Idle if generation.is_mariadb() => "Waiting for work from SQL thread",
        WorkerState::Idle => "Waiting for an event from Coordinator",
        WorkerState::Applying if generation.is_mariadb() => "Update_rows_log_event::ha_update_row",
        WorkerState::Applying => "Applying batch of row changes (update)",
        WorkerState::WaitingForLock { on, .. } => lock_state(&on.what),
        WorkerState::WaitingForOrder if generation.is_mariadb() => {
            "Waiting for prior transaction to commit"
        }
        WorkerState::WaitingForOrder => "Waiting for preceding transaction to commit",
        WorkerState::Committing if generation.is_mariadb() => "Commit",
        WorkerState::Committing => "waiting for handler commit",
        WorkerState::WaitingForReceipt if generation.says_slave() => {
            "Waiting for semi-sync ACK from slave"
        }
        WorkerState::WaitingForReceipt => "Waiting for semi-sync ACK from replica",
    }
}

/// The process list's word for a wait; rows are waited for inside the storage engine, which it does not see.
pub fn lock_state(on: &Blocked) -> &'static str {
    match on {
        Blocked::Global => "Waiting for global read lock",
        Blocked::Table(_) => "Waiting for table metadata lock",
        Blocked::Row(_) => "updating",
    }
}

/// `Until_Condition` and what goes with it.
pub struct UntilColumns {
    pub condition: &'static str,
    pub file: String,
    pub position: u64,
}

pub fn until(generation: Generation, goal: Option<&Goal>) -> UntilColumns {
    let condition = match goal {
        None => "None",
        Some(Goal::Position(_)) if generation.says_slave() => "Master",
        Some(Goal::Position(_)) => "Source",
        Some(_) if generation.is_mariadb() => "Gtid",
        Some(Goal::Before(_)) => "SQL_BEFORE_GTIDS",
        Some(Goal::After(_)) => "SQL_AFTER_GTIDS",
    };
    let at = match goal {
        Some(Goal::Position(at)) => at.clone(),
        _ => LogPosition::default(),
    };
    UntilColumns {
        condition,
        file: at.file,
        position: at.position,
    }
}

/// Number and text of an error, as `Last_IO_Error` or a worker's row have it.
pub fn told(generation: Generation, problem: &Problem, config: &SourceConfig) -> (u16, String) {
    let connecting =
        |attempt: &Attempt, message: String| connect_error(generation, config, attempt, &message);
    // 8.0 renumbered what the source tells when it refuses to send.
    let (fatal, equal_ids) = match generation.says_slave() {
        true => (1236, 1593),
        false => (13114, 13117),
    };
    match problem {
        Problem::CannotConnect { os_error, attempt } => {
            let message = cannot_connect(generation, config, *os_error);
            (2003, connecting(attempt, message))
        }
        Problem::LostConnection { attempt } => {
            let message = lost_connection(generation);
            (2013, connecting(attempt, message))
        }
        Problem::UnknownHost { attempt } => {
            let server = if generation.is_mariadb() {
                ""
            } else {
                "MySQL "
            };
            let message = format!("Unknown {server}server host '{}' (-2)", config.host);
            (2005, connecting(attempt, message))
        }
        Problem::LoginRefused {
            code,
            message,
            attempt,
        } => (*code, connecting(attempt, message.clone())),
        Problem::PurgedLogs { missing, sent } => (fatal, purged(generation, missing, sent)),
        Problem::ReplicaAhead { ahead } => (fatal, replica_ahead(generation, ahead)),
        Problem::EqualServerIds => (equal_ids, equal_server_ids(generation)),
        Problem::Apply { code, message, .. } => {
            (*code, format!("{message}{}", at(generation, problem)))
        }
    }
}

fn cannot_connect(generation: Generation, config: &SourceConfig, os_error: i32) -> String {
    let (host, port) = (&config.host, config.port);
    if !generation.is_mariadb() {
        return format!("Can't connect to MySQL server on '{host}:{port}' ({os_error})");
    }
    let word = match os_error {
        111 => "\"Connection refused\"",
        _ => "\"Connection timed out\"",
    };
    format!("Can't connect to server on '{host}' ({os_error} {word})")
}

fn lost_connection(generation: Generation) -> String {
    let server = if generation.is_mariadb() {
        "server"
    } else {
        "MySQL server"
    };
    format!(
        "Lost connection to {server} at 'reading initial communication packet', system error: 0"
    )
}

fn replica_ahead(generation: Generation, ahead: &str) -> String {
    if generation.is_mariadb() {
        return format!(
            "Got fatal error 1236 from master when reading data from binary log: 'Error: connecting slave requested to \
             start from GTID {ahead}, which is not in the master's binlog'"
        );
    }
    let Roles {
        source,
        replica_first,
        ..
    } = roles(generation);
    format!(
        "Got fatal error 1236 from {source} when reading data from binary log: '{replica_first} has more GTIDs than the \
         {source} has, using the {source}'s SERVER_UUID. This may indicate that the end of the binary log was truncated \
         or that the last binary log file was lost. The replica's extra transactions are '{ahead}''"
    )
}

fn equal_server_ids(generation: Generation) -> String {
    let Roles {
        source, replica, ..
    } = roles(generation);
    let product = if generation.is_mariadb() {
        "MariaDB"
    } else {
        "MySQL"
    };
    format!(
        "Fatal error: The {replica} I/O thread stops because {source} and {replica} have equal {product} server ids; \
         these ids must be different for replication to work (or the --replicate-same-server-id option must be used on \
         {replica} but this does not always make sense; please check the manual before using it)."
    )
}

fn connect_error(
    generation: Generation,
    config: &SourceConfig,
    attempt: &Attempt,
    message: &str,
) -> String {
    let source = roles(generation).source;
    let address = format!("{}@{}:{}", config.user, config.host, config.port);
    let verb = if attempt.is_reconnect {
        "reconnecting"
    } else {
        "connecting"
    };
    let wait = config.connect_retry.micros() / 1_000_000;
    match generation {
        Generation::MySql57 => format!(
            "error {verb} to master '{address}' - retry-time: {wait}  retries: {}",
            attempt.number
        ),
        _ if generation.is_mariadb() => format!(
            "error {verb} to master '{address}' - retry-time: {wait}  maximum-retries: {}  message: {message}",
            attempt.of
        ),
        _ => format!(
            "Error {verb} to {source} '{address}'. This was attempt {}/{}, with a delay of {wait} seconds between \
             attempts. Message: {message}",
            attempt.number, attempt.of
        ),
    }
}

fn purged(generation: Generation, missing: &str, sent: &str) -> String {
    let Roles {
        source, replica, ..
    } = roles(generation);
    match generation {
        _ if generation.is_mariadb() => {
            "Got fatal error 1236 from master when reading data from binary log: 'Could not find GTID state requested by \
             slave in any binlog files. Probably the slave state is too old and required binlog files have been purged.'"
                .to_owned()
        }
        Generation::MySql57 => format!(
            "Got fatal error 1236 from master when reading data from binary log: 'The slave is connecting using CHANGE \
             MASTER TO MASTER_AUTO_POSITION = 1, but the master has purged binary logs containing GTIDs that the slave \
             requires. Replicate the missing transactions from elsewhere, or provision a new slave from backup. Consider \
             increasing the master's binary log expiration period. The GTID set sent by the slave is '{sent}', and the \
             missing transactions are '{missing}''"
        ),
        _ => format!(
            "Got fatal error 1236 from {source} when reading data from binary log: 'Cannot replicate because the {source} \
             purged required binary logs. Replicate the missing transactions from elsewhere, or provision a new {replica} \
             from backup. Consider increasing the {source}'s binary log expiration period. The GTID set sent by the \
             {replica} is '{sent}', and the missing transactions are '{missing}''"
        ),
    }
}

/// Where the event is in the source's log.
fn at(generation: Generation, problem: &Problem) -> String {
    let Problem::Apply { at, .. } = problem else {
        return String::new();
    };
    format!(
        "; the event's {} log {}, end_log_pos {}",
        roles(generation).source,
        at.file,
        at.position
    )
}

/// The text of the worker that failed.
pub fn worker_error(
    generation: Generation,
    problem: &Problem,
    config: &SourceConfig,
) -> (u16, String) {
    let (code, text) = told(generation, problem, config);
    let Problem::Apply {
        worker, gtid, at, ..
    } = problem
    else {
        return (code, text);
    };
    if generation.is_mariadb() {
        return (code, text);
    }
    let worker = worker.unwrap_or(1);
    let source = roles(generation).source;
    let text = format!(
        "Worker {worker} failed executing transaction '{gtid}' at {source} log {}, end_log_pos {}; {text}",
        at.file, at.position
    );
    (code, text)
}

/// The text of the coordinator, and of `Last_SQL_Error`: with workers MySQL only points to theirs.
pub fn applier_error(generation: Generation, status: &ChannelStatus) -> Option<(u16, String)> {
    let error = status.applier.error.as_ref()?;
    let (code, text) = told(generation, &error.problem, &status.config);
    let Problem::Apply {
        worker: Some(worker),
        gtid,
        at,
        ..
    } = &error.problem
    else {
        return Some((code, text));
    };
    if generation.is_mariadb() {
        return Some((code, text));
    }
    let source = roles(generation).source;
    let text = format!(
        "Coordinator stopped because there were error(s) in the worker(s). The most recent failure being: Worker {worker} \
         failed executing transaction '{gtid}' at {source} log {}, end_log_pos {}. See error log and/or \
         performance_schema.replication_applier_status_by_worker table for more details about this failure or others, if \
         any.",
        at.file, at.position
    );
    Some((code, text))
}
