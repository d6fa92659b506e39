//! How numbers are worded: in the unit a person would say, with no more digits than that person would say.
//!
//! A value that is exactly whole is written whole ("3 s", a threshold), one that was rounded keeps its tenth ("3.0 s",
//! a measurement), so that a figure that is watched does not jump in width.

use std::fmt;

use super::Catalogue;
use crate::model::time::Span;

/// A number with its units apart, for those who draw them in two sizes: `[("2", "min"), ("5", "s")]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure(pub Vec<(String, String)>);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (digits, unit)) in self.0.iter().enumerate() {
            let gap = if n == 0 { "" } else { " " };
            write!(f, "{gap}{digits} {unit}")?;
        }
        Ok(())
    }
}

/// What is written where there is no number at all.
const NO_NUMBER: &str = "—";
/// The real minus sign, as wide as a digit.
const MINUS: char = '−';

impl Catalogue {
    /// A length of time: 85 µs, 0.4 ms, 12 ms, 3.4 s, 2 min 5 s, 2 h 5 min, 3 d 4 h.
    pub fn span(&self, span: Span) -> String {
        self.as_one(self.span_figure(span).to_string())
    }

    /// The same with the units apart.
    pub fn span_figure(&self, span: Span) -> Figure {
        let micros = span.micros().unsigned_abs();
        self.figure(span_parts(micros), span.is_negative())
    }

    /// How long ago something was: "0.2 s ago", "3 min 20 s ago"; finer than a tenth of a second is "just now". A
    /// negative age lies ahead: "in 3.0 s".
    pub fn ago(&self, age: Span) -> String {
        let micros = age.micros().unsigned_abs();
        if micros < 50_000 {
            return self.text("number.just_now").to_owned();
        }
        let parts = if micros < 9_950_000 {
            vec![(tenths(micros, SECOND), "unit.s")]
        } else {
            span_parts(micros)
        };
        let span = self.as_one(self.figure(parts, false).to_string());
        let key = if age.is_negative() {
            "number.ahead"
        } else {
            "number.ago"
        };
        self.text(key).replace("{span}", &span)
    }

    /// An amount of data in powers of a thousand: 512 B, 4.1 kB, 41 MB.
    pub fn bytes(&self, bytes: u64) -> String {
        let mut unit = 1;
        for name in ["B", "kB", "MB", "GB", "TB"] {
            // 999.5 of a unit would be rounded to 1,000 of it and is 1.0 of the next one instead
            if bytes < unit * 1_000 - unit / 2 {
                return self.as_one(format!("{} {name}", short(bytes, unit)));
            }
            unit *= 1_000;
        }
        self.as_one(format!("{} PB", short(bytes, unit)))
    }

