//! Statements every scripted server answers from its tables: SET, USE, SHOW STATUS and VARIABLES, and SELECT of variables, clocks
//! and literals.

use super::text::{items, last_word_at, literals, normalised};
use super::{Script, Table};
use replicascope::lab::wire::{Answer, Column, Hello, Rows, SqlError};

type Worth = Option<String>;

pub fn answer(
    script: &Script,
    who: &Hello,
    sql: &str,
    normalised: &str,
) -> Result<Answer, SqlError> {
    let mut words = normalised.split(' ');
    match words.next() {
        Some("set" | "use") => Ok(Answer::ok()),
        Some("select") if last_word_at(sql, "from").is_none() => {
            select(script, who, &sql["select".len()..])
        }
        Some("show") => {
            let scope_or_what = words.next().unwrap_or_default();
            let scoped = matches!(scope_or_what, "global" | "session");
            let what = if scoped {
                words.next().unwrap_or_default()
            } else {
                scope_or_what
            };
            match what {
                "status" => Ok(show(&script.statuses, sql)),
                "variables" => Ok(show(&script.variables, sql)),
                _ => Err(not_understood(sql)),
            }
        }
        _ => Err(not_understood(sql)),
    }
}

fn not_understood(sql: &str) -> SqlError {
    SqlError::new(
        1064,
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the \
             right syntax to use near '{sql}' at line 1"
        ),
    )
}

/// `LIKE 'pattern'`, `WHERE Variable_name IN ('a', 'b')`, `… = 'a' OR … LIKE 'b%'`: rows are shown whose name fits any of
/// the quoted texts, or all rows if there are none.
fn show(table: &Table, sql: &str) -> Answer {
    let wanted = literals(sql);
    let fits = |name: &str| {
        wanted.is_empty()
            || wanted.iter().any(|(before, text)| {
                match before.trim_end().to_ascii_lowercase().ends_with("like") {
                    true => is_like(&name.to_ascii_lowercase(), &text.to_ascii_lowercase()),
                    false => name.eq_ignore_ascii_case(text),
                }
            })
    };
    table
        .iter()
        .filter(|(name, _)| fits(name))
        .fold(
            Rows::text(&["Variable_name", "Value"]),
            |rows, (name, value)| {
                rows.row([
                    Some(name.as_str()),
                    Some(value.as_deref().unwrap_or_default()),
                ])
            },
        )
        .into()
}

fn is_like(name: &str, pattern: &str) -> bool {
    let Some(first) = pattern.chars().next() else {
        return name.is_empty();
    };
    let rest = &pattern[first.len_utf8()..];
    match first {
        '%' => {
            name.char_indices()
                .any(|(at, _)| is_like(&name[at..], rest))
                || is_like("", rest)
        }
        '\\' if !rest.is_empty() => {
            let literal = rest.chars().next().map_or(0, char::len_utf8);
            name.strip_prefix(&rest[..literal])
                .is_some_and(|name| is_like(name, &rest[literal..]))
        }
        _ => name
            .chars()
            .next()
            .is_some_and(|c| (first == '_' || c == first) && is_like(&name[c.len_utf8()..], rest)),
    }
}

fn select(script: &Script, who: &Hello, list: &str) -> Result<Answer, SqlError> {
    let mut columns = Vec::new();
    let mut row = Vec::new();
    for item in items(list) {
        let (expression, name) = match last_word_at(item, "as") {
            Some(at) => (
                item[..at].trim_end(),
                item[at + 2..].trim().trim_matches(['`', '\'', '"']),
            ),
            None => (item, item),
        };
        row.push(worth(script, who, expression)?);
        columns.push(Column::text(name));
    }
    Ok(Rows::new(columns).row(row).into())
}

fn worth(script: &Script, who: &Hello, expression: &str) -> Result<Worth, SqlError> {
    let plain = normalised(expression);
    if let Some(value) = script.expressions.get(&plain) {
        return Ok(value.clone());
    }
    if let Some(variable) = plain.strip_prefix("@@") {
        let name = variable
            .strip_prefix("global.")
            .or(variable.strip_prefix("session."))
            .unwrap_or(variable);
        return match script.variables.get(name) {
            Some(value) => Ok(value.clone()),
            None => Err(SqlError::new(
                1193,
                format!("Unknown system variable '{name}'"),
            )),
        };
    }
    match plain.as_str() {
        "null" => Ok(None),
        "version()" => Ok(Some(script.version.clone())),
        "connection_id()" => Ok(Some(who.connection_id.to_string())),
        "user()" => Ok(Some(format!("{}@localhost", who.user))),
        _ if !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_digit()) => Ok(Some(plain)),
        _ => match (literals(expression).as_slice(), clock(script, &plain)) {
            (_, Some(time)) => Ok(Some(time)),
            ([("", text)], None) if expression.len() == text.len() + 2 => Ok(Some((*text).into())),
            _ => Err(not_understood(expression)),
        },
    }
}

/// UTC_TIMESTAMP(6), NOW(6), SYSDATE(6) and UNIX_TIMESTAMP of them. The server's time zone is UTC unless it was set.
fn clock(script: &Script, expression: &str) -> Option<String> {
    if let Some(inner) = expression
        .strip_prefix("unix_timestamp(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        let digits = if inner.is_empty() {
            0
        } else {
            clock_digits(inner)?
        };
        let micros = now_micros(script);
        return Some(with_fraction(
            micros.div_euclid(1_000_000).to_string(),
            micros,
            digits,
        ));
    }
    let digits = clock_digits(expression)?;
    let zone = match expression.starts_with("utc_timestamp") {
        true => 0,
        false => script.zone.micros(),
    };
    let micros = now_micros(script) + zone;
    let time = jiff::Timestamp::from_microsecond(micros).ok()?;
    Some(with_fraction(
        time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        micros,
        digits,
    ))
}

fn clock_digits(call: &str) -> Option<usize> {
    let (name, digits) = call.strip_suffix(')')?.split_once('(')?;
    let known = ["utc_timestamp", "now", "sysdate", "current_timestamp"].contains(&name.trim_end());
    let digits = if digits.is_empty() {
        0
    } else {
        digits.trim().parse().ok()?
    };
    (known && digits <= 6).then_some(digits)
}

fn now_micros(script: &Script) -> i64 {
    jiff::Timestamp::now().as_microsecond() + script.skew.micros()
}

fn with_fraction(seconds: String, micros: i64, digits: usize) -> String {
    let fraction = format!("{:06}", micros.rem_euclid(1_000_000));
    if digits == 0 {
        seconds
    } else {
        format!("{seconds}.{}", &fraction[..digits])
    }
}

#[test]
fn like_knows_its_wildcards() {
    for (name, pattern, fits) in [
        ("rpl_semi_sync", "rpl%", true),
        ("rpl_semi_sync", "%sync", true),
        ("rpl_semi_sync", "%semi%", true),
        ("rpl_semi_sync", "rpl", false),
        ("rplxsemi", "rpl_semi", true),
        ("rplxsemi", r"rpl\_semi", false),
        ("rpl_semi", r"rpl\_semi", true),
        ("", "%", true),
    ] {
        assert_eq!(is_like(name, pattern), fits, "{name} LIKE {pattern}");
    }
}
