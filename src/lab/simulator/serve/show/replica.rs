//! SHOW REPLICA STATUS and its kin, SHOW REPLICAS: columns by generation, as captured from real servers.

use super::super::super::sql::{ColumnType, TableData, Value};
use super::super::super::world::{ChannelStatus, FilterKind, Running, ThreadError};
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::problems::{self, problem};
use super::super::settings::gtids;
use super::super::table::{BIGINT, Columns, INT, TEXT, short_date_time, table};
use super::super::words::Words;
use super::super::words_of_replication as words_of;
use super::may_see_status;
use super::replica_mariadb::{MARIADB_ONLY, SHARED_WITH_MARIADB, all_statuses, mariadb_rest};
use crate::lab::wire::SqlError;
use crate::model::lab::Generation;

/// `None`: it is another SHOW.
pub fn show(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<Option<TableData>, SqlError> {
    let generation = bench.generation;
    let start = words.clone();
    if generation.is_mariadb()
        && (words.accept("ALL SLAVES STATUS") || words.accept("ALL REPLICAS STATUS"))
    {
        may_see_status(bench, me)?;
        return Ok(Some(all_statuses(bench, me)));
    }
    if let Some(one) = one_status(bench, me, words)? {
        return Ok(Some(one));
    }
    *words = start;
    let is_list = match generation {
        _ if generation.is_mariadb() => {
            words.accept("SLAVE HOSTS") || words.accept("REPLICA HOSTS")
        }
        Generation::MySql57 => words.accept("SLAVE HOSTS"),
        Generation::MySql80 => words.accept("SLAVE HOSTS") || words.accept("REPLICAS"),
        _ => words.accept("REPLICAS"),
    };
    if is_list {
        return replicas(bench, me).map(Some);
    }
    Ok(None)
}

fn one_status(
    bench: &Bench,
    me: &Me,
    words: &mut Words<'_>,
) -> Result<Option<TableData>, SqlError> {
    let generation = bench.generation;
    let says_slave = words.is("SLAVE");
    let understands = if says_slave {
        !generation.forgot_slave()
    } else {
        generation.knows_replica()
    };
    if !understands || !(words.accept("SLAVE") || words.accept("REPLICA")) {
        return Ok(None);
    }
    // MariaDB: SHOW SLAVE 'name' STATUS.
    let mut channel = if generation.is_mariadb() {
        words.text()
    } else {
        None
    };
    if !words.accept("STATUS") {
        return Ok(None);
    }
    if words.accept("FOR CHANNEL") {
        channel = Some(words.text().ok_or_else(|| words.error())?);
    }
    may_see_status(bench, me)?;
    let world = &bench.world;
    let names = match (&channel, generation.is_mariadb()) {
        (Some(name), _) => {
            if !world.channels(me.node).contains(name) {
                return Err(no_such_channel(generation, name));
            }
            vec![name.clone()]
        }
        (None, true) => vec![String::new()],
        (None, false) => world.channels(me.node),
    };
    let rows = names
        .iter()
        .filter_map(|name| world.channel_status(me.node, name))
        .map(|status| status_row(bench, me, &status));
    let in_old_words = says_slave || generation.says_slave();
    Ok(Some(table(
        &columns(generation, in_old_words),
        rows.collect(),
    )))
}

pub fn no_such_channel(generation: Generation, name: &str) -> SqlError {
    if generation.is_mariadb() {
        return problem(1617, format!("There is no master connection '{name}'"));
    }
    let role = if generation.says_slave() {
        "Slave"
    } else {
        "Replica"
    };
    problem(3074, format!("{role} channel '{name}' does not exist."))
}

/// In the words of MySQL 9.7; the others' are made from them.
const COLUMNS: &Columns = &[
    ("Replica_IO_State", TEXT),
    ("Source_Host", TEXT),
    ("Source_User", TEXT),
    ("Source_Port", INT),
    ("Connect_Retry", INT),
    ("Source_Log_File", TEXT),
    ("Read_Source_Log_Pos", BIGINT),
    ("Relay_Log_File", TEXT),
    ("Relay_Log_Pos", BIGINT),
    ("Relay_Source_Log_File", TEXT),
    ("Replica_IO_Running", TEXT),
    ("Replica_SQL_Running", TEXT),
    ("Replicate_Do_DB", TEXT),
    ("Replicate_Ignore_DB", TEXT),
    ("Replicate_Do_Table", TEXT),
    ("Replicate_Ignore_Table", TEXT),
    ("Replicate_Wild_Do_Table", TEXT),
    ("Replicate_Wild_Ignore_Table", TEXT),
    ("Last_Errno", INT),
    ("Last_Error", TEXT),
    ("Skip_Counter", INT),
    ("Exec_Source_Log_Pos", BIGINT),
    ("Relay_Log_Space", BIGINT),
    ("Until_Condition", TEXT),
    ("Until_Log_File", TEXT),
    ("Until_Log_Pos", BIGINT),
    ("Source_SSL_Allowed", TEXT),
    ("Source_SSL_CA_File", TEXT),
    ("Source_SSL_CA_Path", TEXT),
    ("Source_SSL_Cert", TEXT),
    ("Source_SSL_Cipher", TEXT),
    ("Source_SSL_Key", TEXT),
    ("Seconds_Behind_Source", BIGINT),
    ("Source_SSL_Verify_Server_Cert", TEXT),
    ("Last_IO_Errno", INT),
    ("Last_IO_Error", TEXT),
    ("Last_SQL_Errno", INT),
    ("Last_SQL_Error", TEXT),
    ("Replicate_Ignore_Server_Ids", TEXT),
    ("Source_Server_Id", INT),
    ("Source_UUID", TEXT),
    ("Source_Info_File", TEXT),
    ("SQL_Delay", INT),
    ("SQL_Remaining_Delay", INT),
    ("Replica_SQL_Running_State", TEXT),
    ("Source_Retry_Count", BIGINT),
    ("Source_Bind", TEXT),
    ("Last_IO_Error_Timestamp", TEXT),
    ("Last_SQL_Error_Timestamp", TEXT),
    ("Source_SSL_Crl", TEXT),
    ("Source_SSL_Crlpath", TEXT),
    ("Retrieved_Gtid_Set", TEXT),
    ("Executed_Gtid_Set", TEXT),
    ("Auto_Position", TEXT),
    ("Replicate_Rewrite_DB", TEXT),
    ("Channel_Name", TEXT),
    ("Source_TLS_Version", TEXT),
    ("Source_public_key_path", TEXT),
    ("Get_Source_public_key", INT),
    ("Network_Namespace", TEXT),
];

/// The last three came with 8.0.
const COLUMNS_OF_57: usize = 57;

pub(super) type OwnedColumns = Vec<(&'static str, ColumnType)>;

pub(super) fn columns(generation: Generation, in_old_words: bool) -> OwnedColumns {
    let old = |columns: &'static Columns| -> OwnedColumns {
        columns
            .iter()
            .map(|(name, kind)| (if in_old_words { old_word(name) } else { *name }, *kind))
            .collect()
    };
    if generation.is_mariadb() {
        let mut all = old(&COLUMNS[..SHARED_WITH_MARIADB]);
        all.extend(MARIADB_ONLY);
        return all;
    }
    let width = if generation == Generation::MySql57 {
        COLUMNS_OF_57
    } else {
        COLUMNS.len()
    };
    old(&COLUMNS[..width])
}

/// `Source_Host` was `Master_Host`, `Replica_IO_Running` was `Slave_IO_Running`.
fn old_word(name: &'static str) -> &'static str {
    use std::collections::HashMap;
    use std::sync::OnceLock;
    static OLD: OnceLock<HashMap<&'static str, String>> = OnceLock::new();
    let old = OLD.get_or_init(|| {
        COLUMNS
            .iter()
            .map(|(name, _)| {
                let word = name
                    .replace("Source", "Master")
                    .replace("Replica_", "Slave_");
                let word = match word.as_str() {
                    "Get_Master_public_key" => "Get_master_public_key".to_owned(),
                    "Master_public_key_path" => "Master_public_key_path".to_owned(),
                    _ => word,
                };
                (*name, word)
            })
            .collect()
    });
    old.get(name).map_or(name, String::as_str)
}

fn running(running: Running) -> Value {
    match running {
        Running::Yes => "Yes",
        Running::No => "No",
        Running::Connecting => "Connecting",
    }
    .into()
}

fn yes(is: bool) -> Value {
    if is { "Yes" } else { "No" }.into()
}

fn error_time(error: Option<&ThreadError>) -> Value {
    error
        .map(|error| short_date_time(error.at, 0))
        .unwrap_or_default()
        .into()
}

/// Up to `Source_Server_Id`: the same for everybody.
fn shared(generation: Generation, status: &ChannelStatus) -> Vec<Value> {
    let (config, receiver, applier) = (&status.config, &status.receiver, &status.applier);
    let receiver_error = receiver
        .error
        .as_ref()
        .map(|error| words_of::told(generation, &error.problem, config))
        .unwrap_or_default();
    let applier_error = words_of::applier_error(generation, status).unwrap_or_default();
    let empty = || Value::from("");
    let filter = |kind| Value::from(status.filters.text(kind));
    let until = words_of::until(generation, applier.goal.as_ref());
    let is_secure = generation.forgot_slave() || generation == Generation::MariaDb118;
    vec![
        words_of::receiver_state(generation, receiver.state).into(),
        config.host.clone().into(),
        config.user.clone().into(),
        u32::from(config.port).into(),
        (config.connect_retry.micros() / 1_000_000).into(),
        status.read.file.clone().into(),
        status.read.position.into(),
        status.relay_log.file.clone().into(),
        status.relay_log.position.into(),
        status.executed.file.clone().into(),
        running(receiver.running),
        yes(applier.is_running),
        filter(FilterKind::DoDb),
        filter(FilterKind::IgnoreDb),
        filter(FilterKind::DoTable),
        filter(FilterKind::IgnoreTable),
        filter(FilterKind::WildDoTable),
        filter(FilterKind::WildIgnoreTable),
        u32::from(applier_error.0).into(),
        applier_error.1.clone().into(),
        0_u32.into(),
        status.executed.position.into(),
        status.relay_log.space.into(),
        until.condition.into(),
        until.file.into(),
        until.position.into(),
        yes(is_secure),
        empty(),
        empty(),
        empty(),
        empty(),
        empty(),
        status.seconds_behind.into(),
        yes(generation == Generation::MariaDb118),
        u32::from(receiver_error.0).into(),
        receiver_error.1.into(),
        u32::from(applier_error.0).into(),
        applier_error.1.into(),
        empty(),
        status.source_server_id.unwrap_or(0).into(),
    ]
}

pub(super) fn status_row(bench: &Bench, me: &Me, status: &ChannelStatus) -> Vec<Value> {
    let generation = bench.generation;
    let mut row = shared(generation, status);
    if generation.is_mariadb() {
        row.extend(mariadb_rest(bench, me, status));
        return row;
    }
    let (config, applier) = (&status.config, &status.applier);
    let empty = || Value::from("");
    row.extend([
        status
            .source_uuid
            .map(|uuid| uuid.to_string())
            .unwrap_or_default()
            .into(),
        "mysql.slave_master_info".into(),
        config.delay_secs.into(),
        applier.remaining_delay_secs.into(),
        words_of::applier_state(generation, applier.state).into(),
        config.retry_count.into(),
        empty(),
        error_time(status.receiver.error.as_ref()),
        error_time(applier.error.as_ref()),
        empty(),
        empty(),
        gtids(&status.retrieved).into(),
        gtids(&bench.world.executed(me.node)).into(),
        Value::from(if config.auto_position { "1" } else { "0" }),
        empty(),
        status.name.clone().into(),
        empty(),
    ]);
    if generation != Generation::MySql57 {
        row.extend([empty(), 1_u32.into(), empty()]);
    }
    row
}

fn replicas(bench: &Bench, me: &Me) -> Result<TableData, SqlError> {
    let generation = bench.generation;
    let is_mariadb = generation.is_mariadb();
    let (privilege, word) = if is_mariadb {
        (
            "REPLICATION MASTER ADMIN",
            "SUPER, REPLICATION MASTER ADMIN",
        )
    } else {
        ("REPLICATION SLAVE", "REPLICATION SLAVE")
    };
    if !me.may(bench, &[privilege, "SUPER"]) {
        return Err(problems::needs(word));
    }
    let source = bench.world.identity(me.node).server_id;
    let rows = bench.world.dump_threads(me.node).into_iter().map(|dump| {
        let mut row = vec![
            dump.replica_server_id.into(),
            "127.0.0.1".into(),
            u32::from(bench.machines[dump.replica].port).into(),
            source.into(),
        ];
        if !is_mariadb {
            row.push(dump.replica_uuid.to_string().into());
        }
        row
    });
    let mut columns: OwnedColumns = if generation.forgot_slave() {
        vec![
            ("Server_Id", INT),
            ("Host", TEXT),
            ("Port", INT),
            ("Source_Id", INT),
        ]
    } else {
        vec![
            ("Server_id", INT),
            ("Host", TEXT),
            ("Port", INT),
            ("Master_id", INT),
        ]
    };
    match generation {
        _ if is_mariadb => {}
        _ if generation.forgot_slave() => columns.push(("Replica_UUID", TEXT)),
        _ => columns.push(("Slave_UUID", TEXT)),
    }
    Ok(table(&columns, rows.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_has_as_many_columns_as_captured() {
        for (generation, count) in [
            (Generation::MySql57, 57),
            (Generation::MySql97, 60),
            (Generation::MariaDb1011, 54),
        ] {
            let columns = columns(generation, generation.says_slave());
            assert_eq!(columns.len(), count, "{generation:?}");
        }
        assert_eq!(columns(Generation::MySql57, true)[10].0, "Slave_IO_Running");
        assert_eq!(
            columns(Generation::MySql57, true)[32].0,
            "Seconds_Behind_Master"
        );
        assert_eq!(
            columns(Generation::MySql97, false)[32].0,
            "Seconds_Behind_Source"
        );
    }
}
