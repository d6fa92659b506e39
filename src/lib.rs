//! Replicascope: see what your replicas are really serving.
//!
//! > Threads report **events**; one **store** remembers them; **health** judges what is remembered; **screens** draw
//! > it; the person answers with **actions**; `app` carries actions back to the threads.
//!
//! # The layers
//!
//! | layer | module | what it is |
//! |---|---|---|
//! | 0 | [`model`] | facts and vocabulary: no I/O, no clock, no window |
//! | 1 | [`settings`] | profiles and preferences on disk, secrets in the keychain |
//! | 1 | [`words`] | the message catalogue, and how numbers and durations are worded |
//! | 1 | [`lag`] | readings from samples and marks: one file per method, fusion, verdict |
//! | 1 | [`health`] | facts become findings: one rule per file; lamps, verdict |
//! | 1 | [`routing`] | where a read would go: one rule per file; guard, pool hygiene, comparison |
//! | 1 | [`link`] | what a worker needs of a server, and the clock |
//! | 2 | [`mysql`] | the only folder that names the driver: connect, dialects, queries, rows |
//! | 2 | [`monitor`] | the threads: a poller and a waiter for each server; the prober |
//! | 2 | [`store`] | remembers events, has them judged: series, journal, findings |
//! | 3 | [`lab`] | servers of our own, simulated or real, made to be broken: faults, traffic, lessons |
//! | 4 | [`ui`] | draws |
//! | – | [`app`] | the glue: window, headless commands, actions carried out |
//!
//! A module names only modules of lower layers, and of its own layer only what `tests/layers.rs` allows; that test
//! holds the sources against the table.
//!
//! # The flow
//!
//! profile → `app::conductor` → poller and waiter threads → [`model::event::Event`] over a bounded channel →
//! [`store::Store::apply`] → [`store::Store::judge`] ([`lag::judge`], then the rules of [`health`]) → what the screens
//! draw and the headless commands print.
//!
//! Each thread owns its connection and reports; nothing is shared, so there is no lock around what the program knows.
//! Time is passed in: only `app`, the worker loops and `mysql` look at [`link::clock`].

pub mod model;

pub mod health;
pub mod lag;
pub mod link;
pub mod routing;
pub mod settings;
pub mod words;

pub mod monitor;
pub mod mysql;
pub mod store;

pub mod lab;

pub mod ui;

pub mod app;
