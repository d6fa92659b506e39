//! Functions of dates and times.

use jiff::civil::DateTime;
use rusqlite::types::ValueRef;

use super::super::dates;
use super::{DATE, Frame, Function, Gives, INT, TEXT, Value};
use super::{Given, int, number, of_the_moment, pure, text};
use crate::lab::simulator::sql::value::ColumnType;

const TIME: Gives = Gives::Kind(ColumnType::Time(0));

pub const FUNCTIONS: &[Function] = &[
    of_the_moment(pure("NOW", (0, 1), Gives::Now, now)),
    of_the_moment(pure("SYSDATE", (0, 1), Gives::Now, now)),
    of_the_moment(pure("CURRENT_TIMESTAMP", (0, 1), Gives::Now, now)),
    of_the_moment(pure("LOCALTIME", (0, 1), Gives::Now, now)),
    of_the_moment(pure("LOCALTIMESTAMP", (0, 1), Gives::Now, now)),
    of_the_moment(pure("UTC_TIMESTAMP", (0, 1), Gives::Now, |frame, a| {
        told(dates::text(utc(frame), digits(a)))
    })),
    of_the_moment(pure("CURDATE", (0, 0), DATE, |f, _| {
        told(dates::date_text(local(f)))
    })),
    of_the_moment(pure("CURRENT_DATE", (0, 0), DATE, |f, _| {
        told(dates::date_text(local(f)))
    })),
    of_the_moment(pure("UTC_DATE", (0, 0), DATE, |f, _| {
        told(dates::date_text(utc(f)))
    })),
    of_the_moment(pure("CURTIME", (0, 1), TIME, |f, a| {
        told(clock_part(local(f), digits(a)))
    })),
    of_the_moment(pure("CURRENT_TIME", (0, 1), TIME, |f, a| {
        told(clock_part(local(f), digits(a)))
    })),
    of_the_moment(pure("UTC_TIME", (0, 1), TIME, |f, a| {
        told(clock_part(utc(f), digits(a)))
    })),
    // The second argument is the number of digits, which the compiler knows from the first one's type.
    of_the_moment(pure("UNIX_TIMESTAMP", (0, 2), INT, unix)),
    of_the_moment(pure(
        "FROM_UNIXTIME",
        (1, 3),
        Gives::Kind(ColumnType::DateTime(0)),
        from_unix,
    )),
    pure("CONVERT_TZ", (3, 3), Gives::Stamp, convert_zone),
    pure("DATE", (1, 1), DATE, |_, a| {
        stamp(a[0], |at| Value::Text(dates::date_text(at)))
    }),
    pure("TIME", (1, 1), TIME, |_, a| time_of(a[0])),
    pure("TIMESTAMP", (1, 2), Gives::Stamp, |_, a| {
        let at = dates::parse(&text(a[0]));
        let behind = match a.get(1) {
            Some(time) => signed_time(*time),
            None => Some(0),
        };
        Ok(at
            .zip(behind)
            .and_then(|(at, micros)| dates::add_micros(at, micros))
            .map_or(Value::Null, shown))
    }),
    // A stamp with exactly so many digits, more only where they would be lost: for comparing texts.
    pure("STAMP", (2, 2), Gives::Like(0), |_, a| {
        let Some(at) = dates::parse(&text(a[0])) else {
            return Ok(super::owned(a[0]));
        };
        let wanted = int(a[1]).clamp(0, 6) as u8;
        let exact = dates::rounded(at, wanted) == at;
        told(dates::text(at, if exact { wanted } else { 6 }))
    }),
    // MariaDB cuts where MySQL rounds.
    pure("TO_DATETIME", (2, 2), Gives::Like(0), |frame, a| {
        let digits = int(a[1]).clamp(0, 6) as u8;
        stamp(a[0], |at| {
            let at = match frame.is_mariadb() {
                true => at,
                false => dates::rounded(at, digits),
            };
            Value::Text(dates::text(at, digits))
        })
    }),
    pure("YEAR", (1, 1), INT, |_, a| {
        part(a[0], |at| at.year().into())
    }),
    pure("MONTH", (1, 1), INT, |_, a| {
        part(a[0], |at| at.month().into())
    }),
    pure("DAY", (1, 1), INT, |_, a| part(a[0], |at| at.day().into())),
    pure("DAYOFMONTH", (1, 1), INT, |_, a| {
        part(a[0], |at| at.day().into())
    }),
    pure("QUARTER", (1, 1), INT, |_, a| {
        part(a[0], |at| (i64::from(at.month()) + 2) / 3)
    }),
    pure("DAYOFYEAR", (1, 1), INT, |_, a| {
        part(a[0], |at| at.day_of_year().into())
    }),
    pure("DAYOFWEEK", (1, 1), INT, |_, a| {
        part(a[0], |at| at.weekday().to_sunday_one_offset().into())
    }),
    pure("WEEKDAY", (1, 1), INT, |_, a| {
        part(a[0], |at| at.weekday().to_monday_zero_offset().into())
    }),
    pure("WEEKOFYEAR", (1, 1), INT, |_, a| {
        part(a[0], |at| at.iso_week_date().week().into())
    }),
    pure("TO_DAYS", (1, 1), INT, |_, a| part(a[0], days)),
    pure("DATEDIFF", (2, 2), INT, |_, a| {
        let pair = dates::parse(&text(a[0])).zip(dates::parse(&text(a[1])));
        Ok(pair.map_or(Value::Null, |(a, b)| Value::Int(days(a) - days(b))))
    }),
    pure("HOUR", (1, 1), INT, |_, a| {
        time_part(a[0], 3_600_000_000, i64::MAX)
    }),
    pure("MINUTE", (1, 1), INT, |_, a| {
        time_part(a[0], 60_000_000, 60)
    }),
    pure("SECOND", (1, 1), INT, |_, a| time_part(a[0], 1_000_000, 60)),
    pure("MICROSECOND", (1, 1), INT, |_, a| {
        time_part(a[0], 1, 1_000_000)
    }),
    pure("DAYNAME", (1, 1), TEXT, |_, a| {
        stamp(a[0], |at| Value::Text(dates::formatted(at, "%W")))
    }),
    pure("MONTHNAME", (1, 1), TEXT, |_, a| {
        stamp(a[0], |at| Value::Text(dates::formatted(at, "%M")))
    }),
    pure("LAST_DAY", (1, 1), DATE, |_, a| {
        stamp(a[0], |at| Value::Text(dates::date_text(at.last_of_month())))
    }),
    pure("DATE_FORMAT", (2, 2), TEXT, |_, a| {
        let pattern = text(a[1]);
        stamp(a[0], |at| Value::Text(dates::formatted(at, &pattern)))
    }),
    pure("TIME_FORMAT", (2, 2), TEXT, |_, a| {
        let pattern = text(a[1]);
        let micros = signed_time(a[0]).unwrap_or(0);
        let at = dates::add_micros(jiff::civil::date(2000, 1, 1).at(0, 0, 0, 0), micros);
        Ok(at.map_or(Value::Null, |at| {
            Value::Text(dates::formatted(at, &pattern))
        }))
    }),
    // DATE_ADD(x, INTERVAL n UNIT): x, n, UNIT, and 1 for a date that stays one.
    pure("DATE_ADD", (4, 4), Gives::Like(0), |_, a| added(a, false)),
    pure("DATE_SUB", (4, 4), Gives::Like(0), |_, a| added(a, true)),
    pure("TIMESTAMPDIFF", (3, 3), INT, |_, a| {
        let pair = dates::parse(&text(a[1])).zip(dates::parse(&text(a[2])));
        Ok(pair
            .and_then(|(from, to)| dates::difference(&text(a[0]), from, to))
            .map_or(Value::Null, Value::Int))
    }),
    pure("TIME_TO_SEC", (1, 1), INT, |_, a| {
        Ok(signed_time(a[0]).map_or(Value::Null, |micros| Value::Int(micros / 1_000_000)))
    }),
    pure("SEC_TO_TIME", (1, 1), TIME, |_, a| {
        let micros = (number(a[0]) * 1e6).round() as i64;
        let micros = micros.clamp(-dates::LONGEST_MICROS, dates::LONGEST_MICROS);
        told(dates::time_text(micros.abs(), micros < 0, fraction(micros)))
    }),
    pure("TIMEDIFF", (2, 2), TIME, |_, a| timediff(a)),
    pure("ADDTIME", (2, 2), Gives::Stamp, |_, a| addtime(a, 1)),
    pure("SUBTIME", (2, 2), Gives::Stamp, |_, a| addtime(a, -1)),
    // A TIMESTAMP as it is kept, in the session's zone.
    of_the_moment(pure("TO_SESSION_ZONE", (2, 2), Gives::Like(0), |f, a| {
        let shift = i64::from(f.zone_secs - f.system_zone_secs) * 1_000_000;
        let digits = int(a[1]).clamp(0, 6) as u8;
        Ok(dates::parse(&text(a[0]))
            .and_then(|at| dates::add_micros(at, shift))
            .map_or_else(
                || super::owned(a[0]),
                |at| Value::Text(dates::text(at, digits)),
            ))
    })),
];

