//! Heartbeat rows and their stamps: `DATETIME`, `TIMESTAMP`, text with or without a `T`, integers (R25–R27).

use crate::model::sample::{HeartbeatRow, HeartbeatRows, StampKind};
use crate::model::time::{ServerTime, Span};
use crate::model::trouble::readable;

use super::{ColumnKind, Row, Rows};

/// `read_now` is the server's clock of the same poll, for a table without a row.
pub fn heartbeat(rows: &Rows, table: &str, read_now: Option<ServerTime>) -> Option<HeartbeatRows> {
    let read_at = rows
        .first()
        .and_then(|row| {
            let bytes = row.bytes(&["utc_now"]);
            wall(bytes.value()?).map(|wall| ServerTime(wall.micros))
        })
        .or(read_now)?;
    Some(HeartbeatRows {
        table: table.to_owned(),
        rows: rows.iter().map(heartbeat_row).collect(),
        read_at,
    })
}

fn heartbeat_row(row: Row<'_>) -> HeartbeatRow {
    let bytes = row.bytes(&["stamp"]);
    let bytes = bytes.value().copied().unwrap_or_default();
    let column = row
        .place(&["stamp"])
        .map_or(ColumnKind::Other, |at| row.kind(at));
    let (kind, stamp) = match column {
        ColumnKind::Integer => (StampKind::Absolute, integer(bytes)),
        ColumnKind::Timestamp { .. } => (StampKind::Timestamp, wall(bytes)),
        ColumnKind::DateTime { .. } | ColumnKind::Other => (StampKind::Wall, wall(bytes)),
    };
    let decimals = match column {
        ColumnKind::DateTime { decimals } | ColumnKind::Timestamp { decimals } => Some(decimals),
        ColumnKind::Integer | ColumnKind::Other => stamp.map(|stamp| stamp.decimals),
    };
    HeartbeatRow {
        server_id: row.told(&["server_id"]),
        text: readable(bytes),
        kind,
        wall: stamp.map(|stamp| stamp.micros),
        resolution: step(decimals.unwrap_or(0)),
    }
}

/// The smallest step a stamp with so many decimals can show.
fn step(decimals: u8) -> Span {
    Span::from_micros(10_i64.pow(6 - u32::from(decimals.min(6))))
}

/// A stamp and how many decimals it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wall {
    /// Taken as if it were UTC.
    pub micros: i64,
    pub decimals: u8,
}

/// Seconds, milliseconds or microseconds since 1970, told apart by size: each is good for dates of 1971 to 2286.
fn integer(bytes: &[u8]) -> Option<Wall> {
    let number: i64 = std::str::from_utf8(bytes).ok()?.trim().parse().ok()?;
    let (factor, decimals) = match number {
        ..0 => return None,
        0..10_000_000_000 => (1_000_000, 0),
        10_000_000_000..10_000_000_000_000 => (1_000, 3),
        _ => (1, 6),
    };
    Some(Wall {
        micros: number.checked_mul(factor)?,
        decimals,
    })
}

/// `2026-03-01T10:00:00.001230` or with a space, 0–6 decimals, a final `Z` allowed. `None` for zero dates.
pub fn wall(bytes: &[u8]) -> Option<Wall> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let b = whole.as_bytes();
    let shape = b.len() == 19
        && (b[4], b[7], b[13], b[16]) == (b'-', b'-', b':', b':')
        && matches!(b[10], b' ' | b'T' | b't');
    if !shape || fraction.len() > 9 || !fraction.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| whole.get(from..to)?.parse::<u32>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if year == 0 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds =
        days_since_1970(year, month, day) * 86_400 + i64::from(hour * 3600 + minute * 60 + second);
    let decimals = fraction.len().min(6);
    let below = format!("{:0<6}", &fraction[..decimals]);
    Some(Wall {
        micros: seconds * 1_000_000 + below.parse::<i64>().ok()?,
        decimals: decimals as u8,
    })
}

