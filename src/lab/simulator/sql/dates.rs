//! Dates and times as MySQL reads, writes and counts them. Civil time without a zone; zones are offsets.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

/// `2026-03-01 10:00:00.5`, `2026-03-01`, `20260301100000`, with `T` or further blanks between date and time.
pub fn parse(text: &str) -> Option<DateTime> {
    let text = text.trim().trim_end_matches('Z');
    let split = text.find([' ', 'T']);
    let (date, time) = match split {
        Some(at) => (&text[..at], text[at + 1..].trim_start()),
        None => (text, ""),
    };
    if split.is_none() && !date.contains(['-', '/', '.', ':']) {
        return from_digits(date);
    }
    let mut parts = date.split(['-', '/', '.', ':']);
    let year = number(parts.next()?)?;
    let (month, day) = (number(parts.next()?)?, number(parts.next()?)?);
    if parts.next().is_some() {
        return None;
    }
    let year = full_year(year, date.find(['-', '/', '.', ':']).unwrap_or(4));
    let date = Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    )
    .ok()?;
    if time.is_empty() {
        return Some(date.to_datetime(Time::midnight()));
    }
    let (micros, negative) = parse_time(time)?;
    let in_a_day = !negative && micros < 86_400_000_000;
    in_a_day.then(|| add_micros(date.to_datetime(Time::midnight()), micros))?
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn full_year(year: i64, digits: usize) -> i64 {
    match (digits, year) {
        (..=2, 0..=69) => year + 2000,
        (..=2, 70..=99) => year + 1900,
        _ => year,
    }
}

fn from_digits(text: &str) -> Option<DateTime> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !whole.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let dashed = match whole.len() {
        8 => format!("{}-{}-{}", &whole[..4], &whole[4..6], &whole[6..]),
        6 => format!("{}-{}-{}", &whole[..2], &whole[2..4], &whole[4..]),
        14 => format!(
            "{}-{}-{} {}:{}:{}.{fraction}",
            &whole[..4],
            &whole[4..6],
            &whole[6..8],
            &whole[8..10],
            &whole[10..12],
            &whole[12..]
        ),
        _ => return None,
    };
    parse(&dashed)
}

/// The longest TIME there is, 838:59:59: longer ones are cut to it.
pub const LONGEST_MICROS: i64 = (838 * 3600 + 59 * 60 + 59) * 1_000_000;

/// A length or time of day: `[-]H:MM[:SS[.ffffff]]`, `SS`, `HHMMSS`, `D HH:MM:SS`. Microseconds, and whether negative.
pub fn parse_time(text: &str) -> Option<(i64, bool)> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (days, text) = match text.split_once(' ') {
        Some((days, rest)) => (number(days)?, rest),
        None => (0, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let parts: Vec<i64> = whole.split(':').map(number).collect::<Option<_>>()?;
    let seconds = match parts[..] {
        [packed] => packed / 10_000 * 3600 + packed / 100 % 100 * 60 + packed % 100,
        [hours, minutes] => in_seconds(hours, minutes, 0),
        [hours, minutes, seconds] if minutes < 60 && seconds < 60 => {
            in_seconds(hours, minutes, seconds)
        }
        _ => return None,
    };
    let micros = format!("{:0<6.6}", fraction);
    let micros = number(&micros)?;
    let seconds = days.saturating_mul(86_400).saturating_add(seconds);
    let micros = seconds.saturating_mul(1_000_000).saturating_add(micros);
    Some((micros.clamp(-LONGEST_MICROS, LONGEST_MICROS), negative))
}

fn in_seconds(hours: i64, minutes: i64, seconds: i64) -> i64 {
    let minutes = hours.saturating_mul(60).saturating_add(minutes);
    minutes.saturating_mul(60).saturating_add(seconds)
}

/// Rounded to `digits` after the second, as values are stored.
pub fn rounded(at: DateTime, digits: u8) -> DateTime {
    let unit = unit(digits);
    let below = i64::from(at.subsec_nanosecond()) / 1000 % unit;
    let up = if below * 2 >= unit { unit } else { 0 };
    add_micros(at, up - below).unwrap_or(at)
}

fn unit(digits: u8) -> i64 {
    10_i64.pow(6 - u32::from(digits.min(6)))
}

pub fn add_micros(at: DateTime, micros: i64) -> Option<DateTime> {
    at.checked_add(Span::new().try_microseconds(micros).ok()?)
        .ok()
}

/// Cut, not rounded, as NOW(3) does.
pub fn text(at: DateTime, digits: u8) -> String {
    let mut text = format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    );
    push_fraction(&mut text, i64::from(at.subsec_nanosecond()) / 1000, digits);
    text
}

pub fn date_text(at: DateTime) -> String {
    format!("{:04}-{:02}-{:02}", at.year(), at.month(), at.day())
}

