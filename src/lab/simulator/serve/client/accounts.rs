//! CREATE USER, GRANT and their like: carried out when they commit, here and on replicas.

use std::sync::Arc;

use super::super::super::world::Write;
use super::super::accounts::order;
use super::super::bench::Bench;
use super::super::engine::{Deed, Other};
use super::super::problems;
use super::super::words::Words;
use super::{After, Client, Next, Outcome};
use crate::lab::wire::Answer;

impl Client {
    pub(super) fn account_statement(
        &mut self,
        bench: &mut Bench,
        words: &mut Words<'_>,
    ) -> Outcome {
        let Some(order) = order(words)? else {
            return Ok(Next::Say(Answer::ok()));
        };
        if !self.me.may(bench, &["CREATE USER", "GRANT OPTION"]) {
            return Err(problems::needs("CREATE USER"));
        }
        self.check_writable(bench)?;
        bench.world.engine(self.me.node).accounts.check(&order)?;
        let write = self.write_of(bench, Other::Account(order));
        self.commit(bench, write, After::Say(Answer::ok()))?;
        Ok(Next::Go)
    }

    /// A transaction that changes something besides tables.
    pub(super) fn write_of(&self, bench: &Bench, other: Other) -> Write {
        let deed = Deed {
            others: vec![other],
            origin: self.me.node,
            origin_server_id: bench.world.identity(self.me.node).server_id,
            ..Deed::default()
        };
        let mut write = Write::new(Some(Arc::new(deed)), self.me.began);
        let sql = self.current.as_ref().map_or(0, |current| current.sql.len());
        write.bytes = 200 + sql as u64;
        write
    }
}
