//! Lists of what a server has: sessions, grants, events, engines, plugins, character sets, warnings.

use super::super::super::sql::{SystemColumn, TableData, Value};
use super::super::accounts::Account;
use super::super::bench::Bench;
use super::super::generation::Habits;
use super::super::me::Me;
use super::super::problems::{self, problem};
use super::super::table::{BIGINT, Columns, DATETIME, INT, TEXT, date_time, table};
use super::super::tables;
use super::super::threads::{self, Kind};
use super::super::words::Words;
use crate::lab::wire::SqlError;

/// `None`: it is another SHOW. LIKE and WHERE are left to the caller.
pub fn show(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<Option<TableData>, SqlError> {
    let found = if words.accept("GRANTS") {
        Some(grants(bench, me, words)?)
    } else if words.accept("EVENTS") {
        Some(events(bench, me, words))
    } else if words.accept("CREATE EVENT") {
        Some(create_event(bench, me, words)?)
    } else if words.accept("CREATE USER") {
        Some(create_user(bench, me, words)?)
    } else if words.accept("STORAGE ENGINES") || words.accept("ENGINES") {
        const SHOWN: [&str; 6] = [
            "Engine",
            "Support",
            "Comment",
            "Transactions",
            "XA",
            "Savepoints",
        ];
        Some(renamed(tables::engines(), &SHOWN))
    } else if words.accept("PLUGINS") {
        Some(plugins(bench))
    } else if words.accept("CHARACTER SET") || words.accept("CHARSET") {
        Some(renamed(
            tables::character_sets(bench.generation),
            &["Charset", "Default collation", "Description", "Maxlen"],
        ))
    } else if words.accept("COLLATION") {
        Some(renamed(
            tables::collations(bench.generation),
            &[
                "Collation",
                "Charset",
                "Id",
                "Default",
                "Compiled",
                "Sortlen",
            ],
        ))
    } else if words.accept("WARNINGS") {
        Some(warnings(me, words, false)?)
    } else if words.accept("ERRORS") {
        Some(warnings(me, words, true)?)
    } else if words.accept("COUNT ( * ) WARNINGS") {
        let count = me.warnings.len() as u64;
        Some(table(
            &[("@@session.warning_count", BIGINT)],
            vec![vec![count.into()]],
        ))
    } else if words.accept("TRIGGERS") || words.accept("OPEN TABLES") {
        while words.accept("FROM") || words.accept("IN") {
            words.name();
        }
        Some(table(&[("Name", TEXT)], Vec::new()))
    } else if words.accept("PROCEDURE STATUS") || words.accept("FUNCTION STATUS") {
        Some(table(
            &[
                ("Db", TEXT),
                ("Name", TEXT),
                ("Type", TEXT),
                ("Definer", TEXT),
            ],
            Vec::new(),
        ))
    } else {
        None
    };
    Ok(found)
}

fn renamed(mut table: TableData, names: &[&'static str]) -> TableData {
    table.columns = table
        .columns
        .iter()
        .zip(names)
        .map(|(column, name)| SystemColumn::new(name, column.kind))
        .collect();
    table
}

pub fn processlist(bench: &Bench, me: &Me, is_full: bool) -> TableData {
    const COLUMNS: &Columns = &[
        ("Id", BIGINT),
        ("User", TEXT),
        ("Host", TEXT),
        ("db", TEXT),
        ("Command", TEXT),
        ("Time", INT),
        ("State", TEXT),
        ("Info", TEXT),
    ];
    let sees_all = me.may(bench, &["PROCESS"]);
    let is_mariadb = bench.generation.is_mariadb();
    let rows = threads::all(bench, me.node)
        .into_iter()
        .filter(|thread| sees_all || thread.kind == Kind::Client && thread.user == me.user)
        .map(|thread| {
            let info = thread.info.map(|text| {
                if is_full {
                    text
                } else {
                    text.chars().take(100).collect()
                }
            });
            let mut row = vec![
                thread.id.into(),
                thread.user.into(),
                thread.host.into(),
                thread.schema.into(),
                thread.command.into(),
                thread.seconds.into(),
                thread.state.into(),
                info.into(),
            ];
            if is_mariadb {
                row.push("0.000".into());
            }
            row
        })
        .collect();
    let mut columns = COLUMNS.to_vec();
    if is_mariadb {
        columns.push(("Progress", TEXT));
    }
    table(&columns, rows)
}

fn grants(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<TableData, SqlError> {
    let user = if words.accept("FOR") {
        if words.accept("CURRENT_USER") {
            words.accept("( )");
            me.user.clone()
        } else {
            account_name(words)?
        }
    } else {
        me.user.clone()
    };
    if user != me.user && !me.may_on(bench, "SELECT", "mysql", "user") {
        return Err(problems::denied_on_schema(&me.user, "mysql"));
    }
    let account: &Account = bench
        .world
        .engine(me.node)
        .accounts
        .get(&user)
        .ok_or_else(|| {
            problem(
                1141,
                format!("There is no such grant defined for user '{user}' on host '%'"),
            )
        })?;
    let rows = account
        .shown(&user, bench.generation)
        .into_iter()
        .map(|line| vec![line.into()]);
    let mut table = table(&[("Grants", TEXT)], rows.collect());
    let title = SystemColumn {
        name: format!("Grants for {user}@%").into(),
        kind: TEXT,
    };
    table.columns = [title].into();
    Ok(table)
}

fn account_name(words: &mut Words<'_>) -> Result<String, SqlError> {
    let name = words.value().ok_or_else(|| words.error())?;
    if words.accept("@") {
        words.value();
    }
    Ok(name)
}

fn events(bench: &Bench, me: &Me, words: &mut Words<'_>) -> TableData {
    const COLUMNS: &Columns = &[
        ("Db", TEXT),
        ("Name", TEXT),
        ("Definer", TEXT),
        ("Time zone", TEXT),
        ("Type", TEXT),
        ("Execute at", DATETIME),
        ("Interval value", TEXT),
        ("Interval field", TEXT),
        ("Starts", DATETIME),
        ("Ends", DATETIME),
        ("Status", TEXT),
        ("Originator", BIGINT),
        ("character_set_client", TEXT),
        ("collation_connection", TEXT),
        ("Database Collation", TEXT),
    ];
    let schema = if words.accept("FROM") || words.accept("IN") {
        words.name()
    } else {
        bench.machines[me.node]
            .seats
            .get(&me.id)
            .and_then(|seat| seat.schema.clone())
    };
    let rows = tables::visible_events(bench, me)
        .into_iter()
        .filter(|event| schema.as_ref().is_none_or(|schema| *schema == event.schema))
        .map(|event| {
            vec![
                event.schema.clone().into(),
                event.name.clone().into(),
                event.definer.clone().into(),
                "SYSTEM".into(),
                "RECURRING".into(),
                Value::Null,
                event.interval.0.clone().into(),
                event.interval.1.clone().into(),
                date_time(event.created, 0).into(),
                Value::Null,
                tables::event_status(bench.generation, event.state).into(),
                event.originator.into(),
                "utf8mb4".into(),
                "utf8mb4_general_ci".into(),
                "utf8mb4_general_ci".into(),
            ]
        });
    table(COLUMNS, rows.collect())
}

fn create_event(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<TableData, SqlError> {
    let (schema, name) = words.qualified_name().ok_or_else(|| words.error())?;
    let schema = schema
        .or_else(|| bench.machines[me.node].seats.get(&me.id)?.schema.clone())
        .ok_or_else(|| problem(1046, "No database selected"))?;
    let key = format!("{schema}.{name}");
    let found = tables::visible_events(bench, me)
        .into_iter()
        .find(|event| event.key() == key);
    let event = found.ok_or_else(|| problem(1539, format!("Unknown event '{name}'")))?;
    let preserve = if event.preserve {
        "PRESERVE"
    } else {
        "NOT PRESERVE"
    };
    let state = match tables::event_status(bench.generation, event.state) {
        "ENABLED" => "ENABLE",
        "DISABLED" => "DISABLE",
        "REPLICA_SIDE_DISABLED" => "DISABLE ON REPLICA",
        _ => "DISABLE ON SLAVE",
    };
    let text = format!(
        "CREATE DEFINER=`admin`@`%` EVENT `{name}` ON SCHEDULE EVERY {} {} STARTS '{}' ON COMPLETION {preserve} {state} \
         DO {}",
        event.interval.0,
        event.interval.1,
        date_time(event.created, 0),
        event.body
    );
    Ok(table(
        &[
            ("Event", TEXT),
            ("sql_mode", TEXT),
            ("time_zone", TEXT),
            ("Create Event", TEXT),
        ],
        vec![vec![name.into(), "".into(), "SYSTEM".into(), text.into()]],
    ))
}

fn create_user(bench: &Bench, me: &Me, words: &mut Words<'_>) -> Result<TableData, SqlError> {
    let user = match words.accept("CURRENT_USER") {
        true => {
            words.accept("( )");
            me.user.clone()
        }
        false => account_name(words)?,
    };
    if bench.world.engine(me.node).accounts.get(&user).is_none() {
        return Err(problem(
            1396,
            format!("Operation SHOW CREATE USER failed for '{user}'@'%'"),
        ));
    }
    let plugin = if bench.generation.has_new_performance_schema() {
        "caching_sha2_password"
    } else {
        "mysql_native_password"
    };
    let text = format!("CREATE USER `{user}`@`%` IDENTIFIED WITH '{plugin}' AS '<secret>'");
    let title = SystemColumn {
        name: format!("CREATE USER for {user}@%").into(),
        kind: TEXT,
    };
    Ok(TableData {
        columns: [title].into(),
        rows: vec![vec![text.into()]],
    })
}

fn plugins(bench: &Bench) -> TableData {
    let all = tables::plugins(bench.generation);
    let rows = all.rows.into_iter().map(|row| {
        let mut row = row.into_iter();
        let (name, _version) = (row.next(), row.next());
        let mut shown = vec![name.unwrap_or_default()];
        shown.extend(row);
        shown
    });
    table(
        &[
            ("Name", TEXT),
            ("Status", TEXT),
            ("Type", TEXT),
            ("Library", TEXT),
            ("License", TEXT),
        ],
        rows.collect(),
    )
}

fn warnings(me: &Me, words: &mut Words<'_>, only_errors: bool) -> Result<TableData, SqlError> {
    let mut limit = usize::MAX;
    if words.accept("LIMIT") {
        limit = words.number().ok_or_else(|| words.error())? as usize;
    }
    let rows = me
        .warnings
        .iter()
        .filter(|warning| warning.is_error || !only_errors)
        .take(limit)
        .map(|warning| {
            vec![
                warning.level().into(),
                u32::from(warning.code).into(),
                warning.text.clone().into(),
            ]
        });
    Ok(table(
        &[("Level", TEXT), ("Code", INT), ("Message", TEXT)],
        rows.collect(),
    ))
}
