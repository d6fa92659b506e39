//! Does a replication filter keep a table from this replica? (R31)
//!
//! The rules of "How Servers Evaluate Replication Filtering Rules" (MySQL 8.4 manual, 19.2.5) for row-based events,
//! reduced to one question: can a change of `schema.table` arrive here?

use crate::model::replication::Filters;

/// The filter that keeps the table out, name and text as the server lists them; `None` when it arrives.
pub fn excluded_by<'a>(
    filters: &'a Filters,
    schema: &str,
    table: &str,
) -> Option<(&'static str, &'a str)> {
    let full = format!("{schema}.{table}");
    let listed = |list: &str, name: &str| {
        list.split(',')
            .any(|entry| entry.trim().eq_ignore_ascii_case(name))
    };
    let matches = |list: &str| list.split(',').any(|pattern| like(pattern.trim(), &full));

    if !filters.do_db.is_empty() && !listed(&filters.do_db, schema) {
        return Some(("Replicate_Do_DB", &filters.do_db));
    }
    if filters.do_db.is_empty() && listed(&filters.ignore_db, schema) {
        return Some(("Replicate_Ignore_DB", &filters.ignore_db));
    }
    if listed(&filters.do_table, &full) {
        return None;
    }
    if listed(&filters.ignore_table, &full) {
        return Some(("Replicate_Ignore_Table", &filters.ignore_table));
    }
    if !filters.wild_do_table.is_empty() && matches(&filters.wild_do_table) {
        return None;
    }
    if matches(&filters.wild_ignore_table) {
        return Some(("Replicate_Wild_Ignore_Table", &filters.wild_ignore_table));
    }
    if !filters.do_table.is_empty() {
        return Some(("Replicate_Do_Table", &filters.do_table));
    }
    if !filters.wild_do_table.is_empty() {
        return Some(("Replicate_Wild_Do_Table", &filters.wild_do_table));
    }
    rewritten_away(filters, schema).then_some(("Replicate_Rewrite_DB", filters.rewrite_db.as_str()))
}

/// `Replicate_Rewrite_DB` is a list of `(from,to)` pairs: what came from `schema` arrives under another name.
fn rewritten_away(filters: &Filters, schema: &str) -> bool {
    filters.rewrite_db.split('(').skip(1).any(|pair| {
        let mut names = pair.trim_end_matches([')', ',', ' ']).split(',').map(str::trim);
        matches!((names.next(), names.next()), (Some(from), Some(to)) if from == schema && to != schema)
    })
}

/// SQL LIKE with `%`, `_` and `\` as escape, over bytes.
fn like(pattern: &str, text: &str) -> bool {
    fn at(p: &[u8], t: &[u8]) -> bool {
        match p {
            [] => t.is_empty(),
            [b'%', rest @ ..] => (0..=t.len()).any(|skip| at(rest, &t[skip..])),
            [b'_', rest @ ..] => !t.is_empty() && at(rest, &t[1..]),
            [b'\\', c, rest @ ..] | [c, rest @ ..] => {
                t.first().is_some_and(|b| b.eq_ignore_ascii_case(c)) && at(rest, &t[1..])
            }
        }
    }
    !pattern.is_empty() && at(pattern.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r31_each_kind_of_filter_that_hides_the_heartbeat_is_named() {
        let none = Filters::default();
        for (filters, hidden_by) in [
            (none.clone(), None),
            (
                Filters {
                    do_db: "shop".into(),
                    ..none.clone()
                },
                Some("Replicate_Do_DB"),
            ),
            (
                Filters {
                    do_db: "shop,monitor".into(),
                    ..none.clone()
                },
                None,
            ),
            (
                Filters {
                    ignore_db: "monitor".into(),
                    ..none.clone()
                },
                Some("Replicate_Ignore_DB"),
            ),
            (
                Filters {
                    ignore_table: "monitor.heartbeat".into(),
                    ..none.clone()
                },
                Some("Replicate_Ignore_Table"),
            ),
            (
                Filters {
                    do_table: "shop.orders".into(),
                    ..none.clone()
                },
                Some("Replicate_Do_Table"),
            ),
            (
                Filters {
                    wild_do_table: "shop.%".into(),
                    ..none.clone()
                },
                Some("Replicate_Wild_Do_Table"),
            ),
            (
                Filters {
                    wild_do_table: "mon%.heart_eat".into(),
                    ..none.clone()
                },
                None,
            ),
            (
                Filters {
                    wild_ignore_table: "monitor.%".into(),
                    ..none.clone()
                },
                Some("Replicate_Wild_Ignore_Table"),
            ),
            (
                Filters {
                    rewrite_db: "(monitor,other)".into(),
                    ..none.clone()
                },
                Some("Replicate_Rewrite_DB"),
            ),
            (
                Filters {
                    rewrite_db: "(a,b),(c,d)".into(),
                    ..none.clone()
                },
                None,
            ),
        ] {
            assert_eq!(
                excluded_by(&filters, "monitor", "heartbeat").map(|f| f.0),
                hidden_by,
                "{filters:?}"
            );
        }
    }

    #[test]
    fn like_patterns_match_as_in_sql() {
        for (pattern, text, matches) in [
            ("a%", "abc", true),
            ("%", "", true),
            ("a\\_b.t", "a_b.t", true),
            ("a\\_b.t", "axb.t", false),
            ("", "x", false),
        ] {
            assert_eq!(like(pattern, text), matches, "{pattern} {text}");
        }
    }
}
