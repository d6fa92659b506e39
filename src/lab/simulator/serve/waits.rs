//! Functions that wait, or that look at locks: README of the real servers, part 5, is what they answer.

use std::time::Duration;

use super::super::sql::{Called, SqlProblem, Value};
use super::generation::Habits;
use super::view::{NamedLock, View};
use crate::model::gtid::{GtidPosition, GtidSet, Gtids};
use crate::model::lab::Generation;
use crate::model::time::{Moment, Span};

/// The longest that a waiting session sleeps before it looks again.
pub const LOOK_AGAIN: Duration = Duration::from_millis(10);

pub fn call(view: &View<'_>, name: &str, arguments: &[Value]) -> Called {
    let generation = view.me.generation;
    let is_mariadb = generation.is_mariadb();
    match name {
        "WAIT_FOR_EXECUTED_GTID_SET" if !is_mariadb => executed(view, arguments),
        "WAIT_UNTIL_SQL_THREAD_AFTER_GTIDS"
            if matches!(generation, Generation::MySql57 | Generation::MySql80) =>
        {
            sql_thread_after(view, arguments)
        }
        "MASTER_GTID_WAIT" if is_mariadb => mariadb(view, arguments),
        "MASTER_POS_WAIT" => coordinates(view, arguments),
        "SOURCE_POS_WAIT" if generation.has_new_performance_schema() => {
            coordinates(view, arguments)
        }
        "BINLOG_GTID_POS" if is_mariadb => Called::Value(Value::Null),
        "GET_LOCK" => get_lock(view, arguments),
        "RELEASE_LOCK" => release_lock(view, arguments),
        "RELEASE_ALL_LOCKS" => release_all(view),
        "IS_FREE_LOCK" => Called::Value(owner(view, arguments).is_none().into()),
        "IS_USED_LOCK" => Called::Value(owner(view, arguments).into()),
        _ => Called::Unknown,
    }
}

/// When a wait ends without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Never,
    At(Moment),
}

impl Limit {
    fn is_over(self, now: Moment) -> bool {
        matches!(self, Limit::At(at) if now >= at)
    }
}

/// Not there yet: look again when something may have changed, or at the limit.
fn not_yet(view: &View<'_>, limit: Limit) -> Called {
    let next = view.bench.world.next_event();
    let then = match (limit, next) {
        (Limit::At(at), Some(next)) => Some(at.min(next)),
        (Limit::At(at), None) => Some(at),
        (Limit::Never, next) => next,
    };
    Called::NotYet(view.bench.clock.sleep_until(then, LOOK_AGAIN))
}

fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Int(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        // What is no number counts as 0.
        Value::Text(text) => Some(text.trim().parse().unwrap_or(0.0)),
        _ => None,
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Text(text) => Some(text.clone()),
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        Value::Null => None,
    }
}

/// MySQL: 0, or a text that is no number, is for ever; 5.7 takes whole seconds.
fn mysql_limit(view: &View<'_>, given: Option<&Value>) -> Result<Limit, Called> {
    let seconds = number(given).unwrap_or(0.0);
    let seconds = match view.me.generation {
        Generation::MySql57 => seconds.trunc(),
        _ => seconds,
    };
    if seconds < 0.0 {
        let text = "Incorrect arguments to WAIT_FOR_EXECUTED_GTID_SET.";
        return Err(Called::Refused(SqlProblem::new(1210, text)));
    }
    if seconds == 0.0 {
        return Ok(Limit::Never);
    }
    Ok(Limit::At(view.me.began + Span::from_secs_f64(seconds)))
}

fn mysql_set(given: Option<&Value>) -> Result<GtidSet, Called> {
    let text = text(given).unwrap_or_else(|| "NULL".to_owned());
    GtidSet::parse(&text).map_err(|_| {
        let message = format!("Malformed GTID set specification '{text}'.");
        Called::Refused(SqlProblem::new(1772, message))
    })
}

fn executed(view: &View<'_>, arguments: &[Value]) -> Called {
    let (set, limit) = match (
        mysql_set(arguments.first()),
        mysql_limit(view, arguments.get(1)),
    ) {
        (Ok(set), Ok(limit)) => (set, limit),
        (Err(refused), _) | (_, Err(refused)) => return refused,
    };
    if has(view, &set) {
        return Called::Value(Value::Int(0));
    }
    if limit.is_over(view.bench.world.now()) {
        return Called::Value(Value::Int(1));
    }
    not_yet(view, limit)
}

fn has(view: &View<'_>, set: &GtidSet) -> bool {
    let executed = view.bench.world.executed(view.me.node);
    matches!(executed, Gtids::MySql(executed) if executed.contains(set))
}

