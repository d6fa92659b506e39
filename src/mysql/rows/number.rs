//! Decimal text to whole microseconds, without passing through floating point.

/// `1764444.934913` → 1764444934913; extra digits are cut. `None` when it is no decimal number or does not fit.
pub fn micros(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let mut value = whole.parse::<i64>().ok()?;
    for place in 0..6 {
        let digit = fraction.as_bytes().get(place).map_or(0, |b| b - b'0');
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(if negative { -value } else { value })
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn decimals_keep_every_microsecond() {
        for (text, expected) in [
            ("1764444709.934913", Some(1_764_444_709_934_913)),
            ("0.000000", Some(0)),
            ("0", Some(0)),
            ("-3600.5", Some(-3_600_500_000)),
            ("1.1234567", Some(1_123_456)),
            ("", None),
            ("+1", None),
            ("1.2x", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(micros(text.as_bytes()), expected, "{text}");
        }
    }
}