pub fn time_text(micros: i64, negative: bool, digits: u8) -> String {
    let seconds = micros / 1_000_000;
    let mut text = format!(
        "{}{:02}:{:02}:{:02}",
        if negative && micros != 0 { "-" } else { "" },
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    push_fraction(&mut text, micros % 1_000_000, digits);
    text
}

fn push_fraction(text: &mut String, micros: i64, digits: u8) {
    if digits > 0 {
        let six = format!("{micros:06}");
        text.push('.');
        text.push_str(&six[..usize::from(digits.min(6))]);
    }
}

/// As many digits as the text has, none when all are zero.
pub fn digits_of(at: DateTime) -> u8 {
    if at.subsec_nanosecond() == 0 { 0 } else { 6 }
}

/// The civil time of an instant at a place `offset_secs` east of UTC.
pub fn at_offset(unix_micros: i64, offset_secs: i32) -> DateTime {
    let offset = Offset::from_seconds(offset_secs).unwrap_or(Offset::UTC);
    let instant = Timestamp::from_microsecond(unix_micros).unwrap_or(Timestamp::UNIX_EPOCH);
    offset.to_datetime(instant)
}

/// Back again: microseconds since the epoch.
pub fn unix_micros(at: DateTime, offset_secs: i32) -> Option<i64> {
    let offset = Offset::from_seconds(offset_secs).ok()?;
    Some(offset.to_timestamp(at).ok()?.as_microsecond())
}

/// `+02:00`, `UTC`; `SYSTEM` is the caller's. Seconds east.
pub fn zone_offset(name: &str) -> Option<i32> {
    if ["utc", "gmt", "etc/utc"].contains(&name.to_ascii_lowercase().as_str()) {
        return Some(0);
    }
    let (sign, rest) = match name.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let seconds = in_seconds(number(hours)?, number(minutes)?, 0);
    Some(sign * i32::try_from(seconds).ok()?)
}

/// Microseconds since the year 0; for differences.
fn linear(at: DateTime) -> i64 {
    unix_micros(at, 0).unwrap_or(0)
}

/// TIMESTAMPDIFF: whole units from `from` to `to`.
pub fn difference(unit: &str, from: DateTime, to: DateTime) -> Option<i64> {
    let micros = linear(to) - linear(from);
    let whole = |length: i64| micros / length;
    Some(match unit {
        "MICROSECOND" => micros,
        "SECOND" => whole(1_000_000),
        "MINUTE" => whole(60_000_000),
        "HOUR" => whole(3_600_000_000),
        "DAY" => whole(86_400_000_000),
        "WEEK" => whole(7 * 86_400_000_000),
        "MONTH" => months(from, to),
        "QUARTER" => months(from, to) / 3,
        "YEAR" => months(from, to) / 12,
        _ => return None,
    })
}

fn months(from: DateTime, to: DateTime) -> i64 {
    if to < from {
        return -months(to, from);
    }
    let count = |at: DateTime| i64::from(at.year()) * 12 + i64::from(at.month()) - 1;
    let whole = count(to) - count(from);
    let late_in_month = (to.day(), to.time()) < (from.day(), from.time());
    whole - i64::from(late_in_month)
}

/// `at + INTERVAL amount unit`; compound units (`'1:30' MINUTE_SECOND`) too.
pub fn add(at: DateTime, amount: &str, unit: &str) -> Option<DateTime> {
    let single = |length: i64| -> Option<DateTime> {
        let amount: f64 = leading_number(amount);
        add_micros(at, (amount * length as f64).round() as i64)
    };
    let whole = || leading_number(amount).round() as i64;
    match unit {
        "MICROSECOND" => single(1),
        "SECOND" => single(1_000_000),
        "MINUTE" => add_micros(at, whole().saturating_mul(60_000_000)),
        "HOUR" => add_micros(at, whole().saturating_mul(3_600_000_000)),
        "DAY" => add_micros(at, whole().saturating_mul(86_400_000_000)),
        "WEEK" => add_micros(at, whole().saturating_mul(7 * 86_400_000_000)),
        "MONTH" => at.checked_add(Span::new().try_months(whole()).ok()?).ok(),
        "QUARTER" => {
            let months = whole().saturating_mul(3);
            at.checked_add(Span::new().try_months(months).ok()?).ok()
        }
        "YEAR" => at.checked_add(Span::new().try_years(whole()).ok()?).ok(),
        _ => add_compound(at, amount, unit),
    }
}

fn add_compound(at: DateTime, amount: &str, unit: &str) -> Option<DateTime> {
    const ORDER: [&str; 6] = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];
    let (first, last) = unit.split_once('_')?;
    let last = if last == "MICROSECOND" {
        "SECOND"
    } else {
        last
    };
    let from = ORDER.iter().position(|name| *name == first)?;
    let to = ORDER.iter().position(|name| *name == last)?;
    let units = ORDER.get(from..=to)?;
    let negative = amount.trim_start().starts_with('-');
    let numbers: Vec<&str> = amount
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter(|part| !part.is_empty())
        .collect();
    let mut at = at;
    // Fewer numbers than units: the last ones are meant.
    for (unit, number) in units.iter().rev().zip(numbers.iter().rev()) {
        let number = if negative {
            format!("-{number}")
        } else {
            (*number).to_owned()
        };
        at = add(at, &number, unit)?;
    }
    Some(at)
}