/// The older form: NULL as soon as the applier does not run.
fn sql_thread_after(view: &View<'_>, arguments: &[Value]) -> Called {
    let set = match mysql_set(arguments.first()) {
        Ok(set) => set,
        Err(refused) => return refused,
    };
    let limit = match mysql_limit(view, arguments.get(1)) {
        Ok(limit) => limit,
        Err(refused) => return refused,
    };
    let (world, node) = (&view.bench.world, view.me.node);
    let runs = world
        .channels(node)
        .iter()
        .filter_map(|channel| world.channel_status(node, channel))
        .any(|status| status.applier.is_running);
    if !runs {
        return Called::Value(Value::Null);
    }
    if has(view, &set) {
        return Called::Value(Value::Int(0));
    }
    if limit.is_over(world.now()) {
        return Called::Value(Value::Int(-1));
    }
    not_yet(view, limit)
}

/// MariaDB: 0 answers at once, less than 0 or none is for ever; what is no number counts as 0.
fn mariadb(view: &View<'_>, arguments: &[Value]) -> Called {
    let Some(text) = text(arguments.first()) else {
        return Called::Value(Value::Null);
    };
    let Ok(wanted) = GtidPosition::parse(&text) else {
        return Called::Refused(SqlProblem::new(1941, "Could not parse GTID list"));
    };
    let limit = match number(arguments.get(1)) {
        None => Limit::Never,
        Some(seconds) if seconds < 0.0 => Limit::Never,
        Some(seconds) => Limit::At(view.me.began + Span::from_secs_f64(seconds)),
    };
    let at = view.bench.world.mariadb_positions(view.me.node).slave_pos;
    let reached = GtidPosition::parse(&at).is_ok_and(|at| at.reached(&wanted));
    if reached || wanted.is_empty() {
        return Called::Value(Value::Int(0));
    }
    if limit.is_over(view.bench.world.now()) {
        return Called::Value(Value::Int(-1));
    }
    not_yet(view, limit)
}

/// `(file, position[, seconds[, channel]])`.
fn coordinates(view: &View<'_>, arguments: &[Value]) -> Called {
    let (world, node) = (&view.bench.world, view.me.node);
    let channel = text(arguments.get(3)).unwrap_or_default();
    let status = world.channel_status(node, &channel);
    let Some(status) = status.filter(|status| status.applier.is_running) else {
        return Called::Value(Value::Null);
    };
    let (Some(file), Some(position)) = (text(arguments.first()), number(arguments.get(1))) else {
        return Called::Value(Value::Null);
    };
    let executed = (log_number(&status.executed.file), status.executed.position);
    if executed >= (log_number(&file), position as u64) {
        let waited = world.now().since(view.me.began) > Span::ZERO;
        return Called::Value(Value::Int(i64::from(waited)));
    }
    let limit = match number(arguments.get(2)) {
        Some(seconds) if seconds > 0.0 => Limit::At(view.me.began + Span::from_secs_f64(seconds)),
        _ => Limit::Never,
    };
    if limit.is_over(world.now()) {
        return Called::Value(Value::Int(-1));
    }
    not_yet(view, limit)
}

/// `binlog.000007` is 7.
fn log_number(file: &str) -> u64 {
    file.rsplit('.')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

fn owner(view: &View<'_>, arguments: &[Value]) -> Option<u64> {
    let name = text(arguments.first())?.to_lowercase();
    // What this very statement has taken or released counts.
    for wish in view.named_locks.borrow().iter().rev() {
        match wish {
            NamedLock::Taken(taken) if *taken == name => return Some(view.me.id),
            NamedLock::Released(released) if *released == name => return None,
            _ => {}
        }
    }
    view.bench.machines[view.me.node]
        .named_locks
        .get(&name)
        .copied()
}

fn get_lock(view: &View<'_>, arguments: &[Value]) -> Called {
    let Some(name) = text(arguments.first()) else {
        return Called::Value(Value::Null);
    };
    if owner(view, arguments).is_none_or(|owner| owner == view.me.id) {
        let taken = NamedLock::Taken(name.to_lowercase());
        view.named_locks.borrow_mut().push(taken);
        return Called::Value(Value::Int(1));
    }
    let limit = match number(arguments.get(1)) {
        Some(seconds) if seconds >= 0.0 => Limit::At(view.me.began + Span::from_secs_f64(seconds)),
        _ => Limit::Never,
    };
    if limit.is_over(view.bench.world.now()) {
        return Called::Value(Value::Int(0));
    }
    not_yet(view, limit)
}

fn release_lock(view: &View<'_>, arguments: &[Value]) -> Called {
    let (owner, name) = (owner(view, arguments), text(arguments.first()));
    let (Some(owner), Some(name)) = (owner, name) else {
        return Called::Value(Value::Null);
    };
    let is_mine = owner == view.me.id;
    if is_mine {
        let released = NamedLock::Released(name.to_lowercase());
        view.named_locks.borrow_mut().push(released);
    }
    Called::Value(is_mine.into())
}

fn release_all(view: &View<'_>) -> Called {
    let locks = &view.bench.machines[view.me.node].named_locks;
    let mine = locks.values().filter(|owner| **owner == view.me.id).count();
    view.named_locks.borrow_mut().push(NamedLock::ReleasedAll);
    Called::Value(Value::Int(mine as i64))
}
