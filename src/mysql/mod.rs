//! Layer 2: the only folder that names the `mysql` crate. Connects, asks in the server's own dialect, and turns rows
//! into the vocabulary of `model`.
//!
//! - [`Endpoint`] says where and how to connect; [`Dialer`] opens sessions there (`link::Dial`).
//! - `dialect` decides once per connection what this product calls things; `queries` holds the statements.
//! - `rows` reads answers: pure functions over named columns, tested on rows captured from real servers.
//! - `asker`, `poll`, `wait` and `link` ask the questions of one poll, mark and wait (`link::Link`).
//! - [`probing`] is the write-then-read probe's side of it (`link::probing`), the only one that writes; [`pooling`] and
//!   [`holding`] are what the acceptance run needs besides.
//! - [`hand`] says any SQL to the lab's own servers.
//! - `trouble` sorts every failure by what the person can do; [`privileges`] knows the accounts and their GRANTs.

mod endpoint;

mod connect;
mod resolve;
mod session;
mod tls;
mod trouble;

mod dialect;
mod queries;
mod rows;

mod asker;
mod link;
mod poll;
mod wait;

#[cfg(test)]
pub(crate) mod every_statement;

pub mod hand;
pub mod holding;
pub mod pooling;
pub mod privileges;
pub mod probing;

pub use connect::Dialer;
pub use endpoint::{Address, Endpoint, HeartbeatTable, Limits, Tls, TlsMode};
pub use privileges::{QuestionReport, TestReport, monitor_account, test_connection};