/// The number a text begins with, as MySQL takes texts for numbers.
pub fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let mut end = 0;
    let (mut seen_dot, mut seen_exponent) = (false, false);
    let bytes = text.as_bytes();
    while end < bytes.len() {
        let after_exponent = end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        match bytes[end] {
            b'0'..=b'9' => {}
            b'+' | b'-' if end == 0 || after_exponent => {}
            b'.' if !seen_dot && !seen_exponent => seen_dot = true,
            b'e' | b'E' if !seen_exponent && end > 0 => seen_exponent = true,
            _ => break,
        }
        end += 1;
    }
    while end > 0 {
        if let Ok(number) = text[..end].parse() {
            return number;
        }
        end -= 1;
    }
    0.0
}

/// DATE_FORMAT.
pub fn formatted(at: DateTime, pattern: &str) -> String {
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(c) = chars.next() else { break };
        push_formatted(&mut out, at, c);
    }
    out
}

fn push_formatted(out: &mut String, at: DateTime, code: char) {
    use std::fmt::Write;
    let weekday = at.weekday();
    let hour12 = (at.hour() + 11) % 12 + 1;
    let meridiem = if at.hour() < 12 { "AM" } else { "PM" };
    let written = match code {
        'Y' => write!(out, "{:04}", at.year()),
        'y' => write!(out, "{:02}", at.year() % 100),
        'm' => write!(out, "{:02}", at.month()),
        'c' => write!(out, "{}", at.month()),
        'M' => write!(out, "{}", at.strftime("%B")),
        'b' => write!(out, "{}", at.strftime("%b")),
        'd' => write!(out, "{:02}", at.day()),
        'e' => write!(out, "{}", at.day()),
        'j' => write!(out, "{:03}", at.day_of_year()),
        'H' => write!(out, "{:02}", at.hour()),
        'k' => write!(out, "{}", at.hour()),
        'h' | 'I' => write!(out, "{hour12:02}"),
        'l' => write!(out, "{hour12}"),
        'i' => write!(out, "{:02}", at.minute()),
        's' | 'S' => write!(out, "{:02}", at.second()),
        'f' => write!(out, "{:06}", at.subsec_nanosecond() / 1000),
        'p' => write!(out, "{meridiem}"),
        'r' => write!(
            out,
            "{hour12:02}:{:02}:{:02} {meridiem}",
            at.minute(),
            at.second()
        ),
        'T' => write!(
            out,
            "{:02}:{:02}:{:02}",
            at.hour(),
            at.minute(),
            at.second()
        ),
        'W' => write!(out, "{}", at.strftime("%A")),
        'a' => write!(out, "{}", at.strftime("%a")),
        'w' => write!(out, "{}", weekday.to_sunday_zero_offset()),
        'u' | 'v' => write!(out, "{:02}", at.iso_week_date().week()),
        'x' => write!(out, "{}", at.iso_week_date().year()),
        other => write!(out, "{other}"),
    };
    let _ = written; // a String takes everything
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_in_each_way_of_writing() {
        for (written, read) in [
            ("2026-03-01 10:00:00.25", "2026-03-01 10:00:00.250000"),
            ("2026-03-01T10:00:00", "2026-03-01 10:00:00.000000"),
            ("2026-3-1", "2026-03-01 00:00:00.000000"),
            ("20260301", "2026-03-01 00:00:00.000000"),
            ("20260301102030", "2026-03-01 10:20:30.000000"),
            ("26-03-01", "2026-03-01 00:00:00.000000"),
        ] {
            assert_eq!(parse(written).map(|at| text(at, 6)).as_deref(), Some(read));
        }
        for wrong in [
            "",
            "now",
            "2026-13-01",
            "2026-02-30",
            "0000-00-00",
            "2026-03-01 25:00:00",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn months_are_counted_as_a_person_does() {
        let at = |text| parse(text).expect("a stamp");
        let cases = [
            ("MONTH", "2026-01-31", "2026-02-28", 0),
            ("MONTH", "2026-01-15", "2026-03-15", 2),
            ("YEAR", "2020-02-29", "2026-02-28", 5),
            ("SECOND", "2026-01-01 00:00:01.5", "2026-01-01 00:00:03", 1),
            ("DAY", "2026-01-02", "2026-01-01", -1),
        ];
        for (unit, from, to, wanted) in cases {
            assert_eq!(
                difference(unit, at(from), at(to)),
                Some(wanted),
                "{unit} {from} {to}"
            );
        }
        let sum = |from, amount, unit| add(at(from), amount, unit).map(|at| text(at, 0));
        assert_eq!(
            sum("2026-01-31", "1", "MONTH").as_deref(),
            Some("2026-02-28 00:00:00")
        );
        assert_eq!(
            sum("2026-01-31", "-1:30", "HOUR_MINUTE").as_deref(),
            Some("2026-01-30 22:30:00")
        );
        assert_eq!(
            sum("2026-01-31", "1.5", "SECOND").as_deref(),
            Some("2026-01-31 00:00:01")
        );
    }
}
