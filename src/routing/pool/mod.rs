//! Pools whose connections come back as they went out. Pure: the caller holds the real connections, reads the five
//! [`fields`] when told to, and does the cleaning.
//!
//! ```text
//! borrow ─▶ Inspect / Open ─▶ inspected ─▶ Lend ─▶ give_back ─▶ Keep
//!                                 │  ▲                 │  ▲
//!                                 ▼  │ cleaned         ▼  │ cleaned
//!                               Clean ┘              Clean ┘      anywhere: Destroy
//! ```
//!
//! Checked at borrow and at return: at return the one who left something behind is still known, at borrow the server
//! may have changed its role since. A lease knows its pool and goes back to no other (T-9); [`sloppy`] shows what
//! happens otherwise.

pub mod fields;
pub mod sloppy;

use std::collections::{BTreeMap, VecDeque};

use crate::model::server::WatchId;
use crate::model::time::{Moment, Span};

pub use fields::{Clean, Difference, Field, Observed, Remedy, Step};
pub use sloppy::SloppyPools;

/// The server a pool leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    Source,
    Replica(WatchId),
}

/// Our number of a connection, never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// The right to use a connection until it is given back. Cannot be copied, so it cannot be given back twice.
#[derive(Debug, PartialEq, Eq)]
pub struct Lease {
    connection: ConnectionId,
    origin: Origin,
}

impl Lease {
    pub fn connection(&self) -> ConnectionId {
        self.connection
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PoolRules {
    /// Connections at most.
    pub size: usize,
    /// A request that waits longer for a connection fails (C-13).
    pub longest_queue: Span,
    pub clean: Clean,
}

/// What a request for a connection leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read the five fields of this idle one.
    Inspect(ConnectionId),
    /// Connect, then read the five fields: also a new one may lead to a server of another role.
    Open(ConnectionId),
    /// All are in use: ask again.
    Queue,
    /// Asked for too long: fail the request.
    Refuse,
}

/// What to do with a connection that was looked at.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Lend(Lease),
    /// It is idle in its pool again.
    Keep,
    /// Do this, read the five fields again and say `cleaned`.
    Clean(Vec<Step>),
    /// Close it. The pool has forgotten it.
    Destroy(WhyDestroy),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyDestroy {
    /// Cannot be cleaned.
    Hopeless(Difference),
    /// Was cleaned, and is not clean.
    CleaningFailed(Difference),
    /// From before a switch of roles.
    Retired,
    /// Not one this pool has at this stage.
    NotOurs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    Borrow,
    Return,
}

/// One look at a connection: the hygiene report, and what follows from it.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    pub differences: Vec<Difference>,
    pub verdict: Verdict,
}

/// What became of connections so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub lent: u64,
    pub returned: u64,
    pub cleaned: u64,
    pub destroyed: u64,
    pub refused: u64,
    /// What was found unclean, and when.
    pub found: BTreeMap<(When, Field), u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Inspecting,
    Cleaning(When),
    Lent,
}

#[derive(Clone, Debug)]
pub struct Pool {
    origin: Origin,
    rules: PoolRules,
    idle: VecDeque<ConnectionId>,
    busy: BTreeMap<ConnectionId, Stage>,
    next_id: u64,
    /// Connections with a lower number were opened before a switch.
    retired_below: u64,
    counts: Counts,
}

