//! What kind of statement a text is, without parsing all of it.

use super::problem::SqlProblem;

/// Who has to carry a statement out, told by its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// SELECT, WITH … SELECT, TABLE, VALUES, `(SELECT …)`.
    Select,
    /// INSERT, REPLACE, UPDATE, DELETE, WITH … UPDATE.
    Write,
    /// CREATE, ALTER, DROP, RENAME, TRUNCATE of schemas, tables and indexes.
    Ddl,
    /// SHOW TABLES, SHOW DATABASES, SHOW [FULL] COLUMNS, SHOW INDEX, SHOW CREATE TABLE, DESCRIBE of a table:
    /// about users' tables, so the tables answer them.
    ShowTables,
    /// DO expressions.
    Do,
    /// Everything below is the caller's. Any other SHOW.
    Show,
    Set,
    Use,
    Begin,
    Commit,
    Rollback,
    Savepoint,
    RollbackTo,
    ReleaseSavepoint,
    LockTables,
    UnlockTables,
    Kill,
    /// START, STOP, CHANGE, RESET of replication, PURGE of binary logs.
    Replication,
    /// CREATE, ALTER, DROP EVENT.
    Event,
    /// Users, roles, GRANT, REVOKE.
    Account,
    Flush,
    /// INSTALL, UNINSTALL.
    Plugin,
    Explain,
    /// ANALYZE, CHECK, OPTIMIZE, REPAIR TABLE.
    Maintain,
    /// PREPARE, EXECUTE, DEALLOCATE as SQL.
    Prepared,
    /// SHUTDOWN, RESTART.
    Shutdown,
    /// Nothing but comments.
    Empty,
    Other,
}

impl Kind {
    pub fn of(sql: &str) -> Kind {
        let words = first_words(sql);
        let word = |place: usize| words.get(place).map_or("", String::as_str);
        match word(0) {
            "" => Kind::Empty,
            "SELECT" | "TABLE" | "VALUES" | "(" => Kind::Select,
            "WITH" => with_what(sql),
            "INSERT" | "REPLACE" | "UPDATE" | "DELETE" => Kind::Write,
            "CREATE" | "ALTER" | "DROP" | "RENAME" => made(&words[1..]),
            "TRUNCATE" => Kind::Ddl,
            "SHOW" => shown(&words[1..]),
            "DESCRIBE" | "DESC" | "EXPLAIN" => described(&words[1..]),
            "DO" => Kind::Do,
            "SET" if word(1) == "PASSWORD" || word(2) == "ROLE" || word(1) == "ROLE" => {
                Kind::Account
            }
            "SET" => Kind::Set,
            "USE" => Kind::Use,
            "BEGIN" => Kind::Begin,
            "START" if word(1) == "TRANSACTION" => Kind::Begin,
            "START" | "STOP" | "CHANGE" | "RESET" | "PURGE" => Kind::Replication,
            "COMMIT" => Kind::Commit,
            "ROLLBACK" if word(1) == "TO" || word(2) == "TO" => Kind::RollbackTo,
            "ROLLBACK" => Kind::Rollback,
            "SAVEPOINT" => Kind::Savepoint,
            "RELEASE" => Kind::ReleaseSavepoint,
            "LOCK" => Kind::LockTables,
            "UNLOCK" => Kind::UnlockTables,
            "KILL" => Kind::Kill,
            "GRANT" | "REVOKE" => Kind::Account,
            "FLUSH" => Kind::Flush,
            "INSTALL" | "UNINSTALL" => Kind::Plugin,
            "ANALYZE" | "CHECK" | "OPTIMIZE" | "REPAIR" | "CHECKSUM" => Kind::Maintain,
            "PREPARE" | "EXECUTE" | "DEALLOCATE" => Kind::Prepared,
            "SHUTDOWN" | "RESTART" => Kind::Shutdown,
            _ => Kind::Other,
        }
    }

    /// [`super::Database::execute`] takes these.
    pub fn is_for_tables(self) -> bool {
        matches!(
            self,
            Kind::Select | Kind::Write | Kind::Ddl | Kind::ShowTables | Kind::Do | Kind::Explain
        )
    }