/// The time of day in a stamp. Years before 0 have a sign.
fn clock_part(at: DateTime, digits: u8) -> String {
    let text = dates::text(at, digits);
    text.split_once(' ')
        .map_or(text.clone(), |(_, time)| time.to_owned())
}

fn told(text: impl Into<String>) -> Given {
    Ok(Value::Text(text.into()))
}

fn digits(a: &[ValueRef<'_>]) -> u8 {
    a.first().map_or(0, |digits| int(*digits).clamp(0, 6) as u8)
}

fn local(frame: &Frame) -> DateTime {
    dates::at_offset(frame.now_micros, frame.zone_secs)
}

fn utc(frame: &Frame) -> DateTime {
    dates::at_offset(frame.now_micros, 0)
}

fn now(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    told(dates::text(local(frame), digits(a)))
}

fn fraction(micros: i64) -> u8 {
    if micros % 1_000_000 == 0 { 0 } else { 6 }
}

fn shown(at: DateTime) -> Value {
    Value::Text(dates::text(at, dates::digits_of(at)))
}

fn stamp(given: ValueRef<'_>, act: impl FnOnce(DateTime) -> Value) -> Given {
    Ok(dates::parse(&text(given)).map_or(Value::Null, act))
}

fn part(given: ValueRef<'_>, of: impl FnOnce(DateTime) -> i64) -> Given {
    stamp(given, |at| Value::Int(of(at)))
}

fn days(at: DateTime) -> i64 {
    // Day 719528 is 1970-01-01.
    dates::unix_micros(at, 0)
        .unwrap_or(0)
        .div_euclid(86_400_000_000)
        + 719_528
}

/// Of a time, or of the time in a stamp.
fn signed_time(given: ValueRef<'_>) -> Option<i64> {
    let text = text(given);
    if text.len() > 8 && text.contains('-') && !text.starts_with('-') {
        let at = dates::parse(&text)?;
        return signed(dates::parse_time(&clock_part(at, 6))?);
    }
    signed(dates::parse_time(&text)?)
}

fn signed((micros, negative): (i64, bool)) -> Option<i64> {
    Some(if negative { -micros } else { micros })
}

fn time_part(given: ValueRef<'_>, unit: i64, most: i64) -> Given {
    Ok(signed_time(given).map_or(Value::Null, |micros| Value::Int(micros.abs() / unit % most)))
}

fn time_of(given: ValueRef<'_>) -> Given {
    let digits = u8::try_from(
        text(given)
            .split_once('.')
            .map_or(0, |(_, fraction)| fraction.len()),
    )
    .unwrap_or(6);
    Ok(signed_time(given).map_or(Value::Null, |micros| {
        Value::Text(dates::time_text(micros.abs(), micros < 0, digits))
    }))
}

fn unix(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let Some(given) = a.first() else {
        return Ok(Value::Int(frame.now_micros.div_euclid(1_000_000)));
    };
    if *given == ValueRef::Null {
        return Ok(Value::Null);
    }
    let written = text(*given);
    let digits = a.get(1).map_or(0, |digits| int(*digits));
    // A zero date has no instant; servers say 0.
    let Some(at) = dates::parse(&written) else {
        return Ok(if digits > 0 {
            Value::Double(0.0)
        } else {
            Value::Int(0)
        });
    };
    let micros = dates::unix_micros(at, frame.zone_secs).unwrap_or(0).max(0);
    Ok(if digits > 0 {
        Value::Double(micros as f64 / 1e6)
    } else {
        Value::Int(micros / 1_000_000)
    })
}

fn from_unix(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    if a.contains(&ValueRef::Null) {
        return Ok(Value::Null);
    }
    let micros = (number(a[0]) * 1e6).round() as i64;
    let at = dates::at_offset(micros, frame.zone_secs);
    // The compiler says with how many digits where there is no pattern.
    match a {
        [_, pattern] => told(dates::formatted(at, &text(*pattern))),
        [_, _, digits] => told(dates::text(at, int(*digits).clamp(0, 6) as u8)),
        _ => Ok(shown(at)),
    }
}

fn convert_zone(frame: &mut Frame, a: &[ValueRef<'_>]) -> Given {
    let offset = |name: &str| match name.to_ascii_uppercase().as_str() {
        "SYSTEM" => Some(frame.system_zone_secs),
        _ => dates::zone_offset(name),
    };
    let at = dates::parse(&text(a[0]));
    let zones = offset(&text(a[1])).zip(offset(&text(a[2])));
    Ok(at
        .zip(zones)
        .and_then(|(at, (from, to))| dates::add_micros(at, i64::from(to - from) * 1_000_000))
        .map_or(Value::Null, shown))
}

fn added(a: &[ValueRef<'_>], back: bool) -> Given {
    let (given, amount, unit) = (text(a[0]), text(a[1]), text(a[2]));
    let below_a_day = ["HOUR", "MINUTE", "SECOND"]
        .iter()
        .any(|part| unit.contains(part));
    let stays_date = int(a[3]) == 1 || (given.len() <= 10 && !below_a_day);
    let amount = match (back, amount.strip_prefix('-')) {
        (false, _) => amount.clone(),
        (true, Some(positive)) => positive.to_owned(),
        (true, None) => format!("-{amount}"),
    };
    let digits = match given.split_once('.') {
        Some((_, fraction)) => fraction.len().min(6) as u8,
        None => 0,
    };
    let sum = dates::parse(&given).and_then(|at| dates::add(at, &amount, &unit));
    Ok(sum.map_or(Value::Null, |at| {
        Value::Text(
            if stays_date && dates::text(at, 6).ends_with("00:00:00.000000") {
                dates::date_text(at)
            } else {
                dates::text(at, digits.max(dates::digits_of(at)))
            },
        )
    }))
}

fn timediff(a: &[ValueRef<'_>]) -> Given {
    let (first, second) = (text(a[0]), text(a[1]));
    let stamps = dates::parse(&first)
        .zip(dates::parse(&second))
        .filter(|_| first.contains('-') && second.contains('-'));
    let micros = match stamps {
        Some((a, b)) => dates::difference("MICROSECOND", b, a),
        None => signed_time(a[0]).zip(signed_time(a[1])).map(|(a, b)| a - b),
    };
    let digits = if first.contains('.') || second.contains('.') {
        6
    } else {
        0
    };
    Ok(micros.map_or(Value::Null, |micros| {
        Value::Text(dates::time_text(micros.abs(), micros < 0, digits))
    }))
}

fn addtime(a: &[ValueRef<'_>], sign: i64) -> Given {
    let Some(more) = signed_time(a[1]) else {
        return Ok(Value::Null);
    };
    let given = text(a[0]);
    if given.contains('-') && given.len() > 8 {
        return Ok(dates::parse(&given)
            .and_then(|at| dates::add_micros(at, sign * more))
            .map_or(Value::Null, shown));
    }
    let sum = signed_time(a[0]).map(|micros| micros + sign * more);
    Ok(sum.map_or(Value::Null, |micros| {
        Value::Text(dates::time_text(micros.abs(), micros < 0, fraction(micros)))
    }))
}
