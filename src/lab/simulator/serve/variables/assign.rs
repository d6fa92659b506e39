//! What stands in a SET statement.

use super::super::words::Words;
use crate::lab::wire::SqlError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Session,
    Global,
    Persist,
    PersistOnly,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Assignment {
    /// `@name`.
    User { name: String, expression: String },
    System {
        scope: Scope,
        name: String,
        /// `None`: DEFAULT.
        expression: Option<String>,
    },
    /// `SET NAMES`, `SET CHARACTER SET`.
    Names {
        charset: Option<String>,
        collation: Option<String>,
    },
    /// `SET [GLOBAL | SESSION] TRANSACTION …`; without scope it is for the next transaction only.
    Transaction {
        scope: Option<Scope>,
        isolation: Option<&'static str>,
        read_only: Option<bool>,
    },
    /// Passwords and roles: accepted and forgotten.
    Ignored,
}

/// The assignments after the word SET.
pub fn assignments(words: &mut Words<'_>) -> Result<Vec<Assignment>, SqlError> {
    if words.is("PASSWORD") || words.is("ROLE") || words.are(&["DEFAULT", "ROLE"]) {
        return Ok(vec![Assignment::Ignored]);
    }
    if let Some(transaction) = transaction(words)? {
        return Ok(vec![transaction]);
    }
    let mut list = Vec::new();
    let mut sticky = Scope::Session;
    while !words.at_end() {
        list.push(assignment(words, &mut sticky)?);
    }
    if list.is_empty() {
        return Err(words.error());
    }
    Ok(list)
}

fn assignment(words: &mut Words<'_>, sticky: &mut Scope) -> Result<Assignment, SqlError> {
    if words.accept("NAMES") {
        return names(words);
    }
    if words.accept("CHARACTER SET") || words.accept("CHARSET") {
        let charset = words.value();
        words.accept(",");
        return Ok(Assignment::Names {
            charset,
            collation: None,
        });
    }
    if words.accept("@") {
        let name = words.name().or_else(|| words.text());
        let name = name.ok_or_else(|| words.error())?.to_ascii_lowercase();
        let expression = expression(words)?.to_owned();
        return Ok(Assignment::User { name, expression });
    }
    let (scope, name) = if words.accept("@@") {
        variable_name(words, Scope::Session)?
    } else {
        if let Some(scope) = scope_word(words) {
            *sticky = scope;
        }
        variable_name(words, *sticky)?
    };
    let expression = expression(words)?;
    let is_default = expression.trim().eq_ignore_ascii_case("DEFAULT");
    Ok(Assignment::System {
        scope,
        name,
        expression: (!is_default).then(|| expression.to_owned()),
    })
}

fn scope_word(words: &mut Words<'_>) -> Option<Scope> {
    let word = words.accept_one_of(&["GLOBAL", "SESSION", "LOCAL", "PERSIST_ONLY", "PERSIST"])?;
    Some(match word {
        "GLOBAL" => Scope::Global,
        "PERSIST" => Scope::Persist,
        "PERSIST_ONLY" => Scope::PersistOnly,
        _ => Scope::Session,
    })
}

/// `global.x`, `session.x`, `x`; names with a dot of their own (`validate_password.policy`) stay whole.
fn variable_name(words: &mut Words<'_>, scope: Scope) -> Result<(Scope, String), SqlError> {
    let mut ahead = words.clone();
    if let Some(named) = scope_word(&mut ahead)
        && ahead.accept(".")
    {
        *words = ahead;
        return variable_name(words, named);
    }
    let (first, second) = words.qualified_name().ok_or_else(|| words.error())?;
    let name = first.map_or(second.clone(), |first| format!("{first}.{second}"));
    Ok((scope, name.to_ascii_lowercase()))
}

fn expression<'a>(words: &mut Words<'a>) -> Result<&'a str, SqlError> {
    if !words.accept("=") && !words.accept(":=") {
        return Err(words.error());
    }
    let text = words.up_to_comma();
    if text.is_empty() {
        return Err(words.error());
    }
    Ok(text)
}