    /// An open transaction is committed before these.
    pub fn commits_before(self) -> bool {
        matches!(
            self,
            Kind::Ddl
                | Kind::Begin
                | Kind::LockTables
                | Kind::Event
                | Kind::Account
                | Kind::Flush
                | Kind::Plugin
                | Kind::Maintain
        )
    }

    /// Refused under `read_only` (1290).
    pub fn writes(self) -> bool {
        matches!(
            self,
            Kind::Write | Kind::Ddl | Kind::Event | Kind::Account | Kind::Plugin
        )
    }
}

/// What CREATE, ALTER, DROP, RENAME is about.
fn made(words: &[String]) -> Kind {
    const PASSED: &[&str] = &[
        "OR",
        "REPLACE",
        "TEMPORARY",
        "UNIQUE",
        "FULLTEXT",
        "SPATIAL",
        "ONLINE",
        "OFFLINE",
    ];
    let mut words = words
        .iter()
        .map(String::as_str)
        .filter(|word| !PASSED.contains(word));
    match words.next().unwrap_or("") {
        "EVENT" | "DEFINER" => Kind::Event,
        "USER" | "ROLE" => Kind::Account,
        "TABLE" | "TABLES" | "DATABASE" | "SCHEMA" | "INDEX" => Kind::Ddl,
        _ => Kind::Other,
    }
}

fn shown(words: &[String]) -> Kind {
    let mut words = words
        .iter()
        .map(String::as_str)
        .filter(|word| !["FULL", "EXTENDED"].contains(word));
    match (words.next().unwrap_or(""), words.next().unwrap_or("")) {
        (
            "TABLES" | "DATABASES" | "SCHEMAS" | "COLUMNS" | "FIELDS" | "INDEX" | "INDEXES"
            | "KEYS",
            _,
        ) => Kind::ShowTables,
        ("CREATE", "TABLE" | "DATABASE" | "SCHEMA") | ("TABLE", "STATUS") => Kind::ShowTables,
        _ => Kind::Show,
    }
}

/// `DESCRIBE orders` is about a table, `EXPLAIN SELECT …` about a plan.
fn described(words: &[String]) -> Kind {
    const PLANS: &[&str] = &[
        "SELECT",
        "INSERT",
        "REPLACE",
        "UPDATE",
        "DELETE",
        "WITH",
        "TABLE",
        "ANALYZE",
        "FORMAT",
        "EXTENDED",
        "PARTITIONS",
        "FOR",
        "(",
    ];
    match words.first().map_or("", String::as_str) {
        "" => Kind::Other,
        word if PLANS.contains(&word) => Kind::Explain,
        _ => Kind::ShowTables,
    }
}

/// The statement behind the WITH: the first of these words outside parentheses.
fn with_what(sql: &str) -> Kind {
    let mut depth = 0_u32;
    for piece in Pieces::of(sql) {
        match piece {
            Piece::Symbol('(') => depth += 1,
            Piece::Symbol(')') => depth = depth.saturating_sub(1),
            Piece::Word(word) if depth == 0 => match word.to_ascii_uppercase().as_str() {
                "UPDATE" | "DELETE" | "INSERT" | "REPLACE" => return Kind::Write,
                "SELECT" => return Kind::Select,
                _ => {}
            },
            _ => {}
        }
    }
    Kind::Select
}

/// Enough of them to tell the kind, in capitals.
fn first_words(sql: &str) -> Vec<String> {
    Pieces::of(sql)
        .filter_map(|piece| match piece {
            Piece::Word(word) => Some(word.to_ascii_uppercase()),
            Piece::Symbol('(') => Some("(".to_owned()),
            Piece::Quoted(text) => Some(text.to_owned()),
            _ => None,
        })
        .take(6)
        .collect()
}

/// A text taken apart as far as quotes and comments go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece<'a> {
    Word(&'a str),
    /// With its quotes.
    Quoted(&'a str),
    Symbol(char),
    Space,
    Comment,
}

struct Pieces<'a> {
    sql: &'a str,
    at: usize,
}

