//! The program's claims, held against real servers: MySQL 9.x and MariaDB 10.11, each claim on both where both can show it.
//!
//! Every test starts servers of its own and watches them in this process, with the threads, store and rules of the
//! program. The faults have a file of their own, since they count this process's threads.

#[path = "../support/mod.rs"]
mod support;

mod changes;
mod commands;
mod discovery;
mod lateness;
mod privileges;
mod semi_sync;
mod steady;
mod threads;
mod tls;

use std::time::Duration;

/// For what follows from a few polls, on a machine that does other things too.
const SOON: Duration = Duration::from_secs(20);

/// For what servers need to come up, reconnect or catch up.
const LATER: Duration = Duration::from_secs(60);
