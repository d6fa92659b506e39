//! Lengths of time as a person writes them in a file or on a command line: `3s`, `250ms`, `1.5 s`, `2m`, `1h`.

use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Span;

/// The first of several names of a unit is the one written.
const UNITS: [(&[&str], i64); 6] = [
    (&["d"], 86_400_000_000),
    (&["h"], 3_600_000_000),
    (&["m", "min"], 60_000_000),
    (&["s", "sec"], 1_000_000),
    (&["ms"], 1_000),
    (&["us", "µs", "μs"], 1),
];

/// Exact to the microsecond; a number without a unit is refused, since nobody could tell seconds from milliseconds.
pub fn parse(text: &str) -> Result<Span, Phrase> {
    let wrong = || phrase("settings.duration.wrong").with("text", text);
    let trimmed = text.trim();
    let unit_at = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or_else(wrong)?;
    let (number, unit) = trimmed.split_at(unit_at);
    let unit = unit.trim_start();
    let micros_per_unit = UNITS
        .iter()
        .find(|(names, _)| names.contains(&unit))
        .map(|(_, micros)| *micros)
        .ok_or_else(wrong)?;
    let micros = exact_micros(number, micros_per_unit).ok_or_else(wrong)?;
    Ok(Span::from_micros(micros))
}

/// In the largest unit that needs no fraction. Reads back as the same; negative lengths, which no setting has, as zero.
pub fn print(span: Span) -> String {
    let micros = span.or_zero().micros();
    if micros == 0 {
        return "0s".to_owned();
    }
    UNITS
        .iter()
        .find(|(_, unit)| micros % unit == 0)
        .map(|(names, unit)| format!("{}{}", micros / unit, names[0]))
        .unwrap_or_else(|| format!("{micros}us"))
}

/// Whole and decimal part apart, in integers: 0.1 s is 100,000 µs and nothing near it.
fn exact_micros(number: &str, micros_per_unit: i64) -> Option<i64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || decimals.contains('.') || decimals.len() > 12 {
        return None;
    }
    let whole = whole.parse::<i64>().ok()?.checked_mul(micros_per_unit)?;
    let scale = 10_i128.pow(decimals.len() as u32);
    let fraction = match decimals {
        "" => 0,
        digits => digits.parse::<i128>().ok()? * i128::from(micros_per_unit),
    };
    match fraction % scale {
        0 => whole.checked_add(i64::try_from(fraction / scale).ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_read_as_a_person_means_them() {
        for (text, micros) in [
            ("3s", 3_000_000),
            ("250ms", 250_000),
            (" 1.5 s ", 1_500_000),
            ("0.1s", 100_000),
            ("2m", 120_000_000),
            ("2min", 120_000_000),
            ("1h", 3_600_000_000),
            ("7d", 604_800_000_000),
            ("15us", 15),
            ("15µs", 15),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Span::from_micros(micros)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "3",
            "s",
            "-3s",
            "3 parsecs",
            "3.s",
            ".5s",
            "1.2.3s",
            "0.1us",
            "9999999999999h",
            "３s",
            "1e3s",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_written_in_the_largest_whole_unit() {
        for (span, text) in [
            (Span::from_secs(3), "3s"),
            (Span::from_millis(1500), "1500ms"),
            (Span::from_secs(90), "90s"),
            (Span::from_secs(7200), "2h"),
            (Span::ZERO, "0s"),
        ] {
            assert_eq!(print(span), text);
        }
    }

    proptest! {
        #[test]
        fn every_length_reads_back_exactly(micros in 0..=i64::MAX) {
            let span = Span::from_micros(micros);
            prop_assert_eq!(parse(&print(span)), Ok(span));
        }

        #[test]
        fn no_text_panics(text in any::<String>(), number in "[0-9.]{0,40}", unit in "[a-zµ]{0,3}") {
            let _ = parse(&text);
            let _ = parse(&format!("{number}{unit}"));
        }
    }
}
