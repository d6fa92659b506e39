//! A session as its statements see it: who it is, its variables, what it holds.

use std::sync::Arc;

use super::super::world::{Gtid, NodeId};
use super::accounts::Account;
use super::bench::Bench;
use super::engine;
use super::problems::{self, problem};
use super::variables::Values;
use crate::lab::wire::{Hello, SqlError, Tunnel};
use crate::model::lab::Generation;
use crate::model::time::Moment;

pub struct Me {
    pub node: NodeId,
    /// The connection id.
    pub id: u64,
    /// Of the server's life in which it logged in.
    pub epoch: u64,
    pub generation: Generation,
    pub user: String,
    /// How its connection is encrypted.
    pub tunnel: Option<Tunnel>,
    pub values: Values,
    pub is_in_transaction: bool,
    pub last_gtid: String,
    pub last_insert_id: u64,
    pub next_gtid: NextName,
    /// SET TRANSACTION: for the next transaction only.
    pub next_read_only: Option<bool>,
    pub warnings: Vec<Warning>,
    /// LOCK TABLES: `schema.table`, and whether it may be written to.
    pub locked_tables: Vec<(Arc<str>, bool)>,
    /// FLUSH TABLES WITH READ LOCK.
    pub has_global_lock: bool,
    /// When the statement that is running began.
    pub began: Moment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub is_error: bool,
    pub is_note: bool,
    pub code: u16,
    pub text: String,
}

impl Warning {
    pub fn new(code: u16, text: impl Into<String>) -> Self {
        Warning {
            is_error: false,
            is_note: false,
            code,
            text: text.into(),
        }
    }

    pub fn note(code: u16, text: impl Into<String>) -> Self {
        Warning {
            is_note: true,
            ..Warning::new(code, text)
        }
    }

    pub fn level(&self) -> &'static str {
        match (self.is_error, self.is_note) {
            (true, _) => "Error",
            (_, true) => "Note",
            _ => "Warning",
        }
    }
}

/// `gtid_next`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NextName {
    #[default]
    Automatic,
    Given(Gtid),
    /// It was used; another must be said before the next transaction (1837).
    Used(Gtid),
}

impl NextName {
    pub fn shown(&self) -> String {
        match self {
            NextName::Automatic => "AUTOMATIC".to_owned(),
            NextName::Given(gtid) => gtid.to_string(),
            NextName::Used(_) => "NOT_YET_DETERMINED".to_owned(),
        }
    }

    pub fn owned(&self) -> String {
        match self {
            NextName::Given(gtid) => gtid.to_string(),
            _ => String::new(),
        }
    }
}

/// Schemas of the server itself.
const OWN_SCHEMAS: [&str; 4] = [INFORMATION_SCHEMA, "performance_schema", "mysql", "sys"];

/// Open to everybody.
const INFORMATION_SCHEMA: &str = "information_schema";

impl Me {
    /// Somebody has logged in.
    pub fn new(bench: &Bench, node: NodeId, hello: &Hello) -> Self {
        Me {
            node,
            id: u64::from(hello.connection_id),
            epoch: bench.world.epoch(node),
            generation: bench.generation,
            user: hello.user.clone(),
            tunnel: hello.tunnel,
            values: bench.machines[node].globals.clone(),
            is_in_transaction: false,
            last_gtid: String::new(),
            last_insert_id: 0,
            next_gtid: NextName::Automatic,
            next_read_only: None,
            warnings: Vec::new(),
            locked_tables: Vec::new(),
            has_global_lock: false,
            began: bench.world.now(),
        }
    }

    /// Whether it may USE a schema. Who may not see it does not learn whether it exists.
    pub fn check_schema(&self, bench: &Bench, schema: &str) -> Result<(), SqlError> {
        if schema.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            return Ok(());
        }
        let sees = |account: &Account| account.sees_schema(schema);
        if !self.account(bench).is_some_and(sees) {
            return Err(problems::denied_on_schema(&self.user, schema));
        }
        let is_own = OWN_SCHEMAS.contains(&schema.to_ascii_lowercase().as_str());
        let database = bench.world.engine(self.node).database();
        if !is_own && !engine::lock(&database).has_schema(schema) {
            return Err(problem(1049, format!("Unknown database '{schema}'")));
        }
        Ok(())
    }

    /// Its account; an account that was dropped may do nothing more.
    pub fn account<'a>(&self, bench: &'a Bench) -> Option<&'a Account> {
        bench.world.engine(self.node).accounts.get(&self.user)
    }

    /// Whether one of these is granted for the whole server.
    pub fn may(&self, bench: &Bench, privileges: &[&str]) -> bool {
        self.account(bench)
            .is_some_and(|account| account.may_globally(privileges))
    }

    pub fn may_on(&self, bench: &Bench, privilege: &str, schema: &str, table: &str) -> bool {
        self.account(bench)
            .is_some_and(|account| account.may_on_table(privilege, schema, table))
    }

    pub fn is_autocommit(&self) -> bool {
        self.values.is_on("autocommit")
    }

    pub fn warn(&mut self, code: u16, text: impl Into<String>) {
        self.warnings.push(Warning::new(code, text));
    }
}