impl<'a> Pieces<'a> {
    fn of(sql: &'a str) -> Self {
        Pieces { sql, at: 0 }
    }

    fn take(&mut self, length: usize) -> &'a str {
        let from = self.at;
        self.at = (from + length).min(self.sql.len());
        &self.sql[from..self.at]
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = &self.sql[self.at..];
        let first = rest.chars().next()?;
        Some(match first {
            '\'' | '"' | '`' => Piece::Quoted(self.take(quoted_length(rest, first))),
            '#' => {
                self.take(line_length(rest));
                Piece::Comment
            }
            '-' if is_dash_comment(rest) => {
                self.take(line_length(rest));
                Piece::Comment
            }
            // What servers execute out of a comment is text.
            '/' if rest.starts_with("/*!") || rest.starts_with("/*M!") => {
                let digits = rest[3..].trim_start_matches('!');
                let digits = digits.len()
                    - digits
                        .trim_start_matches(|c: char| c.is_ascii_digit())
                        .len();
                self.take(rest.find('!').unwrap_or(2) + 1 + digits);
                Piece::Space
            }
            '*' if rest.starts_with("*/") => {
                self.take(2);
                Piece::Space
            }
            '/' if rest.starts_with("/*") => {
                self.take(rest[2..].find("*/").map_or(rest.len(), |end| end + 4));
                Piece::Comment
            }
            c if c.is_whitespace() => {
                let length = rest.find(|c: char| !c.is_whitespace());
                self.take(length.unwrap_or(rest.len()));
                Piece::Space
            }
            c if is_word(c) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                Piece::Word(self.take(length))
            }
            c => {
                self.take(c.len_utf8());
                Piece::Symbol(c)
            }
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '@' || c == '$'
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// Two dashes begin a comment only before a blank or the end.
fn is_dash_comment(rest: &str) -> bool {
    rest.strip_prefix("--")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// With both quotes; doubled quotes and, outside backticks, backslashes keep it open.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && quote != '`' {
            chars.next();
        } else if c == quote {
            if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
            } else {
                return at + 1;
            }
        }
    }
    rest.len()
}

/// The statements of a text that may hold several, without the `;` between them.
pub fn split(sql: &str) -> Vec<&str> {
    let mut pieces = Pieces::of(sql);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(piece) = pieces.next() {
        if piece == Piece::Symbol(';') {
            found.push(&sql[from..pieces.at - 1]);
            from = pieces.at;
        }
    }
    found.push(&sql[from..]);
    found.retain(|one| Kind::of(one) != Kind::Empty);
    found
}

/// How EXPLAIN tells a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanFormat {
    Traditional,
    Tree,
    Json,
}

impl PlanFormat {
    /// As FORMAT= and `explain_format` have it.
    pub fn named(name: &str) -> Option<PlanFormat> {
        match name.to_ascii_uppercase().as_str() {
            "TRADITIONAL" | "DEFAULT" => Some(PlanFormat::Traditional),
            "TREE" => Some(PlanFormat::Tree),
            "JSON" => Some(PlanFormat::Json),
            _ => None,
        }
    }
}

/// The format that EXPLAIN names, if any, and the statement behind it.
pub fn explained(sql: &str) -> Result<(Option<PlanFormat>, &str), SqlProblem> {
    let mut pieces = Pieces::of(sql);
    let mut is_first = true;
    let mut names_format = false;
    let mut format = None;
    loop {
        let from = pieces.at;
        let Some(piece) = pieces.next() else {
            return Err(SqlProblem::unsupported("this form of EXPLAIN"));
        };
        let Piece::Word(word) = piece else {
            if piece == Piece::Symbol('(') {
                return Ok((format, &sql[from..]));
            }
            continue;
        };
        if std::mem::take(&mut names_format) {
            let unknown =
                || SqlProblem::new(1791, format!("Unknown EXPLAIN format name: '{word}'"));
            format = Some(PlanFormat::named(word).ok_or_else(unknown)?);
            continue;
        }
        match word.to_ascii_uppercase().as_str() {
            "EXPLAIN" | "DESCRIBE" | "DESC" if is_first => is_first = false,
            "EXTENDED" | "PARTITIONS" => {}
            "FORMAT" => names_format = true,
            "SELECT" | "INSERT" | "REPLACE" | "UPDATE" | "DELETE" | "WITH" | "TABLE" | "VALUES" => {
                return Ok((format, &sql[from..]));
            }
            other => {
                let text = format!(
                    "This simulated server doesn't carry out 'EXPLAIN … {other}', only EXPLAIN \
                     [FORMAT=TRADITIONAL|TREE|JSON] of a SELECT, INSERT, UPDATE or DELETE"
                );
                return Err(SqlProblem::new(1235, text));
            }
        }
    }
}

