//! Patterns as `LIKE` has them: `%` any text, `_` any character, `\` before either: itself.

/// Without regard to case, as `SHOW … LIKE`.
pub fn is_like(text: &str, pattern: &str) -> bool {
    is_exactly_like(&text.to_lowercase(), &pattern.to_lowercase())
}

/// As the replication filters compare where names of tables have a case.
pub fn is_exactly_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    like(&text, &pattern)
}

/// Only the last `%` is ever tried again: many of them must not take for ever.
fn like(mut text: &[char], mut pattern: &[char]) -> bool {
    let mut again: Option<(&[char], &[char])> = None;
    loop {
        let matched = match (pattern, text) {
            ([], []) => return true,
            (['%', rest @ ..], _) => {
                again = Some((text, rest));
                pattern = rest;
                continue;
            }
            (['_', rest @ ..], [_, after @ ..]) => Some((rest, after)),
            (['\\', literal, rest @ ..], [first, after @ ..]) => {
                (literal == first).then_some((rest, after))
            }
            ([literal, rest @ ..], [first, after @ ..]) if literal == first => Some((rest, after)),
            _ => None,
        };
        (pattern, text) = match (matched, again) {
            (Some(both), _) => both,
            (None, Some(([_, later @ ..], rest))) => {
                again = Some((later, rest));
                (rest, later)
            }
            (None, _) => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_show_like() {
        for (text, pattern, is) in [
            ("rpl_semi_sync_source_enabled", "rpl_semi%", true),
            ("read_only", "read\\_only", true),
            ("readXonly", "read\\_only", false),
            ("read\\Xonly", "read\\_only", false),
            ("Uptime", "upTIME", true),
            ("wait_timeout", "%time", false),
            ("wait_timeout", "%t%_%t", true),
            ("", "%", true),
            ("", "_", false),
            ("abc", "%%c", true),
            (
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "%a%a%a%a%a%a%a%a%a%a%a%a%b",
                false,
            ),
        ] {
            assert_eq!(is_like(text, pattern), is, "{text} {pattern}");
        }
        assert!(!is_exactly_like("shop.Marks", "shop.m%"));
    }
}
