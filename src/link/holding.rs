//! Holding a replica's applier back for a moment, so that a late replica can be seen when none is late by itself.
//!
//! It is done with a reader's lock on our own table, and on purpose not with `STOP REPLICA` or a configured delay. A lock
//! belongs to a session: the server gives it up the moment the session is gone (our process killed, the workstation
//! switched off), and it ends a session that stays silent longer than the box by itself. So there is nothing to undo
//! that could be forgotten, no replication thread is stopped, and no setting is changed.

use std::time::Duration;

use crate::model::trouble::Trouble;

pub trait HoldDial: Send + Sync {
    /// Holds back whatever the replica applies to our table in `schema`, and with it all that comes after. Ends when
    /// the hold is released or dropped, and at the latest after `at_most`, which the server itself sees to.
    fn hold(&self, schema: &str, at_most: Duration) -> Result<Box<dyn Hold>, Trouble>;
}

/// As long as it lives the applier waits. Dropping it closes the session, which is as good as releasing.
pub trait Hold: Send {
    /// The server's connection id of the session that holds.
    fn session_id(&self) -> u64;

    /// Lets go, and says when the server had already done so.
    fn release(self: Box<Self>) -> Result<(), Trouble>;
}