/// How many `?` wait for a value.
pub fn placeholders(sql: &str) -> usize {
    Pieces::of(sql)
        .filter(|piece| *piece == Piece::Symbol('?'))
        .count()
}

/// Without comments, runs of space as one, nothing at the ends: for telling statements apart by words. What stands in
/// quotes stays as it is. `/*! … */` counts as text.
pub fn without_comments(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    for piece in Pieces::of(sql) {
        match piece {
            Piece::Word(text) | Piece::Quoted(text) => out.push_str(text),
            Piece::Symbol(c) => out.push(c),
            Piece::Space | Piece::Comment if out.ends_with(' ') => {}
            Piece::Space | Piece::Comment => out.push(' '),
        }
    }
    let text = out.trim().trim_end_matches(';').trim_end();
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_tell_the_kind() {
        for (sql, kind) in [
            ("/* replicascope */ SELECT 1", Kind::Select),
            ("  (SELECT 1) UNION SELECT 2", Kind::Select),
            ("with c as (select 1) delete from t", Kind::Write),
            ("WITH c AS (SELECT 1) SELECT * FROM c", Kind::Select),
            ("-- hello\ninsert into t values (1)", Kind::Write),
            ("CREATE UNIQUE INDEX i ON t (a)", Kind::Ddl),
            ("CREATE DATABASE IF NOT EXISTS `a`", Kind::Ddl),
            (
                "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO UPDATE t SET a=1",
                Kind::Event,
            ),
            (
                "CREATE DEFINER=`a`@`%` EVENT e ON SCHEDULE EVERY 1 SECOND DO SELECT 1",
                Kind::Event,
            ),
            ("CREATE USER x", Kind::Account),
            ("DROP TABLE t", Kind::Ddl),
            ("SHOW FULL TABLES", Kind::ShowTables),
            ("SHOW CREATE TABLE t", Kind::ShowTables),
            ("SHOW REPLICA STATUS", Kind::Show),
            ("DESC orders", Kind::ShowTables),
            ("EXPLAIN SELECT 1", Kind::Explain),
            ("START TRANSACTION", Kind::Begin),
            ("START REPLICA", Kind::Replication),
            ("ROLLBACK TO SAVEPOINT a", Kind::RollbackTo),
            ("ROLLBACK", Kind::Rollback),
            ("SET @x = 1", Kind::Set),
            ("/* nothing */ ;", Kind::Empty),
            ("CREATE TRIGGER x", Kind::Other),
        ] {
            assert_eq!(Kind::of(sql), kind, "{sql}");
        }
    }

    #[test]
    fn a_semicolon_in_quotes_or_comments_ends_nothing() {
        let sql = "SELECT ';\\';', `;`, \"a;\"\"\"; /* ; */ SELECT 2 -- ;\n; ;";
        assert_eq!(
            split(sql),
            [
                "SELECT ';\\';', `;`, \"a;\"\"\"",
                " /* ; */ SELECT 2 -- ;\n"
            ]
        );
        assert_eq!(placeholders("SELECT ?, '?', `?` /* ? */ WHERE a = ?"), 2);
    }

    #[test]
    fn comments_go_and_texts_stay() {
        let told =
            without_comments(" /* x */ SHOW  /*!50000 GLOBAL */\nSTATUS LIKE 'a  /* b */' ; ");
        assert_eq!(told, "SHOW GLOBAL STATUS LIKE 'a  /* b */'");
    }
}
