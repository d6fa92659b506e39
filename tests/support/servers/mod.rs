//! Real MySQL and MariaDB servers for the tests: a source and its replicas on loopback, alive as long as a value lives.
//!
//! ```ignore
//! let topology = Topology::mysql().replicas(2).semi_sync(true).start();
//! topology.source().sql("CREATE DATABASE shop");
//! topology.replicating();
//! topology.node(1).kill();
//! ```
//!
//! Node 0 starts as the source. Each topology has servers, ports and a folder of its own, so the tests of one file run
//! side by side; at most two topologies live on a machine at a time, the next one waits. The servers die with the value,
//! with the test that panics, and with the test process however that ends. `tests/fetch-servers` brings the programs;
//! without them `start` panics and says so, since a test skipped in silence proves nothing.
//!
//! Accounts: root without password through [`Node::session`] (the unix socket); over TCP admin/admin, who may all,
//! monitor/monitor with the least privileges that watching needs, and repl/repl.

mod config;
mod flavour;
mod keeper;
mod node;
mod plan;
mod room;
mod template;
mod topology;
mod wait;

#[allow(unused_imports)] // each test file takes what it needs
pub use self::{
    flavour::Flavour,
    node::{Node, free_port},
    plan::Plan,
    topology::Topology,
    wait::{wait_for, wait_until},
};
