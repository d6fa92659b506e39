//! What else stands in `information_schema` and `mysql`: events, engines, character sets, plugins, accounts.

use super::super::super::sql::{TableData, Value};
use super::super::bench::Bench;
use super::super::events::{Event, EventState};
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::settings::gtids;
use super::super::show;
use super::super::table::{BIGINT, Columns, DATETIME, INT, TEXT, date_time, table};
use crate::model::lab::Generation;

pub fn information_schema(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    let is_mariadb = bench.generation.is_mariadb();
    match name {
        "events" => Some(events(bench, me)),
        "engines" => Some(engines()),
        "plugins" | "all_plugins" => Some(plugins(bench.generation)),
        "character_sets" => Some(character_sets(bench.generation)),
        "collations" => Some(collations(bench.generation)),
        "collation_character_set_applicability" => Some(applicability(bench.generation)),
        "user_privileges" => Some(user_privileges(bench, me)),
        "slave_status" if bench.generation == Generation::MariaDb118 => {
            Some(show::replica_mariadb::all_statuses(bench, me))
        }
        "user_attributes" if !is_mariadb => Some(table(
            &[("USER", TEXT), ("HOST", TEXT), ("ATTRIBUTE", TEXT)],
            Vec::new(),
        )),
        _ => None,
    }
}

/// The word for an event that does not run because its source does.
fn disabled_there(generation: Generation) -> &'static str {
    if generation.forgot_slave() {
        "REPLICA_SIDE_DISABLED"
    } else {
        "SLAVESIDE_DISABLED"
    }
}

pub fn event_status(generation: Generation, state: EventState) -> &'static str {
    match state {
        EventState::Enabled => "ENABLED",
        EventState::Disabled => "DISABLED",
        EventState::ReplicaSideDisabled => disabled_there(generation),
    }
}

const EVENTS: &Columns = &[
    ("EVENT_CATALOG", TEXT),
    ("EVENT_SCHEMA", TEXT),
    ("EVENT_NAME", TEXT),
    ("DEFINER", TEXT),
    ("TIME_ZONE", TEXT),
    ("EVENT_BODY", TEXT),
    ("EVENT_DEFINITION", TEXT),
    ("EVENT_TYPE", TEXT),
    ("EXECUTE_AT", DATETIME),
    ("INTERVAL_VALUE", TEXT),
    ("INTERVAL_FIELD", TEXT),
    ("SQL_MODE", TEXT),
    ("STARTS", DATETIME),
    ("ENDS", DATETIME),
    ("STATUS", TEXT),
    ("ON_COMPLETION", TEXT),
    ("CREATED", DATETIME),
    ("LAST_ALTERED", DATETIME),
    ("LAST_EXECUTED", DATETIME),
    ("EVENT_COMMENT", TEXT),
    ("ORIGINATOR", BIGINT),
    ("CHARACTER_SET_CLIENT", TEXT),
    ("COLLATION_CONNECTION", TEXT),
    ("DATABASE_COLLATION", TEXT),
];

/// Events of schemas where the account has EVENT; the others are left out without a word.
pub fn visible_events<'a>(bench: &'a Bench, me: &Me) -> Vec<&'a Event> {
    let account = me.account(bench);
    bench
        .world
        .engine(me.node)
        .events
        .iter()
        .filter(|event| account.is_some_and(|a| a.may_in_schema("EVENT", &event.schema)))
        .collect()
}

fn events(bench: &Bench, me: &Me) -> TableData {
    let sql_mode = bench.machines[me.node]
        .globals
        .get("sql_mode")
        .unwrap_or_default();
    let rows = visible_events(bench, me).into_iter().map(|event| {
        vec![
            "def".into(),
            event.schema.clone().into(),
            event.name.clone().into(),
            event.definer.clone().into(),
            "SYSTEM".into(),
            "SQL".into(),
            event.body.clone().into(),
            "RECURRING".into(),
            Value::Null,
            event.interval.0.clone().into(),
            event.interval.1.clone().into(),
            sql_mode.into(),
            date_time(event.created, 0).into(),
            Value::Null,
            event_status(bench.generation, event.state).into(),
            if event.preserve {
                "PRESERVE"
            } else {
                "NOT PRESERVE"
            }
            .into(),
            date_time(event.created, 0).into(),
            date_time(event.altered, 0).into(),
            event.last_executed.map(|at| date_time(at, 0)).into(),
            event.comment.clone().into(),
            event.originator.into(),
            "utf8mb4".into(),
            "utf8mb4_general_ci".into(),
            "utf8mb4_general_ci".into(),
        ]
    });
    table(EVENTS, rows.collect())
}