    /// A number of things: 524,288.
    pub fn count(&self, count: u64) -> String {
        let digits = count.to_string();
        let mut text = String::with_capacity(digits.len() + digits.len() / 3);
        for (n, digit) in digits.chars().enumerate() {
            if n > 0 && (digits.len() - n).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        text
    }

    /// So many a second: 0.3/s, 27/s.
    pub fn rate(&self, per_second: f64) -> String {
        if !per_second.is_finite() {
            return NO_NUMBER.to_owned();
        }
        let amount = per_second.abs();
        let digits = if amount == 0.0 {
            "0".to_owned()
        } else if amount < 0.05 {
            "<0.1".to_owned()
        } else if amount < 9.95 {
            format!("{amount:.1}")
        } else {
            self.count(amount.round() as u64)
        };
        let digits = signed(digits, per_second < 0.0);
        self.text("number.per_second").replace("{n}", &digits)
    }

    /// So much data a second: 4.1 kB/s.
    pub fn bytes_rate(&self, bytes_per_second: f64) -> String {
        if !bytes_per_second.is_finite() {
            return NO_NUMBER.to_owned();
        }
        format!("{}/s", self.bytes(bytes_per_second.round() as u64))
    }

    /// A share, given as 0 to 1: 0.4 %, 31 %. Only exactly none is 0 %, and only exactly all is 100 %.
    pub fn percent(&self, share: f64) -> String {
        if !share.is_finite() {
            return NO_NUMBER.to_owned();
        }
        let percent = share.abs() * 100.0;
        let digits = if percent == 0.0 || percent == 100.0 {
            format!("{percent:.0}")
        } else if percent < 0.05 {
            "<0.1".to_owned()
        } else if percent < 9.95 {
            format!("{percent:.1}")
        } else if (99.5..100.0).contains(&percent) {
            if percent < 99.95 {
                format!("{percent:.1}")
            } else {
                ">99.9".to_owned()
            }
        } else {
            self.count(percent.round() as u64)
        };
        let digits = signed(digits, share < 0.0);
        self.text("number.percent").replace("{n}", &digits)
    }

    fn figure(&self, parts: Vec<(String, &str)>, negative: bool) -> Figure {
        let parts = parts.into_iter().enumerate().map(|(n, (digits, unit))| {
            let digits = signed(digits, negative && n == 0);
            (digits, self.text(unit).to_owned())
        });
        Figure(parts.collect())
    }
}

const MILLISECOND: u64 = 1_000;
const SECOND: u64 = 1_000_000;

/// Digits and the catalogue's keys of their units. Each limit lies where rounding would reach the next unit.
fn span_parts(micros: u64) -> Vec<(String, &'static str)> {
    match micros {
        0 => vec![("0".to_owned(), "unit.s")],
        1..100 => vec![(micros.to_string(), "unit.us")],
        100..999_500 => vec![(short(micros, MILLISECOND), "unit.ms")],
        999_500..59_500_000 => vec![(short(micros, SECOND), "unit.s")],
        _ => long_span_parts((micros + SECOND / 2) / SECOND),
    }
}

/// From a minute on: two units, whole numbers.
fn long_span_parts(seconds: u64) -> Vec<(String, &'static str)> {
    let minutes = (seconds + 30) / 60;
    let hours = (minutes + 30) / 60;
    if seconds < 3_600 {
        two_parts((seconds / 60, "unit.min"), (seconds % 60, "unit.s"))
    } else if minutes < 24 * 60 {
        two_parts((minutes / 60, "unit.h"), (minutes % 60, "unit.min"))
    } else {
        two_parts((hours / 24, "unit.d"), (hours % 24, "unit.h"))
    }
}

fn two_parts(
    (large, large_unit): (u64, &'static str),
    (small, small_unit): (u64, &'static str),
) -> Vec<(String, &'static str)> {
    if small > 0 {
        vec![
            (large.to_string(), large_unit),
            (small.to_string(), small_unit),
        ]
    } else if large_unit == "unit.min" {
        // Chinese says "2 分 5 秒" but "2 分钟"
        vec![(large.to_string(), "unit.min_alone")]
    } else {
        vec![(large.to_string(), large_unit)]
    }
}

/// Whole, or with a tenth below ten.
fn short(amount: u64, unit: u64) -> String {
    if amount.is_multiple_of(unit) || amount >= unit * 10 - unit / 20 {
        let half_up = u64::from(amount % unit >= unit.div_ceil(2));
        return (amount / unit + half_up).to_string();
    }
    tenths(amount, unit)
}

fn tenths(amount: u64, unit: u64) -> String {
    let tenths = (amount * 10 + unit / 2) / unit;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn signed(digits: String, negative: bool) -> String {
    if negative {
        format!("{MINUS}{digits}")
    } else {
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    fn english() -> &'static Catalogue {
        Catalogue::of(Language::English)
    }

    fn chinese() -> &'static Catalogue {
        Catalogue::of(Language::SimplifiedChinese)
    }

    #[test]
    fn a_span_is_said_in_the_unit_a_person_would_say() {
        for (micros, en, zh) in [
            (0, "0 s", "0 秒"),
            (1, "1 µs", "1 微秒"),
            (99, "99 µs", "99 微秒"),
            (100, "0.1 ms", "0.1 毫秒"),
            (430, "0.4 ms", "0.4 毫秒"),
            (1_000, "1 ms", "1 毫秒"),
            (1_004, "1.0 ms", "1.0 毫秒"),
            (9_949, "9.9 ms", "9.9 毫秒"),
            (9_950, "10 ms", "10 毫秒"),
            (12_300, "12 ms", "12 毫秒"),
            (999_499, "999 ms", "999 毫秒"),
            (999_500, "1.0 s", "1.0 秒"),
            (3_000_000, "3 s", "3 秒"),
            (3_400_000, "3.4 s", "3.4 秒"),
            (11_000_000, "11 s", "11 秒"),
            (59_499_999, "59 s", "59 秒"),
            (59_500_000, "1 min", "1 分钟"),
            (125_000_000, "2 min 5 s", "2 分 5 秒"),
            (3_599_600_000, "1 h", "1 小时"),
            (7_500_000_000, "2 h 5 min", "2 小时 5 分"),
            (86_399_000_000, "1 d", "1 天"),
            (273_600_000_000, "3 d 4 h", "3 天 4 小时"),
            (-744_000_000, "−12 min 24 s", "−12 分 24 秒"),
            (-400, "−0.4 ms", "−0.4 毫秒"),
        ] {
            let span = Span::from_micros(micros);
            assert_eq!(english().span(span), en, "{micros} µs");
            assert_eq!(chinese().span(span), zh, "{micros} µs");
        }
        assert_eq!(english().span(Span::MAX), "106751991 d 4 h");
        assert_eq!(
            english().span(Span::from_micros(i64::MIN)),
            "−106751991 d 4 h"
        );
    }

    #[test]
    fn the_figure_keeps_numbers_and_units_apart() {
        let parts = |span| english().span_figure(span).0;
        let pair = |digits: &str, unit: &str| (digits.to_owned(), unit.to_owned());
        assert_eq!(parts(Span::from_millis(12)), [pair("12", "ms")]);
        assert_eq!(
            parts(Span::from_secs(-125)),
            [pair("−2", "min"), pair("5", "s")]
        );
    }

    #[test]
    fn an_age_is_never_finer_than_a_tenth_of_a_second() {
        for (millis, en, zh) in [
            (0, "just now", "刚刚"),
            (49, "just now", "刚刚"),
            (200, "0.2 s ago", "0.2 秒前"),
            (1_000, "1.0 s ago", "1.0 秒前"),
            (9_960, "10 s ago", "10 秒前"),
            (180_000, "3 min ago", "3 分钟前"),
            (200_000, "3 min 20 s ago", "3 分 20 秒前"),
            (-3_000, "in 3.0 s", "3.0 秒后"),
        ] {
            let age = Span::from_millis(millis);
            assert_eq!(english().ago(age), en, "{millis} ms");
            assert_eq!(chinese().ago(age), zh, "{millis} ms");
        }
    }

    #[test]
    fn data_is_counted_in_thousands() {
        for (bytes, text) in [
            (0, "0 B"),
            (512, "512 B"),
            (999, "999 B"),
            (1_000, "1 kB"),
            (4_096, "4.1 kB"),
            (41_300_000, "41 MB"),
            (999_500, "1.0 MB"),
            (9_960_000_000, "10 GB"),
            (u64::MAX, "18447 PB"),
        ] {
            assert_eq!(english().bytes(bytes), text);
        }
        assert_eq!(english().bytes_rate(4_096.4), "4.1 kB/s");
        assert_eq!(english().bytes_rate(f64::NAN), "—");
    }

    #[test]
    fn things_are_grouped_by_three() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (4_213, "4,213"),
            (524_288, "524,288"),
            (1_000_000, "1,000,000"),
        ] {
            assert_eq!(english().count(count), text);
        }
    }

    #[test]
    fn a_rate_that_is_not_zero_never_reads_zero() {
        for (rate, en, zh) in [
            (0.0, "0/s", "0/秒"),
            (0.01, "<0.1/s", "<0.1/秒"),
            (0.25, "0.2/s", "0.2/秒"),
            (27.4, "27/s", "27/秒"),
            (12_345.0, "12,345/s", "12,345/秒"),
            (-3.0, "−3.0/s", "−3.0/秒"),
            (f64::INFINITY, "—", "—"),
        ] {
            assert_eq!(english().rate(rate), en);
            assert_eq!(chinese().rate(rate), zh);
        }
    }

    #[test]
    fn only_none_is_zero_percent_and_only_all_is_a_hundred() {
        for (share, en, zh) in [
            (0.0, "0 %", "0%"),
            (0.000_4, "<0.1 %", "<0.1%"),
            (0.004, "0.4 %", "0.4%"),
            (0.31, "31 %", "31%"),
            (0.998, "99.8 %", "99.8%"),
            (0.999_9, ">99.9 %", ">99.9%"),
            (1.0, "100 %", "100%"),
            (2.5, "250 %", "250%"),
            (f64::NAN, "—", "—"),
        ] {
            assert_eq!(english().percent(share), en);
            assert_eq!(chinese().percent(share), zh);
        }
    }
}