fn names(words: &mut Words<'_>) -> Result<Assignment, SqlError> {
    let charset = words.value().ok_or_else(|| words.error())?;
    let collation = if words.accept("COLLATE") {
        words.value()
    } else {
        None
    };
    words.accept(",");
    let is_default = charset.eq_ignore_ascii_case("DEFAULT");
    Ok(Assignment::Names {
        charset: (!is_default).then_some(charset),
        collation,
    })
}

fn transaction(words: &mut Words<'_>) -> Result<Option<Assignment>, SqlError> {
    let mut ahead = words.clone();
    let scope = scope_word(&mut ahead);
    if !ahead.accept("TRANSACTION") {
        return Ok(None);
    }
    *words = ahead;
    let (mut isolation, mut read_only) = (None, None);
    loop {
        if words.accept("ISOLATION LEVEL") {
            isolation = Some(level(words)?);
        } else if words.accept("READ WRITE") {
            read_only = Some(false);
        } else if words.accept("READ ONLY") {
            read_only = Some(true);
        } else {
            return Err(words.error());
        }
        if !words.accept(",") {
            break;
        }
    }
    if !words.at_end() {
        return Err(words.error());
    }
    Ok(Some(Assignment::Transaction {
        scope,
        isolation,
        read_only,
    }))
}

fn level(words: &mut Words<'_>) -> Result<&'static str, SqlError> {
    for (level, name) in [
        ("READ UNCOMMITTED", "READ-UNCOMMITTED"),
        ("READ COMMITTED", "READ-COMMITTED"),
        ("REPEATABLE READ", "REPEATABLE-READ"),
        ("SERIALIZABLE", "SERIALIZABLE"),
    ] {
        if words.accept(level) {
            return Ok(name);
        }
    }
    Err(words.error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> Result<Vec<Assignment>, u16> {
        let mut words = Words::of(sql);
        assert!(words.accept("SET"));
        assignments(&mut words).map_err(|error| error.code)
    }

    fn system(scope: Scope, name: &str, expression: Option<&str>) -> Assignment {
        Assignment::System {
            scope,
            name: name.into(),
            expression: expression.map(Into::into),
        }
    }

    #[test]
    fn a_scope_holds_for_what_follows_it() {
        use Scope::{Global, Session};
        assert_eq!(
            of(
                "SET autocommit=1, sql_mode='', GLOBAL read_only = OFF, max_connections = 5, @@session.x=DEFAULT"
            ),
            Ok(vec![
                system(Session, "autocommit", Some("1")),
                system(Session, "sql_mode", Some("''")),
                system(Global, "read_only", Some("OFF")),
                system(Global, "max_connections", Some("5")),
                system(Session, "x", None),
            ])
        );
    }

    #[test]
    fn expressions_with_commas_stay_whole() {
        assert_eq!(
            of("SET @a = CONCAT('x,', 'y'), @`b c` := 3"),
            Ok(vec![
                Assignment::User {
                    name: "a".into(),
                    expression: "CONCAT('x,', 'y')".into()
                },
                Assignment::User {
                    name: "b c".into(),
                    expression: "3".into()
                },
            ])
        );
    }

    #[test]
    fn transactions_and_names_have_forms_of_their_own() {
        assert_eq!(
            of("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"),
            Ok(vec![Assignment::Transaction {
                scope: Some(Scope::Session),
                isolation: Some("READ-COMMITTED"),
                read_only: Some(true)
            }])
        );
        assert_eq!(
            of("SET NAMES 'utf8mb4' COLLATE utf8mb4_bin"),
            Ok(vec![Assignment::Names {
                charset: Some("utf8mb4".into()),
                collation: Some("utf8mb4_bin".into())
            }])
        );
        assert_eq!(of("SET autocommit"), Err(1064));
        assert_eq!(of("SET"), Err(1064));
    }
}
