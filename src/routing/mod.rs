//! Layer 1: where a read would go, and what that choice costs. Pure: readings and instants are handed in.
//!
//! > A [`Strategy`] answers each [`Request`] with a [`Decision`]; where it says "wait first", the caller waits, hands
//! > the [`wait::Attempt`] back, and gets the next decision.
//!
//! | file | what |
//! |---|---|
//! | [`request`], [`replica`], [`decision`], [`wait`] | the words: who asks, what is known of a replica, where to, how a wait ended |
//! | [`strategy`], [`strategies`] | what every rule has in common; one rule per file |
//! | [`pick`] | which of several fit replicas |
//! | [`guard`], [`demotion`] | may a replica be read, may connections to the source be lent |
//! | [`binding`], [`pool`] | a session's transaction stays where it began; connections are clean when borrowed and returned |
//! | [`record`] | one line per request: replica behind, route wrong, or pool reuse? |
//! | [`workload`], [`compare`] | sessions that write and read; every rule judged over the same ones |
//!
//! Everything fails closed: what is unknown is never healthy, and what cannot be decided goes to the source.

pub mod decision;
pub mod replica;
pub mod request;
pub mod wait;

pub mod pick;
pub mod strategies;
pub mod strategy;

pub mod demotion;
pub mod guard;

pub mod binding;
pub mod pool;
pub mod record;

pub mod compare;
pub mod workload;

#[cfg(test)]
mod build;
#[cfg(test)]
mod properties;

pub use decision::{Decision, Go, Reason};
pub use guard::{GuardRules, GuardState, ReplicaHealthGuard};
pub use replica::{Admission, LagLimit, ReplicaView, Threads, Unfit};
pub use request::{Awaited, Need, QueryKind, Request, Seq, SessionKey, Write};
pub use strategy::{Promise, Strategy};
pub use wait::{Attempt, WaitLimit, WaitResult, WaitSpec, WaitTally, WaitUnit};
