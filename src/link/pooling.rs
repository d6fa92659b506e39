//! What the drift test needs of a pooled session: look at what it carries, do what users do, and clean up.

use crate::model::probe::ProbeRow;
use crate::model::trouble::Trouble;

/// What a pooled session is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolUse {
    /// On the source: transactions, and writes into our own table.
    Writes,
    /// On a replica: a session that could not write if it tried.
    Reads,
}

/// Opens sessions for a pool. Never tries twice.
pub trait PoolDial: Send + Sync {
    /// A session in `schema`, with our table there.
    fn dial_pooled(&self, pool_use: PoolUse, schema: &str) -> Result<Box<dyn PooledLink>, Trouble>;
}

/// One session of a pool. Every call ends within its time limits.
pub trait PooledLink: Send {
    /// The five fields. `None` in one: it could not be told.
    fn observe(&mut self) -> Result<Carried, Trouble>;

    /// Which server answers on this session now, and under which connection id: behind a proxy either may change.
    fn whereabouts(&mut self) -> Result<Whereabouts, Trouble>;

    fn begin(&mut self) -> Result<(), Trouble>;

    fn commit(&mut self) -> Result<(), Trouble>;

    fn rollback(&mut self) -> Result<(), Trouble>;

    /// Changes the value of a row that is there.
    fn write(&mut self, row: ProbeRow, value: &str) -> Result<(), Trouble>;

    /// The value, and who answered, in one statement.
    fn read(&mut self, row: ProbeRow) -> Result<(Option<String>, Whereabouts), Trouble>;

    fn use_schema(&mut self, schema: &str) -> Result<(), Trouble>;

    /// As the server writes it, `READ-COMMITTED`.
    fn set_isolation(&mut self, isolation: &str) -> Result<(), Trouble>;

    /// The application's own mark on the session; empty takes it off.
    fn set_route_label(&mut self, label: &str) -> Result<(), Trouble>;

    /// `COM_RESET_CONNECTION`, and our own settings again.
    fn reset(&mut self) -> Result<(), Trouble>;
}

/// What a session carries from one user to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    pub in_transaction: Option<bool>,
    /// Its server's, not the session's.
    pub read_only: Option<bool>,
    /// Empty when none is chosen.
    pub schema: Option<String>,
    pub isolation: Option<String>,
    /// Empty when there is none.
    pub route_label: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// `server_uuid`, or the server id where there is none.
    pub server: String,
    pub session: u64,
}
