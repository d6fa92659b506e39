//! A step's statements, said to the lab for whoever has no client at hand.

use std::time::Duration;

use crate::lab::session;
use crate::link::clock;
use crate::model::lab::{LabAccount, LabNode, LabStatus};
use crate::model::lesson::{Answer, Said, Statement, StepSql, Table};
use crate::model::phrase::{Phrase, phrase};
use crate::model::time::Moment;
use crate::model::trouble::Trouble;
use crate::mysql::hand::Reply;

/// The longest that a lesson has a statement wait is a second or two.
const ANSWER_LIMIT: Duration = Duration::from_secs(15);

/// No lesson needs more than these to be seen.
const ROWS: usize = 50;
const CHARACTERS: usize = 400;

/// What is to be said to which server, by whom.
pub struct Errand {
    statements: Vec<Statement>,
    node: LabNode,
    account: LabAccount,
}

impl Errand {
    /// Why not, where the lab has no such server.
    pub fn new(sql: &StepSql, lab: &LabStatus) -> Result<Errand, Phrase> {
        let node = lab.nodes.iter().find(|node| node.server == sql.on);
        let accounts = lab.accounts.as_ref();
        let account = accounts.and_then(|accounts| accounts.of_user(sql.account));
        let (node, account) = node
            .zip(account)
            .ok_or_else(|| phrase("lab.trouble.no_server"))?;
        Ok(Errand {
            statements: sql.statements(),
            node: node.clone(),
            account: account.clone(),
        })
    }

    /// One after the other in one session, to the last or to the first that fails, as the `mysql` client does it.
    /// Takes as long as the server does.
    pub fn run(self) -> Vec<Said> {
        let began = clock::now();
        let mut session = match session::open(self.node.port, &self.account, ANSWER_LIMIT) {
            Ok(session) => session,
            Err(why) => {
                let first = self.statements.into_iter().take(1);
                return first.map(|s| said(s, began, Err(why.clone()))).collect();
            }
        };
        let mut all = Vec::new();
        for statement in self.statements {
            let began = clock::now();
            let answer = session.answer(&statement.text).map(shown);
            all.push(said(statement, began, answer));
            if all.last().is_some_and(|last| last.answer.is_err()) {
                break;
            }
        }
        all
    }
}

fn said(statement: Statement, began: Moment, answer: Result<Answer, Trouble>) -> Said {
    Said {
        statement,
        took: clock::now().since(began),
        answer,
    }
}

fn shown(reply: Reply) -> Answer {
    if reply.columns.is_empty() {
        return Answer::Done {
            changed: reply.changed,
        };
    }
    let all_rows = reply.rows.len() as u64;
    let rows = reply.rows.into_iter().take(ROWS);
    Answer::Rows(Table {
        columns: reply.columns,
        rows: rows
            .map(|row| row.into_iter().map(|cell| cell.map(shortened)).collect())
            .collect(),
        all_rows,
    })
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_an_answer_is_bounded_and_says_so() {
        let reply = Reply {
            columns: vec!["text".into()],
            rows: vec![vec![Some("长".repeat(CHARACTERS + 1))]; ROWS + 7],
            changed: 0,
        };
        let Answer::Rows(table) = shown(reply) else {
            panic!("a table");
        };
        assert_eq!((table.rows.len(), table.all_rows), (ROWS, 57));
        let cell = table.rows[0][0].as_deref();
        assert_eq!(cell, Some(&*("长".repeat(CHARACTERS) + "…")));
    }

    #[test]
    fn without_columns_it_says_how_many_rows_were_changed() {
        let reply = Reply {
            columns: vec![],
            rows: vec![],
            changed: 3,
        };
        assert_eq!(shown(reply), Answer::Done { changed: 3 });
    }
}
