//! The simulator as the product meets it: its own threads, store and rules watch simulated servers, the probe runs on
//! them, ordinary sessions ask them whatever comes to a person's mind.

#[path = "../support/mod.rs"]
mod support;

mod careless;
mod generations;
mod history;
mod lab;
mod nonsense;
mod probed;
mod replication_words;
mod roles;
mod statements;
mod watched;
