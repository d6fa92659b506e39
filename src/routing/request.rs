//! Who asks for what: the facts a rule may decide on.

use crate::model::gtid::Gtids;
use crate::model::time::Moment;

/// Whose own writes a read must see: a user, or a client's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(pub u64);

/// The running number of a row in its stream: messages of a conversation, orders of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

/// What a statement is for, as the application tags it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueryKind {
    Write,
    History,
    List,
    Export,
    Other(String),
}

impl QueryKind {
    /// The name in tables and files.
    pub fn code(&self) -> &str {
        match self {
            QueryKind::Write => "write",
            QueryKind::History => "history",
            QueryKind::List => "list",
            QueryKind::Export => "export",
            QueryKind::Other(name) => name,
        }
    }
}

/// What a read must see.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Need {
    /// An ordinary list: as fresh as the replicas are.
    #[default]
    Nothing,
    /// A write made before, named as far as it is known.
    Write(Awaited),
}

/// The write a read must see. Lives as long as the request, never in code or configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Awaited {
    /// The transaction of that commit, or the whole executed set after it; `None` when nobody told.
    pub gtids: Option<Gtids>,
}

/// One statement to be routed.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub session: SessionKey,
    pub kind: QueryKind,
    pub at: Moment,
    /// The session has an open transaction: its reads stay where it began.
    pub in_transaction: bool,
    pub need: Need,
    /// The newest row it reaches; `None` means the newest there is.
    pub reads_to: Option<Seq>,
}

impl Request {
    /// What to wait for. An empty set is nothing to wait for: every server has it (R21).
    pub fn awaited_gtids(&self) -> Option<&Gtids> {
        match &self.need {
            Need::Nothing => None,
            Need::Write(awaited) => awaited.gtids.as_ref().filter(|set| !set.is_empty()),
        }
    }
}

/// A write that was sent to the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    pub session: SessionKey,
    pub at: Moment,
    pub seq: Option<Seq>,
}
