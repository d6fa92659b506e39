//! Layer 3: servers of our own, simulated or real, made to be broken.
//!
//! - [`bed`] is what any ground can do that SQL cannot: links, disks, clocks, crashes.
//! - [`simulator`] is servers that are played in this process.
//! - [`sandbox`] is real servers, found on this machine and thrown away; [`deployment`] writes down how to have the same
//!   elsewhere.
//! - [`ground`] builds either from a plan; `schema` is what stands on every server before the first client comes.
//! - [`faults`] makes what goes wrong, and undoes it; [`traffic`] writes and reads meanwhile.
//! - [`running`] has a lab at work on threads of its own: orders in, its state out.
//! - [`lessons`] is what is taught on it.

pub mod bed;

mod schema;
pub mod session;

pub mod lessons;
pub mod sandbox;
pub mod simulator;

pub mod deployment;
pub mod ground;

pub mod faults;
pub mod traffic;

pub mod running;

pub mod wire;