pub fn engines() -> TableData {
    let row = |engine: &str, support: &str, comment: &str, transactions: &str| {
        vec![
            engine.into(),
            support.into(),
            comment.into(),
            transactions.into(),
            transactions.into(),
            transactions.into(),
        ]
    };
    table(
        &[
            ("ENGINE", TEXT),
            ("SUPPORT", TEXT),
            ("COMMENT", TEXT),
            ("TRANSACTIONS", TEXT),
            ("XA", TEXT),
            ("SAVEPOINTS", TEXT),
        ],
        vec![
            row(
                "InnoDB",
                "DEFAULT",
                "Supports transactions, row-level locking, and foreign keys",
                "YES",
            ),
            row(
                "MEMORY",
                "YES",
                "Hash based, stored in memory, useful for temporary tables",
                "NO",
            ),
        ],
    )
}

/// MySQL's semi-sync comes as plugins; MariaDB's is built in and does not show here.
pub fn plugins(generation: Generation) -> TableData {
    let mut rows = vec![("InnoDB", "STORAGE ENGINE", "")];
    match generation {
        Generation::MySql57 => rows.extend([
            ("mysql_native_password", "AUTHENTICATION", ""),
            ("rpl_semi_sync_master", "REPLICATION", "semisync_master.so"),
            ("rpl_semi_sync_slave", "REPLICATION", "semisync_slave.so"),
        ]),
        _ if generation.is_mariadb() => rows.push(("mysql_native_password", "AUTHENTICATION", "")),
        _ => rows.extend([
            ("caching_sha2_password", "AUTHENTICATION", ""),
            ("rpl_semi_sync_source", "REPLICATION", "semisync_source.so"),
            (
                "rpl_semi_sync_replica",
                "REPLICATION",
                "semisync_replica.so",
            ),
        ]),
    }
    let rows = rows.into_iter().map(|(name, kind, library)| {
        vec![
            name.into(),
            "1.0".into(),
            "ACTIVE".into(),
            kind.into(),
            Value::from((!library.is_empty()).then_some(library)),
            "GPL".into(),
        ]
    });
    table(
        &[
            ("PLUGIN_NAME", TEXT),
            ("PLUGIN_VERSION", TEXT),
            ("PLUGIN_STATUS", TEXT),
            ("PLUGIN_TYPE", TEXT),
            ("PLUGIN_LIBRARY", TEXT),
            ("PLUGIN_LICENSE", TEXT),
        ],
        rows.collect(),
    )
}

/// Number, collation, character set, whether it is the default one of its set.
fn known_collations(generation: Generation) -> Vec<(u32, &'static str, &'static str, bool)> {
    let utf8 = if generation == Generation::MySql57 {
        "utf8"
    } else {
        "utf8mb3"
    };
    let old_default = !generation.has_new_performance_schema();
    let mut list = vec![
        (8, "latin1_swedish_ci", "latin1", true),
        (11, "ascii_general_ci", "ascii", true),
        (63, "binary", "binary", true),
        (45, "utf8mb4_general_ci", "utf8mb4", old_default),
        (46, "utf8mb4_bin", "utf8mb4", false),
        (224, "utf8mb4_unicode_ci", "utf8mb4", false),
        (
            33,
            if utf8 == "utf8" {
                "utf8_general_ci"
            } else {
                "utf8mb3_general_ci"
            },
            utf8,
            true,
        ),
    ];
    if generation.has_new_performance_schema() {
        list.push((255, "utf8mb4_0900_ai_ci", "utf8mb4", true));
    }
    list.sort_unstable();
    list
}

pub fn collations(generation: Generation) -> TableData {
    let rows = known_collations(generation)
        .into_iter()
        .map(|(id, name, charset, is_default)| {
            vec![
                name.into(),
                charset.into(),
                id.into(),
                if is_default { "Yes" } else { "" }.into(),
                "Yes".into(),
                1_u32.into(),
            ]
        });
    table(
        &[
            ("COLLATION_NAME", TEXT),
            ("CHARACTER_SET_NAME", TEXT),
            ("ID", BIGINT),
            ("IS_DEFAULT", TEXT),
            ("IS_COMPILED", TEXT),
            ("SORTLEN", INT),
        ],
        rows.collect(),
    )
}

