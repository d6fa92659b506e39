//! Layer 0: facts and vocabulary. No I/O, no clock, no window.

pub mod acceptance;
pub mod dialect;
pub mod event;
pub mod finding;
pub mod gtid;
pub mod lab;
pub mod lag;
pub mod lesson;
pub mod phrase;
pub mod preferences;
pub mod probe;
pub mod profile;
pub mod replication;
pub mod sample;
pub mod secret;
pub mod server;
pub mod time;
pub mod trouble;