impl Pool {
    pub fn new(origin: Origin, rules: PoolRules) -> Self {
        Pool {
            origin,
            rules,
            idle: VecDeque::new(),
            busy: BTreeMap::new(),
            next_id: 1,
            retired_below: 0,
            counts: Counts::default(),
        }
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Connections the pool knows of: idle, in use, and being looked at.
    pub fn size(&self) -> usize {
        self.idle.len() + self.busy.len()
    }

    pub fn lent(&self) -> usize {
        self.busy.values().filter(|s| **s == Stage::Lent).count()
    }

    /// A request that came at `asked_at` wants a connection.
    pub fn borrow(&mut self, asked_at: Moment, now: Moment) -> Next {
        if let Some(id) = self.idle.pop_front() {
            self.busy.insert(id, Stage::Inspecting);
            return Next::Inspect(id);
        }
        if self.size() < self.rules.size {
            let id = ConnectionId(self.next_id);
            self.next_id += 1;
            self.busy.insert(id, Stage::Inspecting);
            return Next::Open(id);
        }
        if now.since(asked_at) < self.rules.longest_queue {
            return Next::Queue;
        }
        self.counts.refused += 1;
        Next::Refuse
    }

    /// The connection could not be opened, or was lost; it may be lent at the time.
    pub fn lost(&mut self, id: ConnectionId) {
        if self.busy.remove(&id).is_some() {
            self.counts.destroyed += 1;
        }
    }

    /// The five fields of a connection about to be lent.
    pub fn inspected(&mut self, id: ConnectionId, observed: &Observed) -> Checked {
        match self.busy.get(&id) {
            Some(Stage::Inspecting) => self.look(id, When::Borrow, observed),
            _ => not_ours(),
        }
    }

    /// A connection comes back with its five fields. One of another pool is handed back to the caller.
    pub fn give_back(&mut self, lease: Lease, observed: &Observed) -> Result<Checked, Lease> {
        if lease.origin != self.origin {
            return Err(lease);
        }
        Ok(match self.busy.get(&lease.connection) {
            Some(Stage::Lent) => self.look(lease.connection, When::Return, observed),
            _ => not_ours(),
        })
    }

    /// The five fields after cleaning; `Observed::default()` when cleaning failed.
    pub fn cleaned(&mut self, id: ConnectionId, observed: &Observed) -> Checked {
        let Some(Stage::Cleaning(when)) = self.busy.get(&id).copied() else {
            return not_ours();
        };
        let differences = fields::differences(observed, &self.rules.clean);
        let verdict = match differences.first() {
            None => {
                self.counts.cleaned += 1;
                self.pass(id, when)
            }
            Some(left) => self.destroy(id, WhyDestroy::CleaningFailed(left.clone())),
        };
        Checked {
            differences,
            verdict,
        }
    }

    /// The server's role changed: no connection opened before is lent again. Those to close now are returned; those
    /// in use are destroyed when they come back.
    pub fn retire_all(&mut self) -> Vec<ConnectionId> {
        self.retired_below = self.next_id;
        self.counts.destroyed += self.idle.len() as u64;
        self.idle.drain(..).collect()
    }

    fn look(&mut self, id: ConnectionId, when: When, observed: &Observed) -> Checked {
        let differences = fields::differences(observed, &self.rules.clean);
        for difference in &differences {
            let key = (when, difference.field);
            *self.counts.found.entry(key).or_default() += 1;
        }
        let remedy = fields::remedy(&differences, &self.rules.clean);
        let verdict = match remedy {
            _ if id.0 < self.retired_below => self.destroy(id, WhyDestroy::Retired),
            Remedy::Nothing => self.pass(id, when),
            Remedy::Clean(steps) => {
                self.busy.insert(id, Stage::Cleaning(when));
                Verdict::Clean(steps)
            }
            Remedy::Destroy(difference) => self.destroy(id, WhyDestroy::Hopeless(difference)),
        };
        Checked {
            differences,
            verdict,
        }
    }

    fn pass(&mut self, id: ConnectionId, when: When) -> Verdict {
        if id.0 < self.retired_below {
            return self.destroy(id, WhyDestroy::Retired);
        }
        match when {
            When::Borrow => {
                self.busy.insert(id, Stage::Lent);
                self.counts.lent += 1;
                Verdict::Lend(Lease {
                    connection: id,
                    origin: self.origin,
                })
            }
            When::Return => {
                self.busy.remove(&id);
                self.idle.push_back(id);
                self.counts.returned += 1;
                Verdict::Keep
            }
        }
    }

    fn destroy(&mut self, id: ConnectionId, why: WhyDestroy) -> Verdict {
        self.busy.remove(&id);
        self.counts.destroyed += 1;
        Verdict::Destroy(why)
    }
}

fn not_ours() -> Checked {
    Checked {
        differences: Vec::new(),
        verdict: Verdict::Destroy(WhyDestroy::NotOurs),
    }
}

#[cfg(test)]
mod tests;
