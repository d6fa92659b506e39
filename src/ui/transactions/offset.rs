//! Finds `LIMIT … OFFSET` so deep that the server reads and throws away what it skips (C-11): a slow read in disguise.

/// Beyond this many skipped rows a page is a scan.
const DEEP: u64 = 10_000;

/// How many rows the deepest OFFSET of a statement skips, when that is more than 10,000.
pub fn deep_offset(statement: &str) -> Option<u64> {
    let words: Vec<&str> = statement
        .split(|c: char| c.is_whitespace() || c == '(' || c == ')' || c == ';')
        .filter(|word| !word.is_empty())
        .collect();
    let mut deepest = None;
    for (n, word) in words.iter().enumerate() {
        let after = |distance: usize| words.get(n + distance).copied().unwrap_or("");
        let skipped = if word.eq_ignore_ascii_case("offset") {
            after(1).parse::<u64>().ok()
        } else if word.eq_ignore_ascii_case("limit") {
            comma_form(after(1), after(2))
        } else {
            None
        };
        deepest = deepest.max(skipped);
    }
    deepest.filter(|skipped| *skipped > DEEP)
}

/// `LIMIT 20000, 10`, with or without blanks around the comma.
fn comma_form(first: &str, second: &str) -> Option<u64> {
    match first.split_once(',') {
        Some((skipped, _)) => skipped.parse().ok(),
        None if second.starts_with(',') => first.parse().ok(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c11_deep_pages_are_found_in_both_spellings() {
        for (statement, skipped) in [
            (
                "SELECT * FROM t ORDER BY id LIMIT 10 OFFSET 20000",
                Some(20_000),
            ),
            ("select * from t limit 20000, 10", Some(20_000)),
            ("select * from t limit 20000 ,10", Some(20_000)),
            (
                "SELECT * FROM (SELECT 1 FROM t LIMIT 5 OFFSET 50000) x LIMIT 1",
                Some(50_000),
            ),
            ("SELECT * FROM t LIMIT 10 OFFSET 10000", None),
            ("SELECT * FROM t LIMIT 20000", None),
            ("SELECT `offset` FROM t WHERE note = 'limit'", None),
        ] {
            assert_eq!(deep_offset(statement), skipped, "{statement}");
        }
    }
}
