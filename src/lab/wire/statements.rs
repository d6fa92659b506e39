//! Cuts the text of one command into its statements.

/// The statements of a command sent by a client that may send several at once: cut at every `;` outside quotes and
/// comments; empty ones are left out.
pub fn split(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = if has_compound_body(rest) {
            rest.len()
        } else {
            end_of_first(rest)
        };
        let statement = rest[..end].trim();
        if !statement.is_empty() {
            statements.push(statement);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    statements
}

/// Whether there is nothing after the first statement.
pub fn is_one_statement(text: &str) -> bool {
    split(text).len() == 1
}

/// `CREATE EVENT … DO BEGIN …; …; END`: the semicolons inside belong to the body. Such a statement is taken to reach to
/// the end of the command, which is how clients send it.
fn has_compound_body(text: &str) -> bool {
    let mut words = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("create"))
        && text[..end_of_first(text)]
            .to_ascii_uppercase()
            .split_whitespace()
            .any(|word| word == "BEGIN")
}

/// Where the first `;` outside quotes and comments is, or the end.
fn end_of_first(text: &str) -> usize {
    let mut rest = text;
    loop {
        let skipped = match rest.as_bytes() {
            [] | [b';', ..] => break,
            [quote @ (b'\'' | b'"' | b'`'), ..] => quoted_length(rest, *quote),
            [b'/', b'*', ..] => length_through(rest, "*/"),
            [b'-', b'-', b' ' | b'\t' | b'\n', ..] | [b'#', ..] => length_through(rest, "\n"),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        rest = &rest[skipped..];
    }
    text.len() - rest.len()
}

/// A doubled quote reads as two quoted texts in a row, which comes to the same.
pub(super) fn quoted_length(text: &str, quote: u8) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        if byte == quote {
            return at + 1;
        }
        if byte == b'\\' && quote != b'`' {
            bytes.next();
        }
    }
    text.len()
}

pub(super) fn length_through(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |at| at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_cut_between_statements_only() {
        for (text, wanted) in [
            ("", vec![]),
            (" ; ;", vec![]),
            ("SELECT 1", vec!["SELECT 1"]),
            ("SELECT 1; SELECT 2;", vec!["SELECT 1", "SELECT 2"]),
            (
                "SELECT ';', \"a;b\", `c;d`; DO 1",
                vec!["SELECT ';', \"a;b\", `c;d`", "DO 1"],
            ),
            (r"SELECT 'it\';s'; DO 1", vec![r"SELECT 'it\';s'", "DO 1"]),
            ("SELECT 'it'';s'; DO 1", vec!["SELECT 'it'';s'", "DO 1"]),
            ("SELECT '北;京', 'open;", vec!["SELECT '北;京', 'open;"]),
            (
                "/* a;b */ SELECT 1 -- c;d\n; DO 1",
                vec!["/* a;b */ SELECT 1 -- c;d", "DO 1"],
            ),
            (
                "CREATE EVENT e DO BEGIN DO 1; DO 2; END",
                vec!["CREATE EVENT e DO BEGIN DO 1; DO 2; END"],
            ),
            (
                "CREATE TABLE t (a INT); BEGIN; COMMIT",
                vec!["CREATE TABLE t (a INT)", "BEGIN", "COMMIT"],
            ),
        ] {
            assert_eq!(split(text), wanted, "{text}");
        }
    }
}
