//! Asks the questions of a session and remembers what was refused: a refused question is answered from memory for a
//! while, with the GRANT that would have it answered (R34, R35).

use std::collections::HashMap;
use std::sync::Arc;

use crate::link::clock;
use crate::model::phrase::{Phrase, phrase};
use crate::model::sample::Answer;
use crate::model::server::Product;
use crate::model::time::{Moment, Span};
use crate::model::trouble::{Trouble, TroubleKind};

use super::endpoint::Endpoint;
use super::privileges;
use super::queries::{NAME, Question};
use super::rows::Rows;
use super::session::Session;

/// How long a refused question is not asked again (R34).
const ASK_AGAIN_AFTER: Span = Span::from_secs(60);

/// Asks, and remembers what was refused.
pub struct Asker {
    pub session: Session,
    product: Product,
    endpoint: Arc<Endpoint>,
    refused: HashMap<Question, (Trouble, Moment)>,
    /// `CURRENT_USER()` as an SQL account name; learned when a GRANT has to be written.
    account: Option<String>,
}

impl Asker {
    pub fn new(session: Session, product: Product, endpoint: Arc<Endpoint>) -> Self {
        Asker {
            session,
            product,
            endpoint,
            refused: HashMap::new(),
            account: None,
        }
    }

    /// Asks and reads. `Err` only when the connection is out of step or gone.
    pub fn ask<T>(
        &mut self,
        question: Question,
        sql: &str,
        read: impl FnOnce(Rows) -> T,
    ) -> Result<Answer<T>, Trouble> {
        if let Some((trouble, until)) = self.refused.get(&question) {
            if clock::now() < *until {
                return Ok(Answer::Refused(trouble.clone()));
            }
            self.refused.remove(&question);
        }
        match self.session.ask(question, sql) {
            Ok(rows) => Ok(Answer::Known {
                value: read(rows),
                at: clock::now(),
            }),
            Err(trouble) if self.session.is_spoiled() => Err(trouble),
            Err(trouble) => self.refuse(question, trouble).map(Answer::Refused),
        }
    }

    /// Forgets a refusal, so that the question is asked at once.
    pub fn ask_anew(&mut self, question: Question) {
        self.refused.remove(&question);
    }

    /// When the first question that was refused for want of a privilege may be asked again. Servers give a global
    /// privilege to new sessions only (MySQL 8.4 manual, 8.2.13 "When Privilege Changes Take Effect").
    pub fn refused_until(&self) -> Option<Moment> {
        self.refused
            .values()
            .filter(|(trouble, _)| trouble.kind == TroubleKind::MissingPrivilege)
            .map(|(_, until)| *until)
            .min()
    }

    fn refuse(&mut self, question: Question, mut trouble: Trouble) -> Result<Trouble, Trouble> {
        if trouble.kind == TroubleKind::MissingPrivilege {
            // A question over several tables may fail for any of them; the server names this one.
            let needs_process = trouble.detail.contains("PROCESS privilege");
            let missing = if needs_process {
                Question::Transactions
            } else {
                question
            };
            trouble.hint = self.grant(missing)?;
        }
        let stays = matches!(
            trouble.kind,
            TroubleKind::MissingPrivilege | TroubleKind::Unsupported | TroubleKind::AccessDenied
        );
        if stays {
            let until = clock::now() + ASK_AGAIN_AFTER;
            self.refused.insert(question, (trouble.clone(), until));
        }
        Ok(trouble)
    }

    /// The GRANT that would have the question answered, for this product and this account (R34).
    pub fn grant(&mut self, question: Question) -> Result<Option<Phrase>, Trouble> {
        let account = self.account()?;
        let heartbeat = self.endpoint.heartbeat.as_ref();
        Ok(privileges::grant(question, &self.product, heartbeat)
            .map(|grant| phrase("trouble.hint.grant").with("sql", grant.sql(&account))))
    }

    fn account(&mut self) -> Result<String, Trouble> {
        if let Some(account) = &self.account {
            return Ok(account.clone());
        }
        let sql = format!("{NAME}SELECT CURRENT_USER()");
        let account = match self.session.ask(Question::Grants, &sql) {
            Ok(rows) => rows
                .single()
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            Err(trouble) if self.session.is_spoiled() => return Err(trouble),
            Err(_) => None,
        };
        let account = privileges::account_name(account.as_deref(), &self.endpoint.user);
        self.account = Some(account.clone());
        Ok(account)
    }
}