/// Days of the proleptic Gregorian calendar: years begin in March, so that the leap day is the last.
fn days_since_1970(year: u32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day - 1);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::super::captured::table;
    use super::super::{Column, Rows};
    use super::*;

    fn micros_of(text: &str) -> Option<i64> {
        wall(text.as_bytes()).map(|wall| wall.micros)
    }

    #[test]
    fn r26_stamps_in_every_way_of_writing() {
        let expected = Some(1_772_359_200_001_230);
        assert_eq!(micros_of("2026-03-01T10:00:00.001230"), expected);
        assert_eq!(micros_of("2026-03-01 10:00:00.00123"), expected);
        assert_eq!(
            micros_of("2026-03-01 10:00:00"),
            Some(1_772_359_200_000_000)
        );
        assert_eq!(
            micros_of("2024-02-29 23:59:59Z"),
            Some(1_709_251_199_000_000)
        );
        assert_eq!(micros_of("1970-01-01 00:00:00.5"), Some(500_000));
    }

    #[test]
    fn zero_dates_and_nonsense_are_no_stamps() {
        for text in [
            "0000-00-00 00:00:00.000000",
            "",
            "now",
            "2026-13-01 00:00:00",
            "2026-03-01",
            "2026-03-01 25:00:00",
            "2026-03-01 10:00:00.x",
            "äöü6-03-01 10:00:00",
        ] {
            assert_eq!(micros_of(text), None, "{text}");
        }
    }

    #[test]
    fn r26_each_writer_has_its_row() {
        let told = heartbeat(
            &table(
                &["stamp", "server_id", "utc_now"],
                &[
                    &[
                        Some("2026-03-01T10:00:00.001230"),
                        Some("11"),
                        Some("2026-03-01 10:00:00.500000"),
                    ],
                    &[
                        Some("2025-11-05T09:00:00.000980"),
                        Some("7"),
                        Some("2026-03-01 10:00:00.500000"),
                    ],
                ],
            ),
            "monitor.heartbeat",
            None,
        )
        .expect("rows");
        let ids: Vec<_> = told.rows.iter().map(|row| row.server_id).collect();
        assert_eq!(ids, [Some(11), Some(7)]);
        assert_eq!(told.read_at, ServerTime(1_772_359_200_500_000));
        assert_eq!(told.rows[0].kind, StampKind::Wall);
        assert_eq!(told.rows[0].resolution, Span::from_micros(1));
    }

    #[test]
    fn r27_a_column_of_whole_seconds_says_so() {
        let read = |kind, text: &str| {
            let rows = Rows {
                columns: vec![Column {
                    name: "stamp".into(),
                    kind,
                }],
                cells: vec![vec![Some(text.as_bytes().to_vec())]],
            };
            let told = heartbeat(&rows, "t", Some(ServerTime(0))).expect("rows");
            (
                told.rows[0].kind,
                told.rows[0].resolution,
                told.rows[0].wall,
            )
        };
        let at = Some(1_772_359_200_000_000);
        let text = "2026-03-01 10:00:00";
        assert_eq!(
            read(ColumnKind::DateTime { decimals: 0 }, text),
            (StampKind::Wall, Span::from_secs(1), at)
        );
        assert_eq!(
            read(
                ColumnKind::Timestamp { decimals: 3 },
                "2026-03-01 10:00:00.000"
            ),
            (StampKind::Timestamp, Span::from_millis(1), at)
        );
        assert_eq!(
            read(ColumnKind::Integer, "1772359200000000"),
            (StampKind::Absolute, Span::from_micros(1), at)
        );
        assert_eq!(
            read(ColumnKind::Integer, "1772359200"),
            (StampKind::Absolute, Span::from_secs(1), at)
        );
    }

    #[test]
    fn an_empty_table_is_an_answer_too() {
        let told = heartbeat(&Rows::default(), "t", Some(ServerTime(5))).expect("an answer");
        assert_eq!((told.rows.len(), told.read_at), (0, ServerTime(5)));
    }
}
