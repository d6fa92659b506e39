//! What stands in front of tables and replication: for each simulated server a [`Service`] whose sessions answer what
//! that generation of servers answers.
//!
//! - [`bench`]: all servers of a simulation behind one lock, and what each keeps of itself.
//! - [`engine`]: what the world's transactions are carried out on.
//! - `client`: sessions; a statement's way through its stages.
//! - `show`, `tables`, `variables`: what a server says of itself, by generation.

pub mod accounts;
pub mod bench;
mod client;
pub mod engine;
mod events;
mod generation;
mod me;
mod problems;
mod service;
mod settings;
mod show;
mod table;
mod tables;
mod threads;
mod variables;
mod view;
mod waits;
mod words;
mod words_of_replication;

pub use service::Service;
pub use settings::values_of;
pub use variables::Values;
