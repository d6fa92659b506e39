//! A step's statements, said by the program for whoever has no client at hand, and what the server answered.

use super::StepSql;
use crate::model::time::Span;
use crate::model::trouble::Trouble;

/// One statement of a step, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub text: String,
    /// It ended in `\G`, with which the `mysql` client writes each column on a line of its own.
    pub is_upright: bool,
}

/// A statement and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub statement: Statement,
    /// From sending it to its last row.
    pub took: Span,
    pub answer: Result<Answer, Trouble>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Rows(Table),
    /// No table: so many rows were changed.
    Done {
        changed: u64,
    },
}

/// Of a server's answer what is shown; `None` is NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
    /// How many rows there were, those left out among them.
    pub all_rows: u64,
}

impl StepSql {
    /// One by one, without comments.
    pub fn statements(&self) -> Vec<Statement> {
        let lines = self.text.lines();
        let without_comments: Vec<&str> = lines
            .filter(|line| !line.trim_start().starts_with("--"))
            .collect();
        let text = without_comments.join("\n").replace("\\G", "\\G;");
        text.split(';').filter_map(Statement::read).collect()
    }
}

impl Statement {
    /// `None` where there is nothing to say.
    fn read(text: &str) -> Option<Statement> {
        let text = text.trim();
        let upright = text.strip_suffix("\\G");
        let bare = upright.unwrap_or(text).trim();
        (!bare.is_empty()).then(|| Statement {
            text: bare.to_owned(),
            is_upright: upright.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(String, bool)> {
        let sql = StepSql {
            on: 0,
            account: "admin",
            text: text.to_owned(),
        };
        let statements = sql.statements().into_iter();
        statements.map(|s| (s.text, s.is_upright)).collect()
    }

    #[test]
    fn statements_are_said_one_by_one() {
        let flat = |text: &str| (text.to_owned(), false);
        let upright = |text: &str| (text.to_owned(), true);
        for (text, expected) in [
            ("SELECT 1", vec![flat("SELECT 1")]),
            ("SELECT 1;", vec![flat("SELECT 1")]),
            (
                "SELECT @@GLOBAL.x,\n  2;\nROLLBACK;",
                vec![flat("SELECT @@GLOBAL.x,\n  2"), flat("ROLLBACK")],
            ),
            (
                "SHOW REPLICA STATUS\\G\nSELECT 1;",
                vec![upright("SHOW REPLICA STATUS"), flat("SELECT 1")],
            ),
            (
                "SHOW REPLICA STATUS\\G;",
                vec![upright("SHOW REPLICA STATUS")],
            ),
            ("SELECT 1;\n-- DROP TABLE t;", vec![flat("SELECT 1")]),
            ("  ;; \n", vec![]),
        ] {
            assert_eq!(said(text), expected, "{text:?}");
        }
    }
}