pub fn character_sets(generation: Generation) -> TableData {
    let rows = known_collations(generation)
        .into_iter()
        .filter(|(_, _, _, is_default)| *is_default)
        .map(|(_, collation, charset, _)| {
            let length: u32 = match charset {
                "utf8mb4" => 4,
                "utf8" | "utf8mb3" => 3,
                _ => 1,
            };
            vec![
                charset.into(),
                collation.into(),
                charset.into(),
                length.into(),
            ]
        });
    table(
        &[
            ("CHARACTER_SET_NAME", TEXT),
            ("DEFAULT_COLLATE_NAME", TEXT),
            ("DESCRIPTION", TEXT),
            ("MAXLEN", BIGINT),
        ],
        rows.collect(),
    )
}

fn applicability(generation: Generation) -> TableData {
    let rows = known_collations(generation)
        .into_iter()
        .map(|(_, collation, charset, _)| vec![collation.into(), charset.into()]);
    table(
        &[("COLLATION_NAME", TEXT), ("CHARACTER_SET_NAME", TEXT)],
        rows.collect(),
    )
}

fn user_privileges(bench: &Bench, me: &Me) -> TableData {
    use super::super::accounts::Level;
    let own = !me.may(bench, &["SELECT"]);
    let accounts = &bench.world.engine(me.node).accounts;
    let rows = accounts
        .iter()
        .filter(|(user, _)| !own || **user == me.user)
        .flat_map(|(user, account)| {
            let global = account.grants.iter().filter(|g| g.on == Level::Everything);
            let held = global.flat_map(|grant| grant.privileges.iter());
            held.map(move |privilege| {
                vec![
                    format!("'{user}'@'%'").into(),
                    "def".into(),
                    privilege.clone().into(),
                    "NO".into(),
                ]
            })
        });
    table(
        &[
            ("GRANTEE", TEXT),
            ("TABLE_CATALOG", TEXT),
            ("PRIVILEGE_TYPE", TEXT),
            ("IS_GRANTABLE", TEXT),
        ],
        rows.collect(),
    )
}

pub fn mysql(bench: &Bench, me: &Me, name: &str) -> Option<TableData> {
    let is_mariadb = bench.generation.is_mariadb();
    let engine = bench.world.engine(me.node);
    match name {
        "user" => {
            let plugin = if bench.generation.has_new_performance_schema() {
                "caching_sha2_password"
            } else {
                "mysql_native_password"
            };
            let rows = engine
                .accounts
                .iter()
                .map(|(user, _)| vec!["%".into(), user.clone().into(), plugin.into()]);
            Some(table(
                &[("Host", TEXT), ("User", TEXT), ("plugin", TEXT)],
                rows.collect(),
            ))
        }
        "gtid_executed" if !is_mariadb => {
            let rows = gtids(&bench.world.executed(me.node))
                .split(",\n")
                .filter(|part| !part.is_empty())
                .map(|part| {
                    let (uuid, numbers) = part.split_once(':').unwrap_or((part, ""));
                    vec![uuid.into(), numbers.into()]
                })
                .collect();
            Some(table(&[("source_uuid", TEXT), ("intervals", TEXT)], rows))
        }
        "gtid_slave_pos" if is_mariadb => {
            let position = bench.world.mariadb_positions(me.node).slave_pos;
            let rows = position
                .split(',')
                .filter(|gtid| !gtid.is_empty())
                .map(|gtid| {
                    let mut parts = gtid
                        .split('-')
                        .map(|n| Value::from(n.parse().unwrap_or(0_i64)));
                    let domain = parts.next().unwrap_or_default();
                    let server = parts.next().unwrap_or_default();
                    let sequence = parts.next().unwrap_or_default();
                    vec![domain, sequence.clone(), server, sequence]
                });
            Some(table(
                &[
                    ("domain_id", BIGINT),
                    ("sub_id", BIGINT),
                    ("server_id", BIGINT),
                    ("seq_no", BIGINT),
                ],
                rows.collect(),
            ))
        }
        _ => None,
    }
}
